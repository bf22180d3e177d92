/** Assigns roles to dimensions: every assignment that the evidence allows. */
import type { Role } from "./usual-names.js";

/** A dimension as descriptors name it; `n` is one that is fixed at an index. */
export type Dimension = Role | "n";

export interface Evidence {
  /** Roles that the file names, null for a dimension without a name. */
  readonly labels: readonly (Role | null)[];
  /** Lengths that the dimension of a role may have; no entry if nothing is known of them. */
  readonly lengths: ReadonlyMap<Role, readonly number[]>;
  /** Orders in which roles are stored, each of all roles or of some. */
  readonly orders: readonly (readonly string[])[];
}

const HABIT: readonly Role[] = ["t", "z", "y", "x", "c"];

/**
 * Every assignment of x, y, z, the components of a vector, and perhaps t, the habitual one first. A spare dimension of
 * one element is `n`; there are none if the shape does not fit.
 */
export function assignments(shape: readonly number[], isVector: boolean, evidence: Evidence): Dimension[][] {
  const needed = HABIT.filter((role) => role !== "t" && (isVector || role !== "c"));
  const all = [...assign(shape, ["t", ...needed], evidence), ...assign(shape, needed, evidence)];
  const seen = new Set<string>();
  // Whether a dimension of one element is `t` or `n` makes no difference.
  return all.filter((order) => {
    const key = order.map((role, at) => (shape[at] === 1 && (role === "n" || role === "t") ? "1" : role)).join();
    return seen.size < seen.add(key).size;
  });
}

function assign(
  shape: readonly number[],
  needed: readonly Role[],
  { labels, lengths, orders }: Evidence,
): Dimension[][] {
  const found: Dimension[][] = [];
  const order: Dimension[] = [];
  const visit = (left: readonly Role[], unused: number): void => {
    const at = order.length;
    if (at === shape.length) {
      if (left.length === 0 && orders.every((stated) => agrees(order, stated))) found.push([...order]);
      return;
    }
    const label = labels[at];
    for (const role of left) {
      if ((label !== null && label !== role) || lengths.get(role)?.includes(shape[at]) === false) continue;
      order.push(role);
      visit(
        left.filter((other) => other !== role),
        unused,
      );
      order.pop();
    }
    if (unused > 0 && shape[at] === 1 && (label === null || !left.includes(label))) {
      order.push("n");
      visit(left, unused - 1);
      order.pop();
    }
  };
  visit(needed, shape.length - needed.length);
  return found;
}

/** Whether the roles that an order names come in it. */
export function agrees(order: readonly Dimension[], said: readonly string[]): boolean {
  return (
    order.filter((role) => said.includes(role)).join() ===
    said.filter((role) => (order as readonly string[]).includes(role)).join()
  );
}

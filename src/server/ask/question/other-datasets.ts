/** Other datasets of a question: `field(e, "NAME", 3)` is e of the dataset NAME, on the same nodes. */
import { parse, type SyntaxTree } from "../../../analysis/expression-syntax.js";
import { AXIS_NAMES, type Dataset, isStaggered } from "../../../engine/contract/dataset.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "./member-values.js";
import { coordinateOf } from "./where.js";

/** Most datasets besides that of the question. */
const MAX_OTHERS = 8;
/** Largest distance of nodes that are the same, in spacings. */
const NEAR = 1e-6;

/** The names of the datasets of which a question asks fields. */
export function namesOfOthers({ what = [], where, cross, terms, reduce, events }: MemberValues): readonly string[] {
  const names = new Set<string>();
  const addNamesIn = (tree: unknown): void => {
    if (typeof tree !== "object" || tree === null) return;
    const { callee, arguments: [, name] = [] } = tree as { callee?: SyntaxTree; arguments?: (SyntaxTree | null)[] };
    if (callee?.name === "field" && typeof name?.value === "string") names.add(name.value);
    for (const part of Object.values(tree)) addNamesIn(part);
  };
  JSON.stringify([what.map(({ text }) => text), where, cross, terms, reduce, events], (_, one: unknown) => {
    try {
      if (typeof one === "string" && one.includes("field")) addNamesIn(parse(one.replace(/^cross:/, "")));
    } catch {
      // A text that is no expression is refused where it is compiled.
    }
    return one;
  });
  return [...names];
}

/** These datasets by their names. Throws NotFoundError, and RequestError for nodes that are not those of `dataset`. */
export function othersOf(
  question: MemberValues,
  dataset: Dataset,
  find: (name: string) => Dataset,
): Readonly<Record<string, Dataset>> | undefined {
  const names = namesOfOthers(question);
  if (names.length > MAX_OTHERS) throw wrong("what", `at most ${MAX_OTHERS} other datasets are named`);
  const others = names.map((name) => [name, find(name)] as const);
  for (const [, other] of others) requireSameNodes(dataset, other);
  return others.length === 0 ? undefined : Object.fromEntries(others);
}

function requireSameNodes(one: Dataset, other: Dataset): void {
  const refuse = (why: string) => wrong("what", `field: ${why} of "${other.name}" and "${one.name}" differ`);
  for (const [a, axis] of one.axes.entries()) {
    const its = other.axes[a as 0];
    const off = (_: unknown, i: number) => Math.abs(coordinateOf(axis, i) - coordinateOf(its, i)) > NEAR * axis.spacing;
    const isAlike = axis.nodes === its.nodes && axis.periodic === its.periodic;
    if (!isAlike || Array.from({ length: axis.nodes }).some(off)) throw refuse(`nodes along ${AXIS_NAMES[a]}`);
  }
  for (const unit of ["length", "time"] as const)
    if ((one.units[unit] ?? "") !== (other.units[unit] ?? "")) throw refuse(`units of ${unit}`);
  if (String(one.frameVelocity) !== String(other.frameVelocity)) throw refuse("velocities of the nodes");
  const staggered = Object.keys(other.fields).find((name) => isStaggered(other, name));
  if (staggered !== undefined) throw wrong("what", `field: ${staggered} of "${other.name}" lies on nodes of its own`);
}

/** Filtered fields and spectral derivatives: inputs that transforms of whole frames provide. */
import type { DerivativeScheme, DerivedPlan, FieldFilter } from "../../analysis/derived.js";
import { actsAlong, boxNodes, derivedPlan, filterOf } from "../../analysis/derived.js";
import { isFftLength, nearestFftLengths } from "../../analysis/fft-lengths.js";
import { type InputKey, type Names, otherDataset, partsOfInput } from "../../analysis/names.js";
import type { Axis, Dataset } from "../../engine/contract/dataset.js";
import { RequestError } from "../../shared/errors.js";
import { spanOf } from "../http/describe.js";
import { refuse } from "../http/refusal.js";
import { wrong } from "./faults.js";

export const AT_NODES = ["None_Fd4", "None_Fd6", "None_Fd8"] as const;

/** Checks the derivatives at nodes. Throws RequestError. */
export function schemeOf(derivatives: string = AT_NODES[0]): DerivativeScheme {
  if (derivatives === "spectral") return derivatives;
  if ((AT_NODES as readonly string[]).includes(derivatives)) return Number(derivatives.slice(-1)) as 4 | 6 | 8;
  throw wrong("derivatives", `expected one of ${AT_NODES.join(", ")}, spectral`);
}

/** The plan of the inputs that need transforms. Throws as `derivedOf` does. */
export function derivedFor(
  keys: Iterable<InputKey>,
  dataset: Dataset,
  names: Names,
  filter: FieldFilter | null,
  scheme: DerivativeScheme,
): DerivedPlan | null {
  const { axes, name } = dataset;
  const filters = [...keys].flatMap((key) => filterOf(partsOfInput(key) ?? NO_INPUT, filter) ?? []);
  // Along axes that are not periodic, a Gaussian filter is a matrix.
  const fits = (one: FieldFilter): boolean =>
    one.kind === "gaussian" || AXIS_NUMBERS.every((a) => axes[a].periodic || !actsAlong(one, a));
  const isAnywhere = scheme !== "spectral" && filters.every(fits);
  const grid = {
    nodes: axes.map(({ nodes }) => nodes) as unknown as DerivedPlan["nodes"],
    periods: axes.map((axis) => spanOf(axis).length) as unknown as DerivedPlan["periods"],
    transformed: axes.map(({ periodic }) => periodic || !isAnywhere) as unknown as DerivedPlan["transformed"],
  };
  const isOfOthers = [...keys].some((key) => otherDataset(partsOfInput(key) ?? NO_INPUT) !== undefined);
  if (scheme === "spectral" && isOfOthers) throw wrong("derivatives", "in other datasets they are Fd4, Fd6 or Fd8");
  const plan = derivedPlan(keys, grid, names, filter, scheme);
  if (plan === null) return null;
  checkTransforms(dataset, grid.transformed, scheme === "spectral" ? "derivatives" : "filter");
  for (const one of filters) {
    // Along a periodic axis of one node fields are constant.
    const along = AXIS_NUMBERS.filter((a) => actsAlong(one, a) && (axes[a].nodes > 1 || !axes[a].periodic));
    const [shortest = 0] = along.toSorted((a, b) => grid.periods[a] - grid.periods[b]);
    if (along.length > 0 && one.width > grid.periods[shortest]) {
      const text = `the shortest ${axes[shortest].periodic ? "period" : "axis"} of "${name}" is ${grid.periods[shortest]}`;
      const others = along.flatMap((a) => (a === shortest ? [] : [`, ${"xyz"[a]}`])).join("");
      throw wrong(
        "filter.width",
        `${text}, along ${"xyz"[shortest]}; filter(e, ${one.kind}:${one.width}${others}) leaves it out`,
      );
    }
    if (isAnywhere) for (const a of along) requireThreeNodes(axes[a], one.width, name);
  }
  return plan;
}

const AXIS_NUMBERS = [0, 1, 2] as const;
const NO_INPUT = { kind: "value", field: "", option: "", expression: null } as const;

/** Refuses a filter with fewer than three nodes of an open axis within its width. Throws RequestError. */
function requireThreeNodes(axis: Axis, width: number, name: string): void {
  const { coordinates, spacing, periodic } = axis;
  if (periodic) return;
  const steps = coordinates?.map((at, i) => at - (coordinates[i - 1] ?? at)) ?? [spacing];
  const least = 2 * Math.max(...steps);
  if (width >= least * (1 - 1e-9)) return;
  const text = `filter.width: nodes of "${name}" are up to ${least / 2} apart on an axis that is not periodic`;
  throw refuse("filter.width", `${text}; three of them need a width of at least ${least}.`);
}

/** Widths of a filter along x, y and z: the requested one; for a top hat, the odd number of nodes in its mean. */
export function widthsOf({ kind, width }: FieldFilter, { axes }: Dataset): readonly number[] {
  return axes.map(({ spacing }) => (kind === "tophat" ? boxNodes(width, spacing) * spacing : width));
}

/** Refuses axes that are not periodic, and numbers of nodes that are not 2^a 3^b 5^c. Throws RequestError. */
export function checkTransforms({ axes, name }: Dataset, transformed: readonly boolean[], member: string): void {
  axes.forEach(({ periodic, nodes }, a) => {
    if (!transformed[a]) return;
    const letter = "xyz"[a];
    const unsupported = (text: string) => new RequestError("Unsupported", text, { member });
    if (!periodic) throw unsupported(`Transforms along ${letter} need a periodic axis, and that of "${name}" is not.`);
    if (isFftLength(nodes)) return;
    const text = `Transforms take 2^a 3^b 5^c nodes, and ${letter} of "${name}" has ${nodes}`;
    throw unsupported(`${text}; the nearest are ${nearestFftLengths(nodes).join(" and ")}.`);
  });
}

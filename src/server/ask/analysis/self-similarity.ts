/**
 * Structure functions of real orders of absolute increments, and their local slopes against the third one.
 *
 * Source: Benzi et al., Physical Review E 48 (1993) R29.
 */
import { compileExpression } from "../../../analysis/expression.js";
import type { Moments } from "../../../analysis/moments.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { wrong } from "../faults.js";
import { type AnalysedNodes, reductionOf } from "./analysed-nodes.js";
import type { Means } from "./statistics.js";

/** Columns of a pass: a part holds the nodes of each. */
const COLUMNS = 24;
/** The order against which slopes are taken. */
const AGAINST = 3;

/**
 * Adds to the rows of separations <|d|^p>, d the increment of the component along the axis or of a scalar, and
 * [ln S_p(r+) - ln S_p(r-)] / [ln S_3(r+) - ln S_3(r-)], r- and r+ the separations before and after it on its axis.
 *
 * @throws RequestError for orders that are not above 0, and for parts of an axis
 */
export async function withAbsolute(
  body: GroupAnswer,
  text: string,
  orders: readonly number[],
  places: AnalysedNodes,
  { axes }: Dataset,
  { reduce }: Means,
): Promise<GroupAnswer> {
  const odd = orders.find((p) => !(p > 0 && p <= 16));
  if (odd !== undefined) throw wrong("absolute", `expected powers above 0 and up to 16, not ${odd}`);
  const rows = body.separations as readonly (GroupAnswer & {
    readonly axis: "x" | "y" | "z";
    readonly nodes: number;
  })[];
  const part = rows.find(({ axis }) => {
    const a = "xyz".indexOf(axis) as 0;
    return places.base.extent[a] !== axes[a].nodes;
  });
  if (part !== undefined) throw wrong("absolute", `it is of the whole axis ${part.axis}`);
  const { shape } = compileExpression(text, places.base.names, "what");
  const powers = [...new Set([...orders, AGAINST])];
  const columns = rows.flatMap(({ axis, nodes }) => {
    const one = shape === "vector" ? `(${text}).${axis}` : `(${text})`;
    return powers.map((p) => `abs(shift(${one}, ${axis}, ${nodes}) - ${one})^${p}`);
  });
  const found: (number | null)[] = [];
  for (let from = 0; from < columns.length; from += COLUMNS) {
    const some = columns.slice(from, from + COLUMNS);
    const reductions = some.map((_, of) => ({ kind: "moments", of, order: 1 }) as const);
    const merged = await reduce(reductionOf(places, { columns: some, reductions }), places);
    for (const i of some.keys()) {
      const { count, mean } = merged.states(i)[0] as Moments;
      found.push(count === 0 ? null : mean);
    }
  }
  const at = (row: number, p: number) => found[row * powers.length + powers.indexOf(p)] as number | null;
  const slope = (row: number, p: number): number | null => {
    const [before, after] = [row - 1, row + 1];
    if (rows[before]?.axis !== rows[row].axis || rows[after]?.axis !== rows[row].axis) return null;
    const rise = (of: number) => Math.log(at(after, of) ?? Number.NaN) - Math.log(at(before, of) ?? Number.NaN);
    const value = rise(p) / rise(AGAINST);
    return Number.isFinite(value) ? value : null;
  };
  const separations = rows.map((row, r) => ({
    ...row,
    absolute: Object.fromEntries(orders.map((p) => [p, at(r, p)])),
    slope: Object.fromEntries(orders.map((p) => [p, slope(r, p)])),
  }));
  return { ...body, separations };
}

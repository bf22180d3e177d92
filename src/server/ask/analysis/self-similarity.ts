/**
 * Structure functions of real orders of absolute increments, and their local slopes against the third one.
 *
 * Source: Benzi et al., Physical Review E 48 (1993) R29.
 */
import { compileExpression } from "../../../analysis/expression.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import { wrong } from "../faults.js";
import { LETTERS } from "./analysed-nodes.js";
import { type Analysis, momentsOf } from "./analysis.js";

/** Columns of a pass, all held at once in a part. */
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
  analysis: Analysis,
): Promise<GroupAnswer> {
  const { nodes, dataset } = analysis;
  const odd = orders.find((p) => !(p > 0 && p <= 16));
  if (odd !== undefined) throw wrong("absolute", `expected powers above 0 and up to 16, not ${odd}`);
  const rows = body.separations as readonly (GroupAnswer & {
    readonly axis: "x" | "y" | "z";
    readonly nodes: number;
  })[];
  const part = rows.find(({ axis }) => {
    const a = LETTERS.indexOf(axis) as 0;
    return nodes.base.extent[a] !== dataset.axes[a].nodes;
  });
  if (part !== undefined) throw wrong("absolute", `it is of the whole axis ${part.axis}`);
  const { shape } = compileExpression(text, nodes.base.names, "what");
  const powers = [...new Set([...orders, AGAINST])];
  const columns = rows.flatMap(({ axis, nodes: lag }) => {
    const one = shape === "vector" ? `(${text}).${axis}` : `(${text})`;
    return powers.map((p) => `abs(shift(${one}, ${axis}, ${lag}) - ${one})^${p}`);
  });
  const moments = await momentsOf(analysis, nodes, columns, COLUMNS);
  const found = moments.map(([one]) => (one === undefined || one.count === 0 ? null : one.mean));
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

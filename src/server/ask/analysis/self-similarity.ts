/**
 * Structure functions of real orders of absolute increments, and their local slopes against the third one.
 *
 * Source: Benzi et al., Physical Review E 48 (1993) R29.
 */
import { compileExpression } from "../../../analysis/expression.js";
import { nested } from "../../../analysis/nested.js";
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
  const separations: GroupAnswer[] = [];
  for (const letter of new Set(rows.map(({ axis }) => axis))) {
    const own = rows.filter(({ axis }) => axis === letter);
    const one = shape === "vector" ? `(${text}).${letter}` : `(${text})`;
    const increments = own.map((row) => `abs(shift(${one}, ${letter}, ${row.nodes}) - ${one})`);
    const columns = increments.flatMap((d) => powers.map((p) => `${d}^${p}`));
    // The pairs of a line weigh the same.
    const weights = nodes.base.weights.map((width, a) => (LETTERS[a] === letter ? null : width)) as never;
    const moments = await momentsOf(analysis, { ...nodes, base: { ...nodes.base, weights } }, columns, COLUMNS);
    const S = (r: number, p: number): number => {
      const [sum] = moments[r * powers.length + powers.indexOf(p)] ?? [];
      return sum === undefined || sum.count === 0 ? Number.NaN : sum.mean;
    };
    const rise = (r: number, p: number) => Math.log(S(r + 1, p)) - Math.log(S(r - 1, p));
    const listed = (value: (p: number) => number) => Object.fromEntries(orders.map((p) => [p, nested([value(p)], [])]));
    const slopes = (r: number) => listed((p) => rise(r, p) / rise(r, AGAINST));
    separations.push(...own.map((row, r) => ({ ...row, absolute: listed((p) => S(r, p)), slope: slopes(r) })));
  }
  return { ...body, separations };
}

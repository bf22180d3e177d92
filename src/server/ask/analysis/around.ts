/** Answers `around`: means of quantities around events, the nodes where a condition holds. */
import { compileExpression, componentsIn } from "../../../analysis/expression.js";
import type { Moments } from "../../../analysis/moments.js";
import { nested } from "../../../analysis/nested.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import type { Context } from "../context.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "../question/member-values.js";
import { usualWhat, whatTexts } from "../question/what.js";
import { type AxisNumber, type Direction, framesIn, keptAxes, LETTERS, regrouped } from "./analysed-nodes.js";
import { analysisOf, momentsOf, type Tabled, tabled } from "./analysis.js";
import { countsOf, whereHolds } from "./conditions.js";
import { withMeans } from "./means.js";
import { atOffsets, meansOriented, offsetsIn } from "./oriented.js";
import { aboutTexts, checkNumbers, coordinatesOf } from "./reductions.js";

/** Columns of a pass, all held at once in a part. */
const COLUMNS = 32;
/** Most columns of a question: one for each offset of each component. */
const MOST_COLUMNS = 65_536;

/** Mean and count of each quantity at each offset. */
export async function around(context: Context, question: MemberValues): Promise<Tabled> {
  const { dataset } = context;
  const { where = "", what = usualWhat(dataset), over, orient } = question;
  const plain = analysisOf(context, question);
  const lags = lagsOf(question, dataset.axes);
  const texts = what.map(({ text }) => text);
  const { names } = plain.nodes.base;
  if (compileExpression(where, names, "where").shape !== "scalar") throw wrong("where", "a condition is a scalar");
  const quantities = texts.flatMap((text) => [...componentsIn(text, compileExpression(text, names, "what").shape)]);
  const count = lags.reduce((product, n) => product * (2 * n + 1), quantities.length);
  if (count > MOST_COLUMNS)
    throw wrong("lag", `all offsets of all components are ${count}; at most ${MOST_COLUMNS} are answered`);
  if (question.method !== undefined && orient === undefined) throw wrong("method", "it is for orient");
  if (orient !== undefined && over !== undefined) throw wrong("over", "turned axes have no places: leave over out");
  const { analysis, about: means } = await withMeans(plain, [...texts, where], over ?? LETTERS, "where");
  const { nodes } = analysis;
  const about = { ...means, weights: nodes.weights, frames: framesIn(nodes), ...aboutTexts(quantities, nodes) };
  const stated = { what: whatTexts(what), ...analysis.time, lag: lags };
  const [events = 0] = await countsOf(analysis, nodes, [where]);
  if (orient !== undefined) {
    const { offsets, coordinates } = offsetsIn(lags, dataset);
    const { results, undirected } = await meansOriented(orient, texts, where, offsets, events, analysis);
    return tabled({ where, events, undirected, ...about, results: atOffsets(results, coordinates) }, stated);
  }
  const ranges = lags.map((n) => Array.from({ length: 2 * n + 1 }, (_, i) => i - n));
  const [xs, ys, zs] = ranges as [number[], number[], number[]];
  const offsets = zs.flatMap((k) => ys.flatMap((j) => xs.map((i) => [i, j, k] as const)));
  // Along a stretched axis positions are not averaged.
  const averaged: readonly Direction[] = over ?? [
    ...LETTERS.filter((_, a) => dataset.axes[a as AxisNumber].coordinates === null),
    "t",
  ];
  const places = regrouped(nodes, keptAxes(averaged, nodes.frames.length));
  const groups = places.base.extent.reduce((product, n, a) => product * (places.base.kept[a] ? n : 1), 1);
  checkNumbers(2 * groups * offsets.length * quantities.length, analysis.most);
  const columns = quantities.flatMap((text) => offsets.map((offset) => whereHolds(where, shifted(text, offset))));
  const found = await momentsOf(analysis, places, columns, COLUMNS);
  const { coordinates: ofPlaces = {} } = coordinatesOf(places.base);
  const distances = ([2, 1, 0] as const).map((a) => {
    const { spacing } = dataset.axes[a];
    return [`r_${LETTERS[a]}`, (ranges[a] as number[]).map((n) => n * spacing)] as const;
  });
  const coordinates = { ...(ofPlaces as object), ...Object.fromEntries(distances) };
  const lengths = Object.values(coordinates).map((list) => list.length);
  const results = quantities.map((text, q) => {
    const own = found.slice(q * offsets.length, (q + 1) * offsets.length);
    const inOrder = (of: (one: Moments) => number | null) =>
      nested(Array.from({ length: groups }, (_, g) => own.map((states) => of(states[g] as Moments))).flat(), lengths);
    return {
      ...{ of: text, coordinates },
      mean: inOrder(({ count: known, mean }) => (known === 0 ? null : mean)),
      count: inOrder(({ count: known }) => known),
    };
  });
  return tabled({ where, events, ...about, results }, { ...stated, method: undefined });
}

/** Nodes on each side of an event along x, y and z. Throws RequestError. */
function lagsOf({ lag = [4], orient }: MemberValues, axes: Dataset["axes"]): readonly number[] {
  const [x = 4, y = x, z = x, ...more] = lag;
  if ((lag.length !== 1 && lag.length !== 3) || more.length > 0 || lag.some((n) => n < 0))
    throw wrong("lag", "expected one number of nodes, or three, of x, y and z");
  if (orient !== undefined) return [x, y, z];
  // On a stretched axis the distance between nodes varies.
  const lags = axes.map(({ coordinates }, a) =>
    lag.length === 1 && coordinates !== null ? 0 : ([x, y, z][a] as number),
  );
  const odd = axes.findIndex(({ coordinates }, a) => coordinates !== null && (lags[a] as number) > 0);
  if (odd >= 0)
    throw wrong("lag", `nodes along ${LETTERS[odd as 0]} are not evenly spaced: its lag is 0, and its places stay`);
  return lags;
}

function shifted(text: string, offset: readonly number[]): string {
  const parts = offset.flatMap((n, a) => (n === 0 ? [] : [`${LETTERS[a as 0]}, ${n}`]));
  return parts.length === 0 ? text : `shift(${text}, ${parts.join(", ")})`;
}

/** Answers `around`: means of quantities around events, the nodes where a condition holds. */
import { compileExpression, componentsIn } from "../../../analysis/expression.js";
import { nested } from "../../../analysis/nested.js";
import type { Around } from "../../../analysis/reductions.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import type { Context } from "../context.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "../question/member-values.js";
import { usualWhat, whatTexts } from "../question/what.js";
import { type AxisNumber, type Direction, framesIn, keptAxes, LETTERS, regrouped } from "./analysed-nodes.js";
import { analysisOf, type Tabled, tabled } from "./analysis.js";
import { countsOf, whereHolds } from "./conditions.js";
import { withMeans } from "./means.js";
import { atOffsets, meansOriented, offsetsIn } from "./oriented.js";
import { aboutTexts, checkNumbers, coordinatesOf } from "./reductions.js";

/** Most offsets of all components. */
const MOST_OFFSETS = 65_536;

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
  if (count > MOST_OFFSETS)
    throw wrong("lag", `all offsets of all components are ${count}; at most ${MOST_OFFSETS} are answered`);
  if (question.method !== undefined && orient === undefined) throw wrong("method", "it is for orient");
  if (orient !== undefined && over !== undefined) throw wrong("over", "turned axes have no places: leave over out");
  const { analysis, about: means } = await withMeans(plain, [...texts, where], over ?? LETTERS, "where");
  const { nodes } = analysis;
  const about = { ...means, weights: nodes.weights, frames: framesIn(nodes), ...aboutTexts(quantities, nodes) };
  const stated = { what: whatTexts(what), ...analysis.time, lag: lags };
  if (orient !== undefined) {
    const { offsets, coordinates } = offsetsIn(lags, dataset);
    const [events = 0] = await countsOf(analysis, nodes, [where]);
    const { results, undirected } = await meansOriented(orient, texts, where, offsets, events, analysis);
    return tabled({ where, events, undirected, ...about, results: atOffsets(results, coordinates) }, stated);
  }
  // Along a stretched axis positions are not averaged.
  const averaged: readonly Direction[] = over ?? [
    ...LETTERS.filter((_, a) => dataset.axes[a as AxisNumber].coordinates === null),
    "t",
  ];
  const places = regrouped(nodes, keptAxes(averaged, nodes.frames.length));
  const groups = places.base.extent.reduce((product, n, a) => product * (places.base.kept[a] ? n : 1), 1);
  checkNumbers(2 * groups * count, analysis.most);
  const reduction = { kind: "around", on: 0, of: quantities.map((_, q) => q + 1), lags } as const;
  const columns = [whereHolds(where, "1"), ...quantities];
  const found = (await analysis.reduce(places, { columns, reductions: [reduction] })).states(0) as readonly Around[];
  const { coordinates: ofPlaces = {} } = coordinatesOf(places.base);
  const distances = ([2, 1, 0] as const).map((a) => {
    const { spacing } = dataset.axes[a];
    return [`r_${LETTERS[a]}`, Array.from({ length: 2 * lags[a] + 1 }, (_, i) => (i - lags[a]) * spacing)] as const;
  });
  const coordinates = { ...(ofPlaces as object), ...Object.fromEntries(distances) };
  const lengths = Object.values(coordinates).map((list) => list.length);
  const offsets = count / quantities.length;
  const results = quantities.map((text, q) => {
    const inOrder = (of: (one: Around, i: number) => number) =>
      nested(
        found.flatMap((one) => Array.from({ length: offsets }, (_, i) => of(one, q * offsets + i))),
        lengths,
      );
    return {
      ...{ of: text, coordinates },
      mean: inOrder(({ sums, shares }, i) => (sums[i] as number) / (shares[i] as number)),
      count: inOrder(({ counts }, i) => counts[i] as number),
    };
  });
  const events = found.reduce((sum, one) => sum + one.events, 0);
  return tabled({ where, events, ...about, results }, { ...stated, method: undefined });
}

/** Nodes on each side of an event along x, y and z. Throws RequestError. */
function lagsOf({ lag = [4], orient }: MemberValues, axes: Dataset["axes"]): readonly [number, number, number] {
  const [x = 4, y = x, z = x, ...more] = lag;
  if ((lag.length !== 1 && lag.length !== 3) || more.length > 0 || lag.some((n) => n < 0))
    throw wrong("lag", "expected one number of nodes, or three, of x, y and z");
  if (orient !== undefined) return [x, y, z];
  // On a stretched axis the distance between nodes varies.
  const lags = axes.map(({ coordinates }, a) =>
    lag.length === 1 && coordinates !== null ? 0 : ([x, y, z][a] as number),
  ) as [number, number, number];
  const odd = axes.findIndex(({ coordinates }, a) => coordinates !== null && (lags[a] as number) > 0);
  if (odd >= 0)
    throw wrong("lag", `nodes along ${LETTERS[odd as 0]} are not evenly spaced: its lag is 0, and its places stay`);
  return lags;
}

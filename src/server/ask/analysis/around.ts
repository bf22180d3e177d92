/** Answers `around`: means of quantities at nodes around events, the nodes where a condition holds. */
import { compileExpression, componentsIn } from "../../../analysis/expression.js";
import type { Moments } from "../../../analysis/moments.js";
import { nested } from "../../../analysis/nested.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "../question/read-member.js";
import { type AnalysedNodes, reductionOf } from "./analysed-nodes.js";
import { whereHolds } from "./conditions.js";
import { type Direction, meansFor } from "./means.js";
import { atOffsets, meansOriented, offsetsIn } from "./oriented.js";
import { aboutTexts, checkNumbers, framesIn, type Means } from "./statistics.js";

/** Columns of a pass: a part holds the nodes of each. */
const COLUMNS = 32;
const LETTERS = ["x", "y", "z"] as const;
/** Most columns of a question: one for each offset of each component. */
const MOST_COLUMNS = 65_536;

/** Nodes on each side of an event along x, y and z. @throws RequestError */
export function lagsOf({ lag = [4], orient }: MemberValues, { axes }: Dataset): readonly number[] {
  const [x = 4, y = x, z = x, ...more] = lag;
  if ((lag.length !== 1 && lag.length !== 3) || more.length > 0 || lag.some((n) => n < 0))
    throw wrong("lag", "expected one number of nodes, or three, of x, y and z");
  if (orient !== undefined) return [x, y, z];
  // Distances of nodes of a stretched axis differ from place to place.
  const lags = axes.map(({ coordinates }, a) =>
    lag.length === 1 && coordinates !== null ? 0 : ([x, y, z][a] as number),
  );
  const odd = axes.findIndex(({ coordinates }, a) => coordinates !== null && (lags[a] as number) > 0);
  if (odd >= 0)
    throw wrong("lag", `nodes along ${LETTERS[odd as 0]} are not evenly spaced: its lag is 0, and its places stay`);
  return lags;
}

/** The directions over which events are averaged: those asked, or all but stretched axes. */
export function eventsOver({ over }: MemberValues, { axes }: Dataset): readonly Direction[] {
  return over ?? ([...LETTERS.filter((_, a) => axes[a as 0].coordinates === null), "t"] as const);
}

/** Mean and count of each quantity at each offset. */
export async function meansAround(
  texts: readonly string[],
  where: string,
  asked: MemberValues,
  places: AnalysedNodes,
  dataset: Dataset,
  means: Means,
): Promise<GroupAnswer> {
  const lags = lagsOf(asked, dataset);
  const over = eventsOver(asked, dataset);
  const all: readonly Direction[] = ["x", "y", "z"];
  const known = await meansFor([...texts, where], places, asked, dataset, means, asked.over ?? all, "where");
  const { names } = known.places.base;
  if (compileExpression(where, names, "where").shape !== "scalar") throw wrong("where", "a condition is a scalar");
  const quantities = texts.flatMap((text) => [...componentsIn(text, compileExpression(text, names, "what").shape)]);
  const count = lags.reduce((product, n) => product * (2 * n + 1), quantities.length);
  if (count > MOST_COLUMNS)
    throw wrong("lag", `all offsets of all components are ${count}; at most ${MOST_COLUMNS} are answered`);
  const about = {
    ...{ ...known.about, weights: places.weights, frames: framesIn(places) },
    ...aboutTexts(quantities, known.places),
  };
  if (asked.method !== undefined && asked.orient === undefined) throw wrong("method", "it is for orient");
  if (asked.orient !== undefined) {
    if (asked.over !== undefined) throw wrong("over", "turned axes have no places: leave over out");
    const { offsets, coordinates } = offsetsIn(lags, dataset);
    const events = await eventsOf(where, known.places, means);
    const at = [asked.orient, texts, where, offsets, events] as const;
    const { results, undirected } = await meansOriented(...at, asked, known.places, dataset, means);
    return { where, events, undirected, ...about, results: atOffsets(results, coordinates) };
  }
  const ranges = lags.map((n) => Array.from({ length: 2 * n + 1 }, (_, i) => i - n));
  const [xs, ys, zs] = ranges as [number[], number[], number[]];
  const offsets = zs.flatMap((k) => ys.flatMap((j) => xs.map((i) => [i, j, k] as const)));
  const kept = [...LETTERS, "t" as const].map(
    (one) => !over.includes(one) && (one !== "t" || places.frames.length > 1),
  );
  const base = { ...known.places.base, kept: kept as unknown as AnalysedNodes["base"]["kept"] };
  const groups = base.extent.reduce((product, n, a) => product * (kept[a] ? n : 1), 1);
  const numbers = 2 * groups * offsets.length * quantities.length;
  checkNumbers(numbers, means.most);
  const columns = quantities.flatMap((text) => offsets.map((offset) => whereHolds(where, shifted(text, offset))));
  const found: (readonly Moments[])[] = [];
  for (let from = 0; from < columns.length; from += COLUMNS) {
    const some = columns.slice(from, from + COLUMNS);
    const reductions = some.map((_, of) => ({ kind: "moments", of, order: 1 }) as const);
    const merged = await means.reduce(
      reductionOf({ ...known.places, base }, { columns: some, reductions }),
      known.places,
    );
    for (const i of some.keys()) found.push(merged.states(i) as readonly Moments[]);
  }
  const events = await eventsOf(where, { ...known.places, base }, means);
  const axes = ["t", "z", "y", "x"].filter((one) => kept["xyzt".indexOf(one)]);
  const placesOf = (one: string): readonly number[] =>
    one === "t" ? base.times : [...base.coordinates["xyz".indexOf(one) as 0]];
  const coordinates = {
    ...Object.fromEntries(axes.map((one) => [one, placesOf(one)])),
    ...Object.fromEntries(
      [2, 1, 0].map((a) => [
        `r_${LETTERS[a as 0]}`,
        (ranges[a] as number[]).map((n) => n * dataset.axes[a as 0].spacing),
      ]),
    ),
  };
  const lengths = Object.values(coordinates).map((list) => list.length);
  const results = quantities.map((text, q) => {
    const own = found.slice(q * offsets.length, (q + 1) * offsets.length);
    const inOrder = (of: (one: Moments) => number | null) =>
      nested(Array.from({ length: groups }, (_, g) => own.map((states) => of(states[g] as Moments))).flat(), lengths);
    return {
      of: text,
      coordinates,
      mean: inOrder(({ count, mean }) => (count === 0 ? null : mean)),
      count: inOrder(({ count }) => count),
    };
  });
  return {
    ...{ where, events, ...about, results },
  };
}

/** How many nodes are events. */
async function eventsOf(where: string, places: AnalysedNodes, { reduce }: Means): Promise<number> {
  const base = { ...places.base, kept: [false, false, false, false] as const };
  const columns = [whereHolds(where, "1")];
  const merged = await reduce(
    reductionOf({ ...places, base }, { columns, reductions: [{ kind: "moments", of: 0, order: 1 }] }),
    places,
  );
  return (merged.states(0)[0] as Moments).count;
}

function shifted(text: string, offset: readonly number[]): string {
  const parts = offset.flatMap((n, a) => (n === 0 ? [] : [`${LETTERS[a as 0]}, ${n}`]));
  return parts.length === 0 ? text : `shift(${text}, ${parts.join(", ")})`;
}

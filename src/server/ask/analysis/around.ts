/** Answers `around`: means of quantities around events: nodes of a condition, extremes, centres of structures, points. */
import { compileExpression, compileScalar, componentsIn } from "../../../analysis/expression.js";
import { nested } from "../../../analysis/nested.js";
import type { Around } from "../../../analysis/reductions.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { checkSchema } from "../check-schema.js";
import type { Context } from "../context.js";
import { wrong } from "../faults.js";
import { exampleFor } from "../question/example.js";
import type { MemberValues } from "../question/member-values.js";
import { defaultWhat, whatText } from "../question/what.js";
import { type AxisNumber, type Direction, framesIn, keptAxes, LETTERS, regrouped } from "./analysed-nodes.js";
import { analysisOf, type Tabled, tabled } from "./analysis.js";
import { nanUnless } from "./conditions.js";
import { eventsOf, extremeNodes, groupsOfEvents, meansAtEvents } from "./events.js";
import { courantOf, withMeans } from "./means.js";
import { EVENTS } from "./reduction-schemas.js";
import { aboutTexts, checkNumbers, coordinatesOf } from "./reductions.js";

const MAX_OFFSETS = 65_536;

export async function around(context: Context, question: MemberValues): Promise<Tabled> {
  const { dataset } = context;
  const { where, events, what = defaultWhat(dataset), over, orient } = question;
  const alike = question.points !== undefined ? "points" : events === undefined ? null : "events";
  checkEvents(question, dataset);
  if (alike !== null && question.weights !== undefined)
    throw wrong("weights", `they are of nodes; ${alike} weigh 1 each`);
  // Values are interpolated in turned axes, and around events between nodes.
  const isBetween = orient !== undefined || events === "centres" || question.points !== undefined;
  if (question.method !== undefined && !isBetween) throw wrong("method", "it is for orient, centres and points");
  const plain = analysisOf(context, question);
  const lags = lagsOf(question, dataset.axes);
  const texts = what.map(({ text }) => text);
  const { names } = plain.nodes.base;
  const extreme = typeof events === "object" ? (events.highest ?? events.lowest) : undefined;
  if (where !== undefined) compileScalar(where, names, "where");
  if (extreme !== undefined) compileScalar(extreme, names, "events");
  const quantities = texts.flatMap((text) => [...componentsIn(text, compileExpression(text, names, "what").shape)]);
  const count = lags.reduce((product, n) => product * (2 * n + 1), quantities.length);
  if (count > MAX_OFFSETS)
    throw wrong("lag", `all offsets of all components are ${count}; at most ${MAX_OFFSETS} are answered`);
  const column = where === undefined ? (extreme ?? "1") : nanUnless(where, extreme ?? "1");
  // The means of centres are those of structures.
  const meant = events === "centres" ? texts : [...texts, column];
  const { analysis, about: means } = await withMeans(plain, meant, over ?? LETTERS, "where");
  const { nodes } = analysis;
  // Along a stretched axis positions are not averaged.
  const isAveraged = (a: number) => orient !== undefined || dataset.axes[a as AxisNumber].coordinates === null;
  const averaged: readonly Direction[] = over ?? [...LETTERS.filter((_, a) => isAveraged(a)), "t"];
  const places = regrouped(nodes, keptAxes(averaged, nodes.frames.length));
  const weights = alike ?? nodes.weights;
  const slopes = events === "centres" ? await courantOf([...meant, column], plain) : {};
  const about = { ...means, ...slopes, weights, frames: framesIn(nodes), ...aboutTexts(quantities, nodes) };
  const stated = {
    ...{ what: what.map(whatText), ...analysis.time, lag: lags },
    ...(isBetween ? {} : { method: undefined }),
    ...(alike === null ? {} : { weights: undefined }),
    ...(events === "centres" ? {} : { least: undefined }),
  };
  const offsets = offsetsOf(lags, question, dataset);
  const result = (of: string, at: object, mean: readonly number[], counts: readonly number[]) => {
    const coordinates = { ...at, ...offsets };
    const lengths = Object.values(coordinates).map(({ length }) => length);
    return { of, coordinates, mean: nested(mean, lengths), count: nested(counts, lengths) };
  };
  if (isBetween) {
    const found = await eventsOf(context, column, analysis);
    const groups = groupsOfEvents(found, places.base, question.points === undefined ? dataset.frameVelocity : null);
    checkNumbers(2 * groups.groups * count, analysis.maxNumbers);
    const { r_x: x, r_y: y, r_z: z } = offsets;
    const all = z.flatMap((k) => y.flatMap((j) => x.map((i) => [i, j, k])));
    const undirected = found.filter(({ axes }) => axes.length === 0).length;
    const means = await meansAtEvents(texts, found, groups, all, analysis);
    const results = means.map(({ of, mean, count }) => result(of, groups.coordinates, mean, count));
    const counted = { where, events: found.length, ...(orient === undefined ? {} : { undirected }) };
    return tabled({ ...counted, ...about, results }, stated);
  }
  const groups = places.base.extent.reduce((product, n, a) => product * (places.base.kept[a] ? n : 1), 1);
  checkNumbers(2 * groups * count, analysis.maxNumbers);
  const listed = extreme === undefined ? {} : { at: await extremeNodes(column, [], analysis) };
  const reduction = { kind: "around", on: 0, of: quantities.map((_, q) => q + 1), lags, ...listed } as const;
  const merged = await analysis.reduce(places, { columns: [column, ...quantities], reductions: [reduction] });
  const found = merged.states(0) as readonly Around[];
  const { coordinates = {} } = coordinatesOf(places.base);
  const each = count / quantities.length;
  const results = quantities.map((text, q) => {
    const inOrder = (of: (one: Around, i: number) => number) =>
      found.flatMap((one) => Array.from({ length: each }, (_, i) => of(one, q * each + i)));
    const mean = inOrder(({ sums, shares }, i) => sums[i] / shares[i]);
    const counts = inOrder(({ counts }, i) => counts[i]);
    return result(text, coordinates as object, mean, counts);
  });
  const total = found.reduce((sum, one) => sum + one.events, 0);
  return tabled({ where, events: total, ...about, results }, stated);
}

/** Checks what says which events are meant. Throws RequestError. */
function checkEvents({ where, events, points, over, orient, least }: MemberValues, dataset: Dataset): void {
  if (where === undefined && events === undefined && points === undefined)
    throw wrong("where", `it is missing, and so are events and points${exampleFor("around", dataset)}`);
  if (points !== undefined && (where ?? events) !== undefined)
    throw wrong("points", "the points are the events: leave out where and events");
  if (typeof events === "object") checkSchema(EVENTS, events, "events");
  if (typeof events === "object" && (events.highest === undefined) === (events.lowest === undefined))
    throw wrong("events", "expected a quantity as highest or as lowest");
  if (events === "centres" && where === undefined) throw wrong("where", "structures need a condition");
  if (least !== undefined && events !== "centres") throw wrong("least", "it is for events=centres");
  if (orient !== undefined && over !== undefined) throw wrong("over", "turned axes have no places: leave over out");
}

/** Offsets along the axes, or in turned axes in multiples of the smallest spacing. Throws RequestError. */
function offsetsOf(lags: readonly number[], { orient }: MemberValues, { axes }: Dataset) {
  const spacings = axes.flatMap(({ coordinates, spacing }) => (coordinates === null ? [spacing] : []));
  if (orient !== undefined && spacings.length === 0) throw wrong("orient", "no axis has evenly spaced nodes");
  const [x, y, z] = axes.map(({ spacing }, a) => {
    const step = orient === undefined ? spacing : Math.min(...spacings);
    const lag = lags[a];
    return Array.from({ length: 2 * lag + 1 }, (_, i) => (i - lag) * step);
  }) as [number[], number[], number[]];
  return { r_z: z, r_y: y, r_x: x };
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
  const odd = axes.findIndex(({ coordinates }, a) => coordinates !== null && lags[a] > 0);
  if (odd >= 0)
    throw wrong("lag", `nodes along ${LETTERS[odd as 0]} are not evenly spaced: its lag is 0, and its places stay`);
  return lags;
}

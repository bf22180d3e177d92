/** Events between nodes, or with axes of their own, and means around them from interpolated values. */
import { compileExpression, compileScalar, componentsIn } from "../../../analysis/expression.js";
import type { Extreme, Extremes } from "../../../analysis/extremes.js";
import { placeIn, placeOf, type ReductionPlan } from "../../../analysis/plan.js";
import { frameShift } from "../../../engine/contract/positions.js";
import { LimitError } from "../../../shared/errors.js";
import { spanOf } from "../../http/describe.js";
import type { Context } from "../context.js";
import type { MemberValues } from "../question/member-values.js";
import { pointsOf } from "../question/points.js";
import { pointOptions } from "../question/schemes.js";
import { type AnalysedNodes, DIRECTIONS, nodesOfFrame, pooled } from "./analysed-nodes.js";
import type { Analysis } from "./analysis.js";
import { countNodesWhere } from "./conditions.js";
import { pickGroupExtremes } from "./reductions.js";
import { finderOf } from "./structures.js";

/** Most nodes of a condition whose axes are found together. */
const MAX_EVENTS = 20_000;
/** Points that are evaluated together. */
const POINTS = 2 ** 17;
const AXES = ["eigvec1(S)", "eigvec2(S)", "omega"].flatMap((text) => ["x", "y", "z"].map((c) => `${text}.${c}`));

type Vector = readonly number[];
/** Unit vectors along the turned axes; null: the axes of the grid. */
type Frame = readonly [Vector, Vector, Vector] | null;

export interface PlacedEvent {
  /** Its place, where the nodes are at its time. */
  readonly at: Vector;
  /** Index of its frame in the question. */
  readonly frame: number;
  readonly weight: number;
  /** The axes in which it counts; none if they are not known. */
  readonly axes: readonly Frame[];
}

const dot = (a: Vector, b: Vector): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const times = (a: Vector, s: number): Vector => a.map((one) => s * one);
const cross = (a: Vector, b: Vector): Vector =>
  [0, 1, 2].map((i) => {
    const [j, k] = [(i + 1) % 3, (i + 2) % 3];
    return a[j] * b[k] - a[k] * b[j];
  });

/**
 * The axes of an event; of the vorticity two, since the sign of e1 means nothing. None where they are not known.
 * Of the strain e1 and e2 have the signs of e1.omega, e2.omega >= 0, and e3 = e1 x e2. Of the vorticity e_z is along it,
 * e_x along e1 less its part along e_z, and e_y = e_z x e_x.
 */
function framesOf(by: MemberValues["orient"], numbers: Vector): readonly Frame[] {
  if (by === undefined) return [null];
  const [e1, e2, omega] = [numbers.slice(0, 3), numbers.slice(3, 6), numbers.slice(6, 9)];
  if (numbers.some((one) => !Number.isFinite(one))) return [];
  const along = (e: Vector): Vector => times(e, dot(e, omega) < 0 ? -1 : 1);
  if (by === "strain") {
    const [a, b] = [along(e1), along(e2)];
    return [[a, b, cross(a, b)]];
  }
  const length = Math.sqrt(dot(omega, omega));
  const z = times(omega, 1 / length);
  const rest = e1.map((one, c) => one - dot(e1, z) * z[c]);
  const size = Math.sqrt(dot(rest, rest));
  if (!(length > 0 && size > 1e-6)) return [];
  const x = times(rest, 1 / size);
  return [1, -1].map((sign): Frame => [times(x, sign), times(cross(z, x), sign), z]);
}

/** The nodes where a column is known, or the most extreme of them, with the values of other columns there. */
export async function extremeNodes(
  column: string,
  also: readonly string[],
  analysis: Analysis,
): Promise<readonly Extreme[]> {
  const { question, nodes, reduce } = analysis;
  const all = pooled(nodes);
  const named = typeof question.events === "object" ? question.events : null;
  const [known = 0] = named === null ? await countNodesWhere(analysis, all, [column]) : [];
  if (known > MAX_EVENTS)
    throw new LimitError("analysis.numbers", `where: ${known} nodes are events; at most ${MAX_EVENTS} are turned.`);
  const { count = Math.max(1, known), apart = 0 } = named ?? {};
  const [side, from] =
    named?.lowest === undefined ? (["highest", { lowest: null }] as const) : (["lowest", { highest: null }] as const);
  const reduction = { kind: "extremes", of: 0, count, apart, from, also: also.map((_, c) => c + 1) } as const;
  const reducing = { columns: [column, ...also], reductions: [reduction] };
  const found = (await reduce(all, reducing)).states(0) as readonly Extremes[];
  const [picked] = await pickGroupExtremes(reduction, found, { ...all.base, ...reducing }, all, analysis);
  return picked?.[side] ?? [];
}

/** The events of a question, with their axes. `column`: known at the nodes that are events. */
export async function eventsOf(context: Context, column: string, analysis: Analysis): Promise<readonly PlacedEvent[]> {
  const { question, dataset, nodes, evaluate } = analysis;
  const [{ points, events, orient }, { base }] = [question, nodes];
  const moved = (place: Vector, frame: number): Vector =>
    frameShift(dataset.frameVelocity, base.times[frame]).map((shift, a) => place[a] + shift);
  const places: Pick<PlacedEvent, "at" | "frame">[] = [];
  if (points !== undefined) {
    const { triples, count } = await pointsOf(context, question, 0, false);
    const all = Array.from({ length: count }, (_, i) => [...triples.subarray(3 * i, 3 * i + 3)]);
    for (const frame of base.times.keys()) for (const at of all) places.push({ at, frame });
  } else if (events === "centres") {
    const { structuresOf, ...found } = await finderOf(context, { ...question, what: [] }, analysis, false);
    for (const frame of base.times.keys())
      for (const { centre } of (await structuresOf(nodesOfFrame(found.analysis.nodes, frame))).described)
        places.push({ at: moved(centre as Vector, frame), frame });
  } else {
    const found = await extremeNodes(column, AXES, analysis);
    return found.map(({ node, frame, more = [] }) => {
      const own = placeOf(base.extent, node).map((n, a) => base.weights[a as 0]?.[n] ?? 1);
      const weight = events === undefined ? own.reduce((product, w) => product * w) : 1;
      return { at: moved(placeIn(base as ReductionPlan, node), frame), frame, weight, axes: framesOf(orient, more) };
    });
  }
  const columns = orient === undefined ? [] : AXES.map((text) => compileScalar(text, base.names, "orient"));
  const placed: PlacedEvent[] = [];
  for (const [f, time] of base.times.entries()) {
    const own = places.filter(({ frame }) => frame === f);
    const at = Float32Array.from(own.flatMap((one) => one.at));
    const found = await evaluate(columns, at, { ...pointOptions(question), temporalInterpolation: "None", time });
    const numbersOf = (i: number) => found.map((list) => list[i]);
    for (const [i, one] of own.entries()) placed.push({ ...one, weight: 1, axes: framesOf(orient, numbersOf(i)) });
  }
  return placed;
}

/**
 * The groups of events at one place along the kept directions, and their coordinates, the slowest direction first: all
 * times, and the places of events, or the nodes nearest to them, which have a `velocity`.
 */
export function groupsOfEvents(events: readonly PlacedEvent[], base: AnalysedNodes["base"], velocity: Vector | null) {
  const along = ([3, 2, 1, 0] as const).filter((a) => base.kept[a]);
  const away = (period: number, d: number) => Math.abs(period > 0 ? d - period * Math.round(d / period) : d);
  /** Among the nodes on both sides of a place, and the first one, which may be near across a seam. */
  const nearest = (nodes: Float64Array, period: number, place: number): number => {
    const at = period > 0 ? place - period * Math.floor((place - nodes[0]) / period) : place;
    let [low, high] = [0, nodes.length - 1];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (nodes[middle] <= at) low = middle;
      else high = middle;
    }
    const near = [nodes[0], nodes[low], nodes[high]];
    return near.reduce((best, one) => (away(period, one - place) < away(period, best - place) ? one : best));
  };
  const placeAt = ({ at, frame }: PlacedEvent, a: 0 | 1 | 2 | 3): number => {
    if (a === 3 || velocity === null) return a === 3 ? base.times[frame] : at[a];
    return nearest(base.coordinates[a], base.periods[a], at[a] - velocity[a] * base.times[frame]);
  };
  const placesOf = (a: 0 | 1 | 2 | 3) => [...new Set(events.map((one) => placeAt(one, a)))].sort((p, q) => p - q);
  const lists = along.map((a) => (a === 3 ? [...base.times] : placesOf(a)));
  const numbers = lists.map((list) => new Map(list.map((place, i) => [place, i])));
  return {
    coordinates: Object.fromEntries(along.map((a, n) => [DIRECTIONS[a], lists[n]] as const)),
    groups: lists.reduce((product, list) => product * list.length, 1),
    groupOf: (one: PlacedEvent): number =>
      along.reduce<number>((group, a, n) => group * lists[n].length + (numbers[n].get(placeAt(one, a)) as number), 0),
  };
}

/** Mean and count of each component of quantities, by group, at each offset in the axes of the events. */
export async function meansAtEvents(
  texts: readonly string[],
  events: readonly PlacedEvent[],
  { groups, groupOf }: ReturnType<typeof groupsOfEvents>,
  offsets: readonly Vector[],
  { question, dataset, nodes: { base }, evaluate, admit }: Analysis,
): Promise<readonly { readonly of: string; readonly mean: readonly number[]; readonly count: readonly number[] }[]> {
  const quantities = texts.map((text) => ({ text, shape: compileExpression(text, base.names, "what").shape }));
  const columns = quantities.flatMap(({ text, shape }) => componentsIn(text, shape));
  const compiled = columns.map((text) => compileExpression(text, base.names, "what"));
  const list = () => columns.map(() => new Float64Array(groups * offsets.length));
  const [sums, shares, counts] = [list(), list(), list()];
  const spans = dataset.axes.map((axis) => ({ ...spanOf(axis), periodic: axis.periodic }));
  const turnedAxes = events.flatMap((event) => event.axes.map((axes) => ({ event, axes, group: groupOf(event) })));
  await admit(turnedAxes.length * offsets.length);
  const options = { ...pointOptions(question), temporalInterpolation: "None" as const };
  for (const [f, time] of base.times.entries()) {
    const shift = frameShift(dataset.frameVelocity, time);
    const own = turnedAxes.filter(({ event }) => event.frame === f);
    const atOnce = Math.max(1, Math.floor(POINTS / offsets.length));
    for (let from = 0; from < own.length; from += atOnce) {
      const some = own.slice(from, from + atOnce);
      const points = new Float32Array(3 * some.length * offsets.length);
      const isInside = new Uint8Array(some.length * offsets.length);
      for (const [n, { event, axes }] of some.entries())
        for (const [o, r] of offsets.entries()) {
          const along =
            axes === null ? r : [0, 1, 2].map((c) => r[0] * axes[0][c] + r[1] * axes[1][c] + r[2] * axes[2][c]);
          const place = event.at.map((one, c) => one + along[c]);
          const i = n * offsets.length + o;
          const isWithin = (at: number, { first, last }: (typeof spans)[0]) => at >= first && at <= last;
          const isIn = spans.every((span, a) => span.periodic || isWithin(place[a] - shift[a], span));
          isInside[i] = Number(isIn);
          points.set(isIn ? place : event.at, 3 * i);
        }
      const values = await evaluate(compiled, points, { ...options, time });
      for (const [n, { event, axes, group }] of some.entries())
        for (let o = 0; o < offsets.length; o++) {
          const i = n * offsets.length + o;
          if (isInside[i] === 0) continue;
          const to = group * offsets.length + o;
          let first = 0;
          for (const { shape } of quantities) {
            const size = { scalar: 1, vector: 3, tensor: 9 }[shape];
            const numbers = values.slice(first, first + size).map((list) => list[i]);
            for (const [c, value] of turned(numbers, axes).entries()) {
              if (Number.isNaN(value)) continue;
              sums[first + c][to] += event.weight * value;
              shares[first + c][to] += event.weight;
              counts[first + c][to]++;
            }
            first += size;
          }
        }
    }
  }
  return columns.map((of, c) => ({
    of,
    mean: [...sums[c].map((sum, o) => sum / shares[c][o])],
    count: [...counts[c]],
  }));
}

/** The components R v and R T R^T of a vector or a tensor along turned axes. */
function turned(numbers: Vector, axes: Frame): Vector {
  if (axes === null || numbers.length === 1) return numbers;
  if (numbers.length === 3) return axes.map((e) => dot(e, numbers));
  const rows = [0, 1, 2].map((i) => numbers.slice(3 * i, 3 * i + 3));
  const columns = axes.map((g) => rows.map((row) => dot(row, g)));
  return axes.flatMap((e) => columns.map((column) => dot(e, column)));
}

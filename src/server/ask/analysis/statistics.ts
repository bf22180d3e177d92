/** Computes statistics: reductions of quantities at the nodes of a region, or at points. */
import { compileExpression, compileScalar, componentsIn } from "../../../analysis/expression.js";
import {
  type Extreme,
  type Extremes,
  type ExtremesOptions,
  foremost,
  pickExtremes,
  SIDES,
  type Side,
} from "../../../analysis/extremes.js";
import type { Moments } from "../../../analysis/moments.js";
import { formulaOf } from "../../../analysis/names.js";
import { nested } from "../../../analysis/nested.js";
import { foldStates } from "../../../analysis/parity.js";
import { distanceIn, groupExtent, Merged, placeIn, type ReductionPlan, reducePart } from "../../../analysis/plan.js";
import {
  type AnyReduction,
  type BinRange,
  edgesOf,
  finishState,
  type GroupAnswer,
  mergeStates,
  type ReductionState,
} from "../../../analysis/reductions.js";
import type { SpectrumSums } from "../../../analysis/spectrum.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import type { ReductionQuery, SpectrumQuery } from "../../../engine/contract/query.js";
import { LimitError } from "../../../shared/errors.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";
import { refuse } from "../../http/refusal.js";
import { checkSchema } from "../check-schema.js";
import { type EvaluateAt, randomPoints } from "../points/point-columns.js";
import type { Paths } from "../points/values-along.js";
import { boxOf } from "../question/region.js";
import { widthsOf } from "../transforms.js";
import { type AnalysedNodes, type AskedStatistics, placesOf, pointPlacesOf, reductionOf } from "./analysed-nodes.js";
import { numbersOf } from "./analysis-memory.js";
import { REDUCTIONS, type ReductionKind } from "./reduction-schemas.js";
import { withErrors } from "./standard-errors.js";

/** Runs the query of a plan at its places. */
export type Reduce = (query: ReductionQuery, places: AnalysedNodes) => Promise<Merged>;

/** What an analysis answers with. */
export interface Means {
  readonly reduce: Reduce;
  /** Sums the modes of the frames of places. */
  readonly sum: (query: SpectrumQuery, places: AnalysedNodes) => Promise<SpectrumSums>;
  readonly evaluate: EvaluateAt;
  /** Counts points that an analysis draws among the points in flight, and waits until there is room for them. */
  readonly admit: (points: number) => Promise<void>;
  readonly paths: Paths;
  readonly slices: TimeSlices;
  /** Numbers that an answer may have. */
  readonly most: number;
}

type Asked = Readonly<Record<string, unknown>>;

/** The columns of a plan, each once. */
export class AskedColumns {
  readonly texts: string[] = [];
  readonly #plan: AnalysedNodes["base"];

  constructor(places: AnalysedNodes) {
    this.#plan = places.base;
  }

  /** The number of the column of a quantity. @throws RequestError that names the member and the column of the text */
  of(text: unknown, member: string): number {
    compileScalar(text as string, this.#plan.names, member);
    const known = this.texts.indexOf(text as string);
    return known >= 0 ? known : this.texts.push(text as string) - 1;
  }

  /** The columns of the components of a quantity. @throws as `of` */
  componentsOf(text: string, member: string): readonly number[] {
    const { shape } = compileExpression(text, this.#plan.names, member);
    return componentsIn(text, shape).map((one) => this.of(one, member));
  }
}

/** Draws points, the same in each frame, and returns what reduces quantities there. */
async function drawPlaces(
  asked: AskedStatistics,
  drawn: NonNullable<AskedStatistics["at"]>,
  dataset: Dataset,
  { evaluate, admit, slices }: Means,
): Promise<{ readonly places: AnalysedNodes; readonly reduce: Reduce }> {
  const { derivatives = "Fd4Lag4", filter, region, over = ["x", "y", "z", "t"] } = asked;
  if (!["x", "y", "z"].every((axis) => over.includes(axis as "x")))
    throw refuse("over", "over: random points are averaged over x, y and z.");
  const nodes = pointPlacesOf(asked, dataset);
  const { method = "Lag8" } = drawn;
  const count = "points" in drawn ? drawn.points.length / 3 : drawn.random;
  await admit(count);
  const box = boxOf(dataset, "points" in drawn ? undefined : region);
  const points =
    "points" in drawn ? drawn.points : await randomPoints(slices, count, drawn.seed ?? 0, box.origin, box.extent);
  const base: AnalysedNodes["base"] = { ...nodes.base, extent: [count, 1, 1, nodes.numbers.length], points };
  const reduce: Reduce = async ({ plan }) => {
    const columns = plan.columns.map((text) => compileScalar(text, plan.names));
    const merged = new Merged(plan);
    for (const [frame, time] of plan.times.entries()) {
      const options = { time, method, derivatives, filter, temporalInterpolation: "None" } as const;
      const values = await evaluate(columns, points, options);
      await slices.each(count, (from, to) => {
        const part = values.map((column) => column.subarray(from, to));
        merged.add(reducePart(plan, { from: [from, 0, 0], count: [to - from, 1, 1], frame }, part));
      });
    }
    return merged;
  };
  return { places: { ...nodes, base }, reduce };
}

/** A reduction as asked, whose range may still be found. */
interface Pending {
  readonly asked: Asked;
  readonly kind: ReductionKind;
  readonly of: readonly number[];
  /** Columns whose ranges are to be found, and those given. */
  readonly ranged: readonly number[];
  readonly ranges: readonly BinRange[] | null;
}

/** Computes the answer, besides what all analyses have. */
export async function statistics(asked: AskedStatistics, dataset: Dataset, means: Means): Promise<GroupAnswer> {
  const drawn = asked.at === undefined ? null : await drawPlaces(asked, asked.at, dataset, means);
  const { places, reduce } = drawn ?? { places: placesOf(asked, dataset), reduce: means.reduce };
  const columns = new AskedColumns(places);
  const pending = asked.reduce.map((one, i) => readReduction(one as Asked, i, columns));
  const known = await findRanges(pending, places, columns, reduce);
  const groups = pending.map((one) => reductionsFor(one, (column) => known.get(column) as BinRange));
  const reductions = groups.flat();
  checkSize(reductions, places.base, means.most);
  const { by } = asked;
  if (by !== undefined) checkBlocks(by, reductions, places.base);
  const { kept } = places.base;
  const base = by === undefined ? places.base : { ...places.base, kept: [kept[0], kept[1], kept[2], true] as const };
  const query = reductionOf({ ...places, base }, { columns: columns.texts, reductions });
  const merged = await reduce(query, places);
  const plan = asked.fold === undefined ? { ...query.plan, kept } : halfOf({ ...query.plan, kept }, asked.fold.axis);
  const answers: GroupAnswer[] = [];
  for (const [i, reduction] of reductions.entries()) {
    const states = merged.states(i);
    const found =
      reduction.kind === "extremes"
        ? await pickAll(reduction, states as readonly Extremes[], query, places, { ...means, reduce })
        : folded(reduction, states, query.plan, columns.texts, asked.fold);
    answers.push(describeResult(reduction, found, plan, columns.texts, by));
  }
  const results = groups.map(({ length }) => byComponent(answers.splice(0, length)));
  return {
    weights: drawn === null ? places.weights : "points",
    frames: framesIn(places),
    ...aboutTexts(columns.texts, places),
    results,
  };
}

/** One result of those of the components of a quantity: its members are lists of theirs. */
function byComponent(parts: readonly GroupAnswer[]): GroupAnswer {
  const [first = {}] = parts;
  if (parts.length === 1) return first;
  const member = (name: string) => (name === "coordinates" ? first[name] : parts.map((part) => part[name]));
  return Object.fromEntries(Object.keys(first).map((name) => [name, member(name)]));
}

function readReduction(asked: Asked, index: number, columns: AskedColumns): Pending {
  const prefix = `reduce[${index}]`;
  const kind = (Object.keys(REDUCTIONS) as ReductionKind[]).find((name) => Object.hasOwn(asked, name));
  if (kind === undefined) throw refuse(prefix, `${prefix}: expected one of ${Object.keys(REDUCTIONS).join(", ")}.`);
  checkSchema(REDUCTIONS[kind], asked, prefix);
  const texts = [asked[kind]].flat();
  const member = `${prefix}.${kind}`;
  const hasComponents = kind === "moments" || kind === "covariance";
  const of = texts.flatMap((text) =>
    hasComponents ? columns.componentsOf(text as string, member) : columns.of(text, member),
  );
  if (kind === "covariance" && of.length > MOST_COVARIED)
    throw refuse(member, `${member}: ${of.length} components; at most ${MOST_COVARIED} have covariances.`);
  const on = [asked.on ?? []].flat();
  const ranged = kind === "conditional" ? on.map((text) => columns.of(text, `${prefix}.on`)) : of;
  if (kind === "conditional" && [asked.bins].flat().length !== on.length)
    throw refuse(`${prefix}.bins`, `${prefix}.bins: expected a number for each of on.`);
  const { range } = asked as { range?: "auto" | BinRange | readonly BinRange[] };
  if (range === undefined || range === "auto") return { asked, kind, of, ranged, ranges: null };
  const ranges = (typeof range[0] === "number" ? [range] : range) as readonly BinRange[];
  if (kind === "conditional" && ranges.length !== on.length)
    throw refuse(`${prefix}.range`, `${prefix}.range: expected a first and a last edge for each of on.`);
  const wrong = ranges.some(([from, to]) => !(from < to));
  if (wrong) throw refuse(`${prefix}.range`, `${prefix}.range: the first edge must be below the last.`);
  return { asked, kind, of, ranged, ranges };
}

/** Finds the least and largest values of the columns whose ranges are not given, in a separate pass. */
async function findRanges(
  pending: readonly Pending[],
  places: AnalysedNodes,
  { texts }: AskedColumns,
  reduce: Reduce,
): Promise<ReadonlyMap<number, BinRange>> {
  const open = pending.filter(({ asked, ranges }) => asked.bins !== undefined && ranges === null);
  const wanted = [...new Set(open.flatMap(({ ranged }) => ranged))];
  if (wanted.length === 0) return new Map();
  const reductions = wanted.map((of) => ({ kind: "moments", of, order: 1 }) as const);
  const base = { ...places.base, kept: [false, false, false, false] as const };
  const merged = await reduce(reductionOf({ ...places, base }, { columns: texts, reductions }), places);
  return new Map(
    wanted.map((column, i) => {
      const moments = merged.states(i)[0] as Moments;
      if (moments.count === 0) throw refuse("range", `range: ${texts[column]} has no value here, and so no range.`);
      return [column, rangeIn(moments)];
    }),
  );
}

function rangeIn({ min, max }: Moments): BinRange {
  return min < max ? [min, max] : [min - 0.5, max + 0.5];
}

/**
 * Picks the extremes of each group. If more must be apart than the candidates of a pass are, another pass goes on where
 * these end.
 */
async function pickAll(
  reduction: AnyReduction & ExtremesOptions,
  found: readonly Extremes[],
  query: ReductionQuery,
  places: AnalysedNodes,
  { reduce, slices }: Pick<Means, "reduce" | "slices">,
): Promise<readonly Extremes[]> {
  const distance2 = distanceIn(query.plan);
  const picked = found.map((state) => ({ ...state, highest: NONE, lowest: NONE }));
  for (let pass = found; ; ) {
    for (const [g, state] of picked.entries())
      for (const side of SIDES) {
        const candidates = pass[g]?.[side] ?? [];
        await slices.each(candidates.length, (from, to) => {
          state[side] = pickExtremes(reduction, state[side], candidates.slice(from, to), distance2);
        });
      }
    const next = (side: Side): Extreme | null => {
      const open = pass.filter((_, g) => (picked[g]?.[side].length ?? 0) < reduction.count);
      return foremost(
        side,
        open.map(({ leftOut }) => leftOut[side]).filter((one) => one !== null),
      );
    };
    const from = { highest: next("highest"), lowest: next("lowest") };
    if (from.highest === null && from.lowest === null) return picked;
    const all = (side: Side): readonly Extreme[] => picked.flatMap((state) => state[side]);
    const again = { ...reduction, from, picked: { highest: all("highest"), lowest: all("lowest") } };
    const merged = await reduce({ ...query, plan: { ...query.plan, reductions: [again] } }, places);
    pass = merged.states(0) as readonly Extremes[];
  }
}

const NONE: readonly Extreme[] = [];
/** Components of which covariances are asked together. */
const MOST_COVARIED = 16;

/** A reduction as asked; moments have one for each component. */
function reductionsFor(
  { asked, kind, of, ranged, ranges }: Pending,
  rangeOf: (column: number) => BinRange,
): readonly AnyReduction[] {
  const found = ranges ?? (asked.bins === undefined ? [] : ranged.map(rangeOf));
  const [first = 0, second = 0] = of;
  const [range = [0, 1], other = range] = found as readonly BinRange[];
  switch (kind) {
    case "moments":
      return of.map((column) => ({ kind, of: column, order: (asked.order as number | undefined) ?? 4 }));
    case "covariance":
      return [{ kind, of }];
    case "histogram":
      return [{ kind, of: first, bins: asked.bins as number, range }];
    case "joint":
      return [{ kind, of: [first, second], bins: asked.bins as [number, number], range: [range, other] }];
    case "conditional":
      return [{ kind, of: first, on: ranged, bins: [asked.bins as number | number[]].flat(), range: found }];
    case "extremes":
      return [{ kind, of: first, count: asked.count as number, apart: (asked.apart as number | undefined) ?? 0 }];
  }
}

/** @throws as `checkNumbers` does */
export function checkSize(reductions: readonly AnyReduction[], plan: AnalysedNodes["base"], most: number): void {
  const groups = groupExtent(plan as ReductionPlan).reduce((product, n) => product * n, 1);
  checkNumbers(groups * reductions.reduce((sum, one) => sum + numbersOf(one), 0), most);
}

/** @throws LimitError if an answer would have more numbers than are sent */
export function checkNumbers(numbers: number, most: number): void {
  if (numbers <= most) return;
  throw new LimitError("analysis.numbers", `The answer would have ${numbers} numbers; at most ${most} are sent.`);
}

function describeResult(
  reduction: AnyReduction,
  states: readonly ReductionState[],
  plan: ReductionPlan,
  texts: readonly string[],
  by: number | undefined,
): GroupAnswer {
  const place = ({ node, frame }: Extreme) => ({ at: placeIn(plan, node), time: plan.times[frame] });
  const finish = (state: ReductionState) => finishState(reduction, state, place, plan.cell);
  const merge = (a: ReductionState, b: ReductionState) => mergeStates(reduction, a, b);
  // The states of the groups of a frame follow one another.
  const number = states.length / plan.times.length;
  const groups =
    by === undefined
      ? states.map(finish)
      : Array.from({ length: number }, (_, g) =>
          withErrors(
            plan.times.map((_time, f) => states[f * number + g] as ReductionState),
            by,
            merge,
            finish,
          ),
        );
  return { ...headOf(reduction, texts), ...coordinatesOf(plan), ...nest(groups, plan) };
}

/** States of one half of an axis, each with that of its symmetric place. @throws RequestError for what is not folded */
function folded(
  reduction: AnyReduction,
  states: readonly ReductionState[],
  plan: ReductionPlan,
  texts: readonly string[],
  fold: AskedStatistics["fold"],
): readonly ReductionState[] {
  if (fold === undefined) return states;
  if (reduction.kind !== "moments" && reduction.kind !== "covariance")
    throw refuse("fold", `fold: moments, covariances and budgets are folded, not ${reduction.kind}.`);
  const signs = [reduction.of].flat().map((column) => fold.signsOf(texts[column] as string)[0] as number);
  return foldStates(reduction, states, groupExtent(plan), fold.axis, signs);
}

/** The plan of one half of an axis. */
function halfOf(plan: ReductionPlan, axis: 0 | 1 | 2): ReductionPlan {
  const half = Math.ceil(plan.extent[axis] / 2);
  const along = plan.coordinates.map((list, a) => (a === axis ? list.subarray(0, half) : list));
  const extent = plan.extent.map((n, a) => (a === axis ? half : n));
  return { ...plan, extent: extent as never, coordinates: along as never };
}

/** @throws RequestError for what has no standard errors */
function checkBlocks(by: number, reductions: readonly AnyReduction[], { kept, times }: AnalysedNodes["base"]): void {
  if (kept[3]) throw refuse("by", "by: standard errors are of means over time: put t into over.");
  if (2 * by > times.length) throw refuse("by", `by: there are ${times.length} frames; expected at least two blocks.`);
  const other = reductions.find(({ kind }) => !["moments", "covariance", "conditional"].includes(kind));
  if (other !== undefined)
    throw refuse("by", `by: moments, covariance and conditional have standard errors, not ${other.kind}.`);
}

/** The members of a result that all groups share. */
function headOf(reduction: AnyReduction, texts: readonly string[]): GroupAnswer {
  const text = (column: number) => texts[column] as string;
  const one = (list: readonly unknown[]) => (list.length === 1 ? list[0] : list);
  switch (reduction.kind) {
    case "covariance":
      return { of: reduction.of.map(text) };
    case "histogram":
      return { of: text(reduction.of), edges: edgesOf(reduction.range, reduction.bins) };
    case "joint":
      return {
        of: reduction.of.map(text),
        edges: reduction.range.map((range, i) => edgesOf(range, reduction.bins[i as 0 | 1])),
      };
    case "conditional":
      return {
        of: text(reduction.of),
        on: one(reduction.on.map(text)),
        edges: one(reduction.range.map((range, i) => edgesOf(range, reduction.bins[i] as number))),
      };
    case "moments":
    case "extremes":
      return { of: text(reduction.of) };
    default:
      return {};
  }
}

/** Coordinates of the groups of a plan: time first, then z, y, x. */
export function coordinatesOf({ kept, coordinates, times }: ReductionPlan): GroupAnswer {
  const axes = ["x", "y", "z", "t"].flatMap((name, a) =>
    kept[a as 0] ? [[name, a === 3 ? [...times] : [...(coordinates[a as 0] as Float64Array)]] as const] : [],
  );
  return axes.length === 0 ? {} : { coordinates: Object.fromEntries(axes.reverse()) };
}

/** Turns the answers of groups into one whose members are arrays along the kept axes: time first, then z, y, x. */
function nest(groups: readonly GroupAnswer[], plan: ReductionPlan): GroupAnswer {
  const [first] = groups;
  if (first === undefined || !plan.kept.includes(true)) return first ?? {};
  const lengths = groupExtent(plan)
    .filter((_, a) => plan.kept[a as 0])
    .toReversed();
  const names = Object.keys(first);
  return Object.fromEntries(
    names.map((name) => [
      name,
      nested(
        groups.map((group) => group[name]),
        lengths,
      ),
    ]),
  );
}

export function framesIn({
  numbers,
  base,
}: AnalysedNodes): readonly { readonly frame: number; readonly time: number }[] {
  return numbers.map((frame, i) => ({ frame, time: base.times[i] as number }));
}

/** What names of an answer mean, their units as far as the dataset states them, and the filter as it acts. */
export function aboutTexts(texts: readonly string[], { base: { names }, transforms }: AnalysedNodes): GroupAnswer {
  const units = texts.map((text) => [text, compileExpression(text, names).unit] as const);
  const { dataset, filter } = transforms;
  return {
    formulas: Object.fromEntries(texts.map((text) => [text, formulaOf(text.trim(), names) ?? text])),
    units: Object.fromEntries(units.filter(([, unit]) => unit !== null)),
    ...(filter === null ? {} : { filter: { ...filter, widths: widthsOf(filter, dataset) } }),
  };
}

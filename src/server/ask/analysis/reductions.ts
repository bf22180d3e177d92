/** Reductions of columns over groups of nodes, or over points: moments, histograms, extremes. */
import { compileExpression, compileScalar, componentsIn } from "../../../analysis/expression.js";
import type { Extreme, Extremes, ExtremesOptions, Side } from "../../../analysis/extremes.js";
import { foremost, pickExtremes, SIDES } from "../../../analysis/extremes.js";
import { formulaOf } from "../../../analysis/names.js";
import { nested } from "../../../analysis/nested.js";
import { foldStates } from "../../../analysis/parity.js";
import { distanceIn, groupExtent, type Merged, placeIn, type ReductionPlan } from "../../../analysis/plan.js";
import type { AnyReduction, BinRange, GroupAnswer, ReductionState } from "../../../analysis/reductions.js";
import { edgesOf, finishState, mergeStates } from "../../../analysis/reductions.js";
import { LimitError } from "../../../shared/errors.js";
import { checkSchema } from "../check-schema.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "../question/member-values.js";
import { widthsOf } from "../transforms.js";
import { type AnalysedNodes, DIRECTIONS, framesIn, pooled, regrouped } from "./analysed-nodes.js";
import { type Analysis, momentsOf } from "./analysis.js";
import { numbersOf } from "./analysis-memory.js";
import { REDUCTIONS, type ReductionKind } from "./reduction-schemas.js";
import { withErrors } from "./standard-errors.js";

const NO_EXTREMES: readonly Extreme[] = [];
type Slices = Analysis["slices"];
/** Groups described between two checks of the clock. */
const GROUPS_PER_SLICE = 256;
/** Components whose covariances are computed together. */
const MAX_COVARIED = 16;

export type ReductionRequest = Readonly<Record<string, unknown>>;

export class ColumnTable {
  readonly texts: string[] = [];
  readonly #nodes: AnalysedNodes["base"];

  constructor(nodes: AnalysedNodes) {
    this.#nodes = nodes.base;
  }

  /** The number of the column of a scalar. Throws RequestError that names the member and the column of the text. */
  numberOf(text: unknown, member: string): number {
    compileScalar(text as string, this.#nodes.names, member);
    const known = this.texts.indexOf(text as string);
    return known >= 0 ? known : this.texts.push(text as string) - 1;
  }

  componentsOf(text: string, member: string): readonly number[] {
    const { shape } = compileExpression(text, this.#nodes.names, member);
    return componentsIn(text, shape).map((one) => this.numberOf(one, member));
  }
}

/** A reduction with the numbers of its columns; `ranged`: the columns with bins, whose ranges may have to be found. */
interface ReadReduction {
  readonly question: ReductionRequest;
  readonly kind: ReductionKind & AnyReduction["kind"];
  readonly of: readonly number[];
  readonly ranged: readonly number[];
  readonly ranges: readonly BinRange[] | null;
}

export interface ReductionOptions {
  /** Frames per block, for standard errors from the series of blocks; absent: no standard errors. */
  readonly by?: number | undefined;
  /** The axis whose halves are folded, and the signs of quantities; null: no folding. */
  readonly fold: { readonly axis: 0 | 1 | 2; signsOf(text: string): readonly number[] } | null;
  /** Reductions whose quantities are only named in the answer. */
  readonly onlyNamed: ReadonlySet<ReductionRequest>;
  /** The member that holds each row. */
  readonly members: readonly string[];
}

const KINDS = Object.keys(REDUCTIONS) as readonly ReductionKind[];
const kindOf = (row: ReductionRequest) => KINDS.find((name) => Object.hasOwn(row, name));

/** @throws RequestError for a row that is no reduction */
export function checkRow(row: ReductionRequest, member: string): void {
  const kind = kindOf(row);
  if (kind === undefined) throw wrong(member, `expected one of ${KINDS.join(", ")}`);
  checkSchema(REDUCTIONS[kind], row, member);
}

/** Kinds of reductions that have standard errors by blocks, or halves to fold. */
const KINDS_OF = {
  by: ["moments", "covariance", "conditional", "budget"],
  fold: ["moments", "covariance", "budget"],
};

/** @throws RequestError for standard errors and folding where there are none */
export function checkKinds(rows: readonly ReductionRequest[], question: MemberValues, { base }: AnalysedNodes): void {
  for (const name of ["by", "fold"] as const) {
    const other = rows.map(kindOf).find((kind = "budget") => !KINDS_OF[name].includes(kind));
    if (question[name] !== undefined && other !== undefined)
      throw wrong(name, `it is for ${KINDS_OF[name].join(", ")}, not ${other}`);
  }
  const { by } = question;
  if (by !== undefined && base.kept[3]) throw wrong("by", "standard errors are of means over time: put t into over");
  const isSeries = base.times.every((time, i) => i === 0 || time > base.times[i - 1]);
  if (by !== undefined && !(isSeries && 2 * by <= base.times.length))
    throw wrong("by", `there are ${base.times.length} frames; expected at least two blocks, of ascending times`);
}

/** Computes reductions over the nodes of an analysis, or over its points. */
export async function computeReductions(
  rows: readonly ReductionRequest[],
  analysis: Analysis,
  { by, fold, onlyNamed, members }: ReductionOptions,
): Promise<GroupAnswer> {
  const { nodes, maxNumbers: most } = analysis;
  const columns = new ColumnTable(nodes);
  const pending = rows.map((one, i) => readReduction(one, members[i] as string, columns));
  const known = await findRanges(pending, columns, analysis);
  const groups = pending.map((one) =>
    onlyNamed.has(one.question) ? [] : reductionsFor(one, (column) => known.get(column) as BinRange),
  );
  const reductions = groups.flat();
  checkSize(reductions, nodes.base, most);
  const { kept } = nodes.base;
  // Blocks consist of frames, so frames are reduced separately.
  const frameNodes = by === undefined ? nodes : regrouped(nodes, [kept[0], kept[1], kept[2], true]);
  const { texts } = columns;
  const plan: ReductionPlan = { ...frameNodes.base, columns: texts, reductions };
  const signs = reductions.map(({ of }) => [of].flat().map((column) => fold?.signsOf(texts[column] as string)[0] ?? 1));
  const merged = reductions.length === 0 ? null : await analysis.reduce(frameNodes, { columns: texts, reductions });
  const foldedPlan = fold === null ? { ...plan, kept } : halfOf({ ...plan, kept }, fold.axis);
  const answers: GroupAnswer[] = [];
  for (const [i, reduction] of reductions.entries()) {
    await analysis.slices.pause();
    let states = (merged as Merged).states(i);
    if (reduction.kind === "extremes")
      states = await pickGroupExtremes(reduction, states as readonly Extremes[], plan, frameNodes, analysis);
    else if (fold !== null)
      states = foldStates(reduction, states, groupExtent(plan), fold.axis, signs[i] as readonly number[]);
    answers.push(await describeResult(reduction, states, foldedPlan, analysis.slices, by));
  }
  const results = groups.map(({ length }) => byComponent(answers.splice(0, length)));
  const weights = nodes.base.points === undefined ? nodes.weights : "points";
  return { weights, frames: framesIn(nodes), ...aboutTexts(texts, nodes), results };
}

/** Joins the results of the components of a quantity: each member becomes a list. */
function byComponent(parts: readonly GroupAnswer[]): GroupAnswer {
  const [first = {}] = parts;
  if (parts.length === 1) return first;
  const member = (name: string) => (name === "coordinates" ? first[name] : parts.map((part) => part[name]));
  return Object.fromEntries(Object.keys(first).map((name) => [name, member(name)]));
}

/** @throws RequestError for a row that is no reduction of the quantities of nodes, which names its member */
export function checkRows(rows: readonly ReductionRequest[], members: readonly string[], nodes: AnalysedNodes): void {
  for (const [i, row] of rows.entries()) readReduction(row, members[i] as string, new ColumnTable(nodes));
}

function readReduction(question: ReductionRequest, prefix: string, columns: ColumnTable): ReadReduction {
  const kind = kindOf(question) as ReadReduction["kind"];
  const texts = [question[kind]].flat();
  const member = `${prefix}.${kind}`;
  const hasComponents = kind === "moments" || kind === "covariance";
  const of = texts.flatMap((text) =>
    hasComponents ? columns.componentsOf(text as string, member) : columns.numberOf(text, member),
  );
  if (kind === "covariance" && of.length > MAX_COVARIED)
    throw wrong(member, `${of.length} components; at most ${MAX_COVARIED} have covariances`);
  const on = [question.on ?? []].flat();
  const ranged = kind === "conditional" ? on.map((text) => columns.numberOf(text, `${prefix}.on`)) : of;
  if (kind === "conditional" && [question.bins].flat().length !== on.length)
    throw wrong(`${prefix}.bins`, "expected a number for each of on");
  const { range } = question as { range?: "auto" | BinRange | readonly BinRange[] };
  if (range === undefined || range === "auto") return { question, kind, of, ranged, ranges: null };
  const ranges = (typeof range[0] === "number" ? [range] : range) as readonly BinRange[];
  if (kind === "conditional" && ranges.length !== on.length)
    throw wrong(`${prefix}.range`, "expected a first and a last edge for each of on");
  if (ranges.some(([from, to]) => !(from < to)))
    throw wrong(`${prefix}.range`, "the first edge must be below the last");
  return { question, kind, of, ranged, ranges };
}

/** Finds the ranges of columns without one, in a separate pass. */
async function findRanges(
  pending: readonly ReadReduction[],
  { texts }: ColumnTable,
  analysis: Analysis,
): Promise<ReadonlyMap<number, BinRange>> {
  const open = pending.filter(({ question, ranges }) => question.bins !== undefined && ranges === null);
  const wanted = [...new Set(open.flatMap(({ ranged }) => ranged))];
  if (wanted.length === 0) return new Map();
  const columns = wanted.map((column) => texts[column]);
  const found = await momentsOf(analysis, pooled(analysis.nodes), columns);
  return new Map(
    wanted.map((column, i) => {
      const { count, min, max } = (found[i] as (typeof found)[number])[0] as (typeof found)[number][number];
      if (count === 0) throw wrong("reduce", `${texts[column]} has no value here, and so no range`);
      const apart = Math.max(0.5, Math.abs(min) * 2 ** -20);
      return [column, min < max ? [min, max] : [min - apart, max + apart]];
    }),
  );
}

/** Picks the extremes of groups, 16 candidates between looks at the clock. If a pass is too short, another follows. */
export async function pickGroupExtremes(
  reduction: AnyReduction & ExtremesOptions,
  found: readonly Extremes[],
  plan: ReductionPlan,
  nodes: AnalysedNodes,
  { reduce, slices }: Analysis,
): Promise<readonly Extremes[]> {
  const distance2 = distanceIn(plan);
  const picked = found.map((state) => ({ ...state, highest: NO_EXTREMES, lowest: NO_EXTREMES }));
  for (let pass = found; ; ) {
    for (const [g, state] of picked.entries())
      for (const side of SIDES) {
        const candidates = pass[g]?.[side] ?? [];
        const pick = (from: number, to: number): void => {
          state[side] = pickExtremes(reduction, state[side], candidates.slice(from, to), distance2);
        };
        await slices.each(candidates.length, pick, 16);
      }
    const next = (side: Side): Extreme | null => {
      const open = pass.filter((_, g) => (picked[g]?.[side].length ?? 0) < reduction.count);
      const leftOut = open.map((one) => one.leftOut[side]).filter((one) => one !== null);
      return foremost(side, leftOut);
    };
    const from = { highest: next("highest"), lowest: next("lowest") };
    if (from.highest === null && from.lowest === null) return picked;
    const all = (side: Side): readonly Extreme[] => picked.flatMap((state) => state[side]);
    const again = { ...reduction, from, picked: { highest: all("highest"), lowest: all("lowest") } };
    const merged = await reduce(nodes, { columns: plan.columns, reductions: [again] });
    pass = merged.states(0) as readonly Extremes[];
  }
}

/** The reductions of a row: moments have one per component. */
function reductionsFor(
  { question, kind, of, ranged, ranges }: ReadReduction,
  rangeOf: (column: number) => BinRange,
): readonly AnyReduction[] {
  const found = ranges ?? (question.bins === undefined ? [] : ranged.map(rangeOf));
  const [first = 0, second = 0] = of;
  const [range = [0, 1], other = range] = found as readonly BinRange[];
  switch (kind) {
    case "moments":
      return of.map((column) => ({ kind, of: column, order: (question.order as number | undefined) ?? 4 }));
    case "covariance":
      return [{ kind, of }];
    case "histogram":
      return [{ kind, of: first, bins: question.bins as number, range }];
    case "joint":
      return [{ kind, of: [first, second], bins: question.bins as [number, number], range: [range, other] }];
    case "conditional":
      return [{ kind, of: first, on: ranged, bins: [question.bins as number | number[]].flat(), range: found }];
    case "extremes":
      return [{ kind, of: first, count: question.count as number, apart: (question.apart as number | undefined) ?? 0 }];
  }
}

export function checkSize(reductions: readonly AnyReduction[], plan: AnalysedNodes["base"], most: number): void {
  const groups = groupExtent(plan as ReductionPlan).reduce((product, n) => product * n, 1);
  checkNumbers(groups * reductions.reduce((sum, one) => sum + numbersOf(one), 0), most);
}

/** @throws LimitError if an answer would have more numbers than are sent */
export function checkNumbers(numbers: number, most: number): void {
  if (numbers <= most) return;
  throw new LimitError("analysis.numbers", `The answer would have ${numbers} numbers; at most ${most} are sent.`);
}

async function describeResult(
  reduction: AnyReduction,
  states: readonly ReductionState[],
  plan: ReductionPlan,
  slices: Slices,
  by: number | undefined,
): Promise<GroupAnswer> {
  const place = ({ node, frame }: Extreme) => ({ at: placeIn(plan, node), time: plan.times[frame] });
  const finish = (state: ReductionState) => finishState(reduction, state, place, plan.cell);
  // The states of the groups of a frame follow one another.
  const groupsPerFrame = states.length / plan.times.length;
  const describe = (g: number): GroupAnswer => {
    if (by === undefined) return finish(states[g] as ReductionState);
    const series = plan.times.map((_, f) => states[f * groupsPerFrame + g] as ReductionState);
    return withErrors(series, by, (a, b) => mergeStates(reduction, a, b), finish);
  };
  const groups: GroupAnswer[] = [];
  const add = (from: number, to: number): void => {
    for (let g = from; g < to; g++) groups.push(describe(g));
  };
  await slices.each(by === undefined ? states.length : groupsPerFrame, add, GROUPS_PER_SLICE);
  return { ...headOf(reduction, plan.columns), ...coordinatesOf(plan), ...(await nest(groups, plan, slices)) };
}

function halfOf(plan: ReductionPlan, axis: 0 | 1 | 2): ReductionPlan {
  const half = Math.ceil(plan.extent[axis] / 2);
  const along = plan.coordinates.map((list, a) => (a === axis ? list.subarray(0, half) : list));
  const extent = plan.extent.map((n, a) => (a === axis ? half : n));
  return { ...plan, extent: extent as never, coordinates: along as never };
}

function headOf(reduction: AnyReduction, texts: readonly string[]): GroupAnswer {
  const textOf = (column: number) => texts[column];
  const single = (list: readonly unknown[]) => (list.length === 1 ? list[0] : list);
  const { of, on, bins, range } = reduction as {
    readonly of: number | readonly number[];
    readonly on?: readonly number[];
    readonly bins?: number | readonly number[];
    readonly range?: BinRange | readonly BinRange[];
  };
  const head = { of: typeof of === "number" ? textOf(of) : of.map(textOf) };
  if (range === undefined || bins === undefined) return head;
  const ranges = (typeof range[0] === "number" ? [range] : range) as readonly BinRange[];
  const edges = single(ranges.map((ends, i) => edgesOf(ends, [bins].flat()[i] as number)));
  return { ...head, ...(on === undefined ? {} : { on: single(on.map(textOf)) }), edges };
}

/** Coordinates of the groups of a plan: time first, then z, y, x. */
export function coordinatesOf(plan: Pick<ReductionPlan, "coordinates" | "times"> & { kept: readonly boolean[] }) {
  const { kept, coordinates, times } = plan;
  const axes = DIRECTIONS.flatMap((name, a) =>
    kept[a] ? [[name, a === 3 ? [...times] : [...coordinates[a as 0]]] as const] : [],
  );
  return axes.length === 0 ? {} : { coordinates: Object.fromEntries(axes.reverse()) };
}

/** Turns the answers of groups into one whose members are arrays along the kept axes: time first, then z, y, x. */
async function nest(groups: readonly GroupAnswer[], plan: ReductionPlan, slices: Slices): Promise<GroupAnswer> {
  const [first] = groups;
  if (first === undefined || !plan.kept.includes(true)) return first ?? {};
  const lengths = groupExtent(plan).filter((_, a) => plan.kept[a as 0]);
  const members: Record<string, unknown> = {};
  for (const name of Object.keys(first)) {
    await slices.pause();
    const values = groups.map((group) => group[name]);
    members[name] = nested(values, lengths.toReversed());
  }
  return members;
}

/** What the names of an answer mean, their units if the dataset states them, and the filter as applied. */
export function aboutTexts(texts: readonly string[], { base: { names }, transforms }: AnalysedNodes): GroupAnswer {
  const units = texts.map((text) => [text, compileExpression(text, names).unit] as const);
  const { dataset, filter } = transforms;
  return {
    formulas: Object.fromEntries(texts.map((text) => [text, formulaOf(text.trim()) ?? text])),
    units: Object.fromEntries(units.filter(([, unit]) => unit !== null)),
    ...(filter === null ? {} : { filter: { ...filter, widths: widthsOf(filter, dataset) } }),
  };
}

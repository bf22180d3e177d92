/** An analysis: its question, its nodes, and passes over the nodes during the request. */
import { compileScalar } from "../../../analysis/expression.js";
import type { Moments } from "../../../analysis/moments.js";
import { MergedParts } from "../../../analysis/parts.js";
import { Merged, reducePart } from "../../../analysis/plan.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import { addSums, emptySums, type SpectrumSums } from "../../../analysis/spectrum.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import type { Query, Result, SpectrumQuery } from "../../../engine/contract/query.js";
import { type ReducedParts, unpackStates, unpackSums } from "../../../engine/contract/reduced-parts.js";
import { timesOf } from "../../http/describe.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";
import type { CallAnswer, Restated, TableAnswer } from "../answer.js";
import { type Context, checkFits } from "../context.js";
import { wrong } from "../faults.js";
import { inTasks } from "../parts.js";
import { type EvaluateAt, evaluatorFor } from "../points/point-columns.js";
import { RANDOM_POINT_RECORDS, randomPoints } from "../points/random-points.js";
import type { MemberValues, RequestedPoints } from "../question/member-values.js";
import { pointsOf } from "../question/points.js";
import { pointOptions } from "../question/schemes.js";
import { storedIn } from "../question/when.js";
import { boxIn } from "../question/where.js";
import { timeText } from "../restate.js";
import { runQuery } from "../run-query.js";
import { type AnalysedNodes, pointNodes, type Reducing, reductionOf, regionNodes } from "./analysed-nodes.js";
import { bytesOfReduction } from "./analysis-memory.js";

export interface Analysis {
  readonly question: MemberValues;
  readonly dataset: Dataset;
  readonly nodes: AnalysedNodes;
  /** The times of the question, as the answer repeats them. */
  readonly time: Restated;
  /** Whether the question gives a list of times, so that even one time is a dimension of the answer. */
  readonly isList: boolean;
  /** Reduces columns over the nodes of the analysis, or over other nodes. */
  readonly reduce: (nodes: AnalysedNodes, parts: Reducing) => Promise<Merged>;
  /** Sums the modes of transformed columns over frames. */
  readonly sum: (query: SpectrumQuery, nodes: AnalysedNodes) => Promise<SpectrumSums>;
  /** Evaluates columns at points. */
  readonly evaluate: EvaluateAt;
  /** Counts drawn points as points in flight, and waits until there is room for them. */
  readonly admit: (points: number) => Promise<void>;
  readonly slices: TimeSlices;
  readonly maxNumbers: number;
}

type ReductionOrSpectrum = Pick<Query, "reduction" | "spectrum">;

/** Work of a task, in multiples of the limit of points of a call. */
const TASK_CALLS = 32;
/** Most tasks of a pass. */
const MAX_TASKS = 4096;

/**
 * Share `share` of `shares` of a pass over frames of `partCount` parts each: whole frames or, if there are more shares
 * than frames, some of the parts of one frame. Null if it is empty.
 */
function partsOfShare(share: number, shares: number, frames: number, partCount: number): ReducedParts | null {
  const perFrame = Math.min(partCount, Math.floor(shares / frames));
  const ends = (n: number, of: number, all: number) =>
    [Math.floor((n * all) / of), Math.floor(((n + 1) * all) / of)] as const;
  const frame = Math.floor(share / perFrame);
  const [firstFrame, endFrame] = perFrame > 1 ? [frame, frame + 1] : ends(share, shares, frames);
  const [firstPart, endPart] = perFrame > 1 ? ends(share % perFrame, perFrame, partCount) : [0, partCount];
  if (firstFrame >= endFrame || endFrame > frames) return null;
  return { frames: [firstFrame, endFrame - firstFrame], runs: [firstPart, endPart - firstPart] };
}

export type Tabled = CallAnswer<TableAnswer>;

export function tabled(body: GroupAnswer, found: Restated): Tabled {
  return { answer: { kind: "table", body }, restatements: found };
}

/** Makes passes over nodes: at once, or in the tasks of a job, each of which computes a share of the parts. */
function passesOf(context: Context, { others }: MemberValues) {
  const { life, dataset, service } = context;
  const run = async (asked: ReductionOrSpectrum, nodes: AnalysedNodes, parts: ReducedParts | null): Promise<Result> => {
    const { first, stride, frames, base, field } = nodes;
    const [nx, ny, nz] = base.extent;
    const region = { field, frame: frames[0], first, count: [nx, ny, nz], stride } as const;
    // Of the region of a cutout, whose values the reduction replaces.
    const cutout = { operation: "GetAnyCutoutWeb", dataset: dataset.name, nodes: region } as const;
    const result = await runQuery(life, { ...cutout, ...asked, ...(others && { others }) }, undefined, parts);
    const values = result.values.map((own) => own.slice());
    result.release();
    // Building the answer is work of the main thread.
    await life.slices.pause();
    return { ...result, values };
  };
  let passes = 0;
  /** A pass over the frames of nodes, each of which has some parts; null if tasks have made it. */
  return async (
    asked: ReductionOrSpectrum,
    nodes: AnalysedNodes,
    { parts: partCount, columns }: Readonly<Record<"parts" | "columns", number>>,
    take: (share: Float32Array) => void,
  ): Promise<Result | null> => {
    const [nx, ny, nz] = nodes.base.extent;
    const frames = nodes.frames.length;
    const work = (nx * ny * nz * frames * columns) / (TASK_CALLS * service.config.limits["query.points"]);
    const tasks = Math.min(work, MAX_TASKS, frames * partCount);
    // Whole frames for each share, or whole shares for each frame.
    const shares = tasks <= frames ? Math.ceil(tasks) : frames * Math.ceil(tasks / frames);
    const compute = async (share: number, of: number): Promise<Float32Array> => {
      const parts = partsOfShare(share, of, frames, partCount);
      return (parts && (await run(asked, nodes, parts)).values[0]) ?? new Float32Array(0);
    };
    const isMade = await inTasks(context, passes++, { shares, compute, take });
    return isMade ? null : run(asked, nodes, null);
  };
}

/** The analysis of a question at nodes. Throws RequestError. */
export function analysisOf(context: Context, question: MemberValues, placesOf = regionNodes): Analysis {
  const { life, dataset, service } = context;
  const { frames, isList } = storedIn(question, dataset);
  const stored = timesOf(dataset.time);
  const times = frames.map((frame) => stored[frame]);
  const pass = passesOf(context, question);
  return {
    question,
    dataset,
    isList,
    time: timeText(question, times, isList, frames),
    nodes: placesOf(question, dataset, frames),
    reduce: async (nodes, given) => {
      const reduction = reductionOf(nodes, given);
      await life.admitMemory(bytesOfReduction(reduction));
      const joined = new MergedParts(reduction.plan);
      // Derived fields exist for whole frames only, so that a frame is one part.
      const size = { parts: reduction.derived ? 1 : joined.parts.total, columns: given.columns.length };
      const found = await pass({ reduction }, nodes, size, (share) => joined.addPartial(unpackStates([share])));
      return found === null ? joined.result : (found.reduced as Merged);
    },
    sum: async (spectrum, nodes) => {
      const sums = emptySums(spectrum.plan);
      const size = { parts: 1, columns: spectrum.plan.columns.length };
      const found = await pass({ spectrum }, nodes, size, (share) => {
        for (const part of unpackStates<readonly Uint8Array[]>([share])) addSums(spectrum.plan, sums, unpackSums(part));
      });
      return found === null ? sums : (found.sums as SpectrumSums);
    },
    evaluate: evaluatorFor(life, dataset),
    admit: async (points) => {
      checkFits(context, points, 1, "points");
      await life.reserveGeneratedPoints(points, RANDOM_POINT_RECORDS);
    },
    slices: life.slices,
    maxNumbers: service.config.limits["analysis.numbers"],
  };
}

/** The analysis of a question over points, the same in each frame. Throws RequestError, LimitError. */
export async function analysisOfPoints(context: Context, question: MemberValues): Promise<Analysis> {
  const analysis = analysisOf(context, question, pointNodes);
  const { nodes, dataset, evaluate, admit, slices } = analysis;
  const wanted = question.points as RequestedPoints;
  const isRandom = "random" in wanted;
  const { origin, extent } = boxIn(isRandom ? question : {}, dataset);
  const given = isRandom ? null : (await pointsOf(context, question, 0, false)).triples;
  if (!["x", "y", "z"].every((axis) => (question.over ?? ["x", "y", "z"]).includes(axis as "x")))
    throw wrong("over", "random points are averaged over x, y and z");
  const count = isRandom ? wanted.random : (given as Float32Array).length / 3;
  await admit(count);
  const points = given ?? (await randomPoints(slices, count, isRandom ? wanted.seed : 0, origin, extent));
  const options = { ...pointOptions(question), temporalInterpolation: "None" as const };
  const base: AnalysedNodes["base"] = { ...nodes.base, extent: [count, 1, 1, nodes.publicFrames.length], points };
  const reduce: Analysis["reduce"] = async (places, parts) => {
    const { plan } = reductionOf(places, parts);
    const columns = plan.columns.map((text) => compileScalar(text, plan.names));
    const merged = new Merged(plan);
    for (const [frame, time] of plan.times.entries()) {
      const values = await evaluate(columns, points, { ...options, time });
      await slices.each(count, (from, to) => {
        const part = values.map((column) => column.subarray(from, to));
        merged.add(reducePart(plan, { from: [from, 0, 0], count: [to - from, 1, 1], frame }, part));
      });
    }
    return merged;
  };
  return { ...analysis, nodes: { ...nodes, base }, reduce };
}

/** Moments of columns in each group of nodes. */
export async function momentsOf(
  { reduce }: Pick<Analysis, "reduce">,
  nodes: AnalysedNodes,
  columns: readonly string[],
): Promise<readonly (readonly Moments[])[]> {
  if (columns.length === 0) return [];
  const reductions = columns.map((_, of) => ({ kind: "moments", of, order: 1 }) as const);
  const merged = await reduce(nodes, { columns, reductions });
  return columns.map((_, i) => merged.states(i) as readonly Moments[]);
}

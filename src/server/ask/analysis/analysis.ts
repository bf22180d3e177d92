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
  readonly time: Restated;
  /** Whether the question gives a list of times, so that even one time is a dimension of the answer. */
  readonly isList: boolean;
  /** Reduces columns over the nodes of the analysis, or over other nodes. */
  readonly reduce: (nodes: AnalysedNodes, parts: Reducing) => Promise<Merged>;
  readonly sum: (query: SpectrumQuery, nodes: AnalysedNodes) => Promise<SpectrumSums>;
  readonly evaluate: EvaluateAt;
  /** Counts drawn points as points in flight, and waits until there is room for them. */
  readonly admit: (points: number) => Promise<void>;
  readonly slices: TimeSlices;
  readonly maxNumbers: number;
}

type Analysing = Pick<Query, "reduction" | "spectrum">;

/** Values of a task of a pass, in points of a call, and most tasks. */
const SHARE = 32;
const MAX_SHARES = 4096;

/** The frames or the parts of one frame that are share `n` of `of`; null if it is empty. */
function partsOfShare(n: number, of: number, frames: number, total: number): ReducedParts | null {
  const each = Math.min(total, Math.floor(of / frames));
  const ends = (share: number, shares: number, all: number) =>
    [Math.floor((share * all) / shares), Math.floor(((share + 1) * all) / shares)] as const;
  const [from, to] = each > 1 ? [Math.floor(n / each), Math.floor(n / each) + 1] : ends(n, of, frames);
  const [first, end] = each > 1 ? ends(n % each, each, total) : [0, total];
  return from >= to || to > frames ? null : { frames: [from, to - from], runs: [first, end - first] };
}

export type Tabled = CallAnswer<TableAnswer>;

export function tabled(body: GroupAnswer, found: Restated): Tabled {
  return { answer: { kind: "table", body }, restatements: found };
}

/** The analysis of a question at nodes. Throws RequestError. */
export function analysisOf(context: Context, question: MemberValues, placesOf = regionNodes): Analysis {
  const { life, dataset, service } = context;
  const { frames, isList } = storedIn(question, dataset);
  const stored = timesOf(dataset.time);
  const times = frames.map((frame) => stored[frame]);
  const others = question.others && { others: question.others };
  const finish = async (query: Analysing, nodes: AnalysedNodes, parts: ReducedParts | null): Promise<Result> => {
    const { first, stride, frames: own, base, field } = nodes;
    const [nx, ny, nz] = base.extent;
    const box = { field, frame: own[0], first, count: [nx, ny, nz], stride } as const;
    const cutout = { operation: "GetAnyCutoutWeb", dataset: dataset.name, nodes: box, ...query, ...others } as const;
    const result = await runQuery(life, cutout, undefined, parts);
    const values = result.values.map((own) => own.slice());
    result.release();
    // Building the answer is work of the main thread.
    await life.slices.pause();
    return { ...result, values };
  };
  let passes = 0;
  /** Makes a pass over the frames of nodes, each of which has `total` parts; null if tasks have made it. */
  const pass = async (
    query: Analysing,
    nodes: AnalysedNodes,
    [total, columns]: readonly [total: number, columns: number],
    take: (share: Float32Array) => void,
  ): Promise<Result | null> => {
    const [nx, ny, nz] = nodes.base.extent;
    const frames = nodes.frames.length;
    const work = (nx * ny * nz * frames * columns) / (SHARE * service.config.limits["query.points"]);
    const tasks = Math.min(work, MAX_SHARES, frames * total);
    const shares = tasks <= frames ? Math.ceil(tasks) : frames * Math.ceil(tasks / frames);
    const compute = async (share: number, of: number): Promise<Float32Array> => {
      const parts = partsOfShare(share, of, frames, total);
      return (parts && (await finish(query, nodes, parts)).values[0]) ?? new Float32Array(0);
    };
    const isMade = await inTasks(context, passes++, { shares, compute, take });
    return isMade ? null : finish(query, nodes, null);
  };
  return {
    ...{ question, dataset, isList, time: timeText(question, times, isList, frames) },
    nodes: placesOf(question, dataset, frames),
    reduce: async (nodes, given) => {
      const reduction = reductionOf(nodes, given);
      await life.admitMemory(bytesOfReduction(reduction));
      const joined = new MergedParts(reduction.plan);
      // The derived fields of a frame are made whole.
      const size = [reduction.derived ? 1 : joined.parts.total, given.columns.length] as const;
      const found = await pass({ reduction }, nodes, size, (share) => joined.addPartial(unpackStates([share])));
      return found === null ? joined.result : (found.reduced as Merged);
    },
    sum: async (spectrum, nodes) => {
      const sums = emptySums(spectrum.plan);
      const found = await pass({ spectrum }, nodes, [1, spectrum.plan.columns.length], (share) => {
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

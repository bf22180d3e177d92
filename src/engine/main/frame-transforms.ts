/** Transforms whole frames on the worker threads: planes along x and y first, and then rows of all planes along z. */
import { addSums, emptySums, type SpectrumSums, type TransformPlan } from "../../analysis/spectrum.js";
import { halfOf } from "../../kernels/fft/plane-transforms.js";
import type { SpectrumQuery } from "../contract/query.js";
import type { TransformTask } from "../contract/task.js";
import { inOrder } from "./in-order.js";
import type { ScratchSpace } from "./scratch-space.js";

/** Bytes of planes that a task has in memory, about. */
const TASK_BYTES = 8 * 1024 * 1024;
/** Planes or rows of a task, at most: fewer for large planes. */
const MOST_PLANES = 8;

/** What transforms of a query need of it. */
export interface TransformRunner {
  readonly task: Pick<TransformTask, "dataset" | "source" | "cancel">;
  readonly parallelism: number;
  readonly space: ScratchSpace;
  isOver(): boolean;
  run<T>(task: TransformTask): Promise<T>;
  /** Calls back once no task of the query runs any more. */
  atEnd(release: () => void): void;
}

/** Numbers of a plane of a column. */
function planeNumbers({ nodes, transformed }: TransformPlan): number {
  return 2 * halfOf(nodes[0], transformed[0]) * nodes[1];
}

/** Sums the modes of all frames of a query, in one order whatever the number of threads. */
export async function sumSpectrum(query: SpectrumQuery, runner: TransformRunner): Promise<SpectrumSums> {
  const { plan, frames, times } = query;
  const { space, atEnd } = runner;
  const lent = space.lend(plan.columns.length * plan.nodes[2] * planeNumbers(plan));
  atEnd(lent.release);
  const { scratch } = lent;
  const sums = emptySums(plan);
  for (const [i, frame] of frames.entries()) {
    const shared = { plan, scratch, frame, time: times[i] };
    await inParts(plan.nodes[2], 8 * plan.columns.length * planeNumbers(plan), runner, { ...shared, stage: "forward" });
    const row = 8 * plan.columns.length * plan.nodes[2] * 2 * halfOf(plan.nodes[0], plan.transformed[0]);
    const add = (part: SpectrumSums): void => addSums(sums, part);
    await inParts(plan.nodes[1], row, runner, { ...shared, stage: "sum" }, add);
  }
  return sums;
}

/** Runs the tasks of a stage over `total` planes or rows of `bytes` each. */
function inParts(
  total: number,
  bytes: number,
  { run, isOver, parallelism, task }: TransformRunner,
  stage: Pick<TransformTask, "plan" | "scratch" | "frame" | "time" | "stage">,
  take: (part: SpectrumSums) => void = () => undefined,
): Promise<void> {
  const size = Math.max(1, Math.min(MOST_PLANES, Math.floor(TASK_BYTES / bytes)));
  const start = (index: number): Promise<SpectrumSums> => {
    const from = index * size;
    return run({ kind: "transform", ...task, ...stage, from, count: Math.min(size, total - from) });
  };
  return inOrder(Math.ceil(total / size), 2 * parallelism, isOver, start, take);
}

/** Transforms whole frames on the worker threads: planes along x and y first, and then rows of all planes along z. */
import type { DerivedPlan } from "../../analysis/derived.js";
import type { SpectrumSums, TransformPlan } from "../../analysis/spectrum.js";
import { halfOf } from "../../kernels/fft/plane-transforms.js";
import type { FrameWeights } from "../../kernels/types.js";
import type { DerivedQuery, SpectrumQuery } from "../contract/query.js";
import type { DerivedFields } from "../contract/scratch.js";
import type { TransformTask } from "../contract/task.js";
import { inOrder } from "./in-order.js";
import type { ScratchSpace } from "./scratch-space.js";

/** Bytes of planes that a task has in memory, about. */
const TASK_BYTES = 8 * 1024 * 1024;
/** Planes or rows of a task, at most: fewer for large planes. */
const MAX_PLANES = 8;
/** Points of a task. */
const POINTS = 4096;

/** The parts of a running query that its transforms use. */
export interface TransformRunner {
  readonly task: Pick<TransformTask, "dataset" | "source" | "cancel">;
  readonly parallelism: number;
  readonly space: ScratchSpace;
  isOver(): boolean;
  run<T>(task: TransformTask): Promise<T>;
  /** Calls back once no task of the query runs any more. */
  atEnd(release: () => void): void;
}

function planeNumbers({ nodes, transformed }: TransformPlan): number {
  return 2 * halfOf(nodes[0], transformed[0]) * nodes[1];
}

/** Sums the modes of frames of a query; takes the sums of their parts in one order whatever the number of threads. */
export async function sumSpectrum(
  { plan, frames, times, derived }: SpectrumQuery,
  runner: TransformRunner,
  [from, count]: readonly [first: number, count: number],
  take: (part: SpectrumSums) => void,
): Promise<void> {
  const { space, atEnd } = runner;
  const [, ny, nz] = plan.nodes;
  // Planes whose rows stay as they are along z are summed at once.
  const isAlongZ = plan.transformed[2];
  const plane = plan.columns.length * planeNumbers(plan);
  const { scratch, release } = space.lend(isAlongZ ? nz * plane : 0);
  atEnd(release);
  const made = derived === null ? null : new DerivedFrames(derived, runner);
  for (let i = from; i < from + count; i++) {
    await made?.make(frames[i], times[i]);
    const shared = { plan, scratch, frame: frames[i], time: times[i], derived: made?.fields ?? null };
    if (isAlongZ) {
      await inParts(nz, 8 * plane, runner, { ...shared, stage: "forward" });
      await inParts(ny, (8 * plane * nz) / ny, runner, { ...shared, stage: "sum" }, take);
    } else await inParts(nz, 8 * plane, runner, { ...shared, stage: "planes" }, take);
  }
}

/** Makes the derived fields of one frame after another, in the same scratch space. */
export class DerivedFrames {
  readonly fields: DerivedFields;
  readonly #runner: TransformRunner;
  /** The fields from which the columns are made; null for stored fields. */
  readonly #before: DerivedFrames | null;

  constructor(plan: DerivedPlan, runner: TransformRunner) {
    this.#before = plan.before === undefined ? null : new DerivedFrames(plan.before, runner);
    const parts = plan.columns.length + plan.components.length;
    const { scratch, release } = runner.space.lend(parts * plan.nodes[2] * planeNumbers(plan));
    runner.atEnd(release);
    this.#runner = runner;
    this.fields = { plan, scratch };
  }

  /** Replaces the fields by the fields of a frame, or of a sum of frames. */
  async make(frame: number, time: number, blend?: FrameWeights): Promise<void> {
    const { plan, scratch } = this.fields;
    const [, ny, nz] = plan.nodes;
    const plane = 8 * planeNumbers(plan);
    await this.#before?.make(frame, time, blend);
    const derived = this.#before?.fields ?? null;
    const shared = { plan, scratch, frame, time, derived, ...(blend === undefined ? {} : { blend }) };
    await inParts(nz, plane * plan.columns.length, this.#runner, { ...shared, stage: "forward" });
    await inParts(ny, ((plan.columns.length + 1) * plane * nz) / ny, this.#runner, { ...shared, stage: "derive" });
    await inParts(nz, plane * plan.components.length, this.#runner, { ...shared, stage: "back" });
  }
}

/** Interpolates derived fields at points, a few thousand at a time: a list of values for each component. */
export async function derivedAt(
  { plan, points, method }: DerivedQuery,
  blend: FrameWeights,
  time: number,
  runner: TransformRunner,
): Promise<readonly Float64Array[]> {
  const { run, isOver, parallelism, task } = runner;
  const [frame = 0] = blend.frames;
  const made = new DerivedFrames(plan, runner);
  await made.make(frame, time, blend);
  const total = points.length / 3;
  const out = plan.components.map(() => new Float64Array(total));
  let placed = 0;
  const start = (index: number): Promise<Float64Array> => {
    const from = index * POINTS;
    const count = Math.min(POINTS, total - from);
    const own = points.slice(3 * from, 3 * (from + count));
    const stage = { stage: "at", plan, points: own, method, scratch: made.fields.scratch } as const;
    return run({ kind: "transform", ...task, ...stage, frame, time, from, count });
  };
  await inOrder(Math.ceil(total / POINTS), 2 * parallelism, isOver, start, (values) => {
    const count = values.length / out.length;
    out.forEach((column, i) => {
      column.set(values.subarray(i * count, (i + 1) * count), placed);
    });
    placed += count;
  });
  return out;
}

type OfPlanes<T> = T extends { readonly stage: "at" }
  ? never
  : T extends TransformTask
    ? Pick<T, "plan" | "stage">
    : never;
type AnyStage = OfPlanes<TransformTask>;

/** Runs the tasks of a stage over `total` planes or rows of `bytes` each. */
function inParts(
  total: number,
  bytes: number,
  { run, isOver, parallelism, task }: TransformRunner,
  stage: AnyStage & Pick<TransformTask, "scratch" | "frame" | "time">,
  take: (part: SpectrumSums) => void = () => undefined,
): Promise<void> {
  const size = Math.max(1, Math.min(MAX_PLANES, Math.floor(TASK_BYTES / bytes)));
  const start = (index: number): Promise<SpectrumSums> => {
    const from = index * size;
    return run({ kind: "transform", ...task, ...stage, from, count: Math.min(size, total - from) });
  };
  return inOrder(Math.ceil(total / size), 2 * parallelism, isOver, start, take);
}

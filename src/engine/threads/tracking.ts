/** A worker moves the particles of a batch along the velocity that GetVelocity would answer, and records their positions. */
import { advectInertial, advectTracers, type Path } from "../../kernels/particles.js";
import { frameWeights } from "../../kernels/time.js";
import type { Sample, Triple } from "../../kernels/types.js";
import { fillPositions } from "../points/positions.js";
import { recordsBetween } from "../records.js";
import { type BatchContext, scatterInto } from "./batch-context.js";
import type { BatchMessage } from "./dataset-copy.js";

const STILL: Triple = [0, 0, 0];

/** Takes the steps of a batch, or of its range of steps, and fills `task.out` with the records made. */
export function trackParticles(context: BatchContext): void {
  const { task, open } = context;
  const { query, count, steps, step, last, range } = task;
  const part = { from: range?.from ?? 0, to: range?.to ?? steps };
  const positions = range?.positions ?? new Float64Array(3 * count);
  if (part.from === 0) fillPositions(task.points, positions, STILL);
  const records = recorder(task, part);
  records.start(positions);
  const path: Path = {
    axes: open.dataset.axes,
    frameVelocity: open.dataset.frameVelocity,
    sample: velocitySample(context),
    start: query.StartTime as number,
    step,
    steps,
    last,
    part,
    ...(query.recordEvery === undefined ? {} : { record: records.step }),
  };
  if (query.Tp === undefined) advectTracers(path, positions, count);
  else {
    const room = range?.velocities ?? new Float64Array(3 * count);
    const given = task.velocities.length > 0;
    if (given) fillPositions(task.velocities, room, STILL);
    advectInertial(path, query.Tp, positions, given || part.from > 0 ? room : null, count, room);
  }
  records.end(positions);
}

/** The fluid velocity at positions relative to the grid. */
function velocitySample({ task, operation, open, sampler, stop }: BatchContext): Sample {
  const { dataset } = open;
  const scheme = open.scheme(operation.kernel, task.query.spatialInterpolation ?? "None");
  const sources = [open.source("velocity")];
  return (positions, particles, time, velocities) => {
    sampler.positions.set(positions.subarray(0, 3 * particles));
    const frames = frameWeights(dataset.time, time, "PCHIP");
    const sampling = { axes: dataset.axes, scheme, sources, frames, sorted: false };
    sampler.sample(sampling, particles, scatterInto(velocities, 3, null), stop);
  };
}

/** Copies positions to the places of the records that a range of steps makes. */
function recorder(
  { query, count, steps, out }: BatchMessage,
  part: { readonly from: number; readonly to: number },
): Record<"start" | "end", (positions: Float64Array) => void> & {
  step: (done: number, positions: Float64Array) => void;
} {
  const every = query.recordEvery;
  const { first, end } = recordsBetween(steps, every, part);
  const width = end - first;
  const put = (record: number, from: Float64Array): void => {
    for (let i = 0; i < count; i++) {
      const to = 3 * (i * width + record - first);
      for (let c = 0; c < 3; c++) out[to + c] = from[3 * i + c];
    }
  };
  return {
    start(positions) {
      if (every !== undefined && part.from === 0) put(0, positions);
    },
    step(done, positions) {
      if (every !== undefined && (done % every === 0 || done === steps)) put(Math.ceil(done / every), positions);
    },
    end(positions) {
      if (every === undefined && width > 0) put(0, positions);
    },
  };
}

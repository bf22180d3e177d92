/** One batch inside a worker: from triples to float32 results, by the family of its kernel. */
import { CancelledError, RequestError } from "../../errors.js";
import { type BoxFilter, createBoxFilter } from "../../kernels/filter/box-filter.js";
import { modeForce, taylorGreenForce } from "../../kernels/forcing.js";
import { advectInertial, advectTracers, type Path } from "../../kernels/particles.js";
import { firstOutside } from "../../kernels/stencil.js";
import { frameWeights } from "../../kernels/time.js";
import type { Axes, FrameWeights, Sample, Triple } from "../../kernels/types.js";
import { type Family, type Operation, operationOf } from "../../operations.js";
import { fillPositions, frameShift, outsideError } from "../points/positions.js";
import type { BatchTask, Pass } from "../task.js";
import { legRecords } from "./leg.js";
import { type OpenFields, openFields } from "./open-dataset.js";
import type { Emit, Sampler } from "./sampler.js";

/** Points between two looks at the cancel flag where a force is evaluated in closed form. */
const FORCE_STEP = 1024;
const STILL: Triple = [0, 0, 0];

/** What one batch runs with. */
interface Run {
  readonly task: BatchTask;
  readonly operation: Operation;
  readonly fields: OpenFields;
  readonly sampler: Sampler;
  /** Throws when the batch need not go on. */
  readonly stop: () => void;
}

/**
 * Runs a batch and fills `task.out`.
 *
 * @throws RequestError for a coordinate outside the domain, DataError, CancelledError
 */
export function runBatch(task: BatchTask, sampler: Sampler, fd8Legacy: boolean): null {
  const operation = operationOf(task.query.operation);
  const stop = (): void => {
    if (Atomics.load(task.cancel, 0) !== 0) throw new CancelledError();
  };
  const fields = openFields(task, { fd8Legacy, accelerator: sampler.accelerator });
  const run: Run = { task, operation, fields, sampler, stop };
  if (!task.leg || task.leg.from === 0) loadPositions(run, task.query.time ?? task.query.StartTime ?? 0);
  RUNS[operation.family as keyof typeof RUNS](run);
  return null;
}

const RUNS: Record<Exclude<Family, "echo">, (run: Run) => void> = {
  points: runPoints,
  force: runForce,
  filter: runFilter,
  track: runTrack,
};

/** Interpolated and differentiated fields. */
function runPoints({ task, operation, fields, sampler, stop }: Run): void {
  const { query, count, places, pass, out } = task;
  const { axes, time } = fields.dataset;
  const scheme = fields.scheme(operation.kernel, query.spatialInterpolation ?? "None");
  const frames = frameWeights(time, query.time as number, query.temporalInterpolation ?? "None");
  const sources = operation.fields.map((field) => fields.source(field));
  const finish = scatterInto(out, scheme.components, places);
  const sampling = {
    axes,
    scheme,
    sources,
    frames: pass ? frameOf(frames, pass.index) : frames,
    sorted: places !== null,
  };
  sampler.sample(sampling, count, pass ? sumInto(pass, scheme.components, finish) : finish, stop);
}

function frameOf({ frames, weights }: FrameWeights, index: number): FrameWeights {
  return { frames: frames.slice(index, index + 1), weights: weights.slice(index, index + 1) };
}

/** Adds a frame to the sums of its pass, in the order in which a batch that reads all frames adds them; the last goes on to `finish`. */
function sumInto({ index, count: passes, sums }: Pass, components: number, finish: Emit): Emit {
  return (values, order, count) => {
    for (let i = 0; i < count; i++) {
      const to = components * order[i];
      const from = components * i;
      for (let c = 0; c < components; c++) {
        const value = values[from + c];
        if (index === 0) sums[to + c] = value;
        else sums[to + c] += value;
        values[from + c] = sums[to + c];
      }
    }
    if (index === passes - 1) finish(values, order, count);
  };
}

/** The force: a stored field like any other, or one known in closed form. */
function runForce(run: Run): void {
  const { task, fields, sampler, stop } = run;
  const { query, count, out } = task;
  const { axes, time, forcing } = fields.dataset;
  if (forcing.kind === "stored" || forcing.kind === "none") {
    runPoints(run);
    return;
  }
  const frames =
    forcing.kind === "modes" && forcing.frames > 1
      ? frameWeights(time, query.time as number, query.temporalInterpolation ?? "None")
      : { frames: [0], weights: [1] };
  const values = new Float64Array(3 * Math.min(count, FORCE_STEP));
  for (let first = 0; first < count; first += FORCE_STEP) {
    stop();
    const size = Math.min(FORCE_STEP, count - first);
    const positions = sampler.positions.subarray(3 * first, 3 * (first + size));
    if (forcing.kind === "modes") modeForce(axes, forcing, frames, positions, 0, size, values);
    else taylorGreenForce(axes, forcing.amplitude, forcing.wavenumber, positions, 0, size, values);
    for (let i = 0; i < 3 * size; i++) out[3 * first + i] = values[i];
  }
}

/** Box filters, point by point: what one returns may be large. */
function runFilter({ task, operation, fields, sampler, stop }: Run): void {
  const { query, count, first, out } = task;
  const { axes, time } = fields.dataset;
  const filter = boxFilter(task, operation.kernel, axes, sampler);
  const frames = frameWeights(time, query.time as number, query.temporalInterpolation ?? "None");
  const readers = operation.fields.map((field) => sampler.reader(fields.source(field)));
  const width = filter.components * filter.itemsPerPoint;
  const values = new Float64Array(width);
  const poll = (): boolean => {
    stop();
    return false;
  };
  for (let i = 0; i < count; i++) {
    stop();
    const position = sampler.positions.subarray(3 * i, 3 * i + 3);
    if (!filter.regionInside(position)) {
      const text = "The box of the filter, with its stencils, leaves the domain.";
      throw new RequestError("OutOfRange", text, { member: `points[${first + i}]` });
    }
    filter.evaluate(readers, frames, position, 0, 1, values, poll);
    out.set(values, i * width);
  }
}

/** @throws RequestError (Unsupported) when an axis has fewer nodes than the stencil */
function boxFilter({ query, dataset }: BatchTask, kernel: string, axes: Axes, { accelerator }: Sampler): BoxFilter {
  const { filterlength, nlayers } = query as { filterlength: number; nlayers: number };
  try {
    return createBoxFilter(kernel, axes, filterlength, nlayers, accelerator);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RequestError("Unsupported", `The grid of "${dataset.name}" is too small for box filters.`, {
      member: "dataset",
    });
  }
}

/** Particle paths, on the velocity that GetVelocity would answer. */
function runTrack({ task, operation, fields, sampler, stop }: Run): void {
  const { query, count, steps, step, out, leg } = task;
  const { dataset } = fields;
  const scheme = fields.scheme(operation.kernel, query.spatialInterpolation ?? "None");
  const sources = [fields.source("velocity")];
  const sample: Sample = (positions, particles, time, velocities) => {
    sampler.positions.set(positions.subarray(0, 3 * particles));
    const frames = frameWeights(dataset.time, time, "PCHIP");
    const sampling = { axes: dataset.axes, scheme, sources, frames, sorted: false };
    sampler.sample(sampling, particles, scatterInto(velocities, 3, null), stop);
  };
  const every = query.recordEvery;
  const part = { from: leg?.from ?? 0, to: leg?.to ?? steps };
  const records = legRecords(steps, every, part);
  const width = records.end - records.first;
  const positions = leg?.positions ?? new Float64Array(3 * count);
  if (part.from === 0) fillPositions(task.points, positions, STILL);
  const put = (record: number, from: Float64Array): void => {
    for (let i = 0; i < count; i++) {
      const to = 3 * (i * width + record - records.first);
      for (let c = 0; c < 3; c++) out[to + c] = from[3 * i + c];
    }
  };
  if (every !== undefined && part.from === 0) put(0, positions);
  const record = (done: number, now: Float64Array): void => {
    if (every !== undefined && (done % every === 0 || done === steps)) put(Math.ceil(done / every), now);
  };
  const path: Path = {
    axes: dataset.axes,
    frameVelocity: dataset.frameVelocity,
    sample,
    start: query.StartTime as number,
    step,
    steps,
    part,
    ...(every === undefined ? {} : { record }),
  };
  if (query.Tp === undefined) advectTracers(path, positions, count);
  else {
    const room = leg?.velocities ?? new Float64Array(3 * count);
    const given = task.velocities.length > 0;
    if (given) fillPositions(task.velocities, room, STILL);
    advectInertial(path, query.Tp, positions, given || part.from > 0 ? room : null, count, room);
  }
  if (every === undefined && width > 0) put(0, positions);
}

/**
 * Puts each value, rounded once where `out` is float32, where the caller's order has it.
 *
 * @param places place of each point of the batch in `out`, where it is not its index
 */
function scatterInto(out: Float32Array | Float64Array, components: number, places: Uint32Array | null): Emit {
  return (values, order, count) => {
    for (let i = 0; i < count; i++) {
      const point = order[i];
      const to = components * (places ? places[point] : point);
      const from = components * i;
      for (let c = 0; c < components; c++) out[to + c] = values[from + c];
    }
  };
}

/** Fills the sampler with the batch's points, in the frame in which the grid stands still, and checks them. */
function loadPositions({ task, fields, sampler }: Run, time: number): void {
  const { axes, frameVelocity } = fields.dataset;
  fillPositions(task.points, sampler.positions, frameShift(frameVelocity, time));
  const outside = firstOutside(axes, sampler.positions, 0, task.count);
  if (outside >= 0) throw outsideError(axes, sampler.positions, outside, task.first + outside);
}

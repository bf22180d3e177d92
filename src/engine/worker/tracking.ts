/**
 * A worker moves the particles of a batch along the velocity that GetVelocity would answer, and records their
 * positions.
 */
import { RequestError } from "../../errors.js";
import { isOpen, type Outlet } from "../../kernels/exits.js";
import { advectInertial, advectTracers, advectTracersRk4, type PathParameters } from "../../kernels/particles.js";
import { axisEnd, axisStart } from "../../kernels/stencil.js";
import { frameWeights } from "../../kernels/time.js";
import type { Triple, VelocitySampler } from "../../kernels/types.js";
import { type Integrator, RECORDS } from "../../operations.js";
import { recordOf, recordsBetween } from "../contract/particle-records.js";
import { fillPositions } from "../contract/positions.js";
import type { Progress } from "../contract/task.js";
import { type BatchContext, scatterInto } from "./batch-context.js";

/** The schemes that move tracers. */
const TRACERS: Readonly<Record<Integrator, typeof advectTracers>> = { heun: advectTracers, rk4: advectTracersRk4 };
const STILL: Triple = [0, 0, 0];

/** Takes the steps of a batch, or of its range of steps, and fills `task.out` with the records made. */
export function trackParticles(context: BatchContext): Progress | null {
  const { task, open, pause } = context;
  const { query, count, steps, step, last, range, progress } = task;
  const part = { from: range?.from ?? 0, to: range?.to ?? steps };
  const from = progress?.done ?? part.from;
  const positions = progress?.positions ?? range?.positions ?? new Float64Array(3 * count);
  if (from === 0) fillPositions(task.points, positions, STILL);
  const outlet = outletOf(context, progress?.exits ?? null);
  const records = recorder(context, part, outlet?.exits ?? null);
  if (from === 0) records.start(positions);
  const path: PathParameters = {
    axes: open.dataset.axes,
    frameVelocity: open.dataset.frameVelocity,
    sample: velocitySample(context),
    start: query.StartTime as number,
    step,
    steps,
    last,
    ...(outlet === null ? {} : { outlet }),
    part: { from, to: part.to },
    pause,
    ...(query.recordEvery === undefined ? {} : { record: records.step }),
  };
  if (query.Tp === undefined) {
    const done = TRACERS[query.integrator ?? "heun"](path, positions, count);
    if (done < part.to) return { done, positions: inSharedMemory(positions), ...exitsOf(outlet) };
  } else {
    const velocities = progress?.velocities ?? range?.velocities ?? new Float64Array(3 * count);
    const given = from === 0 && task.velocities.length > 0;
    if (given) fillPositions(task.velocities, velocities, STILL);
    const done = advectInertial(path, query.Tp, positions, given || from > 0 ? velocities : null, count, velocities);
    if (done < part.to)
      return {
        done,
        positions: inSharedMemory(positions),
        velocities: inSharedMemory(velocities),
        ...exitsOf(outlet),
      };
  }
  records.end(positions);
  return null;
}

function exitsOf(outlet: Outlet | null): Pick<Progress, "exits"> {
  return outlet === null ? {} : { exits: inSharedMemory(outlet.exits) };
}

/** The open faces of the dataset, if it has any, and what happens to particles that leave through them. */
function outletOf({ task, open }: BatchContext, known: Float64Array | null): Outlet | null {
  const { axes, walls } = open.dataset;
  const { count, query, first, step: length } = task;
  if (!isOpen(axes, walls)) return null;
  const fail = (particle: number, axis: number, step: number): never => {
    const time = Number(((query.StartTime as number) + (step - 1) * length).toPrecision(7));
    const name = "xyz"[axis];
    const ends = [axisStart(axes[axis]), axisEnd(axes[axis])].map((end) => Number(end.toPrecision(7)));
    throw new RequestError(
      "OutOfRange",
      `Particle ${first + particle} leaves the domain in step ${step}, after time ${time}: the faces ${name} = ${ends.join(" and ")} ` +
        `are open, not walls. Ask with openFaces=stop (in the query string of /api; fieldprobe query: --open-faces stop) ` +
        `for the place and time of the exit.`,
      { member: `points[${first + particle}].${name}` },
    );
  };
  return {
    walls,
    exits: known ?? new Float64Array(count).fill(Number.NaN),
    leave: query.openFaces === "stop" ? () => undefined : fail,
  };
}

/** The values in memory that other threads can read too; a copy unless they are there already. */
function inSharedMemory(values: Float64Array): Float64Array {
  if (values.buffer instanceof SharedArrayBuffer) return values;
  const shared = new Float64Array(new SharedArrayBuffer(values.byteLength));
  shared.set(values);
  return shared;
}

/** The fluid velocity at positions relative to the grid. */
function velocitySample({ task, operation, open, sampler, stop }: BatchContext): VelocitySampler {
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

/**
 * Copies positions, and times of exits if they are asked for, to the places of the records that a range of steps
 * makes.
 */
function recorder(
  { task: { query, count, steps, out }, operation }: BatchContext,
  part: { readonly from: number; readonly to: number },
  exits: Float64Array | null,
): Record<"start" | "end", (positions: Float64Array) => void> & {
  step: (done: number, positions: Float64Array) => void;
} {
  const every = query.recordEvery;
  const { first, end } = recordsBetween(steps, every, part);
  const width = end - first;
  const components = RECORDS[recordOf(operation, query)].length;
  const put = (record: number, from: Float64Array): void => {
    for (let i = 0; i < count; i++) {
      const to = components * (i * width + record - first);
      for (let c = 0; c < 3; c++) out[to + c] = from[3 * i + c];
      if (components > 3) out[to + 3] = exits === null ? Number.NaN : exits[i];
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

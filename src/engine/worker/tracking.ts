/** Tracks the particles of a batch in the velocity that GetVelocity answers, and writes their records. */
import { advectDopri5, dopri5State } from "../../kernels/dopri5.js";
import { isOpen, type Outlet, reflect } from "../../kernels/exits.js";
import { flowMapRates, startFlowMap, stretchesOf } from "../../kernels/flow-map.js";
import { advectInertial, advectTracers, advectTracersRk4, type PathParameters } from "../../kernels/particles.js";
import { axisEnd, axisStart } from "../../kernels/stencil.js";
import { framesFinder, frameWeights } from "../../kernels/time.js";
import type { TimedSampler, Triple, VelocitySampler } from "../../kernels/types.js";
import { RequestError, tooManyAdaptiveSteps } from "../../shared/errors.js";
import { type Integrator, RECORDS } from "../../shared/operations.js";
import { drawNormals, numberAt } from "../../shared/random.js";
import { recordOf } from "../contract/particle-records.js";
import { particleNumbers, wallsOf } from "../contract/particle-state.js";
import { fillPositions } from "../contract/positions.js";
import type { Query } from "../contract/query.js";
import type { Progress } from "../contract/task.js";
import { type BatchContext, scatterInto } from "./batch-context.js";
import { sampleComponents } from "./staggered.js";

/** The schemes that move tracers by equal steps. */
const TRACERS: Readonly<Record<Exclude<Integrator, "dopri5">, typeof advectTracers>> = {
  heun: advectTracers,
  rk4: advectTracersRk4,
};
const STILL: Triple = [0, 0, 0];
const VELOCITY = ["velocity"] as const;
/** Default tolerance of adaptive steps, relative to the smallest spacing of the grid. */
const TOLERANCE = 1e-6;

/** Takes the steps of a batch and fills `task.out` with its records. */
export function trackParticles(context: BatchContext): Progress | null {
  const { task, opened } = context;
  const { query, count, steps, step, last, progress } = task;
  const pause = counted(context);
  const { all, positions, state, exits } = particlesOf(context);
  const outlet = outletOf(context, exits);
  const taken = query.integrator === "dopri5" ? dopri5State(state, count).taken : null;
  const records = recorder(context, outlet?.exits ?? null, taken);
  if (progress === undefined) records.start(positions);
  const path = {
    axes: opened.dataset.axes,
    frameVelocity: opened.dataset.frameVelocity,
    start: query.StartTime as number,
    ...{ step, steps, last, pause },
    ...(outlet === null ? {} : { outlet }),
    ...(query.diffusion === undefined ? {} : { scatter: diffusionOf(context, query.diffusion) }),
    part: { from: progress?.done ?? 0, to: steps },
    ...(query.recordEvery === undefined ? {} : { record: records.step }),
  };
  const done = advance(context, path, positions, state);
  if (done === steps) {
    if (query.flowMap === undefined) records.end(positions);
    else writeFlowMap(context, positions, outlet?.exits ?? null);
    return null;
  }
  task.particles?.set(all);
  return { done };
}

/** Checks the time slice and counts adaptive steps. Throws LimitError if the query tries too many. */
function counted({ task: { stepBudget }, mustPause }: BatchContext): NonNullable<PathParameters["pause"]> {
  if (stepBudget === undefined) return () => mustPause();
  const { most, tried } = stepBudget;
  return (more) => {
    if (Number(Atomics.add(tried, 0, BigInt(more))) + more > most) throw tooManyAdaptiveSteps(most);
    return mustPause();
  };
}

/** The state of the particles, copied: a step that waits for a store may be abandoned. */
function particlesOf({ task, opened }: BatchContext): Record<"all" | "positions" | "state" | "exits", Float64Array> {
  const { query, count, progress, particles } = task;
  const { positionNumbers, integratorNumbers, exitNumbers } = particleNumbers(query, opened.dataset);
  const all = new Float64Array(count * (positionNumbers + integratorNumbers + exitNumbers));
  const positions = all.subarray(0, positionNumbers * count);
  const parts = {
    all,
    positions,
    state: all.subarray(positionNumbers * count, (positionNumbers + integratorNumbers) * count),
  };
  const left = all.subarray((positionNumbers + integratorNumbers) * count);
  if (progress === undefined) {
    fillPositions(task.points, positions, STILL);
    if (query.flowMap !== undefined) startFlowMap(positions, count);
    left.fill(Number.NaN);
  } else all.set(particles as Float64Array);
  return { ...parts, exits: left };
}

/** Advances the particles by the integrator of the query until the time slice ends. Returns the steps taken. */
function advance(
  context: BatchContext,
  path: Omit<PathParameters, "sample">,
  positions: Float64Array,
  state: Float64Array,
): number {
  const { task, opened, operation } = context;
  const { query, count, progress, velocities } = task;
  const { Tp, integrator = "heun", tolerance, flowMap, spatialInterpolation: method = "None" } = query;
  const sample = sampleAtTime(context, operation.kernel, method, 3);
  if (Tp !== undefined) {
    const given = velocities.length > 0;
    if (given && progress === undefined) fillPositions(velocities, state, STILL);
    const known = given || progress !== undefined ? state : null;
    return advectInertial({ ...path, sample }, Tp, positions, known, count, state);
  }
  if (integrator !== "dopri5") {
    const gradient = flowMap === undefined ? null : sampleAtTime(context, "velocityGradient", flowMap, 9);
    const rates = gradient === null ? sample : flowMapRates(sample, gradient, count);
    return TRACERS[integrator]({ ...path, sample: rates }, positions, count);
  }
  const spacing = Math.min(...opened.dataset.axes.map((axis) => axis.spacing));
  const adaptive = { ...path, sample: timedSample(context), tolerance: tolerance ?? TOLERANCE * spacing };
  return advectDopri5(adaptive, positions, count, state, progress !== undefined);
}

/** The open faces of the dataset, if it has any, and what happens to particles that leave through them. */
function outletOf({ task, opened }: BatchContext, exits: Float64Array): Outlet | null {
  const { axes } = opened.dataset;
  const { query, first } = task;
  const walls = wallsOf(query, opened.dataset);
  if (!isOpen(axes, walls)) return null;
  const fail: Outlet["leave"] = (particle, axis, step): never => {
    const time = Number(step.time.toPrecision(7));
    const name = "xyz"[axis];
    const ends = [axisStart(axes[axis]), axisEnd(axes[axis])].map((end) => Number(end.toPrecision(7)));
    throw new RequestError(
      "OutOfRange",
      `Particle ${first + particle} leaves the domain in step ${step.number}, after time ${time}: the faces ${name} = ${ends.join(" and ")} ` +
        `are opened, not walls. Ask paths (of /api, or fieldprobe paths) with open_faces=stop ` +
        `for the place and time of the exit.`,
      { member: `points[${first + particle}].${name}` },
    );
  };
  return {
    walls,
    exits,
    leave: query.openFaces === "stop" ? () => undefined : fail,
  };
}

/** Random displacements of variance 2 kappa |dt| along each axis, then reflection at walls. */
function diffusionOf(
  { task, opened }: BatchContext,
  { diffusivity, seed }: NonNullable<Query["diffusion"]>,
): NonNullable<PathParameters["scatter"]> {
  const { axes } = opened.dataset;
  const walls = wallsOf(task.query, opened.dataset);
  const numbers = new Float64Array(3 * task.count);
  fillPositions(task.velocities, numbers, STILL);
  const words = new Uint32Array(4);
  return ({ number, length }, places) => {
    const deviation = Math.sqrt(2 * diffusivity * Math.abs(length));
    for (let i = 0; i < task.count; i++) {
      const normals = drawNormals(seed, numberAt(numbers, i), number, words);
      for (let c = 0; c < 3; c++) places[3 * i + c] += deviation * normals[c];
    }
    reflect(axes, walls, places, task.count);
  };
}

/** Samples the velocity or its gradient, of so many components, at one time. */
function sampleAtTime(context: BatchContext, kernel: string, method: string, components: 3 | 9): VelocitySampler {
  const { sampler, opened, task } = context;
  const sample = sampleComponents(context, VELOCITY, kernel, method);
  return (positions, particles, t, out) => {
    sampler.positions.set(positions.subarray(0, 3 * particles));
    const frames = frameWeights(opened.dataset.time, task.query.frozen ? (task.query.StartTime as number) : t, "PCHIP");
    sample({ combination: frames, moving: task }, particles, scatterInto(out, components, null));
  };
}

/** Writes the flow map of each particle; the gradient of one that has left the domain or met a hole is NaN. */
function writeFlowMap({ task }: BatchContext, state: Float64Array, exits: Float64Array | null): void {
  const { count, out, query } = task;
  const width = RECORDS.FlowMap.length;
  const span = Math.abs((query.EndTime as number) - (query.StartTime as number));
  for (let i = 0; i < count; i++) {
    const at = 3 * count + 9 * i;
    const hasLeft = exits !== null && !Number.isNaN(exits[i]);
    if (hasLeft || Number.isNaN(state[3 * i])) state.fill(Number.NaN, at, at + 9);
    const stretches = stretchesOf(state, at);
    out.set(state.subarray(3 * i, 3 * i + 3), width * i);
    out.set(state.subarray(at, at + 9), width * i + 3);
    out.set(stretches, width * i + 12);
    out[width * i + 15] = Math.log(Math.sqrt(stretches[2])) / span;
  }
}

/** Samples the velocity as `sampleAtTime` does, with a time for each position that is not rounded to stored times. */
function timedSample(context: BatchContext): TimedSampler {
  const { operation, task } = context;
  const sample = sampleComponents(context, VELOCITY, operation.kernel, task.query.spatialInterpolation ?? "None");
  const { time } = context.opened.dataset;
  const { positions: room } = context.sampler;
  const find = framesFinder(time, task.count, "PCHIP", false);
  return (positions, particles, times, velocities) => {
    const { frozen, StartTime } = task.query;
    for (const { frames, weights, points } of find(frozen ? times.map(() => StartTime ?? 0) : times, particles)) {
      for (let i = 0; i < points.length; i++)
        for (let c = 0; c < 3; c++) room[3 * i + c] = positions[3 * points[i] + c];
      const first = [...weights.subarray(0, frames.length)];
      // Particles at one time share combinations of frames.
      const same = weights.every((weight, i) => weight === first[i % first.length]);
      const sampling = { combination: { frames, weights: first }, ...(same ? {} : { weights }) };
      sample(sampling, points.length, scatterInto(velocities, 3, points));
    }
  };
}

/** Makes a function that copies positions, exit times and step counts into the records. */
function recorder(
  { task: { query, count, steps, itemsPerPoint: width, out }, operation }: BatchContext,
  exits: Float64Array | null,
  taken: Float64Array | null,
): Record<"start" | "end", (positions: Float64Array) => void> & {
  step: (done: number, positions: Float64Array) => void;
} {
  const every = query.recordEvery;
  const names: readonly string[] = RECORDS[recordOf(operation, query)];
  const put = (record: number, from: Float64Array): void => {
    for (let i = 0; i < count; i++) {
      const to = names.length * (i * width + record);
      for (let c = 0; c < names.length; c++) {
        if (c < 3) out[to + c] = from[3 * i + c];
        else out[to + c] = (names[c] === "exit" ? exits?.[i] : taken?.[i]) ?? Number.NaN;
      }
    }
  };
  return {
    start(positions) {
      if (every !== undefined) put(0, positions);
    },
    step(done, positions) {
      if (every !== undefined && (done % every === 0 || done === steps)) put(Math.ceil(done / every), positions);
    },
    end(positions) {
      if (every === undefined) put(0, positions);
    },
  };
}

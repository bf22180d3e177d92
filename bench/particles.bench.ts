/** Measures the cost of a step of particle tracking beside interpolation, and what it allocates. */
import { fileURLToPath } from "node:url";
import type { Query } from "../dist/engine/contract/query.js";
import { alternate, type Contestant } from "./alternate.js";
import { ask, type Check, openOn, pointsIn } from "./ask.js";
import { randomNumbers } from "./field.js";
import { bytesPerStep } from "./particle-heap.js";
import { type BenchOptions, type Row, summarise } from "./row.js";

const DATA = fileURLToPath(new URL("../data", import.meta.url));
const CACHE_BYTES = 64 * 1024 * 1024;
const PERIOD = 2 * Math.PI;
const COMMON = { dataset: "isotropic32", spatialInterpolation: "Lag6" } as const;
/** All steps lie between two stored frames, so that every evaluation reads four. */
const START = 0.31;
const STEP = 0.001;
/** A step of Heun's method evaluates the velocity twice. */
const EVALUATIONS = 2;
/** Particles whose steps are watched for what they allocate: it should not grow with their number. */
const HEAP_POINTS = [128, 512];
/** The distance that a particle may have from where its first velocity alone would have taken it. */
const DRIFT = 0.005;

/**
 * Rows `particles`: time of one interpolation in space and time (ns/point) and of one evaluation inside a step of
 * tracking (ns/evaluation), one worker; their ratio; bytes that a step allocates.
 */
export async function benchParticles({ quick }: BenchOptions): Promise<Row[]> {
  const points = quick ? 5_000 : 50_000;
  const steps = quick ? 10 : 20;
  const positions = pointsIn(randomNumbers(3), points, 0, PERIOD);
  const velocity: Query = { ...COMMON, operation: "GetVelocity", time: START, temporalInterpolation: "PCHIP" };
  const track: Query = { ...COMMON, operation: "GetPosition", StartTime: START, dt: STEP, nt: steps };
  const row = { bench: "particles", backend: "fieldprobe" } as const;
  const params = { points, workers: 1, nodes: 32, temporal: "PCHIP" };
  const engine = await openOn(DATA, 1, CACHE_BYTES);
  try {
    let speeds: Float32Array = new Float32Array();
    const keep: Check = (values) => {
      speeds = values;
    };
    await ask(engine, velocity, positions, keep);
    await ask(engine, track, positions, checkMoved(positions, speeds, steps * STEP));
    const one: Contestant = {
      row: { ...row, case: "GetVelocity Lag6", unit: "ns/point", params },
      run: async () => (1e6 * (await ask(engine, velocity, positions)).milliseconds) / points,
    };
    const step: Contestant = {
      row: { ...row, case: "GetPosition Lag6", unit: "ns/evaluation", params: { ...params, steps } },
      run: async () => (1e6 * (await ask(engine, track, positions)).milliseconds) / (points * EVALUATIONS * steps),
    };
    const close = { case: "GetPosition Lag6", unit: "of GetVelocity", over: step, under: one };
    const rows = await alternate([one, step], quick ? 3 : 7, quick, [close]);
    const few = { ...track, nt: 40 };
    const sets = HEAP_POINTS.map((count) => positions.subarray(0, 3 * count));
    const figures = await bytesPerStep(few, sets, quick ? 3 : 9);
    const allocated = HEAP_POINTS.map((count, i): Row => {
      const set = { ...params, points: count, steps: 40 };
      const about = { case: "GetPosition Lag6, allocated", unit: "bytes/step", params: set };
      return { ...row, ...about, ...summarise(figures[i] ?? []) };
    });
    return [...rows, ...allocated, ...(await million(positions, quick ? 3 : 7))];
  } finally {
    await engine.close(1000);
  }
}

/**
 * A million steps of particles, or as many as there are in 20 steps of these, on two workers: seconds of time and of
 * CPU.
 */
async function million(positions: Float32Array, rounds: number): Promise<Row[]> {
  const workers = 2;
  const steps = 20;
  const points = positions.length / 3;
  const engine = await openOn(DATA, workers, CACHE_BYTES);
  try {
    const track: Query = { ...COMMON, operation: "GetPosition", StartTime: START, dt: STEP, nt: steps };
    await ask(engine, track, positions);
    const asked = [];
    for (let round = 0; round < rounds; round++) asked.push(await ask(engine, track, positions));
    const params = { points, steps, workers, nodes: 32, temporal: "PCHIP" };
    const row = { bench: "particles", case: "GetPosition Lag6, all steps", unit: "s", params };
    return [
      { ...row, backend: "wall", ...summarise(asked.map(({ milliseconds }) => milliseconds / 1000)) },
      { ...row, backend: "cpu", ...summarise(asked.map(({ cpuMilliseconds }) => cpuMilliseconds / 1000)) },
    ];
  } finally {
    await engine.close(1000);
  }
}

/** Every particle is near where its first velocity takes it in a time. */
function checkMoved(from: Float32Array, speeds: Float32Array, time: number): Check {
  return (to) => {
    for (let i = 0; i < from.length; i++) {
      const straight = (from[i] as number) + time * (speeds[i] as number);
      if (!(Math.abs((to[i] as number) - straight) <= DRIFT))
        throw new Error(`coordinate ${i} went from ${from[i]} to ${to[i]}, not near ${straight}`);
    }
  };
}

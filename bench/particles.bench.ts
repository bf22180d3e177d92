/** The cost of a step of particle tracking beside that of interpolation, and of points with a time each. */
import { fileURLToPath } from "node:url";
import type { Query } from "../dist/engine/contract/query.js";
import { groupsOfTimes, triplesOf } from "../dist/engine/contract/time-groups.js";
import { operationOf } from "../dist/shared/operations.js";
import { alternate, type Contestant, inTurn } from "./alternate.js";
import { ask, type Check, openOn, pointsIn } from "./ask.js";
import { randomNumbers } from "./field.js";
import { type BenchOptions, type Row, ratioRow, summarise } from "./row.js";

const DATA = fileURLToPath(new URL("../data/isotropic32", import.meta.url));
const CACHE_BYTES = 64 * 1024 * 1024;
const PERIOD = 2 * Math.PI;
const COMMON = { dataset: "isotropic32", spatialInterpolation: "Lag6" } as const;
/** All steps lie between two stored frames, so that every evaluation reads four. */
const START = 0.31;
const STEP = 0.001;
/** A step of Heun's method evaluates the velocity twice. */
const EVALUATIONS = 2;
/** The distance that a particle may have from where its first velocity alone would have taken it. */
const DRIFT = 0.005;

/**
 * Rows `particles`: time of one interpolation in space and time (ns/point) and of one evaluation inside a step of
 * tracking (ns/evaluation), one worker; their ratio.
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
    const moved = await million(positions, quick ? 3 : 7);
    const own: Row[] = [];
    for (const { nodes, points } of quick ? OWN_TIMES.slice(0, 1) : OWN_TIMES)
      own.push(...(await ownTimes(nodes, points, quick ? 3 : 7)));
    return [...rows, ...moved, ...own];
  } finally {
    await engine.close(1000);
  }
}

/** How the particles of `million` are moved; with dopri5 for as long, in steps that keep the default tolerance. */
const MOVED = {
  heun: { dt: STEP, nt: 20 },
  rk4: { dt: STEP, nt: 20, integrator: "rk4" },
  dopri5: { dt: 0.05, nt: 1, integrator: "dopri5" },
} as const;

/**
 * A million steps of particles, or as many as there are in 20 steps of these, on two workers: seconds of time and of
 * CPU, and particle steps a second.
 */
async function million(positions: Float32Array, rounds: number): Promise<Row[]> {
  const workers = 2;
  const points = positions.length / 3;
  const engine = await openOn(DATA, workers, CACHE_BYTES);
  try {
    const contestants = Object.entries(MOVED).map(([name, moved]) => {
      const track: Query = { ...COMMON, operation: "GetPosition", StartTime: START, ...moved };
      let taken = 20 * points;
      const count: Check = (values) => {
        if (name !== "dopri5") return;
        taken = 0;
        for (let i = 3; i < values.length; i += 4) taken += values[i] as number;
      };
      return {
        name,
        samples: [] as { wall: number; cpu: number; rate: number }[],
        run: async (): Promise<void> => {
          const { milliseconds, cpuMilliseconds } = await ask(engine, track, positions, count);
          const one = { wall: milliseconds / 1000, cpu: cpuMilliseconds / 1000, rate: (1000 * taken) / milliseconds };
          contestants.find((other) => other.name === name)?.samples.push(one);
        },
      };
    });
    await inTurn(
      contestants.map(({ run }) => run),
      rounds + 1,
    );
    const params = { points, workers, nodes: 32, temporal: "PCHIP" };
    const rows = contestants.flatMap(({ name, samples }): Row[] => {
      const row = { bench: "particles", case: `GetPosition Lag6, ${name}`, params };
      const of = (key: "wall" | "cpu" | "rate") => summarise(samples.slice(1).map((sample) => sample[key]));
      return [
        { ...row, backend: "wall", unit: "s", ...of("wall") },
        { ...row, backend: "cpu", unit: "s", ...of("cpu") },
        { ...row, backend: "fieldprobe", unit: "steps/s", ...of("rate") },
      ];
    });
    const [heun = [], rk4 = []] = contestants.map(({ samples }) => samples.slice(1).map(({ cpu }) => cpu));
    return [
      ...rows,
      ratioRow({ bench: "particles", case: "GetPosition Lag6, rk4", unit: "of heun, cpu", params }, rk4, heun),
    ];
  } finally {
    await engine.close(1000);
  }
}

/** Nodes along an axis of the included flow, and points, of `ownTimes`: from 0.02 to 30 points a node. */
const OWN_TIMES = [
  { nodes: 32, points: 50_000 },
  { nodes: 32, points: 1_000_000 },
  { nodes: 64, points: 5_000 },
  { nodes: 64, points: 50_000 },
  { nodes: 64, points: 1_000_000 },
] as const;

/**
 * Points with times of their own between nine frames, in turns with as many at one time, one worker: CPU of both, and
 * their ratio.
 */
async function ownTimes(nodes: 32 | 64, points: number, rounds: number): Promise<Row[]> {
  const name = `isotropic${nodes}`;
  const engine = await openOn(fileURLToPath(new URL(`../data/${name}`, import.meta.url)), 1, 4 * CACHE_BYTES);
  try {
    const query: Query = { ...COMMON, dataset: name, operation: "GetVelocity", temporalInterpolation: "PCHIP" };
    const dataset = engine.find(name) as NonNullable<ReturnType<typeof engine.find>>;
    const random = randomNumbers(5);
    const positions = pointsIn(random, points, 0, PERIOD);
    const times = Float64Array.from({ length: points }, () => 1.6 * random());
    const each = async (): Promise<number> => {
      const before = process.cpuUsage();
      const groups = groupsOfTimes(query, operationOf("GetVelocity"), dataset, "time", times);
      for (const group of groups) await ask(engine, group.query, triplesOf(positions, group.points));
      const { user, system } = process.cpuUsage(before);
      return (user + system) / points;
    };
    const one = async (): Promise<number> =>
      (1000 * (await ask(engine, { ...query, time: START }, positions)).cpuMilliseconds) / points;
    const row = { bench: "particles", backend: "cpu", unit: "us/point", params: { points, workers: 1, nodes } };
    const own: Contestant = { row: { ...row, case: "GetVelocity Lag6, a time each" }, run: each };
    const same: Contestant = { row: { ...row, case: "GetVelocity Lag6, one time" }, run: one };
    const close = { case: "GetVelocity Lag6, a time each", unit: "of one time", over: own, under: same };
    return await alternate([own, same], rounds, false, [close]);
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

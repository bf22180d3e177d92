/** Simulates turbulent flow in a channel until it is statistically steady and stores its frames as a dataset. */
import { join } from "node:path";
import { makeFolder } from "#src/shared/system.js";
import { completeFolder, type Manifest } from "#src/storage/catalog/manifest.js";
import { Hdf5Writer } from "#src/storage/hdf5/writer.js";
import { Checkpoint } from "../generate/checkpoint.js";
import { randomAt, randomStream } from "../generate/random.js";
import { guardedTimes } from "../guarded-times.js";
import { COMPONENTS, packedFields, writePacked } from "../packed-component.js";
import { ChannelFlow, type Profiles } from "./channel-flow.js";

/** Time between stored frames. */
const FRAME_STEP = 0.025;
/** Largest part of a period that the fastest fluid may cross in a substep, for the shortest wave that is kept. */
const COURANT = 1.1;
/** About the largest velocity in units of the friction velocity. */
const FASTEST = 20;
/** Nodes of a chunk along x, y, z at most. */
const CHUNK = [32, 25, 32] as const;

const PROFILES = ["u", "uu", "vv", "ww", "uv", "pp"] as const satisfies readonly (keyof Profiles)[];

export interface TurbulentChannelOptions {
  /** Nodes along x, y (Chebyshev) and z; x and z powers of two. */
  readonly nodes: readonly [number, number, number];
  /** Periods along x and z, in half heights of the channel. */
  readonly lengths: readonly [number, number];
  /** Friction velocity times half height over viscosity. */
  readonly reynolds: number;
  readonly seed: number;
  /** Simulated time before averages begin, and over which they are taken: the stored frames are its last ones. */
  readonly spinUp: number;
  readonly averaged: number;
  /** Stored frames, guards included. */
  readonly frames: number;
  readonly name: string;
  readonly folder: string;
}

/** What the averages are, for the command's table. */
export interface ChannelReport {
  readonly y: Float64Array;
  readonly profiles: Profiles;
  readonly bulk: number;
}

/**
 * Runs the simulation, in units of the half height and of the friction velocity, and writes velocity and pressure as
 * 16-bit integers with a scale per component, averages over planes and time, and the history of the energy budget. A run
 * that was killed goes on after its last frame interval, and writes the same bytes as one that was not.
 *
 * @param progress called with the fraction done after each frame interval
 */
export async function writeChannel(
  options: TurbulentChannelOptions,
  progress: (fraction: number) => void,
): Promise<{ readonly manifest: Manifest; readonly report: ChannelReport }> {
  const { nodes, lengths, reynolds, frames, name, folder } = options;
  const file = `${name}.h5`;
  makeFolder(folder);
  const waves = lengths.map((length, d) => (2 * Math.PI * Math.floor((nodes[2 * d] - 1) / 3)) / length);
  const steps = Math.ceil((FRAME_STEP * FASTEST * (waves[0] + waves[1] / 3)) / COURANT / Math.sqrt(3));
  const timeStep = FRAME_STEP / steps;
  const flow = new ChannelFlow({
    nodes: [nodes[0], nodes[2]],
    lengths,
    heights: nodes[1],
    viscosity: 1 / reynolds,
    force: 1,
    timeStep,
  });
  const { folder: _folder, name: _name, ...identity } = options;
  const intervals = intervalsOf(options);
  const record = new Record(flow, intervals);
  const checkpoint = new Checkpoint(join(folder, `${name}.checkpoint`), identity, record.numbers.length);
  const writer = await Hdf5Writer.create(join(folder, file));
  let report: ChannelReport;
  try {
    simulate(flow, options, steps, record, checkpoint, progress);
    writer.attribute("viscosity", 1 / reynolds);
    writer.attribute("seed", options.seed);
    writeFrames(flow, options, record, checkpoint, writer);
    report = record.write(writer, intervals.total - intervals.averaged);
    writer.close();
    checkpoint.remove();
  } finally {
    writer.discard();
  }
  const axis = (count: number, length: number) => ({
    nodes: count,
    origin: 0,
    spacing: length / count,
    periodic: true,
  });
  const descriptor = {
    schemaVersion: 1,
    name,
    title: `Turbulent channel, Re_tau ${reynolds}, ${nodes.join(" x ")}, ${frames} snapshots`,
    axes: {
      x: axis(nodes[0], lengths[0]),
      y: { coordinates: { file, path: "/y" }, faces: "wall" },
      z: axis(nodes[2], lengths[1]),
    },
    time: guardedTimes(FRAME_STEP, frames),
    fields: packedFields(file),
    forcing: { kind: "constant", value: [1, 0, 0] },
    dnsStep: timeStep,
    viscosity: 1 / reynolds,
    source:
      `Made by fieldprobe generate channel: Fourier and Chebyshev simulation with a constant mean pressure gradient of ` +
      `-1, Re_tau ${reynolds}, seed ${options.seed}; lengths in half heights, velocities in friction velocities.`,
  };
  return { manifest: await completeFolder(folder, descriptor, [file]), report };
}

/** Numbers of frame intervals: before averages begin, in them, and in all. */
function intervalsOf({ spinUp, averaged, frames }: TurbulentChannelOptions): { averaged: number; total: number } {
  const count = Math.max(Math.ceil(averaged / FRAME_STEP), frames);
  return { averaged: count, total: Math.ceil(spinUp / FRAME_STEP) + count };
}

/** The numbers of a checkpoint: the state, sums of profiles, and the history, one value of each kind per interval. */
class Record {
  readonly numbers: Float64Array;
  readonly state: Float64Array;
  readonly #flow: ChannelFlow;
  readonly #sums: ReadonlyMap<keyof Profiles, Float64Array>;
  readonly #history: ReadonlyMap<"energy" | "dissipation" | "bulk", Float64Array>;
  readonly #averaged: number;

  constructor(flow: ChannelFlow, { averaged, total }: { averaged: number; total: number }) {
    const heights = flow.y.length;
    this.#flow = flow;
    this.#averaged = averaged;
    this.numbers = new Float64Array(flow.state.length + PROFILES.length * heights + 3 * total);
    let at = 0;
    const take = (length: number) => {
      at += length;
      return this.numbers.subarray(at - length, at);
    };
    this.state = take(flow.state.length);
    this.#sums = new Map(PROFILES.map((profile) => [profile, take(heights)]));
    this.#history = new Map((["energy", "dissipation", "bulk"] as const).map((kind) => [kind, take(total)]));
  }

  /** Takes the flow at the end of an interval. */
  add(interval: number, isAveraged: boolean): void {
    this.state.set(this.#flow.state);
    for (const [kind, value] of Object.entries(this.#flow.budget()))
      (this.#history.get(kind as "energy") as Float64Array)[interval] = value;
    if (!isAveraged) return;
    const profiles = this.#flow.profiles();
    for (const [profile, sums] of this.#sums)
      for (let j = 0; j < sums.length; j++) sums[j] = sums[j] + profiles[profile][j];
  }

  /** Writes averages and history. `first`: the first interval that was averaged. */
  write(writer: Hdf5Writer, first: number): ChannelReport {
    const heights = this.#flow.y.length;
    const means = [...this.#sums].map(([name, sums]) => [name, sums.map((sum) => sum / this.#averaged)] as const);
    writer.whole("/y", "float64", [heights], this.#flow.y);
    for (const [name, mean] of means) writer.whole(`/average/${name}`, "float64", [heights], mean);
    for (const [name, values] of this.#history) writer.whole(`/history/${name}`, "float64", [values.length], values);
    const bulk = (this.#history.get("bulk") as Float64Array).subarray(first);
    return {
      y: this.#flow.y,
      profiles: Object.fromEntries(means) as unknown as Profiles,
      bulk: bulk.reduce((sum, value) => sum + value, 0) / this.#averaged,
    };
  }
}

/** Runs through all intervals; the states of the stored frames stay in the checkpoint. */
function simulate(
  flow: ChannelFlow,
  options: TurbulentChannelOptions,
  steps: number,
  record: Record,
  checkpoint: Checkpoint,
  progress: (fraction: number) => void,
): void {
  const { averaged, total } = intervalsOf(options);
  const last = checkpoint.intervals().at(-1) ?? -1;
  if (last === -1) disturb(flow, options);
  else {
    checkpoint.read(last, record.numbers);
    flow.state.set(record.state);
  }
  for (let interval = last + 1; interval < total; interval++) {
    for (let i = 0; i < steps; i++) flow.step();
    record.add(interval, interval >= total - averaged);
    checkpoint.write(interval, record.numbers);
    if (interval <= total - options.frames) checkpoint.forget(interval - 1);
    progress((interval + 1) / total);
  }
}

/** Starts from a turbulent mean profile (Reichardt, Z. Angew. Math. Mech. 31, 1951) and seeded long waves. */
function disturb(flow: ChannelFlow, { reynolds, seed }: TurbulentChannelOptions): void {
  for (const [j, y] of flow.y.entries()) {
    const plus = reynolds * (1 - Math.abs(y));
    const inner = 7.8 * (1 - Math.exp(-plus / 11) - (plus / 11) * Math.exp(-0.33 * plus));
    flow.state[j] = Math.log(1 + 0.4 * plus) / 0.4 + inner;
  }
  const stream = randomStream(seed, 0);
  let drawn = 0;
  const normal = () => {
    const radius = Math.sqrt(-2 * Math.log(1 - randomAt(stream, drawn++)));
    return radius * Math.cos(2 * Math.PI * randomAt(stream, drawn++));
  };
  const { kx, kz, count } = flow.modes;
  for (let m = 1; m < count; m++) {
    if (kx[m] ** 2 + kz[m] ** 2 > (8 * Math.PI) ** 2 / 9) continue;
    for (const skew of [0, 1]) {
      const shape = flow.y.map((y) => (1 - y * y) ** 2 * (skew === 0 ? 1 : 2 * y));
      const other = flow.y.map((y) => (1 - y * y) * (skew === 0 ? 1 : 2 * y));
      flow.addMode(m, [0.4 * normal(), 0.4 * normal()], [3 * normal(), 3 * normal()], [shape, other]);
    }
  }
}

/** Writes the stored frames as 16-bit integers; the scale of a component maps its range over all frames to them. */
function writeFrames(
  flow: ChannelFlow,
  { nodes, frames }: TurbulentChannelOptions,
  record: Record,
  checkpoint: Checkpoint,
  writer: Hdf5Writer,
): void {
  const intervals = checkpoint.intervals().slice(-frames);
  const shape = [nodes[2], nodes[1], nodes[0]];
  const chunk = CHUNK.map((most, d) => Math.min(most, nodes[d])).toReversed();
  for (const [c, name] of COMPONENTS.entries()) {
    const all = intervals.map((interval) => {
      checkpoint.read(interval, record.numbers);
      flow.state.set(record.state);
      return flow.values(c);
    });
    // Of u, the middle of the range is an offset, and zero at the walls stays zero to rounding.
    writePacked(writer, `/${name}`, all, shape, chunk, c === 0);
  }
}

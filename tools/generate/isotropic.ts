/** Simulates forced isotropic turbulence until it is statistically steady and stores its frames as a dataset. */
import { availableParallelism } from "node:os";
import { join } from "node:path";
import ndarray, { type NdArray } from "ndarray";
import ops from "ndarray-ops";
import { makeFolder } from "#src/shared/system.js";
import { completeFolder, type Manifest } from "#src/storage/catalog/manifest.js";
import { Hdf5Writer } from "#src/storage/hdf5/writer.js";
import { GUARDS, guardedTimes } from "../guarded-times.js";
import { COMPONENTS, packedFields, writePacked } from "../packed-component.js";
import { Checkpoint } from "./checkpoint.js";
import { periodicAxes } from "./cube.js";
import type { Modes, Spectral } from "./modes.js";
import { NavierStokes } from "./navier-stokes.js";
import { forcedModes } from "./shell-forcing.js";
import { type FlowStatistics, flowStatistics } from "./turbulence-statistics.js";

/** Time between stored frames. */
const FRAME_STEP = 0.2;

/** Nodes of a chunk along each axis; half of 32, so that chunk borders cross even the smallest shipped cube. */
const CHUNK = 16;

/** Nodes a fluid element of unit speed passes in one solver step: keeps the Courant number of the fastest near 0.3. */
const NODES_PER_STEP = 0.1;

export interface IsotropicOptions {
  /** Nodes along each axis: even, 2^a 3^b 5^c. */
  readonly nodes: number;
  readonly viscosity: number;
  readonly seed: number;
  /** Simulated time before the first stored frame. */
  readonly spinUp: number;
  /** Stored frames, guards included. */
  readonly frames: number;
  readonly name: string;
  readonly aliases: readonly string[];
  readonly folder: string;
  /** Whether each component is stored as 16-bit integers with a scale, instead of as float32. */
  readonly packed?: boolean;
  /** Threads that share the work; as many as the machine has for this process by default. */
  readonly threads?: number;
}

/** A stored frame's time and statistics. */
export interface FrameReport extends FlowStatistics {
  readonly time: number;
}

/** Steps of the solver between two stored frames. */
const stepsPerFrame = (nodes: number) => Math.ceil((FRAME_STEP * nodes) / (2 * Math.PI * NODES_PER_STEP) - 0.5);

/**
 * Runs the simulation and writes velocity, pressure, the force as a mode table, and the history of the energy since the
 * start of the simulation, one value per frame interval. A run that was killed goes on after its last interval, and
 * writes the same bytes as one that was not.
 *
 * @param progress called with the fraction done after each frame interval
 * @returns the manifest, the statistics of each stored frame, and the largest retained wavenumber of an axis
 */
export async function writeIsotropic(
  options: IsotropicOptions,
  progress: (fraction: number) => void,
): Promise<{ readonly manifest: Manifest; readonly reports: readonly FrameReport[]; readonly kmax: number }> {
  const { nodes, viscosity, seed, frames, name, folder } = options;
  const steps = stepsPerFrame(nodes);
  const file = `${name}.h5`;
  makeFolder(folder);
  const simulation = new NavierStokes(nodes, viscosity, seed, options.threads ?? availableParallelism());
  const { spinUp } = options;
  const states = join(folder, `${name}.checkpoint`);
  const checkpoint = new Checkpoint(
    states,
    { nodes, viscosity, seed, spinUp, frames },
    stateLength(simulation, options),
  );
  const writer = await Hdf5Writer.create(join(folder, file));
  let reports: FrameReport[];
  try {
    writer.attribute("viscosity", viscosity);
    writer.attribute("seed", seed);
    reports = simulate(simulation, options, steps, writer, checkpoint, progress);
    writer.close();
    checkpoint.remove();
  } finally {
    writer.discard();
    await simulation.close();
  }
  const descriptor = {
    schemaVersion: 1,
    name,
    title: `Forced isotropic turbulence, ${nodes}^3, ${frames} snapshots`,
    aliases: options.aliases,
    axes: periodicAxes([nodes, nodes, nodes]),
    time: guardedTimes(FRAME_STEP, frames),
    fields: options.packed === true ? packedFields(file) : floatFields(file),
    forcing: { kind: "modes", file, path: "/forcing" },
    dnsStep: FRAME_STEP / steps,
    viscosity,
    source: `Made by fieldprobe generate isotropic: pseudo-spectral simulation, viscosity ${viscosity}, seed ${seed}.`,
  };
  return { manifest: await completeFolder(folder, descriptor, [file]), reports, kmax: simulation.modes.kmax };
}

/** Number of the interval of the first stored frame, and of all intervals. */
function intervalsOf({ spinUp, frames }: IsotropicOptions): { readonly first: number; readonly total: number } {
  const first = Math.ceil(spinUp / FRAME_STEP);
  return { first, total: first + frames };
}

/** Numbers of a state: the modes of the velocity, and the energies of all intervals so far. */
function stateLength({ velocity }: NavierStokes, options: IsotropicOptions): number {
  return velocity.values.length + intervalsOf(options).total;
}

/** Runs through the spin-up and the stored frames; time 0 is the first frame after the guards. */
function simulate(
  simulation: NavierStokes,
  options: IsotropicOptions,
  steps: number,
  writer: Hdf5Writer,
  checkpoint: Checkpoint,
  progress: (fraction: number) => void,
): FrameReport[] {
  const { nodes, frames } = options;
  const { write, end } = options.packed === true ? packedFrames(nodes, writer) : floatFrames(nodes, frames, writer);
  const { first, total } = intervalsOf(options);
  const table = forceTable(simulation.modes);
  const coefficients: number[] = [];
  const times = new Float64Array(total);
  const energies = new Float64Array(total);
  const reports: FrameReport[] = [];
  const velocity = simulation.velocity.values;
  const state = new Float64Array(velocity.length + total);
  const known = checkpoint.intervals();
  const last = known.at(-1) ?? -1;
  const start = Math.min(first, Math.max(last, 0));
  for (let interval = 0; interval < total; interval++) {
    const time = (interval - first - GUARDS.before) * FRAME_STEP;
    times[interval] = time;
    if (interval < start) continue;
    if (known.includes(interval)) {
      checkpoint.read(interval, state);
      velocity.set(state.subarray(0, velocity.length));
      energies.set(state.subarray(velocity.length));
    } else {
      if (interval > 0) for (let i = 0; i < steps; i++) simulation.step(FRAME_STEP / steps);
      // The sum over one mode of each pair is half of the sum over all.
      energies[interval] = velocity.reduce((sum, value) => sum + value * value, 0);
      state.set(velocity);
      state.set(energies, velocity.length);
      checkpoint.write(interval, state);
      if (interval <= first) checkpoint.forget(interval - 1);
    }
    if (interval >= first) {
      write(interval - first, simulation);
      coefficients.push(...table.coefficients(simulation.velocity, simulation.forcing()));
      reports.push({ time, ...flowStatistics(simulation) });
    }
    progress((interval + 1) / total);
  }
  end();
  const { wavenumber } = table;
  const modes = wavenumber.length / 3;
  writer.whole("/forcing/wavenumber", "int32", [modes, 3], wavenumber);
  writer.whole("/forcing/coefficient", "float64", [frames, modes, 3, 2], Float64Array.from(coefficients));
  writer.whole("/history/time", "float64", [total], times);
  writer.whole("/history/energy", "float64", [total], energies);
  return reports;
}

const DIMENSIONS = ["t", "z", "y", "x"] as const;

const floatFields = (file: string) => ({
  velocity: { file, path: "/velocity", dimensions: [...DIMENSIONS, "c"] },
  pressure: { file, path: "/pressure", dimensions: DIMENSIONS },
});

/** What stores a simulation's present state as a frame, and ends when all frames are stored. */
interface FrameWriter {
  readonly write: (frame: number, simulation: NavierStokes) => void;
  readonly end: () => void;
}

/** Keeps the components of all frames until the range of each is known. */
function packedFrames(nodes: number, writer: Hdf5Writer): FrameWriter {
  const kept = COMPONENTS.map((): Float64Array[] => []);
  const shape = [nodes, nodes, nodes];
  const chunks = shape.map((n) => Math.min(n, 2 * CHUNK));
  return {
    write(_frame, simulation) {
      for (let c = 0; c < 3; c++) kept[c].push(simulation.physical(simulation.velocity, c).slice());
      kept[3].push(simulation.physical(simulation.pressure(), 0).slice());
    },
    end() {
      for (const [c, name] of COMPONENTS.entries()) writePacked(writer, `/${name}`, kept[c], shape, chunks, false);
    },
  };
}

/** Declares the fields and stores each frame as it comes. */
function floatFrames(nodes: number, frames: number, writer: Hdf5Writer): FrameWriter {
  const stored = { type: "float32", filter: "gzip" } as const;
  const shape = [nodes, nodes, nodes];
  const chunk = shape.map((n) => Math.min(n, CHUNK));
  const velocity = writer.dataset({
    ...stored,
    path: "/velocity",
    shape: [frames, ...shape, 3],
    chunks: [1, ...chunk, 3],
  });
  const pressure = writer.dataset({ ...stored, path: "/pressure", shape: [frames, ...shape], chunks: [1, ...chunk] });
  const vector = ndarray(new Float32Array(3 * nodes ** 3), [...shape, 3]);
  const write = (frame: number, simulation: NavierStokes): void => {
    for (let c = 0; c < 3; c++) {
      const component: NdArray = ndarray(simulation.physical(simulation.velocity, c), shape);
      ops.assign(vector.pick(null, null, null, c) as NdArray, component);
    }
    velocity([frame, 0, 0, 0, 0], [1, ...shape, 3], vector.data);
    const scalar = Float32Array.from(simulation.physical(simulation.pressure(), 0));
    pressure([frame, 0, 0, 0], [1, ...shape], scalar);
  };
  return { write, end: () => undefined };
}

/** The modes of the force as they are stored: kx >= 0, and where kx = 0 both of each pair. */
function forceTable(modes: Modes): {
  readonly wavenumber: Int32Array;
  readonly coefficients: (velocity: Spectral, rates: readonly number[]) => number[];
} {
  const rows = forcedModes(modes).flatMap((mode) => {
    const k = [...modes.k.subarray(3 * mode, 3 * mode + 3)];
    const own = { mode, k, conjugate: 1 };
    return k[0] === 0 ? [own, { mode, k: k.map((component) => 0 - component), conjugate: -1 }] : [own];
  });
  return {
    wavenumber: Int32Array.from(rows.flatMap(({ k }) => k)),
    coefficients: (velocity, rates) =>
      rows.flatMap(({ mode, conjugate }) => {
        const rate = rates[modes.shell[mode] - 1];
        const parts = [...velocity.values.subarray(6 * mode, 6 * mode + 6)];
        return parts.map((value, part) => rate * value * (part % 2 === 0 ? 1 : conjugate));
      }),
  };
}

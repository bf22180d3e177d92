/** Evaluates forces known in closed form at points: constant, Taylor-Green, and tables of Fourier modes. */
import { axisLength } from "./stencil.js";
import type { Axes, FrameWeights, Triple } from "./types.js";

/** Fourier modes of a force. */
export interface ModeTable {
  /** Integer wavenumbers, (modes, 3), x not negative; both signs of (y, z) are listed where x is 0. */
  readonly wavenumber: Int32Array;
  /** Real and imaginary part per component, (frames, modes, 3, 2). */
  readonly coefficient: Float64Array;
  /** Number of stored frames, or 1 for a steady force. */
  readonly frames: number;
}

/** 2 pi over the length of each axis. */
function wavenumberUnits(axes: Axes): number[] {
  return axes.map((axis) => (2 * Math.PI) / axisLength(axis));
}

/** The same force at `count` points; overwrites three values per point. */
export function constantForce(value: Triple, count: number, out: Float64Array): void {
  for (let i = 0; i < 3 * count; i += 3) out.set(value, i);
}

/**
 * The steady force amplitude * (sin X cos Y cos Z, -cos X sin Y cos Z, 0) with X = 2 pi wavenumber x / Lx and so on, at
 * `count` points; overwrites three values per point.
 */
export function taylorGreenForce(
  axes: Axes,
  amplitude: number,
  wavenumber: number,
  positions: Float64Array,
  count: number,
  out: Float64Array,
): void {
  const [kx, ky, kz] = wavenumberUnits(axes).map((unit) => unit * wavenumber);
  for (let i = 0; i < 3 * count; i += 3) {
    const x = kx * positions[i];
    const y = ky * positions[i + 1];
    const planar = amplitude * Math.cos(kz * positions[i + 2]);
    out[i] = planar * Math.sin(x) * Math.cos(y);
    out[i + 1] = -planar * Math.cos(x) * Math.sin(y);
    out[i + 2] = 0;
  }
}

/**
 * The force of a mode table at `count` points: the sum of a cos(phase) - b sin(phase) over the modes, twice for x
 * wavenumbers above 0, whose conjugates are not listed; overwrites three values per point.
 *
 * @param frames frames of the table to combine; a steady table ignores it
 */
export function modeForce(
  axes: Axes,
  table: ModeTable,
  frames: FrameWeights,
  positions: Float64Array,
  count: number,
  out: Float64Array,
): void {
  const coefficient = combineFrames(table, frames);
  const [ux, uy, uz] = wavenumberUnits(axes);
  const { wavenumber } = table;
  out.fill(0, 0, 3 * count);
  for (let i = 0; i < 3 * count; i += 3) {
    for (let m = 0; m < wavenumber.length; m += 3) {
      const phase =
        ux * wavenumber[m] * positions[i] +
        uy * wavenumber[m + 1] * positions[i + 1] +
        uz * wavenumber[m + 2] * positions[i + 2];
      const cosine = Math.cos(phase);
      const sine = Math.sin(phase);
      for (let c = 0; c < 3; c++) out[i + c] += coefficient[2 * (m + c)] * cosine - coefficient[2 * (m + c) + 1] * sine;
    }
  }
}

/** The coefficients at one time, (modes, 3, 2), doubled if a mode represents its conjugate too. */
function combineFrames({ wavenumber, coefficient, frames: stored }: ModeTable, frames: FrameWeights): Float64Array {
  const size = 2 * wavenumber.length;
  const sum = new Float64Array(size);
  const steady: FrameWeights = { frames: [0], weights: [1] };
  const chosen = stored === 1 ? steady : frames;
  chosen.frames.forEach((frame, f) => {
    for (let i = 0; i < size; i++) sum[i] += chosen.weights[f] * coefficient[frame * size + i];
  });
  for (let i = 0; i < size; i++) if (wavenumber[3 * Math.floor(i / 6)] > 0) sum[i] *= 2;
  return sum;
}

/** A force known in closed form. */
export type ClosedForce =
  | { readonly kind: "constant"; readonly value: Triple }
  | { readonly kind: "taylorGreen"; readonly amplitude: number; readonly wavenumber: number }
  | ({ readonly kind: "modes" } & ModeTable);

/** A force in closed form; null if there is none, or if it is a stored field. */
export function closedForceOf(
  forcing: ClosedForce | { readonly kind: "none" } | { readonly kind: "stored" },
): ClosedForce | null {
  return forcing.kind === "none" || forcing.kind === "stored" ? null : forcing;
}

/** A force at `count` points; overwrites three values per point. `frames`: frames of a mode table to combine. */
export function forceAt(
  axes: Axes,
  force: ClosedForce,
  frames: FrameWeights,
  positions: Float64Array,
  count: number,
  out: Float64Array,
): void {
  if (force.kind === "modes") modeForce(axes, force, frames, positions, count, out);
  else if (force.kind === "constant") constantForce(force.value, count, out);
  else taylorGreenForce(axes, force.amplitude, force.wavenumber, positions, count, out);
}

/** A force at nodes of a frame, [z][y][x][component]; coordinates of nodes are float32, as for points. */
export function forceAtNodes(
  axes: Axes,
  force: ClosedForce,
  { frame, first, count, stride = [1, 1, 1] }: NodesOfFrame,
  out: Float32Array,
): void {
  const at = (a: 0 | 1 | 2, i: number): number => {
    const node = first[a] + i * stride[a];
    return Math.fround(axes[a].coordinates?.[node] ?? axes[a].origin + node * axes[a].spacing);
  };
  const positions = new Float64Array(3 * count[0]);
  const values = new Float64Array(3 * count[0]);
  const frames = { frames: [frame], weights: [1] };
  for (let z = 0, to = 0; z < count[2]; z++)
    for (let y = 0; y < count[1]; y++, to += values.length) {
      for (let x = 0; x < count[0]; x++) positions.set([at(0, x), at(1, y), at(2, z)], 3 * x);
      forceAt(axes, force, frames, positions, count[0], values);
      out.set(values, to);
    }
}

interface NodesOfFrame {
  readonly frame: number;
  readonly first: Triple;
  readonly count: Triple;
  readonly stride?: Triple;
}

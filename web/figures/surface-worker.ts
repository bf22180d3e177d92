/** The surface worker keeps a volume and extracts isosurfaces from it, so that the page stays responsive. */
import { type BoxSamples, marchingCubes, type Surface } from "./marching-cubes.js";

/** A volume to keep; it replaces the one before. */
export interface VolumeMessage {
  readonly kind: "volume";
  /** Samples along x, y and z, the place of the first one, and their distances. */
  readonly counts: readonly [number, number, number];
  readonly origin: readonly [number, number, number];
  readonly spacing: readonly [number, number, number];
  /** Whether the first layer along an axis follows the last one again. */
  readonly periodic: readonly [boolean, boolean, boolean];
  readonly values: Float32Array;
  readonly tint: Float32Array | null;
}

/** Asks for the surface of a value, or for the one that encloses the largest or smallest values. */
export interface LevelMessage {
  readonly kind: "level";
  readonly id: number;
  readonly level: number | null;
  /** Percentage of the volume that is enclosed if no value is given. */
  readonly enclosed: number;
  readonly smallest: boolean;
}

/** The surface for a level message. */
export interface SurfaceMessage extends Surface {
  readonly id: number;
  readonly level: number;
  /** Percentage of the volume that it encloses. */
  readonly enclosed: number;
  /** Root mean square of the values. */
  readonly rms: number;
  /** The values below and above which five thousandths of all values are. */
  readonly tails: readonly [number, number];
}

/** Part of all values beyond each of the tails. */
const TAIL = 0.005;
/** Samples from which the level of a percentage is found; more would not move it visibly. */
const SORTED = 200_000;

interface Kept extends BoxSamples {
  readonly tint: Float32Array | null;
  readonly sorted: Float32Array;
  readonly rms: number;
}

/** Repeats the first layer of periodic axes behind the last, so that the surface closes. */
function closed(values: Float32Array, counts: readonly number[], periodic: readonly boolean[]): Float32Array {
  const [nx, ny, nz] = counts;
  if (!periodic.includes(true)) return values;
  const [mx, my, mz] = counts.map((count, i) => count + (periodic[i] ? 1 : 0));
  const out = new Float32Array(mx * my * mz);
  let at = 0;
  for (let z = 0; z < mz; z++) {
    for (let y = 0; y < my; y++) {
      const row = nx * ((y % ny) + ny * (z % nz));
      out.set(values.subarray(row, row + nx), at);
      if (mx > nx) out[at + nx] = values[row];
      at += mx;
    }
  }
  return out;
}

function keep({ counts, origin, spacing, periodic, values, tint }: VolumeMessage): Kept {
  const stride = Math.max(1, Math.floor(values.length / SORTED));
  const sorted = Float32Array.from({ length: Math.floor(values.length / stride) }, (_, i) => values[i * stride]);
  return {
    counts: counts.map((count, i) => count + (periodic[i] ? 1 : 0)) as [number, number, number],
    origin,
    spacing,
    values: closed(values, counts, periodic),
    tint: tint === null ? null : closed(tint, counts, periodic),
    sorted: sorted.filter(Number.isFinite).sort(),
    rms: rmsOf(values),
  };
}

/** The root mean square of the finite values. */
function rmsOf(values: Float32Array): number {
  let [sum, count] = [0, 0];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    sum += value * value;
    count++;
  }
  return Math.sqrt(sum / count);
}

/** The part of all values that exceeds a level. */
function partAbove(sorted: Float32Array, level: number): number {
  const first = sorted.findIndex((value) => value > level);
  return first < 0 ? 0 : (sorted.length - first) / sorted.length;
}

/** The value that a part of all values exceeds. */
function levelAt(sorted: Float32Array, part: number): number {
  return sorted[Math.max(0, Math.min(sorted.length - 1, Math.round((1 - part) * (sorted.length - 1))))] ?? Number.NaN;
}

/** Makes the function that answers the messages of the page; the volume stays in it. */
export function serve(post: (message: SurfaceMessage) => void): (message: VolumeMessage | LevelMessage) => void {
  let kept: Kept | null = null;
  return (message) => {
    if (message.kind === "volume") {
      kept = keep(message);
      return;
    }
    if (kept === null) return;
    const part = message.smallest ? 1 - message.enclosed / 100 : message.enclosed / 100;
    const level = message.level ?? levelAt(kept.sorted, part);
    const above = 100 * partAbove(kept.sorted, level);
    const enclosed = message.level === null ? message.enclosed : message.smallest ? 100 - above : above;
    const surface = marchingCubes(kept, level, kept.tint);
    const tails = [levelAt(kept.sorted, 1 - TAIL), levelAt(kept.sorted, TAIL)] as const;
    post({ ...surface, id: message.id, level, enclosed, rms: kept.rms, tails });
  };
}

if (typeof self !== "undefined" && "postMessage" in self && typeof document === "undefined") {
  const answer = serve((message) => {
    const { positions, normals, tints, indices } = message;
    self.postMessage(message, { transfer: [positions.buffer, normals.buffer, tints.buffer, indices.buffer] });
  });
  self.addEventListener("message", (event: MessageEvent<VolumeMessage | LevelMessage>) => answer(event.data));
}

/**
 * Values of a stored flow computed the slow way, sharing no code with the kernels: whole fields read with h5wasm,
 * interpolation by Neville's scheme along each axis, time by the polynomial form of the four-point Hermite.
 */
import h5wasm from "h5wasm/node";

export interface StoredField {
  /** Frames, nodes along z, y, x, components. */
  readonly shape: readonly [number, number, number, number, number];
  readonly values: Float32Array;
}

/** Reads a dataset of dimensions t, z, y, x and perhaps c as a whole. */
export async function readField(file: string, path: string): Promise<StoredField> {
  await h5wasm.ready;
  const opened = new h5wasm.File(file, "r");
  try {
    const dataset = opened.get(path) as unknown as { shape: number[]; value: Float32Array };
    const [t = 0, z = 0, y = 0, x = 0, c = 1] = dataset.shape;
    return { shape: [t, z, y, x, c], values: dataset.value };
  } finally {
    opened.close();
  }
}

/** The polynomial through (k, values[k]), k = 0 .. n - 1, at `at`. */
export function neville(values: readonly number[], at: number): number {
  const p = [...values];
  for (let span = 1; span < p.length; span++) {
    for (let i = 0; i + span < p.length; i++) {
      p[i] = ((at - i - span) * (p[i] as number) + (i - at) * (p[i + 1] as number)) / -span;
    }
  }
  return p[0] as number;
}

/**
 * Field on a periodic box of period `period`, at a point, by the polynomial of `order` nodes per axis (1: the nearest).
 */
export function interpolateSlowly(
  field: StoredField,
  frame: number,
  point: readonly [number, number, number],
  order: number,
  period: number,
): number[] {
  const [, nz, ny, nx, components] = field.shape;
  const counts = [nx, ny, nz];
  const first: number[] = [];
  const fraction: number[] = [];
  for (let a = 0; a < 3; a++) {
    const s = ((point[a] as number) / period) * (counts[a] as number);
    const cell = order === 1 ? Math.floor(s + 0.5) : Math.floor(s);
    const start = order === 1 ? cell : cell - order / 2 + 1;
    first.push(start);
    fraction.push(order === 1 ? 0 : s - start);
  }
  const at = (i: number, n: number): number => ((i % n) + n) % n;
  const range = Array.from({ length: order }, (_, i) => i);
  return Array.from({ length: components }, (_, c) =>
    neville(
      range.map((k) =>
        neville(
          range.map((j) =>
            neville(
              range.map((i) => {
                const x = at((first[0] as number) + i, nx);
                const y = at((first[1] as number) + j, ny);
                const z = at((first[2] as number) + k, nz);
                return field.values[(((frame * nz + z) * ny + y) * nx + x) * components + c] as number;
              }),
              fraction[0] as number,
            ),
          ),
          fraction[1] as number,
        ),
      ),
      fraction[2] as number,
    ),
  );
}

/**
 * Four equally spaced samples around t_k <= t <= t_k+1 at t = t_k + s: the polynomial of the public service's manual.
 */
export function hermiteSlowly(samples: readonly [number, number, number, number], s: number, step: number): number {
  const [before, here, next, after] = samples;
  const slope = (next - before) / (2 * step);
  const c = (next - 2 * here + before) / (2 * step * step);
  const d = (-before + 3 * here - 3 * next + after) / (2 * step ** 3);
  return here + slope * s + c * s * s + d * s * s * (s - step);
}

/** A shared memory with the SIMD module in it, and fields cut into bricks inside that memory. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Accelerator } from "../../src/kernels/index.js";
import { createSharedMemory, instantiateSimd, SCRATCH_BYTES, type WasmMemory } from "../../src/kernels/simd/index.js";
import type { Axes, BrickField, Bricking, Triple } from "../../src/kernels/types.js";

const MODULE = new URL("../../dist/kernels/simd/kernels.wasm", import.meta.url);

export const moduleBytes = readFileSync(fileURLToPath(MODULE));

/** Numbers in 0 .. 1 from a seed (Marsaglia's xorshift). */
export function randomNumbers(seed: number): () => number {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Arrays handed out of one memory, one after the other, 16 bytes aligned. */
export class Arena {
  readonly memory: WasmMemory;
  #end = 0;

  constructor(bytes: number) {
    this.memory = createSharedMemory(bytes);
  }

  take(bytes: number): number {
    const offset = this.#end;
    this.#end += Math.ceil(bytes / 16) * 16;
    return offset;
  }

  doubles(length: number): Float64Array {
    return new Float64Array(this.memory.buffer, this.take(8 * length), length);
  }

  floats(length: number): Float32Array {
    return new Float32Array(this.memory.buffer, this.take(4 * length), length);
  }

  bytes(length: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, this.take(length), length);
  }

  integers(length: number): Int32Array {
    return new Int32Array(this.memory.buffer, this.take(4 * length), length);
  }

  words(length: number): Uint32Array {
    return new Uint32Array(this.memory.buffer, this.take(4 * length), length);
  }

  accelerator(): Accelerator {
    return instantiateSimd(moduleBytes, this.memory, { offset: this.take(SCRATCH_BYTES), bytes: SCRATCH_BYTES });
  }
}

export function bricking(nodes: Triple, edge: Triple): Bricking {
  const count = nodes.map((n, a) => Math.ceil(n / (edge[a] as number))) as unknown as Triple;
  return { edge, count };
}

export function periodicAxes(nodes: Triple, spacing: Triple, origin: Triple): Axes {
  const axis = (a: 0 | 1 | 2) => ({
    nodes: nodes[a],
    origin: origin[a],
    spacing: spacing[a],
    periodic: true,
    coordinates: null,
  });
  return [axis(0), axis(1), axis(2)];
}

/**
 * A field in `arena`, its bricks in a random order and surplus nodes NaN, so that reading one of those shows.
 * @param value component c of node (i, j, k)
 */
export function brickField(
  arena: Arena,
  nodes: Triple,
  cut: Bricking,
  components: number,
  random: () => number,
  value: (i: number, j: number, k: number, c: number) => number,
): BrickField {
  const [ex, ey, ez] = cut.edge;
  const bricks = cut.count[0] * cut.count[1] * cut.count[2];
  const size = ex * ey * ez * components;
  const data = new Float32Array(arena.memory.buffer);
  const first = arena.floats(bricks * size).fill(Number.NaN).byteOffset / 4;
  const table = arena.integers(bricks);
  for (let b = 0; b < bricks; b++) table[b] = first + b * size;
  for (let b = bricks - 1; b > 0; b--) {
    const other = Math.floor(random() * (b + 1));
    [table[b], table[other]] = [table[other] as number, table[b] as number];
  }
  for (let k = 0; k < nodes[2]; k++) {
    for (let j = 0; j < nodes[1]; j++) {
      for (let i = 0; i < nodes[0]; i++) {
        const [x, y, z] = [Math.floor(i / ex), Math.floor(j / ey), Math.floor(k / ez)];
        const at = table[(z * cut.count[1] + y) * cut.count[0] + x] as number;
        const node = ((k - z * ez) * ey + (j - y * ey)) * ex + (i - x * ex);
        for (let c = 0; c < components; c++) data[at + node * components + c] = value(i, j, k, c);
      }
    }
  }
  return { components, bricking: cut, data, table };
}

export function nodesOf({ components, bricking: { edge, count }, data, table }: BrickField) {
  const [ex, ey, ez] = edge;
  return (i: number, j: number, k: number, c: number): number => {
    const brick = (Math.floor(k / ez) * count[1] + Math.floor(j / ey)) * count[0] + Math.floor(i / ex);
    return data[(table[brick] as number) + (((k % ez) * ey + (j % ey)) * ex + (i % ex)) * components + c] as number;
  };
}

/** The combination of frames of a field, as float64 nodes in bricks of another cut. */
export function combinedField(
  arena: Arena,
  frames: readonly BrickField[],
  weights: readonly number[],
  cut: Bricking,
): BrickField {
  const [{ components }] = frames as [BrickField];
  const [ex, ey, ez] = cut.edge;
  const size = ex * ey * ez * components;
  const bricks = cut.count[0] * cut.count[1] * cut.count[2];
  const data = new Float64Array(arena.memory.buffer);
  const sums = arena.doubles(size * bricks);
  const table = arena.integers(bricks);
  const nodes = frames.map(nodesOf);
  const [{ bricking: stored }] = frames as [BrickField];
  const inside = (at: number, a: 0 | 1 | 2): boolean => at < stored.edge[a] * stored.count[a];
  for (let brick = 0; brick < bricks; brick++) {
    table[brick] = sums.byteOffset / 8 + brick * size;
    const [x, y] = [(brick % cut.count[0]) * ex, (Math.floor(brick / cut.count[0]) % cut.count[1]) * ey];
    const z = Math.floor(brick / (cut.count[0] * cut.count[1])) * ez;
    for (let k = 0, at = table[brick] as number; k < ez; k++)
      for (let j = 0; j < ey; j++)
        for (let i = 0; i < ex; i++)
          for (let c = 0; c < components; c++, at++) {
            if (!inside(x + i, 0) || !inside(y + j, 1) || !inside(z + k, 2)) continue;
            data[at] = weights.reduce((sum, weight, f) => {
              const term = weight * (nodes[f] as (typeof nodes)[0])(x + i, y + j, z + k, c);
              return f === 0 ? term : sum + term;
            }, 0);
          }
  }
  return { components, bricking: cut, data, table };
}

import { describe, expect, it } from "vitest";
import { createMemory, memoryLayout } from "../../src/engine/memory.js";
import { Sampler } from "../../src/engine/sampler.js";
import type { Axes } from "../../src/kernels/field.js";
import { createScheme } from "../../src/kernels/index.js";
import { BrickCache } from "../../src/storage/brick-cache.js";

const axis = { nodes: 8, origin: 0, spacing: 1, periodic: true, coordinates: null };
const axes: Axes = [axis, axis, axis];
const bricking = { edge: [4, 4, 4], count: [2, 2, 2] } as const;
/** A field whose every value is the number of its brick. */
const source = {
  source: 1,
  components: 3,
  bricking,
  load: (_frame: number, brick: number, into: Float32Array): void => {
    into.fill(brick);
  },
};

describe("sampler", () => {
  it("takes nothing over from a thread that died in the middle of a group and had its slot", () => {
    const layout = memoryLayout(1, 1024 * 1024);
    const memory = createMemory(layout);
    new Uint8Array(memory.buffer, layout.arenas, layout.arenaBytes).fill(1);
    const buffer = memory.buffer as ArrayBufferLike as SharedArrayBuffer;
    new BrickCache(buffer, layout.cache, -1).initialise();
    const sampler = new Sampler(buffer, layout, 0, () => undefined);
    const scheme = createScheme("velocity", "None", axes, { fd8Legacy: false }, undefined);
    const found: number[] = [];
    for (let brick = 0; brick < 8; brick++) {
      for (let a = 0; a < 3; a++) sampler.positions[3 * brick + a] = 1 + 4 * ((brick >> a) & 1);
    }
    sampler.sample(
      { axes, scheme, sources: [source], frames: { frames: [0], weights: [1] }, sorted: false },
      8,
      (values, order, count) => {
        for (let i = 0; i < count; i++) found[order[i] as number] = values[3 * i] as number;
      },
      () => {},
    );
    expect(found).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });
});

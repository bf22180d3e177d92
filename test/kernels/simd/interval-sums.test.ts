/** The box average of the SIMD module against the plain one, alone and inside the filters: the same bits. */
import { describe, expect, it } from "vitest";
import { createBoxFilter } from "../../../src/kernels/filter/box-filter.js";
import { createIntervalSums, type IntervalWeights } from "../../../src/kernels/filter/interval-sums.js";
import type { BrickField, BrickReader, Triple } from "../../../src/kernels/types.js";
import { Arena, brickField, bricking, periodicAxes, randomNumbers } from "../../support/simd-memory.js";

const SEED = 8_388_593;

/** Random weights: some nodes without any, others with several. */
function randomWeights(nodes: number, intervals: number, random: () => number): IntervalWeights {
  const from = [0];
  const interval: number[] = [];
  const weight: number[] = [];
  for (let r = 0; r < nodes; r++) {
    for (let m = 0; m < intervals; m++) {
      if (random() < 0.4) continue;
      interval.push(m);
      weight.push(random() - 0.5);
    }
    from.push(interval.length);
  }
  return {
    from: Int32Array.from(from),
    interval: Int32Array.from(interval),
    weight: Float64Array.from(weight),
  };
}

describe("intervalSums in SIMD", () => {
  it.each([1, 3].flatMap((components) => [1, 2, 3, 8, 16].map((n) => ({ components, n }))))(
    "adds what the plain one adds: $components components, $n intervals",
    ({ components, n }) => {
      const random = randomNumbers(SEED);
      const arena = new Arena(2 ** 22);
      const { intervalSums } = arena.accelerator();
      const block = arena.floats(20 ** 3 * components);
      for (let i = 0; i < block.length; i++) block[i] = random() - 0.5;
      const data = new Float32Array(arena.memory.buffer);
      const corner = block.byteOffset / 4 + 7 * components;
      const weights = [0, 1, 2].map(() => randomWeights(14, n, random));
      const part = { first: Int32Array.of(2, 0, 5), length: Int32Array.of(11, 13, 9) };
      const plain = Float64Array.from({ length: n ** 3 * components }, random);
      const simd = plain.slice();
      createIntervalSums().add(data, corner, 20 * components, 400 * components, components, part, weights, n, plain);
      intervalSums.add(data, corner, 20 * components, 400 * components, components, part, weights, n, simd);
      expect(simd).toEqual(plain);
    },
  );

  it("leaves data outside the memory to the plain one", () => {
    const random = randomNumbers(SEED);
    const { intervalSums } = new Arena(2 ** 22).accelerator();
    const data = Float64Array.from({ length: 64 }, random);
    const weights = [0, 1, 2].map(() => randomWeights(4, 2, random));
    const part = { first: Int32Array.of(0, 0, 0), length: Int32Array.of(4, 4, 4) };
    const plain = new Float64Array(8);
    const simd = new Float64Array(8);
    createIntervalSums().add(data, 0, 4, 16, 1, part, weights, 2, plain);
    intervalSums.add(data, 0, 4, 16, 1, part, weights, 2, simd);
    expect(simd).toEqual(plain);
    expect(plain.some((sum) => sum !== 0)).toBe(true);
  });

  it.each([
    { kernel: "boxVelocity", size: 3, width: 5.3, nlayers: 3 },
    { kernel: "boxPressure", size: 1, width: 16, nlayers: 1 },
    { kernel: "boxVelocityGradient", size: 3, width: 8, nlayers: 2 },
    { kernel: "boxVelocity", size: 3, width: 31, nlayers: 5 },
  ])(
    "gives filters the same answers: $kernel over $width spacings, $nlayers layers",
    ({ kernel, size, width, nlayers }) => {
      const random = randomNumbers(SEED);
      const arena = new Arena(2 ** 22);
      const nodes: Triple = [20, 18, 23];
      const axes = periodicAxes(nodes, [0.1, 0.1, 0.1], [0, 0, 0]);
      const field = brickField(arena, nodes, bricking(nodes, [8, 8, 8]), size, random, () => random() - 0.5);
      const reader: BrickReader = {
        components: size,
        bricking: field.bricking,
        visit: (_frame, brick, use) => use(field.data, field.table[brick] as number),
      };
      const frames = { frames: [0], weights: [1] };
      const positions = Float64Array.from({ length: 9 }, () => 4 * random() - 1);
      const [plain, simd] = [undefined, arena.accelerator()].map((accelerator) => {
        const filter = createBoxFilter(kernel, axes, 0.1 * width, nlayers, accelerator);
        const out = new Float64Array(3 * filter.components * filter.itemsPerPoint);
        filter.evaluate([reader], frames, positions, 0, 3, out);
        return out;
      }) as [Float64Array, Float64Array];
      expect(simd).toEqual(plain);
      expect(plain.every((value) => value !== 0)).toBe(true);
    },
  );

  it.each([
    { kernel: "boxVelocity", size: 3, width: 5.3, nlayers: 3 },
    { kernel: "boxPressure", size: 1, width: 31, nlayers: 1 },
    { kernel: "boxVelocityGradient", size: 3, width: 8, nlayers: 2 },
    { kernel: "boxStress", size: 3, width: 8, nlayers: 2 },
  ])("combines frames before it filters: $kernel over $width spacings", ({ kernel, size, width, nlayers }) => {
    const random = randomNumbers(SEED);
    const arena = new Arena(2 ** 25);
    const nodes: Triple = [40, 38, 43];
    const axes = periodicAxes(nodes, [0.1, 0.1, 0.1], [0, 0, 0]);
    // One brick has more nodes than are combined at a time.
    const cut = bricking(nodes, [48, 32, 48]);
    const weights = [-0.0625, 0.5625, 0.5625, -0.0625];
    const value = (f: number, i: number, j: number, k: number, c: number) =>
      ((i * 7 + j * 5 + k * 3 + c * 11 + f * 13) % 64) - 31.5;
    const frames = weights.map((_, f) => brickField(arena, nodes, cut, size, random, (...at) => value(f, ...at)));
    frames.push(
      brickField(arena, nodes, cut, size, random, (...at) =>
        weights.reduce((sum, weight, f) => sum + weight * value(f, ...at), 0),
      ),
    );
    const reader: BrickReader = {
      components: size,
      bricking: cut,
      visit(frame, brick, use) {
        const { data, table } = frames[frame] as BrickField;
        use(data, table[brick] as number);
      },
    };
    const positions = Float64Array.from({ length: 9 }, () => 4 * random() - 1);
    for (const accelerator of [undefined, arena.accelerator()]) {
      const filter = createBoxFilter(kernel, axes, 0.1 * width, nlayers, accelerator);
      const [combined, expected] = [
        { frames: [0, 1, 2, 3], weights },
        { frames: [4], weights: [1] },
      ].map((times) => {
        const out = new Float64Array(3 * filter.components * filter.itemsPerPoint);
        filter.evaluate([reader], times, positions, 0, 3, out);
        return out;
      }) as [Float64Array, Float64Array];
      for (let i = 0; i < combined.length; i++)
        expect(Math.abs((combined[i] as number) - (expected[i] as number))).toBeLessThan(1e-10);
    }
  });
});

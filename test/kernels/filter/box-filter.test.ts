/** Box filters against published numbers and against the plain evaluation of every leaf. */
import { describe, expect, it } from "vitest";
import { checkFilter, createBoxFilter, itemsPerPoint, totalLayers } from "../../../src/kernels/filter/box-filter.js";
import type { Axes, BrickField, Triple } from "../../../src/kernels/types.js";
import { cosineAxis, endedAxis, fieldOf, periodicAxis, T16 } from "../fields.js";
import { filterByLeaves, readerOf } from "./filter-support.js";

const H = T16.axes[0].spacing;
const SHORT = Number(H.toPrecision(7));
const KERNELS = ["boxVelocity", "boxPressure", "boxVelocityGradient", "boxStress"] as const;
const STEADY = { frames: [0], weights: [1] };

function filterAt(
  kernel: string,
  axes: Axes,
  frames: readonly BrickField[],
  combination: { frames: readonly number[]; weights: readonly number[] },
  points: readonly Triple[],
  length: number,
  nlayers: number,
): number[] {
  const filter = createBoxFilter(kernel, axes, length, nlayers);
  const out = new Float64Array(points.length * filter.itemsPerPoint * filter.components).fill(777);
  const positions = Float64Array.from(points.flat());
  filter.evaluate([readerOf(frames)], combination, positions, 0, points.length, out);
  return [...out];
}

function fieldsFor(kernel: string, edge: Triple = [16, 16, 16], axes = T16.axes): BrickField {
  return kernel === "boxPressure" ? fieldOf(axes, 1, T16.pressure, edge) : fieldOf(axes, 3, T16.velocity, edge);
}

function expectClose(actual: readonly number[], expected: readonly number[], tolerance: number): void {
  expect(actual.length).toBe(expected.length);
  const worst = expected.reduce((most, value, i) => Math.max(most, Math.abs(value - (actual[i] as number))), 0);
  expect(worst).toBeLessThanOrEqual(tolerance);
}

describe("published answers at (1, 2, 3)", () => {
  it.each([
    ["boxVelocity", 2, 1, 1e-8, "0.97955461 0.16731149 -0.74633936"],
    [
      "boxVelocity",
      4,
      2,
      1e-8,
      "0.78943681 0.00186976 -0.75024629 0.93158977 0.09900069 -0.58976837 1.24435740 -0.17470478 -0.74921735 0.46822662 -0.01223570 -0.67075777 0.44520086 -0.19870350 -0.77938585 0.98576565 0.38679191 -0.69569628 1.33779386 -0.11261521 -0.85514526 0.46423822 0.18382832 -0.77668568 0.43832212 -0.15640363 -0.88531376",
    ],
    ["boxPressure", 3, 1, 1e-8, "-0.44935223"],
    ["boxStress", 4, 1, 1e-10, "0.1705669917 0.0653199980 0.0194138407 0.0064850533 0.0036005374 0.0045507495"],
  ] as const)("%s over %d spacings, %d layers", (kernel, spacings, nlayers, unit, printed) => {
    const values = filterAt(kernel, T16.axes, [fieldsFor(kernel)], STEADY, [T16.point], spacings * H, nlayers);
    const expected = printed.split(" ").map(Number);
    expectClose(values, expected, unit);
  });
});

describe("a cube as long as the spacing", () => {
  const [x, y, z] = [3 * H, 4 * H, 5 * H];
  it.each([
    ["boxVelocity", [...T16.velocity(x, y, z)], 1e-12],
    ["boxPressure", [...T16.pressure(x, y, z)], 1e-12],
    ["boxStress", [0, 0, 0, 0, 0, 0], 0],
  ] as const)("is one leaf: %s at a node is that of the node", (kernel, expected, tolerance) => {
    for (const length of [
      H,
      Math.fround(H),
      Math.fround(H) + 2 ** -25,
      SHORT,
      Number(H.toPrecision(7)) * (1 - 2 ** -24),
    ])
      expectClose(filterAt(kernel, T16.axes, [fieldsFor(kernel)], STEADY, [[x, y, z]], length, 1), expected, tolerance);
  });
});

describe("filter arguments", () => {
  it.each([
    [1.5, 1],
    [2, 1],
    [2.1, 2],
    [3, 2],
    [4, 2],
    [5, 3],
    [8, 3],
    [Math.fround(2 * H) / H, 1],
  ])("has as many layers as halvings: %d spacings, %d", (ratio, layers) => {
    expect(totalLayers(ratio * H, T16.axes)).toBe(layers);
  });

  it("counts 1, 9, 73, 585 records", () => {
    expect([1, 2, 3, 4].map(itemsPerPoint)).toEqual([1, 9, 73, 585]);
  });

  it.each([
    [4 * H, 0, "Invalid input of nlayers: 0"],
    [4 * H, -3, "Invalid input of nlayers: -3"],
    [
      0.5 * H,
      1,
      `Filter length is smaller than grid size. Filter calculation not operated. The least length is ${SHORT}.`,
    ],
    [
      Number.NaN,
      1,
      `Filter length is smaller than grid size. Filter calculation not operated. The least length is ${SHORT}.`,
    ],
    [
      H,
      2,
      `The input for nlayers exceeds the number of total layers, which is 1 for the length ${SHORT} and nodes ${SHORT} apart`,
    ],
    [0.99999 * H, 1, /^Filter length is smaller than grid size/],
    [4 * H, 3, /^The input for nlayers exceeds the number of total layers, which is 2 for the length /],
    [4 * H, 2, null],
  ])("judges length %d with %d layers", (length, nlayers, text) => {
    const found = checkFilter(length, nlayers, T16.axes);
    if (text instanceof RegExp) expect(found).toMatch(text);
    else expect(found).toBe(text);
    if (text !== null) expect(() => createBoxFilter("boxVelocity", T16.axes, length, nlayers)).toThrow(RangeError);
  });

  it("refuses tabulated axes and other kernels", () => {
    const axes: Axes = [T16.axes[0], cosineAxis(12), T16.axes[2]];
    expect(() => createBoxFilter("boxVelocity", axes, 2, 1)).toThrow("tabulated");
    expect(() => createBoxFilter("velocity", T16.axes, 4 * H, 1)).toThrow("velocity");
    expect(() => createBoxFilter("boxVelocity", T16.axes, Number.POSITIVE_INFINITY, 1)).toThrow("finite");
  });
});

describe("against every leaf", () => {
  // Lengths beyond 16 spacings exceed the period of this grid; blocks of 16 leaves are exceeded at 20.
  const lengths: readonly (readonly [number, readonly number[]])[] = [
    [1.3, [1]],
    [2.7, [1, 2]],
    [7.9, [1, 2, 3]],
    [13, [1, 2, 3, 4]],
  ];
  const edges: readonly Triple[] = [
    [16, 16, 16],
    [5, 7, 4],
  ];

  for (const kernel of KERNELS) {
    it(`${kernel}: all legal layers, two brickings, far and negative centres`, () => {
      for (const [ratio, layers] of lengths) {
        const centre: Triple = [1 - 40 * H * 16, -2.3, 3 + ratio];
        const most = layers.at(-1) as number;
        const oracle = filterByLeaves(kernel, T16.axes, [fieldsFor(kernel)], [1], centre, ratio * H, most, most);
        for (const nlayers of layers) {
          const size = (oracle.length * itemsPerPoint(nlayers)) / itemsPerPoint(most);
          for (const edge of edges) {
            const answer = filterAt(kernel, T16.axes, [fieldsFor(kernel, edge)], STEADY, [centre], ratio * H, nlayers);
            expectClose(answer, oracle.slice(0, size), 1e-10);
          }
        }
      }
    });

    it(`${kernel}: cubes larger than the period`, () => {
      const axes: Axes = [periodicAxis(8), periodicAxis(6), periodicAxis(5)];
      const length = 13 * Math.min(...axes.map((axis) => axis.spacing));
      const field = fieldsFor(kernel, [3, 6, 2], axes);
      const total = totalLayers(length, axes);
      const oracle = filterByLeaves(kernel, axes, [field], [1], [1, 2, 3], length, total, 2);
      expectClose(filterAt(kernel, axes, [field], STEADY, [[1, 2, 3]], length, 2), oracle, 1e-10);
    });
  }

  it("goes through cubes of more than 16 sub-cubes an edge in blocks", () => {
    const axes: Axes = [periodicAxis(8), periodicAxis(6), periodicAxis(5)];
    const length = 17 * Math.min(...axes.map((axis) => axis.spacing));
    for (const kernel of ["boxPressure", "boxStress"]) {
      const field = fieldsFor(kernel, [3, 6, 2], axes);
      const answer = filterAt(kernel, axes, [field], STEADY, [[1, 2, 3]], length, 5);
      const coarse = filterAt(kernel, axes, [field], STEADY, [[1, 2, 3]], length, 2);
      expect(answer.length).toBe((itemsPerPoint(5) * coarse.length) / 9);
      expectClose(answer.slice(0, coarse.length), coarse, 1e-12);
      const size = kernel === "boxStress" ? 6 : 1;
      const leaf = filterAt(
        kernel,
        axes,
        [field],
        STEADY,
        [[1 + length / 4, 2 - length / 4, 3 - length / 4]],
        length / 2,
        4,
      );
      // Octant 1 of the whole cube is the cube of half the side there: its records stand at place 1 of each layer.
      for (let layer = 0; layer < 4; layer++) {
        const [from, to] = [itemsPerPoint(layer), itemsPerPoint(layer + 1)];
        const place = itemsPerPoint(layer + 1) + 8 ** layer;
        expectClose(answer.slice(place * size, (place + to - from) * size), leaf.slice(from * size, to * size), 1e-12);
      }
    }
  });
});

describe("time, batches, NaN, walls", () => {
  const later = (kernel: string, edge: Triple) => {
    const field = fieldsFor(kernel, edge);
    return { ...field, data: field.data.map((value) => 2 * value * value - 1) };
  };

  it.each(KERNELS)("%s combines frames: means linearly, stress after the velocity", (kernel) => {
    const frames = [fieldsFor(kernel, [6, 6, 6]), later(kernel, [6, 6, 6])];
    const combination = { frames: [1, 0], weights: [0.375, 0.625] };
    const oracle = filterByLeaves(kernel, T16.axes, frames, [0.625, 0.375], T16.point, 3.5 * H, 2, 2);
    expectClose(filterAt(kernel, T16.axes, frames, combination, [T16.point], 3.5 * H, 2), oracle, 1e-10);
  });

  it.each(KERNELS)("%s gives a point the same bits alone and in a batch", (kernel) => {
    const field = fieldsFor(kernel, [6, 5, 4]);
    const points: Triple[] = [
      [1, 2, 3],
      [-4, 0.1, 9],
      [2, 2, 2],
    ];
    const together = filterAt(kernel, T16.axes, [field], STEADY, points, 5.2 * H, 2);
    const alone = points.flatMap((point) => filterAt(kernel, T16.axes, [field], STEADY, [point], 5.2 * H, 2));
    expect(together).toEqual(alone);
  });

  it.each(KERNELS)("%s passes NaN to those sub-cubes whose stencils hold it, and visits no other brick", (kernel) => {
    const field = fieldsFor(kernel, [2, 2, 2]);
    const finite = filterAt(kernel, T16.axes, [field], STEADY, [T16.point], 4 * H, 2);
    expect(finite.every(Number.isFinite)).toBe(true);
    for (let brick = 0; brick < field.table.length; brick++) {
      const data = field.data.slice();
      const from = field.table[brick] as number;
      data.fill(Number.NaN, from, from + 8 * field.components);
      const spoilt = { ...field, data };
      const oracle = filterByLeaves(kernel, T16.axes, [spoilt], [1], T16.point, 4 * H, 2, 2);
      const touched: number[] = [];
      const reader = readerOf([spoilt]);
      const watch = {
        ...reader,
        visit: (frame: number, index: number, use: Parameters<typeof reader.visit>[2]) => {
          touched.push(index);
          reader.visit(frame, index, use);
        },
      };
      const filter = createBoxFilter(kernel, T16.axes, 4 * H, 2);
      const out = new Float64Array(9 * filter.components);
      filter.evaluate([watch], STEADY, Float64Array.from(T16.point), 0, 1, out);
      expect([...out].map(Number.isNaN)).toEqual(oracle.map(Number.isNaN));
      expect(touched.includes(brick)).toBe(oracle.some(Number.isNaN));
    }
  });

  it("ends early when told to", () => {
    const filter = createBoxFilter("boxPressure", T16.axes, 4 * H, 1);
    const out = new Float64Array(3).fill(5);
    const positions = new Float64Array(9);
    let polls = 0;
    const stop = () => polls++ >= 2;
    filter.evaluate([readerOf([fieldsFor("boxPressure")])], STEADY, positions, 0, 3, out, stop);
    expect([...out].map((value) => value === 5)).toEqual([false, false, true]);
  });

  it("knows whether all stencils lie inside an axis with ends, and is then right there", () => {
    const axes: Axes = [periodicAxis(16), endedAxis(16, 15 * H, -1), periodicAxis(16)];
    const length = 4 * H;
    for (const kernel of KERNELS) {
      const reach = kernel === "boxVelocityGradient" ? 3 : 1;
      const filter = createBoxFilter(kernel, axes, length, 1);
      const lowest = -1 + reach * H + 1.5 * H;
      const highest = -1 + 15 * H - reach * H - 1.5 * H;
      expect(filter.boxInside([99, lowest + 1e-9, -99])).toBe(true);
      expect(filter.boxInside([0, lowest - 1e-6, 0])).toBe(false);
      expect(filter.boxInside([0, highest - 1e-6, 0])).toBe(true);
      expect(filter.boxInside([0, highest + 1e-6, 0])).toBe(false);
      const field = fieldsFor(kernel, [4, 5, 6], axes);
      const centre: Triple = [0.3, lowest + 1e-9, 0.7];
      const oracle = filterByLeaves(kernel, axes, [field], [1], centre, length, 2, 1);
      expectClose(filterAt(kernel, axes, [field], STEADY, [centre], length, 1), oracle, 1e-10);
    }
  });
});

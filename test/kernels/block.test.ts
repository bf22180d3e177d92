/** Fields in bricks: the same bits for every bricking, bricks needed and bricks named, every point alone. */
import { describe, expect, it } from "vitest";
import { createScheme } from "../../src/kernels/index.js";
import { POINT_KERNELS, type PointKernel } from "../../src/kernels/table.js";
import type { Axes, BrickField, Scheme, Triple } from "../../src/kernels/types.js";
import {
  cosineAxis,
  endedAxis,
  fieldByNode,
  fieldOf,
  methodsOf,
  periodicAxis,
  rough,
  scatter,
  T16,
  tabulatedAxis,
  valuesAt,
} from "./fields.js";

const kernelOf = (name: string): PointKernel => POINT_KERNELS.get(name) as PointKernel;

const PLAIN = { fd8Legacy: false };
const SCHEMES = [
  ...["velocity", "velocityPressure", "velocityGradient", "pressureHessian", "velocityLaplacian"].flatMap((kernel) =>
    methodsOf(kernelOf(kernel).quantity).map((method) => [kernel, method] as const),
  ),
  ["velocityPressure", "M3Q10"],
  ["velocityGradient", "M1Q4"],
  ["velocityGradient", "M2Q8"],
  ["pressureHessian", "M2Q6"],
] as const;

const GRIDS: readonly (readonly [string, Axes])[] = [
  ["periodic", [periodicAxis(12), periodicAxis(11, 3, -1), periodicAxis(10, 5)]],
  ["channel", [periodicAxis(12), cosineAxis(14), periodicAxis(10)]],
  ["cutout", [endedAxis(12, 2), endedAxis(13, 3, -1), endedAxis(14, 1, 7)]],
  ["mixed", [tabulatedAxis([0, 1, 3, 4, 4.5, 6, 7, 9, 10, 12, 13]), periodicAxis(9), endedAxis(11, 1)]],
];

function fieldsOf(kernel: string, axes: Axes, edge?: Triple): BrickField[] {
  return kernelOf(kernel).sizes.map((size) => fieldByNode(axes, size, rough, edge));
}

function bricksOf(scheme: Scheme, field: BrickField, points: readonly Triple[]): number[] {
  const bricks = field.table.length;
  const marks = new Uint8Array(bricks);
  const list = new Int32Array(bricks);
  const positions = Float64Array.from(points.flat());
  const length = scheme.listBricks(field.bricking, positions, 0, points.length, marks, list, 0);
  expect([...list.subarray(0, length)].every((brick) => marks[brick] === 1)).toBe(true);
  expect(marks.reduce((sum, mark) => sum + mark, 0)).toBe(length);
  return [...list.subarray(0, length)];
}

describe.each(GRIDS)("on a %s grid", (_name, axes) => {
  const points = scatter(axes, 40);

  it.each(SCHEMES)("%s by %s gives the same bits for every bricking", (kernel, method) => {
    const whole = valuesAt(createScheme(kernel, method, axes, PLAIN), fieldsOf(kernel, axes), points);
    expect(whole.flat().every(Number.isFinite)).toBe(true);
    for (const edge of [
      [5, 4, 3],
      [1, 1, 1],
      [16, 7, 16],
    ] as Triple[]) {
      expect(valuesAt(createScheme(kernel, method, axes, PLAIN), fieldsOf(kernel, axes, edge), points)).toEqual(whole);
    }
  });

  it.each(SCHEMES)("%s by %s needs the bricks of its cover, all of them and no other", (kernel, method) => {
    const scheme = createScheme(kernel, method, axes, PLAIN);
    const edge: Triple = [3, 2, 4];
    const fields = fieldsOf(kernel, axes, edge);
    for (const point of points.slice(0, 8)) {
      const cover = bricksOf(scheme, fields[0] as BrickField, [point]);
      const atHand = fields.map((field) => {
        const table = field.table.map((offset, brick) => (cover.includes(brick) ? offset : -1));
        return { ...field, table };
      });
      expect(valuesAt(scheme, atHand, [point])).toEqual(valuesAt(scheme, fields, [point]));
      for (const brick of cover) {
        const spoilt = fields.map((field) => {
          const data = field.data.slice();
          const from = field.table[brick] as number;
          data.fill(Number.NaN, from, from + edge[0] * edge[1] * edge[2] * field.components);
          return { ...field, data };
        });
        expect(valuesAt(scheme, spoilt, [point]).flat().some(Number.isNaN)).toBe(true);
      }
    }
  });

  it.each(SCHEMES)("%s by %s treats every point alone", (kernel, method) => {
    const scheme = createScheme(kernel, method, axes, PLAIN);
    const fields = fieldsOf(kernel, axes, [4, 5, 6]);
    const together = valuesAt(scheme, fields, points);
    expect(valuesAt(scheme, fields, [...points].reverse()).reverse()).toEqual(together);
    const out = new Float64Array(points.length * scheme.components).fill(-7);
    scheme.evaluate(fields, Float64Array.from(points.flat()), 5, 3, out);
    const part = [...out].slice(5 * scheme.components, 8 * scheme.components);
    expect(part).toEqual(together.slice(5, 8).flat());
    expect([...out].filter((value) => value === -7)).toHaveLength(out.length - part.length);
  });
});

describe("cover", () => {
  it("appends only bricks that are not marked yet", () => {
    const axes = GRIDS[0]?.[1] as Axes;
    const scheme = createScheme("velocity", "Lag4", axes, PLAIN);
    const field = fieldByNode(axes, 3, rough, [4, 4, 4]);
    const marks = new Uint8Array(field.table.length);
    const list = new Int32Array(field.table.length + 1).fill(-5);
    const positions = Float64Array.from(scatter(axes, 20).flat());
    const some = scheme.listBricks(field.bricking, positions, 0, 3, marks, list, 1);
    expect(scheme.listBricks(field.bricking, positions, 0, 3, marks, list, some)).toBe(some);
    const more = scheme.listBricks(field.bricking, positions, 0, 20, marks, list, some);
    expect(new Set(list.subarray(1, more)).size).toBe(more - 1);
    expect(list[0]).toBe(-5);
  });

  it("is one brick for a stencil inside one, and evaluation refuses when that is not at hand", () => {
    const scheme = createScheme("velocity", "Lag8", T16.axes, PLAIN);
    const field = fieldOf(T16.axes, 3, T16.velocity);
    expect(bricksOf(scheme, field, [[3, 3, 3]])).toEqual([0]);
    const absent = { ...field, table: Int32Array.of(-1) };
    expect(() => valuesAt(scheme, [absent], [[3, 3, 3]])).toThrow("not at hand");
  });
});

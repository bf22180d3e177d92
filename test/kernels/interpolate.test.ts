/** Point schemes and the grid beneath them: bricks, seams, walls, coverage, NaN, far coordinates, order of points. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Axes, BrickField, Scheme, Triple } from "../../src/kernels/field.js";
import { createScheme, KERNELS } from "../../src/kernels/index.js";
import { cosineAxis, endedAxis, fieldByNode, fieldOf, periodicAxis, T16, tabulatedAxis, valuesAt } from "./fields.js";

const PLAIN = { fd8Legacy: false };
const SCHEMES = ["velocity", "velocityPressure", "velocityGradient", "pressureHessian", "velocityLaplacian"].flatMap(
  (kernel) => KERNELS[kernel as keyof typeof KERNELS].methods.map((method) => [kernel, method] as const),
);

const GRIDS: readonly (readonly [string, Axes])[] = [
  ["periodic", [periodicAxis(12), periodicAxis(11, 3, -1), periodicAxis(10, 5)]],
  ["channel", [periodicAxis(12), cosineAxis(14), periodicAxis(10)]],
  ["cutout", [endedAxis(12, 2), endedAxis(13, 3, -1), endedAxis(14, 1, 7)]],
  ["mixed", [tabulatedAxis([0, 1, 3, 4, 4.5, 6, 7, 9, 10, 12, 13]), periodicAxis(9), endedAxis(11, 1)]],
];

/** A rough but finite field, the same for every bricking. */
const rough = (i: number, j: number, k: number, c: number) =>
  Math.sin(12.9898 * i + 78.233 * j + 37.719 * k + 3 * c * c);

function fieldsOf(kernel: string, axes: Axes, edge?: Triple): BrickField[] {
  return KERNELS[kernel as keyof typeof KERNELS].fields.map((name) =>
    fieldByNode(axes, name === "pressure" ? 1 : 3, rough, edge),
  );
}

/** Points all over the grid, on nodes and faces too; beyond the ends of periodic axes. */
function scatter(axes: Axes, count: number): Triple[] {
  return Array.from({ length: count }, (_, n) => {
    const share = (s: number) => Math.abs(Math.sin(s * (n + 1)));
    return axes.map((axis, a) => {
      const length = axis.coordinates ? axis.coordinates[axis.nodes - 1] : (axis.nodes - 1) * axis.spacing;
      const start = axis.coordinates?.[0] ?? axis.origin;
      if (n % 7 === 0) return start + (n % 2) * (length as number);
      if (axis.periodic) return start + (share(3 + a) * 6 - 3) * (length as number);
      return start + share(5 + a) * ((length as number) - start * (axis.coordinates ? 1 : 0));
    }) as unknown as Triple;
  });
}

function bricksOf(scheme: Scheme, field: BrickField, points: readonly Triple[]): number[] {
  const bricks = field.table.length;
  const marks = new Uint8Array(bricks);
  const list = new Int32Array(bricks);
  const positions = Float64Array.from(points.flat());
  const length = scheme.cover(field.bricking, positions, 0, points.length, marks, list, 0);
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
      const bricked = valuesAt(createScheme(kernel, method, axes, PLAIN), fieldsOf(kernel, axes, edge), points);
      expect(bricked).toEqual(whole);
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
    const backward = valuesAt(scheme, fields, [...points].reverse()).reverse();
    expect(backward).toEqual(together);
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
    const some = scheme.cover(field.bricking, positions, 0, 3, marks, list, 1);
    const again = scheme.cover(field.bricking, positions, 0, 3, marks, list, some);
    expect(again).toBe(some);
    const more = scheme.cover(field.bricking, positions, 0, 20, marks, list, some);
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

describe("NaN", () => {
  it("reaches exactly the points whose stencil holds the node, weight 0 or not, and only its component", () => {
    const axes: Axes = [periodicAxis(12, 12), periodicAxis(12, 12), periodicAxis(12, 12)];
    const value = (i: number, j: number, k: number, c: number) =>
      i === 5 && j === 5 && k === 5 && c === 1 ? Number.NaN : rough(i, j, k, c);
    const field = fieldByNode(axes, 3, value, [5, 5, 5]);
    const hit = (kernel: string, method: string, x: number, y = 5, z = 5) =>
      (valuesAt(createScheme(kernel, method, axes, PLAIN), [field], [[x, y, z]])[0] as number[]).map(Number.isNaN);
    for (const [method, below, above] of [
      ["None", 0.5, 0.49],
      ["Lag4", 2, 1.99],
      ["Lag6", 3, 2.99],
      ["Lag8", 4, 3.99],
    ] as const) {
      expect(hit("velocity", method, 5 - below)).toEqual([false, true, false]);
      expect(hit("velocity", method, 5 - below - 0.01)).toEqual([false, false, false]);
      expect(hit("velocity", method, 5 + above)[1]).toBe(true);
      expect(hit("velocity", method, 5 + above + 0.01)[1]).toBe(false);
    }
    // The centre is no node of a centred first difference; it is one of a second difference.
    expect(hit("velocityGradient", "None_Fd4", 5).some(Boolean)).toBe(false);
    expect(hit("velocityLaplacian", "None_Fd4", 5)).toEqual([false, true, false]);
    expect(hit("velocityGradient", "None_Fd4", 7)).toEqual([
      false,
      false,
      false,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(hit("velocityGradient", "None_Fd4", 8).some(Boolean)).toBe(false);
    // Mixed derivatives read the diagonals of their plane: not the axes, not between.
    const mixed = (x: number, y: number) => hit("velocityHessian", "None_Fd6", x, y).slice(6, 12);
    expect(mixed(7, 7)).toEqual([false, true, false, false, false, false]);
    expect(mixed(7, 6)).toEqual([false, false, false, false, false, false]);
    expect(mixed(5, 8)).toEqual([false, false, false, true, false, false]);
    // The fused kernel reads 8 nodes along the derivative and 4 across.
    expect(hit("velocityGradient", "Fd4Lag4", 8.5)).toEqual([
      false,
      false,
      false,
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
    expect(hit("velocityGradient", "Fd4Lag4", 9).some(Boolean)).toBe(false);
    expect(hit("velocityGradient", "Fd4Lag4", 5, 8.5)).toEqual([
      false,
      false,
      false,
      false,
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});

describe("positions", () => {
  const fields = [fieldOf(T16.axes, 3, T16.velocity, [6, 6, 6])];

  it.each(SCHEMES.filter(([kernel]) => kernel === "velocity" || kernel === "velocityGradient"))(
    "%s by %s repeats with the period, also far away and below zero",
    (kernel, method) => {
      const scheme = createScheme(kernel, method, T16.axes, PLAIN);
      const [home] = valuesAt(scheme, fields, [T16.point]);
      for (const periods of [1, -1, 1000, -4096]) {
        const [away] = valuesAt(scheme, fields, [T16.point.map((x) => x + periods * 2 * Math.PI) as unknown as Triple]);
        away?.forEach((value, c) => {
          expect(Math.abs(value - (home?.[c] as number))).toBeLessThan(1e-10);
        });
      }
    },
  );

  it("follows the field when both are moved by whole nodes", () => {
    const axes: Axes = [periodicAxis(16, 16), periodicAxis(12, 12), periodicAxis(10, 10)];
    const move: Triple = [5, 7, 3];
    const moved = fieldByNode(axes, 3, (i, j, k, c) =>
      rough((i + 16 - 5) % 16, (j + 12 - 7) % 12, (k + 10 - 3) % 10, c),
    );
    for (const [kernel, method] of [
      ["velocity", "Lag6"],
      ["velocityHessian", "Fd4Lag4"],
    ] as const) {
      const scheme = createScheme(kernel, method, axes, PLAIN);
      const point: Triple = [3.25, 9.5, 8.75];
      const there = point.map((x, a) => x + (move[a] as number)) as unknown as Triple;
      expect(valuesAt(scheme, [moved], [there])).toEqual(valuesAt(scheme, [fieldByNode(axes, 3, rough)], [point]));
    }
  });

  it("gives finite values for every finite float32", () => {
    const scheme = createScheme("velocity", "Lag8", T16.axes, PLAIN);
    const coordinate = fc.float({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(coordinate, coordinate, coordinate, (x, y, z) => {
        expect(
          valuesAt(scheme, fields, [[x, y, z]])
            .flat()
            .every(Number.isFinite),
        ).toBe(true);
      }),
    );
  });

  it("returns node values on nodes, bit for bit", () => {
    const axes: Axes = [periodicAxis(16, 16), endedAxis(10, 9), cosineAxis(9)];
    const field = fieldByNode(axes, 3, rough, [4, 4, 4]);
    for (const method of KERNELS.velocity.methods) {
      const scheme = createScheme("velocity", method, axes, PLAIN);
      for (const [i, j, k] of [
        [0, 0, 0],
        [15, 9, 8],
        [7, 4, 4],
        [3, 1, 7],
      ] as Triple[]) {
        const z = axes[2].coordinates?.[k] as number;
        expect(valuesAt(scheme, [field], [[i, j, z]])).toEqual([[0, 1, 2].map((c) => rough(i, j, k, c))]);
      }
    }
  });

  it("takes fields of different bricking together", () => {
    const velocity = fieldOf(T16.axes, 3, T16.velocity, [5, 5, 5]);
    const pressure = fieldOf(T16.axes, 1, T16.pressure, [16, 3, 7]);
    const whole = [fieldOf(T16.axes, 3, T16.velocity), fieldOf(T16.axes, 1, T16.pressure)];
    const scheme = createScheme("velocityPressure", "Lag8", T16.axes, PLAIN);
    const points = scatter(T16.axes, 30);
    expect(valuesAt(scheme, [velocity, pressure], points)).toEqual(valuesAt(scheme, whole, points));
  });

  it("reads float32 nodes as the numbers they are", () => {
    const rounded = { ...(fields[0] as BrickField) };
    const single = { ...rounded, data: Float32Array.from(rounded.data) };
    const double = { ...rounded, data: Float64Array.from(single.data) };
    const scheme = createScheme("velocityGradient", "Fd4Lag4", T16.axes, PLAIN);
    const points = scatter(T16.axes, 20);
    expect(valuesAt(scheme, [single], points)).toEqual(valuesAt(scheme, [double], points));
  });
});

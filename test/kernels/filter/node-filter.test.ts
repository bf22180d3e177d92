/**
 * Filters over cubes of nodes: published answers, brute force, the same bits alone and among others, what they read.
 */
import { describe, expect, it } from "vitest";
import { createNodeFilter, type FilterQuantity, filterNodes } from "../../../src/kernels/filter/node-filter.js";
import type { Axes, BrickField, BrickReader, Triple } from "../../../src/kernels/types.js";
import { readerOf, readTurbulence } from "../../support/isotropic.js";
import { generator } from "../../support/run-query.js";
import { SYMMETRIC } from "../../support/symmetric.js";
import { cosineAxis, endedAxis, fieldByNode, fieldOf, periodicAxis, rough, T16 } from "../fields.js";

const turbulence = await readTurbulence(0.4);

const numbers = (text: string) => text.trim().split(/\s+/).map(Number);

function answers(
  quantity: FilterQuantity,
  axes: Axes,
  width: number,
  fields: readonly BrickField[],
  points: readonly Triple[],
  step = 0,
): number[][] {
  const sizes = fields.map(({ components }) => components as 1 | 3);
  const filter = createNodeFilter(quantity, axes, width, sizes, step);
  const out = new Float64Array(filter.components * points.length);
  filter.evaluate(fields.map(readerOf), 0, Float64Array.from(points.flat()), 0, points.length, out);
  return points.map((_, i) => [...out.subarray(filter.components * i, filter.components * (i + 1))]);
}

function expectNear(actual: readonly number[], expected: readonly number[], unit: number): void {
  expect(actual).toHaveLength(expected.length);
  expected.forEach((value, i) => {
    expect(Math.abs((actual[i] as number) - value), `number ${i}`).toBeLessThanOrEqual(unit);
  });
}

it.each([
  [0.4, 1],
  [1.99, 1],
  [2, 1],
  [2.01, 3],
  [3.5, 3],
  [4, 3],
  [4.2, 5],
])("a width of %d spacings is %d nodes, also when known to float32 only", (ratio, nodes) => {
  expect(filterNodes(ratio, 1)).toBe(nodes);
  const spacing = (2 * Math.PI) / 1024;
  expect(filterNodes(Math.fround(ratio * spacing), spacing)).toBe(nodes);
});

it("takes an even number of spacings down to the odd number below, whichever of the two was rounded to float32", () => {
  for (let nodes = 32; nodes <= 4096; nodes += 7) {
    const spacing = (2 * Math.PI) / nodes;
    for (const even of [2, 4, 6, 10, 14]) {
      expect(filterNodes(Math.fround(even * spacing), Math.fround(spacing)), `${even} of ${nodes}`).toBe(even - 1);
      expect(filterNodes(Math.fround(even * Math.fround(spacing)), spacing), `${even} of ${nodes}`).toBe(even - 1);
    }
  }
});

describe("published answers", () => {
  const velocity = fieldOf(T16.axes, 3, T16.velocity, [5, 16, 7]);
  const pressure = fieldOf(T16.axes, 1, T16.pressure);
  const at = (quantity: FilterQuantity, width: number, fields: readonly BrickField[], step = 0) =>
    answers(quantity, T16.axes, width, fields, [T16.point], step)[0] as number[];

  it.each([
    ["mean", 3, 0, "0.9737167654 0.0063736660 -0.7995405358"],
    ["mean", 5, 0, "0.7291856030 -0.1259656454 -0.7717327206"],
    ["covariance", 5, 0, "0.1961135697 0.0729586246 0.0385205829 0.0036399604 -0.0021168807 0.0141671796"],
    ["gradient", 3, 1, "0.1912153905 -0.8529898663 0 -0.6031549188 -0.1034850236 0 -0.2695771876 -0.0604313243 0"],
    ["gradient", 3, 2, "0.1766599856 -0.6031549188 0 -0.5572424844 -0.0956076953 0 -0.1906198574 -0.0558312636 0"],
  ] as const)("on analytic data: %s of %d nodes, step %d", (quantity, width, step, printed) => {
    expectNear(at(quantity, width, [velocity], step), numbers(printed), 1e-10);
  });

  it("on analytic data: pressure", () => {
    expectNear(at("mean", 3, [pressure]), [-0.3347935092], 1e-10);
    expectNear(at("mean", 5, [pressure]), [-0.2306229939], 1e-10);
  });

  describe("on the shipped turbulence", () => {
    const shipped = (quantity: FilterQuantity, names: readonly ("velocity" | "pressure")[], step = 0) => {
      const fields = names.map((name) => turbulence[name]);
      return answers(quantity, turbulence.axes, 7, fields, [[1, 2, 3]], step)[0] as number[];
    };

    it.each([
      ["mean", ["velocity"], 0, "-0.05669076 -0.13494397 0.34448779"],
      ["mean", ["pressure"], 0, "0.50638366"],
      ["covariance", ["velocity"], 0, "0.01232081 0.13522324 0.26078223 -0.00467428 0.02625300 -0.12568958"],
      ["covariance", ["velocity", "pressure"], 0, "-0.00110903 0.02532776 -0.02161662"],
      ["covariance", ["pressure"], 0, "0.01209502"],
      [
        "gradient",
        ["velocity"],
        4,
        "-0.03930672 0.08153304 0.11931185 -0.44834801 -0.03098942 0.51989997 0.72413113 0.60076638 0.09740727",
      ],
    ] as const)("%s of %s, step %d", (quantity, names, step, printed) => {
      expectNear(shipped(quantity, names, step), numbers(printed), 1e-8);
    });
  });
});

function bruteForce(
  axes: Axes,
  node: Triple,
  width: number,
  sizes: readonly number[],
): { mean: number[]; covariance: number[][] } {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const reach = (width - 1) / 2;
  const rows: number[][] = [];
  for (let k = -reach; k <= reach; k++) {
    for (let j = -reach; j <= reach; j++) {
      for (let i = -reach; i <= reach; i++) {
        const [x, y, z] = [i, j, k].map((offset, a) => {
          const { nodes } = axes[a] as Axes[0];
          return (((node[a] as number) + offset + nodes) % nodes) as number;
        }) as [number, number, number];
        rows.push(sizes.flatMap((size, f) => Array.from({ length: size }, (_, c) => rough(x, y, z, c + 5 * f))));
      }
    }
  }
  const meanOf = (of: (row: number[]) => number) => rows.reduce((sum, row) => sum + of(row), 0) / rows.length;
  const mean = Array.from({ length: total }, (_, c) => meanOf((row) => row[c] as number));
  const covariance = mean.map((a, i) =>
    mean.map((b, j) => meanOf((row) => ((row[i] as number) - a) * ((row[j] as number) - b))),
  );
  return { mean, covariance };
}

const AXES: Axes = [periodicAxis(23, 23), endedAxis(26, 25), periodicAxis(19, 19)];
const cloud = (count: number, seed: number, low: number, high: number): Triple[] => {
  const random = generator(seed);
  return Array.from({ length: count }, () => [60 * random() - 20, low + (high - low) * random(), 40 * random()]);
};

describe.each([1, 3, 7, 15])("cubes of %d nodes", (width) => {
  const reach = (width - 1) / 2;
  const points = cloud(150, width, reach, 25 - reach);
  const nodeOf = (point: Triple): Triple =>
    point.map((x, a) => {
      const node = Math.floor(x + 0.5);
      const { nodes } = AXES[a] as Axes[0];
      return ((node % nodes) + nodes) % nodes;
    }) as unknown as Triple;
  const fields = (edge?: Triple) => [
    fieldByNode(AXES, 3, rough, edge),
    fieldByNode(AXES, 3, (i, j, k, c) => rough(i, j, k, c + 5), edge && [edge[2], edge[0], edge[1]]),
    fieldByNode(AXES, 1, (i, j, k, c) => rough(i, j, k, c + 5)),
  ];

  it("give means and covariances by definition", () => {
    const [u, b, p] = fields([5, 8, 4]) as [BrickField, BrickField, BrickField];
    const cases = [
      { quantity: "mean", of: [u], sizes: [3], pick: (m: number[]) => m },
      { quantity: "covariance", of: [u], sizes: [3], pick: (_: number[], c: number[][]) => symmetric(c) },
      {
        quantity: "covariance",
        of: [u, b],
        sizes: [3, 3],
        pick: (_: number[], c: number[][]) => c.slice(0, 3).flatMap((row) => row.slice(3)),
      },
      {
        quantity: "covariance",
        of: [u, p],
        sizes: [3, 1],
        pick: (_: number[], c: number[][]) => c.slice(0, 3).map((row) => row[3] as number),
      },
    ] as const;
    for (const { quantity, of, sizes, pick } of cases) {
      const actual = answers(quantity, AXES, width, of, points.slice(0, 40));
      points.slice(0, 40).forEach((point, i) => {
        const { mean, covariance } = bruteForce(AXES, nodeOf(point), width, sizes);
        expectNear(actual[i] as number[], pick(mean, covariance), 1e-13);
      });
    }
  });

  it("give the covariance of a scalar and a vector in either order", () => {
    const [u, , p] = fields() as [BrickField, BrickField, BrickField];
    const [a, b] = [
      [p, u],
      [u, p],
    ].map((of) => answers("covariance", AXES, width, of, points.slice(0, 20)));
    expect(a).toEqual(b);
  });

  it("have the same bits alone, among others, in any order and for any bricks", () => {
    const [u, , p] = fields() as [BrickField, BrickField, BrickField];
    const [cut] = fields([5, 8, 4]) as [BrickField];
    for (const [quantity, of, other, step] of [
      ["mean", [u], [cut], 0],
      ["covariance", [u, p], [cut, p], 0],
      ["gradient", [u], [cut], 2],
    ] as const) {
      const inside = cloud(150, width, reach + step, 25 - reach - step);
      const together = answers(quantity, AXES, width, of, inside, step);
      expect(answers(quantity, AXES, width, other, [...inside].reverse(), step).reverse()).toEqual(together);
      const alone = inside.slice(0, 25).flatMap((point) => answers(quantity, AXES, width, of, [point], step));
      expect(alone).toEqual(together.slice(0, 25));
      // So many points that neighbours share running sums.
      const dense = [...inside, ...cloud(4000, width + 1, reach + step, 25 - reach - step)];
      expect(answers(quantity, AXES, width, of, dense, step).slice(0, 150)).toEqual(together);
    }
  });
});

const symmetric = (c: number[][]): number[] => SYMMETRIC.map(([i, j]) => (c[i] as number[])[j] as number);

it("passes NaN to those cubes that hold it, and visits no brick beyond", () => {
  const axes: Axes = [periodicAxis(32, 32), periodicAxis(32, 32), periodicAxis(32, 32)];
  const field = fieldByNode(axes, 1, (i, j, k) => (i === 8 && j === 9 && k === 10 ? Number.NaN : 1), [8, 8, 8]);
  const visited = new Set<number>();
  const inner = readerOf(field);
  const reader: BrickReader = {
    ...inner,
    visit: (frame, brick, use) => {
      visited.add(brick);
      inner.visit(frame, brick, use);
    },
  };
  const filter = createNodeFilter("mean", axes, 5, [1]);
  const out = new Float64Array(2);
  filter.evaluate([reader], 0, Float64Array.of(10, 11, 12, 11, 11, 12), 0, 2, out);
  expect([...out]).toEqual([Number.NaN, 1]);
  expect([...visited]).toEqual([21]);
});

it("ends between pieces of work when it is stopped", () => {
  const field = fieldByNode(T16.axes, 1, () => 1);
  const filter = createNodeFilter("mean", T16.axes, 15, [1]);
  const out = new Float64Array(1);
  let polls = 0;
  filter.evaluate([readerOf(field)], 0, Float64Array.of(1, 2, 3), 0, 1, out, () => polls++ >= 0);
  expect(polls).toBeGreaterThan(0);
  expect(out[0]).toBe(0);
});

it("knows cubes that leave axes with ends, and refuses tabulated axes and axes that are too short", () => {
  const axes: Axes = [periodicAxis(16), endedAxis(16, 15), periodicAxis(16)];
  const filter = createNodeFilter("gradient", axes, 5, [3], 2);
  expect([3.4, 3.6, 11.4, 11.6].map((y) => filter.boxInside([100, y, -3]))).toEqual([false, true, true, false]);
  expect(() => createNodeFilter("mean", [axes[0], cosineAxis(16), axes[2]], 5, [3])).toThrow(RangeError);
  expect(() => createNodeFilter("mean", axes, 17, [3])).toThrow(RangeError);
});

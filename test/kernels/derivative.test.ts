/** Derivatives: every stencil weight against the definition in two stages. */
import { describe, expect, it } from "vitest";
import { createScheme } from "../../src/kernels/index.js";
import { createAxisWeights } from "../../src/kernels/lagrange.js";
import type { Axes, Axis, Triple } from "../../src/kernels/types.js";
import { LAPLACIAN_METHODS } from "../../src/shared/operations.js";
import {
  cosineAxis,
  endedAxis,
  fieldByNode,
  nodeAt,
  periodicAxis,
  rough,
  scatter,
  tabulatedAxis,
  valuesAt,
} from "./fields.js";
import { derivativeByDefinition } from "./two-stage.js";

const METHODS: readonly string[] = LAPLACIAN_METHODS;
const OPTIONS = METHODS.flatMap((method) =>
  method === "None_Fd8"
    ? [
        [method, false],
        [method, true],
      ]
    : [[method, false]],
) as [string, boolean][];
const LAYOUTS = { gradient: "pressureGradient", hessian: "pressureHessian", laplacian: "velocityLaplacian" } as const;

describe("weights", () => {
  const N = 10;
  const axes: Axes = [periodicAxis(N, 1), periodicAxis(N, 2), periodicAxis(N, 3)];
  const spacings = axes.map((axis) => axis.spacing);
  // Cells 9, 9 and 0: every stencil passes the seam on all three axes.
  const point: Triple = [0.93, 1.99, 0.11];

  for (const [layout, kernel] of Object.entries(LAYOUTS)) {
    it.each(OPTIONS)(
      `${layout} by %s (legacy %s): a field that is 1 at a single node reads off each`,
      (method, fd8Legacy) => {
        const scheme = createScheme(kernel, method, axes, { fd8Legacy });
        const size = layout === "laplacian" ? 3 : 1;
        const field = fieldByNode(axes, size, () => 0, [4, 10, 3]);
        const scale = 1 / Math.min(...spacings) ** (layout === "gradient" ? 1 : 2);
        let nonzero = 0;
        for (let node = 0; node < N ** 3; node++) {
          const [a, b, c] = [node % N, Math.floor(node / N) % N, Math.floor(node / N ** 2)] as Triple;
          const single = (i: number, j: number, k: number) =>
            (i - a) % N === 0 && (j - b) % N === 0 && (k - c) % N === 0 ? 1 : 0;
          const [ex, ey, ez] = field.bricking.edge;
          const brick =
            (Math.floor(c / ez) * field.bricking.count[1] + Math.floor(b / ey)) * field.bricking.count[0] +
            Math.floor(a / ex);
          const at = (field.table[brick] as number) + (((c % ez) * ey + (b % ey)) * ex + (a % ex)) * size;
          field.data[at] = 1;
          const [values] = valuesAt(scheme, [field], [point]);
          field.data[at] = 0;
          const expected = derivativeByDefinition(
            single,
            layout as keyof typeof LAYOUTS,
            method,
            fd8Legacy,
            spacings,
            point,
          );
          expected.forEach((value, i) => {
            if (value !== 0) nonzero++;
            expect(Math.abs((values?.[i] as number) - value)).toBeLessThan(1e-13 * scale);
          });
        }
        expect(nonzero).toBeGreaterThanOrEqual(12);
      },
    );
  }
});

describe("Fd4Lag4", () => {
  it.each(Object.entries(LAYOUTS))(
    "%s equals its two stages to 1e-12 on a rough field, at many points",
    (layout, kernel) => {
      const axes: Axes = [periodicAxis(12), periodicAxis(10), periodicAxis(9)];
      const rough = (i: number, j: number, k: number) => Math.sin(12.9898 * i + 78.233 * j + 37.719 * k * (k + 1));
      const wrapped = (i: number, j: number, k: number) =>
        rough(((i % 12) + 12) % 12, ((j % 10) + 10) % 10, ((k % 9) + 9) % 9);
      const size = layout === "laplacian" ? 3 : 1;
      const field = fieldByNode(axes, size, rough, [5, 4, 9]);
      const scheme = createScheme(kernel, "Fd4Lag4", axes, { fd8Legacy: false });
      const spacings = axes.map((axis) => axis.spacing);
      for (let n = 0; n < 200; n++) {
        const point: Triple = [3 * Math.sin(5 * n), 4 * Math.sin(3 * n + 1), 5 * Math.cos(7 * n)];
        const [values] = valuesAt(scheme, [field], [point]);
        const expected = derivativeByDefinition(
          wrapped,
          layout as keyof typeof LAYOUTS,
          "Fd4Lag4",
          false,
          spacings,
          point,
        );
        expected.forEach((value, i) => {
          expect(Math.abs((values?.[i] as number) - value)).toBeLessThan(1e-12 * (1 + Math.abs(value)));
        });
      }
    },
  );
});

describe("axes with ends", () => {
  const grids: readonly (readonly [string, Axes])[] = [
    ["uniform", [endedAxis(12, 11), endedAxis(13, 6, -1), endedAxis(12, 3)]],
    ["tabulated and periodic", [periodicAxis(12), cosineAxis(14), endedAxis(12, 3)]],
  ];

  it.each(grids)("Fd4Lag4 on %s axes is Lag4 of the differences at 64 nodes, slid in the same way", (_name, axes) => {
    const layouts = { velocityGradient: 9, velocityHessian: 18, velocityLaplacian: 3 };
    const field = fieldByNode(axes, 3, rough, [5, 4, 7]);
    const weights = axes.map((axis) => createAxisWeights(axis, 4));
    for (const [kernel, size] of Object.entries(layouts)) {
      const fused = createScheme(kernel, "Fd4Lag4", axes, { fd8Legacy: false });
      const atNodes = createScheme(kernel, "None_Fd4", axes, { fd8Legacy: false });
      for (const point of scatter(axes, 25)) {
        const expected = new Array<number>(size).fill(0);
        const magnitude = new Array<number>(size).fill(1);
        weights.forEach((line, a) => {
          line.locate(point[a] as number);
          line.weigh();
        });
        for (let n = 0; n < 64; n++) {
          const pick = [n & 3, (n >> 2) & 3, n >> 4];
          const node = weights.map((line, a) => nodeAt(axes[a] as Axis, line.start + (pick[a] as number)));
          const weight = weights.reduce((product, line, a) => product * (line.weight[pick[a] as number] as number), 1);
          const [values] = valuesAt(atNodes, [field], [node as unknown as Triple]);
          values?.forEach((value, i) => {
            expected[i] = (expected[i] as number) + weight * value;
            magnitude[i] = (magnitude[i] as number) + Math.abs(weight * value);
          });
        }
        const [values] = valuesAt(fused, [field], [point]);
        expected.forEach((value, i) => {
          expect(Math.abs((values?.[i] as number) - value)).toBeLessThan(1e-12 * (magnitude[i] as number));
        });
      }
    }
  });

  /** Weight of node (i, j) in the mixed derivative at node (x, y). */
  function mixedWeight(axes: Axes, [x, y]: readonly [number, number], [i, j]: readonly [number, number]): number {
    const field = fieldByNode(axes, 1, (a, b, c) => (a === i && b === j && c === 5 ? 1 : 0));
    const scheme = createScheme("pressureHessian", "None_Fd4", axes, { fd8Legacy: false });
    const point: Triple = [nodeAt(axes[0], x), nodeAt(axes[1], y), nodeAt(axes[2], 5)];
    return valuesAt(scheme, [field], [point])[0]?.[1] as number;
  }

  it("takes mixed derivatives on the diagonals where they fit on both axes, else as a product", () => {
    const axes: Axes = [endedAxis(12, 11), endedAxis(12, 11), endedAxis(12, 11)];
    expect(mixedWeight(axes, [2, 9], [3, 10])).toBeCloseTo(1 / 3, 14);
    expect(mixedWeight(axes, [2, 9], [3, 11])).toBe(0);
    // One node nearer to the end: (-3 f(0) - 10 f(1) + 18 f(2) - 6 f(3) + f(4)) / 12 times (f(-2) - 8 f(-1) + 8 f(1) -
    // f(2)) / 12.
    expect(mixedWeight(axes, [1, 9], [2, 10])).toBeCloseTo((18 / 12) * (8 / 12), 13);
    expect(mixedWeight(axes, [1, 9], [4, 11])).toBeCloseTo((1 / 12) * (-1 / 12), 13);
    expect(mixedWeight(axes, [9, 1], [11, 4])).toBeCloseTo((1 / 12) * (-1 / 12), 13);
  });

  it("takes the product wherever an axis is tabulated", () => {
    const even = tabulatedAxis(Array.from({ length: 12 }, (_, i) => i));
    for (const axes of [
      [periodicAxis(12, 12), even, even],
      [even, endedAxis(12, 11), even],
    ] as Axes[]) {
      expect(mixedWeight(axes, [6, 6], [7, 8])).toBeCloseTo((8 / 12) * (-1 / 12), 13);
      expect(mixedWeight(axes, [6, 6], [7, 7])).toBeCloseTo((8 / 12) ** 2, 13);
    }
  });
});

/** Derivatives: every stencil weight against the definition in two stages. */
import { describe, expect, it } from "vitest";
import { DERIVATIVE_METHODS } from "../../src/kernels/derivative.js";
import type { Axes, Triple } from "../../src/kernels/field.js";
import { createScheme } from "../../src/kernels/index.js";
import { fieldByNode, periodicAxis, valuesAt } from "./fields.js";
import { derivativeByDefinition } from "./two-stage.js";

const METHODS = [...DERIVATIVE_METHODS.keys()];
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

/** Factors of modes are those of derivatives and filters, to rounding. */
import { describe, expect, it } from "vitest";
import {
  boxNodes,
  type DerivativeScheme,
  derivedPlan,
  type FieldFilter,
  ModeFactors,
} from "../../src/analysis/derived.js";
import { compileExpression } from "../../src/analysis/expression.js";
import type { InputKey } from "../../src/analysis/names.js";

const NAMES = { fields: { velocity: 3, pressure: 1 }, isFiltered: true } as const;
const GRID = { nodes: [8, 6, 10], periods: [2 * Math.PI, Math.PI, 5], transformed: [true, true, true] } as const;
const [NX, NY, NZ] = GRID.nodes;

function planOf(keys: readonly InputKey[], filter: FieldFilter | null, scheme: DerivativeScheme = "spectral") {
  const plan = derivedPlan(keys, GRID, NAMES, filter, scheme);
  if (plan === null) throw new Error("no input is derived");
  return plan;
}

/** What becomes of the mode 1 + 2i at (kx, ky, kz), given by numbers of modes. */
function factorAt(plan: ReturnType<typeof planOf>, component: number, [i, y, z]: readonly [number, number, number]) {
  const line = () => new Float64Array(NX / 2 + 1);
  const [re, im, toRe, toIm] = [line().fill(1), line().fill(2), line(), line()];
  new ModeFactors(plan).apply(component, (y + NY) % NY, (z + NZ) % NZ, re, im, toRe, toIm);
  const n = NX * NY * NZ;
  return [n * (toRe[i] as number), n * (toIm[i] as number)] as const;
}

/** Compares with (1 + 2i) (a + bi). */
function near([re, im]: readonly [number, number], a: number, b = 0): void {
  expect(re).toBeCloseTo(a - 2 * b, 12);
  expect(im).toBeCloseTo(b + 2 * a, 12);
}

const MODES = [
  [0, 0, 0],
  [1, 0, -1],
  [3, -2, 4],
  [2, 1, -3],
] as const;
const wave = ([i, y, z]: readonly [number, number, number]) => [i, 2 * y, ((2 * Math.PI) / 5) * z] as const;

describe.each(MODES)("the mode %i, %i, %i", (...mode) => {
  const k = wave(mode);
  const square = k[0] ** 2 + k[1] ** 2 + k[2] ** 2;

  it("is multiplied by i k, -k_a k_b and -k^2", () => {
    const plan = planOf(["gradient:velocity", "hessian:pressure", "laplacian:velocity"], null);
    const gradient = plan.inputs["gradient:velocity"] ?? [];
    const hessian = plan.inputs["hessian:pressure"] ?? [];
    expect([gradient.length, hessian.length, new Set(hessian).size]).toEqual([9, 9, 6]);
    for (const a of [0, 1, 2] as const) {
      near(factorAt(plan, gradient[3 + a] as number, mode), 0, k[a]);
      for (const b of [0, 1, 2] as const) near(factorAt(plan, hessian[3 * a + b] as number, mode), -k[a] * k[b]);
    }
    near(factorAt(plan, plan.inputs["laplacian:velocity"]?.[1] as number, mode), -square);
  });

  it("is filtered by its transfer function", () => {
    const width = 1.3;
    const of = (kind: FieldFilter["kind"], w = width) => planOf(["filtered:pressure"], { kind, width: w });
    near(factorAt(of("gaussian"), 0, mode), Math.exp((-square * width ** 2) / 24));
    near(factorAt(of("sharp"), 0, mode), Math.sqrt(square) <= Math.PI / width ? 1 : 0);
    // Boxes of 1, 3 and 3 nodes.
    const box = (a: 0 | 1 | 2, n: number) => {
      const h = GRID.periods[a] / GRID.nodes[a];
      return n === 1 ? 1 : (1 + 2 * Math.cos(k[a] * h)) / 3;
    };
    const boxes = ([0, 1, 2] as const).map((a) => boxNodes(width, GRID.periods[a] / GRID.nodes[a]));
    expect(boxes).toEqual([1, 3, 3]);
    near(factorAt(of("tophat"), 0, mode), box(0, 1) * box(1, 3) * box(2, 3));
  });

  it("is differentiated as differences are", () => {
    const plan = planOf(["filteredGradient:pressure", "gradient:velocity"], { kind: "sharp", width: 1e-3 }, 4);
    expect(plan.inputs["gradient:velocity"]).toBeUndefined();
    const h = GRID.periods[2] / NZ;
    const wavenumber = (8 * Math.sin(k[2] * h) - Math.sin(2 * k[2] * h)) / (6 * h);
    near(factorAt(plan, plan.inputs["filteredGradient:pressure"]?.[2] as number, mode), 0, wavenumber);
  });
});

it("gives odd derivatives nothing of the last mode of an even number of nodes", () => {
  const plan = planOf(["gradient:pressure", "hessian:pressure"], null);
  near(factorAt(plan, plan.inputs["gradient:pressure"]?.[0] as number, [4, 0, 0]), 0);
  near(factorAt(plan, plan.inputs["hessian:pressure"]?.[0] as number, [4, 0, 0]), -16);
});

it("makes names of filters known, and only with one", () => {
  const { inputs } = compileExpression("Pi", NAMES);
  expect(inputs.toSorted()).toEqual(["filtered:velocity", "filteredGradient:velocity", "filteredProducts:velocity"]);
  const plain = { ...NAMES, isFiltered: false };
  expect(() => compileExpression("dot(u, filter(u))", plain)).toThrow("filter(...) needs a filter");
  expect(derivedPlan(["value:velocity", "gradient:velocity"], GRID, NAMES, null, 4)).toBeNull();
});

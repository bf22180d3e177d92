/** Quantities against their definitions by tensors, on random records. */
import { describe, expect, it } from "vitest";
import { findOperation, RECORDS } from "../../src/shared/operations.js";
import { MEASURES, QUANTITIES, type Quantity, unitFactors } from "../../src/shared/quantities.js";
import { fc } from "../support/property.js";

type QuantityName = (typeof QUANTITIES)[number]["name"];

const gradient = fc.array(fc.double({ min: -10, max: 10, noNaN: true }), { minLength: 9, maxLength: 9 });
const quantityOf = (name: QuantityName) => QUANTITIES.find((row) => row.name === name) as Quantity;
const of = (name: QuantityName, values: number[]) => quantityOf(name).of([Number.NaN, ...values], 1, 0.5);
const close = (got: number, wanted: number, scale: number) =>
  expect(Math.abs(got - wanted)).toBeLessThanOrEqual(1e-12 * (1 + scale));

/** The gradient as a matrix, its symmetric and its antisymmetric part. */
function parts(g: readonly number[]) {
  const at = (i: number, j: number) => g[3 * i + j] as number;
  const matrix = (f: (i: number, j: number) => number) => [0, 1, 2].map((i) => [0, 1, 2].map((j) => f(i, j)));
  return {
    a: matrix(at),
    strain: matrix((i, j) => (at(i, j) + at(j, i)) / 2),
    rotation: matrix((i, j) => (at(i, j) - at(j, i)) / 2),
  };
}
const squared = (m: readonly (readonly number[])[]) => m.flat().reduce((sum, value) => sum + value * value, 0);

describe("invariants of the velocity gradient", () => {
  it("agree with strain and rotation", () => {
    fc.assert(
      fc.property(gradient, (g) => {
        const { a, strain, rotation } = parts(g);
        const scale = squared(a);
        close(of("enstrophy", g), squared(rotation), scale);
        close(of("vorticity", g) ** 2, 2 * squared(rotation), scale);
        close(of("wx", g) ** 2 + of("wy", g) ** 2 + of("wz", g) ** 2, 2 * squared(rotation), scale);
        close(of("strain", g) ** 2, 2 * squared(strain), scale);
        close(of("epsilon", g), 2 * 0.5 * squared(strain), scale);
        close(of("Q", g), (squared(rotation) - squared(strain)) / 2, scale);
        const [[p, q, r], [s, t, u], [v, w, x]] = a as [number[], number[], number[]] as unknown as number[][] as [
          [number, number, number],
          [number, number, number],
          [number, number, number],
        ];
        const determinant = p * t * x + q * u * v + r * s * w - r * t * v - q * s * x - p * u * w;
        close(of("R", g), -determinant, scale ** 1.5);
      }),
    );
  });

  it("keep their values when the axes are renamed", () => {
    fc.assert(
      fc.property(gradient, (g) => {
        const turned = [4, 5, 3, 7, 8, 6, 1, 2, 0].map((i) => g[i] as number);
        for (const name of ["enstrophy", "strain", "epsilon", "Q", "R", "divergence", "vorticity"] as const) {
          close(of(name, turned), of(name, g), squared(parts(g).a) ** 1.5);
        }
      }),
    );
  });
});

describe("traces and magnitudes", () => {
  it("sum the diagonal of a Hessian and of a stress", () => {
    expect(of("lapp", [1, 20, 30, 4, 50, 16])).toBe(21);
    expect(of("sgsenergy", [1, 2, 3, 40, 50, 60])).toBe(3);
  });

  it("take the curl of the magnetic field for the current", () => {
    // The rows of the gradient are those of b: j = (dbz/dy - dby/dz, dbx/dz - dbz/dx, dby/dx - dbx/dy) = (2, 3, 6).
    expect(of("current", [0, 0, 4, 6, 0, 0, 1, 2, 0])).toBe(7);
  });

  it("take the length of a vector", () => {
    const lengths = ["speed", "gradpressure", "boxspeed", "b", "graddensity", "gradtemperature"] as const;
    for (const name of lengths) expect(of(name, [2, 3, 6])).toBe(7);
  });
});

it("reads only components that its operation has, and names one formula each", () => {
  for (const { name, operation, of: formula, formula: text, measure } of QUANTITIES) {
    const row = findOperation(operation);
    const size = RECORDS[row?.result ?? "float"].length;
    const value = formula(
      Array.from({ length: size }, (_, i) => i + 1),
      0,
      0.5,
    );
    expect([name, Number.isFinite(value)]).toEqual([name, true]);
    expect(text).not.toBe("");
    expect(MEASURES[measure]).toBeDefined();
  }
  expect(new Set(QUANTITIES.map(({ name }) => name)).size).toBe(QUANTITIES.length);
});

describe("units", () => {
  it.each([
    ["m/s^2", { m: 1, s: -2 }],
    ["kg m-3", { kg: 1, m: -3 }],
    ["kg/(m s^2)", { kg: 1, m: -1, s: -2 }],
    ["(m/s)^2", { m: 2, s: -2 }],
    ["U_b/h", { U_b: 1, h: -1 }],
    ["1/s", { s: -1 }],
    ["m^0.5", { m: 0.5 }],
    ["m^(2/3)", { m: 2 / 3 }],
    ["m*s", { m: 1, s: 1 }],
    ["m2 s-2", { m: 2, s: -2 }],
  ])("are factors with powers: %s", (unit, factors) => {
    expect(Object.fromEntries(unitFactors(unit) ?? [])).toEqual(factors);
  });

  it.each(["1000 m", "m/1000", "m*1000", "1000m", "m^", "m^(1/3", "(m", "m)", "m//s", "", "m/", "10", "m^(a)"])(
    "have no other parts: %s",
    (unit) => {
      expect(unitFactors(unit)).toBeNull();
    },
  );
});

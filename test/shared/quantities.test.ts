/** Quantities against their definitions by tensors, on random records, and as printed formulas. */
import { describe, expect, it } from "vitest";
import { recordQuantity } from "../../src/server/zarr/record-quantity.js";
import { operationOf, RECORDS } from "../../src/shared/operations.js";
import { formulaText, MEASURES, QUANTITIES, type Quantity, unitFactors, unitOf } from "../../src/shared/quantities.js";
import { fc } from "../support/property.js";

type QuantityName = (typeof QUANTITIES)[number]["name"];

const gradient = fc.array(fc.double({ min: -10, max: 10, noNaN: true }), { minLength: 9, maxLength: 9 });
const quantityOf = (name: QuantityName) => QUANTITIES.find((row) => row.name === name) as Quantity;
/** The quantity of a record that follows another one. */
const of = (name: QuantityName, values: number[]) => {
  const records = [...values.map(() => Number.NaN), ...values];
  return recordQuantity(quantityOf(name), 0.5)(records, values.length, 1, 1)[0] as number;
};
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
    expect(of("p", [20, 30, 40, 1])).toBe(1);
    expect(of("boxp", [1])).toBe(1);
    expect(of("sgsxz", [10, 20, 30, 40, 5, 60])).toBe(5);
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

it("is finite for every quantity, of a record of its operation, and NaN without a viscosity that it needs", () => {
  for (const quantity of QUANTITIES as readonly Quantity[]) {
    const { name, operation, measure, needsViscosity = false } = quantity;
    const size = RECORDS[operationOf(operation).result].length;
    const records = Array.from({ length: 3 * size }, (_, i) => i + 1);
    const values = recordQuantity(quantity, 0.5)(records, size, 1, 2);
    expect([name, Array.from(values, Number.isFinite)]).toEqual([name, [true, true]]);
    const [value] = Array.from(recordQuantity(quantity, null)(records, size, 0, 1));
    expect([name, Number.isNaN(value)]).toEqual([name, needsViscosity]);
    expect(MEASURES[measure]).toBeDefined();
  }
  expect(new Set(QUANTITIES.map(({ name }) => name)).size).toBe(QUANTITIES.length);
});

it.each([
  ["dissipation", { velocity: "m/s" }, ""],
  ["dissipation", { velocity: "m/s", time: "s" }, "m²/s³"],
  ["force", { velocity: "m/s", time: "s" }, "m/s²"],
  ["force", { velocity: "m/s", time: "s", force: "N" }, "N"],
] as const)("the unit of %s needs those of all its parts: %o", (measure, units, unit) => {
  expect(unitOf({ units }, measure)).toBe(unit);
});

it.each([
  ["ux", "ux"],
  ["wz", "ωz, ω = ∇×u"],
  ["enstrophy", "ω · ω / 2, ω = ∇×u"],
  ["epsilon", "2 ν S : S, S = (∇u + ∇uᵀ) / 2"],
  ["Q", "−tr(∇u ∇u) / 2"],
  ["lapuy", "∇²uy"],
  ["lapp", "tr(∇∇p)"],
  ["current", "|∇×b|"],
  ["graddensity", "|∇ρ|"],
  ["boxspeed", "|u|, means over the box"],
  ["sgsenergy", "(τxx + τyy + τzz) / 2, τij = mean(ui uj) − mean(ui) mean(uj)"],
] as const)("prints %s as %s", (name, formula) => {
  expect(formulaText(quantityOf(name))).toBe(formula);
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

import { describe, expect, it } from "vitest";
import {
  chebyshevDerivative,
  chebyshevIntegral,
  chebyshevNodes,
  inverse,
  multiply,
  product,
} from "../../../tools/channel/chebyshev.js";

describe.each([16, 17])("%d Chebyshev nodes", (count) => {
  const y = chebyshevNodes(count);

  it("differentiate polynomials of degree < count to rounding", () => {
    const derivative = chebyshevDerivative(count);
    for (const degree of [0, 1, 2, 7, count - 1]) {
      const values = Float64Array.of(...y.map((at) => at ** degree), ...y.map((at) => -(at ** degree)));
      const slopes = new Float64Array(2 * count);
      multiply(derivative, count, values, 0, slopes, 0);
      y.forEach((at, j) => {
        const exact = degree === 0 ? 0 : degree * at ** (degree - 1);
        expect(slopes[j]).toBeCloseTo(exact, 11);
        expect(slopes[count + j]).toBeCloseTo(-exact, 11);
      });
    }
  });

  it("integrate polynomials of degree < count to rounding", () => {
    const weights = chebyshevIntegral(count);
    for (let degree = 0; degree < count; degree++) {
      const sum = weights.reduce((all, weight, j) => all + weight * (y[j] as number) ** degree, 0);
      expect(sum).toBeCloseTo(degree % 2 === 0 ? 2 / (degree + 1) : 0, 13);
    }
  });
});

describe("inverse", () => {
  it("gives the identity with its matrix, also where a pivot is zero", () => {
    const matrix = Float64Array.of(0, 2, 1, 1, 1, 0, 3, 0, 1);
    const identity = product(matrix, inverse(matrix, 3), 3);
    identity.forEach((value, at) => {
      expect(value).toBeCloseTo(at % 4 === 0 ? 1 : 0, 14);
    });
  });

  it("refuses a singular matrix", () => {
    expect(() => inverse(Float64Array.of(1, 2, 2, 4), 2)).toThrow("singular");
  });
});

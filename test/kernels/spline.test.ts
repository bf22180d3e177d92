/** Splines: exact weights, published answers, continuity, polynomials reproduced, ends of axes. */
import { describe, expect, it } from "vitest";
import { createScheme } from "../../src/kernels/index.js";
import { SPLINE_WEIGHTS } from "../../src/kernels/spline-tables.js";
import { evaluatePolynomial, type PolynomialTable, splinePolynomials } from "../../src/kernels/spline-weights.js";
import { METHODS, type Method } from "../../src/kernels/table.js";
import type { Axes, Triple } from "../../src/kernels/types.js";
import { exactWeight, quotient } from "../support/exact-spline.js";
import { readTurbulence } from "../support/isotropic.js";
import { cosineAxis, endedAxis, fieldByNode, fieldOf, nodeAt, periodicAxis, rough, T16, valuesAt } from "./fields.js";

const turbulence = await readTurbulence(0.4);

type SplineMethod = Extract<Method, { kind: "spline" }>;
const PLAIN = { fd8Legacy: false };
const SPLINES = [...METHODS].flatMap(([name, method]): (readonly [string, SplineMethod])[] =>
  method.kind === "spline" ? [[name, method]] : [],
);

/** Highest degree of which all polynomials are reproduced. */
const degreeOf = ({ smoothness: m, nodes: q }: SplineMethod) => Math.min(2 * m + 1, q - 2);

/** Weights, or their r-th derivatives, at a fraction of the cell. */
function weightsAt(table: PolynomialTable, r: number, x: number): number[] {
  return Array.from({ length: table.count }, (_, k) => evaluatePolynomial(table, r, k, x));
}

/** A polynomial by its whole numerators, of rising powers, over one denominator. */
interface Fractions {
  readonly numerators: readonly bigint[];
  readonly denominator: bigint;
}

const NOTHING: Fractions = { numerators: [], denominator: 1n };

/** A row of the tables; its numbers are whole, and exact as float64. */
function exactly(row: readonly number[]): Fractions {
  const [denominator = 0n, ...numerators] = row.map((number) => {
    expect(Number.isSafeInteger(number)).toBe(true);
    return BigInt(number);
  });
  return { numerators, denominator };
}

function binomial(n: number, k: number): bigint {
  let result = 1n;
  for (let i = 0; i < k; i++) result = (result * BigInt(n - i)) / BigInt(i + 1);
  return result;
}

/**
 * Coefficients of the sum over nodes k of the weights times (k - origin)^d, which are whole numbers in lowest terms.
 */
function sumAgainst(weights: readonly Fractions[], d: number, origin: number): (bigint | string)[] {
  const common = weights.reduce((product, { denominator }) => product * denominator, 1n);
  const length = Math.max(...weights.map(({ numerators }) => numerators.length));
  return Array.from({ length }, (_, p) => {
    const sum = weights.reduce(
      (total, { numerators, denominator }, k) =>
        total + (numerators[p] ?? 0n) * (common / denominator) * BigInt(k - origin) ** BigInt(d),
      0n,
    );
    return sum % common === 0n ? sum / common : `${sum} / ${common}`;
  });
}

/** The first digits of a fraction at xi = 1/4, or of its first derivative there. */
function atQuarter({ numerators, denominator }: Fractions, r: 0 | 1): number {
  const highest = BigInt(numerators.length);
  const sum = numerators.reduce((total, c, p) => {
    const factor = r === 0 ? 1n : BigInt(p);
    return p < r ? total : total + factor * c * 4n ** (highest - BigInt(p - r));
  }, 0n);
  return quotient(sum, denominator * 4n ** highest);
}

it("offers the 22 splines that exist", () => {
  expect(SPLINES).toHaveLength(22);
  expect([...SPLINE_WEIGHTS.keys()]).toEqual(SPLINES.map(([name]) => name));
  expect(METHODS.has("M3Q4") || METHODS.has("M4Q4")).toBe(false);
});

describe.each(SPLINES)("%s", (_name, spline) => {
  const table = splinePolynomials(spline);
  const { smoothness: m, nodes: q } = spline;

  const fractions = (SPLINE_WEIGHTS.get(_name) ?? []).map(exactly);

  it("has the weights of its definition, exactly", () => {
    expect(fractions).toHaveLength(q);
    fractions.forEach(({ numerators, denominator }, k) => {
      const exact = exactWeight(spline, k);
      numerators.forEach((c, p) => {
        expect(c * exact.denominator).toBe((exact.numerators[p] ?? 0n) * denominator);
      });
    });
  });

  it("has the exact coefficients, each rounded once", () => {
    for (let k = 0; k < q; k++) {
      const { numerators, denominator } = exactWeight(spline, k);
      for (let r = 0; r <= 2; r++) {
        for (let p = 0; p < 2 * m + 2; p++) {
          const factor = Array.from({ length: r }, (_, i) => BigInt(p + r - i)).reduce((a, b) => a * b, 1n);
          const exact = quotient((numerators[p + r] ?? 0n) * factor, denominator);
          const actual = table.coefficients[(r * q + k) * (2 * m + 2) + p] as number;
          expect(Math.abs(actual - exact)).toBeLessThanOrEqual(2 ** -53 * Math.abs(exact));
        }
      }
    }
  });

  it("gives on periodic axes the tensor product of its exact weights", () => {
    const axes: Axes = [periodicAxis(16, 4), periodicAxis(17, 3, -1), periodicAxis(15, 5)];
    const field = fieldByNode(axes, 3, rough);
    const [x, y, z]: Triple = [0.33, 1.91, 4.9];
    const cells = [x, y, z].map((at, a) => (at - (axes[a] as Axes[0]).origin) / (axes[a] as Axes[0]).spacing);
    const exact = Array.from({ length: q }, (_, k) => exactWeight(spline, k));
    const weights = (a: number, r: number) =>
      exact.map(({ numerators, denominator }) => {
        const fraction = (cells[a] as number) % 1;
        const coefficients = numerators.map((c) => quotient(c, denominator));
        const terms = coefficients.map((c, p) =>
          r === 0 ? c * fraction ** p : r > p ? 0 : c * p * fraction ** (p - 1),
        );
        return terms.reduce((sum, term) => sum + term, 0) / (axes[a] as Axes[0]).spacing ** r;
      });
    const sum = (orders: Triple, c: number) => {
      const [wx, wy, wz] = orders.map((r, a) => weights(a, r)) as [number[], number[], number[]];
      const node = (a: number, k: number) => {
        const { nodes } = axes[a] as Axes[0];
        return (Math.floor(cells[a] as number) - q / 2 + 1 + k + 5 * nodes) % nodes;
      };
      let total = 0;
      for (let k = 0; k < q; k++)
        for (let j = 0; j < q; j++)
          for (let i = 0; i < q; i++)
            total +=
              (wx[i] as number) * (wy[j] as number) * (wz[k] as number) * rough(node(0, i), node(1, j), node(2, k), c);
      return total;
    };
    const values = valuesAt(createScheme("velocity", _name, axes, PLAIN), [field], [[x, y, z]])[0] as number[];
    const gradient = valuesAt(
      createScheme("velocityGradient", _name, axes, PLAIN),
      [field],
      [[x, y, z]],
    )[0] as number[];
    for (let c = 0; c < 3; c++) {
      expect(Math.abs((values[c] as number) - sum([0, 0, 0], c))).toBeLessThan(1e-12);
      for (let a = 0; a < 3; a++) {
        const orders = [0, 1, 2].map((axis) => (axis === a ? 1 : 0)) as unknown as Triple;
        expect(Math.abs((gradient[3 * c + a] as number) - sum(orders, c))).toBeLessThan(1e-11);
      }
    }
  });

  it("continues from cell to cell with its derivatives up to m, exactly", () => {
    for (let k = 0; k <= q; k++) {
      const [left, right] = [fractions[k] ?? NOTHING, fractions[k - 1] ?? NOTHING];
      for (let l = 0; l <= m; l++) {
        const atEnd = left.numerators.reduce((sum, c, p) => sum + binomial(p, l) * c, 0n);
        expect(atEnd * right.denominator).toBe((right.numerators[l] ?? 0n) * left.denominator);
      }
    }
  });

  it("has at the nodes the derivatives of the polynomial through q - 1 nodes", () => {
    // Exactly those of every power of the distance that this polynomial reproduces, and so of the polynomial itself.
    for (let d = 0; d <= q - 2; d++) {
      for (let l = 0; l <= m; l++) expect(sumAgainst(fractions, d, q / 2 - 1)[l], `power ${d}`).toBe(l === d ? 1n : 0n);
    }
  });

  it("reproduces polynomials up to its degree exactly, and no further", () => {
    const degree = degreeOf(spline);
    for (let d = 0; d <= degree + 1; d++) {
      const sum = sumAgainst(fractions, d, q / 2 - 1);
      const power = sum.map((_, p) => (p === d ? 1n : 0n));
      if (d <= degree) expect(sum).toEqual(power);
      else expect(sum).not.toEqual(power);
    }
  });

  it("reproduces polynomials up to its degree and their derivatives, and no further", () => {
    const degree = degreeOf(spline);
    const power = (x: number, d: number, r: number): number =>
      r > d ? 0 : Array.from({ length: r }, (_, i) => d - i).reduce((a, b) => a * b, 1) * x ** (d - r);
    const error = (d: number, r: number, x: number) =>
      weightsAt(table, r, x).reduce((sum, weight, k) => sum + weight * (k - q / 2 + 1) ** d, 0) - power(x, d, r);
    for (const x of [0, 0.1, 0.35, 0.5, 0.8, 1]) {
      for (let r = 0; r <= 2; r++)
        for (let d = 0; d <= degree; d++) expect(Math.abs(error(d, r, x))).toBeLessThan(1e-9 * (q / 2) ** d);
    }
    expect(Math.abs(error(degree + 1, 0, 0.35))).toBeGreaterThan(1e-4);
  });

  const axes: Axes = [cosineAxis(q + 4), endedAxis(q + 2, 2, -1), endedAxis(q - 1, 2, -1)];

  it("reproduces them up to the ends of uniform and tabulated axes", () => {
    const degree = degreeOf(spline);
    const field = fieldOf(axes, 1, (x, y, z) => [x ** degree + 2 * y ** degree * z + z ** degree * x * y]);
    const gradient = createScheme("pressureGradient", _name, axes, PLAIN);
    for (const [x, y, z] of [
      [-1, -1, -1],
      [-0.999, 0.97, 0.2],
      [0.31, -0.77, 0.9],
      [1, 1, 1],
      [0.93, 0.1, -0.6],
    ] as Triple[]) {
      const expected = [
        degree * x ** (degree - 1) + z ** degree * y,
        2 * degree * y ** (degree - 1) * z + z ** degree * x,
        2 * y ** degree + degree * z ** (degree - 1) * x * y,
      ];
      const actual = valuesAt(gradient, [field], [[x, y, z]])[0] as number[];
      expected.forEach((value, i) => {
        expect(Math.abs((actual[i] as number) - value)).toBeLessThan(1e-8);
      });
    }
  });

  it("gives the nodes, and derivatives that are continuous at them, up to the ends", () => {
    const field = fieldByNode(axes, 3, rough, [5, 4, 3]);
    const kernels = ["velocity", "velocityGradient", ...(m >= 2 ? ["velocityHessian"] : [])];
    for (const node of [0, 1, q / 2 - 2, q / 2, q - 3, q - 2].filter((i) => i >= 0)) {
      const at = axes.map((axis) => nodeAt(axis, node)) as unknown as Triple;
      const values = valuesAt(createScheme("velocity", _name, axes, PLAIN), [field], [at])[0] as number[];
      values.forEach((value, c) => {
        expect(Math.abs(value - rough(node, node, node, c))).toBeLessThan(1e-11);
      });
      if (node === 0 || node === q - 2) continue;
      for (const kernel of kernels) {
        const scheme = createScheme(kernel, _name, axes, PLAIN);
        const near = [-1e-9, 1e-9].map((step) => at.map((x) => x + step) as unknown as Triple);
        const [left, right] = valuesAt(scheme, [field], near) as [number[], number[]];
        const size = Math.max(...left.map(Math.abs));
        left.forEach((value, i) => {
          expect(Math.abs(value - (right[i] as number))).toBeLessThan(1e-5 * size);
        });
      }
    }
  });
});

it("gives far from the ends what a periodic axis gives", () => {
  const spacing = 0.1;
  const periodic: Axes = [periodicAxis(30, 3), periodicAxis(30, 3), periodicAxis(30, 3)];
  const ended = periodic.map((axis) => ({ ...axis, periodic: false })) as unknown as Axes;
  const points: Triple[] = [
    [1.234, 1.5, 1.71],
    [1.9, 15 * spacing, 1.0001],
  ];
  for (const [name] of SPLINES) {
    const [a, b] = [periodic, ended].map((axes) =>
      valuesAt(createScheme("velocityGradient", name, axes, PLAIN), [fieldByNode(axes, 3, rough)], points).flat(),
    ) as [number[], number[]];
    a.forEach((value, i) => {
      expect(Math.abs(value - (b[i] as number))).toBeLessThan(1e-10);
    });
  }
});

it("refuses axes that are too short, Laplacians, and Hessians of splines with one continuous derivative", () => {
  const short: Axes = [endedAxis(6, 1), endedAxis(20, 1), endedAxis(20, 1)];
  expect(() => createScheme("velocity", "M2Q8", short, PLAIN)).toThrow(RangeError);
  expect(() => createScheme("velocity", "M2Q6", short, PLAIN)).not.toThrow();
  expect(() => createScheme("velocityLaplacian", "M2Q8", T16.axes, PLAIN)).toThrow(RangeError);
  expect(() => createScheme("velocityHessian", "M1Q8", T16.axes, PLAIN)).toThrow(RangeError);
  expect(() => createScheme("velocity", "M3Q4", T16.axes, PLAIN)).toThrow(RangeError);
});

describe("published answers", () => {
  const numbers = (text: string) => text.trim().split(/\s+/).map(Number);

  it.each([
    ["M1Q4", 0, 9, "-0.070312500 0.867187500 0.226562500 -0.023437500"],
    ["M1Q4", 1, 8, "-0.09375 -0.96875 1.21875 -0.15625"],
    [
      ...(["M2Q8", 0, 9] as const),
      "-0.002929688 0.026391602 -0.125024414 0.895751953 0.249755859 -0.051635742 0.008276367 -0.000585937",
    ],
    [
      ...(["M2Q8", 1, 8] as const),
      "-0.0046875 0.04619141 -0.22001953 -0.85839844 1.25944010 -0.27216797 0.05537109 -0.00572917",
    ],
    [
      ...(["M2Q14", 0, 9] as const),
      `0.000032499 -0.000472840 0.003281678 -0.014670236 0.049162365 -0.146981376 0.897339216 0.271211286
      -0.078081403 0.024370466 -0.006203788 0.001133970 -0.000128443 0.000006606`,
    ],
    [
      ...(["M4Q14", 0, 9] as const),
      `0.000036379 -0.000523514 0.003587502 -0.015798323 0.051982074 -0.152003451 0.903899838 0.264814427
      -0.073391428 0.021800379 -0.005178592 0.000853150 -0.000081410 0.000002972`,
    ],
  ] as const)("weights of %s at a quarter of a cell, derivative %d, to %d digits", (name, r, digits, printed) => {
    const weights = (SPLINE_WEIGHTS.get(name) ?? []).map((row) => atQuarter(exactly(row), r));
    const expected = numbers(printed);
    expect(weights).toHaveLength(expected.length);
    // Half a unit of the last digit, and what the division of the sum leaves.
    weights.forEach((weight, k) => {
      expect(Math.abs(weight - (expected[k] as number))).toBeLessThanOrEqual(0.5000001 * 10 ** -digits);
    });
  });

  const expectNear = (actual: readonly number[], printed: string, unit: number) => {
    const expected = numbers(printed);
    expected.forEach((value, i) => {
      expect(Math.abs((actual[i] as number) - value), `number ${i}`).toBeLessThanOrEqual(unit);
    });
  };

  it.each([
    ["velocityPressure", "M1Q4", "1.0470749350 0.2187777543 -0.7438006194 -0.5450883308"],
    ["velocityPressure", "M2Q8", "1.0445761466 0.2216923507 -0.7419844360 -0.5458109541"],
    ["velocityGradient", "M2Q8", "0.3496764777 -1.2595736095 0.0776303842"],
  ])("on analytic data: %s %s", (kernel, method, printed) => {
    const fields = [fieldOf(T16.axes, 3, T16.velocity), fieldOf(T16.axes, 1, T16.pressure)];
    expectNear(
      valuesAt(createScheme(kernel, method, T16.axes, PLAIN), fields, [T16.point])[0] as number[],
      printed,
      1e-10,
    );
  });

  describe("on the shipped turbulence", () => {
    const at = (kernel: string, method: string) => {
      const { axes, velocity, pressure } = turbulence;
      return valuesAt(createScheme(kernel, method, axes, PLAIN), [velocity, pressure], [[1, 2, 3]])[0] as number[];
    };

    it.each([
      ["M1Q4", "-0.16474948 0.08426609 0.25444321 0.55098181"],
      ["M1Q6", "-0.16534247 0.08448579 0.25530607 0.55089683"],
      ["M2Q4", "-0.16486702 0.08459479 0.25408543 0.55092235"],
      ["M2Q8", "-0.16556855 0.08470919 0.25545963 0.55081518"],
      ["M2Q14", "-0.16566049 0.08479913 0.25558353 0.55073675"],
      ["M3Q10", "-0.16561951 0.08476218 0.25553550 0.55077293"],
      ["M4Q14", "-0.16565956 0.08480006 0.25558295 0.55073695"],
    ])("velocity and pressure by %s", (method, printed) => {
      expectNear(at("velocityPressure", method), printed, 1e-8);
    });

    it.each([
      ["M1Q4", "0.1908166 0.2146719 -0.0373743 -0.9740866 -0.0553284 0.5400347 1.5223729 0.8775654 -0.1269709"],
      ["M2Q8", "0.1805036 0.2086241 -0.0470659 -0.9653649 -0.0482968 0.5484170 1.5499269 0.8806123 -0.1281642"],
      ["M2Q14", "0.1779150 0.2088337 -0.0475853 -0.9618305 -0.0489190 0.5490871 1.5539429 0.8812667 -0.1281909"],
    ])("velocity gradient by %s", (method, printed) => {
      expectNear(at("velocityGradient", method), printed, 1e-7);
    });

    it("velocity Hessian by M2Q8", () => {
      const printed =
        "2.229157 1.430251 -1.285695 0.767713 -1.027216 1.431611 -4.463931 -2.003307 1.595655 -1.651027 0.719167 -0.645626 2.122343 0.139438 -0.175696 0.005938 0.160305 0.585723";
      expectNear(at("velocityHessian", "M2Q8"), printed, 1e-6);
    });
  });
});

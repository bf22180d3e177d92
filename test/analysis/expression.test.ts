/** Tests the language of expressions: what parts mean, what is refused, and that no text escapes, stalls or crashes. */
import { describe, expect, it, vi } from "vitest";
import { compileExpression, compileScalar } from "../../src/analysis/expression.js";
import { formulaOf, nameList } from "../../src/analysis/names.js";
import type { BlockInputs } from "../../src/analysis/subexpression.js";
import { recordQuantity } from "../../src/server/zarr/record-quantity.js";
import { FieldprobeError } from "../../src/shared/errors.js";
import { QUANTITIES } from "../../src/shared/quantities.js";

const NAMES = { fields: { velocity: 3, pressure: 1, magnetic: 3, potential: 3, force: 3, density: 1, temperature: 1 } };
const GRADIENT = [0.3, -1.2, 0.7, 2.1, -0.4, 0.9, -1.7, 0.2, 0.6];
const VECTOR = [0.5, -1.5, 2];
const HESSIAN = [1, 2, 3, 2, 4, 5, 3, 5, 6];

function oneNode(): BlockInputs {
  const values = (key: string): number[] => {
    const [kind, field = ""] = key.split(":");
    const isVector = ["velocity", "magnetic", "potential", "force"].includes(field);
    if (kind === "hessian") return HESSIAN;
    if (kind === "gradient") return isVector ? GRADIENT : VECTOR;
    if (kind === "value" || kind === "laplacian") return isVector ? VECTOR : [0.75];
    return [0.25];
  };
  return {
    count: 1,
    input: (key, component) => Float64Array.of(values(key)[component] as number),
    computed: new Map(),
    scratch: () => new Float64Array(1),
  };
}

const numberOf = (text: string): number => compileScalar(text, NAMES).evaluate(oneNode())[0]?.[0] as number;

/** A sum in brackets that halve it. */
const sumOf = (n: number, term: string): string => (n === 1 ? term : `(${sumOf(n / 2, term)}+${sumOf(n / 2, term)})`);

describe("expressions", () => {
  it.each([
    ["-2^2", -4],
    ["(-2)^2", 4],
    ["2^3^2", 512],
    ["2^-2", 0.25],
    ["8^(1/3)", 2],
    ["(p + 0.25)^-0.5", 1],
    ["(u.x * 2)^(2/3) + 2[m] * 3", 7],
    ["1 + 2 * 3 - 4 / 2", 5],
    ["1 < 2 && !(2 <= 1) ? 7 : 8", 7],
    ["max(min(3, 4), atan2(0, 1)) + abs(-1) + sign(-3)", 3],
    ["dot(u, u)", 6.5],
    ["norm(u)", Math.sqrt(6.5)],
    ["cross(u, [1, 0, 0]).y", 2],
    ["(A * u)[0]", 0.3 * 0.5 + 1.2 * 1.5 + 0.7 * 2],
    ["tr(A * transpose(A)) - ddot(A, A)", 0],
    ["A[1][2]", 0.9],
    ["velocity.z + u.z", 4],
    ["cos(pi)", -1],
    ["(1 ? 2 : 0/0) + (0 ? 0/0 : 3)", 5],
    ["fluc(fluc(fluc(fluc(fluc(fluc(fluc(u.x)))))))", 0.5 - 7 * 0.25],
  ])("%s is %d", (text, value) => {
    expect(numberOf(text)).toBeCloseTo(value, 14);
  });

  it.each([
    ...["p < 0", "0 >= p", "p == p", "p != 1", "!p", "!!p", "p && 0", "0 && p", "1 || p", "p || 1", "p ? 1 : 2"],
    ...["(p ? u : 2 * u).x", "p^0", "p^3", "p^-1", "min(p, 1)", "max(1, p)", "atan2(p, 1)", "sign(p)"],
    ...[
      "norm([p, 0, 0])",
      "eig1([[1, p, 0], [p, 1, 0], [0, 0, 1]])",
      "eig3([[p, 0, 0], [0, 1, 0], [0, 0, 1]])",
      "det([u, [0, p, 0], u])",
    ],
  ])("%s has no value where p has none", (text) => {
    const input: BlockInputs["input"] = (key, c) =>
      key === "value:pressure" ? Float64Array.of(Number.NaN) : oneNode().input(key, c);
    expect(compileScalar(text, NAMES).evaluate({ ...oneNode(), input })[0]?.[0]).toBeNaN();
  });

  it("knows the viscosity that a dataset states", () => {
    expect(compileScalar("2 * nu * x", { ...NAMES, viscosity: 0.25 }).evaluate(oneNode())[0]?.[0]).toBe(0.125);
  });

  it.each([
    ["1 + dot(velocity, u) + u.z", ["value:dot(u, u)", "value:velocity"]],
    ["(p * u).y / p + dot(u, 2*u)", ["value:p*u", "value:pressure", "value:velocity"]],
    ["(p * u).x ^ 2 + fluc(p)", ["value:(p*u).x^2", "value:fluc(p)"]],
  ])("%s reads the means of a level: %j", (text, inputs) => {
    const averaged = ["dot(u, u)", "(p*u).x^2", "p*u", "fluc(p)"];
    expect(compileExpression(text, { ...NAMES, averaged }).inputs).toEqual(inputs);
  });

  it("compiles no part twice to find the means of a level", () => {
    const [few, many] = [[], ["7"]].map((averaged) => {
      const own = vi.fn(Reflect.getOwnPropertyDescriptor);
      const fields = new Proxy<Readonly<Record<string, number>>>(NAMES.fields, { getOwnPropertyDescriptor: own });
      compileExpression(`${"(".repeat(25)}lambda2${" + lambda2)".repeat(25)}`, { fields, averaged });
      return own.mock.calls.length;
    });
    expect(many).toBe(few);
  });

  it("has eigenvalues with the trace and the determinant of their tensor", () => {
    expect(numberOf("eig1(S) + eig2(S) + eig3(S) - tr(S)")).toBeCloseTo(0, 13);
    expect(numberOf("eig1(S) * eig2(S) * eig3(S) - det(S)")).toBeCloseTo(0, 13);
    expect(numberOf("eig1(S) >= eig2(S) && eig2(S) >= eig3(S)")).toBe(1);
  });
});

function recordOf(operation: string): readonly number[] {
  if (/Hessian$/.test(operation)) return [1, 2, 3, 4, 5, 6];
  if (/(Velocity|MagneticField)Gradient$/.test(operation)) return GRADIENT;
  if (/Gradient$/.test(operation)) return VECTOR;
  if (operation === "GetVelocityAndPressure") return [...VECTOR, 0.75];
  return operation === "GetDensity" || operation === "GetTemperature" ? [0.75] : VECTOR;
}

describe("quantities of pictures", () => {
  it.each(QUANTITIES.filter(({ method }) => method !== null))("$name is the same at nodes and from records", (row) => {
    const viscosity = 0.25;
    const [value] = compileScalar(row.expression, { ...NAMES, viscosity }).evaluate(oneNode());
    const record = recordOf(row.operation);
    expect(value?.[0]).toBeCloseTo(recordQuantity(row, viscosity)(record, record.length, 0, 1)[0] as number, 12);
  });
});

describe("refusals name the column", () => {
  it.each(["filter(A)", "filter(S)", "filter(omega)", "tau", "Pi", "lap(A)", "DDt(density)", "Q"])("%s", (text) => {
    const names = { fields: { density: 1 }, isFiltered: text === "tau" ? ("box" as const) : true };
    expect(() => compileExpression(text, names)).toThrow("the dataset has no velocity (column ");
  });

  it("proposes what the dataset has", () => {
    const compiled = (field: string) => () => compileExpression("b", { fields: { [field]: 3 }, refusesEarlier: true });
    expect(compiled("magnetic")).toThrow("nothing has the name b; write norm(magnetic)");
    expect(compiled("flux")).toThrow("b: the dataset has no magnetic");
  });

  it.each([
    ["", "it is empty"],
    ["ux uy", "an operator is missing; + is %2B in an address"],
    ["fluc(u.x) + bogus", /nothing has the name bogus; names are .* \(column 13\)/],
    ["max(1e+5 > 2[m], -(p)) - u", "- joins a scalar and a vector (column 24)"],
    ["max(1.2[m], m)", /nothing has the name m; names are .* \(column 13\)/],
    ["filter(ux * p, gaussian : 0.8) + )", "Expected expression after + (column 34)"],
    ["ux + u", "+ joins a scalar and a vector (column 4)"],
    ["u * u", "* takes scalars, not a vector (column 3)"],
    ["sqrt(u)", "sqrt takes scalar, not vector (column 1)"],
    ["nu", "the dataset states no viscosity; 2*ddot(S,S) is the dissipation over it (column 1)"],
    ["epsilon", "epsilon: nu is not known"],
    ["ux + dissipation", "nothing has the name dissipation; epsilon is 2*nu*ddot(S,S)"],
    ["q", "nothing has the name q; Q is -tr(A*A)/2"],
    ["r", "nothing has the name r; R is -det(A) (column 1)"],
    ["u.w", "components of a vector are .x, .y and .z, or [0], [1] and [2] (column 3)"],
    ["u.constructor", "components of a vector are .x, .y and .z"],
    ["u[-1]", "components of a vector are .x, .y and .z, or [0], [1] and [2] (column 2)"],
    ["A[0][3]", "components of a vector are"],
    ["A.x", "components of a tensor are [0][0] to [2][2] (column 3)"],
    ["p[0]", "a scalar has no components (column 2)"],
    ["ux +\nuy", "an expression is one line, without tabs (column 5)"],
    ["constructor", "nothing has the name constructor"],
    ["ux ^ uy", "an exponent is a constant from -16 to 16 (column 4)"],
    ["ux ^ (33/2)", "an exponent is a constant from -16 to 16"],
    ["ux ^ (2[m])", "an exponent has no unit, and this one is in m (column 4)"],
    ["1.2[", "Expected ] after a unit"],
    ["1.2[]", "[] is not a unit (column 4)"],
    ["boxux", "nothing has the name boxux"],
    ["'text'", "text is not a number"],
    [`${"(".repeat(40)}1${")".repeat(40)}`, "nested deeper than 32"],
    [Array.from({ length: 200 }, () => "ux").join("+"), "nested deeper than 32"],
    [sumOf(256, "1"), "expression: it has more than 256 parts"],
    [sumOf(128, "enstrophy"), "with formulas written out, the expression has more than 4096 parts"],
  ])("%s", (text, message) => {
    expect(() => compileExpression(text, NAMES)).toThrow(message);
  });
});

it("neither escapes nor crashes on 10 000 random expressions", () => {
  const words = [
    ..."+-*/^<>!?:()[],.&|=%~'\"`;{}@#$ ",
    ..."u ux A S w p 1 0 2 1e308 .5 x pi && || [0] .x ( ) eig1( this constructor __proto__ prototype".split(" "),
    ..."globalThis process norm( dot( sqrt( ^ - ?".split(" "),
  ];
  let seed = 20_261_123;
  const random = (n: number): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((seed / 2 ** 32) * n);
  };
  let compiled = 0;
  for (let i = 0; i < 10_000; i++) {
    const text = Array.from({ length: 1 + random(12) }, () => words[random(words.length)]).join("");
    try {
      const [first] = compileScalar(text, NAMES).evaluate(oneNode());
      expect(first, text).toBeInstanceOf(Float64Array);
      compiled++;
    } catch (error) {
      if (!(error instanceof FieldprobeError)) throw new Error(`${text}: ${String(error)}`, { cause: error });
      expect(error.message.split("\n"), text).toHaveLength(1);
    }
  }
  expect(compiled).toBeGreaterThan(100);
});

it.each(["ddt", "DDt"])("%s takes sums of thirty terms", (name) => {
  expect(compileExpression(`${name}(p${" + p".repeat(29)})`, NAMES).shape).toBe("scalar");
});

describe("units that a dataset states", () => {
  const units = { length: "m", time: "s", velocity: "m/s", pressure: "Pa" };
  const names = { ...NAMES, viscosity: 1e-6, units, isFiltered: true };
  const compile = (text: string, stated: typeof names | typeof NAMES = names) => compileExpression(text, stated, "of");

  it.each([
    ["u.x + p", "+ joins m/s and Pa (column 5)"],
    ["p > dot(u, u)", "> joins Pa and m²/s² (column 3)"],
    ["x > 1 ? u.x : p", "the two sides of : are m/s and Pa (column 7)"],
    [
      "exp(-dot(u, u))",
      "exp takes a number without unit, not m²/s²: divide by a constant with a unit, such as 1[m] (column 1)",
    ],
    ["p / 1.2[kg/m2] + dot(u, u)", "+ joins Pa m²/kg and m²/s² (column 16)"],
    ["norm(u)^(1/3) + t", "+ joins m^(1/3)/s^(1/3) and s (column 15)"],
    ["max(x, t)", "max takes parts of one unit, not m and s (column 1)"],
    ["[u.x, 0, p]", "brackets hold m/s and a number and Pa (column 1)"],
    ["sqrt(det(A)) - norm(omega)", "- joins 1/s^1.5 and 1/s (column 14)"],
    ["d(p*density, x) + d(dot(u, u)*density, x)", "+ joins Pa density/m and m density/s² (column 17)"],
    ["[density, p, u.x]", "brackets hold density and Pa and m/s (column 1)"],
    ["density + p + u.x", "+ joins Pa and m/s (column 13)"],
    ["min(density + temperature + u.x, p)", "min takes parts of one unit, not m/s and Pa (column 1)"],
  ])("refuse %s", (text, told) => {
    expect(() => compile(text)).toThrow(`of: ${told}.`);
    expect(() => compile(text, NAMES)).not.toThrow();
  });

  it.each([
    "u.x + x / t",
    "2 * nu * ddot(S, S) - norm(u)^3 / x",
    "u.x > 2 && p < 1 ? sqrt(dot(u, u)) : 0",
    "atan2(u.y, u.x) + exp(norm(omega) * t) + sign(p)",
    "p + density",
    "norm(grad(temperature)) + u.x",
    "helicity / (norm(u) * norm(omega)) - 0.5",
    "force * t - u",
    "p/1.2[kg/m3] + dot(u, u)/2",
    "p / 1.2[kg m-3] + dot(u, u)/2",
    "sin(2*pi*x/1[m]) + exp(-t/0.5[s])",
    "(norm(u)^3)^(1/3) + u.x + (norm(u)^(1/3))^3",
    "nu^(1/2) * norm(omega)^0.5 - norm(u)",
    "x + 1[m] * 2",
  ])("admit %s, in which units fit or are not stated", (text) => {
    expect(() => compile(text)).not.toThrow();
  });

  it.each([
    ["u", "m/s"],
    ["dot(u, u) / 2", "m²/s²"],
    ["nu^(1/2)", "m/s^0.5"],
    ["norm(u)^(2/3)", "m^(2/3)/s^(2/3)"],
    ["p < 0", "1"],
    ["p * density", null],
    ["p + density", "Pa"],
    ["density - temperature", null],
    ["u * density / density", "m/s"],
    ["1.2[kg/m3]", "kg/m³"],
  ])("are those of %s: %s", (text, unit) => {
    expect(compile(text).unit).toBe(unit);
  });

  it("are a field's own where it states one", () => {
    expect(compile("force", { ...names, units: { ...units, force: "N" } } as typeof names).unit).toBe("N");
  });

  it("are ignored if that is asked", () => {
    const ignored = { ...names, units: null };
    for (const text of ["u.x + p", "sin(2*pi*x)", "1[kg] + 2[m]", "p/1.2[kg/m3] + t"])
      expect(compileExpression(text, ignored).unit).not.toBe("m/s");
  });

  it("admit every named quantity and its formula", () => {
    for (const name of [...QUANTITIES.flatMap((row) => (row.method === null ? [] : row.name)), ...nameList(NAMES)])
      expect([name, compile(formulaOf(name) ?? name).shape]).toEqual([name, compile(name).shape]);
  });
});

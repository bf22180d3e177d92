/** Units, and the quantities that have names: each an expression on the record of one operation. */
import {
  GRADIENT_METHODS,
  LAPLACIAN_METHODS,
  type OperationName,
  type SpatialInterpolation,
  VALUE_METHODS,
} from "./operations.js";

/** Physical dimensions as powers of the units that a dataset states. */
export const MEASURES = {
  length: { length: 1 },
  time: { time: 1 },
  velocity: { velocity: 1 },
  pressure: { pressure: 1 },
  force: { force: 1 },
  stress: { velocity: 2 },
  rate: { time: -1 },
  rateSquared: { time: -2 },
  rateCubed: { time: -3 },
  dissipation: { velocity: 2, time: -1 },
  pressureGradient: { pressure: 1, length: -1 },
  pressureLaplacian: { pressure: 1, length: -2 },
  velocityLaplacian: { velocity: 1, length: -2 },
  magnetic: { magnetic: 1 },
  current: { magnetic: 1, length: -1 },
  potential: { potential: 1 },
  density: { density: 1 },
  densityGradient: { density: 1, length: -1 },
  temperature: { temperature: 1 },
  temperatureGradient: { temperature: 1, length: -1 },
} as const satisfies Readonly<Record<string, Readonly<Record<string, number>>>>;
export type Measure = keyof typeof MEASURES;

const SUPERSCRIPTS: Readonly<Record<string, string>> = { "2": "²", "3": "³", "4": "⁴" };

const UNIT_NAME = /[A-Za-z%\u00b0\u00b5\u03a9_]+/y;
/** A power after a name or a bracket: `2`, `^2`, `-1`, `^-0.5`, `^(1/3)`; not a number that stands on its own. */
const UNIT_POWER = /\^?([-+]?\d+(?:\.\d+)?)|\^\(([-+]?\d+(?:\.\d+)?)(?:\/(\d+))?\)/y;
const UNIT_SEPARATOR = /\s*[*\u00b7.]\s*|\s+/y;

/**
 * The factors of a unit with their powers: `m/s^2`, `kg m-3`, `U_b/h`, `kg/(m s^2)`, `(m/s)^2`, `m^(1/3)`. All factors
 * behind a `/` divide. Null if it has any other part, such as a number.
 */
export function unitFactors(unit: string): ReadonlyMap<string, number> | null {
  const factors = new Map<string, number>();
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const found = pattern.exec(unit);
    if (found !== null) at += found[0].length;
    return found;
  };
  const power = (): number => {
    const [found, plain, above = plain, below = "1"] = take(UNIT_POWER) ?? [];
    return found === undefined ? 1 : Number(above) / Number(below);
  };
  /** A factor, or a product in brackets; false where there is none. */
  const factor = (into: Map<string, number>, sign: number): boolean => {
    if (unit[at] === "(") {
      at++;
      const inside = new Map<string, number>();
      if (!product(inside) || unit[at++] !== ")") return false;
      const of = power();
      for (const [name, own] of inside) into.set(name, (into.get(name) ?? 0) + sign * own * of);
      return true;
    }
    if (unit[at] === "1" && !/^1[\d.^]/.test(unit.slice(at))) {
      at++;
      return true;
    }
    const [name] = take(UNIT_NAME) ?? [];
    if (name === undefined) return false;
    into.set(name, (into.get(name) ?? 0) + sign * power());
    return true;
  };
  const product = (into: Map<string, number>): boolean => {
    let sign = 1;
    if (!factor(into, sign)) return false;
    while (at < unit.length && unit[at] !== ")") {
      const isDivided = take(/\s*\/\s*/y) !== null;
      if (isDivided) sign = -1;
      else if (take(UNIT_SEPARATOR) === null) return false;
      if (!factor(into, sign)) return false;
    }
    return true;
  };
  return product(factors) && at === unit.length ? factors : null;
}

/** Multiplies a product of powers by a power of a unit; one of unknown form is a factor as a whole. */
export function multiplyUnit(product: Map<string, number>, unit: string, power: number): void {
  for (const [name, of] of unitFactors(unit.trim()) ?? [[unit, 1] as const])
    product.set(name, (product.get(name) ?? 0) + power * of);
}

/** The unit of a measure in the units that a dataset states; empty if it has none, or depends on one that is not stated. */
export function unitOf({ units }: { readonly units: Readonly<Record<string, string>> }, measure: Measure): string {
  const product = new Map<string, number>();
  const isRate = measure === "force" && units.force === undefined;
  for (const [base, power] of Object.entries(isRate ? { velocity: 1, time: -1 } : MEASURES[measure])) {
    if (units[base] === undefined) return "";
    multiplyUnit(product, units[base], power);
  }
  return unitText(product);
}

/** A power as a number or, if it has no short decimal, as a fraction. */
function powerText(power: number): string {
  const below = [3, 6, 7, 9, 11, 12, 13, 14, 15].find((n) => Math.abs(power * n - Math.round(power * n)) < 1e-9);
  const isShort = Math.abs(power * 10_000 - Math.round(power * 10_000)) < 1e-7;
  return isShort || below === undefined ? String(power) : `(${Math.round(power * below)}/${below})`;
}

/** A product of powers of units as text; empty if there are none. */
export function unitText(product: ReadonlyMap<string, number>): string {
  const side = (sign: 1 | -1) =>
    [...product]
      .filter(([, power]) => power * sign > 0)
      .map(
        ([name, power]) =>
          name + (Math.abs(power) === 1 ? "" : (SUPERSCRIPTS[Math.abs(power)] ?? `^${powerText(Math.abs(power))}`)),
      );
  const [above, below] = [side(1), side(-1)];
  if (above.length + below.length === 0) return "";
  const bottom = below.length > 1 ? `(${below.join(" ")})` : below.join("");
  return (above.join(" ") || "1") + (bottom === "" ? "" : `/${bottom}`);
}

/** A scalar that can be drawn. */
export interface Quantity {
  readonly name: string;
  readonly title: string;
  /**
   * In the language of `analysis/expression.ts`, on what the records of the operation hold: those of a box filter hold
   * the mean velocity or pressure, or components of the stress.
   */
  readonly expression: string;
  /** Physical dimension, from which its unit follows. */
  readonly measure: Measure;
  readonly operation: OperationName;
  /** Spatial options, and the usual one; none for box filters, which take a filter width instead. */
  readonly methods: readonly SpatialInterpolation[];
  readonly method: SpatialInterpolation | null;
  /** Whether it needs a dataset that states its viscosity. */
  readonly needsViscosity?: true;
}

/** How names of expressions are printed. */
const SYMBOLS: Readonly<Record<string, string>> = {
  A: "∇u",
  omega: "ω",
  nu: "ν",
  force: "f",
  magnetic: "b",
  potential: "a",
  density: "ρ",
  temperature: "T",
  ...Object.fromEntries(["xx", "yy", "zz", "xy", "xz", "yz"].map((axes) => [axes, `τ${axes}`])),
};
const DERIVATIVES_OF: Readonly<Record<string, string>> = { grad: "∇", hess: "∇∇", lap: "∇²", curl: "∇×" };
/** What printed symbols mean. */
const MEANINGS = [
  ["ω", "ω = ∇×u"],
  ["S", "S = (∇u + ∇uᵀ) / 2"],
  ["τ", "τij = mean(ui uj) − mean(ui) mean(uj)"],
] as const;

/** Prints the expression of a quantity as a formula: `sqrt(2 * ddot(S, S))` as √(2 S : S), S = (∇u + ∇uᵀ) / 2. */
export function formulaText({ expression, operation }: Pick<Quantity, "expression" | "operation">): string {
  const printed = expression
    .replaceAll(/\b(grad|hess|lap|curl)\((\w+)\)/g, (_, name: string, of: string) => DERIVATIVES_OF[name] + of)
    .replaceAll(/[A-Za-z_]+/g, (name) => (Object.hasOwn(SYMBOLS, name) ? (SYMBOLS[name] as string) : name))
    .replaceAll(/\bddot\(([^,]+), ([^)]+)\)/g, "$1 : $2")
    .replaceAll(/\bdot\(([^,]+), ([^)]+)\)/g, "$1 · $2")
    .replaceAll(/\bnorm\(([^)]+)\)/g, "|$1|")
    .replaceAll("sqrt", "√")
    .replaceAll(/ \* |\.(?=[xyz]\b)/g, (operator) => (operator === "." ? "" : " "))
    .replaceAll("-", "−");
  const meanings = MEANINGS.filter(([symbol]) => printed.includes(symbol)).map(([, meaning]) => `, ${meaning}`);
  const isMean = operation === "GetBoxFilterVelocity" || operation === "GetBoxFilterPressure";
  return `${printed}${meanings.join("")}${isMean ? ", means over the box" : ""}`;
}

const VALUE = { methods: VALUE_METHODS, method: "Lag6" } as const;
const DERIVATIVE = { methods: LAPLACIAN_METHODS, method: "Fd4Lag4" } as const;
const FILTERED = { methods: [], method: null } as const;
const VELOCITY = { ...VALUE, operation: "GetVelocity", measure: "velocity" } as const;
const PRESSURE = { ...VALUE, operation: "GetVelocityAndPressure", measure: "pressure" } as const;
const FORCE = { ...VALUE, operation: "GetForce", measure: "force" } as const;
const GRADIENT = { methods: GRADIENT_METHODS, method: "Fd4Lag4", operation: "GetVelocityGradient" } as const;
const LAPLACIAN = { ...DERIVATIVE, operation: "GetVelocityLaplacian", measure: "velocityLaplacian" } as const;
const MAGNETIC = { ...VALUE, operation: "GetMagneticField", measure: "magnetic" } as const;
const POTENTIAL = { ...VALUE, operation: "GetVectorPotential", measure: "potential" } as const;
const BOX_VELOCITY = { ...FILTERED, operation: "GetBoxFilterVelocity", measure: "velocity" } as const;
const BOX_STRESS = { ...FILTERED, operation: "GetBoxFilterSGSStress", measure: "stress" } as const;

/** All quantities, in the order in which they are offered. */
export const QUANTITIES = [
  { name: "ux", title: "Velocity x", expression: "u.x", ...VELOCITY },
  { name: "uy", title: "Velocity y", expression: "u.y", ...VELOCITY },
  { name: "uz", title: "Velocity z", expression: "u.z", ...VELOCITY },
  { name: "p", title: "Pressure", expression: "p", ...PRESSURE },
  { name: "speed", title: "Speed |u|", expression: "norm(u)", ...VELOCITY },
  { name: "vorticity", title: "Vorticity magnitude", expression: "norm(omega)", ...GRADIENT, measure: "rate" },
  { name: "wx", title: "Vorticity x", expression: "omega.x", ...GRADIENT, measure: "rate" },
  { name: "wy", title: "Vorticity y", expression: "omega.y", ...GRADIENT, measure: "rate" },
  { name: "wz", title: "Vorticity z", expression: "omega.z", ...GRADIENT, measure: "rate" },
  { name: "enstrophy", title: "Enstrophy", expression: "dot(omega, omega) / 2", ...GRADIENT, measure: "rateSquared" },
  { name: "strain", title: "Strain rate |S|", expression: "sqrt(2 * ddot(S, S))", ...GRADIENT, measure: "rate" },
  {
    name: "epsilon",
    title: "Dissipation",
    expression: "2 * nu * ddot(S, S)",
    ...GRADIENT,
    measure: "dissipation",
    needsViscosity: true,
  },
  { name: "Q", title: "Second invariant Q", expression: "-tr(A * A) / 2", ...GRADIENT, measure: "rateSquared" },
  { name: "R", title: "Third invariant R", expression: "-det(A)", ...GRADIENT, measure: "rateCubed" },
  { name: "divergence", title: "Divergence", expression: "tr(A)", ...GRADIENT, measure: "rate" },
  {
    name: "gradpressure",
    title: "Pressure gradient |∇p|",
    expression: "norm(grad(p))",
    ...DERIVATIVE,
    operation: "GetPressureGradient",
    measure: "pressureGradient",
  },
  {
    name: "lapp",
    title: "Laplacian of pressure",
    expression: "tr(hess(p))",
    ...DERIVATIVE,
    operation: "GetPressureHessian",
    measure: "pressureLaplacian",
  },
  { name: "lapux", title: "Laplacian of velocity x", expression: "lap(u).x", ...LAPLACIAN },
  { name: "lapuy", title: "Laplacian of velocity y", expression: "lap(u).y", ...LAPLACIAN },
  { name: "lapuz", title: "Laplacian of velocity z", expression: "lap(u).z", ...LAPLACIAN },
  { name: "fx", title: "Force x", expression: "force.x", ...FORCE },
  { name: "fy", title: "Force y", expression: "force.y", ...FORCE },
  { name: "fz", title: "Force z", expression: "force.z", ...FORCE },
  { name: "bx", title: "Magnetic field x", expression: "magnetic.x", ...MAGNETIC },
  { name: "by", title: "Magnetic field y", expression: "magnetic.y", ...MAGNETIC },
  { name: "bz", title: "Magnetic field z", expression: "magnetic.z", ...MAGNETIC },
  { name: "b", title: "Magnetic field |b|", expression: "norm(magnetic)", ...MAGNETIC },
  {
    name: "current",
    title: "Current density |∇×b|",
    expression: "norm(curl(magnetic))",
    ...GRADIENT,
    operation: "GetMagneticFieldGradient",
    measure: "current",
  },
  { name: "ax", title: "Vector potential x", expression: "potential.x", ...POTENTIAL },
  { name: "ay", title: "Vector potential y", expression: "potential.y", ...POTENTIAL },
  { name: "az", title: "Vector potential z", expression: "potential.z", ...POTENTIAL },
  { name: "density", title: "Density", expression: "density", ...VALUE, operation: "GetDensity", measure: "density" },
  {
    name: "graddensity",
    title: "Density gradient |∇ρ|",
    expression: "norm(grad(density))",
    ...GRADIENT,
    operation: "GetDensityGradient",
    measure: "densityGradient",
  },
  {
    name: "temperature",
    title: "Temperature",
    expression: "temperature",
    ...VALUE,
    operation: "GetTemperature",
    measure: "temperature",
  },
  {
    name: "gradtemperature",
    title: "Temperature gradient |∇T|",
    expression: "norm(grad(temperature))",
    ...GRADIENT,
    operation: "GetTemperatureGradient",
    measure: "temperatureGradient",
  },
  { name: "boxux", title: "Filtered velocity x", expression: "u.x", ...BOX_VELOCITY },
  { name: "boxuy", title: "Filtered velocity y", expression: "u.y", ...BOX_VELOCITY },
  { name: "boxuz", title: "Filtered velocity z", expression: "u.z", ...BOX_VELOCITY },
  { name: "boxspeed", title: "Filtered speed", expression: "norm(u)", ...BOX_VELOCITY },
  {
    name: "boxp",
    title: "Filtered pressure",
    expression: "p",
    ...FILTERED,
    operation: "GetBoxFilterPressure",
    measure: "pressure",
  },
  { name: "sgsenergy", title: "Subgrid energy", expression: "(xx + yy + zz) / 2", ...BOX_STRESS },
  { name: "sgsxx", title: "SGS stress xx", expression: "xx", ...BOX_STRESS },
  { name: "sgsyy", title: "SGS stress yy", expression: "yy", ...BOX_STRESS },
  { name: "sgszz", title: "SGS stress zz", expression: "zz", ...BOX_STRESS },
  { name: "sgsxy", title: "SGS stress xy", expression: "xy", ...BOX_STRESS },
  { name: "sgsxz", title: "SGS stress xz", expression: "xz", ...BOX_STRESS },
  { name: "sgsyz", title: "SGS stress yz", expression: "yz", ...BOX_STRESS },
] as const satisfies readonly Quantity[];

/** Computes derived quantities, each by a formula on the record of one operation. */
import { DERIVATIVES, GRADIENTS, type OperationName, type SpatialInterpolation, VALUES } from "./operations.js";

/** Physical dimensions as powers of the units that a dataset states. */
export const MEASURES = {
  length: { length: 1 },
  time: { time: 1 },
  velocity: { velocity: 1 },
  pressure: { pressure: 1 },
  acceleration: { velocity: 1, time: -1 },
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
/** A power behind a name or a bracket: `2`, `^2`, `-1`, `^-0.5`, `^(1/3)`; not a number that stands on its own. */
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

/** The unit of a measure in the units that a dataset states; empty if it has none. */
export function unitOf({ units }: { readonly units: Readonly<Record<string, string>> }, measure: Measure): string {
  const product = new Map<string, number>();
  for (const [base, power] of Object.entries(MEASURES[measure])) multiplyUnit(product, units[base] ?? "1", power);
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

/** A scalar that can be drawn: a formula and the operation whose records it reads. */
export interface Quantity {
  readonly name: string;
  readonly title: string;
  /** Names the formula, in the component names of the operation. */
  readonly formula: string;
  /** The same in the language of `analysis/expression.ts`; null if it is a filter, which has none there. */
  readonly expression: string | null;
  /** Physical dimension, from which its unit follows. */
  readonly measure: Measure;
  readonly operation: OperationName;
  /** Spatial options, and the usual one; none for box filters, which take a filter width instead. */
  readonly methods: readonly SpatialInterpolation[];
  readonly method: SpatialInterpolation | null;
  /** Whether it is of datasets that state their viscosity only. */
  readonly needsViscosity?: true;
  /** Computes the quantity of the record that starts at `at`, in float64. */
  readonly of: (values: ArrayLike<number>, at: number, viscosity?: number | null) => number;
}

type Formula = Quantity["of"];
type Nine = [number, number, number, number, number, number, number, number, number];

const component =
  (index: number): Formula =>
  (values, at) =>
    values[at + index];

/** Magnitude of a vector. */
const magnitude: Formula = (v, at) => Math.hypot(v[at], v[at + 1], v[at + 2]);

/** Difference of two components. */
const difference =
  (a: number, b: number): Formula =>
  (values, at) =>
    values[at + a] - values[at + b];

/** Components of the curl from a gradient, rows by component: A_zy - A_yz, A_xz - A_zx, A_yx - A_xy. */
const CURL = [difference(7, 5), difference(2, 6), difference(3, 1)] as const;

const vorticity: Formula = (g, at) => Math.hypot(CURL[0](g, at), CURL[1](g, at), CURL[2](g, at));

const enstrophy: Formula = (g, at) => 0.5 * CURL.reduce((sum, curl) => sum + curl(g, at) ** 2, 0);

const divergence: Formula = (g, at) => g[at] + g[at + 4] + g[at + 8];

/** Squared strain rate S_ij S_ij with S the symmetric part of the gradient. */
function strainSquared(g: ArrayLike<number>, at: number): number {
  const diagonal = g[at] ** 2 + g[at + 4] ** 2 + g[at + 8] ** 2;
  const [xy, xz, yz] = [
    [1, 3],
    [2, 6],
    [5, 7],
  ].map(([a, b]) => (g[at + a] + g[at + b]) / 2) as [number, number, number];
  return diagonal + 2 * (xy * xy + xz * xz + yz * yz);
}

const strainRate: Formula = (g, at) => Math.sqrt(2 * strainSquared(g, at));

const dissipation: Formula = (g, at, viscosity) => 2 * (viscosity ?? Number.NaN) * strainSquared(g, at);

/** Computes half the difference of squared rotation and squared strain: -(A_ij A_ji) / 2. */
const secondInvariant: Formula = (g, at) => {
  const diagonal = g[at] ** 2 + g[at + 4] ** 2 + g[at + 8] ** 2;
  const crossed = g[at + 1] * g[at + 3] + g[at + 2] * g[at + 6] + g[at + 5] * g[at + 7];
  return -0.5 * (diagonal + 2 * crossed);
};

/** Computes the third invariant of an incompressible flow, -det A. */
const thirdInvariant: Formula = (g, at) => {
  const [a, b, c, d, e, f, h, i, j] = Array.from({ length: 9 }, (_, k) => g[at + k]) as Nine;
  return -(a * (e * j - f * i) - b * (d * j - f * h) + c * (d * i - e * h));
};

/** Trace of a Hessian stored as xx, xy, xz, yy, yz, zz. */
const hessianTrace: Formula = (h, at) => h[at] + h[at + 3] + h[at + 5];

/** Trace of a stress stored as xx, yy, zz, xy, xz, yz, halved: the kinetic energy below the filter. */
const subgridEnergy: Formula = (s, at) => 0.5 * (s[at] + s[at + 1] + s[at + 2]);

const VALUE = { methods: VALUES, method: "Lag6" } as const;
const DERIVATIVE = { methods: DERIVATIVES, method: "Fd4Lag4" } as const;
const FILTERED = { methods: [], method: null } as const;
const VELOCITY = { ...VALUE, operation: "GetVelocity", measure: "velocity" } as const;
const PRESSURE = { ...VALUE, operation: "GetVelocityAndPressure", measure: "pressure" } as const;
const FORCE = { ...VALUE, operation: "GetForce", measure: "acceleration" } as const;
const GRADIENT = { methods: GRADIENTS, method: "Fd4Lag4", operation: "GetVelocityGradient" } as const;
const LAPLACIAN = { ...DERIVATIVE, operation: "GetVelocityLaplacian", measure: "velocityLaplacian" } as const;
const MAGNETIC = { ...VALUE, operation: "GetMagneticField", measure: "magnetic" } as const;
const POTENTIAL = { ...VALUE, operation: "GetVectorPotential", measure: "potential" } as const;
const BOX_VELOCITY = { ...FILTERED, operation: "GetBoxFilterVelocity", measure: "velocity" } as const;
const BOX_STRESS = { ...FILTERED, operation: "GetBoxFilterSGSStress", measure: "stress" } as const;

/** All quantities, in the order in which they are offered. */
export const QUANTITIES = [
  { name: "ux", title: "Velocity x", formula: "ux", expression: "u.x", ...VELOCITY, of: component(0) },
  { name: "uy", title: "Velocity y", formula: "uy", expression: "u.y", ...VELOCITY, of: component(1) },
  { name: "uz", title: "Velocity z", formula: "uz", expression: "u.z", ...VELOCITY, of: component(2) },
  { name: "p", title: "Pressure", formula: "p", expression: "pressure", ...PRESSURE, of: component(3) },
  {
    name: "speed",
    title: "Speed |u|",
    formula: "√(ux² + uy² + uz²)",
    expression: "norm(u)",
    ...VELOCITY,
    of: magnitude,
  },
  {
    name: "vorticity",
    title: "Vorticity magnitude",
    formula: "|ω|, ω = (duzdy − duydz, duxdz − duzdx, duydx − duxdy)",
    expression: "norm(w)",
    ...GRADIENT,
    measure: "rate",
    of: vorticity,
  },
  {
    name: "wx",
    title: "Vorticity x",
    formula: "duzdy − duydz",
    expression: "w.x",
    ...GRADIENT,
    measure: "rate",
    of: CURL[0],
  },
  {
    name: "wy",
    title: "Vorticity y",
    formula: "duxdz − duzdx",
    expression: "w.y",
    ...GRADIENT,
    measure: "rate",
    of: CURL[1],
  },
  {
    name: "wz",
    title: "Vorticity z",
    formula: "duydx − duxdy",
    expression: "w.z",
    ...GRADIENT,
    measure: "rate",
    of: CURL[2],
  },
  {
    name: "enstrophy",
    title: "Enstrophy",
    formula: "|ω|² / 2",
    expression: "dot(w, w) / 2",
    ...GRADIENT,
    measure: "rateSquared",
    of: enstrophy,
  },
  {
    name: "strain",
    title: "Strain rate |S|",
    formula: "√(2 Sij Sij), Sij = (duidxj + dujdxi) / 2",
    expression: "sqrt(2 * ddot(S, S))",
    ...GRADIENT,
    measure: "rate",
    of: strainRate,
  },
  {
    name: "epsilon",
    title: "Dissipation",
    formula: "ε = 2 ν Sij Sij, Sij = (duidxj + dujdxi) / 2",
    expression: "2 * nu * ddot(S, S)",
    ...GRADIENT,
    measure: "dissipation",
    needsViscosity: true,
    of: dissipation,
  },
  {
    name: "Q",
    title: "Second invariant Q",
    formula: "−duidxj dujdxi / 2",
    expression: "-tr(A * A) / 2",
    ...GRADIENT,
    measure: "rateSquared",
    of: secondInvariant,
  },
  {
    name: "R",
    title: "Third invariant R",
    formula: "−det(duidxj)",
    expression: "-det(A)",
    ...GRADIENT,
    measure: "rateCubed",
    of: thirdInvariant,
  },
  {
    name: "divergence",
    title: "Divergence",
    formula: "duxdx + duydy + duzdz",
    expression: "tr(A)",
    ...GRADIENT,
    measure: "rate",
    of: divergence,
  },
  {
    name: "gradpressure",
    title: "Pressure gradient |∇p|",
    formula: "√(dpdx² + dpdy² + dpdz²)",
    expression: "norm(gradp)",
    ...DERIVATIVE,
    operation: "GetPressureGradient",
    measure: "pressureGradient",
    of: magnitude,
  },
  {
    name: "lapp",
    title: "Laplacian of pressure",
    formula: "d2pdxdx + d2pdydy + d2pdzdz",
    expression: "tr(H_p)",
    ...DERIVATIVE,
    operation: "GetPressureHessian",
    measure: "pressureLaplacian",
    of: hessianTrace,
  },
  {
    name: "lapux",
    title: "Laplacian of velocity x",
    formula: "∇²ux",
    expression: "lapu.x",
    ...LAPLACIAN,
    of: component(0),
  },
  {
    name: "lapuy",
    title: "Laplacian of velocity y",
    formula: "∇²uy",
    expression: "lapu.y",
    ...LAPLACIAN,
    of: component(1),
  },
  {
    name: "lapuz",
    title: "Laplacian of velocity z",
    formula: "∇²uz",
    expression: "lapu.z",
    ...LAPLACIAN,
    of: component(2),
  },
  { name: "fx", title: "Force x", formula: "fx", expression: "force.x", ...FORCE, of: component(0) },
  { name: "fy", title: "Force y", formula: "fy", expression: "force.y", ...FORCE, of: component(1) },
  { name: "fz", title: "Force z", formula: "fz", expression: "force.z", ...FORCE, of: component(2) },
  {
    name: "bx",
    title: "Magnetic field x",
    formula: "bx",
    expression: "magnetic.x",
    ...MAGNETIC,
    of: component(0),
  },
  {
    name: "by",
    title: "Magnetic field y",
    formula: "by",
    expression: "magnetic.y",
    ...MAGNETIC,
    of: component(1),
  },
  {
    name: "bz",
    title: "Magnetic field z",
    formula: "bz",
    expression: "magnetic.z",
    ...MAGNETIC,
    of: component(2),
  },
  {
    name: "b",
    title: "Magnetic field |b|",
    formula: "√(bx² + by² + bz²)",
    expression: "norm(magnetic)",
    ...MAGNETIC,
    of: magnitude,
  },
  {
    name: "current",
    title: "Current density |∇×b|",
    formula: "|(dbzdy − dbydz, dbxdz − dbzdx, dbydx − dbxdy)|",
    expression: "sqrt(ddot(grad_magnetic, grad_magnetic) - ddot(grad_magnetic, transpose(grad_magnetic)))",
    ...GRADIENT,
    operation: "GetMagneticFieldGradient",
    measure: "current",
    of: vorticity,
  },
  {
    name: "ax",
    title: "Vector potential x",
    formula: "ax",
    expression: "potential.x",
    ...POTENTIAL,
    of: component(0),
  },
  {
    name: "ay",
    title: "Vector potential y",
    formula: "ay",
    expression: "potential.y",
    ...POTENTIAL,
    of: component(1),
  },
  {
    name: "az",
    title: "Vector potential z",
    formula: "az",
    expression: "potential.z",
    ...POTENTIAL,
    of: component(2),
  },
  {
    name: "density",
    title: "Density",
    formula: "ρ",
    expression: "density",
    ...VALUE,
    operation: "GetDensity",
    measure: "density",
    of: component(0),
  },
  {
    name: "graddensity",
    title: "Density gradient |∇ρ|",
    formula: "√(dρdx² + dρdy² + dρdz²)",
    expression: "norm(grad_density)",
    ...GRADIENT,
    operation: "GetDensityGradient",
    measure: "densityGradient",
    of: magnitude,
  },
  {
    name: "temperature",
    title: "Temperature",
    formula: "T",
    expression: "temperature",
    ...VALUE,
    operation: "GetTemperature",
    measure: "temperature",
    of: component(0),
  },
  {
    name: "gradtemperature",
    title: "Temperature gradient |∇T|",
    formula: "√(dTdx² + dTdy² + dTdz²)",
    expression: "norm(grad_temperature)",
    ...GRADIENT,
    operation: "GetTemperatureGradient",
    measure: "temperatureGradient",
    of: magnitude,
  },
  {
    name: "boxux",
    title: "Filtered velocity x",
    formula: "mean of ux over the box",
    expression: null,
    ...BOX_VELOCITY,
    of: component(0),
  },
  {
    name: "boxuy",
    title: "Filtered velocity y",
    formula: "mean of uy over the box",
    expression: null,
    ...BOX_VELOCITY,
    of: component(1),
  },
  {
    name: "boxuz",
    title: "Filtered velocity z",
    formula: "mean of uz over the box",
    expression: null,
    ...BOX_VELOCITY,
    of: component(2),
  },
  {
    name: "boxspeed",
    title: "Filtered speed",
    formula: "magnitude of the mean velocity over the box",
    expression: null,
    ...BOX_VELOCITY,
    of: magnitude,
  },
  {
    name: "boxp",
    title: "Filtered pressure",
    formula: "mean of p over the box",
    expression: null,
    ...FILTERED,
    operation: "GetBoxFilterPressure",
    measure: "pressure",
    of: component(0),
  },
  {
    name: "sgsenergy",
    title: "Subgrid energy",
    formula: "(τxx + τyy + τzz) / 2, τij = mean(ui uj) − mean(ui) mean(uj)",
    expression: null,
    ...BOX_STRESS,
    of: subgridEnergy,
  },
  {
    name: "sgsxx",
    title: "SGS stress xx",
    formula: "mean(ux ux) − mean(ux) mean(ux)",
    expression: null,
    ...BOX_STRESS,
    of: component(0),
  },
  {
    name: "sgsyy",
    title: "SGS stress yy",
    formula: "mean(uy uy) − mean(uy) mean(uy)",
    expression: null,
    ...BOX_STRESS,
    of: component(1),
  },
  {
    name: "sgszz",
    title: "SGS stress zz",
    formula: "mean(uz uz) − mean(uz) mean(uz)",
    expression: null,
    ...BOX_STRESS,
    of: component(2),
  },
  {
    name: "sgsxy",
    title: "SGS stress xy",
    formula: "mean(ux uy) − mean(ux) mean(uy)",
    expression: null,
    ...BOX_STRESS,
    of: component(3),
  },
  {
    name: "sgsxz",
    title: "SGS stress xz",
    formula: "mean(ux uz) − mean(ux) mean(uz)",
    expression: null,
    ...BOX_STRESS,
    of: component(4),
  },
  {
    name: "sgsyz",
    title: "SGS stress yz",
    formula: "mean(uy uz) − mean(uy) mean(uz)",
    expression: null,
    ...BOX_STRESS,
    of: component(5),
  },
] as const satisfies readonly Quantity[];

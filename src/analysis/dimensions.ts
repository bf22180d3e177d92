/** Dimensional analysis of expressions in the units that a dataset states. */
import type { FieldName } from "../shared/operations.js";
import { multiplyUnit, unitText } from "../shared/quantities.js";
import type { InputKey, InputKind } from "./names.js";

/** Powers of units, `?length` if it is not stated; "number" for a constant, which fits any; null for an unsure sum. */
export type UnitPowers = ReadonlyMap<string, number> | "number" | null;

export type Units = Readonly<Record<string, string>>;

/** For each kind of input, the power of length that it divides by. */
const LENGTHS: Readonly<Record<InputKind, number>> = {
  value: 0,
  gradient: 1,
  laplacian: 2,
  hessian: 2,
  laplacianOfGradient: 3,
  filtered: 0,
  filteredGradient: 1,
  filteredProducts: 0,
  filteredStress: 0,
  secondDerivative: 2,
  rate: 0,
  frame: 0,
  shift: 0,
  mean: 0,
};

/** The dimension of a product of powers of a dataset's units. */
export function dimensionOfPowers(units: Units, powers: Readonly<Record<string, number>>): UnitPowers {
  const product = new Map<string, number>();
  for (const [base, power] of Object.entries(powers)) multiplyUnit(product, units[base] ?? `?${base}`, power);
  return product;
}

export function dimensionOfInput(key: InputKey, units: Units): UnitPowers {
  if (key === "t") return dimensionOfPowers(units, { time: 1 });
  if (key === "x" || key === "y" || key === "z") return dimensionOfPowers(units, { length: 1 });
  const [kind, field] = key.split(":") as [InputKind, FieldName];
  const isAcceleration = field === "force" && units.force === undefined;
  const ofField = dimensionOfPowers(units, isAcceleration ? { velocity: 1, time: -1 } : { [field]: 1 });
  const power = kind === "filteredProducts" || kind === "filteredStress" ? 2 : 1;
  return productOf(powerOf(ofField, power), dimensionOfPowers(units, { length: -LENGTHS[kind] }));
}

/** The dimension of a derivative of an expression. `length`: order in space. `time`: order in time. */
export function dimensionOfDerivative(value: UnitPowers, units: Units, length: number, time = 0): UnitPowers {
  if (value === "number" && length === 0 && time === 0) return value;
  return productOf(value === "number" ? new Map() : value, dimensionOfPowers(units, { length: -length, time: -time }));
}

/** The dimension of `a * b^power`. */
export function productOf(a: UnitPowers, b: UnitPowers, power = 1): UnitPowers {
  if (a === null || b === null) return null;
  if (a === "number" && b === "number") return "number";
  const product = new Map(a === "number" ? [] : a);
  if (b !== "number") for (const [unit, own] of b) product.set(unit, (product.get(unit) ?? 0) + power * own);
  return product;
}

/** The dimension of a power, which may be a root. */
export function powerOf(a: UnitPowers, power: number): UnitPowers {
  return a === "number" ? a : productOf("number", a, power);
}

/** The dimension of parts that are added, compared or chosen from: a stated one, if there is any; undefined if they differ. */
export function commonOf(parts: readonly UnitPowers[]): UnitPowers | undefined {
  const pairs = parts.flatMap((a, i) => parts.slice(0, i).map((b) => isSame(a, b)));
  if (pairs.includes(false)) return undefined;
  const known = parts.filter((part) => part !== "number").toReversed();
  if (pairs.includes(null)) return known.find((one) => unitIn(one) !== null) ?? null;
  return known[0] ?? "number";
}

/** Derived units of the SI as products of base units. */
const DERIVED: Readonly<Record<string, string>> = {
  ...{ N: "kg m s^-2", Pa: "kg m^-1 s^-2", J: "kg m^2 s^-2", W: "kg m^2 s^-3", Hz: "s^-1" },
};

const isStated = (unit: string): boolean => !unit.startsWith("?");

/** The units of a product: the sum of powers such as 1/3 and 2/3 may be off 1 by rounding. */
function unitsOf(powers: ReadonlyMap<string, number>): readonly string[] {
  return [...powers].flatMap(([unit, power]) => (Math.abs(power) < 1e-9 ? [] : [unit]));
}

/** Whether parts fit together; null if that depends on units that are not stated. */
function isSame(a: UnitPowers, b: UnitPowers): boolean | null {
  if (a === null || b === null) return null;
  if (a === "number" || b === "number") return true;
  const quotient = new Map<string, number>();
  for (const [powers, sign] of [[a, 1] as const, [b, -1] as const])
    for (const [unit, power] of powers)
      multiplyUnit(quotient, Object.hasOwn(DERIVED, unit) ? DERIVED[unit] : unit, sign * power);
  const left = unitsOf(quotient);
  return left.every(isStated) ? left.length === 0 : null;
}

/** The unit of a dimension in answers: "1" for numbers, null if it is unknown. */
export function unitIn(dimension: UnitPowers): string | null {
  if (dimension === "number") return "1";
  return dimension !== null && unitsOf(dimension).every(isStated) ? unitText(dimension) || "1" : null;
}

export function dimensionText(dimension: UnitPowers): string {
  if (dimension === null || dimension === "number") return "a number";
  return unitText(dimension).replaceAll("?", "") || "a number without unit";
}

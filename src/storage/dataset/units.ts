/** Units of measurement as files write them, by factors and powers. */

/** Powers of the base units, and the factor to them. */
interface Unit {
  readonly factor: number;
  readonly powers: string;
}

/** None first, since `min` is a minute. Source: UDUNITS-2, udunits2-prefixes.xml. */
const PREFIXES: readonly (readonly [prefix: string, factor: number])[] = Object.entries({
  "": 1,
  ...{ p: 1e-12, n: 1e-9, u: 1e-6, µ: 1e-6, m: 1e-3, c: 1e-2, da: 10, d: 0.1, h: 1e2, k: 1e3, M: 1e6, G: 1e9, T: 1e12 },
  ...{ pico: 1e-12, nano: 1e-9, micro: 1e-6, milli: 1e-3, centi: 1e-2, deci: 0.1 },
  ...{ deca: 10, hecto: 1e2, kilo: 1e3, mega: 1e6, giga: 1e9, tera: 1e12 },
});
type Powers = readonly [m: number, kg: number, s: number, K: number, A: number];
const LENGTH: Powers = [1, 0, 0, 0, 0];
const MASS: Powers = [0, 1, 0, 0, 0];
const TIME: Powers = [0, 0, 1, 0, 0];
const SPEED: Powers = [1, 0, -1, 0, 0];
const FORCE: Powers = [1, 1, -2, 0, 0];
const PRESSURE: Powers = [-1, 1, -2, 0, 0];
const FLUX: Powers = [0, 1, -2, 0, -1];

/** Rows of units by their symbols and names. Source: UDUNITS-2, udunits2-*.xml. */
const ROWS: readonly (readonly [names: string, factor: number, powers: Powers])[] = [
  ["m meter metre", 1, LENGTH],
  ["ft foot feet", 0.3048, LENGTH],
  ["inch", 0.0254, LENGTH],
  ["mile", 1609.344, LENGTH],
  ["g gram gramme", 1e-3, MASS],
  ["t tonne", 1e3, MASS],
  ["s sec second", 1, TIME],
  ["min minute", 60, TIME],
  ["h hr hour", 3600, TIME],
  ["day", 86400, TIME],
  ["K kelvin", 1, [0, 0, 0, 1, 0]],
  ["A ampere amp", 1, [0, 0, 0, 0, 1]],
  ["Hz hertz", 1, [0, 0, -1, 0, 0]],
  ["knot kn kt", 1852 / 3600, SPEED],
  ["mph", 0.44704, SPEED],
  ["N newton", 1, FORCE],
  ["dyn dyne", 1e-5, FORCE],
  ["Pa pascal", 1, PRESSURE],
  ["bar", 1e5, PRESSURE],
  ["atm atmosphere", 101_325, PRESSURE],
  ["J joule", 1, [2, 1, -2, 0, 0]],
  ["W watt", 1, [2, 1, -3, 0, 0]],
  ["T tesla", 1, FLUX],
  ["gauss", 1e-4, FLUX],
];
const UNITS: ReadonlyMap<string, readonly [factor: number, ...Powers]> = new Map(
  ROWS.flatMap(([names, factor, powers]) =>
    names.split(" ").map((name) => [name, [factor, ...powers] as const] as const),
  ),
);

/** Whether two texts name different units; an empty one names none. Two that are not known differ as texts do. */
export function contradictionOf(a: string, b: string): boolean {
  if (a === b || a === "" || b === "") return false;
  if (unitOf(a) !== null || unitOf(b) !== null) return Math.abs((factorBetween(a, b) ?? 0) - 1) > 1e-9;
  return a.toLowerCase().replace(/\s/g, "") !== b.toLowerCase().replace(/\s/g, "");
}

export const TIMES = ["s", "min", "h", "day"];
/** Whether a unit of velocity is none of a length over one of times. */
export function isNoVelocity(velocity: string, length: string, times: readonly string[] = TIMES): boolean {
  return times.every((time) => contradictionOf(velocity, `${length}/${time}`));
}

/** The number that turns values in one unit into another; null if one is not known, or they are of two kinds. */
export function factorBetween(from: string, to: string): number | null {
  if (from === to) return 1;
  const [first, second] = [unitOf(from), unitOf(to)];
  return first === null || second === null || first.powers !== second.powers ? null : first.factor / second.factor;
}

/** A unit with its power, after what separates it from the one before. */
const TERM = /\s*([/.*·]|\bper\b)?\s*([A-Za-zµ]+|\S)(?:\s*(?:\^|\*\*)?\s*([-+]?\d+))?/g;

/** A product of powers such as `m/s`, `m s-1`, `m s**-1` or `cm.s^-1`; null if a part of it is not known. */
export function unitOf(text: string): Unit | null {
  let factor = 1;
  const powers = [0, 0, 0, 0, 0];
  for (const [, separator, name = "", digits = "1"] of text.trim().matchAll(TERM)) {
    const known = unitNamed(name);
    if (known === null) return null;
    const power = separator === "/" || separator === "per" ? -Number(digits) : Number(digits);
    const [own, ...base] = known;
    factor *= own ** power;
    for (const [at, exponent] of base.entries()) powers[at] += power * exponent;
  }
  return { factor, powers: powers.join() };
}

/** A number before its unit, if it has one. */
const QUANTITY = /^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([a-zµμ[(].*)?$/i;

/** The number in a text, with its unit if a known one follows; null if the text is anything else. */
export function quantityIn(text: string): { readonly value: number; readonly units: string } | null {
  const [, digits, units = ""] = QUANTITY.exec(text) ?? [];
  return digits === undefined || unitOf(units) === null ? null : { value: Number(digits), units: units.trim() };
}

/** A known unit in base units, as in `0.01 m s-1`; null if it is not known. */
export function unitText(text: string): string | null {
  const unit = text === "" ? null : unitOf(text);
  if (unit === null) return null;
  const powers = unit.powers.split(",").map(Number);
  const terms = ["m", "kg", "s", "K", "A"].flatMap((name, at) =>
    powers[at] === 0 ? [] : [`${name}${powers[at] === 1 ? "" : powers[at]}`],
  );
  const factor = Number(unit.factor.toPrecision(12));
  return [...(factor === 1 ? [] : [`${factor}`]), ...terms].join(" ");
}

function unitNamed(name: string): readonly [number, ...number[]] | null {
  for (const [prefix, factor] of PREFIXES) {
    const rest = name.slice(prefix.length);
    const base = UNITS.get(rest) ?? UNITS.get(singular(rest));
    if (name.startsWith(prefix) && base !== undefined) return [factor * base[0], ...base.slice(1)];
  }
  return null;
}

const singular = (name: string): string => (name.length < 3 ? name : name.toLowerCase().replace(/s$/, ""));

/** Compares units of measurement as files write them: by their factors and powers, with the prefixes of the SI. */

/** Powers of the base units, and the factor to them. */
interface Unit {
  readonly factor: number;
  readonly powers: string;
}

/** Source: UDUNITS-2, udunits2-prefixes.xml. */
const PREFIXES: readonly (readonly [prefix: string, factor: number])[] = Object.entries({
  ...{ n: 1e-9, u: 1e-6, µ: 1e-6, m: 1e-3, c: 1e-2, d: 0.1, k: 1e3, M: 1e6, G: 1e9 },
  ...{ nano: 1e-9, micro: 1e-6, milli: 1e-3, centi: 1e-2, deci: 0.1, kilo: 1e3, mega: 1e6, giga: 1e9 },
});
/** Factor and powers of m, kg, s, K of units by their symbols and names. Source: UDUNITS-2, udunits2-*.xml. */
const UNITS: ReadonlyMap<string, readonly [factor: number, m: number, kg: number, s: number, K: number]> = new Map([
  ["m", [1, 1, 0, 0, 0]],
  ["meter", [1, 1, 0, 0, 0]],
  ["metre", [1, 1, 0, 0, 0]],
  ["ft", [0.3048, 1, 0, 0, 0]],
  ["g", [1e-3, 0, 1, 0, 0]],
  ["gram", [1e-3, 0, 1, 0, 0]],
  ["s", [1, 0, 0, 1, 0]],
  ["sec", [1, 0, 0, 1, 0]],
  ["second", [1, 0, 0, 1, 0]],
  ["min", [60, 0, 0, 1, 0]],
  ["minute", [60, 0, 0, 1, 0]],
  ["h", [3600, 0, 0, 1, 0]],
  ["hr", [3600, 0, 0, 1, 0]],
  ["hour", [3600, 0, 0, 1, 0]],
  ["day", [86400, 0, 0, 1, 0]],
  ["K", [1, 0, 0, 0, 1]],
  ["kelvin", [1, 0, 0, 0, 1]],
  ["N", [1, 1, 1, -2, 0]],
  ["Pa", [1, -1, 1, -2, 0]],
  ["pascal", [1, -1, 1, -2, 0]],
  ["bar", [1e5, -1, 1, -2, 0]],
  ["J", [1, 2, 1, -2, 0]],
  ["knot", [1852 / 3600, 1, 0, -1, 0]],
  ["kn", [1852 / 3600, 1, 0, -1, 0]],
]);

/** Whether two texts name different units; an empty one names none. Units that are not known differ as texts do. */
export function contradictionOf(a: string, b: string): boolean {
  if (a === b || a === "" || b === "") return false;
  const [first, second] = [unitOf(a), unitOf(b)];
  if (first === null || second === null)
    return a.toLowerCase().replace(/\s/g, "") !== b.toLowerCase().replace(/\s/g, "");
  const isSame = first.powers === second.powers && Math.abs(first.factor / second.factor - 1) < 1e-9;
  return !isSame;
}

/** A unit with its power, after what separates it from the one before. */
const TERM = /\s*([/.*·]|\bper\b)?\s*([A-Za-zµ]+|\S)(?:\s*(?:\^|\*\*)?\s*([-+]?\d+))?/g;

/** A product of powers such as `m/s`, `m s-1`, `m s**-1` or `cm.s^-1`; null if a part of it is not known. */
export function unitOf(text: string): Unit | null {
  let factor = 1;
  const powers = [0, 0, 0, 0];
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

function unitNamed(name: string): readonly [number, ...number[]] | null {
  const plain = UNITS.get(name) ?? UNITS.get(singular(name));
  if (plain !== undefined) return plain;
  for (const [prefix, factor] of PREFIXES) {
    const rest = name.slice(prefix.length);
    const base = UNITS.get(rest) ?? UNITS.get(singular(rest));
    if (!name.startsWith(prefix) || base === undefined) continue;
    const [own, ...powers] = base;
    return [factor * own, ...powers];
  }
  return null;
}

/** A name in lower case without the s of the plural. */
function singular(name: string): string {
  return name.length < 3 ? name : name.toLowerCase().replace(/s$/, "");
}

/** Reads decimal text as float32, rounded once: the value nearest to the text, ties to even. */

const DECIMAL = /^([+-]?)(?:([0-9]+)(?:\.([0-9]*))?|\.([0-9]+))(?:[eE]([+-]?[0-9]+))?$/;

/** The spellings of XML Schema other than decimals. */
const WORDS: ReadonlyMap<string, number> = new Map([
  ["INF", Number.POSITIVE_INFINITY],
  ["-INF", Number.NEGATIVE_INFINITY],
  ["NaN", Number.NaN],
]);

/**
 * Reads an `xs:float` without surrounding white space; infinite on overflow, undefined if the text is none.
 * `Number` rounds correctly to double, and every midpoint of two float32 is a double. A second rounding can go wrong
 * only when the double is such a midpoint: then the text is compared with it exactly.
 */
export function parseFloat32(text: string): number | undefined {
  const word = WORDS.get(text);
  if (word !== undefined) return word;
  const match = DECIMAL.exec(text);
  if (match === null) return undefined;
  const double = Number(text);
  const single = Math.fround(double);
  const magnitude = Math.abs(double);
  if (single === double || magnitude >= 2 ** 128) return single;
  // Only the mirror image of a float32 in a midpoint is a float32.
  const mirrored = 2 * double - single;
  if (Math.fround(mirrored) !== mirrored && mirrored < 2 ** 128 && mirrored > -(2 ** 128)) return single;
  const below = floatBelow(magnitude);
  /** The next float32; 2^128 after the largest. */
  const above = below + 2 ** (Math.max(-126, floorLog2(below)) - 23);
  if (magnitude !== (below + above) / 2) return single;
  const digits = `${match[2] ?? ""}${match[3] ?? ""}${match[4] ?? ""}`;
  const exponent = Number(match[5] ?? 0) - (match[3] ?? match[4] ?? "").length;
  const order = compareDecimal(BigInt(digits), exponent, magnitude);
  if (order === 0) return single;
  const nearest = order < 0 ? below : above === 2 ** 128 ? Number.POSITIVE_INFINITY : above;
  return match[1] === "-" ? -nearest : nearest;
}

/** The largest float32 not above a positive double below 2^128. */
function floatBelow(magnitude: number): number {
  const exponent = Math.max(-126, floorLog2(magnitude));
  const gap = 2 ** (exponent - 23);
  return Math.floor(magnitude / gap) * gap;
}

function floorLog2(magnitude: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, magnitude);
  return ((view.getUint16(0) >> 4) & 0x7ff) - 1023;
}

/** Sign of `digits * 10^exponent - double`, exactly; `double` is positive and finite. */
function compareDecimal(digits: bigint, exponent: number, double: number): number {
  const power = Math.max(-1022, floorLog2(double)) - 52;
  let left = digits;
  let right = BigInt(double / 2 ** power);
  if (exponent >= 0) left *= 10n ** BigInt(exponent);
  else right *= 10n ** BigInt(-exponent);
  if (power >= 0) right <<= BigInt(power);
  else left <<= BigInt(-power);
  return left < right ? -1 : left > right ? 1 : 0;
}

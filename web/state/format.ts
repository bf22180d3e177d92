/** Numbers and times as the page writes them: four significant digits, one minus sign. */

const MINUS = "−";
const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Characters that the fonts of PDF lack: they would be left out silently. */
export const MISSING_GLYPH = /[^ -~\u00a0°-³·¹×éΔΠΦΩα-ωᵢ-ᵥ–—‘’“”•…′⁄⁰ⁱ⁴-₎ₐ-ₜ←-↓∂∇−√∞≈≤≥⟨⟩]/u;

export function superscript(power: number): string {
  const digits = [...String(Math.abs(power))].map((digit) => SUPERSCRIPTS[Number(digit)]).join("");
  return (power < 0 ? "⁻" : "") + digits;
}

/** A number with significant digits, never in the form 1e-5. */
export function shortNumber(value: number, digits = 4): string {
  if (!Number.isFinite(value)) return value > 0 ? "∞" : value < 0 ? `${MINUS}∞` : "none";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const power = Math.floor(Math.log10(size));
  if (power < -3 || power > Math.max(5, digits - 1)) {
    const [mantissa, exponent] = size.toExponential(digits - 1).split("e");
    return `${value < 0 ? MINUS : ""}${mantissa}·10${superscript(Number(exponent))}`;
  }
  const text = size.toPrecision(digits);
  return (value < 0 ? MINUS : "") + (text.includes("e") ? String(Number(text)) : text);
}

export function extremesText(values: readonly number[]): string {
  const ends = [Math.min(...values), Math.max(...values)];
  return values.length === 0 ? "none" : ends.map((one) => inSpan(one, ends[1] - ends[0])).join(", ");
}

export function plainNumber(value: number, digits = 4): string {
  const text = shortNumber(value, digits);
  return text.includes(".") ? text.replace(/\.?0+(?=·|$)/, "") : text;
}

/** A number with the digits that links and requests need, without those that rounding made. */
export const exact = (value: number): number => Number(value.toPrecision(15));
export const exactNumber = (value: number): string => String(exact(value));

/** Digits needed to tell numbers of this size apart if they differ by `gap`; `least` or more. */
export const digitsFor = (size: number, gap: number, least = 4): number =>
  gap > 0 && size > 0 ? Math.min(15, Math.max(least, Math.ceil(Math.log10(size / gap) - 1e-9) + 1)) : least;

/** A number with four digits, or more if its quantity varies little: up to 8, those of float32. */
export const inSpan = (value: number, span: number, least = 4): string =>
  shortNumber(value, Math.min(8, digitsFor(Math.abs(value), span / 100, least)));

export const tidy = (value: number, span: number, digits: number): number =>
  Number(value.toPrecision(digitsFor(Math.abs(value), span / 5, digits)));

export function digitsOf(ticks: readonly number[]): number {
  const gaps = ticks.slice(1).map((one, i) => Math.abs(one - ticks[i]));
  return digitsFor(Math.max(...ticks.map(Math.abs)), Math.min(...gaps), 3);
}

/** A multiple of π as a text; null if it has no short fraction of π. */
export function piText(value: number): string | null {
  if (value === 0) return "0";
  for (const below of [1, 2, 4, 8, 16, 32]) {
    const times = (value / Math.PI) * below;
    const whole = Math.round(times);
    if (whole === 0 || Math.abs(times - whole) > 1e-6) continue;
    const factor = Math.abs(whole) === 1 ? "" : String(Math.abs(whole));
    return `${whole < 0 ? MINUS : ""}${factor}π${below === 1 ? "" : `/${below}`}`;
  }
  return null;
}

/** The round step with which about `count` ticks fit over a length. */
export function tickStep(length: number, count: number, pi: boolean): number {
  const raw = length / Math.max(1, count);
  if (pi) return Math.PI * 2 ** Math.round(Math.log2(raw / Math.PI));
  const base = 10 ** Math.floor(Math.log10(raw));
  return base * ([1, 2, 5, 10].find((factor) => factor * base >= raw * 0.99) ?? 10);
}

export function ticksOf(from: number, to: number, count: number, pi = false): number[] {
  if (!(to > from)) return [];
  const step = tickStep(to - from, count, pi);
  const first = Math.ceil(from / step - 1e-9);
  const n = Math.floor(to / step + 1e-9) - first + 1;
  return Array.from({ length: n > 0 && n < 10 * count + 10 ? n : 0 }, (_, k) => (first + k) * step);
}

export const ONE_NUMBER_ONLY = "The page shows one number at each place: choose a component, or the norm.";
/** Throws Error for vectors and tensors. */
export function requireOne(components: number): void {
  if (components > 1) throw new Error(ONE_NUMBER_ONLY);
}

/** This file chooses round values for axes and colour bars by d3-scale, and writes them as text. */
import { scaleLinear, scaleLog, tickFormat } from "d3-scale";
import { shortText, withMinus } from "../../src/float32/format.js";

export interface AxisTick {
  readonly value: number;
  readonly text: string;
}

/** Values from this size on, and steps below its inverse, are written with a power of ten. */
const LARGE = 1e5;

/** The texts of round values in a row, with as many decimals as tell them apart. */
export function tickTexts(values: readonly number[]): string[] {
  const [first = 0, last = first] = [values[0], values.at(-1)];
  const largest = Math.max(Math.abs(first), Math.abs(last));
  const step = values.length > 1 ? Math.abs(last - first) / (values.length - 1) : largest;
  const plain = largest === 0 || (largest < LARGE && step >= 0.999 / LARGE);
  const write = tickFormat(first, last, Math.max(1, values.length - 1), plain ? "f" : "~e");
  return values.map((value) => (!plain && Math.abs(value) < step / 2 ? "0" : write(value)));
}

/** At most three significant digits of a number, with a minus sign. */
export function signedText(value: number): string {
  return withMinus(shortText(Number(value.toPrecision(3))));
}

/** Most ticks that are asked for so that two come. */
const MOST_ASKED = 8;

/** Round values from `low` to `high`, about `count` of them; at least two if two or more are asked for. */
export function linearTicks(low: number, high: number, count: number): AxisTick[] {
  if (!(high > low) || !Number.isFinite(high - low)) return [];
  const scale = scaleLinear([low, high], [0, 1]);
  let values = scale.ticks(Math.max(1, count));
  for (let more = count + 1; count >= 2 && values.length < 2 && more < MOST_ASKED; more++) values = scale.ticks(more);
  const texts = tickTexts(values);
  return values.map((value, i) => ({ value, text: texts[i] }));
}

/** Round values on a logarithmic scale from `low` to `high`, both positive, at most about `count` of them. */
export function logTicks(low: number, high: number, count = 6): AxisTick[] {
  const scale = scaleLog([low, high], [0, 1]);
  const write = scale.tickFormat(count, "~g");
  const ticks = scale.ticks(count).map((value) => ({ value, text: write(value) }));
  return ticks.filter(({ text }) => text !== "");
}

/** Ticks of a scale that is logarithmic on both sides of zero and linear between `-linear` and `linear`. */
export function signedLogTicks(linear: number, high: number, count: number): AxisTick[] {
  const side = logTicks(linear, high, Math.max(1, count / 2));
  const negative = side.map(({ value, text }) => ({ value: -value, text: `−${text}` })).reverse();
  return [...negative, { value: 0, text: "0" }, ...side];
}

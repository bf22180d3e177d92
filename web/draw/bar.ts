/** Colour bars: the position of a value on a bar, and the ticks of a bar. */
import { ticksOf } from "../state/format.js";
import type { Range } from "../state/link.js";

/** The position of a value on the bar, from 0 to 1 within the range. */
export function partOf({ low, high, scale }: Range, value: number): number {
  if (scale === "linear") return (value - low) / (high - low);
  if (scale === "log") return Math.log(value / low) / Math.log(high / low);
  const part = Number(scale.split(":")[1]);
  const top = Math.max(Math.abs(low), Math.abs(high));
  return 0.5 + (0.5 * Math.sign(value) * Math.log1p(Math.abs(value) / part)) / Math.log1p(top / part);
}

/** Values of the ticks of a bar. */
export function barTicks(range: Range): number[] {
  const { low, high, scale } = range;
  if (scale === "linear") return ticksOf(low, high, 4);
  const ticks = [low, high];
  const least = scale === "log" ? low : Number(scale.split(":")[1]) * 2;
  for (let power = Math.ceil(Math.log10(least)); 10 ** power < 0.7 * high; power++)
    ticks.push(10 ** power, -(10 ** power));
  if (low < 0) ticks.push(0);
  return ticks.filter((value) => value >= low && value <= high && (scale !== "log" || value > 0)).sort((a, b) => a - b);
}

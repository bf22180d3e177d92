/** Ticks of axes and of colour bars, and the position of a value on a bar. */
import type { Axis } from "../state/dataset.js";
import { digitsOf, piText, plainNumber, ticksOf } from "../state/format.js";
import type { MapName, Range } from "../state/link.js";

export interface Bar {
  readonly range: Range;
  readonly map: MapName;
  readonly label: string;
  readonly isLit: boolean;
}

/** Position of a value on a bar from 0 to 1: below 0 for smaller ones, -Infinity without a logarithm, NaN for NaN. */
export function partOf({ low, high, scale }: Range, value: number): number {
  if (scale === "linear") return (value - low) / (high - low);
  if (scale === "log") return Math.log(Math.max(0, value) / low) / Math.log(high / low);
  const linear = Number(scale.split(":")[1]);
  const top = Math.max(Math.abs(low), Math.abs(high));
  return 0.5 + (0.5 * Math.sign(value) * Math.log1p(Math.abs(value) / linear)) / Math.log1p(top / linear);
}

/** Ticks of a bar from the lowest, with their texts. */
export function barTicks(range: Range): { readonly tick: number; readonly text: string }[] {
  const ticks = ticksIn(range);
  return ticks.map((tick) => ({ tick, text: plainNumber(tick, digitsOf(ticks)) }));
}

function ticksIn({ low, high, scale }: Range): number[] {
  if (scale === "linear") {
    const few = ticksOf(low, high, 4);
    return few.length > 1 ? few : ticksOf(low, high, 8);
  }
  const ticks = [low, high];
  const first = Math.ceil(Math.log10(scale === "log" ? low : Number(scale.split(":")[1]) * 2));
  const top = Math.max(Math.abs(low), Math.abs(high));
  // A bar has room for some twenty powers of ten, away from its ends.
  const step = Math.max(1, Math.ceil((Math.log10(top) - first) / 20));
  const isFree = (tick: number) => [low, high].every((end) => !(tick / end > 0.7 && tick / end < 1 / 0.7));
  for (let power = first; 10 ** power < top; power += step) ticks.push(...[10 ** power, -(10 ** power)].filter(isFree));
  if (low < 0 && high > 0) ticks.push(0);
  return ticks.filter((value) => value >= low && value <= high && (scale !== "log" || value > 0)).sort((a, b) => a - b);
}

/**
 * Ticks of an axis with their texts, two or more: inside the box along open axes, modulo a period that has several along
 * others.
 */
export function axisTicks({ first, last, length, periodic }: Axis, from: number, to: number, count: number) {
  const isPi = piText(length) !== null;
  const [low, high] = periodic ? [from, to] : [Math.max(first, from), Math.min(last, to)];
  const some = ticksOf(low, high, (count * (high - low)) / (to - from), isPi);
  // A narrow axis has room for two.
  const ends = (_: number, i: number, { length: n }: readonly number[]) => i === 0 || i === n - 1;
  const all = some.length > 1 ? some : ticksOf(low, high, 5, isPi).filter(ends);
  const folds = periodic && !(all[1] - all[0] > length / 2);
  return all.map((tick) => {
    const folded = folds ? tick - Math.floor((tick - first) / length + 1e-9) * length : tick;
    const inside = Math.abs(folded) < 1e-12 * length ? 0 : folded;
    return { tick, text: (isPi ? piText(inside) : null) ?? plainNumber(inside, digitsOf(all)) };
  });
}

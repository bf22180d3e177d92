/** This file chooses round values for the ticks of an axis or a colour bar, and writes them alike. */

export interface AxisTick {
  readonly value: number;
  readonly text: string;
}

const STEPS = [1, 2, 5, 10];

/** The text of a round value among others a step apart, the largest of them `largest`. */
export function tickText(value: number, step: number, largest: number): string {
  const power = Math.floor(Math.log10(step) + 1e-9);
  // A step of 2.5, 0.25 and so on takes one digit more than its power of ten says.
  const finer = Number.isInteger(Number((step / 10 ** power).toPrecision(6))) ? 0 : 1;
  const decimals = Math.max(0, finer - power);
  const digits = Math.max(0, finer + Math.floor(Math.log10(Math.abs(value)) + 1e-9) - power);
  const plain = largest < 1e5 && decimals <= 5;
  const text = plain ? value.toFixed(decimals) : Math.abs(value) < step / 2 ? "0" : value.toExponential(digits);
  return text.replace(/^-(?=0(?:\.0*)?$)/, "").replaceAll("-", "−");
}

/** Round values from `low` to `high`, about `count` of them, with as many decimals as tell them apart. */
export function linearTicks(low: number, high: number, count: number): AxisTick[] {
  const rough = (high - low) / Math.max(1, count);
  if (!(rough > 0) || !Number.isFinite(rough)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * (STEPS.find((candidate) => candidate * power >= rough * 0.999999) ?? 10);
  const first = Math.ceil(low / step - 1e-6);
  const last = Math.floor(high / step + 1e-6);
  const largest = Math.max(Math.abs(low), Math.abs(high));
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const value = (first + i) * step;
    return { value, text: tickText(value, step, largest) };
  });
}

/** Powers of ten from `low` to `high`, both positive; with two and five between them where there are few. */
export function logTicks(low: number, high: number): AxisTick[] {
  const ticks: AxisTick[] = [];
  const decades = Math.log10(high / low);
  const factors = decades < 2 ? [1, 2, 5] : [1];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const factor of factors) {
      const value = factor * 10 ** power;
      if (value < low * 0.9999 || value > high * 1.0001) continue;
      const text = Math.abs(power) < 4 ? String(Number(value.toPrecision(1))) : `${factor}e${power}`.replace("-", "−");
      ticks.push({ value, text });
    }
  }
  return ticks;
}

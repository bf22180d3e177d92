/**
 * This file computes statistics of a plane: moments, extremes, the density of its values and spectra along its sides.
 */
import type { SampleAxis, Slice } from "../state/api.js";

export interface PlaneStatistics {
  /** Values that are numbers, and all of them. */
  readonly finite: number;
  readonly count: number;
  readonly mean: number;
  /** Root of the mean square of the deviations from the mean. */
  readonly rms: number;
  readonly skewness: number;
  readonly flatness: number;
  /** Index of the smallest and of the largest value. */
  readonly lowest: number;
  readonly highest: number;
}

/** Moments about the mean; zero for a plane without numbers. */
export function momentsOf(values: Float32Array): PlaneStatistics {
  let finite = 0;
  let sum = 0;
  let lowest = -1;
  let highest = -1;
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (!Number.isFinite(value)) continue;
    finite++;
    sum += value;
    if (lowest < 0 || value < values[lowest]) lowest = i;
    if (highest < 0 || value > values[highest]) highest = i;
  }
  const mean = finite === 0 ? 0 : sum / finite;
  const powers = [0, 0, 0];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    const away = value - mean;
    powers[0] += away * away;
    powers[1] += away ** 3;
    powers[2] += away ** 4;
  }
  const [second, third, fourth] = powers.map((power) => power / Math.max(1, finite));
  const rms = Math.sqrt(second);
  return {
    finite,
    count: values.length,
    mean,
    rms,
    skewness: rms > 0 ? third / rms ** 3 : 0,
    flatness: rms > 0 ? fourth / rms ** 4 : 0,
    lowest,
    highest,
  };
}

/** The density of values over equal bins, and that of a Gaussian of the same mean and rms. */
export interface Density {
  readonly places: readonly number[];
  readonly density: readonly number[];
  readonly gaussian: readonly number[];
}

const BINS = 64;

export function densityOf({ values, low, high }: Slice, { finite, mean, rms }: PlaneStatistics): Density {
  const width = (high - low) / BINS;
  if (!(width > 0)) return { places: [], density: [], gaussian: [] };
  const counts = new Float64Array(BINS);
  for (const value of values) {
    if (Number.isFinite(value)) counts[Math.max(0, Math.min(BINS - 1, Math.floor((value - low) / width)))]++;
  }
  const places = Array.from(counts, (_, i) => low + (i + 0.5) * width);
  return {
    places,
    density: Array.from(counts, (count) => (count > 0 ? count / (finite * width) : Number.NaN)),
    gaussian: places.map((x) => Math.exp(-0.5 * ((x - mean) / rms) ** 2) / (rms * Math.sqrt(2 * Math.PI))),
  };
}

/** A spectrum: wave numbers, and energy per wave number so that its sum times their step is the mean square. */
export interface Spectrum {
  readonly wave: readonly number[];
  readonly energy: readonly number[];
}

/** Adds the squared amplitudes of one line, mean removed; direct sums, exact for any length. */
function addLine(line: Float64Array, power: Float64Array, cosine: Float64Array, sine: Float64Array): void {
  const n = line.length;
  for (let k = 1; k < power.length; k++) {
    let re = 0;
    let im = 0;
    for (let i = 0, at = 0; i < n; i++) {
      re += line[i] * cosine[at];
      im -= line[i] * sine[at];
      at += k;
      if (at >= n) at -= n;
    }
    power[k] += (re * re + im * im) / (n * n);
  }
}

/** Most lines that are averaged, spread evenly over the plane. */
const MOST_LINES = 64;

/**
 * The one-dimensional spectrum along the columns or the rows of a plane, averaged over its lines.
 *
 * @returns null if a value is missing or the side is too short; the caller checks that the side is a whole period
 */
export function spectrumOf({ rows, columns, values }: Slice, side: "columns" | "rows"): Spectrum | null {
  const [along, beside]: [SampleAxis, SampleAxis] = side === "columns" ? [columns, rows] : [rows, columns];
  const n = along.count;
  if (n < 8) return null;
  const power = new Float64Array(Math.floor(n / 2) + 1);
  const cosine = Float64Array.from({ length: n }, (_, i) => Math.cos((2 * Math.PI * i) / n));
  const sine = Float64Array.from({ length: n }, (_, i) => Math.sin((2 * Math.PI * i) / n));
  const line = new Float64Array(n);
  const lines = Math.min(MOST_LINES, beside.count);
  for (let j = 0; j < lines; j++) {
    const at = Math.floor((j * beside.count) / lines);
    for (let i = 0; i < n; i++) line[i] = values[side === "columns" ? at * columns.count + i : i * columns.count + at];
    if (!line.every(Number.isFinite)) return null;
    addLine(line, power, cosine, sine);
  }
  const step = (2 * Math.PI) / (n * along.spacing);
  const wave = Array.from({ length: power.length - 1 }, (_, k) => (k + 1) * step);
  const both = (k: number) => (2 * k === n ? 1 : 2);
  return { wave, energy: wave.map((_, k) => (both(k + 1) * power[k + 1]) / lines / step) };
}

/** A line of slope -5/3 on logarithmic axes through the spectrum near its fourth wave number. */
export function inertialLine({ wave, energy }: Spectrum): number[] {
  const anchor = Math.min(3, wave.length - 1);
  return wave.map((k) => energy[anchor] * (k / wave[anchor]) ** (-5 / 3));
}

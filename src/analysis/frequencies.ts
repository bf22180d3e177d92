/**
 * Sums spectra of series in time, or of nodes along an open axis, or in time of lines along a periodic axis.
 * A segment of n times, less its mean or line, times its window w, has U = (1/n) sum u w exp(-i omega t), along an axis
 * of m nodes (1/(m n)) sum u w exp(-i(k x - omega t)); its energy is |U|^2 / mean(w^2).
 * Source: Welch, IEEE Trans. Audio Electroacoustics 15 (1967) 70.
 */
import { isKnown, type LeftOut } from "./moments.js";
import { Transform } from "./transform.js";

export interface FrequencyOptions {
  /** Columns: all times of the first series, then all times of the next; with `line`, one for each series. */
  readonly of: readonly number[];
  /** The axis whose nodes take the place of times; absent: none. */
  readonly line?: 0 | 1 | 2 | undefined;
  readonly times: number;
  /** Times of a segment, and times from the start of one segment to the start of the next. */
  readonly length: number;
  readonly step: number;
  readonly window: "hann" | "none";
  readonly detrend: "constant" | "linear" | "none";
  /** The axis that is transformed too; null: none. */
  readonly axis: 0 | 1 | 2 | null;
  /** Nodes of that axis; 1 without one. */
  readonly nodes: number;
  /** Whether two series are a pair of quantities, rather than components of one. */
  readonly isPair: boolean;
}

/** Sums over nodes or lines: the energy of each series, then re and im of a pair, and of lines re, im, energy by k. */
export interface Frequencies extends LeftOut {
  readonly sums: Float64Array;
  readonly weight: number;
  /** Nodes or lines, as are those left out. */
  readonly count: number;
}

/** Segments of a series. */
export function segmentsIn({ times, length, step }: Pick<FrequencyOptions, "times" | "length" | "step">): number {
  return Math.floor((times - length) / step) + 1;
}

/** Modes along the axis and in time: in time two-sided if there is an axis. */
export function modesIn({ axis, nodes, length }: FrequencyOptions): readonly [along: number, inTime: number] {
  return axis === null ? [1, (length >> 1) + 1] : [(nodes >> 1) + 1, length];
}

export function seriesIn({ of, times, line }: FrequencyOptions): number {
  return line === undefined ? of.length / times : of.length;
}

export function frequencySums(options: FrequencyOptions): number {
  const [along, inTime] = modesIn(options);
  return (seriesIn(options) + (options.isPair ? 2 : 0)) * along * inTime + (options.axis === null ? 0 : 3 * along);
}

/** Overwrites `out` with n numbers from `at` on, less their mean or their line of least squares, times the window. */
function segmentAt(
  values: Float64Array,
  at: number,
  by: FrequencyOptions["detrend"],
  window: Float64Array,
  out: Float64Array,
): void {
  const n = out.length;
  const middle = (n - 1) / 2;
  let [sum, slope] = [0, 0];
  for (let j = 0; j < n; j++) sum += values[at + j];
  if (by === "linear") for (let j = 0; j < n; j++) slope += ((j - middle) * values[at + j] * 12) / (n * (n * n - 1));
  const mean = by === "none" ? 0 : sum / n;
  for (let j = 0; j < n; j++) out[j] = (values[at + j] - (mean + slope * (j - middle))) * window[j];
}

/** The state of a group of `shape` nodes, x fastest. */
export function frequenciesOf(
  options: FrequencyOptions,
  columns: readonly Float64Array[],
  weights: Float64Array | null,
  shape: readonly [number, number, number],
): Frequencies {
  const { axis, times, length, step, nodes, isPair, line: open } = options;
  const sums = new Float64Array(frequencySums(options));
  const [series, segments] = [seriesIn(options), segmentsIn(options)];
  const [along, inTime] = modesIn(options);
  const bins = along * inTime;
  const hann = (j: number): number => (1 - Math.cos((2 * Math.PI * j) / length)) / 2;
  const window = Float64Array.from({ length }, (_, j) => (options.window === "hann" ? hann(j) : 1));
  const square = window.reduce((sum, w) => sum + w * w, 0) / length;
  // Two real segments a and b are a complex one, c = a + i b: |A_j|^2 + |B_j|^2 = (|C_j|^2 + |C_-j|^2) / 2.
  const isPacked = axis === null && !isPair;
  const places = (sign: number) =>
    Int32Array.from({ length: bins }, (_, b) => b - (b % inTime) + ((length + sign * (b % inTime)) % length));
  // Along an axis the sign of t is reversed.
  const at = places(axis === null ? 1 : -1);
  const other = isPacked ? places(-1) : at;
  const isSingle = (i: number, n: number): boolean => i === 0 || 2 * i === n;
  const factors = Float64Array.from({ length: bins }, (_, b) =>
    (axis === null ? isSingle(b, length) : isSingle(Math.floor(b / inTime), nodes)) ? 1 : 2,
  );
  // A series that is longer than its line ends in zeros.
  const [lined, reach] = open === undefined ? [axis, nodes] : [open, shape[open]];
  const [each, apart] = open === undefined ? [columns.length, 1] : [1, times];
  const stride = lined === null || lined === 0 ? 1 : lined === 1 ? shape[0] : shape[0] * shape[1];
  const leftOut = { missing: 0, infinite: 0 };
  let [weight, count] = [0, 0];
  const [inT, inX] = [new Transform(length), new Transform(nodes)];
  /** Of each series of a line, by node or wavenumber, then time or frequency. */
  const modes = Array.from({ length: series }, () => [0, 1].map(() => new Float64Array(nodes * length)));
  const rows = modes.map((parts) =>
    Array.from({ length: nodes }, (_, i) => parts.map((part) => part.subarray(i * length, (i + 1) * length))),
  );
  const [re, im] = [new Float64Array(nodes), new Float64Array(nodes)];
  /** The values of all series at each node of a line, or of each series along the open axis. */
  const gathered = new Float64Array(nodes * series * times);
  const take = (w: number): void => {
    const scale = w / (segments * square * (nodes * length) ** 2);
    for (let segment = 0; segment < segments; segment += isPacked ? 2 : 1) {
      for (let s = 0; s < series; s++) {
        modes[s][1].fill(0);
        for (let i = 0; i < nodes; i++) {
          const [own, imaginary] = rows[s][i];
          const from = (i * series + s) * times + segment * step;
          segmentAt(gathered, from, options.detrend, window, own);
          if (isPacked && segment + 1 < segments) segmentAt(gathered, from + step, options.detrend, window, imaginary);
          inT.forward(own, imaginary);
        }
        const [real, imaginary] = modes[s];
        for (let j = 0; axis !== null && j < length; j++) {
          for (let i = 0; i < nodes; i++) {
            re[i] = real[i * length + j];
            im[i] = imaginary[i * length + j];
          }
          inX.forward(re, im);
          for (let i = 0; i < nodes; i++) {
            real[i * length + j] = re[i];
            imaginary[i * length + j] = im[i];
          }
        }
      }
      for (let s = 0; s < series; s++) {
        const [a, b] = modes[s];
        for (let bin = 0; bin < bins; bin++) {
          const [i, j] = [at[bin], other[bin]];
          const factor = 0.5 * scale * factors[bin];
          sums[s * bins + bin] += factor * (a[i] * a[i] + b[i] * b[i] + (a[j] * a[j] + b[j] * b[j]));
        }
      }
      for (let bin = 0; isPair && bin < bins; bin++) {
        const [i, factor] = [at[bin], factors[bin] * scale];
        const [[a, b], [c, d]] = modes;
        sums[2 * bins + bin] += factor * (a[i] * c[i] + b[i] * d[i]);
        sums[3 * bins + bin] += factor * (a[i] * d[i] - b[i] * c[i]);
      }
    }
  };
  /** Adds conj(u_k(t)) u_k(t + dt) over all steps, and |u_k(t)|^2 over all times. */
  const takeSteps = (w: number): void => {
    const first = sums.length - 3 * along;
    let [before, now] = [0, 1].map(() => [new Float64Array(nodes), new Float64Array(nodes)]);
    for (let s = 0; s < series; s++)
      for (let t = 0; t < times; t++) {
        for (let i = 0; i < nodes; i++) now[0][i] = gathered[i * columns.length + s * times + t];
        now[1].fill(0);
        inX.forward(now[0], now[1]);
        for (let k = 0; k < along; k++) {
          const [a, b, c, d] = [before[0][k], before[1][k], now[0][k], now[1][k]];
          if (t > 0) sums[first + k] += w * (a * c + b * d);
          if (t > 0) sums[first + along + k] += w * (a * d - b * c);
          sums[first + 2 * along + k] += w * (c * c + d * d);
        }
        [before, now] = [now, before];
      }
  };
  const lines = (columns[0]?.length ?? 0) / reach;
  for (let line = 0; line < lines; line++) {
    const start = Math.floor(line / stride) * stride * reach + (line % stride);
    let isWhole = true;
    // A line is left out once, by its first node without a value.
    for (let i = 0; isWhole && i < reach; i++) {
      for (let c = 0; c < columns.length; c++) gathered[i * each + c * apart] = columns[c][start + i * stride];
      isWhole = isKnown(columns, start + i * stride, leftOut);
    }
    if (!isWhole) continue;
    const w = weights === null ? 1 : weights[start];
    weight += w;
    count++;
    take(w);
    if (axis !== null) takeSteps(w);
  }
  return { sums, weight, count, ...leftOut };
}

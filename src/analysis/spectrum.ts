/**
 * Sums the modes of transformed columns into shells, rings or lines of wavenumbers.
 * With U(k) = (1/N) sum u exp(-i k x) over the N nodes of the transformed axes, shell n holds the modes with
 * n - 1/2 <= |k| / k0 < n + 1/2, where 2 pi / k0 is the longest period.
 */
import type { Names } from "./names.js";

export type OfAxes<T> = readonly [T, T, T];
const AXES = [0, 1, 2] as const;
/** A sum over modes; `gradients` is k^2 |U|^2, the mean square of all first derivatives. */
export type SpectrumTerm = "mean" | "energy" | "gradients" | "helicity" | "cross" | "transfer" | "co" | "quad";

/** Columns of whole frames that are transformed. Plain data, which crosses threads. */
export interface TransformPlan {
  /** Whether each axis is transformed. */
  readonly transformed: OfAxes<boolean>;
  readonly nodes: OfAxes<number>;
  readonly periods: OfAxes<number>;
  /** Expressions, each a scalar. */
  readonly columns: readonly string[];
  readonly order: 4 | 6 | 8;
  readonly names: Names;
}

/** Terms summed over the modes. The columns are the quantity, then that of `cross`, then the products u_i u_j. */
export interface SpectrumPlan extends TransformPlan {
  readonly kind: "shell" | "line" | "plane" | "modes";
  /** The axis along lines, or normal to planes; null for shells and modes. */
  readonly axis: 0 | 1 | 2 | null;
  /** For lines and modes: axes along which results are resolved, not summed; absent: none. */
  readonly resolvedAxes?: OfAxes<boolean>;
  /** Number of columns of the quantity; 2 for a pair. */
  readonly components: 1 | 2 | 3;
  /** For lines and modes, `mean` before `energy` and `co` removes the mean at each position of the result. */
  readonly terms: readonly SpectrumTerm[];
  /** Weights of lines in their average: widths of the nodes along each axis; null for equal widths. */
  readonly weights: OfAxes<Float64Array | null>;
}

/** A row of modes: real and imaginary parts of each column, not normalised. */
export type ModeRow = readonly { readonly re: Float64Array; readonly im: Float64Array }[];

/** Indices of the factors of the six products u_i u_j, i <= j. */
const PRODUCTS = [
  [0, 1, 2],
  [1, 3, 4],
  [2, 4, 5],
] as const;

/** Spacing of the shells, and the largest wavenumber that all axes resolve. Axes of one node count if no other is. */
export function rangeOf({ transformed, nodes, periods }: SpectrumPlan) {
  const several = AXES.filter((a) => transformed[a] && nodes[a] > 1);
  const axes = several.length === 0 ? AXES.filter((a) => transformed[a]) : several;
  const spacing = Math.max(...axes.map((a) => periods[a] / nodes[a]));
  return { unit: (2 * Math.PI) / Math.max(...axes.map((a) => periods[a])), nyquist: Math.PI / spacing };
}

/** Wavenumbers of the modes 0, 1, ..., -2, -1 of an axis in units of `unit`; 0 for an axis that is not transformed. */
export function wavenumbersAlong({ transformed, nodes, periods }: TransformPlan, a: 0 | 1 | 2, unit = 1): Float64Array {
  const step = transformed[a] ? (2 * Math.PI) / periods[a] / unit : 0;
  return Float64Array.from({ length: nodes[a] }, (_, i) => step * (2 * i > nodes[a] ? i - nodes[a] : i));
}

/** Bins of the answer: shells, rings, or modes along the axis of lines. */
export function binsOf(plan: SpectrumPlan): number {
  const { kind, axis, nodes } = plan;
  if (kind === "line") return (nodes[axis as 0] >> 1) + 1;
  if (kind === "modes") return modesOf(plan).reduce((product, n) => product * n, 1);
  const furthest = AXES.map((a) => Math.max(...wavenumbersAlong(plan, a, rangeOf(plan).unit).map(Math.abs)));
  return Math.floor(Math.hypot(...furthest) + 0.5) + 1;
}

/** Number of positions at which results are resolved: planes, or nodes of the resolved axes; else 1. */
export function groupsOf({ kind, axis, nodes, resolvedAxes }: SpectrumPlan): number {
  if (resolvedAxes !== undefined) return nodes.reduce((product, n, a) => product * (resolvedAxes[a] ? n : 1), 1);
  return kind === "plane" ? nodes[axis as 0] : 1;
}

/** Modes along each axis of `modes`: half for the first transformed axis, all for others, 1 without transform. */
export function modesOf({ transformed, nodes }: SpectrumPlan): OfAxes<number> {
  const first = transformed.indexOf(true);
  return nodes.map((n, a) => (!transformed[a] ? 1 : a === first ? (n >> 1) + 1 : n)) as unknown as OfAxes<number>;
}

/** Sums of each term by group and bin; `energy` of lines has a list for each component, `mean` see `addMeans`. */
export type SpectrumSums = readonly Float64Array[];

export function emptySums(plan: SpectrumPlan): SpectrumSums {
  const sizes = { mean: 1 + plan.components, energy: binsOf(plan) * (isOfLines(plan) ? plan.components : 1) };
  return plan.terms.map((term) => new Float64Array(groupsOf(plan) * (sizes[term as "mean"] ?? binsOf(plan))));
}

/** Adds the sums of later rows to the sums of earlier rows. */
export function addSums(plan: SpectrumPlan, into: SpectrumSums, from: SpectrumSums): void {
  const [size, isCentred] = [1 + plan.components, plan.terms[0] === "mean"];
  for (let at = 0; isCentred && at < from[0].length; at += size)
    addMeans(plan, into, at / size, from[0][at], [...from[0].subarray(at + 1, at + size)]);
  into.forEach((sums, t) => {
    for (let i = 0; i < sums.length && (t > 0 || !isCentred); i++) sums[i] += from[t][i];
  });
}

/**
 * Adds modes of wavenumber 0, of one weight, to those of a group. The sums of `mean` are the weight of a group and the
 * mean U_m of each component; those of other terms are of (U - U_m)(V - V_m) at wavenumber 0.
 * Source: Pébay, Sandia report SAND2008-6212 (2008).
 */
function addMeans(plan: SpectrumPlan, sums: SpectrumSums, group: number, weight: number, modes: number[]): void {
  if (weight === 0) return;
  const { terms, components } = plan;
  const [means, energies] = sums;
  const [at, bin] = [group * (1 + components), group * binsOf(plan)];
  const share = weight / (means[at] + weight);
  const off = modes.map((mode, c) => mode - means[at + 1 + c]);
  if (terms[2] === "co") sums[2][bin] += means[at] * share * off[0] * off[1];
  for (let c = 0; c < components; c++) {
    energies[(c * energies.length) / components + bin] += means[at] * share * off[c] ** 2;
    means[at + 1 + c] += share * off[c];
  }
  means[at] += weight;
}

/** Whether modes are summed by mode, over lines or planes whose widths are their weights. */
const isOfLines = ({ kind }: SpectrumPlan): boolean => kind === "line" || kind === "modes";

/** Weights of the nodes of an axis in a mean across it, by their widths; 1 where there is none. */
function fractionsOf(plan: SpectrumPlan, a: number): Float64Array {
  const widths = plan.weights[a] ?? new Float64Array(plan.nodes[a]).fill(1);
  const isMean = isOfLines(plan) && !plan.transformed[a] && !plan.resolvedAxes?.[a];
  const sum = widths.reduce((total, width) => total + width, 0);
  return widths.map((width) => (isMean ? width / sum : 1));
}

/** A row of modes: mode i is in bin `from + bins[i]` and weighs `share * weights[i]`. */
interface RowModes {
  readonly length: number;
  readonly from: number;
  readonly bins: Int32Array;
  readonly share: number;
  readonly weights: Float64Array;
  /** 1, or -1 for modes in the bins of their conjugates. */
  readonly sign: 1 | -1;
  /** Wavenumbers, along x by mode. */
  readonly kx: Float64Array;
  readonly ky: number;
  readonly kz: number;
}

/** Sums rows of modes along x in one thread. */
export class SpectrumRows {
  readonly sums: SpectrumSums;
  readonly #plan: SpectrumPlan;
  readonly #row: { -readonly [K in keyof RowModes]: RowModes[K] };
  readonly #unit: number;
  readonly #k: OfAxes<Float64Array>;
  readonly #bins: number;
  readonly #modes: OfAxes<number>;
  readonly #fractions: OfAxes<Float64Array>;
  /** For lines and modes: sums of a component; else 0. */
  readonly #sumsPerComponent: number;

  constructor(plan: SpectrumPlan) {
    this.#plan = plan;
    this.sums = emptySums(plan);
    this.#unit = rangeOf(plan).unit;
    this.#k = [wavenumbersAlong(plan, 0), wavenumbersAlong(plan, 1), wavenumbersAlong(plan, 2)];
    this.#bins = binsOf(plan);
    this.#modes = modesOf(plan);
    const { nodes, transformed } = plan;
    const length = transformed[0] ? (nodes[0] >> 1) + 1 : nodes[0];
    // Half of the modes stand for themselves and their conjugates; lines are averaged.
    const pointCount = nodes.reduce((product, n, a) => product * (transformed[a] ? n : 1), 1);
    this.#fractions = [fractionsOf(plan, 0), fractionsOf(plan, 1), fractionsOf(plan, 2)];
    const timesOf = (i: number): number => (transformed[0] && i > 0 && 2 * i !== nodes[0] ? 2 : 1);
    const weights = this.#fractions[0].slice(0, length).map((share, i) => (timesOf(i) * share) / pointCount ** 2);
    this.#sumsPerComponent = isOfLines(plan) ? this.#bins * groupsOf(plan) : 0;
    // The bins of lines and modes are the same in each row, from its first one on.
    const step = transformed[0] ? 1 : plan.resolvedAxes?.[0] ? this.#bins : 0;
    const bins = Int32Array.from({ length }, (_, i) => step * i);
    this.#row = { length, from: 0, bins, share: 1, weights, sign: 1, kx: this.#k[0], ky: 0, kz: 0 };
  }

  /** Adds the modes of row (y, z). */
  add(y: number, z: number, columns: ModeRow): void {
    this.#setRow(y, z);
    const [{ components, terms }, row] = [this.#plan, this.#row];
    const [own, others] = [columns.slice(0, components), columns.slice(components)];
    for (const [t, term] of terms.entries()) {
      const sums = this.sums[t];
      if (term === "mean") this.#takeMeans(own, y, z);
      else if (term === "energy" && this.#sumsPerComponent > 0)
        for (const [c, one] of own.entries()) addCross(row, one, one, sums.subarray(c * this.#sumsPerComponent));
      else if (term === "energy" || term === "gradients") addSquares(row, own, term === "energy", sums);
      else if (term === "co") addCross(row, own[0], own[1], sums);
      else if (term === "quad") addQuadrature(row, own[0], own[1], sums);
      else if (term === "helicity") addHelicity(this.#oddDerivativeRow(y, z), own, sums);
      else if (term === "transfer") addTransfer(this.#oddDerivativeRow(y, z), own, others.slice(-6), sums);
      else for (const [c, one] of own.entries()) addCross(row, one, others[c], sums);
    }
  }

  /** Takes modes of wavenumber 0, which are real, out of the row. */
  #takeMeans(own: ModeRow, y: number, z: number): void {
    const [{ transformed }, { length, from, bins, share, weights }] = [this.#plan, this.#row];
    if ((transformed[1] && y > 0) || (transformed[2] && z > 0)) return;
    for (let i = 0; i < (transformed[0] ? 1 : length); i++) {
      const modes = own.map(({ re }) => re[i]);
      addMeans(this.#plan, this.sums, (from + bins[i]) / this.#bins, share * weights[i], modes);
      for (const { re } of own) re[i] = 0;
    }
  }

  /** Sets the wavenumbers, bins and weights of row (y, z). */
  #setRow(y: number, z: number): void {
    const [{ kind, axis, nodes, transformed, resolvedAxes }, row, size] = [this.#plan, this.#row, this.#bins];
    const { bins, kx, length } = row;
    row.ky = this.#k[1][y];
    row.kz = this.#k[2][z];
    row.share = this.#fractions[1][y] * this.#fractions[2][z];
    if (this.#sumsPerComponent > 0) {
      // Modes with a negative first wavenumber go to the bins of their conjugates.
      const first = transformed.indexOf(true);
      row.sign = first > 0 && 2 * (first === 1 ? y : z) > nodes[first] ? -1 : 1;
      const mode = (i: number, a: 1 | 2): number => (!transformed[a] ? 0 : row.sign < 0 && i > 0 ? nodes[a] - i : i);
      const [px, py, pz] = resolvedAxes ?? [false, false, false];
      // The group of the first node of the row, x fastest.
      const group = ((pz ? z : 0) * (py ? nodes[1] : 1) + (py ? y : 0)) * (px ? nodes[0] : 1);
      row.from = (mode(z, 2) * this.#modes[1] + mode(y, 1)) * this.#modes[0] + size * group;
      return;
    }
    const [rest, unit] = [row.ky ** 2 + row.kz ** 2, this.#unit];
    const [from, step] = kind === "shell" ? [0, 0] : axis === 0 ? [0, size] : [(axis === 1 ? y : z) * size, 0];
    for (let i = 0; i < length; i++) bins[i] = Math.floor(Math.sqrt(kx[i] ** 2 + rest) / unit + 0.5) + from + step * i;
  }

  /** The row with the wavenumbers of odd derivatives, which are 0 at the last mode of an even number of nodes. */
  #oddDerivativeRow(y: number, z: number): RowModes {
    const wavenumber = (i: number, a: 0 | 1 | 2) => (2 * i === this.#plan.nodes[a] ? 0 : this.#k[a][i]);
    const kx = this.#k[0].map((_, i) => wavenumber(i, 0));
    return { ...this.#row, kx, ky: wavenumber(y, 1), kz: wavenumber(z, 2) };
  }
}

type Modes = ModeRow[number];

/** Sums |U|^2 of several columns, times 1/2 for energies, or k^2. */
function addSquares(row: RowModes, columns: ModeRow, isEnergy: boolean, sums: Float64Array): void {
  const { length, from, bins, share, weights, kx, ky, kz } = row;
  for (const { re, im } of columns)
    for (let i = 0; i < length; i++) {
      const factor = isEnergy ? 0.5 : kx[i] * kx[i] + ky * ky + kz * kz;
      sums[from + bins[i]] += factor * share * weights[i] * (re[i] * re[i] + im[i] * im[i]);
    }
}

/** Sums Re U* . (i k x U) = 2 k . (a x b), where U = a + i b. */
function addHelicity(row: RowModes, [u, v, w]: ModeRow, sums: Float64Array): void {
  const { length, from, bins, share, weights, kx, ky, kz } = row;
  for (let i = 0; i < length; i++) {
    const x = v.re[i] * w.im[i] - w.re[i] * v.im[i];
    const y = w.re[i] * u.im[i] - u.re[i] * w.im[i];
    const z = u.re[i] * v.im[i] - v.re[i] * u.im[i];
    sums[from + bins[i]] += 2 * share * weights[i] * (kx[i] * x + ky * y + kz * z);
  }
}

/** Sums Re U* Q. */
function addCross(row: RowModes, own: Modes, other: Modes, sums: Float64Array): void {
  const { length, from, bins, share, weights } = row;
  for (let i = 0; i < length; i++)
    sums[from + bins[i]] += share * weights[i] * (own.re[i] * other.re[i] + own.im[i] * other.im[i]);
}

/** Sums Im U* Q. */
function addQuadrature(row: RowModes, own: Modes, other: Modes, sums: Float64Array): void {
  const { length, from, bins, share, weights, sign } = row;
  for (let i = 0; i < length; i++)
    sums[from + bins[i]] += sign * share * weights[i] * (own.re[i] * other.im[i] - own.im[i] * other.re[i]);
}

/** Sums Re U* . P N, where N_i = -i k_j F(u_i u_j), and P projects onto the plane across k. F is not normalised. */
function addTransfer(row: RowModes, own: ModeRow, products: ModeRow, sums: Float64Array): void {
  const { length, from, bins, share, weights, kx, ky, kz } = row;
  const k = [0, ky, kz];
  for (let i = 0; i < length; i++) {
    k[0] = kx[i];
    const square = k[0] ** 2 + ky ** 2 + kz ** 2;
    if (square === 0) continue;
    let [sum, aK, bK, reK, imK] = [0, 0, 0, 0, 0];
    for (let c = 0; c < 3; c++) {
      let [re, im] = [0, 0];
      for (let j = 0; j < 3; j++) {
        const product = products[PRODUCTS[c][j]];
        re += k[j] * product.im[i];
        im -= k[j] * product.re[i];
      }
      const [a, b] = [own[c].re[i], own[c].im[i]];
      sum += a * re + b * im;
      aK += k[c] * a;
      bK += k[c] * b;
      reK += k[c] * re;
      imK += k[c] * im;
    }
    sums[from + bins[i]] += share * weights[i] * (sum - (aK * reK + bK * imK) / square);
  }
}

/** Integral, Taylor and Kolmogorov scales and Re_lambda. `meanSquareGradient`: the mean of all (du_i/dx_j)^2. */
export function scalesOf(
  energies: Float64Array,
  unit: number,
  meanSquareGradient: number,
  nu: number | undefined,
  nyquist: number,
) {
  // Shell 0 holds the mean flow.
  const [energy, overK] = energies.reduce(
    ([sum, weighted], e, n) => (n === 0 ? [0, 0] : [sum + e, weighted + e / (n * unit)]),
    [0, 0],
  );
  const speed = Math.sqrt((2 * energy) / 3);
  const taylor = Math.sqrt((15 * speed ** 2) / meanSquareGradient);
  const scales = { energy, rms: speed, integral: ((Math.PI / 2) * overK) / speed ** 2, taylor };
  if (nu === undefined) return scales;
  const dissipation = nu * meanSquareGradient;
  const kolmogorov = (nu ** 3 / dissipation) ** 0.25;
  return { ...scales, dissipation, kolmogorov, Re_lambda: (speed * taylor) / nu, resolution: nyquist * kolmogorov };
}

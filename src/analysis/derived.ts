/** Fields that transforms make of stored ones: spectral derivatives, filtered fields, and their derivatives. */
import type { FieldName } from "../shared/operations.js";
import type { InputKey, InputKind, Names } from "./names.js";
import { type OfAxes, type TransformPlan, wavenumbersAlong } from "./spectrum.js";

export const FILTER_KINDS = ["gaussian", "sharp", "tophat"] as const;

/** A filter over cubes or balls of a width. */
export interface FieldFilter {
  readonly kind: (typeof FILTER_KINDS)[number];
  readonly width: number;
}

/** A component of a derived field: a column whose modes are multiplied by factors. */
export interface DerivedComponent {
  readonly column: number;
  readonly isFiltered: boolean;
  /** Axes along which it is differentiated, in order. */
  readonly axes: readonly (0 | 1 | 2)[] | "laplacian";
}

/** Columns that are transformed, and what is made of them. Plain data, which crosses threads. */
export interface DerivedPlan extends TransformPlan {
  readonly components: readonly DerivedComponent[];
  /** Numbers of the components of each input. */
  readonly inputs: Readonly<Partial<Record<InputKey, readonly number[]>>>;
  readonly filter: FieldFilter | null;
  /** How fields are differentiated: exactly, or as differences of this order do. */
  readonly scheme: DerivativeScheme;
}

export type DerivativeScheme = "spectral" | 4 | 6 | 8;

/** What transforms need to know of a grid; a filter is a matrix along axes that are not transformed. */
export type TransformGrid = Pick<TransformPlan, "nodes" | "periods" | "transformed">;

const AXES = [0, 1, 2] as const;
const LETTERS = ["x", "y", "z"] as const;
const isFilteredKind = (kind: InputKind): boolean => kind.startsWith("filtered");

/**
 * The plan of all inputs that transforms make; null if there are none.
 *
 * @param keys inputs of expressions
 */
export function derivedPlan(
  keys: Iterable<InputKey>,
  grid: TransformGrid,
  names: Names,
  filter: FieldFilter | null,
  scheme: DerivativeScheme,
): DerivedPlan | null {
  const columns: string[] = [];
  const components: DerivedComponent[] = [];
  const inputs: Partial<Record<InputKey, readonly number[]>> = {};
  const place = (text: string, isFiltered: boolean, axes: DerivedComponent["axes"]): number => {
    const known = columns.indexOf(text);
    const column = known >= 0 ? known : columns.push(text) - 1;
    const made = JSON.stringify({ column, isFiltered, axes });
    const same = components.findIndex((one) => JSON.stringify(one) === made);
    return same >= 0 ? same : components.push({ column, isFiltered, axes }) - 1;
  };
  for (const key of keys) {
    const [kind, field] = key.split(":") as [InputKind, FieldName | undefined];
    if (field === undefined || kind === "value" || (scheme !== "spectral" && !isFilteredKind(kind))) continue;
    inputs[key] = componentsOf(kind, field, names.fields[field], place);
  }
  if (components.length === 0) return null;
  return { ...grid, columns, order: 4, names, components, inputs, filter, scheme };
}

function componentsOf(
  kind: InputKind,
  field: FieldName,
  size: number | undefined,
  place: (text: string, isFiltered: boolean, axes: DerivedComponent["axes"]) => number,
): readonly number[] {
  const parts = size === 3 ? LETTERS.map((letter) => `${field}.${letter}`) : [field];
  const isFiltered = isFilteredKind(kind);
  switch (kind) {
    case "gradient":
    case "filteredGradient":
      return parts.flatMap((part) => AXES.map((a) => place(part, isFiltered, [a])));
    case "laplacian":
      return parts.map((part) => place(part, false, "laplacian"));
    case "hessian":
      return AXES.flatMap((a) => AXES.map((b) => place(field, false, a < b ? [a, b] : [b, a])));
    case "filteredProducts":
      return AXES.flatMap((a) =>
        AXES.map((b) => place(`${parts[Math.min(a, b)]} * ${parts[Math.max(a, b)]}`, true, [])),
      );
    default:
      return parts.map((part) => place(part, isFiltered, []));
  }
}

/** Multiplies rows of modes along x by the factors of components, for one thread. */
export class ModeFactors {
  readonly #plan: DerivedPlan;
  /** Wavenumbers, those of odd derivatives, and factors of the filter along each axis. */
  readonly #even: OfAxes<Float64Array>;
  readonly #odd: OfAxes<Float64Array>;
  readonly #filter: OfAxes<Float64Array>;
  readonly #amplitudes: Float64Array;

  constructor(plan: DerivedPlan) {
    this.#plan = plan;
    const along = (of: (a: 0 | 1 | 2) => Float64Array): OfAxes<Float64Array> => [of(0), of(1), of(2)];
    this.#even = along((a) => wavenumbersAlong(plan, a));
    this.#odd = along((a) => this.#even[a].map((k, i) => (2 * i === plan.nodes[a] ? 0 : modified(plan, a, k))));
    this.#filter = along((a) => filterFactors(plan, a, this.#even[a]));
    this.#amplitudes = new Float64Array(plan.transformed[0] ? (plan.nodes[0] >> 1) + 1 : plan.nodes[0]);
  }

  /** Overwrites (`toRe`, `toIm`) with row (y, z) of a component, divided by the nodes of the transformed axes. */
  apply(
    component: number,
    y: number,
    z: number,
    re: Float64Array,
    im: Float64Array,
    toRe: Float64Array,
    toIm: Float64Array,
  ): void {
    const { axes } = this.#plan.components[component];
    const f = this.#amplitudesAt(component, y, z);
    // i to the number of derivatives.
    const turns = axes === "laplacian" ? 2 : axes.filter((axis) => this.#plan.transformed[axis]).length;
    for (let i = 0; i < f.length; i++) {
      toRe[i] = turns === 0 ? f[i] * re[i] : turns === 1 ? -f[i] * im[i] : -f[i] * re[i];
      toIm[i] = turns === 0 ? f[i] * im[i] : turns === 1 ? f[i] * re[i] : -f[i] * im[i];
    }
  }

  #amplitudesAt(component: number, y: number, z: number): Float64Array {
    const { components, nodes, filter, transformed } = this.#plan;
    const { axes, isFiltered } = components[component];
    const at = [0, y, z] as const;
    const [kx, ky, kz] = this.#even;
    const power = (a: 0 | 1 | 2, i: number): number => {
      const count = axes === "laplacian" || !transformed[a] ? 0 : axes.filter((axis) => axis === a).length;
      return count === 0 ? 1 : count === 1 ? this.#odd[a][i] : this.#even[a][i] ** 2;
    };
    const filtered = (a: 0 | 1 | 2, i: number): number => (isFiltered ? this.#filter[a][i] : 1);
    const scale = ([1, 2] as const).reduce(
      (product, a) => product * power(a, at[a]) * filtered(a, at[a]),
      1 / nodes.reduce((product, n, a) => product * (transformed[a] ? n : 1), 1),
    );
    const rest = ky[y] ** 2 + kz[z] ** 2;
    const cut = isFiltered && filter?.kind === "sharp" ? ((1 + 1e-12) * Math.PI) / filter.width : Infinity;
    for (let i = 0; i < this.#amplitudes.length; i++) {
      const square = kx[i] ** 2 + rest;
      const factor = axes === "laplacian" ? square : power(0, i) * filtered(0, i);
      this.#amplitudes[i] = square > cut ** 2 ? 0 : scale * factor;
    }
    return this.#amplitudes;
  }
}

/** Coefficients of centred differences at 1, 2, ... nodes, antisymmetric. */
const DIFFERENCES: Readonly<Record<4 | 6 | 8, readonly number[]>> = {
  4: [2 / 3, -1 / 12],
  6: [3 / 4, -3 / 20, 1 / 60],
  8: [4 / 5, -1 / 5, 4 / 105, -1 / 280],
};

/** The factor by which a scheme's derivative multiplies a mode, in place of k. */
function modified({ scheme, periods, nodes }: DerivedPlan, a: 0 | 1 | 2, k: number): number {
  if (scheme === "spectral") return k;
  const h = periods[a] / nodes[a];
  return DIFFERENCES[scheme].reduce((sum, c, j) => sum + (2 * c * Math.sin((j + 1) * k * h)) / h, 0);
}

/** Factors of a filter along an axis; the sharp one is not a product of these. */
function filterFactors({ filter, periods, nodes }: DerivedPlan, a: 0 | 1 | 2, k: Float64Array): Float64Array {
  if (filter === null || filter.kind === "sharp") return k.map(() => 1);
  if (filter.kind === "gaussian") return k.map((one) => Math.exp(-((one * filter.width) ** 2) / 24));
  const h = periods[a] / nodes[a];
  const width = boxNodes(filter.width, h);
  return k.map((one) => {
    let sum = 1;
    for (let j = 1; 2 * j < width; j++) sum += 2 * Math.cos(j * one * h);
    return sum / width;
  });
}

/** The odd number of nodes nearest to a filter width: exact even multiples of the spacing go down. */
export function boxNodes(width: number, spacing: number): number {
  const nodes = Math.round(width / spacing);
  if (nodes % 2 === 1) return nodes;
  return Math.max(1, width <= nodes * spacing * (1 + 2 ** -22) ? nodes - 1 : nodes + 1);
}

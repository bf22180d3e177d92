/** Fields computed by transforms from stored ones: spectral derivatives, filtered fields, and derivatives of these. */
import { compileExpression, componentsIn } from "./expression.js";
import { type InputKey, type InputKind, type InputParts, type Names, partsOfInput } from "./names.js";
import { type OfAxes, type TransformPlan, wavenumbersAlong } from "./spectrum.js";

export const FILTER_KINDS = ["gaussian", "sharp", "tophat"] as const;

/** A filter over cubes or balls of a width. */
export interface FieldFilter {
  readonly kind: (typeof FILTER_KINDS)[number];
  readonly width: number;
  /** Axes along which it filters; absent: all. */
  readonly along?: readonly (0 | 1 | 2)[];
}

/** A component of a derived field: a column whose modes are multiplied by factors. */
export interface DerivedComponent {
  readonly column: number;
  readonly filter: FieldFilter | null;
  /** Axes of its derivatives, in order. */
  readonly axes: readonly (0 | 1 | 2)[] | "laplacian";
}

/** A plan of columns that are transformed, and of fields derived from their modes. Plain data that crosses threads. */
export interface DerivedPlan extends TransformPlan {
  readonly components: readonly DerivedComponent[];
  /** Indices of the components of each input. */
  readonly inputs: Readonly<Partial<Record<InputKey, readonly number[]>>>;
  /** The plan for derived fields that the columns read; absent: they read none. */
  readonly before?: DerivedPlan;
  /** The derivative in wavenumber space: exact, or as by finite differences of this order. */
  readonly scheme: DerivativeScheme;
}

export type DerivativeScheme = "spectral" | 4 | 6 | 8;

const AXES = [0, 1, 2] as const;
const LETTERS = ["x", "y", "z"] as const;
const isFilteredKind = (kind: InputKind): boolean => kind.startsWith("filtered");

/** The plan for all inputs that transforms compute; null if there are none. `keys`: inputs of expressions. */
export function derivedPlan(
  keys: Iterable<InputKey>,
  grid: Pick<TransformPlan, "nodes" | "periods" | "transformed">,
  names: Names,
  filter: FieldFilter | null,
  scheme: DerivativeScheme,
): DerivedPlan | null {
  const columns: string[] = [];
  const components: DerivedComponent[] = [];
  const inputs: Partial<Record<InputKey, readonly number[]>> = {};
  const place = (text: string, own: FieldFilter | null, axes: DerivedComponent["axes"]): number => {
    const known = columns.indexOf(text);
    const column = known >= 0 ? known : columns.push(text) - 1;
    const made = JSON.stringify({ column, filter: own, axes });
    const same = components.findIndex((one) => JSON.stringify(one) === made);
    return same >= 0 ? same : components.push({ column, filter: own, axes }) - 1;
  };
  for (const key of keys) {
    const parts = partsOfInput(key);
    const isMade = scheme === "spectral" && !PLAIN.includes(parts?.kind ?? "value");
    if (parts === null || !(isMade || isFilteredKind(parts.kind))) continue;
    inputs[key] = componentsOf(parts, names, filterOf(parts, filter), place);
  }
  if (components.length === 0) return null;
  const below = new Set(columns.flatMap((text) => compileExpression(text, names).reads));
  const before = derivedPlan(below, grid, names, filter, scheme);
  const plan = { ...grid, columns, order: 4, names, components, inputs, scheme } as const;
  return before === null ? plan : { ...plan, before };
}

/** Inputs without derivatives in space. */
const PLAIN: readonly InputKind[] = ["value", "rate", "frame", "shift", "mean"];

/** The filter of an input: its own, or the default. */
export function filterOf({ kind, option }: InputParts, filter: FieldFilter | null): FieldFilter | null {
  if (!isFilteredKind(kind)) return null;
  if (option === "") return filter;
  const [own, width, letters] = option.split(",") as [FieldFilter["kind"], string, string];
  const along = AXES.filter((a) => letters.includes(LETTERS[a]));
  return { kind: own, width: Number(width), ...(along.length === 3 ? {} : { along }) };
}

function componentsOf(
  { kind, field, expression }: InputParts,
  names: Names,
  filter: FieldFilter | null,
  place: (text: string, filter: FieldFilter | null, axes: DerivedComponent["axes"]) => number,
): readonly number[] {
  const ofField = names.fields[field] === 3 ? LETTERS.map((letter) => `${field}.${letter}`) : [field];
  const parts = expression === null ? ofField : componentsIn(expression, compileExpression(expression, names).shape);
  switch (kind) {
    case "gradient":
    case "filteredGradient":
      return parts.flatMap((part) => AXES.map((a) => place(part, filter, [a])));
    case "secondDerivative":
      return parts.flatMap((part) => AXES.map((a) => place(part, filter, [a, a])));
    case "laplacian":
      return parts.map((part) => place(part, null, "laplacian"));
    case "hessian":
      return parts.flatMap((part) => AXES.flatMap((a) => AXES.map((b) => place(part, null, a < b ? [a, b] : [b, a]))));
    case "filteredProducts":
      return AXES.flatMap((a) =>
        AXES.map((b) => place(`${parts[Math.min(a, b)]} * ${parts[Math.max(a, b)]}`, filter, [])),
      );
    default:
      return parts.map((part) => place(part, filter, []));
  }
}

/** Whether a filter acts along an axis. */
export function actsAlong({ along }: FieldFilter, a: 0 | 1 | 2): boolean {
  return along === undefined || along.includes(a);
}

/** Multiplies rows of modes along x by the factors of each component, in one thread. */
export class ModeFactors {
  readonly #plan: DerivedPlan;
  /** Wavenumbers, wavenumbers of odd derivatives, and factors of the filter along each axis. */
  readonly #even: OfAxes<Float64Array>;
  readonly #odd: OfAxes<Float64Array>;
  /** By component, factors of its filter along each axis. */
  readonly #filters: readonly OfAxes<Float64Array>[];
  readonly #amplitudes: Float64Array;

  constructor(plan: DerivedPlan) {
    this.#plan = plan;
    const along = (of: (a: 0 | 1 | 2) => Float64Array): OfAxes<Float64Array> => [of(0), of(1), of(2)];
    this.#even = along((a) => wavenumbersAlong(plan, a));
    this.#odd = along((a) => this.#even[a].map((k, i) => (2 * i === plan.nodes[a] ? 0 : modified(plan, a, k))));
    this.#filters = plan.components.map(({ filter }) => along((a) => filterFactors(plan, filter, a, this.#even[a])));
    this.#amplitudes = new Float64Array(plan.transformed[0] ? (plan.nodes[0] >> 1) + 1 : plan.nodes[0]);
  }

  /** Overwrites (`toRe`, `toIm`) with row (y, z) of a component, normalised by the nodes of the transformed axes. */
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
    // The power of i that the derivatives give.
    const turns = axes === "laplacian" ? 2 : axes.filter((axis) => this.#plan.transformed[axis]).length;
    for (let i = 0; i < f.length; i++) {
      toRe[i] = turns === 0 ? f[i] * re[i] : turns === 1 ? -f[i] * im[i] : -f[i] * re[i];
      toIm[i] = turns === 0 ? f[i] * im[i] : turns === 1 ? f[i] * re[i] : -f[i] * im[i];
    }
  }

  #amplitudesAt(component: number, y: number, z: number): Float64Array {
    const { components, nodes, transformed } = this.#plan;
    const { axes, filter } = components[component];
    const filters = this.#filters[component];
    const at = [0, y, z] as const;
    const [kx, ky, kz] = this.#even;
    const power = (a: 0 | 1 | 2, i: number): number => {
      const count = axes === "laplacian" || !transformed[a] ? 0 : axes.filter((axis) => axis === a).length;
      return count === 0 ? 1 : count === 1 ? this.#odd[a][i] : this.#even[a][i] ** 2;
    };
    const scale = ([1, 2] as const).reduce(
      (product, a) => product * power(a, at[a]) * filters[a][at[a]],
      1 / nodes.reduce((product, n, a) => product * (transformed[a] ? n : 1), 1),
    );
    const rest = ky[y] ** 2 + kz[z] ** 2;
    const cut = filter?.kind === "sharp" ? ((1 + 1e-12) * Math.PI) / filter.width : Infinity;
    const [inX, inY, inZ] = AXES.map((a) => (filter === null || actsAlong(filter, a) ? 1 : 0));
    const restInside = inY * ky[y] ** 2 + inZ * kz[z] ** 2;
    for (let i = 0; i < this.#amplitudes.length; i++) {
      const square = kx[i] ** 2;
      const factor = axes === "laplacian" ? square + rest : power(0, i) * filters[0][i];
      this.#amplitudes[i] = inX * square + restInside > cut ** 2 ? 0 : scale * factor;
    }
    return this.#amplitudes;
  }
}

/** Coefficients of centred differences at 1, 2, ... nodes, for 4th, 6th and 8th order. */
const DIFFERENCES: Readonly<Record<4 | 6 | 8, readonly number[]>> = {
  4: [2 / 3, -1 / 12],
  6: [3 / 4, -3 / 20, 1 / 60],
  8: [4 / 5, -1 / 5, 4 / 105, -1 / 280],
};

/** The modified wavenumber of a scheme, which takes the place of k. */
function modified({ scheme, periods, nodes }: DerivedPlan, a: 0 | 1 | 2, k: number): number {
  if (scheme === "spectral") return k;
  const h = periods[a] / nodes[a];
  return DIFFERENCES[scheme].reduce((sum, c, j) => sum + (2 * c * Math.sin((j + 1) * k * h)) / h, 0);
}

/** Factors of a filter along an axis; the sharp filter is not a product of such factors. */
function filterFactors(
  { periods, nodes }: DerivedPlan,
  filter: FieldFilter | null,
  a: 0 | 1 | 2,
  k: Float64Array,
): Float64Array {
  if (filter === null || filter.kind === "sharp" || nodes[a] === 1 || !actsAlong(filter, a)) return k.map(() => 1);
  if (filter.kind === "gaussian") return k.map((one) => Math.exp(-((one * filter.width) ** 2) / 24));
  const h = periods[a] / nodes[a];
  const width = boxNodes(filter.width, h);
  return k.map((one) => {
    let sum = 1;
    for (let j = 1; 2 * j < width; j++) sum += 2 * Math.cos(j * one * h);
    return sum / width;
  });
}

/** The odd number of nodes nearest to a filter width; exact even multiples of the spacing are rounded down. */
export function boxNodes(width: number, spacing: number): number {
  const nodes = Math.round(width / spacing);
  if (nodes % 2 === 1) return nodes;
  return Math.max(1, width <= nodes * spacing * (1 + 2 ** -22) ? nodes - 1 : nodes + 1);
}

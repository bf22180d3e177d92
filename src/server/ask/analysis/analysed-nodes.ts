/** The nodes and frames of analyses, and the reductions over them. */
import type { DerivativeScheme, DerivedPlan, FieldFilter } from "../../../analysis/derived.js";
import { compileScalar } from "../../../analysis/expression.js";
import { type Names, namesFor } from "../../../analysis/names.js";
import type { ReductionPlan } from "../../../analysis/plan.js";
import { cellWidths, type Dataset, fieldNames } from "../../../engine/contract/dataset.js";
import type { ReductionQuery } from "../../../engine/contract/query.js";
import type { FieldName } from "../../../shared/operations.js";
import { timesOf } from "../../http/describe.js";
import { refuse } from "../../http/refusal.js";
import { type AskedRegion, checkRegion, coordinateOf, nodesIn } from "../question/region.js";
import { AT_NODES, derivedFor, schemeOf } from "../transforms.js";

/** The nodes and frames that are analysed, as far as plans know them, and for the answer. */
export interface AnalysedNodes {
  readonly base: Omit<ReductionPlan, "columns" | "reductions">;
  readonly first: readonly [number, number, number];
  readonly stride: readonly [number, number, number];
  readonly frames: readonly number[];
  /** Numbers of the frames as callers count them. */
  readonly numbers: readonly number[];
  /** Whether an axis is taken for its whole period. */
  readonly wraps: readonly [boolean, boolean, boolean];
  readonly field: FieldName;
  readonly weights: "volume" | "nodes";
  readonly transforms: {
    readonly dataset: Dataset;
    readonly filter: FieldFilter | null;
    readonly scheme: DerivativeScheme;
  };
}

/** Which nodes and frames are analysed, and how. */
export interface PlaceMembers {
  /** Stored frames, counted from 1 at the first queryable time. */
  readonly frames: readonly number[];
  /** Absent: all nodes. */
  readonly region?: AskedRegion;
  /** What a node weighs: the volume of its cell, or 1. */
  readonly weights?: "volume" | "nodes";
  /** At nodes None_Fd4, None_Fd6, None_Fd8 or spectral; at points any spatial option of gradients. */
  readonly derivatives?: string;
  readonly units?: "check" | "ignore";
  readonly filter?: FieldFilter;
  /** Directions that are averaged over; absent: all. */
  readonly over?: readonly ("x" | "y" | "z" | "t")[];
  /** Whether names of version 1 are refused; absent: they are known. */
  readonly refusesEarlier?: boolean;
  /** Frames of a block, of whose series standard errors are found; absent: there are none. */
  readonly by?: number;
  /** An axis whose halves are folded, and the signs of quantities; absent: none is. */
  readonly fold?: { readonly axis: 0 | 1 | 2; signsOf(text: string): readonly number[] } | undefined;
  /** Means that expressions read. */
  readonly means?: Names["means"];
}

/** What is asked of statistics. */
export interface AskedStatistics extends PlaceMembers {
  /** Points that are drawn in the region, or given; absent: all nodes. */
  readonly at?: { readonly method?: string } & (
    | { readonly random: number; readonly seed?: number }
    | { readonly points: Float32Array }
  );
  readonly reduce: readonly Readonly<Record<string, unknown>>[];
}

/** Frames, names and axes for points, which have no nodes; derivatives there are no differences at nodes. */
export function pointPlacesOf({ region: _, ...asked }: PlaceMembers, dataset: Dataset): AnalysedNodes {
  return placesOf({ ...asked, derivatives: AT_NODES[0], weights: "nodes" }, dataset);
}

/** Finds nodes and frames. @throws RequestError */
export function placesOf(asked: PlaceMembers, dataset: Dataset): AnalysedNodes {
  const { axes, time } = dataset;
  const numbers = asked.frames;
  const all = timesOf(time);
  const runs = nodesIn(checkRegion(asked.region), dataset, axes);
  const extent = [...runs.map(({ count }) => count), numbers.length] as unknown as ReductionPlan["extent"];
  const coordinates = runs.map(({ from, count, step }, a) =>
    Float64Array.from({ length: count }, (_, i) => coordinateOf(axes[a as 0 | 1 | 2], from + i * step)),
  ) as unknown as ReductionPlan["coordinates"];
  // A node keeps its weight whatever the region.
  const widths = axes.map((axis) =>
    asked.weights === "nodes" ? new Float64Array(axis.nodes).fill(1) : cellWidths(axis),
  );
  const isEven = widths.map((all) => all.every((width) => width === all[0]));
  const weights = runs.map(({ first, count, step }, a) =>
    isEven[a]
      ? null
      : Float64Array.from({ length: count }, (_, i) => (widths[a] as Float64Array)[first + i * step] as number),
  ) as unknown as ReductionPlan["weights"];
  const cell = widths.reduce((product, all, a) => product * (isEven[a] ? (all[0] as number) : 1), 1);
  const over = asked.over ?? ["x", "y", "z", "t"];
  const kept = (["x", "y", "z", "t"] as const).map(
    (axis) => !over.includes(axis) && (axis !== "t" || numbers.length > 1),
  ) as unknown as ReductionPlan["kept"];
  const field = fieldNames(dataset)[0];
  const { filter = null } = asked;
  const scheme = schemeOf(asked.derivatives);
  return {
    transforms: { dataset, filter, scheme },
    base: {
      order: scheme === "spectral" ? 4 : scheme,
      names: {
        ...namesFor(dataset, asked.units !== "ignore"),
        isFiltered: filter !== null,
        ...(asked.refusesEarlier === true ? { refusesEarlier: true } : {}),
        ...(asked.means === undefined ? {} : { means: asked.means }),
      },
      extent,
      kept,
      coordinates,
      periods: axes.map((axis) =>
        axis.periodic ? axis.nodes * axis.spacing : 0,
      ) as unknown as ReductionPlan["periods"],
      times: numbers.map((number) => all[number - 1] as number),
      weights,
      cell,
    },
    weights: asked.weights ?? "volume",
    first: runs.map(({ first }) => first) as unknown as AnalysedNodes["first"],
    stride: runs.map(({ step }) => step) as unknown as AnalysedNodes["stride"],
    frames: numbers.map((number) => number - 1 + time.guardBefore),
    numbers,
    wraps: runs.map(({ count, step }, a) => {
      const { periodic, nodes } = axes[a as 0 | 1 | 2];
      return periodic && count * step === nodes;
    }) as unknown as AnalysedNodes["wraps"],
    field,
  };
}

/** Refuses strides, for neighbours among nodes. @throws RequestError */
export function requireEveryNode({ stride }: AnalysedNodes): void {
  if (stride.some((step) => step !== 1))
    throw refuse("i", "i, j, k: neighbouring nodes are compared, so the stride must be 1.");
}

/** The query that reduces a plan. */
export function reductionOf(
  places: AnalysedNodes,
  parts: Pick<ReductionPlan, "columns" | "reductions">,
): ReductionQuery {
  const derived = derivedOf(places, parts.columns);
  return { plan: { ...places.base, ...parts }, frames: places.frames, ...(derived === null ? {} : { derived }) };
}

/** The plan of inputs that transforms make; null if there are none. @throws RequestError for a grid that has none */
export function derivedOf(
  { base: { names }, transforms: { dataset, filter, scheme } }: AnalysedNodes,
  columns: readonly string[],
): DerivedPlan | null {
  const keys = new Set(columns.flatMap((text) => compileScalar(text, names).reads));
  return derivedFor(keys, dataset, names, filter, scheme);
}

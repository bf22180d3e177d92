/** Finds the nodes and frames of analyses, and what transforms make of them. */

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import {
  actsAlong,
  boxNodes,
  type DerivativeScheme,
  type DerivedPlan,
  derivedPlan,
  type FieldFilter,
  filterOf,
} from "../../../analysis/derived.js";
import { compileScalar } from "../../../analysis/expression.js";
import { isTransformable, nearestLengths } from "../../../analysis/lengths.js";
import { type InputKey, type Names, namesFor, partsOfInput } from "../../../analysis/names.js";
import type { ReductionPlan } from "../../../analysis/plan.js";
import type { OfAxes } from "../../../analysis/spectrum.js";
import { type Axis, cellWidths, type Dataset, fieldNames } from "../../../engine/contract/dataset.js";
import type { ReductionQuery } from "../../../engine/contract/query.js";
import { excerpt, RequestError } from "../../../shared/errors.js";
import type { FieldName } from "../../../shared/operations.js";
import { spanOf, timesOf } from "../../http/describe.js";
import { refuse } from "../../http/refusal.js";
import { type AskedRegion, checkRegion, coordinateOf, nodesIn } from "../region.js";

/** A quantity in a body. */
export const QUANTITY = Type.String({ description: "A quantity: a name or an expression, as in docs/analysis.md." });
const bins = Type.Integer({ minimum: 1, maximum: 65_536 });
const range = Type.Tuple([Type.Number(), Type.Number()], { description: "First and last edge; bins are half open." });
const auto = Type.Literal("auto", { description: "From the least to the largest value; takes another pass." });
const closed = { additionalProperties: false } as const;

/** Reductions by the member that names them. */
export const REDUCTIONS = {
  moments: Type.Object(
    { moments: QUANTITY, order: Type.Optional(Type.Integer({ minimum: 1, maximum: 4, default: 4 })) },
    closed,
  ),
  covariance: Type.Object({ covariance: Type.Array(QUANTITY, { minItems: 1, maxItems: 16 }) }, closed),
  histogram: Type.Object({ histogram: QUANTITY, bins, range: Type.Union([range, auto]) }, closed),
  joint: Type.Object(
    {
      joint: Type.Tuple([QUANTITY, QUANTITY]),
      bins: Type.Tuple([bins, bins]),
      range: Type.Union([Type.Tuple([range, range]), auto]),
    },
    closed,
  ),
  conditional: Type.Object(
    {
      conditional: QUANTITY,
      on: Type.Union([QUANTITY, Type.Tuple([QUANTITY, QUANTITY])]),
      bins: Type.Union([bins, Type.Tuple([bins, bins])]),
      range: Type.Union([range, Type.Tuple([range, range]), auto]),
    },
    closed,
  ),
  extremes: Type.Object(
    {
      extremes: QUANTITY,
      count: Type.Integer({ minimum: 1, maximum: 1000 }),
      apart: Type.Optional(Type.Number({ minimum: 0, default: 0, description: "Least distance of two of them." })),
    },
    closed,
  ),
} as const;
export type ReductionKind = keyof typeof REDUCTIONS;

/** Reads a body of JSON. @throws RequestError in one line that names the member */
export function readAnalysis<T extends TSchema>(schema: T, body: Buffer): Static<T> {
  let value: unknown;
  try {
    value = JSON.parse(body.toString("utf8"));
  } catch {
    throw new RequestError("InvalidRequest", "The body is not JSON.");
  }
  checkSchema(schema, value, "");
  return value as Static<T>;
}

/** Checks a value by a schema. @throws RequestError that names its first member that does not fit */
export function checkSchema(schema: TSchema, value: unknown, prefix: string): void {
  const error = Value.Errors(schema, value).First();
  if (error === undefined) return;
  const path = error.path
    .slice(1)
    .replaceAll(/\/(\d+)/g, "[$1]")
    .replaceAll("/", ".");
  const member = excerpt([prefix, path].filter((part) => part !== "").join(".")) || "body";
  const variant = variantOf(error.schema, error.value);
  if (variant !== undefined) checkSchema(variant, error.value, member);
  const known = error.message === "Unexpected property" ? `; it has ${namesIn(schema)}` : "";
  const choices = choicesOf(error.schema)?.join(", ");
  const text = choices === undefined ? `${error.message.toLowerCase()}${known}` : `expected one of ${choices}`;
  throw refuse(member, `${member}: ${text}.`);
}

/** The variant of a union that an object is meant for: it has the first member of it. */
function variantOf({ anyOf = [] }: TSchema, value: unknown): TSchema | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return (anyOf as TSchema[]).find(({ properties = {} }) => Object.hasOwn(value, Object.keys(properties)[0] ?? ""));
}

/** What a union admits, in words. */
function choicesOf({ anyOf }: TSchema): readonly unknown[] | undefined {
  const named = (one: TSchema): unknown =>
    one.const ??
    (one.type === "object"
      ? `{${Object.keys(one.properties)[0]}: ...}`
      : `${/^[aio]/.test(one.type) ? "an" : "a"} ${one.type}`);
  return (anyOf as TSchema[] | undefined)?.map(named);
}

function namesIn(schema: TSchema): string {
  return Object.keys((schema.properties ?? {}) as object).join(", ");
}

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

const AT_NODES = ["None_Fd4", "None_Fd6", "None_Fd8"] as const;

/** Frames, names and axes for points, which have no nodes; derivatives there are no differences at nodes. */
export function pointPlacesOf({ region: _, ...asked }: PlaceMembers, dataset: Dataset): AnalysedNodes {
  return placesOf({ ...asked, derivatives: AT_NODES[0], weights: "nodes" }, dataset);
}

/** Checks the derivatives at nodes. @throws RequestError */
export function schemeOf(derivatives: string = AT_NODES[0]): DerivativeScheme {
  if (derivatives === "spectral") return derivatives;
  if ((AT_NODES as readonly string[]).includes(derivatives)) return Number(derivatives.slice(-1)) as 4 | 6 | 8;
  throw refuse("derivatives", `derivatives: expected one of ${AT_NODES.join(", ")}, spectral.`);
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

/** The plan of those of some inputs that transforms make. @throws as `derivedOf` does */
export function derivedFor(
  keys: Iterable<InputKey>,
  dataset: Dataset,
  names: Names,
  filter: FieldFilter | null,
  scheme: DerivativeScheme,
): DerivedPlan | null {
  const { axes, name } = dataset;
  const filters = [...keys].flatMap((key) => filterOf(partsOfInput(key) ?? NO_INPUT, filter) ?? []);
  // A Gaussian filter is a matrix along axes that are not periodic.
  const fits = (one: FieldFilter): boolean =>
    one.kind === "gaussian" || AXIS_NUMBERS.every((a) => axes[a].periodic || !actsAlong(one, a));
  const isAnywhere = scheme !== "spectral" && filters.every(fits);
  const grid = {
    nodes: axes.map(({ nodes }) => nodes) as unknown as DerivedPlan["nodes"],
    periods: axes.map((axis) =>
      axis.periodic ? axis.nodes * axis.spacing : spanOf(axis).length,
    ) as unknown as DerivedPlan["periods"],
    transformed: axes.map(({ periodic }) => periodic || !isAnywhere) as unknown as DerivedPlan["transformed"],
  };
  const plan = derivedPlan(keys, grid, names, filter, scheme);
  if (plan === null) return null;
  checkTransforms(dataset, grid.transformed, scheme === "spectral" ? "derivatives" : "filter");
  for (const one of filters) {
    const along = AXIS_NUMBERS.filter((a) => actsAlong(one, a));
    const longest = Math.min(...along.map((a) => grid.periods[a]));
    if (one.width > longest)
      throw refuse(
        "filter.width",
        `filter.width: the shortest ${along.every((a) => axes[a].periodic) ? "period" : "axis"} of "${name}" is ${longest}.`,
      );
    if (isAnywhere) for (const a of along) requireThreeNodes(axes[a], one.width, name);
  }
  return plan;
}

const AXIS_NUMBERS = [0, 1, 2] as const;
const NO_INPUT = { kind: "value", field: "", option: "", expression: null } as const;

/** Refuses a filter that has fewer than three nodes of an open axis within its width. @throws RequestError */
function requireThreeNodes(axis: Axis, width: number, name: string): void {
  const { coordinates, spacing, periodic } = axis;
  if (periodic) return;
  const steps = coordinates?.map((at, i) => at - (coordinates[i - 1] ?? at)) ?? [spacing];
  const least = 2 * Math.max(...steps);
  if (width >= least * (1 - 1e-9)) return;
  const text = `filter.width: nodes of "${name}" are up to ${least / 2} apart on an axis that is not periodic`;
  throw refuse("filter.width", `${text}; three of them need a width of at least ${least}.`);
}

/** The widths of a filter along x, y and z: those asked, or of a tophat the odd numbers of nodes that it averages. */
export function widthsOf({ kind, width }: FieldFilter, { axes }: Dataset): readonly number[] {
  return axes.map(({ spacing }) => (kind === "tophat" ? boxNodes(width, spacing) * spacing : width));
}

/** Refuses axes that are not periodic, and numbers of nodes that are not 2^a 3^b 5^c. @throws RequestError */
export function checkTransforms({ axes, name }: Dataset, transformed: OfAxes<boolean>, member: string): void {
  axes.forEach(({ periodic, nodes }, a) => {
    if (!transformed[a]) return;
    const letter = "xyz"[a];
    const unsupported = (text: string) => new RequestError("Unsupported", text, { member });
    if (!periodic) throw unsupported(`Transforms along ${letter} need a periodic axis, and that of "${name}" is not.`);
    if (isTransformable(nodes)) return;
    const text = `Transforms take 2^a 3^b 5^c nodes, and ${letter} of "${name}" has ${nodes}`;
    throw unsupported(`${text}; the nearest are ${nearestLengths(nodes).join(" and ")}.`);
  });
}

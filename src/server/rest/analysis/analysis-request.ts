/** Declares the bodies of analyses, checks them by their schemas, and finds the nodes and frames that they mean. */

import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { FastifyReply } from "fastify";
import {
  actsAlong,
  boxNodes,
  type DerivativeScheme,
  type DerivedPlan,
  derivedPlan,
  FILTER_KINDS,
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
import { withoutNoise } from "../../../float32/format.js";
import { excerpt, RequestError } from "../../../shared/errors.js";
import type { FieldName } from "../../../shared/operations.js";
import { readDouble } from "../../http/read-number.js";
import { spanOf, timesOf } from "../describe.js";
import { refuse } from "../parameters.js";
import { checkRegion, coordinateOf, nodesIn, REGION } from "../region.js";

/** A quantity in a body. */
export const QUANTITY = Type.String({ description: "A quantity: a name or an expression, as in docs/analysis.md." });
const bins = Type.Integer({ minimum: 1, maximum: 65_536 });
const range = Type.Tuple([Type.Number(), Type.Number()], { description: "First and last edge; bins are half open." });
const auto = Type.Literal("auto", { description: "From the least to the largest value; takes another pass." });
const closed = { additionalProperties: false } as const;

/** Whether the units of a dataset bind expressions. */
const UNITS = Type.Union([Type.Literal("check"), Type.Literal("ignore")], {
  default: "check",
  description: "Whether sums, comparisons and functions must fit together in the units that the dataset states.",
});

/** Members that say which nodes and frames are analysed. */
export const PLACES = {
  time: Type.Optional(Type.Number({ description: "A stored time; not with `times` or `frames`." })),
  times: Type.Optional(Type.Array(Type.Number(), { minItems: 1, maxItems: 65_536 })),
  frames: Type.Optional(
    Type.Union([Type.Literal("all"), Type.Array(Type.Integer({ minimum: 1 }), { minItems: 1, maxItems: 65_536 })], {
      description: "Stored frames, counted from 1 at the first queryable time.",
    }),
  ),
  region: REGION,
  weights: Type.Optional(
    Type.Union([Type.Literal("volume"), Type.Literal("nodes")], {
      default: "volume",
      description: "What a node weighs: the volume of its cell, or 1.",
    }),
  ),
  derivatives: Type.Optional(
    Type.String({
      default: "None_Fd4",
      description:
        "At nodes: None_Fd4, None_Fd6 or None_Fd8, or spectral on periodic axes. At points, any spatial option of gradients.",
    }),
  ),
  units: Type.Optional(UNITS),
  filter: Type.Optional(
    Type.Object(
      {
        kind: Type.Union(FILTER_KINDS.map((kind) => Type.Literal(kind))),
        width: Type.Number({ exclusiveMinimum: 0, description: "In the unit of lengths." }),
      },
      {
        ...closed,
        description:
          "Gives bar_u, bar_p, bar_A, bar_S, bar_w, tau and Pi their meaning; gaussian on all axes, others on periodic ones.",
      },
    ),
  ),
};

/** Members that say how random points are drawn, and how values are interpolated there. */
export const DRAWN = {
  seed: Type.Optional(Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1, default: 0 })),
  method: Type.Optional(Type.String({ default: "Lag8", description: "Spatial option of values." })),
};

/** Member that says whether correlations are without the mean. */
export const REMOVE = Type.Optional(
  Type.Union([Type.Literal("mean"), Type.Literal("none")], {
    default: "mean",
    description: "What is subtracted before correlations are formed: the mean of each component, or nothing.",
  }),
);

const AT = Type.Union([
  Type.Literal("nodes"),
  Type.Object({ random: Type.Integer({ minimum: 1, description: "Points drawn in the region." }), ...DRAWN }, closed),
]);

const AXIS = Type.Union([Type.Literal("x"), Type.Literal("y"), Type.Literal("z"), Type.Literal("t")]);

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
  conditional: Type.Object({ conditional: QUANTITY, on: QUANTITY, bins, range: Type.Union([range, auto]) }, closed),
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

export const STATISTICS = Type.Object(
  {
    ...PLACES,
    at: Type.Optional(
      Type.Unsafe<Static<typeof AT>>({
        ...AT,
        default: "nodes",
        description: "All nodes, or points drawn at random in the region.",
      }),
    ),
    over: Type.Optional(Type.Array(AXIS, { description: "Axes that are averaged over: all by default." })),
    // Each reduction is checked by the schema of its kind, so that errors name its members.
    reduce: Type.Array(Type.Object({}, { anyOf: Object.values(REDUCTIONS) }), { minItems: 1, maxItems: 32 }),
  },
  closed,
);
export type Statistics = Static<typeof STATISTICS>;

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

type PlaceMembers = Pick<Statistics, Exclude<keyof typeof PLACES, never>> &
  Partial<Pick<Statistics, "over">> & {
    /** Whether names of version 1 are refused; absent: they are known. */
    readonly refusesEarlier?: boolean;
    /** Means that expressions read. */
    readonly means?: Names["means"];
  };

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

/** Reads the filter of a query string: its kind and its width. @throws RequestError */
export function readFilter(text: string | undefined): FieldFilter | undefined {
  if (text === undefined) return undefined;
  const [name, length = "", ...more] = text.split(",");
  const kind = FILTER_KINDS.find((one) => one === name);
  if (kind === undefined || more.length > 0)
    throw refuse(
      "filter",
      `filter: expected a kind and a width, such as gaussian,0.8; kinds are ${FILTER_KINDS.join(", ")}.`,
    );
  const width = readDouble(length, "filter");
  if (!(width > 0)) throw refuse("filter", "filter: the width must be positive.");
  return { kind, width };
}

/** Reads whether units bind expressions. @throws RequestError */
export function checksUnits(text = "check"): boolean {
  if (text !== "check" && text !== "ignore") throw refuse("units", "units: expected one of check, ignore.");
  return text === "check";
}

/** States the widths of a filter of a query string in a header. */
export function tellWidths(reply: FastifyReply, text: string | undefined, dataset: Dataset): void {
  const filter = readFilter(text);
  if (filter !== undefined) reply.header("fieldprobe-filter-widths", widthsOf(filter, dataset).join(","));
}

/** Finds nodes and frames. @throws RequestError */
export function placesOf(asked: PlaceMembers, dataset: Dataset): AnalysedNodes {
  const { axes, time } = dataset;
  const numbers = framesOf(asked, dataset);
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
    throw refuse("region", "region: neighbouring nodes are compared, so step must be 1.");
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

function framesOf({ time, times, frames }: PlaceMembers, dataset: Dataset): readonly number[] {
  const stored = timesOf(dataset.time);
  if ([time, times, frames].filter((member) => member !== undefined).length > 1)
    throw refuse("frames", "Only one of time, times and frames can be given.");
  if (frames === "all" || (stored.length === 1 && time === undefined && times === undefined && frames === undefined))
    return stored.map((_, k) => k + 1);
  if (frames !== undefined) {
    const outside = frames.find((number) => number > stored.length);
    if (outside !== undefined)
      throw outOfRange("frames", `"${dataset.name}" has frames 1 to ${stored.length}, not ${outside}.`);
    return onceEach(frames, "frames");
  }
  const asked = times ?? (time === undefined ? undefined : [time]);
  if (asked === undefined) throw refuse("time", "One of time, times and frames must be given.");
  return onceEach(
    asked.map((one) => frameAt(one, stored, dataset.name)),
    "times",
  );
}

/** Refuses a frame that is given twice, which would weigh twice. @throws RequestError */
function onceEach(numbers: readonly number[], member: string): readonly number[] {
  const again = numbers.findIndex((number, i) => numbers.indexOf(number) < i);
  if (again < 0) return numbers;
  throw refuse(member, `${member}[${again}]: frame ${numbers[again]} is given twice.`);
}

function frameAt(time: number, stored: readonly number[], name: string): number {
  const off = stored.map((one) => Math.abs(one - time));
  const nearest = off.indexOf(Math.min(...off));
  const step = Math.abs((stored[1] ?? stored[0] ?? 0) - (stored[0] ?? 0));
  if ((off[nearest] as number) <= Math.max(1e-4 * step, Math.min(1e-2 * step, Math.abs(time) * 2 ** -23)))
    return nearest + 1;
  const near = withoutNoise(stored[nearest] as number);
  throw outOfRange("time", `"${name}" has no frame at time ${time}; the nearest is at ${near}.`);
}

function outOfRange(member: string, text: string): RequestError {
  return new RequestError("OutOfRange", text, { member });
}

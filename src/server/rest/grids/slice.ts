/**
 * Serves slices and volumes: one quantity sampled on a plane or a box, as float32 with its geometry in headers, or a
 * picture.
 */
import { join } from "node:path";
import { type Static, type TObject, Type } from "@sinclair/typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import { compileScalar } from "../../../analysis/expression.js";
import { namesFor } from "../../../analysis/names.js";
import { recordQuantity } from "../../../analysis/record-quantity.js";
import { AXIS_NAMES, type Dataset, fieldOf } from "../../../engine/contract/dataset.js";
import type { Query, Result } from "../../../engine/contract/query.js";
import type { CutoutThread, SampledGrid } from "../../../engine/cutouts/cutout-thread.js";
import { shortestFloat32 } from "../../../float32/format.js";
import { COLOUR_MAPS } from "../../../shared/colour-map.js";
import {
  FIELDS,
  GRADIENTS,
  type Operation,
  operationOf,
  RECORDS,
  TEMPORAL_INTERPOLATION,
  VALUES,
} from "../../../shared/operations.js";
import { QUANTITIES, type Quantity } from "../../../shared/quantities.js";
import { negotiate } from "../../http/negotiate.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";
import { readDouble, readFiniteFloat } from "../../http/read-number.js";
import type { RequestLife } from "../../http/request-life.js";
import { sendPassages } from "../../http/send-answer.js";
import type { Service } from "../../http/service.js";
import { checksUnits, readFilter, tellWidths } from "../analysis/analysis-request.js";
import { DRAWN_RECORDS, evaluatorFor } from "../analysis/point-columns.js";
import { npyFile, npzFile, numberArray, textArray } from "../answer/numpy-files.js";
import { isUnchanged, originAttributes, originOf, originTexts, tellOrigin } from "../answer/origin.js";
import { sendWritten } from "../answer/send-written.js";
import { type BatchAnswer, withValues } from "../batch-answer.js";
import { aboutUnit } from "../describe.js";
import { refuse, refuseUnknown } from "../parameters.js";
import { readRegion, regionQuery } from "../region.js";
import { layBox, layPlane, pointsOf, readCounts, type SampleAxis, type SampleGrid, writeGrid } from "../sample-grid.js";
import { CLOSED, oneOf, optionalText } from "../schemas.js";
import { compute } from "../serve-operation.js";
import { TripleWriter } from "../triple-writer.js";
import { drawPicture, Range } from "./picture.js";

/** Members of the query string that slices and volumes share. */
const SAMPLED = {
  field: Type.String({
    description: "The quantity shown: a name of the list above, or an expression, as docs/analysis.md describes it.",
  }),
  time: Type.String({ description: "Query time." }),
  method: optionalText("Spatial option; by default Lag6 for values and Fd4Lag4 for derivatives."),
  filterlength: optionalText("Width of the box filter; only for filtered quantities."),
  temporalInterpolation: Type.Optional(oneOf(TEMPORAL_INTERPOLATION, "Temporal option; PCHIP by default.")),
  derivatives: optionalText("Derivatives of an expression: spectral, or an option of gradients; Fd4Lag4 by default."),
  units: optionalText("Of an expression: check (default), or ignore the units that the dataset states."),
  filter: optionalText(
    "Filter that gives bar_u, tau, Pi, ... their meaning: `gaussian,0.8`, `sharp,0.8` or `tophat,0.8`.",
  ),
} as const;

/** Query string of a slice. */
export const SLICE_QUERY = Type.Object(
  {
    ...SAMPLED,
    axis: oneOf(AXIS_NAMES, "The axis perpendicular to the plane."),
    at: Type.String({ description: "Position along that axis." }),
    ...regionQuery("columns and rows"),
    nodes: optionalText("Points along columns and rows, `64` or `64,32`; those of the grid by default."),
    origin: optionalText("Older spelling of `region.origin`."),
    extent: optionalText("Older spelling of `region.extent`."),
    map: Type.Optional(oneOf(COLOUR_MAPS, "Colour map of a picture; viridis by default.")),
    range: optionalText("Values of the first and last colour, `-1,1`; by default the range of the values."),
  },
  CLOSED,
);
export type SliceQuery = Static<typeof SLICE_QUERY>;

/** Query string of a volume. */
export const VOLUME_QUERY = Type.Object(
  {
    ...SAMPLED,
    ...regionQuery("x, y and z"),
    nodes: optionalText("Points along x, y and z, `64` or `64,32,32`; those of the grid by default."),
    origin: optionalText("Older spelling of `region.origin`."),
    extent: optionalText("Older spelling of `region.extent`."),
  },
  CLOSED,
);
export type VolumeQuery = Static<typeof VOLUME_QUERY>;

/** Forms of a slice, the default first. */
export const SLICE_FORMS = [
  "application/octet-stream",
  "image/png",
  "application/x-npy",
  "application/x-npz",
  "application/netcdf",
] as const;

/** Forms of a volume, the default first. */
export const VOLUME_FORMS = [
  "application/octet-stream",
  "application/x-npy",
  "application/x-npz",
  "application/netcdf",
] as const;

/** The options of the operation behind a quantity: a spatial method, or the width of a box filter. */
function readOptions(
  field: Quantity,
  { method: text, filterlength }: Pick<SliceQuery, "method" | "filterlength">,
): Pick<Query, "spatialInterpolation" | "filterlength" | "nlayers"> {
  if (field.method === null) {
    if (text !== undefined) throw refuse("method", `${field.name} takes a filterlength and no method.`);
    if (filterlength === undefined) throw refuse("filterlength", `${field.name} needs a filterlength.`);
    return { filterlength: readFiniteFloat(filterlength, "filterlength"), nlayers: 1 };
  }
  if (filterlength !== undefined) throw refuse("filterlength", `${field.name} takes no filterlength.`);
  if (text === undefined) return { spatialInterpolation: field.method };
  const method = field.methods.find((candidate) => candidate === text);
  if (method === undefined)
    throw refuse("method", `method must be one of ${field.methods.join(", ")} for ${field.name}.`);
  return { spatialInterpolation: method };
}

function readRange(text: string | undefined): readonly [number, number] | undefined {
  if (text === undefined) return undefined;
  const [low, high, ...more] = text.split(",").map((part) => readFiniteFloat(part, "range"));
  if (low === undefined || high === undefined || more.length > 0 || !(low < high)) {
    throw refuse("range", "range must be two ascending numbers.");
  }
  return [low, high];
}

/** The quantity at every point, from the records of the operation behind it, and its range. */
export async function reduce(
  field: Quantity,
  result: Result,
  life: { readonly slices: TimeSlices; floats(count: number): Float32Array },
  viscosity: number | undefined,
): Promise<Sampled> {
  const { components } = result;
  const valuesOf = recordQuantity(field, viscosity);
  const values = life.floats(result.items);
  const range = new Range();
  let filled = 0;
  for (const records of result.values) {
    const before = filled;
    const count = records.length / components;
    await life.slices.each(count, (from, to) => {
      values.set(valuesOf(records, components, from, to - from), before + from);
      range.add(values.subarray(before + from, before + to));
    });
    filled += count;
  }
  return { values, range: range.ends };
}

type SampledQuery = Pick<
  SliceQuery,
  "field" | "time" | "method" | "filterlength" | "temporalInterpolation" | "derivatives" | "filter" | "units"
>;

/** Sampled values, with the smallest and the largest one. */
interface Sampled {
  readonly values: Float32Array;
  readonly range: readonly [number, number];
}

/** The methods of expressions: values by the first, derivatives by the second. */
const EXPRESSION_METHODS = ["Lag6", "Fd4Lag4"] as const;

/** Samples an expression on a grid. A method applies to the values or the derivatives, whichever it is one of. */
async function sampleExpression(
  life: RequestLife,
  dataset: Dataset,
  grid: SampleGrid,
  { field, method, filterlength, temporalInterpolation = "PCHIP", ...asked }: SampledQuery,
  time: number,
): Promise<Sampled> {
  if (filterlength !== undefined) throw refuse("filterlength", "An expression takes no filterlength.");
  const [values, derivatives] = [VALUES, GRADIENTS].map((known: readonly string[], i) =>
    method !== undefined && known.includes(method) ? method : EXPRESSION_METHODS[i],
  ) as [string, string];
  if (asked.derivatives !== undefined && derivatives === method)
    throw refuse("method", `method: ${method} is an option of derivatives, but derivatives is given too.`);
  const filter = readFilter(asked.filter);
  if (method !== undefined && values !== method && derivatives !== method)
    throw refuse("method", `method must be one of ${[...new Set([...VALUES, ...GRADIENTS])].join(", ")}.`);
  const expression = compileScalar(
    field,
    { ...namesFor(dataset, checksUnits(asked.units)), isFiltered: filter !== undefined },
    "field",
  );
  await life.reserve(pointsOf(grid), DRAWN_RECORDS);
  const points = life.floats(3 * pointsOf(grid));
  const sink = { slab: points, commit: () => undefined };
  await writeGrid(grid, new TripleWriter(sink, { points: pointsOf(grid), name: "query.points" }), life.slices);
  const options = {
    time,
    method: values,
    derivatives: asked.derivatives ?? derivatives,
    filter,
    temporalInterpolation,
  };
  const [column] = await evaluatorFor(life, dataset)([expression], points, options);
  const range = new Range();
  const out = life.floats(pointsOf(grid));
  await life.slices.each(out.length, (from, to) => {
    out.set((column as Float64Array).subarray(from, to), from);
    range.add(out.subarray(from, to));
  });
  return { values: out, range: range.ends };
}

/** The quantity of a name; undefined for expressions, and on a dataset that has a field of this name. */
function knownQuantity(name: string, dataset?: Dataset): Quantity | undefined {
  if (dataset !== undefined && fieldOf(dataset, name) !== undefined && !Object.hasOwn(FIELDS, name)) return undefined;
  const known: Quantity | undefined = QUANTITIES.find((row) => row.name === name);
  return known?.needsViscosity === true && dataset !== undefined && dataset.viscosity === undefined ? undefined : known;
}

/** The name by which metrics and the log count a request. */
function countedAs(field: string): Pick<Operation, "name"> {
  return { name: knownQuantity(field)?.operation ?? "GetExpression" };
}

/** Samples a quantity on a grid of a dataset, within all limits and the slot of the request. */
async function sample(life: RequestLife, dataset: Dataset, grid: SampleGrid, query: SampledQuery): Promise<Sampled> {
  const time = readDouble(query.time, "time");
  const field = knownQuantity(query.field, dataset);
  const isDerived = query.derivatives !== undefined || query.filter !== undefined;
  if (field === undefined || isDerived) return sampleExpression(life, dataset, grid, query, time);
  const count = pointsOf(grid);
  life.checkPoints(count);
  const options = readOptions(field, query);
  const evaluation = life.start({
    operation: field.operation,
    dataset: dataset.name,
    time,
    ...options,
    temporalInterpolation: query.temporalInterpolation ?? "PCHIP",
  });
  // After the start, because the evaluation knows how many records each point has.
  await life.admit(count);
  await writeGrid(grid, new TripleWriter(evaluation.points, evaluation.limit), life.slices);
  await life.enter();
  const result = await evaluation.finish();
  life.onEnd(() => result.release());
  const sampled = await reduce(field, result, life, dataset.viscosity);
  // The records take many times the memory of the quantity: they do not wait for the picture or a slow reader.
  result.release();
  return sampled;
}

/** Writes the geometry of the sampled axes and the range of the values into the headers of an answer. */
function describeSamples(reply: FastifyReply, axes: readonly SampleAxis[], range: readonly [number, number]): void {
  const list = (member: keyof SampleAxis) => axes.map((axis) => axis[member]).join(",");
  reply
    .header("fieldprobe-shape", list("count"))
    .header("fieldprobe-axes", list("axis"))
    .header("fieldprobe-origin", list("origin"))
    .header("fieldprobe-spacing", list("spacing"))
    .header("fieldprobe-range", range.map(shortestFloat32).join(","));
}

/** What was asked, with the options that a request leaves out. */
function completed(query: SliceQuery | VolumeQuery, dataset: Dataset): Readonly<Record<string, unknown>> {
  const method = knownQuantity(query.field, dataset)?.method;
  return { ...(method ? { method } : {}), temporalInterpolation: "PCHIP", ...query };
}

/** Writes the origin of sampled values into the headers of an answer. */
function tellSampled(reply: FastifyReply, dataset: Dataset, query: SliceQuery | VolumeQuery): void {
  tellOrigin(reply, dataset, completed(query, dataset), [readDouble(query.time, "time")]);
  tellWidths(reply, query.filter, dataset);
}

/** The origin of sampled values, as texts for a file. */
function originOfSamples({ axes, dataset, query }: SampledAnswer): Readonly<Record<string, string>> {
  const operation = axes.length === 2 ? "slice" : "volume";
  return originTexts(dataset, operation, completed(query, dataset), [readDouble(query.time, "time")]);
}

function bytesOf(values: Float32Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength);
}

async function sendSamples(
  form: Exclude<(typeof SLICE_FORMS)[number], "image/png">,
  sampled: SampledAnswer,
  thread: CutoutThread,
  service: Service,
  life: RequestLife,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { values, grid, axes } = sampled;
  reply.type(form);
  if (form === "application/octet-stream") return reply.send(bytesOf(values));
  if (form === "application/netcdf")
    return sendWritten(life, reply, "grid.nc", (folder) => thread.writeGrid(gridFor(sampled), join(folder, "grid.nc")));
  const array = { name: "values", type: "<f4", shape: axes.map(({ count }) => count), passages: passagesOf(values) };
  const places = grid.map(({ axis, ...along }) => numberArray(axis, coordinatesOf(along)));
  const about = Object.entries(originOfSamples(sampled)).map(([name, text]) => textArray(name, text));
  const file = form === "application/x-npy" ? npyFile(array) : npzFile([array, ...places, ...about]);
  await sendPassages(reply, form, file, service, life.reader);
  return reply;
}

/** Samples with what was asked. */
interface SampledAnswer {
  readonly values: Float32Array;
  readonly grid: SampleGrid;
  /** The axes of the grid that are dimensions of the answer. */
  readonly axes: readonly SampleAxis[];
  readonly dataset: Dataset;
  readonly query: SliceQuery | VolumeQuery;
}

function coordinatesOf({ count, origin, spacing }: Omit<SampleAxis, "axis">): Float64Array {
  return Float64Array.from({ length: count }, (_, i) => origin + i * spacing);
}

/** Bytes of a passage. */
const PASSAGE_BYTES = 65_536;

function* passagesOf(values: Float32Array): Generator<Buffer> {
  const bytes = bytesOf(values);
  for (let from = 0; from < bytes.length; from += PASSAGE_BYTES) yield bytes.subarray(from, from + PASSAGE_BYTES);
}

/** A grid as NetCDF describes it. */
function gridFor(sampled: SampledAnswer): SampledGrid {
  const { values, grid, axes, dataset, query } = sampled;
  const [length, time] = [aboutUnit(dataset, "length"), aboutUnit(dataset, "time")];
  const along = (one: SampleAxis) => ({
    name: one.axis,
    coordinates: coordinatesOf(one),
    attributes: { ...length, axis: one.axis.toUpperCase() },
  });
  const known = knownQuantity(query.field);
  const unit = known === undefined ? {} : aboutUnit(dataset, known.measure);
  return {
    variables: [
      {
        name: /^[A-Za-z]\w*$/.test(query.field) ? query.field : "quantity",
        values,
        axes: axes.map(({ axis }) => axis),
        attributes: { long_name: known?.title ?? query.field, ...unit },
      },
    ],
    axes: axes.map(along),
    scalars: [
      ...grid.filter((one) => !axes.includes(one)).map(along),
      { name: "time", coordinates: Float64Array.of(readDouble(query.time, "time")), attributes: time },
    ],
    about: {
      title: `${query.field} of ${dataset.name}`,
      ...originAttributes(originOfSamples(sampled)),
    },
  };
}

function planeOf(dataset: Dataset, query: SliceQuery): SampleGrid {
  const region = readRegion(query, 2, ["origin", "extent"]);
  return layPlane(dataset, query.axis, readFiniteFloat(query.at, "at"), readCounts(query.nodes, 2), region);
}

function boxOf(dataset: Dataset, query: VolumeQuery): SampleGrid {
  return layBox(dataset, readCounts(query.nodes, 3), readRegion(query, 3, ["origin", "extent"]));
}

/** Members of a query string that are about pictures, which no batch has. */
const OF_PICTURES: readonly string[] = ["map", "range"];

/** The members of a query of a batch as texts. @throws RequestError unless they are those of a query string */
function textsOf(what: string, { properties, required = [] }: TObject, members: object): Record<string, string> {
  const known = Object.keys(properties).filter((name) => !OF_PICTURES.includes(name));
  const texts = Object.entries(members).map(([name, value]): [string, string] => {
    if (!known.includes(name)) throw refuseUnknown(what, "member", name, known);
    if (typeof value !== "string" && typeof value !== "number")
      throw refuse(name, `${name} must be a text or a number.`);
    const choices = properties[name]?.enum as readonly string[] | undefined;
    if (choices?.includes(String(value)) === false) throw refuse(name, `${name} must be one of ${choices.join(", ")}.`);
    return [name, String(value)];
  });
  const missing = required.find((name) => !Object.hasOwn(members, name));
  if (missing !== undefined) throw refuse(missing, `${what} needs ${missing}.`);
  return Object.fromEntries(texts);
}

/**
 * Answers a slice or a volume as a query of a batch.
 *
 * @param members those of its query string, of which numbers need not be texts
 */
export async function samplesInBatch(
  life: RequestLife,
  dataset: Dataset,
  operation: "slice" | "volume",
  members: object,
): Promise<BatchAnswer> {
  const isPlane = operation === "slice";
  const asked = textsOf(`A ${operation}`, isPlane ? SLICE_QUERY : VOLUME_QUERY, members) as unknown as SliceQuery;
  const grid = isPlane ? planeOf(dataset, asked) : boxOf(dataset, asked);
  const { values, range } = await sample(life, dataset, grid, asked);
  const axes = isPlane ? grid.slice(1) : grid;
  const shape = axes.map(({ count }) => count);
  const head = { ...originOf(dataset, operation, completed(asked, dataset)), axes, range, shape };
  return { head, values: [values], json: () => withValues(head, [values], shape) };
}

/** Answers `GET /datasets/{name}/slice`. */
export function serveSlice(
  service: Service,
  thread: CutoutThread,
  name: string,
  request: FastifyRequest<{ Querystring: SliceQuery }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { query } = request;
  return compute(service, countedAs(query.field), request as FastifyRequest, reply, async (life) => {
    const form = negotiate(request.headers.accept, SLICE_FORMS);
    const dataset = life.dataset(name);
    if (isUnchanged(service, request as FastifyRequest, reply, dataset, form)) return reply.code(304).send();
    const grid = planeOf(dataset, query);
    const fixed = readRange(query.range);
    const { values, range } = await sample(life, dataset, grid, query);
    await life.computed([{ values: [values] }]);
    const [, rows, columns] = grid;
    describeSamples(reply, [rows, columns], range);
    tellSampled(reply, dataset, query);
    if (form !== "image/png")
      return sendSamples(form, { values, grid, axes: [rows, columns], dataset, query }, thread, service, life, reply);
    const colours = query.map ?? "viridis";
    return reply
      .type(form)
      .send(await drawPicture(values, rows.count, columns.count, colours, fixed ?? range, life.slices));
  });
}

/** Answers `GET /datasets/{name}/volume`. */
export function serveVolume(
  service: Service,
  thread: CutoutThread,
  name: string,
  request: FastifyRequest<{ Querystring: VolumeQuery }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { query } = request;
  return compute(service, countedAs(query.field), request as FastifyRequest, reply, async (life) => {
    const form = negotiate(request.headers.accept, VOLUME_FORMS);
    const dataset = life.dataset(name);
    if (isUnchanged(service, request as FastifyRequest, reply, dataset, form)) return reply.code(304).send();
    const grid = boxOf(dataset, query);
    const { values, range } = await sample(life, dataset, grid, query);
    await life.computed([{ values: [values] }]);
    describeSamples(reply, grid, range);
    tellSampled(reply, dataset, query);
    return sendSamples(form, { values, grid, axes: grid, dataset, query }, thread, service, life, reply);
  });
}

/** The operation behind each quantity and its components, for the description of the interface. */
export function sliceSources(): string {
  return QUANTITIES.map((quantity) => {
    return `${quantity.name} from ${quantity.operation} (${RECORDS[operationOf(quantity.operation).result].join(" ")})`;
  }).join("; ");
}

/** `serveSlice` answers with a plane of one quantity: as float32 with its geometry in headers, or as a picture. */
import { type Static, Type } from "@sinclair/typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import { COLOUR_MAPS } from "../../colour-map.js";
import type { Query, Result } from "../../engine/query.js";
import { excerpt, NotFoundError, RequestError, tooManyPoints } from "../../errors.js";
import { shortestFloat32 } from "../../float32/format.js";
import { operationOf, RECORDS, type SpatialInterpolation, TEMPORAL_INTERPOLATION } from "../../operations.js";
import { QUANTITIES, type Quantity, type QuantityName, quantityOf } from "../../quantities.js";
import { inSlices } from "../http/event-loop.js";
import { negotiate } from "../http/negotiate.js";
import { readFiniteFloat } from "../http/read-number.js";
import type { RequestLife } from "../http/request-life.js";
import type { Service } from "../http/service.js";
import { drawPicture, rangeOf } from "./picture.js";
import { AXIS_NAMES, layPlane, type Plane, pointsOf, readNodes, writePlane } from "./plane.js";
import { compute } from "./serve-operation.js";
import { TripleWriter } from "./triple-writer.js";

const oneOf = <T extends readonly string[]>(values: T, description: string) =>
  Type.Unsafe<T[number]>({ type: "string", enum: [...values], description });

const QUANTITY_NAMES: readonly QuantityName[] = QUANTITIES.map((quantity) => quantity.name);

/** Query string of a slice. */
export const SLICE_QUERY = Type.Object(
  {
    field: oneOf(QUANTITY_NAMES, "The quantity shown."),
    axis: oneOf(AXIS_NAMES, "The axis at right angles to the plane."),
    at: Type.String({ description: "Position along that axis." }),
    time: Type.String({ description: "Query time." }),
    method: Type.Optional(
      Type.String({ description: "Spatial option; Lag6 for values and Fd4Lag4 for derivatives when absent." }),
    ),
    temporalInterpolation: Type.Optional(oneOf(TEMPORAL_INTERPOLATION, "Temporal option; PCHIP when absent.")),
    nodes: Type.Optional(
      Type.String({ description: "Points along columns and rows, `64` or `64,32`; those of the grid when absent." }),
    ),
    map: Type.Optional(oneOf(COLOUR_MAPS, "Colour map of a picture; viridis when absent.")),
    range: Type.Optional(
      Type.String({ description: "Values of the first and last colour, `-1,1`; all values when absent." }),
    ),
  },
  { additionalProperties: false },
);
export type SliceQuery = Static<typeof SLICE_QUERY>;

/** Forms of a slice, the default first. */
export const SLICE_FORMS = ["application/octet-stream", "image/png"] as const;

function readMethod(field: Quantity, text: string | undefined): SpatialInterpolation {
  if (text === undefined) return field.method;
  const method = field.methods.find((candidate) => candidate === text);
  if (method === undefined) {
    const message = `method must be one of ${field.methods.join(", ")} for ${field.name}.`;
    throw new RequestError("InvalidRequest", message, { member: "method" });
  }
  return method;
}

function readRange(text: string | undefined): readonly [number, number] | undefined {
  if (text === undefined) return undefined;
  const [low, high, ...more] = text.split(",").map((part) => readFiniteFloat(part, "range"));
  if (low === undefined || high === undefined || more.length > 0 || !(low < high)) {
    throw new RequestError("InvalidRequest", "range must be two ascending numbers.", { member: "range" });
  }
  return [low, high];
}

/** The quantity at every point, from the records of the operation behind it. */
async function reduce(field: Quantity, result: Result): Promise<Float32Array> {
  const records = new Float32Array(result.items * result.components);
  let filled = 0;
  for (const part of result.values) {
    records.set(part, filled);
    filled += part.length;
  }
  const values = new Float32Array(result.items);
  await inSlices(result.items, (from, to) => {
    for (let i = from; i < to; i++) values[i] = field.of(records, i * result.components);
  });
  return values;
}

/** Computes the values of a plane. */
async function evaluate(life: RequestLife, field: Quantity, plane: Plane, query: Query): Promise<Float32Array> {
  const evaluation = life.start(query);
  await writePlane(plane, new TripleWriter(evaluation.points, evaluation.limit));
  const result = await evaluation.finish();
  life.onEnd(() => result.release());
  return reduce(field, result);
}

/** Answers `GET /datasets/{name}/slice`. */
export function serveSlice(
  service: Service,
  name: string,
  request: FastifyRequest<{ Querystring: SliceQuery }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const operation = operationOf(quantityOf(request.query.field).operation);
  return compute(service, operation, request as FastifyRequest, reply, (life) =>
    answer(service, life, name, request, reply),
  );
}

async function answer(
  service: Service,
  life: RequestLife,
  name: string,
  request: FastifyRequest<{ Querystring: SliceQuery }>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { query } = request;
  const field = quantityOf(query.field);
  const form = negotiate(request.headers.accept, SLICE_FORMS);
  const dataset = service.engine.find(name);
  if (dataset === undefined) throw new NotFoundError(`Invalid set name: ${excerpt(name)}`);
  const plane = layPlane(dataset, query.axis, readFiniteFloat(query.at, "at"), readNodes(query.nodes));
  const { points, name: limit } = life.limit({ points: service.config.limits["query.points"], name: "query.points" });
  if (pointsOf(plane) > points) throw tooManyPoints(limit, pointsOf(plane), points);
  const time = readFiniteFloat(query.time, "time");
  const spatialInterpolation = readMethod(field, query.method);
  const fixed = readRange(query.range);
  await life.admit(pointsOf(plane));
  await life.enter();
  const values = await evaluate(life, field, plane, {
    operation: field.operation,
    dataset: dataset.name,
    time,
    spatialInterpolation,
    temporalInterpolation: query.temporalInterpolation ?? "PCHIP",
  });
  const { rows, columns } = plane;
  const range = rangeOf(values);
  reply
    .header("vary", "Accept")
    .header("fieldprobe-shape", `${rows.count},${columns.count}`)
    .header("fieldprobe-axes", `${rows.axis},${columns.axis}`)
    .header("fieldprobe-origin", `${rows.origin},${columns.origin}`)
    .header("fieldprobe-spacing", `${rows.spacing},${columns.spacing}`)
    .header("fieldprobe-range", range.map(shortestFloat32).join(","))
    .type(form);
  if (form === "application/octet-stream") {
    return reply.send(Buffer.from(values.buffer, values.byteOffset, values.byteLength));
  }
  return reply.send(await drawPicture(values, rows.count, columns.count, query.map ?? "viridis", fixed ?? range));
}

/** What each field is made of, for the description of the interface. */
export function sliceSources(): string {
  return QUANTITIES.map((quantity) => {
    return `${quantity.name} from ${quantity.operation} (${RECORDS[operationOf(quantity.operation).result].join(" ")})`;
  }).join("; ");
}

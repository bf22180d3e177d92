/** A plane of one quantity: as float32 with its geometry in headers, or as a picture. */
import { type Static, Type } from "@sinclair/typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import { COLOUR_MAPS } from "../../colour-map.js";
import type { Query, Result } from "../../engine/query.js";
import { excerpt, NotFoundError, RequestError } from "../../errors.js";
import { shortestFloat32 } from "../../float32/format.js";
import { operationOf, RECORDS, type SpatialInterpolation, TEMPORAL_INTERPOLATION } from "../../operations.js";
import { QUANTITIES, type Quantity, type QuantityName, quantityOf } from "../../quantities.js";
import { inTurns } from "../http/in-turns.js";
import { negotiate } from "../http/negotiate.js";
import type { Service } from "../http/service.js";
import { Visit } from "../http/visit.js";
import { readFloat } from "./parameters.js";
import { drawPicture, rangeOf } from "./picture.js";
import { AXIS_NAMES, layPlane, type Plane, pointsOf, readNodes, writePlane } from "./plane.js";
import { TripleWriter, tooManyPoints } from "./triple-writer.js";

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
  const [low, high, ...more] = text.split(",").map((part) => readFloat("range", part));
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
  await inTurns(result.items, (from, to) => {
    for (let i = from; i < to; i++) values[i] = field.of(records, i * result.components);
  });
  return values;
}

/** Computes the values of a plane. */
async function evaluate(
  service: Service,
  visit: Visit,
  field: Quantity,
  plane: Plane,
  query: Query,
): Promise<Float32Array> {
  const deadlineMs = Math.max(1, visit.deadline - performance.now());
  const evaluation = service.engine.start(query, { signal: visit.signal, deadlineMs });
  try {
    await writePlane(plane, new TripleWriter(evaluation.points, evaluation.limit));
    const result = await evaluation.finish();
    visit.onEnd(() => result.release());
    return await reduce(field, result);
  } catch (error) {
    evaluation.abort();
    throw error;
  }
}

/** Answers `GET /datasets/{name}/slice`. */
export async function answerSlice(
  service: Service,
  name: string,
  query: SliceQuery,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const field = quantityOf(query.field);
  const visit = new Visit(service, operationOf(field.operation), request, reply);
  const form = negotiate(request.headers.accept, SLICE_FORMS);
  const dataset = service.engine.find(name);
  if (dataset === undefined) throw new NotFoundError(`Invalid set name: ${excerpt(name)}`);
  const plane = layPlane(dataset, query.axis, readFloat("at", query.at), readNodes(query.nodes));
  if (pointsOf(plane) > visit.limit.points) throw tooManyPoints(visit.limit);
  const time = readFloat("time", query.time);
  const spatialInterpolation = readMethod(field, query.method);
  const fixed = readRange(query.range);
  await visit.admit(pointsOf(plane));
  await visit.enter();
  const values = await evaluate(service, visit, field, plane, {
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

/** `POST values`, from its arrival to the last row of its answer. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Result } from "../../engine/contract/query.js";
import { RequestError } from "../../shared/errors.js";
import { compute } from "../http/compute.js";
import { timesOf } from "../http/describe.js";
import type { RequestLife } from "../http/request-life.js";
import { sendPassages, sendStream } from "../http/send-answer.js";
import type { Service } from "../http/service.js";
import { PendingQuery, partsOf } from "./pending-query.js";
import { PointsReader } from "./points-reader.js";
import { readBody } from "./read-body.js";
import { countsFrames, readValuesQuery, timesOfFrames, type ValuesQuery } from "./values-query.js";
import { largeRows, nested, streamedRows } from "./write-rows.js";

/** Clients of some datasets count frames instead of giving times. */
function inTimes(query: ValuesQuery, life: RequestLife): ValuesQuery {
  const dataset = life.find(query.dataset);
  if (dataset === undefined || !countsFrames(query.dataset, dataset)) return query;
  if (query.track !== null) {
    throw new RequestError("Unsupported", `${dataset.name} counts its frames, so it has no tracks.`, { member: "var" });
  }
  return { ...query, times: timesOfFrames(query.times, timesOf(dataset.time)) };
}

/** As text, for the code that checks all parameters. */
function textsOf({ times, track, field, spatialInterpolation, temporalInterpolation }: ValuesQuery) {
  const spatial = [spatialInterpolation];
  if (track === null) {
    return {
      ...(field === undefined ? {} : { field: [field] }),
      time: times.map(String),
      spatialInterpolation: spatial,
      temporalInterpolation: [temporalInterpolation],
    };
  }
  const [start] = times;
  return {
    StartTime: [String(start)],
    EndTime: [String(track.end)],
    dt: [String(track.step)],
    spatialInterpolation: spatial,
  };
}

/**
 * A row of JSON numbers per point, all points of the first time, then of the next. Clients read nothing until they have
 * sent all points. A large answer is sent while its parts are computed: later failures end the connection.
 */
export function serveValues(service: Service, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const caller = { name: "values", token: tokenIn(request.query, "authToken") };
  const steps = async (life: RequestLife): Promise<FastifyReply> => {
    const { limits } = service.config;
    const query = inTimes(
      readValuesQuery(request.query, limits["query.points"], (name) => life.find(name)),
      life,
    );
    const { operation, dataset } = query;
    request.facts.operation = operation.name;
    const pending = new PendingQuery(life, limits, { operation, dataset }, new Map(Object.entries(textsOf(query))));
    await readBody(new PointsReader(pending.writer()), pending, life);
    await send(await pending.answer(), service, reply, life);
    return reply;
  };
  return compute(service, null, request, reply, steps, caller);
}

async function send(result: Result, service: Service, reply: FastifyReply, life: RequestLife): Promise<void> {
  const shape = [result.items, result.components];
  const spent = (ms: number): void => life.reader.encoded(ms);
  life.onEnd(() => result.release());
  await life.computed([result]);
  if (result.stream === undefined) {
    const large = largeRows(result, shape, spent);
    if (large === null) await sendPassages(reply, JSON_TYPE, nested(result, shape), service, life.reader);
    else await sendStream(reply, JSON_TYPE, large, service, life.reader);
    return;
  }
  life.stream();
  await sendStream(reply, JSON_TYPE, streamedRows(partsOf(result), shape, result.texts, spent), service, life.reader);
}

export const JSON_TYPE = "application/json; charset=utf-8";

/** Null if there is none, or an empty one. */
export function tokenIn(query: unknown, name: string): string | null {
  const given = (query as Record<string, unknown> | null)?.[name];
  return typeof given === "string" && given !== "" ? given : null;
}

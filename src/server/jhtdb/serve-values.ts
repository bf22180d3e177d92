/** `POST values`, from its arrival to the last row of its answer. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Result } from "../../engine/contract/query.js";
import { RequestError } from "../../shared/errors.js";
import { isLarge } from "../../text/written-records.js";
import { compute } from "../http/compute.js";
import { timesOf } from "../http/describe.js";
import type { RequestLife } from "../http/request-life.js";
import { sendChunks, sendStream } from "../http/send-answer.js";
import type { Service } from "../http/service.js";
import { PendingQuery, partsOf } from "./pending-query.js";
import { PointsReader } from "./points-reader.js";
import { readBody } from "./read-body.js";
import { countsFrames, readValuesQuery, timesOfFrames, type ValuesQuery } from "./values-query.js";
import { arrayRows } from "./write-rows.js";

/** Times of a request; clients of some datasets count frames instead of giving times. */
function timesFor({ dataset: name, times, isTrack }: ValuesQuery, life: RequestLife): readonly number[] {
  const dataset = life.find(name);
  if (dataset === undefined || !countsFrames(name, dataset)) return times;
  if (isTrack) {
    throw new RequestError("Unsupported", `${dataset.name} counts its frames, so it has no tracks.`, { member: "var" });
  }
  return timesOfFrames(times, timesOf(dataset.time));
}

/**
 * Serves rows of JSON numbers, all points of the first time, then of the next. Clients read nothing until they have
 * sent all points. Large answers are sent while their parts are computed; later failures end the connection.
 */
export function serveValues(service: Service, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const caller = { name: "values", token: tokenIn(request.query, "authToken") };
  const steps = async (life: RequestLife): Promise<FastifyReply> => {
    const { limits } = service.config;
    const read = readValuesQuery(request.query, limits["query.points"], (name) => life.find(name));
    const times = timesFor(read, life);
    request.facts.operation = read.operation.name;
    const pending = new PendingQuery(life, limits, read.query, read.isTrack ? [] : times);
    await readBody(new PointsReader(pending.writer()), pending, life);
    await send(await pending.answer(), service, reply, life);
    return reply;
  };
  return compute(service, null, request, reply, steps, caller);
}

async function send(result: Result, service: Service, reply: FastifyReply, life: RequestLife): Promise<void> {
  const { items, components, textThreads, stream } = result;
  life.onEnd(() => result.release());
  await life.finishComputing([result]);
  const isStream = stream !== undefined;
  if (isStream) life.clearDeadline();
  const rows = arrayRows(partsOf(result), [items, components], textThreads, (ms) => life.reader.encoded(ms));
  const byThreads = textThreads !== undefined && isLarge(result);
  await (isStream || byThreads ? sendStream : sendChunks)(reply, JSON_TYPE, rows, service, life.reader);
}

export const JSON_TYPE = "application/json; charset=utf-8";

/** The token in a query string; null if it is missing or empty. */
export function tokenIn(query: unknown, name: string): string | null {
  const given = (query as Record<string, unknown> | null)?.[name];
  return typeof given === "string" && given !== "" ? given : null;
}

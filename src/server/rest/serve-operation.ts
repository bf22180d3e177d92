/** `serveOperation` follows a request for an operation from its arrival to the last byte of its answer. */

import { join } from "node:path";
import type { FastifyReply, FastifyRequest } from "fastify";
import { componentsOf } from "../../engine/contract/dataset.js";
import { fieldNamed } from "../../engine/contract/fields-asked.js";
import { joinedValues, type Result } from "../../engine/contract/query.js";
import type { CutoutThread, PathRecords } from "../../engine/cutouts/cutout-thread.js";
import { withoutNoise } from "../../float32/format.js";
import { version } from "../../shared/build.js";
import { type Operation, RECORDS } from "../../shared/operations.js";
import { negotiate } from "../http/negotiate.js";
import { isTask, RequestLife } from "../http/request-life.js";
import { addVary, sendPassages, sendStream } from "../http/send-answer.js";
import type { Service } from "../http/service.js";
import { originOf, tellOrigin } from "./answer/origin.js";
import { sendWritten } from "./answer/send-written.js";
import { shapeOf, type UnwrittenAnswer } from "./answer/unwritten-answer.js";
import { ANSWER_TYPES, columnsOf, largeAnswer, WRITERS, withColumns } from "./answer/write-answer.js";
import { readQuery } from "./body/read-body.js";
import { type ApiRequest, optionalArraysOf, textsOfQueryString } from "./parameters.js";
import { type AskedQuery, PendingQuery } from "./pending-query.js";
import { readAlong, valuesAlong } from "./values-along.js";

const NETCDF = "application/netcdf";

/** Members that a route adds to the received request. */
export interface RouteMembers extends Omit<AskedQuery, "stream"> {
  /** Parameters of the query string that belong to the route and not to the operation. */
  readonly own: readonly string[];
  /** Writes paths as NetCDF; routes without it do not answer in this form. */
  readonly thread?: CutoutThread;
}

/**
 * Answers a request for an operation.
 *
 * Nothing is sent before every result is complete, so each failure still becomes a problem with its own status.
 */
export function serveOperation(
  service: Service,
  route: RouteMembers,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return compute(service, route.operation, request, reply, (life) => answer(service, route, request, reply, life));
}

async function answer(
  service: Service,
  { own, thread, ...question }: RouteMembers,
  request: FastifyRequest,
  reply: FastifyReply,
  life: RequestLife,
): Promise<FastifyReply> {
  const type = negotiate(request.headers.accept, thread === undefined ? ANSWER_TYPES : [...ANSWER_TYPES, NETCDF]);
  const { operation, dataset } = question;
  const texts = textsOfQueryString(operation, request.query, [...own, ...optionalArraysOf(operation)]);
  const found = dataset === null ? undefined : life.find(dataset);
  const asked = own.includes("with") && found ? readAlong(request.query as Record<string, unknown>, found) : null;
  const pending = new PendingQuery(life, service.config.limits, question, texts);
  if (request.headers["content-type"] !== undefined) await readQuery(request, operation, pending, life);
  const { request: understood, result } = await pending.answer();
  life.onEnd(() => result.release());
  const along = asked && (await valuesAlong(life, asked, understood.query, result, understood.starts ?? null));
  await life.computed([result]);
  const described = describeAnswer(life, operation, dataset, understood, result);
  const named = along === null ? described : { ...described, along };
  const whole = along === null || type === "application/json" ? named : withColumns(named);
  reply.header("fieldprobe-shape", shapeOf(whole).join(","));
  const ofJob = isTask(service, request.headers);
  if (own.includes("with") || ofJob) reply.header("fieldprobe-columns", headerText(columnsOf(named)));
  addVary(reply, "Accept");
  const { units = {} } = found ?? {};
  if (ofJob && Object.keys(units).length > 0) reply.header("fieldprobe-units", headerText(units));
  if (dataset !== null) tellOrigin(reply, life.dataset(dataset), understood.options, understood.times);
  const { recordTimes } = result;
  if (recordTimes !== undefined) reply.header("fieldprobe-times", recordSteps(recordTimes).join(","));
  if (type === NETCDF) {
    const paths = { starts: understood.starts ?? null, of: String(dataset), paths: recordsIn(whole) };
    reply.type(NETCDF);
    return sendWritten(life, reply, "paths.nc", (folder) =>
      (thread as CutoutThread).writePaths(paths, join(folder, "paths.nc")),
    );
  }
  const { contentType, write } = WRITERS[type];
  const passages = largeAnswer(type, whole, (ms) => life.reader.encoded(ms)) ?? write(whole);
  if (Symbol.iterator in passages) await sendPassages(reply, contentType, passages, service, life.reader);
  else await sendStream(reply, contentType, passages, service, life.reader);
  return reply;
}

function recordsIn(answer: UnwrittenAnswer): PathRecords {
  const { result, components: columns, times } = answer;
  const records = result.itemsPerPoint;
  return { particles: result.items / records, records, times, columns, values: joinedValues(result) };
}

/** A value as JSON that a header may hold. */
function headerText(value: readonly string[] | Readonly<Record<string, string>>): string {
  return JSON.stringify(value).replaceAll(/[^ -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The first record time, the interval of the records, and the last time, which may follow after a shorter interval. */
function recordSteps(times: Float64Array): number[] {
  const [first = 0, second = first] = times;
  return [first, second - first, times.at(-1) ?? first].map(withoutNoise);
}

/** A result with the first component of each record alone, in the same memory. */
function narrowed(result: Result): Result {
  const { components } = result;
  const values = result.values.map((part) => {
    const count = part.length / components;
    for (let i = 1; i < count; i++) part[i] = part[components * i] as number;
    return part.subarray(0, count);
  });
  return { ...result, components: 1, values };
}

/** Puts what was asked next to the results, for the writers of answers. */
export function describeAnswer(
  life: RequestLife,
  operation: Operation,
  dataset: string | null,
  understood: ApiRequest,
  result: Result,
): UnwrittenAnswer {
  const found = dataset === null ? undefined : life.find(dataset);
  const { recordTimes } = result;
  const { field } = understood.query;
  // SOAP fills the mean of a scalar field up to a vector.
  const isFilled =
    operation.kernel === "mean" && found !== undefined && componentsOf(found, fieldNamed(field, found)) === 1;
  const times = recordTimes === undefined ? understood.times : Array.from(recordTimes, withoutNoise);
  return {
    result: isFilled ? narrowed(result) : result,
    timeCount: Math.max(1, understood.times.length),
    times,
    components: isFilled ? RECORDS.float : RECORDS[result.record ?? operation.result],
    about: {
      ...(found === undefined
        ? { version, operation: operation.name, options: understood.options }
        : originOf(found, operation.name, understood.options)),
      ...(recordTimes === undefined ? {} : { times }),
    },
  };
}

/**
 * Runs the steps of a computing request from its arrival on.
 *
 * @param operation null if the steps find out which one it is, and note it
 * @param caller    name of the interface, for log and counters, and the token of the request
 * @throws HttpRefusal, AuthError, LimitError `token.concurrent` on arrival, and what the steps throw while it can be
 *   answered
 */
export async function compute(
  service: Service,
  operation: Pick<Operation, "name"> | null,
  request: FastifyRequest,
  reply: FastifyReply,
  steps: (life: RequestLife) => Promise<FastifyReply>,
  caller = { name: "api", token: tokenOf(request) },
): Promise<FastifyReply> {
  const life = new RequestLife(service, request, reply, caller.name);
  if (operation !== null) request.facts.operation = operation.name;
  try {
    life.authorise(caller.token);
    return await life.run(() => steps(life));
  } catch (error) {
    if (life.giveUp(error)) return reply;
    throw error;
  }
}

/**
 * The token of a request, from `Authorization: Bearer`; null without that header. Any other scheme gives a token that
 * no one has.
 */
export function tokenOf(request: FastifyRequest): string | null {
  const header = request.headers.authorization;
  if (header === undefined) return null;
  return /^Bearer +(\S+) *$/i.exec(header)?.[1] ?? header;
}

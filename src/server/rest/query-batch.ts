/** `serveBatch` answers several queries in one request, each with its own result or problem. */

import { Type } from "@sinclair/typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import { CancelledError, FieldprobeError } from "../../errors.js";
import { findOperation, type Operation } from "../../operations.js";
import { sendPassages } from "../http/send-answer.js";
import type { TimeSlices } from "../life/event-loop.js";
import { bodyTooLarge } from "../life/refusal.js";
import type { RequestLife } from "../life/request-life.js";
import type { Service } from "../life/service.js";
import type { UnwrittenAnswer } from "./answer/unwritten-answer.js";
import { WRITERS } from "./answer/write-answer.js";
import { type BatchQuery, BatchScanner, noJson } from "./body/batch-scanner.js";
import { JsonReader, MalformedJson } from "./body/json-reader.js";
import { DATASET_OPERATIONS } from "./describe.js";
import { describeProblem, type Problem } from "./describe-problem.js";
import { arraysOf, refuse, textsOfJson } from "./parameters.js";
import { PendingQuery } from "./pending-query.js";
import { oneOf } from "./schemas.js";
import { compute, describeAnswer } from "./serve-operation.js";
import { trackingOf } from "./tracking-query.js";

/** Most queries of a batch. */
export const MOST_QUERIES = 64;

/** Most bytes of the body of a batch, which is read as a whole. */
const BATCH_BYTES = 4 * 1024 * 1024;

export const BATCH_BODY = Type.Object({
  queries: Type.Array(
    Type.Object(
      {
        dataset: Type.String({ description: "Name or alias of a dataset." }),
        operation: oneOf(DATASET_OPERATIONS.map((row) => row.name)),
        points: Type.Array(Type.Array(Type.Number(), { minItems: 3, maxItems: 3 })),
      },
      { additionalProperties: true, description: "The other members are those of the operation." },
    ),
    { minItems: 1, maxItems: MOST_QUERIES },
  ),
});

export const BATCH_ANSWER = Type.Object({
  results: Type.Array(
    Type.Object(
      { problem: Type.Optional(Type.Object({}, { additionalProperties: true })) },
      { additionalProperties: true, description: "The answer of the operation as JSON, or a member `problem`." },
    ),
  ),
});

/** Bytes of a point of a batch, about. */
const POINT_BYTES = 24;

/** Bytes that are scanned or read at a time. */
const PART_BYTES = 32 * 1024;

/** Finds the queries in the body. @throws RequestError if it is not a batch */
async function findQueries(body: Buffer, slices: TimeSlices): Promise<readonly BatchQuery[]> {
  const scanner = new BatchScanner(body, MOST_QUERIES);
  for (let to = 0; to < body.length; ) {
    to = Math.min(body.length, to + PART_BYTES);
    scanner.advance(to);
    await slices.pauseAgain();
  }
  return scanner.end();
}

/**
 * Reads the whole body of a request, whose bytes count like points in flight.
 *
 * @throws HttpRefusal of more than `most` bytes
 */
export async function readWhole(life: RequestLife, most: number): Promise<Buffer> {
  const body = life.openBody();
  try {
    if (body.remaining > most) throw bodyTooLarge();
    // Room for what the request says; if it does not say, for what has come.
    let whole = await life.slices.outside(life.room(body.remaining));
    let bytes = 0;
    for (let part = body.take(); part !== null; part = body.take()) {
      if (part === undefined) {
        await body.arrival();
        continue;
      }
      if (bytes + part.length > most) throw bodyTooLarge();
      if (bytes + part.length > whole.length) {
        const longer = await life.slices.outside(life.room(2 * (bytes + part.length)));
        whole.copy(longer);
        whole = longer;
      }
      part.copy(whole, bytes);
      bytes += part.length;
    }
    return whole.subarray(0, bytes);
  } finally {
    body.release();
  }
}

function operationNamed(name: string | undefined): Operation {
  const operation = name === undefined ? undefined : findOperation(name);
  if (operation === undefined || !DATASET_OPERATIONS.includes(operation)) {
    throw refuse("operation", `operation must be one of ${DATASET_OPERATIONS.map((row) => row.name).join(", ")}.`);
  }
  return operation;
}

/** Runs one query to its end, within a time slice. */
async function answerQuery(
  service: Service,
  life: RequestLife,
  query: BatchQuery,
  body: Buffer,
): Promise<UnwrittenAnswer> {
  const { slices } = service;
  const operation = operationNamed(query.operation);
  const { dataset } = query;
  if (dataset === undefined) throw refuse("dataset", "dataset must be a string.");
  const pending = new PendingQuery(
    life,
    service.config.limits,
    { operation, dataset, recordEvery: null, ...trackingOf(operation) },
    new Map(),
  );
  const reader = new JsonReader(
    arraysOf(operation).map((member) => member.name),
    {
      array: (name) => pending.writer(name),
      member: (name, text) => {
        if (name === "operation" || name === "dataset") return;
        if (pending.texts.has(name)) throw refuse(name, `${name} is given more than once.`);
        pending.texts.set(name, textsOfJson(operation, name, text));
      },
    },
  );
  for (let from = query.from; from < query.to; from += PART_BYTES) {
    reader.write(body.subarray(from, Math.min(query.to, from + PART_BYTES)));
    const wait = pending.admit();
    await (wait === null ? slices.pauseAgain() : slices.outside(wait));
  }
  reader.end();
  const { request, result } = await slices.outside(pending.answer());
  life.onEnd(() => result.release());
  return describeAnswer(life, operation, dataset, request, result);
}

/** The results as one JSON document. */
function* write(results: readonly (UnwrittenAnswer | Problem)[]): Generator<Buffer> {
  for (const [i, result] of results.entries()) {
    yield Buffer.from(i === 0 ? '{"results":[' : ",");
    if ("result" in result) yield* WRITERS["application/json"].write(result);
    else yield Buffer.from(JSON.stringify({ problem: result }));
  }
  yield Buffer.from("]}\n");
}

/** Answers all queries, one after another. */
async function answerAll(service: Service, life: RequestLife, id: string): Promise<(UnwrittenAnswer | Problem)[]> {
  const { slices } = service;
  const results: (UnwrittenAnswer | Problem)[] = [];
  slices.begin();
  try {
    const body = await readWhole(life, BATCH_BYTES);
    // Many small queries one after the other are not a small request.
    life.foresee(Math.floor(body.length / POINT_BYTES));
    for (const query of await findQueries(body, slices)) {
      try {
        if (results.length > 0) life.another();
        results.push(await answerQuery(service, life, query, body));
        life.settle();
      } catch (error) {
        if (error instanceof MalformedJson) throw noJson();
        // The caller's own mistakes belong to their query; a failure of the service fails the batch.
        if (!(error instanceof FieldprobeError) || error instanceof CancelledError) throw error;
        // Everything it has begun ends here; queries that have been answered stay.
        life.abort();
        results.push(describeProblem(error, id).problem);
      }
      await slices.pauseAgain();
    }
  } finally {
    slices.end();
  }
  return results;
}

/** Answers `POST /batch`. */
export function serveBatch(service: Service, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return compute(service, { name: "batch" }, request, reply, async (life) => {
    const results = await answerAll(service, life, request.id);
    const type = "application/json; charset=utf-8";
    await life.computed(results.flatMap((answer) => ("result" in answer ? [answer.result] : [])));
    await sendPassages(reply, type, write(results), service, life);
    return reply;
  });
}

/** `serveBatch` answers several queries in one request, each with its own result or problem. */

import { Type } from "@sinclair/typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Dataset } from "../../engine/contract/dataset.js";
import { CancelledError, FieldprobeError } from "../../shared/errors.js";
import { findOperation, type Operation } from "../../shared/operations.js";
import { negotiate } from "../http/negotiate.js";
import type { TimeSlices } from "../http/policies/time-slices.js";
import type { RequestLife } from "../http/request-life.js";
import { addVary, sendPassages } from "../http/send-answer.js";
import type { Service } from "../http/service.js";
import { statisticsInBatch } from "./analysis/analysis-routes.js";
import { flowMapInBatch } from "./analysis/flow-map.js";
import { shapeOf } from "./answer/unwritten-answer.js";
import { WRITERS } from "./answer/write-answer.js";
import { type BatchAnswer, batchOctets } from "./batch-answer.js";
import { type BatchQuery, BatchScanner, noJson } from "./body/batch-scanner.js";
import { JsonReader, MalformedJson } from "./body/json-reader.js";
import { readWhole } from "./body/read-body.js";
import { DATASET_OPERATIONS } from "./describe.js";
import { describeProblem, type Problem } from "./describe-problem.js";
import { samplesInBatch } from "./grids/slice.js";
import { arraysOf, refuse, textsOfJson } from "./parameters.js";
import { PendingQuery } from "./pending-query.js";
import { oneOf } from "./schemas.js";
import { compute, describeAnswer } from "./serve-operation.js";
import { trackingOf } from "./tracking-query.js";

/** Most queries of a batch. */
export const MOST_QUERIES = 64;

/** Most bytes of a query that names another call than an operation. */
const MEMBERS_BYTES = 64 * 1024;

/** Forms of the answer, the default first. */
const BATCH_FORMS = ["application/json", "application/octet-stream"] as const;

/** A query that was refused. */
interface RefusedQuery {
  readonly problem: Problem;
}

type Call = (service: Service, life: RequestLife, dataset: Dataset, members: object) => Promise<BatchAnswer>;

/** Calls other than operations that a batch may hold, by their names. */
const CALLS: ReadonlyMap<string, Call> = new Map<string, Call>([
  ["slice", (_service, life, dataset, members) => samplesInBatch(life, dataset, "slice", members)],
  ["volume", (_service, life, dataset, members) => samplesInBatch(life, dataset, "volume", members)],
  ["flow-map", (_service, life, dataset, members) => flowMapInBatch(life, dataset, members)],
  ["statistics", statisticsInBatch],
]);

/** What a query of a batch may name as its operation. */
const NAMES: readonly string[] = [...DATASET_OPERATIONS.map((row) => row.name), ...CALLS.keys()];

/** Most bytes of the body of a batch, which is read as a whole. */
const BATCH_BYTES = 4 * 1024 * 1024;

export const BATCH_BODY = Type.Object({
  queries: Type.Array(
    Type.Object(
      {
        dataset: Type.String({ description: "Name or alias of a dataset." }),
        operation: oneOf(NAMES),
        points: Type.Optional(Type.Array(Type.Array(Type.Number(), { minItems: 3, maxItems: 3 }))),
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
    await slices.pause();
  }
  return scanner.end();
}

function operationNamed(name: string | undefined): Operation {
  const operation = name === undefined ? undefined : findOperation(name);
  if (operation === undefined || !DATASET_OPERATIONS.includes(operation)) {
    throw refuse("operation", `operation must be one of ${NAMES.join(", ")}.`);
  }
  return operation;
}

/** The members of a query of another call. @throws RequestError unless it is short and JSON */
function membersOf({ from, to }: BatchQuery, body: Buffer): object {
  if (to - from > MEMBERS_BYTES) throw refuse("queries", `Such a query has at most ${MEMBERS_BYTES} bytes.`);
  try {
    const {
      operation: _,
      dataset: __,
      ...members
    } = JSON.parse(body.toString("utf8", from, to)) as Record<string, unknown>;
    return members;
  } catch {
    throw noJson();
  }
}

/** Runs one query to its end, within a time slice. */
async function answerQuery(service: Service, life: RequestLife, query: BatchQuery, body: Buffer): Promise<BatchAnswer> {
  const { slices } = service;
  const { dataset } = query;
  const call = CALLS.get(query.operation ?? "");
  if (call !== undefined) return call(service, life, life.dataset(dataset ?? ""), membersOf(query, body));
  const operation = operationNamed(query.operation);
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
    await (wait === null ? slices.pause() : wait);
  }
  reader.end();
  const { request, result } = await pending.answer();
  life.onEnd(() => result.release());
  const answer = describeAnswer(life, operation, dataset, request, result);
  const head = { ...answer.about, components: answer.components, shape: shapeOf(answer) };
  return { head, values: result.values, json: () => WRITERS["application/json"].write(answer) };
}

/** The results as one JSON document. */
function* write(answers: readonly (BatchAnswer | RefusedQuery)[]): Generator<Buffer> {
  for (const [i, answer] of answers.entries()) {
    yield Buffer.from(i === 0 ? '{"results":[' : ",");
    if ("problem" in answer) yield Buffer.from(JSON.stringify(answer));
    else yield* answer.json();
  }
  yield Buffer.from("]}\n");
}

/** Answers all queries, one after another. */
async function answerAll(service: Service, life: RequestLife, id: string): Promise<(BatchAnswer | RefusedQuery)[]> {
  const { slices } = service;
  const results: (BatchAnswer | RefusedQuery)[] = [];
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
      results.push({ problem: describeProblem(error, id).problem });
    }
    await slices.pause();
  }
  return results;
}

/** Answers `POST /batch`. */
export function serveBatch(service: Service, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return compute(service, { name: "batch" }, request, reply, async (life) => {
    const form = negotiate(request.headers.accept, BATCH_FORMS);
    const results = await answerAll(service, life, request.id);
    await life.computed(results.flatMap((answer) => ("problem" in answer ? [] : [answer])));
    addVary(reply, "Accept");
    const isJson = form === "application/json";
    const passages = isJson ? write(results) : batchOctets(results);
    await sendPassages(reply, isJson ? "application/json; charset=utf-8" : form, passages, service, life.reader);
    return reply;
  });
}

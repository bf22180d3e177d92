/** `serveBatch` answers several queries in one request, each with its own result or problem. */

import { Type } from "@sinclair/typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Dataset } from "../../engine/contract/dataset.js";
import { CancelledError, FieldprobeError } from "../../shared/errors.js";
import { findOperation, type Operation } from "../../shared/operations.js";
import { isMalformed, parseJson, rangesOfItems, rangesOfMembers, type TextRange } from "../../text/json-members.js";
import { negotiate } from "../http/negotiate.js";
import type { RequestLife } from "../http/request-life.js";
import { addVary, sendPassages } from "../http/send-answer.js";
import type { Service } from "../http/service.js";
import { shapeOf } from "./answer/unwritten-answer.js";
import { WRITERS } from "./answer/write-answer.js";
import { type BatchAnswer, batchOctets } from "./batch-answer.js";
import { giveMembers, readWhole } from "./body/read-body.js";
import { DATASET_OPERATIONS } from "./describe.js";
import { describeProblem, type Problem } from "./describe-problem.js";
import { samplesInBatch } from "./grids/slice.js";
import { arraysOf, refuse } from "./parameters.js";
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
]);

/** What a query of a batch may name as its operation. */
const NAMES: readonly string[] = [...DATASET_OPERATIONS.map((row) => row.name), ...CALLS.keys()];

/** Members that say what a query is. */
const NAMING: readonly string[] = ["operation", "dataset"];

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

const [OPEN_LIST, OPEN_OBJECT] = [0x5b, 0x7b];

/** The list of queries in the body. @throws RequestError if it is not a batch */
function findList(body: Buffer): TextRange {
  try {
    const [list, more] = rangesOfMembers(body);
    if (list?.name === "queries" && body[list.from] === OPEN_LIST && more === undefined) return list;
  } catch (error) {
    if (isMalformed(error)) throw error;
  }
  throw refuse("queries", 'A batch is an object with the list "queries" and nothing else.');
}

/** Finds the queries in the body. @throws RequestError if it is not a batch */
function findQueries(body: Buffer): readonly Buffer[] {
  const queries: Buffer[] = [];
  let count = 0;
  for (const { from, to } of rangesOfItems(body, findList(body))) {
    if (body[from] !== OPEN_OBJECT) throw refuse("queries", "Each query of a batch is an object.");
    if (count++ < MOST_QUERIES) queries.push(body.subarray(from, to));
  }
  if (count === 0 || count > MOST_QUERIES)
    throw refuse("queries", `A batch has 1 to ${MOST_QUERIES} queries, not ${count}.`);
  return queries;
}

/** The members `operation` and `dataset` of a query; undefined if they are no strings, or absent. */
function namesIn(query: Buffer): { readonly operation?: string; readonly dataset?: string } {
  const names: { operation?: string; dataset?: string } = {};
  for (const { name, ...range } of rangesOfMembers(query)) {
    if (name !== "operation" && name !== "dataset") continue;
    const value = parseJson(query, range, name);
    if (typeof value === "string") names[name] = value;
  }
  return names;
}

function operationNamed(name: string | undefined): Operation {
  const operation = name === undefined ? undefined : findOperation(name);
  if (operation === undefined || !DATASET_OPERATIONS.includes(operation)) {
    throw refuse("operation", `operation must be one of ${NAMES.join(", ")}.`);
  }
  return operation;
}

/** The members of a query of another call. @throws RequestError unless it is short and JSON */
function membersOf(query: Buffer): object {
  if (query.length > MEMBERS_BYTES) throw refuse("queries", `Such a query has at most ${MEMBERS_BYTES} bytes.`);
  const whole = parseJson(query, { from: 0, to: query.length }, "a query") as Record<string, unknown>;
  const { operation: _, dataset: __, ...members } = whole;
  return members;
}

/** Runs one query to its end, within a time slice. */
async function answerQuery(service: Service, life: RequestLife, query: Buffer): Promise<BatchAnswer> {
  const { operation: name, dataset } = namesIn(query);
  const call = CALLS.get(name ?? "");
  if (call !== undefined) return call(service, life, life.dataset(dataset ?? ""), membersOf(query));
  const operation = operationNamed(name);
  if (dataset === undefined) throw refuse("dataset", "dataset must be a string.");
  const pending = new PendingQuery(
    life,
    service.config.limits,
    { operation, dataset, recordEvery: null, ...trackingOf(operation) },
    new Map(),
  );
  const arrays = arraysOf(operation).map((member) => member.name);
  const members = (await life.readJson(query, arrays)).filter((member) => !NAMING.includes(member.name));
  await giveMembers(members, operation, pending, service.slices);
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
  const results: (BatchAnswer | RefusedQuery)[] = [];
  try {
    const body = await readWhole(life, BATCH_BYTES);
    // Many small queries one after the other are not a small request.
    life.foresee(Math.floor(body.length / POINT_BYTES));
    for (const query of findQueries(body)) {
      try {
        if (results.length > 0) life.another();
        results.push(await answerQuery(service, life, query));
        life.settle();
      } catch (error) {
        // The caller's own mistakes belong to their query; a failure of the service fails the batch.
        const isOfQuery = error instanceof FieldprobeError && !(error instanceof CancelledError);
        if (!isOfQuery || isMalformed(error)) throw error;
        // Everything it has begun ends here; queries that have been answered stay.
        life.abort();
        results.push({ problem: describeProblem(error, id).problem });
      }
      await service.slices.pause();
    }
  } catch (error) {
    throw isMalformed(error) ? refuse("queries", "The body is not a JSON document.") : error;
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

/** `serveBatch` answers several queries in one request, each with its own result or problem. */
import { Type } from "@sinclair/typebox";
import type { FastifyReply, FastifyRequest } from "fastify";
import { CancelledError, FieldprobeError, RequestError } from "../../errors.js";
import { findOperation, type Operation } from "../../operations.js";
import { bodyTooLarge } from "../http/refusal.js";
import type { RequestLife } from "../http/request-life.js";
import { sendPassages } from "../http/send-answer.js";
import type { Service } from "../http/service.js";
import { DATASET_OPERATIONS } from "./describe.js";
import { describeProblem, type Problem } from "./describe-problem.js";
import { JsonReader } from "./json-reader.js";
import { leavingOf } from "./open-faces.js";
import { arraysOf, refuse, textsOfJson } from "./parameters.js";
import { PendingQuery } from "./pending-query.js";
import { compute, describeAnswer } from "./serve-operation.js";
import { type UnwrittenAnswer, WRITERS } from "./write-answer.js";

/** Most queries of a batch. */
export const MOST_QUERIES = 64;

/** Most bytes of the body of a batch, which is read as a whole. */
const BATCH_BYTES = 4 * 1024 * 1024;

export const BATCH_BODY = Type.Object({
  queries: Type.Array(
    Type.Object(
      {
        dataset: Type.String({ description: "Name or alias of a dataset." }),
        operation: Type.Unsafe<string>({ type: "string", enum: DATASET_OPERATIONS.map((row) => row.name) }),
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

/** A query of a batch: its own text, so that each number is read as it is written. */
interface BatchQuery {
  readonly operation: unknown;
  readonly dataset: unknown;
  readonly text: string;
}

/** The texts of the objects in the only list of a valid document `{"queries": [...]}`. */
function elementTexts(text: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === '"') {
      while (text[++i] !== '"') if (text[i] === "\\") i++;
    } else if (character === "{" || character === "[") {
      if (++depth === 3) start = i;
    } else if (character === "}" || character === "]") {
      if (depth-- === 3) found.push(text.slice(start, i + 1));
    }
  }
  return found;
}

/** Reads the queries out of the body. @throws RequestError where it is no batch */
function readQueries(text: string): BatchQuery[] {
  const wrong = (message: string) => new RequestError("InvalidRequest", message, { member: "queries" });
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    throw wrong("The body is no JSON document.");
  }
  const { queries } = (body ?? {}) as { queries?: unknown };
  if (!Array.isArray(queries) || Object.keys(body as object).length !== 1) {
    throw wrong('A batch is an object with the list "queries" and nothing else.');
  }
  if (queries.length === 0 || queries.length > MOST_QUERIES) {
    throw wrong(`A batch has 1 to ${MOST_QUERIES} queries, not ${queries.length}.`);
  }
  if (queries.some((query) => typeof query !== "object" || query === null || Array.isArray(query))) {
    throw wrong("Each query of a batch is an object.");
  }
  const texts = elementTexts(text);
  return (queries as { operation?: unknown; dataset?: unknown }[]).map(({ operation, dataset }, i) => {
    return { operation, dataset, text: texts[i] };
  });
}

/** Reads the whole body of a request. */
async function readText(life: RequestLife, { slices }: Service): Promise<string> {
  const body = life.openBody();
  const parts: Buffer[] = [];
  let bytes = 0;
  slices.begin();
  try {
    for (let part = body.take(); part !== null; part = body.take()) {
      if (part === undefined) {
        await body.arrival();
        continue;
      }
      bytes += part.length;
      if (bytes > BATCH_BYTES) throw bodyTooLarge();
      parts.push(Buffer.from(part));
    }
  } finally {
    slices.end();
    body.release();
  }
  return Buffer.concat(parts).toString("utf8");
}

function operationNamed(name: unknown): Operation {
  const operation = typeof name === "string" ? findOperation(name) : undefined;
  if (operation === undefined || !DATASET_OPERATIONS.includes(operation)) {
    throw refuse("operation", `operation must be one of ${DATASET_OPERATIONS.map((row) => row.name).join(", ")}.`);
  }
  return operation;
}

/** Runs one query to its end. */
async function answerQuery(service: Service, life: RequestLife, query: BatchQuery): Promise<UnwrittenAnswer> {
  const operation = operationNamed(query.operation);
  const { dataset } = query;
  if (typeof dataset !== "string") throw refuse("dataset", "dataset must be a string.");
  const pending = new PendingQuery(
    life,
    service.config.limits,
    { operation, dataset, recordEvery: null, ...leavingOf(operation) },
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
  reader.write(Buffer.from(query.text));
  reader.end();
  await pending.admit();
  const { request, result } = await pending.finish();
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
  yield Buffer.from("]}");
}

/** Answers `POST /batch`. */
export function serveBatch(service: Service, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return compute(service, { name: "batch" }, request, reply, async (life) => {
    const queries = readQueries(await readText(life, service));
    const results: (UnwrittenAnswer | Problem)[] = [];
    for (const query of queries) {
      try {
        results.push(await answerQuery(service, life, query));
        life.settle();
      } catch (error) {
        // The caller's own mistakes belong to their query; a service that fails fails the batch.
        if (!(error instanceof FieldprobeError) || error instanceof CancelledError) throw error;
        // Whatever it has begun ends here; what is answered already stays.
        life.abort();
        results.push(describeProblem(error, request.id).problem);
      }
    }
    const type = "application/json; charset=utf-8";
    await life.computed(results.flatMap((answer) => ("result" in answer ? [answer.result] : [])));
    await sendPassages(reply, type, write(results), service, life);
    return reply;
  });
}

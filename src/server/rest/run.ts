/** The pipeline of a computing request: token, form, parameters, body, engine, answer. */
import type { FastifyReply, FastifyRequest } from "fastify";
import { type Operation, RECORDS } from "../../operations.js";
import { version } from "../../version.js";
import { sendBlocks } from "../http/answer.js";
import { negotiate } from "../http/negotiate.js";
import { HttpRefusal } from "../http/refusal.js";
import type { Service } from "../http/service.js";
import type { Turns } from "../http/time-slice.js";
import { Visit } from "../http/visit.js";
import { FloatsReader } from "./floats-reader.js";
import { BODIES, FORMS, type Form } from "./forms.js";
import { Intake } from "./intake.js";
import { JsonReader } from "./json-reader.js";
import { arraysOf, asWritten, optionalArraysOf, refuse, textsOfJson, textsOfQueryString } from "./parameters.js";
import { type Answer, csv, json, octets, shapeOf } from "./write-answer.js";

/** What a route adds to the request as it came. */
export interface Route {
  readonly operation: Operation;
  readonly dataset?: string;
  readonly recordEvery?: number;
  /** Parameters of the query string that belong to the route and not to the operation. */
  readonly own: readonly string[];
}

/** A reader for the body of a request: `write` every piece, then `end`. */
interface BodyReader {
  write(piece: Buffer): void;
  end(): void;
}

function readerFor(request: FastifyRequest, operation: Operation, intake: Intake): BodyReader {
  const arrays = arraysOf(operation).map((member) => member.name);
  const [, asOctets] = BODIES;
  if (request.headers["content-type"]?.toLowerCase().startsWith(asOctets)) {
    const given = arrays.filter((name) => (request.query as Record<string, unknown>)[name] !== "false");
    return new FloatsReader(
      given.map((name) => intake.writer(name)),
      given,
    );
  }
  return new JsonReader(arrays, {
    array: (name) => intake.writer(name),
    member: (name, text) => {
      if (intake.texts.has(name)) throw refuse(name, `${name} stands in the query string too.`);
      intake.texts.set(name, textsOfJson(operation, name, text));
    },
  });
}

/** Refuses a compressed body, whose bytes would be taken for numbers. */
function checkEncoding(request: FastifyRequest): void {
  const encoding = request.headers["content-encoding"];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== "identity") {
    throw new HttpRefusal(415, "Compressed requests are not taken.", { "accept-encoding": "identity" });
  }
}

/** Bytes that a turn of the event loop reads. */
const PIECE_BYTES = 32 * 1024;

/** Feeds a body to its reader as it arrives; the socket waits while a piece is read or too many points are in flight. */
async function readBody(request: FastifyRequest, reader: BodyReader, intake: Intake, service: Service): Promise<void> {
  const { config, turns } = service;
  const limit = config.limits["http.bodyBytes"];
  let bytes = 0;
  // The stream outlives a refusal: its end is discarded so that the answer arrives.
  for await (const chunk of request.raw.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > limit) throw new HttpRefusal(413, "The body is too large.", { connection: "close" });
    for (let from = 0; from < chunk.length; from += PIECE_BYTES) {
      turns.begin();
      try {
        reader.write(chunk.subarray(from, from + PIECE_BYTES));
      } finally {
        turns.end();
      }
      await intake.admitted();
    }
  }
  reader.end();
}

/** Makes pieces one at a time, and gives other work its turn between them. */
async function* timed(pieces: Iterator<Buffer>, turns: Turns): AsyncGenerator<Buffer> {
  turns.begin();
  try {
    for (let next = pieces.next(); !next.done; next = pieces.next()) {
      const goOn = turns.rest();
      try {
        yield next.value;
      } finally {
        goOn();
      }
      const pause = turns.pause();
      if (pause !== undefined) await pause;
    }
  } finally {
    turns.end();
  }
}

const WRITERS: Readonly<Record<Form, { type: string; write: (answer: Answer) => Generator<Buffer> }>> = {
  "application/json": { type: "application/json; charset=utf-8", write: json },
  "text/csv": { type: "text/csv; charset=utf-8; header=present", write: csv },
  "application/octet-stream": { type: "application/octet-stream", write: octets },
};

/**
 * Answers a request for an operation.
 *
 * Nothing is sent before every result is complete, so each failure still becomes a problem with its own status.
 */
export async function run(
  service: Service,
  { operation, dataset, recordEvery, own }: Route,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const visit = new Visit(service, operation, request, reply);
  checkEncoding(request);
  const form = negotiate(request.headers.accept, FORMS);
  const texts = textsOfQueryString(operation, request.query, [...own, ...optionalArraysOf(operation)]);
  const intake = new Intake(service.engine, visit, { operation, dataset, recordEvery }, texts);
  try {
    if (request.headers["content-type"] !== undefined) {
      await readBody(request, readerFor(request, operation, intake), intake, service);
    }
    await visit.enter();
    const { request: understood, results } = await intake.finish();
    visit.onEnd(() => {
      for (const result of results) result.release();
    });
    const found = dataset === undefined ? undefined : service.engine.find(dataset);
    const recordTimes = results[0]?.recordTimes;
    const times = recordTimes === undefined ? understood.times : asWritten(recordTimes);
    const answer: Answer = {
      results,
      times,
      components: RECORDS[operation.result],
      about: {
        version,
        operation: operation.name,
        ...(found === undefined ? {} : { dataset: found.name, manifest: found.digest }),
        options: understood.options,
        ...(recordTimes === undefined ? {} : { times }),
      },
    };
    const { type, write } = WRITERS[form];
    reply.header("fieldprobe-shape", shapeOf(answer).join(",")).header("vary", "Accept");
    return await sendBlocks(reply, type, timed(write(answer), service.turns), service.config.gzip);
  } catch (error) {
    intake.abort();
    throw error;
  }
}

/**
 * The listener of a process answers the pieces that peers ask for, evaluated by this process alone, and reports its
 * state.
 */
import { createServer as createPlain, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecure, type Server as SecureServer } from "node:https";
import type { Logger } from "pino";
import { InProgress } from "../engine/drain.js";
import type { Engine, Evaluation, Result, TripleSink } from "../engine/query.js";
import { failureOf } from "../engine/threads/errors-as-data.js";
import { BusyError, FieldprobeError, RequestError, WorkerError } from "../errors.js";
import type { Generations } from "./generation.js";
import { addressOf, type Keys } from "./keys.js";
import {
  inputBytes,
  OCTETS,
  type PeerReport,
  PIECE_HEADER,
  PIECE_PATH,
  type Piece,
  REGIONS_PATH,
  readPiece,
  STATUS_PATH,
} from "./piece.js";

/** Bytes of points above which a process takes no more pieces. */
const HELD_BYTES = 256 * 1024 * 1024;
/** Idle time of a connection. */
const KEEP_ALIVE_MS = 300_000;
/** Statuses of refusals; the first two say that another process may answer. */
const REFUSED = { busy: 503, generation: 409, failed: 422, request: 400 } as const;

/** By dataset: the regions that this process owns, and those of which its cache holds more than half. */
export type RegionLists = Readonly<
  Record<string, { readonly owned: readonly number[]; readonly cached: readonly number[] }>
>;

/** Parts from which a listener is made. */
export interface ListenerOptions {
  readonly address: string;
  readonly keys: Keys | null;
  readonly engine: Engine;
  readonly generations: Generations;
  readonly log: Logger;
  status(): Omit<PeerReport, "draining">;
  regions(): RegionLists;
  /** Called with each piece that was evaluated. */
  answered(): void;
}

/** Answers peers. */
export class Listener {
  readonly #options: ListenerOptions;
  readonly #server: Server | SecureServer;
  readonly #pieces = new InProgress<IncomingMessage>();
  #heldBytes = 0;
  #draining = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    const answer = (request: IncomingMessage, response: ServerResponse): void => void this.#answer(request, response);
    const { keys } = options;
    const common = { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 };
    this.#server =
      keys === null
        ? createPlain(common, answer)
        : createSecure(
            { ...common, ...keys, requestCert: true, rejectUnauthorized: true, minVersion: "TLSv1.3" },
            answer,
          );
  }

  /** @throws the error of the system when the address cannot be listened on */
  listen(): Promise<void> {
    const { host, port } = addressOf(this.#options.address);
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen({ host, port }, () => {
        this.#server.removeListener("error", reject);
        resolve();
      });
    });
  }

  /** Shows these keys from the next connection on. */
  rekey(keys: Keys): void {
    if ("setSecureContext" in this.#server) this.#server.setSecureContext(keys);
  }

  /** Takes nothing new; resolves once what it has is answered or the time is over. */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    await this.#pieces.drain(graceMs);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => request.destroy());
    try {
      if (request.method === "GET" && request.url === STATUS_PATH) {
        const status: PeerReport = { ...this.#options.status(), draining: this.#draining };
        sendJson(response, 200, status);
      } else if (request.method === "GET" && request.url === REGIONS_PATH) {
        sendJson(response, 200, this.#options.regions());
      } else if (request.method === "POST" && request.url === PIECE_PATH) await this.#evaluate(request, response);
      else refuse(response, REFUSED.request, new RequestError("InvalidRequest", "There is nothing at this address."));
    } catch (error) {
      const known = error instanceof FieldprobeError ? error : new WorkerError(undefined, error);
      if (known !== error) this.#options.log.error({ err: error }, "a piece failed");
      if (!response.headersSent) refuse(response, known instanceof BusyError ? REFUSED.busy : REFUSED.failed, known);
      else response.destroy();
    }
  }

  async #evaluate(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const piece = readPiece(request.headers[PIECE_HEADER]);
    const bytes = inputBytes(piece);
    if (Number(request.headers["content-length"]) !== bytes)
      throw new RequestError("InvalidRequest", "The piece is not as long as it says.");
    if (this.#draining) throw new BusyError("This peer is shutting down.");
    if (this.#heldBytes + bytes > HELD_BYTES) throw new BusyError("This peer has more pieces than it can hold.");
    const { engine, generations } = this.#options;
    const place = this.#pieces.add(request);
    this.#heldBytes += bytes;
    try {
      const dataset = engine.find(piece.query.dataset);
      const generation = dataset === undefined ? "none" : await generations.of(dataset);
      if (dataset === undefined || generation !== piece.generation) {
        refuse(response, REFUSED.generation, new BusyError("This peer does not have this generation of the dataset."));
        return;
      }
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      const control = { dataset, deadlineMs: piece.deadlineMs, signal: gone.signal, alone: true };
      const evaluation = engine.start(piece.query, control);
      await readInto(request, piece, evaluation);
      await sendResult(response, await evaluation.finish());
      this.#options.answered();
    } finally {
      this.#heldBytes -= bytes;
      this.#pieces.delete(place);
    }
  }
}

/** Hands points, and the velocities that follow them, to the evaluation as they arrive. */
function readInto(request: IncomingMessage, { points }: Piece, evaluation: Evaluation): Promise<void> {
  let left = 12 * points;
  const triples = new OctetTriples(evaluation.points);
  const velocities = new OctetTriples(evaluation.velocities);
  return new Promise((resolve, reject) => {
    request.on("data", (bytes: Uint8Array) => {
      const here = Math.min(left, bytes.length);
      if (here > 0) triples.write(bytes.subarray(0, here));
      if (here < bytes.length) velocities.write(bytes.subarray(here));
      left -= here;
    });
    request.once("end", () => {
      triples.end();
      velocities.end();
      resolve();
    });
    request.once("error", reject);
  });
}

/** Copies bytes into the slabs of a sink. */
class OctetTriples {
  readonly #sink: TripleSink;
  #filled = 0;

  constructor(sink: TripleSink) {
    this.#sink = sink;
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) {
      const { slab } = this.#sink;
      const size = Math.min(slab.byteLength - this.#filled, bytes.length - at);
      new Uint8Array(slab.buffer, slab.byteOffset + this.#filled, size).set(bytes.subarray(at, at + size));
      this.#filled += size;
      at += size;
      if (this.#filled === slab.byteLength) this.end();
    }
  }

  end(): void {
    this.#sink.commit(this.#filled / 12);
    this.#filled = 0;
  }
}

/** Sends a result, and gives its buffers back once nothing reads them any more. */
async function sendResult(response: ServerResponse, result: Result): Promise<void> {
  const { items, components, values, stream } = result;
  const closed = new Promise<void>((resolve) => response.once("close", resolve));
  try {
    response.writeHead(200, { "content-type": OCTETS, "content-length": 4 * items * components });
    for await (const part of stream ?? values) {
      if (response.destroyed) return;
      const written = new Promise<void>((resolve) => {
        response.write(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), () => resolve());
      });
      await Promise.race([written, closed]);
    }
    response.end();
  } finally {
    result.release();
  }
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  const body = Buffer.from(JSON.stringify(value));
  response.writeHead(status, { "content-type": "application/json", "content-length": body.length }).end(body);
}

function refuse(response: ServerResponse, status: number, error: FieldprobeError): void {
  sendJson(response, status, failureOf(error));
}

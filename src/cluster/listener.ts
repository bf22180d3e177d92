/**
 * The listener of a process answers the pieces that peers ask for, evaluated by this process alone, and reports its
 * state.
 */
import { once } from "node:events";
import { createServer as createPlain, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecure, type Server as SecureServer } from "node:https";
import type { Logger } from "pino";
import { failureOf } from "../engine/contract/errors-as-data.js";
import type { Engine, Evaluation, Result } from "../engine/contract/query.js";
import { InProgress } from "../engine/main/drain.js";
import { BusyError, CancelledError, FieldprobeError, RequestError, WorkerError } from "../errors.js";
import type { Generations } from "./generation.js";
import { addressOf, type Keys } from "./keys.js";
import { OCTETS, type PeerReport, PIECE_HEADER, PIECE_PATH, readPiece, STATUS_PATH } from "./piece.js";

/** Bytes of points above which a process takes no more pieces. */
const HELD_BYTES = 256 * 1024 * 1024;
/** Idle time of a connection. */
const KEEP_ALIVE_MS = 300_000;

/** Parts from which a listener is made. */
export interface ListenerOptions {
  readonly address: string;
  readonly keys: Keys | null;
  readonly engine: Engine;
  readonly generations: Generations;
  readonly log: Logger;
  status(): Omit<PeerReport, "draining">;
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
    const common = { keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 };
    const mutual = { requestCert: true, rejectUnauthorized: true, minVersion: "TLSv1.3" } as const;
    const secure = { ...common, ...options.keys, ...mutual };
    this.#server = options.keys === null ? createPlain(common, answer) : createSecure(secure, answer);
  }

  /** @throws the error of the system when the address cannot be listened on */
  async listen(): Promise<void> {
    await once(this.#server.listen(addressOf(this.#options.address)), "listening");
  }

  /** Shows these keys from the next connection on. */
  rekey(keys: Keys): void {
    if ("setSecureContext" in this.#server) this.#server.setSecureContext(keys);
  }

  /** Accepts no new pieces; resolves once the accepted ones are answered or the time is over. */
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
      if (request.method === "GET" && request.url === STATUS_PATH)
        sendJson(response, 200, { ...this.#options.status(), draining: this.#draining } satisfies PeerReport);
      else if (request.method === "POST" && request.url === PIECE_PATH) await this.#evaluate(request, response);
      else throw new RequestError("InvalidRequest", "There is nothing at this address.");
    } catch (error) {
      const known = error instanceof FieldprobeError ? error : new WorkerError(undefined, error);
      if (known !== error && !response.destroyed) this.#options.log.error({ err: error }, "a piece failed");
      if (response.headersSent) response.destroy();
      else sendJson(response, known.blame === "caller" ? 400 : 503, failureOf(known));
    }
  }

  async #evaluate(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const piece = readPiece(request.headers[PIECE_HEADER]);
    const bytes = Number(request.headers["content-length"]);
    const size = 12 * piece.points;
    if (bytes !== size && bytes !== 2 * size)
      throw new RequestError("InvalidRequest", "The piece is not as long as it says.");
    if (this.#draining) throw new BusyError("This peer is shutting down.");
    if (this.#heldBytes + bytes > HELD_BYTES) throw new BusyError("This peer has more pieces than it can hold.");
    const { engine, generations } = this.#options;
    const place = this.#pieces.add(request);
    this.#heldBytes += bytes;
    // A peer that has vanished is waited for no longer than it would wait itself.
    const timer = setTimeout(() => response.destroy(), piece.deadlineMs);
    try {
      const dataset = engine.find(piece.query.dataset);
      const generation = dataset === undefined ? "none" : await generations.of(dataset);
      if (dataset === undefined || generation !== piece.generation)
        throw new BusyError("This peer does not have this generation of the dataset.");
      // A peer that has gone meanwhile sends no more points and gets no answer.
      if (response.destroyed) throw new CancelledError();
      const { query, deadlineMs, box, points } = piece;
      const evaluation = engine.start(query, { dataset, deadlineMs, box, points, alone: true });
      response.once("close", () => response.writableFinished || evaluation.abort());
      await readPoints(request, size, bytes, evaluation);
      await sendResult(response, await evaluation.finish());
      this.#options.answered();
    } finally {
      clearTimeout(timer);
      this.#heldBytes -= bytes;
      this.#pieces.delete(place);
    }
  }
}

/** Reads points, and the velocities that may follow them, to their places: a slab of `size` bytes each. */
async function readPoints(request: IncomingMessage, size: number, bytes: number, into: Evaluation): Promise<void> {
  const { points, velocities } = into;
  if (size > points.slab.byteLength || (bytes > size && size > velocities.slab.byteLength))
    throw new RequestError("InvalidRequest", "The piece has points that its operation does not accept.");
  let at = 0;
  request.on("data", (bytes: Uint8Array) => {
    const here = Math.min(bytes.length, Math.max(0, size - at));
    // The slabs are read again each time: an abort replaces them.
    if (here > 0) new Uint8Array(points.slab.buffer).set(bytes.subarray(0, here), at);
    if (here < bytes.length) new Uint8Array(velocities.slab.buffer).set(bytes.subarray(here), at + here - size);
    at += bytes.length;
  });
  await once(request, "end");
  velocities.commit((bytes - size) / 12);
  points.commit(size / 12);
}

/** Sends a result, and gives its buffers back once nothing reads them any more. */
async function sendResult(response: ServerResponse, result: Result): Promise<void> {
  const { items, components, values, stream } = result;
  const closed = new Promise((resolve) => response.once("close", resolve));
  try {
    response.writeHead(200, { "content-type": OCTETS, "content-length": 4 * items * components });
    for await (const { buffer, byteOffset, byteLength } of stream ?? values) {
      if (response.destroyed) return;
      const part = new Uint8Array(buffer, byteOffset, byteLength);
      await Promise.race([new Promise((resolve) => response.write(part, resolve)), closed]);
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

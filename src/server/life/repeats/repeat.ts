/**
 * `Repeat` is a request that is read without the HTTP parser, and its answer, which goes to the socket in one write.
 */
import { randomUUID } from "node:crypto";
import { type IncomingHttpHeaders, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { FastifyBaseLogger } from "fastify";
import { NO_FACTS, type RequestFacts } from "../request-facts.js";

/** The facts that a repeat shares with the request that it repeats. */
export interface RepeatedRequest {
  readonly headers: IncomingHttpHeaders;
  /** Headers of its answer that follow from those of the request, as they are written. */
  readonly answerHead: string;
  /** Address of the caller, for the access log. */
  readonly client: string;
  readonly method: string;
  /** Its route. */
  readonly path: string;
  readonly log: FastifyBaseLogger;
}

/**
 * Replaces the objects that node:http and fastify would make of a request and its answer, for the code that follows
 * them.
 */
export class Repeat {
  readonly id = randomUUID();
  readonly facts: RequestFacts = { ...NO_FACTS };
  readonly since = performance.now();
  readonly repeated: RepeatedRequest;
  readonly socket: Socket;
  /** It has arrived whole. */
  readonly complete = true;
  statusCode = 200;
  headersSent = false;
  /** Whether the socket has taken the whole answer. */
  writableFinished = false;
  readonly #serverHeaders: () => string;
  readonly #listeners: (() => void)[] = [];
  /** Headers of this answer alone. */
  #own = "";
  #over = false;

  /** @param serverHeaders the headers that node:http adds to an answer now */
  constructor(repeated: RepeatedRequest, socket: Socket, serverHeaders: () => string) {
    this.repeated = repeated;
    this.socket = socket;
    this.#serverHeaders = serverHeaders;
  }

  get headers(): IncomingHttpHeaders {
    return this.repeated.headers;
  }

  get log(): FastifyBaseLogger {
    return this.repeated.log;
  }

  /** Itself, if a request or an answer is asked for the one of node:http below it. */
  get raw(): this {
    return this;
  }

  /** The request of an answer, as in node:http. */
  get req(): this {
    return this;
  }

  on(_event: "close", listener: () => void): this {
    this.#listeners.push(listener);
    return this;
  }

  once(event: "close", listener: () => void): this {
    return this.on(event, listener);
  }

  /** Says that it is over: the answer has been sent, or the connection has closed. */
  emit(_event: "close"): boolean {
    if (this.#over) return false;
    this.#over = true;
    for (const listener of this.#listeners) listener();
    return true;
  }

  header(name: string, value: string): this {
    this.#own += `${name}: ${value}\r\n`;
    return this;
  }

  hijack(): this {
    return this;
  }

  destroy(): this {
    this.socket.destroy();
    return this;
  }

  /** Sends the whole answer; after one with the header `connection: close` the connection ends. */
  answer(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): void {
    if (this.#over || !this.socket.writable) {
      this.socket.destroy();
      return;
    }
    this.statusCode = status;
    let head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${this.repeated.answerHead}`;
    head += `x-request-id: ${this.id}\r\n${this.#own}`;
    for (const name of Object.keys(headers)) head += `${name}: ${headers[name]}\r\n`;
    const isLast = headers.connection === "close";
    head += `content-length: ${body.length}\r\n${isLast ? "" : this.#serverHeaders()}\r\n`;
    const bytes = Buffer.allocUnsafe(head.length + body.length);
    bytes.write(head, 0, "latin1");
    bytes.set(body, head.length);
    this.headersSent = true;
    this.socket.write(bytes, (error) => {
      if (error) return;
      this.writableFinished = true;
      if (isLast) this.socket.destroySoon();
      this.emit("close");
    });
  }
}

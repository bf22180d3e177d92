/**
 * `Repeats` reads small requests beside the HTTP parser where their bytes differ from those of an earlier request of
 * their connection in the body and its length alone.
 */
import type { IncomingMessage, Server } from "node:http";
import { Socket } from "node:net";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Connections } from "./connections.js";
import type { Tick } from "./event-loop.js";
import { Repeat, type RepeatedRequest } from "./repeat.js";

/** Longest body that is read here. */
export const REPEAT_BYTES = 16 * 1024;
/** Requests of a connection that are remembered, and bytes of a head, or around the points of a body, at most. */
const KEPT = 4;
export const KEPT_BYTES = 2048;
/** Requests in another form after which a connection is left to the parser. */
const PATIENCE = 16;
/** Digits of the longest length. */
const LENGTH_DIGITS = 5;
const CR = 0x0d;
const ZERO = 0x30;

/** Serves a body that comes again: null where it is of another form, before anything has been done. */
export type ServeRepeat = (body: Buffer) => ((repeat: Repeat) => Promise<void>) | null;

/** Needs of the requests that are read here. */
export interface RepeatSetting {
  readonly connections: Connections;
  readonly tick: Tick;
  /** Time for which an idle connection is kept. */
  readonly keepAliveMs: number;
  /** Told of each request when it begins. */
  begun(repeat: Repeat): void;
}

/**
 * Follows connections. A head that has been read by the parser and judged by the service once means the same when its
 * bytes come again; so the first request of a connection takes the usual way, and every other one of which anything but
 * body and length is new.
 */
export class Repeats {
  readonly #setting: RepeatSetting;
  readonly #followed = new WeakMap<Socket, FollowedConnection>();
  readonly #clock = new HttpClock();
  #closed = false;

  constructor(setting: RepeatSetting) {
    this.#setting = setting;
  }

  /** Takes no more requests: what comes is left to the parser. */
  close(): void {
    this.#closed = true;
  }

  /**
   * Ends the connections of a server on which nothing has moved for too long, but for those whose repeats are being
   * answered: these have the time of a query, and their readers that of any answer.
   */
  endSilent(server: Server): void {
    server.on("timeout", (socket: Socket) => {
      if (!this.#followed.get(socket)?.isBusy) socket.destroy();
    });
  }

  /** Remembers a request whose answer has been handed to the socket. */
  remember(request: FastifyRequest, reply: FastifyReply, serve: ServeRepeat): void {
    const { raw } = request;
    const { socket } = raw;
    if (this.#closed || !(socket instanceof Socket) || !raw.complete) return;
    const known = this.#followed.get(socket);
    if (known !== undefined && !known.isUnsure) return;
    const head = headOf(raw);
    if (head === null) return;
    if (known === undefined && socket.bytesRead !== head.bytes) return;
    const repeated = {
      headers: raw.headers,
      answerHead: answerHeadOf(reply),
      client: request.ip,
      method: request.method,
      path: request.routeOptions.url ?? "none",
      log: request.log,
    };
    if (known !== undefined) {
      known.learn({ ...head, repeated, serve });
      return;
    }
    const parse = socket.listeners("data") as ((bytes: Buffer) => void)[];
    if (parse.length !== 1) return;
    const seconds = Math.floor(this.#setting.keepAliveMs / 1000);
    const written = (): string =>
      `Date: ${this.#clock.now}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`;
    const connection = new FollowedConnection(socket, parse[0], this.#setting, written, () => this.#closed);
    connection.learn({ ...head, repeated, serve });
    this.#followed.set(socket, connection);
  }
}

/** The bytes of a head before and after the digits of its `Content-Length`, and those of the whole request. */
interface Head {
  readonly before: Buffer;
  readonly after: Buffer;
  readonly bytes: number;
}

interface RepeatPattern extends Head {
  readonly repeated: RepeatedRequest;
  readonly serve: ServeRepeat;
}

/** Headers by which a request asks for more than an answer. */
const SPECIAL = ["transfer-encoding", "expect", "upgrade", "te", "trailer"];

/** The head of a request as nearly every client writes it; null where it says more than the length of a short body. */
function headOf({ method, url, httpVersion, headers, rawHeaders }: IncomingMessage): Head | null {
  const length = headers["content-length"];
  if (httpVersion !== "1.1" || length === undefined || Number(length) > REPEAT_BYTES) return null;
  if (SPECIAL.some((name) => headers[name] !== undefined)) return null;
  if ((headers.connection ?? "keep-alive").toLowerCase() !== "keep-alive") return null;
  let text = `${method} ${url} HTTP/1.1\r\n`;
  let cut = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    text += `${name}: `;
    if (name.toLowerCase() === "content-length") cut = text.length;
    text += `${rawHeaders[i + 1]}\r\n`;
  }
  if (text.length > KEPT_BYTES) return null;
  const before = Buffer.from(text.slice(0, cut), "latin1");
  const after = Buffer.from(`${text.slice(cut + length.length)}\r\n`, "latin1");
  return { before, after, bytes: before.length + length.length + after.length + Number(length) };
}

/** Headers of an answer that are not its own. */
function answerHeadOf(reply: FastifyReply): string {
  let text = "";
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (name !== "x-request-id" && name !== "fieldprobe-assumed") text += `${name}: ${value}\r\n`;
  }
  return text;
}

/** A connection whose bytes are looked at before the parser gets them. */
class FollowedConnection {
  readonly #socket: Socket;
  readonly #setting: RepeatSetting;
  readonly #written: () => string;
  readonly #isClosed: () => boolean;
  /** The listener of node:http. */
  readonly #parse: (bytes: Buffer) => void;
  /** The last one first. */
  readonly #patterns: RepeatPattern[] = [];
  /** Bytes that the parser was given since the last end of a request; null where nothing has begun. */
  #given: number | null = null;
  #strange = 0;
  /** The request that is being served. */
  #current: Repeat | null = null;
  #busy = false;
  /** Bytes that came meanwhile. */
  readonly #held: Buffer[] = [];

  constructor(
    socket: Socket,
    parse: (bytes: Buffer) => void,
    setting: RepeatSetting,
    written: () => string,
    isClosed: () => boolean,
  ) {
    this.#socket = socket;
    this.#parse = parse;
    this.#setting = setting;
    this.#written = written;
    this.#isClosed = isClosed;
    socket.off("data", parse);
    socket.on("data", this.#take);
    socket.once("close", () => this.#current?.emit("close"));
  }

  get isBusy(): boolean {
    return this.#busy;
  }

  /** Whether the parser has been given bytes that may end inside a request. */
  get isUnsure(): boolean {
    return this.#given !== null;
  }

  /** Remembers the request that the parser has read last, if its bytes are all that the parser has been given. */
  learn(pattern: RepeatPattern): void {
    if (this.#given !== null && this.#given !== pattern.bytes) return;
    this.#given = null;
    if (this.#patterns.unshift(pattern) > KEPT) this.#patterns.pop();
  }

  readonly #take = (bytes: Buffer): void => {
    if (this.#busy) {
      this.#held.push(bytes);
      this.#socket.pause();
      return;
    }
    const isNext = this.#given === null && !this.#isClosed() && !this.#setting.connections.owes(this.#socket);
    const body = isNext ? bodyOf(bytes, this.#patterns) : null;
    if (body === null) {
      this.#pass(bytes);
      return;
    }
    this.#busy = true;
    this.#setting.tick.add(() => this.#serve(bytes, body));
  };

  /** Serves the request that these bytes repeat, whose body begins at `from`, or leaves it to the parser. */
  #serve(bytes: Buffer, from: number): void {
    const body = bytes.subarray(from);
    if (this.#socket.destroyed) return;
    for (const pattern of this.#isClosed() ? [] : this.#patterns) {
      const run = bodyAt(bytes, pattern) === from ? pattern.serve(body) : null;
      if (run === null) continue;
      this.#answer(pattern.repeated, run);
      return;
    }
    this.#busy = false;
    this.#pass(bytes);
    this.#goOn();
  }

  #answer(repeated: RepeatedRequest, run: (repeat: Repeat) => Promise<void>): void {
    const repeat = new Repeat(repeated, this.#socket, this.#written);
    const { connections, begun } = this.#setting;
    this.#current = repeat;
    connections.owe(this.#socket, repeat);
    begun(repeat);
    this.#strange = 0;
    void run(repeat);
    repeat.on("close", () => {
      this.#current = null;
      this.#busy = false;
      if (this.#isClosed()) this.#socket.destroySoon();
      if (!this.#socket.destroyed) this.#goOn();
    });
  }

  /** Goes on with what has come meanwhile. */
  #goOn(): void {
    if (this.#held.length === 0) return;
    this.#socket.resume();
    const held = Buffer.concat(this.#held.splice(0));
    this.#take(held);
  }

  /** Leaves bytes to the parser. */
  #pass(bytes: Buffer): void {
    // The parser of a connection that has closed may belong to another one.
    if (this.#socket.destroyed) return;
    this.#given = (this.#given ?? 0) + bytes.length;
    if (++this.#strange > PATIENCE) {
      this.#socket.off("data", this.#take);
      this.#socket.on("data", this.#parse);
    }
    this.#parse(bytes);
  }
}

/** The place at which the body of a request begins whose head is one of these; null where there is none. */
function bodyOf(bytes: Buffer, patterns: readonly RepeatPattern[]): number | null {
  for (const pattern of patterns) {
    const at = bodyAt(bytes, pattern);
    if (at !== null) return at;
  }
  return null;
}

/** The same for one head; null also where the bytes are not those of one whole request. */
function bodyAt(bytes: Buffer, { before, after }: Head): number | null {
  const from = before.length;
  if (bytes.length < from + after.length || before.compare(bytes, 0, from) !== 0) return null;
  let at = from;
  let length = 0;
  for (; at - from < LENGTH_DIGITS && bytes[at] !== CR; at++) {
    const digit = bytes[at] - ZERO;
    if (digit < 0 || digit > 9) return null;
    length = 10 * length + digit;
  }
  const body = at + after.length;
  if (at === from || bytes[from] === ZERO || length > REPEAT_BYTES || bytes.length !== body + length) return null;
  return after.compare(bytes, at, body) === 0 ? body : null;
}

/** The time as HTTP writes it, made once a second. */
class HttpClock {
  #second = Number.NaN;
  #text = "";

  get now(): string {
    const second = Math.floor(Date.now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#text = new Date(1000 * second).toUTCString();
    }
    return this.#text;
  }
}

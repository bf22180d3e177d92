/**
 * `Repeats` serves small requests without the HTTP parser of Node: those whose head equals that of an earlier request
 * of the same connection except for the digits of `Content-Length`.
 */
import type { IncomingMessage, Server } from "node:http";
import { Socket } from "node:net";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Config } from "../../../shared/config.js";
import type { Connections } from "../connections.js";
import type { Tick } from "../event-loop.js";
import { type EndedRequest, outcomeOf } from "../request-facts.js";
import { Repeat, type RepeatedRequest } from "./repeat.js";

/** Most bytes in the body of a repeat. */
export const REPEAT_BYTES = 16 * 1024;
/** Most requests that are remembered of a connection. */
const KEPT = 4;
/** Most bytes that are remembered of the head of a request, and of its body around the points. */
export const KEPT_BYTES = 2048;
/** Buffers that the parser may get with no repeat in between; after one more it gets all that follow. */
const PATIENCE = 16;
/** Digits of the largest `Content-Length` of a repeat. */
const LENGTH_DIGITS = 5;
const CR = 0x0d;
const ZERO = 0x30;

/** Reads the body of a possible repeat and returns what serves it; null, without any effect, for another form. */
export type ServeRepeat = (body: Buffer) => ((repeat: Repeat) => Promise<void>) | null;

/** The parts of a server that its repeats use. */
export interface RepeatSetting {
  readonly connections: Connections;
  readonly tick: Tick;
  /** Time for which an idle connection is kept, as answers tell it to the client. */
  readonly keepAliveMs: number;
  /** Called with each repeat when it begins. */
  begun(repeat: Repeat): void;
}

/**
 * Adds repeats to a server that begins; none are served if the setting says so, nor while the server closes.
 *
 * @param log called with each repeat when it has ended
 */
export function addRepeats(
  app: FastifyInstance,
  { repeats: isOn, limits }: Config,
  tick: Tick,
  log: (ended: EndedRequest) => void,
): Repeats {
  const { connections, server } = app;
  const keepAliveMs = limits["http.keepAliveTimeoutMs"];
  const repeats = new Repeats({ connections, tick, keepAliveMs, begun: (repeat) => observe(repeat, log) });
  if (!isOn) repeats.close();
  repeats.endTimedOut(server);
  app.addHook("preClose", (done) => {
    repeats.close();
    done();
  });
  return repeats;
}

/** Logs a repeat when it has ended: it bypasses the parser and so the hooks of a request. */
function observe(repeat: Repeat, log: (ended: EndedRequest) => void): void {
  const { facts, id, socket, since } = repeat;
  const { client, method, path } = repeat.repeated;
  const sentBefore = socket.bytesWritten;
  repeat.on("close", () =>
    log({
      facts,
      outcome: outcomeOf(facts, repeat.writableFinished, repeat.statusCode),
      id,
      client,
      bytes: socket.bytesWritten - sentBefore,
      method,
      path,
      status: repeat.statusCode,
      ms: performance.now() - since,
    }),
  );
}

/**
 * The repeats of all connections of a server. The parser reads the first request of a connection, and every request
 * whose head is new. A head that it has read and the service has accepted means the same when its bytes come again, so
 * it is only compared.
 */
export class Repeats {
  readonly #setting: RepeatSetting;
  readonly #followed = new WeakMap<Socket, FollowedConnection>();
  readonly #clock = new HttpClock();
  #closed = false;

  constructor(setting: RepeatSetting) {
    this.#setting = setting;
  }

  /** Serves no more repeats: all requests go to the parser from now on. */
  close(): void {
    this.#closed = true;
  }

  /**
   * Ends the connections of a server that time out, except idle ones on which a request has arrived by then, and those
   * with a repeat in progress: its query has a deadline, and `RequestLife` bounds the time in which the client reads
   * the answer.
   */
  endTimedOut(server: Server): void {
    const { connections } = this.#setting;
    server.on("timeout", (socket: Socket) => {
      if (this.#followed.get(socket)?.isBusy) return;
      if (connections.owes(socket)) {
        socket.destroy();
        return;
      }
      // Timers run before arrived data is read: a request that came while the event loop was blocked is still unread.
      const read = socket.bytesRead;
      setImmediate(() => {
        if (socket.bytesRead === read) socket.destroy();
      });
    });
  }

  /**
   * Remembers a request whose answer has been handed to the socket, if it is certain which bytes it consisted of.
   *
   * @param serve reads the bodies of its repeats
   */
  remember(request: FastifyRequest, reply: FastifyReply, serve: ServeRepeat): void {
    const { raw } = request;
    const { socket } = raw;
    if (this.#closed || !(socket instanceof Socket) || !raw.complete) return;
    const known = this.#followed.get(socket);
    // The parser has been given nothing since the last request was remembered.
    if (known !== undefined && !known.isUnsure) return;
    const head = headOf(raw);
    if (head === null) return;
    // Of a connection not followed so far, only the first request is certain: all bytes read are its own.
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
    const serverHeaders = (): string =>
      `Date: ${this.#clock.now}\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`;
    const connection = new FollowedConnection(socket, parse[0], this.#setting, serverHeaders, () => this.#closed);
    connection.learn({ ...head, repeated, serve });
    this.#followed.set(socket, connection);
  }
}

/** The head of a request, without the digits of its `Content-Length`. */
interface Head {
  /** Bytes before the digits, and after them. */
  readonly before: Buffer;
  readonly after: Buffer;
  /** Length of the whole request, body included. */
  readonly bytes: number;
}

/** A remembered request. */
interface RepeatPattern extends Head {
  readonly repeated: RepeatedRequest;
  readonly serve: ServeRepeat;
}

/** Headers that change how a request is framed or answered: a request with one of them is not remembered. */
const SPECIAL = ["transfer-encoding", "expect", "upgrade", "te", "trailer"];

/**
 * Rebuilds the bytes of a head in the form that nearly every client writes; null if the request is not remembered. A
 * head that its client writes otherwise does no harm: its length differs, or its bytes match no later request.
 */
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

/** The headers of an answer that the answer to a repeat has as well, as text. */
function answerHeadOf(reply: FastifyReply): string {
  let text = "";
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (name !== "x-request-id" && name !== "fieldprobe-assumed") text += `${name}: ${value}\r\n`;
  }
  return text;
}

/** A connection whose data is compared with its remembered requests before the parser gets it. */
class FollowedConnection {
  readonly #socket: Socket;
  readonly #setting: RepeatSetting;
  readonly #serverHeaders: () => string;
  readonly #isClosed: () => boolean;
  /** The `data` listener of node:http: its parser. */
  readonly #parse: (bytes: Buffer) => void;
  /** Remembered requests, the newest first. */
  readonly #patterns: RepeatPattern[] = [];
  /**
   * Bytes that the parser was given since it was last known to be between two requests; null while it is. Once two
   * requests have come together, it is never known again.
   */
  #given: number | null = null;
  /** Buffers that the parser was given since the last repeat. */
  #passed = 0;
  /** The repeat that is being served. */
  #current: Repeat | null = null;
  /** Whether a possible repeat waits for its turn or is being served. */
  #busy = false;
  /** Data that came while busy. */
  readonly #held: Buffer[] = [];

  constructor(
    socket: Socket,
    parse: (bytes: Buffer) => void,
    setting: RepeatSetting,
    serverHeaders: () => string,
    isClosed: () => boolean,
  ) {
    this.#socket = socket;
    this.#parse = parse;
    this.#setting = setting;
    this.#serverHeaders = serverHeaders;
    this.#isClosed = isClosed;
    socket.off("data", parse);
    socket.on("data", this.#take);
    socket.once("close", () => this.#current?.emit("close"));
  }

  get isBusy(): boolean {
    return this.#busy;
  }

  /** Whether the parser may be inside a request. */
  get isUnsure(): boolean {
    return this.#given !== null;
  }

  /** Remembers the request that the parser read last, if that is all it was given: it is then between requests. */
  learn(pattern: RepeatPattern): void {
    if (this.#given !== null && this.#given !== pattern.bytes) return;
    this.#given = null;
    if (this.#patterns.unshift(pattern) > KEPT) this.#patterns.pop();
  }

  /** Takes data from the socket: keeps it while busy, serves a possible repeat, gives all else to the parser. */
  readonly #take = (bytes: Buffer): void => {
    if (this.#busy) {
      this.#held.push(bytes);
      this.#socket.pause();
      return;
    }
    const isNext = this.#given === null && !this.#isClosed() && !this.#setting.connections.owes(this.#socket);
    const from = isNext ? bodyStart(bytes, this.#patterns) : null;
    if (from === null) {
      this.#pass(bytes);
      return;
    }
    this.#busy = true;
    this.#setting.tick.add(() => this.#serve(bytes, from));
  };

  /** Serves a possible repeat whose body begins at `from`; the parser gets it if the body has another form. */
  #serve(bytes: Buffer, from: number): void {
    const body = bytes.subarray(from);
    if (this.#socket.destroyed) return;
    for (const pattern of this.#isClosed() ? [] : this.#patterns) {
      const run = bodyStartAfter(bytes, pattern) === from ? pattern.serve(body) : null;
      if (run === null) continue;
      this.#answer(pattern.repeated, run);
      return;
    }
    this.#busy = false;
    this.#pass(bytes);
    this.#goOn();
  }

  /** Runs a repeat, and continues with the connection once its answer has been sent. */
  #answer(repeated: RepeatedRequest, run: (repeat: Repeat) => Promise<void>): void {
    const repeat = new Repeat(repeated, this.#socket, this.#serverHeaders);
    const { connections, begun } = this.#setting;
    this.#current = repeat;
    connections.owe(this.#socket, repeat);
    begun(repeat);
    this.#passed = 0;
    void run(repeat);
    repeat.on("close", () => {
      this.#current = null;
      this.#busy = false;
      if (this.#isClosed()) this.#socket.destroySoon();
      if (!this.#socket.destroyed) this.#goOn();
    });
  }

  /** Continues with the data that came while busy. */
  #goOn(): void {
    if (this.#held.length === 0) return;
    this.#socket.resume();
    const held = Buffer.concat(this.#held.splice(0));
    this.#take(held);
  }

  /** Gives data to the parser. */
  #pass(bytes: Buffer): void {
    // Node reuses the parser of a closed connection for another one.
    if (this.#socket.destroyed) return;
    this.#given = (this.#given ?? 0) + bytes.length;
    if (++this.#passed > PATIENCE) {
      this.#socket.off("data", this.#take);
      this.#socket.on("data", this.#parse);
    }
    this.#parse(bytes);
  }
}

/** Finds where the body begins in `bytes`, if they are one whole request with one of these heads; else null. */
function bodyStart(bytes: Buffer, patterns: readonly RepeatPattern[]): number | null {
  for (const pattern of patterns) {
    const at = bodyStartAfter(bytes, pattern);
    if (at !== null) return at;
  }
  return null;
}

/** The same for one head, whose `Content-Length` may be another one. */
function bodyStartAfter(bytes: Buffer, { before, after }: Head): number | null {
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

/** The time as HTTP writes it; the text is made once a second. */
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

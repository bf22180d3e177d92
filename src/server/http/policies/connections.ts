/**
 * Open connections: counts pending answers, starts the requests of a connection one after another, holds refusals back
 * until answers are sent, and ends connections.
 */
import { type IncomingMessage, Server as PlainServer, type RequestListener, type ServerOptions } from "node:http";
import { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import type { SecureContextOptions, TlsOptions } from "node:tls";
import { EventStreams } from "./event-streams.js";
import { Sender, type SenderLimits } from "./sender.js";
import { TimeSlices } from "./time-slices.js";

/** Time for the first request of a new connection before it may be ended for others. */
const SILENT_MS = 1_000;
/** Fraction of the connections that may be open without a first request. */
const SILENT_PART = 1 / 2;
/** Fraction above which new connections get no time for their first request, and others are ended for them. */
const CROWDED_PART = 3 / 4;
const LOOK_MS = 1_000;
/** Senders that exceed the least rate by this factor are not ended for others. */
const GOOD_RATE = 16;
const NO_LEAST: SenderLimits = { bytesPerSecond: 0, graceMs: 0 };
/** Unanswered requests above which no more is read from a connection. */
const MAX_PENDING = 128;

export interface PendingAnswer {
  readonly req: {
    readonly socket: Socket;
    readonly complete: boolean;
    /** Bytes of the body that have arrived and were not read. */
    readonly readableLength?: number;
    isPaused?(): boolean;
  };
  readonly socket: Socket | null;
  readonly headersSent: boolean;
  once(event: "close", listener: () => void): unknown;
  emit(event: "close"): boolean;
  destroy(): unknown;
}

interface Connection {
  readonly pending: PendingAnswer[];
  readonly waiting: Map<PendingAnswer, () => void>;
  /** A refusal that waits until every request that has arrived whole is answered. */
  afterwards: (() => void) | null;
  readonly sender: Sender;
  /** Bytes that had arrived at the end of the last answer, or at the last look. */
  seen: number;
}

export class Connections {
  /** With TLS, the TCP sockets below the TLS sockets. */
  readonly #accepted = new Set<Socket>();
  readonly #open = new Map<Socket, Connection>();
  /** Connections without a first request, oldest first, by the caller's address, which TLS and TCP sockets share. */
  readonly #silent = new Map<string, { readonly socket: Socket; readonly since: number }>();
  #unanswered = 0;
  #looks: NodeJS.Timeout | undefined;
  #over = false;
  #drained: (() => void) | null = null;
  readonly #slices: TimeSlices;
  readonly #senderLimits: SenderLimits;
  readonly streams = new EventStreams();

  constructor(slices = new TimeSlices(() => null), senders = NO_LEAST) {
    this.#slices = slices;
    this.#senderLimits = senders;
  }

  get unanswered(): number {
    return this.#unanswered;
  }

  /** Records connections and requests before they are answered. `most`: largest number of connections. */
  watch(server: PlainServer | TlsServer, most: number): void {
    this.#looks = setInterval(() => this.#look(server, most), LOOK_MS).unref();
    server.on("connection", (socket: Socket) => {
      if (this.#over) socket.destroy();
      this.#slices.accepting.accepted();
      const caller = callerOf(socket);
      this.#accepted.add(socket);
      this.#silent.set(caller, { socket, since: performance.now() });
      socket.once("close", () => {
        this.#accepted.delete(socket);
        if (this.#silent.get(caller)?.socket === socket) this.#silent.delete(caller);
      });
      if (!this.#endSilent(server, most) && this.#isCrowded(most)) this.#endLeast(server);
    });
    server.prependListener("request", ({ socket }: IncomingMessage, answer: PendingAnswer) => this.add(socket, answer));
  }

  /** Stops the timers: a server whose port is taken never closes by itself. */
  stop(): void {
    clearInterval(this.#looks);
  }

  hasPending(socket: Socket): boolean {
    return (this.#open.get(socket)?.pending.length ?? 0) > 0;
  }

  /** Whether anything has arrived since the last answer or look: the beginning of another request. */
  hasNext(socket: Socket): boolean {
    const connection = this.#open.get(socket);
    if (connection === undefined || socket.bytesRead === connection.seen) return false;
    connection.seen = socket.bytesRead;
    return true;
  }

  /** Calls `act` once every request that has arrived whole is answered. While one waits, further ones are dropped. */
  afterAnswers(socket: Socket, act: () => void): void {
    const connection = this.#open.get(socket);
    if (connection && hasWhole(connection)) connection.afterwards ??= act;
    else act();
  }

  hasBegun(socket: Socket): boolean {
    return this.#open.get(socket)?.pending.some((answer) => answer.headersSent) ?? false;
  }

  /**
   * Begins a request once all earlier ones of its connection are answered, in a separate turn: Node hands over a
   * thousand requests of one buffer in one turn.
   */
  begin(answer: PendingAnswer, act: () => void): void {
    const connection = this.#open.get(answer.req.socket);
    if (connection?.pending[0] === answer) act();
    else if (connection?.pending.includes(answer)) connection.waiting.set(answer, act);
  }

  closeIdle(): void {
    for (const [socket, { pending }] of this.#open) if (pending.length === 0) socket.destroy();
  }

  /**
   * Waits until all connections that have had a request are closed; destroys those left after `withinMs`, and all that
   * have had none. @returns false when an answer was cut off
   */
  drain(withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#over = true;
        resolve(this.#unanswered === 0);
        for (const socket of this.#accepted) socket.destroy();
      };
      const timer = setTimeout(end, withinMs);
      this.#drained = end;
      if (this.#open.size === 0) end();
    });
  }

  know(socket: Socket): void {
    const connection = this.#open.get(socket);
    if (connection !== undefined) connection.sender.isKnown = true;
  }

  #look(server: PlainServer | TlsServer, most: number): void {
    const now = performance.now();
    for (const [socket, { pending, sender }] of this.#open) {
      const last = pending.at(-1);
      if (last === undefined || last.req.complete) continue;
      sender.look(isRead(socket, last), now);
      if (sender.isTooSlow(socket.bytesRead, this.#senderLimits)) refuseSlow(server, socket);
    }
    for (let left = this.#accepted.size - most * CROWDED_PART; left > 0; left--) if (!this.#endLeast(server)) return;
  }

  #isCrowded(most: number): boolean {
    return this.#accepted.size > most * CROWDED_PART;
  }

  /** Ends one connection for others: the oldest event stream, else the slowest sender, else the oldest idle one. */
  #endLeast(server: PlainServer | TlsServer): boolean {
    if (this.streams.endOldest()) return true;
    let idle: Socket | null = null;
    let slowest: Socket | null = null;
    let lowest = GOOD_RATE * this.#senderLimits.bytesPerSecond;
    const now = performance.now();
    for (const [socket, { pending, sender }] of this.#open) {
      // Connections that are being ended still count until they are closed.
      if (socket.destroyed || socket.writableEnded) continue;
      const [only] = pending;
      if (only === undefined) idle ??= socket;
      if (only === undefined || pending.length > 1 || only.req.complete) continue;
      sender.look(isRead(socket, only), now);
      if (sender.ms < SILENT_MS * sender.part) continue;
      const rate = sender.rate(socket.bytesRead);
      if (rate < lowest) [slowest, lowest] = [socket, rate];
    }
    if (slowest === null && idle !== null && this.hasNext(idle)) slowest = idle;
    if (slowest !== null) refuseSlow(server, slowest);
    else idle?.destroy();
    return (slowest ?? idle) !== null;
  }

  /** Ends the oldest connection without a first request, if there are too many such connections. */
  #endSilent(server: PlainServer | TlsServer, most: number): boolean {
    const [oldest] = this.#silent;
    if (oldest === undefined || this.#silent.size <= most * SILENT_PART) return false;
    const [caller, { socket, since }] = oldest;
    // On a busy machine a caller needs some time between connecting and its request.
    if (!this.#isCrowded(most) && performance.now() - since < SILENT_MS) return false;
    this.#silent.delete(caller);
    // Below TLS no answer can be written.
    if (socket.bytesRead > 0 && server instanceof PlainServer) refuseSlow(server, socket);
    else socket.destroy();
    return true;
  }

  add(socket: Socket, answer: PendingAnswer): void {
    let connection = this.#open.get(socket);
    if (connection === undefined) {
      connection = { pending: [], waiting: new Map(), afterwards: null, sender: new Sender(), seen: 0 };
      this.#open.set(socket, connection);
      this.#silent.delete(callerOf(socket));
      socket.once("close", () => this.#forget(socket));
    }
    const { pending, sender } = connection;
    sender.begin(socket.bytesRead, performance.now());
    if (pending.push(answer) > MAX_PENDING) socket.pause();
    this.#unanswered++;
    answer.once("close", () => this.#answered(socket, connection, answer));
  }

  #answered(socket: Socket, connection: Connection, answer: PendingAnswer): void {
    const { pending, waiting } = connection;
    const at = pending.indexOf(answer);
    if (at < 0) return;
    pending.splice(at, 1);
    this.#unanswered--;
    connection.seen = socket.bytesRead;
    waiting.delete(answer);
    const [next] = pending;
    const act = next === undefined ? undefined : waiting.get(next);
    if (next !== undefined && act !== undefined) {
      waiting.delete(next);
      void this.#slices.turn().then(() => {
        if (pending[0] === next) act();
      });
    }
    if (pending.length === 1 && socket.isPaused() && !socket.destroyed) socket.resume();
    if (connection.afterwards && !hasWhole(connection)) connection.afterwards();
  }

  #forget(socket: Socket): void {
    const { pending, waiting } = this.#open.get(socket) as Connection;
    closeUnsent([...pending]);
    waiting.clear();
    this.#unanswered -= pending.length;
    pending.length = 0;
    this.#open.delete(socket);
    if (this.#open.size === 0) this.#drained?.();
  }
}

/** Whether the service reads what arrives; a request whose body was given up has no socket. */
function isRead(socket: Socket, { req }: PendingAnswer): boolean {
  return req.isPaused?.() !== true && !req.readableLength && !socket.isPaused();
}

function refuseSlow(server: PlainServer | TlsServer, socket: Socket): void {
  const error = Object.assign(new Error("the request is sent too slowly"), { code: "ERR_HTTP_REQUEST_TIMEOUT" });
  server.emit("clientError", error, socket);
}

function callerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function hasWhole({ pending }: Connection): boolean {
  return pending.some((answer) => answer.req.complete);
}

/** Closes answers that have no socket yet: Node closes only the one that is being sent. */
function closeUnsent(pending: readonly PendingAnswer[]): void {
  for (const answer of pending) {
    if (answer.socket !== null) continue;
    answer.destroy();
    answer.emit("close");
  }
}

/**
 * Makes a server; with `tls`, of HTTPS. `listener` gets the requests of a connection one by one. When it closes,
 * `connections` decides which are idle: Node would also end those whose answer is accepted but not sent yet.
 */
export function createServer(
  options: ServerOptions,
  tls: (SecureContextOptions & TlsOptions) | null,
  connections: Connections,
  listener?: RequestListener,
  most = Number.POSITIVE_INFINITY,
): PlainServer | TlsServer {
  const inTurn: RequestListener | undefined =
    listener && ((request, response) => connections.begin(response, () => listener(request, response)));
  const server = tls === null ? new PlainServer(options, inTurn) : new TlsServer({ ...options, ...tls }, inTurn);
  server.closeIdleConnections = () => connections.closeIdle();
  connections.watch(server, most);
  return server;
}

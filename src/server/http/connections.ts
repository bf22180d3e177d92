/**
 * `Connections` knows the answers that each connection owes: it counts them, orders refusals behind them and ends the
 * connections.
 */
import { type IncomingMessage, Server as PlainServer, type RequestListener, type ServerOptions } from "node:http";
import { Server as TlsServer } from "node:https";
import type { Socket } from "node:net";
import type { SecureContextOptions, TlsOptions } from "node:tls";

/** Time that a new connection has for its first request before it may be ended for others. */
const SILENT_MS = 1_000;
/** Parts of the connections that may stay without a request, and from which on no time is given for the first. */
const SILENT_PART = 1 / 2;
const CROWDED_PART = 3 / 4;

/** An answer that is due: that of the server, or one that is made beside it. */
export interface OwedAnswer {
  readonly req: { readonly socket: Socket; readonly complete: boolean };
  /** Null while another answer has the connection. */
  readonly socket: Socket | null;
  readonly headersSent: boolean;
  once(event: "close", listener: () => void): unknown;
  emit(event: "close"): boolean;
  destroy(): unknown;
}

/** An open connection by which requests came. */
interface Connection {
  /** Answers in the order of their requests. */
  readonly owed: Set<OwedAnswer>;
  /** Requests that wait until those before them are answered. */
  readonly waiting: Map<OwedAnswer, () => void>;
  /** Work that waits until no whole request is unanswered. */
  afterwards: (() => void) | null;
}

/** The connections of one server. */
export class Connections {
  /** As accepted: with TLS what lies under the sockets that requests come by, from before keys are agreed on. */
  readonly #accepted = new Set<Socket>();
  readonly #open = new Map<Socket, Connection>();
  /**
   * Connections by which nothing has been asked yet, and the times of their beginning, oldest first; by the address of
   * the caller, which both layers of TLS know.
   */
  readonly #silent = new Map<string, { readonly socket: Socket; readonly since: number }>();
  #unanswered = 0;
  #over = false;
  #drained: (() => void) | null = null;

  /** Requests whose answers have not been sent to the end. */
  get unanswered(): number {
    return this.#unanswered;
  }

  /**
   * Follows a server from now on; listens before those who answer its requests.
   *
   * @param most connections that there may be; where many stay without a request, the oldest of those is ended for a
   *   new one
   */
  watch(server: PlainServer | TlsServer, most: number): void {
    server.on("connection", (socket: Socket) => {
      if (this.#over) socket.destroy();
      const caller = callerOf(socket);
      this.#accepted.add(socket);
      this.#silent.set(caller, { socket, since: performance.now() });
      socket.once("close", () => {
        this.#accepted.delete(socket);
        if (this.#silent.get(caller)?.socket === socket) this.#silent.delete(caller);
      });
      this.#endSilent(most);
    });
    server.prependListener("request", ({ socket }: IncomingMessage, answer: OwedAnswer) => this.owe(socket, answer));
  }

  /** Whether the connection has requests that are not answered. */
  owes(socket: Socket): boolean {
    return (this.#open.get(socket)?.owed.size ?? 0) > 0;
  }

  /**
   * Calls back, maybe at once, when every request that has arrived whole on this connection is answered; the first
   * caller only.
   */
  afterAnswers(socket: Socket, act: () => void): void {
    const connection = this.#open.get(socket);
    if (connection && owesWhole(connection)) connection.afterwards ??= act;
    else act();
  }

  /** Whether an answer to a request that is still arriving is on its way. */
  hasBegun(socket: Socket): boolean {
    return [...(this.#open.get(socket)?.owed ?? [])].some((answer) => answer.headersSent);
  }

  /** Resolves when every earlier request of its connection has been answered; null where none is unanswered. */
  turn(answer: OwedAnswer): Promise<void> | null {
    const connection = this.#open.get(answer.req.socket);
    if (connection === undefined || connection.owed.values().next().value === answer) return null;
    return new Promise((resolve) => connection.waiting.set(answer, resolve));
  }

  /** Ends the connections that owe nothing. */
  closeIdle(): void {
    for (const [socket, { owed }] of this.#open) if (owed.size === 0) socket.destroy();
  }

  /**
   * Waits, when the server is closed, until the connections have ended; cuts off those left after so many milliseconds.
   *
   * @returns false when an answer was cut off
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

  /** Ends the oldest of the connections that say nothing, if there are too many. */
  #endSilent(most: number): void {
    const [oldest] = this.#silent;
    if (oldest === undefined || this.#silent.size <= most * SILENT_PART) return;
    const [caller, { socket, since }] = oldest;
    // A caller on a busy machine connects and needs some time to ask.
    if (this.#accepted.size <= most * CROWDED_PART && performance.now() - since < SILENT_MS) return;
    this.#silent.delete(caller);
    socket.destroy();
  }

  /** Takes note of a request and the answer to it, until that closes. */
  owe(socket: Socket, answer: OwedAnswer): void {
    let connection = this.#open.get(socket);
    if (connection === undefined) {
      connection = { owed: new Set(), waiting: new Map(), afterwards: null };
      this.#open.set(socket, connection);
      this.#silent.delete(callerOf(socket));
      socket.once("close", () => this.#forget(socket));
    }
    const { owed } = connection;
    owed.add(answer);
    this.#unanswered++;
    answer.once("close", () => {
      if (!owed.delete(answer)) return;
      this.#unanswered--;
      const next = owed.values().next().value;
      if (next !== undefined) connection.waiting.get(next)?.();
      if (connection.afterwards && !owesWhole(connection)) connection.afterwards();
    });
  }

  /** The connection has broken or ended: those who made its answers are told. */
  #forget(socket: Socket): void {
    const { owed, waiting } = this.#open.get(socket) as Connection;
    tellLeft(owed);
    for (const goOn of waiting.values()) goOn();
    this.#unanswered -= owed.size;
    owed.clear();
    this.#open.delete(socket);
    if (this.#open.size === 0) this.#drained?.();
  }
}

/** Address and port of whoever opened a connection. */
function callerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function owesWhole({ owed }: Connection): boolean {
  for (const answer of owed) if (answer.req.complete) return true;
  return false;
}

/**
 * Node tells only the answer at the head of a connection that its caller has left; those behind it have no socket yet.
 */
function tellLeft(owed: ReadonlySet<OwedAnswer>): void {
  for (const answer of owed) {
    if (answer.socket !== null) continue;
    answer.destroy();
    answer.emit("close");
  }
}

/**
 * Makes a server of HTTP, or of HTTPS where `tls` is given. When it closes it ends idle connections by its ledger: Node
 * takes a connection for idle as well whose answer has been handed over but waits for its reader.
 */
export function createServer(
  options: ServerOptions,
  tls: (SecureContextOptions & TlsOptions) | null,
  connections: Connections,
  listener?: RequestListener,
  most = Number.POSITIVE_INFINITY,
): PlainServer | TlsServer {
  const server =
    tls === null
      ? new (class extends PlainServer {
          override closeIdleConnections(): void {
            connections.closeIdle();
          }
        })(options, listener)
      : new (class extends TlsServer {
          override closeIdleConnections(): void {
            connections.closeIdle();
          }
        })({ ...options, ...tls }, listener);
  connections.watch(server, most);
  return server;
}

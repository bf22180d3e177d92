/** Requests of an HTTP server that have not been answered to the end, and how its connections end. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

export interface InFlight {
  /** Requests whose answers have not been sent to the end. */
  readonly count: number;
  /**
   * Waits, when the server is closed, until the connections have ended; cuts off those left after so many milliseconds.
   * False when an answer was cut off.
   */
  drain(withinMs: number): Promise<boolean>;
}

/**
 * Counts from now on, and lets `server.close` end idle connections only. Node takes a connection for idle as well whose
 * answer has been handed over but waits for its reader.
 */
export function watchRequests(server: Server): InFlight {
  /** As accepted: with TLS what lies under the sockets that requests come by, from before keys are agreed on. */
  const accepted = new Set<Socket>();
  /** Open sockets that requests came by, and the answers each of them owes. */
  const owed = new Map<Socket, number>();
  let count = 0;
  let over = false;
  let ended = (): void => undefined;
  const owe = (socket: Socket, more: number): void => {
    const answers = owed.get(socket);
    if (answers === undefined) return;
    count += more;
    owed.set(socket, answers + more);
  };
  const forget = (socket: Socket): void => {
    count -= owed.get(socket) ?? 0;
    owed.delete(socket);
    if (owed.size === 0) ended();
  };
  server.on("connection", (socket: Socket) => {
    if (over) socket.destroy();
    accepted.add(socket);
    socket.once("close", () => accepted.delete(socket));
  });
  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (!owed.has(socket)) {
      owed.set(socket, 0);
      socket.once("close", () => forget(socket));
    }
    owe(socket, 1);
    response.once("close", () => owe(socket, -1));
  });
  server.closeIdleConnections = () => {
    for (const [socket, answers] of owed) if (answers === 0) socket.destroy();
  };
  return {
    get count() {
      return count;
    },
    drain(withinMs) {
      return new Promise((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          over = true;
          resolve(count === 0);
          for (const socket of accepted) socket.destroy();
        };
        const timer = setTimeout(end, withinMs);
        ended = end;
        if (owed.size === 0) end();
      });
    },
  };
}

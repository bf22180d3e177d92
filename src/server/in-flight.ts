/** Requests of an HTTP server that have not been answered to the end. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";

export interface InFlight {
  /** Settles when there are none: true, or false after so many milliseconds. */
  none(withinMs: number): Promise<boolean>;
}

/** Counts from now on. */
export function watchRequests(server: Server): InFlight {
  let open = 0;
  let idle = (): void => undefined;
  server.on("request", (_request: IncomingMessage, response: ServerResponse) => {
    open++;
    response.once("close", () => {
      if (--open === 0) idle();
    });
  });
  return {
    none(withinMs) {
      if (open === 0) return Promise.resolve(true);
      return new Promise((resolve) => {
        const timer = setTimeout(() => resolve(false), withinMs);
        idle = () => {
          clearTimeout(timer);
          resolve(true);
        };
      });
    },
  };
}

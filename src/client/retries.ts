/**
 * Repeats a request while the service is too busy to answer it, or after its connection broke. No operation changes
 * anything, so each may be sent again.
 */
import { setTimeout as wait } from "node:timers/promises";
import { ClientError } from "./error.js";

/** Attempts after the first one. */
const RETRIES = 5;
/** Milliseconds before each attempt after a broken connection: at once, as a kept connection may only have been old. */
const PAUSES_MS = [0, 200, 500, 1000, 2000] as const;
/** Codes of connections that broke after they were made; those that say there is no service are not among them. */
const BROKEN =
  /ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|UND_ERR_SOCKET|socket hang up|aborted|terminated|other side closed/;
const REFUSED = /ECONNREFUSED/;

/** Whether a connection broke after it had been made; if the service was there before, it may be starting again. */
function isBroken({ code, message }: ClientError, wasThere: boolean): boolean {
  return code === "Network" && (BROKEN.test(message) || (wasThere && REFUSED.test(message)));
}

/** Milliseconds until an error allows another attempt; null if it allows none. */
function pauseAfter(error: unknown, attempt: number, wasThere: boolean): number | null {
  if (!(error instanceof ClientError) || attempt === RETRIES) return null;
  if (["Busy", "RateLimited"].includes(error.code)) return 1000 * (error.detail.retryAfter ?? 1);
  return isBroken(error, wasThere) ? (PAUSES_MS[attempt] ?? 0) : null;
}

/**
 * Sends a request, and sends it again if the service is busy or the rate of the token is used up, after the time
 * that the service names, or if its connection breaks.
 *
 * @param wasThere whether the service has answered before, so that it may come back if it refuses connections
 * @throws the error of the last attempt, which says how many there were, or the reason of the signal when it ends a
 *   wait
 */
export async function untilAnswered<T>(send: () => Promise<T>, signal: AbortSignal, wasThere = true): Promise<T> {
  const begun = performance.now();
  for (let attempt = 0; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      const pause = signal.aborted ? null : pauseAfter(error, attempt, wasThere);
      if (pause === null) throw attempt === 0 ? error : counted(error, attempt + 1, performance.now() - begun);
      await wait(pause, undefined, { signal }).catch(() => {
        throw signal.reason;
      });
    }
  }
}

/** A failed connection with the number of attempts in its message. */
function counted(error: unknown, attempts: number, ms: number): unknown {
  if (!(error instanceof ClientError) || error.code !== "Network") return error;
  const message = `${error.message} (${attempts} attempts in ${(ms / 1000).toFixed(1)} s)`;
  return new ClientError("Network", message, error.detail);
}

/** Turns what `fetch` throws into a ClientError that says why; the reason is in its cause. */
export function fetchFailure(base: string, error: unknown): ClientError {
  const { message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  const why = cause === undefined ? message : [cause.code, cause.message].filter(Boolean).join(": ");
  return new ClientError("Network", `${base}: ${why}`);
}

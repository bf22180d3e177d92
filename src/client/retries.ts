/** Repeats a request while the service is too busy to answer it, or after its connection broke. */
import { setTimeout as wait } from "node:timers/promises";
import { ClientError } from "./error.js";

const RETRIES = 5;
/** Milliseconds before each attempt after a broken connection: at once, as a kept connection may only have been old. */
const PAUSES_MS = [0, 200, 500, 1000, 2000] as const;
/** Codes of connections that broke after they were made, not codes that mean that there is no service. */
const BROKEN =
  /ECONNRESET|ECONNABORTED|EPIPE|ETIMEDOUT|UND_ERR_SOCKET|socket hang up|aborted|terminated|other side closed/;
const REFUSED = /ECONNREFUSED/;

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
 * Sends a request, and again if the service is busy, the rate of the token is used up, or the connection breaks. @param
 * wasThere whether the service has answered before, so that it may come back if it refuses connections @throws the
 * error of the last attempt with their number, or the reason of the signal
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

function counted(error: unknown, attempts: number, ms: number): unknown {
  if (!(error instanceof ClientError) || error.code !== "Network") return error;
  const message = `${error.message} (${attempts} attempts in ${(ms / 1000).toFixed(1)} s)`;
  return new ClientError("Network", message, error.detail);
}

/** Repeats a request while the service is too busy to answer it. */
import { setTimeout as wait } from "node:timers/promises";
import { ClientError } from "./error.js";

/** Attempts after the first one. */
const RETRIES = 5;

/**
 * Sends a request, and sends it again if the service is busy or the rate of the token is used up, after the time
 * that the service names.
 *
 * @throws the error of the last attempt, or the reason of the signal when it ends a wait
 */
export async function whileBusy<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      const again = error instanceof ClientError && ["Busy", "RateLimited"].includes(error.code);
      if (!again || attempt === RETRIES) throw error;
      await wait(1000 * (error.detail.retryAfter ?? 1), undefined, { signal }).catch(() => {
        throw signal.reason;
      });
    }
  }
}

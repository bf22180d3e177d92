/** Cuts a long list of points into parts that a service accepts, sends several at once, and adapts to its limits. */
import { ClientError } from "./error.js";

/** Answers the points `first .. first + count - 1`. */
export type AnswerRange = (first: number, count: number, signal: AbortSignal) => Promise<void>;

/** Limits that a request with fewer points may meet. */
const SIZE_LIMIT = /^(query\.|token\.points$|http\.bodyBytes$)/;

function exceeds(error: unknown, limit: RegExp): boolean {
  return error instanceof ClientError && error.code === "LimitExceeded" && limit.test(error.limit ?? "");
}

/**
 * Runs `part` over `total` points, at most `size` at a time and `lanes` parts at once; without points, it runs one
 * empty part. A part that the service refuses as too large is halved, and so are all that follow, down to single
 * points. If the service refuses this many simultaneous requests, fewer are sent.
 *
 * Rejects with the first error, after which no further part is begun and those under way are aborted.
 */
export async function inParts(
  total: number,
  size: number,
  lanes: number,
  part: AnswerRange,
  signal?: AbortSignal,
  onProgress?: (done: number, total: number) => void,
): Promise<void> {
  signal?.throwIfAborted();
  const failed = new AbortController();
  const stop = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
  /** Parts that were refused and will be sent again, smaller or later. */
  const again: (readonly [first: number, count: number])[] = [];
  let next = 0;
  let done = 0;
  let largest = size;
  let open = 0;

  const take = (): readonly [number, number] | undefined => {
    const refused = again.pop();
    if (refused || next >= total) return refused;
    const first = next;
    next = Math.min(total, first + largest);
    return [first, next - first];
  };
  /** Answers parts until none is left; if there are too many lanes, it ends early and leaves its part to the others. */
  const lane = async (): Promise<void> => {
    open++;
    for (let range = take(); range; range = take()) {
      stop.throwIfAborted();
      const [first, count] = range;
      try {
        await part(first, count, stop);
      } catch (error) {
        if (exceeds(error, SIZE_LIMIT) && count > 1) {
          const half = Math.ceil(count / 2);
          largest = Math.min(largest, half);
          again.push([first + half, count - half], [first, half]);
          continue;
        }
        if (!exceeds(error, /^token\.concurrent$/) || open === 1) throw error;
        again.push(range);
        break;
      }
      done += count;
      onProgress?.(done, total);
    }
    open--;
  };

  if (total === 0) return part(0, 0, stop);
  try {
    await Promise.all(Array.from({ length: lanes }, lane));
  } catch (error) {
    failed.abort(error);
    if (!(error instanceof ClientError) || error.code !== "Network" || done === 0) throw error;
    throw new ClientError("Network", `${error.message} after ${done} of ${total} points`, error.detail);
  }
}

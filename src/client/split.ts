/** Cuts a long list of points into parts that a service takes, several under way at once, and follows its limits. */
import { ClientError } from "./error.js";

/** Answers the points `first .. first + count - 1`. */
export type Part = (first: number, count: number, signal: AbortSignal) => Promise<void>;

/** Limits that a request with fewer points may pass. */
const SIZE_LIMIT = /^(query\.|token\.|http\.bodyBytes$)/;

function tooLarge(error: unknown): boolean {
  return error instanceof ClientError && error.code === "LimitExceeded" && SIZE_LIMIT.test(error.limit ?? "");
}

/**
 * Runs `part` over `total` points, at most `size` at a time and `lanes` parts at once; one empty part when there are none.
 * A part that the service refuses as too large is halved, and so are all that follow, down to single points.
 *
 * Rejects with the first error, after which no further part is begun and those under way are aborted.
 */
export async function inParts(
  total: number,
  size: number,
  lanes: number,
  part: Part,
  signal?: AbortSignal,
  onProgress?: (done: number, total: number) => void,
): Promise<void> {
  signal?.throwIfAborted();
  const failed = new AbortController();
  const stop = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
  let next = 0;
  let done = 0;
  let largest = size;

  const answer = async (first: number, count: number): Promise<void> => {
    try {
      await part(first, count, stop);
    } catch (error) {
      if (!tooLarge(error) || count < 2) throw error;
      const half = Math.ceil(count / 2);
      largest = Math.min(largest, half);
      await answer(first, half);
      return answer(first + half, count - half);
    }
    done += count;
    onProgress?.(done, total);
  };
  const lane = async (): Promise<void> => {
    while (next < total) {
      const first = next;
      const count = Math.min(largest, total - first);
      next += count;
      await answer(first, count);
    }
  };

  if (total === 0) return answer(0, 0);
  try {
    await Promise.all(Array.from({ length: lanes }, lane));
  } catch (error) {
    failed.abort(error);
    throw error;
  }
}

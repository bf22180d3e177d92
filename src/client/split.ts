/** Cuts a long list of points into parts that a service accepts, and adapts to its limits. */
import { ClientError } from "./error.js";

export type AnswerRange = (first: number, count: number, signal: AbortSignal) => Promise<void>;

const SIZE_LIMIT = /^(query\.|token\.points$|http\.bodyBytes$)/;

function exceeds(error: unknown, limit: RegExp): boolean {
  return error instanceof ClientError && error.code === "LimitExceeded" && limit.test(error.limit ?? "");
}

/**
 * Runs `part` over `total` points, at most `size` at a time and `lanes` parts at once. A part that is refused as too
 * large is halved, and so are those that follow. If so many simultaneous requests are refused, fewer are sent. Rejects
 * with the first error, which aborts the others.
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
  /** Answers parts until none is left; one lane too many ends and leaves its part to the others. */
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

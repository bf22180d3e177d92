/** Reads the body of a request as a whole. */
import { bodyTooLarge } from "./refusal.js";
import type { RequestLife } from "./request-life.js";

/**
 * Reads the whole body of a request; its bytes count as points in flight. @param instead what to send instead of a
 * longer body @throws HttpRefusal beyond `most` bytes
 */
export async function readWhole(life: RequestLife, most: number, instead?: string): Promise<Buffer> {
  const body = life.openBody();
  try {
    if (body.remaining > most) throw bodyTooLarge(instead);
    const stated = body.remaining > 0 ? body.remaining : most;
    let whole: Buffer = Buffer.alloc(0);
    let bytes = 0;
    for (let part = body.take(); part !== null; part = body.take()) {
      if (part === undefined) {
        await body.arrival();
        continue;
      }
      // A body that comes in one part needs no copy.
      if (part.length === stated) return part;
      if (bytes + part.length > most) throw bodyTooLarge(instead);
      if (bytes + part.length > whole.length) {
        // Allocates for what has come, so that slow senders hold little.
        const longer = await life.lendBytes(Math.min(stated, 4 * (bytes + part.length)));
        whole.copy(longer);
        whole = longer;
      }
      part.copy(whole, bytes);
      bytes += part.length;
    }
    return whole.subarray(0, bytes);
  } finally {
    body.release();
  }
}

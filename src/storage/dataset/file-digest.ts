/** Digest of a file from all or samples of its bytes, by which copies are compared. */

import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { sha256 } from "../../shared/sha256.js";
import type { FileStamp } from "./dataset.js";

const SAMPLE_BYTES = 4096;

/**
 * Of a file: size, bytes (all, or even samples) and, unless all were asked for, second of the last change. Of a store:
 * size and the time of its newest object; of an address: its version.
 * @param samples 2 or more; infinite: all bytes
 * @throws the error of the system
 */
export async function digestStamped(record: FileStamp, samples: number, sampled: () => void): Promise<string> {
  const { path, bytes, modifiedMs, newestMs, version } = record;
  // Peers ask at different times.
  if (version !== undefined) return sha256(version);
  const seconds = (ms: number): number => Math.floor(ms / 1000);
  const isWhole = samples === Number.POSITIVE_INFINITY && newestMs === undefined;
  const hash = createHash("sha256").update(JSON.stringify(isWhole ? [bytes] : [bytes, seconds(modifiedMs)]));
  if (newestMs !== undefined) return hash.update(` ${seconds(newestMs)}`).digest("hex");
  const file = await open(path);
  try {
    const fits = bytes <= samples * SAMPLE_BYTES;
    const count = fits ? Math.ceil(bytes / (64 * SAMPLE_BYTES)) : samples;
    const buffer = Buffer.alloc(fits ? 64 * SAMPLE_BYTES : SAMPLE_BYTES);
    for (let i = 0; i < count; i++) {
      const at = fits ? i * buffer.length : Math.round((i * (bytes - SAMPLE_BYTES)) / (count - 1));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
      hash.update(buffer.subarray(0, bytesRead));
      sampled();
    }
    return hash.digest("hex");
  } finally {
    await file.close();
  }
}

/** Compresses bytes by Zstandard, which Node itself offers from version 22.15 on. */
import type { CompressTask } from "../../text/text-task.js";

export async function compress({ bytes, level }: CompressTask): Promise<Uint8Array> {
  const { default: Zstd } = await import("numcodecs/zstd");
  return Zstd.fromConfig({ id: "zstd", level }).encode(bytes);
}

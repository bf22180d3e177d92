/** What two nodes must agree on to give the same bits: a dataset's name and digest, and the settings that change numbers. */
import { createHash } from "node:crypto";
import type { Dataset } from "../../storage/dataset.js";

/** 64 hexadecimal digits. */
export function generationOf({ name, digest }: Dataset, fd8Legacy: boolean): string {
  return createHash("sha256")
    .update(JSON.stringify([name, digest, fd8Legacy]))
    .digest("hex");
}

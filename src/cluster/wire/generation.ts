/** The generation of a dataset identifies everything that changes an answer: its name, its digest and the numerical settings. */
import { createHash } from "node:crypto";
import type { Dataset } from "../../storage/dataset.js";

/** The generation of a dataset: 64 hexadecimal digits. */
export function generationOf({ name, digest }: Dataset, fd8Legacy: boolean): string {
  return createHash("sha256")
    .update(JSON.stringify([name, digest, fd8Legacy]))
    .digest("hex");
}

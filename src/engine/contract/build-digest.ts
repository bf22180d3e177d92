/**
 * Computes a digest of the code that computes, by which processes and files show whether they come from the same code.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { version } from "../../version.js";

/** The compiled code, also when this file runs from source. */
const BUILT = fileURLToPath(new URL("../..", import.meta.url)).replace(/([\\/])src([\\/])$/, "$1dist$2");
/** Folders of it that values depend on. */
export const COMPUTING: readonly string[] = ["kernels", "analysis", "engine", "storage"];
/** The same, and the bundle that processes run if it is there. */
const RUNNING = [...COMPUTING, "bundle"];

/** The digest of the code that computes: version, platform and every compiled file that values depend on. */
export function digestBuild(rooms: readonly string[] = RUNNING, folder: string = BUILT): string {
  const hash = createHash("sha256").update(JSON.stringify([version, process.version, process.arch]));
  for (const room of rooms) {
    if (!existsSync(join(folder, room))) continue;
    const names = readdirSync(join(folder, room), { recursive: true, encoding: "utf8" });
    for (const name of names.filter((one) => /\.(js|wasm)$/.test(one)).sort())
      hash.update(`${room}/${name}\n`).update(readFileSync(join(folder, room, name)));
  }
  return hash.digest("hex");
}

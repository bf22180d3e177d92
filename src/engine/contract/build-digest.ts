/** Digest of the program, by which processes and files show that they come from the same code. */

import { createHash, type Hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { version } from "../../shared/build.js";
import { sha256 } from "../../shared/sha256.js";

/** The compiled code, also when this file runs from source. */
const BUILT = fileURLToPath(new URL("../..", import.meta.url)).replace(/([\\/])src([\\/])$/, "$1dist$2");
/** Folders whose content affects values. */
export const COMPUTING: readonly string[] = ["kernels", "analysis", "engine", "storage"];
/** The folders above, and the bundle that processes run if there is one. */
const RUNNING = [...COMPUTING, "bundle"];

/** Packages that values pass through on their way from a file. */
const LIBRARIES = ["h5wasm", "h5wasm-plugins", "numcodecs", "zarrita", "fflate", "fft.js"];
const CODE = /\.(c?js|mjs|wasm|so)$/;

/** Digest of all that runs: the code, its libraries, and the lock file of a checkout. */
export function digestProgram(): string {
  const hash = createHash("sha256").update(digestBuild());
  const root = join(BUILT, "..");
  const lock = join(root, "package-lock.json");
  if (existsSync(lock)) hash.update(readFileSync(lock));
  const places = createRequire(join(root, "package.json")).resolve.paths("fieldprobe") ?? [];
  for (const name of LIBRARIES) {
    const found = places.map((place) => join(place, name)).find((place) => existsSync(place));
    if (found !== undefined) addFiles(hash, name, found);
  }
  return hash.digest("hex");
}

function addFiles(hash: Hash, name: string, folder: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  for (const one of names.filter((one) => CODE.test(one)).sort())
    hash.update(`${name}/${one}\n`).update(readFileSync(join(folder, one)));
}

/** The digest of the code that computes: version, platform and every compiled file that values depend on. */
export function digestBuild(rooms: readonly string[] = RUNNING, folder: string = BUILT): string {
  const hash = createHash("sha256").update(JSON.stringify([version, process.version, process.arch]));
  for (const room of rooms) if (existsSync(join(folder, room))) addFiles(hash, room, join(folder, room));
  return hash.digest("hex");
}

export const digestFile = (path: string): string => sha256(readFileSync(path));

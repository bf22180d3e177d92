/** Paths of built files, also for programs that run from source, and the version of the package. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** How a program runs: from source, as in tests, or from the build. */
const RUNS_FROM_SOURCE = import.meta.url.endsWith(".ts");

/**
 * Path of a file that the build makes.
 * @param url of the file, resolved from the `import.meta.url` of the calling module
 * @param fromSource whether that module is in `src`: then the last `/src/` of the path is replaced by `/dist/`
 */
export function builtFile({ href }: URL, fromSource = RUNS_FROM_SOURCE): string {
  const at = fromSource ? href.lastIndexOf("/src/") : -1;
  return fileURLToPath(at < 0 ? href : `${href.slice(0, at)}/dist/${href.slice(at + "/src/".length)}`);
}

/** The version of this package. */
export const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

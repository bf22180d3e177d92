/** Unpacks compressed files that lie beside a test. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

/**
 * Unpacks `fixtures/NAME.gz` beside a test into a folder.
 *
 * @param test `import.meta.url` of the test
 * @returns the path of the file
 */
export function unpackFixture(test: string, name: string, folder: string): string {
  const path = join(folder, name);
  writeFileSync(path, gunzipSync(readFileSync(fileURLToPath(new URL(`fixtures/${name}.gz`, test)))));
  return path;
}

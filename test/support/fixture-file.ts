/** Unpacks compressed files that lie beside a test. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/**
 * Unpacks `fixtures/NAME.gz` beside a test into a folder.
 * @param test `import.meta.url` of the test, or the folder of fixtures @returns the path of the file
 */
export function unpackFixture(test: string | URL, name: string, folder: string): string {
  const path = join(folder, name);
  const packed = test instanceof URL ? new URL(`${name}.gz`, test) : new URL(`fixtures/${name}.gz`, test);
  writeFileSync(path, gunzipSync(readFileSync(packed)));
  return path;
}

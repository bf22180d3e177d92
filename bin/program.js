// Says which build of the program is run: the bundle, or the modules that it was made of where they are newer.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

function changed(file) {
  try {
    return statSync(file).mtimeMs;
  } catch (_) {
    return null;
  }
}

/**
 * The file to run of a folder with a build; null where there is none.
 *
 * The compiler leaves a file `.tsbuildinfo` in each part of the build when it has written there.
 */
export function programIn(dist) {
  const plain = join(dist, "cli", "index.js");
  if (changed(plain) === null) return null;
  const bundle = join(dist, "bundle", "cli.js");
  const bundled = changed(bundle);
  if (bundled === null) return plain;
  const folders = readdirSync(dist, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const stamps = [".tsbuildinfo", ".leaves.tsbuildinfo", ...folders.map(({ name }) => join(name, ".tsbuildinfo"))];
  return stamps.some((stamp) => changed(join(dist, stamp)) > bundled) ? plain : bundle;
}

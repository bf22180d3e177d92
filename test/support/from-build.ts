/**
 * Lets tests import what the build has made of a module of `src` and `tools`: Node loads it by itself, where modules of
 * TypeScript are transformed one by one and call each other through records. Watching and `vitest related` follow the
 * source, and so do files that replace modules.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vitest/config";

/** What Node loads by itself. */
export const BUILT_FILES = /\/dist\/.*\.js$/;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

function builtFrom(path: string): string | null {
  const [, folder = "", rest = ""] = /^(src|tools)\/(.*)\.ts$/.exec(path.slice(ROOT.length)) ?? [];
  const built = `${ROOT}dist/${folder === "tools" ? "tools/" : ""}${rest}.js`;
  return path.startsWith(ROOT) && folder !== "" && existsSync(built) ? built : null;
}

export const FROM_BUILD: Plugin = {
  name: "from-build",
  enforce: "pre",
  async resolveId(source, importer, options) {
    if (importer === undefined || !/^[./#]/.test(source)) return null;
    const found = await this.resolve(source, importer, { ...options, skipSelf: true });
    const built = found === null ? null : builtFrom(found.id);
    return built ?? found;
  },
};

/**
 * `readReferences` reads which files the sources and their tests name: modules that they import, threads that they
 * start, modules in WebAssembly that they load, and the program that they run.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const PROGRAM = "src/cli/index.ts";

export interface Reference {
  /** Paths are relative to the root of the project. */
  readonly from: string;
  /** A file, or a package by its name. */
  readonly to: string;
  /**
   * Whether the file is named as an address (a thread, for example), so that it shares no module with the one that
   * names it.
   */
  readonly entry: boolean;
}

/**
 * `import` and `export` declarations, type imports among them, dynamic imports, and files that are named as addresses.
 */
const REFERENCE =
  /^(?:import|export)\b[^;"]*?\bfrom "([^"]+)"|^import "([^"]+)"|\bimport\("([^"]+)"\)|new URL\("(\.[^"]+\.\w+)", import\.meta\.url\)/gm;

export function sourceFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => name.replaceAll(sep, "/"))
    .toSorted();
}

/** The file of the source that a reference means: what is built comes from a source of the same place. */
function sourceOf(path: string): string {
  const inSource = path.replace(/^dist\/(?=tools\/)/, "").replace(/^dist\//, "src/");
  if (inSource.startsWith("bin/")) return PROGRAM;
  if (inSource.endsWith(".wasm")) return `${posix.dirname(inSource)}/assembly/index.ts`;
  const module = `${inSource.replace(/\.js$|\.ts\?.*$/, "")}.ts`;
  return existsSync(join(ROOT, module)) ? module : inSource;
}

function referencesOf(file: string): Reference[] {
  const text = readFileSync(join(ROOT, file), "utf8");
  return [...text.matchAll(REFERENCE)].flatMap(([, declared, bare, dynamic, named]) => {
    const target = (declared ?? bare ?? dynamic ?? named) as string;
    if (target.startsWith("node:") || target.endsWith(".css")) return [];
    const entry = named !== undefined;
    if (target.startsWith("#")) return [{ from: file, entry, to: sourceOf(target.slice(1)) }];
    if (!target.startsWith(".")) return [{ from: file, entry, to: /^(@[^/]+\/)?[^/]+/.exec(target)?.[0] as string }];
    const path = relative(ROOT, resolve(ROOT, dirname(file), target)).replaceAll(sep, "/");
    return [{ from: file, entry, to: sourceOf(path) }];
  });
}

/** The references of all files of folders, as they are on disk now. */
export function readReferences(folders: readonly string[]): Reference[] {
  return folders.flatMap((folder) => sourceFiles(folder).flatMap((file) => referencesOf(`${folder}/${file}`)));
}

/** Imports between the folders of src point one way; this walks them all and fails on any other arrow. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SRC = fileURLToPath(new URL("../src", import.meta.url));

/** Folder -> folders it may import besides itself and the leaves. `engine` may reach kernels only from the files named below. */
const ALLOWED: Record<string, readonly string[]> = {
  kernels: [],
  float32: [],
  // Only the types of the grid.
  storage: ["kernels/types.ts"],
  generate: ["storage"],
  engine: ["storage", "kernels", "float32"],
  cluster: ["engine", "storage", "kernels"],
  server: ["engine", "storage", "float32"],
  events: ["server/http"],
  client: [],
  cli: ["client", "engine", "cluster", "events", "generate", "server", "storage", "float32", ""],
  web: ["float32"],
  "": ["cluster", "engine", "events", "server", "storage"],
};
const LEAVES = [
  "colour-map.ts",
  "errors.ts",
  "operations.ts",
  "config.ts",
  "quantities.ts",
  "system-error.ts",
  "version.ts",
];

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && !name.includes(`assembly${sep}`))
    .map((name) => join(folder, name));
}

function imports(file: string): string[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map((match) =>
    resolve(dirname(file), (match[1] as string).replace(/\.js$/, ".ts")),
  );
}

describe("architecture", () => {
  it("has only the arrows of the layout", () => {
    const wrong: string[] = [];
    for (const file of sources(SRC)) {
      const from = relative(SRC, file);
      const home = from.includes(sep) ? (from.split(sep)[0] as string) : "";
      for (const target of imports(file)) {
        const to = relative(SRC, target);
        const folder = to.includes(sep) ? (to.split(sep)[0] as string) : "";
        if (folder === home) continue;
        if (folder === "" && LEAVES.includes(to) && home !== "kernels") continue;
        if (!(ALLOWED[home] ?? []).some((room) => room === folder || room === to || to.startsWith(`${room}/`)))
          wrong.push(`${from} -> ${to}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("imports h5wasm, piscina and the NATS client in one place each", () => {
    const importers = (name: string) =>
      sources(SRC)
        .filter((file) => new RegExp(`from "${name}[^"]*"`).test(readFileSync(file, "utf8")))
        .map((file) => relative(SRC, file));
    const folders = new Map([
      ["h5wasm", /^storage[/\\]hdf5[/\\](file|library|writer)\.ts$/],
      ["piscina", /^(engine[/\\]threads[/\\](pool|worker)|events[/\\](upkeep|http[/\\]render-(task|thread)))\.ts$/],
      ["@nats-io/", /^cluster[/\\]/],
    ]);
    for (const [name, place] of folders) {
      for (const file of importers(name))
        expect(`${name} in ${file}`).toMatch(new RegExp(`in ${place.source.slice(1)}`));
    }
  });
});

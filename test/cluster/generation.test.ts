/** A generation changes with code, settings and bytes, and not with the place of a copy. */
import {
  appendFileSync,
  closeSync,
  cpSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { Generations } from "../../src/cluster/generation.js";
import { digestBuild } from "../../src/engine/contract/build-digest.js";
import { openSource } from "../../src/storage/catalog/source.js";
import { loadHdf5 } from "../../src/storage/hdf5/library.js";
import { writeCube } from "../../tools/generate/cube.js";
import { scratchFolder } from "../support/scratch.js";

const BUILD = "b".repeat(64);

describe("generations", () => {
  const folder = scratchFolder();
  const first = join(folder, "first");
  const generationAt = (path: string, build = BUILD, legacy = false): Promise<string> =>
    new Generations(build, legacy).of(openSource(path, 2 ** 26));
  const copy = (name: string): string => {
    cpSync(first, join(folder, name), { recursive: true, preserveTimestamps: true });
    return join(folder, name);
  };

  beforeAll(async () => {
    await loadHdf5();
    mkdirSync(first);
    const cube = { kind: "random", nodes: [16, 16, 16], steps: 2, chunk: [8, 8, 8], filter: "none", seed: 5 } as const;
    await writeCube({ ...cube, name: "cube", folder: first }, () => {});
  });

  it("are equal for copies that keep their times", async () => {
    expect(await generationAt(copy("copy"))).toBe(await generationAt(first));
  });

  it("differ by code, by settings, by one byte and by the time of the last change", async () => {
    const other = copy("other");
    const file = join(other, "cube.h5");
    const { atime, mtime } = statSync(file);
    const bytes = readFileSync(file);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] as number) ^ 1;
    writeFileSync(file, bytes);
    utimesSync(file, atime, mtime);
    const later = copy("later");
    utimesSync(join(later, "cube.h5"), atime, new Date(mtime.getTime() + 5000));
    const found = await Promise.all([
      ...[first, other, later].map((path) => generationAt(path)),
      ...[generationAt(first, "c".repeat(64)), generationAt(first, BUILD, true)],
    ]);
    expect(new Set(found).size).toBe(5);
  });

  it("differ by one byte anywhere in 200 MB, with the size and the times kept", async () => {
    const dataset = openSource(first, 2 ** 26);
    const generationOf = async (name: string, at: number | null): Promise<string> => {
      const path = join(folder, name);
      const file = openSync(path, "w");
      ftruncateSync(file, 201_000_000);
      if (at !== null) writeSync(file, Buffer.of(1), 0, 1, at);
      closeSync(file);
      utimesSync(path, 1000, 1000);
      const { size, mtimeMs, ino } = statSync(path);
      const files = [{ path, bytes: size, modifiedMs: mtimeMs, inode: ino }];
      const generation = await new Generations(BUILD, false).of({ ...dataset, files });
      rmSync(path);
      return generation;
    };
    const whole = await generationOf("large", null);
    expect(await generationOf("large-copy", null)).toBe(whole);
    // Between what used to be samples of 4 KiB, 12 KiB apart.
    for (const at of [100_009_000, 150_000_001]) expect(await generationOf("large-other", at)).not.toBe(whole);
  });

  it("of what lies at an address follow the version alone, whenever it was first seen", async () => {
    const dataset = openSource(first, 2 ** 26);
    const at = (newestMs: number, version: string): Promise<string> => {
      const files = [{ path: "https://host/cube.h5", bytes: 0, modifiedMs: 0, inode: 0, newestMs, version }];
      return new Generations(BUILD, false).of({ ...dataset, files });
    };
    expect(await at(1, "a")).toBe(await at(5000, "a"));
    expect(await at(1, "a")).not.toBe(await at(1, "b"));
  });

  it("of a manifest that says something else differ", async () => {
    const other = copy("manifest");
    appendFileSync(join(other, "manifest.json"), " ");
    expect(await generationAt(other)).not.toBe(await generationAt(first));
  });
});

it("the digest of the code changes with any compiled file of it", () => {
  const built = new URL("../../dist/", import.meta.url).pathname;
  expect(digestBuild()).toBe(digestBuild(undefined, built));
  const folder = scratchFolder();
  for (const room of ["kernels", "engine", "storage"]) {
    mkdirSync(join(folder, room));
    writeFileSync(join(folder, room, "a.js"), "1");
  }
  const before = digestBuild(undefined, folder);
  writeFileSync(join(folder, "kernels/a.js"), "2");
  expect(digestBuild(undefined, folder)).not.toBe(before);
  // Processes run the bundle: one in which a single weight was changed is other code.
  mkdirSync(join(folder, "bundle"));
  writeFileSync(join(folder, "bundle/engine-worker.js"), "const slopeBefore = theta * rest * rest;");
  const bundled = digestBuild(undefined, folder);
  writeFileSync(join(folder, "bundle/engine-worker.js"), "const slopeBefore = theta * rest;");
  expect(new Set([before, bundled, digestBuild(undefined, folder)]).size).toBe(3);
});

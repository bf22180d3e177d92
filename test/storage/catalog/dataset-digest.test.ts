/** The digest of a dataset changes with its bytes, not with the place of a copy; that of the program with its code. */
import {
  appendFileSync,
  closeSync,
  cpSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { digestBuild, digestProgram } from "../../../src/engine/contract/build-digest.js";
import { saveCheckRecord } from "../../../src/storage/catalog/check-record.js";
import { DatasetDigests } from "../../../src/storage/catalog/dataset-digest.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import "../../support/hdf5-library.js";
import { writeCube } from "../../../tools/generate/cube.js";
import { openConfirmed } from "../../support/open-confirmed.js";
import { scratchFolder } from "../../support/scratch.js";

describe("digests of datasets", () => {
  const folder = scratchFolder();
  const first = join(folder, "first");
  const state = join(folder, "state");
  const digestOf = async (dataset: Dataset): Promise<string> => (await new DatasetDigests(state).of(dataset)).digest;
  const digestAt = (path: string): Promise<string> => digestOf(openConfirmed(path, 2 ** 26));
  const copy = (name: string): string => {
    cpSync(first, join(folder, name), { recursive: true, preserveTimestamps: true });
    return join(folder, name);
  };

  beforeAll(async () => {
    mkdirSync(first);
    const cube = { kind: "random", nodes: [16, 16, 16], steps: 2, chunk: [8, 8, 8], filter: "none", seed: 5 } as const;
    await writeCube({ ...cube, name: "cube", folder: first }, () => {});
  });

  it("are equal for copies of the same bytes, whenever these were written", async () => {
    const later = copy("later");
    utimesSync(join(later, "cube.h5"), 1, 1);
    expect(await digestAt(later)).toBe(await digestAt(first));
  });

  it("differ by one byte anywhere in 200 MB, with the size and the times kept", async () => {
    const dataset = openConfirmed(first, 2 ** 26);
    const digestWith = async (name: string, at: number | null): Promise<string> => {
      const path = join(folder, name);
      const file = openSync(path, "w");
      ftruncateSync(file, 201_000_000);
      if (at !== null) writeSync(file, Buffer.of(1), 0, 1, at);
      closeSync(file);
      utimesSync(path, 1000, 1000);
      const { size, mtimeMs, ino } = statSync(path);
      const files = [{ path, bytes: size, modifiedMs: mtimeMs, inode: ino }];
      const digest = await digestOf({ ...dataset, files });
      rmSync(path);
      return digest;
    };
    const whole = await digestWith("large", null);
    expect(await digestWith("large-copy", null)).toBe(whole);
    // Between what used to be samples of 4 KiB, 12 KiB apart.
    for (const at of [100_009_000, 150_000_001]) expect(await digestWith("large-other", at)).not.toBe(whole);
  });

  it("of what lies at an address follow the version alone, whenever it was first seen", async () => {
    const dataset = openConfirmed(first, 2 ** 26);
    const at = (newestMs: number, version: string): Promise<string> => {
      const files = [{ path: "https://host/cube.h5", bytes: 0, modifiedMs: 0, inode: 0, newestMs, version }];
      return digestOf({ ...dataset, files });
    };
    expect(await at(1, "a")).toBe(await at(5000, "a"));
    expect(await at(1, "a")).not.toBe(await at(1, "b"));
  });

  it("of more bytes than are read whole follow the checksums that a check has compared, or are unverified", async () => {
    const dataset = openConfirmed(first, 2 ** 26);
    const path = join(folder, "huge");
    const file = openSync(path, "w");
    ftruncateSync(file, 2 ** 29 + 4096);
    closeSync(file);
    const { size, mtimeMs, ino } = statSync(path);
    const hugeAt = (ms: number) => ({ ...dataset, files: [{ path, bytes: size, modifiedMs: ms, inode: ino }] });
    const huge = hugeAt(mtimeMs);
    const digests = () => new DatasetDigests(state).of(huge);
    const sampled = await digests();
    expect(sampled.verified).toBe(false);
    // What is not read may have changed at another time.
    expect(await digestOf(hugeAt(mtimeMs + 5000))).not.toBe(sampled.digest);
    saveCheckRecord(state, huge, "the manifest");
    const stamped = await digests();
    expect(stamped.verified).toBe(true);
    saveCheckRecord(state, huge, "another manifest");
    expect(new Set([sampled.digest, stamped.digest, (await digests()).digest]).size).toBe(3);
    // The stamp is of these very files: another time of change, and it says nothing.
    const touched = { ...huge, files: huge.files.map((one) => ({ ...one, changedMs: 1 })) };
    expect((await new DatasetDigests(state).of(touched)).verified).toBe(false);
    rmSync(path);
  });

  it("of a manifest that says something else differ", async () => {
    const other = copy("manifest");
    appendFileSync(join(other, "manifest.json"), " ");
    expect(await digestAt(other)).not.toBe(await digestAt(first));
  });
});

it("the digest of the code changes with any compiled file of it", () => {
  const built = new URL("../../../dist/", import.meta.url).pathname;
  expect(digestBuild()).toBe(digestBuild(undefined, built));
  expect(digestProgram()).toBe(digestProgram());
  expect(digestProgram()).not.toBe(digestBuild());
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

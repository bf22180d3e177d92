/**
 * A folder that is replaced under a process which is told of no change: a query that fails for it brings the new one.
 */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { Engine, Query } from "../../../src/engine/contract/query.js";
import { openEngine } from "../../../src/engine/main/engine.js";
import { loadConfig } from "../../../src/shared/config.js";
import { writeCube } from "../../../tools/generate/cube.js";
import { runQuery, velocityAt } from "../../support/run-query.js";
import { scratchFolder } from "../../support/scratch.js";

// As on file systems that tell of no changes; scans at intervals are half a minute apart.
vi.mock("../../../src/storage/catalog/watch.js", () => ({
  FolderWatch: class {
    set(): void {}
    close(): void {}
  },
}));

const POINTS = Float32Array.of(0.1, 0.2, 0.3, 3, 2, 1);
const QUERY: Query = velocityAt(0, "Lag4", "None", "cube");
const parent = scratchFolder();
const data = join(parent, "data");
let engine: Engine;

async function write(folder: string, seed: number): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const common = { kind: "random", nodes: [16, 16, 16], steps: 1, chunk: null, filter: "none", name: "cube" } as const;
  await writeCube({ ...common, seed, folder }, () => {});
}

beforeAll(async () => {
  await write(join(data, "cube"), 1);
  await write(join(parent, "next"), 2);
  engine = await openEngine(loadConfig({ DATA: data, WORKERS: "1" }, {}), pino({ level: "silent" }));
});
afterAll(() => engine.close(0));

it("tells who asks for what is refused from who asks for what is not there", async () => {
  writeFileSync(join(data, "torn.h5"), "no file of HDF5");
  await engine.reload();
  await expect(runQuery(engine, { ...QUERY, dataset: "TORN" }, POINTS)).rejects.toMatchObject({
    code: "UnknownDataset",
    message: expect.stringMatching(/^Invalid set name: TORN \(it is refused; the log .* say why\)$/),
  });
  const descriptor = (name: string, more: string) => `{"name": "${name}", "aliases": ["${name}-run"] ${more}}`;
  const folders = { wrong: descriptor("unlike", ', "no such member": 1'), cut: descriptor("short", "").slice(0, -1) };
  for (const [folder, text] of Object.entries(folders)) {
    mkdirSync(join(data, folder));
    writeFileSync(join(data, folder, "dataset.json"), text);
  }
  await engine.reload();
  for (const dataset of ["wrong", "UNLIKE", "unlike-run", "cut"])
    await expect(runQuery(engine, { ...QUERY, dataset }, POINTS)).rejects.toThrow("it is refused");
  // Nothing states a name where the text is cut off.
  await expect(runQuery(engine, { ...QUERY, dataset: "short" }, POINTS)).rejects.toThrow("(available: cube)");
  await expect(runQuery(engine, { ...QUERY, dataset: "other" }, POINTS)).rejects.toThrow("(available: cube)");
});

it("scans at once when the files of a query are gone, and answers from those in their place", async () => {
  renameSync(join(data, "cube"), join(parent, "former"));
  await expect(runQuery(engine, QUERY, POINTS)).rejects.toMatchObject({ code: "DataError" });
  // It is seen to be gone before the other one is there.
  await vi.waitFor(() => expect(engine.find("cube")).toBeUndefined(), { timeout: 15_000 });
  renameSync(join(parent, "next"), join(data, "cube"));
  const answer = () => runQuery(engine, QUERY, POINTS).catch(() => null);
  await vi.waitFor(async () => expect(await answer()).not.toBeNull(), { timeout: 15_000, interval: 50 });
  const alone = await openEngine(loadConfig({ DATA: data, WORKERS: "1" }, {}), pino({ level: "silent" }));
  const expected = await runQuery(alone, QUERY, POINTS);
  await alone.close(0);
  expect(await answer()).toEqual(expected);
});

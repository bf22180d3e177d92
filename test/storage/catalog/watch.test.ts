/** Folder watches tell of changes once, and of none in folders that are not watched any more. */
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, expect, it } from "vitest";
import type { Engine } from "../../../src/engine/contract/query.js";
import { openEngine } from "../../../src/engine/main/engine.js";
import { loadConfig } from "../../../src/shared/config.js";
import { FolderWatch } from "../../../src/storage/catalog/watch.js";
import { writeCube } from "../../../tools/generate/cube.js";
import { folderIn, scratchFolder } from "../../support/scratch.js";

const folder = scratchFolder();
let engine: Engine | null = null;
afterEach(async () => {
  await engine?.close(1000);
  engine = null;
});

it("tells of files that come, change and go, and goes on where a folder cannot be watched", async () => {
  const [one, other] = [join(folder, "one"), join(folder, "other")];
  for (const path of [one, other]) mkdirSync(path);
  let told: () => void = () => undefined;
  const next = (): Promise<void> =>
    new Promise((resolve) => {
      told = resolve;
    });
  const watch = new FolderWatch(() => told(), 20);
  watch.set([one, join(folder, "absent"), other]);
  for (const change of [
    () => writeFileSync(join(one, "a"), "1"),
    () => writeFileSync(join(other, "b"), "2"),
    () => renameSync(join(one, "a"), join(folder, "a")),
  ]) {
    const heard = next();
    change();
    await heard;
  }
  watch.set([other]);
  let wrong = false;
  told = () => {
    wrong = true;
  };
  writeFileSync(join(one, "c"), "3");
  const change = next();
  writeFileSync(join(other, "d"), "4");
  await change;
  expect(wrong).toBe(false);
  watch.close();
});

it("serves a dataset that is put into a data folder, unasked", { timeout: 20_000 }, async () => {
  const data = folderIn(folder, "data");
  engine = await openEngine(loadConfig({ DATA: data, WORKERS: "1" }, {}), pino({ level: "silent" }));
  expect(engine.datasets()).toEqual([]);
  const made = folderIn(folder, "made");
  const cube = { kind: "random", nodes: [8, 8, 8], steps: 1, chunk: [8, 8, 8], filter: "none", seed: 5 } as const;
  await writeCube({ ...cube, name: "cube", folder: made }, () => {});
  renameSync(made, join(data, "cube"));
  await expect.poll(() => engine?.datasets().length, { timeout: 10_000 }).toBe(1);
});

/** A request that resolves its dataset once reads one version of it, though the files are replaced meanwhile. */
import { rmSync } from "node:fs";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Engine, Query } from "../../../src/engine/contract/query.js";
import { openEngine } from "../../../src/engine/main/engine.js";
import { loadConfig } from "../../../src/shared/config.js";
import { writeCube } from "../../../tools/generate/cube.js";
import { runQuery, velocityAt } from "../../support/run-query.js";
import { scratchFolder } from "../../support/scratch.js";

const folder = scratchFolder();
const POINTS = Float32Array.of(0.1, 0.2, 0.3, 3, 2, 1);
const QUERY: Query = velocityAt(0, "Lag4", "None", "cube");
let engine: Engine;

async function write(seed: number): Promise<void> {
  const common = { kind: "random", nodes: [16, 16, 16], steps: 2, chunk: null, filter: "none", name: "cube" } as const;
  rmSync(folder, { recursive: true, force: true });
  await writeCube({ ...common, seed, folder }, () => {});
}

beforeAll(async () => {
  await write(1);
  engine = await openEngine(loadConfig({ DATA: folder, WORKERS: "1" }, {}), pino({ level: "silent" }));
});
afterAll(() => engine.close(0));

it("a query with a dataset that was found reads that version, one without the version of now", async () => {
  const dataset = engine.find("cube");
  if (!dataset) throw new Error("the cube is not served");
  const before = await runQuery(engine, QUERY, POINTS);
  await write(2);
  await engine.reload();
  expect(engine.find("cube")?.digest).not.toBe(dataset.digest);
  expect(await runQuery(engine, QUERY, POINTS)).not.toEqual(before);
  expect(await runQuery(engine, QUERY, POINTS, [], { dataset })).toEqual(before);
  // What has not been read of the former version is gone, and is not taken from the present one.
  await expect(runQuery(engine, { ...QUERY, time: dataset.time.step }, POINTS, [], { dataset })).rejects.toMatchObject({
    code: "DataError",
  });
});

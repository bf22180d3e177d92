/** The engine tells after each scan which stores are in use: those of its datasets and of queries in progress. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { pino } from "pino";
import { expect, it } from "vitest";
import { openEngine } from "../../../src/engine/main/engine.js";
import { openPool } from "../../../src/engine/main/pool.js";
import { loadConfig } from "../../../src/shared/config.js";
import { scratchFolder } from "../../support/scratch.js";
import { writeKnownZarr } from "../../support/zarr.js";

it.each(["gone", "kept"])("keeps the stores of its datasets, and those that a query of %s reads", async (dataset) => {
  const data = scratchFolder();
  const [kept, gone] = ["kept.zarr", "gone.zarr"].map((name) => join(data, name)) as [string, string];
  const values = Float64Array.from({ length: 8 }, (_, i) => i);
  const axis = (name: string) => ({ dimensions: [name], shape: [8], chunks: [8], values });
  const p = { dimensions: ["z", "y", "x"], shape: [8, 8, 8], chunks: [8, 8, 8], values: new Float64Array(512).fill(1) };
  const arrays = { p, x: axis("x"), y: axis("y"), z: axis("z") };
  for (const store of [kept, gone]) writeKnownZarr(store, { version: 3, arrays });
  const config = loadConfig({ DATA: data, WORKERS: "1" }, {});
  const log = pino({ level: "silent" });
  const pool = openPool(config, log);
  let stores: ReadonlySet<string> = new Set();
  pool.keepStores = (locations) => {
    stores = locations;
  };
  const engine = await openEngine(config, log, pool);
  try {
    expect([...stores].sort()).toEqual([data, gone, kept]);
    const query = { operation: "GetPressure", dataset, time: 0, spatialInterpolation: "None" } as const;
    const rest = engine.datasets().filter(({ name }) => name !== dataset);
    const others = Object.fromEntries(rest.map((one) => [one.name, one]));
    const evaluation = engine.start({ ...query, temporalInterpolation: "None", others }, {});
    rmSync(gone, { recursive: true });
    await engine.reload();
    expect(engine.find("gone")).toBeUndefined();
    expect([...stores].sort()).toEqual([data, gone, kept]);
    evaluation.abort();
    await evaluation.finish().catch(() => null);
    await engine.reload();
    expect([...stores].sort()).toEqual([data, kept]);
  } finally {
    await engine.close(0);
  }
});

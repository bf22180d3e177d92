/** A query tells the store that it waits for, so that those who bound queries can count it against that store. */
import { pino } from "pino";
import { expect, it } from "vitest";
import { openEngine } from "../../../src/engine/main/engine.js";
import { loadConfig } from "../../../src/shared/config.js";
import { array, SNAPSHOT } from "../../storage/zarr/numbered-cube.js";
import { useObjectServer } from "../../support/object-server.js";
import { knownObjects } from "../../support/zarr.js";

const server = useObjectServer();

it("tells that a query waits for a store that is silent, and that it goes on at its end", async () => {
  const arrays = { p: array(["z", "y", "x"]), ...SNAPSHOT };
  await server.put("far.zarr", knownObjects({ version: 3, arrays, consolidated: true }));
  const config = loadConfig({ DATA: `${server.url}/far.zarr`, WORKERS: "1" }, {});
  const engine = await openEngine(config, pino({ level: "silent" }));
  try {
    await server.set({ silent: true });
    const told: (string | null)[] = [];
    const onStoreWait = (store: string | null) => told.push(store) > 0;
    const query = { operation: "GetPressure", dataset: "far", time: 0, spatialInterpolation: "None" } as const;
    const evaluation = engine.start({ ...query, temporalInterpolation: "None" }, { onStoreWait });
    evaluation.points.slab.set([1, 1, 1]);
    evaluation.points.commit(1);
    const answer = evaluation.finish().catch((error: Error) => error.name);
    await expect.poll(() => told).toEqual([server.url]);
    evaluation.abort();
    expect(await answer).toBe("CancelledError");
    await expect.poll(() => told).toEqual([server.url, null]);
  } finally {
    await engine.close(0);
  }
});

/** A query tells the store that it waits for, so that those who bound queries can count it against that store. */
import { pino } from "pino";
import { expect, it } from "vitest";
import { openEngine } from "../../../src/engine/main/engine.js";
import { loadConfig } from "../../../src/shared/config.js";
import { array, SNAPSHOT } from "../../storage/zarr/numbered-cube.js";
import { useObjectServer } from "../../support/object-server.js";
import { knownObjects } from "../../support/zarr.js";

const server = useObjectServer();

it("says why a store is refused, and that a query waits for a silent one and goes on at its end", async () => {
  const arrays = { p: array(["z", "y", "x"]), ...SNAPSHOT };
  await server.put("far.zarr", knownObjects({ version: 3, arrays, consolidated: true }));
  const config = loadConfig({ DATA: `${server.url}/far.zarr`, WORKERS: "1" }, {});
  await server.set({ times: false });
  const engine = await openEngine(config, pino({ level: "silent" }));
  try {
    expect(() => engine.find("far")).toThrow("refused: its host tells no Last-Modified, so a change would go unseen)");
    await server.set({ times: true });
    await engine.reload();
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

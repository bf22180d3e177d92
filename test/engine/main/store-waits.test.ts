/** A query tells the store that it waits for, so that those who bound queries can count it against that store. */
import { delimiter } from "node:path";
import { pino } from "pino";
import { expect, it } from "vitest";
import { openEngine } from "../../../src/engine/main/engine.js";
import { loadConfig } from "../../../src/shared/config.js";
import { array, SNAPSHOT } from "../../storage/zarr/numbered-cube.js";
import { useObjectServer } from "../../support/object-server.js";
import { knownObjects } from "../../support/zarr.js";

const server = useObjectServer();
const log = pino({ level: "silent" });

it("says why a store is refused, and that a query waits for a silent one and goes on at its end", async () => {
  const arrays = { p: array(["z", "y", "x"]), ...SNAPSHOT };
  for (const store of ["far.zarr", "secret/far.zarr"])
    await server.put(store, knownObjects({ version: 3, arrays, consolidated: true }));
  const far = `${server.url}/far.zarr`;
  const configOf = (data: string) => loadConfig({ DATA: data, WORKERS: "1" }, {});
  await server.set({ times: false });
  // The address of another store of this name is told to nobody.
  const two = await openEngine(configOf([far, `${server.url}/secret/far.zarr`].join(delimiter)), log);
  expect(() => two.find("far")).toThrow("refused: its host tells no Last-Modified, so a change would go unseen)");
  await two.close(0);
  const engine = await openEngine(configOf(far), log);
  try {
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

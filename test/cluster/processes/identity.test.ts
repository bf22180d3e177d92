/** Answers of a cluster are those of one process, bit for bit. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/engine/query.js";
import { writeCube } from "../../../src/generate/cube.js";
import { channelPoints, writeChannel } from "../../support/channel.js";
import { generator, runQuery } from "../../support/run-query.js";
import { scratchFolder } from "../../support/scratch.js";
import { everyOperation, randomPoints } from "./queries.js";
import { heard, missing, openAlone, openGateway, type Running, startNats, startWorker } from "./support.js";

const reason = missing();
/** Only the turbulence has a force, and means over boxes need axes that are not tabulated. */
const QUERIES = [
  ...everyOperation("isotropic32"),
  ...everyOperation("random96", ["velocity", "pressure"]),
  ...everyOperation("channel", ["velocity", "pressure"]).filter(
    ({ query }) => !/^GetBoxFilter/.test(query.operation) && (query.filter_width ?? 1) === 1,
  ),
  ...everyOperation("mhd", ["magnetic", "potential"]).filter(({ query }) => /Magnetic|Potential/.test(query.operation)),
  ...everyOperation("mhd", ["velocity", "magnetic"]).filter(({ query }) => query.operation.endsWith("SGStensor")),
  ...everyOperation("mixing", ["velocity", "density", "temperature"]).filter(({ query }) =>
    /Density|Temperature/.test(query.operation),
  ),
];

describe.skipIf(reason !== null)(`cluster of processes${reason ? `: skipped, ${reason}` : ""}`, () => {
  const folder = scratchFolder();
  const processes: Running[] = [];
  let url: string;
  let alone: Engine;
  let gateway: Engine;

  beforeAll(async () => {
    const subfolder = (of: string): string => {
      mkdirSync(join(folder, of));
      return join(folder, of);
    };
    const name = "random96";
    // 96 nodes make many bricks, so that shards are spread over the workers.
    await writeCube(
      {
        kind: "random",
        nodes: [96, 96, 96],
        steps: 6,
        chunk: null,
        filter: "none",
        seed: 5,
        name,
        folder: subfolder(name),
      },
      () => {},
    );
    await writeChannel(subfolder("channel"));
    for (const kind of ["mhd", "mixing"] as const) {
      const options = {
        kind,
        nodes: [32, 32, 32],
        steps: 6,
        chunk: null,
        filter: "none",
        seed: 0,
        name: kind,
      } as const;
      await writeCube({ ...options, folder: subfolder(kind) }, () => {});
    }
    const nats = await startNats();
    processes.push(nats);
    url = nats.url;
    alone = await openAlone([folder]);
    processes.push(await startWorker("w1", { url, data: [folder] }));
    gateway = await openGateway(1, { url, data: [folder] });
  });
  afterAll(async () => {
    await gateway?.close(1000);
    await alone?.close(1000);
    for (const running of processes.toReversed()) await running.end();
  });

  describe.each([1, 2, 4])("%i workers", (workers) => {
    beforeAll(async () => {
      for (let i = gateway.status().peers.length + 1; i <= workers; i++)
        processes.push(await startWorker(`w${i}`, { url, data: [folder] }));
      await heard(gateway, workers);
    });

    it.each(QUERIES.map((one) => [`${one.title} of ${one.query.dataset}`, one] as const))(
      "%s",
      { timeout: 60_000 },
      async (_, { query, points }) => {
        const walls = query.dataset === "channel";
        const positions = walls ? channelPoints(points, generator(7)) : randomPoints(points, 7);
        const velocities = query.recordEvery !== undefined && query.Tp !== undefined ? randomPoints(points, 8, 1) : [];
        const expected = await runQuery(alone, query, positions, velocities);
        const found = await runQuery(gateway, query, positions, velocities);
        expect(Buffer.from(found.buffer).equals(Buffer.from(expected.buffer))).toBe(true);
      },
    );
  });

  it("used every worker", () => {
    const misses = gateway.status().peers.map(({ cache }) => cache.misses);
    expect(misses).toHaveLength(4);
    for (const count of misses) expect(count).toBeGreaterThan(0);
  });
});

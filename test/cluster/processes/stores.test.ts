/**
 * A cluster on data behind HTTP and in a bucket: every process fetches for itself, and the answers are those of one
 * process on the local copy.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Engine } from "../../../src/engine/contract/query.js";
import { STORE_DEFAULTS } from "../../../src/shared/store-settings.js";
import { loadHdf5 } from "../../../src/storage/hdf5/library.js";
import { objectTarget } from "../../../src/storage/remote/objects/object-target.js";
import { convertToZarr } from "../../../src/storage/tools/convert-zarr.js";
import { writeCube } from "../../../tools/generate/cube.js";
import { NO_NATS, useNatsServers } from "../../support/nats.js";
import { useObjectServer } from "../../support/object-server.js";
import { openConfirmed } from "../../support/open-confirmed.js";
import { useS3Bucket } from "../../support/s3-server.js";
import { scratchFolder } from "../../support/scratch.js";
import { answerOf, QUERY, randomPoints } from "./queries.js";
import { openAlone, openMember, type Running, startPeer, usable } from "./support.js";

const POINTS = randomPoints(20_000, 21);

const folder = scratchFolder();
const startNats = useNatsServers();
const server = useObjectServer();
const bucket = useS3Bucket(join(folder, "s3"));

describe.skipIf(NO_NATS).each([
  ["a store behind HTTP", () => `${server.url}/cube.zarr`],
  ["a folder in a bucket", () => "s3://cubes/runs"],
])("a cluster on %s", (_, address) => {
  let peer: Running;
  let member: Engine;
  let expected: Buffer;

  beforeAll(async () => {
    await loadHdf5();
    const near = join(folder, "near");
    rmSync(near, { recursive: true, force: true });
    mkdirSync(near);
    const cube = {
      kind: "random",
      // Two regions, one for each process.
      nodes: [48, 48, 96],
      steps: 4,
      chunk: [16, 16, 16],
      filter: "none",
      seed: 5,
    } as const;
    await writeCube({ ...cube, name: "cube", folder: near }, () => {});
    const store = join(folder, "cube.zarr");
    rmSync(store, { recursive: true, force: true });
    const options = { name: "cube", chunk: 16, shard: 32, compression: "none" } as const;
    await convertToZarr(openConfirmed(near, 2 ** 26), objectTarget(store, STORE_DEFAULTS), options, () => {});
    const keys = readdirSync(store, { recursive: true, encoding: "utf8" }).filter((key) =>
      statSync(join(store, key)).isFile(),
    );
    const objects = new Map(keys.map((key) => [key, readFileSync(join(store, key))]));
    await server.put("cube.zarr", objects);
    await bucket.put("runs/cube.zarr", objects);
    const alone = await openAlone({ data: [near] });
    expected = await answerOf(alone, QUERY, POINTS);
    await alone.close(1000);
  }, 60_000);
  afterAll(async () => {
    await member?.close(1000);
    await peer?.end();
  });

  it("shares the work, with the bits of one process", { timeout: 60_000 }, async () => {
    const setup = { nats: (await startNats()).url, data: [address()], cacheMiB: 2 };
    peer = await startPeer(setup);
    member = await openMember(setup);
    await usable(member, 1);
    // Until it has a rank itself, a process that has just joined answers alone.
    const share = async (): Promise<void> => {
      expect((await answerOf(member, QUERY, POINTS)).equals(expected)).toBe(true);
      expect(member.status().pieces?.asked).toBeGreaterThan(0);
    };
    await vi.waitFor(share, { timeout: 50_000 });
    expect(member.status().pieces?.refused).toBe(0);
  });
});

/**
 * Stores behind HTTP: the same nodes as in a folder, bounded attempts, and never a wrong value when the host or the
 * store fails.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BusyError, DataError } from "../../../src/shared/errors.js";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import type { FolderScan } from "../../../src/storage/dataset/scan.js";
import { descriptor, NODES, writeDescriptor } from "../../support/cubes.js";
import { useObjectServer } from "../../support/object-server.js";
import { onlyDataset as only } from "../../support/only-dataset.js";
import { scratchFolder } from "../../support/scratch.js";
import { knownObjects, type StoreSpec, writeKnownZarr } from "../../support/zarr.js";
import { array, expectNodes, failureOf, firstBrick, SNAPSHOT, TABLES } from "../zarr/numbered-cube.js";

const server = useObjectServer();
const OPTIONS = { chunkBytes: 64 * 1024 * 1024 };
const SHARDED: StoreSpec = {
  version: 3,
  arrays: { velocity: array(["t", "z", "y", "x", "c"], { shard: [1, 2, 1, 2, 1], codec: "gzip" }), ...TABLES },
  consolidated: true,
};
const PRESSURE: StoreSpec = {
  version: 2,
  arrays: { p: array(["z", "y", "x"], { codec: "zlib" }), ...SNAPSHOT },
  consolidated: true,
};

let stores = 0;
async function put(spec: StoreSpec): Promise<string> {
  const name = `store${++stores}.zarr`;
  await server.put(name, knownObjects(spec));
  return `${server.url}/${name}`;
}

function scan(address: string, previous?: FolderScan): FolderScan {
  return scanFolders([address], previous === undefined ? OPTIONS : { ...OPTIONS, previous });
}

describe("a store at an address", () => {
  it("reads as its nodes, shards by ranges", async () => {
    const dataset = only(await put(SHARDED));
    expect(dataset.name).toBe(`store${stores}`);
    expectNodes(dataset, "velocity", 3);
  });

  it("reads from a host that serves no ranges", async () => {
    await server.set({ ranges: false });
    expectNodes(only(await put(SHARDED)), "velocity", 3);
    await server.set({ ranges: true });
  });

  it("is refused where its host does not tell when objects changed, for chunks could be mixed", async () => {
    await server.set({ times: false });
    for (const spec of [PRESSURE, { ...PRESSURE, arrays: { p: array(["z", "y", "x"]) } }])
      expect(scan(await put(spec)).problems[0]?.message).toMatch(/no Last-Modified, so a change would go unseen/);
    await server.set({ times: true });
  });

  it("fetches a chunk once for many readers of parts of it", async () => {
    const dataset = only(await put(PRESSURE));
    const open = openDataset(dataset);
    const before = server.requests;
    const out = new Float32Array(1);
    for (const x of [0, 1, 2, 3]) open.readNodes("pressure", 0, { first: [x, 0, 0], count: [1, 1, 1] }, out);
    open.close();
    expect(server.requests - before).toBe(1);
  });

  it("keeps its version while nothing changes", async () => {
    const address = await put(PRESSURE);
    const first = scan(address);
    expect(scan(address, first).datasets[0]).toBe(first.datasets[0]);
    expect(scan(address).datasets).toEqual(first.datasets);
  });

  it.each([
    ["alike", 2, {}],
    ["alike", 3, {}],
    ["otherwise", 2, { codecs: [{ name: "bytes", configuration: { endian: "big" } }] }],
    ["otherwise", 3, { codecs: [{ name: "bytes", configuration: { endian: "big" } }] }],
    ["otherwise", 2, { dimension_names: ["x", "y", "z"] }],
    ["otherwise", 3, { dimension_names: ["x", "y", "z"] }],
  ])(
    "is read where an array is described %s outside of the consolidated metadata of Zarr %i",
    async (how, version, change) => {
      const spec = { version: 2, arrays: { p: array(["z", "y", "x"]), ...SNAPSHOT } } as const;
      const objects = knownObjects({ ...spec, consolidated: version === 2 });
      const second = JSON.parse(Buffer.from(objects.get("p/.zarray") as Uint8Array).toString());
      const third = {
        ...{ zarr_format: 3, node_type: "array", shape: second.shape, data_type: "float32", fill_value: 0 },
        chunk_grid: { name: "regular", configuration: { chunk_shape: second.chunks } },
        chunk_key_encoding: { name: "v2", configuration: { separator: "." } },
        codecs: [{ name: "bytes", configuration: { endian: "little" } }],
        ...{ dimension_names: ["z", "y", "x"], attributes: {}, ...change },
      };
      objects.set("p/zarr.json", Buffer.from(JSON.stringify(third)));
      if (version === 3) {
        // The tables are known to the consolidated metadata alone; their chunks have the keys of Zarr 3.
        for (const [key, bytes] of knownObjects({ version: 3, arrays: SNAPSHOT })) objects.set(key, bytes);
        const documents = [...objects].filter(([key]) => /^\w+\/zarr\.json$/.test(key));
        const metadata = Object.fromEntries(
          documents.map(([key, bytes]) => [key.replace("/zarr.json", ""), JSON.parse(Buffer.from(bytes).toString())]),
        );
        const inline = { kind: "inline", must_understand: false, metadata };
        const attributes = JSON.parse(Buffer.from(objects.get(".zattrs") as Uint8Array).toString());
        const root = { zarr_format: 3, node_type: "group", attributes, consolidated_metadata: inline };
        objects.set("zarr.json", Buffer.from(JSON.stringify(root)));
        for (const key of objects.keys())
          if (/^(x|y|z|time|\.zgroup|\.zattrs)(\/\.z.*)?$/.test(key)) objects.delete(key);
      }
      const name = `store${++stores}.zarr`;
      await server.put(name, objects);
      const { datasets, problems } = scan(`${server.url}/${name}`);
      if (how === "alike") expectNodes(datasets[0] as Dataset, "pressure", 1);
      else expect(problems[0]?.message).toMatch(/p\/zarr\.json and p\/\.zarray do not say the same/);
      expect(datasets.length).toBe(how === "alike" ? 1 : 0);
    },
  );

  it("is refused without consolidated metadata, with the remedy", async () => {
    const { problems } = scan(await put({ ...PRESSURE, consolidated: false }));
    expect(problems[0]?.message).toMatch(/zarr\.consolidate_metadata/);
  });

  it("is refused when its host leads elsewhere", async () => {
    const address = await put(PRESSURE);
    await server.set({ redirect: "http://169.254.169.254/latest/meta-data" });
    const { problems } = scan(address);
    await server.set({ redirect: null });
    expect(problems[0]?.message).toMatch(/leads to another host/);
  });
});

describe("a host that fails", () => {
  it("is asked again after 503 and after cut connections, and the values are right", async () => {
    const address = await put(SHARDED);
    await server.set({ failures: 2 });
    const dataset = only(address);
    await server.set({ cuts: 3 });
    expectNodes(dataset, "velocity", 3);
  });

  it("is asked a bounded number of times, then left alone; other stores are served", async () => {
    const address = await put(PRESSURE);
    const dataset = only(address);
    const other = only(await put(PRESSURE));
    await server.set({ failures: 1000 });
    const before = server.requests;
    expect(failureOf(() => firstBrick(dataset)[0])).toBeInstanceOf(BusyError);
    expect(server.requests - before).toBeGreaterThanOrEqual(4);
    // The breaker opens once a second chunk has failed, which may be after the first read.
    const cause = () => String((failureOf(() => firstBrick(dataset)[0]) as Error).cause);
    await expect.poll(cause).toMatch(/its host has failed just now/);
    await server.set({ failures: 0 });
    const error = failureOf(() => firstBrick(dataset)[0]);
    expect(error).toBeInstanceOf(BusyError);
    expect((error as Error).message).toBe(`${dataset.name}: its store does not answer.`);
    // Four attempts for each of the nine chunks of the brick, in two reads at most.
    expect(server.requests - before).toBeLessThanOrEqual(72);
    expect(firstBrick(other)[0]).toBe(1);
  });

  it("delays no scan when it takes requests and never answers", async () => {
    const addresses = [await put(PRESSURE), await put(PRESSURE)];
    const folder = join(scratchFolder(), "near");
    writeKnownZarr(join(folder, "near.zarr"), PRESSURE);
    const places = [...addresses, folder];
    const first = scanFolders(places, OPTIONS);
    expect(first.datasets).toHaveLength(3);
    await server.set({ silent: true });
    // Both wait for one moment together, which is far shorter than the timeout of a request.
    const again = scanFolders(places, { ...OPTIONS, previous: first });
    await server.set({ silent: false });
    expect(again.datasets).toEqual(first.datasets);
    expect(again.problems).toEqual([]);
  });

  it("takes no dataset away from the catalogue", async () => {
    const address = await put(PRESSURE);
    const first = scan(address);
    await server.set({ failures: 4 });
    expect(scan(address, first).datasets).toEqual(first.datasets);
  });
});

describe("a store that changes", () => {
  it("gives an error for a chunk that was replaced, and its new values after a scan", async () => {
    const address = await put(PRESSURE);
    const dataset = only(address);
    const folder = new URL(address).pathname.slice(1);
    const pressure = array(["z", "y", "x"], { codec: "zlib" });
    const values = pressure.values.map((value) => value + 1);
    const objects = knownObjects({ ...PRESSURE, arrays: { p: { ...pressure, values } } });
    await server.put(folder, new Map([...objects].filter(([key]) => key.startsWith("p/0"))), 5000);
    expect(failureOf(() => firstBrick(dataset)[0])).toBeInstanceOf(DataError);
    const again = only(address);
    expect(again.files).not.toEqual(dataset.files);
    expect(firstBrick(again)[0]).toBe(2);
  });

  it("gives an error under a query and its new values after a scan where only a descriptor names it", async () => {
    const address = await put(PRESSURE);
    const folder = join(scratchFolder(), "described");
    mkdirSync(folder);
    const pressure = { file: address, path: "/p", dimensions: ["z", "y", "x"] };
    // The scan reads the ends of periodic axes, and would have the chunks kept before they are replaced.
    const axis = (nodes: number) => ({ nodes, origin: 0, spacing: 1, periodic: false });
    const axes = { x: axis(NODES.x), y: axis(NODES.y), z: axis(NODES.z) };
    writeDescriptor(folder, descriptor("described", { fields: { pressure }, axes, time: { step: 1, count: 1 } }));
    // The host is named by another address, as it must be in a private network.
    const places = [folder, `${server.url}/none.h5`];
    const first = scanFolders(places, OPTIONS);
    const [dataset] = first.datasets as [Dataset];
    const open = openDataset(dataset);
    const value = new Float32Array(1);
    const read = (x: number) => open.readNodes("pressure", 0, { first: [x, 0, 0], count: [1, 1, 1] }, value);
    read(0);
    expect(value[0]).toBe(1);
    const changed = array(["z", "y", "x"], { codec: "zlib" });
    const values = changed.values.map((value) => value + 1);
    const objects = knownObjects({ ...PRESSURE, arrays: { p: { ...changed, values } } });
    const path = new URL(address).pathname.slice(1);
    const chunks = [...objects].filter(([key]) => /^p\/\d/.test(key));
    expect(chunks).toHaveLength(9);
    await server.put(path, new Map(chunks), 5000);
    // What is under way meets the new objects in its other chunks: it fails rather than mixing both.
    expect(failureOf(() => read(11))).toBeInstanceOf(DataError);
    expect(failureOf(() => firstBrick(dataset))).toBeInstanceOf(DataError);
    open.close();
    const again = scanFolders(places, { ...OPTIONS, previous: first });
    expect(again.datasets[0]?.digest).not.toBe(dataset.digest);
    expect(firstBrick(again.datasets[0] as Dataset)[0]).toBe(2);
  });

  it("gives an error for a chunk that is gone, and its values at the next query once it is back", async () => {
    const address = await put(PRESSURE);
    const dataset = only(address);
    const key = "p/0.0.0";
    const chunk = knownObjects(PRESSURE).get(key) as Uint8Array;
    await server.remove(`${new URL(address).pathname}/${key}`);
    expect(String((failureOf(() => firstBrick(dataset)) as Error).cause)).toMatch(/chunk 0\.0\.0 of \/p is not there/);
    await server.put(new URL(address).pathname.slice(1), new Map([[key, chunk]]), -10_000);
    expect(firstBrick(dataset)[0]).toBe(1);
  });

  it("reads a shard that was gone at the next query too", async () => {
    const spec = {
      ...PRESSURE,
      version: 3,
      arrays: { p: array(["z", "y", "x"], { shard: [3, 1, 3] }), ...SNAPSHOT },
    } as const;
    const address = await put(spec);
    const dataset = only(address);
    const key = "p/c/0/0/0";
    await server.remove(`${new URL(address).pathname}/${key}`);
    expect(failureOf(() => firstBrick(dataset))).toBeInstanceOf(DataError);
    const shard = knownObjects(spec).get(key) as Uint8Array;
    await server.put(new URL(address).pathname.slice(1), new Map([[key, shard]]), -10_000);
    expect(firstBrick(dataset)[0]).toBe(1);
  });
});

/**
 * Targets of references, and objects of plain stores, that answer otherwise than they should: what is read is a fault
 * or the right number, never another finite one. No chunk has a codec that would notice.
 */
import { beforeEach, describe, expect, it } from "vitest";
import { FieldprobeError } from "../../../src/shared/errors.js";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import { fill, NODES, nodeValue } from "../../support/cubes.js";
import { useObjectServer } from "../../support/object-server.js";
import { knownObjects } from "../../support/zarr.js";
import { array, SNAPSHOT } from "../zarr/numbered-cube.js";

const server = useObjectServer();
const AXES = ["z", "y", "x"] as const;
/** Age of all objects: a time of change that lies in the past tells versions apart. */
const OLD_MS = -60_000;
const [FIRST, LAST] = [
  [0, 0, 0],
  [NODES.x - 1, NODES.y - 1, NODES.z - 1],
] as const;

beforeEach(() => server.set({ ranges: true, weak: false, times: true }));

function nodes(shard: readonly number[] | null, more: number): Map<string, Uint8Array> {
  const p = array(AXES, shard === null ? {} : { shard: [...shard] });
  const values = fill(AXES, p.shape, (at) => nodeValue(at) + more);
  return knownObjects({ version: 3, arrays: { p: { ...p, values }, ...SNAPSHOT }, consolidated: true });
}

/** A list that names the chunks of the store of nodes in one file, and that file. */
function listed(more: number): Map<string, Uint8Array> {
  const { shape, chunks } = array(AXES);
  const store = knownObjects({
    version: 2,
    arrays: { p: { ...array(AXES), values: fill(AXES, shape, (at) => nodeValue(at) + more) }, ...SNAPSHOT },
  });
  const isChunk = (key: string) => /^p\/[\d.]+$/.test(key);
  const parts = [...store].filter(([key]) => isChunk(key));
  const bytes = 4 * (chunks as number[]).reduce((product, edge) => product * edge, 1);
  const refs = new Map<string, unknown>(parts.map(([key], at) => [key, ["{{u}}", at * bytes, bytes]]));
  for (const [key, value] of store) if (!isChunk(key)) refs.set(key, `base64:${Buffer.from(value).toString("base64")}`);
  const list = { version: 1, templates: { u: "target.bin" }, refs: Object.fromEntries(refs) };
  return new Map([
    ["p.refs.json", Buffer.from(JSON.stringify(list))],
    ["target.bin", Buffer.concat(parts.map(([, value]) => value))],
  ]);
}

/** Ways of keeping the nodes: their objects, the name of what is served, and the object that holds the last node. */
const KEPT = {
  "references to a file": { objects: listed, name: "p.refs.json", last: "target.bin" },
  "a store of chunks": { objects: (more: number) => nodes(null, more), name: "", last: "p/c/2/0/2" },
  "a store of one shard": { objects: (more: number) => nodes([3, 1, 3], more), name: "", last: "p/c/0/0/0" },
} as const;

let folders = 0;
describe.each(Object.entries(KEPT))("%s", (_, { objects, name, last }) => {
  async function put(): Promise<{ folder: string; scan: () => Dataset | null }> {
    const folder = `store${++folders}.zarr`;
    await server.put(folder, objects(0), OLD_MS);
    const address = `${server.url}/${folder}${name === "" ? "" : `/${name}`}`;
    return { folder, scan: () => scanFolders([address], { chunkBytes: 2 ** 26 }).datasets[0] ?? null };
  }

  /** A node as it is read; null where it is a fault. */
  function read(dataset: Dataset | null, at: readonly [number, number, number]): number | null {
    if (dataset === null) return null;
    const open = openDataset(dataset);
    const out = new Float32Array(1);
    try {
      open.readNodes("pressure", 0, { first: at, count: [1, 1, 1] }, out);
      return out[0] as number;
    } catch (error) {
      expect(error).toBeInstanceOf(FieldprobeError);
      return null;
    } finally {
      open.close();
    }
  }

  const right = ([x, y, z]: readonly [number, number, number]) => nodeValue({ x, y, z, t: 0, c: 0 });
  const lastBytes = (more: number) => objects(more).get(last) as Uint8Array;

  it.each([
    ["are read", {}, {}],
    ["are right on a host that ignores Range", {}, { ranges: false }],
    ["are right with a weak ETag that all objects share", { weak: true }, {}],
  ])("%s", async (_, first, then) => {
    await server.set(first);
    const dataset = (await put()).scan();
    await server.set(then);
    expect([read(dataset, FIRST), read(dataset, LAST)]).toEqual([right(FIRST), right(LAST)]);
  });

  it.each(["before a scan", "after it"])("are a fault where an object is gone %s", async (when) => {
    const { folder, scan } = await put();
    const before = when === "after it" ? scan() : null;
    await server.remove(`/${folder}/${last}`);
    expect(read(before ?? scan(), LAST)).toBeNull();
  });

  it.each([1, 4, 500])("are a fault where an object ends %i bytes early", async (bytes) => {
    const { folder, scan } = await put();
    await server.put(folder, new Map([[last, lastBytes(0).subarray(0, -bytes)]]), OLD_MS);
    expect(read(scan(), LAST)).toBeNull();
  });

  it.each(["strong", "weak"])("are a fault where an object has changed after the scan (%s ETag)", async (kind) => {
    await server.set({ weak: kind === "weak" });
    const { folder, scan } = await put();
    const dataset = scan();
    await server.put(folder, new Map([[last, lastBytes(1)]]), 5000);
    expect(read(dataset, LAST)).toBeNull();
    expect([null, right(LAST) + 1]).toContain(read(scan(), LAST));
  });

  it("are a fault with a weak ETag alone, which tells no change", async () => {
    await server.set({ weak: true, times: false });
    expect(read((await put()).scan(), LAST)).toBeNull();
  });
});

describe.each(["references to a file", "a store of one shard"] as const)("%s", (kind) => {
  const { objects, name, last } = KEPT[kind];

  it("never mix two versions of an object whose ETag changes in the middle, whatever its time", async () => {
    const folder = `store${++folders}.zarr`;
    await server.put(folder, objects(0), OLD_MS, '"one"');
    const [dataset] = scanFolders([`${server.url}/${folder}${name === "" ? "" : `/${name}`}`], { chunkBytes: 2 ** 26 })
      .datasets as [Dataset];
    const open = openDataset(dataset);
    const out = new Float32Array(1);
    const value = (first: readonly [number, number, number]): number => {
      open.readNodes("pressure", 0, { first, count: [1, 1, 1] }, out);
      return out[0] as number;
    };
    try {
      expect(value(FIRST)).toBe(nodeValue({ x: 0, y: 0, z: 0, t: 0, c: 0 }));
      await server.put(folder, new Map([[last, objects(1).get(last) as Uint8Array]]), OLD_MS, '"two"');
      expect(() => value(LAST)).toThrow(/cannot be read/);
    } finally {
      open.close();
    }
  });
});

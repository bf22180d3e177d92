/** Stores that are open stay open while somebody names or uses them, and no longer. */
import { expect, it } from "vitest";
import { ReadMemory } from "../../../src/shared/read-memory.js";
import { STORE_DEFAULTS } from "../../../src/shared/store-settings.js";
import { Hosts } from "../../../src/storage/remote/objects/hosts.js";
import { Stores } from "../../../src/storage/remote/stores.js";
import { useObjectServer } from "../../support/object-server.js";
import { fc } from "../../support/property.js";
import { zarrObjects } from "../../support/zarr.js";

const server = useObjectServer();

it("closes what nobody names once it has not been used for half a minute, and opens it again when asked", async () => {
  const array = { dimensions: ["x"], shape: [2], chunks: [2], values: Float64Array.of(1, 2) };
  await server.put(
    "f",
    new Map([
      ["a.h5", Buffer.alloc(100, 1)],
      ["b.h5", Buffer.alloc(100, 2)],
    ]),
  );
  await server.put("c.zarr", zarrObjects({ version: 3, arrays: { u: array }, consolidated: true }));
  let now = 0;
  const stores = new Stores({ settings: STORE_DEFAULTS, disk: null }, new Hosts(), () => now);
  const [a, b, c] = ["f/a.h5", "f/b.h5", "c.zarr"].map((name) => `${server.url}/${name}`) as [string, string, string];
  const { newestMs } = await stores.file({ store: a, named: true });
  await stores.file({ store: b, named: true });
  await stores.open({ store: c, named: true });
  const open = async () => (await stores.status()).map(({ store }) => store).sort();
  stores.keep(new Set());
  expect(await open()).toEqual([c, a, b]);
  now += 20_000;
  const range = { store: b, newestMs, position: 0, length: 4, isBlock: false };
  const state = await stores.file({ store: b });
  await stores.bytes({ store: b, ranges: [{ ...range, newestMs: state.newestMs }], ifThere: false });
  now += 20_000;
  stores.keep(new Set([c]));
  expect(await open()).toEqual([c, b]);
  now += 20_000;
  stores.keep(new Set());
  expect(await open()).toEqual([]);
  const [bytes] = (await stores.bytes({ store: a, ranges: [{ ...range, store: a }], ifThere: false })) ?? [];
  expect([...(bytes ?? [])]).toEqual([1, 1, 1, 1]);
  expect(await open()).toEqual([a]);
});

it("does not close what is being opened for longer than that", async () => {
  await server.put("slow", new Map([["a.h5", Buffer.alloc(100, 1)]]));
  let now = 0;
  const stores = new Stores({ settings: STORE_DEFAULTS, disk: null }, new Hosts(), () => now);
  const open = async () => (await stores.status()).map(({ store }) => store);
  const store = `${server.url}/slow/a.h5`;
  const opening = stores.file({ store, named: true });
  // The host is asked after a tick.
  await new Promise((resolve) => setImmediate(resolve));
  now += 40_000;
  stores.keep(new Set());
  const { newestMs } = await opening;
  expect(await open()).toEqual([store]);
  const range = { store, newestMs, position: 0, length: 4, isBlock: false };
  expect(await stores.bytes({ store, ranges: [range], ifThere: false })).toHaveLength(1);
  now += 40_000;
  stores.keep(new Set());
  expect(await open()).toEqual([]);
});

it("has a thread that follows another take versions for the same, unless the store has changed meanwhile", async () => {
  const array = { dimensions: ["x"], shape: [2], chunks: [2], values: Float64Array.of(1, 2) };
  const objects = zarrObjects({ version: 3, arrays: { u: array }, consolidated: true });
  const store = `${server.url}/g.zarr`;
  await server.put("g.zarr", objects);
  const versions = new Map<string, { readonly digest: string; readonly newestMs: number }>();
  const follow = () => {
    const tell = (location: string, version: { readonly digest: string; readonly newestMs: number }) =>
      versions.set(location, version);
    return new Stores({ settings: STORE_DEFAULTS, disk: null }, new Hosts(), () => 0, new Map(versions), tell);
  };
  const isPassing = { message: expect.stringMatching("changed since the catalogue"), context: { retryAfter: 1 } };
  const { newestMs } = await follow().open({ store, named: true });
  const box = { store, newestMs, path: "/u", offset: [0], count: [2] };
  const read = async (stores: Stores) => {
    await stores.file({ store: `${store}/zarr.json`, named: true });
    return [...(await stores.read(box))];
  };
  await server.set({ laterMs: 60_000 });
  try {
    expect(await read(follow())).toEqual([1, 2]);
    await server.put("g.zarr", new Map([["u/c/0", objects.get("u/c/0") as Uint8Array]]), 30_000);
    await expect(read(follow())).rejects.toMatchObject(isPassing);
    const other = zarrObjects({ version: 3, arrays: { u: { ...array, attributes: { a: 1 } } }, consolidated: true });
    await server.put("g.zarr", other);
    await expect(read(follow())).rejects.toMatchObject(isPassing);
  } finally {
    await server.set({ laterMs: 0 });
  }
});

it("gives each asker memory of its own hold, which nothing overwrites before it is given back", async () => {
  const [chunk, chunks] = [1024, 16];
  const values = Float64Array.from({ length: chunk * chunks }, (_, i) => i);
  const random = fc.sample(fc.nat(), 5000).values();
  const below = (n: number) => (random.next().value as number) % n;
  const plain = { dimensions: ["x"], shape: [values.length], chunks: [chunk], values } as const;
  const arrays = {
    plain,
    gzip: { ...plain, codec: "gzip", sums: true },
    shards: { ...plain, shard: [4 * chunk], sums: true },
    big: { ...plain, bigEndian: true },
  } as const;
  const store = `${server.url}/lent.zarr`;
  await server.put("lent.zarr", zarrObjects({ version: 3, arrays, consolidated: true }));
  const stores = new Stores({ settings: STORE_DEFAULTS, disk: null });
  const { newestMs } = await stores.open({ store, named: true });
  const memory = ReadMemory.ofThread();
  const held: { readonly first: number; readonly read: Awaited<ReturnType<Stores["read"]>> }[] = [];
  const wrong: (readonly [first: number, read: number | bigint])[] = [];
  const buffers = new Set<ArrayBufferLike>();
  const giveBack = (at: number) => {
    for (const { first, read } of held.splice(at, 1)) {
      if (!read.every((value, i) => value === first + i)) wrong.push([first, read[0] as number]);
      buffers.add(read.buffer);
      memory.giveBack(read);
    }
  };
  for (let turn = 0; turn < 30; turn++) {
    const boxes = Array.from({ length: 6 }, () => {
      const path = `/${Object.keys(arrays)[below(4)]}`;
      const isPart = below(4) === 0;
      return { store, newestMs, path, offset: [chunk * below(chunks - 1) + (isPart ? 7 : 0)], count: [chunk] };
    });
    await stores.ready(boxes.slice(0, 3));
    const asked = [...boxes, ...boxes.slice(below(6))];
    const reads = await Promise.all(asked.map((box) => stores.read(box)));
    held.push(...reads.map((read, at) => ({ first: asked[at]?.offset[0] as number, read })));
    while (held.length > below(20)) giveBack(below(held.length));
  }
  while (held.length > 0) giveBack(0);
  expect(wrong).toEqual([]);
  // Far fewer than the reads, whose number is at least 180.
  expect(buffers.size).toBeLessThan(90);
});

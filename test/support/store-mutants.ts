/** Damaged stores, lists, cache entries and answers of S3 from a seed, and what each must not lead to. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { FieldprobeError } from "../../src/shared/errors.js";
import { STORE_DEFAULTS } from "../../src/shared/store-settings.js";
import { DiskCache } from "../../src/storage/remote/objects/disk-cache.js";
import type { RemoteObjects } from "../../src/storage/remote/objects/remote-objects.js";
import { listFolder } from "../../src/storage/remote/objects/s3-list.js";
import { Stores } from "../../src/storage/remote/stores.js";
import { registerCodecs } from "../../src/storage/zarr/codecs.js";
import { array, SNAPSHOT } from "../storage/zarr/numbered-cube.js";
import { expectRefusal, type MutantKinds, mutate, type Random } from "./mutants.js";
import { scratchFolder } from "./scratch.js";
import { zarrObjects } from "./zarr.js";

registerCodecs();
const DOCUMENT = /(^|\/)(zarr\.json|\.z\w+)$|refs\.json$/;

type Objects = ReadonlyMap<string, Uint8Array>;

const plain = array(["z", "y", "x"]);
const STORES: Readonly<Record<string, () => Objects>> = {
  "Zarr 2": () =>
    zarrObjects({ version: 2, arrays: { p: { ...plain, codec: "gzip" }, ...SNAPSHOT }, consolidated: true }),
  "Zarr 3 with shards": () =>
    zarrObjects({ version: 3, arrays: { p: { ...plain, codec: "gzip", sums: true, shard: [2, 1, 2] }, ...SNAPSHOT } }),
  references: () => {
    const folder = new URL("../storage/zarr/fixtures/", import.meta.url).pathname;
    return new Map(["numbered.refs.json", "numbered.h5"].map((name) => [name, readFileSync(join(folder, name))]));
  },
};
export const STORE_MUTANTS: MutantKinds = {
  ...Object.fromEntries(Object.keys(STORES).map((kind) => [kind, () => storeMutant(kind)])),
  "disk cache": () => cacheMutant,
  "lists of S3": () => listMutant,
};

/** A store with one object changed: what is read of a chunk with a checksum is what was written, or an error. */
function storeMutant(kind: string): (random: Random) => Promise<boolean> {
  const objects = (STORES[kind] as () => Objects)();
  const keys = [...objects.keys()].filter((key) => key.startsWith("p/") || DOCUMENT.test(key));
  const isList = kind === "references";
  return async (random) => {
    const victim = keys[Math.floor(random() * keys.length)] as string;
    const isDocument = DOCUMENT.test(victim);
    const folder = join(scratchFolder(), "mutant.zarr");
    for (const [key, bytes] of objects) {
      mkdirSync(dirname(join(folder, key)), { recursive: true });
      writeFileSync(join(folder, key), key === victim ? mutate(random, bytes, isDocument) : bytes);
    }
    const store = isList ? join(folder, "numbered.refs.json") : folder;
    const stores = new Stores({ settings: { ...STORE_DEFAULTS, chunkBytes: 2 ** 24 }, disk: null });
    try {
      const { newestMs, entries } = await stores.open({ store });
      for (const [path, entry] of Object.entries(entries)) {
        if (entry.kind === "group" || entry.unknownCodecs.length > 0) continue;
        const count = entry.shape.map((length) => Math.min(length, 16));
        const values = await stores.read({ store, newestMs, path, offset: count.map(() => 0), count });
        if (path === "/p" && !isDocument && !isList)
          expect(Array.from(values as ArrayLike<number>)).toEqual([...plain.values]);
      }
      return true;
    } catch (error) {
      if ((error as Error).name === "AssertionError") throw error;
      expectRefusal(error);
      return false;
    }
  };
}

/** An entry of the cache on disk with its file changed: the entry as it was put, or a miss. */
async function cacheMutant(random: Random): Promise<boolean> {
  const folder = scratchFolder();
  const name = { address: "https://host/a.h5", version: '"1"', range: "0-1000" };
  const bytes = Buffer.from(Array.from({ length: 1000 }, () => Math.floor(256 * random())));
  const cache = new DiskCache(folder, 2 ** 20, () => undefined);
  cache.put(name, bytes, { etag: "a" });
  await cache.settled();
  const [path] = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => join(folder, file))
    .filter((file) => statSync(file).isFile()) as [string];
  writeFileSync(path, mutate(random, readFileSync(path), false));
  const entry = await cache.get(name);
  if (entry !== null) expect(bytes.equals(entry.bytes)).toBe(true);
  return entry !== null;
}

const PAGE = Buffer.from(`<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>cubes</Name><Prefix>runs/</Prefix>
<KeyCount>2</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated><EncodingType>url</EncodingType>
<Contents><Key>runs/a+b%20c.h5</Key><LastModified>2026-11-23T10:00:00.000Z</LastModified><ETag>&quot;1&quot;</ETag>
<Size>1000</Size></Contents><CommonPrefixes><Prefix>runs/flow.zarr/</Prefix></CommonPrefixes></ListBucketResult>`);

/** A page of a list changed: a list, or an error. */
async function listMutant(random: Random): Promise<boolean> {
  const bytes = mutate(random, PAGE, true);
  let pages = 0;
  const page = { bytes, size: bytes.length, etag: null, modifiedMs: null, dateMs: 0, isPart: false };
  const objects = { fetch: async () => (pages++ < 3 ? page : { ...page, bytes: Buffer.from("<ListBucketResult/>") }) };
  const place = { bucket: "https://cubes.example", prefix: "https://cubes.example/runs", key: "runs" };
  try {
    await listFolder(objects as unknown as RemoteObjects, { ...place, sign: async (request) => request }, "");
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(FieldprobeError);
    expectRefusal(error);
    return false;
  }
}

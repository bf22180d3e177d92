/** Damaged stores, lists, cache entries and answers of S3 from a seed, and what each must not lead to. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { FieldprobeError } from "../../src/errors.js";
import { DiskCache } from "../../src/storage/objects/disk-cache.js";
import type { RemoteObjects } from "../../src/storage/objects/remote-objects.js";
import { listFolder } from "../../src/storage/objects/s3-list.js";
import { Stores } from "../../src/storage/thread/stores.js";
import { registerCodecs } from "../../src/storage/zarr/codecs.js";
import { STORE_DEFAULTS } from "../../src/store-settings.js";
import { array, SNAPSHOT } from "../storage/zarr/numbered-cube.js";
import { generator } from "./run-query.js";
import { scratchFolder } from "./scratch.js";
import { zarrObjects } from "./zarr.js";

registerCodecs();
/** CPU that a mutant of some kilobytes may take. */
const MOST_CPU_MS = 5_000;
/** Numbers that documents do not expect. */
const ODD = ["-1", "0", "1e999", "4294967296", "9007199254740993", "0.5", "null", "[]", "{}", '"x"', "true", '"NaN"'];
const DOCUMENT = /(^|\/)(zarr\.json|\.z\w+)$|refs\.json$/;

type Random = () => number;
type Objects = ReadonlyMap<string, Uint8Array>;

/** Bytes with one to three changes: flipped, cut, doubled, removed or, in documents, another value for a number. */
function mutate(random: Random, bytes: Uint8Array, isDocument: boolean): Buffer {
  let out = Buffer.from(bytes);
  const below = (count: number) => Math.floor(random() * count);
  for (let change = 0; change <= below(3); change++) {
    const at = below(out.length);
    const to = at + below(Math.min(64, out.length - at));
    const span = out.subarray(at, to);
    const kind = below(isDocument ? 6 : 5);
    if (kind === 0 && out.length > 0) out.writeUInt8(out.readUInt8(at) ^ (1 << below(8)), at);
    else if (kind === 1) out = out.subarray(0, at);
    else if (kind === 2) out = Buffer.concat([out.subarray(0, to), span, out.subarray(to)]);
    else if (kind === 3) out = Buffer.concat([out.subarray(0, at), out.subarray(to)]);
    else if (kind === 4) span.fill(below(2) * 255);
    else {
      const numbers = [...out.toString("latin1").matchAll(/-?\d+(\.\d+)?/g)];
      const number = numbers[below(numbers.length)];
      if (number === undefined) continue;
      const text = ODD[below(ODD.length)] as string;
      const rest = out.subarray(number.index + number[0].length);
      out = Buffer.concat([out.subarray(0, number.index), Buffer.from(text), rest]);
    }
  }
  return out;
}

/** Fails unless an error is one line of ours, or another error whose thread goes on. */
function expectRefusal(error: unknown): void {
  expect(error).toBeInstanceOf(Error);
  if (error instanceof FieldprobeError) expect(error.message).toMatch(/^[^\n]{1,2000}$/);
  expect(error).not.toBeInstanceOf(WebAssembly.CompileError);
}

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
export const MUTANT_KINDS = [...Object.keys(STORES), "disk cache", "lists of S3"] as const;

/** Makes mutants of one kind and looks at each. @returns how many were read, and how many refused */
export async function tryMutants(
  kind: string,
  count: number,
  seed: number,
): Promise<{ read: number; refused: number }> {
  const random = generator(seed);
  const tally = { read: 0, refused: 0 };
  const one = kind === "disk cache" ? cacheMutant : kind === "lists of S3" ? listMutant : storeMutant(kind);
  for (let at = 0; at < count; at++) {
    const cpu = process.cpuUsage();
    try {
      (await one(random)) ? tally.read++ : tally.refused++;
    } catch (error) {
      throw new Error(`${kind}, seed ${seed}, mutant ${at}`, { cause: error });
    }
    const { user, system } = process.cpuUsage(cpu);
    expect((user + system) / 1000, `${kind}, seed ${seed}, mutant ${at}`).toBeLessThan(MOST_CPU_MS);
  }
  return tally;
}

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
  // The last page is empty, so that a mutant with a token has an end.
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

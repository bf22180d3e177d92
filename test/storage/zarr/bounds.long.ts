/** A store that says more than fieldprobe reads is refused before it is expanded: each bound is asked for ten times. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateSync, gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { STORE_BOUNDS, STORE_DEFAULTS } from "../../../src/shared/store-settings.js";
import { DocumentReader } from "../../../src/storage/dataset/documents.js";
import type { RemoteObjects } from "../../../src/storage/remote/objects/remote-objects.js";
import { listFolder } from "../../../src/storage/remote/objects/s3-list.js";
import { Stores } from "../../../src/storage/remote/stores.js";
import { registerCodecs } from "../../../src/storage/zarr/codecs.js";
import { readList } from "../../../src/storage/zarr/list-document.js";
import { referencesOf } from "../../../src/storage/zarr/reference-list.js";
import { scratchFolder } from "../../support/scratch.js";
import { writeZarr } from "../../support/zarr.js";
import { zstdBomb } from "../../support/zstd-bomb.js";
import { array, failureOf } from "./numbered-cube.js";

registerCodecs();
const stores = new Stores({ settings: STORE_DEFAULTS, disk: null });
const read = (text: string, most = STORE_DEFAULTS.metadataBytes) =>
  new DocumentReader(most).read("zarr.json", Buffer.from(text));
const expand = (list: object) => {
  const reader = new DocumentReader(STORE_DEFAULTS.referencesBytes, 1e7, 1e7);
  return [...referencesOf("list", readList("list", Buffer.from(JSON.stringify(list)), reader))];
};
const refs = { "zarr.json": "{}" };

function folderOf(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = join(scratchFolder(), "store.zarr");
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

const failure = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "",
    (error: Error) => error.message,
  );

const second = (members: object) =>
  JSON.stringify({
    ...{ zarr_format: 2, shape: [64], chunks: [64], dtype: "<f4", compressor: null, filters: null },
    ...{ fill_value: 0, order: "C", ...members },
  });

it("bounds bytes, depth and values of metadata, and one store leaves another its own", async () => {
  const bytes = STORE_DEFAULTS.metadataBytes;
  expect(() => read(`{"a":"${"x".repeat(10 * 1024)}"}`, 1024)).toThrow(
    /more than 1024 bytes \(FIELDPROBE_STORE_METADATA_/,
  );
  expect(() => read(`${"[".repeat(10 * STORE_BOUNDS.depth)}${"]".repeat(10 * STORE_BOUNDS.depth)}`)).toThrow(
    /32 levels/,
  );
  expect(() => read(`[${"0,".repeat(1.1 * STORE_BOUNDS.values)}0]`)).toThrow(/more than 1000000 values/);
  expect(read('{"a":"[[[[{{{{,,,,\\"[["}')).toEqual({ a: '[[[[{{{{,,,,"[[' });
  const [hostile, good] = [
    folderOf({ "zarr.json": Buffer.alloc(bytes + 1, " ") }),
    folderOf({ ".zarray": second({}), "0": new Uint8Array(256) }),
  ];
  expect(await failure(stores.open({ store: hostile }))).toMatch(/zarr.json: the metadata of the store have more than/);
  expect(Object.keys((await stores.open({ store: good })).entries)).toEqual(["/"]);
});

it.each([".zattrs", "zarr.json"])("bounds the attributes in %s", async (name) => {
  const store = (count: number) => {
    const attributes = Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, i]));
    const third = { zarr_format: 3, node_type: "group", attributes };
    return folderOf({
      ...(name === ".zattrs" ? { ".zgroup": '{"zarr_format":2}' } : {}),
      [name]: JSON.stringify(name === ".zattrs" ? attributes : third),
    });
  };
  const { attributes } = STORE_BOUNDS;
  expect(Object.keys((await stores.open({ store: store(attributes) })).entries["/"]?.attributes ?? {})).toHaveLength(
    attributes,
  );
  expect(await failure(stores.open({ store: store(attributes + 1) }))).toMatch(/more than 10000 attributes/);
  const hostile = stores.open({ store: store(10 * attributes) });
  expect(await failure(hostile)).toContain(`${name} has an object of more than 30000 members`);
});

it("bounds the members of each object of a document before it is parsed, and of no list", () => {
  const read = (text: string) => new DocumentReader(1e6, 1e6, 3).read("zarr.json", Buffer.from(text));
  const within = { a: { b: 1, c: 2, d: 3 }, e: { f: [1, 2, 3, 4, 5], g: 4, h: 5 }, i: 6 };
  expect(read(JSON.stringify(within))).toEqual(within);
  const beyond = { a: [{ b: { c: 1, d: 2, e: 3, f: 4 } }] };
  expect(() => read(JSON.stringify(beyond))).toThrow("zarr.json has an object of more than 3 members");
});

it("bounds groups and arrays, paths, dimensions, chunks of shards and bytes of chunks", async () => {
  const consolidated = (metadata: object) =>
    folderOf({ ".zgroup": '{"zarr_format":2}', ".zmetadata": JSON.stringify({ metadata }) });
  const groups = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, i) => [
        [`g${i}/.zgroup`, { zarr_format: 2 }],
        [`g${i}/.zattrs`, {}],
      ]).flat(),
    );
  const most = await stores.open({ store: consolidated(groups(STORE_BOUNDS.nodes - 1)) });
  expect(Object.keys(most.entries)).toHaveLength(STORE_BOUNDS.nodes);
  expect(await failure(stores.open({ store: consolidated(groups(STORE_BOUNDS.nodes)) }))).toMatch(
    /more than 10000 groups and arrays/,
  );
  const long = { [`${"n".repeat(10 * STORE_BOUNDS.pathLength)}/.zgroup`]: { zarr_format: 2 } };
  expect(await failure(stores.open({ store: consolidated(long) }))).toMatch(/longer than 1024 characters/);
  const flat = Array(10 * STORE_BOUNDS.dimensions).fill(1);
  expect(await failure(stores.open({ store: folderOf({ ".zarray": second({ shape: flat, chunks: flat }) }) }))).toMatch(
    /more than 32 dimensions/,
  );
  const large = { shape: [64], chunks: [(10 * STORE_DEFAULTS.chunkBytes) / 4] };
  const fitting = { shape: [64], chunks: [STORE_DEFAULTS.chunkBytes / 4] };
  const whole = await stores.open({ store: folderOf({ ".zarray": second(fitting) }) });
  expect(whole.entries["/"]).toMatchObject({ unknownCodecs: [] });
  const { entries } = await stores.open({ store: folderOf({ ".zarray": second(large) }) });
  expect(entries["/"]).toMatchObject({
    unknownCodecs: [expect.stringMatching(/^chunks of 2684354560 bytes, more than/)],
  });
  const shard = writeZarr(join(scratchFolder(), "shard.zarr"), {
    version: 3,
    arrays: { p: array(["z", "y", "x"], { shard: [2, 1, 2] }) },
  });
  const third = JSON.parse(
    String(execFileSync("cat", [join(shard, "p/zarr.json")])).replace(
      /"chunk_shape":\[8,10,10\]/,
      '"chunk_shape":[8000,10000,10000]',
    ),
  );
  writeFileSync(join(shard, "p/zarr.json"), JSON.stringify(third));
  const sharded = (await stores.open({ store: shard })).entries["/p"];
  expect(JSON.stringify(sharded)).toMatch(/shards of more than 1048576 chunks/);
});

it("bounds the references of a list, their characters and their templates", () => {
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, ["b", i, 4]]));
  expect(expand({ version: 1, refs: many(STORE_BOUNDS.references) })).toHaveLength(STORE_BOUNDS.references);
  expect(() => expand({ version: 1, refs: many(STORE_BOUNDS.references + 1) })).toThrow(/more than 500000 references/);
  const templates = { u: "x".repeat(STORE_BOUNDS.templateLength) };
  const long = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`a${i}`, ["{{u}}".repeat(400), i, 4]]));
  expect(() => expand({ version: 1, templates, refs: long })).toThrow(/expands to more than/);
  expect(() => expand({ version: 1, templates: { u: "x".repeat(10 * STORE_BOUNDS.templateLength) }, refs })).toThrow(
    /a template has more than 4096 characters/,
  );
});

it("puts the texts of templates into targets", () => {
  const templates = { u: "s3://bucket", f: "$&.h5" };
  const list = { version: 1, templates, gen: [], refs: { a: ["{{u}}/{{ f }}", 0, 5], b: "text {{u}}", c: ["d.h5"] } };
  expect(expand(list)).toEqual([
    ["a", ["s3://bucket/$&.h5", 0, 5]],
    ["b", "text {{u}}"],
    ["c", ["d.h5"]],
  ]);
});

it.each(["eval(globalThis.hacked=1)", "t+1", "f(c='run')", "t()", "b", "f", "__proto__"])(
  "computes nothing in a template and refuses it in one line: %s",
  (text) => {
    const list = { version: 1, templates: { t: "1", f: "{{c}}.h5" }, refs: { k: [`{{${text}}}`, 0, 1] } };
    expect(() => expand(list)).toThrow(/^list cannot be expanded: \{\{[^\n]*\}\} is not the name of a text$/);
    expect(globalThis).not.toHaveProperty("hacked");
  },
);

it("refuses a list that generates references, whatever they would be", () => {
  const gen = [{ key: "a{{i}}", url: "b", dimensions: { i: { stop: 1e12 } } }];
  expect(() => expand({ version: 1, refs, gen })).toThrow('list: "gen" is not read; write the list anew');
});

/** What 40 KB of gzip, or 13 KB of Zstandard, decode to. */
const ZEROS = new Uint8Array(40 * 1024 * 1024);
const header = (length: number, at: number, decoded: number, own?: number) => {
  const bytes = Buffer.alloc(length);
  bytes.writeUInt32LE(decoded, at);
  if (own !== undefined) bytes.writeUInt32LE(length, own);
  return bytes;
};

it.each([
  ["gzip", { id: "gzip", level: 9 }, gzipSync(ZEROS, { level: 9 })],
  ["zlib", { id: "zlib", level: 9 }, deflateSync(ZEROS, { level: 9 })],
  ["zstd of a stated length", { id: "zstd" }, zstdBomb(3200, true)],
  ["zstd of blocks", { id: "zstd" }, zstdBomb(3200, false)],
  ["lz4", { id: "lz4" }, header(100, 0, ZEROS.length)],
  ["blosc", { id: "blosc" }, header(100, 4, ZEROS.length, 12)],
])("stops at the declared size of a chunk: %s", async (_, compressor, chunk) => {
  const store = folderOf({ ".zarray": second({ compressor }), "0": chunk });
  const { newestMs } = await stores.open({ store });
  const before = process.memoryUsage().rss;
  const reading = stores.read({ store, newestMs, path: "/", offset: [0], count: [64] });
  expect(await failure(reading)).toMatch(/chunk 0 of \/ is damaged/);
  expect(process.memoryUsage().rss - before).toBeLessThan(64 * 1024 * 1024);
});

it("refuses a chunk that is larger than any encoding of it, and one that is a named pipe", async () => {
  const store = folderOf({ ".zarray": second({}), "0": new Uint8Array(10 * 1024 * 1024) });
  const { newestMs } = await stores.open({ store });
  const box = { store, newestMs, path: "/", offset: [0], count: [64] };
  expect(await failure(stores.read(box))).toMatch(/0 has 10485760 bytes, more than/);
  rmSync(join(store, "0"));
  execFileSync("mkfifo", [join(store, "0")]);
  execFileSync("touch", ["-d", "2020-01-01", join(store, "0")]);
  expect(await failure(stores.read(box))).toMatch(/0 is not a plain file/);
});

it("refuses to read what is cut into more chunks than a read may touch", async () => {
  const length = 10 * STORE_BOUNDS.readChunks;
  const store = folderOf({ ".zarray": second({ shape: [length], chunks: [1] }) });
  const { newestMs } = await stores.open({ store });
  expect(await failure(stores.read({ store, newestMs, path: "/", offset: [0], count: [length] }))).toMatch(
    /more than 262144 chunks/,
  );
});

it("expands a list again only once it is another", async () => {
  const folder = scratchFolder();
  const store = join(folder, "one.refs.json");
  const write = (length: number) => {
    const chunk = ["f.h5", 0, 4 * length];
    writeFileSync(store, JSON.stringify({ version: 1, refs: { ".zarray": second({ shape: [length] }), "0": chunk } }));
  };
  writeFileSync(join(folder, "f.h5"), new Uint8Array(400));
  write(64);
  const first = await stores.open({ store });
  expect((await stores.open({ store })).entries).toBe(first.entries);
  write(100);
  const other = await stores.open({ store });
  expect(other.entries["/"]).toMatchObject({ shape: [100] });
  expect(other.newestMs).toBeGreaterThan(first.newestMs);
});

it("bounds the files that a list of references names", async () => {
  const folder = scratchFolder();
  const list = join(folder, "many.refs.json");
  const chunks = Array.from({ length: 10 * STORE_BOUNDS.targets }, (_, i) => [`${i}`, [`f${i}.h5`, 0, 4]]);
  const shape = { shape: [chunks.length], chunks: [1] };
  writeFileSync(
    list,
    JSON.stringify({ version: 1, refs: { ".zarray": second(shape), ...Object.fromEntries(chunks) } }),
  );
  expect(await failure(stores.open({ store: list }))).toMatch(/names more than 10000 files/);
});

it("bounds the pages of a bucket's list and the bytes of each", async () => {
  let pages = 0;
  const empty = "<ListBucketResult><NextContinuationToken>more</NextContinuationToken></ListBucketResult>";
  const folders = "<CommonPrefixes><Prefix>runs/a/</Prefix></CommonPrefixes>".repeat(STORE_BOUNDS.listed / 100);
  const full = empty.replace(">", `>${folders}`);
  const fetch = async (_address: string, _range: unknown, most: number) => {
    expect(most).toBe(STORE_BOUNDS.pageBytes);
    pages++;
    return { bytes: Buffer.from(page) };
  };
  const place = { bucket: "https://cubes.example", prefix: "https://cubes.example/runs", key: "runs" };
  const objects = { fetch } as unknown as RemoteObjects;
  const list = () => failure(listFolder(objects, { ...place, sign: async (request) => request }, ""));
  let page = empty;
  expect(await list()).toMatch(/runs is listed on more than 1000 pages/);
  expect(pages).toBe(STORE_BOUNDS.listed / 1000);
  page = full;
  expect(await list()).toMatch(/runs holds more than 1000000 objects/);
});

it("says nothing of a bound that is met exactly", () => {
  expect(
    failureOf(() => read(`${`{"a":[`.repeat(STORE_BOUNDS.depth / 2)}${"]}".repeat(STORE_BOUNDS.depth / 2)}`)),
  ).toBeNull();
  expect(failureOf(() => read('{"a": 1}', 8))).toBeNull();
});

/**
 * Stores that say what readers often pass over, although values depend on it, are read as it is meant or refused, and
 * never read wrong.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import { scanFolders } from "../../../src/storage/catalog/scan-folders.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import { openFile } from "../../../src/storage/open-file.js";
import { recognise } from "../../../src/storage/recognise/recognise.js";
import { expandConsolidated } from "../../../src/storage/zarr/metadata.js";
import { type Dimension, nodeValue } from "../../support/cubes.js";
import { useObjectServer } from "../../support/object-server.js";
import { onlyDataset } from "../../support/only-dataset.js";
import { nodesOf } from "../../support/read-nodes.js";
import { scratchFolder } from "../../support/scratch.js";
import { type ArraySpec, crc32c, knownObjects, type StoreSpec, writeKnownZarr, writeZarr } from "../../support/zarr.js";
import { array, CHUNKS, expectNodes, SNAPSHOT } from "./numbered-cube.js";

const SCRATCH = scratchFolder();
const OPTIONS = { chunkBytes: 64 * 1024 * 1024 };
const ORDER: Dimension[] = ["z", "y", "x"];
const server = useObjectServer();
type Change = (metadata: Record<string, unknown>) => Record<string, unknown>;

let stores = 0;
function write(version: 2 | 3, members: Partial<ArraySpec> = {}, change: Change = (same) => same, more = {}): string {
  const spec: StoreSpec = { version, arrays: { p: array(ORDER, members), ...SNAPSHOT }, ...more };
  const store = writeKnownZarr(join(SCRATCH, `folder${++stores}`, `store${stores}.zarr`), spec);
  const metadata = join(store, "p", version === 2 ? ".zarray" : "zarr.json");
  writeFileSync(metadata, JSON.stringify(change(JSON.parse(readFileSync(metadata, "utf8")))));
  return store;
}

function scan(store: string): { datasets: readonly Dataset[]; problems: string } {
  const { datasets, problems } = scanFolders([dirname(store)], OPTIONS);
  return { datasets, problems: problems.map(({ message }) => message).join("\n") };
}

const only = (store: string): Dataset => onlyDataset(dirname(store));

const pressures = (dataset: Dataset): Float32Array => nodesOf(dataset, "pressure");

const isFirst = (chunk: readonly number[]) => chunk.every((index) => index === 0);

/** Compares all nodes, those of the first chunk being NaN. */
function expectHole(values: Float32Array): void {
  for (const [index, value] of values.entries()) {
    const [z, y, x] = [Math.floor(index / 120), Math.floor(index / 12) % 10, index % 12];
    const missing = z < CHUNKS.z && y < CHUNKS.y && x < CHUNKS.x;
    expect(value).toBe(missing ? Number.NaN : nodeValue({ t: 0, z, y, x, c: 0 }));
  }
}

describe("what was never written", () => {
  it.each([
    ["null", 2, { fill: null, attributes: { missing: "fill" } }],
    ["NaN", 2, { fill: "NaN" }],
    ["Infinity", 3, { fill: "Infinity" }],
    ["0 in a shard", 3, { fill: 0, shard: [2, 1, 2] }],
  ] as const)("is an error among floats with the fill value %s", (_, version, members) => {
    const dataset = only(write(version, { ...members, skip: isFirst }));
    expect(() => pressures(dataset)).toThrow(/pressure of frame 0 cannot be read/);
  });

  it.each([
    ["an array", 2, { fill: "NaN", attributes: { missing: "fill" } }, {}],
    ["an array in shards", 3, { fill: "NaN", shard: [2, 1, 2], attributes: { missing: "fill" } }, {}],
    ["the group above it", 3, { fill: "NaN" }, { attributes: { missing: "fill" } }],
  ] as const)("is the fill value if %s says so", (_, version, members, more) => {
    expectHole(pressures(only(write(version, { ...members, skip: isFirst }, (same) => same, more))));
  });

  it.each([2, 3] as const)(
    "is NaN among integers of Zarr %i if it means the fill value, and that is the _FillValue",
    (version) => {
      const attributes = { _FillValue: -999, scale_factor: 1, add_offset: 0, missing: "fill" };
      expectHole(pressures(only(write(version, { type: "int16", fill: -999, attributes, skip: isFirst }))));
    },
  );

  it("is an error among integers where nothing stands for it", () => {
    const attributes = { scale_factor: 1, add_offset: 0 };
    const dataset = only(write(2, { type: "int16", fill: null, attributes, skip: isFirst }));
    expect(() => pressures(dataset)).toThrow(/pressure of frame 0 cannot be read/);
  });
});

const bytesCodec = { name: "bytes", configuration: { endian: "little" } };
const coded =
  (...codecs: readonly object[]): Change =>
  (m) => ({ ...m, codecs });
const transposed = (...order: readonly number[]) => ({ name: "transpose", configuration: { order } });
/** Changes of good metadata that leave no way to read the values, and the word by which each is refused. */
const ABSURD: readonly (readonly [string, 2 | 3, Partial<ArraySpec>, Change, RegExp])[] = [
  ["no codec that makes bytes", 3, {}, coded({ name: "gzip" }), /0 turn elements into bytes/],
  ["no codecs", 3, {}, coded(), /0 turn elements into bytes/],
  [
    "a level that is no number",
    3,
    {},
    coded(bytesCodec, { name: "zstd", configuration: { level: "x" } }),
    /zstd with level x/,
  ],
  ["an unknown codec of blosc", 2, {}, (m) => ({ ...m, compressor: { id: "blosc", cname: "foo" } }), /cname "foo"/],
  ["two that make bytes", 3, {}, coded(bytesCodec, bytesCodec), /2 turn elements into bytes/],
  ["bytes compressed before there are any", 3, {}, coded({ name: "gzip" }, bytesCodec), /gzip before bytes/],
  ["an unknown byte order", 3, {}, coded({ name: "bytes", configuration: { endian: "middle" } }), /endian middle/],
  ["no byte order", 3, {}, coded({ name: "bytes" }), /endian undefined/],
  ["a transposition of axes that are not there", 3, {}, coded(transposed(0, 1, 7), bytesCodec), /transpose/],
  ["a transposition of bytes", 3, {}, coded(bytesCodec, transposed(0, 1, 2)), /transpose behind bytes/],
  [
    "an index of shards without a length",
    3,
    { shard: [2, 1, 2] },
    (m) => withIndex(m, [bytesCodec, { name: "gzip" }]),
    /index_codecs/,
  ],
  ["no index of shards", 3, { shard: [2, 1, 2] }, (m) => withIndex(m, undefined), /index_codecs/],
  ["a fill value that is a word", 3, {}, (m) => ({ ...m, fill_value: "nothing" }), /fill_value/],
  ["a fill value that is a list", 3, {}, (m) => ({ ...m, fill_value: [1] }), /fill_value/],
  ["a word as fill value of Zarr 2", 2, {}, (m) => ({ ...m, fill_value: "nothing" }), /fill_value/],
  [
    "a fill value beyond its integers",
    2,
    { type: "int16", attributes: { scale_factor: 1, add_offset: 0 } },
    (m) => ({ ...m, fill_value: 70_000 }),
    /fill_value/,
  ],
  [
    "a fraction among integers",
    3,
    { type: "int16", attributes: { scale_factor: 1, add_offset: 0 } },
    (m) => ({ ...m, fill_value: 0.5 }),
    /fill_value/,
  ],
  ["an unknown order of memory", 2, {}, (m) => ({ ...m, order: "K" }), /order/],
  [
    "an unknown separator",
    3,
    {},
    (m) => ({ ...m, chunk_key_encoding: { name: "default", configuration: { separator: "-" } } }),
    /separator/,
  ],
];
const withIndex = (m: Record<string, unknown>, index_codecs: unknown) => {
  const [shard] = m.codecs as { name: string; configuration: object }[];
  return { ...m, codecs: [{ ...shard, configuration: { ...shard?.configuration, index_codecs } }] };
};

it.each(ABSURD)("refuses at the scan what no read could give: %s", (_, version, members, change, words) => {
  const { datasets, problems } = scan(write(version, members, change));
  expect(problems).toMatch(words);
  expect(datasets).toEqual([]);
});

it("takes the fill value of floats in Zarr 2 for xarray's _FillValue, but for 0", () => {
  const missing = nodeValue({ t: 0, z: 0, y: 0, x: 5, c: 0 });
  const values = pressures(only(write(2, { fill: missing })));
  expect([...values.slice(4, 7)].map(Number.isNaN)).toEqual([false, true, false]);
  expect(pressures(only(write(2, { fill: 0 })))[5]).toBe(missing);
  expect(pressures(only(write(3, { fill: missing })))[5]).toBe(missing);
});

it("takes that of packed integers likewise, and asks about 0", () => {
  const missing = nodeValue({ t: 0, z: 0, y: 0, x: 5, c: 0 });
  const packed = (version: 2 | 3, fill: number) =>
    write(version, { type: "int16", fill, attributes: { scale_factor: 1, add_offset: 0 } });
  expect([...pressures(only(packed(2, missing))).slice(4, 7)].map(Number.isNaN)).toEqual([false, true, false]);
  expect(pressures(only(packed(3, missing)))[5]).toBe(missing);
  expect([...pressures(only(packed(3, 0)))].filter(Number.isNaN)).toEqual([]);
  expect(scan(packed(2, 0)).problems).toMatch(/needs a look/);
  const asked = (store: string) => openFile(store).attributes("/p").get("fill_value");
  expect([asked(packed(2, 0)), asked(packed(3, 0)), asked(write(2, { fill: 0 }))]).toEqual([0, undefined, undefined]);
});

it.each([
  ["uvw", ""],
  ["wvu", "the components of /velocity are w, v, u by /component"],
])("reads that the components are %s from texts as xarray writes them", (names, problem) => {
  const store = join(SCRATCH, `named${names}`, "named.zarr");
  writeZarr(store, { version: 2, arrays: { velocity: array(["z", "y", "x", "c"]), ...SNAPSHOT } });
  const texts = { zarr_format: 2, dtype: "<U1", shape: [3], chunks: [3], order: "C", fill_value: "" };
  mkdirSync(join(store, "component"));
  writeFileSync(join(store, "component", ".zarray"), JSON.stringify({ ...texts, compressor: null, filters: null }));
  writeFileSync(
    join(store, "component", "0"),
    Uint32Array.from(names, (name) => name.charCodeAt(0)),
  );
  const said = recognise(store)?.descriptor.questions.map(({ question }) => question.toLowerCase());
  expect(said?.filter((text) => text.includes("components of"))).toEqual(
    problem === "" ? [] : [expect.stringContaining(problem)],
  );
});

/** Adds metadata of Zarr 3 to the array `p` of a store of Zarr 2, which say the same but for a change. */
function describeTwice(change: Record<string, unknown>): string {
  const store = write(2, { codec: "gzip", attributes: { units: "m" } });
  const second = JSON.parse(readFileSync(join(store, "p", ".zarray"), "utf8"));
  const third = {
    ...{ zarr_format: 3, node_type: "array", shape: second.shape, data_type: "float32", fill_value: 0 },
    chunk_grid: { name: "regular", configuration: { chunk_shape: second.chunks } },
    chunk_key_encoding: { name: "v2", configuration: { separator: "." } },
    codecs: [
      { name: "bytes", configuration: { endian: "little" } },
      { name: "gzip", configuration: { level: 5 } },
    ],
    ...{ dimension_names: ORDER, attributes: { units: "m" } },
  };
  writeFileSync(join(store, "p", "zarr.json"), JSON.stringify({ ...third, ...change }));
  return store;
}

it("reads an array that both describe with the fill value NaN, as the views of this service do", () => {
  const store = describeTwice({ fill_value: "NaN" });
  const file = join(store, "p", ".zarray");
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), fill_value: "NaN" }));
  expectNodes(only(store), "pressure", 1);
});

it("reads an array that Zarr 2 and Zarr 3 describe alike", () => {
  expectNodes(only(describeTwice({})), "pressure", 1);
});

it.each([
  ["type", { data_type: "float64" }],
  ["key", { chunk_key_encoding: { name: "default" } }],
  ["order of bytes", { codecs: [{ name: "bytes", configuration: { endian: "big" } }, { name: "gzip" }] }],
  ["codec", { codecs: [{ name: "bytes", configuration: { endian: "little" } }] }],
  ["labels", { dimension_names: ["x", "y", "z"] }],
  ["scale", { attributes: { units: "m", scale_factor: 2 } }],
  ["fill value", { fill_value: -999 }],
  ["kind", { node_type: "group" }],
])("refuses an array that Zarr 2 and Zarr 3 describe with another %s", (_, change) => {
  const { datasets, problems } = scan(describeTwice(change));
  expect(datasets).toEqual([]);
  expect(problems).toContain("p/zarr.json and p/.zarray do not say the same: remove the one that does not hold");
});

it("reads packed big-endian integers in Fortran order", () => {
  const attributes = { scale_factor: 0.5, add_offset: 10 };
  const store = write(2, { type: "int16", bigEndian: true, fortran: true, attributes, fill: -999 });
  expect(pressures(only(store))[11]).toBe(Math.fround(nodeValue({ t: 0, z: 0, y: 0, x: 11, c: 0 }) * 0.5 + 10));
});

function nested(change: Change): string {
  const store = write(2, {}, change);
  const chunks = readdirSync(join(store, "p")).filter((name) => /^\d/.test(name));
  for (const name of chunks) {
    const place = join(store, "p", ...name.split("."));
    mkdirSync(dirname(place), { recursive: true });
    renameSync(join(store, "p", name), `${place}.moved`);
  }
  for (const name of chunks) {
    const place = join(store, "p", ...name.split("."));
    renameSync(`${place}.moved`, place);
  }
  return store;
}

it("reads chunks of Zarr 2 whose keys have slashes", () => {
  expectNodes(only(nested((metadata) => ({ ...metadata, dimension_separator: "/" }))), "pressure", 1);
});

it("refuses an array of Zarr 2 at the scan if it does not say that its keys have slashes", () => {
  const { datasets, problems } = scan(nested(({ dimension_separator: _, ...metadata }) => metadata));
  expect(datasets).toEqual([]);
  expect(problems).toContain('add "dimension_separator": "/"');
});

describe("an array of Zarr 3", () => {
  const sharded = { shard: [2, 1, 2] };
  const sharding = (metadata: Record<string, unknown>, members: object) => {
    const [{ name, configuration }] = metadata.codecs as [{ name: string; configuration: object }];
    return { ...metadata, codecs: [{ name, configuration: { ...configuration, ...members } }] };
  };
  const transpose = { name: "transpose", configuration: { order: [2, 1, 0] } };
  const CASES: [what: string, members: Partial<ArraySpec>, change: Change, problem: RegExp][] = [
    [
      "codecs of elements around shards",
      sharded,
      (m) => ({ ...m, codecs: [transpose, ...(m.codecs as [])] }),
      /codecs of elements around shards/,
    ],
    ["an index in the middle of shards", sharded, (m) => sharding(m, { index_location: "middle" }), /index_location/],
    ["chunks that do not divide a shard", sharded, (m) => sharding(m, { chunk_shape: [3, 10, 5] }), /chunk_shape/],
    [
      "an unknown codec in shards",
      sharded,
      (m) => sharding(m, { codecs: [{ name: "bytes" }, { name: "sz3" }] }),
      /sz3/,
    ],
    [
      "chunks of several sizes",
      {},
      (m) => ({ ...m, chunk_grid: { ...(m.chunk_grid as object), name: "rectilinear" } }),
      /rectilinear/,
    ],
    ["keys of another kind", {}, (m) => ({ ...m, chunk_key_encoding: { name: "hash" } }), /chunk_key_encoding/],
    ["storage transformers", {}, (m) => ({ ...m, storage_transformers: [{ name: "x" }] }), /storage_transformers/],
    ["a member that must be understood", {}, (m) => ({ ...m, offset_table: {} }), /offset_table/],
    [
      "integers without a fill value",
      { type: "int16", attributes: { scale_factor: 1 } },
      (m) => ({ ...m, fill_value: null }),
      /fill_value/,
    ],
    ["complex numbers", {}, (m) => ({ ...m, data_type: "complex64" }), /p/],
    [
      "chunks of no nodes",
      {},
      (m) => ({ ...m, chunk_grid: { name: "regular", configuration: { chunk_shape: [0, 10, 5] } } }),
      /chunk_shape/,
    ],
    [
      "chunks of another rank",
      {},
      (m) => ({ ...m, chunk_grid: { name: "regular", configuration: { chunk_shape: [10, 5] } } }),
      /chunk_shape/,
    ],
    ["a dimension without nodes", {}, (m) => ({ ...m, shape: [0, 10, 12] }), /./],
    [
      "two transpositions",
      {},
      (m) => ({ ...m, codecs: [transpose, transpose, ...(m.codecs as [])] }),
      /several transpositions/,
    ],
    ["a shape that is none", {}, (m) => ({ ...m, shape: [8.5, 10, 12] }), /shape is not a list of lengths/],
  ];

  it.each(CASES)("is refused with %s", (_, members, change, problem) => {
    const { datasets, problems } = scan(write(3, members, change));
    expect(datasets).toEqual([]);
    expect(problems).toMatch(problem);
  });

  it("is read with a member that need not be understood", () => {
    expectNodes(only(write(3, {}, (m) => ({ ...m, hint: { must_understand: false } }))), "pressure", 1);
  });

  it.each([
    ["beyond the shard", 2n ** 40n],
    ["beyond all numbers", 2n ** 64n - 2n],
  ])("is an error where an index leads %s", (_, offset) => {
    const store = write(3, sharded);
    const shard = join(store, "p", "c/0/0/0");
    const bytes = readFileSync(shard);
    const index = bytes.subarray(bytes.length - 4 - 16 * 4);
    index.writeBigUInt64LE(offset, 0);
    index.writeUInt32LE(crc32c(index.subarray(0, -4)), index.length - 4);
    writeFileSync(shard, bytes);
    expect(() => pressures(only(store))).toThrow(/pressure of frame 0 cannot be read/);
  });
});

describe("consolidated metadata that disagree with those of an array", () => {
  it.each([2, 3] as const)("are refused in Zarr %i, with the remedy", (version) => {
    const change: Change = (metadata) => ({ ...metadata, fill_value: 5 });
    const { datasets, problems } = scan(write(version, {}, change, { consolidated: true }));
    expect(datasets).toEqual([]);
    expect(problems).toMatch(/the consolidated metadata disagree with p\/.*: zarr.consolidate_metadata/);
  });

  it("may list a group that a copy of the store has left behind", () => {
    const metadata = { z: {}, derived: {}, "derived/z": {} };
    const documents = new Map([["zarr.json", { consolidated_metadata: { metadata } }]]);
    const keys = (present?: Record<string, number>) => [...expandConsolidated("store", documents, present).keys()];
    expect(keys({ "/": 1, "/z": 1 })).toEqual(["zarr.json", "z/zarr.json", "derived/zarr.json"]);
    expect(keys()).toContain("derived/z/zarr.json");
  });
});

it("reads float64 chunks that lie side by side in a shard at odd places, behind HTTP", async () => {
  // A checksum behind each chunk shifts the next one by four bytes.
  const objects = knownObjects({
    version: 3,
    arrays: { p: array(ORDER, { type: "float64", shard: [2, 1, 2], sums: true }), ...SNAPSHOT },
    consolidated: true,
  });
  await server.put("odd.zarr", objects);
  const dataset = onlyDataset(`${server.url}/odd.zarr`);
  const open = openDataset(dataset);
  const all = dataset.fields.pressure?.bricking.count.reduce((product, count) => product * count, 1) ?? 0;
  // All at once, so that they are fetched as one piece.
  open.fetched("pressure", [{ frame: 0, bricks: Array.from({ length: all }, (_, brick) => brick) }]);
  open.close();
  expectNodes(dataset, "pressure", 1);
});

describe("a document", () => {
  it.each(["data_type", "chunk_grid", "codecs", "shape"])("of an array of Zarr 3 without %s is refused", (member) => {
    const { problems } = scan(write(3, {}, ({ [member]: _, ...others }) => others));
    expect(problems).toContain(`/p: its document has no ${member}`);
  });

  it.each(["dtype", "chunks", "shape"])("of an array of Zarr 2 without %s is refused", (member) => {
    const { problems } = scan(write(2, {}, ({ [member]: _, ...others }) => others));
    expect(problems).toContain(`/p: its document has no ${member}`);
  });

  it.each([["zyx"], [["z", "y"]], [[1, 2, 3]]])("that names its dimensions %j is refused", (dimension_names) => {
    const { problems } = scan(write(3, {}, (metadata) => ({ ...metadata, dimension_names })));
    expect(problems).toContain("/p: dimension_names does not name 3 dimensions");
  });

  it("whose attributes are no object is refused", () => {
    const { problems } = scan(write(3, {}, (metadata) => ({ ...metadata, attributes: ["scale_factor", 2] })));
    expect(problems).toContain("/p: the member attributes is not a JSON object");
  });

  it("of attributes that is no object is refused", () => {
    const store = write(2);
    writeFileSync(join(store, "p", ".zattrs"), "[2]");
    expect(scan(store).problems).toContain(".zattrs is not a JSON object");
  });

  it("of shards whose inner chunks are no list is refused", () => {
    const codecs = [{ name: "sharding_indexed", configuration: { chunk_shape: 4, codecs: [{ name: "bytes" }] } }];
    const { problems } = scan(write(3, {}, (metadata) => ({ ...metadata, codecs })));
    expect(problems).toContain("/p: chunk_shape is not a list of lengths");
  });

  it.each([
    [2, ".zarray", '"order": "C"', "order"],
    [2, ".zattrs", '"scale_factor": 2.0, "scale_factor": 4.0', "scale_factor"],
    [3, "zarr.json", '"\\u0063odecs": []', "codecs"],
  ] as const)("of Zarr %i that states a member of %s twice is refused", (version, name, members, member) => {
    const path = join(write(version), "p", name);
    writeFileSync(path, readFileSync(path, "utf8").replace("{", `{${members},`));
    expect(scan(dirname(dirname(path))).problems).toContain(`${name}: the member ${member} is stated twice`);
  });

  it.each([
    [2, 3],
    [2, "2"],
    [3, 2],
  ] as const)("of Zarr %i with the format %j is refused", (version, zarr_format) => {
    const { problems } = scan(write(version, {}, (metadata) => ({ ...metadata, zarr_format })));
    expect(problems).toContain(`/p: its document has zarr_format ${JSON.stringify(zarr_format)}, not ${version}`);
  });

  it.each([
    ["-1, 1", (stored: number) => stored],
    ["-1.0, 1e0", (stored: number) => stored / 2],
  ])("with the valid range [%s] of packed integers limits stored numbers or values", (range, limited) => {
    const values = Float64Array.from(array(ORDER).values, (_, i) => (i % 7) - 3);
    const store = write(2, { type: "int16", values, attributes: { scale_factor: 0.5, valid_range: "RANGE" } });
    const path = join(store, "p", ".zattrs");
    writeFileSync(path, readFileSync(path, "utf8").replace('"RANGE"', `[${range}]`));
    const expected = Float32Array.from(values, (stored) => (Math.abs(limited(stored)) > 1 ? Number.NaN : stored / 2));
    expect(pressures(only(store))).toEqual(expected);
  });
});

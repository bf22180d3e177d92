/** Converts a dataset to float32 in a store of Zarr 3, in a folder or a bucket. */

import { setImmediate } from "node:timers/promises";
import { DataError } from "../../shared/errors.js";
import { sha256 } from "../../shared/sha256.js";
import { openDataset, type StoredBricks } from "../bricks/brick-reader.js";
import { MANIFEST_NAME, type Manifest } from "../catalog/manifest.js";
import { type Dataset, type FieldName, fieldNames, nodeAt, type Triple } from "../dataset/dataset.js";
import type { DescriptorInput } from "../dataset/descriptor.js";
import { CONVERSION_NAME } from "../dataset/folder-names.js";
import { DESCRIPTOR_ATTRIBUTE, STORE_ITSELF } from "../recognise/converted-store.js";
import type { ObjectTarget } from "../remote/objects/object-target.js";
import { arrayDocument, documentBytes as json, PLAIN_CODECS, rootDocument } from "../zarr/array-document.js";
import { type Compression, ShardCodec } from "../zarr/shard.js";
import { portableDescriptor, readingDigest, requireConvertible } from "./portable.js";

export interface ZarrOptions {
  readonly name: string;
  /** Nodes of a chunk along every axis, at most the nodes of the axis. */
  readonly chunk: number;
  /** Nodes of a shard along every axis, a multiple of `chunk`; 0: each chunk is an object. */
  readonly shard: number;
  readonly compression: Compression;
}

const ROOT = "zarr.json";
/** Most bytes of a shard, which is made in memory and read back as a whole when a conversion resumes. */
const MAX_SHARD_BYTES = 768 * 1024 * 1024;

/** Writes objects, and records the size and digest of each. */
class NotedTarget {
  readonly files: Record<string, Manifest["files"][string]> = {};
  readonly #target: ObjectTarget;

  constructor(target: ObjectTarget) {
    this.#target = target;
  }

  async write(key: string, bytes: Uint8Array): Promise<void> {
    this.note(key, bytes);
    await this.#target.write(key, bytes);
  }

  note(key: string, bytes: Uint8Array): void {
    this.files[key] = { bytes: bytes.length, sha256: sha256(bytes) };
  }
}

interface SmallArray {
  readonly path: string;
  readonly type: "float64" | "int32";
  readonly shape: readonly number[];
  readonly dimensions: readonly (string | null)[];
  readonly values: Float64Array | Int32Array;
}

interface Cut {
  readonly nodes: Triple;
  readonly chunk: Triple;
  readonly chunks: Triple;
  readonly components: number;
}

/**
 * Interrupted at any point, it resumes with the same arguments: shards whose checksums match are kept. The manifest and
 * the root document, which makes it a store, come last, once the disk has everything else.
 * @param progress receives the fraction done after each shard
 * @returns values read from the source, in bytes, and the objects of fields: written, and kept
 * @throws DataError when the target holds anything else, or a shard would be too large
 */
export async function convertToZarr(
  dataset: Dataset,
  target: ObjectTarget,
  options: ZarrOptions,
  progress: (fraction: number) => void,
): Promise<{ bytesRead: number; files: number; kept: number }> {
  requireConvertible(dataset);
  const fields = fieldNames(dataset);
  const cuts = new Map(fields.map((field) => [field, cutOf(dataset, field, options)]));
  await claim(dataset, target, options);
  const total = [...cuts.values()].reduce((sum, cut) => sum + shardsOf(cut).length, 0) * dataset.time.count;
  const source = openDataset(dataset);
  const noted = new NotedTarget(target);
  let [files, kept] = [0, 0];
  try {
    for (const [field, cut] of cuts) {
      const { compression, shard } = options;
      const codec = await ShardCodec.open({ compression, chunksPerShard: shard === 0 ? null : product(cut.chunks) });
      for (let frame = 0; frame < dataset.time.count; frame++)
        for (const at of shardsOf(cut)) {
          const key = `${field}/c/${[frame, ...at.toReversed(), ...(cut.components === 3 ? [0] : [])].join("/")}`;
          const there = await target.read(key);
          if (there !== null && codec.isWhole(there, chunksIn(cut, at).length)) {
            noted.note(key, there);
            kept++;
          } else await noted.write(key, await encodeShard(source, field, frame, cut, at, codec, shard > 0));
          progress(++files / total);
          await setImmediate();
        }
    }
    const root = await writeDocuments(dataset, noted, options, cuts);
    noted.note(ROOT, root);
    await target.write(MANIFEST_NAME, json({ files: noted.files } satisfies Manifest));
    await target.flush([...Object.keys(noted.files).filter((key) => key !== ROOT), MANIFEST_NAME]);
    await target.write(ROOT, root);
    await target.flush([ROOT]);
    await target.remove(CONVERSION_NAME);
    return { bytesRead: source.bytesRead, files, kept };
  } finally {
    source.close();
  }
}

async function claim(dataset: Dataset, target: ObjectTarget, options: ZarrOptions): Promise<void> {
  const conversion = { format: "zarr", ...options, source: dataset.files, reading: readingDigest(dataset) };
  const plan = JSON.stringify(conversion, null, 2);
  const known = await target.read(CONVERSION_NAME);
  if (known !== null) {
    if (new TextDecoder().decode(known) !== plan)
      throw new DataError(
        `${target.location} holds the start of a conversion of other files, or with other answers or options; remove it first`,
      );
    return;
  }
  if ((await target.read(ROOT)) !== null) throw new DataError(`${target.location} holds a store already`);
  if (!(await target.isEmpty())) throw new DataError(`${target.location} is not empty`);
  await target.write(CONVERSION_NAME, Buffer.from(plan));
  await target.flush([CONVERSION_NAME]);
}

function cutOf(dataset: Dataset, field: FieldName, { chunk, shard }: ZarrOptions): Cut {
  const nodes = dataset.axes.map((axis) => axis.nodes) as unknown as Triple;
  const edge = nodes.map((n) => Math.min(n, chunk)) as unknown as Triple;
  const chunks = nodes.map((n, axis) =>
    shard === 0 ? 1 : Math.max(1, Math.min(Math.floor(shard / chunk), Math.ceil(n / edge[axis]))),
  ) as unknown as Triple;
  const components = dataset.fields[field]?.components ?? 1;
  const bytes = product(edge) * product(chunks) * components * Float32Array.BYTES_PER_ELEMENT;
  if (bytes > MAX_SHARD_BYTES)
    throw new DataError(
      `a shard of ${field} would have ${bytes} bytes, more than ${MAX_SHARD_BYTES}: --shard makes it smaller`,
    );
  return { nodes, chunk: edge, chunks, components };
}

function shardsOf({ nodes, chunk, chunks }: Cut): Triple[] {
  return indicesIn(nodes.map((n, axis) => Math.ceil(n / (chunk[axis] * chunks[axis]))) as unknown as Triple);
}

function chunksIn({ nodes, chunk, chunks }: Cut, at: Triple): Triple[] {
  return indicesIn(chunks).filter((inside) =>
    inside.every((index, axis) => (at[axis] * chunks[axis] + index) * chunk[axis] < nodes[axis]),
  );
}

/** All indices below these counts, x fastest. */
export function indicesIn([nx, ny, nz]: Triple): Triple[] {
  const found: Triple[] = [];
  for (let z = 0; z < nz; z++) for (let y = 0; y < ny; y++) for (let x = 0; x < nx; x++) found.push([x, y, z]);
  return found;
}

const product = (lengths: Triple): number => lengths[0] * lengths[1] * lengths[2];

async function encodeShard(
  source: StoredBricks,
  field: FieldName,
  frame: number,
  cut: Cut,
  at: Triple,
  codec: ShardCodec,
  isShard: boolean,
): Promise<Uint8Array> {
  const encoded: (Uint8Array | null)[] = new Array(product(cut.chunks)).fill(null);
  for (const inside of chunksIn(cut, at)) {
    const number = (inside[2] * cut.chunks[1] + inside[1]) * cut.chunks[0] + inside[0];
    encoded[number] = await codec.chunk(readChunk(source, field, frame, cut, at, inside));
  }
  return isShard ? codec.shard(encoded) : (encoded[0] as Uint8Array);
}

/** The values of a chunk; those beyond the grid are NaN. */
function readChunk(
  source: StoredBricks,
  field: FieldName,
  frame: number,
  { nodes, chunk, chunks, components }: Cut,
  at: Triple,
  inside: Triple,
): Float32Array {
  const first = at.map((index, axis) => (index * chunks[axis] + inside[axis]) * chunk[axis]) as unknown as Triple;
  const count = first.map((start, axis) => Math.min(chunk[axis], nodes[axis] - start)) as unknown as Triple;
  const values = new Float32Array(product(chunk) * components);
  source.readNodes(field, frame, { first, count }, values, chunk);
  return values;
}

async function writeDocuments(
  dataset: Dataset,
  target: NotedTarget,
  options: ZarrOptions,
  cuts: ReadonlyMap<FieldName, Cut>,
): Promise<Uint8Array> {
  const documents = new Map<string, object>();
  for (const [field, cut] of cuts) documents.set(field, fieldDocument(dataset, cut, options));
  for (const table of tablesOf(dataset)) {
    const { path, shape, type, dimensions } = table;
    documents.set(path, arrayDocument({ shape, chunks: shape, type, fill: 0, codecs: PLAIN_CODECS, dimensions }));
    const { buffer, byteOffset, byteLength } = table.values;
    const key = ["c", ...shape.map(() => 0)].join("/");
    await target.write(`${path}/${key}`, new Uint8Array(buffer, byteOffset, byteLength));
  }
  if (dataset.forcing.kind === "modes")
    documents.set("forcing", { zarr_format: 3, node_type: "group", attributes: {} });
  for (const [path, document] of documents) await target.write(`${path}/${ROOT}`, json(document));
  const descriptor = JSON.stringify(describe(dataset, options, cuts));
  return json(rootDocument({ title: dataset.title, [DESCRIPTOR_ATTRIBUTE]: descriptor }, documents));
}

function fieldDocument(dataset: Dataset, { nodes, chunk, chunks, components }: Cut, options: ZarrOptions): object {
  const tail = components === 3 ? [3] : [];
  const stored = (lengths: Triple, frames: number) => [frames, ...lengths.toReversed(), ...tail];
  const sharded = chunk.map((edge, axis) => edge * chunks[axis]) as unknown as Triple;
  const inner = ShardCodec.codecsOf(options.compression);
  const index = [...PLAIN_CODECS, { name: "crc32c" }];
  const configuration = { chunk_shape: stored(chunk, 1), codecs: inner, index_codecs: index, index_location: "end" };
  return arrayDocument({
    shape: stored(nodes, dataset.time.count),
    chunks: stored(sharded, 1),
    type: "float32",
    fill: "NaN",
    codecs: options.shard === 0 ? inner : [{ name: "sharding_indexed", configuration }],
    dimensions: ["time", "z", "y", "x", ...(components === 3 ? ["component"] : [])],
  });
}

/** Coordinates and times, for readers that do not know descriptors, and the modes of a force. */
function tablesOf(dataset: Dataset): SmallArray[] {
  const { time, forcing } = dataset;
  const along = (name: string, length: number, at: (index: number) => number): SmallArray => ({
    path: name,
    type: "float64",
    shape: [length],
    dimensions: [name],
    values: Float64Array.from({ length }, (_, index) => at(index)),
  });
  const tables = dataset.axes.map((axis, a) => along("xyz".charAt(a), axis.nodes, (index) => nodeAt(axis, index)));
  tables.push(along("time", time.count, (index) => time.values?.[index] ?? time.origin + index * time.step));
  if (forcing.kind !== "modes") return tables;
  const modes = forcing.wavenumber.length / 3;
  const { wavenumber, coefficient, frames } = forcing;
  const none = (rank: number) => new Array<null>(rank).fill(null);
  return [
    ...tables,
    { path: "forcing/wavenumber", type: "int32", shape: [modes, 3], dimensions: none(2), values: wavenumber },
    {
      path: "forcing/coefficient",
      type: "float64",
      shape: [frames, modes, 3, 2],
      dimensions: none(4),
      values: coefficient,
    },
  ];
}

function describe(dataset: Dataset, { name }: ZarrOptions, cuts: ReadonlyMap<FieldName, Cut>): DescriptorInput {
  const places = [...cuts].map(([field, { components }]) => [
    field,
    { file: STORE_ITSELF, path: `/${field}`, dimensions: ["t", "z", "y", "x", ...(components === 3 ? ["c"] : [])] },
  ]);
  const forcing = { file: STORE_ITSELF, path: "/forcing" };
  return portableDescriptor(dataset, name, Object.fromEntries(places) as DescriptorInput["fields"], forcing);
}

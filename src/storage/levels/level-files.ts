/** The store of the levels of a dataset: written frame by frame, resumed after any interruption, and opened again. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { DataError } from "../../shared/errors.js";
import { STORE_DEFAULTS } from "../../shared/store-settings.js";
import { type Dataset, type FieldSource, fieldNames, isStaggered, type Triple } from "../dataset/dataset.js";
import { fileStamp, realPath, statusOf } from "../dataset/files.js";
import { LEVELS_SUFFIX } from "../dataset/folder-names.js";
import { type ObjectTarget, objectTarget } from "../remote/objects/object-target.js";
import { arrayDocument, documentBytes, PLAIN_CODECS, rootDocument } from "../zarr/array-document.js";
import { withoutSum } from "../zarr/codecs.js";
import { crc32c } from "../zarr/crc32c.js";
import { ShardCodec } from "../zarr/shard.js";
import { coarsestLevel, levelAxis, shapeOf } from "./level-axes.js";
import {
  BINS,
  boxesOf,
  EXTREMA_LEVEL,
  FrameLevels,
  type Histogram,
  type LevelExtrema,
  type LevelShard,
  SHARD_EDGE,
} from "./level-sums.js";

/** A stored field, or an expression, that has levels of its own. */
export interface LevelQuantity {
  readonly text: string;
  readonly array: string;
  readonly components: 1 | 3;
}

/** Weights of the nodes along x, y, z. */
export type Widths = readonly [Float64Array, Float64Array, Float64Array];

export interface LevelSet {
  readonly folder: string;
  readonly widths: Widths;
  readonly quantities: readonly LevelQuantity[];
  /** Level k at place k - 1, each a dataset whose fields are the quantities by their texts. */
  readonly datasets: readonly Dataset[];
}

/** Says what the levels in a folder are of: there from the start. */
const CLAIM = "levels.json";
const ROOT = "zarr.json";
const ATTRIBUTE = "fieldprobe_levels";
const ROOT_BYTES = 16 * 2 ** 20;
const CHUNK_EDGE = 32;
const SUMMED = { name: "crc32c" };

interface Claim {
  readonly schemaVersion: 1;
  readonly dataset: string;
  readonly digest: string;
  readonly quantities: readonly LevelQuantity[];
}

/** The folders where levels of a dataset may be, the preferred one first: beside it, and below the state folder. */
export function levelFolders({ name, location }: Dataset, state: string): readonly string[] {
  const own = join(state, "levels", `${name}${LEVELS_SUFFIX}`);
  if (isAddress(location)) return [own];
  return [join(dirname(realPath(location) ?? location), `${name}${LEVELS_SUFFIX}`), own];
}

/** The fields that have levels: those on the nodes of the dataset. */
export function fieldsWithLevels(dataset: Dataset): readonly LevelQuantity[] {
  return fieldNames(dataset).flatMap((text) => {
    const source = dataset.fields[text] as FieldSource;
    return isStaggered(dataset, text) ? [] : [{ text, array: text, components: source.components }];
  });
}

export function levelQuantity(text: string, components: 1 | 3): LevelQuantity {
  return { text, array: `what_${createHash("sha256").update(text).digest("hex").slice(0, 12)}`, components };
}

const nodesOf = ({ axes }: Dataset): Triple => axes.map(({ nodes }) => nodes) as unknown as Triple;
const product = ([x, y, z]: Triple): number => x * y * z;
const tailOf = (components: number): number[] => (components === 1 ? [] : [components]);

interface Cut {
  readonly nodes: Triple;
  readonly chunk: Triple;
  readonly chunks: Triple;
}

function cutOf(nodes: Triple): Cut {
  const chunk = nodes.map((n) => Math.min(n, CHUNK_EDGE)) as unknown as Triple;
  const chunks = nodes.map((n) => Math.min(SHARD_EDGE / CHUNK_EDGE, Math.ceil(n / CHUNK_EDGE))) as unknown as Triple;
  return { nodes, chunk, chunks };
}

export class LevelWriter {
  readonly #target: ObjectTarget;
  readonly #dataset: Dataset;
  readonly #widths: Widths;
  readonly #sumOf = crc32c();
  readonly #written: string[] = [];
  readonly #codecs = new Map<number, ShardCodec>();

  private constructor(target: ObjectTarget, dataset: Dataset, widths: Widths) {
    this.#target = target;
    this.#dataset = dataset;
    this.#widths = widths;
  }

  get folder(): string {
    return this.#target.location;
  }

  /**
   * Opens the first of the folders that can be written; levels of other data in it are removed.
   *
   * @throws DataError if none can be written, or one holds anything else
   */
  static async open(dataset: Dataset, widths: Widths, folders: readonly string[]): Promise<LevelWriter> {
    if (coarsestLevel(dataset.axes) === 0) throw new DataError(`${dataset.name} has at most 8 nodes along each axis`);
    let refusal: unknown;
    for (const folder of folders) {
      const target = objectTarget(folder, STORE_DEFAULTS);
      try {
        const claim: Claim = { schemaVersion: 1, dataset: dataset.name, digest: dataset.digest, quantities: [] };
        const known = await target.read(CLAIM);
        if (known !== null && digestIn(known) !== dataset.digest) await rm(folder, { recursive: true, force: true });
        else if (known === null && !(await target.isEmpty())) throw new DataError(`${folder} holds something else`);
        await target.write(CLAIM, documentBytes(claim));
        return new LevelWriter(target, dataset, widths);
      } catch (error) {
        refusal ??= error;
      }
    }
    throw refusal instanceof DataError ? refusal : new DataError(`${folders[0]} cannot be written`, refusal);
  }

  async has({ array }: LevelQuantity, frame: number): Promise<boolean> {
    return (await this.#target.read(`histograms/${array}/edges/c/${frame}/0/0`)) !== null;
  }

  /**
   * Makes a frame of a quantity in one pass.
   *
   * @param read     nodes of a box, [z][y][x][component]
   * @param ahead    boxes that are read at a time
   * @param progress called with the fraction done after each box
   */
  async write(
    quantity: LevelQuantity,
    frame: number,
    read: (first: Triple, count: Triple) => Promise<Float32Array>,
    ahead: number,
    progress: (fraction: number) => void,
  ): Promise<void> {
    const { components, array } = quantity;
    const nodes = nodesOf(this.#dataset);
    const shards: LevelShard[] = [];
    const grid = { nodes, widths: this.#widths, levels: coarsestLevel(this.#dataset.axes) };
    const periodic = this.#dataset.axes.map((axis) => axis.periodic) as [boolean, boolean, boolean];
    const sums = new FrameLevels({ ...grid, periodic }, components, (shard) => shards.push(shard));
    const boxes = [...boxesOf(nodes)];
    const put = async (key: string, bytes: Uint8Array): Promise<void> => {
      this.#written.push(key);
      await this.#target.write(key, bytes);
    };
    const putShards = async (): Promise<void> => {
      for (const shard of shards.splice(0)) {
        const at = [frame, ...shard.at.toReversed(), ...tailOf(components).map(() => 0)].join("/");
        await put(`${shard.level}/${array}/c/${at}`, await this.#encode(shard, components));
      }
    };
    const pending: Promise<Float32Array>[] = [];
    const next = (): void => {
      const box = boxes[pending.length];
      if (box === undefined) return;
      const values = read(box.first, box.count);
      values.catch(() => undefined);
      pending.push(values);
    };
    for (let i = 0; i < ahead; i++) next();
    for (const [i, { first, count }] of boxes.entries()) {
      const values = await (pending[i] as Promise<Float32Array>);
      // Neither this box nor its promise is needed any more.
      pending[i] = Promise.resolve(EMPTY);
      next();
      sums.add(first, count, values);
      await putShards();
      progress((i + 1) / boxes.length);
    }
    const { extrema, histograms } = sums.finish();
    await putShards();
    for (const { level, values } of extrema)
      await put(`extrema/${level}/${array}/c/${frame}/0/0/0/0`, this.#summed(values));
    const name = `histograms/${array}`;
    await put(`${name}/weights/c/${frame}/0/0`, this.#summed(joined(histograms.map(({ weights }) => weights))));
    // The last one shows that the frame is whole.
    const edges = joined(histograms.map((one) => Float64Array.from(one.edges)));
    await put(`${name}/edges/c/${frame}/0/0`, this.#summed(edges));
  }

  /** Makes the store known, with quantities whose frames are all there and those that it has already. */
  async finish(made: readonly LevelQuantity[]): Promise<void> {
    const known = claimIn(this.folder, this.#dataset)?.quantities ?? [];
    const texts = new Set(made.map(({ text }) => text));
    const quantities = [...known.filter(({ text }) => !texts.has(text)), ...made];
    const documents = documentsOf(this.#dataset, this.#widths, quantities);
    for (const [path, { document, values }] of documents) {
      if (values !== undefined) await this.#target.write(`${path}/c/0`, new Uint8Array(values.buffer));
      await this.#target.write(`${path}/${ROOT}`, documentBytes(document));
    }
    const { name: dataset, digest, title } = this.#dataset;
    const claim: Claim = { schemaVersion: 1, dataset, digest, quantities };
    await this.#target.settle(this.#written.splice(0));
    const metadata = new Map([...documents].map(([path, { document }]) => [path, document]));
    await this.#target.write(ROOT, documentBytes(rootDocument({ title, [ATTRIBUTE]: claim }, metadata)));
    await this.#target.settle([ROOT]);
  }

  #summed({ buffer, byteOffset, byteLength }: Float32Array | Float64Array): Uint8Array {
    const out = new Uint8Array(byteLength + 4);
    out.set(new Uint8Array(buffer, byteOffset, byteLength));
    new DataView(out.buffer).setUint32(byteLength, this.#sumOf(out.subarray(0, byteLength)), true);
    return out;
  }

  async #encode({ level, size, values }: LevelShard, components: number): Promise<Uint8Array> {
    const { chunk, chunks } = cutOf(shapeOf(nodesOf(this.#dataset), level));
    const codec =
      this.#codecs.get(level) ?? (await ShardCodec.open({ compression: "none", chunksPerShard: product(chunks) }));
    this.#codecs.set(level, codec);
    const encoded: (Uint8Array | null)[] = [];
    for (let cz = 0; cz < chunks[2]; cz++)
      for (let cy = 0; cy < chunks[1]; cy++)
        for (let cx = 0; cx < chunks[0]; cx++) {
          const first = [cx * chunk[0], cy * chunk[1], cz * chunk[2]] as const;
          if (first.some((at, a) => at >= size[a])) encoded.push(null);
          else encoded.push(await codec.chunk(chunkOf(values, size, first, chunk, components)));
        }
    return codec.shard(encoded);
  }
}

const EMPTY = new Float32Array(0);

function joined(parts: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** A chunk of a shard; what is beyond the grid is NaN. */
function chunkOf(values: Float32Array, size: Triple, first: Triple, chunk: Triple, components: number): Float32Array {
  const out = new Float32Array(product(chunk) * components).fill(Number.NaN);
  const [nx, ny, nz] = chunk.map((n, a) => Math.min(n, size[a] - first[a])) as unknown as Triple;
  for (let z = 0; z < nz; z++)
    for (let y = 0; y < ny; y++) {
      const from = components * (((first[2] + z) * size[1] + first[1] + y) * size[0] + first[0]);
      out.set(values.subarray(from, from + components * nx), components * (z * chunk[1] + y) * chunk[0]);
    }
  return out;
}

interface Written {
  readonly document: object;
  readonly values?: Float64Array;
}

function documentsOf(dataset: Dataset, widths: Widths, quantities: readonly LevelQuantity[]): Map<string, Written> {
  const frames = dataset.time.count;
  const documents = new Map<string, Written>();
  const group = (path: string) => {
    documents.set(path, { document: { zarr_format: 3, node_type: "group", attributes: {} } });
  };
  const plain = { codecs: [...PLAIN_CODECS, SUMMED], fill: "NaN" as const };
  const levels = coarsestLevel(dataset.axes);
  group("histograms");
  if (levels >= EXTREMA_LEVEL) group("extrema");
  for (let k = 1; k <= levels; k++) {
    group(String(k));
    const cut = cutOf(shapeOf(nodesOf(dataset), k));
    dataset.axes.forEach((axis, a) => {
      const name = "xyz".charAt(a);
      const { nodes, origin, spacing, coordinates } = levelAxis(axis, widths[a], k);
      const values = coordinates?.slice() ?? Float64Array.from({ length: nodes }, (_, i) => origin + i * spacing);
      const along = { shape: [nodes], chunks: [nodes], dimensions: [name], codecs: PLAIN_CODECS };
      documents.set(`${k}/${name}`, { document: arrayDocument({ ...along, type: "float64", fill: "NaN" }), values });
    });
    for (const { array, components, text } of quantities)
      documents.set(`${k}/${array}`, { document: levelDocument(cut, frames, components, text) });
    if (k < EXTREMA_LEVEL) continue;
    group(`extrema/${k}`);
    for (const { array, components, text } of quantities) {
      const chunk = [...cut.nodes.toReversed(), 2 * components];
      const shapes = { shape: [frames, ...chunk], chunks: [1, ...chunk] };
      const dimensions = ["time", "z", "y", "x", "bound"];
      const document = arrayDocument({ ...plain, ...shapes, dimensions, type: "float32", attributes: { what: text } });
      documents.set(`extrema/${k}/${array}`, { document });
    }
  }
  for (const { array, components, text } of quantities) {
    group(`histograms/${array}`);
    for (const [name, length] of [
      ["weights", BINS],
      ["edges", 2],
    ] as const) {
      const shapes = { shape: [frames, components, length], chunks: [1, components, length] };
      const dimensions = ["time", "component", name === "edges" ? "edge" : "bin"];
      const document = arrayDocument({ ...plain, ...shapes, dimensions, type: "float64", attributes: { what: text } });
      documents.set(`histograms/${array}/${name}`, { document });
    }
  }
  return documents;
}

function levelDocument({ nodes, chunk, chunks }: Cut, frames: number, components: number, what: string): object {
  const stored = (lengths: Triple, first: number) => [first, ...lengths.toReversed(), ...tailOf(components)];
  const configuration = {
    chunk_shape: stored(chunk, 1),
    codecs: ShardCodec.codecsOf("none"),
    index_codecs: [...PLAIN_CODECS, SUMMED],
    index_location: "end",
  };
  return arrayDocument({
    shape: stored(nodes, frames),
    chunks: stored(chunk.map((n, a) => n * chunks[a]) as unknown as Triple, 1),
    type: "float32",
    fill: "NaN",
    codecs: [{ name: "sharding_indexed", configuration }],
    dimensions: ["time", "z", "y", "x", ...(components === 1 ? [] : ["component"])],
    attributes: { what },
  });
}

function digestIn(claim: Uint8Array): string | null {
  try {
    return String((JSON.parse(new TextDecoder().decode(claim)) as Claim).digest);
  } catch {
    return null;
  }
}

/** The claim of a complete store; null if there is none, or it is of other data. */
function claimIn(folder: string, { digest }: Dataset): Claim | null {
  const path = join(folder, ROOT);
  const size = statusOf(path)?.size ?? ROOT_BYTES;
  if (size >= ROOT_BYTES) return null;
  try {
    const claim = JSON.parse(readFileSync(path, "utf8")).attributes[ATTRIBUTE] as Claim;
    return claim.schemaVersion === 1 && claim.digest === digest && claim.quantities.every(isQuantity) ? claim : null;
  } catch {
    return null;
  }
}

function isQuantity({ text, array, components }: LevelQuantity): boolean {
  return typeof text === "string" && /^\w[\w.-]*$/.test(array) && (components === 1 || components === 3);
}

/**
 * Opens the levels of a dataset, the first that are there.
 *
 * @returns null if there are none of these data
 */
export function openLevels(dataset: Dataset, widths: Widths, folders: readonly string[]): LevelSet | null {
  for (const place of folders) {
    const claim = claimIn(place, dataset);
    if (claim === null) continue;
    const folder = realpathSync(place);
    const stamp = { ...fileStamp(folder), newestMs: newestIn(folder) };
    const { quantities } = claim;
    const levels = Array.from({ length: coarsestLevel(dataset.axes) }, (_, i) => i + 1);
    const datasets = levels.map((k) => levelDataset(dataset, widths, k, quantities, stamp));
    return { folder, widths, quantities, datasets };
  }
  return null;
}

/** The time of the newest file, by which the reader of stores knows the version. */
function newestIn(folder: string): number {
  let newest = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) newest = Math.max(newest, statSync(join(entry.parentPath, entry.name)).mtimeMs);
  return newest;
}

function levelDataset(
  dataset: Dataset,
  widths: Widths,
  k: number,
  quantities: readonly LevelQuantity[],
  stamp: Dataset["files"][number],
): Dataset {
  const cut = cutOf(shapeOf(nodesOf(dataset), k));
  const { time, name, aliases, forcing } = dataset;
  const count = cut.nodes.map((n, a) => Math.ceil(n / cut.chunk[a])) as unknown as Triple;
  const sourceOf = ({ text, array, components }: LevelQuantity): [string, FieldSource] => {
    const part = {
      ...{ file: stamp.path, path: `/${k}/${array}`, declared: null, index: 0, skip: [0, 0, 0] as const },
      dimensions: ["t", "z", "y", "x", ...(components === 1 ? [] : ["c"])],
      shape: [time.count, ...cut.nodes.toReversed(), ...tailOf(components)],
      ...{ flip: [false, false, false] as const, firstStep: 0, stepIncrement: 1, steps: null },
    };
    const { title = undefined } = dataset.fields[text] ?? {};
    return [text, { components, bricking: { edge: cut.chunk, count }, parts: [part], ...(title && { title }) }];
  };
  const open = [false, false] as const;
  return {
    ...dataset,
    name: `${name}@${k}`,
    aliases: aliases.map((alias) => `${alias}@${k}`),
    axes: dataset.axes.map((axis, a) => levelAxis(axis, widths[a], k)) as unknown as Dataset["axes"],
    walls: [open, open, open],
    fields: Object.fromEntries(quantities.map(sourceOf)),
    forcing: forcing.kind === "stored" ? { kind: "none" } : forcing,
    location: stamp.path,
    digest: createHash("sha256")
      .update(JSON.stringify([dataset.digest, k, quantities]))
      .digest("hex"),
    files: [stamp],
  };
}

/** Reads an object of a level store whose checksum is behind it. @throws DataError if it is damaged */
async function readSummed(path: string): Promise<ArrayBuffer> {
  try {
    return Uint8Array.from(withoutSum(await readFile(path), crc32c())).buffer;
  } catch (cause) {
    throw new DataError(`${path} is damaged; remove its folder and make the levels again`, cause);
  }
}

/** Extrema of a quantity in the cubes of a level. */
export async function readExtrema(
  { folder, datasets }: LevelSet,
  { array }: LevelQuantity,
  level: number,
  frame: number,
): Promise<LevelExtrema> {
  const buffer = await readSummed(join(folder, `extrema/${level}/${array}/c/${frame}/0/0/0/0`));
  return { level, size: nodesOf(datasets[level - 1]), values: new Float32Array(buffer) };
}

/** Histograms of the components of a quantity. */
export async function readHistograms(
  { folder }: LevelSet,
  quantity: LevelQuantity,
  frame: number,
): Promise<Histogram[]> {
  const path = (name: string) => join(folder, `histograms/${quantity.array}/${name}/c/${frame}/0/0`);
  const [weights, edges] = await Promise.all(
    ["weights", "edges"].map(async (name) => new Float64Array(await readSummed(path(name)))),
  );
  return Array.from({ length: quantity.components }, (_, c) => ({
    edges: [edges[2 * c], edges[2 * c + 1]] as const,
    weights: weights.slice(BINS * c, BINS * (c + 1)),
  }));
}

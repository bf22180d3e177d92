/** Writes the levels of a dataset frame by frame, and resumes after any interruption. */
import { rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DataError } from "../../shared/errors.js";
import { STORE_DEFAULTS } from "../../shared/store-settings.js";
import { holdLock } from "../../shared/system.js";
import { type Dataset, nodeAt, type Triple } from "../dataset/dataset.js";
import { type ObjectTarget, objectTarget } from "../remote/objects/object-target.js";
import { arrayDocument, documentBytes, PLAIN_CODECS, rootDocument } from "../zarr/array-document.js";
import { withoutSum } from "../zarr/codecs.js";
import { crc32c } from "../zarr/crc32c.js";
import { ShardCodec } from "../zarr/shard.js";
import type { BoxKernels } from "./box-kernels.js";
import { coarsestLevel, levelAxis, nodesOf, shapeOf, type Widths } from "./level-axes.js";
import { ATTRIBUTE, type Claim, claimIn, extremaKey, histogramsKey, type LevelQuantity, ROOT } from "./level-store.js";
import { boxesOf, chunkOf, FrameLevels, kernelsOf, type LevelShard, SHARD_CHUNKS, shardOf } from "./level-sums.js";

/** Writes levels of one dataset; it excludes other processes until it is closed. */
export class LevelWriter {
  readonly close: () => void;
  readonly #target: ObjectTarget;
  readonly #dataset: Dataset;
  readonly #widths: Widths;
  readonly #sumOf = crc32c();
  #kernels: BoxKernels | null = null;

  private constructor(target: ObjectTarget, dataset: Dataset, widths: Widths, close: () => void) {
    this.#target = target;
    this.#dataset = dataset;
    this.#widths = widths;
    this.close = close;
  }

  get folder(): string {
    return this.#target.location;
  }

  /**
   * Opens the first of the folders that can be written; levels of other data in it are removed.
   * @throws DataError if none can be written, one holds anything else, or another process makes the levels
   */
  static async open(dataset: Dataset, widths: Widths, folders: readonly string[]): Promise<LevelWriter> {
    const { name, digest } = dataset;
    if (coarsestLevel(dataset.axes) === 0) throw new DataError(`${name} has at most 8 nodes along each axis`);
    let refusal: unknown;
    for (const folder of folders) {
      const release = holdLock(join(dirname(folder), `.${basename(folder)}`));
      if (typeof release !== "function")
        throw new DataError(`levels of ${name} are being made by process ${release.pid} on ${release.host}`);
      const target = objectTarget(folder, STORE_DEFAULTS);
      try {
        const document = await target.read(ROOT);
        const known = document && claimIn(document);
        if (known === null && !(await target.isEmpty())) throw new DataError(`${folder} holds something else`);
        if (known?.digest !== digest) {
          await rm(folder, { recursive: true, force: true });
          const claim: Claim = { schemaVersion: 1, dataset: name, digest, quantities: [] };
          await target.write(ROOT, documentBytes(rootDocument({ [ATTRIBUTE]: claim }, new Map())));
        }
        return new LevelWriter(target, dataset, widths, release);
      } catch (error) {
        release();
        refusal ??= error;
      }
    }
    throw refusal instanceof DataError ? refusal : new DataError(`${folders[0]} cannot be written`, refusal);
  }

  async has(quantity: LevelQuantity, frame: number): Promise<boolean> {
    const last = await this.#target.read(histogramsKey(quantity, frame));
    try {
      return last !== null && withoutSum(last, this.#sumOf).length > 0;
    } catch {
      return false;
    }
  }

  /**
   * Makes a frame of a quantity in one pass.
   * @param read fills nodes of a box, [z][y][x][component]
   * @param ahead boxes in memory at a time, the same in each call
   * @param progress called with the fraction done after each box
   */
  async write(
    quantity: LevelQuantity,
    frame: number,
    read: (first: Triple, count: Triple, out: Float32Array) => Promise<void>,
    ahead: number,
    progress: (fraction: number) => void,
  ): Promise<void> {
    const { axes } = this.#dataset;
    this.#kernels ??= kernelsOf(axes, ahead);
    const memories = this.#kernels.boxes;
    const sums = new FrameLevels(axes, this.#widths, quantity.components, this.#kernels);
    const codec = await ShardCodec.open({ compression: "none", chunksPerShard: SHARD_CHUNKS ** 3 });
    // Objects are flushed one after another while further boxes are read.
    let flushed = Promise.resolve();
    const put = async (key: string, bytes: Uint8Array): Promise<void> => {
      await this.#target.write(key, bytes);
      flushed = flushed.then(() => this.#target.flush([key]));
      flushed.catch(() => undefined);
    };
    const putShards = async (shards: Iterable<LevelShard>): Promise<void> => {
      for (const { level, at, bytes, chunkBytes, places, of } of shards) {
        codec.seal(bytes, chunkBytes, places, of);
        const tail = quantity.components === 1 ? [] : [0];
        await put(`${level}/${quantity.array}/c/${[frame, ...at.toReversed(), ...tail].join("/")}`, bytes);
      }
    };
    const boxes = boxesOf(nodesOf(this.#dataset));
    const reading: Promise<void>[] = [];
    let next = 0;
    for (const [i, { first, count }] of boxes.entries()) {
      for (; next < boxes.length && reading.length < ahead; next++) {
        // The box that had this memory has been added.
        const filled = read(boxes[next].first, boxes[next].count, memories[next % ahead]);
        filled.catch(() => undefined);
        reading.push(filled);
      }
      await reading.shift();
      sums.add(first, count, memories[i % ahead]);
      await putShards(sums.complete(boxes[i + 1]?.first ?? null));
      progress((i + 1) / boxes.length);
    }
    await putShards(sums.coarser());
    const { extrema, histograms } = sums.finish();
    await put(extremaKey(quantity, frame), await codec.chunk(extrema.values));
    // The histograms mark the frame as complete, even after a power failure.
    await flushed;
    const all = Float64Array.from(histograms.flatMap(({ edges, weights }) => [...edges, ...weights]));
    await put(histogramsKey(quantity, frame), await codec.chunk(new Float32Array(all.buffer)));
  }

  /** Publishes the store, with quantities whose frames are complete and quantities that it already has. */
  async finish(made: readonly LevelQuantity[]): Promise<void> {
    const { name: dataset, digest, title } = this.#dataset;
    const known = claimIn((await this.#target.read(ROOT)) ?? new Uint8Array(0))?.quantities ?? [];
    const texts = new Set(made.map(({ text }) => text));
    const quantities = [...known.filter(({ text }) => !texts.has(text)), ...made];
    const documents = new Map<string, object>();
    for (let k = 1; k <= coarsestLevel(this.#dataset.axes); k++) {
      documents.set(String(k), { zarr_format: 3, node_type: "group", attributes: {} });
      for (const [a, axis] of this.#dataset.axes.entries()) {
        const name = "xyz".charAt(a);
        const coarse = levelAxis(axis, this.#widths[a], k);
        const { nodes } = coarse;
        const values = Float64Array.from({ length: nodes }, (_, i) => nodeAt(coarse, i));
        const along = { shape: [nodes], chunks: [nodes], dimensions: [name], codecs: PLAIN_CODECS };
        documents.set(`${k}/${name}`, arrayDocument({ ...along, type: "float64", fill: "NaN" }));
        await this.#target.write(`${k}/${name}/c/0`, new Uint8Array(values.buffer));
      }
      for (const one of quantities) documents.set(`${k}/${one.array}`, this.#documentOf(one, k));
    }
    for (const [path, document] of documents) await this.#target.write(`${path}/${ROOT}`, documentBytes(document));
    const claim: Claim = { schemaVersion: 1, dataset, digest, quantities };
    await this.#target.write(ROOT, documentBytes(rootDocument({ title, [ATTRIBUTE]: claim }, documents)));
  }

  #documentOf({ text, components }: LevelQuantity, level: number): object {
    const size = shapeOf(nodesOf(this.#dataset), level);
    const chunk = chunkOf(size);
    const shard = shardOf(size).map((n, a) => n * chunk[a]);
    const tail = components === 1 ? [] : [components];
    const stored = (first: number, lengths: readonly number[]) => [first, ...lengths.toReversed(), ...tail];
    const index_codecs = [...PLAIN_CODECS, { name: "crc32c" }];
    const inner = { chunk_shape: stored(1, chunk), codecs: ShardCodec.codecsOf("none"), index_codecs };
    return arrayDocument({
      ...{ shape: stored(this.#dataset.time.count, size), chunks: stored(1, shard), type: "float32", fill: "NaN" },
      codecs: [{ name: "sharding_indexed", configuration: { ...inner, index_location: "end" } }],
      dimensions: ["time", "z", "y", "x", ...tail.map(() => "component")],
      attributes: { what: text },
    });
  }
}

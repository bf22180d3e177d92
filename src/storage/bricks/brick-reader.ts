/** Reads bricks of a dataset: values of any stored order and type become float32 nodes in [z][y][x][c]. */
import ndarray from "ndarray";
import { BusyError, changedSinceScan, DataError } from "../../shared/errors.js";
import type { Dataset, FieldName, FieldPart, FieldSource, FileStamp, Triple } from "../dataset/dataset.js";
import { fieldOf } from "../dataset/dataset.js";
import { frameIn, isUnchanged, placeOf, realPath, statusOf } from "../dataset/files.js";
import { isAsStored, isField, type Packing, packingOf, timesFactor } from "../dataset/packing.js";
import { ReadBuffer } from "../dataset/read-buffer.js";
import type { ChunkIndex, Stored } from "../dataset/stored.js";
import type { StoredFile, StoredHyperslab } from "../dataset/stored-file.js";
import { openFile } from "../open-file.js";
import { copyBox, isInBlockOrder, type NodeBox, type NodeValues, readBox, storedBox } from "./stored-box.js";

const OPEN_FILES = 32;

/** A dataset of an open file, its header checked against what the catalogue verified. */
interface OpenPart {
  readonly path: string;
  readonly stored: Stored;
  readonly packing: Packing;
  /** Null if everything is written. */
  readonly index: ChunkIndex | null;
}

/** An open file of the dataset, as the catalogue recorded it, and its stored datasets that have been read. */
interface OpenFile {
  readonly file: StoredFile;
  readonly record: FileStamp;
  readonly parts: Map<string, OpenPart>;
}

export interface FrameBricks {
  readonly frame: number;
  readonly bricks: readonly number[];
}

/** A box of a file that holds values of a brick, and the index of its frame in a list. */
interface WantedBox {
  readonly box: StoredHyperslab;
  readonly brick: number;
  readonly at: number;
}

export interface StoredBricks {
  readonly bytesRead: number;
  /**
   * Reads one brick of one frame.
   * @param out layout [z][y][x][c]; nodes beyond the far faces of the grid become NaN
   * @throws DataError for unreadable, changed or damaged storage: `out` then means nothing
   */
  readBrick(field: FieldName, frame: number, brick: number, out: Float32Array): void;
  /**
   * Starts to fetch bricks, all at once, and waits for a moment if none has arrived.
   * @returns the bricks that have arrived or are known to fail
   */
  fetched(field: FieldName, wanted: readonly FrameBricks[]): readonly FrameBricks[];
  /**
   * Reads any box of nodes of one frame, rounded if `out` is float32. Throws DataError as `readBrick`.
   * @param edge lengths of `out`, layout [z][y][x][c], by default those of the box; what is beyond the box becomes NaN
   */
  readNodes(field: FieldName, frame: number, box: NodeBox, out: NodeValues, edge?: Triple): void;
  close(): void;
}

export function openDataset(dataset: Dataset): StoredBricks {
  return new BrickFiles(dataset);
}

class BrickFiles implements StoredBricks {
  bytesRead = 0;
  readonly #dataset: Dataset;
  readonly #nodes: Triple;
  readonly #records: ReadonlyMap<string, FileStamp>;
  /** Open files in order of last use. */
  readonly #files = new Map<string, OpenFile>();
  readonly #buffer = new ReadBuffer();

  constructor(dataset: Dataset) {
    this.#dataset = dataset;
    this.#nodes = dataset.axes.map((axis) => axis.nodes) as unknown as Triple;
    this.#records = new Map(dataset.files.map((record) => [record.path, record]));
  }

  readBrick(field: FieldName, frame: number, brick: number, out: Float32Array): void {
    const source = this.#source(field, frame);
    const { edge, count } = source.bricking;
    if (!Number.isInteger(brick) || brick < 0 || brick >= count[0] * count[1] * count[2])
      throw new DataError(`${this.#dataset.name} has no brick ${brick} of ${field}.`);
    this.#read(field, source, frame, brickBox(this.#nodesOf(source), source, brick), edge, out);
  }

  fetched(field: FieldName, wanted: readonly FrameBricks[]): readonly FrameBricks[] {
    const byFile = new Map<StoredFile, { readonly frame: number; readonly boxes: WantedBox[] }>();
    for (const [at, { frame, bricks }] of wanted.entries()) {
      const source = this.#source(field, frame);
      const nodes = this.#nodesOf(source);
      for (const part of source.parts) {
        // Values whose real shape differs from the declared one are not stored as boxes.
        if (part.declared !== null) continue;
        const { file, opened } = this.#hidingPaths(field, frame, () => this.#open(part, frame));
        const ofFile = byFile.get(file) ?? { frame, boxes: [] };
        byFile.set(file, ofFile);
        for (const brick of bricks) {
          const box = storedBox(part, frameIn(part, frame), nodes, brickBox(nodes, source, brick));
          ofFile.boxes.push({ box: { path: opened.path, ...box }, brick, at });
        }
      }
    }
    /** For each frame, the bricks of which a part is still missing. */
    const absent = wanted.map(() => new Set<number>());
    // Every store is asked before any answer is awaited, so that all requests are under way.
    for (const [file, { frame, boxes }] of byFile) {
      const fetched = this.#hidingPaths(field, frame, () => file.fetch?.(boxes.map(({ box }) => box)) ?? []);
      for (const [index, { at, brick }] of boxes.entries()) if (fetched[index] === false) absent[at]?.add(brick);
    }
    return wanted.map(({ frame, bricks }, at) => ({
      frame,
      bricks: bricks.filter((brick) => !absent[at]?.has(brick)),
    }));
  }

  readNodes(field: FieldName, frame: number, box: NodeBox, out: NodeValues, edge = box.count): void {
    const source = this.#source(field, frame);
    const least = (source.own ?? [source]).map((one) => this.#nodesOf(one));
    const outside = box.first.some((first, axis) => {
      const nodes = Math.min(...least.map((lengths) => lengths[axis] as number));
      return first < 0 || box.count[axis] < 1 || first + box.count[axis] > nodes;
    });
    const last = box.first.map((first, axis) => first + box.count[axis] - 1);
    if (outside) throw new DataError(`${this.#dataset.name} has no nodes ${box.first} to ${last} of ${field}.`);
    this.#read(field, source, frame, box, edge, out);
  }

  #read(field: FieldName, source: FieldSource, frame: number, box: NodeBox, edge: Triple, out: NodeValues): void {
    if (out.length !== edge[0] * edge[1] * edge[2] * source.components)
      throw new RangeError(`${edge.join(" x ")} nodes of ${field} are not ${out.length} values`);
    if (box.count.some((length, axis) => length < edge[axis])) out.fill(Number.NaN);
    this.#hidingPaths(field, frame, () => {
      for (const component of source.parts.keys()) this.#readPart(source, component, frame, box, edge, out);
    });
  }

  #hidingPaths<T>(field: FieldName, frame: number, read: () => T): T {
    try {
      return read();
    } catch (error) {
      if (error instanceof BusyError)
        throw new BusyError(`${this.#dataset.name}: its store does not answer.`, error.context.retryAfter, error);
      if (!(error instanceof DataError)) throw error;
      const until =
        error.context.retryAfter === undefined ? "" : " until its file, which has changed, is scanned again";
      const text = `${this.#dataset.name}: ${field} of frame ${frame} cannot be read${until}.`;
      throw new DataError(text, error, error.context);
    }
  }

  #readPart(source: FieldSource, component: number, frame: number, box: NodeBox, edge: Triple, out: NodeValues): void {
    const part = source.parts[component];
    const { components } = source;
    if (part.constant !== undefined) {
      for (let at = component; at < out.length; at += components) out[at] = part.constant;
      return;
    }
    const nodes = this.#nodesOf(source.own?.[component] ?? source);
    const { file, record, opened } = this.#open(part, frame);
    const { path, stored, packing, index } = opened;
    if (this.#readWhole(file, opened, source, part, frame, box, out)) {
      if (!isUnchanged(record)) throw changedSinceScan(record.path);
      this.bytesRead += out.byteLength;
      return;
    }
    const sources = stored.virtual ? this.#sourcesOf(file, path) : [];
    const found = readBox(file, path, stored, part, frameIn(part, frame), nodes, box, packing, this.#buffer);
    for (const source of sources) if (!isUnchanged(source)) throw changedSinceScan(source.path);
    const gap = index?.unwritten(found) ?? null;
    // A file truncated under an open handle reads as zeros; but the change also shows in its status.
    if (!isUnchanged(record)) throw changedSinceScan(record.path);
    const strides = [components, components * edge[0], components * edge[0] * edge[1], 1];
    copyBox(found.view, ndarray(out, found.view.shape, strides, component));
    this.#buffer.giveBackLent();
    this.bytesRead += found.bytes;
    if (gap !== null) this.#checkGap(file, opened, gap);
  }

  /** The stamps of the sources of a virtual dataset. Throws DataError unless they are the verified ones. */
  #sourcesOf(file: StoredFile, path: string): FileStamp[] {
    return (file.sources?.(path).files ?? []).flatMap((source) => {
      const record = this.#records.get(source);
      if (record === undefined && statusOf(source) !== undefined)
        throw new DataError(`${source} was not there when ${path} was verified.`);
      return record ?? [];
    });
  }

  #readWhole(
    file: StoredFile,
    { path, stored, packing }: OpenPart,
    source: FieldSource,
    part: FieldPart,
    frame: number,
    box: NodeBox,
    out: NodeValues,
  ): boolean {
    if (
      file.readWholeChunk === undefined ||
      out instanceof Float64Array ||
      source.parts.length > 1 ||
      part.declared !== null
    )
      return false;
    const slab = storedBox(part, frameIn(part, frame), this.#nodesOf(source), box);
    const values = slab.count.reduce((product, length) => product * length, 1);
    if (values !== out.length || !isAsStored(stored, packing) || !isInBlockOrder(part, slab.count, box)) return false;
    const bytes = new Uint8Array(out.buffer, out.byteOffset, out.byteLength);
    return file.readWholeChunk(path, stored, slab, bytes, this.#buffer);
  }

  /** The fill value of unwritten chunks means "nothing here" only if it is NaN or `_FillValue`. */
  #checkGap(file: StoredFile, { path, stored, packing }: OpenPart, gap: readonly number[]): void {
    const [value] = file.readHyperslab(path, stored, { offset: gap, count: gap.map(() => 1) }, this.#buffer);
    if (!Number.isNaN(value) && !packing.missing.includes(value))
      throw new DataError(`${file.path}: ${path} was never written at ${gap.join(", ")}.`);
  }

  #nodesOf({ axes }: FieldSource): Triple {
    return axes === undefined ? this.#nodes : (axes.map(({ nodes }) => nodes) as unknown as Triple);
  }

  #source(field: FieldName, frame: number): FieldSource {
    const source = fieldOf(this.#dataset, field);
    if (source === undefined) throw new DataError(`${this.#dataset.name} has no ${field}.`);
    if (!Number.isInteger(frame) || frame < 0 || frame >= this.#dataset.time.count)
      throw new DataError(`${this.#dataset.name} has no frame ${frame} of ${field}.`);
    return source;
  }

  #open(part: FieldPart, frame: number): { file: StoredFile; record: FileStamp; opened: OpenPart } {
    const { file, record, parts } = this.#openFile(placeOf(part.file, part, frame));
    const path = placeOf(part.path, part, frame);
    let opened = parts.get(path);
    if (opened === undefined) {
      opened = openPart(file, path, part);
      parts.set(path, opened);
    }
    return { file, record, opened };
  }

  #openFile(path: string): OpenFile {
    const known = this.#files.get(path);
    if (known !== undefined) {
      this.#files.delete(path);
      this.#files.set(path, known);
      if (!isUnchanged(known.record)) throw changedSinceScan(known.record.path);
      return known;
    }
    // Files of a series are named by a pattern and may be links; the catalogue has verified their targets.
    const record = this.#records.get(path) ?? this.#records.get(realPath(path) ?? "");
    if (record === undefined) throw new DataError(`${path} is not a file of ${this.#dataset.name}.`);
    if (!isUnchanged(record)) throw changedSinceScan(record.path);
    for (const [oldest, { file }] of this.#files) {
      if (this.#files.size < OPEN_FILES) break;
      file.close();
      this.#files.delete(oldest);
    }
    // Sources are compared with the verified ones, wherever they are.
    const file = openFile(record.path, { newestMs: record.newestMs, below: "/" });
    const opened: OpenFile = { file, record, parts: new Map() };
    this.#files.set(path, opened);
    return opened;
  }

  close(): void {
    for (const { file } of this.#files.values()) file.close();
    this.#files.clear();
  }
}

/** @throws DataError if the header differs from the verified one */
function openPart(file: StoredFile, path: string, part: FieldPart): OpenPart {
  const resolved = file.resolve(path);
  if (resolved === null) throw new DataError(`${file.path} has no ${path} any more.`);
  const stored = file.describe(resolved);
  const expected = part.declared ?? part.shape;
  const isFree = (axis: number) => part.frames !== undefined && part.dimensions[axis] === "t";
  const same =
    stored.shape.length === expected.length && stored.shape.every((n, axis) => n === expected[axis] || isFree(axis));
  const packing = timesFactor(packingOf(file.attributes(resolved), stored), part.factor);
  if (!same || !isField(stored, packing))
    throw new DataError(`${file.path}: ${path} is not what the catalogue verified.`);
  return { path: resolved, stored, packing, index: file.chunkIndex(resolved, stored) };
}

function brickBox(nodes: Triple, source: FieldSource, brick: number): NodeBox {
  const { edge, count } = source.bricking;
  const at = [brick % count[0], Math.floor(brick / count[0]) % count[1], Math.floor(brick / (count[0] * count[1]))];
  const first = at.map((index, axis) => index * edge[axis]);
  const left = nodes.map((length, axis) => Math.min(edge[axis] as number, length - (first[axis] as number)));
  return { first: first as unknown as Triple, count: left as unknown as Triple };
}

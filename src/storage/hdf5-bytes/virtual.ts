/**
 * Virtual datasets: the boxes of which they consist, and their values. Source: HDF5 file format specification 4.0,
 * sections IV.A.2.i (virtual layout), III.E and VIII (selections); H5S.c.
 */
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { DataError } from "../../shared/errors.js";
import { dataFolderAround, isIn } from "../dataset/files.js";
import { changesValues } from "../dataset/packing.js";
import { ReadBuffer } from "../dataset/read-buffer.js";
import type { Attributes, Hyperslab, Stored } from "../dataset/stored.js";
import type { SourceDataset, StoredFile, VirtualSources } from "../dataset/stored-file.js";
import { unsigned } from "./bytes.js";
import { checkSum } from "./checksum.js";
import { copyPart, repeated } from "./chunk-reader.js";
import { whyNotUndone } from "./filters.js";

/** A box of a source, and the box of the virtual dataset with the same elements in the same order. */
export interface VirtualPart {
  /** As named by the mapping, relative to the folder of the virtual dataset. */
  readonly file: string;
  readonly path: string;
  /** Null: the whole dataset. */
  readonly source: Hyperslab | null;
  readonly target: Hyperslab;
}

const MAX_PARTS = 65_536;
const OPEN_FILES = 16;
const [HYPERSLAB, ALL] = [2, 3];
const HEAD = 9;

/** @param block the object of the global heap @param shape of the virtual dataset @throws DataError for what is not read */
export function readMappings(block: Buffer, shape: readonly number[]): VirtualPart[] {
  const view = new DataView(block.buffer, block.byteOffset, block.byteLength);
  checkSum(view);
  if (view.getUint8(0) !== 0) throw new DataError(`virtual datasets of version ${view.getUint8(0)} are not read`);
  const count = unsigned(view, 1);
  if (count > MAX_PARTS) throw new DataError(`it is made of ${count} parts, of which ${MAX_PARTS} are read`);
  let at = HEAD;
  const text = (): string => {
    const end = block.indexOf(0, at);
    if (end < 0) throw new DataError("the name of a source has no end");
    const found = block.subarray(at, end).toString("utf8");
    at = end + 1;
    return found;
  };
  const whole = { offset: shape.map(() => 0), count: shape };
  return Array.from({ length: count }, () => {
    const [file, path] = [text(), text()];
    if (/%/.test(file + path)) throw new DataError(`its sources are numbered (${file}), which is not read`);
    const source = readSelection(view, at);
    at = source.end;
    const target = readSelection(view, at);
    at = target.end;
    const { offset, count: lengths } = target.box ?? whole;
    if (offset.length !== shape.length || offset.some((first, d) => first + (lengths[d] as number) > (shape[d] ?? 0)))
      throw new DataError(`its part of ${file} lies outside of it`);
    return { file, path: path.startsWith("/") ? path : `/${path}`, source: source.box, target: target.box ?? whole };
  });
}

/** A selection that is one box; null for all of a dataset. Throws DataError for any other. */
function readSelection(view: DataView, at: number): { readonly box: Hyperslab | null; readonly end: number } {
  const [kind, version] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
  if (kind === ALL) return { box: null, end: at + 16 };
  if (kind !== HYPERSLAB || version < 1 || version > 3)
    throw new DataError("a part of it is no box, which is not read");
  const isFirst = version === 1;
  const width = isFirst ? 4 : version === 2 ? 8 : view.getUint8(at + 9);
  const rankAt = at + (isFirst ? 16 : version === 2 ? 13 : 10);
  const isRegular = !isFirst && (view.getUint8(at + 8) & 1) !== 0;
  const rank = view.getUint32(rankAt, true);
  if (rank > 32) throw new DataError(`a selection has ${rank} dimensions`);
  let next = rankAt + 4;
  const row = (): number[] => {
    const found = Array.from({ length: rank }, (_, d) => unsigned(view, next + width * d, width));
    next += width * rank;
    return found;
  };
  if (isRegular) {
    // Of each dimension: start, stride, count, block.
    const all = [row(), row(), row(), row()].flat();
    const of = (d: number) => all.slice(4 * d, 4 * d + 4) as [number, number, number, number];
    const count = Array.from({ length: rank }, (_, d) => of(d)[2] * of(d)[3]);
    const isBox = count.every((length, d) => length < 2 ** 48 && (of(d)[2] === 1 || of(d)[1] === of(d)[3]));
    if (!isBox) throw noBox();
    return { box: { offset: count.map((_, d) => of(d)[0]), count }, end: next };
  }
  const blocks = unsigned(view, next, width);
  next += width;
  if (blocks !== 1) throw noBox();
  const [offset, last] = [row(), row()] as [number[], number[]];
  return { box: { offset, count: last.map((end, d) => end - (offset[d] as number) + 1) }, end: next };
}

const noBox = (): DataError => new DataError("a part of it has gaps or no end, which is not read");

type Piece = Readonly<Record<"from" | "to", Hyperslab>>;

/**
 * The intersection of a part and a box, or null. @param shape of the source @throws DataError if the two boxes differ
 * in length
 */
export function pieceOf(part: VirtualPart, shape: readonly number[], box: Hyperslab): Piece | null {
  const { target } = part;
  const source = part.source ?? { offset: shape.map(() => 0), count: shape };
  const long = (lengths: readonly number[]) => lengths.filter((length) => length !== 1).join();
  if (long(source.count) !== long(target.count) || source.count.length !== shape.length)
    throw new DataError(`${part.path} of ${part.file} is ${shape.join(" x ")}, which is not its part of it`);
  const first = target.offset.map((start, d) => Math.max(start, box.offset[d] as number));
  const count = target.offset.map((start, d) => {
    const end = Math.min(start + (target.count[d] as number), (box.offset[d] as number) + (box.count[d] as number));
    return end - (first[d] as number);
  });
  if (count.some((length) => length <= 0)) return null;
  // Axes with more than one element must be the same in both, in order.
  const axes = target.count.flatMap((length, d) => (length === 1 ? [] : [d]));
  let next = 0;
  const axisOf = source.count.map((length) => (length === 1 ? -1 : (axes[next++] as number)));
  return {
    from: {
      offset: source.offset.map((start, d) => {
        const axis = axisOf[d] as number;
        return axis < 0 ? start : start + (first[axis] as number) - (target.offset[axis] as number);
      }),
      count: axisOf.map((axis) => (axis < 0 ? 1 : (count[axis] as number))),
    },
    to: { offset: first, count },
  };
}

/** The values of a virtual dataset. Elements without a source are missing data, never a fill value. */
export class VirtualDataset {
  readonly #parts: readonly VirtualPart[];
  readonly #stored: Stored;
  readonly #attributes: Attributes;
  readonly #folder: string;
  readonly #below: string;
  readonly #open: (file: string) => StoredFile;
  readonly #files = new Map<string, StoredFile>();
  readonly #buffer = new ReadBuffer();
  #sources: VirtualSources | null = null;

  /** @param below holds its sources, by default the data folder @param open opens a file, `.` for the own one */
  constructor(
    parts: readonly VirtualPart[],
    stored: Stored,
    attributes: Attributes,
    folder: string,
    below: string | undefined,
    open: (file: string) => StoredFile,
  ) {
    if (stored.element !== "float")
      throw new DataError("it is a virtual dataset of integers, which have no number for what is missing");
    this.#parts = parts;
    this.#stored = stored;
    this.#attributes = attributes;
    this.#folder = realpathSync(folder);
    this.#below = below ?? dataFolderAround(this.#folder);
    this.#open = open;
  }

  /** The path of a source, whether it exists or not, `.` for the own file. Throws DataError if it leads elsewhere. */
  #pathOf(file: string): string {
    if (file === ".") return file;
    const named = resolve(this.#folder, file);
    const path = existsSync(named) ? realpathSync(named) : named;
    if (!isIn(this.#below, path))
      throw new DataError(`its source ${file} lies outside of its data folder, which is refused`);
    return path;
  }

  /** The dataset of a part, or the reason why its data are missing. Throws DataError if it is refused. */
  #source(part: VirtualPart): { readonly file: StoredFile; readonly path: string; readonly stored: Stored } | string {
    const path = this.#pathOf(part.file);
    if (path !== "." && !existsSync(path)) return `${part.file} is missing`;
    let file = this.#files.get(path);
    if (file === undefined) {
      const [oldest] = this.#files.keys();
      if (this.#files.size >= OPEN_FILES && oldest !== undefined) {
        if (oldest !== ".") this.#files.get(oldest)?.close();
        this.#files.delete(oldest);
      }
      file = this.#open(path);
      this.#files.set(path, file);
    }
    const resolved = file.resolve(part.path);
    if (resolved === null || file.kind(resolved) !== "dataset") return `${part.file} has no ${part.path}`;
    const stored = file.describe(resolved);
    if (stored.virtual) throw new DataError(`its source ${part.file} is virtual too, which is not read`);
    if (stored.element !== this.#stored.element || stored.size !== this.#stored.size)
      throw new DataError(`its source ${part.file} holds ${stored.element}${8 * stored.size}`);
    const isOutside = file.hasExternalStorage(resolved);
    const why = isOutside ? "keeps its values in an external raw file" : whyNotUndone(stored.filters);
    if (why !== null) throw new DataError(`its source ${part.file} ${why}`);
    if (file.isUnwritten(resolved)) return `${part.path} of ${part.file} was never written`;
    const { count } = part.source ?? (part.target.count.length === stored.shape.length ? part.target : { count: [] });
    const lacking = count.some((length, d) => (part.source?.offset[d] ?? 0) + length > (stored.shape[d] ?? 0));
    return lacking
      ? `${part.path} of ${part.file} is only ${stored.shape.join(" x ")}`
      : { file, path: resolved, stored };
  }

  /** The sources in their state at the first request. */
  sources(): VirtualSources {
    this.#sources ??= this.#findSources();
    return this.#sources;
  }

  #findSources(): VirtualSources {
    const [files, missing] = [new Set<string>(), new Set<string>()];
    const datasets = new Map<string, SourceDataset>();
    let [covered, refusal] = [0, null as string | null];
    for (const part of this.#parts) {
      const [place, source] = [this.#pathOf(part.file), this.#source(part)];
      if (place !== ".") files.add(place);
      const name = `${part.file}:${part.path}`;
      const known = datasets.get(name)?.stored ?? null;
      if (typeof source === "string") {
        missing.add(source);
        if (known === null) datasets.set(name, { name, stored: null, attributes: new Map() });
      } else {
        const { file, path, stored } = source;
        const attributes = this.#unlike(file.attributes(path));
        const [key, value] = [...attributes].find((attribute) => changesValues(...attribute)) ?? [];
        if (key !== undefined)
          refusal ??= `its source ${name} states ${key} = ${value}, and it does not: give it the same attribute`;
        if (known === null) datasets.set(name, { name, stored, attributes });
        pieceOf(part, stored.shape, part.target);
        covered += part.target.count.reduce((product, length) => product * length, 1);
      }
    }
    if (covered === 0) throw new DataError(`none of its sources has values (${[...missing][0] ?? "it names none"})`);
    const all = this.#stored.shape.reduce((product, length) => product * length, 1);
    if (covered < all && missing.size === 0) missing.add(`no source has ${all - covered} of its ${all} values`);
    return { files: [...files], missing: [...missing], datasets: [...datasets.values()], refusal };
  }

  #unlike(attributes: Attributes): Attributes {
    const own = this.#attributes;
    return new Map([...attributes].filter(([key, value]) => !own.has(key) || `${own.get(key)}` !== `${value}`));
  }

  read(box: Hyperslab, out: Uint8Array): void {
    const { refusal } = this.sources();
    if (refusal !== null) throw new DataError(refusal);
    const { size } = this.#stored;
    const nothing = size === 4 ? Float32Array.of(Number.NaN) : Float64Array.of(Number.NaN);
    out.set(repeated(new Uint8Array(nothing.buffer), out.length));
    const end = ({ offset, count }: Hyperslab, d: number) => (offset[d] as number) + (count[d] as number);
    for (const part of this.#parts) {
      const { target } = part;
      if (box.offset.some((first, d) => end(target, d) <= first || end(box, d) <= (target.offset[d] as number)))
        continue;
      const source = this.#source(part);
      if (typeof source === "string") continue;
      const piece = pieceOf(part, source.stored.shape, box);
      if (piece === null) continue;
      const { file, path, stored } = source;
      this.#requireWritten(file, path, stored, piece.from);
      const values = file.readHyperslab(path, stored, piece.from, this.#buffer);
      const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
      copyPart(bytes, piece.to, stored, box, out);
    }
  }

  /** @throws DataError if a box has unwritten chunks with a numeric fill value */
  #requireWritten(file: StoredFile, path: string, stored: Stored, box: Hyperslab): void {
    const gap = file.chunkIndex(path, stored)?.unwritten(box) ?? null;
    if (gap === null) return;
    const one = { offset: gap, count: gap.map(() => 1) };
    const [value] = file.readHyperslab(path, stored, one, this.#buffer);
    if (!Number.isNaN(value)) throw new DataError(`${file.path}: ${path} was never written at ${gap.join(", ")}`);
  }

  close(): void {
    for (const [path, file] of this.#files) if (path !== ".") file.close();
    this.#files.clear();
  }
}

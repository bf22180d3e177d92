/** Writes arrays as NumPy files: one as `.npy`, several with their names as `.npz`. */
import { Zip, ZipPassThrough } from "fflate";
import { npyHeader as headOf } from "../../../float32/npy.js";

/** The header of a NumPy file, see `npyHeader` of float32. */
export function npyHeader(shape: readonly number[], numbers?: string): Buffer {
  return Buffer.from(headOf(shape, numbers).buffer);
}

/** An array of a file: its name, the type of its elements as NumPy spells it, and its bytes in passages. */
export interface NamedArray {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly number[];
  readonly passages: Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** Writes a text as NumPy stores it, in UTF-32; zeros follow it. */
export function writeLetters(text: string, into: Buffer, at: number): void {
  for (const [i, letter] of [...text].entries()) into.writeUInt32LE(letter.codePointAt(0) ?? 0, at + 4 * i);
}

/** A text as an array without dimensions. */
export function textArray(name: string, text: string): NamedArray {
  return { ...textsArray(name, [text]), shape: [] };
}

/** Texts as an array of one dimension. */
export function textsArray(name: string, texts: readonly string[]): NamedArray {
  const longest = texts.reduce((most, text) => Math.max(most, [...text].length), 1);
  const passage = Buffer.alloc(4 * longest * texts.length);
  for (const [i, text] of texts.entries()) writeLetters(text, passage, 4 * longest * i);
  return { name, type: `<U${longest}`, shape: [texts.length], passages: [passage] };
}

/** Numbers as an array of one dimension. */
export function numberArray(name: string, numbers: ArrayLike<number>): NamedArray {
  const passages = [Buffer.from(Float64Array.from(numbers).buffer)];
  return { name, type: "<f8", shape: [numbers.length], passages };
}

/** All files have the same date, so that equal arrays give equal bytes. */
const EPOCH = new Date(1980, 0, 1);

/** A ZIP archive, not compressed, whose bytes are taken as they are ready. */
class Archive {
  #ready: Buffer[] = [];
  readonly #zip = new Zip((error, bytes) => {
    if (error) throw error;
    this.#ready.push(Buffer.from(bytes));
  });

  /** Begins the file of an array; what it returns takes its passages, and null at its end. */
  begin({ name, shape, type }: Omit<NamedArray, "passages">): (passage: Buffer | null) => readonly Buffer[] {
    const file = new ZipPassThrough(`${name}.npy`);
    file.mtime = EPOCH;
    this.#zip.add(file);
    file.push(npyHeader(shape, type));
    return (passage) => {
      file.push(passage ?? new Uint8Array(0), passage === null);
      return this.#taken();
    };
  }

  end(): readonly Buffer[] {
    this.#zip.end();
    return this.#taken();
  }

  #taken(): readonly Buffer[] {
    const some = this.#ready;
    this.#ready = [];
    return some;
  }
}

/** An `.npz` file: an archive of a `.npy` file for each array. */
export async function* npzFile(arrays: readonly NamedArray[]): AsyncGenerator<Buffer, undefined> {
  const archive = new Archive();
  for (const array of arrays) yield* passagesIn(archive, array);
  yield* archive.end();
}

async function* passagesIn(archive: Archive, { passages, ...array }: NamedArray): AsyncGenerator<Buffer> {
  const write = archive.begin(array);
  for await (const passage of passages) yield* write(passage);
  yield* write(null);
}

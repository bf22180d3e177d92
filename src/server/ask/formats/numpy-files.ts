/** Writes arrays as NumPy files: one as `.npy`, several with their names as `.npz`. */
import { npyHeader as headOf } from "../../../float32/npy.js";
import { ZipWriter } from "./zip-writer.js";

export function npyHeader(shape: readonly number[], numbers?: string): Buffer {
  return Buffer.from(headOf(shape, numbers).buffer);
}

/** An array of a file: its name, the type of its elements as NumPy spells it, and its bytes in chunks. */
export interface NamedArray {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly number[];
  readonly chunks: Iterable<Buffer> | AsyncIterable<Buffer>;
}

/** Writes a text as NumPy stores it, in UTF-32; zeros follow it. */
export function writeLetters(text: string, into: Buffer, at: number): void {
  for (const [i, letter] of [...text].entries()) into.writeUInt32LE(letter.codePointAt(0) ?? 0, at + 4 * i);
}

export function textArray(name: string, text: string): NamedArray {
  return { ...textsArray(name, [text]), shape: [] };
}

export function textsArray(name: string, texts: readonly string[]): NamedArray {
  const longest = texts.reduce((most, text) => Math.max(most, [...text].length), 1);
  const chunk = Buffer.alloc(4 * longest * texts.length);
  for (const [i, text] of texts.entries()) writeLetters(text, chunk, 4 * longest * i);
  return { name, type: `<U${longest}`, shape: [texts.length], chunks: [chunk] };
}

export function numberArray(name: string, numbers: ArrayLike<number>): NamedArray {
  const chunks = [Buffer.from(Float64Array.from(numbers).buffer)];
  return { name, type: "<f8", shape: [numbers.length], chunks };
}

/** An `.npz` file: an archive of a `.npy` file for each array. */
export async function* npzFile(arrays: readonly NamedArray[]): AsyncGenerator<Buffer, undefined> {
  const zip = new ZipWriter();
  for (const array of arrays) yield* zip.stream(`${array.name}.npy`, npyFile(array));
  yield* zip.end();
}

async function* npyFile({ shape, type, chunks }: NamedArray): AsyncGenerator<Buffer> {
  yield npyHeader(shape, type);
  yield* chunks;
}

/** Writes arrays as NumPy files: one as `.npy`, several with their names as `.npz`. */
import { Zip, ZipPassThrough } from "fflate";

/**
 * The header of a NumPy file, version 1.0, padded so that the numbers are aligned to 64 bytes.
 *
 * @param numbers their type, or as a list `[('name', 'type'), ...]` those of columns
 */
export function npyHeader(shape: readonly number[], numbers = "<f4"): Buffer {
  const type = numbers.startsWith("[") ? numbers : `'${numbers}'`;
  const lengths = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const dictionary = `{'descr': ${type}, 'fortran_order': False, 'shape': (${lengths}), }`;
  const length = Math.ceil((10 + dictionary.length + 1) / 64) * 64 - 10;
  const head = Buffer.alloc(10);
  head.write("\x93NUMPY\x01\x00", "latin1");
  head.writeUInt16LE(length, 8);
  return Buffer.concat([head, Buffer.from(`${dictionary.padEnd(length - 1)}\n`, "latin1")]);
}

/** An array of a file: its name, the type of its elements as NumPy spells it, and its bytes in passages. */
export interface NamedArray {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly number[];
  readonly passages: Iterable<Buffer>;
}

/** A text as an array without dimensions. */
export function textArray(name: string, text: string): NamedArray {
  const letters = [...text];
  const passage = Buffer.alloc(4 * Math.max(1, letters.length));
  for (const [i, letter] of letters.entries()) passage.writeUInt32LE(letter.codePointAt(0) ?? 0, 4 * i);
  return { name, type: `<U${Math.max(1, letters.length)}`, shape: [], passages: [passage] };
}

/** Numbers as an array of one dimension. */
export function numberArray(name: string, numbers: readonly number[]): NamedArray {
  const passages = [Buffer.from(Float64Array.from(numbers).buffer)];
  return { name, type: "<f8", shape: [numbers.length], passages };
}

/** A `.npy` file. */
export function* npyFile({ type, shape, passages }: NamedArray): Generator<Buffer> {
  yield npyHeader(shape, type);
  yield* passages;
}

/** All files have the same date, so that equal arrays give equal bytes. */
const EPOCH = new Date(1980, 0, 1);

/** An `.npz` file: a ZIP archive, not compressed, of a `.npy` file for each array. */
export function* npzFile(arrays: readonly NamedArray[]): Generator<Buffer> {
  let ready: Buffer[] = [];
  const archive = new Zip((error, bytes) => {
    if (error) throw error;
    ready.push(Buffer.from(bytes));
  });
  const taken = (): Buffer[] => {
    const some = ready;
    ready = [];
    return some;
  };
  for (const array of arrays) {
    const file = new ZipPassThrough(`${array.name}.npy`);
    file.mtime = EPOCH;
    archive.add(file);
    for (const passage of npyFile(array)) {
      file.push(passage);
      yield* taken();
    }
    file.push(new Uint8Array(0), true);
    yield* taken();
  }
  archive.end();
  yield* taken();
}

/**
 * `RecordWriter` writes records of float32 numbers as text: the shortest decimals, with literal bytes before, between
 * and after them.
 */
import { FLOAT_BYTES, FloatWriter } from "./format.js";

/** Literal bytes of a record: before the first number, between numbers, and after the last one. */
export type Separators = readonly Uint8Array[];

/** Longest text of a record. */
export function recordBytes(separators: Separators): number {
  const literal = separators.reduce((sum, { length }) => sum + length, 0);
  return literal + (separators.length - 1) * FLOAT_BYTES;
}

/** Writes records; one instance per thread because it keeps scratch space. */
export class RecordWriter {
  readonly #floats = new FloatWriter();

  /**
   * Writes `values[from .. end)`, whole records, at `out[at]`; returns the index after the text. `out` needs room for
   * as many times `recordBytes`.
   *
   * @param notFinite text of numbers that are not finite; null: as in XML Schema
   */
  write(
    values: Float32Array,
    from: number,
    end: number,
    separators: Separators,
    out: Uint8Array,
    at: number,
    notFinite: Uint8Array | null = null,
  ): number {
    const numbers = separators.length - 1;
    let next = at;
    for (let i = from; i < end; ) {
      for (let c = 0; c < numbers; c++) {
        next = copyBytes(separators[c], out, next);
        const value = values[i++];
        if (notFinite === null || Number.isFinite(value)) next = this.#floats.write(value, out, next);
        else next = copyBytes(notFinite, out, next);
      }
      next = copyBytes(separators[numbers], out, next);
    }
    return next;
  }
}

/** Copies a few bytes; returns the index after them. */
export function copyBytes(part: Uint8Array, out: Uint8Array, at: number): number {
  for (let i = 0; i < part.length; i++) out[at + i] = part[i];
  return at + part.length;
}

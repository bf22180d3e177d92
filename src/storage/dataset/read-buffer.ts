/** Memory for reads of values, reused by the next read; it grows to the largest one. */
import { DataError } from "../../shared/errors.js";
import { ReadMemory } from "../../shared/read-memory.js";
import type { RawValues, Stored } from "./stored.js";

type View = new (memory: ArrayBufferLike, start: number, count: number) => RawValues;

const VIEWS: Readonly<Record<string, View>> = {
  float4: Float32Array,
  float8: Float64Array,
  int1: Int8Array,
  int2: Int16Array,
  int4: Int32Array,
  uint1: Uint8Array,
  uint2: Uint16Array,
  uint4: Uint32Array,
};

/** Values of the last read are either in memory of this buffer or lent by another thread. */
export class ReadBuffer {
  #values = Buffer.alloc(0);
  #room = Buffer.alloc(0);
  #lent: RawValues | null = null;

  /** Memory for so many bytes of values; it may replace the memory of earlier reads. */
  bytes(count: number): Uint8Array {
    this.giveBackLent();
    if (this.#values.length < count) this.#values = Buffer.allocUnsafeSlow(count);
    return this.#values.subarray(0, count);
  }

  /** The first `count` values as they were read; valid until the next read. */
  values({ element, size, signed }: Stored, count: number): RawValues {
    const View = VIEWS[`${element === "float" ? "float" : signed ? "int" : "uint"}${size}`];
    if (View === undefined) throw new DataError(`Elements of type ${element} and ${size} bytes cannot be read.`);
    return new View(this.#values.buffer, 0, count);
  }

  /** Values in memory of another thread, which is given back at the next use. */
  lent<T extends RawValues>(values: T): T {
    this.giveBackLent();
    this.#lent = values;
    return values;
  }

  /** Gives lent memory back: the values of the last read are no longer used. */
  giveBackLent(): void {
    if (this.#lent !== null) ReadMemory.ofThread().giveBack(this.#lent);
    this.#lent = null;
  }

  /** Memory for a stored chunk; its previous content is lost. */
  readonly chunkMemory = (bytes: number): Buffer => {
    if (this.#room.length < bytes) this.#room = Buffer.allocUnsafeSlow(bytes);
    return this.#room;
  };
}

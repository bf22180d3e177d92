/** Numbers of an answer: an array, or blocks that are made while it is written. */

export type Numbers = Float32Array | Float64Array | Int32Array;

/** Types of numbers, as NumPy spells them. */
export type NumberType = "<f4" | "<f8" | "<i4";

/** Numbers made block by block. Writers read forward, and may read the last block again. */
export class LongNumbers {
  readonly type: NumberType;
  readonly length: number;
  readonly #make: (from: number, to: number) => Numbers | Promise<Numbers>;
  #last: { readonly from: number; readonly to: number; readonly block: Numbers | Promise<Numbers> } | null = null;

  /** @param make returns numbers `from` to `to - 1`, in an array that is not reused */
  constructor(type: NumberType, length: number, make: (from: number, to: number) => Numbers | Promise<Numbers>) {
    this.type = type;
    this.length = length;
    this.#make = make;
  }

  read(from: number, to: number): Numbers | Promise<Numbers> {
    if (this.#last?.from !== from || this.#last.to !== to) this.#last = { from, to, block: this.#make(from, to) };
    return this.#last.block;
  }
}

export type Values = Numbers | LongNumbers;

export function blockOf(values: Values, from: number, to: number): Numbers | Promise<Numbers> {
  return values instanceof LongNumbers ? values.read(from, to) : values.subarray(from, to);
}

export function typeOf(values: Values): NumberType {
  if (values instanceof LongNumbers) return values.type;
  return values instanceof Float32Array ? "<f4" : values instanceof Float64Array ? "<f8" : "<i4";
}

export function numbersOf(type: NumberType, length: number): Numbers {
  return type === "<f4" ? new Float32Array(length) : type === "<f8" ? new Float64Array(length) : new Int32Array(length);
}

/** `count` numbers: every `stride`-th from `offset` on. */
export function strided(values: Values, stride: number, offset: number, count: number): Values {
  const pick = (block: Numbers, many: number): Numbers => {
    const out = numbersOf(typeOf(values), many);
    for (let i = 0; i < many; i++) out[i] = block[stride * i + offset] as number;
    return out;
  };
  if (!(values instanceof LongNumbers))
    return stride === 1 ? values.subarray(offset, offset + count) : pick(values, count);
  return new LongNumbers(values.type, count, async (from, to) =>
    pick(await values.read(stride * from, stride * to), to - from),
  );
}

/** A contiguous part of an array: its start and length along each dimension. */
export interface Slab {
  readonly start: readonly number[];
  readonly count: readonly number[];
  readonly from: number;
  readonly to: number;
}

/** Lengths of contiguous parts of an array with at most `most` numbers, if a single row does not exceed that. */
export function slabLengths(shape: readonly number[], most: number): readonly number[] {
  let left = most;
  return shape
    .toReversed()
    .map((length) => {
      const many = Math.max(1, Math.min(length, Math.floor(left)));
      left = many < length ? 0 : left / many;
      return many;
    })
    .reverse();
}

/** The parts of those lengths, in order; the last along a dimension may be shorter. */
export function* slabsOf(shape: readonly number[], lengths: readonly number[]): Generator<Slab, undefined> {
  const start = shape.map(() => 0);
  const total = shape.reduce((product, length) => product * length, 1);
  for (let from = 0; from < total; ) {
    const count = lengths.map((many, d) => Math.min(many, (shape[d] as number) - (start[d] as number)));
    const to = from + count.reduce((product, length) => product * length, 1);
    yield { start: [...start], count, from, to };
    from = to;
    for (let d = shape.length - 1; d >= 0; d--) {
      start[d] = (start[d] as number) + (count[d] as number);
      if ((start[d] as number) < (shape[d] as number)) break;
      start[d] = 0;
    }
  }
}

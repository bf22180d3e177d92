/** Some parts of a reduction, and their states as bytes for other processes. */
import { deserialize, serialize } from "node:v8";
import { deflateRawSync, inflateRawSync } from "node:zlib";
import type { PartialMerge } from "../../analysis/parts.js";
import type { SpectrumSums } from "../../analysis/spectrum.js";
import { RequestError } from "../../shared/errors.js";

export interface ReducedParts {
  /** Index of the first frame in the query, and number of frames. */
  readonly frames: readonly [first: number, count: number];
  /** Runs of parts in the order of `partsOf`: the first of each, and how many. */
  readonly runs: readonly number[];
}

/** The indices of the parts, in order. Throws RequestError for parts or frames that the reduction does not have. */
export function placesIn({ frames: [first, count], runs }: ReducedParts, frames: number, total: number): number[] {
  const places: number[] = [];
  const isRun = (from: number, length: number, most: number): boolean =>
    from >= 0 && length >= 1 && from + length <= most;
  if (!isRun(first, count, frames)) throw noParts();
  for (let i = 0; i < runs.length; i += 2) {
    if (!isRun(runs[i], runs[i + 1], total)) throw noParts();
    for (let place = runs[i]; place < runs[i] + runs[i + 1]; place++) places.push(place);
  }
  return places;
}

function noParts(): RequestError {
  return new RequestError("InvalidRequest", "The reduction has no such parts.", { member: "parts" });
}

/** States as the bytes of float32 numbers, the form in which processes exchange values. */
export function packStates(some: PartialMerge | readonly Uint8Array[]): Float32Array {
  const bytes = serialize(some);
  const packed = new Float32Array(Math.ceil(bytes.length / 4));
  new Uint8Array(packed.buffer).set(bytes);
  return packed;
}

/** The states that `packStates` has packed; they do not use the memory of `packed`. */
export function unpackStates<T = PartialMerge>([packed]: readonly Float32Array[]): T {
  return deserialize(Buffer.from(packed.slice().buffer)) as T;
}

/** The sums of a part of a frame, most of them 0. */
export function packSums(sums: SpectrumSums): Uint8Array {
  return deflateRawSync(serialize(sums), { level: 1 });
}

export function unpackSums(packed: Uint8Array): SpectrumSums {
  return deserialize(inflateRawSync(packed)) as SpectrumSums;
}

/**
 * Scratch space of transforms, in shared memory or in an unnamed file: planes of several columns, in rows of `2 * half`
 * numbers.
 */
import { readSync, writeSync } from "node:fs";
import type { DerivedPlan } from "../../analysis/derived.js";
import { fullDisk } from "../../shared/errors.js";
import { isFullDisk } from "../../shared/system.js";

export type ScratchPlanes =
  | { readonly kind: "memory"; readonly values: Float64Array }
  /** A file descriptor, which all threads of the process share. */
  | { readonly kind: "file"; readonly file: number };

/** Derived fields of a frame. Their components are stored after the columns from which they were made. */
export interface DerivedFields {
  readonly plan: DerivedPlan;
  readonly scratch: ScratchPlanes;
}

/** Copies numbers from place `at` of the scratch space into `out`. */
export function readScratch(scratch: ScratchPlanes, at: number, out: Float64Array): void {
  if (scratch.kind === "memory") out.set(scratch.values.subarray(at, at + out.length));
  else moveAll((bytes, done) => readSync(scratch.file, bytes, done, bytes.length - done, 8 * at + done), out);
}

/** Copies numbers to place `at`. Throws BusyError if the disk has no more room. */
export function writeScratch(scratch: ScratchPlanes, at: number, values: Float64Array): void {
  if (scratch.kind === "memory") scratch.values.set(values, at);
  else
    try {
      moveAll((bytes, done) => writeSync(scratch.file, bytes, done, bytes.length - done, 8 * at + done), values);
    } catch (error) {
      // There was room when it was lent.
      throw isFullDisk(error) ? fullDisk(error) : error;
    }
}

/** Moves bytes until none are left; `move` continues at byte `done` and returns how many it moved. */
function moveAll(move: (bytes: Uint8Array, done: number) => number, values: Float64Array): void {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  for (let done = 0; done < bytes.length; ) {
    const moved = move(bytes, done);
    if (moved === 0) throw new Error("the scratch file ends too early");
    done += moved;
  }
}

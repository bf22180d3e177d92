/** Set-up of every file of tests: long runs of numbers are compared at once, where vitest needs 10 to 40 us a number. */
import { expect } from "vitest";

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) => Buffer.from(buffer, byteOffset, byteLength);

/** Whether two typed arrays, or two lists of numbers, hold the same; undefined where vitest is to say. */
function holdTheSame(a: unknown, b: unknown): true | undefined {
  if (ArrayBuffer.isView(a) && ArrayBuffer.isView(b))
    return a.constructor === b.constructor && bytesOf(a).equals(bytesOf(b)) ? true : undefined;
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length || a.length < 100) return undefined;
  return a.every((value, i) => typeof value === "number" && Object.is(value, b[i])) ? true : undefined;
}

// Files that share a process share the testers.
const process = globalThis as { comparesNumbers?: true };
if (process.comparesNumbers === undefined) expect.addEqualityTesters([holdTheSame]);
process.comparesNumbers = true;

/** Fetches ranges of one object; simultaneous requests for ranges close to each other share one fetch. */
import { DataError } from "../../../shared/errors.js";
import { ReadMemory } from "../../../shared/read-memory.js";
import type { ObjectRange } from "./remote-objects.js";

/** Ranges with at most this gap between them are fetched together, the gap too. */
const GAP_BYTES = 32 * 1024;
const MAX_BYTES = 2 * 1024 * 1024;

interface Waiting extends ObjectRange {
  resolve(bytes: Uint8Array | null): void;
  reject(error: unknown): void;
}

export class RangeQueue {
  readonly #fetch: (range: ObjectRange) => Promise<Uint8Array | null>;
  #waiting: Waiting[] = [];

  constructor(fetch: (range: ObjectRange) => Promise<Uint8Array | null>) {
    this.#fetch = fetch;
  }

  get(range: ObjectRange): Promise<Uint8Array | null> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ ...range, resolve, reject }) === 1) setImmediate(() => this.#send());
    });
  }

  #send(): void {
    const ranges = this.#waiting.sort((a, b) => a.offset - b.offset || a.length - b.length);
    this.#waiting = [];
    let group: Waiting[] = [];
    let end = 0;
    for (const range of ranges) {
      const first = group[0];
      const isNear = first !== undefined && range.offset - end <= GAP_BYTES;
      const length = first === undefined ? 0 : Math.max(end, range.offset + range.length) - first.offset;
      if (!isNear || length > MAX_BYTES) {
        if (group.length > 0) void this.#fetchGroup(group, end);
        group = [];
        end = 0;
      }
      group.push(range);
      end = Math.max(end, range.offset + range.length);
    }
    if (group.length > 0) void this.#fetchGroup(group, end);
  }

  async #fetchGroup(group: readonly Waiting[], end: number): Promise<void> {
    const { offset } = group[0];
    try {
      const bytes = await this.#fetch({ offset, length: end - offset });
      if (bytes !== null) ReadMemory.ofThread().hold(bytes, group.length - 1);
      for (const range of group) {
        const at = range.offset - offset;
        range.resolve(bytes?.subarray(at, at + range.length) ?? null);
      }
    } catch (error) {
      // A range that is wrong must not fail the others of its group.
      if (group.length > 1 && error instanceof DataError)
        for (const range of group) this.#fetch(range).then(range.resolve, range.reject);
      else for (const { reject } of group) reject(error);
    }
  }
}

/** The slice cache keeps the planes fetched last, so that playing and stepping back need no further requests. */
import type { ApiClient, Slice } from "./api.js";

/** Most bytes of values that are kept. */
const CAPACITY = 64 * 1024 * 1024;

export class SliceCache {
  readonly #api: Pick<ApiClient, "slice" | "slices">;
  /** Planes by path, the one used longest ago first. */
  readonly #kept = new Map<string, Slice>();
  /** Planes that are being fetched ahead of their time, so that none is requested twice. */
  readonly #coming = new Map<string, Promise<Slice>>();
  #bytes = 0;

  constructor(api: Pick<ApiClient, "slice" | "slices">) {
    this.#api = api;
  }

  /** The number of planes with this many values that find room next to as many others. */
  roomFor(values: number): number {
    return Math.floor(CAPACITY / 2 / (4 * values));
  }

  has(path: string): boolean {
    return this.#kept.has(path);
  }

  /** The plane of a path if it is kept, without counting as a use of it; else null. */
  glance(path: string): Slice | null {
    return this.#kept.get(path) ?? null;
  }

  /** The plane of a path if it is kept, else null. */
  peek(path: string): Slice | null {
    const slice = this.#kept.get(path);
    if (slice === undefined) return null;
    this.#keep(path, slice);
    return slice;
  }

  /** The plane of a path, from the cache or from the service. */
  async load(path: string, signal: AbortSignal): Promise<Slice> {
    const slice = this.#kept.get(path) ?? (await (this.#coming.get(path) ?? this.#api.slice(path, signal)));
    this.#keep(path, slice);
    return slice;
  }

  /** Fetches planes ahead of their time; whoever loads one meanwhile waits for the same request. */
  async fetchAhead(paths: readonly string[], signal: AbortSignal): Promise<void> {
    const coming = this.#api.slices(paths, signal);
    for (const [i, path] of paths.entries()) {
      const one = coming.then((slices) => slices[i]);
      // Whoever loads it hears of a failure; otherwise it is heard of below.
      one.catch(() => undefined);
      this.#coming.set(path, one);
    }
    try {
      const slices = await coming;
      for (const [i, path] of paths.entries()) this.#keep(path, slices[i]);
    } finally {
      for (const path of paths) this.#coming.delete(path);
    }
  }

  clear(): void {
    this.#kept.clear();
    this.#bytes = 0;
  }

  #keep(path: string, slice: Slice): void {
    if (!this.#kept.delete(path)) this.#bytes += slice.values.byteLength;
    this.#kept.set(path, slice);
    for (const [oldest, { values }] of this.#kept) {
      if (this.#bytes <= CAPACITY || oldest === path) break;
      this.#kept.delete(oldest);
      this.#bytes -= values.byteLength;
    }
  }
}

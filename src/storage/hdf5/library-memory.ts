/** Snapshot of the memory of the HDF5 library, to restore it after a damaged chunk has corrupted it. */
const PAGE_BYTES = 65_536;

export class LibraryMemory {
  readonly #pages: ReadonlyMap<number, Uint8Array>;

  constructor(memory: Uint8Array) {
    const pages = new Map<number, Uint8Array>();
    for (let at = 0; at < memory.length; at += PAGE_BYTES) {
      const page = memory.subarray(at, at + PAGE_BYTES);
      if (!isZero(page)) pages.set(at, page.slice());
    }
    this.#pages = pages;
  }

  /** Restores the snapshot; memory added since stays, filled with zeros. */
  restore(memory: Uint8Array): void {
    for (let at = 0; at < memory.length; at += PAGE_BYTES) {
      const page = memory.subarray(at, at + PAGE_BYTES);
      const kept = this.#pages.get(at);
      // Untouched pages take no memory of the machine and must not be written.
      if (kept !== undefined) page.set(kept);
      else if (!isZero(page)) page.fill(0);
    }
  }
}

const ZEROS = new Uint8Array(PAGE_BYTES);

const isZero = (page: Uint8Array): boolean => Buffer.compare(page, ZEROS) === 0;

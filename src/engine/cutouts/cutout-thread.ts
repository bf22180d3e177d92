/** Writes HDF5 files in a dedicated worker thread, so that no other request waits for them. */
import { builtFile } from "../../shared/build.js";
import { BusyError, DataError } from "../../shared/errors.js";
import { OneThread } from "../../shared/one-thread.js";
import type { Dataset } from "../../storage/dataset/dataset.js";
import type { StorePort } from "../../storage/remote/store-port.js";
import type { NumberColumn, NumberTable, SampledGrid } from "../../storage/tools/grid-file.js";
import type { Selection } from "../../storage/tools/selection.js";
import type { PathRecords } from "../../storage/tools/trajectory-file.js";

export type { NumberColumn, NumberTable, PathRecords, SampledGrid, Selection };

/** Paths of particles, and when each starts if they differ. */
export interface RecordedPaths {
  readonly paths: PathRecords;
  readonly starts: Float64Array | null;
  /** Name of their dataset. */
  readonly of: string;
  readonly about?: Readonly<Record<string, string>>;
}

/** One file to write: stored nodes of a dataset, a quantity that has been sampled, paths of particles, or a table. */
export type FileToWrite = { readonly path: string } & (
  | { readonly dataset: Dataset; readonly selection: Selection }
  | { readonly grid: SampledGrid }
  | { readonly recorded: RecordedPaths }
  | { readonly table: NumberTable }
);

/** The reason of a failure, as data because cloning drops the class of an error; null once the file is written. */
export type CutoutOutcome =
  | { readonly unreadable: string; readonly context: DataError["context"] }
  | { readonly busy: string; readonly retryAfter: number | undefined }
  | { readonly full: string }
  | null;

/** Files that may wait. */
const WAITING = 64;

const ENTRY = builtFile(new URL("./cutout-worker.js", import.meta.url));

/** Writes one file at a time; the thread starts with the first. */
export class CutoutThread {
  readonly #thread = new OneThread({ filename: ENTRY, name: "write", maxQueue: WAITING, makes: "files" });
  readonly #writing = new Set<Promise<CutoutOutcome>>();

  /** @param connectStores connects the thread to the one that reads stores */
  constructor(connectStores: (connection: StorePort) => void) {
    this.#thread.onMessage(connectStores);
  }

  /**
   * Writes a cutout and its XDMF.
   *
   * @throws BusyError if too many files wait or a store does not answer, DataError if the dataset cannot be read
   */
  async write(dataset: Dataset, selection: Selection, path: string): Promise<void> {
    // A forcing may hold large tables, which a cutout does not need.
    await this.#run({ dataset: { ...dataset, forcing: { kind: "none" } }, selection, path });
  }

  /**
   * Writes a sampled quantity as NetCDF.
   *
   * @throws BusyError if too many files wait, DataError if the file cannot be written
   */
  async writeGrid(grid: SampledGrid, path: string): Promise<void> {
    await this.#run({ grid, path });
  }

  /** Writes paths as NetCDF. Throws BusyError if too many files wait, DataError if the file cannot be written. */
  async writePaths(recorded: RecordedPaths, path: string): Promise<void> {
    await this.#run({ recorded, path });
  }

  /** Writes a table as NetCDF. Throws BusyError if too many files wait, DataError if the file cannot be written. */
  async writeTable(table: NumberTable, path: string): Promise<void> {
    await this.#run({ table, path });
  }

  async #run(task: FileToWrite): Promise<void> {
    if (this.#thread.waiting >= WAITING) throw new BusyError("Too many cutouts are being written.");
    const written = this.#thread.run<CutoutOutcome>(task);
    this.#writing.add(written);
    const failure = await written.finally(() => this.#writing.delete(written));
    if (failure === null) return;
    if ("full" in failure) throw Object.assign(new Error(failure.full), { code: "ENOSPC" });
    if ("busy" in failure) throw new BusyError(failure.busy, failure.retryAfter);
    throw new DataError(failure.unreadable, undefined, failure.context);
  }

  /** Ends the thread once all requested files are written. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#writing]);
    await this.#thread.close();
  }
}

/** The files of a descriptor during verification: resolved inside their folder, opened once, with their problems. */
import { realpathSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { DataError, readOr } from "../../shared/errors.js";
import { shortList } from "../../shared/messages.js";
import type { FileStamp } from "../dataset/dataset.js";
import { fileStamp, isIn, RealPaths, realPath, statusOf } from "../dataset/files.js";
import { NO_SOURCES, type StoredFile } from "../dataset/stored-file.js";
import { ROOM_BYTES } from "../hdf5-bytes/open-bytes.js";
import { openFile } from "../open-file.js";
import { StoreClient } from "../remote/store-client.js";
import { isRemoteHdf5 } from "../zarr/kinds.js";
import { addressIn } from "./remote-text.js";

/** Longest wait for the host of a store, which delays the datasets that follow. */
const TIMEOUT_MS = 10_000;

export interface GivenFile {
  readonly opened: StoredFile;
  readonly stamp: FileStamp;
}

export class Verification {
  readonly problems: string[] = [];
  /** Warnings about how files are read that their numbers alone do not show. */
  readonly warnings: string[] = [];
  readonly root: string;
  readonly #roots: readonly string[] | null;
  readonly #records = new Map<string, FileStamp>();
  #current: StoredFile | null = null;
  readonly #room = Buffer.allocUnsafeSlow(ROOM_BYTES);
  readonly #paths = new RealPaths();
  /** A file that is open already; it is not closed here. */
  readonly #given: GivenFile | null;

  /**
   * @param folder that paths start from, or its address
   * @param roots folders that files must be in; files may then have absolute paths
   */
  constructor(folder: string, roots?: readonly string[], given: GivenFile | null = null) {
    this.#given = given;
    this.root = isAddress(folder) ? folder : realpathSync(folder);
    this.#roots = roots?.flatMap((root) => realPath(root) ?? []) ?? null;
  }

  get files(): readonly FileStamp[] {
    return [...this.#records.values()];
  }

  /** @throws DataError when it is missing or outside the folder */
  locate(file: string): string {
    if (isAddress(this.root)) return this.#locateBelow(file);
    if (isAddress(file)) return file;
    let path: string;
    try {
      path = this.#paths.of(resolve(this.root, file));
    } catch (cause) {
      throw new DataError(`${file}: there is no such file`, cause);
    }
    if (this.#roots !== null) {
      if (!this.#roots.some((root) => isIn(root, path)))
        throw new DataError(`${file}: is in none of the data folders, nor in the folder of its descriptor`);
    } else if (isAbsolute(file) || !isIn(this.root, path))
      throw new DataError(`${file}: leaves the folder of its descriptor`);
    return path;
  }

  /** The absolute path of files with `{step}`; each file is located when it is opened. */
  pattern(file: string): string {
    return isAddress(file) || isAddress(this.root) ? this.locate(file) : resolve(this.root, file);
  }

  /** The address of a file in a descriptor at an address, which may only name files below itself. */
  #locateBelow(file: string): string {
    const address = isAddress(file) ? file : addressIn(this.root, file);
    const isBelow = new URL(address).href.startsWith(`${new URL(this.root).href}/`);
    if (!isBelow || /[\\?#]/.test(file)) throw new DataError(`${file}: leaves the folder of its descriptor`);
    return address;
  }

  /** Announces files that will be opened: those at addresses are fetched together. */
  expect(files: readonly string[]): void {
    const isFar = (file: string) => isAddress(file) || isAddress(this.root);
    const paths = [...new Set(files)].filter(isFar).map((file) => this.locate(file));
    if (paths.length > 0) StoreClient.ofThread().lookAhead(paths.filter(isRemoteHdf5));
  }

  open(file: string): StoredFile {
    const path = this.locate(file);
    if (this.#current?.path === path) return this.#current;
    if (this.#given?.opened.path === path) {
      this.#records.set(path, this.#given.stamp);
      return this.#given.opened;
    }
    this.#current?.close();
    this.#current = null;
    // Opening a pipe or a device may block for ever.
    const status = statusOf(path);
    if (status !== undefined && !status.isFile() && !status.isDirectory())
      throw new DataError(`${file}: is neither a file nor a folder`);
    const record = fileStamp(path);
    const opened = openFile(path, { timeoutMs: TIMEOUT_MS, room: this.#room });
    const { newestMs, version } = opened;
    const isElsewhere = isAddress(path) && version !== undefined;
    const versioned = {
      ...record,
      ...(newestMs === undefined ? {} : { newestMs }),
      ...(isElsewhere ? { version } : {}),
    };
    this.#records.set(path, versioned);
    this.#current = opened;
    return opened;
  }

  /** Adds the sources of a virtual dataset to the files, and warns about missing ones. */
  takeSources(file: StoredFile, path: string, where: string): void {
    if (this.#given !== null)
      throw new DataError(
        `${where} is a virtual dataset, which is served once it is confirmed (fieldprobe inspect --yes)`,
      );
    const { files, missing, refusal } = file.sources?.(path) ?? NO_SOURCES;
    if (refusal !== null) throw new DataError(`${where}: ${refusal}`);
    for (const source of files.filter((one) => statusOf(one) !== undefined)) {
      if (this.#roots !== null && !this.#roots.some((root) => isIn(root, source)))
        throw new DataError(
          `${where}: its source ${source} is in none of the data folders, and its confirmation does not name it`,
        );
      this.#records.set(source, fileStamp(source));
    }
    if (missing.length === 0) return;
    this.warnings.push(`${where} lacks values, which are missing data: ${shortList(missing, 4)}.`);
  }

  step<T>(member: string, run: () => T): T | null {
    return readOr(run, ({ message }) => {
      this.problems.push(`${member}: ${message}`);
      return null;
    });
  }

  close(): void {
    this.#current?.close();
    this.#current = null;
  }
}

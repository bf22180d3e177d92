/** Holds the files of a descriptor while it is verified: resolves them inside its folder, opens each once, collects problems. */

import { realpathSync } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";
import { isAddress } from "../../addresses.js";
import { DataError } from "../../errors.js";
import type { FileRecord } from "../dataset.js";
import { fileRecord } from "../files.js";
import { openFile } from "../open-file.js";
import type { StoredFile } from "../stored-file.js";

/** The open files of one verification, each opened once, and what was found wrong. */
export class Verification {
  readonly problems: string[] = [];
  readonly #root: string;
  readonly #records = new Map<string, FileRecord>();
  #current: StoredFile | null = null;

  constructor(folder: string) {
    this.#root = realpathSync(folder);
  }

  /** Files seen so far. */
  get files(): readonly FileRecord[] {
    return [...this.#records.values()];
  }

  /** The absolute path of a file of the description. @throws DataError when it is missing or outside the folder */
  locate(file: string): string {
    if (isAddress(file)) return file;
    let path: string;
    try {
      path = realpathSync(join(this.#root, file));
    } catch (cause) {
      throw new DataError(`${file}: there is no such file`, cause);
    }
    const inside = relative(this.#root, path);
    if (isAbsolute(file) || inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside))
      throw new DataError(`${file}: leaves the folder of its descriptor`);
    return path;
  }

  /** Opens a file of the description, which stays open until the next one is asked for. */
  open(file: string): StoredFile {
    const path = this.locate(file);
    if (this.#current?.path === path) return this.#current;
    this.close();
    const record = fileRecord(path);
    const opened = openFile(path);
    this.#records.set(path, opened.newestMs === undefined ? record : { ...record, newestMs: opened.newestMs });
    this.#current = opened;
    return opened;
  }

  /** Runs one step of the verification; its DataError becomes a problem that names the member. */
  step<T>(member: string, run: () => T): T | null {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof DataError)) throw error;
      this.problems.push(`${member}: ${error.message}`);
      return null;
    }
  }

  close(): void {
    this.#current?.close();
    this.#current = null;
  }
}

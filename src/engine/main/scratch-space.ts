/** Scratch space of transforms: shared memory up to the common limit, beyond it files. */
import { closeSync, existsSync, mkdtempSync, openSync, rmdirSync, statfsSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "../../shared/config.js";
import { BusyError, fullDisk, LimitError } from "../../shared/errors.js";
import type { ScratchPlanes } from "../contract/scratch.js";
import { type BufferPool, MAX_BYTES } from "./buffers.js";

export interface LentScratch {
  readonly scratch: ScratchPlanes;
  release(): void;
}

export class ScratchSpace {
  readonly #buffers: BufferPool;
  readonly #memoryBytes: number;
  readonly #fileBytes: number;
  readonly #folder: string;
  #inMemory = 0;
  #inFiles = 0;

  /** @param config `state` is the folder of the files if it exists; else they are in the system's temporary folder */
  constructor({ limits, state }: Pick<Config, "limits" | "state">, buffers: BufferPool) {
    this.#buffers = buffers;
    this.#memoryBytes = limits["analysis.memoryBytes"];
    this.#fileBytes = limits["analysis.scratchBytes"];
    this.#folder = existsSync(state) ? state : tmpdir();
  }

  /** Lends space for numbers. Throws LimitError if the limit is below it, BusyError if others use it now. */
  lend(numbers: number): LentScratch {
    const bytes = 8 * numbers;
    if (this.#inMemory + bytes > this.#memoryBytes || bytes > MAX_BYTES) return this.#lendFile(bytes);
    const values = this.#buffers.doubles(numbers);
    this.#inMemory += bytes;
    const release = once(() => {
      this.#inMemory -= bytes;
      this.#buffers.giveBack(values);
    });
    return { scratch: { kind: "memory", values }, release };
  }

  /** An unnamed file, of which nothing remains however the process ends. */
  #lendFile(bytes: number): LentScratch {
    const needed = `The transform needs ${bytes} bytes of scratch space`;
    if (bytes > this.#fileBytes)
      throw new LimitError("analysis.scratchBytes", `${needed}; all transforms may have ${this.#fileBytes}.`);
    const left = this.#fileBytes - this.#inFiles;
    if (bytes > left) throw new BusyError(`${needed}; others leave ${left} of ${this.#fileBytes}.`);
    const { bavail, bsize } = statfsSync(this.#folder);
    if (bytes > bavail * bsize) throw fullDisk(new Error(`${needed}; ${this.#folder} has ${bavail * bsize}.`));
    const folder = mkdtempSync(join(this.#folder, "fieldprobe-scratch-"));
    const path = join(folder, "planes");
    const file = openSync(path, "wx+", 0o600);
    unlinkSync(path);
    rmdirSync(folder);
    this.#inFiles += bytes;
    const release = once(() => {
      this.#inFiles -= bytes;
      closeSync(file);
    });
    return { scratch: { kind: "file", file }, release };
  }
}

function once(act: () => void): () => void {
  let done = false;
  return () => {
    if (!done) act();
    done = true;
  };
}

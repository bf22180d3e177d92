/** Gives transforms scratch space: memory as far as all of them together may have it, and otherwise a file. */
import { closeSync, existsSync, mkdtempSync, openSync, rmdirSync, statfsSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "../../shared/config.js";
import { BusyError, fullDisk, LimitError } from "../../shared/errors.js";
import type { ScratchPlanes } from "../contract/scratch.js";
import { type BufferPool, MOST_BYTES } from "./buffers.js";

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

  /** @param config `state` is the folder of files if it is there, else they are in the folder of the system */
  constructor({ limits, state }: Pick<Config, "limits" | "state">, buffers: BufferPool) {
    this.#buffers = buffers;
    this.#memoryBytes = limits["analysis.memoryBytes"];
    this.#fileBytes = limits["analysis.scratchBytes"];
    this.#folder = existsSync(state) ? state : tmpdir();
  }

  /** Lends room for numbers. @throws LimitError if there is never as much, BusyError if there is not now */
  lend(numbers: number): LentScratch {
    const bytes = 8 * numbers;
    if (this.#inMemory + bytes > this.#memoryBytes || bytes > MOST_BYTES) return this.#lendFile(bytes);
    const values = this.#buffers.doubles(numbers);
    this.#inMemory += bytes;
    const release = once(() => {
      this.#inMemory -= bytes;
      this.#buffers.give(values);
    });
    return { scratch: { kind: "memory", values }, release };
  }

  /** A file that loses its name at once, so that nothing is left of it whatever ends the process. */
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

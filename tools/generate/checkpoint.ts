/**
 * Keeps the states of a simulation in a folder, so that a run that was killed goes on where it was.
 *
 * The state of each stored frame stays until the end, since the dataset's file is written anew; of the spin-up only the
 * last one does.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeFolder } from "#src/shared/system.js";

const OPTIONS = "options.json";

/** The states of one simulation by number of the frame interval. */
export class Checkpoint {
  readonly #folder: string;
  readonly #length: number;

  /**
   * Opens the folder, or makes it.
   *
   * @param options what the states follow from
   * @param length  numbers of a state
   * @throws Error in one line if the folder holds states of other options
   */
  constructor(folder: string, options: object, length: number) {
    this.#folder = folder;
    this.#length = length;
    makeFolder(folder);
    const text = JSON.stringify(options);
    const path = join(folder, OPTIONS);
    if (!existsSync(path)) writeFileSync(path, text);
    else if (readFileSync(path, "utf8") !== text)
      throw new Error(`${folder} holds a run with other options: remove it, or give the options of that run`);
  }

  /** Numbers of the intervals whose states are there. */
  intervals(): readonly number[] {
    const names = readdirSync(this.#folder).filter((name) => /^\d+$/.test(name));
    return names.map(Number).toSorted((a, b) => a - b);
  }

  /** Overwrites `state` with the state of an interval. Throws Error in one line if it is not whole. */
  read(interval: number, state: Float64Array): void {
    const path = join(this.#folder, String(interval));
    const bytes = readFileSync(path);
    if (bytes.length !== 8 * this.#length) throw new Error(`${path} is not whole: remove it`);
    new Uint8Array(state.buffer, state.byteOffset, state.byteLength).set(bytes);
  }

  /** Writes a state whole. */
  write(interval: number, state: Float64Array): void {
    const path = join(this.#folder, String(interval));
    writeFileSync(`${path}.partial`, new Uint8Array(state.buffer, state.byteOffset, state.byteLength));
    renameSync(`${path}.partial`, path);
  }

  forget(interval: number): void {
    rmSync(join(this.#folder, String(interval)), { force: true });
  }

  /** Removes all states. */
  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}

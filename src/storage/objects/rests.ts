/**
 * `Rests` remembers failures, and leaves alone for a while an object that failed, a folder with several such objects,
 * and a host with several such folders. One answer from a folder or host ends its rest.
 */
import type { FetchClock } from "./fetch-clock.js";

/** Time for which something is left alone once all attempts of a request have failed. */
const REST_MS = 5000;
/** Different objects of a folder, or folders of a host, whose failures make it rest. */
const SEVERAL = 2;
/** Objects and folders that are remembered. */
const MOST = 1000;

/** The parts of a folder or host that failed since it answered last, and the end of its rest. */
interface Failing {
  readonly parts: Set<string>;
  until: number;
}

export class Rests {
  readonly #clock: FetchClock;
  /** Ends of rests, by address. */
  readonly #objects = new Map<string, number>();
  readonly #folders = new Map<string, Failing>();
  readonly #host: Failing = { parts: new Set(), until: 0 };

  constructor(clock: FetchClock) {
    this.#clock = clock;
  }

  /** Milliseconds for which an object is still left alone; 0: it may be asked for. */
  left(address: string): number {
    return Math.max(0, Math.max(0, ...this.#rests(address)) - this.#clock.now());
  }

  /** Whether an object, its folder or its host failed last: then one attempt tells whether it is back. */
  isSuspect(address: string): boolean {
    return this.#rests(address).length > 0;
  }

  /** The ends of the rests that an object takes part in, also those that are over. */
  #rests(address: string): number[] {
    const folder = this.#folders.get(folderOf(address));
    const failing = [folder, this.#host].filter((one) => one !== undefined && one.parts.size >= SEVERAL) as Failing[];
    const own = this.#objects.get(address);
    return [...failing.map(({ until }) => until), ...(own === undefined ? [] : [own])];
  }

  /** Notes that all attempts for an object have failed. @param restMs time that its host asks for, if it does */
  failed(address: string, restMs = REST_MS): void {
    const folder = folderOf(address);
    const until = this.#clock.now() + restMs;
    this.#objects.set(address, until);
    const failing = this.#folders.get(folder) ?? { parts: new Set(), until };
    this.#folders.set(folder, failing);
    note(failing, address, until);
    note(this.#host, folder, until);
    for (const known of [this.#objects, this.#folders])
      if (known.size > MOST) known.delete(known.keys().next().value as string);
  }

  /** Notes that an object was answered: neither it nor its folder nor its host rests any more. */
  answered(address: string): void {
    this.#objects.delete(address);
    this.#folders.delete(folderOf(address));
    this.#host.parts.clear();
  }
}

function note(failing: Failing, part: string, until: number): void {
  if (failing.parts.size < MOST) failing.parts.add(part);
  failing.until = Math.max(failing.until, until);
}

/** An address up to the last slash of its path. */
function folderOf(address: string): string {
  const path = address.split("?")[0];
  return path.slice(0, path.lastIndexOf("/"));
}

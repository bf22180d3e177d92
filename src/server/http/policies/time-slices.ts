/** Shares the event loop in time slices: long work takes turns, so that a turn of the loop stays short. */
import { openSync, readSync } from "node:fs";
import { Accepting } from "./accepting.js";

/** Length of a time slice in milliseconds. */
const SLICE_MS = 4;
/** CPU time is sampled at most this often: reading it takes a tenth of the time of a one-point request. */
const SAMPLE_MS = 20;
/** Elements that a long loop treats before it looks at the clock: less than a millisecond of simple work. */
const STEP_ELEMENTS = 8_192;

/** CPU time of the main thread in milliseconds; null where the system does not tell. */
export type CpuClock = () => number | null;

/**
 * Reads the clock of Linux: time on CPU of the process's main thread, from its scheduler statistics. The scheduler
 * brings them up to date at its ticks, some milliseconds apart, and at once for a thread that asks for the time of the
 * process.
 */
export function mainThreadCpu(): CpuClock {
  let file: number;
  try {
    file = openSync("/proc/self/schedstat", "r");
  } catch {
    return () => null;
  }
  const buffer = Buffer.alloc(64);
  return () => {
    process.cpuUsage();
    const length = readSync(file, buffer, 0, buffer.length, 0);
    const nanoseconds = Number(buffer.toString("latin1", 0, length).split(" ", 1)[0]);
    return nanoseconds > 0 ? nanoseconds / 1e6 : null;
  };
}

/**
 * One per service. All work of one turn of the event loop shares a slice. Long work pauses between its steps: when the
 * slice has lasted, it waits in a queue, from which each turn takes one, with a slice of its own. So a turn lasts little
 * longer than a slice however many long requests there are, and short requests are answered in every turn.
 */
export class TimeSlices {
  /** Longest turn so far that had work of requests, in milliseconds of CPU time (wall time where that is unknown). */
  longestMs = 0;
  readonly #cpu: CpuClock;
  /** New connections, which come before long work. */
  readonly accepting: Accepting;
  /** Beginning of the present slice; null when nothing has been done in this turn. */
  #since: number | null = null;
  /** Whether the present slice belongs to work from the queue. */
  #isGranted = false;
  #sample: number | null = null;
  #sampledAt = Number.NEGATIVE_INFINITY;
  readonly #queue: (() => void)[] = [];

  constructor(cpu: CpuClock, accepting = new Accepting()) {
    this.#cpu = cpu;
    this.accepting = accepting;
  }

  /** Notes that work begins: the first of a turn begins the slice. */
  note(): void {
    if (this.#since !== null) return;
    const since = performance.now();
    this.#since = since;
    if (since - this.#sampledAt >= SAMPLE_MS) {
      this.#sampledAt = since;
      this.#sample = this.#cpu();
    }
    setImmediate(() => {
      if (this.#since === since) this.#end();
    });
  }

  /** Ends the slice. The sample may be older than the slice by `SAMPLE_MS`, so the figure errs upwards. */
  #end(): void {
    if (this.#since === null) return;
    const wall = performance.now() - this.#since;
    this.#since = null;
    this.#isGranted = false;
    if (wall <= this.longestMs) return;
    const now = this.#cpu();
    const used = now === null || this.#sample === null ? wall : Math.min(wall, now - this.#sample);
    this.longestMs = Math.max(used, this.longestMs);
  }

  /** Whether long work should wait for its turn. */
  get isOver(): boolean {
    this.note();
    if (performance.now() - (this.#since as number) >= SLICE_MS) return true;
    return !this.#isGranted && this.accepting.comesFirst;
  }

  /** Lets other work have a slice if this one has lasted; null if nothing need be awaited. */
  pause(): Promise<void> | null {
    return this.isOver ? this.turn() : null;
  }

  /** Waits for a slice in a later turn. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#queue.push(resolve) === 1) setImmediate(() => this.#next());
    });
  }

  /**
   * Calls `treat` with consecutive ranges of `0 .. count - 1`, as many as fit in each time slice.
   *
   * @param step elements that take less than a millisecond
   */
  async each(count: number, treat: (from: number, to: number) => void, step = STEP_ELEMENTS): Promise<void> {
    this.note();
    for (let from = 0; from < count; from += step) {
      if (from > 0) await this.pause();
      treat(from, Math.min(count, from + step));
    }
  }

  /** Gives the first in the queue a slice of its own, and the next one in the next turn. */
  #next(): void {
    if (!this.accepting.comesFirst) {
      this.#end();
      this.#isGranted = true;
      this.note();
      this.#queue.shift()?.();
    }
    if (this.#queue.length > 0) setImmediate(() => this.#next());
  }
}

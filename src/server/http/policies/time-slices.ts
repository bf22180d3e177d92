/** Time slices on the event loop: long work is divided, so that each turn of the loop stays short. */
import { openSync, readSync } from "node:fs";
import { Accepting } from "./accepting.js";

const SLICE_MS = 4;
/** Interval between samples: reading the CPU time costs a tenth of a one-point request. */
const SAMPLE_MS = 20;
/** Elements of a long loop that take less than a millisecond. */
const STEP_ELEMENTS = 8_192;

/** CPU time in milliseconds; null where the system does not provide it. */
export type CpuClock = () => number | null;

/**
 * CPU time of the main thread on Linux, which the scheduler updates every few milliseconds, and at once for a thread
 * that requests the time of the process.
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
 * Time slices shared by all work of a turn of the event loop. After a slice, long work waits in a queue, from which
 * each turn takes one item, with a slice of its own: a turn lasts little longer than a slice.
 */
export class TimeSlices {
  /** Longest turn with work of requests, in CPU time (wall time where that is unknown). */
  longestMs = 0;
  readonly #cpu: CpuClock;
  readonly accepting: Accepting;
  /** Start of the slice; null if nothing has run in this turn. */
  #since: number | null = null;
  /** Whether the slice belongs to work from the queue. */
  #isGranted = false;
  #sample: number | null = null;
  #sampledAt = Number.NEGATIVE_INFINITY;
  readonly #queue: (() => void)[] = [];

  constructor(cpu: CpuClock, accepting = new Accepting()) {
    this.#cpu = cpu;
    this.accepting = accepting;
  }

  /** Records work; the first of a turn begins the slice. */
  noteActivity(): void {
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

  /** Ends the slice. The sample may be older by `SAMPLE_MS`, so the figure errs upwards. */
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

  get isOver(): boolean {
    this.noteActivity();
    if (performance.now() - (this.#since as number) >= SLICE_MS) return true;
    return !this.#isGranted && this.accepting.comesFirst;
  }

  /** A promise if work has to wait for a slice; else null. */
  pause(): Promise<void> | null {
    return this.isOver ? this.turn() : null;
  }

  turn(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#queue.push(resolve) === 1) setImmediate(() => this.#next());
    });
  }

  /** Calls `treat` with consecutive ranges of `0 .. count - 1`. `step`: elements that take under a millisecond. */
  async each(count: number, treat: (from: number, to: number) => void, step = STEP_ELEMENTS): Promise<void> {
    this.noteActivity();
    for (let from = 0; from < count; from += step) {
      if (from > 0) await this.pause();
      treat(from, Math.min(count, from + step));
    }
  }

  #next(): void {
    if (!this.accepting.comesFirst) {
      this.#end();
      this.#isGranted = true;
      this.noteActivity();
      this.#queue.shift()?.();
    }
    if (this.#queue.length > 0) setImmediate(() => this.#next());
  }
}

/**
 * The event loop is shared in time slices: `TimeSlices` measures and ends them, and lets long work take turns; `Tick`
 * gathers work.
 */
import { openSync, readSync } from "node:fs";
import { Accepting } from "./accepting.js";

/** A time slice is ended after this many milliseconds. */
const SLICE_MS = 4;
/** CPU time is sampled at most this often: reading it takes a tenth of the time of a one-point request. */
const SAMPLE_MS = 20;
/** Elements that a long loop treats before it looks at the clock: less than a millisecond of simple work. */
const STEP_ELEMENTS = 8_192;
/** Requests that are taken through their stages together, at most. */
const MOST_TOGETHER = 16;

/** CPU time of the main thread in milliseconds, or null if the system does not tell. */
export type CpuClock = () => number | null;

/**
 * Reads the clock of Linux: time on CPU of the process's main thread, from its scheduler statistics. The scheduler
 * brings them up to date at its ticks, some milliseconds apart; asked for the time of the process, it does so at once
 * for the thread that asks.
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
 * Times the slices in which requests are decoded and encoded, and tells when one has lasted; one per service.
 *
 * Work that has not ended with its slice waits in a queue, from which each tick takes one. So however many long
 * requests there are, a tick lasts little longer than a slice, and short requests get theirs in every tick.
 */
export class TimeSlices {
  /** Longest slice so far, in milliseconds of CPU time (of wall time if CPU time is unknown). */
  longestMs = 0;
  readonly #cpu: CpuClock;
  #depth = 0;
  #startedAt = 0;
  #sampledAt = Number.NEGATIVE_INFINITY;
  #sample: number | null = null;
  /** Time that slices have taken of this tick. */
  #spent = 0;
  #isCounting = false;
  /** Whether the present slice has come from the queue. */
  #queued = false;
  readonly #queue: (() => void)[] = [];

  readonly #accepting: Accepting;

  constructor(cpu: CpuClock, accepting = new Accepting()) {
    this.#cpu = cpu;
    this.#accepting = accepting;
  }

  /** Begins work on the event loop. Every `begin` needs its `end`. */
  begin(): void {
    if (this.#depth++ > 0) return;
    this.#startedAt = performance.now();
    this.#noticeTick();
    if (this.#startedAt - this.#sampledAt < SAMPLE_MS) return;
    this.#sampledAt = this.#startedAt;
    this.#sample = this.#cpu();
  }

  /** Ends work, or gives way. The sample may be older than the slice by `SAMPLE_MS`, so the figure errs upwards. */
  end(): void {
    if (--this.#depth > 0) return;
    const wall = performance.now() - this.#startedAt;
    this.#spent += wall;
    this.#queued = false;
    if (wall <= this.longestMs) return;
    const now = this.#cpu();
    const used = now === null || this.#sample === null ? wall : Math.min(wall, now - this.#sample);
    if (used > this.longestMs) this.longestMs = used;
  }

  /**
   * Stops the clock while a part of an answer is handed on. It continues from where it was unless the event loop has
   * turned meanwhile: parts that are taken at once make one long slice together.
   *
   * @returns takes the clock up again
   */
  rest(): () => void {
    const startedAt = this.#startedAt;
    const sample = this.#sample;
    let turned = false;
    setImmediate(() => {
      turned = true;
    });
    this.end();
    return () => {
      this.begin();
      if (turned || this.#depth > 1) return;
      this.#startedAt = startedAt;
      this.#sample = sample;
    };
  }

  /** Waits for something outside the slice, which continues where it was if the event loop has not turned meanwhile. */
  async outside<T>(promise: Promise<T>): Promise<T> {
    const goOn = this.rest();
    try {
      return await promise;
    } finally {
      goOn();
    }
  }

  /** Whether this slice is over, so that other work should have its own. */
  get overdue(): boolean {
    return performance.now() - this.#startedAt >= SLICE_MS;
  }

  /**
   * Whether work that has had a slice before should wait for its turn: this slice is over, or others have filled the
   * tick.
   */
  get crowded(): boolean {
    return this.overdue || (!this.#queued && (this.#spent >= SLICE_MS || this.#accepting.comesFirst));
  }

  /** Lets other work have a slice if this one has lasted; null if nothing need be awaited. */
  pause(): Promise<void> | null {
    return this.overdue ? this.#giveWay() : null;
  }

  /** The same for work that has had a slice before. */
  pauseAgain(): Promise<void> | null {
    return this.crowded ? this.#giveWay() : null;
  }

  /**
   * Calls `treat` with consecutive ranges of `0 .. count - 1`, as many as fit in each time slice.
   *
   * @param step elements that take less than a millisecond
   */
  async each(count: number, treat: (from: number, to: number) => void, step = STEP_ELEMENTS): Promise<void> {
    this.begin();
    try {
      for (let from = 0; from < count; from += step) {
        if (from > 0) await this.pauseAgain();
        treat(from, Math.min(count, from + step));
      }
    } finally {
      this.end();
    }
  }

  async #giveWay(): Promise<void> {
    this.end();
    await new Promise<void>((resolve) => {
      if (this.#queue.push(resolve) === 1) setImmediate(() => this.#next());
    });
    this.begin();
    this.#queued = true;
  }

  /** Lets the first of those who wait continue, and the next one in the next tick. */
  #next(): void {
    if (!this.#accepting.comesFirst) this.#queue.shift()?.();
    if (this.#queue.length > 0) setImmediate(() => this.#next());
  }

  /** Counts again from the next tick on. */
  #noticeTick(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    setImmediate(() => {
      this.#isCounting = false;
      this.#spent = 0;
    });
  }
}

/**
 * Gathers work that becomes ready in one tick of the event loop and does it together when the tick is over; one per
 * service.
 *
 * Sixteen requests served one after the other, each from its first byte to its last, cost twice as much as the same
 * requests taken through each stage together: the code of a stage stays in the processor's caches, and callers are
 * woken once instead of after every answer. A single request waits only for the sockets that are ready with it.
 *
 * More than sixteen gain nothing from each other: the others are taken in the next ticks. So ticks stay short, and a
 * request that needs a slot for a moment finds one, however many come at once.
 */
export class Tick {
  readonly #most: number;
  #ready: (() => void)[] = [];

  /** @param slots requests that may be answered at a time; absent: any number */
  constructor(slots = MOST_TOGETHER) {
    this.#most = Math.min(slots, MOST_TOGETHER);
  }

  /**
   * Does `work` when the sockets that are ready now have been read; in the order of the calls. `work` must not throw.
   */
  add(work: () => void): void {
    if (this.#ready.push(work) === 1) setImmediate(() => this.#run());
  }

  #run(): void {
    const ready = this.#ready;
    this.#ready = ready.splice(this.#most);
    if (this.#ready.length > 0) setImmediate(() => this.#run());
    for (const work of ready) work();
  }
}

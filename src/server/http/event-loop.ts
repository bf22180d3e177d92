/** The event loop is shared in time slices: `TimeSlices` measures and ends them, `Tick` gathers work, `inSlices` cuts long loops. */
import { openSync, readSync } from "node:fs";
import { setImmediate as immediate } from "node:timers/promises";

/** A time slice is ended after this many milliseconds. */
const SLICE_MS = 8;
/** CPU time is sampled at most this often, because reading it costs microseconds. */
const SAMPLE_MS = 2;
/** Elements that a slice of `inSlices` treats: a few milliseconds of simple work. */
const SLICE_ELEMENTS = 65_536;

/** CPU time of the main thread in milliseconds, or null where the system does not tell. */
export type CpuClock = () => number | null;

/** Reads the clock of Linux: time on CPU of the process's main thread, from its scheduler statistics. */
export function mainThreadCpu(): CpuClock {
  let file: number;
  try {
    file = openSync("/proc/self/schedstat", "r");
  } catch {
    return () => null;
  }
  const buffer = Buffer.alloc(64);
  return () => {
    const length = readSync(file, buffer, 0, buffer.length, 0);
    const nanoseconds = Number(buffer.toString("latin1", 0, length).split(" ", 1)[0]);
    return nanoseconds > 0 ? nanoseconds / 1e6 : null;
  };
}

/** Times the slices in which requests are decoded and encoded, and tells when one has lasted; one per service. */
export class TimeSlices {
  /** Longest slice so far, in milliseconds of CPU time (of wall time where CPU time is unknown). */
  longestMs = 0;
  readonly #cpu: CpuClock;
  #depth = 0;
  #startedAt = 0;
  #sampledAt = Number.NEGATIVE_INFINITY;
  #sample: number | null = null;

  constructor(cpu: CpuClock) {
    this.#cpu = cpu;
  }

  /** Begins work on the event loop. Every `begin` needs its `end`. */
  begin(): void {
    if (this.#depth++ > 0) return;
    this.#startedAt = performance.now();
    if (this.#startedAt - this.#sampledAt < SAMPLE_MS) return;
    this.#sampledAt = this.#startedAt;
    this.#sample = this.#cpu();
  }

  /** Ends work, or gives way. The sample may be older than the slice by `SAMPLE_MS`, so the figure errs upwards. */
  end(): void {
    if (--this.#depth > 0) return;
    const wall = performance.now() - this.#startedAt;
    if (wall <= this.longestMs) return;
    const now = this.#cpu();
    const used = now === null || this.#sample === null ? wall : Math.min(wall, now - this.#sample);
    if (used > this.longestMs) this.longestMs = used;
  }

  /**
   * Stops the clock while a part of an answer is handed on. It goes on from where it was unless the event loop has turned
   * meanwhile: parts that are taken at once make one long slice together.
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

  /** Waits for something outside the slice, which goes on where it was if the event loop has not turned meanwhile. */
  async outside<T>(promise: Promise<T>): Promise<T> {
    const goOn = this.rest();
    try {
      return await promise;
    } finally {
      goOn();
    }
  }

  /** Whether this slice has lasted so long that other work should have its own. */
  get overdue(): boolean {
    return performance.now() - this.#startedAt >= SLICE_MS;
  }

  /** Lets other work have a slice if this one has lasted; null where nothing need be awaited. */
  pause(): Promise<void> | null {
    return this.overdue ? this.#giveWay() : null;
  }

  async #giveWay(): Promise<void> {
    this.end();
    await immediate();
    this.begin();
  }
}

/**
 * Gathers work that becomes ready in one tick of the event loop and does it together when the tick is over; one per service.
 *
 * Sixteen requests served one after the other, each from its first byte to its last, cost twice as much as the same requests taken
 * through each stage together: the code of a stage stays in the processor's caches, and callers are woken once and not
 * after every answer. A single request waits for nothing but the sockets that are ready with it.
 */
export class Tick {
  #ready: (() => void)[] = [];

  /** Does `work` when the sockets that are ready now have been read; in the order of the calls. `work` must not throw. */
  add(work: () => void): void {
    if (this.#ready.push(work) === 1) setImmediate(() => this.#run());
  }

  #run(): void {
    const ready = this.#ready;
    this.#ready = [];
    for (const work of ready) work();
  }
}

/** Calls `treat` with consecutive ranges of `0 .. count - 1`, one a time slice. */
export async function inSlices(count: number, treat: (from: number, to: number) => void): Promise<void> {
  for (let from = 0; from < count; from += SLICE_ELEMENTS) {
    if (from > 0) await immediate();
    treat(from, Math.min(count, from + SLICE_ELEMENTS));
  }
}

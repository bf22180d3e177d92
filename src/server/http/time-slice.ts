/** How long the event loop is held: turns of decoding and encoding are timed, cut short, and the longest is kept. */
import { openSync, readSync } from "node:fs";

/** A turn is ended after this many milliseconds. */
const TURN_MS = 8;
/** CPU time is sampled at most this often, because reading it costs microseconds. */
const SAMPLE_MS = 2;

/** CPU time of the main thread in milliseconds, or undefined where the system does not tell. */
export type CpuClock = () => number | undefined;

/** The clock of Linux: time on CPU of the process's main thread, from its scheduler statistics. */
export function mainThreadCpu(): CpuClock {
  let file: number;
  try {
    file = openSync("/proc/self/schedstat", "r");
  } catch {
    return () => undefined;
  }
  const buffer = Buffer.alloc(64);
  return () => {
    const length = readSync(file, buffer, 0, buffer.length, 0);
    const nanoseconds = Number(buffer.toString("latin1", 0, length).split(" ", 1)[0]);
    return nanoseconds > 0 ? nanoseconds / 1e6 : undefined;
  };
}

/** One per service; not for work in other threads. */
export class Turns {
  /** Longest turn so far, in milliseconds of CPU time (of wall time where CPU time is unknown). */
  longestMs = 0;
  readonly #cpu: CpuClock;
  #depth = 0;
  #startedAt = 0;
  #sampledAt = Number.NEGATIVE_INFINITY;
  #sample: number | undefined;

  constructor(cpu: CpuClock) {
    this.#cpu = cpu;
  }

  /** Work on the event loop begins. Every `begin` needs its `end`. */
  begin(): void {
    if (this.#depth++ > 0) return;
    this.#startedAt = performance.now();
    if (this.#startedAt - this.#sampledAt < SAMPLE_MS) return;
    this.#sampledAt = this.#startedAt;
    this.#sample = this.#cpu();
  }

  /** Work ends or gives way. The sample may be older than the turn by `SAMPLE_MS`, so the figure errs upwards. */
  end(): void {
    if (--this.#depth > 0) return;
    const wall = performance.now() - this.#startedAt;
    if (wall <= this.longestMs) return;
    const now = this.#cpu();
    const used = now === undefined || this.#sample === undefined ? wall : Math.min(wall, now - this.#sample);
    if (used > this.longestMs) this.longestMs = used;
  }

  /**
   * The clock rests while a part of an answer is handed on. It goes on from where it was unless the event loop has turned
   * meanwhile: parts that are taken at once make one long turn together.
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

  /** Waits for something outside the turn. */
  async outside<T>(promise: Promise<T>): Promise<T> {
    this.end();
    try {
      return await promise;
    } finally {
      this.begin();
    }
  }

  /** Whether this turn has lasted so long that other work should have its own. */
  get overdue(): boolean {
    return performance.now() - this.#startedAt >= TURN_MS;
  }

  /** Gives other work its turn if this one has lasted; undefined where it need not be awaited. */
  pause(): Promise<void> | undefined {
    if (!this.overdue) return undefined;
    return this.outside(new Promise((resolve) => setImmediate(resolve)));
  }
}

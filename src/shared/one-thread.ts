/**
 * Runs tasks one after another in a thread that starts with the first task, and is replaced when it ends for whatever
 * reason.
 */
import { setImmediate } from "node:timers/promises";
import { Piscina } from "piscina";
import { reasonOf } from "./system.js";

/** Time after which an idle thread ends. */
const IDLE_MS = 60_000;
/** Threads that a task may lose before it fails. */
const MAX_LOST = 3;
/** The message of the pool for a task whose thread has ended. */
const ENDED = /^worker exited/;

/** The thread, its entry and its name. */
export interface OneThreadOptions {
  /** Path of its entry. */
  readonly filename: string;
  readonly name: string;
  readonly workerData?: unknown;
  /** Most tasks that may wait. */
  readonly maxQueue?: number;
  /** The kind of its results, for the log. */
  readonly makes: string;
}

export class OneThread {
  readonly #pool: Piscina;
  readonly #makes: string;
  readonly #warn: (line: string) => void;
  /** Aborts the wait of tasks for a thread that has ended before it took them. */
  readonly #waiting = new Set<AbortController>();

  /** @param warn called when the thread has ended with work left, which another thread then does */
  constructor({ makes, ...options }: OneThreadOptions, warn: (line: string) => void = () => undefined) {
    this.#makes = makes;
    this.#warn = warn;
    this.#pool = new Piscina({ minThreads: 0, maxThreads: 1, idleTimeout: IDLE_MS, ...options });
    let reason = "";
    this.#pool.on("error", (error: Error) => {
      reason = `: ${reasonOf(error)}`;
    });
    // The pool does not start waiting tasks if a thread ends while it starts.
    this.#pool.on("workerDestroy", async () => {
      await setImmediate();
      if (this.#pool.threads.length > 0) return;
      for (const lost of this.#waiting) lost.abort(`worker exited while it started${reason}`);
    });
  }

  /** Messages of the thread besides the results of tasks. */
  onMessage(receive: (message: never) => void): void {
    this.#pool.on("message", receive as (message: unknown) => void);
  }

  get waiting(): number {
    return this.#pool.queueSize;
  }

  /** Runs a task, again if the thread ends meanwhile. Throws what the task throws, or the error of the third loss. */
  async run<Outcome>(task: unknown): Promise<Outcome> {
    for (let losses = 1; ; losses++) {
      const lost = new AbortController();
      this.#waiting.add(lost);
      try {
        return (await this.#pool.run(task, { signal: lost.signal })) as Outcome;
      } catch (error) {
        const reason = lost.signal.aborted ? String(lost.signal.reason) : (error as Error).message;
        if (!ENDED.test(reason)) throw error;
        if (losses === MAX_LOST) throw new Error(`the thread that makes ${this.#makes} has ended: ${reason}`);
        this.#warn(`the thread that makes ${this.#makes} has ended (${reason}); another goes on`);
      } finally {
        this.#waiting.delete(lost);
      }
    }
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

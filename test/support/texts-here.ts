/**
 * The text threads of a query without threads: tasks are done in this thread, some moments later, or fail on demand.
 */
import { setImmediate as moment } from "node:timers/promises";
import { textModule } from "../../src/text/text-module.js";
import type { TextWorkers } from "../../src/text/text-task.js";

/** Text threads, with what a test looks at. */
export interface TextsHere extends TextWorkers {
  /** Buffers that are lent now, and tasks done so far. */
  readonly state: { lent: number; done: number };
}

/**
 * @param lost   whether the thread of a task dies, by the number of the task
 * @param memory buffers that may be lent at a time
 */
export function textsHere(lost: (task: number) => boolean = () => false, memory = Number.POSITIVE_INFINITY): TextsHere {
  const state = { lent: 0, done: 0 };
  const perform = async <T>(work: () => T): Promise<T> => {
    const task = state.done++;
    // Later tasks may be done first.
    for (let moments = 1 + ((7 * task) % 3); moments > 0; moments--) await moment();
    if (lost(task)) throw new Error("the thread died");
    return work();
  };
  return {
    state,
    parallelism: 2,
    lend(bytes) {
      if (state.lent >= memory) return null;
      state.lent++;
      return new Uint8Array(new SharedArrayBuffer(bytes));
    },
    giveBack() {
      state.lent--;
    },
    read: (task) => perform(() => textModule().read(task.bytes, task, task.out)),
    write: (task) => perform(() => textModule().write(task.values, task, task.out)),
    compress: () => Promise.reject(new Error("no thread compresses here")),
  };
}

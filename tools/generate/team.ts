/** A team of threads that share the units of a stage, each taking the next remaining unit. */
import { Worker } from "node:worker_threads";

/** Words that the threads share. */
const [NEXT, LIMIT, FIRST, STAGE, DONE, FAILED] = [0, 1, 2, 3, 4, 5];
const WORDS = 6;

/** Does one unit of a stage. */
export type DoUnit = (stage: number, unit: number) => void;

/** The words of a team, as its other threads are given them. */
export function createWords(): Int32Array {
  return new Int32Array(new SharedArrayBuffer(4 * WORDS));
}

/** A team whose first thread is the calling one, which waits in `run` without turning to other work. */
export class Team {
  readonly #words: Int32Array;
  readonly #act: DoUnit;
  readonly #workers: readonly Worker[];

  /**
   * @param entry the module of the other threads, which calls `serve`
   * @param data  given to each of them, with its number `thread`, from 1 on
   */
  constructor(words: Int32Array, act: DoUnit, threads: number, entry: URL, data: object) {
    this.#words = words;
    this.#act = act;
    this.#workers = Array.from({ length: threads - 1 }, (_, i) => {
      const worker = new Worker(entry, { workerData: { ...data, thread: i + 1 } });
      worker.unref();
      return worker;
    });
  }

  /** Does all units of a stage. Throws Error if one has failed. */
  run(stage: number, units: number): void {
    const words = this.#words;
    const limit = (Atomics.load(words, LIMIT) + units) | 0;
    Atomics.store(words, STAGE, stage);
    Atomics.store(words, FIRST, Atomics.load(words, LIMIT));
    Atomics.store(words, LIMIT, limit);
    Atomics.notify(words, LIMIT);
    doUnits(words, this.#act);
    for (let done = Atomics.load(words, DONE); done !== limit; done = Atomics.load(words, DONE))
      Atomics.wait(words, DONE, done);
    if (Atomics.load(words, FAILED) !== 0) throw new Error("a thread of the simulation has failed");
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

/** Does units until the thread is ended. */
export function serve(words: Int32Array, act: DoUnit): never {
  for (;;) {
    const limit = Atomics.load(words, LIMIT);
    doUnits(words, act);
    Atomics.wait(words, LIMIT, limit);
  }
}

/** Takes units until none is left. Units have numbers of their own, so a thread that is late takes none twice. */
function doUnits(words: Int32Array, act: DoUnit): void {
  for (;;) {
    const next = Atomics.load(words, NEXT);
    if (next === Atomics.load(words, LIMIT)) return;
    if (Atomics.compareExchange(words, NEXT, next, (next + 1) | 0) !== next) continue;
    try {
      act(Atomics.load(words, STAGE), (next - Atomics.load(words, FIRST)) | 0);
    } catch (error) {
      Atomics.store(words, FAILED, 1);
      process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    }
    Atomics.add(words, DONE, 1);
    Atomics.notify(words, DONE);
  }
}

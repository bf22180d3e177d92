/** Has the memory of a thread collected when much of it has been dropped and little else happens that would do so. */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Growth of the heap of a thread after which it is collected. */
const GROWN_BYTES = 16 * 1024 * 1024;

/** The collection of what one thread has dropped. */
export class GarbageCollection {
  /** Bytes of the heap after the last look that found less, or the last collection. */
  #before = getHeapStatistics().used_heap_size;
  /** The collection that is under way; null for none. */
  #running: Promise<void> | null = null;

  /** Collects the garbage of this thread, which takes some milliseconds of it; several calls share a collection. */
  collect(): Promise<void> {
    this.#running ??= this.#collectNow().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async #collectNow(): Promise<void> {
    setFlagsFromString("--expose-gc");
    const collect: (options: object) => unknown = runInNewContext("gc");
    await collect({ type: "major", execution: "async" });
    this.#before = getHeapStatistics().used_heap_size;
  }

  /** The same if the heap has grown since: a document that was read and dropped leaves many times its size. */
  async collectIfGrown(): Promise<void> {
    const { used_heap_size: used } = getHeapStatistics();
    if (used - this.#before > GROWN_BYTES) await this.collect();
    else this.#before = Math.min(this.#before, used);
  }
}

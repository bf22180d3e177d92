/** Has the memory of a thread collected when much of it has been dropped and little else happens that would do so. */
import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Growth of the heap of a thread after which it is collected. */
const GROWN_BYTES = 16 * 1024 * 1024;
/** Bytes of the heap after the last look that found less, or the last collection. */
let before = getHeapStatistics().used_heap_size;

/** Collects the garbage of this thread, which takes some milliseconds of it. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  const collect: (options: object) => unknown = runInNewContext("gc");
  await collect({ type: "major", execution: "async" });
  before = getHeapStatistics().used_heap_size;
}

/** The same if the heap has grown since: a document that was read and dropped leaves many times its size. */
export async function collectIfGrown(): Promise<void> {
  const { used_heap_size: used } = getHeapStatistics();
  if (used - before > GROWN_BYTES) await collectGarbage();
  else before = Math.min(before, used);
}

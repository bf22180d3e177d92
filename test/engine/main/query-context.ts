/** What the executions of queries use of an engine, for tests of one execution. */
import { tmpdir } from "node:os";
import { BufferPool } from "../../../src/engine/main/buffers.js";
import type { QueryContext } from "../../../src/engine/main/query-life.js";
import { ScratchSpace } from "../../../src/engine/main/scratch-space.js";
import { TextThreads } from "../../../src/engine/main/text-threads.js";
import type { ThreadPool } from "../../../src/engine/main/thread-pool.js";
import { LIMITS } from "../../../src/shared/config.js";

export function queryContext(
  pool: ThreadPool,
  more: Partial<QueryContext> & Pick<QueryContext, "buffers">,
): QueryContext {
  const scratch = new ScratchSpace({ limits: LIMITS, state: tmpdir() }, new BufferPool());
  const textThreads = new TextThreads(pool, new BufferPool());
  const calls = {
    sourceOf: () => 0,
    numberCombination: () => -4,
    onError: () => undefined,
    countPoints: () => undefined,
  };
  return { pool, sharing: null, textThreads, limits: LIMITS, scratch, ...calls, ...more };
}

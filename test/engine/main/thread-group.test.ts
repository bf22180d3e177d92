/** A thread group starts the threads that it lacks, again and again, without being asked for anything. */
import { EventEmitter } from "node:events";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { WorkerSetup } from "../../../src/engine/contract/memory.js";
import { ThreadGroup } from "../../../src/engine/main/thread-group.js";
import { ThreadStarts } from "../../../src/engine/main/thread-starts.js";
import type { BrickCache } from "../../../src/storage/bricks/cache.js";
import type { StoreThread } from "../../../src/storage/remote/store-thread.js";

/** The library as far as a group uses it: it starts the fewest threads at once, and one for each task. */
const library = vi.hoisted(() => ({ threads: [] as (EventEmitter & { threadId: number })[], started: 0 }));

function startThread(): void {
  library.threads.push(Object.assign(new EventEmitter(), { threadId: ++library.started }));
}

vi.mock("piscina", () => ({
  Piscina: class extends EventEmitter {
    readonly threads = library.threads;

    run(): Promise<{ ok: boolean }> {
      startThread();
      return Promise.resolve({ ok: true });
    }

    async destroy(): Promise<void> {}
  },
}));

/** Ends the only thread, as when it has died between two tasks. */
function endThread(): void {
  library.threads.pop()?.emit("exit");
}

let group: ThreadGroup;

beforeEach(() => {
  vi.useFakeTimers();
  library.started = 0;
  startThread();
  const setup = {
    memory: { buffer: new SharedArrayBuffer(64) },
    layout: { threadIds: 0, workers: 1 },
    loaded: Int32Array.of(1, 2, 3, 4),
    tickets: new Int32Array(1),
  };
  const cache = { repair: () => true };
  const parts = [setup as unknown as WorkerSetup, cache as unknown as BrickCache, {} as StoreThread] as const;
  group = new ThreadGroup(parts[0], 1, 1, parts[1], parts[2], () => undefined);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  library.threads.length = 0;
});

it("replaces a thread that has died, unasked", async () => {
  endThread();
  expect(group.alive).toBe(0);
  await vi.advanceTimersByTimeAsync(250);
  expect(group.alive).toBe(1);
  expect(library.started).toBe(2);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(library.started).toBe(2);
});

it("tries again where no thread might be started yet", async () => {
  const allowed = vi.spyOn(ThreadStarts.prototype, "allowed", "get").mockReturnValue(false);
  endThread();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(library.started).toBe(1);
  allowed.mockReturnValue(true);
  await vi.advanceTimersByTimeAsync(250);
  expect(library.started).toBe(2);
});

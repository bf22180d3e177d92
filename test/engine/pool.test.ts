import { afterEach, describe, expect, it } from "vitest";
import { openPool, type Pool } from "../../src/engine/pool.js";
import type { Task } from "../../src/engine/task.js";
import { WorkerError } from "../../src/errors.js";

const PING: Task = { kind: "ping" };

describe("pool", () => {
  let pool: Pool;
  const open = (workers: number): Pool => {
    pool = openPool({ workers, cacheBytes: 4 * 1024 * 1024, chunkBytes: 1024 * 1024, fd8Legacy: false });
    return pool;
  };
  afterEach(() => pool.close());

  it("answers from every thread", async () => {
    open(3);
    expect(await Promise.all(Array.from({ length: 30 }, () => pool.run(PING)))).toEqual(Array(30).fill(null));
    expect(pool.alive()).toBe(3);
  });

  it("replaces a thread that met an error nobody foresaw, and goes on", async () => {
    open(1);
    const nonsense = { kind: "batch", kernel: "no such kernel" } as unknown as Task;
    const error: unknown = await pool.run(nonsense).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(WorkerError);
    expect((error as WorkerError).message).not.toMatch(/at |\.js|undefined/);
    expect(String((error as WorkerError).cause)).toContain("TypeError");
    expect(await pool.run(PING)).toBe(null);
    expect(pool.alive()).toBe(1);
  });
});

/** Checks any queue of jobs: the suite that every adapter passes. */
import { readFile } from "node:fs/promises";
import { describe, expect, it, vi } from "vitest";
import type { Job, TaskOutput } from "../../src/jobs/job.js";
import type { JobQueue, TakenTask } from "../../src/jobs/job-queue.js";
import type { Generation, JobHost } from "../../src/jobs/job-runner.js";

const OUTPUT: TaskOutput = { bytes: 12, crc: 7, ms: 5, headers: { "fieldprobe-shape": "1,3" } };

export function jobWith(id: string, tasks: number, changes: Partial<Job> = {}): Job {
  return {
    ...{ id, owner: null, state: "queued", cut: null, tasks, doneTasks: 0, spentMs: 0, createdAt: 1000 },
    call: { method: "POST", url: "/api/datasets/a/values", form: "f32" },
    ...{ startedAt: null, endedAt: null, problem: null, result: null, removed: false },
    ...changes,
  };
}

export const ONE_GENERATION: Generation = {
  ...{ id: "g1", patienceMs: 0 },
  isElsewhere: () => false,
  holds: () => true,
};

/** A service whose values are the numbers of their points. */
export const NUMBERS: JobHost = {
  generationOf: () => ONE_GENERATION,
  async send({ part, body }) {
    for await (const _ of body.steps);
    const answer = async function* (): AsyncGenerator<Buffer> {
      if (part === null) return;
      if (part.range === undefined) for (const path of part.paths) yield await readFile(path);
      else {
        const { from, to } = part.range;
        yield Buffer.from(Float32Array.from({ length: to - from }, (_, i) => from + i).buffer);
      }
    };
    return { status: 200, headers: { "fieldprobe-manifest": "a" }, body: answer() };
  },
  log: { warn: () => undefined, error: () => undefined },
};

/** @param open opens the same queue each time it is called in a test; another one in each test */
export function checkQueue(open: () => JobQueue): void {
  const taken = (queue: JobQueue): Promise<TakenTask> =>
    vi.waitFor(
      async () => {
        const task = await queue.take();
        if (task === null) throw new Error("there is no task");
        return task;
      },
      { timeout: 10_000, interval: 20 },
    );

  describe("a queue of jobs", () => {
    it("hands out each task once, and the one that writes the result when all others are done", async () => {
      const queue = open();
      await queue.add(jobWith("a", 2));
      const [first, second] = [await taken(queue), await taken(queue)];
      expect([first.number, second.number, await queue.take()]).toEqual([0, 1, null]);
      expect(first.job).toMatchObject({ state: "running" });
      await queue.done(second, OUTPUT);
      expect(await queue.take()).toBeNull();
      expect(await queue.done(first, OUTPUT)).toMatchObject({ doneTasks: 2, spentMs: 10 });
      expect((await taken(queue)).number).toBe(2);
      expect(await queue.outputs("a")).toEqual([OUTPUT, OUTPUT]);
      await queue.close();
    });

    it("serves the job that was served least", async () => {
      const queue = open();
      await queue.add(jobWith("long", 9));
      await queue.done(await taken(queue), OUTPUT);
      await queue.add(jobWith("later", 1, { createdAt: 2000 }));
      expect((await taken(queue)).job.id).toBe("later");
      expect((await taken(queue)).job.id).toBe("long");
      await queue.close();
    });

    it("hands out again what was taken when it was closed, and keeps what was done", async () => {
      const before = open();
      await before.add(jobWith("a", 3));
      await before.done(await taken(before), OUTPUT);
      await before.take();
      await before.close();
      const after = open();
      expect([(await taken(after)).number, (await taken(after)).number]).toEqual([1, 2]);
      expect(await after.find("a")).toMatchObject({ doneTasks: 1 });
      await after.close();
    });

    it("counts how often a task has failed, not how often it is put back", async () => {
      const queue = open();
      await queue.add(jobWith("a", 1));
      await queue.putBack(await taken(queue), true);
      await queue.putBack(await taken(queue));
      expect(await taken(queue)).toMatchObject({ number: 0, attempts: 1 });
      await queue.close();
    });

    it("changes a job only from the given states", async () => {
      const queue = open();
      await queue.add(jobWith("a", 1));
      const task = await taken(queue);
      expect(await queue.change("a", ["running"], { state: "cancelled" })).toMatchObject({ state: "cancelled" });
      expect(await queue.change("a", ["running"], { state: "failed" })).toBeNull();
      expect(await queue.done(task, OUTPUT)).toBeNull();
      expect(await queue.take()).toBeNull();
      await queue.close();
    });

    it("forgets outputs that are damaged, and hands their tasks out again", async () => {
      const queue = open();
      await queue.add(jobWith("a", 2));
      for (const task of [await taken(queue), await taken(queue)]) await queue.done(task, OUTPUT);
      const last = await taken(queue);
      await queue.redo(last.job, [1]);
      await queue.redo(last.job, [1]);
      await queue.putBack(last);
      expect(await queue.take()).toMatchObject({ number: 1, job: { doneTasks: 1 } });
      expect(await queue.take()).toBeNull();
      await queue.close();
    });

    it("adds the tasks of another pass in place of the one that writes the result", async () => {
      const queue = open();
      const cut = { points: 2, times: 1, perTask: 1, inPasses: true } as const;
      await queue.add(jobWith("a", 2, { cut }));
      for (const task of [await taken(queue), await taken(queue)]) await queue.done(task, OUTPUT);
      await queue.extend(await taken(queue));
      const [third, fourth] = [await taken(queue), await taken(queue)];
      expect([third.number, fourth.number, await queue.take()]).toEqual([2, 3, null]);
      expect(fourth.job).toMatchObject({ tasks: 4, doneTasks: 2, cut: { ...cut, times: 2 } });
      for (const task of [fourth, third]) await queue.done(task, OUTPUT);
      expect(await taken(queue)).toMatchObject({ number: 4, job: { doneTasks: 4 } });
      expect(await queue.outputs("a")).toEqual([OUTPUT, OUTPUT, OUTPUT, OUTPUT]);
      await queue.close();
    });

    it("lets tasks start anew under another generation, and takes no output of the one before", async () => {
      const queue = open();
      await queue.add(jobWith("a", 2, { generation: "g1" }));
      const [first, second] = [await taken(queue), await taken(queue)];
      await queue.done(first, { ...OUTPUT, generation: "g1" });
      expect(await queue.take(() => null)).toBeNull();
      const anew = await vi.waitFor(async () => {
        const task = await queue.take(() => "g2");
        if (task === null) throw new Error("there is no task");
        return task;
      });
      expect(anew).toMatchObject({ number: 0, job: { generation: "g2", doneTasks: 0, restarts: 1 } });
      expect(await queue.done(second, { ...OUTPUT, generation: "g1" })).toBeNull();
      await queue.redo(first.job, [0]);
      await queue.putBack(second);
      await queue.done(anew, { ...OUTPUT, generation: "g2" });
      expect(await queue.outputs("a")).toEqual([{ ...OUTPUT, generation: "g2" }, null]);
      expect(await taken(queue)).toMatchObject({ number: 1, job: { generation: "g2", doneTasks: 1 } });
      expect(await queue.take()).toBeNull();
      await queue.close();
    });

    it("lists the jobs of an owner, latest first, and of everyone", async () => {
      const queue = open();
      await queue.add(jobWith("a", 1));
      await queue.add(jobWith("b", 1, { createdAt: 3000 }));
      await queue.add(jobWith("c", 1, { owner: "x" }));
      expect((await queue.list(null)).map(({ id }) => id)).toEqual(["b", "a"]);
      expect((await queue.list("x")).map(({ id }) => id)).toEqual(["c"]);
      expect(await queue.list()).toHaveLength(3);
      await queue.change("b", ["queued"], { state: "cancelled" });
      const counts = [undefined, null, "x", "y"].map((owner) => queue.count(["queued", "running"], owner));
      expect(await Promise.all(counts)).toEqual([2, 1, 1, 0]);
      await queue.remove("a");
      expect(await queue.find("a")).toBeNull();
      await queue.close();
    });
  });
}

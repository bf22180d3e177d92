/** The queue chooses who is served next among competing queries, in milliseconds of a thread. */
import { describe, expect, it } from "vitest";
import { createShare, FairQueue, type QueryShare } from "../../../src/engine/main/fair-queue.js";

interface Task {
  readonly share: QueryShare;
  readonly expectedMs: number;
}

/** A task of a query, which is expected to be long unless told otherwise. */
const taskOf = (share: QueryShare, expectedMs = 1000): Task => ({ share, expectedMs });

/** Serves a thread for some slices of 20 ms; every query always has another task. Returns the milliseconds of each. */
function serve(queue: FairQueue<Task>, slices: number): Map<QueryShare, number> {
  const served = new Map<QueryShare, number>();
  for (let i = 0; i < slices; i++) {
    const task = queue.take();
    if (!task) break;
    queue.charge(task, 20);
    served.set(task.share, (served.get(task.share) ?? 0) + 20);
    queue.return(task);
  }
  return served;
}

describe("a fair queue", () => {
  it("shares the time equally among clients, and a client's part among its queries", () => {
    const queue = new FairQueue<Task>();
    const shares = [createShare("many"), createShare("many"), createShare("many"), createShare("one"), createShare()];
    for (const share of shares) queue.add(taskOf(share));
    const served = serve(queue, 900);
    const parts = shares.map((share) => (served.get(share) as number) / 18_000);
    for (const [i, part] of [1 / 9, 1 / 9, 1 / 9, 1 / 3, 1 / 3].entries()) expect(parts[i]).toBeCloseTo(part, 2);
  });

  it("gives a client no larger part for more tasks of a query", () => {
    const queue = new FairQueue<Task>();
    const [greedy, modest] = [createShare(), createShare()] as const;
    for (let i = 0; i < 9; i++) queue.add(taskOf(greedy));
    queue.add(taskOf(modest));
    const served = serve(queue, 400);
    expect((served.get(modest) as number) / 8000).toBeCloseTo(0.5, 2);
  });

  it("serves a query that begins before any that has been served for long", () => {
    const queue = new FairQueue<Task>();
    for (let client = 0; client < 31; client++) queue.add(taskOf(createShare(client)));
    serve(queue, 500);
    for (const client of ["new", 7]) {
      const share = createShare(client);
      queue.add(taskOf(share, 1));
      const task = queue.take();
      expect(task?.share).toBe(share);
      if (task) queue.ended(task);
    }
  });

  it("gives a query that was served ahead of others no advantage for a pause", () => {
    const queue = new FairQueue<Task>();
    const [paused, steady] = [createShare(), createShare()] as const;
    queue.add(taskOf(steady));
    queue.add(taskOf(paused));
    const task = queue.take(({ share }) => share === paused) as Task;
    queue.charge(task, 1000);
    queue.ended(task);
    queue.add(taskOf(paused));
    const served = serve(queue, 40);
    expect([served.get(steady), served.get(paused) ?? 0]).toEqual([800, 0]);
  });

  it("serves the shortest of queries that have not been served first, in whatever order they came", () => {
    const queue = new FairQueue<Task>();
    const expected = [40, 1000, 5, 1000, 0.01, 20];
    for (const ms of expected) queue.add(taskOf(createShare(), ms));
    const taken: number[] = [];
    for (let task = queue.take(); task !== null; task = queue.take()) {
      taken.push(task.expectedMs);
      queue.charge(task, 20);
      queue.ended(task);
    }
    expect(taken).toEqual(expected.toSorted((a, b) => a - b));
  });

  it("serves a long query though new ones never end", () => {
    const queue = new FairQueue<Task>();
    const long = createShare();
    queue.add(taskOf(long));
    let served = 0;
    for (let i = 0; i < 1000; i++) {
      queue.add(taskOf(createShare(), 1));
      const task = queue.take() as Task;
      queue.charge(task, 20);
      if (task.share !== long) {
        queue.ended(task);
        continue;
      }
      served += 20;
      queue.return(task);
    }
    expect(served).toBeGreaterThan(400);
  });

  it("forgets what an idle client has used, and what it has not", () => {
    const queue = new FairQueue<Task>();
    const [idle, busy] = [createShare("idle"), createShare("busy")];
    const task = taskOf(idle);
    queue.add(task);
    queue.add(taskOf(busy));
    expect(queue.remove(task)).toBe(true);
    serve(queue, 500);
    queue.add(taskOf(idle));
    expect(serve(queue, 100).get(busy)).toBeGreaterThanOrEqual(880);
  });

  it("counts the queries that compete", () => {
    const queue = new FairQueue<Task>();
    const share = createShare();
    const tasks = [taskOf(share), taskOf(share), taskOf(createShare())];
    for (const task of tasks) queue.add(task);
    expect([queue.size, queue.queries]).toEqual([3, 2]);
    for (const task of tasks.slice(0, 2)) queue.remove(task);
    expect([queue.size, queue.queries]).toEqual([1, 1]);
    expect(queue.remove(taskOf(share))).toBe(false);
    expect(queue.take(() => false)).toBe(null);
  });

  it("counts what ran without being queued as the part of its client", () => {
    const queue = new FairQueue<Task>();
    const waiting = createShare("waiting");
    queue.add(taskOf(waiting));
    const unqueued = createShare("unqueued");
    for (let i = 0; i < 10; i++) queue.chargeUnqueued(unqueued, 20);
    expect(unqueued).toMatchObject({ virtual: 200, served: 200 });
    // The other client had a right to as much.
    const fresh = createShare("fresh");
    queue.add(taskOf(fresh));
    expect(fresh.virtual).toBeCloseTo(100, 9);
    expect(queue.take()?.share).toBe(waiting);
    expect(queue.queries).toBe(2);
  });
});

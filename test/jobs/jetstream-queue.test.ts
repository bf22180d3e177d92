/** The queue of a cluster passes the suite of all queues, and goes on where another process has stopped. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openSharedQueue } from "../../src/jobs/jetstream-queue.js";
import type { JobQueue } from "../../src/jobs/job-queue.js";
import { loadConfig } from "../../src/shared/config.js";
import { type NatsOptions, natsOptions, openNats } from "../../src/shared/nats.js";
import { type NatsServer, NO_NATS, startNats } from "../support/nats.js";
import { eachScratchFolder } from "../support/scratch.js";
import { checkQueue, jobWith } from "./check-queue.js";

describe.skipIf(NO_NATS)("beside a NATS server with JetStream", () => {
  let server: NatsServer;
  let folder = "";
  eachScratchFolder((made) => {
    folder = made;
  });
  beforeEach(async () => {
    server = await startNats(["-js", "-sd", join(folder, "nats")]);
  });
  afterEach(() => server.end());
  const open = (place = "jobs"): JobQueue =>
    openSharedQueue(loadConfig({ NATS: server.url }, {}).nats, join(folder, place));

  checkQueue(open);

  it("shows other processes what has changed, and gives them the tasks of one that stops", async () => {
    const [one, other] = [open(), open()];
    const changed = vi.fn();
    other.watch?.(changed);
    await one.add(jobWith("a", 2));
    await vi.waitFor(() => expect(changed).toHaveBeenCalledWith("a"), { timeout: 10_000 });
    expect(await one.take()).toMatchObject({ number: 0 });
    expect(await other.take()).toMatchObject({ number: 1, job: { state: "running" } });
    expect(await other.take()).toBeNull();
    await one.close();
    await vi.waitFor(async () => expect(await other.take()).toMatchObject({ number: 0 }));
    await other.close();
  });

  it("refuses a process whose folder is not that of the others", async () => {
    const [one, other, same] = [open(), open("elsewhere"), open()];
    expect(await one.list()).toEqual([]);
    await expect(other.list()).rejects.toThrow(/elsewhere is not the folder of other processes of the cluster/);
    expect(await same.list()).toEqual([]);
    for (const queue of [one, other, same]) await queue.close();
  });

  it("refuses one of two processes with different folders that start at the same time", async () => {
    const queues = [open(), open("elsewhere")];
    const lists = await Promise.allSettled(queues.map((queue) => queue.list()));
    expect(lists.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
    for (const queue of queues) await queue.close();
  });

  it.each([
    ["read", () => mkdirSync(join(folder, "jobs", "mark"), { recursive: true })],
    ["written", () => writeFileSync(join(folder, "jobs"), "")],
  ])("refuses a process whose folder's mark cannot be %s", async (_, prevent) => {
    prevent();
    const queue = open();
    await expect(queue.list()).rejects.toThrow(/^jobs: .*mark cannot be written and read: /);
    await queue.close();
  });

  it("refuses it too if the others, of whom it had heard nothing, tell their folder later", async () => {
    const others = await openNats(natsOptions(loadConfig({ NATS: server.url }, {}).nats) as NatsOptions);
    let [isDeaf, delay] = [true, 0];
    others.subscribe("fieldprobe.folder", {
      callback: (_, message) => {
        if (!isDeaf) setTimeout(() => message.respond("-1e13 theirs"), delay);
        // A process that has joined tells a negative time.
        else if (message.string().startsWith("-")) {
          isDeaf = false;
          others.publish("fieldprobe.folder", "-1e13 theirs");
        }
      },
    });
    await others.flush();
    const queue = open();
    await vi.waitFor(() => expect(queue.list()).rejects.toThrow(/is not the folder of other processes/), 10_000);
    // Others that are busy are heard the next time too.
    delay = 1000;
    await expect(queue.list()).rejects.toThrow(/is not the folder of other processes/);
    await queue.close();
    await others.close();
  });

  it("tells jobs that have ended while the server is away, and asks to come again for others", async () => {
    const queue = open();
    await queue.add(jobWith("a", 1));
    await queue.add(jobWith("b", 1));
    await queue.change("a", ["queued"], { state: "cancelled" });
    await server.end();
    const busy = { code: "Busy", context: { retryAfter: 5 } };
    await vi.waitFor(() => expect(queue.list()).rejects.toMatchObject(busy), 10_000);
    expect(await queue.find("a")).toMatchObject({ state: "cancelled" });
    await expect(queue.find("b")).rejects.toMatchObject(busy);
    await queue.close();
  });

  it("keeps jobs and what is done when the server is restarted", async () => {
    const queue = open();
    await queue.add(jobWith("a", 2));
    const first = await queue.take();
    await queue.done(first as NonNullable<typeof first>, { bytes: 1, crc: 2, ms: 3, headers: {} });
    const { port } = new URL(server.url);
    server.child.kill("SIGTERM");
    await server.end();
    await vi.waitFor(() => expect(queue.find("a")).rejects.toThrow(/jobs: the queue of the cluster cannot be reached/));
    server = await startNats(["-p", port, "-js", "-sd", join(folder, "nats")]);
    expect(await queue.find("a")).toMatchObject({ doneTasks: 1 });
    expect(await queue.take()).toMatchObject({ number: 1 });
    await queue.close();
  });
});

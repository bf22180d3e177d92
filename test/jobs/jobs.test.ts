/** Quotas bound what an owner starts: what meets a quota exactly is accepted, what exceeds it is refused by name. */
import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { Inputs } from "../../src/jobs/inputs.js";
import type { Job, JobCut } from "../../src/jobs/job.js";
import { bodyFile } from "../../src/jobs/job-files.js";
import type { JobHost } from "../../src/jobs/job-runner.js";
import { Jobs } from "../../src/jobs/jobs.js";
import { openSqlQueue } from "../../src/jobs/sql-queue.js";
import { LIMITS } from "../../src/shared/config.js";
import { eachScratchFolder } from "../support/scratch.js";
import { jobWith, ONE_GENERATION } from "./check-queue.js";

let folder = "";
eachScratchFolder((made) => {
  folder = made;
});

let jobs: Jobs;
afterEach(() => jobs.close());

type Send = JobHost["send"];

const neverAnswered: Send = (_, signal) =>
  new Promise<never>((_resolve, reject) => {
    signal.throwIfAborted();
    signal.addEventListener("abort", () => reject(signal.reason));
  });

/** Jobs whose tasks never end, unless `send` answers them. */
function openJobs(
  limits: Partial<Record<keyof typeof LIMITS, number>>,
  openShared: ConstructorParameters<typeof Jobs>[2] = null,
  send = neverAnswered,
): Jobs {
  const settings = {
    state: join(folder, "state"),
    results: openShared === null ? null : join(folder, "results"),
    nats: { servers: null },
    limits: { ...LIMITS, ...limits },
  };
  const log = { warn: () => undefined, error: () => undefined };
  const host = { generationOf: () => ONE_GENERATION, send, log };
  return new Jobs(settings as unknown as ConstructorParameters<typeof Jobs>[0], host, openShared);
}

/** Keeps the question of a job that a test has put into a queue. */
function writeQuestion(state: string, id: string): void {
  mkdirSync(join(state, "inputs"), { recursive: true });
  writeFileSync(bodyFile({ state, results: "" }, id), "{}");
}

const idOf = (digit: number): string => `${digit}`.repeat(24);

const CALL = { method: "POST", url: "/api/datasets/a/values", form: "f32" } as const;

const cutOf = (points: number, more: Partial<JobCut> = {}): JobCut => ({
  ...{ points, perTask: 500, times: 1, ...more },
});

it("admits the last point of a job and of a day, and no further one", async () => {
  jobs = openJobs({ "jobs.points": 500, "jobs.pointsPerDay": 700 });
  await jobs.admit("one", cutOf(500));
  await expect(jobs.admit("one", cutOf(501))).rejects.toMatchObject({ message: "Job too large (501 > 500 points)" });
  await jobs.start("one", CALL, cutOf(500), {});
  await jobs.admit("one", cutOf(200));
  await expect(jobs.admit("one", cutOf(201))).rejects.toMatchObject({ message: "Too many points today (701 > 700)" });
  await jobs.admit("another", cutOf(500));
});

it("counts points at each time, and reserves the bytes of results that are not there yet", async () => {
  jobs = openJobs({ "jobs.points": 500, "jobs.bytesPerDay": 1000 });
  await jobs.admit("one", cutOf(250, { times: 2 }));
  await expect(jobs.admit("one", cutOf(251, { times: 2 }))).rejects.toMatchObject({
    message: "Job too large (502 > 500 points)",
  });
  const start = (bytes: number) => jobs.start("one", CALL, cutOf(1, { bytes }), {});
  const started = await start(600);
  await expect(start(401)).rejects.toMatchObject({ message: "Result too large (401 bytes > 400 that are left today)" });
  const together = [start(400), start(400)];
  const states = (await Promise.allSettled(together)).map(({ status }) => status);
  expect(states.toSorted()).toEqual(["fulfilled", "rejected"]);
  await jobs.cancel(started);
  await jobs.admit("one", cutOf(1, { bytes: 600 }));
});

/** Waits until jobs have ended. @returns them, in the same order */
async function ended(started: readonly Job[]): Promise<Job[]> {
  const all: Job[] = [];
  for (const { id, owner } of started) {
    const isOver = async () => (await jobs.find(owner, id))?.endedAt !== null;
    const changes = new Promise<void>((resolve) =>
      jobs.watch(id, () => void isOver().then((over) => over && resolve())),
    );
    if (!(await isOver())) await changes;
    all.push((await jobs.find(owner, id)) as Job);
  }
  return all;
}

describe("the result of a single task, whose bytes are not known before", () => {
  const TOO_LARGE = /^Result too large \(more than the \d+ bytes left today\)$/;

  it("is kept as far as the bytes of the day go, though several are written at once", async () => {
    const send: Send = async () => ({ status: 200, headers: {}, body: Readable.from([Buffer.alloc(350)]) });
    jobs = openJobs({ "jobs.bytesPerDay": 1000 }, null, send);
    const started = await Promise.all(Array.from({ length: 5 }, () => jobs.start("one", CALL, null, {})));
    const all = await ended(started);
    expect(all.map(({ state }) => state).toSorted()).toEqual(["done", "done", "failed", "failed", "failed"]);
    for (const { state, problem } of all) if (state === "failed") expect(problem).toMatch(TOO_LARGE);
    const results = readdirSync(join(folder, "state/results")).filter((name) => name.endsWith(".bin"));
    expect(results).toHaveLength(2);
    expect((await ended([await jobs.start("another", CALL, null, {})]))[0]?.state).toBe("done");
  });

  it("is read no further than they go", async () => {
    let read = 0;
    const endless = async function* (): AsyncGenerator<Buffer> {
      for (;;) {
        read += 100;
        yield Buffer.alloc(100);
      }
    };
    const send: Send = async () => ({ status: 200, headers: {}, body: endless() });
    jobs = openJobs({ "jobs.bytesPerDay": 1000 }, null, send);
    const [job] = await ended([await jobs.start("one", CALL, null, {})]);
    expect(job?.problem).toMatch(TOO_LARGE);
    expect(read).toBe(1100);
  });
});

it("admits as many jobs at once as its quota says", async () => {
  jobs = openJobs({ "jobs.atOnce": 2 });
  const started = [await jobs.start("one", CALL, null, {}), await jobs.start("one", CALL, null, {})];
  await expect(jobs.admit("one")).rejects.toMatchObject({ context: { limit: "jobs.atOnce" } });
  await jobs.admit("another");
  await jobs.cancel(started[0] as (typeof started)[number]);
  await jobs.admit("one");
});

it("removes what a killed process left of submissions, and nothing that a job or a caller needs", async () => {
  const inputs = join(folder, "state/jobs/inputs");
  mkdirSync(inputs, { recursive: true });
  const [needed, killed, taken, given, late] = [1, 2, 3, 4, 5].map(idOf) as [string, string, string, string, string];
  const queue = openSqlQueue(join(folder, "state/jobs/jobs.db"));
  await queue.add(jobWith(needed, 1));
  await queue.close();
  const put = (name: string) => writeFileSync(join(inputs, name), Buffer.alloc(24));
  for (const name of [`${needed}.body`, ...["body", "body.points", "data"].map((end) => `${killed}.${end}`)]) put(name);
  const before = new Inputs(inputs, 1e6);
  // Points of a call whose job was not started, and those that a caller has uploaded for a job to come.
  await before.addRows({ id: taken, owner: null }, new Float64Array(3), 3, []);
  await before.add({ id: given, owner: null, source: { kind: "upload", form: "octets", bytes: 24 } });
  jobs = openJobs({});
  jobs.resume();
  // What is received from now on is kept until it is old.
  put(`${late}.body`);
  const kept = [`${needed}.body`, `${given}.data`, `${given}.json`, `${late}.body`];
  await expect.poll(() => readdirSync(inputs).sort()).toEqual(kept);
});

it("removes what a killed process left of jobs that it had ended or removed, and no other result", async () => {
  const [results, tasks] = [join(folder, "state/results"), join(folder, "state/jobs/tasks")];
  const [removed, cancelled, kept] = [1, 2, 3].map(idOf) as [string, string, string];
  for (const id of [removed, cancelled, kept]) {
    mkdirSync(join(tasks, id), { recursive: true });
    mkdirSync(results, { recursive: true });
    for (const name of [`${id}.bin`, `${id}.bin.json`]) writeFileSync(join(results, name), "");
  }
  const queue = openSqlQueue(join(folder, "state/jobs/jobs.db"));
  const done = (id: string) => {
    const result = { name: `${id}.bin`, type: "application/octet-stream", bytes: 0, sha256: "" };
    return { state: "done", endedAt: Date.now(), result } as const;
  };
  await queue.add(jobWith(removed, 1, { ...done(removed), removed: true }));
  await queue.add(jobWith(cancelled, 1, { state: "cancelled", endedAt: Date.now() }));
  await queue.add(jobWith(kept, 1, done(kept)));
  await queue.close();
  jobs = openJobs({});
  jobs.resume();
  await expect
    .poll(() => [readdirSync(results).sort(), readdirSync(tasks)])
    .toEqual([[`${kept}.bin`, `${kept}.bin.json`], []]);
});

it("removes what is old of a folder that processes share, and nothing that another may be receiving", async () => {
  const inputs = join(folder, "results/jobs/inputs");
  mkdirSync(inputs, { recursive: true });
  for (const [id, hours] of [[1, 200] as const, [2, 1] as const]) {
    const file = join(inputs, `${idOf(id)}.body`);
    writeFileSync(file, "[[1, 2, 3]]");
    utimesSync(file, new Date(), new Date(Date.now() - hours * 3_600_000));
  }
  jobs = openJobs({}, () => openSqlQueue(join(folder, "shared.db")));
  jobs.resume();
  await expect.poll(() => readdirSync(inputs)).toEqual([`${idOf(2)}.body`]);
});

it("removes old files of jobs that a queue has lost, and neither new ones nor those of others", async () => {
  const [results, tasks] = [join(folder, "results"), join(folder, "results/jobs/tasks")];
  const [old, late, known] = [1, 2, 3].map(idOf) as [string, string, string];
  for (const [id, hours] of [[old, 200] as const, [late, 1] as const, [known, 200] as const]) {
    mkdirSync(join(tasks, id), { recursive: true });
    const files = [`${id}-00000001.bin`, `${id}-00000001.bin.json`].map((name) => join(results, name));
    for (const file of files) writeFileSync(file, "");
    for (const path of [join(tasks, id), ...files])
      utimesSync(path, new Date(), new Date(Date.now() - hours * 3_600_000));
  }
  writeFileSync(join(results, "notes.txt"), "");
  utimesSync(join(results, "notes.txt"), new Date(0), new Date(0));
  const queue = openSqlQueue(join(folder, "shared.db"));
  await queue.add(jobWith(known, 1, { state: "running" }));
  writeQuestion(join(folder, "results/jobs"), known);
  jobs = openJobs({}, () => queue);
  jobs.resume();
  const filesOf = (id: string) => [`${id}-00000001.bin`, `${id}-00000001.bin.json`];
  await expect.poll(() => readdirSync(tasks).sort()).toEqual([late, known]);
  expect(readdirSync(results).sort()).toEqual([...filesOf(late), ...filesOf(known), "jobs", "notes.txt"]);
});

it("continues the jobs of an earlier life once their queue can be opened, though nobody asks for them", async () => {
  const file = join(folder, "state/jobs/jobs.db");
  const queue = openSqlQueue(file);
  await queue.add(jobWith("1".repeat(24), 1));
  writeQuestion(join(folder, "state/jobs"), "1".repeat(24));
  await queue.close();
  const kept = readFileSync(file);
  writeFileSync(file, "no room");
  const unfinished = () => jobs.counts().queued + jobs.counts().running;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    jobs = openJobs({});
    jobs.resume();
    vi.advanceTimersByTime(60_000);
    writeFileSync(file, kept);
    expect(unfinished()).toBe(0);
    vi.advanceTimersByTime(60_000);
  } finally {
    vi.useRealTimers();
  }
  await expect.poll(unfinished).toBe(1);
});

it("counts the places of a dataset, and refuses an input beyond the quota of a job", async () => {
  jobs = openJobs({ "jobs.points": 24 });
  const along = { first: 0, step: 1, origin: 0, spacing: 1 };
  const grid = (nx: number) => jobs.addInput(null, { kind: "places", counts: [nx, 3, 2], axes: [along, along, along] });
  expect(await grid(4)).toMatchObject({ points: 24 });
  await expect(grid(5)).rejects.toMatchObject({ message: "Input too large (30 > 24 points)" });
  const upload = (form: "octets" | "npy" | "csv", bytes: number) =>
    jobs.addInput(null, { kind: "upload", form, bytes });
  await expect(upload("npy", 24 * 24 + 1)).rejects.toMatchObject({ message: "Input too large (25 > 24 points)" });
  // Lines of CSV may have any number of digits.
  const lines = Buffer.from(`${"0.12500000000000000000,1,2\n".repeat(25)}`);
  const csv = await upload("csv", lines.length);
  expect(csv).toMatchObject({ points: null });
  const received = jobs.inputs.receive(csv, 0, lines.length, Readable.from([lines]), () => null);
  await expect(received).rejects.toMatchObject({ message: "Input too large (more than 24 points)" });
});

it("says to come again while the service ends", async () => {
  jobs = openJobs({});
  await jobs.close();
  await expect(jobs.admit(null)).rejects.toMatchObject({ code: "Busy" });
});

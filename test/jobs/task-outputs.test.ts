/** Results from outputs of tasks: what is damaged is computed again, and what cannot be kept fails in one line. */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { Inputs } from "../../src/jobs/inputs.js";
import { type Job, type JobCut, UNFINISHED } from "../../src/jobs/job.js";
import { bodyFile, type JobFolders, newId, tasksFolder } from "../../src/jobs/job-files.js";
import type { JobQueue } from "../../src/jobs/job-queue.js";
import { type JobHost, JobRunner } from "../../src/jobs/job-runner.js";
import { FolderResults } from "../../src/jobs/result-store.js";
import { openSqlQueue } from "../../src/jobs/sql-queue.js";
import { BusyError } from "../../src/shared/errors.js";
import { eachScratchFolder } from "../support/scratch.js";
import { jobWith, NUMBERS, ONE_GENERATION } from "./check-queue.js";

let folders: JobFolders = { state: "", results: "" };
eachScratchFolder((made) => {
  folders = { state: join(made, "jobs"), results: join(made, "results") };
  mkdirSync(folders.state);
});

const warnings: string[] = [];

const host = (changes: Partial<JobHost> = {}): JobHost => ({
  ...NUMBERS,
  log: { warn: (_, message) => void warnings.push(message), error: (_, message) => void warnings.push(message) },
  ...changes,
});

/** A part of a job that is a range: its other parts join the outputs. */
const isRange = ({ part }: Parameters<JobHost["send"]>[0]): boolean => part !== null && "range" in part;

const numbersIn = (result: Job["result"]): number[] => [
  ...new Float32Array(new Uint8Array(readFileSync(join(folders.results, result?.name as string))).buffer),
];

/** Lets time pass, two seconds after two seconds, until the test is over. */
function passTime(): void {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const passing = setInterval(() => vi.advanceTimersByTime(2_000));
  onTestFinished(() => {
    clearInterval(passing);
    vi.useRealTimers().restoreAllMocks();
  });
}

async function runJob(
  changes: Partial<JobHost> = {},
  spoil: (queue: JobQueue) => void = () => undefined,
): Promise<Job> {
  warnings.length = 0;
  const inputs = new Inputs(join(folders.state, "inputs"), 1e6);
  const queue = openSqlQueue(join(folders.state, "jobs.db"));
  const cut: JobCut = { points: 6, perTask: 2, times: 1 };
  const id = newId();
  spoil(queue);
  writeFileSync(bodyFile(folders, id), "{}");
  await queue.add(jobWith(id, 3, { cut }));
  let over = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    over = resolve;
  });
  const runner: JobRunner = new JobRunner(
    queue,
    inputs,
    folders,
    new FolderResults(folders.results),
    host(changes),
    () => {
      void queue.find(id).then((job) => {
        if (job !== null && !UNFINISHED.includes(job.state)) over();
      });
    },
  );
  await runner.pump();
  await ended;
  const job = (await queue.find(id)) as Job;
  await runner.stop();
  await queue.close();
  return job;
}

describe("the result of a job", () => {
  it("has the outputs of its tasks in order, and leaves nothing else behind", async () => {
    const { state, result } = await runJob();
    expect(state).toBe("done");
    expect(numbersIn(result)).toEqual([0, 1, 2, 3, 4, 5]);
    expect(readdirSync(join(folders.state, "inputs"))).toEqual([]);
    expect(readdirSync(join(folders.state, "tasks"))).toEqual([]);
  });

  it("is of one generation if the data are replaced while the job runs: its tasks start anew", async () => {
    let calls = 0;
    const send: JobHost["send"] = async (call, signal) => {
      if (!isRange(call)) return host().send(call, signal);
      const values = (calls++ < 2 ? 1 : 2) * 100;
      const { body, ...answer } = await host().send(call, signal);
      const parts: Buffer[] = [];
      for await (const part of body) parts.push(part);
      const numbers = new Float32Array(new Uint8Array(Buffer.concat(parts)).buffer).map((x) => x + values);
      return { ...answer, body: Readable.from([Buffer.from(numbers.buffer)]) };
    };
    // The third call is answered by the new data, after their generation has been looked up.
    const generationOf = () => {
      const id = calls < 2 ? "old" : "new";
      return { ...ONE_GENERATION, id, holds: () => calls !== 2 };
    };
    const { state, result, restarts } = await runJob({ send, generationOf });
    expect([state, restarts]).toEqual(["done", 1]);
    expect(numbersIn(result)).toEqual([200, 201, 202, 203, 204, 205]);
  });

  it("fails in one line if the data never stay the same", async () => {
    let calls = 0;
    const send: JobHost["send"] = (call, signal) => {
      calls++;
      return host().send(call, signal);
    };
    expect(await runJob({ send, generationOf: () => ({ ...ONE_GENERATION, id: `${calls}` }) })).toMatchObject({
      state: "failed",
      problem: "The dataset, or the service, changed again and again while the job ran.",
    });
  });

  it("fails in one line that says that the disk is full", async () => {
    const send: JobHost["send"] = async () => {
      throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
    };
    expect(await runJob({ send })).toMatchObject({ state: "failed", problem: "no space is left on the device" });
    expect(existsSync(join(folders.state, "tasks"))).toBe(false);
  });

  it("goes on once there is room where the disk of the queue was full, which is said in one line", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout"] });
    try {
      const full = () => Promise.reject(Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" }));
      const { state, result } = await runJob({}, (queue) => {
        vi.spyOn(queue, "done").mockImplementationOnce(full);
        vi.spyOn(queue, "change").mockImplementationOnce(full);
        const putBack = vi.spyOn(queue, "putBack").mockImplementationOnce(full);
        const passing = setInterval(() => {
          vi.advanceTimersByTime(2_000);
          if (putBack.mock.calls.length === 2) clearInterval(passing);
        });
      });
      expect([state, warnings]).toEqual(["done", ["a job cannot be kept; it goes on later"]]);
      expect(numbersIn(result)).toEqual([0, 1, 2, 3, 4, 5]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("is kept once its bucket answers, without computing its tasks again", async () => {
    passTime();
    const keep = vi.spyOn(FolderResults.prototype, "keep");
    for (let i = 0; i < 4; i++) keep.mockRejectedValueOnce(new BusyError("s3 does not answer"));
    const send = vi.fn(host().send);
    const { state } = await runJob({ send });
    const ranges = send.mock.calls.filter(([call]) => isRange(call));
    expect([state, ranges.length, keep.mock.calls.length]).toEqual(["done", 3, 5]);
    expect(warnings).toEqual(["a job waits for its bucket"]);
  });

  it("is written again without computing its tasks where the queue had no room to say that it is done", async () => {
    passTime();
    const full = () => Promise.reject(Object.assign(new Error("database or disk is full"), { code: "SQLITE_FULL" }));
    const send = vi.fn(host().send);
    const { state } = await runJob({ send }, (queue) => {
      vi.spyOn(queue, "change").mockImplementationOnce(full).mockImplementationOnce(full);
    });
    expect([state, send.mock.calls.filter(([call]) => isRange(call)).length]).toEqual(["done", 3]);
  });

  it.each([
    ["goes on where the service was too busy before it failed once", [...Array<number>(6).fill(503), 500], null],
    ["goes on where two answers broke off", ["cut", "cut"], null],
    ["fails where answers always break off", Array<string>(9).fill("cut"), "the answer to a task broke off: cut"],
  ])("%s", async (_, failures, problem) => {
    passTime();
    const numbers = host();
    const cut = async function* () {
      yield Buffer.alloc(4);
      throw new Error("cut");
    };
    const send: JobHost["send"] = async (call, signal) => {
      const answer = await numbers.send(call, signal);
      const failure = failures.shift() ?? 200;
      return failure === "cut" ? { ...answer, body: cut() } : { ...answer, status: failure as number };
    };
    const { state, result, ...job } = await runJob({ send });
    expect([state, job.problem]).toEqual([problem === null ? "done" : "failed", problem]);
    if (result !== null) expect(numbersIn(result)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("fails with the text of a refused call", async () => {
    let asked = 0;
    const send: JobHost["send"] = async () => {
      asked++;
      const body = (async function* () {
        yield Buffer.from('{"detail": "The service failed."}');
      })();
      return { status: 422, headers: {}, body };
    };
    expect(await runJob({ send })).toMatchObject({ state: "failed", problem: "The service failed." });
    expect(asked).toBeLessThanOrEqual(2);
  });
});

describe("an output that is damaged", () => {
  it.each([
    ["longer", (file: string) => appendFileSync(file, "x")],
    ["of other bytes", (file: string) => writeFileSync(file, Buffer.alloc(8, 7))],
    ["gone", (file: string) => rmSync(file)],
  ])("because its file is %s, is computed again", async (_, damage) => {
    let send: JobHost["send"] = host().send;
    const honest = send;
    let asked = 0;
    send = async (call, signal) => {
      const answer = await honest(call, signal);
      if (!isRange(call) || ++asked !== 3) return answer;
      const [id] = readdirSync(join(folders.state, "tasks"));
      const outputs = tasksFolder(folders, id as string);
      const first = () => readdirSync(outputs).find((name) => /^0\..*\.out$/.test(name));
      // Two are in flight: the second may have ended before it.
      await vi.waitFor(() => expect(first()).toBeDefined(), 10_000);
      damage(join(outputs, first() as string));
      return answer;
    };
    const { state, result } = await runJob({ send });
    expect([state, asked]).toEqual(["done", 4]);
    expect(warnings).toEqual(["outputs of tasks are damaged: they are computed again"]);
    expect(numbersIn(result)).toEqual([0, 1, 2, 3, 4, 5]);
  });
});

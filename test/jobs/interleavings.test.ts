/**
 * Writing an output and finishing a result, in every interleaving of the steps of two processes that have the same
 * tasks: one has been silent for too long, so the other one has got them too. Every call of the file system and of the queue is a step. The search follows all schedules depth first, each from
 * the start, and leaves out what follows a state that it knows: the files, the queue, and what both processes have seen.
 */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it, vi } from "vitest";
import { Inputs } from "../../src/jobs/inputs.js";
import { type Job, type JobCut, UNFINISHED } from "../../src/jobs/job.js";
import { bodyFile } from "../../src/jobs/job-files.js";
import type { JobQueue, TakenTask } from "../../src/jobs/job-queue.js";
import { JobRunner } from "../../src/jobs/job-runner.js";
import { FolderResults } from "../../src/jobs/result-store.js";
import { openSqlQueue } from "../../src/jobs/sql-queue.js";
import { jobWith, NUMBERS } from "./check-queue.js";

interface Actor {
  readonly name: string;
  readonly seen: string[];
  /** Lets it take the step before which it waits; null while it works, or once it is over. */
  go: (() => void) | null;
  over: boolean;
  /** Whether it no longer waits before its steps. */
  isFree: boolean;
}

const { current, hide, step } = vi.hoisted(() => {
  const { AsyncLocalStorage } = process.getBuiltinModule("node:async_hooks");
  const current = new AsyncLocalStorage<Actor>();
  /** A text without folders and what makes names unique. */
  const hide = (text: string): string => text.replaceAll(/[0-9a-f]{8,}(?=[.-])|\S*fieldprobe-test-[^/" ]*/g, "*");
  /** Waits until the search lets this process go on, then takes a step and remembers its outcome. */
  const step = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const actor = current.getStore();
    if (actor === undefined || actor.isFree) return work();
    await new Promise<void>((resolve) => {
      actor.go = resolve;
    });
    actor.go = null;
    let outcome: string | undefined;
    try {
      const value = await work();
      outcome = typeof value === "object" && value !== null && "fd" in value ? "" : JSON.stringify(value);
      return value;
    } catch (error) {
      outcome = (error as { code?: string }).code ?? (error as Error).message;
      throw error;
    } finally {
      actor.seen.push(hide(`${what} ${outcome ?? ""}`).replaceAll(/"(startedAt|endedAt|spentMs|ms)":[\d.]+/g, ""));
    }
  };
  return { current, hide, step };
});

vi.mock("node:fs/promises", async (original) => {
  const fs = await original<typeof import("node:fs/promises")>();
  const stepped = <A extends unknown[], T>(name: string, call: (...args: A) => Promise<T>) =>
    vi.fn((...args: A) =>
      step(`${name} ${args.filter((arg) => typeof arg === "string").join(" ")}`, () => call(...args)),
    );
  const { open, rename, rm, writeFile } = fs;
  return {
    ...fs,
    rename: stepped("rename", rename),
    rm: stepped("rm", rm),
    writeFile: stepped("writeFile", writeFile),
    open: stepped("open", async (...args: Parameters<typeof open>) => {
      const file = await open(...args);
      if (args[1] === undefined) return file;
      const write = file.writeFile.bind(file);
      file.writeFile = (...given: Parameters<typeof write>) => step("write", () => write(...given));
      return file;
    }),
  };
});

// In memory, where it can be: every schedule begins with new files.
const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "fieldprobe-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ID = "a".repeat(24);
const VALUES = [0, 1, 2, 3];

/** The names and the content of all files below a folder, without what makes names unique. */
function filesIn(place: string): string {
  const names = readdirSync(place, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(place, name)).isFile(),
  );
  const about = names.map((name) => {
    const digest = createHash("sha256")
      .update(readFileSync(join(place, name)))
      .digest("hex");
    return `${name.replaceAll(/[0-9a-f]{8,}(?=\.)/g, "*")} ${/\.(json|sha256)$/.test(name) ? "" : digest}`;
  });
  return about.sort().join("\n");
}

interface World {
  readonly actors: readonly Actor[];
  readonly place: string;
  readonly queue: JobQueue;
  finish(): Promise<void>;
}

async function cancel(queue: JobQueue, runner: JobRunner): Promise<void> {
  const ended = await queue.change(ID, UNFINISHED, { state: "cancelled" });
  const last = ended ?? (await queue.change(ID, ["done", "failed"], { removed: true }));
  await runner.remove(last as Job);
}

/**
 * Starts processes that have the same task of a job; the one that writes the result is number 1. They serve, also with
 * the answer to the end of the job lost ("unheard") or to its second try ("twice"), or cancel.
 */
async function start(number: number, plays: readonly string[]): Promise<World> {
  const [place, own] = [join(folder, "files"), join(folder, "queue")];
  for (const one of [place, own]) rmSync(one, { recursive: true, force: true });
  const folders = { state: join(place, "state"), results: join(place, "results") };
  for (const one of [...Object.values(folders), own]) mkdirSync(one, { recursive: true });
  const inputs = new Inputs(join(folders.state, "inputs"), 1e6);
  const queue = openSqlQueue(join(own, "jobs.db"));
  writeFileSync(bodyFile(folders, ID), "{}");
  const cut: JobCut = { points: 4, perTask: 4, times: 1 };
  await queue.add(jobWith(ID, 1, { cut, generation: "g1" }));
  const runnerOf = (own: JobQueue, changed: () => void): JobRunner =>
    new JobRunner(own, inputs, folders, new FolderResults(folders.results), NUMBERS, changed);
  const runAlone = async (task: TakenTask): Promise<void> => {
    const given = [task];
    const one = new Proxy(queue, {
      get: (target, name) => (name === "take" ? async () => given.pop() ?? null : bound(target, name)),
    });
    await new Promise<void>((resolve) => void runnerOf(one, resolve).pump());
  };
  const finish = async (): Promise<void> => {
    for (let task = await queue.take(); task !== null; task = await queue.take()) await runAlone(task);
  };
  let task = (await queue.take()) as TakenTask;
  if (number === 1) {
    await runAlone(task);
    task = (await queue.take()) as TakenTask;
    expect(task.number).toBe(1);
  }
  const actors = plays.map((play, i): Actor => {
    const actor: Actor = { name: `${play} ${i}`, seen: [], go: null, over: false, isFree: false };
    const given = [task];
    const stepped = new Proxy(queue, {
      get: (target, name: keyof JobQueue) => {
        if (name === "take") return async () => given.pop() ?? null;
        const call = bound(target, name);
        return (...args: unknown[]) =>
          step(`queue.${name}`, async () => {
            const answer = await call(...args);
            const isEnd = name === "change" && (args[2] as Partial<Job>).state === "done";
            if (isEnd && play === "unheard") throw new Error("no answer");
            return isEnd && play === "twice" ? call(...args) : answer;
          });
      },
    });
    const end = (): void => {
      actor.over = true;
    };
    const runner = runnerOf(stepped, play === "cancel" ? () => undefined : end);
    void current.run(actor, () => (play === "cancel" ? cancel(stepped, runner).then(end) : runner.pump()));
    return actor;
  });
  return { actors, place, queue, finish };
}

type AnyCall = (...args: unknown[]) => Promise<unknown>;
const bound = (queue: JobQueue, name: string | symbol): AnyCall =>
  (queue[name as keyof JobQueue] as unknown as AnyCall).bind(queue);

/** Waits until every process waits before a step or is over. */
async function settled({ actors }: World): Promise<void> {
  while (!actors.every(({ go, over }) => go !== null || over)) await new Promise((resolve) => setImmediate(resolve));
}

/** All that the further course depends on. */
async function stateOf({ actors, place, queue }: World): Promise<string> {
  const job = await queue.find(ID);
  const { startedAt: _, endedAt: __, spentMs: ___, result, ...rest } = job as Job;
  const outputs = (await queue.outputs(ID)).map((output) => output?.crc ?? null);
  const told = [...actors.map(({ seen, over }) => [seen, over]), rest, outputs, hide(result?.name ?? "")];
  return createHash("sha256")
    .update(`${JSON.stringify(told)}${filesIn(place)}`)
    .digest("hex");
}

/** Follows every schedule. @returns how many there were to the end */
async function explore(
  number: number,
  plays: readonly string[],
  check: (world: World, schedule: string) => Promise<void>,
): Promise<number> {
  const known = new Set<string>();
  const open: number[][] = [[]];
  let ends = 0;
  for (let prefix = open.pop(); prefix !== undefined; prefix = open.pop()) {
    const schedule = [...prefix];
    const world = await start(number, plays);
    await settled(world);
    const goOn = async (i: number): Promise<void> => {
      const { go } = world.actors[i] as Actor;
      (world.actors[i] as Actor).go = null;
      go?.();
      await settled(world);
    };
    for (const i of prefix) await goOn(i);
    for (;;) {
      const state = await stateOf(world);
      const ready = [...world.actors.keys()].filter((i) => !(world.actors[i] as Actor).over);
      if (known.has(state) && schedule.length > 0) break;
      known.add(state);
      if (ready.length === 0) {
        await check(world, schedule.map((i) => world.actors[i]?.name).join(", "));
        ends++;
        break;
      }
      const [next, ...others] = ready as [number, ...number[]];
      for (const other of others) open.push([...schedule, other]);
      schedule.push(next);
      await goOn(next);
    }
    // What has not ended goes on by itself.
    for (const actor of world.actors) actor.isFree = true;
    for (const actor of world.actors) actor.go?.();
    while (!world.actors.every(({ over }) => over)) await new Promise((resolve) => setImmediate(resolve));
    await world.queue.close();
  }
  return ends;
}

/** The right result is there, and nothing else. */
async function checkResult(world: World, schedule: string): Promise<void> {
  await world.finish();
  const job = (await world.queue.find(ID)) as Job;
  expect([job.state, job.problem], schedule).toEqual(["done", null]);
  const { name, sha256 } = job.result as NonNullable<Job["result"]>;
  const results = join(world.place, "results");
  const bytes = readFileSync(join(results, name));
  expect([...new Float32Array(new Uint8Array(bytes).buffer)], schedule).toEqual(VALUES);
  expect(createHash("sha256").update(bytes).digest("hex"), schedule).toBe(sha256);
  expect(readFileSync(join(results, `${name}.sha256`), "utf8"), schedule).toBe(`${sha256}  ${name}\n`);
  expect(readdirSync(results).sort(), schedule).toEqual([name, `${name}.json`, `${name}.sha256`]);
}

it("two processes write the output of a task", { timeout: 120_000 }, async () => {
  expect(await explore(0, ["serve", "serve"], checkResult)).toBeGreaterThan(1);
});

it("two processes write the result", { timeout: 240_000 }, async () => {
  expect(await explore(1, ["serve", "serve"], checkResult)).toBeGreaterThan(1);
});

it("the end of a job is unheard, or made twice, by the process that ends it", { timeout: 240_000 }, async () => {
  for (const plays of [["unheard"], ["twice"], ["unheard", "serve"], ["twice", "serve"]])
    expect(await explore(1, plays, checkResult)).toBeGreaterThan(0);
});

it("a job is cancelled while a process writes its result: nothing is left", { timeout: 120_000 }, async () => {
  const check = async ({ place, queue }: World, schedule: string): Promise<void> => {
    const job = (await queue.find(ID)) as Job;
    expect(job.state === "cancelled" || job.removed, schedule).toBe(true);
    expect(readdirSync(join(place, "results")), schedule).toEqual([]);
    expect(filesIn(join(place, "state")), schedule).not.toMatch(/\.out|\.partial/);
  };
  for (const number of [0, 1]) expect(await explore(number, ["serve", "cancel"], check)).toBeGreaterThan(1);
});

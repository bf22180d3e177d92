/**
 * A service under load is killed, ended and started again, loses its threads one after the other, and finds its folders
 * full: every event and every job that was accepted is there afterwards, once, and every answer was right, or one line.
 */
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { array, TABLES } from "../storage/zarr/numbered-cube.js";
import { useObjectServer } from "../support/object-server.js";
import { type Program, startProgram } from "../support/program.js";
import { generator } from "../support/run-query.js";
import { scratchFolder } from "../support/scratch.js";
import { expectIdle } from "../support/soap-service.js";
import { zarrObjects } from "../support/zarr.js";
import { DEATHS, fillDisk, freeDisk, importEvents, mortalThreads, mountDisk, unmountDisk } from "./calamities.js";
import { type Answer, api, ask, page, type Question } from "./questions.js";

const SECONDS = Number(process.env.SOAK_SECONDS ?? 150);
const SEED = Number(process.env.SOAK_SEED ?? 1);
/** Time that a fault lasts, and that follows it. */
const FAULT_MS = 2_500;
/** An answer, a start or an end that takes longer hangs. */
const HANG_MS = 60_000;
/** Points of a job: two tasks, and as many as a synchronous call may have. */
const JOB_POINTS = 65_000;
/** Folders that become full, and their MiB. */
const DISKS = { state: 16, results: 4, cache: 4 } as const;
const OCTETS = "application/octet-stream";
const SHIPPED = fileURLToPath(new URL("../../data/isotropic32", import.meta.url));
const JOB = "/api/datasets/isotropic32/values?what=u&time=0.4&method=Lag6&time_method=nearest";
const NOW = "2026-10-20T12:00:00Z";
const COMMON = { EVENTS_NOW: NOW, WORKERS: "2", LOG_LEVEL: "warn", QUERY_POINTS: "70000", SHUTDOWN_GRACE_MS: "3000" };

const random = generator(SEED);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
const folder = scratchFolder();
const place = (name: string): string => join(folder, name);
const trigger = place("dies");
const store = useObjectServer();
const disks: string[] = [];
let program: Program;
let reference: Program;
/** Odd while the service is replaced by another. */
let turn = 0;
const wrong: string[] = [];
const logs: string[] = [];
const counts: Record<string, number> = {};
function count(what: string): void {
  counts[what] = (counts[what] ?? 0) + 1;
}

const data = (): string => [SHIPPED, `${store.url}/remote.zarr`].join(delimiter);
async function start(): Promise<Program> {
  const folders = { STATE: place("state"), RESULTS: place("results"), CACHE_DIR: place("cache") };
  const settings = { ...COMMON, ...folders, DATA: data(), CACHE_BYTES: `${2 ** 20}` };
  const made = await startProgram(settings, mortalThreads(trigger));
  void made.ended.then((code) => {
    if (turn % 2 === 0) wrong.push(`the process has ended with ${code}: ${made.log().slice(-2_000)}`);
    logs.push(...made.log().trim().split("\n"));
  });
  return made;
}

beforeAll(async () => {
  const velocity = array(["t", "z", "y", "x", "c"], { codec: "gzip" });
  await store.put("remote.zarr", zarrObjects({ version: 3, arrays: { velocity, ...TABLES }, consolidated: true }));
  for (const [name, mib] of Object.entries(DISKS)) {
    const disk = mountDisk(place(name), mib);
    if (disk !== null) disks.push(disk);
  }
  reference = await startProgram({ ...COMMON, DATA: data(), STATE: place("reference"), EVENTS: "off" });
  program = await start();
}, 120_000);
afterAll(async () => {
  turn = 1;
  await Promise.all([program.stop("SIGKILL"), reference.stop("SIGKILL")]);
  for (const disk of disks) unmountDisk(disk);
});

const TRACES = /\n\s+at |\\n\s+at |node_modules|file:\/\/|\.[jt]s:\d+/;

/** The answer of a service; null if the service was replaced meanwhile. What is no 200 has to be one plain line. */
async function answered(question: Question): Promise<Answer | null> {
  const before = turn;
  let answer: Answer;
  try {
    answer = await ask(program.url, question, AbortSignal.timeout(HANG_MS));
  } catch (error) {
    if (before % 2 === 0 && before === turn) wrong.push(`${question.name}: ${error} ${(error as Error).cause}`);
    await sleep(50);
    return null;
  }
  const { status, text } = answer;
  const why = status === 500 ? `: ${/"detail":"([^"]*)/.exec(text)?.[1]}` : "";
  count(`${question.name.replace(/ .*/, "")} ${status}${why}`);
  if (status >= 300 && (!/^\S.*\n?$/.test(text) || TRACES.test(text) || text.includes(folder)))
    wrong.push(`${question.name}: ${status} is no plain line: ${text}`);
  return answer;
}

/** Notes an answer that is none of the right bits, and no refusal for now. */
function check(
  { name }: Question,
  { status, digest, text }: Answer,
  expected: string,
  others: readonly number[],
): void {
  if (status === 200 && digest !== expected) wrong.push(`${name}: other bits`);
  if (status !== 200 && status !== 503 && !others.includes(status)) wrong.push(`${name}: ${status} ${text}`);
}

function questions(): Question[] {
  const local = "datasets/isotropic32/values?what=u&time=0.3&method=Lag8";
  const remote = "datasets/remote/values?what=u&time=0.5&method=Lag4";
  const gradient = "datasets/isotropic32/values?what=A&time=0.3";
  return [
    ...[1, 200, 5_000].flatMap((points) => [api(local, OCTETS, points), api(remote, OCTETS, points)]),
    ...["text/csv", "application/json"].map((type) => api(gradient, type, 5_000)),
    page("/api/datasets/isotropic32/grid?what=norm(u)&z=1&time=0.3&samples=40", OCTETS),
    page("/api/datasets/isotropic32/nodes?what=u&frame=0&format=f32"),
  ].map((question) => ({ ...question, name: `query ${question.path}` }));
}

const imported = new Map<number, string>();

/** Imports events, two at a time, and reads one of those that are there. */
async function importAlong(running: () => boolean): Promise<void> {
  for (let first = 1; running(); first += 2) {
    const start = { dateTime: "2026-11-02T10:00:00" };
    const events = [first, first + 1].map((id) => ({ id, name: `Event ${id}`, start }));
    writeFileSync(place("events.json"), JSON.stringify({ events }));
    const settings = { FIELDPROBE_STATE: place("state"), FIELDPROBE_EVENTS_NOW: NOW };
    const [code, said] = await importEvents(place("events.json"), settings);
    count(`import ${code}`);
    if (code === 0) for (const { id, name } of events) imported.set(id, name);
    else if (!/^\S.*\n$/.test(said) || TRACES.test(said)) wrong.push(`import: ${code} ${said}`);
    if (imported.size === 0) continue;
    const [id, name] = pick([...imported]);
    const answer = await answered({ ...page(`/events/${id}`), name: `event ${id}` });
    if (
      answer !== null &&
      (answer.status === 200 ? !answer.text.includes(`"${name}"`) : ![404, 503].includes(answer.status))
    )
      wrong.push(`event ${id}: ${answer.status} ${answer.text}`);
  }
}

async function follow(id: string, expected: string): Promise<void> {
  const since = performance.now();
  const call = (path = "", method = "GET") =>
    answered({ ...page(`/api/jobs/${id}${path}`), method: method as "GET", name: `job${path} ${id}` });
  for (let compared = false; performance.now() - since < 3 * HANG_MS; await sleep(100)) {
    const answer = await call();
    if (answer?.status === 404 && compared) return;
    if (answer !== null && ![200, 503].includes(answer.status))
      wrong.push(`job ${id}: ${answer.status} ${answer.text}`);
    if (answer?.status !== 200) continue;
    const { state, problem } = JSON.parse(answer.text) as { state: string; problem: string | null };
    if (state === "queued" || state === "running") continue;
    if (!compared && state === "done") {
      const result = await call("/result");
      if (result !== null) check({ ...page(""), name: `result of ${id}` }, result, expected, []);
      if (result?.status !== 200) continue;
    } else if (!compared) {
      count(`job ${state}: ${problem}`);
      if (!/no room|no space/.test(problem ?? "")) wrong.push(`job ${id}: ${state} ${problem}`);
    }
    compared = true;
    if ((await call("", "DELETE"))?.status === 200) return;
  }
  wrong.push(`job ${id}: does not end`);
}

async function submitAlong(call: Question, expected: string, running: () => boolean): Promise<void> {
  const question = { ...call, headers: { ...call.headers, prefer: "respond-async" } };
  while (running()) {
    const answer = await answered(question);
    if (answer?.status === 202) await follow((JSON.parse(answer.text) as { id: string }).id, expected);
    else if (answer !== null) check(question, answer, "", [429]);
    await sleep(100);
  }
}

async function restart(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
  turn++;
  const ended = await Promise.race([program.stop(signal), sleep(HANG_MS, "hangs", { ref: false })]);
  if (ended === "hangs") throw new Error(`the process does not end after ${signal}`);
  rmSync(trigger, { force: true });
  program = await start();
  turn++;
}

/** Fills a folder for a while; that of the cache is emptied first, so that there is something to be written. */
async function fill(name: string, again: boolean): Promise<void> {
  const disk = place(name);
  if (!disks.includes(disk)) return;
  if (name === "cache") for (const entry of readdirSync(disk)) rmSync(join(disk, entry), { recursive: true });
  fillDisk(disk);
  if (again) await restart("SIGKILL");
  await sleep(FAULT_MS);
  freeDisk(disk);
}

const FAULTS: readonly (readonly [string, () => unknown])[] = [
  ["killed", () => restart("SIGKILL")],
  ["ended", () => restart("SIGTERM")],
  ...DEATHS.map((death) => [`dies: ${death}`, () => writeFileSync(trigger, death)] as const),
  ...Object.keys(DISKS).flatMap((name) => [
    [`${name} full`, () => fill(name, false)] as const,
    [`${name} full at the start`, () => fill(name, true)] as const,
  ]),
];

/** All faults, again and again, in an order that the seed decides. */
async function trouble(running: () => boolean): Promise<void> {
  for (let left: typeof FAULTS = []; running(); await sleep(FAULT_MS)) {
    if (left.length === 0) left = FAULTS;
    const [name, befall] = pick(left);
    left = left.filter(([other]) => other !== name);
    count(`fault: ${name}`);
    await befall();
  }
}

async function servedEvents(): Promise<number[]> {
  const found: number[] = [];
  for (let next: string | undefined = "/events?type=all&per_page=50"; next !== undefined; ) {
    const text = await (await fetch(new URL(next, program.url))).text();
    const { _embedded, _links } = JSON.parse(text);
    for (const { id } of _embedded.events) found.push(id);
    next = _links.next?.href;
  }
  return found;
}

it(`loses nothing in ${SECONDS} s of kills, lost threads and full folders, seed ${SEED}`, async () => {
  const expected = new Map<Question, string>();
  for (const question of questions()) {
    const { status, digest, text } = await ask(reference.url, question);
    expect([question.name, status], text).toEqual([question.name, 200]);
    expected.set(question, digest);
  }
  const body = Buffer.from(Float32Array.from({ length: 3 * JOB_POINTS }, () => 6 * random()).buffer);
  const headers = { "content-type": OCTETS, accept: OCTETS };
  const call: Question = { name: "submission", path: JOB, method: "POST", headers, body, changed: false };
  const { digest: result } = await ask(reference.url, call);
  const end = performance.now() + 1000 * SECONDS;
  const running = () => performance.now() < end;
  const askAlong = async (): Promise<void> => {
    while (running()) {
      const [question, digest] = pick([...expected]);
      const answer = await answered(question);
      if (answer !== null) check(question, answer, digest, []);
      await sleep(50);
    }
  };
  const loads = [1, 2].flatMap(() => [askAlong(), askAlong(), submitAlong(call, result, running)]);
  await Promise.all([trouble(running), importAlong(running), ...loads]);
  rmSync(trigger, { force: true });
  const { jobs } = (await (await fetch(`${program.url}/api/jobs`)).json()) as { jobs: { id: string }[] };
  for (const { id } of jobs) await follow(id, result);
  await restart("SIGKILL");
  const jobFiles = () =>
    ["results", "state/jobs/inputs", "state/jobs/tasks"].flatMap((name) =>
      existsSync(place(name)) ? readdirSync(place(name), { recursive: true, encoding: "utf8" }) : [],
    );
  await vi.waitFor(() => expect(jobFiles()).toEqual([]), { timeout: HANG_MS }).catch(() => undefined);
  const left = jobFiles();
  const summary = { seed: SEED, seconds: SECONDS, events: imported.size, late: jobs.length, left, wrong: wrong.length };
  process.stdout.write(`${JSON.stringify({ ...summary, ...counts }, null, 1)}\n`);
  expect(wrong.slice(0, 8)).toEqual([]);
  expect(left).toEqual([]);
  await vi.waitFor(() => expectIdle(program), { timeout: HANG_MS });
  const metrics = await (await fetch(`${program.url}/metrics`)).text();
  expect(metrics.match(/^fieldprobe_(?:jobs|waiting_answer_bytes)\b.* [1-9].*$/gm)).toBeNull();
  const ready = async () => (await fetch(`${program.url}/readyz`)).text();
  await expect.poll(ready, { timeout: 2 * HANG_MS, interval: 500 }).toContain("events: ready");
  await expect
    .poll(async () => (await servedEvents()).length, { timeout: HANG_MS })
    .toBeGreaterThanOrEqual(imported.size);
  const served = await servedEvents();
  expect(served).toEqual([...new Set(served)]);
  expect([...imported.keys()].filter((id) => !served.includes(id))).toEqual([]);
  // Files, each of two events, are there wholly or not at all.
  expect(served.filter((id) => !served.includes(id % 2 === 0 ? id - 1 : id + 1))).toEqual([]);
  for (const [question, digest] of expected)
    expect([question.name, (await ask(program.url, question)).digest]).toEqual([question.name, digest]);
  turn = 1;
  expect(await program.stop("SIGTERM"), program.log().slice(-3_000)).toBe(0);
  expect(logs.filter((line) => line !== "" && !/^\{"level":[3-5]0,/.test(line))).toEqual([]);
});

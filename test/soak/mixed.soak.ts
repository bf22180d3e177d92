/**
 * The long run of mixed work: SOAP, `/api`, the public REST interface, events and the page are asked at random while
 * faults happen, and every answer is compared to the bit with that of a second process which nothing happens to.
 * Faults: files replaced and truncated, worker threads ended, callers who take all they can and leave, a full disk.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, renameSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { type Program, startProgram } from "../support/program.js";
import { generator } from "../support/run-query.js";
import { scratchFolder } from "../support/scratch.js";
import { envelope, expectIdle, getVelocity, items, PATH, TYPES, type Version } from "../support/soap-service.js";
import { crowd, largest, longAnswers, pipelined, silence, timeLists } from "../support/starvation.js";
import { type Death, fillDisk, freeDisk, importEvents, mortalThreads, mountDisk, unmountDisk } from "./calamities.js";
import { type Answer, api, ask, coordinates, page, type Question } from "./questions.js";
import { laterGrowth } from "./trend.js";

const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
const CLIENTS = Number(process.env.SOAK_CLIENTS ?? 4);
const FAULT_MS = 4_000;
const MIB = 2 ** 20;
const SHIPPED = fileURLToPath(new URL("../../data/isotropic32", import.meta.url));
const BIN = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));
const NOW = "2026-10-20T12:00:00Z";

const folder = scratchFolder();
const file = (...names: string[]): string => join(folder, ...names);
const kill = file("kill");
let program: Program;
let reference: Program;
let disk: string | null = null;

/** Makes a dataset of noise; the version decides its numbers. */
function makeVersion(name: string, version: string, seed: number): void {
  const out = file("versions", `${name}-${version}`);
  const given = ["random", "--nodes", "32", "--steps", "4", "--name", name, "--seed", `${seed}`, "--out", out];
  execFileSync(process.execPath, [BIN, "generate", ...given], { stdio: "ignore" });
}

/** Puts a version in the place of the one that is served, file by file, as a copy over a network would. */
function placeVersion(name: string, version: string, data: string): void {
  const from = file("versions", `${name}-${version}`);
  const to = join(data, name);
  mkdirSync(to, { recursive: true });
  for (const one of execFileSync("ls", [from]).toString().trim().split("\n")) {
    cpSync(join(from, one), join(to, `${one}.new`));
    renameSync(join(to, `${one}.new`), join(to, one));
  }
}

beforeAll(async () => {
  disk = mountDisk(file("disk"), 4);
  for (const [version, seed] of [
    ["a", 1],
    ["b", 2],
  ] as const) {
    makeVersion("replaced", version, seed);
    makeVersion("cut", version, seed + 2);
    placeVersion("replaced", version, file(`data-${version}`));
  }
  placeVersion("cut", "a", file("data-a"));
  placeVersion("replaced", "a", file("data"));
  placeVersion("cut", "a", file("data"));
  const common = { EVENTS_NOW: NOW, LOG_LEVEL: "error", WORKERS: "2", CACHE_BYTES: `${64 * MIB}` };
  const state = disk ?? file("state");
  reference = await startProgram({
    ...common,
    STATE: file("reference"),
    DATA: [SHIPPED, file("data-a")].join(delimiter),
  });
  program = await startProgram(
    { ...common, STATE: state, DATA: [SHIPPED, file("data")].join(delimiter) },
    mortalThreads(kill),
  );
  const open = async (url: string): Promise<void> =>
    expect(await (await fetch(`${url}/readyz`)).text()).toContain("events: ready");
  for (const { url } of [reference, program]) await vi.waitFor(() => open(url), { timeout: 60_000 });
}, 180_000);
afterAll(async () => {
  try {
    expect(await program.stop("SIGTERM"), program.log().slice(-5_000)).toBe(0);
    await reference.stop("SIGTERM");
  } finally {
    if (disk !== null) unmountDisk(disk);
  }
}, 60_000);

const random = generator(20);
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;

function soap(version: Version, name: string, body: string): Question {
  const headers = { "content-type": TYPES[version] };
  return {
    name: `SOAP ${version} ${name}`,
    path: PATH,
    method: "POST",
    headers,
    body: envelope(version, body),
    changed: false,
  };
}

/** Every question, with sizes from a point to tens of thousands. */
function questions(): Question[] {
  const asked: Question[] = [];
  for (const count of [1, 10, 3_000, 30_000]) {
    const points = items(coordinates(count));
    for (const version of ["1.1", "1.2"] as const) {
      asked.push(soap(version, `GetVelocity ${count}`, getVelocity({ points })));
      const hessian = getVelocity({ points, spatialInterpolation: "Fd4Lag4" });
      asked.push(soap(version, `Hessian ${count}`, hessian.replaceAll("GetVelocity", "GetVelocityHessian")));
    }
  }
  for (const what of ["u", "p", "u,p", "A", "grad(p)", "hess(u)", "hess(p)", "lap(u)", "Q", "norm(omega)"])
    for (const type of ["application/json", "application/vnd.apache.parquet", "text/csv"])
      asked.push(api(`datasets/isotropic32/values?what=${what}&time=0.31&method=Lag6`, type, 200));
  const paths = "datasets/isotropic32/paths?step=0.001&method=Lag4&last&time=0.1";
  const octets = "application/octet-stream";
  const sampled = "time=0.3&samples=40&what=norm(u)";
  asked.push(
    api(`${paths}:0.15`, "application/json", 100),
    api(`${paths}:2.1`, octets, 300),
    api("datasets/isotropic32/values?what=filter(u)&filter=box:1.5&time=0.3&time_method=nearest", octets, 20),
    page("/api/datasets", "application/json"),
    page("/api/datasets/isotropic32", "application/json"),
    page(`/api/datasets/isotropic32/grid?z=1&${sampled}`, octets),
    page(`/api/datasets/isotropic32/grid?x=2&${sampled}`, "image/png"),
    page(`/api/datasets/isotropic32/grid?${sampled}`, octets),
    page(`/api/datasets/isotropic32/nodes?what=u&frame=1`, octets),
    page("/"),
    page("/api/openapi.json"),
    page("/events?per_page=50"),
    page("/events?single_events=false&order_by=name"),
    page("/events.ics"),
    page("/event_categories"),
    page(`${PATH}?wsdl`),
  );
  for (const name of ["replaced", "cut"]) {
    const path = `datasets/${name}/values?what=u&time=0.1&method=Lag8&time_method=nearest`;
    asked.push({ ...api(path, octets, 2_000), changed: true }, { ...api(path, octets, 3), changed: true });
  }
  return asked;
}

/** Crowds, made before anything is asked: this process answers nobody while it makes them. */
const CROWDS = {
  largest: largest(14, 0.1),
  pipelined: pipelined(6, 40, 50_000),
  longAnswers: longAnswers(32, 20_000),
  timeLists: timeLists(8, 32_000),
  silence: silence(700),
} as const;

const FAULTS: Readonly<Record<string, (round: number) => Promise<void>>> = {
  "a worker thread ends": async () => writeFileSync(kill, "in a batch" satisfies Death),
  "files are replaced": async (round) => {
    placeVersion("replaced", round % 2 === 0 ? "b" : "a", file("data"));
    process.kill(program.pid, "SIGHUP");
  },
  "the largest requests": () => leave(CROWDS.largest),
  "a file is truncated": async () => {
    const target = execFileSync("sh", ["-c", `ls ${file("data", "cut")}/*.h5`])
      .toString()
      .trim();
    truncateSync(target, Math.floor(statSync(target).size / 2));
  },
  "pipelined requests": () => leave(CROWDS.pipelined),
  "the file is restored": async () => {
    placeVersion("cut", "a", file("data"));
    process.kill(program.pid, "SIGHUP");
  },
  "readers who do not read": () => leave(CROWDS.longAnswers, false),
  "the disk is full": async () => {
    if (disk === null) return;
    fillDisk(disk);
    const settings = { FIELDPROBE_STATE: disk, FIELDPROBE_EVENTS_NOW: NOW };
    await importEvents(join(SHIPPED, "../events.json"), settings);
    process.kill(program.pid, "SIGHUP");
  },
  "lists of times": () => leave(CROWDS.timeLists),
  "the disk has room": async () => {
    if (disk !== null) freeDisk(disk);
    process.kill(program.pid, "SIGHUP");
  },
  "callers who only connect": () => leave(CROWDS.silence),
};

/** Lets callers do their worst for a while and leave in the middle of it. */
async function leave(requests: Parameters<typeof crowd>[1], reads = true): Promise<void> {
  const callers = await crowd(program.port, requests, reads);
  setTimeout(() => callers.leave(), FAULT_MS / 2).unref();
}

/** Counts of outcomes by question and status; what is not among the expected is kept. */
class Report {
  readonly counts = new Map<string, number>();
  readonly wrong: string[] = [];
  asked = 0;
  failed = 0;

  /** No connection may be dropped, whatever happens. */
  dropped(question: Question, error: unknown): void {
    this.asked++;
    const { message, cause } = error as Error;
    this.wrong.push(`${question.name}: ${message}: ${inspect(cause)}`);
  }

  note(question: Question, answer: Answer, expected: readonly string[]): void {
    this.asked++;
    const key = String(answer.status);
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    if (answer.status === 200) {
      if (!expected.includes(answer.digest)) this.wrong.push(`${question.name}: other bits`);
      return;
    }
    const busy = answer.status === 503 || answer.text.includes("Busy");
    // While its files change a dataset may be damaged or away; elsewhere only a worker that ended may fail a request.
    const lost = answer.text.includes("A worker failed");
    if (lost) this.failed++;
    if (!busy && !lost && !question.changed) this.wrong.push(`${question.name}: ${answer.status} ${answer.text}`);
  }
}

function resident(): number {
  return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${program.pid}/status`, "utf8"))?.[1]);
}

it(`answers every question as a process does that nothing happens to, for ${MINUTES} minutes`, async () => {
  const all = questions();
  const expected = new Map<Question, string[]>();
  const refused: string[] = [];
  for (const question of all) {
    const { status, digest, text } = await ask(reference.url, question);
    if (status !== 200) refused.push(`${question.name}: ${status} ${text}`);
    expected.set(question, [digest]);
  }
  expect(refused).toEqual([]);
  // The other version of the dataset that is replaced, from the service itself before anything happens.
  placeVersion("replaced", "b", file("data-a"));
  process.kill(reference.pid, "SIGHUP");
  for (const question of all.filter(({ name }) => name.includes("replaced"))) {
    const [first] = expected.get(question) as [string];
    await expect.poll(async () => (await ask(reference.url, question)).digest, { timeout: 30_000 }).not.toBe(first);
    expected.get(question)?.push((await ask(reference.url, question)).digest);
  }
  const report = new Report();
  const end = performance.now() + MINUTES * 60_000;
  const client = async (): Promise<void> => {
    while (performance.now() < end) {
      const question = pick(all);
      if (question.path === "/api/datasets") continue;
      try {
        report.note(question, await ask(program.url, question), expected.get(question) ?? []);
      } catch (error) {
        report.dropped(question, error);
      }
    }
  };
  const memory: number[] = [];
  let faults = 0;
  const trouble = async (): Promise<void> => {
    const names = Object.keys(FAULTS);
    let least = Number.POSITIVE_INFINITY;
    for (; performance.now() < end; faults++) {
      const name = names[faults % names.length] as string;
      await FAULTS[name]?.(Math.floor(faults / names.length));
      await new Promise((resolve) => setTimeout(resolve, FAULT_MS));
      least = Math.min(least, resident());
      if (name !== names.at(-1)) continue;
      memory.push(least);
      least = Number.POSITIVE_INFINITY;
    }
  };
  await Promise.all([trouble(), ...Array.from({ length: CLIENTS }, client)]);
  await FAULTS["the disk has room"]?.(0);
  await vi.waitFor(() => expectIdle({ url: `${program.url}${PATH}` }), { timeout: 60_000 });
  const growth = memory.length < 4 ? 0 : laterGrowth(memory);
  const { asked, failed, wrong } = report;
  const summary = { minutes: MINUTES, questions: all.length, asked, faults, failed, wrong: wrong.length };
  process.stdout.write(
    `${JSON.stringify({ ...summary, statuses: Object.fromEntries(report.counts), growthMiB: Math.round(growth / MIB) })}\n`,
  );
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(failed).toBeLessThanOrEqual(2 * Math.ceil(faults / Object.keys(FAULTS).length));
  for (const question of all.filter(({ changed, path }) => !changed && path !== "/api/datasets")) {
    expect((await ask(program.url, question)).digest, question.name).toBe(expected.get(question)?.[0]);
  }
  expect(growth).toBeLessThan(64 * MIB);
});

/**
 * Answers of one build, recorded and compared with those of another: `RECORDED=FOLDER npx vitest run --config
 * test/recorded/vitest.config.ts` records into an empty folder, and compares with one that has answers.
 */
import { execFileSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { writeCube } from "../../tools/generate/cube.js";
import { writeDatasets } from "../browser/datasets.js";
import { NO_NATS, startNats } from "../support/nats.js";
import { type Program, startProgram } from "../support/program.js";
import { difference, type RecordedAnswer } from "./difference.js";
import { type Domain, type RecordedRequest, recordedRequests } from "./requests.js";

const FOLDER = process.env.RECORDED ?? "";
const DATA = join(FOLDER, "data");
const REQUESTS = join(FOLDER, "requests.jsonl");
/** Headers that belong to one answer, one process or one moment. */
const OWN_HEADERS =
  /^(date|x-request-id|connection|keep-alive|transfer-encoding|content-length|fieldprobe-build|server-timing|x-ratelimit-.*|location)$/;
/** Differences by rounding that expressions may have, in float32 numbers. */
const MAX_STEPS = 4;

/** Settings under which every answer is the same; in the smallest cache few bricks stay, so that few batches run inline. */
const SETTINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "64 MiB, 1 worker": { CACHE_BYTES: `${64 << 20}`, WORKERS: "1" },
  "1 GiB, 4 workers": { CACHE_BYTES: `${1 << 30}`, WORKERS: "4" },
  "16 MiB, 2 workers": { CACHE_BYTES: `${16 << 20}`, WORKERS: "2" },
  "two processes": { CACHE_BYTES: `${256 << 20}`, WORKERS: "1" },
};

const base = (name: string) => ({
  DATA: DATA,
  STATE: join(FOLDER, "state", name.replaceAll(" ", "-")),
  EVENTS_NOW: "2026-11-28T12:00:00Z",
  LOG_LEVEL: "error",
});

function importEvents(settings: Readonly<Record<string, string>>): void {
  const named = Object.entries(settings).map(([key, value]) => [`FIELDPROBE_${key}`, value]);
  const program = fileURLToPath(new URL("../../bin/fieldprobe.js", import.meta.url));
  mkdirSync(settings.STATE as string, { recursive: true });
  execFileSync(process.execPath, [program, "events", "import", join(DATA, "events.json")], {
    env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR, ...Object.fromEntries(named) },
  });
}

const lines = <T>(file: string): T[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);

const writeLines = (file: string, rows: readonly unknown[]) => {
  writeFileSync(`${file}.new`, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  renameSync(`${file}.new`, file);
};

/** Writes the datasets that builds share: those that are shipped, small ones of many kinds, two cubes of other fields. */
async function prepare(): Promise<void> {
  mkdirSync(DATA, { recursive: true });
  const shipped = fileURLToPath(new URL("../../data", import.meta.url));
  for (const name of ["isotropic32", "isotropic64", "turbulent-channel"])
    cpSync(join(shipped, name), join(DATA, name), { recursive: true, preserveTimestamps: true });
  for (const name of ["events.json", "jhtdb.json"])
    if (existsSync(join(shipped, name))) copyFileSync(join(shipped, name), join(DATA, name));
  for (const folder of await writeDatasets())
    cpSync(folder, join(DATA, folder.split("/").at(-1) as string), { recursive: true });
  for (const kind of ["mhd", "mixing"] as const) {
    const options = { kind, nodes: [16, 16, 16], steps: 4, chunk: null, filter: "none", seed: 0 } as const;
    await writeCube({ ...options, name: kind, folder: join(DATA, kind) }, () => undefined);
  }
}

async function domainsOf(url: string): Promise<Domain[]> {
  const { datasets } = (await (await fetch(`${url}/api/datasets`)).json()) as { datasets: { name: string }[] };
  return Promise.all(
    datasets.map(async ({ name }) => {
      const about = await (await fetch(`${url}/api/datasets/${name}`)).json();
      const axes = about.axes.map((axis: { first: number; length: number; nodes: number }) => ({
        first: axis.first,
        length: axis.length,
        nodes: axis.nodes,
      }));
      return {
        name,
        axes,
        times: about.times.stored ?? [],
        fields: about.fields.map((field: { name: string }) => field.name),
      };
    }),
  );
}

async function ask(url: string, { name, method, path, headers, body }: RecordedRequest): Promise<RecordedAnswer> {
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, connection: "close" },
    body: body === null ? null : Buffer.from(body, "base64"),
    redirect: "manual",
  });
  const kept = [...response.headers].filter(([header]) => !OWN_HEADERS.test(header));
  const bytes = Buffer.from(await response.arrayBuffer());
  return { name, status: response.status, headers: Object.fromEntries(kept), body: bytes.toString("base64") };
}

describe.skipIf(FOLDER === "")("recorded answers", () => {
  const running: Program[] = [];
  const ends: (() => Promise<void>)[] = [];
  afterAll(async () => {
    for (const program of running) await program.stop("SIGTERM");
    for (const end of ends) await end();
  });

  it.each(Object.entries(SETTINGS))("%s", async (name, settings) => {
    if (!existsSync(DATA)) await prepare();
    const inCluster = name === "two processes";
    if (inCluster && NO_NATS !== null) throw new Error(NO_NATS);
    const nats = inCluster ? await startNats() : null;
    if (nats !== null) ends.push(nats.end);
    const shared = nats === null ? {} : { NATS: nats.url };
    const peer = nats === null ? null : await startProgram({ ...base(`${name} b`), ...settings, ...shared });
    importEvents(base(name));
    const program = await startProgram({ ...base(name), ...settings, ...shared });
    running.push(...[program, peer].filter((one) => one !== null));
    const ready = async () => (await fetch(`${program.url}/readyz`)).text();
    await expect.poll(ready, { timeout: 60_000 }).toContain("events: ready");
    if (!existsSync(REQUESTS)) writeLines(REQUESTS, recordedRequests(await domainsOf(program.url)));
    const requests = lines<RecordedRequest>(REQUESTS);
    const answers: RecordedAnswer[] = [];
    for (const request of requests) answers.push(await ask(program.url, request));

    const file = join(FOLDER, "answers.jsonl");
    if (!existsSync(file)) writeLines(file, answers);
    const recorded = lines<RecordedAnswer>(file);
    const differing = recorded.flatMap((before, i) => {
      const steps = difference(before, answers[i] as RecordedAnswer);
      const admitted = requests[i]?.rounded ? MAX_STEPS : 0;
      return steps > admitted ? [{ steps, name: before.name, before, after: answers[i] as RecordedAnswer }] : [];
    });
    writeLines(join(FOLDER, `differing ${name}.jsonl`), differing);
    const shown = differing.map(({ name: asked, steps }) => `${steps} ${asked.slice(0, 160)}`);
    expect({ asked: requests.length, shown }).toEqual({ asked: requests.length, shown: [] });
  });
});

/** R120: hostile cases by the thousand, for ten minutes; memory, sockets and threads of the service do not grow. */
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { digestToken } from "../../src/server/http/auth.js";
import { HOSTILE } from "../support/hostile.js";
import type { HostileCase } from "../support/hostile-case.js";
import { type Program, startProgram } from "../support/program.js";
import { PATIENCE_MS } from "../support/raw-http.js";
import { scratchFolder } from "../support/scratch.js";
import {
  call,
  expectAlive,
  expectIdle,
  getVelocity,
  PATH,
  readRecords,
  VERSIONS,
  type Version,
} from "../support/soap-service.js";
import { laterGrowth } from "./trend.js";

/** Each case is repeated so often at least, and on until the time is over. */
const REPEATS = Number(process.env.SOAK_REPEATS ?? 1000);
const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
/** Repeats of a case in a round, after which a sample is taken. */
const ROUND = 50;
const SIDE_BY_SIDE = 8;
const MIB = 2 ** 20;
/**
 * The growth allowed to the later half: the heap after a full collection is a steady figure, resident memory is not.
 */
const HEAP_BYTES = 4 * MIB;
const RESIDENT_BYTES = 32 * MIB;

const state = scratchFolder();
const tokens = join(state, "tokens.json");
const TOKEN = "soak-token-of-many-random-letters";
/** Replaces the token file: by a good one with another limit, or by a broken one, which changes nothing. */
function replaceTokens(round: number): void {
  const entry = { name: "soak", sha256: digestToken(TOKEN), limit: 1000 + round };
  writeFileSync(tokens, round % 3 === 2 ? "{" : JSON.stringify({ version: 1, tokens: [entry] }));
}

/** Makes the process collect its garbage and report its memory when it is told to. */
const REPORTER = `process.on('SIGUSR2', () => { gc(); gc(); process.stderr.write('memory ' + JSON.stringify(process.memoryUsage()) + '\\n'); });`;

let program: Program;
const at = (): { url: string } => ({ url: `${program.url}${PATH}` });
beforeAll(async () => {
  replaceTokens(0);
  const settings = {
    DATA: fileURLToPath(new URL("../../data/isotropic32", import.meta.url)),
    STATE: state,
    TOKENS: tokens,
    ANONYMOUS: "true",
    LOG_LEVEL: "fatal",
    HTTP_HEADERS_TIMEOUT_MS: "200",
    HTTP_REQUEST_TIMEOUT_MS: "200",
    HTTP_KEEP_ALIVE_TIMEOUT_MS: "200",
  };
  program = await startProgram(settings, [
    "--expose-gc",
    "--import",
    `data:text/javascript,${encodeURIComponent(REPORTER)}`,
  ]);
}, 60_000);
afterAll(async () => {
  expect(await program.stop("SIGTERM")).toBe(0);
}, 60_000);

type Sample = Readonly<Record<"seconds" | "resident" | "heap" | "external" | "threads" | "files" | "sockets", number>>;

/** Open files of the process, and how many of them are sockets; one may be closed while they are counted. */
function openFiles(): { files: number; sockets: number } {
  const folder = `/proc/${program.pid}/fd`;
  const targets = readdirSync(folder).map((name) => {
    try {
      return readlinkSync(join(folder, name));
    } catch {
      return "";
    }
  });
  return { files: targets.length, sockets: targets.filter((target) => target.startsWith("socket:")).length };
}

/** The memory that the process holds once nothing of any request is left and idle connections are closed. */
async function sample(since: number): Promise<Sample> {
  await expectIdle(at());
  const quiet = { timeout: 5_000, interval: 50 };
  await expect.poll(() => connections(), quiet).toBe(0);
  const reports = (): RegExpMatchArray[] => [...program.log().matchAll(/^memory (.*)$/gm)];
  const before = reports().length;
  process.kill(program.pid, "SIGUSR2");
  await expect.poll(() => reports().length, quiet).toBeGreaterThan(before);
  const { rss, heapUsed, external } = JSON.parse(reports().at(-1)?.[1] as string);
  const threads = Number(/^Threads:\s+(\d+)/m.exec(readFileSync(`/proc/${program.pid}/status`, "utf8"))?.[1]);
  const seconds = Math.round((performance.now() - since) / 1000);
  return { seconds, resident: rss, heap: heapUsed, external, threads, ...openFiles() };
}

/** Connections to the service that the system knows, in whatever state but listening and waiting for late packets. */
function connections(): number {
  const own = `:${program.port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1);
  return lines.filter((line) => {
    const [, local, , state] = line.trim().split(/\s+/) as [string, string, string, string];
    return local.endsWith(own) && state !== "0A" && state !== "06";
  }).length;
}

async function repeat(one: HostileCase, count: number): Promise<void> {
  const width = one.slow ? count : SIDE_BY_SIDE;
  for (let done = 0; done < count; done += width) {
    const part = Array.from({ length: Math.min(width, count - done) }, (_, i) =>
      one.run(program.port, VERSIONS[i % 2] as Version),
    );
    await Promise.all(part);
  }
  await expectIdle(at());
  await vi.waitFor(() => expectAlive(at()), { timeout: PATIENCE_MS });
}

/**
 * A good request with the token; asked again while all slots are taken, or when 200 ms were too few for it on a busy
 * machine.
 */
async function ask(version: Version): Promise<void> {
  for (;;) {
    const answer = await call(at(), version, getVelocity({ authToken: TOKEN }));
    if (answer.status === 408 || answer.headers.has("retry-after")) continue;
    expect(readRecords(answer, "GetVelocity")).toHaveLength(1);
    return;
  }
}

/** Every case so many times, and good requests with a token whose file is replaced meanwhile. */
async function round(number: number): Promise<void> {
  replaceTokens(number);
  for (const one of HOSTILE) {
    await Promise.all([ask(VERSIONS[number % 2] as Version), repeat(one, ROUND)]);
  }
}

it(`R120: ${HOSTILE.length} cases, ${REPEATS} times each and for ${MINUTES} minutes`, async () => {
  const since = performance.now();
  const samples: Sample[] = [];
  let done = 0;
  for (; done < REPEATS || performance.now() - since < MINUTES * 60_000; done += ROUND) {
    await round(done / ROUND);
    samples.push(await sample(since));
    process.stdout.write(`${JSON.stringify({ repeats: done + ROUND, ...samples.at(-1) })}\n`);
  }
  const figures = (name: keyof Sample): number[] => samples.map((one) => one[name]);
  const growth = {
    heap: laterGrowth(figures("heap")),
    external: laterGrowth(figures("external")),
    resident: laterGrowth(figures("resident")),
  };
  process.stdout.write(`${JSON.stringify({ cases: HOSTILE.length, repeats: done, laterGrowth: growth })}\n`);
  for (const name of ["threads", "files", "sockets"] as const) {
    const later = figures(name).slice(samples.length >> 1);
    expect(Math.max(...later) - Math.min(...later), name).toBe(0);
  }
  expect(growth.heap).toBeLessThan(HEAP_BYTES);
  expect(growth.external).toBeLessThan(HEAP_BYTES);
  expect(growth.resident).toBeLessThan(RESIDENT_BYTES);
});

/** R120: every hostile case a thousand times; memory, sockets and threads of the service end where they began. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { HOSTILE, type HostileCase } from "../support/hostile.js";
import { type Program, startProgram } from "../support/program.js";
import { expectAlive, PATH, VERSIONS } from "../support/soap-service.js";

/** Repeats of each case; a multiple of a round. */
const REPEATS = Number(process.env.SOAK_REPEATS ?? 1000);
const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
const ROUND = 100;
const SIDE_BY_SIDE = 8;
/** What a heap may differ by between two quiet moments. */
const MEMORY_BYTES = 64 * 1024 * 1024;

const state = mkdtempSync(join(tmpdir(), "fieldprobe-soak-"));
let program: Program;
beforeAll(async () => {
  program = await startProgram({
    DATA: fileURLToPath(new URL("../../data", import.meta.url)),
    STATE: state,
    LOG_LEVEL: "fatal",
    HTTP_HEADERS_TIMEOUT_MS: "200",
    HTTP_REQUEST_TIMEOUT_MS: "200",
    HTTP_KEEP_ALIVE_TIMEOUT_MS: "200",
  });
}, 60_000);
afterAll(async () => {
  expect(await program.stop("SIGTERM")).toBe(0);
  rmSync(state, { recursive: true });
});

interface Footprint {
  readonly bytes: number;
  readonly threads: number;
  readonly files: number;
}

function footprint(): Footprint {
  const status = readFileSync(`/proc/${program.pid}/status`, "utf8");
  const field = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]);
  return {
    bytes: field("VmRSS") * 1024,
    threads: field("Threads"),
    files: readdirSync(`/proc/${program.pid}/fd`).length,
  };
}

/** The footprint once idle sockets are closed. */
async function quiet(): Promise<Footprint> {
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  return footprint();
}

async function round(one: HostileCase, count: number): Promise<void> {
  const width = one.slow ? count : SIDE_BY_SIDE;
  for (let done = 0; done < count; done += width) {
    const part = Array.from({ length: Math.min(width, count - done) }, (_, i) =>
      one.run(program.port, VERSIONS[i % 2] as "1.1"),
    );
    await Promise.all(part);
  }
  await expectAlive({ url: `${program.url}${PATH}` });
}

it(`R120: ${HOSTILE.length} cases, ${REPEATS} times each`, async () => {
  const deadline = performance.now() + MINUTES * 60_000;
  for (const one of HOSTILE) await round(one, ROUND);
  const before = await quiet();
  let done = ROUND;
  for (; done < REPEATS && performance.now() < deadline; done += ROUND)
    for (const one of HOSTILE) await round(one, ROUND);
  const after = await quiet();
  process.stdout.write(`${JSON.stringify({ cases: HOSTILE.length, repeats: done, before, after })}\n`);
  expect(done).toBe(REPEATS);
  expect(after.threads).toBe(before.threads);
  expect(after.files).toBeLessThanOrEqual(before.files + 2);
  expect(after.bytes - before.bytes).toBeLessThan(MEMORY_BYTES);
});

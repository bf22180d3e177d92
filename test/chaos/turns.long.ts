/**
 * R124 seen from outside the code that it binds: whatever a request does on the main thread, merging included, no turn
 * of the loop is long.
 */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Program, startProgram } from "../support/program.js";
import { scratchFolder } from "../support/scratch.js";
import { call, getVelocity, items, nullOp, PATH, VERSIONS } from "../support/soap-service.js";

/** The rule says 50, and a dozen is usual. What goes through a request of this size at once takes 200 and more. */
const TURN_MS = 100;
const POINTS = 600_000;

/** Measures the CPU time of the main thread between one tick and the next; SIGUSR2 makes it tell the longest. */
const PROBE = `
  import { openSync, readSync } from 'node:fs';
  import { isMainThread } from 'node:worker_threads';
  if (isMainThread) {
    const file = openSync('/proc/self/schedstat', 'r');
    const buffer = Buffer.alloc(64);
    const cpu = () => Number(buffer.toString('latin1', 0, readSync(file, buffer, 0, 64, 0)).split(' ', 1)[0]) / 1e6;
    let last = cpu();
    let longest = 0;
    const turn = () => {
      const now = cpu();
      longest = Math.max(longest, now - last);
      last = now;
      setImmediate(turn);
    };
    turn();
    process.on('SIGUSR2', () => {
      process.stderr.write('longest turn ' + longest + '\\n');
      longest = 0;
    });
  }`;

const state = scratchFolder();
let program: Program;
beforeAll(async () => {
  const settings = {
    DATA: fileURLToPath(new URL("../../data/isotropic32", import.meta.url)),
    STATE: state,
    WORKERS: "1",
  };
  program = await startProgram(settings, ["--import", `data:text/javascript,${encodeURIComponent(PROBE)}`]);
});
afterAll(async () => {
  await program.stop("SIGKILL");
});

/** The longest turn in milliseconds since this was asked last. */
async function longestTurn(): Promise<number> {
  const told = (): string[] => [...program.log().matchAll(/^longest turn (\S+)$/gm)].map(([, ms]) => ms as string);
  const before = told().length;
  process.kill(program.pid, "SIGUSR2");
  await expect.poll(() => told().length, { timeout: 10_000 }).toBeGreaterThan(before);
  return Number(told().at(-1));
}

const points = items(Array.from({ length: POINTS }, (_, i) => [(i % 977) / 155, (i % 491) / 78, (i % 251) / 40]));
const bodies = { NullOp: nullOp(points), GetVelocity: getVelocity({ points, spatialInterpolation: "None" }) };
it.each(VERSIONS.flatMap((version) => Object.entries(bodies).map(([name, body]) => [name, version, body] as const)))(
  `R124: no turn of a %s of ${POINTS} points is long, SOAP %s`,
  async (_name, version, body) => {
    await longestTurn();
    const answer = await call({ url: `${program.url}${PATH}` }, version, body);
    expect(answer.status).toBe(200);
    const longest = await longestTurn();
    expect(longest).toBeGreaterThan(0);
    expect(longest).toBeLessThan(TURN_MS);
  },
);

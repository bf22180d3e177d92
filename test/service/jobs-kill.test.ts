/** A job survives the death of its process: three times kill -9, and the result has the bits of synchronous calls. */
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { type Program, startProgram } from "../support/program.js";
import { eachScratchFolder } from "../support/scratch.js";

const DATA = fileURLToPath(new URL("../../data/isotropic32", import.meta.url));
const CALL = "/api/datasets/isotropic32/values?what=A&time=0.4";
const OCTETS = "application/octet-stream";
const POINTS = 60_000;
const AT_ONCE = 10_000;

let folder = "";
eachScratchFolder((made) => {
  folder = made;
});

const serve = (): Promise<Program> =>
  startProgram({
    ...{ DATA, STATE: folder, WORKERS: "2", EVENTS: "off", LOG_LEVEL: "warn" },
    ...{ QUERY_POINTS: String(AT_ONCE), CACHE_BYTES: String(64 * 2 ** 20) },
  });

const post = (url: string, body: Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>> = {}) =>
  fetch(url, { method: "POST", headers: { "content-type": OCTETS, accept: OCTETS, ...headers }, body });

/** Reads events of a job until `enough` says so; the part that is done. */
async function followed(url: string, location: string, enough: (progress: number) => boolean): Promise<number> {
  const answer = await fetch(`${url}${location}/events`);
  let text = "";
  let progress = 0;
  for await (const part of answer.body as unknown as AsyncIterable<Uint8Array>) {
    text += Buffer.from(part).toString();
    progress = Number([...text.matchAll(/"progress":([\d.]+)/g)].at(-1)?.[1] ?? 0);
    if (enough(progress)) break;
  }
  return progress;
}

it("continues after each of three kill -9, and answers the bits of synchronous calls", {
  timeout: 120_000,
}, async () => {
  const random = new Uint32Array(randomBytes(12 * POINTS).buffer.slice(0));
  const points = Float32Array.from({ length: 3 * POINTS }, (_, i) => ((random[i % random.length] ?? 0) / 2 ** 32) * 6);
  let program = await serve();
  const accepted = await post(`${program.url}${CALL}`, new Uint8Array(points.buffer), { prefer: "respond-async" });
  expect(accepted.status).toBe(202);
  const location = accepted.headers.get("location") as string;
  let before = 0;
  for (let death = 0; death < 3; death++) {
    const reached = before;
    before = await followed(program.url, location, (progress) => progress > reached);
    await program.stop("SIGKILL");
    program = await serve();
    const now = await (await fetch(`${program.url}${location}`)).json();
    // No task that was done is computed again.
    expect((now as { progress: number }).progress).toBeGreaterThanOrEqual(before);
  }
  expect(await followed(program.url, location, () => false)).toBe(1);
  const result = Buffer.from(await (await fetch(`${program.url}${location}/result`)).arrayBuffer());
  const parts: Buffer[] = [];
  for (let from = 0; from < POINTS; from += AT_ONCE) {
    const some = new Uint8Array(points.slice(3 * from, 3 * (from + AT_ONCE)).buffer);
    parts.push(Buffer.from(await (await post(`${program.url}${CALL}`, some)).arrayBuffer()));
  }
  expect(result.equals(Buffer.concat(parts))).toBe(true);
  expect(await program.stop("SIGTERM")).toBe(0);
});

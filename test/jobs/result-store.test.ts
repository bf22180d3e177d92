/** Results of jobs in a bucket: put there whole, read by ranges, removed, and refused in one line. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { resultStore } from "../../src/jobs/result-store.js";
import { type RunningService, startService } from "../../src/main.js";
import { loadConfig } from "../../src/shared/config.js";
import { STORE_DEFAULTS } from "../../src/shared/store-settings.js";
import { BucketTarget } from "../../src/storage/remote/objects/object-target.js";
import { useS3Bucket } from "../support/s3-server.js";
import { scratchFolder } from "../support/scratch.js";

const DATA = fileURLToPath(new URL("../../data/isotropic32", import.meta.url));
const CALL = "/api/datasets/isotropic32/values?what=p&time=0.4&method=Lag4&time_method=nearest";
const OCTETS = "application/octet-stream";
const folder = scratchFolder();
useS3Bucket(join(folder, "s3"));

let state = "";
let count = 0;
let service: RunningService | null = null;
beforeEach(() => {
  state = join(folder, `state${count++}`);
});
afterEach(async () => {
  await service?.close();
  service = null;
});

async function serve(results: string): Promise<string> {
  const base = { PORT: "0", WORKERS: "1", CACHE_BYTES: `${64 * 2 ** 20}`, DATA, STATE: state, EVENTS: "off" };
  service = await startService(loadConfig({ ...base, RESULTS: results }, {}), pino({ level: "fatal" }));
  return service.url;
}

const keysOf = (): string[] =>
  readdirSync(join(folder, "s3/cubes"), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith("_object"))
    .map((name) => name.replace("._S3rver_object", ""))
    .sort();

async function runJob(url: string) {
  const body = Float32Array.from([1, 2, 3, 2, 2, 2, 4, 5, 6]);
  const post = (headers: Record<string, string>) =>
    fetch(`${url}${CALL}`, { method: "POST", headers: { accept: OCTETS, "content-type": OCTETS, ...headers }, body });
  const location = (await post({ prefer: "respond-async" })).headers.get("location");
  const events = await (await fetch(`${url}${location}/events`)).text();
  const told = JSON.parse((events.trim().split("\n").at(-1) as string).slice("data: ".length));
  return { told, address: `${url}${location}`, want: Buffer.from(await (await post({})).arrayBuffer()) };
}

describe("a service whose results go to a bucket", () => {
  it("puts file, manifest and checksum there, sends ranges of it, and removes it", async () => {
    const { told, address, want } = await runJob(await serve("s3://cubes/kept"));
    expect([told.state, told.problem]).toEqual(["done", null]);
    const { name, sha256 } = told.result;
    expect(keysOf()).toEqual(["", ".json", ".sha256"].map((end) => `kept/${name}${end}`));
    expect(readdirSync(join(state, "jobs/results"))).toEqual([]);
    const got = await fetch(`${address}/result`);
    expect(Buffer.from(await got.arrayBuffer()).equals(want)).toBe(true);
    expect(got.headers.get("etag")).toBe(`"${createHash("sha256").update(want).digest("hex")}"`);
    expect(got.headers.get("etag")).toBe(`"${sha256}"`);
    const part = await fetch(`${address}/result`, { headers: { range: "bytes=5-9" } });
    expect([part.status, part.headers.get("content-range")]).toEqual([206, "bytes 5-9/12"]);
    expect(Buffer.from(await part.arrayBuffer()).equals(want.subarray(5, 10))).toBe(true);
    const target = new BucketTarget("s3://cubes/kept", STORE_DEFAULTS);
    await target.write(
      name,
      want.map((byte) => byte ^ 1),
    );
    expect((await fetch(`${address}/result`)).status).toBe(410);
    await target.write(name, want);
    expect((await fetch(`${address}/result`)).status).toBe(200);
    await fetch(address, { method: "DELETE" });
    expect(keysOf()).toEqual([]);
  });

  it("has the host's code in the problem of a job that the bucket refuses, and in the line of a start", async () => {
    const url = await serve("s3://cubes/kept");
    renameSync(join(folder, "s3/cubes"), join(folder, "s3/other"));
    try {
      const { told } = await runJob(url);
      expect([told.state, told.problem]).toEqual([
        "failed",
        expect.stringMatching(/^http:.*NoSuchBucket \(there is no/),
      ]);
      expect(existsSync(join(state, "jobs/results"))).toBe(false);
    } finally {
      renameSync(join(folder, "s3/other"), join(folder, "s3/cubes"));
    }
    await service?.close();
    service = null;
    const refused =
      /^configuration: FIELDPROBE_RESULTS=s3:\/\/no-such-bucket\/kept: http:.* is refused by its host: status 404, NoSuchBucket [^\n]*$/;
    await expect(serve("s3://no-such-bucket/kept")).rejects.toThrow(refused);
    vi.stubEnv("AWS_ACCESS_KEY_ID", "stranger");
    const unknown = /status 403, InvalidAccessKeyId \(the host does not know the access key\)/;
    await expect(serve("s3://cubes/kept")).rejects.toThrow(unknown);
    vi.stubEnv("AWS_ACCESS_KEY_ID", "");
    const half = /FIELDPROBE_RESULTS=s3:\/\/cubes\/kept: AWS_SECRET_ACCESS_KEY is set, but not AWS_ACCESS_KEY_ID/;
    await expect(serve("s3://cubes/kept")).rejects.toThrow(half);
    vi.stubEnv("AWS_ACCESS_KEY_ID", "S3RVER");
  });
});

it("tells who watches a job that it is cancelled, and answers so, while the bucket refuses", async () => {
  const url = await serve("s3://cubes/kept");
  const { address } = await runJob(url);
  renameSync(join(folder, "s3/cubes"), join(folder, "s3/other"));
  try {
    expect((await fetch(address, { method: "DELETE" })).status).toBeLessThan(300);
    expect((await fetch(address)).status).toBe(404);
  } finally {
    renameSync(join(folder, "s3/other"), join(folder, "s3/cubes"));
  }
});

it("puts a large result together from parts, and nothing of one that is given up", async () => {
  const working = join(folder, "working");
  mkdirSync(working);
  const store = resultStore("s3://cubes/large", working, STORE_DEFAULTS);
  const bytes = Buffer.alloc(17 * 2 ** 20, "fieldprobe");
  const write = (id: string) => {
    for (const end of ["", ".json", ".sha256"])
      writeFileSync(join(working, `${id}.bin${end}`), end === "" ? bytes : "{}");
  };
  write("a");
  await store.keep("a.bin", new AbortController().signal);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const named = (name: string, length: number) => store.holds({ name, type: "", bytes: length, sha256 });
  expect(await named("a.bin", bytes.length)).toBe(true);
  expect(readFileSync(join(folder, "s3/cubes/large/a.bin._S3rver_object")).equals(bytes)).toBe(true);
  const read: Buffer[] = [];
  for await (const part of store.read("a.bin", 3, 9 * 2 ** 20)) read.push(part);
  expect(Buffer.concat(read).equals(bytes.subarray(3, 9 * 2 ** 20 + 1))).toBe(true);
  write("b");
  const end = new AbortController();
  const third = vi.spyOn(end.signal, "throwIfAborted").mockImplementation(() => {
    if (third.mock.calls.length === 4) throw new Error("given up");
  });
  await expect(store.keep("b.bin", end.signal)).rejects.toThrow("given up");
  expect([await named("b.bin", bytes.length), existsSync(join(working, "b.bin"))]).toEqual([false, false]);
  await store.remove(new Set(["a"]));
  expect(await named("a.bin", bytes.length)).toBe(false);
});

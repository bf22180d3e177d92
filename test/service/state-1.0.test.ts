/**
 * A state folder that version 1.0 wrote and that kill -9 ended is opened with nothing lost: tokens, a result, a job in
 * the middle, half an upload, events, the cache on disk, the record of a check, the index of a scan.
 * Made by release 1.0.0 on 2026-11-29 over /srv/fieldprobe/data: the included isotropic32, 205 copies of an analytic
 * cube, and an HDF5 file at an address.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { verifiedManifestOf } from "../../src/storage/catalog/check-record.js";
import type { Dataset } from "../../src/storage/dataset/dataset.js";
import { DiskCache } from "../../src/storage/remote/objects/disk-cache.js";
import { type Program, startProgram } from "../support/program.js";
import { scratchFolder } from "../support/scratch.js";

const DATA = fileURLToPath(new URL("../../data/isotropic32", import.meta.url));
const FIXTURE = fileURLToPath(new URL("fixtures/state-1.0.tgz", import.meta.url));
const TOKEN = "R4GW127pPY52nA9VgJbk7eGiNeORfmSD";
const DONE = "/api/jobs/47f2664a5d9203bf1e0edbf4";
const UNFINISHED = "/api/jobs/888a05a7e813a6fe5fd0438c";
const UPLOAD = "/api/inputs/fb55220c9213593e5ba63c3f";
/** The call that asks what the job asked that has ended. */
const VELOCITY = "/api/datasets/isotropic32/values?what=u&time=0.4&method=Lag6";
const OCTETS = "application/octet-stream";

/** The points that version 1.0 was given. */
const pointsOf = (count: number) => Float32Array.from({ length: 3 * count }, (_, i) => ((i * 7919) % 6000) / 1000);
const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");

const folder = scratchFolder();
const state = join(folder, "state");
let program: Program;

beforeAll(async () => {
  execFileSync("tar", ["-xzf", FIXTURE, "-C", folder]);
  program = await startProgram({
    ...{ DATA, STATE: state, TOKENS: join(state, "tokens.json"), CACHE_DIR: join(state, "disk"), WORKERS: "1" },
    ...{ JOBS_RESULT_HOURS: "100000", LOG_LEVEL: "warn" },
  });
});
afterAll(async () => {
  expect(await program?.stop("SIGTERM")).toBe(0);
});

const fetched = (path: string, init: RequestInit = {}, headers: Readonly<Record<string, string>> = {}) =>
  fetch(`${program.url}${path}`, { ...init, headers: { authorization: `Bearer ${TOKEN}`, ...headers } });
const post = (path: string, points: Float32Array<ArrayBuffer>) =>
  fetched(path, { method: "POST", body: new Uint8Array(points.buffer) }, { "content-type": OCTETS, accept: OCTETS });

async function bytesOf(answer: Response | Promise<Response>): Promise<Buffer> {
  const { status } = await answer;
  expect(status).toBe(200);
  return Buffer.from(await (await answer).arrayBuffer());
}

describe("a state folder of version 1.0", () => {
  it("has its tokens", async () => {
    expect((await fetch(`${program.url}/api/jobs`)).status).toBe(401);
    expect((await fetched("/api/jobs")).status).toBe(200);
  });

  it("has its result, with the bits of a call", async () => {
    expect(await (await fetched(DONE)).json()).toMatchObject({ state: "done", progress: 1 });
    const result = await bytesOf(fetched(`${DONE}/result`));
    expect(sha256(result)).toBe("b343377b9a3f90d4197cfd086bf422c99cc5080d61f21368b93b29f3fe838d78");
    expect(result.equals(await bytesOf(post(VELOCITY, pointsOf(1000))))).toBe(true);
  });

  it("fails the job that was in the middle, whose call is gone, by its name", async () => {
    // The stream of events ends with the job.
    const events = await (await fetched(`${UNFINISHED}/events`)).text();
    expect(events).toContain('"state":"failed"');
    expect(events).toContain("GetVelocityHessian is a call of version 1, which is gone: ask for the job again by");
  });

  it("takes the rest of an upload", async () => {
    expect(await (await fetched(UPLOAD)).json()).toMatchObject({ complete: false, received: 10, bytes: 24 });
    const rest = new Uint8Array(pointsOf(2).buffer).subarray(10);
    const range = { "content-type": OCTETS, "content-range": "bytes 10-23/24" };
    const answer = await fetched(UPLOAD, { method: "PUT", body: rest }, range);
    expect(await answer.json()).toMatchObject({ complete: true, received: 24, points: 2 });
  });

  it("has its events", async () => {
    const address = "/events?type=all&single_events=false";
    // Events are opened once the service listens.
    await expect.poll(async () => (await fetched(address)).status, { timeout: 20_000 }).toBe(200);
    const { _embedded } = (await (await fetched(address)).json()) as {
      _embedded: { events: readonly { id: number }[] };
    };
    expect(_embedded.events.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual([4101, 4102]);
  });

  it("has the bytes of its cache on disk", async () => {
    const cache = new DiskCache(join(state, "disk"), 2 ** 30, () => undefined);
    const name = { address: "http://127.0.0.1:18990/abc16.h5", version: '"v1" 1764000000000 139683' };
    const entries = await Promise.all(["0-65536", "4655-49156"].map((range) => cache.get({ ...name, range })));
    expect(entries.map((entry) => entry?.bytes.length)).toEqual([65_536, 49_156]);
    expect(Buffer.from(entries[0]?.bytes.subarray(1, 4) ?? []).toString()).toBe("HDF");
  });

  it("has what a check has verified", () => {
    const path = "/srv/fieldprobe/data/isotropic32/isotropic32.h5";
    const changedMs = 1795922493239.7144;
    const file = { path, bytes: 7_332_551, modifiedMs: changedMs, inode: 1_573_462, changedMs };
    const verified = (inode: number) =>
      verifiedManifestOf(state, { files: [{ ...file, inode }] } as unknown as Dataset);
    expect(verified(file.inode)).toBe("e87132469879ea75b665221a5bee28d00d42f77109eededac4f3a6fc68523662");
    expect(verified(1)).toBeNull();
  });

  it("has an index of scans, which other code does not believe", () => {
    expect(existsSync(join(state, "catalogue"))).toBe(true);
    expect(program.log().trim().split("\n")).toEqual([expect.stringContaining('"msg":"a job failed"')]);
  });
});

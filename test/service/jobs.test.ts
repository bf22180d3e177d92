/** Jobs from the call to the file, on a socket and with real threads. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { unzipSync } from "fflate";
import { type Dataset, File, ready } from "h5wasm/node";
import { parquetReadObjects } from "hyparquet";
import { pino } from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { type RunningService, startService } from "../../src/main.js";
import { loadConfig } from "../../src/shared/config.js";
import { eachScratchFolder } from "../support/scratch.js";

const DATA = fileURLToPath(new URL("../../data/isotropic32", import.meta.url));
const VELOCITY = "/api/datasets/isotropic32/GetVelocity?time=0.4&spatialInterpolation=Lag6&temporalInterpolation=None";
const OCTETS = "application/octet-stream";
const ASYNC = { prefer: "respond-async" };

let folder = "";
eachScratchFolder((made) => {
  folder = made;
});
let service: RunningService | null = null;
const lines: { msg: string; reason?: string }[] = [];
afterEach(async () => {
  await service?.close();
  service = null;
  lines.length = 0;
});

async function serve(settings: Readonly<Record<string, string>> = {}): Promise<string> {
  const base = { PORT: "0", WORKERS: "2", CACHE_BYTES: `${64 * 2 ** 20}`, DATA, STATE: folder, EVENTS: "off" };
  const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  service = await startService(loadConfig({ ...base, QUERY_POINTS: "2000", ...settings }, {}), log);
  return service.url;
}

function pointsOf(count: number, seed = 1): Float32Array<ArrayBuffer> {
  let state = seed;
  return Float32Array.from({ length: 3 * count }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state / 2 ** 32) * 6;
  });
}

type Headers = Readonly<Record<string, string>>;

const post = (url: string, body: BodyInit, headers: Headers = {}): Promise<Response> =>
  fetch(url, { method: "POST", headers: { "content-type": OCTETS, ...headers }, body });

interface Told {
  readonly id: string;
  readonly state: string;
  readonly progress: number;
  readonly problem: string | null;
  readonly cost: { readonly points: number; readonly tasks: number };
  readonly result: { readonly sha256: string; readonly name: string; readonly bytes: number } | null;
}

/** The job as the last of its events tells it. */
async function ended(url: string, location: string, headers: Headers = {}): Promise<Told> {
  const text = await (await fetch(`${url}${location}/events`, { headers })).text();
  return JSON.parse((text.trim().split("\n").at(-1) as string).slice("data: ".length)) as Told;
}

async function started(answer: Response): Promise<string> {
  expect([answer.status, answer.status === 202 ? "" : await answer.text()]).toEqual([202, ""]);
  return answer.headers.get("location") as string;
}

/** The shape of the first of some variables of a result in NetCDF-4, and the numbers of each. */
async function variablesOf(result: string, names: readonly string[]): Promise<readonly [unknown, number[][]]> {
  await ready;
  const file = new File(join(folder, "results", result), "r");
  const all = names.map((name) => file.get(name) as Dataset);
  const found = [all[0]?.shape, all.map(({ value }) => Array.from(value as Float32Array))] as const;
  file.close();
  return found;
}

/** The columns of records of three numbers. */
function columnsOf(records: Buffer): number[][] {
  return [0, 1, 2].map((c) =>
    Array.from({ length: records.length / 12 }, (_, i) => records.readFloatLE(12 * i + 4 * c)),
  );
}

const bytesOf = async (answer: Response): Promise<Buffer> => Buffer.from(await answer.arrayBuffer());

/** The values of points by calls within the limits. */
async function valuesOf(url: string, call: string, points: Float32Array<ArrayBuffer>, at = 2000): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let from = 0; from < points.length; from += 3 * at)
    parts.push(await bytesOf(await post(`${url}${call}`, points.slice(from, from + 3 * at), { accept: OCTETS })));
  return Buffer.concat(parts);
}

describe("a job", () => {
  it("answers more points than a call may have, with the bits of calls that have fewer", async () => {
    const url = await serve();
    const points = pointsOf(7001);
    const location = await started(await post(`${url}${VELOCITY}`, points, { ...ASYNC, accept: OCTETS }));
    expect(await ended(url, location)).toMatchObject({ state: "done", progress: 1, cost: { points: 7001, tasks: 8 } });
    const answer = await fetch(`${url}${location}/result`);
    expect(answer.headers.get("content-type")).toBe(OCTETS);
    const got = await bytesOf(answer);
    expect(got.equals(await valuesOf(url, VELOCITY, points))).toBe(true);
    const digest = createHash("sha256").update(got).digest();
    expect(answer.headers.get("repr-digest")).toBe(`sha-256=:${digest.toString("base64")}:`);
    expect(answer.headers.get("etag")).toBe(`"${digest.toString("hex")}"`);
  });

  it("sends ranges of its result, as long as it is what was written, and keeps manifest and checksum next to it", async () => {
    const url = await serve({ RESULTS: join(folder, "files") });
    const location = await started(await post(`${url}${VELOCITY}`, pointsOf(10), ASYNC));
    const { result } = await ended(url, location);
    const name = join(folder, "files", result?.name as string);
    const whole = readFileSync(name);
    const range = async (header: string) => {
      const answer = await fetch(`${url}${location}/result`, { headers: { range: header } });
      return [answer.status, answer.headers.get("content-range"), (await bytesOf(answer)).toString("latin1")];
    };
    const size = whole.length;
    expect(await range("bytes=5-9")).toEqual([206, `bytes 5-9/${size}`, whole.toString("latin1", 5, 10)]);
    expect(await range("bytes=-4")).toEqual([
      206,
      `bytes ${size - 4}-${size - 1}/${size}`,
      whole.toString("latin1", size - 4),
    ]);
    expect((await range(`bytes=${size}-`)).slice(0, 2)).toEqual([416, `bytes */${size}`]);
    expect((await fetch(`${url}${location}/result`, { method: "HEAD" })).headers.get("content-length")).toBe(`${size}`);
    expect(readFileSync(`${name}.sha256`, "utf8")).toBe(`${result?.sha256}  ${result?.name}\n`);
    expect(JSON.parse(readFileSync(`${name}.json`, "utf8"))).toMatchObject({ points: 10, shape: [10, 3], bytes: size });
    const status = async () => (await fetch(`${url}${location}/result`)).status;
    const changed = Buffer.from(whole);
    changed.writeUInt8(changed.readUInt8(size - 1) ^ 1, size - 1);
    writeFileSync(name, changed);
    expect(await status()).toBe(410);
    writeFileSync(name, whole);
    expect(await status()).toBe(200);
    truncateSync(name, 3);
    expect(await status()).toBe(410);
  });

  it.each([
    ["text/csv", "csv"],
    ["application/x-npy", "npy"],
    ["application/x-hdf5", "h5"],
    ["application/netcdf", "nc"],
    ["application/vnd.apache.parquet", "parquet"],
    ["application/vnd.zarr+zip", "zarr"],
  ])("answers JSON bodies as %s", async (accept, ending) => {
    const url = await serve();
    const points = [...pointsOf(2500)];
    const rows = points.flatMap((_, i) => (i % 3 === 0 ? [points.slice(i, i + 3)] : []));
    const body = JSON.stringify({
      time: 0.4,
      spatialInterpolation: "Lag6",
      temporalInterpolation: "None",
      points: rows,
    });
    const call = `${url}/api/datasets/isotropic32/GetVelocity`;
    const location = await started(await post(call, body, { ...ASYNC, accept, "content-type": "application/json" }));
    const { state, result } = await ended(url, location);
    expect([state, result?.name.split(".")[1]]).toEqual(["done", ending]);
    const got = await bytesOf(await fetch(`${url}${location}/result`));
    const want = await valuesOf(url, VELOCITY, Float32Array.from(points));
    if (accept === "text/csv") {
      const texts = got.toString().trim().split("\r\n");
      expect(texts).toHaveLength(2501);
      expect(texts.slice(1).flatMap((line) => line.split(",").map(Number))).toEqual(
        [...new Float32Array(want.buffer, want.byteOffset, want.length / 4)]
          .map((value) => Number(Math.fround(value).toPrecision(9)))
          .map((_, i) => expect.closeTo(want.readFloatLE(4 * i), 5)),
      );
    } else if (accept === "application/x-npy") {
      expect(got.subarray(got.length - want.length).equals(want)).toBe(true);
      expect(got.toString("latin1", 0, 128)).toContain("'shape': (2500, 3)");
    } else if (accept === "application/netcdf") {
      expect(await variablesOf(result?.name as string, ["x", "y", "z"])).toEqual([[2500], columnsOf(want)]);
    } else if (accept === "application/vnd.apache.parquet") {
      const rows = await parquetReadObjects({ file: new Uint8Array(got).buffer });
      expect(["x", "y", "z"].map((name) => rows.map((row) => row[name]))).toEqual(columnsOf(want));
    } else if (ending === "zarr") {
      const { "values/c/0/0": chunk, "values/zarr.json": document } = unzipSync(got);
      expect(Buffer.from(chunk as Uint8Array).equals(want)).toBe(true);
      const { attributes, shape } = JSON.parse(Buffer.from(document as Uint8Array).toString());
      expect([shape, attributes]).toEqual([[2500, 3], { components: ["x", "y", "z"] }]);
    } else expect(got.includes(want)).toBe(true);
  });

  it("puts times before points, as a call with several times does", async () => {
    const url = await serve();
    const call = VELOCITY.replace("time=0.4", "time=0.4,0.41").replace("None", "PCHIP");
    const points = pointsOf(1700);
    const location = await started(await post(`${url}${call}`, points, { ...ASYNC, accept: OCTETS }));
    expect(await ended(url, location)).toMatchObject({ state: "done", cost: { tasks: 4 } });
    const single = (time: string) => valuesOf(url, call.replace("0.4,0.41", time), points);
    const want = Buffer.concat([await single("0.4"), await single("0.41")]);
    expect((await bytesOf(await fetch(`${url}${location}/result`))).equals(want)).toBe(true);
    const file = await started(await post(`${url}${call}`, points, { ...ASYNC, accept: "application/netcdf" }));
    const { result } = await ended(url, file);
    expect(await variablesOf(result?.name as string, ["x", "y", "z"])).toEqual([[2, 1700], columnsOf(want)]);
    expect((await variablesOf(result?.name as string, ["time", "point"]))[1]).toEqual([
      [0.4, 0.41],
      Array.from({ length: 1700 }, (_, i) => i),
    ]);
    const parquet = await post(`${url}${call}`, points, { ...ASYNC, accept: "application/vnd.apache.parquet" });
    expect([parquet.status, ((await parquet.json()) as { detail: string }).detail]).toEqual([
      400,
      "A job with several times has no CSV or Parquet; take application/x-npy.",
    ]);
  });

  it("refuses paths in forms of values at points", async () => {
    const url = await serve();
    const call = "/api/datasets/isotropic32/trajectories?operation=GetPosition&recordEvery=1";
    const refused = await post(`${url}${call}`, pointsOf(3), { ...ASYNC, accept: "application/netcdf" });
    expect([refused.status, ((await refused.json()) as { detail: string }).detail]).toEqual([
      400,
      "A job of trajectories is no NetCDF or Parquet; take application/x-npy.",
    ]);
  });

  it("moves particles further than a call may", async () => {
    const url = await serve({ QUERY_PARTICLE_STEPS: "100" });
    const track = (steps: number) =>
      `/api/datasets/isotropic32/GetPosition?StartTime=0.4&dt=0.0001&nt=${steps}&spatialInterpolation=Lag4`;
    const points = pointsOf(3);
    expect((await post(`${url}${track(150)}`, points)).status).toBe(413);
    const location = await started(await post(`${url}${track(150)}`, points, { ...ASYNC, accept: OCTETS }));
    expect(await ended(url, location)).toMatchObject({ problem: null, state: "done", cost: { tasks: 3 } });
    expect((await bytesOf(await fetch(`${url}${location}/result`))).length).toBeGreaterThanOrEqual(36);
  });

  it("is refused if a single particle takes more steps than a task may", async () => {
    const url = await serve({ QUERY_PARTICLE_STEPS: "100" });
    const track = "/api/datasets/isotropic32/GetPosition?StartTime=0.4&dt=0.0001&nt=1601&spatialInterpolation=Lag4";
    const refused = await post(`${url}${track}`, pointsOf(1), ASYNC);
    expect([refused.status, await refused.json()]).toMatchObject([
      413,
      { limit: "query.particleSteps", detail: "Path too long (1601 > 1600 particle steps of a task of a job)" },
    ]);
  });

  it("takes flow maps and dispersion further than a call may", async () => {
    const start = { time: "0.4:0.6", step: 0.02, method: "Lag4" };
    const calls = [
      ["flow_map", { ...start, what: "map, ftle", z: 1.5, samples: 3 }],
      ["dispersion", { ...start, points: { random: 20, seed: 1 } }],
    ] as const;
    const ask = (url: string, name: string, body: object, headers: Headers = {}) =>
      post(`${url}/api/datasets/isotropic32/${name}`, JSON.stringify(body), {
        "content-type": "application/json",
        ...headers,
      });
    const free = await serve();
    const expected = await Promise.all(calls.map(async ([name, body]) => (await ask(free, name, body)).json()));
    await service?.close();
    const url = await serve({ QUERY_PARTICLE_STEPS: "100" });
    for (const [i, [name, body]] of calls.entries()) {
      expect((await ask(url, name, body)).status).toBe(413);
      const location = await started(await ask(url, name, body, ASYNC));
      expect(await ended(url, location)).toMatchObject({ problem: null, state: "done", cost: { tasks: 1 } });
      expect(await (await fetch(`${url}${location}/result`)).json()).toEqual(expected[i]);
    }
  });

  it("may be any other call, which is a single task and answers the same bytes", async () => {
    const url = await serve();
    const slice = "/api/datasets/isotropic32/slice?field=p&time=0.4&axis=z&at=1";
    const headers = { accept: "image/png" };
    const location = await started(await fetch(`${url}${slice}`, { headers: { ...headers, ...ASYNC } }));
    expect(await ended(url, location)).toMatchObject({ state: "done", cost: { points: 0, tasks: 1 } });
    const got = await fetch(`${url}${location}/result`);
    expect(got.headers.get("content-type")).toBe("image/png");
    expect((await bytesOf(got)).equals(await bytesOf(await fetch(`${url}${slice}`, { headers })))).toBe(true);
    const statistics = JSON.stringify({ time: 0.4, what: "p" });
    const json = { "content-type": "application/json" };
    const other = `${url}/api/datasets/isotropic32/statistics`;
    const second = await started(await post(other, statistics, { ...json, ...ASYNC }));
    expect(await ended(url, second)).toMatchObject({ state: "done" });
    expect(await (await fetch(`${url}${second}/result`)).json()).toEqual(
      await (await post(other, statistics, json)).json(),
    );
  });

  it("may be a GET of a client that states a type of a body with every request", async () => {
    const url = await serve();
    for (const call of [
      "cutout?field=p&T=1",
      "slice?field=p&time=0.4&axis=z&at=1",
      "volume?field=p&time=0.4&nodes=8",
    ]) {
      const headers = { "content-type": "application/json" };
      const address = `${url}/api/datasets/isotropic32/${call}`;
      const location = await started(await fetch(address, { headers: { ...headers, ...ASYNC } }));
      expect(await ended(url, location)).toMatchObject({ problem: null, state: "done" });
      const got = await bytesOf(await fetch(`${url}${location}/result`));
      expect(got.equals(await bytesOf(await fetch(address, { headers })))).toBe(true);
    }
  });

  it("fails with the problem of its call, or is refused with it at once if its points are cut", async () => {
    const url = await serve();
    const cut = await post(`${url}${VELOCITY.replace("0.4", "77")}`, pointsOf(1), ASYNC);
    expect([cut.status, ((await cut.json()) as { code: string }).code]).toEqual([422, "OutOfRange"]);
    expect(readdirSync(join(folder, "jobs/inputs"))).toEqual([]);
    const slice = `${url}/api/datasets/isotropic32/slice?field=p&time=77&axis=z&at=1`;
    const location = await started(await fetch(slice, { headers: ASYNC }));
    expect(await ended(url, location)).toMatchObject({
      state: "failed",
      problem: expect.stringContaining("77"),
      result: null,
    });
    expect((await fetch(`${url}${location}/result`)).status).toBe(409);
  });

  it("is cancelled while it runs, and forgotten once it has ended", async () => {
    const url = await serve();
    const location = await started(await post(`${url}${VELOCITY}`, pointsOf(100_000), ASYNC));
    const cancelled = await fetch(`${url}${location}`, { method: "DELETE" });
    expect(await cancelled.json()).toMatchObject({ state: "cancelled" });
    const left = readdirSync(join(folder, "jobs"), { recursive: true }).map(String);
    expect(left.filter((name) => /[/]/.test(name))).toEqual([]);
    expect((await fetch(`${url}${location}`, { method: "DELETE" })).status).toBe(200);
    expect((await fetch(`${url}${location}`)).status).toBe(404);
    expect(await (await fetch(`${url}/api/jobs`)).json()).toEqual({ jobs: [] });
  });

  it("continues after a restart", async () => {
    const url = await serve();
    const points = pointsOf(20_000);
    const location = await started(await post(`${url}${VELOCITY}`, points, { ...ASYNC, accept: OCTETS }));
    await service?.close();
    const again = await serve();
    expect(await ended(again, location)).toMatchObject({ state: "done" });
    expect(
      (await bytesOf(await fetch(`${again}${location}/result`))).equals(await valuesOf(again, VELOCITY, points)),
    ).toBe(true);
  });

  it("cuts off who does not read its result", async () => {
    const url = await serve({
      QUERY_POINTS: "1000000",
      HTTP_READER_GRACE_MS: "200",
      HTTP_READER_BYTES_PER_SECOND: "1000000000",
    });
    // More than the buffers of a connection take.
    const location = await started(await post(`${url}/api/NullOp`, pointsOf(1_000_000), ASYNC));
    expect(await ended(url, location)).toMatchObject({ state: "done", result: { bytes: 12_000_128 } });
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    let isCut = false;
    socket.on("error", () => {
      isCut = true;
    });
    socket.write(`GET ${location}/result HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    const [head] = await once(socket, "data");
    expect(String(head)).toMatch(/^HTTP\/1.1 200 /);
    socket.pause();
    // Only who writes to a connection that it does not read learns that it is closed.
    const probe = () => {
      socket.write("\n");
      return isCut;
    };
    await expect.poll(probe, { timeout: 20_000 }).toBe(true);
    socket.destroy();
  });

  it("makes no file before the first job", async () => {
    const url = await serve();
    expect(await (await fetch(`${url}/api/jobs`)).json()).toEqual({ jobs: [] });
    expect((await fetch(`${url}/api/jobs/0123456789abcdef01234567`)).status).toBe(404);
    expect(existsSync(join(folder, "jobs"))).toBe(false);
  });

  it("says in one line that its queue is damaged, and the service answers all else", async () => {
    const first = await serve();
    await started(await post(`${first}${VELOCITY}`, pointsOf(1), ASYNC));
    await service?.close();
    writeFileSync(join(folder, "jobs/jobs.db"), "no database ".repeat(1000));
    const url = await serve();
    expect(lines.map(({ msg }) => msg)).toContain("jobs are not available; everything else is");
    expect(lines.find(({ reason }) => reason)?.reason).toMatch(/jobs\.db: file is not a database/);
    expect((await post(`${url}${VELOCITY}`, pointsOf(1), ASYNC)).status).toBe(500);
    expect((await post(`${url}${VELOCITY}`, pointsOf(1))).status).toBe(200);
  });
});

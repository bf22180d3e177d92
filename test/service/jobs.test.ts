/** Jobs from the call to the file, on a socket and with real threads. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Dataset, File, ready } from "h5wasm/node";
import { pino } from "pino";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { callOf, FORMATS } from "../../src/shared/calls.js";
import type { AnyAnswer } from "../server/ask/ask.js";
import { scratchFolder } from "../support/scratch.js";
import { OwnServices } from "../support/service.js";

const DATA = fileURLToPath(new URL("../../data/isotropic32", import.meta.url));
const VELOCITY = "/api/datasets/isotropic32/values?what=u&time=0.4&method=Lag6&time_method=nearest";
const OCTETS = "application/octet-stream";
const ASYNC = { prefer: "respond-async" };

const lines: { msg: string; reason?: string }[] = [];
const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
const own = new OwnServices({ WORKERS: "2", QUERY_POINTS: "2000" }, log);
afterEach(() => void lines.splice(0));
const serve = (settings?: Headers) => own.serve(settings);
const ordinary = await own.serveIn(scratchFolder());
afterAll(() => ordinary.close());

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

async function ended(url: string, location: string, headers: Headers = {}): Promise<AnyAnswer> {
  const text = await (await fetch(`${url}${location}/events`, { headers })).text();
  return JSON.parse((text.trim().split("\n").at(-1) as string).slice("data: ".length));
}

async function started(answer: Response): Promise<string> {
  expect([answer.status, answer.status === 202 ? "" : await answer.text()]).toEqual([202, ""]);
  return answer.headers.get("location") as string;
}

async function expectSameNumbers(ours: Buffer, theirs: Buffer): Promise<void> {
  await ready;
  const read = (bytes: Buffer, name: string) => {
    const path = join(own.folder, name);
    writeFileSync(path, bytes);
    const file = new File(path, "r");
    const found = file.keys().map((key) => {
      const { shape, value } = file.get(key) as Dataset;
      return [key, shape, Array.from(value as Float32Array)] as const;
    });
    file.close();
    return found;
  };
  expect(read(ours, "ours.h5")).toEqual(read(theirs, "theirs.h5"));
}

const bytesOf = async (answer: Response): Promise<Buffer> => Buffer.from(await answer.arrayBuffer());

async function valuesOf(url: string, call: string, points: Float32Array<ArrayBuffer>, at = 2000): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let from = 0; from < points.length; from += 3 * at)
    parts.push(await bytesOf(await post(`${url}${call}`, points.slice(from, from + 3 * at), { accept: OCTETS })));
  return Buffer.concat(parts);
}

describe("a job", () => {
  it("answers more points than a call may have, with the bits of calls that have fewer", async () => {
    const { url } = ordinary;
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
    const url = await serve({ RESULTS: join(own.folder, "files") });
    const location = await started(await post(`${url}${VELOCITY}`, pointsOf(10), ASYNC));
    const { result } = await ended(url, location);
    const name = join(own.folder, "files", result?.name as string);
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
    expect(JSON.parse(readFileSync(`${name}.json`, "utf8"))).toMatchObject({
      ...{ points: 10, bytes: size, question: { what: "u", format: "json" } },
      call: { method: "POST", url: "/api/datasets/isotropic32/values" },
    });
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

  it("of points, samples, nodes and particles is cut, and has the bytes of the call in every form", {
    timeout: 90_000,
  }, async () => {
    const free = ordinary.url;
    const rows = [...pointsOf(250)].flatMap((x, i, all) => (i % 3 === 0 ? [[x, all[i + 1], all[i + 2]]] : []));
    const calls = [
      ["values", { what: "u, norm(omega)", points: rows, time: [0.4, 0.6] }, 6],
      ["values", { what: "p", points: rows.map((row, i) => [...row, 0.4 + i / 1000]), time: "each" }, 3],
      ["values", { what: "p", points: { random: 250, seed: 4 }, time: 0.5 }, 3],
      ["grid", { what: "Q", z: 1.5, samples: [10, 20], time: 0.5 }, 2],
      ["nodes", { what: "u, Q", frame: "0:2", i: "20:30", j: "0:15:3", k: "5:13" }, 8],
      ["paths", { what: "p", points: rows.slice(0, 80), time: "0.4:0.6", step: 0.05, every: 2 }, 3],
      ["paths", { what: "u", points: { random: 64, seed: 2 }, time: "0.6:0.4", step: 0.05, last: true }, 2],
      ["flow_map", { what: "ftle", z: 1.5, samples: 20, time: "0.4:0.6", step: 0.1 }, 4],
    ] as const;
    const direct = new Map<string, Buffer>();
    const json = { "content-type": "application/json" };
    const ask = (url: string, name: string, body: object) =>
      post(`${url}/api/datasets/isotropic32/${name}`, JSON.stringify(body), json);
    const all = calls.flatMap(([name, body, tasks], c) =>
      callOf(name)
        .formats.filter((form) => !FORMATS[form].singleQuantity || (form !== "png" && !body.what.includes(",")))
        .filter((form, f) => form !== "xmf" && (c === 0 || f % 3 === c % 3))
        .map((format) => ({ key: `${c} ${name} as ${format}`, name, body: { ...body, format }, tasks })),
    );
    for (const { key, name, body } of all) direct.set(key, await bytesOf(await ask(free, name, body)));
    const url = await serve({ JOBS_AT_ONCE: "1000", QUERY_POINTS: "200" });
    for (const { key, name, body, tasks } of all) {
      const location = await started(await ask(url, name, { ...body, job: true }));
      const isFile = body.format === "nc" || body.format === "h5";
      const cost = { tasks: isFile && name === "paths" ? 1 : tasks };
      expect(await ended(url, location), key).toMatchObject({ problem: null, state: "done", cost });
      const got = await bytesOf(await fetch(`${url}${location}/result`));
      // Long files of HDF5 are in chunks, and state when they were written.
      if (isFile) await expectSameNumbers(got, direct.get(key) as Buffer);
      else expect(got.equals(direct.get(key) as Buffer), key).toBe(true);
    }
  });

  it("moves particles further than a call may", async () => {
    const url = await serve({ QUERY_PARTICLE_STEPS: "100" });
    const paths = `${url}/api/datasets/isotropic32/paths?time=0.4:0.415&step=0.0001&method=Lag4&last`;
    expect((await post(paths, pointsOf(3))).status).toBe(413);
    const location = await started(await post(paths, pointsOf(3), { ...ASYNC, accept: OCTETS }));
    expect(await ended(url, location)).toMatchObject({ problem: null, state: "done" });
    expect((await bytesOf(await fetch(`${url}${location}/result`))).length).toBe(36);
  });

  it("takes flow maps and dispersion further than a call may", async () => {
    const start = { time: "0.4:0.6", step: 0.02, method: "Lag4" };
    const along = { what: "omega", increments: [2], bins: 4, range: [-1, 1] };
    const calls = [
      ["flow_map", { ...start, what: "map, ftle", z: 1.5, samples: 3 }, 9],
      ["dispersion", { ...start, ...along, points: { pairs: 10, distance: 0.2, seed: 1 } }, 10],
    ] as const;
    const ask = (url: string, name: string, body: object, headers: Headers = {}) =>
      post(`${url}/api/datasets/isotropic32/${name}`, JSON.stringify(body), {
        "content-type": "application/json",
        ...headers,
      });
    const free = ordinary.url;
    const expected = await Promise.all(calls.map(async ([name, body]) => (await ask(free, name, body)).json()));
    const url = await serve({ QUERY_PARTICLE_STEPS: "100" });
    for (const [i, [name, body, tasks]] of calls.entries()) {
      expect((await ask(url, name, body)).status).toBe(413);
      const location = await started(await ask(url, name, body, ASYNC));
      expect(await ended(url, location)).toMatchObject({ problem: null, state: "done", cost: { tasks } });
      expect(await (await fetch(`${url}${location}/result`)).json()).toEqual(expected[i]);
    }
  });

  it("of an analysis is cut in each pass over the data, and answers the same bytes", { timeout: 90_000 }, async () => {
    const where = "norm(omega) > 2 * rms(norm(omega))";
    const calls = [
      ["isotropic32", "statistics", { what: "u, p", time: "all", over: "x,z,t" }, 12],
      ["isotropic32", "statistics", { what: "fluc(u.x)*fluc(u.y)", time: "all", where: "p > 0" }, 36],
      ["isotropic32", "statistics", { reduce: [{ histogram: "Q", bins: 8 }], time: "0.4:0.8" }, 6],
      ["isotropic32", "statistics", { what: "filter(u)", filter: "gaussian:0.8", time: "all" }, 12],
      ["isotropic32", "spectrum", { terms: "transfer,flux", time: "all" }, 12],
      ["isotropic32", "correlation", { what: "u.x", axis: "y", time: "0.4:0.8" }, 3],
      ["isotropic32", "structure_functions", { time: "0.4:0.8", absolute: [1] }, 9],
      ["isotropic64", "structures", { where, time: 0.6, what: "Q" }, 8],
    ] as const;
    const url = await serve({ DATA: join(DATA, ".."), QUERY_POINTS: "200" });
    const json = { "content-type": "application/json" };
    const told: unknown[] = [];
    for (const [dataset, name, body] of calls) {
      const ask = (more: object) =>
        post(`${url}/api/datasets/${dataset}/${name}`, JSON.stringify({ ...body, ...more }), json);
      const location = await started(await ask({ job: true }));
      const { state, problem, cost } = await ended(url, location);
      told.push([name, state, problem, cost.tasks, cost.points]);
      const got = await bytesOf(await fetch(`${url}${location}/result`));
      expect(String(got), name).toBe(String(await bytesOf(await ask({}))));
    }
    expect(told).toEqual(calls.map(([, name, , tasks]) => [name, "done", null, tasks, 0]));
  });

  it("may be any other call, which is a single task and answers the same bytes", async () => {
    const { url } = ordinary;
    const json = { "content-type": "application/json" };
    for (const [call, members, accept] of [
      ["grid", { what: "p", z: 1, samples: 20, time: 0.4 }, "image/png"],
      ["statistics", { time: 0.4, what: "p" }, "application/json"],
    ] as const) {
      const address = `${url}/api/datasets/isotropic32/${call}`;
      const location = await started(await post(address, JSON.stringify(members), { ...json, ...ASYNC, accept }));
      expect(await ended(url, location)).toMatchObject({ state: "done", cost: { points: 0, tasks: 1 } });
      const got = await fetch(`${url}${location}/result`);
      expect(got.headers.get("content-type")).toContain(accept);
      const direct = await post(address, JSON.stringify(members), { ...json, accept });
      expect((await bytesOf(got)).equals(await bytesOf(direct))).toBe(true);
    }
  });

  it("answers a GET at once, whatever it prefers", async () => {
    const { url } = ordinary;
    const answer = await fetch(`${url}${VELOCITY}&points=1,2,3`, { headers: ASYNC });
    expect([answer.status, Object.keys((await answer.json()) as object)]).toEqual([
      200,
      expect.arrayContaining(["rows"]),
    ]);
  });

  it("is refused at once for a wrong member in any form of its body, and leaves nothing behind", async () => {
    const url = await serve();
    const csv = "x,y,z\n1,2,3\n";
    const bodies = [
      [new Uint8Array(12), OCTETS],
      [csv, "text/csv"],
      ['{"points": [[1, 2, 3]]}', "application/json"],
    ] as const;
    for (const [body, type] of bodies)
      for (const [query, code, member] of [
        ["time=77", "OutOfRange", "time"],
        ["time=0.4&method=Lag5", "InvalidRequest", "method"],
        ["time=0.4&what=nothing", "InvalidRequest", "what"],
        ["time=0.4&what=u,p&format=npy", "InvalidRequest", "format"],
        ["time=0.4&what=u.x,u_x%3Dp&format=nc", "InvalidRequest", "what"],
      ] as const) {
        const url77 = `${url}/api/datasets/isotropic32/values?${query}`;
        const answer = await post(url77, body, { ...ASYNC, "content-type": type });
        expect([query, answer.status >= 400, await answer.json()]).toMatchObject([query, true, { code, member }]);
      }
    expect(await (await fetch(`${url}/api/jobs`)).json()).toEqual({ jobs: [] });
    expect(existsSync(join(own.folder, "jobs/inputs")) ? readdirSync(join(own.folder, "jobs/inputs")) : []).toEqual([]);
  });

  it("fails with the problem of its call if that shows only while it runs", async () => {
    const url = await serve({ QUERY_PARTICLE_STEPS: "100" });
    const long = `${url}/api/datasets/isotropic32/paths?time=0.4:0.6&step=0.0001&method=Lag4&last`;
    const location = await started(await post(long, pointsOf(1), ASYNC));
    expect(await ended(url, location)).toMatchObject({
      state: "failed",
      problem: expect.stringMatching(/^Path too long \(\d+ > 1600 particle steps of a task of a job\)$/),
      result: null,
    });
    expect((await fetch(`${url}${location}/result`)).status).toBe(409);
  });

  it("is cancelled while it runs, and forgotten once it has ended", async () => {
    const url = await serve();
    const location = await started(await post(`${url}${VELOCITY}`, pointsOf(100_000), ASYNC));
    const cancelled = await fetch(`${url}${location}`, { method: "DELETE" });
    expect(await cancelled.json()).toMatchObject({ state: "cancelled" });
    const left = readdirSync(join(own.folder, "jobs"), { recursive: true }).map(String);
    expect(left.filter((name) => /[/]/.test(name))).toEqual([]);
    expect((await fetch(`${url}${location}`, { method: "DELETE" })).status).toBe(200);
    expect((await fetch(`${url}${location}`)).status).toBe(404);
    expect(await (await fetch(`${url}/api/jobs`)).json()).toEqual({ jobs: [] });
  });

  it("continues after a restart", async () => {
    const url = await serve();
    const points = pointsOf(20_000);
    const location = await started(await post(`${url}${VELOCITY}`, points, { ...ASYNC, accept: OCTETS }));
    await own.close();
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
    const drawn = `${url}/api/datasets/isotropic32/values?what=a%3Dx,b%3Dy,c%3Dz&time=0.4&points.random=500000&format=parquet`;
    const location = await started(await fetch(drawn, { method: "POST", headers: ASYNC }));
    expect(await ended(url, location)).toMatchObject({ state: "done" });
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

  it("has events until it ends, however long nothing happens", async () => {
    const url = await serve({ HTTP_REQUEST_TIMEOUT_MS: "100", QUERY_DEADLINE_MS: "100", QUERY_POINTS: "5000" });
    const dispersion = { points: { random: 5_000, seed: 1 }, time: "0.4:0.8", step: 0.02, job: true };
    const json = { "content-type": "application/json" };
    const location = await started(
      await post(`${url}/api/datasets/isotropic32/dispersion`, JSON.stringify(dispersion), json),
    );
    expect(await ended(url, location)).toMatchObject({ problem: null, state: "done" });
  });

  it("makes no file before the first job", async () => {
    const url = await serve();
    expect(await (await fetch(`${url}/api/jobs`)).json()).toEqual({ jobs: [] });
    expect((await fetch(`${url}/api/jobs/0123456789abcdef01234567`)).status).toBe(404);
    expect(existsSync(join(own.folder, "jobs"))).toBe(false);
  });

  it("says in one line that its queue is damaged, and the service answers all else", async () => {
    const first = await serve();
    await started(await post(`${first}${VELOCITY}`, pointsOf(1), ASYNC));
    await own.close();
    writeFileSync(join(own.folder, "jobs/jobs.db"), "no database ".repeat(1000));
    const url = await serve();
    expect(lines.map(({ msg }) => msg)).toContain("jobs are not available; everything else is");
    expect(lines.find(({ reason }) => reason)?.reason).toMatch(/jobs\.db: file is not a database/);
    expect((await post(`${url}${VELOCITY}`, pointsOf(1), ASYNC)).status).toBe(500);
    expect((await post(`${url}${VELOCITY}`, pointsOf(1))).status).toBe(200);
  });
});

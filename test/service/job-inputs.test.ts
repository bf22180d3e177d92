/** Points of jobs, uploaded in parts or places of a dataset, and what a token may have. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { type Dataset, File, ready } from "h5wasm/node";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { digestToken } from "../../src/server/http/auth.js";
import { writeChannel } from "../support/channel.js";
import { folderIn, scratchFolder } from "../support/scratch.js";
import { OwnServices, SHIPPED_DATA } from "../support/service.js";

const CALL = "/api/datasets/isotropic32/values?what=p&time=0.4&method=Lag4&time_method=nearest";
const CHANNEL = fileURLToPath(new URL("../../data/turbulent-channel", import.meta.url));
const OCTETS = "application/octet-stream";

type Headers = Readonly<Record<string, string>>;

const own = new OwnServices({ WORKERS: "1", QUERY_POINTS: "1000" });
const serve = (settings?: Headers) => own.serve(settings);
const ordinary = await own.serveIn(scratchFolder());
afterAll(() => ordinary.close());

const json = async (answer: Response): Promise<Record<string, unknown>> => ({
  status: answer.status,
  ...((await answer.json()) as object),
});

const addInput = async (url: string, input: object, headers: Headers = {}) =>
  json(
    await fetch(`${url}/api/inputs`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(input),
    }),
  );

const put = async (url: string, id: unknown, body: Uint8Array<ArrayBuffer>, headers: Headers = {}) =>
  json(
    await fetch(`${url}/api/inputs/${id}`, { method: "PUT", headers: { "content-type": OCTETS, ...headers }, body }),
  );

const start = (url: string, id: unknown, headers: Headers = {}, call = CALL) =>
  fetch(`${url}${call}&points.input=${id}`, {
    method: "POST",
    headers: { prefer: "respond-async", accept: OCTETS, ...headers },
  });

async function resultOf(url: string, accepted: Response): Promise<Buffer> {
  expect(accepted.status).toBe(202);
  const location = accepted.headers.get("location");
  await (await fetch(`${url}${location}/events`)).text();
  return Buffer.from(await (await fetch(`${url}${location}/result`)).arrayBuffer());
}

async function pressures(url: string, points: readonly number[], call = CALL): Promise<Buffer> {
  const body = new Uint8Array(Float32Array.from(points).buffer);
  const answer = await fetch(`${url}${call}`, {
    method: "POST",
    headers: { "content-type": OCTETS, accept: OCTETS },
    body,
  });
  return Buffer.from(await answer.arrayBuffer());
}

const POINTS = [0.5, 1.25, 2, 3, 4.5, 5.75, 1, 1, 1];
const bytes = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.from(text));

function npyOf(points: readonly number[], order = "False"): Uint8Array<ArrayBuffer> {
  const text = `{'descr': '<f8', 'fortran_order': ${order}, 'shape': (${points.length / 3}, 3), }`;
  const head = Buffer.from(`\x93NUMPY\x01\x00\x76\x00${text.padEnd(117)}\n`, "latin1");
  return new Uint8Array(Buffer.concat([head, Buffer.from(Float64Array.from(points).buffer)]));
}

const CSV = `x,y,z\r\n${POINTS.map((v, i) => `${v}${i % 3 < 2 ? "," : "\r\n"}`).join("")}`;

describe("an upload", () => {
  it.each([
    ["octets", new Uint8Array(Float32Array.from(POINTS).buffer)],
    ["npy", npyOf(POINTS)],
    [
      "npy",
      npyOf(
        [0, 1, 2].flatMap((axis) => POINTS.filter((_, i) => i % 3 === axis)),
        "True",
      ),
    ],
    ["csv", bytes(CSV)],
    ["csv", new Uint8Array(Buffer.from(`\uFEFF${CSV}`, "utf16le"))],
  ])("of %s is received in parts, and a job answers its points", async (form, whole) => {
    const { url } = ordinary;
    const { id } = await addInput(url, { upload: { form, bytes: whole.length } });
    const first = whole.slice(0, 20);
    expect(await put(url, id, first, { "content-range": `bytes 0-19/${whole.length}` })).toMatchObject({
      received: 20,
      complete: false,
    });
    expect((await start(url, id)).status).toBe(400);
    const range = `bytes 20-${whole.length - 1}/${whole.length}`;
    expect(await put(url, id, whole.slice(20), { "content-range": range })).toMatchObject({
      complete: true,
      points: 3,
    });
    expect(await resultOf(url, await start(url, id))).toEqual(await pressures(url, POINTS));
  });

  it("says with which byte to continue, and refuses more than was announced", async () => {
    const { url } = ordinary;
    const { id } = await addInput(url, { upload: { form: "octets", bytes: 24 } });
    await put(url, id, new Uint8Array(12), { "content-range": "bytes 0-11/24" });
    expect(await put(url, id, new Uint8Array(12), { "content-range": "bytes 0-11/24" })).toMatchObject({
      status: 400,
      detail: "The input has 12 bytes: continue with byte 12.",
    });
    expect(await put(url, id, new Uint8Array(4), { "content-range": "bytes 20-23/24" })).toMatchObject({ status: 400 });
    expect(await put(url, id, new Uint8Array(12), { "content-range": "bytes 12-23/99" })).toMatchObject({
      status: 400,
    });
    expect(await put(url, id, new Uint8Array(12), { "content-range": "nodes 12-23" })).toMatchObject({ status: 400 });
    expect(await put(url, id, new Uint8Array(40), { "content-range": "bytes 12-23/24" })).toMatchObject({
      status: 400,
      detail: "Content-Range has 12 bytes, the body 40.",
    });
    expect(await put(url, id, new Uint8Array(40))).toMatchObject({ status: 400 });
    expect(await json(await fetch(`${url}/api/inputs/${id}`))).toMatchObject({ complete: false, bytes: 24 });
  });

  it("takes no more of a part than its Content-Range states, whether or not its length is stated", async () => {
    const { url } = ordinary;
    const { id } = await addInput(url, { upload: { form: "octets", bytes: 48 } });
    const range = { "content-range": "bytes 0-11/48" };
    for (const length of [8, 24])
      expect(await put(url, id, new Uint8Array(length), range)).toMatchObject({
        status: 400,
        detail: `Content-Range has 12 bytes, the body ${length}.`,
      });
    const chunked = { method: "PUT", headers: { "content-type": OCTETS, ...range }, duplex: "half" };
    const body = Readable.from([new Uint8Array(12), new Uint8Array(12)]);
    const answer = await fetch(`${url}/api/inputs/${id}`, { ...chunked, body } as unknown as RequestInit);
    expect(await json(answer)).toMatchObject({ status: 400, detail: "The part was to end before byte 12; more came." });
  });

  it.each([
    ["octets", new Uint8Array(Float32Array.from(POINTS).buffer)],
    ["csv", bytes("1,2,3\n4,5,6\n7,8,9\n")],
    ["npy", npyOf(POINTS)],
  ])("of %s that is complete is not replaced", async (form, whole) => {
    const { url } = ordinary;
    const { id } = await addInput(url, { upload: { form, bytes: whole.length } });
    expect(await put(url, id, whole)).toMatchObject({ complete: true, points: 3 });
    const before = await resultOf(url, await start(url, id));
    expect(await put(url, id, whole.slice().reverse())).toMatchObject({
      status: 400,
      detail: "The input is complete; it takes no more bytes.",
    });
    expect(await resultOf(url, await start(url, id))).toEqual(before);
  });

  it.each([
    ["csv", bytes("1 2 3\n4 five 6\n"), /line 2: three numbers expected/],
    ["csv", bytes("1".repeat(5000)), /a line is too long/],
    ["csv", bytes("x,y,z,vx\n1,2,3,4\n"), /does not name one column each vx, vy and vz/],
    ["npy", bytes("no NumPy file, but long enough"), /is no \.npy file of points/],
    ["npy", Buffer.concat([npyOf(POINTS), npyOf(POINTS)]), /200 bytes follow the \.npy array/],
  ])("of %s that holds no points is refused in one line", async (form, whole, text) => {
    const { url } = ordinary;
    const { id } = await addInput(url, { upload: { form, bytes: whole.length } });
    expect(await put(url, id, whole)).toMatchObject({ status: 400, detail: expect.stringMatching(text) });
  });

  it.each([
    ["csv", bytes("x,y,z\n")],
    ["npy", npyOf([])],
  ])("of %s without points is refused when a job takes it", async (form, whole) => {
    const { url } = ordinary;
    const { id } = await addInput(url, { upload: { form, bytes: whole.length } });
    expect(await put(url, id, whole)).toMatchObject({ complete: true, points: 0 });
    expect(await json(await start(url, id))).toMatchObject({
      status: 400,
      detail: expect.stringMatching(/at least one/),
    });
  });

  it("of octets that are not whole points is refused when a job takes it", async () => {
    const { url } = ordinary;
    const { id } = await addInput(url, { upload: { form: "octets", bytes: 13 } });
    await put(url, id, new Uint8Array(13));
    expect((await start(url, id)).status).toBe(400);
    expect((await start(url, "../../etc/passwd")).status).toBe(400);
  });
});

describe("places of a dataset", () => {
  it.each<[string, object, readonly (readonly number[])[]]>([
    ["nodes, over a seam", { nodes: { i: "30:34", j: "0:6:4", k: 3 } }, [[30, 31, 32, 33], [0, 4], [3]]],
    ["nodes between lengths", { nodes: { x: "0.15:0.65", y: [0, 0.05], z: "0.5:0.8" } }, [[1, 2, 3], [0], [3, 4]]],
    ["samples", { grid: { i: "2:6", j: "0:6", k: "4", samples: [2, 3] } }, [[3, 5], [1, 3, 5], [4]]],
  ])("are %s, x fastest", async (_, input, nodes) => {
    const { url } = ordinary;
    const [[call, members]] = Object.entries(input) as [[string, object]];
    const { id, points } = await addInput(url, { [call]: { dataset: "isotropic32", ...members } });
    const [xs, ys, zs] = nodes.map((along) => along.map((node) => (node * 2 * Math.PI) / 32)) as [
      number[],
      number[],
      number[],
    ];
    const places = zs.flatMap((z) => ys.flatMap((y) => xs.flatMap((x) => [x, y, z])));
    expect(points).toBe(places.length / 3);
    expect(await resultOf(url, await start(url, id))).toEqual(await pressures(url, places));
  });

  it("are the nodes of a stretched axis, all without bounds", async () => {
    const url = await serve({ DATA: CHANNEL });
    await ready;
    const file = new File(join(CHANNEL, "turbulent-channel.h5"), "r");
    const ys = Array.from((file.get("y") as Dataset).value as Float64Array);
    file.close();
    const whole = await addInput(url, { nodes: { dataset: "turbulent-channel" } });
    expect(whole.points).toBe(32 * ys.length * 32);
    const { id } = await addInput(url, { nodes: { dataset: "turbulent-channel", i: ":2", j: "::3", k: 0 } });
    const places = ys.flatMap((y, j) => (j % 3 === 0 ? [0, (2 * Math.PI) / 64].flatMap((x) => [x, y, 0]) : []));
    const call = CALL.replace("isotropic32", "turbulent-channel");
    expect(await resultOf(url, await start(url, id, {}, call))).toEqual(await pressures(url, places, call));
  });

  it("are refused in one line if there are none", async () => {
    const moving = folderIn(own.folder, "channel");
    await writeChannel(moving);
    const url = await serve({ DATA: `${SHIPPED_DATA}:${moving}` });
    const refusalOf = async (members: object) => {
      const { status, detail } = await addInput(url, { nodes: { dataset: "isotropic32", ...members } });
      return [status, detail];
    };
    expect(await refusalOf({ dataset: "none" })).toEqual([
      404,
      "Invalid set name: none (available: channel, isotropic32)",
    ]);
    expect(await refusalOf({ i: ":33" })).toEqual([422, expect.stringMatching(/^i: it is not in .* along x/)]);
    expect(await refusalOf({ start: [0, 0, 0] })).toEqual([
      400,
      expect.stringMatching(/^nodes\.start: .*it has dataset/),
    ]);
    expect(await refusalOf({ i: "::0" })).toEqual([400, expect.stringMatching(/^i/)]);
    expect(await refusalOf({ dataset: "channel" })).toEqual([400, expect.stringMatching(/^nodes: .* "channel" move/)]);
  });

  it.each([
    [{}, "An input is one of upload, nodes and grid."],
    [{ grid: { dataset: "isotropic32", samples: 65_536 } }, /^Input too large/],
    [{ upload: { form: "zip", bytes: 1 } }, /^upload/],
  ])("are refused in one line: %j", async (input, detail) => {
    const answer = await addInput(ordinary.url, input);
    expect(answer).toMatchObject({ detail: typeof detail === "string" ? detail : expect.stringMatching(detail) });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
  });
});

describe("a token", () => {
  const tokens = (limits: { readonly limit: number; readonly perMinute?: number } = { limit: 0 }) => {
    mkdirSync(own.folder, { recursive: true });
    const list = ["ann", "bob"].map((name) => ({ name, sha256: digestToken(name), ...limits }));
    writeFileSync(join(own.folder, "tokens.json"), JSON.stringify({ version: 1, tokens: list }));
    return { TOKENS: join(own.folder, "tokens.json") };
  };
  const by = (name: string): Headers => ({ authorization: `Bearer ${name}` });

  it("sees its own jobs and inputs only", async () => {
    const url = await serve(tokens());
    const grid = { dataset: "isotropic32", samples: 4 };
    const { id } = await addInput(url, { grid }, by("ann"));
    expect((await addInput(url, { grid })).status).toBe(401);
    expect((await start(url, id, by("bob"))).status).toBe(400);
    const accepted = await start(url, id, by("ann"));
    const location = accepted.headers.get("location");
    const events = await (await fetch(`${url}${location}/events`, { headers: by("ann") })).text();
    expect(events).toContain('"state":"done"');
    const ends = ["", "/result", "/events"];
    const foreign = await Promise.all(ends.map((end) => fetch(`${url}${location}${end}`, { headers: by("bob") })));
    expect(foreign.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect((await fetch(`${url}${location}`, { method: "DELETE", headers: by("bob") })).status).toBe(404);
    expect((await fetch(`${url}${location}/result`)).status).toBe(401);
    expect(await (await fetch(`${url}/api/jobs`, { headers: by("bob") })).json()).toEqual({ jobs: [] });
    expect((await fetch(`${url}${location}/result`, { headers: by("ann") })).status).toBe(200);
  });

  it("bounds the points of its jobs, at all of their times, as it bounds those of its calls", async () => {
    const url = await serve(tokens({ limit: 200 }));
    const async = { prefer: "respond-async", ...by("ann") };
    const submit = async (points: number, call = CALL) =>
      fetch(`${url}${call}`, {
        ...{ method: "POST", headers: { ...async, accept: OCTETS, "content-type": OCTETS } },
        body: new Uint8Array(12 * points),
      });
    expect((await submit(200)).status).toBe(202);
    const twice = CALL.replace("time=0.4", "time=0.4,0.6");
    expect((await submit(100, twice)).status).toBe(202);
    for (const answer of [await submit(201), await submit(101, twice)])
      expect(await json(answer)).toMatchObject({ status: 413, limit: "token.points" });
    const nodes = `${url}/api/datasets/isotropic32/nodes?what=p&frame=0&i=0:10&j=0:10&k=0:10`;
    for (const answer of [
      await fetch(nodes, { headers: by("ann") }),
      await fetch(nodes, { method: "POST", headers: async }),
    ])
      expect(await json(answer)).toMatchObject({ limit: "token.points" });
  });

  it("counts jobs among the calls of a minute", async () => {
    const url = await serve(tokens({ limit: 0, perMinute: 2 }));
    const body = new Uint8Array(12);
    const headers = { prefer: "respond-async", "content-type": OCTETS, ...by("ann") };
    const submit = async () => (await fetch(`${url}${CALL}`, { method: "POST", headers, body })).status;
    expect([await submit(), await submit(), await submit()]).toEqual([202, 202, 429]);
  });

  it("may fill the bytes of its day and no more, though its jobs are submitted together and have written nothing", async () => {
    // Each job: 400 points of 12 bytes, and 400 gradients of 9 numbers at 2 times.
    const bytes = 400 * 12 + 400 * 9 * 2 * 4;
    const url = await serve({ JOBS_BYTES_PER_DAY: String(3 * bytes), JOBS_AT_ONCE: "100" });
    const call = "/api/datasets/isotropic32/values?what=A&time=0.4,0.6&time_method=nearest";
    const submit = () =>
      fetch(`${url}${call}`, {
        ...{ method: "POST", headers: { prefer: "respond-async", "content-type": OCTETS, accept: OCTETS } },
        body: new Uint8Array(12 * 400),
      });
    const answers = await Promise.all(Array.from({ length: 8 }, submit));
    const accepted = answers.filter(({ status }) => status === 202);
    const refused = answers.filter(({ status }) => status === 413);
    expect(accepted.length + refused.length).toBe(8);
    expect(accepted.length).toBeLessThanOrEqual(3);
    for (const answer of refused) expect(await json(answer)).toMatchObject({ limit: "jobs.bytesPerDay" });
    for (const answer of accepted) expect(await resultOf(url, answer)).toHaveLength(400 * 9 * 2 * 4);
    let more = accepted.length;
    while (more < 3 && (await submit()).status === 202) more++;
    expect([more, (await submit()).status]).toEqual([3, 413]);
  });

  it("is refused more points than JOBS_POINTS, which counts them at each time", async () => {
    const url = await serve({ JOBS_POINTS: "800" });
    const submit = (times: string) =>
      fetch(`${url}${CALL.replace("time=0.4", `time=${times}`)}`, {
        ...{ method: "POST", headers: { prefer: "respond-async", "content-type": OCTETS } },
        body: new Uint8Array(12 * 400),
      });
    expect((await submit("0.4,0.6")).status).toBe(202);
    expect(await json(await submit("0.4,0.6,0.8"))).toMatchObject({ limit: "jobs.points" });
  });

  it.each([
    ["JOBS_AT_ONCE", "1", "jobs.atOnce"],
    ["JOBS_POINTS_PER_DAY", "700", "jobs.pointsPerDay"],
    ["JOBS_POINTS", "300", "jobs.points"],
    ["JOBS_BYTES_PER_DAY", "1", "jobs.bytesPerDay"],
  ])("is refused what %s=%s does not admit, by name", async (variable, value, limit) => {
    const url = await serve({ [variable]: value });
    const body = new Uint8Array(12 * 400);
    const post = () =>
      fetch(`${url}${CALL}`, { method: "POST", headers: { prefer: "respond-async", "content-type": OCTETS }, body });
    const answers = [await post(), await post(), await post()];
    const refused = answers.find(({ status }) => status !== 202);
    expect(await json(refused as Response)).toMatchObject({ code: "LimitExceeded", limit });
    await own.close();
    const inputs = readdirSync(join(own.folder, "jobs/inputs")).filter((name) => name.endsWith(".json"));
    expect(inputs.length).toBeLessThan(3);
  });
});

it("says that the disk is full, keeps what has come, and goes on once there is room", async () => {
  const url = await serve();
  const { id } = await addInput(url, { upload: { form: "octets", bytes: 24 } });
  const file = join(own.folder, "jobs", "inputs", `${id}.data`);
  rmSync(file);
  symlinkSync("/dev/full", file);
  const part = { "content-range": "bytes 0-23/24" };
  expect(await put(url, id, new Uint8Array(24), part)).toMatchObject({
    status: 503,
    code: "Busy",
    detail: "The service has no room left on its disk.",
  });
  rmSync(file);
  writeFileSync(file, "");
  expect(await put(url, id, new Uint8Array(24), part)).toMatchObject({ status: 200, complete: true, points: 2 });
});

it("refuses the points of a job that become too many while they are sent, and goes on serving", async () => {
  const url = await serve({ HTTP_BODY_BYTES: "3000000" });
  const { port } = new URL(url);
  const headers = { "content-type": OCTETS, prefer: "respond-async" };
  const submit = request({ port, path: CALL, method: "POST", headers });
  submit.on("error", () => undefined);
  const refused = new Promise<number | undefined>((resolve) => {
    submit.once("response", (answer) => resolve(answer.resume().statusCode));
  });
  submit.write(new Uint8Array(4_000_000));
  expect(await refused).toBe(413);
  await new Promise((resolve) => submit.once("close", resolve));
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

describe("a file that becomes longer than the disk takes", () => {
  const POINTS = 8_000;
  /** Lets this process write files of 80 000 bytes only: what is beyond is not written, at first without an error. */
  const limit = (bytes: string) => execFileSync("prlimit", ["--pid", `${process.pid}`, `--fsize=${bytes}:`]);
  afterEach(() => void limit("unlimited"));
  const held = () => readdirSync(join(own.folder, "jobs", "inputs"));

  it("is no whole upload: the rest is asked for, and nothing is lost", async () => {
    const url = await serve();
    const { id } = await addInput(url, { upload: { form: "octets", bytes: 12 * POINTS } });
    const range = { "content-range": `bytes 0-${12 * POINTS - 1}/${12 * POINTS}` };
    limit("80000");
    const refused = await put(url, id, new Uint8Array(12 * POINTS), range);
    limit("unlimited");
    expect(refused.complete).toBeUndefined();
    const { received } = await json(await fetch(`${url}/api/inputs/${id}`));
    const rest = { "content-range": `bytes ${received}-${12 * POINTS - 1}/${12 * POINTS}` };
    const whole = await put(url, id, new Uint8Array(12 * POINTS - Number(received)), rest);
    expect(whole).toMatchObject({ complete: true, points: POINTS });
  });

  it("makes no job of the points that fitted, and leaves no file behind", async () => {
    const url = await serve();
    const points = Array.from({ length: POINTS }, () => [1, 2, 3]);
    const submit = (body: string) =>
      fetch(`${url}${CALL}`, {
        method: "POST",
        headers: { "content-type": "application/json", prefer: "respond-async" },
        body,
      });
    limit("80000");
    const refused = await submit(JSON.stringify({ points }));
    limit("unlimited");
    expect([refused.status >= 500, held()]).toEqual([true, []]);
    expect((await submit('{"points": [[1, 2')).status).toBe(400);
    expect(held()).toEqual([]);
  });
});

it.each([
  ["the description of an input that is too long", "POST", "/api/inputs", 413],
  ["an upload to an input that there is not", "PUT", "/api/inputs/none", 404],
])("%s is answered to a client that reads nothing before it has sent all", async (_case, method, path, status) => {
  const { url } = ordinary;
  const part = Buffer.alloc(64 * 1024, "x");
  const parts = 320;
  const socket = connect(Number(new URL(url).port), "127.0.0.1").pause();
  const type = method === "POST" ? "application/json" : OCTETS;
  const length = parts * part.length;
  socket.write(
    `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`,
  );
  for (let i = 0; i < parts; i++) if (!socket.write(part)) await once(socket, "drain");
  const received: Buffer[] = [];
  for await (const bytes of socket) received.push(bytes as Buffer);
  expect(Buffer.concat(received).toString("latin1")).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
});

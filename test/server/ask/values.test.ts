/** Values at points are the bits of the SOAP operations, and expressions are computed of these numbers in float64. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { type Dataset, File, ready } from "h5wasm/node";
import { afterAll, describe, expect, it } from "vitest";
import { connect, type FieldClient } from "../../../src/client/index.js";
import { scratchFolder } from "../../support/scratch.js";
import { serveTestData } from "../../support/service.js";
import { type AnyAnswer, ask, get, jsonOf } from "./ask.js";

const SCRATCH = scratchFolder();
await ready;
const service = await serveTestData();
const soap = await connect(service.url);
afterAll(() => service.close());

const POINTS = [
  [1, 2, 3],
  [0.1, 6.2, 4.5],
  [-1.5, 7.9, 3.3],
];

async function values(members: object): Promise<AnyAnswer> {
  return jsonOf(await ask(service, { dataset: "isotropic32", call: "values", points: POINTS, time: 0.5, ...members }));
}

/** The numbers of a column or of several, row by row. */
const numbers = (answer: AnyAnswer, ...names: string[]): number[] => {
  const at = names.map((name) => answer.columns.findIndex((column: { name: string }) => column.name === name));
  expect(
    at.every((column) => column >= 0),
    JSON.stringify(answer.columns),
  ).toBe(true);
  return answer.rows.flatMap((row: number[]) => at.map((column) => Math.fround(row[column] as number)));
};

async function overSoap(operation: string, options: object): Promise<number[]> {
  const call = soap[operation as keyof FieldClient] as (request: object) => Promise<{ values: Float32Array }>;
  const common = { dataset: "isotropic32", time: 0.5, temporalInterpolation: "PCHIP", points: POINTS };
  return [...(await call.call(soap, { ...common, ...options })).values];
}

const faultOf = async (response: Response): Promise<string> => ((await response.json()) as AnyAnswer).detail;

const vector = (name: string) => ["x", "y", "z"].map((one) => `${name}.${one}`);
const tensor = (name: string) => [0, 1, 2].flatMap((i) => [0, 1, 2].map((j) => `${name}[${i}][${j}]`));
const upper = (name: string) => [
  `${name}[0][0]`,
  `${name}[0][1]`,
  `${name}[0][2]`,
  `${name}[1][1]`,
  `${name}[1][2]`,
  `${name}[2][2]`,
];

it("know a force in closed form at nodes too, and its derivatives", async () => {
  const at = { dataset: "isotropic32", frame: 2, what: "force, d(force.x, y)" };
  const nodes = await jsonOf(await ask(service, { ...at, call: "nodes", i: 5, j: 31, k: 0 }));
  const y = [30, 31, 32].map((j) => [(5 * Math.PI) / 16, (j * Math.PI) / 16, 0]);
  const around = numbers(await values({ what: "force", points: y, time: 0.4 }), ...vector("force"));
  expect(nodes.data.force.flat(4).map(Math.fround)).toEqual(around.slice(3, 6));
  expect(nodes.data["d(force.x, y)"]).toBeCloseTo((8 * (Number(around[6]) - Number(around[0]))) / Math.PI, 2);
});

describe("values equal the SOAP operations to the bit", () => {
  const by = (spatialInterpolation: string) => ({ spatialInterpolation });
  const nearest = { ...by("None"), temporalInterpolation: "None" };
  it.each([
    ["force", "GetForce", by("None"), {}, vector("force")],
    ["u", "GetVelocity", by("Lag6"), { method: "Lag6" }, vector("u")],
    ["u", "GetVelocity", by("M2Q8"), { method: "m2q8" }, vector("u")],
    ["u", "GetVelocity", nearest, { method: "nearest", time_method: "nearest" }, vector("u")],
    ["u, p", "GetVelocityAndPressure", by("Lag8"), {}, [...vector("u"), "p"]],
    ["A", "GetVelocityGradient", by("Fd4Lag4"), {}, tensor("A")],
    ["A", "GetVelocityGradient", by("None_Fd6"), { derivatives: "Fd6" }, tensor("A")],
    ["A", "GetVelocityGradient", by("M2Q8"), { method: "M2Q8" }, tensor("A")],
    ["grad(p)", "GetPressureGradient", by("Fd4Lag4"), {}, vector("grad(p)")],
    ["hess(p)", "GetPressureHessian", by("Fd4Lag4"), {}, upper("hess(p)")],
    ["lap(u)", "GetVelocityLaplacian", by("Fd4Lag4"), {}, vector("lap(u)")],
    ["hess(u)", "GetVelocityHessian", by("Fd4Lag4"), {}, [0, 1, 2].flatMap((i) => upper(`hess(u)[${i}]`))],
  ])("%s is that of %s", async (what, operation, options, how, names) => {
    expect(numbers(await values({ what, ...how }), ...names)).toEqual(await overSoap(operation, options));
  });

  it("box filters are layer 0 of the operations", async () => {
    const answer = await values({ what: "filter(u), filter(p), filter(A), tau", filter: "box:0.6" });
    const box = { filterlength: 0.6, nlayers: 1 };
    expect(numbers(answer, "filter(u).x", "filter(u).y", "filter(u).z")).toEqual(
      await overSoap("GetBoxFilterVelocity", box),
    );
    expect(numbers(answer, "filter(p)")).toEqual(await overSoap("GetBoxFilterPressure", box));
    expect(numbers(answer, ...tensor("filter(A)"))).toEqual(await overSoap("GetBoxFilterVelocityGradient", box));
    const stress = ["tau[0][0]", "tau[1][1]", "tau[2][2]", "tau[0][1]", "tau[0][2]", "tau[1][2]"];
    expect(numbers(answer, ...stress)).toEqual(await overSoap("GetBoxFilterSGSStress", box));
  });

  it.each([
    ["values", { points: POINTS, what: "filter(u)" }],
    ["nodes", { i: "0:2", j: "0:2", k: "0:2", what: "filter(u)" }],
    ["grid", { z: 1, samples: 2, what: "filter(u)" }],
    ["find", { where: "filter(u.x) > 0", limit: 1, filter: '{"kind":"tophat","width":0.7}' }],
    ["statistics", { what: "filter(u)" }],
  ])("%s states the widths of a filter as it acts", async (call, members) => {
    const question = { dataset: "isotropic32", call, filter: "tophat:0.7", frame: 1, ...members };
    const { filter } = await jsonOf(await ask(service, question));
    // 0.7 is 3.57 times the spacing; the nearest odd number of nodes is 3.
    const width = (3 * 2 * Math.PI) / 32;
    expect(filter).toMatchObject({ kind: "tophat", width: 0.7 });
    for (const found of filter.widths) expect(found).toBeCloseTo(width, 12);
    expect(filter.widths).toHaveLength(3);
  });

  it.each([
    ["grid", { what: "u", z: 1, j: "0:8", time: 0.4 }],
    ["flow_map", { z: 1, j: "0:8", time: "0:0.2" }],
  ])("%s, whose points lie between nodes, takes no strides", async (call, members) => {
    const question = { dataset: "isotropic32", call, i: "0:8:4", ...members };
    const answer = await ask(service, question);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain("i: points lie between nodes, so the stride is 1");
  });

  it.each(["npy", "f32"])("HEAD has the length and the ETag of the answer as %s", async (format) => {
    const question = { what: "p", points: { random: 50_000, seed: 1 }, time: 0.4, format };
    const query = new URLSearchParams({ ...question, points: JSON.stringify(question.points), time: "0.4" });
    const address = `${service.url}/api/datasets/isotropic32/values?${query}`;
    const head = await fetch(address, { method: "HEAD" });
    const whole = await fetch(address);
    const { byteLength } = await whole.arrayBuffer();
    expect(head.headers.get("etag")).toBe(whole.headers.get("etag"));
    expect(Number(head.headers.get("content-length"))).toBe(byteLength);
  });

  it.each(["h5", "nc"])(
    "gives the bytes of a file as %s that a Range asks for, and 416 beyond its end",
    async (format) => {
      const address = `${service.url}/api/datasets/isotropic32/nodes?what=p&frame=0&i=0:4&j=0:4&k=0:4&format=${format}`;
      const whole = await fetch(address);
      const bytes = Buffer.from(await whole.arrayBuffer());
      const tag = whole.headers.get("etag") as string;
      for (const [range, from, to] of [
        ["bytes=8-99", 8, 100],
        ["bytes=-7", bytes.length - 7, bytes.length],
      ] as const) {
        const part = await fetch(address, { headers: { range, "if-range": tag } });
        expect([part.status, part.headers.get("content-range")]).toEqual([
          206,
          `bytes ${from}-${to - 1}/${bytes.length}`,
        ]);
        expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(from, to));
      }
      const other = await fetch(address, { headers: { range: "bytes=8-99", "if-range": '"other"' } });
      expect([other.status, (await other.arrayBuffer()).byteLength]).toEqual([200, bytes.length]);
      const beyond = await fetch(address, { headers: { range: `bytes=${bytes.length}-` } });
      expect([beyond.status, beyond.headers.get("content-range")]).toEqual([416, `bytes */${bytes.length}`]);
    },
  );

  it("gives files as nc whose variables are by t, z, y, x and component, which are dimension scales", async () => {
    const members = { call: "nodes", what: "u, p", frame: [0, 1], i: "0:5", j: "0:4", k: "0:3", format: "nc" };
    const path = join(SCRATCH, "scales.nc");
    writeFileSync(path, Buffer.from(await (await ask(service, { dataset: "isotropic32", ...members })).arrayBuffer()));
    const file = new File(path, "r");
    const of = (name: string) => file.get(name) as Dataset;
    expect([of("u").shape, of("p").shape]).toEqual([
      [2, 3, 4, 5, 3],
      [2, 3, 4, 5],
    ]);
    for (const [dim, name] of ["t", "z", "y", "x"].entries()) {
      expect([of("u"), of("p")].map((one) => one.get_attached_scales(dim))).toEqual([[`/${name}`], [`/${name}`]]);
    }
    file.close();
  });

  it("gives the same bits for a time of each point as one question at each time", async () => {
    const times = [0.41, 0.77, 0.5];
    const rows4 = POINTS.map((point, i) => [...point, times[i]]);
    const each = await values({ what: "u, Q", points: rows4, time: "each" });
    const apart = await Promise.all(times.map((time) => values({ what: "u, Q", time })));
    const own = apart.map((answer, i) => [...answer.rows[i].slice(0, 3), times[i], ...answer.rows[i].slice(3)]);
    expect(each.rows).toEqual(own);
  });

  it("gives a series with points fastest", async () => {
    const series = await values({ what: "p", time: "0.4:0.6:0.1" });
    expect(series.columns.map((column: { name: string }) => column.name)).toEqual(["x", "y", "z", "t", "p"]);
    expect(series.rows.map((row: number[]) => row[3])).toEqual([0.4, 0.4, 0.4, 0.5, 0.5, 0.5, 0.6, 0.6, 0.6]);
    const middle = await values({ what: "p", time: 0.5 });
    expect(series.rows.slice(3, 6).map((row: number[]) => row[4])).toEqual(middle.rows.map((row: number[]) => row[3]));
  });
});

describe("expressions", () => {
  it("are computed of the float32 numbers of the operations, in float64, and rounded once", async () => {
    const answer = await values({
      what: ["u", "p", "A", "speed2 = dot(u, u)", "speed2 * p", "norm(omega)", "Q", "x + 2*y"],
    });
    for (const row of answer.rows as number[][]) {
      const of = (name: string) =>
        row[answer.columns.findIndex((column: { name: string }) => column.name === name)] as number;
      const u = vector("u").map((one) => Math.fround(of(one)));
      const square =
        (u[0] as number) * (u[0] as number) + (u[1] as number) * (u[1] as number) + (u[2] as number) * (u[2] as number);
      expect(Math.fround(of("speed2"))).toBe(Math.fround(square));
      expect(of("speed2 * p")).toBeCloseTo(square * of("p"), 6);
      const a = (i: number, j: number) => of(`A[${i}][${j}]`);
      expect(of("norm(omega)")).toBeCloseTo(Math.hypot(a(2, 1) - a(1, 2), a(0, 2) - a(2, 0), a(1, 0) - a(0, 1)), 5);
      let trace = 0;
      for (let i = 0; i < 3; i++) for (let j = 0; j < 3; j++) trace += a(i, j) * a(j, i);
      expect(of("Q")).toBeCloseTo(-trace / 2, 5);
      expect(of("x + 2*y")).toBeCloseTo((row[0] as number) + 2 * (row[1] as number), 5);
    }
  });

  it.each([
    { what: "w", nearest: /omega.*u\.z/ },
    { what: "gradp", nearest: /grad\(p\)/ },
    { what: "ux", nearest: /u\.x/ },
    { what: "presure", nearest: /pressure/ },
    { what: "norm(omga)", nearest: /omega/ },
    { what: "omega_y", nearest: /^omega\.y$/ },
    { what: "duydz", nearest: /^A\[1\]\[2\]$/ },
    { what: "vel", nearest: /^velocity$/ },
  ])("offers the nearest name for $what", async ({ what, nearest }) => {
    const response = await get(service, "isotropic32", "values", { what, points: "1,2,3", time: "0.5" });
    expect(response.status).toBe(400);
    const { errors } = (await response.json()) as AnyAnswer;
    expect(errors[0].member).toBe("what");
    expect(errors[0].nearest).toMatch(nearest);
  });
});

describe("bodies of points", () => {
  const post = (type: string, body: BodyInit, query: object) =>
    fetch(
      `${service.url}/api/datasets/isotropic32/values?${new URLSearchParams({ what: "u", ...query } as Record<string, string>)}`,
      { method: "POST", headers: { "content-type": type }, body },
    );
  const floats = Float32Array.from(POINTS.flat());

  it("may be CSV, npy or octets", async () => {
    const expected = (await values({ what: "u" })).rows;
    const csv = await jsonOf(
      await post("text/csv", `z,y,x\n${POINTS.map(([x, y, z]) => `${z},${y},${x}`).join("\n")}\n`, { time: "0.5" }),
    );
    const octets = await jsonOf(await post("application/octet-stream", floats, { time: "0.5" }));
    const head = `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 3), }`.padEnd(117);
    const npy = Buffer.concat([
      Buffer.from("\x93NUMPY\x01\x00", "latin1"),
      Buffer.from([118, 0]),
      Buffer.from(`${head}\n`),
      Buffer.from(floats.buffer),
    ]);
    const numpy = await jsonOf(await post("application/x-npy", npy, { time: "0.5" }));
    expect(csv.rows).toEqual(expected);
    expect(octets.rows).toEqual(expected);
    expect(numpy.rows).toEqual(expected);
  });

  it("have four numbers with a time for each", async () => {
    const timed = Float32Array.from(POINTS.flatMap((point) => [...point, 0.5]));
    const answer = await jsonOf(await post("application/octet-stream", timed, { time: "each" }));
    expect(answer.rows.map((row: number[]) => row.slice(4))).toEqual(
      (await values({ what: "u" })).rows.map((row: number[]) => row.slice(3)),
    );
  });

  it.each([
    ["x,y,z,x\n1,2,3,4\n", /does not name one column each x, y and z/],
    ["x,y,z\n1,2,3\n1,2,three\n", /^points: line 3: three numbers expected/],
    ["x,y,z\n0x1,2,3\n", /line 2: three numbers expected, found "0x1,2,3"/],
    ["x,y,z\n1,2,Infinity\n", /line 2: three numbers expected, found "1,2,Infinity"/],
  ])("are refused as CSV %j", async (text, detail) => {
    expect(await faultOf(await post("text/csv", text, { time: "0.5" }))).toMatch(detail);
  });

  it.each([
    ["1,2,3,4", {}, "a row has x, y, z; a fourth number needs time=each"],
    ["1,0,2,0,3,0", {}, "initial velocities vx, vy, vz are of particles with drag"],
    ["1,2,3,4,5", {}, "a row has x, y, z; a fourth number needs time=each"],
    ["1,2,3,4,5,6,7", {}, "a row has x, y, z; a fourth number needs time=each"],
    ["1,2,3", { time: "each" }, "with a time for each, a row has x, y, z, t"],
    ["1,2,3,0.4,5", { time: "each" }, "with a time for each, a row has x, y, z, t"],
    ["1,2,3,0.4,5,6,7", { time: "each" }, "initial velocities vx, vy, vz are of particles with drag"],
  ])("are refused if numbers of %s would not be used", async (points, more, detail) => {
    const query = new URLSearchParams({ what: "u", points, time: "0.5", ...more });
    const response = await fetch(`${service.url}/api/datasets/isotropic32/values?${query}`);
    expect([response.status, await faultOf(response)]).toEqual([400, `points: ${detail}.`]);
  });
});

it("nodes in the layout of JHTDB keep coordinates below the first one, names and numbers of frames", async () => {
  const box = { frame: [1, 4, 2], i: "-3:5", j: "30:35", k: "0:2" };
  const question = { dataset: "isotropic32", call: "nodes", what: "u, q = p", ...box };
  const { coords, data } = await jsonOf(await ask(service, question));
  const answer = await ask(service, { ...question, format: "h5" });
  const path = join(SCRATCH, "below.h5");
  writeFileSync(path, Buffer.from(await answer.arrayBuffer()));
  const file = new File(path, "r");
  const read = (name: string) => [...(file.get(name) as unknown as { value: Float64Array }).value];
  for (const axis of ["x", "y", "z"]) expect(read(`${axis}coor`), axis).toEqual(coords[axis]);
  for (const [t, frame] of [2, 5, 3].entries())
    for (const [name, column] of Object.entries({ Velocity: "u", q: "q" }))
      expect(read(`${name}_000${frame}`), name).toEqual(data[column][t].flat(3).map(Math.fround));
  expect([file.attrs.x_start?.value, file.attrs.x_end?.value]).toEqual([-2, 5]);
  file.close();
});

describe("bodies", () => {
  const url = `${service.url}/api/datasets/isotropic32/values?what=u&time=0.5`;
  const post = (type: string, body: Buffer) =>
    fetch(url, { method: "POST", headers: { "content-type": type }, body: new Uint8Array(body) });
  const text = '"x","y","z"\r\n"1","2","3"\r\n';

  it.each([
    ["quoted CSV", "text/csv", Buffer.from(text)],
    ["CSV in UTF-16", "text/csv; charset=utf-16", Buffer.from(`\uFEFF${text}`, "utf16le")],
    ["CSV in UTF-16, the high byte first", "text/csv", Buffer.from(`\uFEFF${text}`, "utf16le").swap16()],
  ])("of %s are read", async (_, type, body) => {
    expect((await jsonOf(await post(type, body))).rows).toEqual((await values({ points: "1,2,3" })).rows);
  });

  it.each([
    ["application/octet-stream", Buffer.from("")],
    ["text/csv", Buffer.from("")],
    ["text/csv", Buffer.from("x,y,z\n")],
    ["application/json", Buffer.from('{"points": []}')],
    [
      "application/x-npy",
      Buffer.from(
        `\x93NUMPY\x01\0\x76\0${"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }".padEnd(117)}\n`,
        "latin1",
      ),
    ],
  ])("of %s without a point are refused", async (type, body) => {
    const answer = await post(type, body);
    expect([answer.status, await faultOf(answer)]).toEqual([400, "points: at least one point is needed."]);
  });

  it("are no part of GET", async () => {
    const call = request(`${url}&points=1,2,3`, { headers: { "content-length": 12 } });
    call.end('{"time":0.9}');
    const [answer] = (await once(call, "response")) as [IncomingMessage];
    expect([answer.statusCode, String(await buffer(answer))]).toEqual([400, expect.stringContaining("in the address")]);
  });
});

it("answer GET with If-Match only if it names the answer", async () => {
  const url = `${service.url}/api/datasets/isotropic32/values?what=u&time=0.5&points=1,2,3`;
  const tag = (await fetch(url)).headers.get("etag") as string;
  const statusOf = async (match: string) => (await fetch(url, { headers: { "if-match": match } })).status;
  expect(await Promise.all([tag, `"a", ${tag}`, "*", '"a"', `W/${tag}`].map(statusOf))).toEqual([
    200, 200, 200, 412, 412,
  ]);
});

it.each([
  ["0.20000000298023224:0.6000000238418579", 3],
  ["0.6:0.2000001", 3],
  ["0:1.3999999", 8],
  ["0.20000000298023224:1:0.20000000298023224", 5],
  ["0:2.2:0.20000001", 12],
  ["0.21:0.6", 2],
  ["0:0.99:0.1", 10],
])("the range of times %s has the ends that single times mean", async (time, count) => {
  const question = { dataset: "isotropic32", call: "values", points: "1,2,3", what: "p", time };
  expect((await jsonOf(await ask(service, question))).rows.length).toBe(count);
});

describe("faults", () => {
  const named = (call: string, name: string, format: string, what: string, more: Record<string, string>) =>
    [
      400,
      call,
      { what: `${name} = ${what}`, points: "1,2,3", format, ...more },
      `two columns are named ${name}`,
    ] as const;
  const far = "points\\[1\\]: x is 60000000, so far that float32 does not tell nodes apart.";
  it.each<readonly [number, string, Record<string, string>, RegExp | string]>([
    [422, "values", { points: "1,2,3;6e7,2,3", time: "0.4" }, far],
    [422, "paths", { points: "1,2,3;-6e7,2,3", time: "0.4:0.5" }, far.replace("6", "-6")],
    [422, "grid", { z: "1e17", time: "0.4" }, /^z: it is not in "isotropic32"/],
    [422, "values", { points: '{"random": 2}', x: "1e17:1.1e17", time: "0.4" }, /^x: it is not in "isotropic32"/],
    [400, "values", { points: "1,2,3,0.4", time: "each", frame: "1" }, "frame: give time or frame, not both."],
    ...["time", "obs", "trajectory"].map((name) => named("paths", name, "nc", "u.x", { time: "0.4:0.5" })),
    named("values", "row", "h5", "p", { time: "0.4" }),
    named("values", "row", "zarr", "p", { time: "0.4" }),
    named("values", "fieldprobe_question", "npz", "p", { time: "0.4" }),
    [400, "grid", { what: "u, component3 = p", z: "1", time: "0.4", format: "nc" }, "two columns are named component3"],
  ])("are %i of %s for %j", async (status, call, members, detail) => {
    const response = await get(service, "isotropic32", call, members);
    expect([response.status, await faultOf(response)]).toEqual([status, expect.stringMatching(detail)]);
  });

  it.each([
    ['"__proto__": 1, "constructor": 2', /^__proto__: there is no such member; values takes what, points/],
    ['"level": 1e400', /^level: Infinity is not a number\.$/],
  ])("name the member of {%s}", async (members, detail) => {
    const body = `{"dataset":"isotropic32","call":"values","points":"1,2,3","time":0.4,${members}}`;
    const answer = await fetch(`${service.url}/api/ask`, {
      ...{ method: "POST", headers: { "content-type": "application/json" }, body },
    });
    expect(await faultOf(answer)).toMatch(detail);
  });

  it("are all told at once, in the order of the table", async () => {
    const asked = { metod: "Lag6", points: "1,2", time: "half", format: "svg", method: "Lag5" };
    const response = await get(service, "isotropic32", "values", asked);
    expect(response.status).toBe(400);
    const { errors, member } = (await response.json()) as AnyAnswer;
    const members = errors.map((one: { member: string }) => one.member);
    expect(members).toEqual(["metod", "points[0]", "time", "method", "format"]);
    expect(errors[0].nearest).toBe("method");
    expect(member).toBe("metod");
  });

  it("list the stored times where a time is missing", async () => {
    const response = await get(service, "isotropic32", "values", { points: "1,2,3" });
    expect(response.status).toBe(400);
    expect(((await response.json()) as AnyAnswer).detail).toMatch(/0\.4/);
  });

  it.each(['"time":0.4,"time":0.8,"points":"1,2,3"', '"time":0.4,"points":{"random":2,"seed":1,"seed":2}'])(
    "refuse the body {%s}, which gives a member twice",
    async (members) => {
      const body = `{"dataset":"isotropic32","call":"values",${members}}`;
      const call = { method: "POST", headers: { "content-type": "application/json" }, body };
      for (const address of ["/api/ask", "/api/datasets/isotropic32/values"]) {
        expect(await faultOf(await fetch(`${service.url}${address}`, call)), address).toMatch(/twice/);
      }
      const points = '{"random":2,"seed":1,"seed":2}';
      const asked = await get(service, "isotropic32", "values", { points, time: "0.4" });
      expect(await faultOf(asked)).toMatch(/points: .*twice/);
    },
  );

  it("refuse a body that is nested too deeply in one line", async () => {
    const call = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "[".repeat(1e5) + "]".repeat(1e5),
    };
    const answer = await fetch(`${service.url}/api/ask`, call);
    expect([answer.status, await faultOf(answer)]).toEqual([400, "The body is nested too deeply."]);
  });

  it.each(["ask", "datasets/isotropic32/values"])(
    "refuse more than 16 MiB of JSON with what to send instead: %s",
    async (path) => {
      const call = { method: "POST", headers: { "content-type": "application/json" }, body: " ".repeat(2 ** 24 + 1) };
      const answer = await fetch(`${service.url}/api/${path}`, call);
      const text = "The body is too large: JSON has at most 16 MiB; send more points as";
      expect([answer.status, await faultOf(answer)]).toEqual([
        413,
        `${text} text/csv, application/x-npy or application/octet-stream.`,
      ]);
    },
  );

  it("refuse a member in both places, an unused filter and an unknown form", async () => {
    const both = await fetch(`${service.url}/api/datasets/isotropic32/values?time=0.5`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ time: 0.5, points: POINTS }),
    });
    expect(both.status).toBe(400);
    const unused = { what: "u", points: "1,2,3", time: "0.5", filter: "gaussian:0.8" };
    const filter = await get(service, "isotropic32", "values", unused);
    expect(((await filter.json()) as AnyAnswer).errors[0].member).toBe("filter");
    const form = await get(service, "isotropic32", "values", { points: "1,2,3", time: "0.5" }, "image/png");
    expect(form.status).toBe(406);
  });
});

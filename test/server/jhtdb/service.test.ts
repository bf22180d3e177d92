/**
 * The REST interface of the public service over real sockets: requests as its clients send them, answers as they read
 * them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RunningService } from "../../../src/main.js";
import { writeCube } from "../../../tools/generate/cube.js";
import { operationValues, soapRecords } from "../../support/operation-questions.js";
import { generator } from "../../support/run-query.js";
import { scratchFolder } from "../../support/scratch.js";
import { serveTestData, useTestData } from "../../support/service.js";

const service = await useTestData();

const POINTS = [
  [1, 2, 3],
  [0.1, 4.12345679, 5],
  [-0.5, 7, 6.2],
];

/** A time that is the same in float32, which SOAP has, and in float64. */
const TIME = 0.375;

const pythonQuery = (change: Record<string, string | number>): string =>
  Object.entries({
    authToken: "TOKEN",
    dataset: "isotropic32",
    function: "GetVariable",
    var: "velocity",
    t: 0.364,
    sint: "lag8",
    sop: "field",
    tint: "none",
    timepoint_end: -999.9,
    delta_t: -999.9,
    ...change,
  })
    .map(([name, value]) => `${name}=${value}`)
    .join("&");

const body = (points: readonly (readonly number[])[]): Buffer =>
  Buffer.from(points.map((point) => point.map((value) => value.toFixed(8)).join("\t")).join("\n"));

/** Sends a request without a Content-Type, as the Python client does. */
async function values(change: Record<string, string | number>, prefix = "", points = POINTS, root = service.url) {
  const answer = await fetch(`${root}${prefix}/values?${pythonQuery(change)}`, {
    method: "POST",
    body: new Uint8Array(body(points)),
  });
  return { status: answer.status, type: answer.headers.get("content-type"), json: await answer.json() };
}

/** The shortest decimal that is rounded to a float32, as JSON has it. */
function decimalOf(value: number): number {
  const digits = [1, 2, 3, 4, 5, 6, 7, 8, 9].find((many) => Math.fround(Number(value.toPrecision(many))) === value);
  return Number(value.toPrecision(digits));
}

/** The same question asked over SOAP, with numbers as JSON has them. */
async function plain(operation: string, members: Record<string, unknown>, points = POINTS): Promise<number[][]> {
  const rounded = points.map((point) => point.map((value) => Number(value.toFixed(8))));
  const rows = await soapRecords(service.url, "isotropic32", operation, { ...members, points: rounded });
  return rows.map((row) => row.map(decimalOf));
}

describe("POST values", () => {
  it.each(["/turbulence-svc", "/turbulence-svc-test", "/turbsvc-testing", ""])(
    "answers under %j with a row a point and a JSON type",
    async (prefix) => {
      const { status, type, json } = await values({}, prefix);
      expect([status, type]).toEqual([200, "application/json; charset=utf-8"]);
      const spatial = { time: 0.364, spatialInterpolation: "Lag8", temporalInterpolation: "None" };
      expect(json).toEqual(await plain("GetVelocity", spatial));
    },
  );

  it.each([
    ["velocity", "gradient", "fd4noint", "GetVelocityGradient", "None_Fd4", 9],
    ["velocity", "hessian", "fd4lag4", "GetVelocityHessian", "Fd4Lag4", 18],
    ["velocity", "laplacian", "fd8noint", "GetVelocityLaplacian", "None_Fd8", 3],
    ["pressure", "gradient", "fd6noint", "GetPressureGradient", "None_Fd6", 3],
    ["pressure", "hessian", "fd4lag4", "GetPressureHessian", "Fd4Lag4", 6],
    ["force", "field", "lag4", "GetForce", "Lag4", 3],
    ["pressure", "field", "lag6", "GetPressure", "Lag6", 1],
    ["velocity", "field", "m2q8", "GetVelocity", "M2Q8", 3],
    ["velocity", "gradient", "m1q4", "GetVelocityGradient", "M1Q4", 9],
    ["velocity", "hessian", "m2q14", "GetVelocityHessian", "M2Q14", 18],
  ] as const)("computes the %s %s by %s", async (variable, sop, sint, operation, option, columns) => {
    const { status, json } = await values({ var: variable, sop, sint, tint: "pchip", t: TIME });
    expect(status).toBe(200);
    expect(json[0]).toHaveLength(columns);
    const members = { time: TIME, spatialInterpolation: option, temporalInterpolation: "PCHIP" };
    expect(json).toEqual(await plain(operation, members));
  });

  it.each(["none", "pchip"])("answers where particles end, one row a point, with tint %s", async (tint) => {
    const track = { var: "position", t: 0.2, sint: "lag6", tint, timepoint_end: 0.4, delta_t: 0.02 };
    const { status, json } = await values(track);
    expect(status).toBe(200);
    const members = { StartTime: 0.2, EndTime: 0.4, dt: 0.02, spatialInterpolation: "Lag6" };
    expect(json).toEqual(await plain("GetPositionByEnd", members));
  });

  it("answers a series with all points of the first time, then of the next", async () => {
    const { json } = await values({ t: 0.125, tint: "pchip", timepoint_end: 0.625, delta_t: 0.125 });
    expect(json).toHaveLength(5 * POINTS.length);
    for (let k = 0; k < 5; k++) {
      const members = { time: 0.125 + k * 0.125, spatialInterpolation: "Lag8", temporalInterpolation: "PCHIP" };
      expect(json.slice(k * POINTS.length, (k + 1) * POINTS.length)).toEqual(await plain("GetVelocity", members));
    }
  });

  it("sends large answers as they are computed, with the same numbers, for one time and for a series", {
    timeout: 60_000,
  }, async () => {
    const count = 240_000;
    const random = generator(3);
    const points = Float32Array.from({ length: 3 * count }, () => 6 * random());
    const lines = Array.from({ length: count }, (_, i) => Array.from(points.subarray(3 * i, 3 * i + 3)).join("\t"));
    const raw = async (what: string, times: readonly number[]): Promise<Float32Array> => {
      const query = new URLSearchParams({ what, derivatives: "Fd4", time_method: "nearest", time: times.join(",") });
      const answer = await fetch(`${service.url}/api/datasets/isotropic32/values?${query}`, {
        method: "POST",
        headers: { "content-type": "application/octet-stream", accept: "application/octet-stream" },
        body: new Uint8Array(points.buffer),
      });
      return new Float32Array(await answer.arrayBuffer());
    };
    const upper = (all: Float32Array) => all.filter((_, i) => [0, 1, 2, 4, 5, 8].includes(i % 9));
    const asked = async (change: Record<string, string | number>): Promise<Float32Array> => {
      const query = pythonQuery({ sint: "fd4noint", ...change });
      const answer = await fetch(`${service.url}/values?${query}`, { method: "POST", body: lines.join("\n") });
      expect([answer.status, answer.headers.has("content-length")]).toEqual([200, false]);
      return Float32Array.from(((await answer.json()) as number[][]).flat());
    };
    const bytes = (values: Float32Array): Buffer => Buffer.from(values.buffer);
    const hessian = await asked({ sop: "hessian", t: 0.4 });
    expect(bytes(hessian).equals(bytes(upper(await raw("hess(u)", [0.4]))))).toBe(true);
    const series = await asked({ sop: "gradient", t: 0.4, timepoint_end: 0.5, delta_t: 0.1 });
    expect(bytes(series).equals(bytes(await raw("A", [0.4, 0.5])))).toBe(true);
    const late = pythonQuery({ sint: "fd4noint", sop: "gradient", t: 0.4, timepoint_end: 3.2, delta_t: 0.4 });
    const refused = await fetch(`${service.url}/values?${late}`, { method: "POST", body: lines.join("\n") });
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining("Time 2.4 out of range")]);
  });

  it.each(["", "text", ";;", 'application/json; charset="', "\u00e9"])("takes any media type: %j", async (type) => {
    const query = pythonQuery({});
    const headers = { "content-type": type };
    const answer = await fetch(`${service.url}/values?${query}`, {
      method: "POST",
      headers,
      body: new Uint8Array(body(POINTS)),
    });
    expect(await answer.json()).toEqual((await values({})).json);
  });

  it("takes the C client's form: a wrong media type, a line feed at the end, no options", async () => {
    const query =
      "authToken=T&dataset=isotropic32&function=GetVariable&var=velocity&t=0.364000&sint=lag8&sop=field&tint=none";
    const answer = await fetch(`${service.url}/turbulence-svc/values?${query}`, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body: new Uint8Array(Buffer.concat([body(POINTS), Buffer.from("\n")])),
    });
    expect(await answer.json()).toEqual((await values({})).json);
  });

  it.each([
    [{ dataset: "nowhere" }, 404, "Invalid set name: nowhere"],
    [{ var: "energy" }, 400, "var must be one of"],
    [{ sint: "lag5" }, 400, "sint must be one of"],
    [{ t: 99 }, 422, "out of range"],
  ])("tells %j as a title and a list of lines", async (change, status, text) => {
    const answer = await values(change as Record<string, string>);
    expect(answer.status).toBe(status);
    expect(answer.type).toBe("application/json; charset=utf-8");
    expect(answer.json).toEqual({ title: "Error", description: [expect.stringContaining(text)] });
  });

  it("names the line of a point that is wrong", async () => {
    const answer = await fetch(`${service.url}/values?${pythonQuery({})}`, { method: "POST", body: "1\t2\t3\n1\t2" });
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { title: "Error", description: ["Line 2 of the points has 2 numbers; a point has three, separated by tabs."] },
    ]);
  });

  it.each(["turbine", "blade"])("says of %s that there are no wind farms", async (path) => {
    const answer = await fetch(`${service.url}/turbulence-svc/${path}?include_metadata=0`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    const { title, description } = (await answer.json()) as { title: string; description: string[] };
    expect([answer.status, title]).toEqual([404, "Error"]);
    expect(description[0]).toContain("no wind farms");
  });
});

it("has nothing at the address of cutouts of pyJHTDB until 2019, as docs/differences.md says", async () => {
  const box = "u/0,1/0,4/0,4/0,4/hdf5/";
  expect((await fetch(`${service.url}/jhtdb/getcutout/token/isotropic32/${box}`)).status).toBe(404);
});

describe("GET cutout/api/local", () => {
  interface Cutout {
    readonly coords: Record<string, { dims: string[]; data: number[] }>;
    readonly data_vars: Record<string, { dims: string[]; data: number[][][][] }>;
  }

  const ask = async (query: string): Promise<{ status: number; json: Cutout }> => {
    const answer = await fetch(`${service.url}/turbulence-svc/cutout/api/local?${query}`);
    return { status: answer.status, json: (await answer.json()) as Cutout };
  };

  it("holds the stored numbers in z, y, x order, over the seam and with strides", async () => {
    const { status, json } = await ask(
      "token=T&function=velocity&dataset=isotropic32&xs=30&xe=35&ys=1&ye=3&zs=2&ze=3&ts=2&te=4" +
        "&stridet=2&stridex=2&stridey=1&stridez=1&filter_width=1",
    );
    expect(status).toBe(200);
    expect(Object.keys(json.data_vars)).toEqual(["velocity_0002", "velocity_0004"]);
    const { dims, data } = json.data_vars.velocity_0002 as { dims: string[]; data: number[][][][] };
    expect(dims).toEqual(["zcoor", "ycoor", "xcoor", "values"]);
    expect([data.length, data[0]?.length, data[0]?.[0]?.length, data[0]?.[0]?.[0]?.length]).toEqual([2, 3, 3, 3]);
    const spacing = (2 * Math.PI) / 32;
    // np.around(np.arange(29, 34, 2, dtype=np.float32) * spacing, 7)
    expect(json.coords.xcoor?.data).toEqual([5.6941366, 6.086836, 6.479535].map(Math.fround));
    expect(json.coords.zcoor?.dims).toEqual(["zcoor"]);
    const stored = (await (await fetch(`${service.url}/api/datasets/isotropic32`)).json()) as {
      times: { stored: number[] };
    };
    const nodes = [1, 2].flatMap((z) =>
      [0, 1, 2].flatMap((y) => [29, 31, 1].map((x) => [x * spacing, y * spacing, z * spacing])),
    );
    const rows = await plain(
      "GetVelocity",
      { time: stored.times.stored[1], spatialInterpolation: "None", temporalInterpolation: "None" },
      nodes,
    );
    expect(data.flat(2)).toEqual(rows);
  });

  it("takes boxes of periodic axes from anywhere, with coordinates that continue", async () => {
    const box = (xs: number, xe: number) =>
      ask(`function=pressure&dataset=isotropic32&xs=${xs}&xe=${xe}&ys=2&ye=3&zs=4&ze=4&ts=1&te=1`);
    const { json: inside } = await box(31, 40);
    for (const shift of [-96, -32, 64, 3200]) {
      const { json } = await box(31 + shift, 40 + shift);
      expect(json.data_vars).toEqual(inside.data_vars);
      const first = (json.coords.xcoor?.data[0] as number) - (inside.coords.xcoor?.data[0] as number);
      expect(first).toBeCloseTo((shift / 32) * 2 * Math.PI, 4);
    }
  });

  it("evaluates a force in closed form at the nodes, as GetForce does", async () => {
    const { json } = await ask("function=force&dataset=isotropic32&xs=31&xe=34&ys=4&ye=4&zs=1&ze=2&ts=3&te=3");
    const spacing = (2 * Math.PI) / 32;
    const nodes = [0, 1].flatMap((z) => [30, 31, 32, 33].map((x) => [x * spacing, 3 * spacing, z * spacing]));
    const { times } = (await (await fetch(`${service.url}/api/datasets/isotropic32`)).json()) as {
      times: { stored: number[] };
    };
    const options = { spatialInterpolation: "None", temporalInterpolation: "None" };
    const rows = await plain("GetForce", { time: times.stored[2], ...options }, nodes);
    expect(json.data_vars.force_0003?.data.flat(2)).toEqual(rows);
  });

  it("is bounded by its own limit, which it may meet exactly, not by that of points", async () => {
    const bounded = await serveTestData([], { QUERY_POINTS: "100", CUTOUT_VALUES: "28672" });
    const box = "dataset=isotropic32&xs=1&xe=32&ys=1&ye=32&zs=1&ts=1&te=2&function=";
    const get = (query: string) => fetch(`${bounded.url}/cutout/api/local?${box}${query}`);
    try {
      const answer = (await (await get("pressure&ze=14")).json()) as Cutout;
      expect(Object.values(answer.data_vars).map(({ data }) => data.flat(3).length)).toEqual([14_336, 14_336]);
      const refused = await get("velocity&ze=14");
      expect([refused.status, await refused.json()]).toEqual([
        413,
        { title: "Error", description: ["The cutout has 86016 numbers; at most 28672 are allowed."] },
      ]);
    } finally {
      await bounded.close();
    }
  });

  it.each([
    ["function=velocity&xs=1&xe=1&ys=1&ye=1&zs=1&ze=1&ts=0&te=1", 400, "ts must be a whole number of at least 1"],
    ["function=velocity&xs=1.5&xe=1&ys=1&ye=1&zs=1&ze=1&ts=1&te=1", 400, "xs must be a whole number, not"],
    ["function=velocity&xs=1&xe=65&ys=1&ye=1&zs=1&ze=1&ts=1&te=1", 422, "xe is 65; with xs = 1, the last is 64."],
    ["function=velocity&xs=-31&xe=33&ys=1&ye=1&zs=1&ze=1&ts=1&te=1", 422, "xe is 33; with xs = -31, the last is 32."],
    ["function=velocity&xs=1&xe=1&ys=1&ye=1&zs=1&ze=1&ts=1&te=99", 422, "te is 99"],
    ["function=position&xs=1&xe=1&ys=1&ye=1&zs=1&ze=1&ts=1&te=1", 400, "function must be one of"],
    ["function=velocity&xs=1&xe=1&ys=1&ye=1&zs=1&ze=1&ts=1&te=1&filter_width=3", 422, "filter_width must be 1"],
    ["function=velocity&ys=1&ye=1&zs=1&ze=1&ts=1&te=1", 400, "xs is missing"],
  ])("refuses %j", async (query, status, text) => {
    const answer = await ask(`dataset=isotropic32&${query}`);
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({ title: "Error", description: [expect.stringContaining(text)] });
  });
});

it.each([
  ["var=position&delta_t=0", { var: "position", t: 0.2, sint: "lag6", timepoint_end: 0.4, delta_t: 0 }],
  ["var=velocity&delta_t=0", { t: 0.2, timepoint_end: 0.4, delta_t: 0 }],
  [
    "var=position, back by a negative step",
    { var: "position", t: 0.2, sint: "lag6", timepoint_end: 0.4, delta_t: -0.02 },
  ],
])("a step that leads nowhere is refused: %s", async (_, change) => {
  const { status, json } = await values(change);
  expect([status, JSON.stringify(json)]).toEqual([400, expect.stringMatching(/dt|delta_t/)]);
});

describe("a dataset whose descriptor says `times: frames`", () => {
  let counted: RunningService;
  beforeAll(async () => {
    const folder = scratchFolder();
    const options = { kind: "abc", nodes: [8, 8, 8], steps: 3, chunk: null, filter: "none", seed: 0 } as const;
    await writeCube({ ...options, name: "counted", folder }, () => undefined);
    const file = join(folder, "dataset.json");
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), times: "frames" }));
    counted = await serveTestData([folder]);
  });
  afterAll(() => counted.close());
  const ask = async (change: Record<string, string | number>) =>
    (await values({ dataset: "counted", sint: "lag4", ...change }, "", POINTS, counted.url)).json;

  it("takes numbers of frames, and tells who asks for a time", async () => {
    const asked = { time: 0.2, spatialInterpolation: "Lag4", temporalInterpolation: "None", points: POINTS };
    expect(await ask({ t: 3 })).toEqual(await operationValues(counted.url, "counted", "GetVelocity", asked));
    const told = JSON.stringify(await ask({ t: 0.2 }));
    expect(told).toContain("t is 0.2, but this dataset takes numbers of frames, 1 to 3, instead of times.");
  });

  it("says so in the metadata", async () => {
    const { datasets } = await (await fetch(`${counted.url}/jhtdb_config.json`)).json();
    const limits = datasets.find((row: { code: string }) => row.code === "counted").simulation.tlims;
    expect(limits).toMatchObject({ lower: "1", upper: "3", n: 3, isDiscrete: true });
  });
});

describe("velocities on nodes of their own", () => {
  let staggered: RunningService;
  beforeAll(async () => {
    const folder = scratchFolder();
    const options = { kind: "abc", nodes: [8, 8, 8], steps: 3, chunk: null, filter: "none", seed: 0 } as const;
    await writeCube({ ...options, name: "lowered", folder }, () => undefined);
    const file = join(folder, "dataset.json");
    const { fields, ...rest } = JSON.parse(readFileSync(file, "utf8"));
    const { velocity } = fields;
    const components = [{}, {}, { at: { z: -0.5 } }].map((own, component) => ({ ...velocity, component, ...own }));
    for (const component of components) delete component.dimensions;
    const dimensions = velocity.dimensions;
    writeFileSync(file, JSON.stringify({ ...rest, fields: { ...fields, velocity: { components, dimensions } } }));
    staggered = await serveTestData([folder]);
  });
  afterAll(() => staggered.close());

  it("have cutouts with zcoor_uv and zcoor_w, as stored", async () => {
    const box = "function=velocity&xs=2&xe=3&ys=1&ye=1&zs=1&ze=2&ts=1&te=1";
    const [own, same] = await Promise.all(
      ["lowered", "isotropic32"].map(async (name) =>
        (await fetch(`${staggered.url}/cutout/api/local?dataset=${name}&${box}`)).json(),
      ),
    );
    const spacing = (2 * Math.PI) / 8;
    expect(Object.keys(own.coords)).toEqual(["zcoor_w", "zcoor_uv", "ycoor", "xcoor"]);
    expect(own.coords.zcoor_uv.data).toEqual([0, expect.closeTo(spacing, 6)]);
    expect(own.coords.zcoor_w.data).toEqual([expect.closeTo(-spacing / 2, 6), expect.closeTo(spacing / 2, 6)]);
    expect(own.data_vars.velocity_0001.dims).toEqual(["zcoor_uv", "ycoor", "xcoor", "values"]);
    expect(same.data_vars.velocity_0001.dims).toEqual(["zcoor", "ycoor", "xcoor", "values"]);
    const [x, y, z] = [spacing, 0, spacing];
    // The flow of the file is stored at the shared nodes: w of node 1 is declared half a spacing below.
    const points = {
      points: [
        [x, y, z],
        [x, y, z - spacing / 2],
      ],
      time: 0,
      spatialInterpolation: "None",
    };
    const rows = await operationValues(staggered.url, "lowered", "GetVelocity", {
      ...points,
      temporalInterpolation: "None",
    });
    const [u, v, w] = own.data_vars.velocity_0001.data[1][0][0];
    expect([u, v]).toEqual(rows[0]?.slice(0, 2));
    expect(w).toBe(rows[1]?.[2]);
  });

  it("are listed under every code that clients ask for, as collocated ones are", async () => {
    const { datasets } = await (await fetch(`${staggered.url}/jhtdb_config.json`)).json();
    const codesOf = (name: string) => {
      const { physicalVariables } = datasets.find((row: { code: string }) => row.code === name);
      const { offsets } = physicalVariables.find((row: { code: string }) => row.code === "velocity");
      return Object.fromEntries(
        offsets.map((row: { code: string; coordinate: number[] }) => [row.code, row.coordinate[2]]),
      );
    };
    expect(codesOf("lowered")).toEqual({ velocity: 0, velocity_uv: 0, velocity_w: expect.closeTo(-Math.PI / 8, 12) });
    expect(codesOf("isotropic32")).toEqual({ velocity: 0, velocity_uv: 0, velocity_w: 0 });
  });
});

it("describes the served datasets in the form that clients check", async () => {
  const answer = await fetch(`${service.url}/turbulence-svc/jhtdb_config.json`);
  const metadata = (await answer.json()) as {
    giverny_constants: Record<string, unknown>;
    variables: { code: string; component_codes: string[]; cardinality: number }[];
    spatial_methods: { code: string; bucketIndices: number[] }[];
    datasets: {
      code: string;
      simulation: Record<string, { lower: string; upper: string; n: number; isPeriodic: boolean; spacing?: number }>;
      physicalVariables: { code: string; spatialOperatorMethods: { operator: string; methods: string[] }[] }[];
    }[];
  };
  const buckets = Object.fromEntries(metadata.spatial_methods.map(({ code, bucketIndices }) => [code, bucketIndices]));
  expect(buckets).toMatchObject({
    none: [0, 1],
    lag4: [1, 2],
    lag6: [2, 3],
    lag8: [3, 4],
    fd4noint: [2, 3],
    fd6noint: [3, 4],
    fd8noint: [4, 5],
    fd4lag4: [3, 4],
  });
  expect(metadata.giverny_constants.max_num_chunks).toBe(262_144);
  expect(metadata.datasets.map(({ code }) => code)).toContain("iso32");
  const dataset = metadata.datasets.find(({ code }) => code === "isotropic32");
  expect(dataset?.simulation.tlims).toMatchObject({ lower: "0", upper: "2.2", n: 12 });
  expect(dataset?.simulation.xlims).toMatchObject({ lower: "0", upper: "2pi", n: 32, isPeriodic: true });
  expect(dataset?.simulation.xlims?.spacing).toBeCloseTo((2 * Math.PI) / 32, 12);
  const velocity = dataset?.physicalVariables.find(({ code }) => code === "velocity");
  const methods = (operator: string) =>
    velocity?.spatialOperatorMethods.find((row) => row.operator === operator)?.methods;
  expect(methods("field")).toEqual(expect.arrayContaining(["none", "lag4", "lag6", "lag8"]));
  expect(methods("laplacian")).toEqual(["fd4noint", "fd6noint", "fd8noint", "fd4lag4"]);
  for (const { code, component_codes, cardinality } of metadata.variables) {
    expect([code, cardinality]).toEqual([code, component_codes.length]);
  }
});

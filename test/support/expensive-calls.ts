/** The most expensive calls that the limits allow, as requests for a dataset of 64 x 64 x 64 nodes. */
import { rawPost } from "./raw-http.js";
import { envelope, getVelocity, items } from "./soap-service.js";

const OCTETS = "application/octet-stream";

export interface ExpensiveCall {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Points all over a box of side 2 pi as octets; requests with as many share them. */
const bodies = new Map<number, Buffer>();
function floats(points: number): Buffer {
  const at = (i: number): number => (((i * 7919) % 61_510) / 61_510) * 2 * Math.PI;
  const known = bodies.get(points) ?? Buffer.from(Float32Array.from({ length: 3 * points }, (_, i) => at(i)).buffer);
  bodies.set(points, known);
  return known;
}

function triples(points: number): [number, number, number][] {
  const values = floats(points);
  const at = (i: number): number => Math.fround(values.readFloatLE(4 * i));
  return Array.from({ length: points }, (_, i) => [at(3 * i), at(3 * i + 1), at(3 * i + 2)]);
}

function request(path: string, headers: readonly string[], body: Buffer): Buffer {
  const first = `${body.length > 0 ? "POST" : "GET"} ${path} HTTP/1.1`;
  const lines = [first, "Host: 127.0.0.1", "Connection: close", ...headers, `Content-Length: ${body.length}`, "", ""];
  return Buffer.concat([Buffer.from(lines.join("\r\n")), body]);
}

/** Every call; they take some hundred megabytes, so that those made for one should be dropped before the next. */
export function* expensiveCalls(dataset: string): Generator<ExpensiveCall> {
  const path = (rest: string): string => `/api/datasets/${dataset}/${rest}`;
  const atPoints = (
    query: string,
    points = 1_000_000,
    accept = query.includes("what=u,p") ? "text/csv" : OCTETS,
  ): ExpensiveCall => ({
    name: `values ${query}, ${points} points, ${accept}`,
    bytes: request(path(`values?${query}&time=0.31`), [`Content-Type: ${OCTETS}`, `Accept: ${accept}`], floats(points)),
  });
  const get = (rest: string, accept = "*/*"): ExpensiveCall => ({
    name: `${rest} ${accept}`,
    bytes: request(path(rest), [`Accept: ${accept}`], Buffer.alloc(0)),
  });
  const json = (name: string, rest: string, body: unknown, accept = OCTETS): ExpensiveCall => ({
    name,
    bytes: request(rest, ["Content-Type: application/json", `Accept: ${accept}`], Buffer.from(JSON.stringify(body))),
  });

  for (const method of ["Lag8", "M4Q14"]) yield atPoints(`what=u&method=${method}`);
  for (const method of ["Lag8", "M2Q14"]) yield atPoints(`what=u,p&method=${method}`);
  for (const what of ["A", "hess(u)"])
    for (const method of ["Fd4Lag4", "Fd8", "M2Q14", "M4Q14"]) yield atPoints(`what=${what}&derivatives=${method}`);
  for (const what of ["lap(u)", "lap(A)"])
    for (const method of ["Fd4", "Fd8"]) yield atPoints(`what=${what}&derivatives=${method}`);
  for (const what of ["grad(p)", "hess(p)"])
    for (const method of ["Fd4Lag4", "M4Q14"]) yield atPoints(`what=${what}&derivatives=${method}`);
  yield atPoints("what=Q,R&derivatives=M2Q14", 1_000_000, "text/csv");
  yield atPoints("what=u", 1_000_000, "text/csv");
  yield atPoints("what=u", 1_000_000, "application/json");
  for (const what of ["filter(u)", "filter(p)", "filter(A)", "tau"])
    yield atPoints(`what=${what}&filter=box:3`, 10_000, "text/csv");

  const paths = (rest: string, count: number): ExpensiveCall => ({
    name: `paths ${rest}, ${count} particles`,
    bytes: request(path(`paths?method=Lag8&${rest}`), [`Content-Type: ${OCTETS}`, `Accept: ${OCTETS}`], floats(count)),
  });
  yield paths("time=0.1:0.15&step=0.0001&integrator=heun&last", 100_000);
  yield paths("time=0.1:0.105&step=0.0001&integrator=heun&last", 1_000_000);
  yield paths("time=0.1:0.15&step=0.000000001&integrator=heun&last", 1);
  yield paths("time=0.1:0.125&step=0.0001&integrator=rk4&last", 100_000);
  yield paths("time=0.1:0.2&step=0.001&drag=0.1&last", 100_000);
  yield paths("time=0.1:0.116&step=0.0001&integrator=dopri5&last", 100_000);
  yield paths("time=0.1:0.15&step=0.0001&integrator=heun&every=10", 30_000);

  for (const where of ["norm(omega)>0", "Q>0", "norm(u)>0"])
    yield get(`find?where=${encodeURIComponent(where)}&what=p&frame=1&limit=1000`);
  yield get("nodes?what=u&frame=0:3&format=h5");
  yield get("nodes?what=A&frame=0&format=csv");
  yield get("nodes?what=norm(omega)&frame=0:3&format=f32");
  yield get("grid?what=Q&time=0.31&samples=125");
  yield get("grid?what=norm(omega)&time=0.31&derivatives=M4Q14&samples=125");
  yield get("grid?what=norm(omega)&time=0.31&z=1&samples=1400", "image/png");
  yield get("grid?what=norm(S)&time=0.31&x=1&samples=1400", "image/png");

  const points = triples(1_000_000);
  yield {
    name: "SOAP GetVelocity, 1000000 points",
    bytes: Buffer.from(rawPost("1.1", soapOf(dataset, points), CLOSE)),
  };
  yield json(
    "JSON values, 250000 points",
    path("values"),
    { what: "u", time: 0.31, points: points.slice(0, 250_000) },
    "text/csv",
  );
  const few = points.slice(0, 1_000);
  const query = { dataset, call: "values", what: "hess(u)", derivatives: "M2Q14", time: 0.31, points: few };
  yield json("a list of 64 questions", "/api/ask", Array(64).fill(query), "application/json");
  const list = {
    what: "u",
    time: Array.from({ length: 12_000 }, (_, i) => (i % 5) / 10),
    points: points.slice(0, 160),
  };
  yield json("values at 12000 times", path("values"), list, "text/csv");
  yield* newerCalls(dataset);
}

/** Analyses of all nodes and of many particles, slices and points in other forms, chunks of the Zarr view, and jobs. */
function* newerCalls(dataset: string): Generator<ExpensiveCall> {
  const path = `/api/datasets/${dataset}`;
  const post = (name: string, rest: string, body: unknown, headers: readonly string[] = []): ExpensiveCall => {
    const text = Buffer.from(JSON.stringify(body));
    return { name, bytes: request(rest, ["Content-Type: application/json", ...headers], text) };
  };
  const analyse = (call: string, members: object, headers?: readonly string[]): ExpensiveCall =>
    post(`${call} ${JSON.stringify(members)}`, `${path}/${call}`, members, headers);
  const frame = [0, 1, 2, 3];
  yield analyse("spectrum", { frame, terms: ["transfer", "flux", "helicity", "cross:omega"] });
  yield analyse("spectrum", { frame, kind: "line", axis: "x" });
  const filter = { kind: "gaussian", width: 0.8 };
  yield analyse("statistics", { frame, derivatives: "spectral", filter, reduce: [{ moments: "Pi" }] });
  yield analyse("statistics", {
    frame,
    reduce: [
      { moments: "tr(S*S*S)" },
      {
        joint: ["R", "Q"],
        bins: [512, 512],
        range: [
          [-9, 9],
          [-9, 9],
        ],
      },
    ],
  });
  yield analyse("statistics", { frame, reduce: [{ extremes: "norm(omega)", count: 1000, apart: 0.2 }] });
  const random = { points: { random: 1_000_000, seed: 1 }, method: "Lag8" };
  yield analyse("statistics", { time: 0.3, ...random, reduce: [{ moments: "norm(u)" }] });
  yield analyse("structure_functions", { frame, orders: [2, 3, 4], separations: [1, 2, 4, 8, 16, 32] });
  yield analyse("structures", { time: 0.3, where: "norm(omega) > 0.5 * rms(norm(omega))", what: ["2*ddot(S,S)", "Q"] });
  yield analyse("structures", { time: 0.3, where: "norm(omega) > 1.5 * rms(norm(omega))", labels: true }, [
    "Accept: application/x-npy",
  ]);
  const asked = { time: "0.1:0.3", step: 0.001, z: 1, samples: [170, 170], what: ["gradient"] };
  yield analyse("flow_map", asked, ["Accept: application/octet-stream"]);
  yield analyse("dispersion", { time: "0.1:0.3", step: 0.001, every: 10, points: { tetrads: 25_000, distance: 0.1 } });
  for (const form of ["x-npz", "vnd.apache.parquet"])
    yield {
      name: `values of hess(u), 500000 points, ${form}`,
      bytes: request(
        `${path}/values?what=hess(u)&time=0.31`,
        [`Content-Type: ${OCTETS}`, `Accept: application/${form}`],
        floats(500_000),
      ),
    };
  const get = (rest: string, accept = "*/*"): ExpensiveCall => ({
    name: `${rest} ${accept}`,
    bytes: request(rest, [`Accept: ${accept}`], Buffer.alloc(0)),
  });
  yield get(`${path}/grid?what=${encodeURIComponent("dot(omega,S*omega)")}&time=0.31&z=1&samples=1400`, OCTETS);
  yield get(`${path}/grid?what=norm(u)&time=0.31&samples=125`, "application/netcdf");
  yield get(`/zarr/${dataset}/velocity/2.0.0.0.0`);
  yield get(`/zarr/${dataset}@zstd/derived/Q/2.0.0.0`);
  yield {
    name: "jobs of 100000 points",
    bytes: request(
      `${path}/values?what=u&time=0.31`,
      [`Content-Type: ${OCTETS}`, "Prefer: respond-async"],
      floats(100_000),
    ),
  };
}

const CLOSE = ["Connection: close"];

function soapOf(dataset: string, points: readonly [number, number, number][]): string {
  const body = getVelocity({ time: "0.31", points: items(points as [number, number, number][]) });
  return envelope("1.1", body.replace("isotropic32", dataset));
}

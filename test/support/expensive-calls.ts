/** The most expensive calls that the limits allow, as requests for a dataset of 64 x 64 x 64 nodes. */
import { earlier } from "./earlier-questions.js";
import { rawPost } from "./raw-http.js";
import { envelope, getVelocity, items } from "./soap-service.js";

const OCTETS = "application/octet-stream";
const TIME = "time=0.31&temporalInterpolation=PCHIP";
const WHOLE = "x_start=1&x_end=64&y_start=1&y_end=64&z_start=1&z_end=64";
const TRACK = "StartTime=0.1&spatialInterpolation=Lag8";

/** A call, by what it is called in a report. */
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
  const atPoints = (operation: string, query: string, points = 1_000_000, accept = OCTETS): ExpensiveCall => ({
    name: `${operation} ${query.replace(`&${TIME}`, "")}, ${points} points, ${accept}`,
    bytes: request(path(`${operation}?${query}`), [`Content-Type: ${OCTETS}`, `Accept: ${accept}`], floats(points)),
  });
  const get = (rest: string, accept = "*/*"): ExpensiveCall => ({
    name: `${rest} ${accept}`,
    bytes: request(path(rest), [`Accept: ${accept}`], Buffer.alloc(0)),
  });
  const json = (name: string, rest: string, body: unknown, accept = OCTETS): ExpensiveCall => ({
    name,
    bytes: request(rest, ["Content-Type: application/json", `Accept: ${accept}`], Buffer.from(JSON.stringify(body))),
  });

  for (const method of ["Lag8", "M4Q14"]) yield atPoints("GetVelocity", `spatialInterpolation=${method}&${TIME}`);
  for (const method of ["Lag8", "M2Q14"])
    yield atPoints("GetVelocityAndPressure", `spatialInterpolation=${method}&${TIME}`);
  for (const method of ["Fd4Lag4", "None_Fd8", "M1Q14", "M4Q14"])
    yield atPoints("GetVelocityGradient", `spatialInterpolation=${method}&${TIME}`);
  for (const method of ["Fd4Lag4", "None_Fd8", "M2Q14", "M4Q14"])
    yield atPoints("GetVelocityHessian", `spatialInterpolation=${method}&${TIME}`);
  for (const method of ["Fd4Lag4", "None_Fd8"])
    yield atPoints("GetVelocityLaplacian", `spatialInterpolation=${method}&${TIME}`);
  for (const method of ["None_Fd4", "None_Fd6", "None_Fd8"])
    yield atPoints("GetLaplacianOfGradient", `field=velocity&spatialInterpolation=${method}&${TIME}`);
  for (const method of ["Fd4Lag4", "M4Q14"])
    yield atPoints("GetPressureGradient", `spatialInterpolation=${method}&${TIME}`);
  for (const method of ["Fd4Lag4", "M4Q14"])
    yield atPoints("GetPressureHessian", `spatialInterpolation=${method}&${TIME}`);
  yield atPoints("GetInvariant", `spatialInterpolation=M2Q14&${TIME}`);
  yield atPoints("GetVelocity", `spatialInterpolation=Lag8&${TIME}`, 1_000_000, "text/csv");
  yield atPoints("GetVelocity", `spatialInterpolation=Lag8&${TIME}`, 1_000_000, "application/json");

  const layers = "time=0.31&temporalInterpolation=PCHIP&filterlength";
  yield atPoints("GetBoxFilterVelocity", `${layers}=3&nlayers=1`, 10_000);
  yield atPoints("GetBoxFilterPressure", `${layers}=3&nlayers=1`, 10_000);
  yield atPoints("GetBoxFilterVelocityGradient", `${layers}=3&nlayers=1`, 10_000);
  yield atPoints("GetBoxFilterSGSStress", `${layers}=3&nlayers=1`, 10_000);
  yield atPoints("GetBoxFilterSGSStress", `${layers}=3&nlayers=5`, 50);
  yield atPoints("GetBoxFilter", "field=velocity&time=0.31&filterwidth=3", 16_000);
  yield atPoints("GetBoxFilterSGSsymtensor", "field=velocity&time=0.31&filterwidth=3", 16_000);
  yield atPoints("GetBoxFilterGradient", "field=velocity&time=0.31&filterwidth=1&spacing=0.3", 50_000);

  yield atPoints("GetPosition", `${TRACK}&dt=0.0001&nt=500`, 100_000);
  yield atPoints("GetPosition", `${TRACK}&dt=0.0001&nt=50`, 1_000_000);
  yield atPoints("GetPosition", `${TRACK}&dt=1e-9&nt=50000000`, 1);
  yield atPoints("GetPosition", `${TRACK}&dt=0.0001&nt=250&integrator=rk4`, 100_000);
  yield atPoints("GetPositionInertialParticle", `${TRACK}&EndTime=0.2&Tp=0.1`, 100_000);
  yield atPoints("GetPositionParticleControl", `${TRACK}&EndTime=0.2`, 100_000);
  yield atPoints("GetPosition", `${TRACK}&dt=0.0001&nt=160&integrator=dopri5`, 100_000);
  yield atPoints("trajectories", `${TRACK}&dt=0.0001&nt=500&every=10`, 30_000);

  for (const [field, method] of [
    ["vorticity", "None_Fd8"],
    ["q", "None_Fd8"],
    ["u", "None"],
  ] as const) {
    const asked = `GetThreshold?field=${field}&time=0.3&threshold=0&spatialInterpolation=${method}&${WHOLE}`;
    yield json(`GetThreshold ${field}`, path(asked), {});
  }
  yield get(`cutout?field=u&T=1&${WHOLE}`);
  yield get(`cutout?field=u&T=1&${WHOLE}&filter_width=31`);
  yield get("cutout.h5?frames=1,3");
  yield get("volume?field=Q&time=0.31&nodes=125");
  yield get("volume?field=vorticity&time=0.31&method=M4Q14&nodes=125");
  yield get("slice?field=vorticity&time=0.31&axis=z&at=1&nodes=1400", "image/png");
  yield get("slice?field=strain&time=0.31&axis=x&at=1&nodes=1400", "image/png");

  const points = triples(1_000_000);
  yield {
    name: "SOAP GetVelocity, 1000000 points",
    bytes: Buffer.from(rawPost("1.1", soapOf(dataset, points), CLOSE)),
  };
  const most = { points: points.slice(0, 250_000) };
  yield json("JSON GetVelocity, 250000 points", path(`GetVelocity?spatialInterpolation=Lag8&${TIME}`), most);
  const few = points.slice(0, 1_000);
  const query = { dataset, operation: "GetVelocityHessian", spatialInterpolation: "M2Q14", points: few };
  const timed = { ...query, time: 0.31, temporalInterpolation: "PCHIP" };
  yield json("a batch of 64 Hessians", "/api/batch", { queries: Array(64).fill(timed) }, "application/json");
  const list = { time: Array.from({ length: 12_000 }, (_, i) => (i % 5) / 10), points: points.slice(0, 160) };
  const lists = path("GetVelocity?spatialInterpolation=Lag8&temporalInterpolation=PCHIP");
  yield json("GetVelocity at 12000 times", lists, list, OCTETS);
  yield* newerCalls(dataset);
}

/** Analyses of all nodes and of many particles, slices and points in other forms, chunks of the Zarr view, and jobs. */
function* newerCalls(dataset: string): Generator<ExpensiveCall> {
  const path = `/api/datasets/${dataset}`;
  const post = (name: string, rest: string, body: unknown, headers: readonly string[] = []): ExpensiveCall => {
    const text = Buffer.from(JSON.stringify(body));
    return { name, bytes: request(rest, ["Content-Type: application/json", ...headers], text) };
  };
  const analyse = (kind: string, body: object, headers?: readonly string[]): ExpensiveCall => {
    const { call, members } = earlier(kind, body as never);
    return post(`${call} ${JSON.stringify(members)}`, `${path}/${call}`, members, headers);
  };
  const frames = [1, 2, 3, 4];
  yield analyse("spectrum", { frames, with: ["transfer", "flux", "helicity", "cross:w"] });
  yield analyse("spectrum", { frames, kind: "line", axis: "x" });
  const filter = { kind: "gaussian", width: 0.8 };
  yield analyse("statistics", { frames, derivatives: "spectral", filter, reduce: [{ moments: "Pi" }] });
  yield analyse("statistics", {
    frames,
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
  yield analyse("statistics", { frames, reduce: [{ extremes: "norm(w)", count: 1000, apart: 0.2 }] });
  const random = { random: 1_000_000, seed: 1, method: "Lag8" };
  yield analyse("statistics", { time: 0.3, at: random, reduce: [{ moments: "norm(u)" }] });
  yield analyse("structure-functions", { frames, orders: [2, 3, 4], separations: { nodes: [1, 2, 4, 8, 16, 32] } });
  yield analyse("structures", { time: 0.3, of: "norm(w)", above: { rms: 0.5 }, properties: ["2*ddot(S,S)", "Q"] });
  yield analyse("structures", { time: 0.3, of: "norm(w)", above: { rms: 1.5 }, labels: true }, [
    "Accept: application/x-npy",
  ]);
  const plane = { normal: "z", at: 1, count: [170, 170] };
  const asked = { start: 0.1, end: 0.3, dt: 0.001, plane, quantities: ["gradient"] };
  yield analyse("flow-map", asked, ["Accept: application/octet-stream"]);
  yield analyse("dispersion", {
    start: 0.1,
    end: 0.3,
    dt: 0.001,
    every: 10,
    seeds: { tetrads: 25_000, distance: 0.1 },
  });
  const pointsOf = `GetVelocityHessian?spatialInterpolation=Fd4Lag4&${TIME}`;
  for (const form of ["x-npz", "vnd.apache.parquet"])
    yield {
      name: `GetVelocityHessian, 500000 points, ${form}`,
      bytes: request(
        `${path}/${pointsOf}`,
        [`Content-Type: ${OCTETS}`, `Accept: application/${form}`],
        floats(500_000),
      ),
    };
  const get = (rest: string, accept = "*/*"): ExpensiveCall => ({
    name: `${rest} ${accept}`,
    bytes: request(rest, [`Accept: ${accept}`], Buffer.alloc(0)),
  });
  yield get(`${path}/slice?field=${encodeURIComponent("dot(w,S*w)")}&time=0.31&axis=z&at=1&nodes=1400`, OCTETS);
  yield get(`${path}/volume?field=speed&time=0.31&nodes=125`, "application/netcdf");
  yield get(`/zarr/${dataset}/velocity/2.0.0.0.0`);
  yield get(`/zarr/${dataset}@zstd/derived/Q/2.0.0.0`);
  const job = `GetVelocity?spatialInterpolation=Lag8&${TIME}`;
  yield {
    name: "jobs of 100000 points",
    bytes: request(`${path}/${job}`, [`Content-Type: ${OCTETS}`, "Prefer: respond-async"], floats(100_000)),
  };
}

const CLOSE = ["Connection: close"];

function soapOf(dataset: string, points: readonly [number, number, number][]): string {
  const body = getVelocity({ time: "0.31", points: items(points as [number, number, number][]) });
  return envelope("1.1", body.replace("isotropic32", dataset));
}

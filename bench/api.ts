/** GetVelocity over every interface with the same points: `npm run bench:api -- [--quick] [--json FILE]`. */
import { Agent, request } from "node:http";
import { availableParallelism } from "node:os";
import { alternate, inTurn } from "./alternate.js";
import { checkSame } from "./ask.js";
import { readOptions, report, summarise } from "./row.js";
import { body, coordinates, numbersOf, start, TIME, velocity } from "./service.bench.js";
import { threadSeconds } from "./soap-load.js";

const METHOD = "Lag8";
const SEED = 1;

interface Post {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Buffer;
}

/** Sends a request and reads the whole answer; milliseconds. */
function post(port: number, agent: Agent, { path, headers, payload }: Post): Promise<number> {
  const begin = performance.now();
  return new Promise((resolve, reject) => {
    const length = { "content-length": payload.length };
    const sent = request({ port, agent, path, headers: { ...headers, ...length }, host: "127.0.0.1", method: "POST" });
    sent.once("error", reject);
    sent.once("response", (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      response.resume();
      response.once("end", () => resolve(performance.now() - begin));
    });
    sent.end(payload);
  });
}

function octets(points: number, accept: string): Post {
  const floats = Float32Array.from(coordinates(points, SEED), Number);
  const query = new URLSearchParams({
    time: String(TIME),
    spatialInterpolation: METHOD,
    temporalInterpolation: "None",
  });
  return {
    path: `/api/datasets/isotropic32/GetVelocity?${query}`,
    headers: { "content-type": "application/octet-stream", accept },
    payload: Buffer.from(floats.buffer),
  };
}

/** The question of `POST values`, points as lines of text. */
function lines(points: number): Post {
  const floats = Float32Array.from(coordinates(points, SEED), Number);
  const rows = Array.from({ length: points }, (_, i) => Array.from(floats.subarray(3 * i, 3 * i + 3)).join("\t"));
  const query = new URLSearchParams({
    dataset: "isotropic32",
    var: "velocity",
    t: String(TIME),
    sint: METHOD.toLowerCase(),
    sop: "field",
    tint: "none",
  });
  return { path: `/turbulence-svc/values?${query}`, headers: {}, payload: Buffer.from(rows.join("\n")) };
}

/** The question of `/api` in JSON. */
function json(points: number): Post {
  const floats = Float32Array.from(coordinates(points, SEED), Number);
  const triples = Array.from(
    { length: points },
    (_, i) => `[${Array.from(floats.subarray(3 * i, 3 * i + 3)).join(",")}]`,
  );
  const members = { time: TIME, spatialInterpolation: METHOD, temporalInterpolation: "None" };
  return {
    path: "/api/datasets/isotropic32/GetVelocity",
    headers: { "content-type": "application/json", accept: "application/json" },
    payload: Buffer.from(`${JSON.stringify(members).slice(0, -1)},"points":[${triples.join(",")}]}`),
  };
}

/** CPU microseconds a point of a request: of the main thread of the service, and of all its threads. */
async function cpuOf(pid: number, points: number, ask: () => Promise<number>): Promise<{ main: number; all: number }> {
  const before = threadSeconds(pid);
  await ask();
  const after = threadSeconds(pid);
  return { main: (1e6 * (after.main - before.main)) / points, all: (1e6 * (after.all - before.all)) / points };
}

/** Fails unless all answer the same numbers. */
async function checkAnswers(soap: Post, raw: Post, csv: Post, tabs: Post, object: Post): Promise<void> {
  const ask = async ({ path, headers, payload }: Post) => {
    return await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", headers, body: new Uint8Array(payload) });
  };
  const expected = await numbersOf(port, soap.payload);
  checkSame("octet-stream", expected, new Float32Array(await (await ask(raw)).arrayBuffer()));
  const records = (await (await ask(csv)).text()).trim().split("\n").slice(1);
  const columns = records.map((line) => line.split(",").slice(-3).map(Number));
  checkSame("csv", expected, Float32Array.from(columns.flat()));
  const rows = (await (await ask(tabs)).json()) as number[][];
  checkSame("values", expected, Float32Array.from(rows.flat()));
  const { values } = (await (await ask(object)).json()) as { values: number[][] };
  checkSame("json", expected, Float32Array.from(values.flat()));
}

const options = readOptions();
const points = options.quick ? 200_000 : 1_000_000;
const { port, child } = await start();
try {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const soap: Post = {
    path: "/service/turbulence.asmx",
    headers: { "content-type": "text/xml; charset=utf-8" },
    payload: body("GetVelocity", velocity(METHOD, "None"), points, SEED),
  };
  const raw = octets(points, "application/octet-stream");
  const csv = octets(points, "text/csv");
  const tabs = lines(points);
  const object = json(points);
  await checkAnswers(soap, raw, csv, tabs, object);
  const asked = [
    ["soap", soap],
    ["octet-stream", raw],
    ["octet-stream to csv", csv],
    ["json", object],
    ["values", tabs],
  ] as const;
  const rounds = options.quick ? 3 : 7;
  const about = { bench: "api", params: { points, connections: 1, workers: availableParallelism() } };
  const name = `GetVelocity ${METHOD}`;
  const times = await alternate(
    asked.map(([backend, question]) => ({
      run: () => post(port, agent, question),
      row: { ...about, case: name, backend, unit: "ms" },
    })),
    rounds,
  );
  const used = await inTurn(
    asked.map(
      ([, question]) =>
        () =>
          cpuOf(child.pid as number, points, () => post(port, agent, question)),
    ),
    rounds,
  );
  agent.destroy();
  const costs = asked.flatMap(([backend], i) =>
    (["main", "all"] as const).map((threads) => ({
      ...about,
      case: `${name}, ${threads === "main" ? "main thread" : "all threads"}`,
      backend,
      unit: "us/point",
      ...summarise((used[i] as { main: number; all: number }[]).map((one) => one[threads])),
    })),
  );
  report([...times, ...costs], options);
} finally {
  child.removeAllListeners("exit");
  child.kill("SIGTERM");
}

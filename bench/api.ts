/** GetVelocity as raw float32 over HTTP against the same points over SOAP: `npm run bench:api -- [--quick] [--json FILE]`. */
import { Agent, request } from "node:http";
import { availableParallelism } from "node:os";
import { alternate } from "./alternate.js";
import { checkSame } from "./ask.js";
import { readOptions, report } from "./row.js";
import { body, coordinates, numbersOf, start, TIME, velocity } from "./service.bench.js";

const METHOD = "Lag6";
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

/** Fails unless all three answer the same numbers. */
async function checkAnswers(soap: Post, raw: Post, csv: Post): Promise<void> {
  const ask = async ({ path, headers, payload }: Post) => {
    return await fetch(`http://127.0.0.1:${port}${path}`, { method: "POST", headers, body: new Uint8Array(payload) });
  };
  const expected = await numbersOf(port, soap.payload);
  checkSame("octet-stream", expected, new Float32Array(await (await ask(raw)).arrayBuffer()));
  const lines = (await (await ask(csv)).text()).trim().split("\n").slice(1);
  const columns = lines.map((line) => line.split(",").slice(-3).map(Number));
  checkSame("csv", expected, Float32Array.from(columns.flat()));
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
  await checkAnswers(soap, raw, csv);
  const rows = await alternate(
    [["soap", soap] as const, ["octet-stream", raw] as const, ["octet-stream to csv", csv] as const].map(
      ([backend, asked]) => ({
        run: () => post(port, agent, asked),
        row: {
          bench: "api",
          case: `GetVelocity ${METHOD}`,
          backend,
          unit: "ms",
          params: { points, connections: 1, workers: availableParallelism() },
        },
      }),
    ),
    options.quick ? 3 : 7,
  );
  agent.destroy();
  report(rows, options);
} finally {
  child.removeAllListeners("exit");
  child.kill("SIGTERM");
}

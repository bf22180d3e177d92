/** GetVelocity as raw float32 over HTTP against the same points over SOAP: `npm run bench:api -- [--quick] [--json FILE]`. */
import { Agent, request } from "node:http";
import { availableParallelism } from "node:os";
import { alternate } from "./alternate.js";
import { randomNumbers } from "./field.js";
import { readOptions, report } from "./row.js";
import { body, start, velocity } from "./service.bench.js";

const METHOD = "Lag6";
const PERIOD = 2 * Math.PI;

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
  const random = randomNumbers(1);
  const floats = Float32Array.from({ length: 3 * points }, () => random() * PERIOD);
  const query = new URLSearchParams({ time: "0.1", spatialInterpolation: METHOD, temporalInterpolation: "None" });
  return {
    path: `/api/datasets/isotropic32/GetVelocity?${query}`,
    headers: { "content-type": "application/octet-stream", accept },
    payload: Buffer.from(floats.buffer),
  };
}

const options = readOptions();
const points = options.quick ? 200_000 : 1_000_000;
const { port, child } = await start();
try {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const soap: Post = {
    path: "/service/turbulence.asmx",
    headers: { "content-type": "text/xml; charset=utf-8" },
    payload: body("GetVelocity", velocity(METHOD, "None"), points, 1),
  };
  const rows = await alternate(
    [
      ["soap", soap] as const,
      ["octet-stream", octets(points, "application/octet-stream")] as const,
      ["octet-stream to csv", octets(points, "text/csv")] as const,
    ].map(([backend, asked]) => ({
      run: () => post(port, agent, asked),
      row: {
        bench: "api",
        case: `GetVelocity ${METHOD}`,
        backend,
        unit: "ms",
        params: { points, connections: 1, workers: availableParallelism() },
      },
    })),
    options.quick ? 3 : 7,
  );
  agent.destroy();
  report(rows, options);
} finally {
  child.removeAllListeners("exit");
  child.kill("SIGTERM");
}

/**
 * `npm run bench:connections -- [--quick] [--json FILE]`: compares SOAP calls on a connection each, as today's C
 * client makes them, with calls on a kept one. Time is that of the caller, CPU that of the service.
 */
import { connect } from "node:net";
import { alternate, type Contestant } from "./alternate.js";
import { readOptions, report } from "./row.js";
import { body, start, velocity } from "./service.bench.js";
import { type Connection, cpuSeconds, open } from "./soap-load.js";

const SEED = 1;
/** Points of a call, as the demonstration programs of the C client ask. */
const POINTS = 10;

/** A call as bytes on the wire. */
function call(connection: "close" | "keep-alive"): Buffer {
  const payload = body("GetVelocity", velocity("Lag6", "PCHIP"), POINTS, SEED);
  const head =
    `POST /service/turbulence.asmx HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: gSOAP/2.8\r\nContent-Type: text/xml; charset=utf-8\r\n` +
    `Content-Length: ${payload.length}\r\nConnection: ${connection}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), payload]);
}

/** Makes a call on a connection of its own and reads to its end; bytes of the answer. */
function askOnce(port: number, request: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.once("error", reject).once("close", () => resolve(bytes));
    socket.on("data", (part: Buffer) => {
      if (bytes === 0 && !part.toString("latin1", 0, 12).endsWith("200")) reject(new Error(part.toString("latin1")));
      bytes += part.length;
    });
    socket.write(request);
  });
}

const options = readOptions();
const calls = options.quick ? 200 : 1000;
const { port, child } = await start();
try {
  const pid = child.pid as number;
  const kept: Connection = await open(port);
  const ways = [
    ["kept connection", (bytes: Buffer) => kept.ask(bytes), call("keep-alive")],
    ["connection a call", (bytes: Buffer) => askOnce(port, bytes), call("close")],
  ] as const;
  const contestants = (["wall", "cpu"] as const).flatMap((backend) =>
    ways.map(
      ([name, ask, bytes]): Contestant => ({
        row: { bench: "connections", case: name, backend, unit: "us/call", params: { calls, points: POINTS } },
        run: async () => {
          const cpu = cpuSeconds(pid);
          const since = performance.now();
          for (let i = 0; i < calls; i++) await ask(bytes);
          const wall = 1000 * (performance.now() - since);
          return (backend === "cpu" ? 1e6 * (cpuSeconds(pid) - cpu) : wall) / calls;
        },
      }),
    ),
  );
  const [keptWall, closedWall, keptCpu, closedCpu] = contestants as [Contestant, Contestant, Contestant, Contestant];
  const rows = await alternate(contestants, options.quick ? 3 : 9, options.quick, [
    { case: "connection a call, wall", unit: "of a kept one", over: closedWall, under: keptWall },
    { case: "connection a call, cpu", unit: "of a kept one", over: closedCpu, under: keptCpu },
  ]);
  kept.close();
  report(rows, options);
} finally {
  child.removeAllListeners("exit");
  child.kill("SIGTERM");
}

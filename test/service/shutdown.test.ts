/** A service that is closed while answers are on their way: whoever reads slowly still gets all of it. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { fileURLToPath } from "node:url";
import { pino } from "pino";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type RunningService, startService } from "../../src/main.js";
import { loadConfig } from "../../src/shared/config.js";
import { load, scratch } from "../events/support.js";

const NOW = "2026-10-20T12:00:00Z";
const TEXT = "x".repeat(200_000);
const folder = scratch();
beforeAll(() => {
  const events = Array.from({ length: 100 }, (_, n) => ({
    id: n + 1,
    name: `Event ${n}`,
    excerpt: TEXT,
    start: { date: "2026-12-01" },
  }));
  load(join(folder.path, "events.json"), [folder.file("long.json", { events })], Date.parse(NOW) / 1000);
});
afterAll(() => folder.remove());

const lines: { level: number; msg: string }[] = [];
async function start(settings: Readonly<Record<string, string>> = {}): Promise<RunningService> {
  const fixed = { PORT: "0", WORKERS: "1", CACHE_BYTES: `${64 * 1024 * 1024}`, STATE: folder.path };
  const times = { EVENTS_NOW: NOW, SHUTDOWN_GRACE_MS: "60000" };
  const log = pino({ level: "error" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const service = await startService(loadConfig({ ...fixed, ...times, ...settings }, {}), log);
  await service.optionalOpened;
  return service;
}

/** Coordinates of a million points, which no worker computes. */
const DRAWN = "/api/datasets/isotropic32/values?what=x&points.random=1000000&time=0.5&format=f32";

/** Asks and resolves with the head of the answer; nothing of the body is read yet. */
async function ask(url: string, method = "GET", body?: Buffer): Promise<IncomingMessage> {
  const type = "application/octet-stream";
  const sent = request(url, { method, headers: body === undefined ? {} : { "content-type": type, accept: type } });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return answer.pause();
}

async function length(answer: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const piece of answer) bytes += (piece as Buffer).length;
  return bytes;
}

it("sends what has been begun to the end", async () => {
  const service = await start();
  const points = await ask(`${service.url}${DRAWN}`);
  const events = await ask(`${service.url}/events?per_page=100`);
  const closed = service.close();
  expect(await length(points)).toBe(4_000_000);
  expect(await length(events)).toBe(Number(events.headers["content-length"]));
  expect(Number(events.headers["content-length"])).toBeGreaterThan(100 * TEXT.length);
  expect(await closed).toBe(true);
});

const fixture = (name: string): string => fileURLToPath(new URL(`../server/http/fixtures/${name}`, import.meta.url));
const POINT = "<Point3><x>1</x><y>2</y><z>3</z></Point3>";
const POINTS = 250_000;
const BODY =
  `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><NullOp xmlns="http://turbulence.pha.jhu.edu/">` +
  `<points>${POINT.repeat(POINTS)}</points></NullOp></e:Body></e:Envelope>`;

it.each([
  ["http", "keep-alive"],
  ["http", "close"],
  ["https", "keep-alive"],
  ["https", "close"],
])("sends a SOAP answer to the end over a socket that is read in steps (%s, %s)", async (scheme, connection) => {
  const tls = scheme === "https";
  const service = await start(tls ? { TLS_CERT: fixture("cert.pem"), TLS_KEY: fixture("key.pem") } : {});
  const { hostname: host, port } = new URL(service.url);
  const to = { host, port: Number(port) };
  const socket = tls ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to);
  socket.write(
    `POST /service/turbulence.asmx HTTP/1.1\r\nhost: localhost\r\nconnection: ${connection}\r\n` +
      `content-type: text/xml\r\ncontent-length: ${BODY.length}\r\n\r\n${BODY}`,
  );
  await once(socket, "readable");
  const closed = service.close();
  const pieces: Buffer[] = [];
  for await (const piece of socket) {
    pieces.push(piece as Buffer);
    await new Promise(setImmediate);
  }
  expect(wholeChunks(Buffer.concat(pieces)).split("<Vector3>").length - 1).toBe(POINTS);
  expect(await closed).toBe(true);
});

/** The body of an answer in chunks; throws when the chunk that ends it is not there. */
function wholeChunks(answer: Buffer): string {
  const parts: Buffer[] = [];
  let at = answer.indexOf("\r\n\r\n") + 4;
  for (;;) {
    const end = answer.indexOf("\r\n", at);
    const length = Number.parseInt(answer.toString("latin1", at, end), 16);
    if (!(length >= 0)) throw new Error(`the answer ends after ${answer.length} bytes`);
    if (length === 0) return Buffer.concat(parts).toString("latin1");
    parts.push(answer.subarray(end + 2, end + 2 + length));
    at = end + 4 + length;
  }
}

it("does not wait for those who only keep a connection, and cuts off who does not read within the grace time", {
  timeout: 60_000,
}, async () => {
  const service = await start({ SHUTDOWN_GRACE_MS: "300" });
  const { hostname, port } = new URL(service.url);
  const silent = connect(Number(port), hostname);
  await once(silent, "connect");
  const answer = await ask(`${service.url}/events?per_page=100`);
  const cut = once(answer, "error");
  expect(await service.close()).toBe(false);
  answer.resume();
  await cut;
  silent.destroy();
});

it("notes a caller who leaves in the middle of an answer, but not as a failure", { timeout: 60_000 }, async () => {
  const service = await start();
  lines.length = 0;
  for (const answer of [await ask(`${service.url}${DRAWN}`), await ask(`${service.url}/events?per_page=100`)]) {
    answer.destroy();
  }
  expect(await service.close()).toBe(true);
  expect(lines).toEqual([]);
});

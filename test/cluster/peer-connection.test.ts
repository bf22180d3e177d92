/** A connection reads answers however they are cut, carries one request after the other, and takes nothing else. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { PeerConnection, READ_BYTES } from "../../src/cluster/peer-connection.js";

let server: Server;
let connection: PeerConnection;
let near: Promise<Socket>;
let closed = 0;

beforeEach(async () => {
  server = createServer();
  near = once(server, "connection").then(([socket]: Socket[]) => socket as Socket);
  await once(server.listen(0, "127.0.0.1"), "listening");
  closed = 0;
  connection = new PeerConnection(
    `127.0.0.1:${(server.address() as AddressInfo).port}`,
    null,
    Buffer.alloc(READ_BYTES),
    () => {
      closed++;
    },
  );
});
afterEach(async () => {
  connection.close();
  (await near).destroy();
  server.close();
});

const ask = (into?: Uint8Array, signal = AbortSignal.timeout(5000)) =>
  connection.ask({ method: "GET", path: "/", body: [Float32Array.of(1, 2)], into, signal });
/** Answers each request of eight bytes with texts, each of which is written once the one before is out. */
const answering = async (...texts: readonly string[]): Promise<string> => {
  const socket = await near;
  let seen = Buffer.alloc(0);
  while (!/\r\n\r\n.{8}$/s.test(seen.toString("latin1")))
    seen = Buffer.concat([seen, ((await once(socket, "data")) as [Buffer])[0]]);
  for (const text of texts) await new Promise((resolve) => socket.write(text, () => setImmediate(resolve)));
  return seen.toString("latin1");
};
const HEAD = "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: 5\r\n\r\n";

it.each([
  ["whole", [`${HEAD}hello`]],
  ["in its head and in its body", [HEAD.slice(0, 20), HEAD.slice(20, 60), HEAD.slice(60), "he", "llo"]],
  ["between head and body", [HEAD, "hello"]],
])("reads an answer that comes %s, twice", async (_, parts) => {
  for (let turn = 0; turn < 2; turn++) {
    const into = new Uint8Array(5);
    const [answer, request] = await Promise.all([ask(into), answering(...parts)]);
    expect(answer).toEqual({ status: 200, type: "application/octet-stream", body: into });
    expect(Buffer.from(into).toString()).toBe("hello");
    expect(request).toMatch(/^GET \/ HTTP\/1\.1\r\nhost: /);
    expect(connection.isFree).toBe(true);
  }
});

it("gives an answer of another length or status memory of its own", async () => {
  const [answer] = await Promise.all([ask(new Uint8Array(4)), answering(`${HEAD}hello`)]);
  expect(Buffer.from(answer.body).toString()).toBe("hello");
  const into = new Uint8Array(5);
  const [refused] = await Promise.all([ask(into), answering(`${HEAD.replace("200 OK", "503 Busy")}hello`)]);
  expect([refused.status, [...into]]).toEqual([503, [0, 0, 0, 0, 0]]);
});

it.each([
  ["no HTTP", "SSH-2.0-something\r\n\r\n"],
  ["no length", "HTTP/1.1 200 OK\r\n\r\nhello"],
  ["more than it said", `${HEAD}hello, there`],
  ["a head without end", "x".repeat(20_000)],
])("ends where the answer is %s", async (_, text) => {
  const [answer] = await Promise.allSettled([ask(), answering(text)]);
  expect(answer.status).toBe("rejected");
  await expect.poll(() => closed).toBe(1);
  await expect(ask()).rejects.toThrow("closed");
});

it("ends with its signal, and where the peer breaks off", async () => {
  const end = new AbortController();
  const [given] = await Promise.allSettled([ask(undefined, end.signal), answering().then(() => end.abort())]);
  expect(given).toMatchObject({ status: "rejected", reason: { name: "AbortError" } });
  expect(connection.isFree).toBe(false);
});

it("writes nothing more into the memory of a request that has ended", async () => {
  const end = new AbortController();
  const into = new Uint8Array(5);
  const [given] = await Promise.allSettled([
    ask(into, end.signal),
    answering(HEAD, "he")
      .then(() => expect.poll(() => into[1]).not.toBe(0))
      .then(() => end.abort()),
  ]);
  expect(given.status).toBe("rejected");
  // The memory belongs to another request now.
  into.fill(0);
  const socket = await near;
  socket.on("error", () => {});
  socket.write("llo");
  await expect.poll(() => socket.destroyed).toBe(true);
  expect([...into]).toEqual([0, 0, 0, 0, 0]);
});

it("fails where the peer breaks off", async () => {
  const half = answering(HEAD, "he").then(async () => (await near).destroy());
  const [answer] = await Promise.allSettled([ask(), half]);
  expect(answer.status).toBe("rejected");
});

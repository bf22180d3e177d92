/**
 * Answers that are pending: refusals wait for earlier answers; a server that is closed ends idle ones and no answer before
 * its time.
 */
import { EventEmitter, once } from "node:events";
import { readFileSync } from "node:fs";
import type { Server, ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setImmediate as immediate } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { fileURLToPath } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { Connections, createServer } from "../../../../src/server/http/policies/connections.js";

const fixture = (name: string): Buffer => readFileSync(fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url)));
/** More than the buffers of a connection take. */
const LONG = Buffer.alloc(32_000_000, "x");
const HOUR = 3_600_000;

async function listening(scheme: string, most?: number): Promise<[Server, Connections]> {
  const tls = { cert: fixture("cert.pem"), key: fixture("key.pem") };
  const requests = new Connections();
  const server = createServer({}, scheme === "https" ? tls : null, requests, undefined, most);
  server.on("request", ({ url, socket }, response) => {
    // As the service does, whose connections end with the answer under way.
    response.once("close", () => server.listening || socket.destroySoon());
    response.end(url === "/long" ? LONG : "short");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return [server, requests];
}

const port = (server: Server): number => (server.address() as AddressInfo).port;

async function connected(scheme: string, server: Server): Promise<Socket> {
  const to = { port: port(server), host: "127.0.0.1" };
  const socket = scheme === "https" ? connectTls({ ...to, rejectUnauthorized: false }) : connect(to);
  await once(socket, scheme === "https" ? "secureConnect" : "connect");
  return socket;
}

/** Asks and waits for the first bytes of the answer; reads no further. */
async function ask(socket: Socket, path: string, connection: string): Promise<Buffer> {
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: ${connection}\r\n\r\n`);
  const [first] = (await once(socket, "data")) as [Buffer];
  socket.pause();
  return first;
}

/** Everything up to the end of the connection, with a pause after each piece. */
async function readSlowly(socket: Socket): Promise<number> {
  let bytes = 0;
  for await (const piece of socket) {
    bytes += (piece as Buffer).length;
    await new Promise(setImmediate);
  }
  return bytes;
}

describe.each(["http", "https"])("a server of %s that is closed", (scheme) => {
  it.each(["keep-alive", "close"])("sends an answer whose reader is slow to the end (%s)", async (connection) => {
    const [server, requests] = await listening(scheme);
    const idle = await connected(scheme, server);
    await ask(idle, "/short", "keep-alive");
    const slow = await connected(scheme, server);
    const first = await ask(slow, "/long", connection);
    expect(requests.unanswered).toBe(1);
    const closed = once(server.close(), "close");
    const drained = requests.drain(HOUR);
    idle.resume();
    await once(idle, "close");
    const head = first.indexOf("\r\n\r\n") + 4;
    expect(first.length + (await readSlowly(slow))).toBe(head + LONG.length);
    expect(await drained).toBe(true);
    expect(requests.unanswered).toBe(0);
    await closed;
  });

  it("cuts off what is left after the grace time", async () => {
    const [server, requests] = await listening(scheme);
    const slow = await connected(scheme, server);
    const first = await ask(slow, "/long", "keep-alive");
    const closed = once(server.close(), "close");
    expect(await requests.drain(50)).toBe(false);
    await closed;
    slow.on("error", () => undefined);
    expect(first.length + (await readSlowly(slow).catch(() => 0))).toBeLessThan(LONG.length);
  });

  it("does not wait for those who have said nothing yet", async () => {
    const [server, requests] = await listening(scheme);
    const accepted = once(server, "connection");
    const silent = connect(port(server), "127.0.0.1");
    silent.on("error", () => undefined);
    await accepted;
    const closed = once(server.close(), "close");
    expect(await requests.drain(HOUR)).toBe(true);
    await closed;
  });
});

it("gives a caller a second to ask, however many connect meanwhile and say nothing, while there is room", async () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(1_000);
  const [server] = await listening("http", 16);
  const accepted = () => once(server, "connection");
  const connecting = async (): Promise<Socket> => (await Promise.all([connected("http", server), accepted()]))[0];
  const [asking, silent] = [await connecting(), await connecting()];
  const others = [];
  for (let i = 0; i < 9; i++) others.push(await connecting());
  expect(String(await ask(asking, "/short", "keep-alive"))).toContain("200 OK");
  now.mockReturnValue(2_000);
  const ended = once(silent.resume(), "close");
  others.push(await connecting());
  await ended;
  now.mockReturnValue(1_000);
  const next = once((others[0] as Socket).resume(), "close");
  others.push(await connecting(), await connecting());
  await next;
  now.mockRestore();
  for (const socket of [asking, ...others]) socket.destroy();
  server.close();
});

it("begins the requests of a connection one after another, and none whose answer has closed", async () => {
  const connections = new Connections();
  const socket = new EventEmitter() as Socket;
  socket.isPaused = () => false;
  const pending = () =>
    Object.assign(new EventEmitter(), { req: { socket, complete: true } }) as unknown as ServerResponse;
  const answers = [pending(), pending(), pending()] as const;
  const begun: number[] = [];
  for (const [i, answer] of answers.entries()) {
    connections.add(socket, answer);
    connections.begin(answer, () => begun.push(i));
  }
  expect(begun).toEqual([0]);
  answers[1].emit("close");
  answers[0].emit("close");
  expect(begun).toEqual([0]);
  await immediate();
  expect(begun).toEqual([0, 2]);
  expect(connections.unanswered).toBe(1);
});

it("takes turns with others, however many requests are in a piece of data", async () => {
  const connections = new Connections();
  let begun = 0;
  const server = createServer({}, null, connections, (_request, answer) => {
    begun++;
    answer.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const callers = Array.from({ length: 40 }, () => connect(port(server), "127.0.0.1"));
  for (const caller of callers) caller.resume().write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(300));
  let most = 0;
  while (begun < 40 * 300) {
    const before = begun;
    await immediate();
    most = Math.max(most, begun - before);
  }
  // The first of each connection begins as it arrives, and one that has waited.
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(41);
  for (const caller of callers) caller.destroy();
  server.close();
});

it("lets the first refusal wait for the answers to whole requests, and no other after it", async () => {
  const connections = new Connections();
  const answers: ServerResponse[] = [];
  const server = createServer({}, null, connections, (_request, answer) => answers.push(answer));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const caller = connect(port(server), "127.0.0.1");
  caller.write("GET /whole HTTP/1.1\r\nhost: localhost\r\n\r\n");
  caller.write("POST /cut HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\nhalf");
  await expect.poll(() => connections.unanswered).toBe(2);
  const { socket } = (answers[0] as ServerResponse).req;
  const done: string[] = [];
  connections.afterAnswers(socket, () => done.push("what cannot be read"));
  connections.afterAnswers(socket, () => done.push("what comes too late"));
  expect(done).toEqual([]);
  answers[0]?.end();
  await once(answers[0] as ServerResponse, "close");
  expect(done).toEqual(["what cannot be read"]);
  expect(connections.unanswered).toBe(1);
  caller.destroy();
  await expect.poll(() => connections.unanswered).toBe(0);
  server.close();
});

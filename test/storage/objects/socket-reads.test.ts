/** Answers whose heads and bodies come in parts on several sockets, which are all read into one buffer. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { HttpConnections } from "../../../src/storage/objects/http-connections.js";

const LENGTH = 300_001;
const connections = new HttpConnections();
const server = createServer();
/** Sockets by the path of the request that came last. */
const asked = new Map<string, Socket>();

beforeAll(async () => {
  server.on("connection", (socket) => {
    socket.setNoDelay(true);
    socket.on("data", (text) => {
      const path = /^GET (\S+)/.exec(text.toString())?.[1] ?? "";
      asked.set(path, socket);
      server.emit(path);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
});

afterAll(() => {
  for (const socket of asked.values()) socket.destroy();
  server.close();
});

function fetched(path: string) {
  const { port } = server.address() as AddressInfo;
  const request = { method: "GET", headers: {}, body: null } as const;
  return connections.send(`http://127.0.0.1:${port}${path}`, request, new AbortController().signal, () => 2 * LENGTH);
}

/** A body whose bytes tell its path. */
function bodyOf(path: string): Buffer {
  return Buffer.alloc(LENGTH, `the body of ${path}, `);
}

/** Answers a request, and resolves once the answer was read. */
async function answerWhole(path: string, coding: "announced" | "chunked") {
  const arrived = once(server, path);
  const answer = fetched(path);
  await arrived;
  const body = bodyOf(path);
  const socket = asked.get(path) as Socket;
  if (coding === "announced") socket.end(Buffer.concat([Buffer.from(head(path, `content-length: ${LENGTH}`)), body]));
  else {
    socket.write(head(path, "transfer-encoding: chunked"));
    for (let at = 0; at < LENGTH; at += 100_000) {
      const part = body.subarray(at, at + 100_000);
      socket.write(Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")]));
    }
    socket.end("0\r\n\r\n");
  }
  expect(Buffer.from((await answer).body).equals(body)).toBe(true);
}

function head(path: string, more: string): string {
  return `HTTP/1.1 200 OK\r\netag: "${path.repeat(50)}"\r\n${more}\r\n\r\n`;
}

it.each(["announced", "chunked"] as const)("keeps a head and a body that others interrupt (%s)", async (coding) => {
  const path = `/a-${coding}`;
  const arrived = once(server, path);
  const answer = fetched(path);
  await arrived;
  const socket = asked.get(path) as Socket;
  const begun = head(path, `content-length: ${LENGTH}`);
  const body = bodyOf(path);
  const parts = [begun.slice(0, 60), begun.slice(60, 150), begun.slice(150), body.subarray(0, 3), body.subarray(3)];
  for (const [i, part] of parts.entries()) {
    socket.write(part);
    await answerWhole(`/b${i}-${coding}`, coding);
  }
  const { headers, body: read } = await answer;
  expect(headers.etag).toBe(`"${path.repeat(50)}"`);
  expect(Buffer.from(read).equals(body)).toBe(true);
});

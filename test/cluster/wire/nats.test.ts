/** The connection to NATS against a server of a few lines: large messages in parts, and a server that goes away. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectNats } from "../../../src/cluster/wire/nats.js";
import type { Transport } from "../../../src/cluster/wire/transport.js";
import { generator } from "../../support/run-query.js";

/** Answers PING, and gives every message to everybody who has subscribed to its subject. */
function serve(refuses: () => boolean): Server {
  const subscribers: { readonly socket: Socket; readonly subject: string; readonly id: string }[] = [];
  return createServer((socket) => {
    let bytes = Buffer.alloc(0);
    socket.on("error", () => {});
    socket.write('INFO {"server_id":"x","version":"2.9.0","proto":1,"headers":true,"max_payload":4194304}\r\n');
    socket.on("data", (read) => {
      bytes = Buffer.concat([bytes, read]);
      for (let end = bytes.indexOf("\r\n"); end >= 0; end = bytes.indexOf("\r\n")) {
        const [verb, subject = "", ...rest] = bytes.subarray(0, end).toString().split(" ");
        const size = verb === "PUB" ? Number(rest.at(-1)) : -2;
        if (bytes.length < end + size + 4) return;
        const body = bytes.subarray(end + 2, end + 2 + Math.max(0, size));
        bytes = bytes.subarray(end + size + 4);
        if (verb === "CONNECT" && refuses()) socket.end("-ERR 'Authorization Violation'\r\n");
        if (verb === "PING") socket.write("PONG\r\n");
        if (verb === "SUB") subscribers.push({ socket, subject, id: rest.at(-1) as string });
        if (verb !== "PUB") continue;
        for (const { socket: to, subject: wanted, id } of subscribers) {
          if (wanted !== subject) continue;
          to.write(`MSG ${subject} ${id} ${rest.length > 1 ? `${rest[0]} ` : ""}${size}\r\n`);
          to.write(body);
          to.write("\r\n");
        }
      }
    });
  });
}

describe("the connection", () => {
  let server: Server;
  const sockets: Socket[] = [];
  let transport: Transport;
  /** Connections that are refused from now on. */
  let refusals = 0;

  beforeEach(async () => {
    server = serve(() => refusals-- > 0);
    server.on("connection", (socket) => sockets.push(socket));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const settings = { nkey: null, ca: null, name: "test", inboxPrefix: "_FPT" };
    transport = await connectNats({ servers: [`nats://127.0.0.1:${port}`], ...settings });
  });
  afterEach(async () => {
    await transport.close();
    for (const socket of sockets.splice(0)) socket.destroy();
    server.close();
  });

  it("joins the parts of messages, shared memory among them, and brings them whole", async () => {
    const random = generator(1);
    const shared = new Uint8Array(new SharedArrayBuffer(3_000_000)).map(() => 256 * random());
    const found: [string, Buffer][] = [];
    transport.subscribe("a", ({ data, reply }) => found.push([reply, Buffer.from(data)]));
    // In the turn of the subscription, and nevertheless after it.
    void transport.publish("a", [new Uint8Array([7])], "first");
    await expect.poll(() => found.splice(0)).toEqual([["first", Buffer.from([7])]]);
    const sizes = [0, 1, 170, 60_000, 65_536, 700_000, 3_000_000, 5, 262_144];
    const sent = sizes.map((size, i) => {
      const parts = [new Uint8Array([i, 13, 10]), shared.subarray(0, size), new Uint8Array(0), shared.subarray(0, 2)];
      return { parts, written: transport.publish("a", parts, i % 2 === 0 ? "reply.to" : "") };
    });
    await Promise.all(sent.map(({ written }) => written));
    await expect.poll(() => found.length).toBe(sizes.length);
    sent.forEach(({ parts }, i) => {
      expect(found[i]?.[0]).toBe(i % 2 === 0 ? "reply.to" : "");
      expect(found[i]?.[1].equals(Buffer.concat(parts))).toBe(true);
    });
    expect(() => transport.publish("a", [new Uint8Array(4_194_305)])).toThrow(RangeError);
  });

  it("ends also while no server can be reached", async () => {
    const lost = new Promise<void>((resolve) => transport.watch((event) => event === "lost" && resolve()));
    const channel = transport.subscribe("a", () => {});
    server.close();
    for (const socket of sockets.splice(0)) socket.destroy();
    await lost;
    await Promise.all([channel.drain(), transport.close()]);
    expect(await transport.closed).toBe(null);
    await channel.drain();
    await transport.close();
    await transport.publish("a", [new Uint8Array([7])]);
  });

  it("is refused where a server has no TLS and its address asks for it", async () => {
    const { port } = server.address() as AddressInfo;
    const settings = { nkey: null, ca: null, name: "test", inboxPrefix: "_FPT" };
    await expect(connectNats({ servers: [`tls://127.0.0.1:${port}`], ...settings })).rejects.toThrow(/tls/i);
  });

  it("comes back to a server that refused its key for a while", async () => {
    const restored = new Promise<void>((resolve) => transport.watch((event) => event === "restored" && resolve()));
    refusals = 4;
    for (const socket of sockets.splice(0)) socket.destroy();
    await Promise.race([restored, transport.closed]);
    expect(refusals).toBeLessThan(0);
  });

  it("lets go of what it was given when the server goes away, and comes back with it", async () => {
    const events: string[] = [];
    transport.watch((event) => {
      if (event !== "unsettled") events.push(event);
    });
    const found: Uint8Array[] = [];
    transport.subscribe("a", ({ data }) => found.push(data.slice()));
    for (const socket of sockets) socket.pause();
    const written = Array.from({ length: 8 }, () => transport.publish("b", [new Uint8Array(4_000_000)]));
    for (const socket of sockets.splice(0)) socket.destroy();
    await Promise.all(written);
    await expect.poll(() => events).toEqual(["lost", "restored"]);
    await transport.publish("a", [new Uint8Array([7])]);
    await expect.poll(() => found).toEqual([new Uint8Array([7])]);
  });
});

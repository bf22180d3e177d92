/** Answers in blocks to callers who leave: whenever that is, the sending ends. */
import { once } from "node:events";
import { connect } from "node:net";
import { setImmediate as immediate } from "node:timers/promises";
import type { FastifyInstance, FastifyReply } from "fastify";
import { describe, expect, it } from "vitest";
import { sendChunks, sendStream } from "../../../src/server/http/send-answer.js";
import type { Service } from "../../../src/server/http/service.js";
import { startService } from "../../support/soap-service.js";

const BLOCK = Buffer.alloc(48 * 1024, "x");
const READER = { beginWrite: () => undefined, endWrite: () => undefined, encoded: () => undefined };

/** Serves `/blocks` by `send`; the request of `/blocks` resolves with its reply. */
async function serving(send: (reply: FastifyReply, service: Service) => Promise<void>) {
  let arrived = (_reply: FastifyReply): void => undefined;
  const request = new Promise<FastifyReply>((resolve) => {
    arrived = resolve;
  });
  const routes = (app: FastifyInstance, service: Service): void => {
    app.get("/blocks", async (_request, reply) => {
      reply.hijack();
      arrived(reply);
      await send(reply, service);
    });
  };
  return { service: await startService({}, {}, { plugins: [routes] }), request };
}

describe("sendChunks", () => {
  it("sends nothing to a caller who left before the first byte", async () => {
    let sent: Promise<void> | null = null;
    const { service, request } = await serving(async (reply, given) => {
      await new Promise((resolve) => reply.raw.once("close", resolve));
      await immediate();
      sent = sendChunks(reply, "text/plain", Array(10).fill(BLOCK).values(), given, READER);
    });
    const socket = connect(service.port, "127.0.0.1");
    socket.write("GET /blocks HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await request;
    socket.destroy();
    await expect.poll(() => sent).not.toBeNull();
    await sent;
    await service.stop();
  });

  it("makes no further block once the caller has left in the middle", async () => {
    let made = 0;
    function* blocks(): Generator<Buffer> {
      for (;;) {
        made++;
        yield BLOCK;
      }
    }
    let ended = false;
    const { service, request } = await serving(async (reply, given) => {
      await sendChunks(reply, "text/plain", blocks(), given, READER);
      ended = true;
    });
    const socket = connect(service.port, "127.0.0.1");
    socket.write("GET /blocks HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await request;
    await once(socket, "data");
    socket.destroy();
    await expect.poll(() => ended).toBe(true);
    const then = made;
    for (let i = 0; i < 10; i++) await immediate();
    expect(made).toBe(then);
    await service.stop();
  });
});

describe("sendStream", () => {
  it("sends parts of megabytes in pieces, and gives no part up before all of it is sent", async () => {
    const shared = Buffer.from(new SharedArrayBuffer(3_000_001));
    let made = 0;
    async function* parts(): AsyncGenerator<Buffer> {
      for (; made < 3; made++) {
        shared.fill(made + 1);
        yield shared;
      }
    }
    const taken: number[] = [];
    const reader = { ...READER, endWrite: (bytes: number) => taken.push(bytes) };
    const { service } = await serving((reply, given) => sendStream(reply, "text/plain", parts(), given, reader));
    const answer = Buffer.from(await (await fetch(`http://127.0.0.1:${service.port}/blocks`)).arrayBuffer());
    const expected = Buffer.concat([1, 2, 3].map((value) => Buffer.alloc(shared.length, value)));
    expect(answer.equals(expected)).toBe(true);
    expect(taken).toEqual([shared.length, shared.length, shared.length]);
    await service.stop();
  });
});

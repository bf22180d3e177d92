/** Callers who send slowly: refused below a least rate, and the first to go when connections run out. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { EventStreams } from "../../../../src/server/http/policies/event-streams.js";
import { Sender } from "../../../../src/server/http/policies/sender.js";
import { exchange, rawPost, statusOf } from "../../../support/raw-http.js";
import { call, envelope, nullOp, startService, type TestService } from "../../../support/soap-service.js";

const LIMITS = { bytesPerSecond: 1000, graceMs: 10_000 };

describe("a sender", () => {
  it.each([
    ["below the rate within its time", true, 9_000, 10, false],
    ["below the rate behind its time", true, 11_000, 10_999, true],
    ["at the rate behind its time", true, 11_000, 11_000, false],
    ["without a known token, below the rate", false, 2_100, 2_000, true],
    ["without a known token, within a fifth of its time", false, 1_900, 0, false],
  ])("%s", (_case, isKnown, ms, bytes, expected) => {
    const sender = new Sender();
    sender.isKnown = isKnown;
    sender.begin(500, 0);
    sender.look(true, ms);
    expect(sender.isTooSlow(500 + bytes, LIMITS)).toBe(expected);
  });

  it("is not charged for time in which the service does not read", () => {
    const sender = new Sender();
    sender.isKnown = true;
    sender.begin(0, 0);
    for (let s = 1; s <= 60; s++) sender.look(s <= 5, 1000 * s);
    expect(sender.ms).toBe(5000);
    expect(sender.isTooSlow(0, LIMITS)).toBe(false);
  });
});

describe("event streams", () => {
  it("of one owner are at most 32: a further one ends the oldest", () => {
    const streams = new EventStreams();
    const ended: number[] = [];
    for (let i = 0; i < 40; i++) streams.add("a", () => ended.push(i));
    streams.add("b", () => ended.push(-1));
    expect(ended).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("are ended oldest first, and not those that have left", () => {
    const streams = new EventStreams();
    const ended: string[] = [];
    const leave = streams.add("a", () => ended.push("first"));
    streams.add("b", () => ended.push("second"));
    leave();
    expect([streams.endOldest(), streams.endOldest(), ended]).toEqual([true, false, ["second"]]);
  });
});

describe("a service", () => {
  let service: TestService;
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await service.stop();
  });

  /** Sends a whole head and the beginning of a body, of which no more comes. */
  async function begin(): Promise<Socket> {
    const socket = connect(service.port, "127.0.0.1");
    sockets.push(socket.on("error", () => undefined).resume());
    await once(socket, "connect");
    const bytes = rawPost("1.1", envelope("1.1", nullOp()));
    socket.write(bytes.slice(0, bytes.indexOf("\r\n\r\n") + 10));
    return socket;
  }

  it("gives 408 to a caller who sends too slowly", async () => {
    service = await startService({ HTTP_SENDER_GRACE_MS: "1000" });
    const bytes = rawPost("1.1", envelope("1.1", nullOp()));
    const answer = await exchange(service.port, bytes.slice(0, -10));
    expect([statusOf(answer), answer.closed]).toEqual([408, true]);
  });

  it("answers new callers while slow senders take every connection that they can", async () => {
    service = await startService({ HTTP_CONNECTIONS: "16" });
    const slow = await Promise.all(Array.from({ length: 16 }, begin));
    await Promise.race(slow.map((socket) => once(socket, "close")));
    for (let i = 0; i < 10; i++) {
      while (slow.filter((socket) => !socket.destroyed).length < 13) slow.push(await begin());
      expect((await call(service, "1.1", nullOp(), { connection: "close" })).status).toBe(200);
    }
  });
});

/** Bodies of exchanges arrive in messages of parts, and nothing is placed once one part has failed. */
import type { NatsConnection } from "@nats-io/transport-node";
import { expect, it } from "vitest";
import { Exchange } from "../../src/cluster/exchange.js";
import { PeerError } from "../../src/cluster/members.js";

const MIB = 1024 * 1024;

class Messages {
  readonly #messages: { data: Uint8Array }[] = [];
  #wake = (): void => undefined;
  #isOver = false;
  #error: unknown;

  push(data: Uint8Array): void {
    this.#messages.push({ data });
    this.#wake();
  }

  stop(error?: unknown): void {
    this.#isOver = true;
    this.#error = error;
    this.#wake();
  }

  async *[Symbol.asyncIterator]() {
    while (true) {
      for (const message of this.#messages.splice(0)) yield message;
      if (this.#error !== undefined) throw this.#error;
      if (this.#isOver) return;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

function twoParts() {
  const parts = [new Messages(), new Messages()] as const;
  const requestMany = async (_: string, from: string) => parts[Number(from) / MIB];
  const told: string[] = [];
  const connection = {
    ...{ info: { max_payload: MIB }, subscribe: () => undefined, requestMany, isClosed: () => false },
    publish: (subject: string) => told.push(subject),
  };
  const exchange = new Exchange(connection as unknown as NatsConnection, "me");
  const into = new Uint8Array(2 * MIB).fill(9);
  const received = { head: {}, bytes: 2 * MIB, inline: null, kept: "other.key" };
  const end = new AbortController();
  const done = exchange.receive(received, (bytes, at) => into.set(bytes, at), end.signal);
  return { parts, into, end, done, told };
}

it("places the messages of each part one after the other", async () => {
  const { parts, into, done, told } = twoParts();
  parts[1].push(new Uint8Array(MIB).fill(3));
  parts[0].push(new Uint8Array(MIB / 2).fill(1));
  parts[0].push(new Uint8Array(MIB / 2).fill(2));
  for (const part of parts) part.stop();
  await done;
  expect([0, MIB / 2 - 1, MIB / 2, MIB - 1, MIB, 2 * MIB - 1].map((at) => into[at])).toEqual([1, 1, 2, 2, 3, 3]);
  expect(told, "the sender need not keep the body").toEqual(["fieldprobe.end.other.key"]);
});

it("refuses a part that is too short or too long", async () => {
  for (const bytes of [MIB - 1, MIB + 1]) {
    const { parts, into, done } = twoParts();
    parts[0].push(new Uint8Array(bytes).fill(1));
    parts[0].stop();
    await expect(done).rejects.toThrow(new PeerError("a part of a body is missing"));
    expect(into[MIB]).toBe(9);
  }
});

it("places nothing after a part has failed or the signal has been aborted, whatever still arrives", async () => {
  for (const how of ["part", "signal"] as const) {
    const { parts, into, end, done, told } = twoParts();
    await Promise.resolve();
    if (how === "part") parts[0].stop();
    else end.abort(new Error("over"));
    await expect(done).rejects.toThrow(how === "part" ? "a part of a body is missing" : "over");
    expect(told).toHaveLength(1);
    parts[1].push(new Uint8Array(MIB).fill(3));
    await new Promise((resolve) => setImmediate(resolve));
    expect(into.includes(3), how).toBe(false);
  }
});

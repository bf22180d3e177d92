/** The listener holds nothing for peers that have gone. */
import { once } from "node:events";
import { connect } from "node:net";
import { pino } from "pino";
import { expect, it, vi } from "vitest";
import { freeAddresses } from "../../bench/free-addresses.js";
import type { Generations } from "../../src/cluster/generation.js";
import { Listener } from "../../src/cluster/listener.js";
import { PIECE_HEADER, writePiece } from "../../src/cluster/piece.js";
import type { Engine, Evaluation } from "../../src/engine/contract/query.js";

const GENERATION = "0123456789abcdef".repeat(4);
const QUERY = { operation: "GetVelocity", dataset: "cube" } as const;

/** A listener whose engine is `engine`, and a connection that has sent the head of a piece of one point. */
async function asked(engine: Partial<Engine>, of: Generations["of"], deadlineMs: number) {
  const [address = ""] = await freeAddresses(1);
  const status = { ...{ id: "one", version: "0", build: GENERATION, threads: 1, running: 0, progress: 0 } };
  const listener = new Listener({
    ...{ address, keys: null, log: pino({ level: "silent" }) },
    engine: { find: () => ({}), ...engine } as unknown as Engine,
    generations: { of } as unknown as Generations,
    status: () => ({ ...status, queued: 0, cache: { bytes: 1, used: 0, read: 0 }, datasets: 1 }),
    answered: () => {},
  });
  await listener.listen();
  const [host = "", port] = address.split(":");
  const socket = connect(Number(port), host);
  const piece = writePiece({ generation: GENERATION, query: QUERY, box: null, points: 1, deadlineMs });
  socket.write(`POST /v1/piece HTTP/1.1\r\nhost: a\r\n${PIECE_HEADER}: ${piece}\r\ncontent-length: 12\r\n\r\n`);
  return { address, listener, socket };
}

it("forgets a piece whose peer has gone while the generation was being made", async () => {
  let made: (generation: string) => void = () => {};
  const digest = new Promise<string>((resolve) => {
    made = resolve;
  });
  const [of, start] = [vi.fn(() => digest), vi.fn()];
  const { address, listener, socket } = await asked({ start }, of, 60_000);
  await vi.waitFor(() => expect(of).toHaveBeenCalled());
  socket.destroy();
  await once(socket, "close");
  // Once this is answered the listener has seen the end of the other connection.
  expect((await fetch(`http://${address}/v1/status`)).status).toBe(200);
  made(GENERATION);
  await listener.drain(60_000);
  expect(start).not.toHaveBeenCalled();
  listener.close();
});

it("waits for the points of a piece no longer than its peer would wait for the answer", async () => {
  const abort = vi.fn();
  const sink = { slab: new Float32Array(3), commit: vi.fn() };
  const start = vi.fn(() => ({ points: sink, velocities: sink, abort }) as unknown as Evaluation);
  const { listener } = await asked({ start }, async () => GENERATION, 20);
  await vi.waitFor(() => expect(start).toHaveBeenCalled());
  await listener.drain(60_000);
  expect(abort).toHaveBeenCalledTimes(1);
  expect(sink.commit).not.toHaveBeenCalled();
  listener.close();
});

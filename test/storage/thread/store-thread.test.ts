/** The end of the store thread reaches a thread that sleeps until it answers, also the one that started it. */
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { expect, it } from "vitest";
import { ENDED } from "../../../src/storage/thread/store-port.js";
import { StoreThread } from "../../../src/storage/thread/store-thread.js";

it("wakes the thread that started it, and is replaced although that has not heard of its exit", async () => {
  const thread = new StoreThread();
  const connected = () => {
    const { port1, port2 } = new MessageChannel();
    const signal = new Int32Array(new SharedArrayBuffer(4));
    thread.connect({ port: port2, signal });
    return { port: port1, signal };
  };
  const first = connected();
  const closing = thread.close();
  // No event of this thread is handled while it sleeps.
  Atomics.wait(first.signal, 0, 0, 20_000);
  expect(Atomics.load(first.signal, 0)).toBe(ENDED);
  const second = connected();
  second.port.postMessage({ id: 1, request: { kind: "changes", store: "", beginnings: [] } });
  Atomics.wait(second.signal, 0, 0, 20_000);
  expect(receiveMessageOnPort(second.port)).toEqual({ message: { id: 1, value: [], lent: [] } });
  await Promise.all([closing, thread.close()]);
  for (const { port } of [first, second]) port.close();
});

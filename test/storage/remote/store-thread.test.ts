/** The end of the store thread reaches a thread that sleeps until it answers, also the one that started it. */
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { expect, it, vi } from "vitest";
import { STORE_DEFAULTS } from "../../../src/shared/store-settings.js";
import { ENDED } from "../../../src/storage/remote/store-port.js";
import { StoreThread } from "../../../src/storage/remote/store-thread.js";

function connected(thread: StoreThread) {
  const { port1, port2 } = new MessageChannel();
  const signal = new Int32Array(new SharedArrayBuffer(4));
  thread.connect({ port: port2, signal });
  return { port: port1, signal };
}

it("wakes the thread that started it, and is replaced although that has not heard of its exit", async () => {
  const thread = new StoreThread();
  const first = connected(thread);
  const closing = thread.close();
  Atomics.wait(first.signal, 0, 0, 20_000);
  expect(Atomics.load(first.signal, 0)).toBe(ENDED);
  const second = connected(thread);
  second.port.postMessage({ id: 1, request: { kind: "changes", store: "", beginnings: [] } });
  Atomics.wait(second.signal, 0, 0, 20_000);
  expect(receiveMessageOnPort(second.port)).toEqual({ message: { id: 1, value: [], lent: [] } });
  await Promise.all([closing, thread.close()]);
  for (const { port } of [first, second]) port.close();
});

it("says why it has ended, also if another was started before that was known", async () => {
  const warn = vi.fn();
  const thread = new StoreThread(STORE_DEFAULTS, warn);
  const first = connected(thread);
  first.port.postMessage(null);
  Atomics.wait(first.signal, 0, 0, 20_000);
  expect(Atomics.load(first.signal, 0)).toBe(ENDED);
  const second = connected(thread);
  await vi.waitFor(() => expect(warn).toHaveBeenCalledOnce(), 20_000);
  expect(warn).toHaveBeenCalledWith(expect.stringContaining("has ended: Cannot destructure"));
  await thread.close();
  for (const { port } of [first, second]) port.close();
});

it("wakes the thread that started it if it ends before it is connected", async () => {
  // Settings that cannot be read.
  const thread = new StoreThread(null as never);
  const { port, signal } = connected(thread);
  Atomics.wait(signal, 0, 0, 20_000);
  expect(Atomics.load(signal, 0)).toBe(ENDED);
  await thread.close();
  port.close();
});

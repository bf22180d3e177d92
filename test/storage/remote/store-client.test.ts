/** Questions to a store thread that ended. */
import { afterEach, expect, it, vi } from "vitest";
import { ENDED, type StorePort } from "../../../src/storage/remote/store-port.js";

const connections: StorePort[] = [];
afterEach(() => {
  for (const { port } of connections) port.close();
});

it("fail at once, also after a reconnection, while answers that had arrived are still given", async () => {
  vi.resetModules();
  const { StoreClient } = await import("../../../src/storage/remote/store-client.js");
  StoreClient.share((connection) => connections.push(connection));
  const ask = (store: string) => StoreClient.ofThread().start({ kind: "changes", store, beginnings: [] });
  const [arrived, lost] = [ask("a"), ask("b")];
  const [first] = connections as [StorePort];
  first.port.postMessage({ id: 1, value: ["a/x"], lent: [] });
  Atomics.store(first.signal, 0, ENDED);
  ask("c");
  expect(connections).toHaveLength(2);
  expect(arrived(0)).toEqual(["a/x"]);
  expect(() => lost(0)).toThrow("b was not read: the thread that reads stores has ended.");
});

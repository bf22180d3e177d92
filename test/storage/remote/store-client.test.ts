/** Questions to a store thread that ended. */
import { expect, it } from "vitest";
import { StoreClient } from "../../../src/storage/remote/store-client.js";
import { ENDED, type StorePort } from "../../../src/storage/remote/store-port.js";

it("fail at once, also after a reconnection, while answers that had arrived are still given", () => {
  const connections: StorePort[] = [];
  const client = new StoreClient((connection) => void connections.push(connection));
  const ask = (store: string) => client.send({ kind: "changes", store, beginnings: [] });
  const [arrived, lost] = [ask("a"), ask("b")];
  const [first] = connections as [StorePort];
  first.port.postMessage({ id: 1, value: ["a/x"], lent: [] });
  Atomics.store(first.signal, 0, ENDED);
  ask("c");
  expect(connections).toHaveLength(2);
  expect(arrived(0)).toEqual(["a/x"]);
  expect(() => lost(0)).toThrow("b was not read: the thread that reads stores has ended.");
  for (const { port } of connections) port.close();
});

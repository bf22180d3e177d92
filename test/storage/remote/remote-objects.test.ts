/** Objects of a host: how long and how much of an answer is waited for. */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { BusyError } from "../../../src/errors.js";
import { RemoteObjects } from "../../../src/storage/remote/remote-objects.js";
import { STORE_DEFAULTS } from "../../../src/store-settings.js";

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** The objects of a host that answers in one way and has 300 ms for an answer. */
async function hostOf(answer: RequestListener): Promise<{ objects: RemoteObjects; address: string }> {
  server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const objects = new RemoteObjects(undefined, { ...STORE_DEFAULTS, timeoutMs: 300, attempts: 1 });
  return { objects, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/object` };
}

it("gives a long body more time than its beginning", async () => {
  const body = Buffer.alloc(2_000_000, 7);
  const { objects, address } = await hostOf((_, response) => {
    response.writeHead(200, { "content-length": body.length }).write(body.subarray(0, 1000));
    setTimeout(() => response.end(body.subarray(1000)), 600);
  });
  expect(Buffer.from((await objects.fetch(address))?.bytes ?? []).equals(body)).toBe(true);
});

it("waits no longer for a body that stands still", async () => {
  const { objects, address } = await hostOf((_, response) => {
    response.writeHead(200, { "content-length": 1000 }).write("half");
  });
  await expect(objects.fetch(address)).rejects.toThrow(BusyError);
});

it("takes the beginning alone from a host that sends the whole object instead of a part", async () => {
  const { objects, address } = await hostOf((_, response) => {
    response.writeHead(200, { "content-length": 50_000_000_000 }).write("begin, and no end");
  });
  const { bytes, size, isPart } = (await objects.fetch(address, { offset: 2, length: 3 })) ?? {};
  expect([Buffer.from(bytes ?? []).toString(), size, isPart]).toEqual(["gin", 50_000_000_000, false]);
});

it("refuses an object that is longer than any of a store", async () => {
  const { objects, address } = await hostOf((_, response) => {
    response.writeHead(200, { "content-length": 50_000_000_000 }).write("begin, and no end");
  });
  await expect(objects.fetch(address)).rejects.toThrow(/has 50000000000 bytes, more than/);
});

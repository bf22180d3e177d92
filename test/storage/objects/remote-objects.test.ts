/** Objects of a host: how long and how much of an answer is waited for. */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, expect, it } from "vitest";
import { BusyError, DataError } from "../../../src/errors.js";
import { FrozenObjects } from "../../../src/storage/objects/frozen-objects.js";
import { RemoteObjects } from "../../../src/storage/objects/remote-objects.js";
import { STORE_DEFAULTS } from "../../../src/store-settings.js";

const HTTP_TIMES = ["Sun, 22 Nov 2026 10:00:00 GMT", "Sun, 22 Nov 2026 10:00:01 GMT"] as const;

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** The objects of a host that answers in one way and has 300 ms for an answer. */
async function hostOf(answer: RequestListener, attempts = 1): Promise<{ objects: RemoteObjects; address: string }> {
  server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const objects = new RemoteObjects(undefined, { ...STORE_DEFAULTS, timeoutMs: 300, attempts });
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

const OBJECT = Buffer.from("0123456789abcdefghij");
const PART = { offset: 4, length: 6 };
const range = (first: number, last: number, total: number | string = OBJECT.length) => ({
  "content-range": `bytes ${first}-${last}/${total}`,
});
const zipped = gzipSync(OBJECT);
/** Answers to a request for six bytes from the fourth on. */
const WRONG: [what: string, status: number, headers: Record<string, string>, body: Buffer][] = [
  ["fewer bytes, and says so", 206, range(4, 7), OBJECT.subarray(4, 8)],
  ["fewer bytes than it says", 206, range(4, 9), OBJECT.subarray(4, 8)],
  ["more bytes", 206, range(4, 12), OBJECT.subarray(4, 13)],
  ["another part of the same length", 206, range(0, 5), OBJECT.subarray(0, 6)],
  ["a part without its place", 206, {}, OBJECT.subarray(4, 10)],
  ["several parts", 206, { "content-type": "multipart/byteranges; boundary=x" }, OBJECT.subarray(4, 10)],
  ["a part of coded bytes", 206, { ...range(4, 9, zipped.length), "content-encoding": "gzip" }, zipped.subarray(4, 10)],
  ["a whole object that is too short", 200, {}, OBJECT.subarray(0, 8)],
  ["a whole object that is not coded as it says", 200, { "content-encoding": "gzip" }, OBJECT],
  ["a whole object in an unknown coding", 200, { "content-encoding": "zstd-x" }, OBJECT],
  ["no such range", 416, { "content-range": "bytes */20" }, Buffer.alloc(0)],
  ["nothing", 204, {}, Buffer.alloc(0)],
];

it.each(WRONG)("refuses an answer with %s", async (_, status, headers, body) => {
  const { objects, address } = await hostOf((_request, response) => {
    response.writeHead(status, headers).end(body);
  });
  await expect(objects.fetch(address, PART)).rejects.toThrow(DataError);
});

it.each([
  ["the part", 206, range(4, 9), OBJECT.subarray(4, 10)],
  ["the part of an object of unknown length", 206, range(4, 9, "*"), OBJECT.subarray(4, 10)],
  ["the whole object", 200, {}, OBJECT],
  ["the whole object, coded", 200, { "content-encoding": "gzip" }, zipped],
] as const)("takes %s", async (_, status, headers, body) => {
  const { objects, address } = await hostOf((_request, response) => {
    response.writeHead(status, headers).end(body);
  });
  expect(Buffer.from((await objects.fetch(address, PART))?.bytes ?? []).toString()).toBe("456789");
});

it("refuses a part where the whole object was asked for", async () => {
  const { objects, address } = await hostOf((_, response) => {
    response.writeHead(206, range(0, 5)).end(OBJECT.subarray(0, 6));
  });
  await expect(objects.fetch(address)).rejects.toThrow(/sends a part of it unasked/);
});

it.each([
  ["of a known length", { "content-length": "20" }],
  ["in chunks", {}],
])("tries again when a body %s breaks off, and then gives up", async (_, headers) => {
  let requests = 0;
  const { objects, address } = await hostOf((_request, response) => {
    requests++;
    response.writeHead(200, headers).write(OBJECT.subarray(0, 10), () => response.destroy());
  }, 2);
  await expect(objects.fetch(address)).rejects.toThrow(BusyError);
  expect(requests).toBe(2);
});

it.each([
  ["another ETag", { etag: '"a"' }, { etag: '"b"' }],
  ["another weak ETag", { etag: 'W/"a"' }, { etag: 'W/"b"' }],
  ["another time and no ETag", { "last-modified": HTTP_TIMES[0] }, { "last-modified": HTTP_TIMES[1] }],
  [
    "another time and the same ETag",
    { etag: 'W/"a"', "last-modified": HTTP_TIMES[0] },
    { etag: 'W/"a"', "last-modified": HTTP_TIMES[1] },
  ],
  ["an ETag that is gone", { etag: '"a"', "last-modified": HTTP_TIMES[0] }, { "last-modified": HTTP_TIMES[0] }],
  ["another length", { etag: '"a"' }, { etag: '"a"', ...range(4, 9, 21) }],
])("refuses a part of an object with %s", async (_, before, after) => {
  let requests = 0;
  const { address } = await hostOf((request, response) => {
    const [, first, last] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "") ?? [];
    const told = requests++ < 2 ? before : after;
    response.writeHead(206, { ...range(Number(first), Number(last)), ...told });
    response.end(OBJECT.subarray(Number(first), Number(last) + 1));
  });
  const frozen = new FrozenObjects(address);
  await frozen.pin("x");
  expect(Buffer.from((await frozen.get("x", PART, 100)) ?? []).toString()).toBe("456789");
  await expect(frozen.get("x", PART, 100)).rejects.toThrow(/has changed since/);
  expect(frozen.changedMs).toBeGreaterThan(0);
});

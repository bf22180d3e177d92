/** Objects of a host: how long and how much of an answer is waited for. */
import { EventEmitter, once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, expect, it } from "vitest";
import { BusyError, DataError } from "../../../../src/shared/errors.js";
import { STORE_DEFAULTS } from "../../../../src/shared/store-settings.js";
import type { FetchClock } from "../../../../src/storage/remote/objects/fetch-clock.js";
import { HttpConnections } from "../../../../src/storage/remote/objects/http-connections.js";
import { PinnedObjects } from "../../../../src/storage/remote/objects/pinned-objects.js";
import { RemoteObjects } from "../../../../src/storage/remote/objects/remote-objects.js";

const HTTP_TIMES = ["Sun, 22 Nov 2026 10:00:00 GMT", "Sun, 22 Nov 2026 10:00:01 GMT"] as const;

/** A clock that stands until the test lets time pass. */
class HandClock implements FetchClock {
  #now = 0;
  readonly #timers = new Map<() => void, number>();

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    this.#timers.set(run, this.#now + ms);
    return () => this.#timers.delete(run);
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const [run, at] of [...this.#timers]) if (at <= this.#now && this.#timers.delete(run)) run();
  }

  /** Times until the timers that run. */
  get timeouts(): readonly number[] {
    return [...this.#timers.values()].map((at) => at - this.#now);
  }

  /** Timers of pauses, which are shorter than those of answers. */
  get pauses(): number {
    return this.timeouts.filter((ms) => ms < 300).length;
  }
}

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** The objects of a host that answers in one way and has 300 ms, which the test lets pass, for an answer. */
async function hostOf(
  answer: RequestListener,
  attempts = 1,
): Promise<{ objects: RemoteObjects; address: string; clock: HandClock }> {
  server = createServer(answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  const clock = new HandClock();
  const settings = { ...STORE_DEFAULTS, timeoutMs: 300, attempts };
  const objects = new RemoteObjects(undefined, settings, new HttpConnections(), clock);
  return { objects, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/object`, clock };
}

it("gives a long body more time than its beginning", async () => {
  const body = Buffer.alloc(2_000_000, 7);
  const begun = new EventEmitter();
  const { objects, address, clock } = await hostOf((_, response) => {
    response.writeHead(200, { "content-length": body.length }).write(body.subarray(0, 1000));
    begun.once("end", () => response.end(body.subarray(1000)));
  });
  const fetching = objects.fetch(address);
  // The time of the beginning, put off by 2 s for 2 MB.
  await expect.poll(() => clock.timeouts).toEqual([300 + 2000]);
  clock.advance(2200);
  begun.emit("end");
  expect(Buffer.from((await fetching)?.bytes ?? []).equals(body)).toBe(true);
  expect(clock.timeouts).toEqual([]);
});

it("waits no longer for a body that stops half-way", async () => {
  const { objects, address, clock } = await hostOf((_, response) => {
    response.writeHead(200, { "content-length": 1000 }).write("half");
  });
  const failing = expect(objects.fetch(address)).rejects.toThrow(/no answer in 0.3 s/);
  await expect.poll(() => clock.timeouts).toEqual([301]);
  clock.advance(301);
  await failing;
});

it("waits as long as Retry-After says before the next attempt", async () => {
  let requests = 0;
  const { objects, address, clock } = await hostOf((_, response) => {
    if (requests++ === 0) response.writeHead(503, { "retry-after": "0" }).end();
    else response.end(OBJECT);
  }, 2);
  const fetching = objects.fetch(address);
  await expect.poll(() => clock.timeouts).toEqual([0]);
  clock.advance(0);
  expect((await fetching)?.bytes.length).toBe(20);
  expect(requests).toBe(2);
});

it("asks nothing before the end of a Retry-After that is longer than its patience, and says how long that is", async () => {
  let requests = 0;
  const { objects, address, clock } = await hostOf((_, response) => {
    if (requests++ === 0) response.writeHead(429, { "retry-after": "120" }).end();
    else response.end(OBJECT);
  }, 4);
  for (const passed of [0, 119_000]) {
    clock.advance(passed);
    const error = (await objects.fetch(address).catch((failure: unknown) => failure)) as BusyError;
    expect([error.name, error.context.retryAfter]).toEqual(["BusyError", passed === 0 ? 120 : 1]);
  }
  expect(requests).toBe(1);
  clock.advance(1000);
  expect((await objects.fetch(address))?.bytes.length).toBe(20);
});

it("asks a host nothing for 5 s once two of its objects have failed in a row, and then tries each only once", async () => {
  const requests: string[] = [];
  const { objects, address, clock } = await hostOf((request, response) => {
    requests.push(request.url ?? "");
    response.writeHead(request.url?.includes("bad") ? 500 : 200, { "retry-after": "0" }).end();
  }, 2);
  const host = address.slice(0, -"/object".length);
  /** What comes of an object, and the requests that it takes. */
  const ask = async (path: string): Promise<string> => {
    const before = requests.length;
    const fetching = objects.fetch(`${host}/${path}`).then(
      () => "answered",
      () => "failed",
    );
    let outcome: string | null = null;
    void fetching.then((name) => {
      outcome = name;
    });
    await expect.poll(() => clock.advance(0) ?? outcome).not.toBeNull();
    return `${outcome} after ${requests.length - before}`;
  };
  expect([await ask("bad1"), await ask("bad1"), await ask("x")]).toEqual([
    "failed after 2",
    "failed after 2",
    "answered after 1",
  ]);
  expect([await ask("bad1"), await ask("bad2"), await ask("x")]).toEqual([
    "failed after 2",
    "failed after 2",
    "failed after 0",
  ]);
  clock.advance(4999);
  expect(await ask("x")).toBe("failed after 0");
  clock.advance(1);
  expect([await ask("bad1"), await ask("x")]).toEqual(["failed after 1", "failed after 0"]);
  clock.advance(5000);
  expect([await ask("x"), await ask("bad1")]).toEqual(["answered after 1", "failed after 2"]);
});

const S3_ERROR = (code: string) =>
  `<?xml version="1.0"?><Error><Code>${code}</Code><Message>No</Message><RequestId>4442587FB7D0A2F9</RequestId></Error>`;
it.each([
  ["SignatureDoesNotMatch", 403, "the secret key is wrong"],
  ["InvalidAccessKeyId", 403, "the host does not know the access key"],
  ["RequestTimeTooSkewed", 403, "the clock of this machine is wrong"],
  ["AccessDenied", 403, "the credentials do not allow it, or there are none"],
  ["NoSuchBucket", 404, "there is no such bucket"],
])("names the code of a refusal, what would help and the request: %s", async (code, status, advice) => {
  const { objects, address } = await hostOf((_, response) => {
    response.writeHead(status, { "content-type": "application/xml" }).end(S3_ERROR(code));
  });
  const words = `${address} is refused by its host: status ${status}, ${code} (${advice}) request 4442587FB7D0A2F9`;
  await expect(objects.fetch(address)).rejects.toThrow(words);
});

it.each([
  ["RequestTimeout", 400],
  ["BadDigest", 400],
  ["OperationAborted", 409],
])("asks again after a refusal that passes: %s", async (code, status) => {
  let requests = 0;
  const { objects, address } = await hostOf((_, response) => {
    if (requests++ === 0) response.writeHead(status, { "retry-after": "0" }).end(S3_ERROR(code));
    else response.end(OBJECT);
  }, 1);
  const words = `status ${status}, ${code} request 4442587FB7D0A2F9`;
  await expect(objects.fetch(address)).rejects.toMatchObject({ code: "Busy", message: expect.stringContaining(words) });
  expect((await objects.fetch(address))?.bytes.length).toBe(20);
});

it.each([
  ["no body", ""],
  ["a page", "<html><body>Forbidden<br></body></html>"],
  ["XML that breaks off", "<Error><Code>Acc"],
])("says the status alone where the host says nothing else: %s", async (_, body) => {
  const { objects, address } = await hostOf((_request, response) => {
    response.writeHead(403).end(body);
  });
  await expect(objects.fetch(address)).rejects.toThrow(/is refused by its host: status 403$/);
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
  const { objects, address, clock } = await hostOf((_request, response) => {
    requests++;
    response.writeHead(200, headers).write(OBJECT.subarray(0, 10), () => response.destroy());
  }, 2);
  const failing = expect(objects.fetch(address)).rejects.toThrow(BusyError);
  await expect.poll(() => clock.pauses).toBe(1);
  clock.advance(1000);
  await failing;
  expect(requests).toBe(2);
});

it.each([
  ["another ETag", { etag: '"a"' }, { etag: '"b"' }],
  [
    "another weak ETag",
    { etag: 'W/"a"', "last-modified": HTTP_TIMES[0] },
    { etag: 'W/"b"', "last-modified": HTTP_TIMES[0] },
  ],
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
  const pinned = new PinnedObjects(address);
  await pinned.pin("x");
  expect(Buffer.from((await pinned.get("x", PART, 100)) ?? []).toString()).toBe("456789");
  await expect(pinned.get("x", PART, 100)).rejects.toThrow(/has changed since/);
  expect(pinned.changedMs).toBeGreaterThan(0);
});

/**
 * Fetches objects over HTTP: bounded in number, time and size, tried again with growing random pauses, and refused at
 * once while a host does not answer.
 */
import type { IncomingMessage } from "node:http";
import type { LookupFunction } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { brotliDecompress, unzip } from "node:zlib";
import { BusyError, DataError } from "../../errors.js";
import { STORE_DEFAULTS, type StoreSettings } from "../../store-settings.js";
import { HttpConnections } from "./http-connections.js";

/** The first pause before another attempt; each further one is twice as long, and half of each is random. */
const PAUSE_MS = 100;
/**
 * Time for which a host is left alone once all attempts of a request have failed; one attempt then tells whether it is
 * back.
 */
const REST_MS = 5000;
const REDIRECTS = 3;
/** Bytes of one object or part of an object. */
const MOST_BYTES = 1024 * 1024 * 1024;
/** Bytes of a body that nobody wants and that is read all the same, so that its connection can be used again. */
const DRAINED_BYTES = 64 * 1024;
/** Codings of whole objects that are undone. */
const CODINGS = new Map([
  ["gzip", promisify(unzip)],
  ["x-gzip", promisify(unzip)],
  ["deflate", promisify(unzip)],
  ["br", promisify(brotliDecompress)],
]);
/** Bytes of a body that take no longer than a millisecond on the slowest line that is borne with. */
const SLOWEST_BYTES_PER_MS = 1000;

/** Part of an object: bytes from an offset, or its last ones. */
export type ObjectPart = ObjectRange | { readonly suffixLength: number };

/** Bytes of an object. */
export interface ObjectRange {
  readonly offset: number;
  readonly length: number;
}

/** The answer of a host that tells versions of an object apart. */
export interface Stamp {
  /** Of the whole object, where the host tells it. */
  readonly size: number | null;
  readonly etag: string | null;
  /** In milliseconds of the host's clock, or null. */
  readonly modifiedMs: number | null;
}

/** An object, or part of one. */
export interface RemoteObject extends Stamp {
  readonly bytes: Uint8Array;
  /** The time of the answer by the host's clock, or by ours. */
  readonly dateMs: number;
  /** Whether the host has sent the part alone, as it was asked to. */
  readonly isPart: boolean;
}

/** The answer of a host whose object still is the one that is known. */
export const UNCHANGED = Symbol("unchanged");

/** The object or part of it that is asked for. */
interface ObjectRequest {
  readonly address: string;
  readonly part: ObjectPart | null;
  /** The object is sent only where it is another than that of this `ETag`. */
  readonly unless: string | null;
  /** The request that is made instead of a fetch. */
  readonly change?: ObjectWrite;
}

/** A request that writes or removes an object. */
export interface ObjectWrite {
  readonly method: "PUT" | "DELETE";
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Turns a request into one that the host accepts, e.g. by a signature. */
export type Sign = (request: Request) => Promise<Request>;

/** What connects to hosts. */
export interface Network {
  readonly connections: HttpConnections;
  /** Finds the addresses of hosts, and may refuse them; absent: the system's. */
  readonly lookup?: LookupFunction | undefined;
}

/** Counts of fetches from one host. */
export interface RemoteCounts {
  requests: number;
  retries: number;
  failures: number;
  bytes: number;
  /** Milliseconds that requests have taken in all. */
  busyMs: number;
}

/** The objects of one host. */
export class RemoteObjects {
  readonly counts: RemoteCounts = { requests: 0, retries: 0, failures: 0, bytes: 0, busyMs: 0 };
  readonly #sign: Sign;
  readonly #settings: StoreSettings;
  readonly #network: Network;
  #free: number;
  readonly #waiting: (() => void)[] = [];
  #failing = false;
  #restsUntil = 0;

  /** Whether the host answered the last request. */
  get answers(): boolean {
    return !this.#failing;
  }

  constructor(
    sign: Sign = async (request) => request,
    settings: StoreSettings = STORE_DEFAULTS,
    network: Network = { connections: new HttpConnections() },
  ) {
    this.#sign = sign;
    this.#settings = settings;
    this.#network = network;
    this.#free = settings.connections;
  }

  /**
   * Fetches an object or part of it; null where there is none.
   *
   * @throws BusyError when the host does not answer, DataError when it refuses or its answer is not what was asked for
   */
  async fetch(address: string, part: ObjectPart | null = null): Promise<RemoteObject | null> {
    return (await this.#inTurn({ address, part, unless: null })) as RemoteObject | null;
  }

  /** Fetches an object unless it still is the one of this `ETag`. @throws as `fetch` */
  fetchUnless(address: string, unless: string): Promise<RemoteObject | null | typeof UNCHANGED> {
    return this.#inTurn({ address, part: null, unless });
  }

  /** Writes or removes an object. @throws as `fetch` */
  async send(address: string, change: ObjectWrite): Promise<void> {
    const done = await this.#inTurn({ address, part: null, unless: null, change });
    if (done === null && change.method === "PUT")
      throw new DataError(`${address} cannot be written: there is no bucket`);
  }

  async #inTurn(wanted: ObjectRequest): Promise<RemoteObject | null | typeof UNCHANGED> {
    await this.#enter();
    try {
      return await this.#tryAgain(wanted);
    } finally {
      this.#free++;
      this.#waiting.shift()?.();
    }
  }

  async #enter(): Promise<void> {
    while (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#free--;
  }

  async #tryAgain(wanted: ObjectRequest): Promise<RemoteObject | null | typeof UNCHANGED> {
    const { address } = wanted;
    for (let attempt = 1; ; attempt++) {
      if (performance.now() < this.#restsUntil)
        throw new BusyError(`${hostOf(address)} has not answered and is left alone for a while.`, 5);
      try {
        const object = await this.#once(wanted);
        this.#failing = false;
        return object;
      } catch (error) {
        if (error instanceof DataError) throw error;
        if (error instanceof OtherPart) return await this.#tryAgain({ ...wanted, part: error.wanted });
        if (attempt >= this.#settings.attempts || this.#failing) throw this.#failed(address, error);
        this.counts.retries++;
        await pause(PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2));
      }
    }
  }

  /** Counts a request that failed for good. */
  #failed(address: string, error: unknown): BusyError {
    this.counts.failures++;
    this.#failing = true;
    this.#restsUntil = performance.now() + REST_MS;
    return new BusyError(`${address} cannot be fetched: ${reasonOf(error, this.#settings)}.`, 5);
  }

  async #once(wanted: ObjectRequest): Promise<RemoteObject | null | typeof UNCHANGED> {
    const { address, part, unless } = wanted;
    const start = performance.now();
    this.counts.requests++;
    const end = new ResponseTimeout(this.#settings.timeoutMs, wanted.change?.body?.length ?? 0);
    try {
      const answer = await this.#follow(wanted, end.signal);
      const status = answer.statusCode as number;
      const isDone = wanted.change !== undefined && status >= 200 && status < 300;
      if (status === 200 || status === 206 || isDone) {
        end.extend(Math.min(Number(answer.headers["content-length"] ?? 0), MOST_BYTES));
        const object = await objectOf(address, answer, part);
        this.counts.bytes += object.bytes.length;
        return object;
      }
      await drain(answer);
      if (status === 304 && unless !== null) return UNCHANGED;
      if (status === 404 || status === 410) return null;
      if (status >= 500 || status === 429 || status === 408) throw new Error(`status ${status}`);
      throw new DataError(`${address} is refused by its host: status ${status}`);
    } catch (error) {
      throw end.signal.aborted ? end.signal.reason : error;
    } finally {
      end.clear();
      this.counts.busyMs += performance.now() - start;
    }
  }

  /** Sends a request, and follows redirections that stay on the host. */
  async #follow({ address, part, unless, change }: ObjectRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const headers = {
      ...(part === null ? {} : { range: rangeOf(part) }),
      ...(unless === null ? {} : { "if-none-match": unless }),
      ...change?.headers,
      "accept-encoding": "identity",
    };
    const { method = "GET", body = null } = change ?? {};
    let at = address;
    for (let hop = 0; hop <= REDIRECTS; hop++) {
      const request = await this.#sign(new Request(at, { method, body, headers }));
      const { connections, lookup } = this.#network;
      const sent = { method, headers: Object.fromEntries(request.headers), body, lookup };
      const answer = await connections.send(request.url, sent, signal);
      const { statusCode: status = 0, headers: told } = answer;
      if (status < 300 || status >= 400 || told.location === undefined) return answer;
      await drain(answer);
      const { location } = told;
      const next = new URL(location, at);
      if (next.origin !== new URL(address).origin)
        throw new DataError(`${address} leads to another host (${next.host}), which is refused`);
      at = next.href;
    }
    throw new DataError(`${address} leads from one place to the next without end`);
  }
}

/** Reads the rest of an answer that nobody wants, or cuts it off where that is much. */
async function drain(answer: IncomingMessage): Promise<void> {
  let length = 0;
  for await (const buffer of answer as AsyncIterable<Buffer>) {
    length += buffer.length;
    // The end of the loop closes the connection.
    if (length > DRAINED_BYTES) break;
  }
}

/** The timeout of one answer, which a long body puts off. */
class ResponseTimeout {
  readonly #end = new AbortController();
  readonly #timeoutMs: number;
  #timer: NodeJS.Timeout;

  /** @param bytes that are sent */
  constructor(timeoutMs: number, bytes: number) {
    this.#timeoutMs = timeoutMs;
    this.#timer = this.#start(bytes);
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Gives time for a body whose beginning is there. */
  extend(bytes: number): void {
    clearTimeout(this.#timer);
    this.#timer = this.#start(bytes);
  }

  clear(): void {
    clearTimeout(this.#timer);
  }

  #start(bytes: number): NodeJS.Timeout {
    const reason = new DOMException("no answer in time", "TimeoutError");
    return setTimeout(() => this.#end.abort(reason), this.#timeoutMs + bytes / SLOWEST_BYTES_PER_MS);
  }
}

/** A host that does not know ranges from the end has sent another part; its answer tells where the end is. */
class OtherPart extends Error {
  readonly wanted: ObjectPart;

  constructor(wanted: ObjectPart) {
    super("the host has sent another part");
    this.wanted = wanted;
  }
}

/** The reason of a failed request in a few words, without the stack of the library. */
function reasonOf(error: unknown, { timeoutMs }: StoreSettings): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `no answer in ${timeoutMs / 1000} s`;
  const cause = error.cause instanceof Error ? error.cause : error;
  return cause.message.replace(/\s+/g, " ");
}

function hostOf(address: string): string {
  return new URL(address).host;
}

function rangeOf(part: ObjectPart): string {
  if ("suffixLength" in part) return `bytes=-${part.suffixLength}`;
  return `bytes=${part.offset}-${part.offset + part.length - 1}`;
}

async function objectOf(address: string, answer: IncomingMessage, part: ObjectPart | null): Promise<RemoteObject> {
  const { statusCode: status, headers } = answer;
  const announced = headers["content-length"];
  const coding = headers["content-encoding"]?.toLowerCase() || "identity";
  // A host that knows no ranges sends the whole object: what lies behind the part is not waited for.
  const isCut = announced !== undefined && status === 200 && coding === "identity" && part !== null && "offset" in part;
  const needed = isCut ? part.offset + part.length : null;
  if (Number(announced ?? 0) > MOST_BYTES && !isCut) {
    answer.destroy();
    throw new DataError(`${address} has ${announced} bytes, more than ${MOST_BYTES}`);
  }
  const sent = await bodyOf(address, answer, needed);
  const whole = coding === "identity" ? sent : await decoded(address, coding, sent, status === 206);
  const { bytes, size } = partOf(address, answer, whole, part);
  const date = Date.parse(headers.date ?? "");
  const modified = Date.parse(headers["last-modified"] ?? "");
  return {
    bytes,
    size,
    etag: headers.etag ?? null,
    modifiedMs: Number.isNaN(modified) ? null : modified,
    dateMs: Number.isNaN(date) ? Date.now() : date,
    isPart: status === 206,
  };
}

/** The body of an answer, or as much of its beginning as is needed. @throws DataError for more than the most bytes */
async function bodyOf(address: string, answer: IncomingMessage, needed: number | null): Promise<Uint8Array> {
  const buffers: Uint8Array[] = [];
  let length = 0;
  for await (const buffer of answer as AsyncIterable<Buffer>) {
    length += buffer.length;
    if (length > MOST_BYTES && needed === null) throw new DataError(`${address} has more than ${MOST_BYTES} bytes`);
    buffers.push(buffer);
    // The end of the loop closes the connection.
    if (needed !== null && length >= needed) break;
  }
  return Buffer.concat(buffers);
}

/**
 * A whole object whose host has coded it, though it was asked not to.
 *
 * Source: RFC 9110, section 14: ranges are those of the coded bytes.
 *
 * @throws DataError for a part of one, whose bytes are not those of the object, and for other codings
 */
async function decoded(address: string, coding: string, sent: Uint8Array, isPart: boolean): Promise<Uint8Array> {
  const undo = CODINGS.get(coding);
  if (undo === undefined || isPart)
    throw new DataError(`${address}: its host sends ${isPart ? "parts of it" : "it"} with Content-Encoding ${coding}`);
  try {
    return await undo(sent, { maxOutputLength: MOST_BYTES });
  } catch (cause) {
    throw new DataError(`${address} is no ${coding}, as its host says`, cause);
  }
}

/** The part that was asked for: hosts that know no ranges send the whole object. */
function partOf(
  address: string,
  { statusCode: status, headers }: IncomingMessage,
  body: Uint8Array,
  part: ObjectPart | null,
): { bytes: Uint8Array; size: number | null } {
  if (part === null && status === 206) throw new DataError(`${address}: its host sends a part of it unasked`);
  if (part === null) return { bytes: body, size: body.length };
  if (status === 200) {
    const [start, end] =
      "suffixLength" in part
        ? [Math.max(0, body.length - part.suffixLength), body.length]
        : [part.offset, part.offset + part.length];
    if (end > body.length) throw new DataError(`${address} ends after ${body.length} bytes`);
    const isAnnounced = headers["content-length"] !== undefined && headers["content-encoding"] === undefined;
    return { bytes: body.subarray(start, end), size: isAnnounced ? Number(headers["content-length"]) : body.length };
  }
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(headers["content-range"] ?? "") ?? [];
  const size = total === undefined || total === "*" ? null : Number(total);
  const isWhole = Number(last) - Number(first) + 1 === body.length;
  if ("suffixLength" in part) {
    if (size === null) throw new DataError(`${address}: the host does not tell how long the object is`);
    const length = Math.min(part.suffixLength, size);
    if (!isWhole || body.length !== length || Number(last) !== size - 1)
      throw new OtherPart({ offset: size - length, length });
  } else if (!isWhole || Number(first) !== part.offset || body.length !== part.length)
    throw new DataError(`${address} does not have the bytes ${rangeOf(part).slice(6)}`);
  return { bytes: body, size };
}

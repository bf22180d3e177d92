/** Fetches objects over HTTP: bounded in number, time and size, retried, with a circuit breaker for each host. */
import { promisify } from "node:util";
import { brotliDecompress, unzip } from "node:zlib";
import { BusyError, DataError } from "../../../shared/errors.js";
import { STORE_DEFAULTS, type StoreSettings } from "../../../shared/store-settings.js";
import { CircuitBreaker } from "./circuit-breaker.js";
import { type FetchClock, pause, SYSTEM_CLOCK } from "./fetch-clock.js";
import { refusalIn } from "./host-refusal.js";
import { type HttpAnswer, HttpConnections, type HttpHead, type NeededBytes } from "./http-connections.js";

/** First pause before a retry; each further one is twice as long, and half of each is random. */
const PAUSE_MS = 100;
const MAX_RETRY_MS = 300_000;
const REDIRECTS = 3;
/** Most bytes of an object or part of an object, unless the caller has a smaller bound. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** Bytes of an unwanted body that are read, so that its connection can be reused. */
const DRAINED_BYTES = 64 * 1024;
const CODINGS = new Map([
  ["gzip", promisify(unzip)],
  ["x-gzip", promisify(unzip)],
  ["deflate", promisify(unzip)],
  ["br", promisify(brotliDecompress)],
]);
/** Bytes per millisecond of the slowest connection that is accepted. */
const SLOWEST_BYTES_PER_MS = 1000;

export type ObjectPart = ObjectRange | { readonly suffixLength: number };

export type ObjectRange = Readonly<Record<"offset" | "length", number>>;

export interface Stamp {
  /** Size of the whole object, if the host states it. */
  readonly size: number | null;
  readonly etag: string | null;
  /** Time of the last change in milliseconds of the host's clock, or null. */
  readonly modifiedMs: number | null;
}

export interface RemoteObject extends Stamp {
  readonly bytes: Uint8Array;
  /** The time of the answer by the host's clock, or by ours. */
  readonly dateMs: number;
  readonly isPart: boolean;
}

export const UNCHANGED = Symbol("unchanged");

interface ObjectRequest {
  readonly address: string;
  readonly part: ObjectPart | null;
  /** `ETag` of a known version: the object is sent only if it has changed. */
  readonly unless: string | null;
  readonly mostBytes: number;
  /** A write that is sent instead of a fetch. */
  readonly change?: ObjectWrite;
}

export interface ObjectWrite {
  readonly method: "PUT" | "POST" | "DELETE";
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Signs a request. */
export type Sign = (request: Request) => Promise<Request>;

export interface RemoteCounts {
  requests: number;
  retries: number;
  failures: number;
  bytes: number;
  busyMs: number;
}

export class RemoteObjects {
  readonly counts: RemoteCounts = { requests: 0, retries: 0, failures: 0, bytes: 0, busyMs: 0 };
  readonly #sign: Sign | null;
  readonly #settings: StoreSettings;
  readonly #connections: HttpConnections;
  readonly #clock: FetchClock;
  readonly #breaker: CircuitBreaker;
  #free: number;
  readonly #waiting: (() => void)[] = [];
  #failing = false;

  get answers(): boolean {
    return !this.#failing;
  }

  constructor(
    sign: Sign | null = null,
    settings: StoreSettings = STORE_DEFAULTS,
    connections: HttpConnections = new HttpConnections(),
    clock: FetchClock = SYSTEM_CLOCK,
  ) {
    this.#sign = sign;
    this.#settings = settings;
    this.#connections = connections;
    this.#clock = clock;
    this.#breaker = new CircuitBreaker(clock);
    this.#free = settings.connections;
  }

  /**
   * Fetches an object or a part; null if there is none.
   * @throws BusyError when the host does not answer, DataError when it refuses or answers something else
   */
  async fetch(address: string, part: ObjectPart | null = null, mostBytes = MAX_BYTES): Promise<RemoteObject | null> {
    return (await this.#tryAgain({ address, part, unless: null, mostBytes })) as RemoteObject | null;
  }

  /** Fetches an object unless its `ETag` still is `unless`. Throws as `fetch` does. */
  fetchUnless(address: string, unless: string, mostBytes: number): Promise<RemoteObject | null | typeof UNCHANGED> {
    return this.#tryAgain({ address, part: null, unless, mostBytes });
  }

  /** Writes or removes an object. Returns the answer of the host, null if there is none. Throws as `fetch` does. */
  async send(address: string, change: ObjectWrite): Promise<RemoteObject | null> {
    const wanted = { address, part: null, unless: null, mostBytes: MAX_BYTES, change };
    const done = (await this.#tryAgain(wanted)) as RemoteObject | null;
    if (done === null && change.method === "PUT")
      throw new DataError(`${address} cannot be written: there is no bucket`);
    return done;
  }

  /** Retries; during pauses, others use the connection of the request. */
  async #tryAgain(wanted: ObjectRequest): Promise<RemoteObject | null | typeof UNCHANGED> {
    const { address } = wanted;
    for (let attempt = 1; ; attempt++) {
      const { openMs, isOnTrial } = this.#breaker;
      if (openMs > 0)
        throw new BusyError(`${address} is not asked for: its host has failed just now.`, Math.ceil(openMs / 1000));
      const isLast = attempt >= this.#settings.attempts || isOnTrial;
      try {
        const object = await this.#inTurn(wanted);
        this.#failing = false;
        this.#breaker.answered();
        return object;
      } catch (error) {
        if (error instanceof DataError) throw error;
        if (error instanceof OtherPart) return await this.#tryAgain({ ...wanted, part: error.wanted });
        const retryMs = error instanceof Unanswered ? error.retryMs : null;
        if (isLast || (retryMs ?? 0) > this.#settings.timeoutMs) throw this.#failed(address, error, retryMs);
        this.counts.retries++;
        await pause(this.#clock, retryMs ?? PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2));
      }
    }
  }

  async #inTurn(wanted: ObjectRequest): Promise<RemoteObject | null | typeof UNCHANGED> {
    while (this.#free === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#free--;
    try {
      return await this.#once(wanted);
    } finally {
      this.#free++;
      this.#waiting.shift()?.();
    }
  }

  #failed(address: string, error: unknown, retryMs: number | null): BusyError {
    this.counts.failures++;
    this.#failing = true;
    this.#breaker.failed(address, retryMs);
    const seconds = Math.max(1, Math.ceil(this.#breaker.openMs / 1000));
    return new BusyError(`${address} cannot be fetched: ${reasonOf(error, this.#settings)}.`, seconds);
  }

  async #once(wanted: ObjectRequest): Promise<RemoteObject | null | typeof UNCHANGED> {
    const { address, part, unless, mostBytes } = wanted;
    const start = this.#clock.now();
    this.counts.requests++;
    const timeout = new ResponseTimeout(this.#clock, this.#settings.timeoutMs, wanted.change?.body?.length ?? 0);
    try {
      const hasObject = ({ status }: HttpHead) =>
        status === 200 || status === 206 || (wanted.change !== undefined && status >= 200 && status < 300);
      const answer = await this.#follow(wanted, timeout.signal, (head) => {
        if (!hasObject(head)) return DRAINED_BYTES;
        timeout.extend(Math.min(Number(head.headers["content-length"] ?? 0), mostBytes));
        return neededBytes(address, head, part, mostBytes);
      });
      if (!hasObject(answer)) return this.#withoutObject(address, answer, unless);
      const object = await objectOf(address, answer, part, mostBytes);
      this.counts.bytes += object.bytes.length;
      return object;
    } catch (error) {
      throw timeout.signal.aborted ? timeout.signal.reason : error;
    } finally {
      timeout.clear();
      this.counts.busyMs += this.#clock.now() - start;
    }
  }

  /** The meaning of an answer without an object. Throws DataError for a refusal, Unanswered if a retry may succeed. */
  #withoutObject(
    address: string,
    { status, headers, body }: HttpAnswer,
    unless: string | null,
  ): null | typeof UNCHANGED {
    if (status === 304 && unless !== null) return UNCHANGED;
    const { code, isTransient, reason } = refusalIn(body, textOf(headers["x-amz-request-id"]));
    const text = reason === "" ? `status ${status}` : `status ${status}, ${reason}`;
    if ((status === 404 || status === 410) && code !== "NoSuchBucket") return null;
    if (status >= 500 || status === 429 || status === 408 || isTransient)
      throw new Unanswered(text, retryAfter(textOf(headers["retry-after"])));
    throw new DataError(`${address} is refused by its host: ${text}`);
  }

  async #follow(
    { address, part, unless, change }: ObjectRequest,
    signal: AbortSignal,
    needed: NeededBytes,
  ): Promise<HttpAnswer> {
    const headers = {
      ...(part === null ? {} : { range: rangeOf(part) }),
      ...(unless === null ? {} : { "if-none-match": unless }),
      ...change?.headers,
      "accept-encoding": "identity",
    };
    const { method = "GET", body = null } = change ?? {};
    let at = address;
    for (let hop = 0; hop <= REDIRECTS; hop++) {
      const signed = this.#sign === null ? null : await this.#sign(new Request(at, { method, body, headers }));
      const sent = { method, headers: signed === null ? headers : Object.fromEntries(signed.headers), body } as const;
      const answer = await this.#connections.send(signed?.url ?? at, sent, signal, needed);
      const location = textOf(answer.headers.location);
      if (answer.status < 300 || answer.status >= 400 || location === undefined) return answer;
      const next = new URL(location, at);
      if (next.origin !== new URL(address).origin)
        throw new DataError(`${address} leads to another host (${next.host}), which is refused`);
      at = next.href;
    }
    throw new DataError(`${address} leads from one place to the next without end`);
  }
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** Milliseconds that a host asks to wait, within a bound; null if it does not ask. Source: RFC 9110, 10.2.3. */
function retryAfter(header: string | undefined): number | null {
  if (header === undefined) return null;
  const ms = /^\d+$/.test(header) ? 1000 * Number(header) : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), MAX_RETRY_MS);
}

class ResponseTimeout {
  readonly #end = new AbortController();
  readonly #clock: FetchClock;
  readonly #timeoutMs: number;
  #cancel: () => void;

  /** @param bytes bytes of the request body */
  constructor(clock: FetchClock, timeoutMs: number, bytes: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#cancel = this.#start(bytes);
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  /** Restarts the timeout at the head of an answer. `bytes`: bytes of the body that follows. */
  extend(bytes: number): void {
    this.#cancel();
    this.#cancel = this.#start(bytes);
  }

  clear(): void {
    this.#cancel();
  }

  #start(bytes: number): () => void {
    return this.#clock.after(this.#timeoutMs + bytes / SLOWEST_BYTES_PER_MS, () =>
      this.#end.abort(new DOMException("no answer in time", "TimeoutError")),
    );
  }
}

/** A missing answer, with the time to wait if the host states one. */
class Unanswered extends Error {
  readonly retryMs: number | null;

  constructor(message: string, retryMs: number | null) {
    super(message);
    this.retryMs = retryMs;
  }
}

class OtherPart extends Error {
  readonly wanted: ObjectPart;

  constructor(wanted: ObjectPart) {
    super("the host has sent another part");
    this.wanted = wanted;
  }
}

function reasonOf(error: unknown, { timeoutMs }: StoreSettings): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === "TimeoutError") return `no answer in ${timeoutMs / 1000} s`;
  const cause = error.cause instanceof Error ? error.cause : error;
  const { code, hostname = "" } = cause as NodeJS.ErrnoException & { readonly hostname?: string };
  const isAmazon = code === "ENOTFOUND" && hostname.endsWith(".amazonaws.com");
  const hint = isAmazon ? " (check bucket and AWS_REGION; AWS_ENDPOINT_URL names another service that speaks S3)" : "";
  return cause.message.replace(/\s+/g, " ") + hint;
}

function rangeOf(part: ObjectPart): string {
  if ("suffixLength" in part) return `bytes=-${part.suffixLength}`;
  return `bytes=${part.offset}-${part.offset + part.length - 1}`;
}

/**
 * Bytes of a body to read: up to the end of the part if the host sends the whole object, otherwise one more than
 * allowed, to detect that it is too long. @throws DataError if it announces more
 */
function neededBytes(address: string, { status, headers }: HttpHead, part: ObjectPart | null, most: number): number {
  const announced = textOf(headers["content-length"]);
  const isPlain = announced !== undefined && codingOf(headers) === "identity";
  if (isPlain && status === 200 && part !== null && "offset" in part) return part.offset + part.length;
  if (Number(announced ?? 0) > most) throw new DataError(`${address} has ${announced} bytes, more than ${most}`);
  return most + 1;
}

function codingOf(headers: HttpHead["headers"]): string {
  return textOf(headers["content-encoding"])?.toLowerCase() || "identity";
}

async function objectOf(
  address: string,
  answer: HttpAnswer,
  part: ObjectPart | null,
  mostBytes: number,
): Promise<RemoteObject> {
  const { status, headers, body } = answer;
  const coding = codingOf(headers);
  // An announced length has passed `neededBytes`.
  if (body.length > Math.max(mostBytes, Number(headers["content-length"] ?? 0)))
    throw new DataError(`${address} has more than ${mostBytes} bytes`);
  const whole = coding === "identity" ? body : await decode(address, coding, body, status === 206, mostBytes);
  const { bytes, size } = partOf(address, answer, whole, part);
  const date = Date.parse(textOf(headers.date) ?? "");
  const modified = Date.parse(textOf(headers["last-modified"]) ?? "");
  return {
    bytes,
    size,
    etag: textOf(headers.etag) ?? null,
    modifiedMs: Number.isNaN(modified) ? null : modified,
    dateMs: Number.isNaN(date) ? Date.now() : date,
    isPart: status === 206,
  };
}

/**
 * Undoes an unrequested content coding. Source: RFC 9110, section 14: ranges refer to the coded bytes.
 * @throws DataError for parts, and for other codings
 */
async function decode(
  address: string,
  coding: string,
  sent: Uint8Array,
  isPart: boolean,
  maxOutputLength: number,
): Promise<Uint8Array> {
  const undo = CODINGS.get(coding);
  if (undo === undefined || isPart)
    throw new DataError(`${address}: its host sends ${isPart ? "parts of it" : "it"} with Content-Encoding ${coding}`);
  try {
    return await undo(sent, { maxOutputLength });
  } catch (cause) {
    throw new DataError(`${address} is not valid ${coding}, although its host says so`, cause);
  }
}

/** Cuts a part out of a body: hosts without ranges send the whole object. */
function partOf(
  address: string,
  { status, headers }: HttpHead,
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
  const [, first, last, total] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(textOf(headers["content-range"]) ?? "") ?? [];
  const size = total === undefined || total === "*" ? null : Number(total);
  const isComplete = Number(last) - Number(first) + 1 === body.length;
  if ("suffixLength" in part) {
    if (size === null) throw new DataError(`${address}: the host does not tell how long the object is`);
    const length = Math.min(part.suffixLength, size);
    if (!isComplete || body.length !== length || Number(last) !== size - 1)
      throw new OtherPart({ offset: size - length, length });
  } else if (!isComplete || Number(first) !== part.offset || body.length !== part.length)
    throw new DataError(`${address} does not have the bytes ${rangeOf(part).slice(6)}`);
  return { bytes: body, size };
}

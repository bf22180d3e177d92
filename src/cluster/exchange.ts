/**
 * Requests and answers between processes: a header of plain data and a body. A large body stays with its sender; the
 * receiver fetches it in parts, at most eight megabytes at a time, whatever the number of senders.
 */
import { once, setMaxListeners } from "node:events";
import { deserialize, serialize } from "node:v8";
import type { Msg, NatsConnection, QueuedIterator, Subscription } from "@nats-io/transport-node";
import { CancelledError } from "../shared/errors.js";
import { ROOT } from "../shared/nats.js";
import { PeerError } from "./members.js";

const INLINE_BYTES = 64 * 1024;
/** Bytes of a part of a body, number of parts awaited at a time, and the timeout of one. */
const PART_BYTES = 1024 * 1024;
const CREDIT = 8;
const PART_MS = 30_000;
/**
 * Bytes beyond which bodies are not inlined: larger messages arrive in frames that the client joins in growing buffers,
 * for which V8 marks its whole heap (docs/decisions/cluster.md).
 */
const MESSAGE_BYTES = 16 * 1024;

type BodyParts = readonly Uint8Array[];
type PlaceBytes = (bytes: Uint8Array, at: number) => void;

type Due = { readonly deadlineMs: number };

export interface Received<H> {
  readonly head: H;
  readonly bytes: number;
  /** The body; null if it stays with its sender. */
  readonly inline: Uint8Array | null;
  /** Process and key under which the body is kept. */
  readonly kept: string;
}

/** Answers a request; never rejects. `send` resolves once the body has been fetched or dropped. */
type ReplyTo<H> = (
  request: Received<H>,
  signal: AbortSignal,
  send: (head: object, body: BodyParts) => Promise<void>,
) => Promise<void>;

export class Exchange {
  readonly #connection: NatsConnection;
  readonly #id: string;
  readonly #mostBytes: number;
  /** By key, bodies that others fetch, and what aborts requests that are being answered. */
  readonly #kept = new Map<string, BodyParts>();
  readonly #ends = new Map<string, () => void>();
  readonly #waiting: (() => void)[] = [];
  #credit = CREDIT;
  #count = 0;

  constructor(connection: NatsConnection, id: string) {
    this.#connection = connection;
    this.#id = id;
    this.#mostBytes = connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
    connection.subscribe(`${ROOT}.end.${id}.*`, { callback: (_, { subject }) => this.#ends.get(keyIn(subject))?.() });
    connection.subscribe(`${ROOT}.part.${id}.*`, {
      callback: (error, message) => {
        const body = error ? undefined : this.#kept.get(keyIn(message.subject));
        const most = Math.min(MESSAGE_BYTES, this.#mostBytes);
        for (const some of body ? messagesOf(body, Number(message.string()), most) : []) message.respond(some);
        message.respond();
      },
    });
  }

  close(): void {
    for (const end of this.#ends.values()) end();
  }

  /** Encodes header and body as a message; a large body is kept under the key. Throws PeerError for a large header. */
  #write(head: object, body: BodyParts, key: string): Uint8Array {
    const bytes = body.reduce((sum, { length }) => sum + length, 0);
    const inline = bytes <= INLINE_BYTES ? Buffer.concat(body) : null;
    if (inline === null) this.#kept.set(key, body);
    const message = serialize({ head, bytes, inline, kept: `${this.#id}.${key}` } satisfies Received<object>);
    if (message.length > this.#mostBytes) throw new PeerError(`a message of ${message.length} bytes is too large`);
    return message;
  }

  #end(kept: string): void {
    if (!this.#connection.isClosed()) this.#connection.publish(`${ROOT}.end.${kept}`);
  }

  /** Sends a request and awaits the header of its answer. Throws PeerError, or the reason of the signal. */
  async request<H>(id: string, version: string, head: Due, body: BodyParts, signal: AbortSignal): Promise<Received<H>> {
    const key = `${this.#id}-${this.#count++}`;
    let abort = (): void => undefined;
    const aborted = new Promise<never>((_, reject) => {
      abort = () => reject(signal.reason);
      signal.addEventListener("abort", abort);
    });
    try {
      signal.throwIfAborted();
      const subject = subjectOf(version, id);
      const answered = this.#connection.request(subject, this.#write(head, body, key), { timeout: head.deadlineMs });
      return read<H>(await Promise.race([answered, aborted]));
    } catch (error) {
      signal.throwIfAborted();
      throw new PeerError((error as Error).message, { cause: error });
    } finally {
      signal.removeEventListener("abort", abort);
      this.#kept.delete(key);
      if (signal.aborted) this.#end(`${id}.${key}`);
    }
  }

  /** Answers requests for a dataset version. */
  listen<H extends Due>(version: string, answer: ReplyTo<H>): Subscription {
    const reply = async (message: Msg): Promise<void> => {
      const request = read<H>(message);
      const key = keyIn(request.kept);
      const end = new AbortController();
      const abort = (): void => end.abort(new CancelledError());
      const timer = setTimeout(abort, request.head.deadlineMs);
      this.#ends.set(key, abort);
      try {
        await answer(request, end.signal, async (head, body) => {
          message.respond(this.#write(head, body, key));
          if (this.#kept.has(key) && !end.signal.aborted) await once(end.signal, "abort");
        });
      } finally {
        clearTimeout(timer);
        this.#ends.delete(key);
        this.#kept.delete(key);
      }
    };
    return this.#connection.subscribe(subjectOf(version, this.#id), {
      // The requester reads an empty message as a refusal.
      callback: (error, message) => void (error ?? reply(message).catch(() => message.respond())),
    });
  }

  /** Fetches a body. Throws PeerError, or the reason of the signal, after which nothing is written. */
  async receive({ bytes, inline, kept }: Received<unknown>, place: PlaceBytes, given: AbortSignal): Promise<void> {
    if (inline !== null) return place(inline, 0);
    const failure = new AbortController();
    const signal = AbortSignal.any([given, failure.signal]);
    // Many listeners are not a leak here.
    setMaxListeners(0, signal);
    const fetch = async (from: number): Promise<void> => {
      if (this.#credit === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
      else this.#credit--;
      const end = Math.min(bytes, from + PART_BYTES);
      let at = from;
      let stop = (): void => undefined;
      try {
        signal.throwIfAborted();
        const options = { strategy: "sentinel", maxWait: PART_MS } as const;
        const messages = await this.#connection.requestMany(`${ROOT}.part.${kept}`, String(from), options);
        stop = () => (messages as QueuedIterator<Msg>).stop(signal.reason);
        signal.addEventListener("abort", stop);
        if (signal.aborted) stop();
        for await (const { data } of messages) {
          signal.throwIfAborted();
          if (at + data.length <= end) place(data, at);
          at += data.length;
        }
        if (at !== end) throw new Error("a part of a body is missing");
      } catch (error) {
        const reason = signal.aborted ? signal.reason : new PeerError((error as Error).message, { cause: error });
        failure.abort(reason);
        throw reason;
      } finally {
        signal.removeEventListener("abort", stop);
        const next = this.#waiting.shift();
        if (next) next();
        else this.#credit++;
      }
    };
    const parts = Array.from({ length: Math.ceil(bytes / PART_BYTES) }, (_, i) => fetch(i * PART_BYTES));
    await Promise.all(parts).finally(() => this.#end(kept));
  }
}

function subjectOf(version: string, id: string): string {
  return `${ROOT}.piece.${version}.${id}`;
}

function keyIn(subject: string): string {
  return subject.slice(subject.lastIndexOf(".") + 1);
}

function read<H>({ data }: Msg): Received<H> {
  try {
    return deserialize(data);
  } catch {
    throw new PeerError("a message that no process of a cluster sends");
  }
}

function* messagesOf(body: BodyParts, from: number, most: number): Generator<Uint8Array> {
  let start = 0;
  for (const memory of body) {
    const end = Math.min(memory.length, from + PART_BYTES - start);
    for (let at = Math.max(0, from - start); at < end; at += most) yield memory.subarray(at, Math.min(end, at + most));
    start += memory.length;
  }
}

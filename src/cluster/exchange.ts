/**
 * An exchange is a request and its answer, each a head of plain data and a body. A body that is larger than a small
 * message stays with its sender; the receiver fetches it in messages, of which it awaits eight megabytes at a time at
 * most, whatever the number of senders.
 */
import { randomBytes } from "node:crypto";
import { deserialize, serialize } from "node:v8";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { ROOT } from "../nats-options.js";
import { PeerError } from "./members.js";

/** Bytes of a body that goes with its head. */
const INLINE_BYTES = 64 * 1024;
/** Bytes that this process awaits at a time. */
const CREDIT_BYTES = 8 * 1024 * 1024;
/** Time that a part of a body may take. */
const PART_MS = 30_000;

/** A body in parts. */
type BodyParts = readonly Uint8Array[];
/** Takes bytes of a body to their place. */
type PlaceBytes = (bytes: Uint8Array, at: number) => void;

/** A head and a body that has come or is to be fetched. */
export interface Received<H> {
  readonly head: H;
  readonly bytes: number;
  readonly inline: Uint8Array;
  /** Where the body is kept: process and key. */
  readonly kept: readonly [string, string] | null;
}

/** Sends and receives over one connection. */
export class Exchange {
  readonly #connection: NatsConnection;
  readonly #id: string;
  readonly #mostBytes: number;
  readonly #partBytes: number;
  readonly #kept = new Map<string, { readonly body: BodyParts; readonly sent: (bytes: number) => void }>();
  readonly #waiting: (() => void)[] = [];
  #credit: number;

  constructor(connection: NatsConnection, id: string) {
    this.#connection = connection;
    this.#id = id;
    this.#mostBytes = connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
    this.#partBytes = Math.min(CREDIT_BYTES, connection.info?.max_payload ?? INLINE_BYTES);
    this.#credit = Math.floor(CREDIT_BYTES / this.#partBytes);
    connection.subscribe(`${ROOT}.part.${id}.*`, {
      callback: (error, message) => {
        const kept = this.#kept.get(message.subject.split(".").pop() as string);
        const from = Number(message.string());
        const part = kept && !error ? slice(kept.body, from, this.#partBytes) : new Uint8Array(0);
        message.respond(part);
        kept?.sent(part.length);
      },
    });
  }

  /** Puts head and body into a message; a large body is kept until `forget`. @throws PeerError for a large head */
  #write(head: object, body: BodyParts, key: string, sent: (bytes: number) => void = () => undefined): Uint8Array {
    const bytes = body.reduce((sum, { length }) => sum + length, 0);
    const isInline = bytes <= INLINE_BYTES;
    if (!isInline) this.#kept.set(key, { body, sent });
    const start = serialize({ head, bytes, kept: isInline ? null : [this.#id, key] });
    const length = Buffer.alloc(4);
    length.writeUInt32LE(start.length);
    const message = Buffer.concat([length, start, ...(isInline ? body : [])]);
    if (message.length > this.#mostBytes) throw new PeerError(`a message of ${message.length} bytes is too large`);
    return message;
  }

  /** Sends a request and awaits the head of its answer. @throws PeerError, or the reason of the signal */
  async ask<H>(
    subject: string,
    head: object,
    body: BodyParts,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<Received<H>> {
    const key = randomBytes(8).toString("hex");
    try {
      const sent = this.#connection.request(subject, this.#write(head, body, key), { timeout: timeoutMs });
      return read<H>(await unlessAborted(sent, signal));
    } finally {
      this.#kept.delete(key);
    }
  }

  /** Answers a request. @returns resolves once the body is on its way, or has not been fetched in time */
  async answer(message: Msg, head: object, body: BodyParts, signal: AbortSignal): Promise<void> {
    const key = randomBytes(8).toString("hex");
    const bytes = body.reduce((sum, { length }) => sum + length, 0);
    let left = bytes;
    const fetched = new Promise<void>((resolve) => {
      signal.addEventListener("abort", () => resolve(), { once: true });
      const sent = (some: number): void => {
        left -= some;
        if (left <= 0) resolve();
      };
      message.respond(this.#write(head, body, key, sent));
      if (!this.#kept.has(key)) resolve();
    });
    await fetched.finally(() => this.#kept.delete(key));
  }

  /** Takes a body to its place. @throws PeerError, or the reason of the signal, after which nothing is placed */
  async receive({ bytes, inline, kept }: Received<unknown>, place: PlaceBytes, signal: AbortSignal): Promise<void> {
    if (kept === null) return place(inline, 0);
    const subject = `${ROOT}.part.${kept.join(".")}`;
    const starts = Array.from({ length: Math.ceil(bytes / this.#partBytes) }, (_, i) => i * this.#partBytes);
    await Promise.all(
      starts.map(async (at) => {
        if (this.#credit === 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
        else this.#credit--;
        try {
          signal.throwIfAborted();
          const asked = this.#connection.request(subject, String(at), { timeout: PART_MS });
          const { data } = await unlessAborted(asked, signal);
          if (data.length !== Math.min(this.#partBytes, bytes - at)) throw new PeerError("a part of a body is missing");
          place(data, at);
        } finally {
          const next = this.#waiting.shift();
          if (next) next();
          else this.#credit++;
        }
      }),
    );
  }
}

/** Reads a message. @throws PeerError for what `Exchange` does not write */
export function read<H>({ data }: Msg): Received<H> {
  try {
    const end = 4 + new DataView(data.buffer, data.byteOffset, 4).getUint32(0, true);
    return { ...deserialize(Buffer.from(data.subarray(4, end))), inline: data.subarray(end) };
  } catch {
    throw new PeerError("a message that no process of a cluster sends");
  }
}

/** The result of a request. @throws PeerError, or the reason of the signal */
async function unlessAborted<T>(request: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([request, aborted]);
  } catch (error) {
    request.catch(() => undefined);
    signal.throwIfAborted();
    throw new PeerError((error as Error).message, { cause: error });
  } finally {
    aborted.catch(() => undefined);
    signal.removeEventListener("abort", abort);
  }
}

/** Some bytes of a body. */
function slice(body: BodyParts, from: number, bytes: number): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = 0;
  for (const part of body) {
    const some = part.subarray(Math.max(0, from - at), Math.max(0, from + bytes - at));
    if (some.length > 0) parts.push(some);
    at += part.length;
  }
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts);
}

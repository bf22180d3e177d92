/** Request body, counted and cut into parts that are short enough for one time slice. */
import type { IncomingMessage } from "node:http";
import { CancelledError } from "../../shared/errors.js";
import type { ByteQueue } from "../../text/items-ahead.js";
import type { TimeSlices } from "./policies/time-slices.js";
import { bodyTooLarge } from "./refusal.js";

const PART_BYTES = 32 * 1024;
/** Longer bodies are read in time slices, one in each turn of the event loop. */
const SHORT_BYTES = 4 * 1024;

/** A body read on demand. Between reads the request is paused, so that TCP throttles the sender. */
export class Body implements ByteQueue {
  readonly #request: IncomingMessage;
  readonly #limit: number;
  readonly #slices: TimeSlices;
  readonly #queue: Buffer[] = [];
  /** Bytes that were put back, in order. */
  readonly #returned: Buffer[] = [];
  #received = 0;
  #delivered = 0;
  #ended = false;
  #closed = false;
  #released = false;
  #wake: (() => void) | null = null;
  /** Receives bytes as they arrive until it returns false. */
  #consumer: ((bytes: Buffer) => boolean) | null = null;

  constructor(request: IncomingMessage, limit: number, slices: TimeSlices) {
    this.#request = request;
    this.#limit = limit;
    this.#slices = slices;
    request.on("data", (bytes: Buffer) => this.#keep(bytes)).on("end", () => this.#markEnded());
  }

  /**
   * The next part; null at the end, undefined if `arrival` has to be awaited.
   * @throws HttpRefusal 413 if the body is too long, CancelledError if the client has disconnected
   */
  take(): Buffer | null | undefined {
    if (this.#mustPause) return undefined;
    if (this.#returned.length > 0) return this.#partOf(this.#returned);
    if (this.#received > this.#limit) throw bodyTooLarge();
    return this.#queue.length > 0 ? this.#partOf(this.#queue) : this.#end();
  }

  #partOf(buffers: Buffer[]): Buffer {
    const [first] = buffers as [Buffer];
    this.#delivered += Math.min(first.length, PART_BYTES);
    if (first.length <= PART_BYTES) {
      buffers.shift();
      return first;
    }
    buffers[0] = first.subarray(PART_BYTES);
    return first.subarray(0, PART_BYTES);
  }

  takeBuffered(): Buffer {
    const held = Buffer.concat(this.#returned.splice(0));
    this.#delivered += held.length;
    return held;
  }

  putBack(bytes: Buffer): void {
    if (bytes.length > 0) this.#returned.unshift(bytes);
    this.#delivered -= bytes.length;
  }

  /** Bytes still to come, as the request states them. */
  get remaining(): number {
    return Number(this.#request.headers["content-length"] ?? 0) - this.#delivered;
  }

  arrival(): Promise<void> {
    return (this.isLong ? this.#slices.pause() : null) ?? this.#woken();
  }

  /** Passes bytes on as they arrive until `into` returns false. Resolves when `take` can be called, or with `also`. */
  flow(into: (bytes: Buffer) => boolean, also?: Promise<unknown>): Promise<void> {
    if (this.#returned.length > 0 || this.#queue.length > 0 || this.#mustPause) return this.arrival();
    this.#consumer = into;
    const woken = this.#woken();
    return also === undefined ? woken : this.#either(woken, also);
  }

  #either(woken: Promise<void>, other: Promise<unknown>): Promise<void> {
    return new Promise((resolve) => {
      void woken.then(resolve);
      void other.then(() => {
        this.#consumer = null;
        resolve();
      });
    });
  }

  #woken(): Promise<void> {
    if (this.#returned.length > 0 || this.#queue.length > 0 || this.#ended || this.#closed) return Promise.resolve();
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#resume();
    return woken;
  }

  close(): void {
    this.#closed = true;
    this.#wakeReader();
  }

  release(): void {
    this.#released = true;
    this.#returned.length = 0;
    this.#queue.length = 0;
    this.#resume();
  }

  #resume(): void {
    if (this.#request.isPaused()) this.#request.resume();
  }

  get isLong(): boolean {
    return this.#received > SHORT_BYTES;
  }

  get #mustPause(): boolean {
    return this.isLong && this.#slices.isOver;
  }

  /** Null at the end, undefined if bytes are still to come. */
  #end(): null | undefined {
    const { complete, readableLength } = this.#request;
    // A request that has arrived whole need not wait for the stream to report it.
    if (this.#ended || (complete && readableLength === 0)) return null;
    if (this.#closed) throw new CancelledError("The client disconnected before its request was complete.");
    return undefined;
  }

  #keep(bytes: Buffer): void {
    if (this.#released) return;
    this.#received += bytes.length;
    if (this.#consumer !== null && this.#received <= this.#limit) {
      this.#delivered += bytes.length;
      if (this.#consumer(bytes)) return;
      this.#request.pause();
      this.#wakeReader();
      return;
    }
    this.#queue.push(bytes);
    if (this.#wake === null) this.#request.pause();
    this.#wakeReader();
  }

  #markEnded(): void {
    this.#ended = true;
    this.#wakeReader();
  }

  #wakeReader(): void {
    this.#consumer = null;
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}

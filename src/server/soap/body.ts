/** The body of a request as it arrives: counted, transcoded to UTF-8, in parts short enough for one turn. */
import type { IncomingMessage } from "node:http";
import { CancelledError } from "../../errors.js";
import { HttpRefusal } from "../http/refusal.js";
import type { Round } from "../http/tick.js";
import type { Turns } from "../http/time-slice.js";
import type { Charset } from "./media-type.js";
import { Transcoder } from "./transcode.js";
import type { ByteSource } from "./xml/reader.js";

/** Bytes handed on at a time. */
const PART_BYTES = 32 * 1024;
const NOTHING = Buffer.alloc(0);

/** Reads a request pull by pull; while nobody asks, the request is paused and its socket holds its sender back. */
export class Body implements ByteSource {
  readonly #request: IncomingMessage;
  readonly #limit: number;
  readonly #turns: Turns;
  readonly #round: Round;
  readonly #transcoder: Transcoder;
  readonly #queue: Buffer[] = [];
  #received = 0;
  /** Transcoded, not handed on yet. */
  #rest: Buffer = NOTHING;
  /** The transcoder has been told the end. */
  #finished = false;
  #closed = false;
  #released = false;
  #wake: (() => void) | undefined;

  /**
   * @param limit bytes admitted
   * @param turns clock of the event loop; a turn that has lasted is ended before more is handed on
   * @param round when reading goes on after bytes have arrived
   */
  constructor(request: IncomingMessage, charset: Charset | undefined, limit: number, turns: Turns, round: Round) {
    this.#request = request;
    this.#limit = limit;
    this.#turns = turns;
    this.#round = round;
    this.#transcoder = new Transcoder(charset);
    request.on("data", (chunk: Buffer) => this.#keep(chunk)).on("end", () => this.#settle());
  }

  /** The caller is gone: what has not arrived will not come. */
  close(): void {
    this.#closed = true;
    this.#settle();
  }

  declare(encoding: string): void {
    this.#transcoder.declare(encoding);
  }

  take(): Buffer | null | undefined {
    if (this.#turns.overdue) return undefined;
    while (this.#rest.length === 0) {
      if (this.#finished) return null;
      const chunk = this.#queue.shift() ?? this.#end();
      if (chunk === undefined) return undefined;
      this.#finished = chunk === null;
      this.#received += chunk?.length ?? 0;
      if (this.#received > this.#limit) throw new HttpRefusal(413, "The body is too large.", { connection: "close" });
      this.#rest = this.#transcoder.push(chunk);
    }
    if (this.#rest.length <= PART_BYTES) {
      const whole = this.#rest;
      this.#rest = NOTHING;
      return whole;
    }
    let cut = PART_BYTES;
    while (cut < this.#rest.length && ((this.#rest[cut] as number) & 0xc0) === 0x80) cut++;
    const part = this.#rest.subarray(0, cut);
    this.#rest = this.#rest.subarray(cut);
    return part;
  }

  arrival(): Promise<void> {
    const pause = this.#turns.pause();
    if (pause !== undefined) return pause;
    const woken = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (this.#request.isPaused()) this.#request.resume();
    return this.#turns.outside(woken);
  }

  /** Stops reading; what still arrives is discarded. */
  release(): void {
    this.#released = true;
    this.#queue.length = 0;
    if (this.#request.isPaused()) this.#request.resume();
  }

  /** What an empty queue means: null for the end, undefined for bytes to come. */
  #end(): null | undefined {
    const { complete, readableLength } = this.#request;
    if (complete && readableLength === 0) return null;
    if (this.#closed) throw new CancelledError("The caller left before its request was complete.");
    return undefined;
  }

  #keep(chunk: Buffer): void {
    if (this.#released) return;
    this.#queue.push(chunk);
    if (this.#wake === undefined) this.#request.pause();
    this.#settle();
  }

  #settle(): void {
    if (this.#wake !== undefined) this.#round.add(this.#wake);
    this.#wake = undefined;
  }
}

/** The body of a request as it arrives: counted, transcoded to UTF-8, in parts short enough for one turn. */
import type { IncomingMessage } from "node:http";
import { CancelledError } from "../../errors.js";
import { HttpRefusal } from "../refusal.js";
import type { Turns } from "../turns.js";
import type { Charset } from "./media-type.js";
import { Transcoder } from "./transcode.js";
import type { ByteSource } from "./xml.js";

/** Bytes handed on at a time. */
const PART_BYTES = 32 * 1024;

/** Reads a request pull by pull; while nobody asks, the request is paused and its socket holds its sender back. */
export class Body implements ByteSource {
  readonly #request: IncomingMessage;
  readonly #limit: number;
  readonly #turns: Turns;
  readonly #transcoder: Transcoder;
  readonly #queue: Buffer[] = [];
  #received = 0;
  #rest: Buffer = Buffer.alloc(0);
  #ended = false;
  #failed = false;
  #wake: (() => void) | undefined;

  readonly #onData = (chunk: Buffer): void => {
    this.#queue.push(chunk);
    if (this.#wake === undefined) this.#request.pause();
    this.#settle();
  };
  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#settle();
  };
  readonly #onFailure = (): void => {
    this.#failed = !this.#ended;
    this.#settle();
  };

  /**
   * @param limit bytes admitted
   * @param turns clock of the event loop; a turn that has lasted is ended before more is handed on
   */
  constructor(request: IncomingMessage, charset: Charset | undefined, limit: number, turns: Turns) {
    this.#request = request;
    this.#limit = limit;
    this.#turns = turns;
    this.#transcoder = new Transcoder(charset);
    request.on("data", this.#onData).on("end", this.#onEnd).on("close", this.#onFailure).on("error", this.#onFailure);
  }

  declare(encoding: string): void {
    this.#transcoder.declare(encoding);
  }

  async next(): Promise<Buffer | null> {
    const pause = this.#turns.pause();
    if (pause !== undefined) await pause;
    let last = false;
    while (this.#rest.length === 0) {
      if (last) return null;
      const chunk = this.#queue.shift() ?? (await this.#wait());
      last = chunk === null;
      this.#received += chunk?.length ?? 0;
      if (this.#received > this.#limit) throw new HttpRefusal(413, "The body is too large.", { connection: "close" });
      this.#rest = this.#transcoder.push(chunk);
    }
    let cut = Math.min(PART_BYTES, this.#rest.length);
    while (cut < this.#rest.length && ((this.#rest[cut] as number) & 0xc0) === 0x80) cut++;
    const part = this.#rest.subarray(0, cut);
    this.#rest = this.#rest.subarray(cut);
    return part;
  }

  /** Stops reading; what still arrives is discarded. Errors of the socket stay handled. */
  release(): void {
    this.#queue.length = 0;
    this.#request.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onFailure);
    this.#request.resume();
  }

  #settle(): void {
    this.#wake?.();
    this.#wake = undefined;
  }

  async #wait(): Promise<Buffer | null> {
    this.#turns.end();
    try {
      while (this.#queue.length === 0) {
        if (this.#ended) return null;
        if (this.#failed) throw new CancelledError("The caller left before its request was complete.");
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
          this.#request.resume();
        });
      }
      return this.#queue.shift() as Buffer;
    } finally {
      this.#turns.begin();
    }
  }
}

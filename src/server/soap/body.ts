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

/** Reads a request pull by pull; nothing more is taken from the socket than was asked for. */
export class Body implements ByteSource {
  readonly #request: IncomingMessage;
  readonly #limit: number;
  readonly #turns: Turns;
  readonly #transcoder: Transcoder;
  #received = 0;
  #rest: Uint8Array = new Uint8Array(0);
  #ended = false;
  #failed = false;
  #wake: (() => void) | undefined;
  readonly #listener = (): void => this.#wake?.();
  readonly #onError = (): void => {
    this.#failed = true;
    this.#wake?.();
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
    request.on("readable", this.#listener).on("end", this.#listener).on("close", this.#listener);
    request.on("error", this.#onError);
  }

  /** Whether the whole body has been read. */
  get ended(): boolean {
    return this.#ended;
  }

  declare(encoding: string): void {
    this.#transcoder.declare(encoding);
  }

  async next(): Promise<Uint8Array | null> {
    await this.#turns.pause();
    while (this.#rest.length === 0) {
      if (this.#ended) return null;
      const chunk = await this.#read();
      if (chunk === null) this.#ended = true;
      else this.#received += chunk.length;
      if (this.#received > this.#limit) {
        throw new HttpRefusal(413, "The body is too large.", { connection: "close" });
      }
      this.#rest = this.#transcoder.push(chunk);
    }
    let cut = Math.min(PART_BYTES, this.#rest.length);
    while (cut < this.#rest.length && ((this.#rest[cut] as number) & 0xc0) === 0x80) cut++;
    const part = this.#rest.subarray(0, cut);
    this.#rest = this.#rest.subarray(cut);
    return part;
  }

  /** Stops reading; what still arrives is discarded. */
  release(): void {
    this.#request.off("readable", this.#listener).off("end", this.#listener).off("close", this.#listener);
    this.#request.resume();
  }

  async #read(): Promise<Buffer | null> {
    for (;;) {
      const chunk = this.#request.read() as Buffer | null;
      if (chunk !== null) return chunk;
      if (this.#request.readableEnded) return null;
      if (this.#failed || this.#request.destroyed)
        throw new CancelledError("The caller left before its request was complete.");
      this.#turns.end();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#turns.begin();
    }
  }
}

/** Cuts the stream of a NATS server at the ends of messages, so that the client library reads whole messages in place. */

const LINE_FEED = 10;
const SPACE = 32;
const ZERO = 48;
const LETTER = { M: 77, S: 83, H: 72 } as const;

/**
 * Joins the parts of messages that came in several reads.
 *
 * The protocol is lines, `MSG` and `HMSG` being followed by as many bytes as the last word of their line says, and a line end.
 */
export class Frames {
  /** The start of an incomplete line or message. */
  #buffer = new Uint8Array(0);
  #filled = 0;
  /** Bytes of the line or message at the start of the buffer; 0 while its line is incomplete. */
  #needed = 0;

  /**
   * Takes the bytes of a read.
   *
   * @returns the complete messages; each part is valid until the next one is requested
   */
  *take(read: Uint8Array): Generator<Uint8Array> {
    let at = 0;
    while (this.#filled > 0 && at < read.length) {
      at += this.#complete(read.subarray(at));
      if (this.#needed === 0 || this.#filled < this.#needed) continue;
      const whole = this.#buffer.subarray(0, this.#filled);
      this.#filled = 0;
      this.#needed = 0;
      yield whole;
    }
    let end = at;
    let needed = lengthOf(read, end);
    while (needed > 0 && end + needed <= read.length) {
      end += needed;
      needed = lengthOf(read, end);
    }
    if (end > at) yield end === read.length && at === 0 ? read : read.subarray(at, end);
    this.#needed = needed;
    this.#keep(read.subarray(end));
  }

  /** Adds the rest of the line or of the message to the buffer, and returns its length. */
  #complete(read: Uint8Array): number {
    const lineEnd = this.#needed > 0 ? -1 : read.indexOf(LINE_FEED) + 1;
    const missing = this.#needed > 0 ? this.#needed - this.#filled : lineEnd > 0 ? lineEnd : read.length;
    const part = read.subarray(0, missing);
    this.#keep(part);
    if (lineEnd > 0) this.#needed = lengthOf(this.#buffer.subarray(0, this.#filled), 0);
    return part.length;
  }

  #keep(part: Uint8Array): void {
    if (part.length === 0) return;
    const room = Math.max(this.#needed, this.#filled + part.length);
    if (room > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(room, 2 * this.#buffer.length));
      larger.set(this.#buffer.subarray(0, this.#filled));
      this.#buffer = larger;
    }
    this.#buffer.set(part, this.#filled);
    this.#filled += part.length;
  }
}

/** Bytes of the line that starts at `at`, with the message that follows it; 0 when its end has not come. */
function lengthOf(bytes: Uint8Array, at: number): number {
  const lineEnd = bytes.indexOf(LINE_FEED, at) + 1;
  if (lineEnd === 0) return 0;
  const line = lineEnd - at;
  const start = bytes[at] === LETTER.H ? at + 1 : at;
  if (bytes[start] !== LETTER.M || bytes[start + 1] !== LETTER.S) return line;
  let size = 0;
  let place = 1;
  // The last word, backwards from the line's end.
  for (let i = lineEnd - 3; bytes[i] > SPACE; i--) {
    size += place * (bytes[i] - ZERO);
    place *= 10;
  }
  return line + size + 2;
}

/** Rate at which a connection sends its request, and whether it is too low. */

/** Part of its time that a caller has until its token is known. */
const UNKNOWN_PART = 1 / 5;

/** Bounds of senders. */
export interface SenderLimits {
  readonly bytesPerSecond: number;
  /** How long a sender may stay below that rate. */
  readonly graceMs: number;
}

/** The sender of the requests of one connection. */
export class Sender {
  /** Whether the service knows its token, or that it needs none. */
  isKnown = false;
  /** The beginning of its request, later by the time for which the service itself did not read. */
  #since = 0;
  #lookedAt = 0;
  #bytesBefore = 0;

  /** Begins a request. @param bytesRead bytes that its connection has sent so far */
  begin(bytesRead: number, now: number): void {
    this.#since = now;
    this.#lookedAt = now;
    this.#bytesBefore = bytesRead;
  }

  /** Counts the time since the last look, unless the service was not reading. */
  look(isRead: boolean, now: number): void {
    if (!isRead) this.#since += now - this.#lookedAt;
    this.#lookedAt = now;
  }

  /** The part of the usual time that it has. */
  get part(): number {
    return this.isKnown ? 1 : UNKNOWN_PART;
  }

  /** Milliseconds for which its request has been read. */
  get ms(): number {
    return this.#lookedAt - this.#since;
  }

  /** Bytes a second of its request. */
  rate(bytesRead: number): number {
    return (1000 * (bytesRead - this.#bytesBefore)) / Math.max(1, this.ms);
  }

  /** Whether it has stayed below the least rate for longer than it may. */
  isTooSlow(bytesRead: number, { bytesPerSecond, graceMs }: SenderLimits): boolean {
    return this.ms > graceMs * this.part && this.rate(bytesRead) < bytesPerSecond;
  }
}

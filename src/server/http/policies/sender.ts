/** Measures the rate at which a connection sends its request. */

/** Fraction of the grace period until the caller's token is known. */
const UNKNOWN_PART = 1 / 5;

export interface SenderLimits {
  readonly bytesPerSecond: number;
  /** How long a sender may stay below the rate. */
  readonly graceMs: number;
}

export class Sender {
  isKnown = false;
  /** Beginning of the request, moved on by the time in which the service did not read. */
  #since = 0;
  #lookedAt = 0;
  #bytesBefore = 0;

  /** @param bytesRead bytes read so far from its connection */
  begin(bytesRead: number, now: number): void {
    this.#since = now;
    this.#lookedAt = now;
    this.#bytesBefore = bytesRead;
  }

  look(isRead: boolean, now: number): void {
    if (!isRead) this.#since += now - this.#lookedAt;
    this.#lookedAt = now;
  }

  get part(): number {
    return this.isKnown ? 1 : UNKNOWN_PART;
  }

  /** Milliseconds in which the request has been read. */
  get ms(): number {
    return this.#lookedAt - this.#since;
  }

  rate(bytesRead: number): number {
    return (1000 * (bytesRead - this.#bytesBefore)) / Math.max(1, this.ms);
  }

  isTooSlow(bytesRead: number, { bytesPerSecond, graceMs }: SenderLimits): boolean {
    return this.ms > graceMs * this.part && this.rate(bytesRead) < bytesPerSecond;
  }
}

/**
 * `FloatsReader` reads octet-stream bodies: little-endian float32 triples, two per point with initial velocities, and a
 * time if each point has its own.
 */

import { shortestFloat32 } from "../../../float32/format.js";
import { RequestError } from "../../../shared/errors.js";
import type { TripleWriter } from "../triple-writer.js";

/** Reads float32 values as they arrive and deals them out to one writer, or in turn to two. */
export class FloatsReader {
  readonly #writers: readonly TripleWriter[];
  readonly #names: readonly string[];
  readonly #bytesPerPoint: number;
  #carry: Buffer = Buffer.alloc(0);

  readonly #times: string[] | null;

  /** @param times receives the time of each point as text; null: points have none */
  constructor(writers: readonly TripleWriter[], names: readonly string[], times: string[] | null = null) {
    this.#writers = writers;
    this.#names = names;
    this.#bytesPerPoint = 12 * writers.length + (times === null ? 0 : 4);
    this.#times = times;
  }

  /** @throws RequestError for a number that is not finite, and for any bytes if the operation takes no points */
  write(arrived: Buffer): void {
    if (this.#writers.length === 0) {
      if (arrived.length === 0) return;
      throw new RequestError(
        "InvalidRequest",
        "The operation takes no points, so its octet-stream body must be empty.",
      );
    }
    const bytes = this.#carry.length > 0 ? Buffer.concat([this.#carry, arrived]) : arrived;
    const whole = bytes.length - (bytes.length % this.#bytesPerPoint);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < whole; ) {
      for (const [index, writer] of this.#writers.entries()) {
        const x = view.getFloat32(at, true);
        const y = view.getFloat32(at + 4, true);
        const z = view.getFloat32(at + 8, true);
        if (!Number.isFinite(x + y + z)) this.#checkFinite(index, writer.count, [x, y, z]);
        writer.add(x, y, z);
        at += 12;
      }
      if (this.#times === null) continue;
      this.#times.push(String(shortestFloat32(view.getFloat32(at, true))));
      at += 4;
    }
    this.#carry = Buffer.from(bytes.subarray(whole));
  }

  end(): void {
    if (this.#carry.length > 0) {
      throw new RequestError(
        "InvalidRequest",
        `The body is not a whole number of points of ${this.#bytesPerPoint} bytes each.`,
      );
    }
    for (const writer of this.#writers) writer.flush();
  }

  #checkFinite(index: number, row: number, triple: readonly number[]): void {
    const axis = triple.findIndex((value) => !Number.isFinite(value));
    if (axis < 0) return;
    const member = `${this.#names[index]}[${row}].${"xyz"[axis]}`;
    throw new RequestError("OutOfRange", `${member} is not finite.`, { member });
  }
}

/** Memory budget of all analyses: reserved before allocation, in the order of requests, until a request ends. */
import { BusyError } from "../../../shared/errors.js";
import { waitForGrant } from "./granted.js";

/** Fraction of the budget below which an analysis is not counted. */
const UNCOUNTED_PART = 1 / 128;

interface Applicant {
  readonly bytes: number;
  readonly grant: () => void;
}

export class MemoryBudget {
  readonly #bytes: number;
  #free: number;
  readonly #waiting = new Set<Applicant>();

  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#free = bytes;
  }

  get used(): number {
    return this.#bytes - this.#free;
  }

  /**
   * Waits for memory, at most the whole budget, and returns what gives it back, harmless when called twice.
   * @throws BusyError when it did not come free in time, and the reason of `signal`
   */
  async take(bytes: number, waitMs: number, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (bytes <= this.#bytes * UNCOUNTED_PART) return () => undefined;
    const counted = Math.min(bytes, this.#bytes);
    if (this.#waiting.size === 0 && counted <= this.#free) return this.#lend(counted);
    const late = (): Error => new BusyError("Other analyses had all of their memory until the deadline.");
    try {
      return await waitForGrant(
        (grant) => {
          const applicant = { bytes: counted, grant: () => grant(() => this.#lend(counted)) };
          this.#waiting.add(applicant);
          return () => this.#waiting.delete(applicant);
        },
        { ms: waitMs, signal, late },
      );
    } finally {
      this.#grant();
    }
  }

  #lend(bytes: number): () => void {
    this.#free -= bytes;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#free += bytes;
      this.#grant();
    };
  }

  /** Each waiting request tries again once the one before it is admitted. */
  #grant(): void {
    const [first] = this.#waiting;
    if (first !== undefined && first.bytes <= this.#free) first.grant();
  }
}

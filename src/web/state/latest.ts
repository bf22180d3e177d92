/** Work of which only the latest counts: a new run ends the one before, and what comes late is dropped. */

/** How a figure stands. */
export interface Standing {
  /** Under way for longer than half a second: worth a bar and a button. */
  readonly slow: boolean;
  readonly running: boolean;
  readonly error: string | null;
  /** The public code of the error, if the service gave one. */
  readonly code: string | null;
}

const SLOW_MS = 500;
const IDLE: Standing = { slow: false, running: false, error: null, code: null };

export class Latest<T> {
  value: T | null = null;
  standing: Standing = IDLE;
  readonly #changed: () => void;
  #controller: AbortController | null = null;
  #work: ((signal: AbortSignal) => Promise<T>) | null = null;

  /** @param changed called whenever `value` or `standing` is new */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Starts work; its value is kept unless another run or `cancel` comes first. */
  async run(work: (signal: AbortSignal) => Promise<T>): Promise<void> {
    this.#controller?.abort();
    this.#work = work;
    const controller = new AbortController();
    this.#controller = controller;
    const timer = setTimeout(() => this.#stand({ ...this.standing, slow: true }), SLOW_MS);
    this.#stand({ ...IDLE, running: true, slow: this.standing.slow });
    try {
      const value = await work(controller.signal);
      if (this.#controller !== controller) return;
      this.value = value;
      this.#stand(IDLE);
    } catch (error) {
      if (this.#controller !== controller) return;
      const code = (error as { code?: unknown }).code;
      this.#stand({
        ...IDLE,
        error: error instanceof Error ? error.message : String(error),
        code: typeof code === "string" ? code : null,
      });
    } finally {
      clearTimeout(timer);
      if (this.#controller === controller) this.#controller = null;
    }
  }

  /** Does the last work once more, after it failed or was cancelled. */
  again(): void {
    if (this.#work !== null) void this.run(this.#work);
  }

  /** Ends what runs and keeps the last value. */
  cancel(): void {
    if (this.#controller === null) return;
    this.#controller.abort();
    this.#controller = null;
    this.#stand({ ...IDLE, error: "Cancelled." });
  }

  /** Forgets everything. */
  clear(): void {
    this.#controller?.abort();
    this.#controller = null;
    this.#work = null;
    this.value = null;
    this.#stand(IDLE);
  }

  #stand(standing: Standing): void {
    this.standing = standing;
    this.#changed();
  }
}

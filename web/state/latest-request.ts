/** This file keeps the latest of several requests: a new one aborts the one before, and late answers are dropped. */

/** The status of a request, for the status bar of its figure. */
export interface RequestStatus {
  /** Whether it has run for longer than half a second and needs a progress bar and a button. */
  readonly slow: boolean;
  readonly running: boolean;
  readonly error: string | null;
  /** The public code of the error; null if the service gave none. */
  readonly code: string | null;
  /** The limit of the service that the request passed; null if it was another error. */
  readonly limit: string | null;
  /** The bound of that limit; null if the service does not say. */
  readonly most: number | null;
}

const SLOW_MS = 500;
const IDLE: RequestStatus = { slow: false, running: false, error: null, code: null, limit: null, most: null };

export class LatestRequest<T> {
  value: T | null = null;
  status: RequestStatus = IDLE;
  readonly #changed: () => void;
  #controller: AbortController | null = null;
  #work: ((signal: AbortSignal) => Promise<T>) | null = null;

  /** @param changed called whenever `value` or `status` has changed */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Starts a request; its value is kept unless another run or `cancel` comes first. */
  async run(work: (signal: AbortSignal) => Promise<T>): Promise<void> {
    this.#controller?.abort();
    this.#work = work;
    const controller = new AbortController();
    this.#controller = controller;
    const timer = setTimeout(() => this.#become({ ...this.status, slow: true }), SLOW_MS);
    this.#become({ ...IDLE, running: true, slow: this.status.slow });
    try {
      const value = await work(controller.signal);
      if (this.#controller !== controller) return;
      this.value = value;
      this.#become(IDLE);
    } catch (error) {
      if (this.#controller !== controller) return;
      this.fail(error);
    } finally {
      clearTimeout(timer);
      if (this.#controller === controller) this.#controller = null;
    }
  }

  /** Shows a value until that of a request comes, unless another one has replaced it. @param signal of the request */
  show(value: T, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.value = value;
    this.#become(this.status);
  }

  /** Takes a value that is known already; a running request is aborted. */
  take(value: T): void {
    this.#controller?.abort();
    this.#controller = null;
    this.value = value;
    this.#become(IDLE);
  }

  /** Shows an error in place of the status; the last value stays. */
  fail(error: unknown): void {
    const { code, limit, most } = error as { code?: unknown; limit?: unknown; most?: unknown };
    this.#become({
      ...IDLE,
      error: error instanceof Error ? error.message : String(error),
      code: typeof code === "string" ? code : null,
      limit: typeof limit === "string" ? limit : null,
      most: typeof most === "number" ? most : null,
    });
  }

  /** Repeats the last request after it failed or was cancelled. */
  again(): void {
    if (this.#work !== null) void this.run(this.#work);
  }

  /** Aborts the running request and keeps the last value. */
  cancel(): void {
    if (this.#controller === null) return;
    this.#controller.abort();
    this.#controller = null;
    this.#become({ ...IDLE, error: "Cancelled." });
  }

  /** Aborts the running request and forgets the last value. */
  clear(): void {
    this.#controller?.abort();
    this.#controller = null;
    this.#work = null;
    this.value = null;
    this.#become(IDLE);
  }

  #become(status: RequestStatus): void {
    this.status = status;
    this.#changed();
  }
}

/** A drain waits for work in progress to end before a shutdown. */

/** Keeps the set of items in progress. */
export class InProgress<T> {
  readonly #items = new Set<T>();
  #idle: (() => void) | null = null;

  add(item: T): void {
    this.#items.add(item);
  }

  delete(item: T): void {
    if (this.#items.delete(item) && this.#items.size === 0) this.#idle?.();
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#items.values();
  }

  /** Waits at most `graceMs` until nothing is in progress; false when something still is. */
  drain(graceMs: number): Promise<boolean> {
    if (this.#items.size === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), graceMs);
      this.#idle = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}

/** Waits for work in progress to end before a shutdown. */

/**
 * Items in progress, in an array: V8 chains the tables of a `Set`, and once one of them is in the old generation, minor
 * collections free none of its successors.
 */
export class InProgress<T> {
  /** Null in free slots. */
  readonly #items: (T | null)[] = [];
  readonly #free: number[] = [];
  #idle: (() => void) | null = null;

  /** @returns the slot of the item, for `delete` */
  add(item: T): number {
    const place = this.#free.pop() ?? this.#items.length;
    this.#items[place] = item;
    return place;
  }

  /** Forgets the item of a slot; called once for each. */
  delete(place: number): void {
    this.#items[place] = null;
    this.#free.push(place);
    if (this.#isIdle) this.#idle?.();
  }

  [Symbol.iterator](): IterableIterator<T> {
    return this.#items.filter((item) => item !== null).values();
  }

  get #isIdle(): boolean {
    return this.#free.length === this.#items.length;
  }

  /** Waits at most `graceMs` until nothing is in progress; false when something still is. */
  drain(graceMs: number): Promise<boolean> {
    if (this.#isIdle) return Promise.resolve(true);
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), graceMs);
      this.#idle = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }
}

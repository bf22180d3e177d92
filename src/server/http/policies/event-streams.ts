/** Open event streams: bounded by owner, and the first to be ended when connections run out. */

/** Streams of one owner; one more ends its oldest. */
const MOST_OF_OWNER = 32;

/** One per service. */
export class EventStreams {
  /** Ends of streams and their owners, oldest first. */
  readonly #open = new Map<() => void, string>();

  /** Adds a stream. @returns forgets it @param end sends what is left and ends its connection */
  add(owner: string, end: () => void): () => void {
    this.#open.set(end, owner);
    const own = [...this.#open].filter(([, other]) => other === owner).map(([other]) => other);
    if (own.length > MOST_OF_OWNER) this.#end(own[0] as () => void);
    return () => this.#open.delete(end);
  }

  /** Ends the oldest. @returns whether there was one */
  endOldest(): boolean {
    const [oldest] = this.#open.keys();
    if (oldest !== undefined) this.#end(oldest);
    return oldest !== undefined;
  }

  endAll(): void {
    for (const end of [...this.#open.keys()]) this.#end(end);
  }

  #end(end: () => void): void {
    this.#open.delete(end);
    end();
  }
}

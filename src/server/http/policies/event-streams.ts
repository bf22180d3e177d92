/** Event streams: bounded by owner, and ended first when connections run out. */

const MAX_OF_OWNER = 32;

export class EventStreams {
  /** Functions that end a stream, with its owner, oldest first. */
  readonly #open = new Map<() => void, string>();

  /** @returns forgets the stream @param end sends the rest and ends the connection */
  add(owner: string, end: () => void): () => void {
    this.#open.set(end, owner);
    const own = [...this.#open].filter(([, other]) => other === owner).map(([other]) => other);
    if (own.length > MAX_OF_OWNER) this.#end(own[0] as () => void);
    return () => this.#open.delete(end);
  }

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

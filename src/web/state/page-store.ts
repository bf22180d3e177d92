/** The state of the page and everybody who wants to know when it changes. */
import type { DatasetFacts } from "./facts.js";
import { formatState, type ViewState } from "./view-state.js";

/** Browsers refuse to write the address more than a hundred times in half a minute: so many at once, then one at a time. */
const BURST = 20;
const WRITE_MS = 400;

export class Store {
  state: ViewState;
  facts: DatasetFacts;
  readonly #listeners: ((state: ViewState, before: ViewState) => void)[] = [];
  #writes = BURST;
  #countedAt = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(state: ViewState, facts: DatasetFacts) {
    this.state = state;
    this.facts = facts;
  }

  onChange(listener: (state: ViewState, before: ViewState) => void): void {
    this.#listeners.push(listener);
  }

  /** Changes members of the state; the address follows. */
  set(patch: Partial<ViewState>): void {
    this.#become({ ...this.state, ...patch });
  }

  /** Shows another dataset. */
  enter(facts: DatasetFacts, state: ViewState): void {
    this.facts = facts;
    this.#become(state);
  }

  /** The address of the view. */
  get link(): string {
    const address = new URL(document.baseURI);
    address.search = formatState(this.state, this.facts);
    address.hash = "";
    return address.href;
  }

  #become(state: ViewState): void {
    const before = this.state;
    this.state = state;
    this.#write();
    for (const listener of this.#listeners) listener(state, before);
  }

  /** Brings the address up to date, at once or as soon as it may be written again. */
  #write(): void {
    if (this.#timer !== undefined) return;
    const now = performance.now();
    this.#writes = Math.min(BURST, this.#writes + (now - this.#countedAt) / WRITE_MS);
    this.#countedAt = now;
    if (this.#writes < 1) {
      this.#timer = setTimeout(() => {
        this.#timer = undefined;
        this.#write();
      }, WRITE_MS);
      return;
    }
    this.#writes -= 1;
    history.replaceState(null, "", this.link);
  }
}

/** The view store holds the state of the page, tells listeners of changes, and keeps the address up to date. */
import type { ApiClient } from "./api.js";
import type { DatasetFacts } from "./facts.js";
import { formatState, type ViewState } from "./view-state.js";

/** Browsers refuse more than a hundred changes of the address in half a minute: a burst, then one each interval. */
const BURST = 20;
const WRITE_MS = 400;

export class ViewStore {
  readonly api: ApiClient;
  state: ViewState;
  facts: DatasetFacts;
  readonly #listeners: ((state: ViewState, before: ViewState) => void)[] = [];
  #writes = BURST;
  #countedAt = performance.now();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: ApiClient, state: ViewState, facts: DatasetFacts) {
    this.api = api;
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

  /** Writes the address, at once or as soon as the browser allows it again. */
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

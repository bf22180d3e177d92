/** The state of the page and everybody who wants to know when it changes. */
import type { DatasetFacts } from "./facts.js";
import { formatState, type ViewState } from "./view-state.js";

export class Store {
  state: ViewState;
  facts: DatasetFacts;
  readonly #listeners: ((state: ViewState, before: ViewState) => void)[] = [];

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
    history.replaceState(null, "", this.link);
    for (const listener of this.#listeners) listener(state, before);
  }
}

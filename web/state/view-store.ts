/** The view store holds the state of the page, tells listeners of changes, and keeps address and history up to date. */
import type { ApiClient } from "./api.js";
import type { DatasetFacts } from "./facts.js";
import { AXES } from "./plane-geometry.js";
import { SliceCache } from "./slice-cache.js";
import { formatState, type ViewState } from "./view-state.js";

/** Browsers refuse more than a hundred changes of the address in half a minute: a burst, then one each interval. */
const BURST = 20;
const WRITE_MS = 400;

/** A change after this much quiet begins a new entry of the history; changes before it belong to the last one. */
const SETTLED_MS = 1000;

/** The state whose plane, if three are shown, is the one through the probe. */
function planeAtProbe(state: ViewState): ViewState {
  if (state.layout !== "three") return state;
  return { ...state, at: state.probe[AXES.indexOf(state.axis)] };
}

export class ViewStore {
  readonly api: ApiClient;
  readonly slices: SliceCache;
  state: ViewState;
  facts: DatasetFacts;
  /** What the address has to say of values seen. */
  seen: () => ViewState["seen"] = () => this.state.seen;
  readonly #listeners: ((state: ViewState, before: ViewState) => void)[] = [];
  #writes = BURST;
  #countedAt = performance.now();
  #changedAt = performance.now();
  #fresh = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: ApiClient, state: ViewState, facts: DatasetFacts) {
    this.api = api;
    this.slices = new SliceCache(api);
    this.state = planeAtProbe(state);
    this.facts = facts;
  }

  onChange(listener: (state: ViewState, before: ViewState) => void): void {
    this.#listeners.push(listener);
  }

  /** Changes members of the state; the address follows. */
  set(patch: Partial<ViewState>): void {
    this.#become({ ...this.state, ...patch });
    this.#note();
    this.#write();
  }

  /** Shows another time while time plays, which begins no entry of the history. */
  pass(time: number): void {
    this.#become({ ...this.state, time });
    this.#changedAt = performance.now();
    this.#write();
  }

  /** Writes the address anew, of the same view, after more of it has been seen. */
  rewrite(): void {
    this.#write();
  }

  /** Takes note of the points that one request may hold now. */
  admit(points: number): void {
    this.facts = { ...this.facts, points };
  }

  /** Shows another dataset. */
  enter(facts: DatasetFacts, state: ViewState): void {
    this.facts = facts;
    this.#become(state);
    this.#note();
    this.#write();
  }

  /** Shows the view of an entry of the history, whose address stays as it is. */
  restore(facts: DatasetFacts, state: ViewState): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#fresh = false;
    this.#changedAt = performance.now();
    this.facts = facts;
    this.#become(state);
  }

  /** The view as a query string. */
  get query(): string {
    return formatState({ ...this.state, seen: this.seen() }, this.facts);
  }

  /** The address of the view. */
  get link(): string {
    const address = new URL(document.baseURI);
    address.search = this.query;
    address.hash = "";
    return address.href;
  }

  #become(state: ViewState): void {
    const before = this.state;
    this.state = planeAtProbe(state);
    for (const listener of this.#listeners) listener(this.state, before);
  }

  /** Notes whether the next address begins an entry of the history. */
  #note(): void {
    const now = performance.now();
    if (now - this.#changedAt > SETTLED_MS) this.#fresh = true;
    this.#changedAt = now;
  }

  /** Writes the address, at once or as soon as the browser allows it again. */
  #write(): void {
    if (this.#timer !== undefined) return;
    const { link } = this;
    if (link === location.href) return;
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
    if (this.#fresh) history.pushState(null, "", link);
    else history.replaceState(null, "", link);
    this.#fresh = false;
  }
}

/** The player steps the time of the view through the stored frames; frames ahead are fetched before they are shown. */
import { html, nothing, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { shortText } from "../../float32/format.js";
import { sampleWindow, wholePlane } from "../state/plane-geometry.js";
import { planePaths } from "../state/queries.js";
import type { ViewStore } from "../state/view-store.js";

/** Pictures a second to choose from. */
const SPEEDS = ["1", "2", "5", "10", "15", "30"] as const;
/** Seconds of play that are fetched ahead, and the most frames that this may be. */
const SECONDS_AHEAD = 2;
const MOST_AHEAD = 32;
/** Requests for frames ahead that are under way at a time. */
const AT_ONCE = 4;

export class Player {
  readonly #store: ViewStore;
  readonly #render: () => void;
  #playing = false;
  #speed = 10;
  #loop = true;
  #shownAt = 0;
  #fetching = new Set<string>();

  constructor(store: ViewStore, render: () => void) {
    this.#store = store;
    this.#render = render;
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.#speed = 1;
  }

  get playing(): boolean {
    return this.#playing;
  }

  stop(): void {
    if (!this.#playing) return;
    this.#playing = false;
    this.#store.set({});
  }

  /** Fetches the frames that come next, so that they can be shown in time. */
  prefetch(): void {
    if (!this.#playing || this.#store.state.layout === "three") return;
    const wanted = Math.min(MOST_AHEAD, SECONDS_AHEAD * this.#speed, this.#store.facts.times.stored.length - 1);
    for (let ahead = 1; ahead <= Math.max(1, Math.min(wanted, this.#room())); ahead++) {
      const time = this.#frameAt(ahead);
      if (time === null) return;
      for (const path of this.#paths(time)) {
        if (this.#fetching.size >= AT_ONCE) return;
        if (!this.#store.slices.has(path) && !this.#fetching.has(path)) void this.#fetch(path);
      }
    }
  }

  /** Frames of the view that find room in the cache. */
  #room(): number {
    const { state, facts, slices } = this.#store;
    const [columns, rows] = sampleWindow(
      facts,
      state.axis,
      state.window ?? wholePlane(facts, state.axis),
      state.nodes,
    ).counts;
    return slices.roomFor(columns * rows * this.#paths(state.time).length);
  }

  view(): TemplateResult | typeof nothing {
    const { count } = this.#store.facts.times;
    if (count < 2) return nothing;
    return html`
      <div class="row player" role="group" aria-label="Play through the stored times">
        <button type="button" id="time-back" aria-label="One stored time back" @click=${() => this.#step(-1)}>◀</button>
        <button type="button" id="time-play" class="primary" @click=${() => this.#toggle()}>
          ${this.#playing ? "Pause" : "Play"}
        </button>
        <button type="button" id="time-on" aria-label="One stored time on" @click=${() => this.#step(1)}>▶</button>
        <label class="check">
          <select
            id="speed"
            aria-label="Pictures per second"
            @change=${(event: Event) => {
              this.#speed = Number((event.target as HTMLSelectElement).value);
            }}
          >
            ${SPEEDS.map((speed) => html`<option value=${speed} .selected=${live(Number(speed) === this.#speed)}>${speed}</option>`)}
          </select>
          per second
        </label>
        <label class="check">
          <input
            type="checkbox"
            id="loop"
            .checked=${live(this.#loop)}
            @change=${(event: Event) => {
              this.#loop = (event.target as HTMLInputElement).checked;
            }}
          />
          Loop
        </label>
        <output id="play-time">t = ${shortText(this.#store.state.time)}, ${count} stored</output>
      </div>
    `;
  }

  /** The index of the stored time at or before that of the view. */
  #index(): number {
    const { stored } = this.#store.facts.times;
    const { time } = this.#store.state;
    const after = stored.findIndex((value) => Math.fround(value) > time);
    return Math.max(0, (after < 0 ? stored.length : after) - 1);
  }

  /** The stored time so many frames on; null beyond the last where the player does not loop. */
  #frameAt(ahead: number): number | null {
    const { stored } = this.#store.facts.times;
    const index = this.#index() + ahead;
    if (index >= stored.length && !this.#loop) return null;
    return Math.fround(stored[((index % stored.length) + stored.length) % stored.length]);
  }

  #step(frames: 1 | -1): void {
    this.#playing = false;
    const { stored } = this.#store.facts.times;
    const { time } = this.#store.state;
    const index = this.#index();
    const between = Math.fround(stored[index]) < time;
    const next = Math.max(0, Math.min(stored.length - 1, index + (frames < 0 && between ? 0 : frames)));
    this.#store.set({ time: Math.fround(stored[next]) });
  }

  #toggle(): void {
    this.#playing = !this.#playing;
    if (!this.#playing) {
      this.#store.set({});
      return;
    }
    if (this.#frameAt(1) === null) this.#store.set({ time: Math.fround(this.#store.facts.times.stored[0]) });
    this.#shownAt = performance.now();
    this.prefetch();
    this.#render();
    requestAnimationFrame((now) => this.#tick(now));
  }

  #paths(time: number): string[] {
    const { main, other, vectors } = planePaths({ ...this.#store.state, time }, this.#store.facts);
    return [main, ...(other === null ? [] : [other]), ...(vectors ?? [])];
  }

  async #fetch(path: string): Promise<void> {
    this.#fetching.add(path);
    try {
      await this.#store.slices.load(path, AbortSignal.timeout(60_000));
    } catch {
      // The figure requests the frame itself when it is due, and shows what is wrong.
      return;
    } finally {
      this.#fetching.delete(path);
    }
    this.prefetch();
  }

  #tick(now: number): void {
    if (!this.#playing) return;
    const due = now - this.#shownAt >= 1000 / this.#speed - 2;
    const next = this.#frameAt(1);
    if (next === null) {
      this.stop();
      return;
    }
    const waiting = this.#paths(next).some((path) => this.#fetching.has(path));
    if (due && !waiting) {
      this.#shownAt = Math.max(this.#shownAt + 1000 / this.#speed, now - 1000 / this.#speed);
      this.#store.set({ time: next });
    }
    requestAnimationFrame((later) => this.#tick(later));
  }
}

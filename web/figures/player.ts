/**
 * The player steps the time of the view through the stored times. It goes on only when everything on the page shows the
 * present time and all planes of the next one have arrived.
 */
import { html, nothing, svg, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { shortText, withoutNoise } from "../../src/float32/format.js";
import { storedTime } from "../state/analyses.js";
import { sampleWindow, wholePlane } from "../state/plane-geometry.js";
import { planePaths, slicesOf } from "../state/queries.js";
import { SPEEDS, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { rangeInput } from "./inputs.js";

/** Seconds of play that are fetched ahead, and the most frames that this may be. */
const SECONDS_AHEAD = 2;
const MOST_AHEAD = 32;
/** Frames ahead that are under way at a time, each in one request. */
const AT_ONCE = 4;
/** Ticks of the time line at most, and steps of its handle. */
const MOST_TICKS = 200;
const TIMELINE_STEPS = 1000;
/** Frames by which an arrow key moves the time. */
const ARROWS: Readonly<Record<string, 1 | -1>> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };
/** Ticks with their times at most. */
const MOST_NAMED = 10;
/** Part of the interval of stored times within which one is meant. */
const NEAR_STORED = 0.25;
/** Time after which waiting for the next picture is said. */
const LATE_MS = 1_000;
/** Waits before another attempt after a failure, longer each time. */
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;

/** The planes that the player fetches ahead, and whether everything shows the time of the view. */
export interface PlayedViews {
  /** The times that are played in turn. */
  readonly frames: () => readonly number[];
  /** What one of them is, in words. */
  readonly frame: () => "stored time" | "particle step";
  readonly views: () => readonly ViewState[];
  readonly isCurrent: () => boolean;
}

export class Player {
  readonly #store: ViewStore;
  readonly #played: PlayedViews;
  readonly #render: () => void;
  #playing = false;
  #loop = true;
  #shownAt = 0;
  /** Planes that are under way, and the number of their requests. */
  readonly #fetching = new Set<string>();
  #requests = 0;
  /** Why the next time cannot be fetched; empty if it can. */
  #problem = "";
  /** Whether the next picture is long overdue. */
  #late = false;
  #wait = FIRST_WAIT_MS;
  #retry: ReturnType<typeof setTimeout> | null = null;

  constructor(store: ViewStore, played: PlayedViews, render: () => void) {
    this.#store = store;
    this.#played = played;
    this.#render = render;
  }

  get playing(): boolean {
    return this.#playing;
  }

  /** Pictures a second. */
  get speed(): number {
    return Number(this.#store.state.speed);
  }

  stop(): void {
    if (!this.#playing) return;
    this.#playing = false;
    this.#recover();
    this.#store.set({});
  }

  /** Forgets a failure and the attempt that is due after it. */
  #recover(): void {
    if (this.#retry !== null) clearTimeout(this.#retry);
    this.#retry = null;
    this.#problem = "";
    this.#late = false;
    this.#wait = FIRST_WAIT_MS;
  }

  /** Fetches the frames that come next, so that they can be shown in time. */
  prefetch(): void {
    if (!this.#playing || this.#retry !== null) return;
    const wanted = Math.min(MOST_AHEAD, SECONDS_AHEAD * this.speed, this.#played.frames().length - 1);
    for (let ahead = 1; ahead <= Math.max(1, Math.min(wanted, this.#room())); ahead++) {
      const time = this.#frameAt(ahead);
      if (time === null) return;
      const missing = [...new Set(this.#paths(time))].filter((path) => {
        return !this.#store.slices.has(path) && !this.#fetching.has(path);
      });
      if (missing.length === 0) continue;
      if (this.#requests === AT_ONCE) return;
      void this.#fetch(missing);
    }
  }

  /** Frames of the view that find room in the cache. */
  #room(): number {
    const { state, facts, slices } = this.#store;
    const sizes = this.#played.views().map((view) => {
      const { counts } = sampleWindow(facts, view.axis, view.window ?? wholePlane(facts, view.axis), view.nodes);
      return counts[0] * counts[1];
    });
    return slices.roomFor(Math.max(...sizes) * this.#paths(state.time).length);
  }

  view(): TemplateResult | typeof nothing {
    const { count } = this.#store.facts.times;
    if (count < 2) return nothing;
    const frame = this.#played.frame();
    return html`
      <div class="row player" role="group" aria-label="Play through the stored times">
        <button type="button" id="time-back" aria-label="One ${frame} back" @click=${() => this.#step(-1)}>◀</button>
        <button type="button" id="time-play" class="primary" @click=${() => this.toggle()}>
          ${this.#playing ? "Pause" : "Play"}
        </button>
        <button type="button" id="time-on" aria-label="One ${frame} on" @click=${() => this.#step(1)}>▶</button>
        ${this.#timeline()}
        <output id="play-time">t = ${shortText(this.#store.state.time)}</output>
        <label class="check">
          <select
            id="speed"
            aria-label="Speed: ${frame}s per second"
            @change=${(event: Event) => {
              this.#store.set({ speed: (event.target as HTMLSelectElement).value as ViewState["speed"] });
            }}
          >
            ${SPEEDS.map((speed) => html`<option value=${speed} .selected=${live(speed === this.#store.state.speed)}>${speed}</option>`)}
          </select>
          <span data-short=${frame === "stored time" ? "times/s" : "steps/s"}>${frame}s per second</span>
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
          <span data-short="↻">Loop</span>
        </label>
        ${
          this.#problem === "" && !this.#late
            ? nothing
            : html`<span class="note" role="status" id="play-waits" title=${this.#problem}>Waiting for the next time${this.#problem === "" ? " …" : `: ${this.#problem}`}</span>`
        }
      </div>
    `;
  }

  /** The time of the view between first and last, over ticks at the stored times. */
  #timeline(): TemplateResult {
    const { first, last, stored } = this.#store.facts.times;
    const { time } = this.#store.state;
    const every = Math.ceil(stored.length / MOST_TICKS);
    const ticks = stored.filter((_, i) => i % every === 0);
    const range = { min: first, max: last, step: (last - first) / TIMELINE_STEPS };
    const named = Math.ceil(ticks.length / MOST_NAMED);
    return html`
      <div class="timeline" @keydown=${(event: KeyboardEvent) => this.#key(event)}>
        ${rangeInput("timeline", time, range, (at) => this.#store.set({ time: this.#near(at) }), "Time", `t = ${shortText(time)}`)}
        <svg aria-hidden="true" height="17">
          ${ticks.map((at, i) => {
            const x = `${(100 * (at - first)) / (last - first)}%`;
            const text = i % named === 0 ? svg`<text x=${x} y="16">${shortText(withoutNoise(at))}</text>` : nothing;
            return svg`<line x1=${x} y1="0" x2=${x} y2="5"></line>${text}`;
          })}
        </svg>
      </div>
    `;
  }

  /** A place on the time line as a time: a jump close to a stored time goes there. */
  #near(at: number): number {
    const { first, last, stored } = this.#store.facts.times;
    const nearest = storedTime(this.#store.facts, at);
    const jumps = Math.abs(at - this.#store.state.time) > (3 * (last - first)) / TIMELINE_STEPS;
    const close = ((last - first) / Math.max(1, stored.length - 1)) * NEAR_STORED;
    return withoutNoise(jumps && Math.abs(nearest - at) < close ? nearest : at);
  }

  /** The index of the stored time at or before that of the view. */
  #index(): number {
    const frames = this.#played.frames();
    const { time } = this.#store.state;
    const after = frames.findIndex((value) => withoutNoise(value) > time);
    return Math.max(0, (after < 0 ? frames.length : after) - 1);
  }

  /** The stored time some frames on; null beyond the last if the player does not loop. */
  #frameAt(ahead: number): number | null {
    const frames = this.#played.frames();
    const index = this.#index() + ahead;
    if (index >= frames.length && !this.#loop) return null;
    return withoutNoise(frames[((index % frames.length) + frames.length) % frames.length]);
  }

  /** An arrow key goes to the next stored time; with Shift, the browser moves the handle by one of its small steps. */
  #key(event: KeyboardEvent): void {
    if (!Object.hasOwn(ARROWS, event.key) || event.shiftKey || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.#step(ARROWS[event.key]);
  }

  #step(frames: 1 | -1): void {
    this.#playing = false;
    this.#recover();
    const all = this.#played.frames();
    const { time } = this.#store.state;
    const index = this.#index();
    const between = withoutNoise(all[index]) < time;
    const next = Math.max(0, Math.min(all.length - 1, index + (frames < 0 && between ? 0 : frames)));
    this.#store.set({ time: withoutNoise(all[next]) });
  }

  /** Plays or pauses, if there are times to play. */
  toggle(): void {
    if (this.#store.facts.times.count < 2) return;
    this.#playing = !this.#playing;
    this.#recover();
    if (!this.#playing) {
      this.#store.set({});
      return;
    }
    if (this.#frameAt(1) === null) this.#store.set({ time: withoutNoise(this.#played.frames()[0]) });
    this.#shownAt = performance.now();
    this.prefetch();
    this.#render();
    requestAnimationFrame((now) => this.#tick(now));
  }

  #paths(time: number): string[] {
    const paths = this.#played.views().map((view) => planePaths({ ...view, time }, this.#store.facts));
    return paths.flatMap(slicesOf);
  }

  /** Fetches the planes of a frame in one request. */
  async #fetch(paths: readonly string[]): Promise<void> {
    for (const path of paths) this.#fetching.add(path);
    this.#requests++;
    try {
      await this.#store.slices.fetchAhead(paths, AbortSignal.timeout(60_000));
      if (this.#problem !== "") this.#recover();
    } catch (error) {
      this.#fail(error);
      return;
    } finally {
      for (const path of paths) this.#fetching.delete(path);
      this.#requests--;
    }
    this.prefetch();
  }

  /** Waits after a failure, longer each time, before anything is fetched again. */
  #fail(error: unknown): void {
    if (!this.#playing || this.#retry !== null) return;
    this.#problem = error instanceof Error ? error.message : String(error);
    this.#retry = setTimeout(() => {
      this.#retry = null;
      this.prefetch();
    }, this.#wait);
    this.#wait = Math.min(LONGEST_WAIT_MS, 2 * this.#wait);
    this.#render();
  }

  #tick(now: number): void {
    if (!this.#playing) return;
    const interval = 1000 / this.speed;
    const due = now - this.#shownAt >= interval - 2;
    const next = this.#frameAt(1);
    if (next === null) {
      this.stop();
      return;
    }
    const ready = due && this.#played.isCurrent() && this.#paths(next).every((path) => this.#store.slices.has(path));
    const late = !ready && now - this.#shownAt > interval + LATE_MS;
    if (late !== this.#late) {
      this.#late = late;
      this.#render();
    }
    if (ready) {
      this.#shownAt = Math.max(this.#shownAt + interval, now - interval);
      this.#store.pass(next);
    }
    requestAnimationFrame((later) => this.#tick(later));
  }
}

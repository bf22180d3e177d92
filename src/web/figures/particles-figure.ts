/** The particles figure launches particles and plays their paths in 3-D. */
import { html, nothing, type TemplateResult } from "lit-html";
import { keyed } from "lit-html/directives/keyed.js";
import { live } from "lit-html/directives/live.js";
import { ref } from "lit-html/directives/ref.js";
import { shortestFloat32, shortText } from "../../float32/format.js";
import type { Trajectories } from "../state/api.js";
import { offers } from "../state/facts.js";
import { LatestRequest } from "../state/latest-request.js";
import type { PointQuery } from "../state/point-query.js";
import { particleQuery } from "../state/queries.js";
import { AXES, SEED_SHAPES, TRACKERS, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { columnTable, DataTable } from "./data-table.js";
import { choose, number } from "./inputs.js";
import type { BoxScene } from "./scene.js";
import { schemeColours } from "./scheme-colours.js";
import { statusBar } from "./status-bar.js";

const NAMES: Readonly<Record<ViewState["tracker"], string>> = {
  GetPosition: "Tracers, step by step",
  GetPositionParticleControl: "Tracers, step chosen by the service",
  GetPositionInertialParticle: "Inertial particles (Stokes drag)",
};
/** Records a second: a playing one, and one for people who asked for less motion. */
const PACE = 15;
const CALM_PACE = 1;
const TABLE_ROWS = 50;

/** Paths of particles together with the query behind them. */
export interface Launched {
  readonly query: PointQuery;
  readonly trajectories: Trajectories;
}

export class ParticlesFigure {
  readonly request: LatestRequest<Launched>;
  readonly #store: ViewStore;
  readonly #render: () => void;
  readonly #picture: () => HTMLCanvasElement | null;
  readonly #table = new DataTable("particles-table");
  #scene: BoxScene | null = null;
  #canvas: HTMLCanvasElement | null = null;
  #opened = 0;
  #shown: Launched | null = null;
  #drawn = "";
  #failure = "";
  #plane: HTMLCanvasElement | null = null;
  #playing = false;

  constructor(store: ViewStore, picture: () => HTMLCanvasElement | null, render: () => void) {
    this.#store = store;
    this.#picture = picture;
    this.#render = render;
    this.request = new LatestRequest(render);
    if (store.state.launched) void this.launch(store.state.record);
  }

  /** Requests the paths as set and shows record `record` of them, the last by default. */
  async launch(record?: number): Promise<void> {
    const { state, facts } = this.#store;
    const query = particleQuery(state, facts);
    this.#playing = false;
    await this.request.run(async (signal) => ({
      query,
      trajectories: await this.#store.api.trajectories(query, state.every, signal),
    }));
    const launched = this.request.value;
    if (launched === null || launched.query !== query) return;
    const last = launched.trajectories.times.length - 1;
    if (this.#scene === null) this.#opened++;
    this.#store.set({ launched: true, record: Math.min(record ?? last, last) });
  }

  /** Closes the 3-D view and forgets the paths. */
  close(): void {
    this.#playing = false;
    this.#scene?.dispose();
    this.#scene = null;
    this.#canvas = null;
    this.#shown = null;
    this.#plane = null;
    this.#drawn = "";
    this.request.clear();
    this.#store.set({ launched: false, record: 0 });
  }

  /** Brings the 3-D view up to date with the state. */
  paint(): void {
    const canvas = this.#canvas;
    const launched = this.request.value;
    if (canvas === null || launched === null || !this.#store.state.launched) return;
    if (this.#scene === null) {
      void this.#open(canvas);
      return;
    }
    this.#draw(this.#scene, canvas, launched);
  }

  async #open(canvas: HTMLCanvasElement): Promise<void> {
    if (this.#failure !== "") return;
    try {
      const { BoxScene } = await import("./scene.js");
      if (this.#scene !== null || this.#canvas !== canvas) return;
      this.#scene = new BoxScene(canvas, this.#store.facts.axes);
      this.#scene.setCamera(this.#store.state.camera);
      this.#scene.onCamera = (camera) => this.#store.set({ camera });
    } catch {
      this.#failure = "This browser shows no 3-D here; the positions are in the table.";
    }
    this.#render();
  }

  #draw(scene: BoxScene, canvas: HTMLCanvasElement, launched: Launched): void {
    const { state } = this.#store;
    if (this.#shown !== launched) {
      this.#shown = launched;
      scene.setPaths(launched.trajectories);
      canvas.dataset.longestSegment = String(scene.longestSegment);
    }
    const colours = schemeColours(canvas);
    const picture = this.#picture();
    const size = [canvas.clientWidth, canvas.clientHeight] as const;
    const key = [colours.paper, ...size].join(" ");
    if (key !== this.#drawn && size[0] > 0) {
      this.#drawn = key;
      scene.setColours(colours);
      scene.resize(...size);
    }
    if (picture !== null && picture !== this.#plane) {
      this.#plane = picture;
      scene.setPlane(picture, AXES.indexOf(state.axis), state.at);
    }
    scene.setRecord(Math.min(state.record, launched.trajectories.times.length - 1));
  }

  view(): TemplateResult {
    const { state, facts } = this.#store;
    const set = (patch: Partial<ViewState>) => this.#store.set(patch);
    const trackers = TRACKERS.filter((name) => offers(facts, name));
    if (trackers.length === 0) {
      const reason = facts.times.count > 1 ? "This dataset has no velocity" : "This dataset has a single time";
      return html`<section class="panel particles"><h2>Particles</h2><p>${reason}: nothing moves.</p></section>`;
    }
    return html`
      <section class="panel particles" aria-labelledby="particles-title">
        <h2 id="particles-title">Particles</h2>
        <form class="row" aria-label="Particles" @submit=${(event: Event) => {
          event.preventDefault();
          void this.launch();
        }}>
          ${choose(
            "seeds",
            "Start at",
            state.seeds,
            [
              { value: SEED_SHAPES[0], text: "the probe" },
              { value: SEED_SHAPES[1], text: `a line along ${state.line}` },
              { value: SEED_SHAPES[2], text: "a grid on the slice" },
            ],
            (seeds) => set({ seeds }),
          )}
          ${state.seeds === "point" ? nothing : number("count", "Particles", state.count, { min: 1, max: 1024, step: 1 }, (count) => set({ count: Math.round(count) }))}
          ${choose(
            "tracker",
            "Motion",
            state.tracker,
            trackers.map((value) => ({ value, text: NAMES[value] })),
            (tracker) => set({ tracker }),
          )}
          ${number("dt", state.tracker === "GetPosition" ? "Step" : "Unit of time", state.dt, { min: 1e-6 }, (dt) => set({ dt }))}
          ${number("steps", "Steps", state.steps, { min: 1, max: 10_000, step: 1 }, (steps) => set({ steps: Math.round(steps) }))}
          ${number("every", "Keep every", state.every, { min: 1, max: 10_000, step: 1 }, (every) => set({ every: Math.round(every) }))}
          ${state.tracker === "GetPositionInertialParticle" ? number("tp", "Response time", state.tp, { min: 0 }, (tp) => set({ tp })) : nothing}
          <button type="submit" class="primary">Launch</button>
        </form>
        <p class="note">From t = ${shortText(state.time)} with <b>${state.values}</b> in space, PCHIP in time.</p>
        ${statusBar("particles", this.request, () => void this.launch())}
        ${state.launched && this.request.value !== null ? this.#stage(this.request.value.trajectories) : nothing}
      </section>
    `;
  }

  #stage(trajectories: Trajectories): TemplateResult {
    const { state } = this.#store;
    const { times, particles } = trajectories;
    const last = times.length - 1;
    const record = Math.min(state.record, last);
    const go = (next: number) => {
      this.#playing = false;
      this.#store.set({ record: Math.max(0, Math.min(last, next)) });
    };
    const time = shortText(times[record]);
    return html`
      ${
        this.#failure === ""
          ? keyed(
              this.#opened,
              html`<canvas
                id="scene"
                tabindex="0"
                role="application"
                aria-roledescription="3-D view"
                aria-label="Paths of ${particles} particles. Arrow keys turn the view, plus and minus zoom."
                ${ref((element) => {
                  this.#canvas = (element as HTMLCanvasElement | undefined) ?? null;
                })}
                @keydown=${(event: KeyboardEvent) => {
                  if (this.#scene?.key(event.key)) event.preventDefault();
                }}
              ></canvas>`,
            )
          : html`<p class="error" role="status" id="no-scene">${this.#failure}</p>`
      }
      <div class="row player">
        <button type="button" id="play" @click=${() => this.#play(last)}>${this.#playing ? "Pause" : "Play"}</button>
        <button type="button" id="step-back" @click=${() => go(record - 1)} aria-label="One record back">◀</button>
        <button type="button" id="step-on" @click=${() => go(record + 1)} aria-label="One record on">▶</button>
        <input
          type="range"
          id="record"
          min="0"
          max=${last}
          step="1"
          aria-label="Time of the particles"
          aria-valuetext="t = ${time}"
          .value=${live(String(record))}
          @input=${(event: Event) => go(Number((event.target as HTMLInputElement).value))}
        />
        <output id="record-time">t = ${time}</output>
        <button type="button" id="close-scene" @click=${() => this.close()}>Close</button>
      </div>
      ${this.#table.view("Positions of the particles", () => this.#positions(trajectories, record))}
    `;
  }

  #positions({ times, positions }: Trajectories, record: number): TemplateResult {
    const records = times.length;
    const count = positions.length / 3 / records;
    const rows = Array.from({ length: Math.min(TABLE_ROWS, count) }, (_, p) => [
      String(p),
      ...[0, 1, 2].map((c) => shortestFloat32(positions[3 * (p * records + record) + c])),
    ]);
    const more = count > TABLE_ROWS ? ` (first ${TABLE_ROWS} of ${count}; export for all)` : "";
    return columnTable(`Positions at t = ${shortText(times[record])}${more}`, ["particle", ...AXES], rows);
  }

  #play(last: number): void {
    this.#playing = !this.#playing;
    if (this.#playing) {
      if (this.#store.state.record >= last) this.#store.set({ record: 0 });
      const pace = matchMedia("(prefers-reduced-motion: reduce)").matches ? CALM_PACE : PACE;
      this.#tick(last, 1000 / pace, performance.now());
    }
    this.#render();
  }

  #tick(last: number, interval: number, since: number): void {
    requestAnimationFrame((now) => {
      if (!this.#playing) return;
      const steps = Math.floor((now - since) / interval);
      if (steps > 0) this.#store.set({ record: Math.min(last, this.#store.state.record + steps) });
      if (this.#store.state.record >= last) {
        this.#playing = false;
        this.#render();
      } else this.#tick(last, interval, steps > 0 ? now : since);
    });
  }
}

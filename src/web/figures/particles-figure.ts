/** The particles figure launches particles and plays their paths, which the 3-D view draws. */
import { html, nothing, type TemplateResult } from "lit-html";
import { shortText } from "../../float32/format.js";
import { INTEGRATORS } from "../../operations.js";
import type { Trajectories } from "../state/api.js";
import { type DatasetFacts, flatAxis, offers } from "../state/facts.js";
import { LatestRequest } from "../state/latest-request.js";
import { AXES } from "../state/plane-geometry.js";
import type { Tracking } from "../state/point-query.js";
import { tracking } from "../state/queries.js";
import { quantitiesOf, SEED_SHAPES, TRACKERS, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { columnTable, DataTable, valueText } from "./data-table.js";
import { choose, number, rangeInput } from "./inputs.js";
import { type Fitting, statusBar } from "./status-bar.js";

const NAMES: Readonly<Record<ViewState["tracker"], string>> = {
  GetPosition: "Tracers, step by step",
  GetPositionParticleControl: "Tracers, step chosen by the service",
  GetPositionInertialParticle: "Inertial particles (Stokes drag)",
};
const INTEGRATOR_NAMES: Readonly<Record<ViewState["integrator"], string>> = {
  heun: "Heun, order 2",
  rk4: "Runge-Kutta, order 4",
  dopri5: "Dormand-Prince, adaptive",
};
/** Records a second: a playing one, and one for people who asked for less motion. */
const PACE = 15;
const CALM_PACE = 1;
const TABLE_ROWS = 50;

/** Paths of particles together with the query behind them. */
export interface Launched extends Tracking {
  readonly trajectories: Trajectories;
  /** The quantity along the paths. */
  readonly quantity: ViewState["along"];
}

/** The time at which a particle has left the domain, at a record or before; NaN while it is inside. */
export function exitAt({ times, exits }: Trajectories, particle: number, record: number): number {
  return exits[particle] <= times[record] ? exits[particle] : Number.NaN;
}

/** Owns the request for paths and the player, which moves the record that is shown. */
export class ParticlesFigure {
  readonly request: LatestRequest<Launched>;
  readonly #store: ViewStore;
  readonly #render: () => void;
  readonly #table = new DataTable("particles-table");
  #playing = false;

  constructor(store: ViewStore, render: () => void) {
    this.#store = store;
    this.#render = render;
    this.request = new LatestRequest(render);
    if (store.state.launched) void this.launch(store.state.record);
  }

  /** The paths to draw; null if none are launched. */
  get launched(): Launched | null {
    return this.#store.state.launched ? this.request.value : null;
  }

  /** The record that is shown. */
  get record(): number {
    const last = (this.launched?.trajectories.times.length ?? 1) - 1;
    return Math.min(this.#store.state.record, last);
  }

  /** Requests the paths as set and shows record `record` of them, the last by default. */
  async launch(record?: number): Promise<void> {
    const { state, facts, api } = this.#store;
    const asked = tracking(state, facts);
    this.#playing = false;
    await this.request.run(async (signal) => ({
      ...asked,
      quantity: state.along,
      trajectories: await api.trajectories(asked, signal),
    }));
    const launched = this.request.value;
    if (launched === null || launched.query !== asked.query) return;
    const last = launched.trajectories.times.length - 1;
    this.#store.set({ launched: true, scene: true, record: Math.min(record ?? last, last) });
  }

  /** Launches the particles again when the page goes back to an earlier view, unless its paths are those shown. */
  resume(): void {
    const { state, facts } = this.#store;
    if (!state.launched) return;
    const [asked, before] = [tracking(state, facts), this.request.value].map((view) =>
      JSON.stringify([view?.query, view?.every, view?.stops, view?.integrator, view?.starts, view?.along]),
    );
    if (asked !== before) void this.launch(state.record);
  }

  /** Forgets the paths. */
  close(): void {
    this.#playing = false;
    this.request.clear();
  }

  /** The form that launches particles, and their player. */
  view(): TemplateResult {
    const { state, facts } = this.#store;
    const set = (patch: Partial<ViewState>) => this.#store.set(patch);
    const trackers = TRACKERS.filter((name) => offers(facts, name));
    if (trackers.length === 0) {
      const reason = facts.times.count > 1 ? "This dataset has no velocity" : "This dataset has a single time";
      return html`<p class="note">Particles: ${reason}, so nothing moves.</p>`;
    }
    const { launched } = this;
    return html`
      <h3>Particles</h3>
      <form
        class="row"
        aria-label="Particles"
        @submit=${(event: Event) => {
          event.preventDefault();
          void this.launch();
        }}
      >
        ${seedControls(state, set)}
        ${choose(
          "tracker",
          "Motion",
          state.tracker,
          trackers.map((value) => ({ value, text: NAMES[value] })),
          (tracker) => set({ tracker }),
        )}
        ${stepControls(state, set)}
        ${choose("along", "Colour by", state.along, colourChoices(facts), (along) => set({ along }))}
        <button type="submit" class="primary">Launch</button>
      </form>
      <p class="note">From t = ${shortText(state.time)} with <b>${state.values}</b> in space, PCHIP in time.</p>
      ${statusBar(
        "particles",
        this.request,
        () => void this.launch(),
        (most) => this.#fitting(most),
      )}
      ${launched === null ? nothing : this.#player(launched)}
    `;
  }

  /** The particles and positions that the limits of the service admit. */
  #fitting(most: number | null): Fitting {
    const { state, facts } = this.#store;
    const fits = most ?? facts.points;
    const count = Math.max(1, Math.min(state.count, fits));
    // If the particles are not too many, each of them is asked for too many positions.
    const every = count < state.count ? state.every : Math.max(state.every, Math.ceil(state.steps / (fits - 1)));
    return {
      text: `${count} particles fit, kept every ${every} steps.`,
      choose: () => {
        this.#store.set({ count, every });
        void this.launch();
      },
    };
  }

  #player(launched: Launched): TemplateResult {
    const { trajectories, stops, starts } = launched;
    const { times } = trajectories;
    const last = times.length - 1;
    const { record } = this;
    const go = (next: number) => {
      this.#playing = false;
      this.#store.set({ record: Math.max(0, Math.min(last, next)) });
    };
    const time = shortText(times[record]);
    return html`
      <div class="row player">
        <button type="button" id="play" @click=${() => this.#play(last)}>${this.#playing ? "Pause" : "Play"}</button>
        <button type="button" id="step-back" @click=${() => go(record - 1)} aria-label="One record back">◀</button>
        <button type="button" id="step-on" @click=${() => go(record + 1)} aria-label="One record on">▶</button>
        ${rangeInput("record", record, { min: 0, max: last, step: 1 }, go, "Time of the particles", `t = ${time}`)}
        <output id="record-time">t = ${time}</output>
      </div>
      ${starts === null ? nothing : html`<p class="note">Times count from the release of each particle.</p>`}
      ${stops ? html`<p class="note" id="exits">${describeExits(trajectories, record, this.#store.facts)}</p>` : nothing}
      ${this.#table.view("Positions of the particles", () => positionTable(trajectories, record, stops))}
    `;
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

/** The places where particles start, and their number. */
function seedControls(state: ViewState, set: (patch: Partial<ViewState>) => void): TemplateResult {
  const [point, line, grid] = SEED_SHAPES;
  const shapes = [
    { value: point, text: "the probe" },
    { value: line, text: `a line along ${state.line}` },
    { value: grid, text: "a grid on the slice" },
  ];
  const limits = { min: 1, max: 1024, step: 1 };
  return html`
    ${choose("seeds", "Start at", state.seeds, shapes, (seeds) => set({ seeds }))}
    ${
      state.seeds === "point"
        ? nothing
        : number("count", "Particles", state.count, limits, (count) => set({ count: Math.round(count) }))
    }
  `;
}

/** The time for which particles move, and its step. */
function stepControls(state: ViewState, set: (patch: Partial<ViewState>) => void): TemplateResult {
  const limits = { min: 1, max: 10_000, step: 1 };
  const name = state.tracker === "GetPosition" ? "Step" : "Unit of time";
  return html`
    ${number("dt", name, state.dt, { min: 1e-6 }, (dt) => set({ dt }))}
    ${number("steps", "Steps", state.steps, limits, (steps) => set({ steps: Math.round(steps) }))}
    ${number("every", "Keep every", state.every, limits, (every) => set({ every: Math.round(every) }))}
    ${
      state.tracker === "GetPositionInertialParticle"
        ? nothing
        : choose(
            "integrator",
            "Integrator",
            state.integrator,
            INTEGRATORS.map((value) => ({ value, text: INTEGRATOR_NAMES[value] })),
            (integrator) => set({ integrator }),
          )
    }
    ${
      state.tracker === "GetPosition"
        ? number("release", "Release over", state.release, { min: 0 }, (release) => set({ release }))
        : nothing
    }
    ${
      state.tracker === "GetPositionInertialParticle"
        ? number("tp", "Response time", state.tp, { min: 0 }, (tp) => set({ tp }))
        : nothing
    }
  `;
}

/** The quantities that can colour paths: those of single points. */
function colourChoices(facts: DatasetFacts) {
  const quantities = quantitiesOf(facts).filter(({ expression }) => expression !== null);
  return [
    { value: "none" as const, text: "particle" },
    ...quantities.map(({ name, title }) => ({ value: name, text: title })),
  ];
}

/** The number of particles that have left, in words. */
function describeExits(trajectories: Trajectories, record: number, facts: DatasetFacts): string {
  const { times, particles } = trajectories;
  const exits = Array.from({ length: particles }, (_, p) => exitAt(trajectories, p, record)).filter(Number.isFinite);
  if (exits.length === 0)
    return `None of the ${particles} particles has left the domain by t = ${shortText(times[record])}.`;
  const flat = flatAxis(facts);
  const reason =
    flat === null
      ? "Faces that are no walls are open."
      : `The data lie on a plane and the velocity leads out of it; if the flow is the same at every ${flat}, "periodic": true for ${flat} in the descriptor lets particles go on.`;
  return (
    `${exits.length} of ${particles} particles have left the domain, the first at t = ${shortText(Math.min(...exits))}: ` +
    `their paths end there, in grey. ${reason}`
  );
}

function positionTable(trajectories: Trajectories, record: number, stops: boolean): TemplateResult {
  const { times, positions } = trajectories;
  const records = times.length;
  const count = positions.length / 3 / records;
  const rows = Array.from({ length: Math.min(TABLE_ROWS, count) }, (_, p) => [
    String(p),
    ...[0, 1, 2].map((c) => valueText(positions[3 * (p * records + record) + c])),
    ...(stops ? [exitText(exitAt(trajectories, p, record))] : []),
  ]);
  const more = count > TABLE_ROWS ? ` (first ${TABLE_ROWS} of ${count}; export for all)` : "";
  return columnTable(
    `Positions at t = ${shortText(times[record])}${more}`,
    ["particle", ...AXES, ...(stops ? ["left at t ="] : [])],
    rows,
  );
}

function exitText(exit: number): string {
  return Number.isNaN(exit) ? "inside" : shortText(exit);
}

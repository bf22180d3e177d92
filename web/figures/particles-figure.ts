/** The particles figure launches particles; planes and 3-D view draw their paths at the time of the view. */
import { html, nothing, type TemplateResult } from "lit-html";
import { shortText, withoutNoise } from "../../src/float32/format.js";
import { INTEGRATORS } from "../../src/shared/operations.js";
import type { Trajectories } from "../state/api.js";
import { type DatasetFacts, flatAxis, offers } from "../state/facts.js";
import { LatestRequest } from "../state/latest-request.js";
import { AXES } from "../state/plane-geometry.js";
import type { Tracking } from "../state/point-query.js";
import { stepsMade, tracking } from "../state/queries.js";
import { listedTitle, quantitiesOf } from "../state/shown-quantity.js";
import { hasScene, SEED_SHAPES, TRACKERS, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { columnTable, DataTable, valueText } from "./data-table.js";
import { choose, number, tellCorrection } from "./inputs.js";
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
const TABLE_ROWS = 50;

/** Paths of particles together with the query behind them. */
export interface Launched extends Tracking {
  readonly trajectories: Trajectories;
  /** The paths at common times: those of particles that start later begin later. */
  readonly drawn: Trajectories;
  /** The quantity along the paths. */
  readonly quantity: ViewState["along"];
}

/** The time at which a particle has left the domain, at a record or before; NaN while it is inside. */
export function exitAt({ times, exits }: Trajectories, particle: number, record: number): number {
  return exits[particle] <= times[record] ? exits[particle] : Number.NaN;
}

/**
 * The paths of particles that start one after another at times that all share: linear between records, none before the
 * start of each.
 */
export function atCommonTimes(trajectories: Trajectories, starts: Float32Array): Trajectories {
  const { times, particles, positions, values, exits } = trajectories;
  const interval = (times[1] ?? 1) - (times[0] ?? 0);
  const first = starts.reduce((least, start) => Math.min(least, start), Number.POSITIVE_INFINITY);
  const latest = starts.reduce((most, start) => Math.max(most, start), Number.NEGATIVE_INFINITY);
  const count = times.length + Math.ceil((latest - first) / interval - 1e-6);
  const common = Array.from({ length: count }, (_, k) => first + k * interval);
  const resample = (list: Float32Array, width: number): Float32Array => {
    const out = new Float32Array(particles * count * width).fill(Number.NaN);
    for (let p = 0; p < particles; p++) {
      for (let k = 0; k < count; k++) {
        const age = (common[k] - starts[p]) / interval;
        if (age < -1e-6) continue;
        const at = Math.max(0, Math.min(times.length - 1, age));
        const [low, part] = [Math.floor(at), at - Math.floor(at)];
        const high = Math.min(times.length - 1, low + 1);
        for (let c = 0; c < width; c++) {
          const value = (record: number) => list[width * (p * times.length + record) + c];
          out[width * (p * count + k) + c] = part === 0 ? value(low) : value(low) * (1 - part) + value(high) * part;
        }
      }
    }
    return out;
  };
  return {
    times: common,
    particles,
    positions: resample(positions, 3),
    values: values === null ? null : resample(values, 1),
    exits: exits.map((exit, p) => exit + starts[p]),
  };
}

/** Owns the request for paths. */
export class ParticlesFigure {
  readonly request: LatestRequest<Launched>;
  readonly #store: ViewStore;
  readonly #table = new DataTable("particles-table");

  constructor(store: ViewStore, render: () => void) {
    this.#store = store;
    this.request = new LatestRequest(render);
    if (store.state.launched) void this.#ask();
  }

  /** The paths to draw; null if none are launched. */
  get launched(): Launched | null {
    return this.#store.state.launched ? this.request.value : null;
  }

  /** The record at the time of the view: the last one before it, the first one if there is none. */
  get record(): number {
    const { time } = this.#store.state;
    const times = this.launched?.drawn.times ?? [];
    return Math.max(
      0,
      times.findLastIndex((recorded) => withoutNoise(recorded) <= time),
    );
  }

  /**
   * Requests the paths as set, and shows them where the view is.
   *
   * @param stay whether the time stays even if nothing has moved yet; otherwise that of the last record is shown
   */
  async launch(stay = false): Promise<void> {
    const launched = await this.#ask();
    if (launched === null) return;
    const { state, facts } = this.#store;
    const [first, last] = [launched.drawn.times[0] ?? state.time, launched.drawn.times.at(-1) ?? state.time];
    const moved = stay || state.time > withoutNoise(first);
    const time = moved ? state.time : Math.min(withoutNoise(last), facts.times.last);
    this.#store.set({ launched: true, scene: hasScene(state), time });
    if (moved) return;
    const sentence = `Particles released at t = ${shortText(first)}; the view is now at t = ${shortText(time)}, when their paths are whole.`;
    tellCorrection(document.body, sentence, time);
  }

  /** Requests the paths as set; null if others were asked for meanwhile. */
  async #ask(): Promise<Launched | null> {
    const { state, facts, api } = this.#store;
    const asked = tracking(state, facts);
    await this.request.run(async (signal) => {
      const trajectories = await api.trajectories(asked, signal);
      const drawn = asked.starts === null ? trajectories : atCommonTimes(trajectories, asked.starts);
      return { ...asked, quantity: state.along, trajectories, drawn };
    });
    const launched = this.request.value;
    return launched === null || launched.query !== asked.query ? null : launched;
  }

  /** Launches the particles again when the page goes back to an earlier view, unless its paths are those shown. */
  resume(): void {
    const { state, facts } = this.#store;
    if (!state.launched) return;
    const [asked, before] = [tracking(state, facts), this.request.value].map((view) =>
      JSON.stringify([view?.query, view?.every, view?.stops, view?.integrator, view?.starts, view?.along]),
    );
    if (asked !== before) void this.#ask();
  }

  /** Forgets the paths. */
  close(): void {
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
        ${number("start", "From time", state.start, { min: facts.times.first, max: facts.times.last }, (start) => set({ start: withoutNoise(start) }))}
        ${choose(
          "tracker",
          "Motion",
          state.tracker,
          trackers.map((value) => ({ value, text: NAMES[value] })),
          (tracker) => set({ tracker }),
        )}
        ${stepControls(state, facts, set)}
        ${choose("along", "Colour by", state.along, colourChoices(facts), (along) => set({ along }))}
        <button type="submit" class="primary">Launch</button>
      </form>
      <p class="note">With <b>${state.values}</b> in space, PCHIP in time. A path is strong up to the time of the view, and pale after it.</p>
      ${statusBar(
        "particles",
        this.request,
        () => void this.launch(),
        (most) => this.#fitting(most),
      )}
      ${launched === null ? nothing : this.#report(launched)}
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

  /** The time of the view, if it is not the recorded one. */
  #viewText(recorded: number): string {
    const { time } = this.#store.state;
    return withoutNoise(recorded) === time ? "" : `; the view is at t = ${shortText(time)}`;
  }

  /** The particles at the time of the view, in words and as a table. */
  #report({ trajectories, drawn, stops, starts }: Launched): TemplateResult {
    const { record } = this;
    return html`
      <p class="row">
        <output id="record-time">Particles at t = ${shortText(drawn.times[record])}${this.#viewText(drawn.times[record])}</output>
        <button type="button" id="forget-particles" @click=${() => this.#forget()}>Remove the particles</button>
      </p>
      ${starts === null ? nothing : html`<p class="note">Released one after another from t = ${shortText(starts[0])} on.</p>`}
      ${stops ? html`<p class="note" id="exits">${describeExits(drawn, record, this.#store.facts)}</p>` : nothing}
      ${this.#table.view("Positions of the particles", () => positionTable(starts === null ? trajectories : drawn, record, stops))}
    `;
  }

  #forget(): void {
    this.close();
    this.#store.set({ launched: false });
  }
}

/** The places where particles start, and their number. */
function seedControls(state: ViewState, set: (patch: Partial<ViewState>) => void): TemplateResult {
  const [point, line, grid, places] = SEED_SHAPES;
  const shapes = [
    { value: point, text: "the probe" },
    { value: line, text: `a line along ${state.line}` },
    { value: grid, text: "a grid on the part shown" },
    { value: places, text: `places pointed at (${state.places.length})` },
  ];
  const limits = { min: 1, max: 1024, step: 1 };
  return html`
    ${choose("seeds", "Start at", state.seeds, shapes, (seeds) => set({ seeds }))}
    ${
      state.seeds === "point" || state.seeds === "places"
        ? nothing
        : number("count", "Particles", state.count, limits, (count) => set({ count: Math.round(count) }))
    }
  `;
}

/** The time for which particles move, and its step. */
function stepControls(state: ViewState, facts: DatasetFacts, set: (patch: Partial<ViewState>) => void): TemplateResult {
  const made = stepsMade(state, facts);
  const limits = { min: 1, max: 10_000, step: 1 };
  const name = state.tracker === "GetPosition" ? "Step" : "Unit of time";
  return html`
    ${number("dt", name, state.dt, { min: 1e-6 }, (dt) => set({ dt }))}
    ${number("steps", "Steps", state.steps, limits, (steps) => set({ steps: Math.round(steps) }))}
    ${made < state.steps ? html`<p class="note" role="status" id="steps-made">Particles make ${made} of the ${state.steps} steps: the data end at t = ${shortText(facts.times.last)}.</p>` : nothing}
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
  const quantities = quantitiesOf(facts).filter(({ method }) => method !== null);
  return [
    { value: "none" as const, text: "particle" },
    ...quantities.map((quantity) => ({ value: quantity.name, text: listedTitle(facts, quantity) })),
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
      ? "Faces that are not walls are open."
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
  const more = count > TABLE_ROWS ? ` (first ${TABLE_ROWS} of ${count}; the panel Export saves all)` : "";
  return columnTable(
    `Positions at t = ${shortText(times[record])}${more}`,
    ["particle", ...AXES, ...(stops ? ["left at t ="] : [])],
    rows,
  );
}

function exitText(exit: number): string {
  return Number.isNaN(exit) ? "inside" : shortText(exit);
}

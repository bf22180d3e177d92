/** The slice figure shows one plane, or three planes through the probe, with one colour bar, read-out and player. */

import { html, nothing, render, type TemplateResult } from "lit-html";
import { live } from "lit-html/directives/live.js";
import { createRef, ref } from "lit-html/directives/ref.js";
import { shortestFloat32, shortText, withMinus } from "../../src/float32/format.js";
import { unitOf } from "../../src/shared/quantities.js";
import { valuesOf } from "../state/api.js";
import { axisOf, type DatasetFacts, flatAxis, offers } from "../state/facts.js";
import { LatestRequest } from "../state/latest-request.js";
import { AXES, type AxisName, fittingSide, type PlaneWindow, USUAL_SAMPLES } from "../state/plane-geometry.js";
import {
  describeOptions,
  describePlane,
  pointQuery,
  shortTitle,
  shownFormula,
  shownName,
  shownTitle,
  shownUnit,
  showsQuantity,
  showsStretching,
} from "../state/queries.js";
import { questionKey } from "../state/question-key.js";
import { conditionTitle, quantityValues, type ValueRange } from "../state/shown-quantity.js";
import { CLICKS, hasScene, RESOLUTIONS, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { barLegend, RANGE_RULES } from "./colour-bar.js";
import {
  type ColourScale,
  joinRanges,
  makeScale,
  mapName,
  type NamedScale,
  rangeFor,
  rangeOf,
} from "./colour-scale.js";
import { DataTable } from "./data-table.js";
import { FIGURE_KINDS, type FigureContent, type FigureKind, fileName } from "./figure-file.js";
import { HeldRanges } from "./held-range.js";
import { type DrawnPaths, PlaneFigure, releaseTime, type ShownPlane, ZOOM_STEP } from "./plane-figure.js";
import { pointOf, sampleOfProbe } from "./plane-samples.js";
import { type PlayedViews, Player } from "./player.js";
import { isDark } from "./scheme-colours.js";
import { sliceTable } from "./slice-table.js";
import { type Fitting, statusBar } from "./status-bar.js";
import { linearTicks, signedText } from "./ticks.js";

/**
 * Shortest time from one text of the read-out to the next while the pointer moves, in milliseconds: people do not read
 * faster, and new text costs more than all the rest of a move.
 */
const READOUT_MS = 50;

/** Pixels of the arrow that tells the speed of arrows, at most. */
const ARROW_LEGEND = 60;

/** Whether a request shows the time of the view, or has nothing to show. */
export function isCurrent(
  { value, status }: LatestRequest<{ readonly state: ViewState }>,
  { state }: Pick<ViewStore, "state">,
): boolean {
  return !status.running && (value === null || value.state.time === state.time);
}

/** The name of the colour bar of a view: what is shown, and its unit. */
function barName(state: ViewState, facts: DatasetFacts): string {
  const unit = shownUnit(state, facts);
  return unit === "" ? shownTitle(state) : `${shownTitle(state)}, ${unit}`;
}

/** The view of a plane across another axis, through the probe. */
function viewAcross(state: ViewState, axis: AxisName, window: PlaneWindow | null): ViewState {
  return { ...state, axis, at: state.probe[AXES.indexOf(axis)], window };
}

export class SliceFigure {
  readonly player: Player;
  readonly #store: ViewStore;
  readonly #save: (kind: FigureKind) => void;
  readonly #paths: () => DrawnPaths | null;
  readonly #played: PlayedViews;
  readonly #render: () => void;
  readonly #table = new DataTable("slice-table");
  readonly #single: PlaneFigure;
  readonly #linked: ReadonlyMap<AxisName, PlaneFigure>;
  readonly #windows = new Map<AxisName, PlaneWindow | null>();
  #active: PlaneFigure;
  readonly #darkScheme = matchMedia("(prefers-color-scheme: dark)");
  #scale: ColourScale | null = null;
  #scaled: readonly unknown[] = [];
  readonly #held: HeldRanges;
  /** The query for the value at the probe that was asked last. */
  #probed = "";
  /** The value at a probe, with its query: the probe need not be a sample of the picture. */
  readonly #found: LatestRequest<{ readonly key: string; readonly value: number }>;
  readonly #readout = createRef<HTMLElement>();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: ReturnType<typeof setTimeout> | null = null;

  /**
   * @param othersCurrent whether everything else on the page shows the time of the view
   * @param save          saves the picture as a file
   * @param particles     the paths of particles, whose times then are played, and how others are launched
   */
  constructor(
    store: ViewStore,
    othersCurrent: () => boolean,
    particles: { readonly paths: () => DrawnPaths | null; readonly seeded: () => void },
    save: (kind: FigureKind) => void,
    render: () => void,
  ) {
    this.#save = save;
    this.#paths = particles.paths;
    this.#store = store;
    this.#render = render;
    this.#held = new HeldRanges(store, () => this.planes.map((plane) => plane.wanted), render);
    this.#found = new LatestRequest(render);
    const played = {
      frames: () => particles.paths()?.drawn.times ?? store.facts.times.stored,
      frame: () => (particles.paths() === null ? ("stored time" as const) : ("particle step" as const)),
      views: () => this.planes.map((plane) => plane.wanted),
      isCurrent: () =>
        !this.#held.isRunning && this.planes.every(({ request }) => isCurrent(request, store)) && othersCurrent(),
    };
    this.#played = played;
    this.player = new Player(store, played, render);
    const make = (
      id: string,
      view: () => ViewState,
      setWindow: (window: PlaneWindow | null) => void,
      crossed: boolean,
    ): PlaneFigure => {
      const figure: PlaneFigure = new PlaneFigure({
        id,
        store,
        view,
        setWindow,
        crossed,
        ...particles,
        scale: () => this.scale,
        render,
        moved: () => this.#moved(figure),
      });
      return figure;
    };
    this.#single = make(
      "slice",
      () => store.state,
      (window) => store.set({ window }),
      false,
    );
    this.#linked = new Map(
      AXES.map((axis) => {
        const view = () => viewAcross(store.state, axis, this.#windows.get(axis) ?? null);
        const setWindow = (window: PlaneWindow | null) => {
          this.#windows.set(axis, window);
          this.refresh();
          render();
        };
        return [axis, make(`slice-${axis}`, view, setWindow, true)];
      }),
    );
    this.#active = this.#single;
  }

  /** Whether everything on the page shows the time of the view. */
  get isCurrent(): boolean {
    return this.#played.isCurrent();
  }

  /** The times that are played. */
  get frames(): readonly number[] {
    return this.#played.frames();
  }

  /** The planes as a figure; null before there is a picture. */
  content(): FigureContent | null {
    const shown = this.plane.framed;
    if (shown === null) return null;
    const { state } = shown;
    const { facts } = this.#store;
    const [name, formula] = [shownName(state), shownFormula(state)];
    return {
      name: fileName(shown),
      parts: this.planes.flatMap((plane, i) => plane.figurePart(i) ?? []),
      bars: [{ scale: this.scale, name: barName(state, facts) }, ...this.#pathBars()],
      title: describePlane(state, facts),
      notes: [
        `${describeOptions(state, facts)}${formula === name ? "" : `; ${name} = ${formula}`}; colours: range ${this.rule}`,
        ...(this.#pathsNote === "" ? [] : [this.#pathsNote]),
      ],
    };
  }

  /** The plane that the controls speak of. */
  get plane(): PlaneFigure {
    return this.#store.state.layout === "one" ? this.#single : this.#active;
  }

  /** The planes that are shown. */
  get planes(): readonly PlaneFigure[] {
    return this.#store.state.layout === "one" ? [this.#single] : [...this.#linked.values()];
  }

  /** The plane that is shown, with the view that asked for it. */
  get shown(): ShownPlane | null {
    return this.plane.request.value;
  }

  refresh(): void {
    if (this.#store.state.layout === "three" && this.#active === this.#single) {
      this.#active = this.#linked.get(this.#store.state.axis) ?? this.#single;
    }
    for (const plane of this.planes) plane.refresh();
    this.#held.refresh();
    this.player.prefetch();
  }

  invalidate(): void {
    this.#store.slices.clear();
    this.#held.invalidate();
    this.#probed = "";
    for (const plane of [this.#single, ...this.#linked.values()]) plane.invalidate();
  }

  /** Forgets every plane, for another dataset. */
  clear(): void {
    this.player.stop();
    this.#windows.clear();
    this.#held.clear();
    this.#found.clear();
    this.#probed = "";
    for (const plane of [this.#single, ...this.#linked.values()]) plane.clear();
  }

  paint(): void {
    for (const plane of this.planes) plane.paint();
    this.#paintReadout();
  }

  /** The colour scale of all planes shown; the same record until map, range or values change. */
  get scale(): ColourScale {
    const { state } = this.#store;
    const shown = this.planes.flatMap((plane) => plane.request.value ?? []);
    const dark = isDark(state.theme, this.#darkScheme);
    const key = [state.map, dark, state.scaling, state.shape, state.range, this.#held.known, ...shown];
    if (
      this.#scale !== null &&
      key.length === this.#scaled.length &&
      key.every((part, i) => part === this.#scaled[i])
    ) {
      return this.#scale;
    }
    const held = this.#held.over(shown);
    const slices = shown.map(({ slice }) => slice);
    const log = state.shape === "log";
    const pictures = joinRanges(slices.map((slice) => rangeOf(slice, log)));
    // The nodes have no stretching of their own: its range is that of the picture.
    const stretched = this.#isStretching;
    const scaling = stretched && state.scaling === "auto" ? "picture" : state.scaling;
    const own = scaling === "auto" ? held : pictures;
    const wanted = stretched && state.map === "auto" ? "inferno" : state.map;
    const name = mapName(wanted, state.range ?? [own.low, own.high], dark);
    const ranges = slices.map((slice) => rangeFor(name, { ...state, scaling }, held, slice));
    const joined = joinRanges(ranges.map(([low, high]) => ({ low, high, least: 0 })));
    const range: ValueRange = state.range ?? [joined.low, joined.high];
    this.#scaled = key;
    this.#scale = makeScale(name, range, own.least, slices, this.#scale);
    return this.#scale;
  }

  /** Whether the picture shows stretching already. */
  get #isStretching(): boolean {
    const shown = this.shown;
    return shown !== null && showsStretching(shown.state);
  }

  /** The values that the range is taken from, in words. */
  get rule(): string {
    const { range, scaling } = this.#store.state;
    if (range !== null) return RANGE_RULES.fixed;
    if (this.#isStretching && scaling === "auto") return RANGE_RULES.picture;
    return scaling === "auto" ? this.#held.rule : RANGE_RULES[scaling];
  }

  /** @param more further buttons of the picture */
  view(more: unknown): TemplateResult {
    const { facts } = this.#store;
    const shown = this.plane.framed;
    const state = shown?.state ?? this.#store.state;
    const options = `${describeOptions(state, facts)}${this.#sampling(shown)}`;
    return html`
      <figure class="slice" aria-labelledby="slice-title">
        <figcaption id="slice-title">
          <span title=${shownFormula(state)}>${describePlane(state, facts)}</span>
          <small title=${options}>${options}</small>
        </figcaption>
        ${this.#planesView()}
        <div class="under">
          <output id="slice-readout" aria-live="off" ${ref(this.#readout)}></output>
          ${this.#buttons(more)}
        </div>
        ${shown === null ? html`<div class="colour-bar"></div>` : barLegend(this.scale, barName(state, facts), this.#hasGaps(), this.rule)}
        ${this.#arrowLegend()} ${this.#pathBars().map(({ scale, name }) => barLegend(scale, name))}
        ${this.#pathsNote === "" ? nothing : html`<p class="note" id="paths-note">${this.#pathsNote}</p>`}
        ${this.#differenceNote()} ${this.#markedNote()}
        ${statusBar(showsStretching(this.#store.state) ? "stretching" : "slice", this.plane.request, undefined, (most) => this.#fitting(most))}
        <div class="foot">
  ${this.#table.view("Values of the slice", () => sliceTable(shown?.slice ?? null))}
        <p class="note gestures">Click: ${this.#clickText()} · ${this.#store.state.places.length === 0 ? nothing : "Streamlines and particles start at the same places · "}Drag: move · Shift and drag: box · Wheel: zoom · Double click: all of it · ?: more</p>
        </div>
      </figure>
    `;
  }

  /** The largest difference of a comparison in the picture with its place, and the rms of all; null without one. */
  get difference(): {
    readonly largest: string;
    readonly place: [number, number, number];
    readonly rms: string;
  } | null {
    const shown = this.plane.framed;
    if (shown === null || shown.differences === null || shown.differences.largest < 0) return null;
    const { facts } = this.#store;
    const { largest, rms } = shown.differences;
    const { columns, values } = shown.slice;
    const cell = { row: Math.floor(largest / columns.count), column: largest % columns.count };
    const place = pointOf(shown.slice, shown.state, cell, facts);
    const unit = shownUnit(shown.state, facts);
    const text = (value: number) => `${signedText(value)} ${unit}`.trim();
    return { largest: text(values[largest] as number), place, rms: text(rms) };
  }

  /** Changes the view to a probe that was found, and reads there. */
  goTo(change: Partial<ViewState>): void {
    for (const plane of this.planes) plane.readProbe();
    this.#store.set(change);
    this.readProbe();
  }

  /** Asks for the value at a probe in the plane, unless it was asked for: samples of the picture lie next to it. */
  readProbe(): void {
    const { api, facts, state } = this.#store;
    if (!showsQuantity(state) || state.at !== state.probe[AXES.indexOf(state.axis)]) return;
    const query = pointQuery(state);
    const key = questionKey(facts, [state.field], query);
    if (key === this.#probed) return;
    this.#probed = key;
    void this.#found.run(async (signal) => {
      const [result] = await api.batch([query], signal).catch((error: unknown) => {
        // The next look at the probe asks again.
        if (this.#probed === key) this.#probed = "";
        throw error;
      });
      const record = valuesOf(result) ?? [];
      return { key, value: Math.fround(quantityValues(state.field, record, record.length, facts.viscosity)[0]) };
    });
  }

  #differenceNote(): TemplateResult | typeof nothing {
    const { difference } = this;
    if (difference === null) return nothing;
    const { largest, place, rms } = difference;
    return html`<p class="note" id="difference-note">
      Largest difference ${largest} at
      <button type="button" class="link" id="largest-difference" @click=${() => this.goTo({ probe: place })}>(${withMinus(place.map(shortText).join(", "))})</button>;
      rms ${rms}, over the samples shown.
    </p>`;
  }

  /** The conditions of the marked nodes, in words. */
  #markedNote(): TemplateResult | typeof nothing {
    const { brush } = this.#store.state;
    const shown = this.planes.flatMap((plane) => plane.request.value?.marked ?? []);
    if (brush.length === 0 || shown.length === 0) return nothing;
    const [marked, among] = [
      shown.reduce((sum, { places }) => sum + places.length / 2, 0),
      shown.reduce((sum, { among: all }) => sum + all, 0),
    ];
    const conditions = brush.map(
      ({ of, low, high }) => `${conditionTitle(of)} from ${shortText(low)} to ${shortText(high)}`,
    );
    const where =
      shown.length > 1 ? "the planes" : `the plane ${this.plane.wanted.axis} = ${shortText(shown[0]?.at ?? 0)}`;
    return html`<p class="note" id="marked-nodes">
      ${marked} of ${among} nodes of ${where} have ${conditions.join(" and ")}: marked.
      <button type="button" class="link" id="clear-brush" @click=${() => this.#store.set({ brush: [] })}>Unmark</button>
    </p>`;
  }

  /** The bar of the paths over the picture; none if there is no path, or 3-D shows it. */
  #pathBars(): readonly NamedScale[] {
    const bar = this.#paths()?.bar;
    return bar == null || bar.scale === this.scale || hasScene(this.#store.state) ? [] : [bar];
  }

  /** What the paths over the picture are; empty without any. */
  get #pathsNote(): string {
    const { facts, state } = this.#store;
    if (this.#paths() === null || flatAxis(facts) !== null) return "";
    return `Paths of particles in 3-D, projected onto the plane${state.along === "none" ? "; each particle has a colour" : ""}.`;
  }

  /** An arrow of a round speed with that speed, for each plane. */
  #arrowLegend(): TemplateResult | typeof nothing {
    if (this.#store.state.overlay !== "arrows") return nothing;
    const unit = unitOf(this.#store.facts, "velocity");
    const legends = this.planes.flatMap((plane) => {
      const one = plane.arrowSpeed(1);
      if (one === 0) return [];
      const speed = linearTicks(0, ARROW_LEGEND * one, 2).at(-1)?.value ?? 0;
      const length = speed / one;
      const name = this.planes.length === 1 ? "" : `${plane.wanted.axis}: `;
      return [
        html`<p class="note arrow-scale">
          ${name}<svg width=${length + 2} height="10" aria-hidden="true">
            <path d="M1 5H${length} M${length - 5} 1L${length} 5L${length - 5} 9"></path>
          </svg>
          ${shortText(speed)} ${unit}
        </p>`,
      ];
    });
    return html`<div class="bar-names">${legends}</div>`;
  }

  #planesView(): TemplateResult {
    if (this.#store.state.layout === "one") return this.#single.view();
    return html`
      <div class="linked">
        ${[...this.#linked].map(([axis, plane]) => {
          const at = this.#store.state.probe[AXES.indexOf(axis)];
          return html`<div class="linked-plane"><p class="note">${axis} = ${shortText(at)}</p>${plane.view()}</div>`;
        })}
      </div>
    `;
  }

  /** The samples of the picture, and how they compare with the nodes, in words. */
  #sampling(shown: ShownPlane | null): string {
    if (shown === null) return "";
    const { columns, rows } = shown.slice;
    if (shown.state.nodes === "grid") return `; at ${columns.count} × ${rows.count} nodes`;
    const finer = [columns, rows].map(({ axis, spacing }) => axisOf(this.#store.facts, axis).spacing / spacing);
    const most = Math.max(...finer);
    const text = most > 1.05 ? `, ${Number(most.toPrecision(2))} times finer than the nodes` : "";
    return `; ${columns.count} × ${rows.count} samples${text}`;
  }

  /** The sampling that the limits of the service admit. */
  #fitting(most: number | null): Fitting {
    const points = most ?? this.#store.facts.points;
    const side = fittingSide({ points }, points);
    const nodes = RESOLUTIONS.findLast((value) => Number(value) <= side) ?? "auto";
    return {
      text: `${points} points fit into one request, which is ${side} × ${side} samples.`,
      choose: () =>
        this.#store.set({ nodes: side < USUAL_SAMPLES && points === this.#store.facts.points ? "auto" : nodes }),
    };
  }

  #hasGaps(): boolean {
    return this.planes.some((plane) => plane.request.value?.gaps === true);
  }

  #buttons(more: unknown): TemplateResult {
    return html`
      <div class="row buttons">
        <button type="button" @click=${() => this.plane.zoom(ZOOM_STEP)} aria-label="Zoom in">+</button>
        <button type="button" @click=${() => this.plane.zoom(1 / ZOOM_STEP)} aria-label="Zoom out">−</button>
        <button type="button" data-short="Whole" ?disabled=${this.planes.every(({ wanted }) => wanted.window === null)} @click=${() => this.#reset()}>Whole plane</button>
        <button type="button" id="fill-frame" data-short="Fill" ?disabled=${!this.plane.isNarrow} @click=${() => this.plane.fill()}>Fill frame</button>
        ${this.#clickControl()} ${more}
        <span class="row buttons together">
          <span class="note">Save</span>
          ${FIGURE_KINDS.map(
            (kind) =>
              html`<button type="button" id="save-${kind}" ?disabled=${this.shown === null} @click=${() => this.#save(kind)}>${kind.toUpperCase()}</button>`,
          )}
        </span>
      </div>
    `;
  }

  /** What a click does, in words. */
  #clickText(): string {
    const { state, facts } = this.#store;
    if (state.click === "probe") return "probe";
    if (state.click === "lines") return "streamline";
    return `particle, released at t = ${shortText(releaseTime(state, facts))}`;
  }

  /** What a click does, and how the places pointed at are removed again. */
  #clickControl(): TemplateResult {
    const { state, facts } = this.#store;
    const names = { probe: "Click: probe", lines: "Click: streamline", particles: "Click: particle" } as const;
    const moves = facts.times.count > 1;
    const choices = CLICKS.filter(
      (value) => value === "probe" || (offers(facts, "GetVelocity") && (moves || value === "lines")),
    );
    return html`
      <select id="click" aria-label="What a click does" @change=${(event: Event) => this.#store.set({ click: (event.target as HTMLSelectElement).value as ViewState["click"] })}>
          ${choices.map((value) => html`<option value=${value} .selected=${live(value === state.click)}>${names[value]}</option>`)}
        </select>
      ${
        state.places.length === 0
          ? nothing
          : html`<button type="button" id="clear-places" @click=${() => this.#store.set({ places: [] })}>Remove ${state.places.length === 1 ? "1 place" : `${state.places.length} places`}</button>`
      }
    `;
  }

  #reset(): void {
    this.#windows.clear();
    this.#store.set({ window: null });
  }

  #moved(figure: PlaneFigure): void {
    const before = this.#active;
    this.#active = figure;
    if (before !== figure && this.#store.state.layout === "three") this.#render();
    const early = this.#readAt + READOUT_MS - performance.now();
    if (early <= 0) this.#paintReadout();
    else if (this.#reading === null) {
      this.#reading = setTimeout(() => this.#paintReadout(), early);
      this.#readout.value?.setAttribute("aria-busy", "true");
    }
  }

  /** Renders the read-out on its own, so that moving the pointer does not render the page. */
  #paintReadout(): void {
    if (this.#reading !== null) {
      clearTimeout(this.#reading);
      this.#reading = null;
      this.#readout.value?.removeAttribute("aria-busy");
    }
    this.#readAt = performance.now();
    const readout = this.#readout.value;
    if (readout === undefined) return;
    const shown = this.plane.framed;
    const cell = this.plane.cell;
    const content = () => {
      if (shown === null || cell === null) return nothing;
      const { probe } = this.#store.state;
      if (this.plane.isReadOutside)
        return this.#row("Probe", probe, html`<b data-value>the probe is outside this part</b>`);
      const { slice, state } = shown;
      const found = this.plane.readsProbe ? this.#foundIn({ ...state, probe }) : Number.NaN;
      if (Number.isFinite(found)) return this.#values("Probe", state, probe, found);
      const value = slice.values[cell.row * slice.columns.count + cell.column] ?? Number.NaN;
      const place = pointOf(slice, state, cell, this.#store.facts);
      const subject = this.plane.readsProbe ? sampleOfProbe(place, probe, state.axis, this.#store.facts) : "Pointer";
      return this.#values(subject, state, place, value);
    };
    render(content(), readout);
  }

  /** The value at the probe of a view if that was found; NaN otherwise. */
  #foundIn(state: ViewState): number {
    const shows = showsQuantity(state) && state.at === state.probe[AXES.indexOf(state.axis)];
    const found = this.#found.value;
    const key = questionKey(this.#store.facts, [state.field], pointQuery(state));
    return shows && found?.key === key ? found.value : Number.NaN;
  }

  #values(subject: string, state: ViewState, place: readonly number[], value: number): TemplateResult {
    const unit = shownUnit(state, this.#store.facts);
    return this.#row(
      subject,
      place,
      html`<span class="name">${shortTitle(state)}</span> <b data-value>${Number.isFinite(value) ? withMinus(shortestFloat32(value)) : "no data"}</b>
        ${Number.isFinite(value) ? unit : nothing}`,
    );
  }

  /** What is read, its place, and what is said of it. */
  #row(subject: string, place: readonly number[], text: TemplateResult): TemplateResult {
    return html`
      <span class="subject">${subject}</span>
      ${AXES.map((axis, i) => html`<span>${axis} <b data-axis=${axis}>${withMinus(shortestFloat32(place[i] as number))}</b></span> `)}
      <span class="value">${text}</span>
    `;
  }
}

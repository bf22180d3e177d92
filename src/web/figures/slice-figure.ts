/** The slice figure shows one plane, or three planes through the probe, with one colour bar, read-out and player. */
import { html, nothing, render, type TemplateResult } from "lit-html";
import { createRef, ref } from "lit-html/directives/ref.js";
import { shortestFloat32, shortText, withoutNoise } from "../../float32/format.js";
import { quantityOf, unitOf } from "../../quantities.js";
import type { Slice } from "../state/api.js";
import type { LatestRequest } from "../state/latest-request.js";
import { AXES, type AxisName, fittingSide, type PlaneWindow, USUAL_SAMPLES } from "../state/plane-geometry.js";
import {
  comparedView,
  describeOptions,
  describePlane,
  planePaths,
  shownFormula,
  shownName,
  shownTitle,
} from "../state/queries.js";
import { RESOLUTIONS, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { barLegend } from "./colour-bar.js";
import { type ColourScale, makeScale, mapName, rangeFor, type ValueRange } from "./colour-scale.js";
import { DataTable } from "./data-table.js";
import { saveFigure } from "./figure-file.js";
import { PlaneFigure, type ShownPlane, stretchingScale, ZOOM_STEP } from "./plane-figure.js";
import { coordinateOf } from "./plane-samples.js";
import { Player } from "./player.js";
import { sliceTable } from "./slice-table.js";
import { type Fitting, statusBar } from "./status-bar.js";

/**
 * Shortest time from one text of the read-out to the next while the pointer moves, in milliseconds: people do not read
 * faster, and new text costs more than all the rest of a move.
 */
const READOUT_MS = 50;

/** Stored times at most whose kept planes the range of all times takes in. */
const MOST_HELD = 256;

/** Whether a request shows the time of the view, or has nothing to show. */
export function isCurrent(
  { value, status }: LatestRequest<{ readonly state: ViewState }>,
  { state }: Pick<ViewStore, "state">,
): boolean {
  return !status.running && (value === null || value.state.time === state.time);
}

/** The colour bar of the layer that shows stretching. */
function stretchingLegend(slice: Slice | null): TemplateResult | typeof nothing {
  return slice === null ? nothing : barLegend(stretchingScale(slice), "Over it: finite-time Lyapunov exponent, 1/time");
}

/** The range from the lowest to the highest end of several; 0 to 0 of none. */
function joinRanges(ranges: readonly ValueRange[]): ValueRange {
  if (ranges.length === 0) return [0, 0];
  return [Math.min(...ranges.map(([low]) => low)), Math.max(...ranges.map(([, high]) => high))];
}

/** The view of a plane across another axis, through the probe. */
function viewAcross(state: ViewState, axis: AxisName, window: PlaneWindow | null): ViewState {
  return { ...state, axis, at: state.probe[AXES.indexOf(axis)], window };
}

export class SliceFigure {
  readonly player: Player;
  readonly #store: ViewStore;
  readonly #render: () => void;
  readonly #table = new DataTable("slice-table");
  readonly #single: PlaneFigure;
  readonly #linked: ReadonlyMap<AxisName, PlaneFigure>;
  readonly #windows = new Map<AxisName, PlaneWindow | null>();
  #active: PlaneFigure;
  #scale: ColourScale | null = null;
  #scaled: readonly unknown[] = [];
  #held: { readonly key: string; readonly range: ValueRange } = { key: "", range: [0, 0] };
  readonly #readout = createRef<HTMLElement>();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: ReturnType<typeof setTimeout> | null = null;

  /** @param othersCurrent whether everything else on the page shows the time of the view */
  constructor(store: ViewStore, othersCurrent: () => boolean, render: () => void) {
    this.#store = store;
    this.#render = render;
    const played = {
      views: () => this.planes.map((plane) => plane.wanted),
      isCurrent: () => this.planes.every(({ request }) => isCurrent(request, store)) && othersCurrent(),
    };
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
    this.player.prefetch();
  }

  invalidate(): void {
    this.#store.slices.clear();
    for (const plane of [this.#single, ...this.#linked.values()]) plane.invalidate();
  }

  /** Forgets every plane, for another dataset. */
  clear(): void {
    this.player.stop();
    this.#windows.clear();
    for (const plane of [this.#single, ...this.#linked.values()]) {
      plane.request.clear();
      plane.invalidate();
    }
  }

  paint(): void {
    for (const plane of this.planes) plane.paint();
    this.#paintReadout();
  }

  /** The colour scale of all planes shown; the same record until map, range or values change. */
  get scale(): ColourScale {
    const { state } = this.#store;
    const shown = this.planes.flatMap((plane) => plane.request.value ?? []);
    const key = [state.map, state.scaling, state.range, ...shown];
    if (
      this.#scale !== null &&
      key.length === this.#scaled.length &&
      key.every((part, i) => part === this.#scaled[i])
    ) {
      return this.#scale;
    }
    const held = this.#hold(shown);
    const slices = shown.map(({ slice }) => slice);
    const pictures = joinRanges(slices.map(({ low, high }) => [low, high]));
    const name = mapName(state.map, state.range ?? (state.scaling === "auto" ? held : pictures));
    const range = state.range ?? joinRanges(slices.map((slice) => rangeFor(name, state, held, slice)));
    this.#scaled = key;
    this.#scale = makeScale(name, range, state.scaling === "log" && state.range === null, slices, this.#scale);
    return this.#scale;
  }

  /** The extremes of the planes over all times seen of the same view, and over those that are kept for playing. */
  #hold(shown: readonly ShownPlane[]): ValueRange {
    const { facts, slices } = this.#store;
    const views = shown.map(({ state }) => ({ ...state, time: facts.times.first }));
    const key = JSON.stringify(views.map((view) => planePaths(view, facts)));
    const before = this.#held.key === key ? [this.#held.range] : [];
    const kept = views
      .filter((view) => comparedView(view) === null)
      .flatMap((view) => facts.times.stored.slice(0, MOST_HELD).map((time) => ({ ...view, time: withoutNoise(time) })))
      .flatMap((view) => slices.glance(planePaths(view, facts).main) ?? []);
    const seen = [...kept, ...shown.map(({ slice }) => slice)].map(({ low, high }) => [low, high] as const);
    this.#held = { key, range: joinRanges([...before, ...seen]) };
    return this.#held.range;
  }

  view(): TemplateResult {
    const { facts } = this.#store;
    const shown = this.plane.framed;
    const state = shown?.state ?? this.#store.state;
    const unit = unitOf(facts, quantityOf(state.field).measure);
    return html`
      <figure class="slice" aria-labelledby="slice-title">
        <figcaption id="slice-title">
          <span title=${shownFormula(state)}>${describePlane(state)}</span> <small>${describeOptions(state)}</small>
        </figcaption>
        ${this.#planesView()}
        <div class="under">
          <output id="slice-readout" aria-live="off" ${ref(this.#readout)}></output>
          ${this.#buttons()}
        </div>
        ${barLegend(this.scale, unit === "" ? shownTitle(state) : `${shownTitle(state)}, ${unit}`, this.#hasGaps())}
        ${stretchingLegend(shown?.stretching ?? null)}
        ${this.player.view()} ${statusBar("slice", this.plane.request, undefined, (most) => this.#fitting(most))}
        ${this.#table.view("Values of the slice", () => sliceTable(shown?.slice ?? null))}
      </figure>
    `;
  }

  #planesView(): TemplateResult {
    if (this.#store.state.layout === "one") return this.#single.view();
    return html`
      <div class="linked">
        ${[...this.#linked].map(([axis, plane]) => {
          const at = this.#store.state.probe[AXES.indexOf(axis)];
          return html`<div><p class="note">${axis} = ${shortText(at)}</p>${plane.view()}</div>`;
        })}
      </div>
    `;
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

  #buttons(): TemplateResult {
    const save = (kind: "png" | "svg") => void saveFigure(kind, this, this.#store);
    return html`
      <div class="row buttons">
        <button type="button" @click=${() => this.plane.zoom(ZOOM_STEP)} aria-label="Zoom in">+</button>
        <button type="button" @click=${() => this.plane.zoom(1 / ZOOM_STEP)} aria-label="Zoom out">−</button>
        <button type="button" @click=${() => this.#reset()}>Whole plane</button>
        ${
          this.plane.isNarrow
            ? html`<button type="button" id="fill-frame" @click=${() => this.plane.fill()}>Fill the frame</button>`
            : nothing
        }
        <button type="button" @click=${() => this.plane.probe()}>Probe here</button>
        <button type="button" id="save-png" ?disabled=${this.shown === null} @click=${() => save("png")}>PNG</button>
        <button type="button" id="save-svg" ?disabled=${this.shown === null} @click=${() => save("svg")}>SVG</button>
      </div>
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
    render(
      shown === null || cell === null ? nothing : this.#values(shown.slice, shown.state, cell.row, cell.column),
      readout,
    );
  }

  #values(slice: Slice, state: ViewState, row: number, column: number): TemplateResult {
    const place: Record<string, number> = {
      [state.axis]: state.at,
      [slice.columns.axis]: coordinateOf(slice.columns, column),
      [slice.rows.axis]: coordinateOf(slice.rows, row),
    };
    const value = slice.values[row * slice.columns.count + column] ?? Number.NaN;
    const unit = unitOf(this.#store.facts, quantityOf(state.field).measure);
    return html`
      ${AXES.map((axis) => html`<span>${axis} <b data-axis=${axis}>${shortestFloat32(place[axis])}</b></span> `)}
      <span class="value">
        ${shownName(state)} <b data-value>${Number.isFinite(value) ? shortestFloat32(value) : "no data"}</b>
        ${Number.isFinite(value) ? unit : nothing}
      </span>
    `;
  }
}

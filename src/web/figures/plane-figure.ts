/**
 * A plane figure shows one plane: it requests the slices, draws them, and turns pointer and keys into zoom, pan and
 * probe.
 */
import { html, nothing, type TemplateResult } from "lit-html";
import { createRef, ref } from "lit-html/directives/ref.js";
import { shortText } from "../../float32/format.js";
import { quantityOf, unitOf } from "../../quantities.js";
import type { Slice } from "../state/api.js";
import { axisOf, type DatasetFacts, offers, periodOf } from "../state/facts.js";
import { LatestRequest } from "../state/latest-request.js";
import {
  AXES,
  clampWindow,
  fitWindow,
  isWhole,
  type PlaneWindow,
  panWindow,
  type Rectangle,
  revealPoint,
  sidesOf,
  viewportSize,
  wholePlane,
  zoomWindow,
} from "../state/plane-geometry.js";
import { type PlanePaths, pinName, planePaths, slicesOf } from "../state/queries.js";
import type { ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { type ColourScale, makeScale } from "./colour-scale.js";
import { axisCross, axisMarks, drawMarks, type Marks } from "./marks.js";
import { drawPlane, paintPlane } from "./plane-canvas.js";
import {
  coveredBy,
  type MarkedNodes,
  markNodes,
  pointOf,
  type SampleIndex,
  sampleAt,
  subtract,
} from "./plane-samples.js";
import { Pointers } from "./pointers.js";
import { blendOf, drawOverlay, fastestIn, type PlaneVectors, speedOfArrow } from "./vectors.js";

/** Enlargement by one press of a button or a key. */
export const ZOOM_STEP = 1.6;

/** Room for ticks and names around a picture, in pixels. */
const MARGIN = { left: 62, right: 14, top: 8, bottom: 42 };
const NARROW_MARGIN = { left: 46, right: 8, top: 6, bottom: 42 };
/** Width of a picture below which its margins are narrow. */
const NARROW = 480;

/** Widths of a window from which the picture fills its height, and the height of all else above and below it then. */
const WIDE = 768;
const WIDEST = 1152;
const AROUND = { wide: 390, widest: 250 };

/** A plane together with the view that asked for it; it is shown until the next one arrives. */
export interface ShownPlane {
  /** The values that are drawn: those of the quantity, or their difference from what it is compared with. */
  readonly slice: Slice;
  readonly state: ViewState;
  readonly vectors: PlaneVectors | null;
  /** The largest speed of the vectors. */
  readonly fastest: number;
  /** The nodes that fulfil the conditions of the view; null if it has none. */
  readonly marked: MarkedNodes | null;
  /** How much the flow stretches what starts there; drawn over the picture. */
  readonly stretching: Slice | null;
  /** Whether some values are missing. */
  readonly gaps: boolean;
}

/** Events that a plane figure tells its owner. */
export interface PlaneOwner {
  readonly id: string;
  readonly store: ViewStore;
  /** The view of this plane: its axis, position and window; the rest is that of the page. */
  readonly view: () => ViewState;
  readonly setWindow: (window: PlaneWindow | null) => void;
  readonly scale: () => ColourScale;
  /** Renders the page anew. */
  readonly render: () => void;
  /** Reports that the pointer or the keys have moved the cursor of this plane. */
  readonly moved: () => void;
  readonly crossed: boolean;
}

/** Rows and columns that a key moves the cursor by, for a step and a plane of so many columns. */
const MOVES: Readonly<Record<string, (step: number, columns: number) => readonly [number, number]>> = {
  ArrowLeft: (step) => [0, -step],
  ArrowRight: (step) => [0, step],
  ArrowUp: (step) => [step, 0],
  ArrowDown: (step) => [-step, 0],
  PageUp: () => [10, 0],
  PageDown: () => [-10, 0],
  Home: (_step, columns) => [0, -columns],
  End: (_step, columns) => [0, columns],
};

/** Puts the slices of a view together: the quantity, what it is compared with, and the velocity in the plane. */
function assemble(
  state: ViewState,
  { other, brushed, vectors: drawn }: PlanePaths,
  slices: readonly Slice[],
  stretching: Slice | null,
  facts: DatasetFacts,
): ShownPlane {
  const slice = other === null ? slices[0] : subtract(slices[0], slices[1]);
  const after = other === null ? 1 : 2;
  const [across, up] = slices.slice(-2);
  const vectors = drawn === null ? null : { across, up };
  return {
    slice,
    state,
    vectors,
    fastest: vectors === null ? 0 : fastestIn(vectors),
    marked: state.brush.length === 0 ? null : markNodes(state, facts, slices.slice(after, after + brushed.length)),
    stretching,
    gaps: slice.values.some((value) => !Number.isFinite(value)),
  };
}

/** The colours of the layer of stretching. */
export function stretchingScale(slice: Slice): ColourScale {
  return makeScale("inferno", [slice.low, slice.high], 0, [slice]);
}

export class PlaneFigure {
  readonly request: LatestRequest<ShownPlane>;
  readonly #owner: PlaneOwner;
  readonly #pointers: Pointers;
  #cursor: readonly [number, number] | null = null;
  #box: PlaneWindow | null = null;
  readonly #viewport = createRef<HTMLElement>();
  #canvas: HTMLCanvasElement | null = null;
  readonly #lines = createRef<HTMLElement>();
  #width = 600;
  #picture: HTMLCanvasElement | null = null;
  #overlay: HTMLCanvasElement | null = null;
  #painted: readonly [ShownPlane, ColourScale] | null = null;
  #overlaid: ShownPlane | null = null;
  #asked = "";
  /** The same function for every rendering: lit would let the canvas go and hold it again, in the middle of a drag. */
  readonly #holdCanvas = (element: Element | undefined): void => {
    this.#canvas = (element as HTMLCanvasElement | undefined) ?? null;
    this.#pointers.attach(this.#canvas);
  };

  constructor(owner: PlaneOwner) {
    this.#owner = owner;
    this.request = new LatestRequest(owner.render);
    this.#pointers = new Pointers({
      moved: (x, y) => this.#move(this.#pointAt(x, y)),
      clicked: (x, y) => {
        this.#move(this.#pointAt(x, y));
        this.probe();
      },
      panned: (dx, dy) => this.#pan(dx, dy),
      boxed: (from, to, done) => this.#drawBox(from, to, done),
      zoomed: (factor, x, y) => this.zoom(factor, this.#pointAt(x, y)),
      reset: () => owner.setWindow(null),
      canPan: () => !this.#isWhole(),
    });
  }

  /** The plane in the frame: none while the one that was read last lies across another axis than the frame. */
  get framed(): ShownPlane | null {
    const shown = this.request.value;
    return shown?.state.axis === this.#owner.view().axis ? shown : null;
  }

  /** The view that this plane is to show. */
  get wanted(): ViewState {
    return this.#owner.view();
  }

  /** The plane as a picture; null before it is painted. */
  get picture(): HTMLCanvasElement | null {
    return this.#picture;
  }

  /** The velocity drawn over the picture, or null. */
  get overlay(): HTMLCanvasElement | null {
    return this.#overlaid === null ? null : this.#overlay;
  }

  /** Requests the slices of the view if they are others. */
  refresh(): void {
    const { store, view } = this.#owner;
    const state = view();
    const paths = planePaths(state, store.facts);
    const key = JSON.stringify([paths, state.overlay, state.brush]);
    if (key === this.#asked) return;
    this.#asked = key;
    if (!offers(store.facts, quantityOf(state.field).operation)) {
      this.request.clear();
      return;
    }
    const all = slicesOf(paths);
    const show = (slices: readonly Slice[], stretching: Slice | null) =>
      assemble(state, paths, slices, stretching, store.facts);
    const kept = all.flatMap((path) => store.slices.peek(path) ?? []);
    // What is in the cache is shown at once, in the same turn, so that playing draws each picture once.
    if (kept.length === all.length && paths.stretching === null) this.request.take(show(kept, null));
    else {
      void this.request.run(async (signal) => {
        const stretching = paths.stretching === null ? null : store.api.stretching(paths.stretching, signal);
        const slices = Promise.all(all.map((path) => store.slices.load(path, signal)));
        return show(...(await Promise.all([slices, stretching])));
      });
    }
  }

  /** Makes the next refresh request again, for example with another token. */
  invalidate(): void {
    this.#asked = "";
  }

  /** The sample under the cursor; at the probe before the cursor has moved. */
  get cell(): SampleIndex | null {
    const shown = this.request.value;
    return shown === null ? null : sampleAt(shown.slice, this.#cursor ?? this.#probePoint(shown.state));
  }

  /** Zooms about a point of the plane, by default about the middle of the window. */
  zoom(factor: number, point: readonly [number, number] = this.#middle()): void {
    const { store, view, setWindow } = this.#owner;
    const { axis } = view();
    const next = zoomWindow(store.facts, axis, this.#window(), this.#viewportSize(), factor, point);
    setWindow(isWhole(wholePlane(store.facts, axis), next) ? null : next);
  }

  /** The factor by which the whole plane would have to grow to fill the viewport along both sides. */
  #growth(): number {
    const viewport = this.#viewportSize();
    const { width, height } = fitWindow(wholePlane(this.#owner.store.facts, this.#owner.view().axis), viewport);
    return Math.max(viewport[0] / width, viewport[1] / height);
  }

  /** Whether the whole plane leaves much of its viewport empty. */
  get isNarrow(): boolean {
    return this.#growth() > 1.6;
  }

  /** Zooms to the part about the probe that fills the viewport: the whole of the shorter side. */
  fill(): void {
    const { store, view, setWindow } = this.#owner;
    const { axis } = view();
    const whole = wholePlane(store.facts, axis);
    setWindow(zoomWindow(store.facts, axis, whole, this.#viewportSize(), this.#growth(), this.#probePoint(view())));
  }

  /** Puts the probe at the cursor. */
  probe(): void {
    const shown = this.request.value;
    const cell = this.cell;
    if (shown === null || cell === null) return;
    const { slice, state } = shown;
    const { store } = this.#owner;
    store.set({ probe: pointOf(slice, state, cell, store.facts) });
  }

  /** Lays out the viewport of the picture with its axes. */
  view(): TemplateResult {
    const { id, view, store } = this.#owner;
    const { title } = quantityOf(view().field);
    const { width, height } = this.size;
    const empty = this.request.value === null;
    return html`
      <div
        class="plane-frame"
        ${ref(this.#viewport)}
      >
        <svg class="axes" width=${width} height=${height} viewBox="0 0 ${width} ${height}" aria-hidden="true">
          ${drawMarks(this.marks)}
        </svg>
        <canvas
          id=${id}
          class="plane"
          tabindex="0"
          role="application"
          aria-roledescription="slice"
          aria-label="Slice of ${title} normal to ${view().axis}. Arrow keys move the cursor, Enter probes, plus and minus zoom, 0 shows the whole plane."
          aria-describedby="slice-readout"
          ${ref(this.#holdCanvas)}
          @keydown=${(event: KeyboardEvent) => this.#key(event)}
        ></canvas>
        <div
          class="cursor"
          aria-hidden="true"
          ${ref(this.#lines)}
        ><i></i><i></i></div>
        ${empty && !offers(store.facts, quantityOf(view().field).operation) ? html`<p class="empty">This dataset has no quantity to slice.</p>` : nothing}
      </div>
    `;
  }

  /** The size of the figure with its margins. */
  get size(): { readonly width: number; readonly height: number } {
    const [width, height] = this.#viewportSize();
    const { left, right, top, bottom } = this.#margin;
    return { width: width + left + right, height: height + top + bottom };
  }

  /** The speed of an arrow of some pixels of the page; 0 if no arrows are drawn. */
  arrowSpeed(pixels: number): number {
    const shown = this.framed;
    const overlay = this.overlay;
    if (shown?.vectors == null || overlay === null || shown.state.overlay !== "arrows") return 0;
    const [left, right] = coveredBy(shown.slice);
    const [from, to] = this.#window();
    const across = (this.place.width * (right - left)) / (to - from);
    return speedOfArrow(shown.fastest, (pixels * overlay.width) / across);
  }

  /** The place of the picture in the figure. */
  get place(): Rectangle {
    const { left, top, width, height } = fitWindow(this.#window(), this.#viewportSize());
    return { left: left + this.#margin.left, top: top + this.#margin.top, width, height };
  }

  /** The axes of the figure. */
  get marks(): Marks {
    const { store, view } = this.#owner;
    const unit = unitOf(store.facts, "length");
    const names = sidesOf(view().axis).map((name) => (unit === "" ? name : `${name} (${unit})`)) as [string, string];
    const [axes, cross] = [axisMarks(this.#window(), this.place, names), axisCross(view().axis, this.place)];
    return { lines: [...axes.lines, ...cross.lines], labels: [...axes.labels, ...cross.labels] };
  }

  /** The part of the plane that is shown. */
  get window(): PlaneWindow {
    return this.#window();
  }

  /** Draws what the last rendering laid out; renders again if the room has changed. */
  paint(): void {
    const viewport = this.#viewport.value;
    const canvas = this.#canvas;
    if (viewport === undefined || canvas === null) return;
    const width = Math.floor(viewport.clientWidth);
    if (width > 0 && width !== this.#width) {
      this.#width = width;
      this.#owner.render();
    }
    const { left, top, width: across, height: up } = this.place;
    for (const part of [canvas, this.#lines.value]) {
      if (part === undefined) continue;
      part.style.left = `${left}px`;
      part.style.top = `${top}px`;
      part.style.width = `${across}px`;
      part.style.height = `${up}px`;
    }
    viewport.style.height = `${this.size.height}px`;
    canvas.style.touchAction = this.#isWhole() ? "pan-x pan-y" : "none";
    const unit = Math.min(2, window.devicePixelRatio);
    const [w, h] = [Math.max(1, Math.round(across * unit)), Math.max(1, Math.round(up * unit))];
    if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
    this.draw();
    this.#placeCursor();
  }

  /** Moves the lines of the cursor over the canvas, which stays as it is: a canvas costs much more to draw. */
  #placeCursor(): void {
    const shown = this.request.value;
    const cell = this.#cursor === null ? null : this.cell;
    const lines = this.#lines.value;
    if (lines === undefined) return;
    lines.hidden = shown === null || cell === null;
    if (shown === null || cell === null) return;
    const { columns, rows } = shown.slice;
    const [left, right, bottom, top] = this.#window();
    const { width, height } = this.place;
    const x = ((columns.origin + cell.column * columns.spacing - left) / (right - left)) * width;
    const y = ((top - rows.origin - cell.row * rows.spacing) / (top - bottom)) * height;
    const [across, up] = lines.children as unknown as readonly [HTMLElement, HTMLElement];
    across.style.transform = `translateX(${x}px)`;
    up.style.transform = `translateY(${y}px)`;
  }

  /** Draws the canvas at its present size. */
  draw(): void {
    const shown = this.framed;
    const canvas = this.#canvas;
    if (canvas === null) return;
    if (shown === null) {
      canvas.getContext("2d")?.clearRect(0, 0, canvas.width, canvas.height);
      return;
    }
    const { slice, state } = shown;
    const scale = this.#owner.scale();
    if (this.#picture === null || this.#painted?.[0] !== shown || this.#painted[1] !== scale) {
      this.#picture = paintPlane(slice, scale);
      this.#painted = [shown, scale];
    }
    if (this.#overlaid !== shown) {
      this.#overlay = shown.vectors === null ? null : drawOverlay(shown.vectors, state.overlay, slice, shown.fastest);
      if (shown.stretching !== null) this.#overlay = paintPlane(shown.stretching, stretchingScale(shown.stretching));
      this.#overlaid = shown;
    }
    const { probe, pins } = this.#owner.store.state;
    drawPlane(canvas, {
      picture: this.#picture,
      covered: coveredBy(slice),
      window: this.#window(),
      gaps: shown.gaps,
      overlay: this.#overlay,
      blend: blendOf(state.overlay),
      marked: shown.marked,
      periods: sidesOf(state.axis).map((name) => periodOf(axisOf(this.#owner.store.facts, name))) as [number, number],
      probes: [probe, ...pins].map((place, i) => {
        const [across, up] = sidesOf(state.axis).map((name) => place[AXES.indexOf(name)]);
        const name = i === 0 ? "" : pinName(i - 1);
        return { name, across, up, distance: this.#distance(place, state), crossed: i === 0 && this.#owner.crossed };
      }),
      box: this.#box,
    });
  }

  /** The distance of a probe from the plane in words; null if it lies on it. */
  #distance(probe: readonly [number, number, number], { axis, at }: ViewState): string | null {
    const { length, spacing } = axisOf(this.#owner.store.facts, axis);
    const away = probe[AXES.indexOf(axis)] - at;
    if (Math.abs(away) <= 1e-5 * Math.max(length, spacing)) return null;
    return `${axis} ${away > 0 ? "+" : "−"}${shortText(Math.abs(Number(away.toPrecision(3))))}`;
  }

  #probePoint({ axis }: ViewState): readonly [number, number] {
    const { probe } = this.#owner.store.state;
    const [across, up] = sidesOf(axis).map((name) => probe[AXES.indexOf(name)]);
    return [across, up];
  }

  #window(): PlaneWindow {
    const { store, view } = this.#owner;
    const { window, axis } = view();
    return window ?? wholePlane(store.facts, axis);
  }

  get #margin(): typeof MARGIN {
    return this.#width < NARROW ? NARROW_MARGIN : MARGIN;
  }

  #isWhole(): boolean {
    return this.#owner.view().window === null;
  }

  #viewportSize(): readonly [number, number] {
    const { store, view } = this.#owner;
    const room =
      window.innerWidth < WIDE
        ? 0.5 * window.innerHeight
        : window.innerHeight - AROUND[window.innerWidth < WIDEST ? "wide" : "widest"];
    const { left, right, top, bottom } = this.#margin;
    const highest = Math.max(120, Math.round(room) - top - bottom);
    return viewportSize(wholePlane(store.facts, view().axis), Math.max(80, this.#width - left - right), highest);
  }

  #middle(): readonly [number, number] {
    const [left, right, bottom, top] = this.#window();
    return [(left + right) / 2, (bottom + top) / 2];
  }

  /** The point of the plane under a place of the canvas, given as fractions from its upper left corner. */
  #pointAt(x: number, y: number): readonly [number, number] {
    const [left, right, bottom, top] = this.#window();
    return [left + x * (right - left), top - y * (top - bottom)];
  }

  #move(point: readonly [number, number]): void {
    this.#cursor = point;
    this.#owner.moved();
    this.#placeCursor();
  }

  #pan(dx: number, dy: number): void {
    const { store, view, setWindow } = this.#owner;
    const [left, right, bottom, top] = this.#window();
    const whole = wholePlane(store.facts, view().axis);
    setWindow(panWindow(whole, this.#window(), -dx * (right - left), dy * (top - bottom)));
  }

  /** Draws the box of a zoom; on its end the box becomes the window. */
  #drawBox(from: readonly [number, number], to: readonly [number, number], done: boolean): void {
    const [a, b] = [this.#pointAt(...from), this.#pointAt(...to)];
    const sides = [0, 1].map((i) => [Math.min(a[i], b[i]), Math.max(a[i], b[i])]);
    const [[left, right], [bottom, top]] = sides;
    this.#box = done ? null : [left, right, bottom, top];
    if (done && right > left && top > bottom) {
      const { store, view, setWindow } = this.#owner;
      setWindow(clampWindow(wholePlane(store.facts, view().axis), left, bottom, right - left, top - bottom));
    } else this.draw();
  }

  #key(event: KeyboardEvent): void {
    const shown = this.request.value;
    if (shown === null || event.ctrlKey || event.metaKey || event.altKey) return;
    if (Object.hasOwn(MOVES, event.key)) this.#step(shown.slice, ...MOVES[event.key](event.shiftKey ? 10 : 1, 4096));
    else if (event.key === "Enter" || event.key === " ") this.probe();
    else if (event.key === "+" || event.key === "=") this.zoom(ZOOM_STEP, this.#cursor ?? this.#middle());
    else if (event.key === "-") this.zoom(1 / ZOOM_STEP, this.#cursor ?? this.#middle());
    else if (event.key === "0") this.#owner.setWindow(null);
    else return;
    event.preventDefault();
  }

  /** Moves the cursor by rows and columns; the window follows when the cursor leaves it. */
  #step(slice: Slice, rows: number, columns: number): void {
    const { row, column } = this.cell ?? { row: 0, column: 0 };
    const clamp = (value: number, count: number) => Math.max(0, Math.min(count - 1, value));
    const point = [
      slice.columns.origin + clamp(column + columns, slice.columns.count) * slice.columns.spacing,
      slice.rows.origin + clamp(row + rows, slice.rows.count) * slice.rows.spacing,
    ] as const;
    const { store, view, setWindow } = this.#owner;
    if (!this.#isWhole()) {
      const next = revealPoint(wholePlane(store.facts, view().axis), this.#window(), point);
      if (next !== this.#window()) setWindow(next);
    }
    this.#move(point);
  }
}

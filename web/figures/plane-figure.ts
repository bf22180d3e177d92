/**
 * A plane figure shows one plane: it requests the slices, draws them, and turns pointer and keys into zoom, pan and
 * probe.
 */

import { html, nothing, type TemplateResult } from "lit-html";
import { createRef, ref } from "lit-html/directives/ref.js";
import { shortText } from "../../src/float32/format.js";
import { unitOf } from "../../src/shared/quantities.js";
import type { Slice, Trajectories } from "../state/api.js";
import { axisOf, type DatasetFacts, offers, periodOf } from "../state/facts.js";
import { LatestRequest } from "../state/latest-request.js";
import {
  AXES,
  type AxisName,
  copyAfter,
  fitWindow,
  isWhole,
  type PlaneWindow,
  panWindow,
  periodsOf,
  type Rectangle,
  revealPoint,
  seamsIn,
  sidesOf,
  wholePlane,
  windowAround,
  zoomWindow,
} from "../state/plane-geometry.js";
import { type PlanePaths, pinName, planePaths, showsStretching, slicesOf } from "../state/queries.js";
import { questionKey } from "../state/question-key.js";
import { quantityOf } from "../state/shown-quantity.js";
import { MOST_PLACES, type ViewState } from "../state/view-state.js";
import type { ViewStore } from "../state/view-store.js";
import { type ColourScale, type NamedScale, pixelOf } from "./colour-scale.js";
import { contourLines } from "./contour-lines.js";
import type { FigurePart } from "./figure-file.js";
import { axisCross, axisMarks, drawMarks, type Marks, writeMarks } from "./marks.js";
import { particlePixel } from "./path-segments.js";
import { copies, type DrawnCurve, drawLayer, drawPlane, type PlaneDrawing, paintPlane, penOf } from "./plane-canvas.js";
import {
  coveredBy,
  type Differences,
  differencesIn,
  type MarkedNodes,
  markNodes,
  pointOf,
  type SampleIndex,
  sampleAt,
  subtract,
} from "./plane-samples.js";
import { Pointers } from "./pointers.js";
import { SvgPen } from "./svg-pen.js";
import { drawOverlay, fastestIn, overlaySize, type PlaneVectors, speedOfArrow, streamline } from "./vectors.js";

/** Enlargement by one press of a button or a key. */
export const ZOOM_STEP = 1.6;

/** Room for ticks and names around a picture, in pixels. */
const MARGIN = { left: 62, right: 14, top: 8, bottom: 42 };
const NARROW_MARGIN = { left: 46, right: 12, top: 6, bottom: 42 };
/** Width of a picture below which its margins are narrow. */
const NARROW = 480;
/** Least size of one plane in a figure, with its margins. */
const LEAST_WIDTH = 560;
const LEAST_HEIGHT = 480;
/** Growth to the size of the viewport above which a plane counts as narrow. */
const NARROW_GROWTH = 1.6;

/** A plane together with the view that asked for it; it is shown until the next one arrives. */
export interface ShownPlane {
  /** The values that are drawn: of the quantity, their difference from what it is compared with, or stretching. */
  readonly slice: Slice;
  readonly state: ViewState;
  /** Where the values differ most from what they are compared with, and their rms; null if they are not compared. */
  readonly differences: Differences | null;
  readonly vectors: PlaneVectors | null;
  /** The largest speed of the vectors. */
  readonly fastest: number;
  /** The nodes that fulfil the conditions of the view; null if it has none. */
  readonly marked: MarkedNodes | null;
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
  /** The paths of particles to draw, up to a record; null for none. */
  readonly paths: () => DrawnPaths | null;
  /** Tells that a place was added where particles start. */
  readonly seeded: () => void;
}

/** Paths of particles with the record at the time of the view, and the colours of their values; null for none. */
export interface DrawnPaths {
  readonly drawn: Trajectories;
  readonly record: number;
  readonly bar: NamedScale | null;
}

/** Rows and columns by which a key moves the cursor, for a step; the ends of the plane stop it. */
const MOVES: Readonly<Record<string, (step: number) => readonly [number, number]>> = {
  ArrowLeft: (step) => [0, -step],
  ArrowRight: (step) => [0, step],
  ArrowUp: (step) => [step, 0],
  ArrowDown: (step) => [-step, 0],
  PageUp: () => [10, 0],
  PageDown: () => [-10, 0],
  Home: () => [0, -Infinity],
  End: () => [0, Infinity],
};

/** Puts the slices of a view together: what is drawn, what it is compared with, and the velocity in the plane. */
function assemble(
  state: ViewState,
  { other, brushed, vectors: drawn }: PlanePaths,
  slices: readonly Slice[],
  stretching: Slice | null,
  facts: DatasetFacts,
): ShownPlane {
  const slice = stretching ?? (other === null ? slices[0] : subtract(slices[0], slices[1]));
  const after = other === null ? 1 : 2;
  const [across, up] = slices.slice(-2);
  const vectors = drawn === null ? null : { across, up };
  return {
    slice,
    state,
    differences: other === null ? null : differencesIn(slice),
    vectors,
    fastest: vectors === null ? 0 : fastestIn(vectors),
    marked: state.brush.length === 0 ? null : markNodes(state, facts, slices.slice(after, after + brushed.length)),
    gaps: slice.values.some((value) => !Number.isFinite(value)),
  };
}

/** The time at which a click releases particles: the one shown; the one set, if after that nothing moves any more. */
export function releaseTime({ time, start }: ViewState, { times }: DatasetFacts): number {
  return time < times.last ? time : start;
}

/** Puts an element at a place of its parent, in pixels. */
function placeElement({ style }: HTMLElement, place: Rectangle): void {
  for (const name of ["left", "top", "width", "height"] as const) style[name] = `${place[name]}px`;
}

/** A plane with its axes, cursor and overlays, in the page. */
export class PlaneFigure {
  readonly request: LatestRequest<ShownPlane>;
  readonly #owner: PlaneOwner;
  readonly #pointers: Pointers;
  #cursor: readonly [number, number] | null = null;
  #box: PlaneWindow | null = null;
  readonly #viewport = createRef<HTMLElement>();
  #canvas: HTMLCanvasElement | null = null;
  readonly #lines = createRef<HTMLElement>();
  readonly #beyond = createRef<HTMLCanvasElement>();
  #width = 600;
  #height = 400;
  #picture: HTMLCanvasElement | null = null;
  #overlay: HTMLCanvasElement | null = null;
  #painted: readonly [ShownPlane, ColourScale] | null = null;
  #overlaid: ShownPlane | null = null;
  /** The whole plane that was shown last, with its picture in a scale. */
  #whole: {
    readonly key: string;
    readonly slice: Slice;
    readonly scale: ColourScale;
    readonly picture: HTMLCanvasElement;
  } | null = null;
  #asked = "";
  #lined: { shown: ShownPlane; levels: readonly number[]; lines: PlaneDrawing["contours"] } | null = null;
  /** One function for all renderings: given another one, lit would detach the canvas, even in the middle of a drag. */
  readonly #holdCanvas = (element: Element | undefined): void => {
    this.#canvas = (element as HTMLCanvasElement | undefined) ?? null;
    this.#pointers.attach(this.#canvas);
  };

  constructor(owner: PlaneOwner) {
    this.#owner = owner;
    this.request = new LatestRequest(owner.render);
    this.#pointers = new Pointers({
      moved: (x, y) => this.#move(this.#pointAt(x, y)),
      left: () => this.#leave(),
      clicked: (x, y) => {
        this.#move(this.#pointAt(x, y));
        this.#click();
      },
      panned: (dx, dy) => this.#pan(dx, dy),
      boxed: (from, to, done) => this.#drawBox(from, to, done),
      zoomed: (factor, x, y) => this.zoom(factor, this.#pointAt(x, y)),
      reset: () => owner.setWindow(null),
      canPan: () => !this.#showsWhole(),
      crossesSeams: () => periodsOf(owner.store.facts, owner.view().axis).some((period) => period > 0),
    });
  }

  /** The plane in the frame: none while the last one that arrived is normal to another axis than that of the frame. */
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

  /** Requests the slices of the view if it needs others than before. */
  refresh(): void {
    const { store, view } = this.#owner;
    const state = view();
    const paths = planePaths(state, store.facts);
    const key = questionKey(store.facts, [state.field], [paths, state.overlay, state.brush]);
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
    // Cached slices are shown at once, in the same tick, so that playing draws each picture once.
    if (kept.length === all.length && paths.stretching === null) this.request.take(show(kept, null));
    else {
      const shown = this.framed;
      const isStretching = shown !== null && showsStretching(shown.state);
      void this.request.run(async (signal) => {
        const flow = () => paths.stretching && store.api.stretching(paths.stretching, signal);
        const slices = Promise.all(all.map((path) => store.slices.load(path, signal)));
        if (paths.stretching === null || isStretching) return show(...(await Promise.all([slices, flow()])));
        // The quantity is soon there, and is seen until the first flow map is computed.
        const plain = { ...state, overlay: "none", compare: "none" } as const;
        this.request.show(assemble(plain, paths, await slices, null, store.facts), signal);
        return show(await slices, await flow());
      });
    }
  }

  /** Forgets picture and cursor, for another dataset. */
  clear(): void {
    this.#cursor = null;
    this.#whole = null;
    this.request.clear();
    this.invalidate();
  }

  /** The whole plane that was shown last, if it is the one that a part is shown of. */
  #behind(shown: ShownPlane, scale: ColourScale, picture: HTMLCanvasElement): PlaneDrawing["behind"] {
    const { facts } = this.#owner.store;
    const { main, other, stretching } = planePaths({ ...shown.state, window: null }, facts);
    const key = questionKey(facts, [shown.state.field], [main, other, stretching]);
    if (shown.state.window === null) {
      this.#whole = { key, slice: shown.slice, scale, picture };
      return null;
    }
    let whole = this.#whole;
    if (whole === null || whole.key !== key || shown.gaps) return null;
    if (whole.scale !== scale) whole = { ...whole, scale, picture: paintPlane(whole.slice, scale) };
    this.#whole = whole;
    return { picture: whole.picture, covered: coveredBy(whole.slice) };
  }

  /** Makes the next refresh request again, for example with another token. */
  invalidate(): void {
    this.#asked = "";
  }

  /** The sample under the cursor; at the probe without one. */
  get cell(): SampleIndex | null {
    const shown = this.request.value;
    if (shown === null) return null;
    const probe = () => this.#inWindow(this.#owner.store.state.probe, shown.state.axis, coveredBy(shown.slice));
    return sampleAt(shown.slice, this.#seenCursor ?? probe());
  }

  /** The cursor in the part of the plane that is shown; null without one, or elsewhere. */
  get #seenCursor(): readonly [number, number] | null {
    const [left, right, bottom, top] = this.window;
    const [across, up] = this.#cursor ?? [Number.NaN, Number.NaN];
    const [wide, tall] = [1e-5 * (right - left), 1e-5 * (top - bottom)];
    const isInside = across > left - wide && across < right + wide && up > bottom - tall && up < top + tall;
    return isInside ? this.#cursor : null;
  }

  /** Whether what is read is the probe: there is no cursor. */
  get readsProbe(): boolean {
    return this.#seenCursor === null;
  }

  /** Whether what is read is the probe, and this lies outside the part of the plane that is shown. */
  get isReadOutside(): boolean {
    const { store, view } = this.#owner;
    const reads = this.readsProbe && !this.#showsWhole();
    return reads && this.#isOutside(...this.#inWindow(store.state.probe, view().axis));
  }

  #isOutside(across: number, up: number): boolean {
    const [left, right, bottom, top] = this.window;
    return across < left || across > right || up < bottom || up > top;
  }

  /** Zooms about a point of the plane, by default about the probe, or the middle of a window without it. */
  zoom(factor: number, point: readonly [number, number] = this.#centre()): void {
    const { store, view, setWindow } = this.#owner;
    const { axis } = view();
    const next = zoomWindow(store.facts, axis, this.window, this.#viewportSize(), factor, point);
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
    return this.#growth() > NARROW_GROWTH;
  }

  /** Zooms to the part about the probe that fills the viewport: the whole of the shorter side. */
  fill(): void {
    const { store, view, setWindow } = this.#owner;
    const { axis } = view();
    const whole = wholePlane(store.facts, axis);
    setWindow(zoomWindow(store.facts, axis, whole, this.#viewportSize(), this.#growth(), this.#probePoint(view())));
  }

  /** Reads at the probe, until the cursor moves again. */
  readProbe(): void {
    this.#cursor = null;
  }

  /** Puts the probe at the cursor. */
  probe(): void {
    const point = this.#cursorPoint();
    if (point !== null) this.#owner.store.set({ probe: point });
  }

  /** The point of the domain under the cursor. */
  #cursorPoint(): [number, number, number] | null {
    const shown = this.request.value;
    const cell = this.cell;
    return shown === null || cell === null ? null : pointOf(shown.slice, shown.state, cell, this.#owner.store.facts);
  }

  /** Does what a click does: moves the probe, or adds a place where something starts. */
  #click(): void {
    const { store, seeded } = this.#owner;
    const { click, places } = store.state;
    const point = this.#cursorPoint();
    if (click === "probe") this.probe();
    else if (point !== null && places.length < MOST_PLACES) {
      const added = [...places, point];
      const start = releaseTime(store.state, store.facts);
      store.set(click === "lines" ? { places: added, overlay: "lines" } : { places: added, seeds: "places", start });
      if (click === "particles") seeded();
    }
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
        <canvas class="surroundings" aria-hidden="true" ${ref(this.#beyond)}></canvas>
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
    if (shown?.vectors == null || shown.state.overlay !== "arrows") return 0;
    const [left, right] = coveredBy(shown.slice);
    const [from, to] = this.window;
    const across = (this.place.width * (right - left)) / (to - from);
    return speedOfArrow(shown.fastest, (pixels * overlaySize(shown.slice)[0]) / across);
  }

  /** The place of the picture in the figure. */
  get place(): Rectangle {
    const { left, top, width, height } = fitWindow(this.window, this.#viewportSize());
    return { left: left + this.#margin.left, top: top + this.#margin.top, width, height };
  }

  /** The axes of the figure. */
  get marks(): Marks {
    const { store, view } = this.#owner;
    const unit = unitOf(store.facts, "length");
    const names = sidesOf(view().axis).map((name) => (unit === "" ? name : `${name} (${unit})`)) as [string, string];
    const [axes, cross] = [axisMarks(this.window, this.place, names), axisCross(view().axis, this.place)];
    return { lines: [...axes.lines, ...cross.lines], labels: [...axes.labels, ...cross.labels] };
  }

  /** The part of the plane that is shown. */
  get window(): PlaneWindow {
    const { store, view } = this.#owner;
    const { window, axis } = view();
    return window ?? wholePlane(store.facts, axis);
  }

  /** Draws what the last rendering laid out; renders again if the room has changed. */
  paint(): void {
    const viewport = this.#viewport.value;
    const canvas = this.#canvas;
    if (viewport === undefined || canvas === null) return;
    const [width, height] = [Math.floor(viewport.clientWidth), Math.floor(viewport.clientHeight)];
    if (width > 0 && (width !== this.#width || height !== this.#height)) {
      [this.#width, this.#height] = [width, height];
      // In the next frame: should a layout never settle, the page stays responsive.
      requestAnimationFrame(() => this.#owner.render());
    }
    const { place } = this;
    placeElement(canvas, place);
    if (this.#lines.value !== undefined) placeElement(this.#lines.value, place);
    canvas.style.touchAction = this.#showsWhole() ? "pan-x pan-y" : "none";
    const unit = Math.min(2, window.devicePixelRatio);
    const [w, h] = [Math.max(1, Math.round(place.width * unit)), Math.max(1, Math.round(place.height * unit))];
    if (canvas.width !== w || canvas.height !== h) Object.assign(canvas, { width: w, height: h });
    this.draw();
    this.#placeCursor();
  }

  /** Moves the lines of the cursor over the canvas, which stays as it is: a canvas costs much more to draw. */
  #placeCursor(): void {
    const shown = this.request.value;
    const cell = this.#seenCursor === null ? null : this.cell;
    const lines = this.#lines.value;
    if (lines === undefined) return;
    lines.hidden = shown === null || cell === null;
    if (shown === null || cell === null) return;
    const { columns, rows } = shown.slice;
    const [left, right, bottom, top] = this.window;
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
      penOf(canvas)?.clearRect(0, 0, canvas.width, canvas.height);
      if (this.#beyond.value !== undefined) this.#beyond.value.hidden = true;
      return;
    }
    const { slice, state } = shown;
    const scale = this.#owner.scale();
    if (this.#picture === null || this.#painted?.[0] !== shown || this.#painted[1] !== scale) {
      this.#picture = paintPlane(slice, scale);
      this.#painted = [shown, scale];
    }
    if (this.#overlaid !== shown) {
      const { overlay } = state;
      this.#overlay =
        shown.vectors === null || (overlay !== "streamlines" && overlay !== "arrows")
          ? null
          : drawOverlay(shown.vectors, overlay, slice, shown.fastest);
      this.#overlaid = shown;
    }
    const { probe, pins } = this.#owner.store.state;
    const picture = {
      picture: this.#picture,
      covered: coveredBy(slice),
      gaps: shown.gaps,
      overlay: this.#overlay,
      smooth: state.overlay === "streamlines",
      behind: this.#behind(shown, scale, this.#picture),
      periods: periodsOf(this.#owner.store.facts, state.axis),
    };
    this.#drawBeyond(picture);
    const { crossed } = this.#owner;
    const kept = [
      { place: probe, name: "", crossed },
      ...pins.map((place, k) => ({ place, name: pinName(k), crossed: false })),
    ];
    const layer = this.#layer(shown, kept);
    drawPlane(canvas, { ...picture, ...layer, box: this.#box });
  }

  /** What lies over the picture: contours, curves, marked nodes, notes and further places. */
  #layer(
    shown: ShownPlane,
    kept: readonly {
      readonly place: readonly [number, number, number];
      readonly name: string;
      readonly crossed: boolean;
    }[],
  ): Parameters<typeof drawLayer>[1] {
    const { state, marked } = shown;
    const { facts } = this.#owner.store;
    const { notes } = this.#owner.store.state;
    const noted = notes.map(({ at, text }) => ({ place: at, name: text, crossed: false }));
    return {
      window: this.window,
      seams: seamsIn(this.window, wholePlane(facts, state.axis), periodsOf(facts, state.axis)),
      marked,
      contours: this.#contoursOf(shown),
      curves: [...this.#streamlines(shown), ...this.#paths(state)],
      probes: [...kept, ...noted].map(({ place, name, crossed }) => {
        const [across, up] = this.#inWindow(place, state.axis);
        return { name, across, up, distance: this.#distance(place, state), crossed };
      }),
    };
  }

  /** The plane with its axes as a part of a figure; null before there is a picture. */
  figurePart(index: number): FigurePart | null {
    const [width, height] = [this.#width, this.#height];
    // A figure of one plane does not depend on what covers a part of a small window.
    if (!this.#owner.crossed)
      [this.#width, this.#height] = [Math.max(LEAST_WIDTH, width), Math.max(LEAST_HEIGHT, height)];
    try {
      return this.#writePart(index);
    } finally {
      [this.#width, this.#height] = [width, height];
    }
  }

  /** The part of a figure, as large as the present frame. */
  #writePart(index: number): FigurePart | null {
    const shown = this.framed;
    if (shown === null || this.#picture === null) return null;
    const { window: part, place } = this;
    const [left, right, bottom, top] = coveredBy(shown.slice);
    const periods = periodsOf(this.#owner.store.facts, shown.state.axis);
    const x = (across: number) => place.left + ((across - part[0]) / (part[1] - part[0])) * place.width;
    const y = (up: number) => place.top + ((part[3] - up) / (part[3] - part[2])) * place.height;
    const rectangle = `x="${place.left}" y="${place.top}" width="${place.width}" height="${place.height}"`;
    const image = (canvas: HTMLCanvasElement | null, style: string): string => {
      if (canvas === null) return "";
      const href = canvas.toDataURL();
      // A copy that only touches the window, by rounding, would make the file several times as large.
      const [wide, tall] = [1e-5 * (part[1] - part[0]), 1e-5 * (part[3] - part[2])];
      const across = copies([left, right], [part[0] + wide, part[1] - wide], periods[0]);
      const up = copies([bottom, top], [part[2] + tall, part[3] - tall], periods[1]);
      const places = across.flatMap((dx) => up.map((dy) => [x(left + dx), y(top + dy)] as const));
      return places
        .map(
          ([px, py]) =>
            `<image href="${href}" x="${px}" y="${py}" width="${x(right) - x(left)}" height="${y(bottom) - y(top)}" preserveAspectRatio="none" image-rendering="${style}"/>`,
        )
        .join("");
    };
    // Lines are as thick as on the screen, whose pixels may be smaller than those of the page.
    const unit = Math.min(2, window.devicePixelRatio);
    const over = new SvgPen(unit * place.width, unit * place.height);
    drawLayer(over, this.#layer(shown, []));
    // The room around the picture in the frame of the page is no part of a file.
    const { left: indent, right: rest, top: above, bottom: below } = this.#margin;
    return {
      width: place.width + indent + rest,
      height: place.height + above + below,
      across: { left: indent, width: place.width },
      svg: [
        `<g transform="translate(${indent - place.left} ${above - place.top})">`,
        `<clipPath id="plane-${index}"><rect ${rectangle}/></clipPath>`,
        `<g clip-path="url(#plane-${index})" style="isolation:isolate">`,
        `<rect ${rectangle} fill="#9a9a9a"/>`,
        image(this.#picture, "pixelated"),
        image(this.overlay, "auto"),
        `<g transform="translate(${place.left} ${place.top}) scale(${1 / unit})">${over.svg}</g>`,
        "</g>",
        writeMarks(this.marks),
        "</g>",
      ].join("\n"),
    };
  }

  /** Across and up of a point, moved by whole periods into the window if it can be. */
  #inWindow(
    place: readonly [number, number, number],
    axis: AxisName,
    [left, , bottom]: PlaneWindow = this.window,
  ): readonly [number, number] {
    const periods = periodsOf(this.#owner.store.facts, axis);
    const [across, up] = sidesOf(axis).map((side) => place[AXES.indexOf(side)]);
    return [copyAfter(left, across, periods[0]), copyAfter(bottom, up, periods[1])];
  }

  /** The contours that the view asks for. */
  #contoursOf(shown: ShownPlane): PlaneDrawing["contours"] {
    const { contours } = this.#owner.store.state;
    if (this.#lined?.shown !== shown || this.#lined.levels !== contours) {
      const lines = contours.map((level) => ({ ...contourLines(shown.slice, level), text: shortText(level) }));
      this.#lined = { shown, levels: contours, lines };
    }
    return this.#lined.lines;
  }

  /** The streamlines through the places that were pointed at. */
  #streamlines({ vectors, state }: ShownPlane): readonly DrawnCurve[] {
    if (vectors === null || state.overlay !== "lines") return [];
    return this.#owner.store.state.places.map((place) => {
      const points = streamline(vectors, this.#inWindow(place, state.axis));
      return { points, until: points.length / 2, head: false };
    });
  }

  /** The paths of particles as seen along the normal, inside the window: pale after the time of the view. */
  #paths({ axis }: ViewState): readonly DrawnCurve[] {
    const paths = this.#owner.paths();
    if (paths === null) return [];
    const { drawn, record, bar } = paths;
    const { times, particles, positions, values, exits } = drawn;
    const sides = sidesOf(axis).map((name) => axisOf(this.#owner.store.facts, name));
    const count = times.length;
    const window = this.window;
    return Array.from({ length: particles }, (_, p) => {
      const points: number[] = [];
      const tints: number[] = [];
      let until = 0;
      for (let k = 0; k < count; k++) {
        const place = sides.map((side, i) => {
          const value = positions[3 * (p * count + k) + AXES.indexOf(side.name)];
          return copyAfter(window[2 * i], value, periodOf(side));
        });
        const before = points.slice(-2);
        if (sides.some((side, i) => Math.abs(place[i] - before[i]) > side.length / 2))
          points.push(Number.NaN, Number.NaN);
        points.push(...place);
        tints[points.length / 2 - 1] =
          bar !== null && values !== null
            ? pixelOf(bar.scale, values[p * count + k])
            : particlePixel(p, particles, exits[p] <= times[k]);
        if (k <= record) until = points.length / 2;
      }
      return { points: Float32Array.from(points), until, head: true, tints };
    });
  }

  /**
   * Draws the periods beyond the plane to the edges of the frame, pale, so that the picture has no empty sides. Beyond
   * a part of a period nothing is known.
   */
  #drawBeyond(picture: Pick<PlaneDrawing, "picture" | "covered" | "gaps" | "overlay" | "smooth" | "periods">): void {
    const canvas = this.#beyond.value;
    if (canvas === undefined) return;
    const { left, top, width, height } = this.place;
    const margin = this.#margin;
    const [across, up] = this.#viewportSize();
    const [from, to, low, high] = this.window;
    const [sx, sy] = [(to - from) / width, (high - low) / height];
    const [dx, dy] = [left - margin.left, top - margin.top];
    const [wide, tall] = [dx, dy].map((rest, i) => {
      const [period, length] = [picture.periods[i], picture.covered[2 * i + 1] - picture.covered[2 * i]];
      return period > 0 && length > 0.999 * period && rest >= 2;
    });
    // Planes next to each other would be small among their copies.
    canvas.hidden = this.#owner.crossed || (!wide && !tall);
    if (canvas.hidden) return;
    const box = {
      left: wide ? 0 : left,
      top: tall ? 0 : top,
      width: wide ? across + margin.left + margin.right : width,
      height: tall ? up + margin.top + margin.bottom : height,
    };
    placeElement(canvas, box);
    Object.assign(canvas, { width: box.width, height: box.height });
    drawPlane(canvas, {
      ...picture,
      behind: null,
      window: [
        from - (left - box.left) * sx,
        from + (box.left + box.width - left) * sx,
        high - (box.top + box.height - top) * sy,
        high + (top - box.top) * sy,
      ],
      marked: null,
      seams: [],
      contours: [],
      curves: [],
      probes: [],
      box: null,
    });
  }

  /** The distance of a probe from the plane in words; null if it lies on it. */
  #distance(probe: readonly [number, number, number], { axis, at }: ViewState): string | null {
    const { length, spacing } = axisOf(this.#owner.store.facts, axis);
    const away = probe[AXES.indexOf(axis)] - at;
    if (Math.abs(away) <= 1e-5 * Math.max(length, spacing)) return null;
    return `Δ${axis} = ${away > 0 ? "" : "−"}${shortText(Math.abs(Number(away.toPrecision(3))))}`;
  }

  #probePoint({ axis }: ViewState): readonly [number, number] {
    const { probe } = this.#owner.store.state;
    const [across, up] = sidesOf(axis).map((name) => probe[AXES.indexOf(name)]);
    return [across, up];
  }

  get #margin(): typeof MARGIN {
    return this.#width < NARROW ? NARROW_MARGIN : MARGIN;
  }

  #showsWhole(): boolean {
    return this.#owner.view().window === null;
  }

  #viewportSize(): readonly [number, number] {
    const { left, right, top, bottom } = this.#margin;
    return [Math.max(80, this.#width - left - right), Math.max(60, this.#height - top - bottom)];
  }

  /** The probe if it lies in the window, else the middle of the window. */
  #centre(): readonly [number, number] {
    const { store, view } = this.#owner;
    const [left, right, bottom, top] = this.window;
    const [across, up] = this.#inWindow(store.state.probe, view().axis);
    if (this.#distance(store.state.probe, view()) === null && !this.#isOutside(across, up)) return [across, up];
    return [(left + right) / 2, (bottom + top) / 2];
  }

  /** The point of the plane under a place of the canvas, given as fractions from its upper left corner. */
  #pointAt(x: number, y: number): readonly [number, number] {
    const [left, right, bottom, top] = this.window;
    return [left + x * (right - left), top - y * (top - bottom)];
  }

  #move(point: readonly [number, number]): void {
    this.#cursor = point;
    this.#owner.moved();
    this.#placeCursor();
  }

  /** Reads at the probe again. */
  #leave(): void {
    this.readProbe();
    this.#owner.moved();
    this.#placeCursor();
  }

  #pan(dx: number, dy: number): void {
    const { store, view, setWindow } = this.#owner;
    const [left, right, bottom, top] = this.window;
    const whole = wholePlane(store.facts, view().axis);
    const periods = periodsOf(store.facts, view().axis);
    const next = panWindow(whole, this.window, -dx * (right - left), dy * (top - bottom), periods);
    setWindow(isWhole(whole, next) ? null : next);
  }

  /** Draws the box of a zoom; on its end the box becomes the window. */
  #drawBox(from: readonly [number, number], to: readonly [number, number], done: boolean): void {
    const [a, b] = [this.#pointAt(...from), this.#pointAt(...to)];
    const sides = [0, 1].map((i) => [Math.min(a[i], b[i]), Math.max(a[i], b[i])]);
    const [[left, right], [bottom, top]] = sides;
    this.#box = done ? null : [left, right, bottom, top];
    if (done && right > left && top > bottom) {
      const { store, view, setWindow } = this.#owner;
      const { axis } = view();
      const periods = periodsOf(store.facts, axis);
      // The cursor is where the box began: at a corner of what is shown from now on.
      this.#leave();
      const whole = wholePlane(store.facts, axis);
      const next = windowAround(whole, [left, right, bottom, top], this.#viewportSize(), periods);
      setWindow(isWhole(whole, next) ? null : next);
    } else this.draw();
  }

  #key(event: KeyboardEvent): void {
    const shown = this.request.value;
    if (shown === null || event.ctrlKey || event.metaKey || event.altKey) return;
    if (Object.hasOwn(MOVES, event.key)) this.#step(shown.slice, ...MOVES[event.key](event.shiftKey ? 10 : 1));
    else if (event.key === "Enter") this.#click();
    else if (event.key === "+" || event.key === "=") this.zoom(ZOOM_STEP, this.#cursor ?? this.#centre());
    else if (event.key === "-") this.zoom(1 / ZOOM_STEP, this.#cursor ?? this.#centre());
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
    if (!this.#showsWhole()) {
      const next = revealPoint(wholePlane(store.facts, view().axis), this.window, point);
      if (next !== this.window) setWindow(next);
    }
    this.#move(point);
  }
}

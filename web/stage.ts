/** The stage: draws all panes whenever something that they show changes. */
import { effect } from "@preact/signals-core";
import { type Pane, type PlanePane, pixelOf, type Rect, type SpacePane } from "./draw/layout.js";
import { drawAxisNames, drawBar, drawPlane, type Ink, rulesOf, write } from "./draw/overlay.js";
import { OverlayCanvas } from "./draw/overlay-canvas.js";
import { type Palette, type PlaneLayer, Renderer, type SurfaceLayer } from "./draw/renderer.js";
import { Streaks } from "./draw/streaks.js";
import { say } from "./notify.js";
import {
  brushTitle,
  drawnLayer,
  flowOf,
  isLightMap,
  linesOf,
  NO_DIFFERENCE,
  planeLayer,
  planeTitle,
  surfaceLayer,
  timeNote,
} from "./stage-layers.js";
import {
  dyeTrails,
  isolated,
  noGraphics,
  onePane,
  type PaneTitle,
  panes,
  stageSize,
  surfaceName,
  swipe,
  titles,
  trails,
} from "./stage-state.js";
import type { Vec3 } from "./state/dataset.js";
import { plainNumber } from "./state/format.js";
import { brushIn, type View } from "./state/link.js";
import {
  cross,
  dataset,
  datasets,
  failureOf,
  frameOf,
  isDifference,
  isDragging,
  isPlaying,
  labelOf,
  paneSize,
  pixel,
  problem,
  refusalOf,
  rested,
  type Shown,
  sidesOf,
  store,
  view,
} from "./state/model.js";
import { quantityOf } from "./state/quantities.js";

const DARK: Palette = {
  plane: [0.027, 0.035, 0.05],
  hatch: [0.13, 0.15, 0.19],
  mark: [1, 1, 1],
  top: [0.165, 0.19, 0.225],
  bottom: [0.085, 0.1, 0.125],
};
const LIGHT: Palette = {
  plane: [0.93, 0.94, 0.95],
  hatch: [0.78, 0.8, 0.83],
  mark: [0.06, 0.08, 0.1],
  top: [0.96, 0.97, 0.98],
  bottom: [0.84, 0.86, 0.89],
};
const INK: Ink = { text: "#f4f6f8", halo: "rgb(8 10 14 / 72%)" };
const DARK_INK: Ink = { text: "#14181d", halo: "rgb(255 255 255 / 72%)" };

interface PlaneOverlay {
  readonly centre: Vec3;
  readonly ink: Ink;
  readonly shown: Shown;
  readonly bars: readonly Bar[];
  readonly label: string | null;
  /** The swipe line of a comparison in pixels, and what is on its sides. */
  readonly swiped: { readonly at: number; readonly sides: readonly [string, string]; readonly inkB: Ink } | null;
}

/** What is drawn of which view. */
interface Drawing {
  readonly renderer: Renderer;
  readonly c: CanvasRenderingContext2D;
  readonly now: View;
  readonly grounds: Palette;
  readonly ink: Ink;
}

interface Bar {
  readonly of: PlaneLayer;
  readonly rect: Rect;
  readonly ink: Ink;
}

const STREAKS_MS = 20_000;

export class Stage {
  readonly #root: HTMLElement;
  readonly #overlay: OverlayCanvas;
  #renderer: Renderer | null = null;
  /** Bytes of textures, halved when the context is lost. */
  #memory = (matchMedia("(max-width: 700px)").matches ? 96 : 256) * 2 ** 20;
  #isQueued = false;
  /** Number of finished pictures and fences of unfinished ones, without pictures that differ only in streaks. */
  #finished = 0;
  #isChanged = false;
  #fences: WebGLSync[] = [];
  #isUnfinished = false;
  #isRefining = false;
  #timer = 0;
  #flowTimer = 0;
  #lastInput = performance.now();
  #isStill = false;
  #cost = 50;
  /** Fraction of the pixels along each side: a half during motion, once pictures take long. */
  #resolution = 1;
  #space = "";
  #paths: readonly Float32Array[] = [];
  #hasSpace = false;
  #arrangement = "";
  readonly #drawn = new Map<number, string>();
  /** Keys of the ticks and bars drawn in panes: without a graphics card they cost more than the picture. */
  readonly #overlays = new Map<number, string>();
  #streaks: Streaks | null = null;
  #isFlowing = false;
  #isOnlyFlow = false;

  constructor(root: HTMLElement) {
    this.#root = root;
    const canvas = document.createElement("canvas");
    canvas.setAttribute("aria-hidden", "true");
    this.#overlay = new OverlayCanvas(root);
    root.prepend(canvas);
    const isHalf = new URLSearchParams(location.search).has("half");
    const start = () => {
      try {
        this.#renderer = new Renderer(canvas, { half: isHalf, limit: this.#memory });
        this.#streaks = new Streaks(this.#renderer.gl);
      } catch (error) {
        noGraphics.value = error instanceof Error ? error.message : String(error);
      }
    };
    start();
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault();
      this.#renderer = null;
      this.#streaks = null;
      this.#fences = [];
      this.#memory /= 2;
    });
    canvas.addEventListener("webglcontextrestored", () => {
      start();
      this.#redraw();
      say("The graphics were reset. Everything is drawn again, with half of the memory.");
    });
    // Ticks that were written before their font had arrived are written again.
    document.fonts.addEventListener("loadingdone", () => this.#redraw());
    for (const name of ["pointermove", "pointerdown", "keydown", "wheel"])
      addEventListener(name, () => this.#wake(), { passive: true });
    new ResizeObserver(() => this.#measure()).observe(root);
    this.#measure();
    effect(() => {
      view.value;
      cross.value;
      this.draw();
    });
  }

  /** Pictures that the graphics card has finished, without pictures that differ only in streaks. */
  finished(): number {
    const gl = this.#renderer?.gl;
    if (gl === undefined) return this.#finished;
    while (this.#fences.length > 0 && gl.getSyncParameter(this.#fences[0], gl.SYNC_STATUS) === gl.SIGNALED) {
      gl.deleteSync(this.#fences.shift() as WebGLSync);
      this.#finished++;
    }
    return this.#finished;
  }

  get isSettled(): boolean {
    return (
      (!this.#isQueued || this.#isOnlyFlow) &&
      !this.#isUnfinished &&
      !this.#isRefining &&
      !store.isBusy &&
      document.fonts.status === "loaded" &&
      rested.peek() === view.peek()
    );
  }

  #redraw(): void {
    this.#arrangement = "";
    this.draw();
  }

  #measure(): void {
    const { clientWidth, clientHeight } = this.#root;
    stageSize.value = [clientWidth, clientHeight];
    onePane.value = clientWidth < 560 ? (onePane.peek() ?? "3d") : null;
    this.draw();
  }

  draw(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    requestAnimationFrame(() => {
      this.#isQueued = false;
      this.#isOnlyFlow = false;
      this.#dispose?.();
      // Whatever is read while drawing, answers of the store included, draws again when it changes.
      let isFirst = true;
      this.#dispose = effect(() => {
        if (!isFirst) {
          this.#isOnlyFlow = false;
          this.draw();
          return;
        }
        isFirst = false;
        const begin = performance.now();
        this.#draw();
        this.#renderer?.gl.flush();
        requestAnimationFrame(() => {
          this.#cost = 0.7 * this.#cost + 0.3 * Math.min(1000, performance.now() - begin);
        });
      });
    });
  }
  #dispose: (() => void) | null = null;

  #draw(): void {
    const set = dataset.value;
    const now = view.value;
    const [width, height] = stageSize.value;
    if (width === 0 || height === 0) return;
    const ratio = Math.min(2, devicePixelRatio);
    const light = now.stage === "light";
    const [grounds, ink] = light ? [LIGHT, DARK_INK] : [DARK, INK];
    const renderer = this.#renderer;
    const shown = panes.value;
    const arrangement = JSON.stringify([shown, light, set?.digest]);
    const isNew = arrangement !== this.#arrangement;
    this.#arrangement = arrangement;
    const line = light ? [0.7, 0.72, 0.75] : [0.11, 0.13, 0.16];
    if (!isDragging.value && !isPlaying.value) this.#resolution = 1;
    else if (this.#cost > 25) this.#resolution = 0.5;
    if (renderer?.begin(width, height, { ratio, resolution: this.#resolution }, line, isNew) === true) {
      this.#drawn.clear();
      this.#space = "";
    }
    if (isNew) {
      this.#overlays.clear();
      this.#stopRefining();
    }
    const c = this.#overlay.fit(width, height, ratio, isNew);
    if (c === null || set === null || renderer === null) {
      const isUndrawn = renderer === null && noGraphics.peek() === null;
      this.#isUnfinished = set === null ? datasets.value?.length !== 0 && problem.value === null : isUndrawn;
      return;
    }
    pixel.value = pixelOf(now, set, shown);
    const plane = shown.find(({ kind }) => kind === "plane");
    if (plane !== undefined) {
      const [w, h] = [Math.round(plane.rect.width), Math.round(plane.rect.height)];
      if (paneSize.peek()[0] !== w || paneSize.peek()[1] !== h) paneSize.value = [w, h];
    }
    let more = false;
    this.#isFlowing = false;
    this.#isChanged = false;
    const drawing = { renderer, c, now, grounds, ink };
    for (const [i, pane] of shown.entries()) {
      // The first planes are shown before the surface is marched.
      if (pane.kind === "space" && this.#isChanged && this.#space === "" && !this.#hasSpace) more = true;
      else if (pane.kind === "space") more = this.#drawSpace(drawing, pane, i) || more;
      else more = this.#drawPlane(drawing, pane, i) || more;
    }
    const fence = this.#isChanged ? renderer.gl.fenceSync(renderer.gl.SYNC_GPU_COMMANDS_COMPLETE, 0) : null;
    if (fence !== null) this.#fences.push(fence);
    if (this.#fences.length > 8) this.finished();
    clearTimeout(this.#flowTimer);
    // Where pictures take long, streaks advance only with the pictures of playing time.
    if (this.#isFlowing && !(isPlaying.value && this.#cost > 25)) this.#flow();
    this.#isUnfinished = more;
    if (more) this.draw();
  }

  #wake(): void {
    this.#lastInput = performance.now();
    if (!this.#isStill) return;
    this.#isStill = false;
    this.#flow();
  }

  /** Advances the streaks when nothing else is to be drawn; they stop a while after the last input. */
  #flow(): void {
    if (performance.now() - this.#lastInput > STREAKS_MS) {
      this.#isStill = true;
      return;
    }
    this.#flowTimer = window.setTimeout(
      () => {
        if (this.#isRefining || document.hidden) this.#flow();
        else {
          this.#isOnlyFlow = !this.#isQueued;
          this.draw();
        }
      },
      Math.max(40, 2.5 * this.#cost),
    );
  }

  #refine(pane: SpacePane, layer: SurfaceLayer, show: () => void): void {
    this.#isRefining = true;
    clearTimeout(this.#timer);
    let last = performance.now();
    const go = () => {
      const remaining = this.#renderer?.refine(pane.rect, layer) ?? null;
      const now = performance.now();
      const isDone = remaining === 0;
      if (isDone || (remaining !== null && now - last > 400)) {
        last = now;
        show();
      }
      if (isDone) this.#isRefining = false;
      else this.#timer = window.setTimeout(go, remaining === null ? 6 : 0);
    };
    this.#timer = window.setTimeout(go, 140);
  }

  /** Stops drawing tiles: their pane has gone, or shows something else. */
  #stopRefining(): void {
    clearTimeout(this.#timer);
    this.#isRefining = false;
  }

  #setTitle(index: number, next: PaneTitle): void {
    const before = titles.peek();
    if (JSON.stringify(before[index]) === JSON.stringify(next)) return;
    // Panes are shown in the order in which they arrive.
    const all = [...before];
    all[index] = next;
    titles.value = all;
  }

  #writeEmpty({ c, ink }: Drawing, index: number, rect: Pane["rect"], isRefused: boolean, note = ""): void {
    this.#overlays.delete(index);
    this.#drawn.delete(index);
    c.clearRect(rect.x, rect.y, rect.width, rect.height);
    write(c, ink, isRefused ? "No picture" : "Loading", rect.x + 12, rect.y + 20, { size: 12 });
    this.#overlay.show(index, [{ x: rect.x, y: rect.y, width: 90, height: 32 }]);
    this.#setTitle(index, { title: "", note, isPending: false, isOnLight: false });
  }

  #drawPlane(drawing: Drawing, pane: PlanePane, index: number): boolean {
    const { renderer, c, now, grounds, ink: stageInk } = drawing;
    const { rect } = pane;
    const planeA = planeLayer(pane, now, pane.second);
    const isOfBoth = isDifference(now);
    const layer = drawnLayer(pane, now, pane.second);
    const why = typeof layer === "string" ? layer : "";
    if (planeA === null || layer === null || typeof layer === "string" || now.centre === null) {
      renderer.blank(index, rect, grounds);
      const isRefused = refusalOf(now, pane.second) !== null || (isOfBoth && refusalOf(now, true) !== null);
      this.#writeEmpty(drawing, index, rect, isRefused || why !== "", why);
      return false;
    }
    const { shown } = planeA;
    const isSwiped = now.show === "compare" && now.compare === "swipe";
    const at = swipe.value * rect.width;
    const swipedPlane = isSwiped ? planeLayer(pane, now, true) : null;
    const isPending = planeA.still !== "" || (isSwiped && swipedPlane === null && refusalOf(now, true) === null);
    const mayFlow = this.#streaks !== null && !isSwiped && !isOfBoth;
    const nextFlow = mayFlow ? flowOf(pane, now) : null;
    // The first picture of a pane does not wait for its streaks.
    const flow = this.#drawn.has(index) ? nextFlow : null;
    const isLate = flow !== nextFlow;
    const streaks = flow === null ? null : (this.#streaks?.advance(index, flow) ?? null);
    if (streaks !== null) this.#isFlowing = true;
    const keyOf = (one: PlaneLayer | undefined) =>
      one && [
        one.volume.key,
        one.picture !== null,
        one.origin,
        one.scale,
        one.range,
        one.map,
        one.brush && [one.brush.volume.key, one.brush.low, one.brush.high],
      ];
    const content = JSON.stringify([
      keyOf(layer),
      keyOf(swipedPlane?.layer),
      isSwiped && at,
      labelOf(now, false),
      labelOf(now, true),
      now.stage,
    ]);
    const key = `${content} ${cross.value} ${nextFlow !== null}`;
    const isSame = this.#drawn.get(index) === key && !isPending;
    if (isSame && streaks === null) return isLate;
    this.#drawn.set(index, isPending ? "" : key);
    const layers = [
      { ...layer, swipe: isSwiped ? at : 0 },
      ...(swipedPlane === null ? [] : [{ ...swipedPlane.layer, swipe: -at }]),
    ];
    const rules = rulesOf(pane, shown.dataset, now.centre, pixel.value);
    const isOnLight = isLightMap(layer.map);
    const { mark } = isOnLight ? LIGHT : DARK;
    renderer.planes(index, rect, layers, { ...grounds, mark }, content, streaks, rules);
    if (isSame) return false;
    this.#isChanged = true;
    const hasNoDifference = isOfBoth && layer.picture !== null && layer.range.high === NO_DIFFERENCE;
    const side = pane.second ? "B" : "A";
    const note = isOfBoth
      ? `A − B${hasNoDifference ? ": no difference" : ""}   ${sidesOf(now)}`
      : now.show === "compare" && !isSwiped
        ? `${side}: ${labelOf(now, pane.second)}`
        : "";
    this.#setTitle(index, {
      title: planeTitle(pane, layer, cross.value),
      note: [note, timeNote(pane, now, nextFlow !== null)].filter(Boolean).join(", "),
      isPending,
      isOnLight,
    });
    const layerB = swipedPlane?.layer;
    const inkOn = (one: PlaneLayer | undefined) =>
      one === undefined ? stageInk : isLightMap(one.map) ? DARK_INK : INK;
    const bars: Bar[] = [];
    if (!isSwiped && (index === 0 || pane.second)) bars.push({ of: layer, rect, ink: inkOn(layer) });
    else if (isSwiped && layerB?.volume.what === layer.volume.what) bars.push({ of: layer, rect, ink: inkOn(layerB) });
    else if (isSwiped) {
      bars.push({ of: layer, rect: { ...rect, width: at }, ink: inkOn(layer) });
      const right = { ...rect, x: rect.x + at, width: rect.width - at };
      if (layerB !== undefined) bars.push({ of: layerB, rect: right, ink: inkOn(layerB) });
    }
    this.#drawPlaneOverlay(c, index, pane, {
      ...{ centre: now.centre, ink: inkOn(layer), shown, bars, label: isOfBoth ? "A − B" : null },
      swiped: isSwiped
        ? { at, sides: [`A  ${labelOf(now, false)}`, `B  ${labelOf(now, true)}`], inkB: inkOn(layerB) }
        : null,
    });
    return isLate || (isPending && store.isBusy);
  }

  #drawPlaneOverlay(c: CanvasRenderingContext2D, index: number, pane: PlanePane, overlay: PlaneOverlay): void {
    const { centre, label, ink, shown, bars, swiped } = overlay;
    const { rect } = pane;
    const keysOfBars = bars.map(({ of, rect: part, ink: own }) => [of.range, of.map, of.volume.key, part, own]);
    const key = JSON.stringify([centre, pixel.value, rect, keysOfBars, label, swiped, shown.dataset.name]);
    if (this.#overlays.get(index) === key) return;
    this.#overlays.set(index, key);
    c.clearRect(rect.x, rect.y, rect.width, rect.height);
    const boxes = drawPlane(c, ink, pane, shown.dataset, centre, pixel.value);
    for (const { of, rect: part, ink: own } of bars)
      boxes.push(
        ...drawBar(c, own, part, { ...of, label: label ?? quantityOf(of.volume.what).symbol, isLit: false }, of.volume),
      );
    if (swiped !== null) drawSwipe(c, ink, pane, swiped);
    this.#overlay.show(index, swiped === null ? boxes : [rect]);
  }

  #drawSpace(drawing: Drawing, pane: SpacePane, index: number): boolean {
    const { renderer, c, now, grounds, ink } = drawing;
    const { rect } = pane;
    const surfaceState = surfaceLayer(now);
    if (surfaceState === null) {
      this.#space = "";
      this.#stopRefining();
      renderer.ground(rect, grounds);
      const { surface, colour, time } = now;
      const set = dataset.value;
      const isRefused = set !== null && [surface.what, colour].some((what) => failureOf(set, what, frameOf(time, set)));
      this.#writeEmpty(drawing, index, rect, isRefused);
      return false;
    }
    this.#hasSpace = true;
    const { layer } = surfaceState;
    const { level, side, range, colour } = layer;
    const { camera, centre, surface: asked, brush: brushed, time } = now;
    const parts = [surfaceState.key, level, side, colour.key, range, isolated.value?.key];
    const key = JSON.stringify([camera, centre, asked, brushed, time, ...parts]);
    const lines = linesOf(layer, cross.value, now.stage === "light");
    const trail = trails.value;
    const dye = dyeTrails.value;
    const show = () => {
      const isLate = renderer.surface(rect, layer, key, grounds);
      renderer.segments(rect, layer, lines, 1.2);
      renderer.segments(rect, layer, trail, 2.2);
      renderer.segments(rect, layer, dye, 1.6);
      return isLate;
    };
    const { isFinest } = surfaceState;
    const drawnKey = JSON.stringify([key, isFinest, rect, cross.value, now.stage, isDragging.value, isPlaying.value]);
    const isOld = trail === this.#paths[0] && dye === this.#paths[1];
    if (drawnKey === this.#space && isOld) return false;
    this.#paths = [trail, dye];
    this.#isChanged = true;
    this.#stopRefining();
    const isLate = show();
    this.#space = isLate ? "" : drawnKey;
    const { what, value } = asked;
    const inside = value === null ? "" : ` = ${plainNumber(value, 9)}`;
    const surface = surfaceName(`${quantityOf(what).symbol}${inside}`);
    const brush = layer.faint === null ? null : brushIn(brushed);
    const shown = brush === null ? surface : `${brushTitle(brush)} and, faintly, ${surface}`;
    const title = `${shown}, coloured by ${quantityOf(layer.colour.what).symbol}`;
    const note = `surface of ${surfaceState.samples}`;
    this.#setTitle(index, { title, note, isPending: surfaceState.isPending, isOnLight: now.stage === "light" });
    this.#drawSpaceOverlay(c, index, pane, layer, ink);
    // Only pictures of the finest samples are refined: others are replaced before they are done.
    const isFinal = isFinest && !isDragging.value && !isPlaying.value;
    if (!isLate && isFinal) this.#refine(pane, layer, show);
    return isLate;
  }

  #drawSpaceOverlay(c: CanvasRenderingContext2D, index: number, pane: SpacePane, layer: SurfaceLayer, ink: Ink): void {
    const { rect } = pane;
    const { camera, low, high, range, map, colour } = layer;
    const key = JSON.stringify([camera, low, high, rect, range, map, colour.what]);
    if (this.#overlays.get(index) === key) return;
    this.#overlays.set(index, key);
    c.clearRect(rect.x, rect.y, rect.width, rect.height);
    const hiddenAxes = [0, 1, 2].map((a) => camera.forward[a] > 0);
    const label = quantityOf(colour.what).symbol;
    const bar = drawBar(c, ink, rect, { range, map, label, isLit: true }, null);
    this.#overlay.show(index, [...drawAxisNames(c, ink, rect, camera, low, high, hiddenAxes), ...bar]);
  }
}

function drawSwipe(
  c: CanvasRenderingContext2D,
  ink: Ink,
  { rect }: PlanePane,
  { at, sides: [a, b], inkB }: NonNullable<PlaneOverlay["swiped"]>,
): void {
  const x = rect.x + Math.round(at);
  c.fillStyle = ink.text;
  c.fillRect(x - 1, rect.y, 2, rect.height);
  c.beginPath();
  c.arc(x, rect.y + rect.height / 2, 12, 0, 2 * Math.PI);
  c.fill();
  c.fillStyle = ink.halo;
  c.font = "600 12px Inter, sans-serif";
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.fillText("↔", x, rect.y + rect.height / 2);
  write(c, ink, a, x - 12, rect.y + rect.height - 104, { align: "right", size: 12, weight: 600 });
  write(c, inkB, b, x + 12, rect.y + rect.height - 104, { size: 12, weight: 600 });
}

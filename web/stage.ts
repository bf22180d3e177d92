/**
 * The stage: draws all panes whenever something that they show changes, at most once a frame of the screen. It skips
 * panes that have not changed, draws planes before the surface, and the surface coarsely first.
 */
import { effect } from "@preact/signals-core";
import { onceThen } from "./controls.js";
import { type Pane, type Pane3d, type PlanePane, pixelOf, type Rect } from "./draw/layout.js";
import { drawAxisNames, drawBar, drawPlane, type Ink, rulesOf, write } from "./draw/overlay.js";
import { OverlayCanvas } from "./draw/overlay-canvas.js";
import { inputsOfPlane, type Palette, type PlaneLayer, Renderer, type SurfaceLayer } from "./draw/renderer.js";
import { Streaks } from "./draw/streaks.js";
import { say } from "./notify.js";
import * as layers from "./stage-layers.js";
import * as stage from "./stage-state.js";
import { type Dataset, frameOf, type Vec3 } from "./state/dataset.js";
import { plainNumber } from "./state/format.js";
import { brushIn, type View } from "./state/link.js";
import { paneSize, pixel } from "./state/picture-plan.js";
import { quantityOf } from "./state/quantities.js";
import { failureOf, labelOf, refusalOf, sidesOf, store } from "./state/shown.js";
import { cross, dataset, datasets, isDifference, isDragging, isPlaying, problem, rested, view } from "./state/view.js";

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
  readonly dataset: Dataset;
  readonly bars: readonly Bar[];
  readonly label: string | null;
  readonly swiped: Swiped | null;
}

/** The swipe line of a comparison in pixels, and what is on its sides. */
interface Swiped {
  readonly at: number;
  readonly sides: readonly [string, string];
  readonly inkB: Ink;
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

/** Time after the last input for which streaks move, and the least time between two pictures of them. */
const [STREAKS_MS, STREAK_FRAME_MS] = [20_000, 40];
/** Time of a picture beyond which motion is drawn with fewer pixels, and streaks wait. */
const SLOW_MS = 25;
/** Time at rest before the surface is refined, and between two showings of its tiles. */
const [REFINE_AFTER_MS, REFINE_SHOW_MS] = [140, 400];

export class Stage {
  readonly #root: HTMLElement;
  readonly #overlay: OverlayCanvas;
  #renderer: Renderer | null = null;
  /** Bytes of textures, halved when the context is lost. */
  #memory = (matchMedia("(max-width: 700px)").matches ? 96 : 256) * 2 ** 20;
  /** Whether a picture is to be drawn with the next frame of the screen, and whether only its streaks differ. */
  #isQueued = false;
  #isOnlyFlow = false;
  /** Ends the effect that draws the next picture when anything has changed that the last one showed. */
  #dispose: (() => void) | null = null;
  /** Whether parts of the view are still to be drawn, and whether the surface is still being refined. */
  #isUnfinished = false;
  #isRefining = false;
  #refineTimer = 0;
  /** Whether the picture that is drawn differs from the last one in more than streaks; fences of such pictures. */
  #isChanged = false;
  #fences: WebGLSync[] = [];
  #finished = 0;
  /** Mean time that a picture takes. */
  #frameMs = 50;
  /** Fraction of the pixels along each side: a half during motion, once pictures take long. */
  #resolution = 1;
  /** Keys of what is drawn: the panes, the content of each plane, and that of the 3-D pane with its paths. */
  #arrangement = "";
  readonly #drawn = new Map<number, string>();
  #drawn3d = "";
  #drawnPaths: readonly Float32Array[] = [];
  #hasDrawn3d = false;
  /** Keys of the ticks and bars drawn in panes: without a graphics card they cost more than the picture. */
  readonly #overlays = new Map<number, string>();
  #streaks: Streaks | null = null;
  #isFlowing = false;
  #flowTimer = 0;
  #lastInput = performance.now();
  /** Whether streaks have stopped for want of input. */
  #isStill = false;

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
        stage.noGraphics.value = error instanceof Error ? error.message : String(error);
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

  /** The number of pictures that the graphics card has finished; those that differ only in streaks do not count. */
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

  draw(): void {
    if (this.#isQueued) return;
    this.#isQueued = true;
    requestAnimationFrame(() => {
      this.#isQueued = false;
      this.#isOnlyFlow = false;
      this.#dispose?.();
      // Whatever is read while drawing, answers of the store included, draws again when it changes.
      this.#dispose = onceThen(
        () => this.#drawTimed(),
        () => {
          this.#isOnlyFlow = false;
          this.draw();
        },
      );
    });
  }

  #redraw(): void {
    this.#arrangement = "";
    this.draw();
  }

  #measure(): void {
    const { clientWidth, clientHeight } = this.#root;
    stage.stageSize.value = [clientWidth, clientHeight];
    stage.onePane.value = clientWidth < 560 ? (stage.onePane.peek() ?? "3d") : null;
    this.draw();
  }

  #drawTimed(): void {
    const begin = performance.now();
    this.#draw();
    this.#renderer?.gl.flush();
    requestAnimationFrame(() => {
      this.#frameMs = 0.7 * this.#frameMs + 0.3 * Math.min(1000, performance.now() - begin);
    });
  }

  #draw(): void {
    const set = dataset.value;
    const now = view.value;
    const [width, height] = stage.stageSize.value;
    if (width === 0 || height === 0) return;
    const ratio = Math.min(2, devicePixelRatio);
    const light = now.stage === "light";
    const [grounds, ink] = light ? [LIGHT, DARK_INK] : [DARK, INK];
    const renderer = this.#renderer;
    const shown = stage.panes.value;
    const arrangement = JSON.stringify([shown, light, set?.digest]);
    const isNew = arrangement !== this.#arrangement;
    this.#arrangement = arrangement;
    const line = light ? [0.7, 0.72, 0.75] : [0.11, 0.13, 0.16];
    if (!isDragging.value && !isPlaying.value) this.#resolution = 1;
    else if (this.#frameMs > SLOW_MS) this.#resolution = 0.5;
    if (renderer?.begin(width, height, { ratio, resolution: this.#resolution }, line, isNew) === true) {
      this.#drawn.clear();
      this.#drawn3d = "";
    }
    if (isNew) {
      this.#overlays.clear();
      this.#stopRefining();
    }
    const c = this.#overlay.fit(width, height, ratio, isNew);
    if (c === null || set === null || renderer === null) {
      const isUndrawn = renderer === null && stage.noGraphics.peek() === null;
      this.#isUnfinished = set === null ? datasets.value?.length !== 0 && problem.value === null : isUndrawn;
      return;
    }
    pixel.value = pixelOf(now, set, shown);
    const plane = shown.find(({ kind }) => kind === "plane");
    if (plane !== undefined) {
      const [w, h] = [Math.round(plane.rect.width), Math.round(plane.rect.height)];
      if (paneSize.peek()[0] !== w || paneSize.peek()[1] !== h) paneSize.value = [w, h];
    }
    let isUnfinished = false;
    this.#isFlowing = false;
    this.#isChanged = false;
    const drawing = { renderer, c, now, grounds, ink };
    for (const [i, pane] of shown.entries()) {
      // The first planes are shown before the surface is marched.
      if (pane.kind === "3d" && this.#isChanged && this.#drawn3d === "" && !this.#hasDrawn3d) isUnfinished = true;
      else if (pane.kind === "3d") isUnfinished = this.#draw3d(drawing, pane, i) || isUnfinished;
      else isUnfinished = this.#drawPlane(drawing, pane, i) || isUnfinished;
    }
    const fence = this.#isChanged ? renderer.gl.fenceSync(renderer.gl.SYNC_GPU_COMMANDS_COMPLETE, 0) : null;
    if (fence !== null) this.#fences.push(fence);
    if (this.#fences.length > 8) this.finished();
    clearTimeout(this.#flowTimer);
    // Where pictures take long, streaks advance only with the pictures of playing time.
    if (this.#isFlowing && !(isPlaying.value && this.#frameMs > SLOW_MS)) this.#flow();
    this.#isUnfinished = isUnfinished;
    if (isUnfinished) this.draw();
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
      Math.max(STREAK_FRAME_MS, 2.5 * this.#frameMs),
    );
  }

  #refine(pane: Pane3d, layer: SurfaceLayer, show: () => void): void {
    this.#isRefining = true;
    clearTimeout(this.#refineTimer);
    let last = performance.now();
    const go = () => {
      const remaining = this.#renderer?.refine(pane.rect, layer) ?? null;
      const now = performance.now();
      const isDone = remaining === 0;
      if (isDone || (remaining !== null && now - last > REFINE_SHOW_MS)) {
        last = now;
        show();
      }
      if (isDone) this.#isRefining = false;
      else this.#refineTimer = window.setTimeout(go, remaining === null ? 6 : 0);
    };
    this.#refineTimer = window.setTimeout(go, REFINE_AFTER_MS);
  }

  /** Stops drawing tiles: their pane has gone, or shows something else. */
  #stopRefining(): void {
    clearTimeout(this.#refineTimer);
    this.#isRefining = false;
  }

  #setTitle(index: number, next: stage.PaneTitle): void {
    const before = stage.titles.peek();
    if (JSON.stringify(before[index]) === JSON.stringify(next)) return;
    // Panes are shown in the order in which they arrive.
    const all = [...before];
    all[index] = next;
    stage.titles.value = all;
  }

  #writeEmpty({ c, ink }: Drawing, index: number, rect: Pane["rect"], isRefused: boolean, note = ""): void {
    this.#overlays.delete(index);
    this.#drawn.delete(index);
    c.clearRect(rect.x, rect.y, rect.width, rect.height);
    write(c, ink, isRefused ? "No picture" : "Loading", rect.x + 12, rect.y + 20, { size: 12 });
    this.#overlay.show(index, [{ x: rect.x, y: rect.y, width: 90, height: 32 }]);
    this.#setTitle(index, { title: "", note, isPending: false, isOnLight: false });
  }

  /** Draws the pane of a plane. Returns whether it is to be drawn again at once. */
  #drawPlane(drawing: Drawing, pane: PlanePane, index: number): boolean {
    const { renderer, now, grounds } = drawing;
    const { rect } = pane;
    const planeState = layers.planeLayer(pane, now, pane.second);
    const isOfBoth = isDifference(now);
    const layer = layers.drawnLayer(pane, now, pane.second);
    if (planeState === null || layer === null || typeof layer === "string" || now.centre === null) {
      renderer.clearPane(index, rect, grounds);
      const why = typeof layer === "string" ? layer : "";
      const isRefused = refusalOf(now, pane.second) !== null || (isOfBoth && refusalOf(now, true) !== null);
      this.#writeEmpty(drawing, index, rect, isRefused || why !== "", why);
      return false;
    }
    const isSwiped = now.show === "compare" && now.compare === "swipe";
    const at = isSwiped ? stage.swipe.value * rect.width : 0;
    const layerB = (isSwiped ? layers.planeLayer(pane, now, true)?.layer : null) ?? null;
    const isPending = planeState.still !== "" || (isSwiped && layerB === null && refusalOf(now, true) === null);
    const nextFlow = this.#streaks === null || isSwiped || isOfBoth ? null : layers.flowOf(pane, now);
    // The first picture of a pane does not wait for its streaks.
    const flow = this.#drawn.has(index) ? nextFlow : null;
    const awaitsStreaks = flow !== nextFlow;
    const streaks = flow === null ? null : (this.#streaks?.advance(index, flow) ?? null);
    if (streaks !== null) this.#isFlowing = true;
    const sides = [labelOf(now, false), labelOf(now, true)];
    const content = JSON.stringify([inputsOfPlane(layer), layerB && inputsOfPlane(layerB), at, sides, now.stage]);
    const key = `${content} ${cross.value} ${nextFlow !== null}`;
    const isSame = this.#drawn.get(index) === key && !isPending;
    if (isSame && streaks === null) return awaitsStreaks;
    this.#drawn.set(index, isPending ? "" : key);
    const drawn = [{ ...layer, swipe: at }, ...(layerB === null ? [] : [{ ...layerB, swipe: -at }])];
    const { dataset: set } = planeState.shown;
    const isOnLight = layers.isLightMap(layer.map);
    const { mark } = isOnLight ? LIGHT : DARK;
    const rules = rulesOf(pane, set, now.centre, pixel.value);
    renderer.drawPlanes(index, rect, drawn, { ...grounds, mark }, content, streaks, rules);
    if (isSame) return false;
    this.#isChanged = true;
    const title = layers.planeTitle(pane, layer, cross.value);
    const note = [sideNote(now, pane, layer), layers.timeNote(pane, now, nextFlow !== null)].filter(Boolean).join(", ");
    this.#setTitle(index, { title, note, isPending, isOnLight });
    const [ink, inkB] = [layer, layerB].map((one) => inkOn(one, drawing.ink));
    const ownBar = index === 0 || pane.second ? [{ of: layer, rect, ink }] : [];
    const bars = isSwiped ? swipedBars(pane, layer, layerB, at, drawing.ink) : ownBar;
    const swiped = isSwiped ? ({ at, sides: [`A  ${sides[0]}`, `B  ${sides[1]}`], inkB } as const) : null;
    const label = isOfBoth ? "A − B" : null;
    this.#drawPlaneOverlay(drawing.c, index, pane, { centre: now.centre, ink, dataset: set, bars, label, swiped });
    return awaitsStreaks || (isPending && store.isBusy);
  }

  #drawPlaneOverlay(c: CanvasRenderingContext2D, index: number, pane: PlanePane, overlay: PlaneOverlay): void {
    const { centre, label, ink, dataset: set, bars, swiped } = overlay;
    const { rect } = pane;
    const keysOfBars = bars.map(({ of, rect: part, ink: own }) => [of.range, of.map, of.volume.key, part, own]);
    const key = JSON.stringify([centre, pixel.value, rect, keysOfBars, label, swiped, set.name]);
    if (this.#overlays.get(index) === key) return;
    this.#overlays.set(index, key);
    c.clearRect(rect.x, rect.y, rect.width, rect.height);
    const boxes = drawPlane(c, ink, pane, set, centre);
    for (const { of, rect: part, ink: own } of bars)
      boxes.push(
        ...drawBar(c, own, part, { ...of, label: label ?? quantityOf(of.volume.what).symbol, isLit: false }, of.volume),
      );
    if (swiped !== null) drawSwipe(c, ink, pane, swiped);
    this.#overlay.show(index, swiped === null ? boxes : [rect]);
  }

  #draw3d(drawing: Drawing, pane: Pane3d, index: number): boolean {
    const { renderer, c, now, grounds, ink } = drawing;
    const { rect } = pane;
    const surfaceState = layers.surfaceLayer(now);
    if (surfaceState === null) {
      this.#drawn3d = "";
      this.#stopRefining();
      renderer.drawBackground(rect, grounds);
      const { surface, colour, time } = now;
      const set = dataset.value;
      const isRefused = set !== null && [surface.what, colour].some((what) => failureOf(set, what, frameOf(time, set)));
      this.#writeEmpty(drawing, index, rect, isRefused);
      return false;
    }
    this.#hasDrawn3d = true;
    const { layer } = surfaceState;
    const { level, side, range, colour } = layer;
    const { camera, centre, surface: asked, brush: brushed, time } = now;
    const parts = [surfaceState.key, level, side, colour.key, range, stage.isolated.value?.key];
    const key = JSON.stringify([camera, centre, asked, brushed, time, ...parts]);
    const lines = layers.linesOf(layer, cross.value, now.stage === "light");
    const trail = stage.trails.value;
    const dye = stage.dyeTrails.value;
    const show = () => {
      const awaitsSurface = renderer.drawSurface(rect, layer, key, grounds);
      renderer.drawSegments(rect, layer, lines, 1.2);
      renderer.drawSegments(rect, layer, trail, 2.2);
      renderer.drawSegments(rect, layer, dye, 1.6);
      return awaitsSurface;
    };
    const { isFinest } = surfaceState;
    const drawnKey = JSON.stringify([key, isFinest, rect, cross.value, now.stage, isDragging.value, isPlaying.value]);
    const isOld = trail === this.#drawnPaths[0] && dye === this.#drawnPaths[1];
    if (drawnKey === this.#drawn3d && isOld) return false;
    this.#drawnPaths = [trail, dye];
    this.#isChanged = true;
    this.#stopRefining();
    const awaitsSurface = show();
    this.#drawn3d = awaitsSurface ? "" : drawnKey;
    const { what, value } = asked;
    const inside = value === null ? "" : ` = ${plainNumber(value, 9)}`;
    const surface = stage.surfaceName(`${quantityOf(what).symbol}${inside}`);
    const brush = layer.faint === null ? null : brushIn(brushed);
    const shown = brush === null ? surface : `${layers.brushTitle(brush)} and, faintly, ${surface}`;
    const title = `${shown}, coloured by ${quantityOf(layer.colour.what).symbol}`;
    const note = `surface of ${surfaceState.samples}`;
    this.#setTitle(index, { title, note, isPending: surfaceState.isPending, isOnLight: now.stage === "light" });
    this.#draw3dOverlay(c, index, pane, layer, ink);
    // Only pictures of the finest samples are refined: others are replaced before they are done.
    const isFinal = isFinest && !isDragging.value && !isPlaying.value;
    if (!awaitsSurface && isFinal) this.#refine(pane, layer, show);
    return awaitsSurface;
  }

  #draw3dOverlay(c: CanvasRenderingContext2D, index: number, pane: Pane3d, layer: SurfaceLayer, ink: Ink): void {
    const { rect } = pane;
    const { camera, low, high, range, map, colour } = layer;
    const key = JSON.stringify([camera, low, high, rect, range, map, colour.what]);
    if (this.#overlays.get(index) === key) return;
    this.#overlays.set(index, key);
    c.clearRect(rect.x, rect.y, rect.width, rect.height);
    const label = quantityOf(colour.what).symbol;
    const bar = drawBar(c, ink, rect, { range, map, label, isLit: true }, null);
    this.#overlay.show(index, [...drawAxisNames(c, ink, rect, layer), ...bar]);
  }
}

/** What a pane shows of a comparison. */
function sideNote(now: View, { second }: PlanePane, { picture, range }: PlaneLayer): string {
  const hasNoDifference = picture?.data.some(Number.isFinite) && range.high === layers.NO_DIFFERENCE;
  if (isDifference(now)) return `A − B${hasNoDifference ? ": no difference" : ""}   ${sidesOf(now)}`;
  return now.show === "compare" && now.compare === "side" ? `${second ? "B" : "A"}: ${labelOf(now, second)}` : "";
}

const inkOn = (layer: PlaneLayer | null, ofStage: Ink): Ink =>
  layer === null ? ofStage : layers.isLightMap(layer.map) ? DARK_INK : INK;

/** The bars beside a swipe line: one, or one at each side if A and B are of two quantities. */
function swipedBars({ rect }: PlanePane, a: PlaneLayer, b: PlaneLayer | null, at: number, ofStage: Ink): Bar[] {
  if (b?.volume.what === a.volume.what) return [{ of: a, rect, ink: inkOn(b, ofStage) }];
  const left: Bar = { of: a, rect: { ...rect, width: at }, ink: inkOn(a, ofStage) };
  const right = { ...rect, x: rect.x + at, width: rect.width - at };
  return b === null ? [left] : [left, { of: b, rect: right, ink: inkOn(b, ofStage) }];
}

function drawSwipe(c: CanvasRenderingContext2D, ink: Ink, { rect }: PlanePane, { at, sides, inkB }: Swiped): void {
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
  write(c, ink, sides[0], x - 12, rect.y + rect.height - 104, { align: "right", size: 12, weight: 600 });
  write(c, inkB, sides[1], x + 12, rect.y + rect.height - 104, { size: 12, weight: 600 });
}

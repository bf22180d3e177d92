/** The stage: draws all panes when something changes, and turns pointers and keys into changes of the view. */
import { computed, effect, signal } from "@preact/signals-core";
import { along, cameraOf, rayOf, throughBox } from "./draw/camera.js";
import {
  boxAbout,
  type Pane,
  PLANE_NAMES,
  type PlanePane,
  panesOf,
  pixelOf,
  positionAt,
  type SpacePane,
  sizeOf,
} from "./draw/layout.js";
import { type MapName, mapNamed } from "./draw/maps.js";
import { drawAxisNames, drawBar, drawPlane, type Ink, rulesOf, write } from "./draw/overlay.js";
import { OverlayCanvas } from "./draw/overlay-canvas.js";
import { type Grounds, type PlaneLayer, Renderer, type SurfaceLayer } from "./draw/renderer.js";
import { fastest, type PaneFlow, Streaks } from "./draw/streaks.js";
import { say } from "./notify.js";
import { type Dataset, nearestImage, nodeOf, type Vec3, wrapped } from "./state/dataset.js";
import { plainNumber, shortNumber } from "./state/format.js";
import type { Plane, Range, View } from "./state/link.js";
import {
  centreAt,
  change,
  cross,
  dataset,
  failureOf,
  fineOf,
  frameOf,
  isBelow,
  isDragging,
  isFinest,
  isPlaying,
  PLANE_AXES,
  paneSize,
  pixel,
  plannedPicture,
  rangeOf,
  rested,
  type Shown,
  saveLink,
  shownOf,
  store,
  view,
  volumeOf,
} from "./state/model.js";
import { quantityOf } from "./state/quantities.js";
import { type Fine, type Picture, sampleAt, type Volume } from "./state/volumes.js";

/** The place under the pointer; what the picture shows there is read when it is written, never kept. */
export interface Hover {
  readonly place: Vec3;
  /** Whether B of a comparison is there. */
  readonly second: boolean;
}

export const hover = signal<Hover | null>(null);
export const stageSize = signal<readonly [number, number]>([0, 0]);
/** The pane that a narrow stage shows of four. */
export const onePane = signal<Plane | "3d" | null>(null);
/** What stands at the top of a pane. */
interface PaneTitle {
  readonly title: string;
  readonly note: string;
  readonly isPending: boolean;
  /** Whether what is below it is light. */
  readonly isOnLight: boolean;
}
export const titles = signal<readonly (PaneTitle | undefined)[]>([]);
/** Where the line of a comparison stands, as part of the width. */
export const swipe = signal(0.5);
/** Segments that panels add to space: trails of particles. */
export const trails = signal<Float32Array>(new Float32Array(0));
/** Segments of dye, which glow. */
export const dyeTrails = signal<Float32Array>(new Float32Array(0));
/** The place of the surface that was clicked. */
export const picked = signal<Vec3 | null>(null);
/** The structure that is shown alone: its label among those of all nodes, x fastest. */
export const isolated = signal<{ readonly key: string; readonly label: number; readonly labels: Int32Array } | null>(
  null,
);
/** What a drag in a plane does. */
export type Tool = "cross" | "ruler" | "dye";
export const tool = signal<Tool>("cross");
/** A stroke that was drawn in a plane by a tool; its places are not wrapped. */
export interface Stroke {
  readonly tool: Tool;
  readonly plane: Plane;
  readonly places: readonly Vec3[];
  readonly isDone: boolean;
}
export const stroke = signal<Stroke | null>(null);
export const noGraphics = signal<string | null>(null);

export const panes = computed<readonly Pane[]>(() => {
  const [width, height] = stageSize.value;
  return panesOf(view.value, width, height, onePane.value);
});

const DARK: Grounds = {
  plane: [0.027, 0.035, 0.05],
  hatch: [0.13, 0.15, 0.19],
  mark: [1, 1, 1],
  top: [0.165, 0.19, 0.225],
  bottom: [0.085, 0.1, 0.125],
};
const LIGHT: Grounds = {
  plane: [0.93, 0.94, 0.95],
  hatch: [0.78, 0.8, 0.83],
  mark: [0.06, 0.08, 0.1],
  top: [0.96, 0.97, 0.98],
  bottom: [0.84, 0.86, 0.89],
};
const INK: Ink = {
  text: "#f4f6f8",
  halo: "rgb(8 10 14 / 72%)",
  line: "rgb(255 255 255 / 78%)",
  faint: "rgb(255 255 255 / 38%)",
};
const DARK_INK: Ink = {
  text: "#14181d",
  halo: "rgb(255 255 255 / 72%)",
  line: "rgb(20 24 29 / 80%)",
  faint: "rgb(20 24 29 / 40%)",
};

/** The map of a quantity. */
export function mapOf(now: View, range: Range, what: string): MapName {
  const wanted = what === now.what ? mapNamed(now.map) : null;
  return wanted ?? (range.low < 0 && range.high > 0 ? "vik" : "inferno");
}

/** Whether a map is light where most values are: lines and texts over it are dark then, whatever the stage is. */
const isLightMap = (map: MapName): boolean => map === "vik";

/** The map of a surface: light in the middle, so that it is lit well. */
function surfaceMap(range: Range): MapName {
  return range.low < 0 && range.high > 0 ? "vik" : "batlow";
}

/** What the samples of a volume are, if they are not all nodes. */
function samplesOf(volume: Volume | null): string {
  if (volume === null || volume.stride === 1) return "";
  return volume.cube > 1
    ? `  ·  means of ${volume.cube}³ nodes`
    : `  ·  every ${[...new Set(volume.strides)].length === 1 ? volume.stride : volume.strides.join(" × ")} nodes`;
}

/** The title of a plane. */
export function planeTitle(pane: PlanePane, volume: Volume | null, place: Vec3): string {
  const a = "xyz".indexOf(pane.plane);
  return `${PLANE_NAMES[pane.plane]}   ${pane.plane} = ${shortNumber(place[a])}${samplesOf(volume)}`;
}

/** The last volumes that were shown, which stay until the next ones are there. */
const last = new Map<string, Volume>();
function kept(role: string, set: Dataset, volume: Volume | null): Volume | null {
  const key = `${role} ${set.name}`;
  if (volume !== null) last.set(key, volume);
  return volume ?? last.get(key) ?? null;
}

/** Layers of the planes; null while nothing is there. */
export function planeLayer(
  pane: PlanePane,
  now: View,
  second: boolean,
): { layer: PlaneLayer; shown: Shown; isPending: boolean } | null {
  const shown = shownOf(now, second);
  const first = shownOf(now);
  if (shown === null || first === null || now.centre === null) return null;
  const set = shown.dataset;
  const own = volumeOf(set, shown.what, frameOf(shown.time, set));
  const volume = kept(second ? "second" : "plane", set, own);
  if (volume === null) return null;
  const at = cross.value.map((one, a) => (set === first.dataset ? one : wrapped(set.axes[a], one))) as unknown as Vec3;
  const size = pixel.value;
  const plan = plannedPicture(shown, pane.plane, at, now.centre, size);
  const picture = store.entry<Picture>(plan.key).answer;
  const [h, v] = PLANE_AXES[pane.plane];
  const origin = [...at];
  origin[h] = now.centre[h] - (pane.rect.width / 2) * size;
  origin[v] = now.centre[v] - (pane.rect.height / 2) * size;
  const a = "xyz".indexOf(pane.plane);
  origin[a] = at[a];
  const what = volume.what;
  const range = rangeOf(now, what, volume, set);
  const layer: PlaneLayer = {
    ...{ dataset: set, volume, picture: own === null ? null : picture, range, map: mapOf(now, range, what) },
    ...{
      origin: origin as unknown as Vec3,
      scale: size,
      axes: [h, v],
      brush: brushOf(now, set),
      swipe: 0,
      crosshair: [
        pane.rect.width / 2 + (nearestImage(set.axes[h], at[h], now.centre[h]) - now.centre[h]) / size,
        pane.rect.height / 2 + (nearestImage(set.axes[v], at[v], now.centre[v]) - now.centre[v]) / size,
      ],
    },
  };
  return { layer, shown, isPending: own === null };
}

const DIFFERENCES = new WeakMap<
  Float32Array,
  { readonly of: Float32Array; readonly data: Float32Array; readonly top: number }
>();

/** A − B of samples at the same places, kept while both are there. */
function minus(a: Float32Array, b: Float32Array): { readonly data: Float32Array; readonly top: number } {
  const known = DIFFERENCES.get(a);
  if (known?.of === b) return known;
  const data = a.map((one, i) => one - b[i]);
  const top = data.reduce((most, one) => (Math.abs(one) > most ? Math.abs(one) : most), 0);
  const made = { of: b, data, top };
  DIFFERENCES.set(a, made);
  return made;
}

/** End of the range of a difference that is zero everywhere. */
const NO_DIFFERENCE = 1e-6;

/** The difference of two layers, symmetric about zero; null if their samples are at other places. */
function differenceOf(a: PlaneLayer, b: PlaneLayer): PlaneLayer | null {
  if (
    a.volume.data.length !== b.volume.data.length ||
    a.dataset.axes.some(({ length }, i) => length !== b.dataset.axes[i].length)
  )
    return null;
  const box = minus(a.volume.data, b.volume.data);
  const isPair = a.picture !== null && b.picture !== null && a.picture.data.length === b.picture.data.length;
  const flat = isPair && a.picture !== null && b.picture !== null ? minus(a.picture.data, b.picture.data) : null;
  const top = Number(((flat?.top ?? box.top) || NO_DIFFERENCE).toPrecision(2));
  const volume = { ...a.volume, key: `${a.volume.key} − ${b.volume.key}`, data: box.data, low: -top, high: top };
  const picture = flat === null || a.picture === null ? null : { ...a.picture, data: flat.data };
  return { ...a, volume, picture, range: { low: -top, high: top, scale: "linear" }, map: "vik" };
}

export const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;

/** The flow in a plane, for streaks; null if it is not shown. */
function flowOf(pane: PlanePane, now: View): PaneFlow | null {
  const set = dataset.value;
  if (now.flow === "off" || isCalm || isDragging.value || set === null || now.centre === null) return null;
  const [h, v] = PLANE_AXES[pane.plane];
  const frame = frameOf(now.time, set);
  const [across, up] = [h, v].map((a) => volumeOf(set, `u.${"xyz"[a]}`, frame));
  if (across == null || up == null) return null;
  const { rect } = pane;
  const { centre } = now;
  const size = pixel.value;
  const place = cross.value;
  const a = "xyz".indexOf(pane.plane);
  const pace = 2.4 / fastest(across, up);
  const where = JSON.stringify([set.digest, centre, size, place[a], rect.width, rect.height]);
  return {
    key: `${across.key} ${up.key} ${where}`,
    place: where,
    width: rect.width,
    height: rect.height,
    fill: (columns, rows) => {
      const out = new Float32Array(2 * columns * rows);
      for (let j = 0; j < rows; j++) {
        for (let i = 0; i < columns; i++) {
          const at = [...place];
          at[h] = centre[h] + ((i + 0.5) / columns - 0.5) * rect.width * size;
          at[v] = centre[v] + ((j + 0.5) / rows - 0.5) * rect.height * size;
          const isOutside = at.some(
            (one, b) => !set.axes[b].periodic && (one < set.axes[b].first || one > set.axes[b].last),
          );
          for (const [c, volume] of [across, up].entries()) {
            const value = isOutside ? 0 : sampleAt(volume, set, at as unknown as Vec3);
            out[2 * (i + columns * j) + c] = Number.isFinite(value) ? pace * value : 0;
          }
        }
      }
      return out;
    },
  };
}

const BRUSH = /^(.+?)\s*>=?\s*(-?[\d.e+-]+)\s*(?:&&\s*.+?<=?\s*(-?[\d.e+-]+))?$/;

/** The condition of a brush as an interval of a volume. */
function brushOf(now: View, set: Dataset): PlaneLayer["brush"] {
  const found = BRUSH.exec(now.brush ?? "");
  if (found === null) return null;
  const volume = volumeOf(set, found[1].trim(), frameOf(now.time, set));
  if (volume === null) return null;
  return { volume, low: Number(found[2]), high: found[3] === undefined ? 1e30 : Number(found[3]) };
}

const INSIDES = new WeakMap<Volume, { readonly key: string; readonly volume: Volume }>();

/** How far values are inside of a brush, positive there. */
function insideOf({ volume, low, high }: NonNullable<PlaneLayer["brush"]>): Volume {
  const key = `${low} ${high}`;
  const known = INSIDES.get(volume);
  if (known?.key === key) return known.volume;
  const data = volume.data.map((value) => Math.min(value - low, high - value));
  const made = { ...volume, key: `${volume.key} ${key}`, data };
  INSIDES.set(volume, { key, volume: made });
  return made;
}

/** How much further away the eye is in a pane that is narrower than it is high. */
function further(): number {
  const pane = panes.value.find(({ kind }) => kind === "space");
  return pane === undefined ? 1 : Math.max(1, (0.92 * pane.rect.height) / pane.rect.width);
}

const ALONE = new WeakMap<Fine, { readonly key: string; readonly fine: Fine }>();

/** Samples in which one structure is inside: those away from its nodes are put outside. */
function aloneIn(fine: Fine, set: Dataset, level: number, side: number): Fine {
  const one = isolated.value;
  if (one === null || one.labels.length !== set.axes.reduce((product, { nodes }) => product * nodes, 1)) return fine;
  const known = ALONE.get(fine);
  if (known?.key === one.key) return known.fine;
  const [nx, ny, nz] = set.axes.map(({ nodes }) => nodes);
  // What lies within a node of the structure belongs to it, so that its surface is the same as before.
  const near = new Uint8Array(one.labels.length);
  for (let k = 0, at = 0; k < nz; k++)
    for (let j = 0; j < ny; j++)
      for (let i = 0; i < nx; i++, at++) {
        if (one.labels[at] !== one.label) continue;
        for (let c = -1; c <= 1; c++)
          for (let b = -1; b <= 1; b++)
            for (let a = -1; a <= 1; a++)
              near[((i + a + nx) % nx) + nx * (((j + b + ny) % ny) + ny * ((k + c + nz) % nz))] = 1;
      }
  const data = fine.data.slice();
  const nodes = set.axes.map((axis, a) =>
    Int32Array.from({ length: fine.dims[a] }, (_, i) => {
      const node = Math.round(nodeOf(axis, fine.first[a] + i * fine.spacing[a]));
      return axis.periodic ? node % axis.nodes : Math.min(axis.nodes - 1, node);
    }),
  );
  for (let k = 0, at = 0; k < fine.dims[2]; k++)
    for (let j = 0; j < fine.dims[1]; j++) {
      const row = nx * (nodes[1][j] + ny * nodes[2][k]);
      for (let i = 0; i < fine.dims[0]; i++, at++)
        if (near[row + nodes[0][i]] === 0 && side * (data[at] - level) > 0)
          data[at] = level - side * Math.abs(data[at] - level);
    }
  const made = { ...fine, data };
  ALONE.set(fine, { key: one.key, fine: made });
  return made;
}

/** What the pane of space shows; null while nothing is there. */
export function surfaceLayer(now: View): { layer: SurfaceLayer; isPending: boolean; isFinest: boolean } | null {
  const set = dataset.value;
  if (set === null || now.centre === null) return null;
  const frame = frameOf(now.time, set);
  const own = volumeOf(set, now.surface.what, frame);
  const surface = kept("surface", set, own);
  const colour = kept("colour", set, volumeOf(set, now.colour, frame));
  if (surface === null || colour === null || now.surface.value === null) return null;
  // A value is one of its own quantity only.
  if (surface.what !== now.surface.what) return null;
  const range = rangeOf(now, colour.what, colour, set);
  const { low, high } = boxAbout(set, now.centre);
  const middle = low.map((one, a) => (one + high[a]) / 2) as unknown as Vec3;
  const side = isBelow(surface.what) ? -1 : 1;
  const fine = aloneIn(fineOf(surface, set), set, now.surface.value, side);
  const layer: SurfaceLayer = {
    ...{ dataset: set, fine, level: now.surface.value, colour, range },
    ...{ side, map: surfaceMap(range), low, high, faint: null },
    camera: cameraOf([now.camera[0], now.camera[1], now.camera[2] * further()], middle, sizeOf(set)),
  };
  const brush = brushOf(now, set);
  const state = {
    isPending: own === null,
    isFinest: isFinest(surface, set) || failureOf(set, surface.what, frame) !== null,
  };
  if (brush === null) return { layer, ...state };
  // What is brushed stands out, with the surface faintly around it.
  return { ...state, layer: { ...layer, fine: fineOf(insideOf(brush), set), level: 0, side: 1, faint: layer } };
}

/** Edges of the box and lines of the crosshair. */
function linesOf(layer: Pick<SurfaceLayer, "low" | "high" | "dataset">, place: Vec3, light: boolean): Float32Array {
  const { low, high } = layer;
  const numbers: number[] = [];
  const tone = light ? 0.1 : 1;
  const add = (from: readonly number[], to: readonly number[], alpha: number) =>
    numbers.push(...from, ...to, tone, tone, tone, alpha);
  for (let a = 0; a < 3; a++) {
    const [b, c] = [(a + 1) % 3, (a + 2) % 3];
    for (const p of [low[b], high[b]]) {
      for (const q of [low[c], high[c]]) {
        const from = [0, 0, 0];
        from[a] = low[a];
        from[b] = p;
        from[c] = q;
        const to = [...from];
        to[a] = high[a];
        add(from, to, 0.28);
      }
    }
  }
  const middle = low.map((one, a) => (one + high[a]) / 2);
  const at = place.map((one, a) => nearestImage(layer.dataset.axes[a], one, middle[a]));
  for (let a = 0; a < 3; a++) {
    const [from, to] = [[...at], [...at]];
    from[a] = low[a];
    to[a] = high[a];
    add(from, to, 0.75);
  }
  return Float32Array.from(numbers);
}

/** Milliseconds after the last input in which streaks move. */
const STREAKS_MS = 20_000;

/** The stage on its canvases. */
export class Stage {
  readonly #root: HTMLElement;
  readonly #overlay: OverlayCanvas;
  #renderer: Renderer | null = null;
  /** Bytes of textures, halved when the context is lost. */
  #memory = (matchMedia("(max-width: 700px)").matches ? 96 : 256) * 2 ** 20;
  #isQueued = false;
  /** Pictures that differ from the one before in more than streaks: how many are finished, and the fences of others. */
  #finished = 0;
  #isChanged = false;
  #fences: WebGLSync[] = [];
  #isUnfinished = false;
  #isRefining = false;
  #timer = 0;
  #flowTimer = 0;
  #lastInput = performance.now();
  /** Whether the streaks stand still until the next input. */
  #isStill = false;
  /** Milliseconds of the last pictures. */
  #cost = 50;
  #space = "";
  #hasSpace = false;
  #arrangement = "";
  readonly #drawn = new Map<number, string>();
  /** What ticks and bars of panes were drawn for: they cost more than the picture without a graphics card. */
  readonly #overlays = new Map<number, string>();
  #streaks: Streaks | null = null;
  #isFlowing = false;
  /** Whether the next picture differs from the last one in its streaks only. */
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
      say("The graphics were reset. Everything is drawn anew, in half of the memory.");
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

  /** Pictures that the graphics card has finished, those that differ in streaks only left out. */
  finished(): number {
    const gl = this.#renderer?.gl;
    if (gl === undefined) return this.#finished;
    while (this.#fences.length > 0 && gl.getSyncParameter(this.#fences[0], gl.SYNC_STATUS) === gl.SIGNALED) {
      gl.deleteSync(this.#fences.shift() as WebGLSync);
      this.#finished++;
    }
    return this.#finished;
  }

  /** What is still to come, for tests. */
  get waitsFor(): object {
    return {
      isQueued: this.#isQueued,
      isUnfinished: this.#isUnfinished,
      isBusy: store.isBusy,
      isRested: rested.peek() === view.peek(),
      lit: this.#renderer?.progress,
    };
  }

  /** Whether everything that the view shows is drawn. */
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

  /** Draws everything anew. */
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

  /** Draws before the next picture of the screen. */
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
    const isCleared = renderer?.begin(width, height, ratio, line, isNew) ?? false;
    if (isCleared) {
      this.#drawn.clear();
      this.#overlays.clear();
      this.#space = "";
    }
    const c = this.#overlay.fit(width, height, ratio, isCleared);
    if (c === null || set === null || renderer === null) {
      this.#isUnfinished = set === null || (renderer === null && noGraphics.peek() === null);
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
    for (const [i, pane] of shown.entries()) {
      // The first planes are shown before the surface is marched.
      if (pane.kind === "space" && this.#isChanged && this.#space === "" && !this.#hasSpace) more = true;
      else if (pane.kind === "space") more = this.#drawSpace(renderer, c, pane, now, grounds, ink, i) || more;
      else more = this.#drawPlane(renderer, c, pane, now, grounds, ink, i) || more;
    }
    const fence = this.#isChanged ? renderer.gl.fenceSync(renderer.gl.SYNC_GPU_COMMANDS_COMPLETE, 0) : null;
    if (fence !== null) this.#fences.push(fence);
    if (this.#fences.length > 8) this.finished();
    clearTimeout(this.#flowTimer);
    // Streaks have no more pictures than leave most of the time to everything else; where pictures take long, they move
    // on with those of time while it plays.
    if (this.#isFlowing && !(isPlaying.value && this.#cost > 25)) this.#flow();
    this.#isUnfinished = more;
    if (more) this.draw();
  }

  /** Lets streaks move again after an input. */
  #wake(): void {
    this.#lastInput = performance.now();
    if (!this.#isStill) return;
    this.#isStill = false;
    this.#flow();
  }

  /** Moves the streaks on, once nothing else is to be drawn; they stop when nobody has done anything for a while. */
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

  /** Draws tiles of the surface while the view rests, and shows them every now and then. */
  #refine(pane: SpacePane, layer: SurfaceLayer, show: () => void): void {
    this.#isRefining = true;
    clearTimeout(this.#timer);
    let last = performance.now();
    const go = () => {
      const left = this.#renderer?.refine(pane.rect, layer) ?? null;
      const now = performance.now();
      const isDone = left === 0;
      if (isDone || (left !== null && now - last > 400)) {
        last = now;
        show();
      }
      if (isDone) this.#isRefining = false;
      else this.#timer = window.setTimeout(go, left === null ? 6 : 0);
    };
    this.#timer = window.setTimeout(go, 140);
  }

  #setTitle(index: number, next: PaneTitle): void {
    const before = titles.peek();
    if (JSON.stringify(before[index]) === JSON.stringify(next)) return;
    // Panes are shown in the order in which they arrive.
    const all = [...before];
    all[index] = next;
    titles.value = all;
  }

  #writeLoading(c: CanvasRenderingContext2D, index: number, rect: Pane["rect"], ink: Ink): void {
    this.#overlays.delete(index);
    c.clearRect(rect.x, rect.y, rect.width, rect.height);
    write(c, ink, "Loading", rect.x + 12, rect.y + 20, { size: 12 });
    this.#overlay.show(index, [{ x: rect.x, y: rect.y, width: 90, height: 32 }]);
  }

  #drawPlane(
    renderer: Renderer,
    c: CanvasRenderingContext2D,
    pane: PlanePane,
    now: View,
    grounds: Grounds,
    stageInk: Ink,
    index: number,
  ): boolean {
    const { rect } = pane;
    const found = planeLayer(pane, now, pane.second);
    if (found === null || now.centre === null) {
      this.#writeLoading(c, index, rect, stageInk);
      return false;
    }
    const { shown, isPending } = found;
    const isDifference = now.show === "compare" && now.compare === "difference";
    const against = isDifference ? planeLayer(pane, now, true) : null;
    const layer = (against === null ? null : differenceOf(found.layer, against.layer)) ?? found.layer;
    const isSwiped = now.show === "compare" && now.compare === "swipe";
    const at = swipe.value * rect.width;
    const other = isSwiped ? planeLayer(pane, now, true) : null;
    const mayFlow = this.#streaks !== null && !isSwiped && !isDifference;
    const moving = mayFlow ? flowOf(pane, now) : null;
    // The first picture of a pane does not wait for its streaks.
    const flow = this.#drawn.has(index) ? moving : null;
    const isLate = flow !== moving;
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
    // In motion a quarter of the pixels, where pictures take long.
    const part = (isDragging.value || isPlaying.value) && this.#cost > 25 ? 0.5 : 1;
    const content = JSON.stringify([
      keyOf(layer),
      keyOf(other?.layer),
      isSwiped && at,
      shown.time,
      shown.method,
      now.what,
      now.b,
      now.stage,
      part,
    ]);
    const key = `${content} ${cross.value}`;
    const isSame = this.#drawn.get(index) === key && !isPending;
    if (isSame && streaks === null) return isLate;
    this.#drawn.set(index, isPending ? "" : key);
    const layers = [
      { ...layer, swipe: isSwiped ? at : 0 },
      ...(other === null ? [] : [{ ...other.layer, swipe: -at }]),
    ];
    const rules = rulesOf(pane, shown.dataset, now.centre, pixel.value);
    const isOnLight = isLightMap(layer.map);
    const { mark } = isOnLight ? LIGHT : DARK;
    renderer.planes(index, rect, layers, { ...grounds, mark }, { key: content, streaks, part, rules });
    if (isSame) return false;
    this.#isChanged = true;
    const isMinus = layer !== found.layer;
    const plain = planeTitle(pane, layer.volume, cross.value);
    const equal = isMinus && layer.picture !== null && layer.range.high === NO_DIFFERENCE ? ": no difference" : "";
    const more = isMinus ? `A − B, B: ${differs(now)}${equal}` : isDifference ? "A and B have other nodes" : "";
    this.#setTitle(index, { title: plain, note: more, isPending, isOnLight });
    const { range, map, volume } = layer;
    const label = isMinus ? "A − B" : quantityOf(volume.what).symbol;
    const overlay = JSON.stringify([
      now.centre,
      pixel.value,
      rect,
      range,
      map,
      volume.key,
      label,
      isSwiped && at,
      now.b,
      shown.dataset.name,
    ]);
    const goesOn = isLate || (isPending && store.isBusy);
    if (this.#overlays.get(index) === overlay) return goesOn;
    this.#overlays.set(index, overlay);
    c.clearRect(rect.x, rect.y, rect.width, rect.height);
    const ink = isOnLight ? DARK_INK : INK;
    const boxes = drawPlane(c, pane, shown.dataset, { centre: now.centre, pixel: pixel.value, ink });
    if (index === 0) boxes.push(...drawBar(c, ink, rect, { range, map, volume, label }));
    if (isSwiped) drawSwipe(c, ink, pane, at, shown, other?.shown ?? shown);
    this.#overlay.show(index, isSwiped ? [rect] : boxes);
    return goesOn;
  }

  #drawSpace(
    renderer: Renderer,
    c: CanvasRenderingContext2D,
    pane: SpacePane,
    now: View,
    grounds: Grounds,
    ink: Ink,
    index: number,
  ): boolean {
    const { rect } = pane;
    const found = surfaceLayer(now);
    if (found === null) {
      this.#space = "";
      renderer.ground(rect, grounds);
      this.#writeLoading(c, index, rect, ink);
      return false;
    }
    this.#hasSpace = true;
    const { layer } = found;
    const { level, side, range, map, colour, fine } = layer;
    const key = JSON.stringify([
      now.camera,
      now.centre,
      level,
      side,
      now.surface,
      now.brush,
      colour.key,
      fine.dims,
      range,
      now.time,
      isolated.value?.key,
    ]);
    const lines = linesOf(layer, cross.value, now.stage === "light");
    const trail = trails.value;
    const dyed = dyeTrails.value;
    const show = () => {
      const isLate = renderer.surface(rect, layer, key, grounds);
      renderer.segments(rect, layer.camera, lines, 1.2);
      renderer.segments(rect, layer.camera, trail, 2.2);
      renderer.segments(rect, layer.camera, dyed, 1.6);
      return isLate;
    };
    const same = JSON.stringify([
      key,
      found.isFinest,
      rect,
      cross.value,
      trail.length,
      dyed.length,
      now.stage,
      isDragging.value,
      isPlaying.value,
    ]);
    if (same === this.#space) return false;
    this.#isChanged = true;
    clearTimeout(this.#timer);
    this.#isRefining = false;
    const isLate = show();
    this.#space = isLate ? "" : same;
    const { what, value } = now.surface;
    const inside = value === null ? "" : ` = ${plainNumber(value, 3)}`;
    const surface = `${quantityOf(what).symbol}${inside}`;
    const shown = layer.faint === null ? surface : `${brushTitle(now.brush)} within ${surface}`;
    const title = `${shown}, coloured by ${quantityOf(layer.colour.what).symbol}`;
    const note = `surface of ${fine.dims.join(" × ")} samples, Lag8 of nodes`;
    this.#setTitle(index, { title, note, isPending: found.isPending, isOnLight: now.stage === "light" });
    const overlay = JSON.stringify([now.camera, now.centre, rect, range, map, layer.colour.what]);
    if (this.#overlays.get(index) !== overlay) {
      this.#overlays.set(index, overlay);
      c.clearRect(rect.x, rect.y, rect.width, rect.height);
      const back = [0, 1, 2].map((a) => layer.camera.forward[a] > 0);
      const label = quantityOf(layer.colour.what).symbol;
      const bar = drawBar(c, ink, rect, { range, map, volume: null, label, lit: true });
      this.#overlay.show(index, [...drawAxisNames(c, ink, rect, layer.camera, layer.low, layer.high, back), ...bar]);
    }
    // The whole picture is for the finest samples: others are replaced before it is done.
    const isWhole = found.isFinest && !isDragging.value && !isPlaying.value;
    if (!isLate && isWhole) this.#refine(pane, layer, show);
    return isLate;
  }
}

/** A brush in symbols. */
function brushTitle(brush: string | null): string {
  const [, what = "", low = "", high] = BRUSH.exec(brush ?? "") ?? [];
  const text = (number: string) => plainNumber(Number(number), 3);
  const { symbol } = quantityOf(what.trim());
  return high === undefined ? `${symbol} ≥ ${text(low)}` : `${symbol} from ${text(low)} to ${text(high)}`;
}

/** What differs in B, in words. */
function differs({ b }: View): string {
  const parts = [
    b.dataset,
    b.what === undefined ? undefined : quantityOf(b.what).symbol,
    b.method,
    b.time === undefined ? undefined : `t ${plainNumber(b.time)}`,
  ];
  return parts.filter((one) => one !== undefined).join(", ") || "nothing";
}

/** The line between A and B, with what each side shows. */
function drawSwipe(c: CanvasRenderingContext2D, ink: Ink, { rect }: PlanePane, at: number, a: Shown, b: Shown): void {
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
  const text = (name: string, { dataset: set, what, time, method }: Shown) =>
    `${name}  ${quantityOf(what).symbol}, ${method}, t ${plainNumber(time)}${a.dataset === b.dataset ? "" : `, ${set.name}`}`;
  write(c, ink, text("A", a), x - 12, rect.y + rect.height - 30, { align: "right", size: 12, weight: 600 });
  write(c, ink, text("B", b), x + 12, rect.y + rect.height - 30, { size: 12, weight: 600 });
}

/** The pane under a place of the stage. */
export function paneAt(x: number, y: number): Pane | null {
  const inside = ({ rect }: Pane) => x >= rect.x && x < rect.x + rect.width && y >= rect.y && y < rect.y + rect.height;
  return panes.peek().find(inside) ?? null;
}

/** The place of the surface under a pixel of the pane of space: the same march as on the screen, over the samples. */
export function pick(pane: SpacePane, x: number, y: number): Vec3 | null {
  const found = surfaceLayer(view.peek());
  const set = dataset.peek();
  if (found === null || set === null) return null;
  const { camera, low, high, level, side } = found.layer;
  const volume = volumeOf(set, view.peek().surface.what, frameOf(view.peek().time, set));
  if (volume === null) return null;
  const { rect } = pane;
  const [u, v] = [((x - rect.x) / rect.width) * 2 - 1, 1 - ((y - rect.y) / rect.height) * 2];
  const ray = rayOf(camera, u, v, rect.width / rect.height);
  const span = throughBox(camera.eye, ray, low, high);
  if (span === null) return null;
  const step = Math.min(...set.axes.map(({ spacing }) => spacing)) / 2;
  const inside = (t: number) => side * (sampleAt(volume, set, along(camera.eye, t, ray)) - level) > 0;
  for (let t = span[0] + 1e-6; t < span[1]; t += step) {
    if (!inside(t)) continue;
    let [a, b] = [Math.max(span[0], t - step), t];
    for (let i = 0; i < 12; i++) {
      const middle = (a + b) / 2;
      if (inside(middle)) b = middle;
      else a = middle;
    }
    return along(camera.eye, b, ray).map((one, a2) => wrapped(set.axes[a2], one)) as unknown as Vec3;
  }
  return null;
}

interface Drag {
  readonly pane: Pane;
  readonly how: "cross" | "pan" | "turn" | "swipe" | "stroke";
  readonly from: readonly [number, number];
  readonly view: View;
  moved: boolean;
}

/** Lets pointers, wheel and fingers move what the stage shows. */
export function listen(root: HTMLElement): void {
  let drag: Drag | null = null;
  const fingers = new Map<number, readonly [number, number]>();
  let pinch: {
    readonly distance: number;
    readonly middle: readonly [number, number];
    readonly view: View;
    pane: Pane;
  } | null = null;
  const at = (event: MouseEvent): [number, number] => {
    const { left, top } = root.getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  const isOurs = (event: Event) =>
    event.target instanceof HTMLCanvasElement ||
    event.target === root ||
    (event.target as Element).classList?.contains("pane");
  root.addEventListener("pointerdown", (event) => {
    if (!isOurs(event)) return;
    const [x, y] = at(event);
    const pane = paneAt(x, y);
    if (pane === null) return;
    root.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, [x, y]);
    if (fingers.size === 2) {
      const [p, q] = [...fingers.values()];
      const middle = [(p[0] + q[0]) / 2, (p[1] + q[1]) / 2] as const;
      pinch = { distance: Math.hypot(p[0] - q[0], p[1] - q[1]), middle, view: view.peek(), pane };
      drag = null;
      return;
    }
    const now = view.peek();
    const isSwipe =
      now.show === "compare" && now.compare === "swipe" && Math.abs(x - swipe.peek() * pane.rect.width) < 16;
    const pans = event.button === 1 || event.button === 2 || event.shiftKey;
    const draws = tool.peek() !== "cross" || event.altKey;
    const how = isSwipe ? "swipe" : pane.kind === "space" ? "turn" : pans ? "pan" : draws ? "stroke" : "cross";
    drag = { pane, how, from: [x, y], view: now, moved: false };
    isDragging.value = true;
    if (how === "cross") moveCross(pane as PlanePane, x, y);
    if (how === "stroke") drawStroke(pane as PlanePane, x, y, true);
  });
  root.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (fingers.has(event.pointerId)) fingers.set(event.pointerId, [x, y]);
    if (pinch !== null && fingers.size === 2) {
      const [p, q] = [...fingers.values()];
      zoomAbout(pinch.pane, pinch.view, pinch.distance / Math.hypot(p[0] - q[0], p[1] - q[1]), pinch.middle, [
        (p[0] + q[0]) / 2 - pinch.middle[0],
        (p[1] + q[1]) / 2 - pinch.middle[1],
      ]);
      return;
    }
    if (drag === null) {
      showHover(x, y);
      return;
    }
    const [dx, dy] = [x - drag.from[0], y - drag.from[1]];
    if (Math.hypot(dx, dy) > 3) drag.moved = true;
    if (drag.how === "cross") moveCross(drag.pane as PlanePane, x, y);
    else if (drag.how === "stroke") drawStroke(drag.pane as PlanePane, x, y, false);
    else if (drag.how === "swipe") swipe.value = Math.min(0.98, Math.max(0.02, x / drag.pane.rect.width));
    else if (drag.how === "pan") pan(drag.pane as PlanePane, drag.view, dx, dy);
    else if (drag.moved) {
      const [l, b, d] = drag.view.camera;
      change({ camera: [l - dx * 0.4, Math.min(88, Math.max(-88, b + dy * 0.4)), d] }, "drag");
    }
    hover.value = null;
  });
  const end = (event: PointerEvent) => {
    fingers.delete(event.pointerId);
    pinch = null;
    if (drag === null) return;
    const { pane, how, moved } = drag;
    drag = null;
    isDragging.value = false;
    if (how === "turn" && !moved) {
      const [x, y] = at(event);
      const place = pick(pane as SpacePane, x, y);
      picked.value = place;
      if (place !== null) change({ cross: place }, "push");
      return;
    }
    if (how === "stroke" && stroke.peek() !== null) stroke.value = { ...(stroke.peek() as Stroke), isDone: true };
    saveLink("replace");
  };
  root.addEventListener("pointerup", end);
  root.addEventListener("pointercancel", end);
  root.addEventListener("pointerleave", () => {
    hover.value = null;
  });
  root.addEventListener("contextmenu", (event) => event.preventDefault());
  let wheelTimer = 0;
  root.addEventListener(
    "wheel",
    (event) => {
      if (!isOurs(event)) return;
      event.preventDefault();
      const [x, y] = at(event);
      const pane = paneAt(x, y);
      if (pane !== null)
        zoomAbout(
          pane,
          view.peek(),
          Math.exp(Math.sign(event.deltaY) * Math.min(0.3, Math.abs(event.deltaY) / 500)),
          [x, y],
          [0, 0],
        );
      clearTimeout(wheelTimer);
      wheelTimer = window.setTimeout(() => saveLink("replace"), 250);
    },
    { passive: false },
  );
}

/** Longest stroke in places. */
const MOST_PLACES = 400;

/** Begins a stroke, or goes on with it: a ruler has two ends, dye has what the pointer passed. */
function drawStroke(pane: PlanePane, x: number, y: number, isFirst: boolean): void {
  const { centre } = view.peek();
  if (centre === null) return;
  const place = positionAt(pane, x, y, centre, cross.peek(), pixel.peek());
  const before = stroke.peek();
  if (isFirst || before === null) {
    const now = tool.peek() === "cross" ? "ruler" : tool.peek();
    stroke.value = { tool: now, plane: pane.plane, places: [place, place], isDone: false };
    return;
  }
  const { places } = before;
  const next = before.tool === "ruler" ? [places[0], place] : [...places.slice(-MOST_PLACES), place];
  stroke.value = { ...before, places: next };
}

function moveCross(pane: PlanePane, x: number, y: number): void {
  const set = dataset.peek();
  const { centre } = view.peek();
  if (set === null || centre === null) return;
  const place = positionAt(pane, x, y, centre, cross.peek(), pixel.peek());
  change({ cross: place.map((one, a) => wrapped(set.axes[a], one)) as unknown as Vec3 }, "drag");
}

function pan(pane: PlanePane, from: View, dx: number, dy: number): void {
  if (from.centre === null) return;
  const [h, v] = PLANE_AXES[pane.plane];
  const centre = [...from.centre];
  centre[h] -= dx * pixel.peek();
  centre[v] += dy * pixel.peek();
  change({ centre: centre as unknown as Vec3 }, "drag");
}

/** Zooms about a pixel: of a plane its place stays, of space the distance of the eye changes. */
function zoomAbout(
  pane: Pane,
  from: View,
  factor: number,
  [x, y]: readonly [number, number],
  [dx, dy]: readonly [number, number],
): void {
  const set = dataset.peek();
  if (set === null || from.centre === null) return;
  if (pane.kind === "space") {
    const [l, b, d] = from.camera;
    change({ camera: [l, b, Math.min(8, Math.max(0.4, d * factor))] }, "drag");
    return;
  }
  const before = pixelOf(from, set, panes.peek());
  const longest = 4 * sizeOf(set);
  const window = Math.min(longest, Math.max(sizeOf(set) / 200, before * factor * pane.rect.height));
  const after = window / pane.rect.height;
  const [h, v] = PLANE_AXES[pane.plane];
  const centre = [...from.centre];
  centre[h] += (x - pane.rect.x - pane.rect.width / 2) * (before - after) - dx * after;
  centre[v] -= (y - pane.rect.y - pane.rect.height / 2) * (before - after) - dy * after;
  change({ centre: centre as unknown as Vec3, window }, "drag");
}

function showHover(x: number, y: number): void {
  const pane = paneAt(x, y);
  const set = dataset.peek();
  const { centre, show, compare } = view.peek();
  if (pane === null || pane.kind === "space" || set === null || centre === null) {
    if (hover.peek() !== null) hover.value = null;
    return;
  }
  const isSwiped = show === "compare" && compare === "swipe" && x > swipe.peek() * pane.rect.width;
  const second = pane.second || isSwiped;
  const own = shownOf(view.peek(), second)?.dataset ?? set;
  const place = positionAt(pane, x, y, centre, cross.peek(), pixel.peek());
  const isOutside = place.some(
    (one, a) => !own.axes[a].periodic && (one < own.axes[a].first || one > own.axes[a].last),
  );
  hover.value = isOutside ? null : { place, second };
}

/** Moves the crosshair along axes by nodes. */
export function step(axis: number, nodes: number): void {
  const set = dataset.peek();
  if (set === null) return;
  const place = [...cross.peek()];
  place[axis] = wrapped(set.axes[axis], place[axis] + nodes * set.axes[axis].spacing);
  change({ cross: place as unknown as Vec3 }, "replace");
}

/** Fits the box; puts the crosshair into the middle. */
export const fit = (): void => change({ window: null, camera: view.peek().camera });
export function centreHere(): void {
  const set = dataset.peek();
  if (set !== null) change({ centre: centreAt(set, cross.peek()) });
}

/** Layers that the stage draws: planes, differences of planes, flow in planes, the surface, and lines of space. */
import { cameraOf } from "./draw/camera.js";
import { eachNeighbour } from "./draw/empty.js";
import { boxAbout, localIn, PLANE_NAMES, type PlanePane } from "./draw/layout.js";
import type { PlaneLayer, SurfaceLayer } from "./draw/renderer.js";
import { type PaneFlow, streakPixels } from "./draw/streaks.js";
import { isCalm, isolated, panes } from "./stage-state.js";
import {
  type Dataset,
  frameOf,
  hasSameAxes,
  isOnAxis,
  isWithin,
  nearestImage,
  nodeOf,
  placeIn,
  placeText,
  sharedAxes,
  sizeOf,
  timeText,
  type Vec3,
} from "./state/dataset.js";
import { durationOf } from "./state/flow-map.js";
import { plainNumber, shortNumber } from "./state/format.js";
import { type Brush, brushIn, type MapName, type Range, type View } from "./state/link.js";
import { memoized } from "./state/memoized.js";
import { type PicturePlan, PLANE_AXES, pixel, planOf } from "./state/picture-plan.js";
import { quantityOf } from "./state/quantities.js";
import { enclosesLowValues, rangeOf } from "./state/ranges.js";
import { failureOf, nodesNote, previewOf, store, volumeOf } from "./state/shown.js";
import { cross, dataset, isDifference, isDragging, selectionOf } from "./state/view.js";
import { isFinest, type Picture, refinedSamplesOf, type Samples, sampleAt, type Volume } from "./state/volumes.js";

/** The map of colours of a quantity: the chosen one, else one that suits its range. */
export function mapOf(now: View, range: Range, what: string): MapName {
  return (what === now.what ? now.map : null) ?? (range.low < 0 && range.high > 0 ? "vik" : "inferno");
}

/** Whether a map is light where most values are: lines and texts over it are dark then, whatever the stage is. */
export const isLightMap = (map: MapName): boolean => map === "vik";

export function samplesOf(volume: Volume | null): string {
  if (volume === null || volume.stride === 1) return "";
  if (volume.of.startsWith("means")) return `  ·  ${volume.of}`;
  const strides = volume.strides.map((one) => plainNumber(one, 4));
  return `  ·  every ${strides.every((one) => one === strides[0]) ? strides[0] : strides.join(" × ")} nodes`;
}

/** Nodes between two samples or pixels of a picture where these are further apart than nodes; else empty. */
function apartOf({ columns, rows, box }: Picture, { axes }: Dataset, across: readonly number[], pixel: number): string {
  const steps = across.map((a, side) => {
    const step = Math.max(pixel, box[side + 2] / [columns, rows][side]);
    return axes[a].nodes > 1 ? (step * axes[a].nodes) / axes[a].length : 0;
  });
  return Math.max(...steps) > 1.5 ? `  ·  every ${steps.map((one) => plainNumber(one, 2)).join(" × ")} nodes` : "";
}

export function planeTitle(pane: PlanePane, { dataset: set, volume, picture, scale }: PlaneLayer, place: Vec3): string {
  const a = "xyz".indexOf(pane.plane);
  const samples = picture === null ? samplesOf(volume) : apartOf(picture, set, PLANE_AXES[pane.plane], scale);
  return `${PLANE_NAMES[pane.plane]}   ${pane.plane} = ${placeText(set.axes[a], place[a], shortNumber)}${samples}`;
}

/** The last volume shown of each role and dataset, which stays until the next one has arrived. */
const lastShown = new Map<string, Volume>();
function arrivedOrLast(role: string, set: Dataset, volume: Volume | null): Volume | null {
  const key = `${role} ${set.digest}`;
  if (volume !== null) lastShown.set(key, volume);
  return volume ?? lastShown.get(key) ?? null;
}

/** What samples are of that stay until those of another time or quantity have arrived; empty for the ones asked. */
function stillOf({ what, frame }: Volume, set: Dataset, asked: string, time: number): string {
  if (what === asked && frame === frameOf(time, set)) return "";
  return `still ${quantityOf(what).symbol} at t = ${timeText(set, set.times[frame])}`;
}

type Side = NonNullable<ReturnType<typeof planeLayer>>;
/** The layer of a plane of A or, as the second, of B; null until samples have arrived. */
export function planeLayer(pane: PlanePane, now: View, second: boolean) {
  const shown = selectionOf(now, second);
  if (shown === null || now.centre === null) return null;
  const set = shown.dataset;
  const size = pixel.value;
  const { answer: picture, error } = store.entry<Picture>(planOf(now, pane.plane, second)?.key ?? "");
  const arrived = previewOf(shown);
  // The last picture stays until the next one has arrived, and not where there will be none.
  const isFailed = arrived === null && failureOf(set, shown.what, frameOf(shown.time, set)) !== null;
  const at = placeIn(set, cross.value);
  const a = "xyz".indexOf(pane.plane);
  if (error !== null || isFailed || !isOnAxis(set.axes[a], at[a]) || !isWithin(shown.time, set)) return null;
  // In a comparison each side has a label of its own, which the last picture of another question would belie.
  const volume = now.show === "compare" ? arrived : arrivedOrLast("plane", set, arrived);
  if (volume === null) return null;
  const [[h, v], origin] = [PLANE_AXES[pane.plane], [...at]];
  origin[h] = now.centre[h] - (pane.rect.width / 2) * size;
  origin[v] = now.centre[v] - (pane.rect.height / 2) * size;
  const range = rangeOf(now, volume.what, volume, set);
  const layer: PlaneLayer = {
    ...{ dataset: set, volume, picture: arrived === null ? null : picture, range, map: mapOf(now, range, volume.what) },
    ...{
      origin: origin as unknown as Vec3,
      scale: size,
      axes: [h, v],
      brush: brushOf(now, set, volume.frame),
      swipe: 0,
    },
    crosshair: [
      pane.rect.width / 2 + (nearestImage(set.axes[h], at[h], now.centre[h]) - now.centre[h]) / size,
      pane.rect.height / 2 + (nearestImage(set.axes[v], at[v], now.centre[v]) - now.centre[v]) / size,
    ],
  };
  return { layer, shown, still: stillOf(volume, set, shown.what, shown.time) };
}

const largestIn = (data: Float32Array): number =>
  data.reduce((most, one) => (Math.abs(one) > most ? Math.abs(one) : most), 0);
/** A − B of samples at the same positions, with the largest absolute difference. */
const difference = memoized((a: Float32Array, b: Float32Array) => {
  const data = a.map((one, i) => one - b[i]);
  return { data, top: largestIn(data) };
});

/** Half of the range where A and B are equal: a number that no difference is rounded to. */
export const NO_DIFFERENCE = 1.0000001e-6;
const MAX_PREVIEW = 96;
const NOTHING = Float32Array.of(Number.NaN);

function unsettledDifference({ box, tiles, ...counts }: PicturePlan, a: PlaneLayer, b: PlaneLayer): Picture {
  const [columns, rows] = [counts.columns, counts.rows].map((count) => Math.min(MAX_PREVIEW, count));
  const [h, v] = a.axes;
  const data = Float32Array.from({ length: columns * rows }, (_, i) => {
    const place: number[] = [...a.origin];
    place[h] = box[0] + (((i % columns) + (tiles[0] ? 0 : 0.5)) * box[2]) / columns;
    place[v] = box[1] + ((Math.floor(i / columns) + (tiles[1] ? 0 : 0.5)) * box[3]) / rows;
    const [one, other] = [a, b].map(({ volume, dataset: set }) => sampleAt(volume, set, place as unknown as Vec3));
    return one - other;
  });
  return { columns, rows, box, tiles, data, unit: a.volume.unit, isMasked: data.some(Number.isNaN) };
}

/** A − B, symmetric about zero; why there is none if their units or their boxes differ. */
function differenceOf(a: PlaneLayer, b: PlaneLayer, plan: PicturePlan): PlaneLayer | string {
  if (sharedAxes(a.dataset, b.dataset) === null) return "A and B have no part of their boxes in common: no difference";
  const [unitA, unitB] = [a, b].map(({ volume }) => volume.unit ?? "no unit");
  if (unitA !== unitB) return `A is in ${unitA}, B in ${unitB}: no difference`;
  const hasBox = hasSameAxes(a.dataset, b.dataset) && String(a.volume.strides) === String(b.volume.strides);
  const box = hasBox ? difference(a.volume.data, b.volume.data) : null;
  const isMasked = [a, b].some(({ volume, picture }) => (picture ?? volume).isMasked);
  const [one, other] = [a.picture, b.picture];
  let picture: Picture | null = null;
  if (one !== null && other !== null && one.data.length === other.data.length)
    picture = { ...one, data: difference(one.data, other.data).data, isMasked };
  const key = `${a.volume.key} − ${b.volume.key} ${picture !== null}`;
  if (box === null) picture ??= unsettledDifference(plan, a, b);
  const largest = picture === null ? box?.top : largestIn(picture.data);
  const top = largest ? Number(largest.toPrecision(2)) : NO_DIFFERENCE;
  // Outside of what both have in common there is nothing.
  const samples =
    box === null ? { data: NOTHING, dims: [1, 1, 1] as const, isMasked: true } : { data: box.data, isMasked };
  const volume = { ...a.volume, ...samples, key, low: -top, high: top };
  return { ...a, volume, picture, range: { low: -top, high: top, scale: "linear" }, map: "vik" };
}

/** What a pane shows of A or of B, or their difference; why there is none, or null until it has arrived. */
export function drawnLayer(pane: PlanePane, now: View, second: boolean): PlaneLayer | string | null {
  const layer = planeLayer(pane, now, second)?.layer ?? null;
  if (!isDifference(now)) return layer;
  const other = planeLayer(pane, now, true)?.layer ?? null;
  const plan = planOf(now, pane.plane);
  return layer && other && plan && differenceOf(layer, other, plan);
}

/** A note on what is drawn of A and B of a pane. */
function notesOf(pane: PlanePane, now: View, noteOf: (side: Side) => string): string {
  const sides = now.show !== "compare" || now.compare === "side" ? [pane.second] : [false, true];
  const notes = sides.flatMap((second) => {
    const side = planeLayer(pane, now, second);
    const note = side === null ? "" : noteOf(side);
    return note === "" ? [] : [`${sides.length > 1 ? `${second ? "B" : "A"}: ` : ""}${note}`];
  });
  return notes.join(", ");
}

/** What is drawn while pictures are awaited: nodes, of a stored time where that is another; empty at rest. */
export const previewNote = (pane: PlanePane, now: View): string =>
  notesOf(pane, now, ({ layer, shown }) => (layer.picture === null ? nodesNote(shown) || "nodes" : ""));

/** What is drawn of another time than the one asked: all of a pane, or what lies over its picture. */
export const timeNote = (pane: PlanePane, now: View, hasStreaks: boolean): string =>
  notesOf(pane, now, ({ layer, shown, still }) => {
    const stored = nodesNote(shown);
    if (still !== "" || stored === "" || layer.picture === null) return still || stored;
    const over = [...(layer.brush === null ? [] : ["brush"]), ...(hasStreaks ? ["streaks"] : [])];
    return over.length === 0 ? "" : `${over.join(" and ")} by ${stored}`;
  });

/** Whether a position of a plane is brushed; null without a brush. */
export function brushTest({ brush, dataset: set, origin, axes: [h, v] }: PlaneLayer) {
  if (brush === null) return null;
  return (across: number, up: number): boolean => {
    const place: number[] = [...origin];
    [place[h], place[v]] = [across, up];
    const value = sampleAt(brush.volume, set, place as unknown as Vec3);
    return value >= brush.low && value <= brush.high;
  };
}

/** Fewest samples of the flow along a side of a pane. */
const MIN_FLOW = 48;

export function flowOf(pane: PlanePane, now: View): PaneFlow | null {
  const shown = selectionOf(now, pane.second);
  if (now.flow === "off" || isCalm || isDragging.value || shown === null || now.centre === null) return null;
  const { dataset: set, time } = shown;
  const [h, v] = PLANE_AXES[pane.plane];
  const frame = frameOf(time, set);
  const [across, up] = [h, v].map((a) => volumeOf(set, `u.${"xyz"[a]}`, frame));
  if (across == null || up == null) return null;
  const { rect } = pane;
  const { centre } = now;
  const size = pixel.value;
  const place = cross.value;
  const a = "xyz".indexOf(pane.plane);
  const pace = 2.4 / (Math.max(...[across, up].flatMap(({ low, high }) => [-low, high])) || 1);
  const where = JSON.stringify([set.digest, centre, size, place[a], rect.width, rect.height]);
  // A sample a node, if the streaks have pixels for it: fewer would show waves that are not in the flow.
  const count = (b: number, pixels: number) => {
    const { nodes, length } = set.axes[b];
    const inPane = (pixels * size * nodes) / (across.strides[b] * (length || 1));
    return Math.min(streakPixels(pixels), Math.max(MIN_FLOW, Math.ceil(inPane)));
  };
  return {
    key: `${across.key} ${up.key} ${where}`,
    place: where,
    ...{ width: rect.width, height: rect.height, columns: count(h, rect.width), rows: count(v, rect.height) },
    fill: (columns, rows) => {
      const out = new Float32Array(2 * columns * rows);
      for (let j = 0; j < rows; j++) {
        for (let i = 0; i < columns; i++) {
          const at = [...place];
          at[h] = centre[h] + ((i + 0.5) / columns - 0.5) * rect.width * size;
          at[v] = centre[v] + ((j + 0.5) / rows - 0.5) * rect.height * size;
          if (!at.every((one, b) => isOnAxis(set.axes[b], one))) continue;
          const flow = [across, up].map((volume) => pace * sampleAt(volume, set, at as unknown as Vec3));
          // A component alone would have streaks in a direction that is not known.
          if (flow.every(Number.isFinite)) out.set(flow, 2 * (i + columns * j));
        }
      }
      return out;
    },
  };
}

/** The condition of the brush as an interval of values of a volume; null until that volume has arrived. */
function brushOf({ brush: text }: View, set: Dataset, frame: number): PlaneLayer["brush"] {
  const brush = brushIn(text);
  const volume = brush === null ? null : volumeOf(set, brush.what, frame);
  return brush === null || volume === null ? null : { ...brush, volume, high: Math.min(brush.high, 3.4e38) };
}

/** Samples of how far values are inside of a brush: positive inside, negative outside. */
const insideOf = memoized((volume: Volume, low: number, high: number): Volume => {
  const data = volume.data.map((value) => Math.min(value - low, high - value));
  return { ...volume, key: `${volume.key} ${low} ${high}`, data };
});

/** Factor of the distance of the eye, above 1 in a pane that is narrower than it is high. */
function distanceFactor(): number {
  const pane = panes.value.find(({ kind }) => kind === "3d");
  return pane === undefined ? 1 : Math.max(1, (0.92 * pane.rect.height) / pane.rect.width);
}

/** Marks of the nodes of a structure and of their neighbours: its surface ends within one node. */
function nodesNear({ label, labels }: { readonly label: number; readonly labels: Int32Array }, { axes }: Dataset) {
  const near = new Uint8Array(labels.length);
  const [counts, wrap] = [axes.map(({ nodes }) => nodes), axes.map(({ periodic }) => periodic)];
  for (let at = 0; at < labels.length; at++)
    if (labels[at] === label) eachNeighbour(at, counts, wrap, (to) => near.fill(1, to, to + 1));
  return near;
}

/** Samples whose surface encloses the isolated structure only: samples away from its nodes are mirrored at the level. */
const isolatedIn = memoized(
  (fine: Samples, set: Dataset, level: number, side: number, structure: typeof isolated.value) => {
    if (structure === null || structure.labels.length !== set.axes.reduce((product, { nodes }) => product * nodes, 1))
      return fine;
    const [nx, ny] = set.axes.map(({ nodes }) => nodes);
    const isNear = nodesNear(structure, set);
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
          if (isNear[row + nodes[0][i]] === 0 && side * (data[at] - level) > 0)
            data[at] = level - side * Math.abs(data[at] - level);
      }
    return { ...fine, data };
  },
);

interface SurfaceState {
  readonly layer: SurfaceLayer;
  readonly isPending: boolean;
  readonly isFinest: boolean;
  readonly samples: string;
  /** Which samples its surface is of. */
  readonly key: string;
}

/** The layer of the pane of space; null until samples have arrived. */
export function surfaceLayer(now: View): SurfaceState | null {
  const set = dataset.value;
  if (set === null || now.centre === null) return null;
  const frame = frameOf(now.time, set);
  const arrived = volumeOf(set, now.surface.what, frame);
  const surface = arrivedOrLast("surface", set, arrived);
  const arrivedColour = volumeOf(set, now.colour, frame);
  const colour = arrivedOrLast("colour", set, arrivedColour);
  if (surface === null || colour === null || now.surface.value === null) return null;
  if ([now.surface.what, now.colour].some((what) => volumeOf(set, what, frame) === null && failureOf(set, what, frame)))
    return null;
  // The level of one quantity means nothing for the last volume of another one.
  if (surface.what !== now.surface.what) return null;
  const range = rangeOf(now, colour.what, colour, set);
  const { low, high } = boxAbout(set, now.centre);
  const middle = low.map((one, a) => (one + high[a]) / 2) as unknown as Vec3;
  const side = enclosesLowValues(surface.what) ? -1 : 1;
  const fine = isolatedIn(refinedSamplesOf(surface, set), set, now.surface.value, side, isolated.value);
  // Light in the middle, so that the surface is lit well.
  const map = range.low < 0 && range.high > 0 ? "vik" : "batlow";
  const layer: SurfaceLayer = {
    ...{ dataset: set, fine, level: now.surface.value, colour, range },
    ...{ side, map, low, high, faint: null },
    camera: cameraOf([now.camera[0], now.camera[1], now.camera[2] * distanceFactor()], middle, sizeOf(set)),
  };
  const brush = brushOf(now, set, surface.frame);
  const order = set.axes.some(({ coordinates }) => coordinates !== undefined) ? "Lag8, Lag4 where stretched," : "Lag8";
  const how = durationOf(surface.what) === null ? `${order} of ${surface.of}` : "refined from paths by Lag4";
  const time = now.time ?? 0;
  const still = [stillOf(surface, set, now.surface.what, time), stillOf(colour, set, now.colour, time)];
  const notes = [nodesNote({ time, dataset: set }), ...still].filter((one, i, all) => all.indexOf(one) === i);
  const state = {
    isPending: arrived === null || arrivedColour === null,
    samples: [`${fine.dims.join(" × ")} samples`, how, ...notes].filter(Boolean).join(", "),
    key: JSON.stringify([surface.key, fine.dims, brush?.volume.key]),
    isFinest: isFinest(surface, set) || failureOf(set, surface.what, frame) !== null,
  };
  if (brush === null) return { layer, ...state };
  // What is brushed stands out, with the surface faintly around it.
  return {
    ...state,
    layer: {
      ...layer,
      fine: refinedSamplesOf(insideOf(brush.volume, brush.low, brush.high), set),
      level: 0,
      side: 1,
      faint: layer,
    },
  };
}

/** The edges of the box and the lines of the crosshair, as segments with their colours. */
export function linesOf({ low, high, dataset: set }: SurfaceLayer, place: Vec3, light: boolean): Float32Array {
  const numbers: number[] = [];
  const tone = light ? 0.1 : 1;
  const local = localIn(set);
  const add = (through: readonly number[], a: number, alpha: number) => {
    const [from, to] = [low, high].map((end) => local(through.with(a, end[a])));
    numbers.push(...from, ...to, tone, tone, tone, alpha);
  };
  for (let a = 0; a < 3; a++) {
    const [b, c] = [(a + 1) % 3, (a + 2) % 3];
    for (const p of [low[b], high[b]]) for (const q of [low[c], high[c]]) add(low.with(b, p).with(c, q), a, 0.28);
  }
  const at = place.map((one, a) => nearestImage(set.axes[a], one, (low[a] + high[a]) / 2));
  for (let a = 0; a < 3; a++) add(at, a, 0.75);
  return Float32Array.from(numbers);
}

export function brushTitle({ what, low, high }: Brush): string {
  const { symbol } = quantityOf(what);
  const from = plainNumber(low, 9);
  return high === Number.POSITIVE_INFINITY
    ? `${symbol} ≥ ${from}`
    : `${symbol} from ${from} to ${plainNumber(high, 9)}`;
}

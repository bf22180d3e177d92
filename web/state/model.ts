/** The model of the page, as signals: the view of the link, the requests that it needs, and the answers to them. */
import { batch, computed, effect, signal } from "@preact/signals-core";
import {
  askJson,
  askNumbers,
  type Entry,
  manifests,
  type Question,
  Refusal,
  type Rows,
  refusalFrom,
  replaced,
  rootOf,
  Store,
  send,
  type Wanted,
} from "./ask.js";
import {
  AXIS_NAMES,
  coordinateOf,
  type Dataset,
  datasetOf,
  flatAxis,
  hasSameAxes,
  hasVelocity,
  isCoarse,
  type Listed,
  middleOf,
  nearest,
  roundedOn,
  sharedAxes,
  shortestOf,
  timeText,
  type Vec3,
  wrapped,
} from "./dataset.js";
import { asFlowMap, durationOf } from "./flow-map.js";
import { exact, inSpan, requireOne, tidy } from "./format.js";
import { type Act, saveAddress } from "./history.js";
import { kept } from "./kept.js";
import {
  type Brush,
  brushIn,
  isWindow,
  type Plane,
  type Range,
  readLink,
  type Show,
  untaken,
  type View,
  writeLink,
} from "./link.js";
import { firstQuantity, hasDerivatives, quantitiesOf, quantityOf } from "./quantities.js";
import {
  largestOf,
  type Picture,
  quantilesOf,
  refined,
  type Samples,
  stridesOf,
  type Volume,
  volumeKey,
  wantedVolume,
} from "./volumes.js";

/** Milliseconds without a change after which a view counts as at rest. */
const REST_MS = 120;

export const store = new Store((matchMedia("(max-width: 700px)").matches ? 128 : 512) * 2 ** 20);
export const datasets = signal<readonly Listed[] | null>(null);
export const dataset = signal<Dataset | null>(null);
/** The other dataset of a comparison, or why there is none. */
export const secondDataset = signal<Dataset | Refusal | null>(null);
export const view = signal<View>(readLink("", ""));
export const rested = signal<View>(view.peek());
export const isDragging = signal(false);
export const isPlaying = signal(false);
/** What the page does not read of its address; links of 1.0 had their view in the query of `/`. Empty: nothing. */
export const unread = signal("");
export const problem = signal<string | null>(null);
export const needsToken = signal(false);
/** The size of the pane of a plane in pixels, which sets the samples of its picture. */
export const paneSize = signal<readonly [number, number]>([500, 400]);
export const furtherWants = signal<ReadonlyMap<string, readonly Wanted[]>>(new Map());
/** Sets the wants of a card or panel, unless they are the same as before. */
export function setWants(name: string, wants: readonly Wanted[]): void {
  const [before, after] = [furtherWants.peek().get(name) ?? [], wants].map((some) => some.map(({ key }) => key).join());
  if (before !== after) furtherWants.value = new Map(furtherWants.peek()).set(name, wants);
}

export const frameOf = (time: number | null, { times }: Dataset): number => (time === null ? 0 : nearest(times, time));

/** Whether a time is stored, but for rounding. */
export function isStored(time: number, { times }: Dataset): boolean {
  return times.some((one) => Math.abs(one - time) <= 1e-6 * shortestOf(times) || one === exact(time));
}

export const isWithin = (time: number, set: Dataset): boolean =>
  isStored(time, set) || (time > set.times[0] && time < (set.times.at(-1) as number));

/** Changes the view by an act that Ctrl+Z undoes, by none, or as a part of an act that ends later. */
export function change(patch: Partial<View>, act: Act | null | "part" = "choice"): void {
  view.value = roundedView({ ...view.peek(), ...patch });
  if (act !== "part" && (act !== null || !(isDragging.peek() || isPlaying.peek()))) saveLink(act);
}

const roundedTo9 = (value: number) => Number(value.toPrecision(9));

/** A position in the box with the digits of links, so that a link shows the same picture. */
export const roundedIn = ({ axes }: Dataset, place: Vec3): Vec3 =>
  place.map((one, a) => roundedOn(axes[a], one)) as unknown as Vec3;

/** The place whose values the service answers. */
const takenIn = ({ axes }: Dataset, place: Vec3): Vec3 =>
  place.map((one, a) => (isCoarse(axes[a]) ? Math.fround(one) : one)) as unknown as Vec3;

function roundedView(next: View): View {
  const set = dataset.peek();
  if (set === null) return next;
  return {
    ...next,
    show: shownAs(next.show, set),
    cross: next.cross && takenIn(set, roundedIn(set, next.cross)),
    centre: next.centre && roundedIn(set, next.centre),
    window: next.window && roundedTo9(next.window),
    camera: next.camera.map(roundedTo9) as unknown as Vec3,
  };
}

export function saveLink(act: Act | null): void {
  const now = view.peek();
  saveAddress(`${rootOf()}view/${encodeURIComponent(now.dataset)}?${writeLink(now)}`, act);
}

let restTimer = 0;
effect(() => {
  const now = view.value;
  const held = isDragging.value;
  clearTimeout(restTimer);
  if (held) return;
  restTimer = window.setTimeout(() => {
    rested.value = now;
  }, REST_MS);
});

export async function openAddress(): Promise<void> {
  const path = /\/view\/([^/]+)$/.exec(location.pathname);
  const wanted = path === null ? new URLSearchParams(location.search).get("dataset") : decodeURIComponent(path[1]);
  const asked = path === null ? "" : location.search;
  const ofOld = location.search === "" ? "" : "Links of fieldprobe 1.0 are not read: this shows the dataset only.";
  try {
    const list = (await (await send("api/datasets")).json()) as { datasets: readonly Listed[] };
    datasets.value = list.datasets;
    const usual = list.datasets.find(({ name }) => name === "isotropic64") ?? list.datasets[0];
    if (usual === undefined) return;
    await open(readLink(wanted ?? usual.name, asked));
    unread.value = path === null ? ofOld : untaken(asked, view.peek(), dataset.peek()?.axes ?? []);
  } catch (error) {
    problem.value = error instanceof Error ? error.message : String(error);
    needsToken.value = error instanceof Refusal && error.status === 401;
  }
}

let opened = 0;
/** Loads the description of the dataset of a view, and shows it unless another view was opened meanwhile. */
export async function open(next: View, act: Act | null = null): Promise<void> {
  const turn = ++opened;
  const found = await describe(next.dataset);
  const second = next.b.dataset === undefined ? null : await describe(next.b.dataset).catch(refusalFrom);
  if (turn !== opened) return;
  batch(() => {
    dataset.value = found;
    secondDataset.value = second;
    problem.value = null;
    replaced.value = "";
    view.value = withDefaults({ ...next, dataset: found.name, what: next.what ?? firstQuantity(found) }, found, second);
    rested.value = view.peek();
  });
  saveLink(act);
}

effect(() => {
  const [set, { what }] = [dataset.value, view.value];
  if (set !== null && what !== null) document.title = `${quantityOf(what).symbol} of ${set.name} · fieldprobe`;
});

/** The time and the method of a question that a dataset has. */
const hadOf = ({ time, method }: Pick<View["b"], "time" | "method">, set: Dataset): View["b"] => {
  const known = set.methods.find((one) => one.toLowerCase() === method?.toLowerCase());
  return {
    ...(time !== undefined && isWithin(time, set) ? { time } : {}),
    ...(known === undefined ? {} : { method: known }),
  };
};

/** The views that a dataset has: one of a plane has no others than of it. */
function shownAs(show: Show, set: Dataset): Show {
  const flat = flatAxis(set);
  return flat === undefined || show === "compare" ? show : `slice:${flat}`;
}

/** Replaces what the dataset does not have by defaults; what B's dataset does not have is as in A. */
function withDefaults(next: View, set: Dataset, second: Dataset | Refusal | null): View {
  const { axes, fields, methods, times } = set;
  const has = fields.some(({ name }) => name === "velocity");
  const middle = middleOf(set);
  const known = next.cross?.map((one, a) => (Number.isNaN(one) ? middle[a] : wrapped(axes[a], one)));
  const cross = known === undefined ? null : takenIn(set, known as unknown as Vec3);
  const isFit = has && hasDerivatives(set);
  const surface = !isFit && next.surface.what === "Q" ? { what: next.what as string, value: null } : next.surface;
  const colour = !has && next.colour === "norm(u)" ? (next.what as string) : next.colour;
  const { time = times[Math.floor(times.length / 2)], ...had } = hadOf(
    { time: next.time ?? Number.NaN, method: next.method },
    set,
  );
  const { method = ["Lag8", "Lag6", "Lag4"].find((one) => methods.includes(one)) ?? "nearest" } = had;
  const { dataset: other, what } = next.b;
  const named = { ...(other === undefined ? {} : { dataset: other }), ...(what === undefined ? {} : { what }) };
  const b = second instanceof Refusal ? next.b : { ...named, ...hadOf(next.b, second ?? set) };
  const window = next.window !== null && isWindow(next.window, axes) ? next.window : null;
  return { ...next, cross, window, surface, colour, time, method, show: shownAs(next.show, set), b };
}

async function describe(name: string): Promise<Dataset> {
  const address = `api/datasets/${encodeURIComponent(name)}`;
  const found = datasetOf(await (await send(address)).json());
  manifests.set(found.name, found.digest);
  if (stridesOf(found, "").at(-1) === 1) return found;
  const { levels } = (await (await send(`${address}/levels`)).json()) as { levels: readonly unknown[] };
  return { ...found, levels: levels.length };
}

/** The position of the crosshair, by default the middle of the box. */
export const cross = computed<Vec3>(() => {
  const set = dataset.value;
  return view.value.cross ?? (set === null ? [0, 0, 0] : middleOf(set));
});

export interface Shown {
  readonly dataset: Dataset;
  readonly what: string;
  readonly time: number;
  readonly method: string;
}

export function shownOf(now: View, second = false): Shown | null {
  const own = dataset.value;
  if (own === null || now.what === null || now.time === null) return null;
  const first = { dataset: own, what: now.what, time: now.time, method: now.method };
  if (!second) return first;
  const { dataset: _, ...rest } = now.b;
  const other = secondDataset.value ?? own;
  return other instanceof Refusal ? null : { ...first, ...rest, dataset: other };
}

export function volumeOf(set: Dataset, what: string, frame: number): Volume | null {
  for (const stride of stridesOf(set, what).toReversed()) {
    const { answer } = store.entry<Volume>(volumeKey(set, what, frame, stride));
    if (answer !== null) return answer;
  }
  return null;
}

/** Whether nothing more is awaited of a quantity at a stored time. */
export const isThere = (set: Dataset, what: string, frame: number): boolean =>
  volumeOf(set, what, frame) !== null || failureOf(set, what, frame) !== null;

/** A refusal with the key of what was asked. */
export interface Failed {
  readonly key: string;
  readonly error: Refusal;
}

export function failureOf(set: Dataset, what: string, frame: number): Failed | null {
  for (const stride of stridesOf(set, what)) {
    const key = volumeKey(set, what, frame, stride);
    const { error } = store.entry<Volume>(key);
    if (error !== null) return { key, error };
  }
  return null;
}

export const volumeShown = (set: Dataset, what: string): Volume | null =>
  volumeOf(set, what, frameOf(view.value.time, set));

/** The finest volume that previews a question; null if its dataset lacks the time. */
export const previewOf = ({ dataset: set, what, time }: Shown): Volume | null =>
  isWithin(time, set) ? volumeOf(set, what, frameOf(time, set)) : null;

/** The stored time of the nodes that stand for a time between stored ones; empty for a stored time. */
export const nodesNote = ({ time, dataset: set }: Pick<Shown, "time" | "dataset">): string =>
  isStored(time, set) ? "" : `nodes of t = ${timeText(set, set.times[frameOf(time, set)])}`;

/** What A or B of a comparison shows, with its dataset if that is another one. */
export function labelOf(now: View, second: boolean): string {
  const shown = shownOf(now, second);
  if (shown === null) return now.b.dataset ?? "";
  const { dataset: set, what, time, method } = shown;
  const name = secondDataset.value ? [set.name] : [];
  return [quantityOf(what).symbol, method, `t ${timeText(set, time)}`, ...name].join(", ");
}

/** What is shown, of A and of B in a comparison. */
export const sidesOf = (now: View): string =>
  now.show === "compare" ? `A: ${labelOf(now, false)} · B: ${labelOf(now, true)}` : labelOf(now, false);

/** The first error among the answers that the planes of a view show: nodes, pictures and the value at the crosshair. */
export function refusalOf(now: View, second = false): Failed | null {
  const shown = shownOf(now, second);
  const { centre } = now;
  if (second && secondDataset.value instanceof Refusal) return { key: "", error: secondDataset.value };
  if (shown === null || planesOf(now).length === 0) return null;
  const { dataset: set, what, time } = shown;
  const failed = previewOf(shown) === null ? failureOf(set, what, frameOf(time, set)) : null;
  if (failed !== null || centre === null || pixel.value === 0) return failed;
  const pictures = planesOf(now).map((plane) => (planOf(now, plane, second) as PicturePlan).key);
  for (const key of [...pictures, wantedValue(shown, cross.value, 0).key]) {
    const { error } = store.entry(key);
    if (error !== null) return { key, error };
  }
  return null;
}

/** What the service refuses of the view, each once: of A, of the surface and its colour, and of B. */
export function refusals(set: Dataset | null, now: View): (readonly [name: string, Failed])[] {
  if (set === null || now.what === null) return [];
  const frame = frameOf(now.time, set);
  const brush = brushIn(now.brush);
  const others = [...(hasSpace(now) ? [now.surface.what, now.colour] : []), ...(brush === null ? [] : [brush.what])];
  const of = [refusalOf(now), ...others.map((what) => failureOf(set, what, frame))].map(
    (one): readonly [string, typeof one] => ["", one],
  );
  if (now.show === "compare") of.push(["B: ", refusalOf(now, true)]);
  const found = of.flatMap(([name, one]) => (one === null ? [] : [[name, one] as const]));
  return found.filter(
    ([, { error }], i) => found.findIndex(([, other]) => other.error.message === error.message) === i,
  );
}

/** A position in a dataset: in one period of periodic axes; along others it stays, so that none is replaced. */
export function placeIn(set: Dataset, place: Vec3): Vec3 {
  const inside = place.map((one, a) => (set.axes[a].periodic ? wrapped(set.axes[a], one) : one));
  return takenIn(set, roundedIn(set, inside as unknown as Vec3));
}

export interface PicturePlan {
  readonly question: Question;
  readonly key: string;
  readonly columns: number;
  readonly rows: number;
  readonly box: readonly [number, number, number, number];
  readonly tiles: readonly [boolean, boolean];
}

/** The axes across and up of the plane normal to an axis: xy, zy and xz. */
export const PLANE_AXES: Readonly<Record<Plane, readonly [number, number]>> = { z: [0, 1], x: [2, 1], y: [0, 2] };

const MAX_PICTURE_SAMPLES = 384;
const MIN_PICTURE_SAMPLES = 128;
/** Most samples along a side of a picture of flow maps, each of which is a path of a particle. */
const MAX_PATH_SAMPLES = 160;

export const isDifference = ({ show, compare }: View): boolean => show === "compare" && compare === "difference";

/** The picture of the part of the box that a pane shows: of A − B, of what the boxes of both have in common. */
export function planOf(now: View, plane: Plane, second = false, at = cross.value): PicturePlan | null {
  const [shown, other] = [shownOf(now, second), isDifference(now) ? shownOf(now, !second) : null];
  const { centre: middle } = now;
  if (shown === null || middle === null) return null;
  const { dataset: set, what, time, method } = shown;
  const [a, b] = second && other !== null ? [other.dataset, set] : [set, other?.dataset ?? set];
  const axes = hasSameAxes(a, b) ? null : sharedAxes(a, b);
  const scale = pixel.value || 0.01;
  const size = paneSize.value;
  const members: Record<string, unknown> = {};
  const counts: Record<string, number> = {};
  const box: number[] = [];
  const tiles: boolean[] = [];
  const normal = AXIS_NAMES.indexOf(plane);
  for (const [side, a] of PLANE_AXES[plane].entries()) {
    const axis = (axes ?? set.axes)[a];
    const seen = size[side] * scale;
    const pixels = Math.min(durationOf(what) === null ? MAX_PICTURE_SAMPLES : MAX_PATH_SAMPLES, size[side]);
    let [low, high] = [middle[a] - seen / 2, middle[a] + seen / 2];
    if (!axis.periodic) [low, high] = [Math.max(axis.first, low), Math.min(axis.last, high)];
    const isSeen = axis.periodic ? seen >= axis.length * 0.999 : low <= axis.first && high >= axis.last;
    const isWhole = isSeen || !(high > low);
    if (isWhole && axes === null) {
      // A side of few pixels has samples for values between them.
      const least = durationOf(what) === null ? Math.max(2, Math.min(48, 2 * axis.nodes)) : 2;
      const n = Math.max(least, Math.min(Math.round(axis.length / scale), pixels, 4 * axis.nodes));
      counts[AXIS_NAMES[a]] = n;
      const step = axis.length / (axis.periodic ? n : n - 1);
      box[side] = axis.periodic ? axis.first : axis.first - step / 2;
      box[side + 2] = axis.periodic ? axis.length : axis.length + step;
      tiles[side] = axis.periodic;
    } else {
      // Ends are rounded, so that a link that is opened again asks the same question.
      if (isWhole) [low, high] = [axis.first, axis.first + axis.length];
      else [low, high] = [low, high].map((end) => roundedOn(axis, end));
      members[AXIS_NAMES[a]] = `${low}:${high}`;
      // Half a cell at each end of a range is of one colour: it has a few pixels at most.
      const enough = Math.max(MIN_PICTURE_SAMPLES, Math.ceil((4 * axis.nodes * (high - low)) / axis.length));
      counts[AXIS_NAMES[a]] = Math.max(2, Math.min(pixels, enough));
      tiles[side] = isWhole && axis.periodic;
      // Samples of a range lie in the middle of equal intervals.
      box[side] = tiles[side] ? low + (high - low) / counts[AXIS_NAMES[a]] / 2 : low;
      box[side + 2] = high - low;
    }
  }
  members[AXIS_NAMES[normal]] = placeIn(set, at)[normal];
  const samples = AXIS_NAMES.filter((name) => counts[name] !== undefined).map((name) => counts[name]);
  const requested = { dataset: set.name, call: "grid", what, ...members, time, method, samples };
  const question = asFlowMap({ dataset: set.name, times: set.times }, requested);
  const [across, up] = PLANE_AXES[plane].map((axis) => AXIS_NAMES[axis]);
  return {
    question,
    key: JSON.stringify(["picture", set.digest, question]),
    columns: counts[across],
    rows: counts[up],
    box: box as unknown as PicturePlan["box"],
    tiles: tiles as unknown as PicturePlan["tiles"],
  };
}

/** The want of a plane's picture; answers have z outside of y outside of x, so that zy planes are transposed. */
export function wantedPicture(plan: PicturePlan, plane: Plane, priority: number): Wanted<Picture> {
  return {
    key: plan.key,
    priority,
    load: async (signal) => {
      const { columns, rows, box, tiles } = plan;
      const { data, unit } = await askNumbers(plan.question, columns * rows, signal);
      const turned = plane === "x" ? transposed(data, rows, columns) : data;
      return { data: turned, unit, columns, rows, isMasked: data.some(Number.isNaN), box, tiles };
    },
    sizeOf: ({ data }) => data.byteLength,
  };
}

function transposed(numbers: Float32Array, width: number, height: number): Float32Array {
  const out = new Float32Array(numbers.length);
  for (let i = 0; i < height; i++) for (let j = 0; j < width; j++) out[j * height + i] = numbers[i * width + j];
  return out;
}

export function valueQuestion({ dataset: set, what, time, method }: Shown, at: Vec3): Question {
  const question = { dataset: set.name, call: "values", what: [what], points: [placeIn(set, at)], time, method };
  return asFlowMap({ dataset: set.name, times: set.times }, question);
}

/** The answer for a value at a point: a table of it, or that of a flow map. */
export type Value = Partial<Rows> & { readonly data?: { readonly ftle: number | null } };

/** The number of an answer; NaN if it is missing. Throws Error for vectors and tensors. */
export function valueIn({ rows, data }: Value): number {
  requireOne((rows?.[0]?.length ?? 0) - 3);
  return (data === undefined ? rows?.[0]?.[3] : data.ftle) ?? Number.NaN;
}

export function wantedValue(shown: Shown, at: Vec3, priority: number): Wanted<number> {
  const question = valueQuestion(shown, at);
  return {
    key: JSON.stringify(["value", shown.dataset.digest, question]),
    priority,
    load: async (signal) => valueIn(await askJson<Value>(question, signal)),
  };
}

/** The range of a quantity: as the link states, else the range of 99.9 % of the volume. */
export function rangeOf(now: View, what: string, volume: Volume | null, set: Dataset): Range {
  return (
    now.ranges.get(what) ?? (volume === null ? { low: 0, high: 1, scale: "linear" } : usualRange(volume, what, set))
  );
}

/** The range of a question; null until it is known. */
export function rangeShown(shown: Shown): Range | null {
  const volume = previewOf(shown);
  const isKnown = volume !== null || view.value.ranges.has(shown.what);
  return isKnown ? rangeOf(view.value, shown.what, volume, shown.dataset) : null;
}

export function valueText(shown: Shown, value: number, least = 4): string {
  const { low, high } = rangeShown(shown) ?? { low: 0, high: 0 };
  return inSpan(value, high - low, least);
}

export const usualRange = kept((volume: Volume, what: string, set: Dataset): Range => {
  const [least, low, middle, high] = quantilesOf(volume, set, [0.0005, 0.001, 0.5, 0.9995]);
  const { heavyTailed = false } = quantityOf(what);
  const rounded = (value: number) => tidy(value, high - least, 2);
  const top = rounded(Math.max(Math.abs(least), Math.abs(high)));
  let range: Range;
  if (volume.low < 0 && volume.high > 0) {
    const [p, q] = quantilesOf(volume, set, [0.25, 0.75]);
    const size = rounded(Math.max((q - p) / 2, top / 200));
    range = { low: -top, high: top, scale: heavyTailed && top > 8 * size ? `symlog:${size}` : "linear" };
  } else {
    const floor = volume.low >= 0 && low < 0.3 * high ? 0 : rounded(low);
    range = { low: floor, high: rounded(high), scale: "linear" };
  }
  const gap = Math.max(1, Math.abs(middle) / 1000);
  return range.high > range.low ? range : { low: middle - gap, high: middle + gap, scale: "linear" };
});

export const isFinest = ({ what, stride }: Volume, set: Dataset): boolean => stridesOf(set, what).at(-1) === stride;

/** Samples between the nodes of a volume, for surfaces; not of volumes that a finer one will soon replace. */
export const fineOf = kept(
  (volume: Volume, set: Dataset): Samples => refined(volume, set, isFinest(volume, set) ? 2 : 1),
);

const ENCLOSED = 0.05;

export const levelOf = ({ low, high }: Volume, value: number): number => tidy(value, (high - low) / 100, 3);

export const isBelow = (what: string): boolean => what === "lambda2";

/** The quantity whose largest value is where the crosshair starts: that of vortices, if the dataset has one. */
const peakOf = (set: Dataset) => (quantitiesOf(set).some(({ what }) => what === "Q") ? "Q" : firstQuantity(set));

/** Sets members that the view leaves open once volumes have arrived: level of the surface, crosshair, centre, range. */
effect(() => {
  const now = view.value;
  const set = dataset.value;
  if (set === null || now.what === null || now.time === null) return;
  const frame = frameOf(now.time, set);
  const patch: { -readonly [K in keyof View]?: View[K] } = {};
  const surface = volumeOf(set, now.surface.what, frame);
  const shown = volumeOf(set, now.what, frame);
  if (surface !== null && now.surface.value === null) {
    const part = isBelow(now.surface.what) ? ENCLOSED : 1 - ENCLOSED;
    const [value] = quantilesOf(surface, set, [part]);
    patch.surface = { what: now.surface.what, value: levelOf(surface, value) };
  }
  const strongest = volumeOf(set, peakOf(set), frame) ?? (failureOf(set, peakOf(set), frame) === null ? null : shown);
  if (now.cross === null && strongest !== null) {
    const node = largestOf(strongest);
    const place = set.axes.map((axis, a) => coordinateOf(axis, node[a] * strongest.strides[a])) as unknown as Vec3;
    patch.cross = place;
    if (now.centre === null) patch.centre = centreAt(set, place);
  } else if (now.centre === null && now.cross !== null) patch.centre = centreAt(set, now.cross);
  const ranges = new Map(now.ranges);
  for (const [what, volume] of [
    [now.what, shown],
    [now.colour, volumeOf(set, now.colour, frame)],
  ] as const)
    if (volume !== null && !ranges.has(what)) ranges.set(what, usualRange(volume, what, set));
  if (ranges.size > now.ranges.size) patch.ranges = ranges;
  if (Object.keys(patch).length > 0) queueMicrotask(() => change(patch, null));
});

/** A centre of the view at a position: along periodic axes the position itself, along others the middle of the box. */
export function centreAt(set: Dataset, place: Vec3): Vec3 {
  const middle = middleOf(set);
  return set.axes.map(({ periodic }, a) => (periodic ? place[a] : middle[a])) as unknown as Vec3;
}

/** The plane in which A and B are compared. */
export const comparedPlane = computed<Plane>(() => (dataset.value && flatAxis(dataset.value)) ?? "z");

export function planesOf({ show }: View): readonly Plane[] {
  if (show === "four") return ["z", "x", "y"];
  if (show === "compare") return [comparedPlane.value];
  return show === "3d" ? [] : [show.slice(-1) as Plane];
}

export const hasSpace = ({ show }: View): boolean => show === "four" || show === "3d";

/** The length of a pixel in the units of the box, set by the stage. */
export const pixel = signal(0);

/** Sets what is wanted, whenever the view or the answers change. */
effect(() => {
  const set = dataset.value;
  const now = view.value;
  const still = rested.value;
  const shown = shownOf(now);
  if (set === null || shown === null) return;
  const frame = frameOf(now.time, set);
  const wants: Wanted[] = [];
  const box = (of: Dataset, what: string, at: number, priority: number) => {
    for (const [i, stride] of stridesOf(of, what).entries())
      wants.push(wantedVolume(of, what, at, stride, priority + 10 * i));
  };
  const planes = planesOf(now);
  const space = hasSpace(now);
  if (planes.length > 0) box(set, shown.what, frame, 0);
  if (space) box(set, now.surface.what, frame, 1);
  if (now.cross === null) box(set, peakOf(set), frame, 1);
  if (space) box(set, now.colour, frame, 2);
  const second = now.show === "compare" ? shownOf(now, true) : null;
  if (second !== null) box(second.dataset, second.what, frameOf(second.time, second.dataset), 1);
  const streams = (one: Shown | null, priority: number) => {
    if (now.flow !== "streaks" || planes.length === 0 || one === null || !hasVelocity(one.dataset)) return;
    for (const name of AXIS_NAMES) box(one.dataset, `u.${name}`, frameOf(one.time, one.dataset), priority);
  };
  streams(shown, 6);
  if (now.compare === "side") streams(second, 7);
  const brush = brushIn(now.brush);
  for (const one of brush === null ? [] : [shown, second])
    if (one !== null) box(one.dataset, (brush as Brush).what, frameOf(one.time, one.dataset), 3);
  const isStill = still === now && !isPlaying.value;
  if (isStill && now.cross !== null && now.centre !== null) {
    const at = cross.value;
    for (const plane of pixel.value > 0 ? planes : [])
      for (const [i, plan] of [planOf(now, plane), second && planOf(now, plane, true)].entries())
        if (plan !== null) wants.push(wantedPicture(plan, plane, 20 + i));
    wants.push(wantedValue(shown, at, 15));
    if (second !== null) wants.push(wantedValue(second, at, 16));
  }
  const ahead = isPlaying.value ? [1, 2] : isStill && now.cross !== null ? [1] : [];
  for (const step of ahead) {
    const next = (frame + step) % set.times.length;
    if (next === frame) continue;
    if (planes.length > 0) box(set, shown.what, next, 30 + step);
    const nextB = now.show === "compare" ? shownOf({ ...now, time: set.times[next] }, true) : null;
    if (nextB !== null) box(nextB.dataset, nextB.what, frameOf(nextB.time, nextB.dataset), 31 + step);
    if (isPlaying.value) streams({ ...shown, time: set.times[next] }, 33 + step);
    if (space) {
      box(set, now.surface.what, next, 31 + step);
      box(set, now.colour, next, 32 + step);
    }
  }
  for (const more of furtherWants.value.values()) wants.push(...more);
  const unique = new Map(wants.map((one) => [one.key, one] as const).toReversed());
  const isMoving = !isPlaying.value && (still !== now || now.cross === null);
  queueMicrotask(() => store.want([...unique.values()], isMoving));
});

export function servedValue(second = false): Entry<number> | null {
  const shown = shownOf(view.value, second);
  if (shown === null) return null;
  return store.entry<number>(wantedValue(shown, cross.value, 0).key);
}

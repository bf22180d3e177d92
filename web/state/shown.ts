/** What a view shows, of A and of B in a comparison; what of it the service has answered, and what it has refused. */
import { computed } from "@preact/signals-core";
import { askJson, type Entry, type Question, Refusal, type Rows, Store, type Wanted } from "./ask.js";
import { type Dataset, flatAxis, frameOf, isStored, isWithin, placeIn, timeText, type Vec3 } from "./dataset.js";
import { asFlowMap, columnOf } from "./flow-map.js";
import { requireOne } from "./format.js";
import { brushIn, type Plane, type View } from "./link.js";
import { type PicturePlan, pixel, planOf } from "./picture-plan.js";
import { quantityOf } from "./quantities.js";
import { cross, dataset, type Selection, secondDataset, selectionOf, view } from "./view.js";
import { stridesOf, type Volume, volumeKey } from "./volumes.js";

export const shows3d = ({ show }: View): boolean => show === "four" || show === "3d";

/** The plane in which A and B are compared. */
export const comparedPlane = computed<Plane>(() => (dataset.value && flatAxis(dataset.value)) ?? "z");

export function planesOf({ show }: View): readonly Plane[] {
  if (show === "four") return ["z", "x", "y"];
  if (show === "compare") return [comparedPlane.value];
  return show === "3d" ? [] : [show.slice(-1) as Plane];
}

/** What A or B of a comparison shows, with its dataset if that is another one. */
export function labelOf(now: View, second: boolean): string {
  const selection = selectionOf(now, second);
  if (selection === null) return now.b.dataset ?? "";
  const { dataset: set, what, time, method } = selection;
  const name = secondDataset.value ? [set.name] : [];
  return [quantityOf(what).symbol, method, `t ${timeText(set, time)}`, ...name].join(", ");
}

/** What is shown, of A and of B in a comparison. */
export const sidesOf = (now: View): string =>
  now.show === "compare" ? `A: ${labelOf(now, false)} · B: ${labelOf(now, true)}` : labelOf(now, false);

/** The stored time of the nodes that stand for a time between stored ones; empty for a stored time. */
export const nodesNote = ({ time, dataset: set }: Pick<Selection, "time" | "dataset">): string =>
  isStored(time, set) ? "" : `nodes of t = ${timeText(set, set.times[frameOf(time, set)])}`;

export const store = new Store((matchMedia("(max-width: 700px)").matches ? 128 : 512) * 2 ** 20);

/** The finest volume of a quantity at a stored time that has arrived. */
export function volumeOf(set: Dataset, what: string, frame: number): Volume | null {
  for (const stride of stridesOf(set, what).toReversed()) {
    const { answer } = store.entry<Volume>(volumeKey(set, what, frame, stride));
    if (answer !== null) return answer;
  }
  return null;
}

/** The volume of a quantity at the stored time of the view. */
export const volumeShown = (set: Dataset, what: string): Volume | null =>
  volumeOf(set, what, frameOf(view.value.time, set));

/** The volume that previews a selection; null if its dataset lacks the time. */
export const previewOf = ({ dataset: set, what, time }: Selection): Volume | null =>
  isWithin(time, set) ? volumeOf(set, what, frameOf(time, set)) : null;

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

export const isLoadedOrFailed = (set: Dataset, what: string, frame: number): boolean =>
  volumeOf(set, what, frame) !== null || failureOf(set, what, frame) !== null;

/** The first error among the answers that a view shows: nodes and pictures of planes, and the value at the crosshair. */
export function refusalOf(now: View, second = false): Failed | null {
  const selection = selectionOf(now, second);
  if (second && secondDataset.value instanceof Refusal) return { key: "", error: secondDataset.value };
  if (selection === null) return null;
  const { dataset: set, what, time } = selection;
  const isAwaited = planesOf(now).length > 0 && previewOf(selection) === null;
  const failed = isAwaited ? failureOf(set, what, frameOf(time, set)) : null;
  if (failed !== null || now.centre === null || pixel.value === 0) return failed;
  const pictures = planesOf(now).map((plane) => (planOf(now, plane, second) as PicturePlan).key);
  for (const key of [...pictures, wantedValue(selection, cross.value, 0).key]) {
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
  const others = [...(shows3d(now) ? [now.surface.what, now.colour] : []), ...(brush === null ? [] : [brush.what])];
  const ofA = [refusalOf(now), ...others.map((what) => failureOf(set, what, frame))];
  const ofB = now.show === "compare" ? [refusalOf(now, true)] : [];
  const all = [...ofA.map((failed) => ["", failed] as const), ...ofB.map((failed) => ["B: ", failed] as const)];
  const found = all.flatMap(([name, failed]) => (failed === null ? [] : [[name, failed] as const]));
  const first = (message: string) => found.findIndex(([, { error }]) => error.message === message);
  return found.filter(([, { error }], i) => first(error.message) === i);
}

export function servedValue(second = false): Entry<number> | null {
  const selection = selectionOf(view.value, second);
  return selection === null ? null : store.entry<number>(wantedValue(selection, cross.value, 0).key);
}

export function valueQuestion({ dataset: set, what, time, method }: Selection, at: Vec3): Question {
  const members = { what: [columnOf(what)], points: [placeIn(set, at)], time, method };
  return asFlowMap({ dataset: set.name, times: set.times }, { dataset: set.name, call: "values", ...members });
}

/** The answer for a value at a point: a table of it, or that of a flow map. */
export type Value = Partial<Rows> & { readonly data?: { readonly ftle: number | null } };

/** The number of an answer; NaN if it is missing. Throws Error for vectors and tensors. */
export function valueIn({ rows, data }: Value): number {
  requireOne((rows?.[0]?.length ?? 0) - 3);
  return (data === undefined ? rows?.[0]?.[3] : data.ftle) ?? Number.NaN;
}

export function wantedValue(selection: Selection, at: Vec3, priority: number): Wanted<number> {
  const question = valueQuestion(selection, at);
  return {
    key: JSON.stringify(["value", selection.dataset.digest, question]),
    priority,
    load: async (signal) => valueIn(await askJson<Value>(question, signal)),
  };
}

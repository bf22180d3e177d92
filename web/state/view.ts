/**
 * The view of the page as signals: the datasets, what the link states of them, and how both change. A changed view is
 * rounded as links are, so that a link shows the same picture.
 */
import { batch, computed, effect, signal } from "@preact/signals-core";
import { manifests, Refusal, refusalFrom, replaced, rootOf, send } from "./ask.js";
import {
  type Dataset,
  datasetOf,
  flatAxis,
  hasVelocity,
  isWithin,
  type Listed,
  middleOf,
  toLinkPrecision,
  toServicePrecision,
  type Vec3,
  wrapped,
} from "./dataset.js";
import { type Act, saveAddress, stateNow } from "./history.js";
import { isWindow, membersIgnored, readLink, type Show, type View, writeLink } from "./link.js";
import { firstQuantity, hasDerivatives, quantityOf } from "./quantities.js";
import { stridesOf } from "./volumes.js";

/** Milliseconds without a change after which a view counts as at rest. */
const REST_MS = 120;

export const datasets = signal<readonly Listed[] | null>(null);
export const dataset = signal<Dataset | null>(null);
/** The other dataset of a comparison, or why there is none. */
export const secondDataset = signal<Dataset | Refusal | null>(null);
export const view = signal<View>(readLink("", ""));
/** The view when it was last at rest, which exact answers are asked for. */
export const rested = signal<View>(view.peek());
export const isDragging = signal(false);
export const isPlaying = signal(false);
/** What the page ignores of its address, in words; empty: nothing. */
export const ignoredLinkMembers = signal("");
export const problem = signal<string | null>(null);
export const needsToken = signal(false);

/** The position of the crosshair, by default the middle of the box. */
export const cross = computed<Vec3>(() => {
  const set = dataset.value;
  return view.value.cross ?? (set === null ? [0, 0, 0] : middleOf(set));
});

/** Changes the view by an act that Ctrl+Z undoes, by none, or as a part of an act that ends later. */
export function change(patch: Partial<View>, act: Act | null | "part" = "choice"): void {
  view.value = roundedView({ ...view.peek(), ...patch });
  if (act !== "part" && (act !== null || !(isDragging.peek() || isPlaying.peek()))) saveLink(act);
}

export function saveLink(act: Act | null): void {
  const now = view.peek();
  const address = `${rootOf()}view/${encodeURIComponent(now.dataset)}?${writeLink(now)}`;
  const usual = [...now.ranges.keys()].filter((what) => now.ranges.get(what)?.isUsual);
  saveAddress(address, act, { manifest: dataset.peek()?.digest ?? "", usual });
}

/** What A or B of a view is: a quantity of a dataset, at a time, by a method. */
export interface Selection {
  readonly dataset: Dataset;
  readonly what: string;
  readonly time: number;
  readonly method: string;
}

/** The selection of A or, as the second, of B; null before there is one, or if B's dataset cannot be shown. */
export function selectionOf(now: View, second = false): Selection | null {
  const own = dataset.value;
  if (own === null || now.what === null || now.time === null) return null;
  const first = { dataset: own, what: now.what, time: now.time, method: now.method };
  if (!second) return first;
  const { dataset: _, ...rest } = now.b;
  const other = secondDataset.value ?? own;
  return other instanceof Refusal ? null : { ...first, ...rest, dataset: other };
}

export const isDifference = ({ show, compare }: View): boolean => show === "compare" && compare === "difference";

/** Opens what the address of the page states; links of version 1.0 had their view in the query of `/`. */
export async function openAddress(): Promise<void> {
  const path = /\/view\/([^/]+)$/.exec(location.pathname);
  const wanted = path === null ? new URLSearchParams(location.search).get("dataset") : decodeURIComponent(path[1]);
  const search = path === null ? "" : location.search;
  const oldLinkNote =
    location.search === "" ? "" : "Links of fieldprobe 1.0 are not read: this shows the dataset only.";
  try {
    const list = (await (await send("api/datasets")).json()) as { datasets: readonly Listed[] };
    datasets.value = list.datasets;
    const first = list.datasets.find(({ name }) => name === "isotropic64") ?? list.datasets[0];
    if (first === undefined) return;
    await open(readLink(wanted ?? first.name, search));
    const ignored = membersIgnored(search, view.peek(), dataset.peek()?.axes ?? []);
    ignoredLinkMembers.value = path === null ? oldLinkNote : ignored;
  } catch (error) {
    problem.value = refusalFrom(error).message;
    needsToken.value = error instanceof Refusal && error.status === 401;
  }
}

let attempts = 0;
/** Loads the description of the dataset of a view, and shows it unless another view was opened meanwhile. */
export async function open(next: View, act: Act | null = null): Promise<void> {
  const attempt = ++attempts;
  const found = await describe(next.dataset);
  const second = next.b.dataset === undefined ? null : await describe(next.b.dataset).catch(refusalFrom);
  if (attempt !== attempts) return;
  // Ranges that the page chose for other data are chosen anew.
  const { manifest, usual = [] } = stateNow();
  const kept = [...next.ranges].filter(([what]) => manifest === found.digest || !usual.includes(what));
  const ranges = new Map(kept.map(([what, range]) => [what, { ...range, isUsual: usual.includes(what) }]));
  batch(() => {
    dataset.value = found;
    secondDataset.value = second;
    problem.value = null;
    replaced.value = "";
    view.value = withDefaults({ ...next, ranges, what: next.what ?? firstQuantity(found) }, found, second);
    rested.value = view.peek();
  });
  saveLink(act);
}

async function describe(name: string): Promise<Dataset> {
  const address = `api/datasets/${encodeURIComponent(name)}`;
  const found = datasetOf(await (await send(address)).json());
  manifests.set(found.name, found.digest);
  if (stridesOf(found, "").at(-1) === 1) return found;
  const { levels } = (await (await send(`${address}/levels`)).json()) as { levels: readonly unknown[] };
  return { ...found, levels: levels.length };
}

/** Replaces what the dataset does not have by defaults; what B lacks it takes from A. */
function withDefaults(next: View, set: Dataset, second: Dataset | Refusal | null): View {
  const { axes, methods, times } = set;
  const middle = middleOf(set);
  const known = next.cross?.map((one, a) => (Number.isNaN(one) ? middle[a] : wrapped(axes[a], one)));
  const hasVortices = hasVelocity(set) && hasDerivatives(set);
  const what = next.what as string;
  const supported = supportedTimeAndMethod(next, set);
  const { time: _, method: __, ...named } = next.b;
  return {
    ...next,
    dataset: set.name,
    cross: known === undefined ? null : toServicePrecision(set, known as unknown as Vec3),
    window: next.window !== null && isWindow(next.window, axes) ? next.window : null,
    surface: !hasVortices && next.surface.what === "Q" ? { what, value: null } : next.surface,
    colour: !hasVelocity(set) && next.colour === "norm(u)" ? what : next.colour,
    time: supported.time ?? times[Math.floor(times.length / 2)],
    method: supported.method ?? ["Lag8", "Lag6", "Lag4"].find((name) => methods.includes(name)) ?? "nearest",
    show: supportedShow(next.show, set),
    b: second instanceof Refusal ? next.b : { ...named, ...supportedTimeAndMethod(next.b, second ?? set) },
  };
}

/** The time and the method that are asked for, each only if the dataset offers it. */
function supportedTimeAndMethod({ time, method }: { time?: number | null; method?: string }, set: Dataset): View["b"] {
  const known = set.methods.find((name) => name.toLowerCase() === method?.toLowerCase());
  return {
    ...(time != null && isWithin(time, set) ? { time } : {}),
    ...(known === undefined ? {} : { method: known }),
  };
}

/** The arrangement of panes for a dataset: one with a single plane is shown in that plane. */
function supportedShow(show: Show, set: Dataset): Show {
  const flat = flatAxis(set);
  return flat === undefined || show === "compare" ? show : `slice:${flat}`;
}

function roundedView(next: View): View {
  const set = dataset.peek();
  if (set === null) return next;
  return {
    ...next,
    show: supportedShow(next.show, set),
    cross: next.cross && toServicePrecision(set, toLinkPrecision(set, next.cross)),
    centre: next.centre && toLinkPrecision(set, next.centre),
    window: next.window && roundedTo9(next.window),
    camera: next.camera.map(roundedTo9) as unknown as Vec3,
  };
}

const roundedTo9 = (value: number) => Number(value.toPrecision(9));

let restTimer = 0;
/** Sets the view at rest once it has not changed for a moment. */
effect(() => {
  const now = view.value;
  const isHeld = isDragging.value;
  clearTimeout(restTimer);
  if (isHeld) return;
  restTimer = window.setTimeout(() => {
    rested.value = now;
  }, REST_MS);
});

effect(() => {
  const [set, { what }] = [dataset.value, view.value];
  if (set !== null && what !== null) document.title = `${quantityOf(what).symbol} of ${set.name} · fieldprobe`;
});

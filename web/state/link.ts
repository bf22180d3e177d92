/** The view as a link: members without a prefix are the question, `view.` the page's own, `b.` what differs in B. */
import { type Axis, isCoarse, isOnAxis, sizeOf, type Vec3 } from "./dataset.js";
import { exactNumber } from "./format.js";

export type Plane = "x" | "y" | "z";
export type Show = `slice:${Plane}` | "3d" | "four" | "compare";
export type Scale = "linear" | "log" | `symlog:${number}`;

export const MAP_NAMES = ["inferno", "cividis", "batlow", "vik", "romaO"] as const;
export type MapName = (typeof MAP_NAMES)[number];

export interface Range {
  readonly low: number;
  readonly high: number;
  readonly scale: Scale;
  /** Whether the page chose it; links do not say so. */
  readonly isUsual?: boolean;
}

/** The members of the second question, B of a comparison, that differ from the first. */
export type Second = Partial<Readonly<Record<"dataset" | "what" | "method", string> & Record<"time", number>>>;

/** Everything that a link holds; null leaves a member to the page. */
export interface View {
  readonly dataset: string;
  readonly what: string | null;
  /** The crosshair; NaN leaves a coordinate to the page. */
  readonly cross: Vec3 | null;
  readonly time: number | null;
  readonly method: string;
  readonly show: Show;
  readonly surface: { readonly what: string; readonly value: number | null };
  readonly colour: string;
  readonly ranges: ReadonlyMap<string, Range>;
  readonly map: MapName | null;
  readonly centre: Vec3 | null;
  /** The length that the height of a pane spans; null fits the box. */
  readonly window: number | null;
  /** Longitude and latitude of the eye in degrees, and its distance in lengths of the box. */
  readonly camera: Vec3;
  readonly flow: "streaks" | "off";
  /** A condition; planes are dimmed where it fails. */
  readonly brush: string | null;
  readonly pins: readonly Vec3[];
  readonly b: Second;
  /** The drawing of a comparison: A and B parted by a line, side by side, or A − B. */
  readonly compare: "swipe" | "side" | "difference";
  readonly stage: "dark" | "light";
}

export const CAMERA: Vec3 = [38, 22, 3.5];

export const EMPTY: Omit<View, "dataset"> = {
  what: null,
  cross: null,
  time: null,
  method: "Lag8",
  show: "four",
  surface: { what: "Q", value: null },
  colour: "norm(u)",
  ranges: new Map(),
  map: null,
  centre: null,
  window: null,
  camera: CAMERA,
  flow: "streaks",
  brush: null,
  pins: [],
  b: {},
  compare: "swipe",
  stage: "dark",
};

function numberOf(text: string | null): number | null {
  if (text === null || text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}

function triple(text: string | null): Vec3 | null {
  const numbers = (text ?? "").split(",").map(numberOf);
  return numbers.length === 3 && numbers.every((one) => one !== null) ? (numbers as unknown as Vec3) : null;
}

const NUMBER = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?`;
const RANGE = new RegExp(`^(.+?):(${NUMBER}):(${NUMBER})(?::(log|symlog:(${NUMBER})))?$`, "i");
const areFinite = (...texts: readonly string[]) => texts.every((text) => Number.isFinite(Number(text)));

/** A range of a link, `EXPR:lo:hi[:symlog:C|:log]`; expressions may hold colons, numbers do not. */
function rangeOf(text: string): readonly [string, Range] | null {
  const [, what, low, high, scale = "linear", part = "1"] = RANGE.exec(text) ?? [];
  const isRange = Number(low) < Number(high) && areFinite(low, high, part) && Number(part) > 0;
  if (!isRange || (scale === "log" && !(Number(low) > 0))) return null;
  return [what, { low: Number(low), high: Number(high), scale: scale as Scale }];
}

const SHOWS = /^(slice:[xyz]|3d|four|compare)$/;

/** The condition of a brush: an expression from a value on, or from one to another. */
const BRUSH = new RegExp(String.raw`^(.+?)\s*>=?\s*(${NUMBER})\s*(?:&&\s*\1\s*<=?\s*(${NUMBER}))?$`, "i");

export interface Brush {
  readonly what: string;
  readonly low: number;
  /** Infinite for a brush from a value on. */
  readonly high: number;
}

/** An expression as a side of a comparison: in brackets if anything outside of its own binds less. */
export function operand(what: string): string {
  let outside = what;
  for (let before = ""; before !== outside; outside = outside.replace(/\([^()]*\)/g, "")) before = outside;
  return /[?<>=!&|]/.test(outside) ? `(${what})` : what;
}

export function brushIn(text: string | null): Brush | null {
  const [, what, low, high] = BRUSH.exec(text ?? "") ?? [];
  if (what === undefined || operand(what) !== what || !areFinite(low, high ?? low)) return null;
  return { what, low: Number(low), high: high === undefined ? Number.POSITIVE_INFINITY : Number(high) };
}

/** The view of a query string; members that are malformed are left to the page. */
export function readLink(dataset: string, query: string): View {
  const q = new URLSearchParams(query);
  const own = (name: string) => q.get(`view.${name}`);
  const place = ["x", "y", "z"].map((name) => numberOf(q.get(name)));
  const show = own("show") ?? "";
  const [, surface, value] = new RegExp(`^(.+)@(${NUMBER})$`, "i").exec(own("surface") ?? "") ?? [];
  const second = {
    dataset: q.get("b.dataset") ?? undefined,
    what: q.get("b.what") || undefined,
    time: numberOf(q.get("b.time")) ?? undefined,
    method: q.get("b.method") ?? undefined,
  };
  const window = numberOf(own("window"));
  const compare = own("compare");
  return {
    dataset,
    what: q.get("what") || null,
    cross: place.every((one) => one === null) ? null : (place.map((one) => one ?? Number.NaN) as unknown as Vec3),
    time: numberOf(q.get("time")),
    method: q.get("method") ?? EMPTY.method,
    show: SHOWS.test(show) ? (show as Show) : EMPTY.show,
    surface:
      surface === undefined || !areFinite(value)
        ? { what: own("surface")?.split("@")[0] || EMPTY.surface.what, value: null }
        : { what: surface, value: Number(value) },
    colour: own("colour") ?? EMPTY.colour,
    ranges: new Map(q.getAll("view.range").flatMap((text) => [rangeOf(text)].filter((one) => one !== null))),
    map: MAP_NAMES.find((one) => one === own("map")) ?? null,
    centre: triple(own("centre")),
    window: window !== null && window > 0 ? window : null,
    camera: triple(own("camera")) ?? EMPTY.camera,
    flow: own("flow") === "off" ? "off" : "streaks",
    brush: brushIn(own("brush")) === null ? null : own("brush"),
    pins: (own("pins") ?? "").split(";").flatMap((text) => [triple(text)].filter((one) => one !== null)),
    b: Object.fromEntries(Object.entries(second).filter(([, one]) => one !== undefined)),
    compare: compare === "difference" || compare === "side" ? compare : "swipe",
    stage: own("stage") === "light" ? "light" : "dark",
  };
}

const texts = (numbers: Vec3) => numbers.map(exactNumber).join(",");

export function writeLink(view: View): string {
  const members: [string, string][] = [];
  const add = (name: string, value: string | null | undefined) => {
    if (value !== null && value !== undefined) members.push([name, value]);
  };
  const { what, cross, time, method, show, surface, colour, ranges, b } = view;
  add("what", what);
  if (cross !== null) for (const [a, name] of ["x", "y", "z"].entries()) add(name, exactNumber(cross[a]));
  add("time", time === null ? null : exactNumber(time));
  add("method", method);
  add("view.show", show);
  add("view.surface", surface.value === null ? surface.what : `${surface.what}@${exactNumber(surface.value)}`);
  add("view.colour", colour);
  for (const [name, { low, high, scale }] of ranges)
    add("view.range", [name, exactNumber(low), exactNumber(high), ...(scale === "linear" ? [] : [scale])].join(":"));
  add("view.map", view.map);
  add("view.centre", view.centre === null ? null : texts(view.centre));
  add("view.window", view.window === null ? null : exactNumber(view.window));
  if (view.camera.some((one, i) => one !== CAMERA[i])) add("view.camera", texts(view.camera));
  if (view.flow === "off") add("view.flow", "off");
  add("view.brush", view.brush);
  if (view.pins.length > 0) add("view.pins", view.pins.map(texts).join(";"));
  if (view.compare !== "swipe") add("view.compare", view.compare);
  if (view.stage === "light") add("view.stage", "light");
  for (const [name, one] of Object.entries(b)) add(`b.${name}`, typeof one === "number" ? exactNumber(one) : one);
  return new URLSearchParams(members).toString();
}

const MEMBERS =
  /^(what|[xyz]|time|method|b\.(dataset|what|time|method)|view\.(show|surface|colour|range|map|centre|window|camera|flow|brush|pins|compare|stage))$/;
/** Members that links omit while they have these values. */
const OMITTED = { "view.flow": "streaks", "view.compare": "swipe", "view.stage": "dark", "view.camera": CAMERA.join() };

/** A member with its numbers as links write them. */
const canonical = (name: string, text: string) =>
  (name.endsWith("method") ? text.toLowerCase() : text)
    .split(/([,;:@])/)
    .map((part) => (numberOf(part) === null ? part : exactNumber(Number(part))))
    .join("");

/** Most sizes of a box that the height of a pane spans. */
export const MAX_BOXES = 4;
const WINDOWS = `Replaced, since views span a millionth of the box to ${MAX_BOXES} boxes`;
/** Whether a pane can span a length, but for the digits of links. */
export const isWindow = (length: number, axes: readonly Axis[]): boolean =>
  length >= 1e-6 * sizeOf({ axes }) && length <= 1.0001 * MAX_BOXES * sizeOf({ axes });

export const OUTSIDE = "Outside of the box, so at its face";
/** Members that the page rounds. */
const ROUNDED = /^([xyz]|view\.(centre|window|camera))$/;

/** Whether two texts have the same numbers, but for the digits of links and of float32. */
function isSame(name: string, text: string, other: string, axes: readonly Axis[]): boolean {
  if (canonical(name, text) === canonical(name, other)) return true;
  const [some, others] = [text, other].map((one) => one.split(",").map((part) => numberOf(part) ?? Number.NaN));
  const isNear = (one: number, i: number) => {
    const { length = 0 } = (name === "view.centre" ? axes[i] : axes["xyz".indexOf(name)]) ?? {};
    return Math.abs(one - others[i]) <= Math.max(1e-8 * length, 2 ** -24 * Math.abs(one));
  };
  return ROUNDED.test(name) && some.length === others.length && some.every(isNear);
}

/** What a page does not show of a link, and why, in sentences; empty if it shows all. */
export function membersIgnored(query: string, shown: View, axes: readonly Axis[]): string {
  const asked = new URLSearchParams(query);
  const has = new URLSearchParams([...Object.entries(OMITTED), ...new URLSearchParams(writeLink(shown))]);
  const found = new Map<string, string[]>();
  const add = (reason: string, name: string) => found.set(reason, [...(found.get(reason) ?? []), name]);
  const seen = new Set<string>();
  for (const [name, text] of asked) {
    const place = numberOf(text);
    const axis = seen.has(name) || place === null ? undefined : axes["xyz".indexOf(name)];
    seen.add(name);
    const isShown = axis?.periodic || has.getAll(name).some((one) => isSame(name, one, text, axes));
    const member = `${name} ${text.trim() || "(empty)"}`;
    if (!MEMBERS.test(name)) add("Not read of this link", name);
    else if (axis !== undefined && !isOnAxis(axis, place as number)) add(OUTSIDE, member);
    else if (!isShown && name === "view.window" && (place ?? 0) > 0 && !isWindow(place as number, axes))
      add(WINDOWS, member);
    else if (!isShown) add("Replaced, since unreadable, repeated or not in the dataset", member);
    else if (axis !== undefined && isCoarse(axis) && Math.fround(place as number) !== place)
      add("Rounded to float32, as the service takes places", member);
  }
  for (const pin of shown.pins) if (!axes.every((axis, a) => isOnAxis(axis, pin[a]))) add(OUTSIDE, `pin ${texts(pin)}`);
  const open = ["x", "y", "z"].filter((name) => numberOf(asked.get(name)) === null);
  if (open.length === 1 || open.length === 2)
    for (const name of open) if (axes["xyz".indexOf(name)]?.nodes !== 1) add("In the middle of the box", name);
  const all = [...found].map(([reason, names]) => `${reason}: ${names.join(", ")}.`);
  return all.map((one) => one.replace(/^Not read.*/, "$& Numbers are without.")).join(" ");
}

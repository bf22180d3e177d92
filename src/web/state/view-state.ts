/** The view state is the whole view as one record, written to and read from the address so that links share it. */

import { COLOUR_MAPS, type ColourMapName } from "../../colour-map.js";
import { shortestFloat32 } from "../../float32/format.js";
import { HESSIANS, type SpatialInterpolation, VALUES } from "../../operations.js";
import { QUANTITIES, type QuantityName } from "../../quantities.js";
import { clampBox, type DomainBox } from "./domain-box.js";
import { axisOf, type DatasetFacts, endOf, flatAxis, knownMethods, methodsOf, offers } from "./facts.js";
import { AXES, type AxisName, clampWindow, type PlaneWindow, wholePlane } from "./plane-geometry.js";

export const SEED_SHAPES = ["point", "line", "grid"] as const;
export const TRACKERS = ["GetPosition", "GetPositionParticleControl", "GetPositionInertialParticle"] as const;
export const LANGUAGES = ["curl", "soap", "python", "matlab", "typescript"] as const;
export const SUBJECTS = ["slice", "probe", "profile", "series", "particles"] as const;
export const RESOLUTIONS = ["auto", "32", "64", "128", "256", "512", "1024", "grid"] as const;
export const SCALINGS = ["auto", "symmetric", "percentile", "log"] as const;
export const LAYOUTS = ["one", "three"] as const;
export const OVERLAYS = ["none", "streamlines", "arrows"] as const;
export const COMPARISONS = ["none", "method", "time"] as const;
export const CURVES = ["one", "methods", "times", "probes"] as const;
/** Most probes that are kept beside the one that moves. */
export const MOST_PINS = 5;
export const VOLUMES = ["auto", "32", "48", "64", "96", "128"] as const;
export const TEMPORAL = ["PCHIP", "None"] as const;
export const THEMES = ["auto", "light", "dark"] as const;

export interface ViewState {
  readonly dataset: string;
  readonly field: QuantityName;
  readonly axis: AxisName;
  /** Position of the plane along its axis. */
  readonly at: number;
  readonly time: number;
  /** Spatial option for values, and the one for derivatives. */
  readonly values: (typeof VALUES)[number];
  readonly derivatives: (typeof HESSIANS)[number];
  readonly temporal: (typeof TEMPORAL)[number];
  readonly nodes: (typeof RESOLUTIONS)[number];
  /** Colour map, or `auto`: by the quantity. */
  readonly map: "auto" | ColourMapName;
  /** Fixed range, or null: that of the values. */
  readonly range: readonly [number, number] | null;
  /** The rule by which the range follows the values while it is not fixed. */
  readonly scaling: (typeof SCALINGS)[number];
  /** Part of the plane that is shown, or null: the whole. */
  readonly window: PlaneWindow | null;
  /** One plane, or three through the probe. */
  readonly layout: (typeof LAYOUTS)[number];
  /** Drawings over the picture of the velocity in the plane. */
  readonly overlay: (typeof OVERLAYS)[number];
  /** Width of the box of filtered quantities. */
  readonly filter: number;
  /** The other side of the difference that is drawn. */
  readonly compare: (typeof COMPARISONS)[number];
  readonly otherMethod: SpatialInterpolation;
  readonly otherTime: number;
  readonly probe: readonly [number, number, number];
  /** Probes that are kept, to be compared with. */
  readonly pins: readonly (readonly [number, number, number])[];
  /** Axis of the line profile. */
  readonly line: AxisName;
  /** The number of curves that the charts hold. */
  readonly curves: (typeof CURVES)[number];
  readonly seeds: (typeof SEED_SHAPES)[number];
  readonly count: number;
  readonly tracker: (typeof TRACKERS)[number];
  readonly dt: number;
  readonly steps: number;
  readonly every: number;
  readonly tp: number;
  /** Whether the 3-D view is open. */
  readonly scene: boolean;
  /** Quantity of the isosurface, and the one that colours it. */
  readonly surface: QuantityName | "none";
  readonly tint: QuantityName | "none";
  /** Percentage of the volume that the isosurface encloses. */
  readonly enclosed: number;
  /** The part of the domain in which the isosurface is drawn, or null: all of it. */
  readonly box: DomainBox | null;
  /** Samples a side of the volume behind the isosurface, or `auto`: as many as are usual and admitted. */
  readonly volume: (typeof VOLUMES)[number];
  /** Whether the particles shown were launched: their paths are asked for again with the link. */
  readonly launched: boolean;
  readonly record: number;
  /** Place of the camera relative to the box, in lengths of its longest side, or null: where it sees the whole box. */
  readonly camera: readonly [number, number, number] | null;
  readonly subject: (typeof SUBJECTS)[number];
  readonly language: (typeof LANGUAGES)[number];
  readonly theme: (typeof THEMES)[number];
}

function middleOf(facts: DatasetFacts, name: AxisName): number {
  const { first, length, nodes } = axisOf(facts, name);
  return Math.fround(nodes === 1 ? first : first + length / 2);
}

/** The quantities that a dataset has. */
export function quantitiesOf(facts: DatasetFacts): readonly (typeof QUANTITIES)[number][] {
  return QUANTITIES.filter((quantity) => offers(facts, quantity.operation));
}

/** The axis of the first line profile: x, or the first axis with an extent. */
function longestAxis(facts: DatasetFacts): AxisName {
  return facts.axes.find((axis) => axis.nodes > 1)?.name ?? "x";
}

/** The quantity shown first: vorticity where there is a velocity. */
function firstQuantity(facts: DatasetFacts): QuantityName {
  const offered = quantitiesOf(facts);
  return (offered.find(({ name }) => name === "vorticity") ?? offered[0] ?? QUANTITIES[0]).name;
}

/** The usual width of a box filter: five grid spacings. */
function filterWidth(facts: DatasetFacts): number {
  return Number((5 * Math.max(...facts.axes.map((axis) => axis.spacing))).toPrecision(4));
}

/** The usual method, or the last one whose stencil fits a dataset. */
function preferred<T extends string>(
  methods: readonly T[],
  usual: T,
  facts: DatasetFacts,
  operations: readonly string[],
): T {
  const fitting = operations.map((name) => methodsOf(facts, name)).find((list) => list.length > 0) ?? methods;
  return fitting.includes(usual) ? usual : (methods.filter((method) => fitting.includes(method)).at(-1) ?? usual);
}

/** Returns where a view of a dataset begins. */
export function initialState(facts: DatasetFacts): ViewState {
  const { times } = facts;
  const step = times.count > 1 ? (times.last - times.first) / (times.count - 1) : 1;
  return {
    dataset: facts.name,
    field: firstQuantity(facts),
    axis: flatAxis(facts) ?? "z",
    at: middleOf(facts, flatAxis(facts) ?? "z"),
    time: Math.fround(times.first),
    values: preferred(VALUES, "Lag6", facts, ["GetVelocity", "GetVelocityAndPressure"]),
    derivatives: preferred(HESSIANS, "Fd4Lag4", facts, ["GetVelocityGradient", "GetPressureGradient"]),
    temporal: "PCHIP",
    nodes: "auto",
    map: "auto",
    range: null,
    window: null,
    scaling: "auto",
    layout: "one",
    overlay: "none",
    filter: filterWidth(facts),
    compare: "none",
    otherMethod: "Lag4",
    otherTime: Math.fround(times.last),
    scene: false,
    surface: "none",
    tint: "none",
    enclosed: 5,
    box: null,
    volume: "auto",
    probe: [middleOf(facts, "x"), middleOf(facts, "y"), middleOf(facts, "z")],
    pins: [],
    line: longestAxis(facts),
    curves: "one",
    seeds: "grid",
    count: Math.min(64, facts.points),
    tracker: "GetPosition",
    dt: Number((step / 10).toPrecision(6)),
    steps: Math.max(1, Math.floor((times.last - times.first) / (step / 10) + 1e-9)),
    every: 1,
    tp: Number(step.toPrecision(6)),
    launched: false,
    record: 0,
    camera: null,
    subject: "slice",
    language: "curl",
    theme: "auto",
  };
}

/** A reader of one member: the value, or undefined where the text means none. */
type MemberReader<T> = (text: string, facts: DatasetFacts) => T | undefined;

const oneOf =
  <T extends string>(values: readonly T[]): MemberReader<T> =>
  (text) =>
    values.find((value) => value === text);

/** A reader of a spatial option that some operation answers on the dataset. */
const methodOf =
  <T extends string>(methods: readonly T[]): MemberReader<T> =>
  (text, facts) =>
    methods.find((method) => method === text && knownMethods(facts).has(method));

function numberIn(text: string, low: number, high: number): number | undefined {
  const value = text.trim() === "" ? Number.NaN : Math.fround(Number(text));
  const slack = 1e-6 * Math.max(1, Math.abs(high - low));
  return value >= low - slack && value <= high + slack ? value : undefined;
}

function wholeIn(low: number, high: number): MemberReader<number> {
  return (text) => {
    const value = Number(text);
    return Number.isInteger(value) && value >= low && value <= high ? value : undefined;
  };
}

function numbers(text: string, count: number): number[] | undefined {
  const list = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Math.fround(Number(part))));
  return list.length === count && list.every(Number.isFinite) ? list : undefined;
}

function place(text: string, facts: DatasetFacts): readonly [number, number, number] | undefined {
  const list = text.split(",");
  if (list.length !== 3) return undefined;
  const inside = list.map((part, i) => {
    const axis = axisOf(facts, AXES[i]);
    return numberIn(part, axis.first, endOf(axis));
  });
  return inside.includes(undefined) ? undefined : (inside as [number, number, number]);
}

/** A number of zero or more. */
function notNegative(text: string): number | undefined {
  const value = Number(text);
  return text.trim() !== "" && value >= 0 && Number.isFinite(Math.fround(value)) ? value : undefined;
}

/**
 * Members in the address: their short name there and how their text is read. `at` comes after `axis`, which it needs.
 */
const READERS: { readonly [K in keyof Omit<ViewState, "dataset" | "at">]: MemberReader<ViewState[K]> } = {
  field: (text, facts) => quantitiesOf(facts).find((quantity) => quantity.name === text)?.name,
  axis: (text, facts) => AXES.find((name) => name === text && name === (flatAxis(facts) ?? name)),
  time: (text, facts) => numberIn(text, facts.times.first, facts.times.last),
  values: methodOf(VALUES),
  derivatives: methodOf(HESSIANS),
  temporal: oneOf(TEMPORAL),
  nodes: oneOf(RESOLUTIONS),
  map: oneOf(["auto", ...COLOUR_MAPS] as const),
  range: (text) => {
    const list = numbers(text, 2);
    return list !== undefined && list[0] < list[1] ? (list as [number, number]) : undefined;
  },
  scaling: oneOf(SCALINGS),
  window: (text) => {
    const list = numbers(text, 4);
    if (list === undefined) return undefined;
    const [left, right, bottom, top] = list as [number, number, number, number];
    return left < right && bottom < top ? [left, right, bottom, top] : undefined;
  },
  layout: (text, facts) => LAYOUTS.find((value) => value === text && (value === "one" || flatAxis(facts) === null)),
  overlay: oneOf(OVERLAYS),
  filter: (text) => notNegative(text) || undefined,
  compare: oneOf(COMPARISONS),
  otherMethod: methodOf([...VALUES, ...HESSIANS]),
  otherTime: (text, facts) => numberIn(text, facts.times.first, facts.times.last),
  scene: (text) => (text === "true" ? true : undefined),
  surface: (text, facts) =>
    flatAxis(facts) === null ? quantitiesOf(facts).find((quantity) => quantity.name === text)?.name : undefined,
  tint: (text, facts) => quantitiesOf(facts).find((quantity) => quantity.name === text)?.name,
  enclosed: (text) => numberIn(text, 0.1, 99),
  box: (text, facts) => {
    const list = numbers(text, 6);
    return list === undefined ? undefined : (clampBox(list, facts) ?? undefined);
  },
  volume: oneOf(VOLUMES),
  probe: place,
  pins: (text, facts) => {
    const parts = text.split(",");
    if (parts.length % 3 !== 0 || parts.length > 3 * MOST_PINS) return undefined;
    const pins = Array.from({ length: parts.length / 3 }, (_, i) =>
      place(parts.slice(3 * i, 3 * i + 3).join(","), facts),
    );
    return pins.includes(undefined) ? undefined : (pins as [number, number, number][]);
  },
  line: oneOf(AXES),
  curves: oneOf(CURVES),
  seeds: oneOf(SEED_SHAPES),
  count: wholeIn(1, 1024),
  tracker: oneOf(TRACKERS),
  dt: (text) => notNegative(text) || undefined,
  steps: wholeIn(1, 10_000),
  every: wholeIn(1, 10_000),
  tp: notNegative,
  launched: (text) => (text === "true" ? true : undefined),
  record: wholeIn(0, 10_000),
  camera: (text) => numbers(text, 3) as [number, number, number] | undefined,
  subject: oneOf(SUBJECTS),
  language: oneOf(LANGUAGES),
  theme: oneOf(THEMES),
};

/** A state read from an address, and the members whose text meant nothing. */
export interface ParsedState {
  readonly state: ViewState;
  readonly bad: readonly string[];
}

/** Reads the view out of a query string; what is absent or bad is as at the beginning. */
export function parseState(search: string, facts: DatasetFacts): ParsedState {
  const query = new URLSearchParams(search);
  const found: Record<string, unknown> = {};
  const bad: string[] = [];
  for (const [name, text] of query) {
    if (name === "dataset" || name === "at") continue;
    const reader = Object.hasOwn(READERS, name)
      ? (READERS[name as keyof typeof READERS] as MemberReader<unknown>)
      : undefined;
    const value = reader?.(text, facts);
    if (value === undefined) bad.push(name);
    else found[name] = value;
  }
  const start = initialState(facts);
  const axis = axisOf(facts, (found.axis as AxisName | undefined) ?? start.axis);
  const text = query.get("at");
  let at: number | undefined = middleOf(facts, axis.name);
  if (text !== null) {
    at = numberIn(text, axis.first, endOf(axis));
    if (at === undefined) bad.push("at");
  }
  const state = { ...start, at: at ?? middleOf(facts, axis.name), ...found } as ViewState;
  return { state: { ...state, window: insideWindow(state, facts) }, bad };
}

/** The window of a state moved into its plane. */
function insideWindow({ window, axis }: ViewState, facts: DatasetFacts): PlaneWindow | null {
  if (window === null) return null;
  const [left, right, bottom, top] = window;
  return clampWindow(wholePlane(facts, axis), left, bottom, right - left, top - bottom);
}

/** A view of another dataset with what still applies of the one before: quantity, methods, colours and layout. */
export function carryState(before: ViewState, from: DatasetFacts, facts: DatasetFacts): ViewState {
  const kept = new URLSearchParams(formatState(before, from));
  for (const name of ["window", "box", "range", "launched", "record", "camera", "otherTime"]) kept.delete(name);
  return parseState(kept.toString(), facts).state;
}

/** A member as text; numbers are float32, in the shortest decimal that means them. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(",");
  return typeof value === "number" ? shortestFloat32(Math.fround(value)) : String(value);
}

/** The query string of a view: only what differs from the beginning. */
export function formatState(state: ViewState, facts: DatasetFacts): string {
  const start = initialState(facts);
  const query = new URLSearchParams({ dataset: state.dataset });
  const at = middleOf(facts, state.axis);
  for (const name of [...Object.keys(READERS), "at"] as (keyof ViewState)[]) {
    const value = state[name];
    const usual = name === "at" ? at : start[name];
    if (value !== null && textOf(value) !== textOf(usual)) query.set(name, textOf(value));
  }
  return query.toString().replaceAll("%2C", ",");
}

/** The view state holds the whole view as one record, which the address of the page carries, so that links share it. */

import { shortestDecimal, withoutNoise } from "../../src/float32/format.js";
import { COLOUR_MAPS, type ColourMapName } from "../../src/shared/colour-map.js";
import { HESSIANS, INTEGRATORS, type SpatialInterpolation, VALUES } from "../../src/shared/operations.js";
import { QUANTITIES } from "../../src/shared/quantities.js";
import { clampBox, type DomainBox } from "./domain-box.js";
import { axisOf, canStretch, type DatasetFacts, endOf, flatAxis, knownMethods, methodsOf, offers } from "./facts.js";
import { AXES, type AxisName, clampWindow, type PlaneWindow, periodsOf, wholePlane } from "./plane-geometry.js";
import { quantitiesOf } from "./shown-quantity.js";

/** Places where particles start: the probe, the profile's line, a grid in the plane, or places pointed at. */
export const SEED_SHAPES = ["point", "line", "grid", "places"] as const;
/** Operations that track particles on the page. */
export const TRACKERS = ["GetPosition", "GetPositionParticleControl", "GetPositionInertialParticle"] as const;
/** Languages of the call that the page shows. */
export const LANGUAGES = ["python", "shell", "curl", "soap"] as const;
/** Figures whose call the page can show. */
export const SUBJECTS = ["slice", "probe", "profile", "series", "particles"] as const;
/** Samples a side of a slice; `auto` lets the page choose, `grid` takes the nodes of the dataset. */
export const RESOLUTIONS = ["auto", "32", "64", "128", "256", "512", "1024", "grid"] as const;
/** Rules by which a colour range follows the values: `auto` those of all times, the others this picture's. */
export const SCALINGS = ["auto", "picture", "percentile"] as const;
/** The way from values to colours; logarithms of values of both signs are linear about zero. */
export const SHAPES = ["linear", "symmetric", "log"] as const;
/** Numbers of planes shown. */
export const LAYOUTS = ["one", "three"] as const;
/** Drawings of the velocity over a plane, and how much it stretches what starts there. */
export const OVERLAYS = ["none", "streamlines", "lines", "arrows", "ftle"] as const;
/** What a click in a plane does: it moves the probe, or adds a place where streamlines or particles start. */
export const CLICKS = ["probe", "lines", "particles"] as const;
/** What a slice is compared with: nothing, another method or another time. */
export const COMPARISONS = ["none", "method", "time"] as const;
/** What the curves of a chart differ in; `one` is a single curve. */
export const CURVES = ["one", "methods", "times", "probes"] as const;
/** Largest number of probes that are kept in addition to the one that moves. */
export const MOST_PINS = 5;
/** Panels that open beside the picture. */
export const PANELS = [
  "probe",
  "profile",
  "series",
  "statistics",
  "particles",
  "export",
  "points",
  "cutout",
  "views",
  "jobs",
  "facts",
] as const;
export type PanelName = (typeof PANELS)[number];
/** What the statistics panel can show. */
export const ANALYSES = [
  "distribution",
  "profile",
  "conditional",
  "invariants",
  "energy",
  "spectrum",
  "increments",
  "structures",
] as const;
export type ShownAnalysis = (typeof ANALYSES)[number];
/** Nodes that are analysed: all of the frame, or those of the plane nearest to the one shown, within its window. */
export const ANALYSED_PARTS = ["frame", "plane"] as const;
/** Frames that are analysed together: the one of the time shown, or all that are stored. */
export const ANALYSED_FRAMES = ["one", "all"] as const;
/** Drawings of the volume in the 3-D view. */
const VOLUME_DRAWINGS = ["surface", "rays"] as const;
/** Characters of the name of a view at most. */
const LONGEST_NAME = 80;
/** Most places where particles start that are pointed at, and most notes. */
export const MOST_PLACES = 64;
/** Samples a side of the volume behind the isosurface. */
export const VOLUMES = ["auto", "32", "48", "64", "96", "128"] as const;
/** Least and largest multiple of the rms beyond which nodes belong to structures. */
export const ABOVE = [0.1, 100] as const;
/** Temporal options. */
export const TEMPORAL = ["PCHIP", "None"] as const;
/** Pictures a second to choose from. */
export const SPEEDS = ["1", "2", "5", "10", "15", "30"] as const;
/** Colour themes of the page. */
export const THEMES = ["auto", "light", "dark"] as const;

/** A note at a place of the domain. */
export interface PlacedNote {
  readonly at: readonly [number, number, number];
  readonly text: string;
}

/** Whether the 3-D view is open. */
export function hasScene({ scene, launched }: Pick<ViewState, "scene" | "launched">): boolean {
  return scene ?? launched;
}

/** A condition on nodes: the value of a quantity, or the coordinate along an axis, is in a range. */
export interface NodeCondition {
  readonly of: string;
  readonly low: number;
  readonly high: number;
}

/** Whether a condition is one on coordinates. */
export function isOnAxis({ of }: NodeCondition): boolean {
  return AXES.some((axis) => axis === of);
}

/** Everything that the page shows; times and coordinates are in the units of the dataset. */
export interface ViewState {
  readonly dataset: string;
  readonly field: string;
  readonly axis: AxisName;
  /** Position of the plane along its axis. */
  readonly at: number;
  /** Time of every figure but the series; particles start at it. */
  readonly time: number;
  /** Spatial option of quantities that are values, and of those that are derivatives. */
  readonly values: (typeof VALUES)[number];
  readonly derivatives: (typeof HESSIANS)[number];
  readonly temporal: (typeof TEMPORAL)[number];
  /** Samples a side of the slice. */
  readonly nodes: (typeof RESOLUTIONS)[number];
  /** Colour map, or `auto`: by the quantity. */
  readonly map: "auto" | ColourMapName;
  /** Fixed range, or null: that of the values. */
  readonly range: readonly [number, number] | null;
  /** Ends of the automatic range in a link, if it is one of values seen, and the smallest size of a logarithm. */
  readonly seen: readonly [number, number, number] | null;
  /** The rule by which the range follows the values while it is not fixed. */
  readonly scaling: (typeof SCALINGS)[number];
  readonly shape: (typeof SHAPES)[number];
  /** Part of the plane that is shown, or null: the whole. */
  readonly window: PlaneWindow | null;
  /** One plane, or three through the probe. */
  readonly layout: (typeof LAYOUTS)[number];
  /** Drawing of the velocity in the plane, over the picture. */
  readonly overlay: (typeof OVERLAYS)[number];
  /** Width of the box of filtered quantities. */
  readonly filter: number;
  /** The picture shows the slice less the same slice by `otherMethod` or at `otherTime`. */
  readonly compare: (typeof COMPARISONS)[number];
  readonly otherMethod: SpatialInterpolation;
  readonly otherTime: number;
  /** The point at which figures are read, which the profile runs through. */
  readonly probe: readonly [number, number, number];
  /** Probes that are kept, to be compared with. */
  readonly pins: readonly (readonly [number, number, number])[];
  /** Axis of the line profile. */
  readonly line: AxisName;
  /** What the curves of the charts differ in. */
  readonly curves: (typeof CURVES)[number];
  /** Places where particles start, and the number of particles. */
  readonly seeds: (typeof SEED_SHAPES)[number];
  readonly count: number;
  readonly tracker: (typeof TRACKERS)[number];
  /** Time step of the particles, and the number of steps. */
  readonly dt: number;
  readonly steps: number;
  /** Steps from one recorded position to the next. */
  readonly every: number;
  readonly integrator: (typeof INTEGRATORS)[number];
  /** Time from the start of the first particle to that of the last one; tracers with equal steps only. */
  readonly release: number;
  /** Quantity that colours the paths, or `none`. */
  readonly along: string;
  /** The parameter `Tp` of the operation, in units of time. */
  readonly tp: number;
  /** Places where particles start that were pointed at. */
  readonly places: readonly (readonly [number, number, number])[];
  readonly click: (typeof CLICKS)[number];
  /** Time at which particles start. */
  readonly start: number;
  /** Panels that are open beside the picture. */
  readonly open: readonly PanelName[];
  /** Values of contours over the picture. */
  readonly contours: readonly number[];
  /** The name of the view; empty for none. */
  readonly named: string;
  /** What the statistics panel shows. */
  readonly analysis: ShownAnalysis;
  /** The nodes and frames that it analyses, as far as it has a choice. */
  readonly part: (typeof ANALYSED_PARTS)[number];
  readonly frames: (typeof ANALYSED_FRAMES)[number];
  /** The axis of mean profiles and increments, or null: the one between walls. */
  readonly profileAxis: AxisName | null;
  /** The quantity on which means are conditioned, or null: the usual one. */
  readonly condition: string | null;
  /** The quantity of structures, or null: the usual one; they are where it exceeds this multiple of its rms. */
  readonly structure: string | null;
  readonly above: number;
  /** Whether profiles between walls are drawn in wall units. */
  readonly wallUnits: boolean;
  /** Whether the axis of probability densities is logarithmic. */
  readonly logDensity: boolean;
  /** Notes on the picture. */
  readonly notes: readonly PlacedNote[];
  /** Whether the 3-D view is open; null: as long as particles are launched. */
  readonly scene: boolean | null;
  /** Whether the planes are drawn in the 3-D view too. */
  readonly scenePlanes: boolean;
  /** The drawing of the volume of the isosurface's quantity. */
  readonly drawing: (typeof VOLUME_DRAWINGS)[number];
  /** Percentage of light that the strongest values hold back over a fiftieth of the longest side, if drawn by rays. */
  readonly opacity: number;
  /** Quantity of the isosurface, and the one that colours it, or `none`. */
  readonly surface: string;
  readonly tint: string;
  /** Percentage of the volume that the isosurface encloses. */
  readonly enclosed: number;
  /** The value of the isosurface, or null: the one that encloses the percentage. */
  readonly level: number | null;
  /** Conditions of the nodes that are marked in the picture; none are if there is none. */
  readonly brush: readonly NodeCondition[];
  /** The part of the domain in which the isosurface is drawn, or null: all of it. */
  readonly box: DomainBox | null;
  /** Samples a side of the volume behind the isosurface, or `auto`: as many as are usual and admitted. */
  readonly volume: (typeof VOLUMES)[number];
  /** Whether particles have been launched: the page asks for their paths again when it opens the link. */
  readonly launched: boolean;
  /** Place of the camera relative to the box, in lengths of its longest side, or null: where it sees the whole box. */
  readonly camera: readonly [number, number, number] | null;
  /** The figure whose call is shown, and the language of the call. */
  readonly subject: (typeof SUBJECTS)[number];
  readonly language: (typeof LANGUAGES)[number];
  /** Pictures a second while time plays. */
  readonly speed: (typeof SPEEDS)[number];
  readonly theme: (typeof THEMES)[number];
}

/** The middle of an axis, or its only node. */
function middleOf(facts: DatasetFacts, name: AxisName): number {
  const { first, length, nodes } = axisOf(facts, name);
  return Math.fround(nodes === 1 ? first : first + length / 2);
}

/** The only axis with an extent that is not periodic, as between two walls; undefined if there is none or several. */
function onlyBoundedAxis({ axes }: DatasetFacts): AxisName | undefined {
  const bounded = axes.filter(({ periodic, nodes }) => !periodic && nodes > 1);
  return bounded.length === 1 ? bounded[0]?.name : undefined;
}

/** The axis of the first line profile: the first one with an extent. */
function firstAxisWithExtent(facts: DatasetFacts): AxisName {
  return facts.axes.find((axis) => axis.nodes > 1)?.name ?? "x";
}

/** The quantity shown first: vorticity if there is a velocity. */
function firstQuantity(facts: DatasetFacts): string {
  const offered = quantitiesOf(facts);
  return (offered.find(({ name }) => name === "vorticity") ?? offered[0] ?? QUANTITIES[0]).name;
}

/** The usual width of a box filter: five grid spacings. */
function filterWidth(facts: DatasetFacts): number {
  return Number((5 * Math.max(...facts.axes.map((axis) => axis.spacing))).toPrecision(4));
}

/**
 * The usual method, or the last one that a dataset offers for the first of the operations that it answers; the usual
 * one as well if it answers none of them.
 */
function preferred<T extends string>(
  methods: readonly T[],
  usual: T,
  facts: DatasetFacts,
  operations: readonly string[],
): T {
  const fitting = operations.map((name) => methodsOf(facts, name)).find((list) => list.length > 0) ?? methods;
  return fitting.includes(usual) ? usual : (methods.filter((method) => fitting.includes(method)).at(-1) ?? usual);
}

/** Whether the system asks for less motion. */
function wantsLessMotion(): boolean {
  return globalThis.matchMedia?.("(prefers-reduced-motion: reduce)").matches ?? false;
}

/** Returns the view that a dataset is first shown in. */
export function initialState(facts: DatasetFacts): ViewState {
  const { times } = facts;
  const step = times.count > 1 ? (times.last - times.first) / (times.count - 1) : 1;
  return {
    dataset: facts.name,
    field: firstQuantity(facts),
    axis: flatAxis(facts) ?? "z",
    at: middleOf(facts, flatAxis(facts) ?? "z"),
    time: withoutNoise(times.first),
    values: preferred(VALUES, "Lag6", facts, ["GetVelocity", "GetVelocityAndPressure", "GetField"]),
    derivatives: preferred(HESSIANS, "Fd4Lag4", facts, [
      "GetVelocityGradient",
      "GetPressureGradient",
      "GetFieldGradient",
    ]),
    temporal: "PCHIP",
    nodes: "auto",
    map: "auto",
    range: null,
    seen: null,
    window: null,
    scaling: "auto",
    shape: "linear",
    layout: "one",
    overlay: "none",
    filter: filterWidth(facts),
    compare: "none",
    otherMethod: "Lag4",
    otherTime: withoutNoise(times.last),
    places: [],
    click: "probe",
    start: withoutNoise(times.first),
    open: [],
    contours: [],
    notes: [],
    named: "",
    analysis: "distribution",
    part: "frame",
    frames: "one",
    profileAxis: null,
    condition: null,
    structure: null,
    above: 2,
    wallUnits: false,
    logDensity: false,
    scene: null,
    scenePlanes: true,
    drawing: "surface",
    opacity: 60,
    surface: "none",
    tint: "none",
    enclosed: 5,
    level: null,
    brush: [],
    box: null,
    volume: "auto",
    probe: [middleOf(facts, "x"), middleOf(facts, "y"), middleOf(facts, "z")],
    pins: [],
    line: onlyBoundedAxis(facts) ?? firstAxisWithExtent(facts),
    curves: "one",
    seeds: "grid",
    count: Math.min(64, facts.points),
    tracker: "GetPosition",
    dt: Number((step / 10).toPrecision(6)),
    steps: Math.max(1, Math.floor((times.last - times.first) / (step / 10) + 1e-9)),
    every: 1,
    integrator: "heun",
    release: 0,
    along: "none",
    tp: Number(step.toPrecision(6)),
    launched: false,
    camera: null,
    subject: "slice",
    language: "python",
    speed: wantsLessMotion() ? "1" : "10",
    theme: "auto",
  };
}

/** Nodes of a dataset at most whose first view plays by itself. */
const LIVELY_NODES = 2 ** 21;

/** Whether the first view of a dataset plays: it costs little, and the system does not ask for less motion. */
export function isLively(facts: DatasetFacts): boolean {
  const nodes = facts.axes.reduce((product, axis) => product * axis.nodes, 1);
  return (
    facts.times.count > 1 &&
    nodes <= LIVELY_NODES &&
    facts.points >= 512 * 512 &&
    offers(facts, "GetVelocity") &&
    !wantsLessMotion()
  );
}

/** The view that plays by itself, slowly: finely sampled, with streaks along the flow. */
export function liveState(facts: DatasetFacts): ViewState {
  return { ...initialState(facts), nodes: "512", overlay: "streamlines", speed: "1" };
}

/** Reads one member from its text in the address; returns undefined if the text is not one of its values. */
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

/** Reads a stored or intermediate time, in double precision. */
function timeIn(text: string, { times: { first, last } }: DatasetFacts): number | undefined {
  const value = text.trim() === "" ? Number.NaN : withoutNoise(Number(text));
  const slack = 1e-6 * (last - first);
  return value >= first - slack && value <= last + slack ? value : undefined;
}

/** Reads a float32 from `low` to `high`; ends may be rounded outwards, to float32 or by a millionth of the range. */
function numberIn(text: string, low: number, high: number): number | undefined {
  const value = text.trim() === "" ? Number.NaN : Math.fround(Number(text));
  const slack = 1e-6 * (high - low);
  const isInside =
    value >= Math.min(low - slack, Math.fround(low)) && value <= Math.max(high + slack, Math.fround(high));
  return isInside ? value : undefined;
}

/** Makes a reader of whole numbers from `low` to `high`. */
function wholeIn(low: number, high: number): MemberReader<number> {
  return (text) => {
    const value = Number(text);
    return Number.isInteger(value) && value >= low && value <= high ? value : undefined;
  };
}

/** Reads `count` finite float32 numbers that commas separate. */
function numbers(text: string, count: number): number[] | undefined {
  const list = text.split(",").map((part) => (part.trim() === "" ? Number.NaN : Math.fround(Number(part))));
  return list.length === count && list.every(Number.isFinite) ? list : undefined;
}

/** Reads a point inside the domain. */
function place(text: string, facts: DatasetFacts): readonly [number, number, number] | undefined {
  const list = text.split(",");
  if (list.length !== 3) return undefined;
  const inside = list.map((part, i) => {
    const axis = axisOf(facts, AXES[i]);
    return numberIn(part, axis.first, endOf(axis));
  });
  return inside.includes(undefined) ? undefined : (inside as [number, number, number]);
}

/** Reads the name of a quantity that the dataset has. */
function quantityIn(text: string, facts: DatasetFacts): string | undefined {
  return quantitiesOf(facts).find(({ name }) => name === text)?.name;
}

/** Reads a number of zero or more. */
function notNegative(text: string): number | undefined {
  const value = Number(text);
  return text.trim() !== "" && value >= 0 && Number.isFinite(Math.fround(value)) ? value : undefined;
}

/**
 * The readers of the members in the address, by their names. `dataset` is read before there are facts, and `at` after
 * `axis`, which it needs: `parseState` reads it.
 */
const READERS: { readonly [K in keyof Omit<ViewState, "dataset" | "at">]: MemberReader<ViewState[K]> } = {
  field: quantityIn,
  axis: (text, facts) => AXES.find((name) => name === text && name === (flatAxis(facts) ?? name)),
  time: timeIn,
  values: methodOf(VALUES),
  derivatives: methodOf(HESSIANS),
  temporal: oneOf(TEMPORAL),
  nodes: oneOf(RESOLUTIONS),
  map: oneOf(["auto", ...COLOUR_MAPS] as const),
  range: (text) => {
    const list = numbers(text, 2);
    return list !== undefined && list[0] < list[1] ? (list as [number, number]) : undefined;
  },
  seen: (text) => {
    const list = numbers(text, 3);
    return list !== undefined && list[0] <= list[1] && list[2] >= 0 ? (list as [number, number, number]) : undefined;
  },
  scaling: oneOf(SCALINGS),
  shape: oneOf(SHAPES),
  window: (text) => {
    const list = numbers(text, 4);
    if (list === undefined) return undefined;
    const [left, right, bottom, top] = list as [number, number, number, number];
    return left < right && bottom < top ? [left, right, bottom, top] : undefined;
  },
  layout: (text, facts) => LAYOUTS.find((value) => value === text && (value === "one" || flatAxis(facts) === null)),
  overlay: (text, facts) => OVERLAYS.find((value) => value === text && (value !== "ftle" || canStretch(facts))),
  filter: (text) => notNegative(text) || undefined,
  compare: oneOf(COMPARISONS),
  otherMethod: methodOf([...VALUES, ...HESSIANS]),
  otherTime: timeIn,
  places: readPlaces,
  click: oneOf(CLICKS),
  start: timeIn,
  open: (text) => {
    const names = text.split(",").map((name) => PANELS.find((panel) => panel === name));
    return names.includes(undefined) ? undefined : (names as PanelName[]);
  },
  contours: (text) => numbers(text, text.split(",").length),
  notes: readNotes,
  named: (text) => text.slice(0, LONGEST_NAME),
  analysis: oneOf(ANALYSES),
  part: oneOf(ANALYSED_PARTS),
  frames: oneOf(ANALYSED_FRAMES),
  profileAxis: oneOf(AXES),
  condition: quantityIn,
  structure: quantityIn,
  above: (text) => numberIn(text, ...ABOVE),
  wallUnits: (text) => (text === "true" ? true : undefined),
  logDensity: (text) => (text === "true" ? true : undefined),
  scene: (text) => (text === "true" ? true : text === "false" ? false : undefined),
  scenePlanes: (text) => (text === "false" ? false : undefined),
  drawing: oneOf(VOLUME_DRAWINGS),
  opacity: (text) => numberIn(text, 1, 99),
  surface: (text, facts) => (flatAxis(facts) === null ? quantityIn(text, facts) : undefined),
  tint: quantityIn,
  enclosed: (text) => numberIn(text, 0.1, 99),
  brush: readBrush,
  level: (text) => numbers(text, 1)?.[0],
  box: (text, facts) => {
    const list = numbers(text, 6);
    return list === undefined ? undefined : (clampBox(list, facts) ?? undefined);
  },
  volume: oneOf(VOLUMES),
  probe: place,
  pins: (text, facts) => {
    const pins = readPlaces(text, facts);
    return (pins?.length ?? 0) > MOST_PINS ? undefined : pins;
  },
  line: oneOf(AXES),
  curves: oneOf(CURVES),
  seeds: oneOf(SEED_SHAPES),
  count: wholeIn(1, 1024),
  tracker: oneOf(TRACKERS),
  dt: (text) => notNegative(text) || undefined,
  steps: wholeIn(1, 10_000),
  every: wholeIn(1, 10_000),
  integrator: oneOf(INTEGRATORS),
  release: notNegative,
  along: (text, facts) => quantitiesOf(facts).find(({ name, method }) => name === text && method !== null)?.name,
  tp: notNegative,
  launched: (text) => (text === "true" ? true : undefined),
  camera: (text) => numbers(text, 3) as [number, number, number] | undefined,
  subject: oneOf(SUBJECTS),
  language: oneOf(LANGUAGES),
  speed: oneOf(SPEEDS),
  theme: oneOf(THEMES),
};

/** The members of an address, with those of older links under their present names. */
function olderMembers(query: URLSearchParams): readonly (readonly [string, string])[] {
  return [...query].map(([name, text]) => {
    const moved = name === "scaling" && text !== "linear" && SHAPES.some((shape) => shape === text);
    return moved ? ["shape", text] : [name, text];
  });
}

/** A state read from an address, and the names of its members in the address that have no valid text. */
export interface ParsedState {
  readonly state: ViewState;
  readonly bad: readonly string[];
}

/**
 * Reads a view from a query string; members that are absent or bad have the values of `initialState`. Parameters that
 * are not members, such as those that other sites append to links, are ignored.
 */
export function parseState(search: string, facts: DatasetFacts): ParsedState {
  const query = new URLSearchParams(search);
  const found: Record<string, unknown> = {};
  const bad: string[] = [];
  for (const [name, text] of olderMembers(query)) {
    if (!Object.hasOwn(READERS, name)) continue;
    const value = (READERS[name as keyof typeof READERS] as MemberReader<unknown>)(text, facts);
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
  const moved = text !== null && at !== undefined && found.probe === undefined;
  const linked = state.layout === "three" && moved ? { probe: withPlace(state.probe, axis.name, at as number) } : {};
  return { state: { ...state, ...linked, window: insideWindow(state, facts) }, bad };
}

/** A place moved along an axis. */
export function withPlace(place: ViewState["probe"], axis: AxisName, at: number): [number, number, number] {
  return place.map((value, i) => (AXES[i] === axis ? at : value)) as [number, number, number];
}

/** Moves the window of a state into its plane. */
function insideWindow({ window, axis }: ViewState, facts: DatasetFacts): PlaneWindow | null {
  if (window === null) return null;
  const [left, right, bottom, top] = window;
  return clampWindow(wholePlane(facts, axis), left, bottom, right - left, top - bottom, periodsOf(facts, axis));
}

/**
 * Returns a view of another dataset with the members of the one before that are valid there. Members that belong to its
 * domain or its particles alone, such as plane, probe, window and range, begin anew, as do all with their first value.
 */
export function carryState(before: ViewState, from: DatasetFacts, facts: DatasetFacts): ViewState {
  const kept = new URLSearchParams(formatState(before, from));
  for (const name of [
    "at",
    "probe",
    "pins",
    "window",
    "box",
    "range",
    "seen",
    "level",
    "brush",
    "profileAxis",
    "launched",
    "places",
    "notes",
    "contours",
    "named",
    "camera",
    "compare",
    "otherMethod",
    "otherTime",
  ])
    kept.delete(name);
  return parseState(kept.toString(), facts).state;
}

/** Reads places in a row. */
function readPlaces(text: string, facts: DatasetFacts): readonly (readonly [number, number, number])[] | undefined {
  const parts = text.split(",");
  if (parts.length % 3 !== 0 || parts.length > 3 * MOST_PLACES) return undefined;
  const places = Array.from({ length: parts.length / 3 }, (_, i) =>
    place(parts.slice(3 * i, 3 * i + 3).join(","), facts),
  );
  return places.includes(undefined) ? undefined : (places as [number, number, number][]);
}

/** Reads notes, each a place and an encoded text after it. */
function readNotes(text: string, facts: DatasetFacts): readonly PlacedNote[] | undefined {
  const notes = text.split(";").map((part) => {
    const [, where = "", encoded = ""] = /^([^,]*,[^,]*,[^,]*),(.*)$/.exec(part) ?? [];
    const at = place(where, facts);
    return at === undefined ? undefined : { at: at as PlacedNote["at"], text: decodeURIComponent(encoded) };
  });
  return notes.includes(undefined) || notes.length > MOST_PLACES ? undefined : (notes as PlacedNote[]);
}

/** Writes notes as `readNotes` reads them. */
function notesText(notes: readonly PlacedNote[]): string {
  return notes.map(({ at, text }) => `${textOf(at)},${encodeURIComponent(text)}`).join(";");
}

/** Reads at most two conditions, each a name with the ends of its range. */
function readBrush(text: string, facts: DatasetFacts): readonly NodeCondition[] | undefined {
  const parts = text.split(",");
  if (parts.length % 3 !== 0 || parts.length > 6) return undefined;
  const names: readonly string[] = [...AXES, ...quantitiesOf(facts).map(({ name }) => name)];
  const conditions = Array.from({ length: parts.length / 3 }, (_, i) => {
    const [of = "", ...ends] = parts.slice(3 * i, 3 * i + 3);
    const range = numbers(ends.join(","), 2);
    if (!names.includes(of) || range === undefined) return undefined;
    return { of, low: range[0] as number, high: range[1] as number };
  });
  return conditions.includes(undefined) ? undefined : (conditions as NodeCondition[]);
}

/** Writes a member as text, numbers in the shortest decimal that reads back the same. */
function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(",");
  if (typeof value === "object" && value !== null) return Object.values(value).map(textOf).join(",");
  return typeof value === "number" ? shortestDecimal(value) : String(value);
}

/** First views that links were compared with: while time plays, each picture writes a link. */
const STARTS = new WeakMap<DatasetFacts, ViewState>();

/** Writes a view as a query string: the dataset, and the members that differ from `initialState`. */
export function formatState(state: ViewState, facts: DatasetFacts): string {
  const start = STARTS.get(facts) ?? initialState(facts);
  STARTS.set(facts, start);
  const query = new URLSearchParams({ dataset: state.dataset });
  const at = middleOf(facts, state.axis);
  for (const name of [...Object.keys(READERS), "at"] as (keyof ViewState)[]) {
    const value = state[name];
    // Three planes are at the probe.
    if (name === "at" && state.layout === "three") continue;
    const usual = name === "at" ? at : start[name];
    const text =
      name === "notes"
        ? (notes: unknown) => notesText(notes as readonly PlacedNote[])
        : name === "time" || name === "otherTime" || name === "start"
          ? String
          : textOf;
    if (value !== null && text(value) !== text(usual)) query.set(name, text(value));
  }
  return query.toString().replaceAll("%2C", ",");
}

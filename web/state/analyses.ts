/** This file writes the analysis calls behind the statistics panel, and types what of their answers is shown. */
import { type AxisFacts, axisOf, type DatasetFacts, endOf, offers } from "./facts.js";
import { AXES, type AxisName, sidesOf, wholePlane } from "./plane-geometry.js";
import { marksBySmall, quantitiesOf, quantityOf, type ShownQuantity } from "./shown-quantity.js";
import { ANALYSES, type ShownAnalysis, type ViewState } from "./view-state.js";

/** What the panel can show, in words. */
export const ANALYSIS_NAMES: Readonly<Record<ShownAnalysis, string>> = {
  distribution: "Moments and distribution",
  profile: "Profile: means over planes",
  conditional: "Conditional mean",
  invariants: "Q and R",
  energy: "Energy spectrum of the velocity",
  spectrum: "Spectrum of the quantity",
  increments: "Structure functions of the velocity",
  structures: "Structures",
};

/** Further words by which they are found. */
export const ANALYSIS_WORDS: Readonly<Record<ShownAnalysis, string>> = {
  distribution: "average mean rms variance skewness flatness PDF histogram",
  profile: "mean profile average averaged rms error band wall units log law",
  conditional: "average",
  invariants: "joint PDF tear drop",
  energy: "E(k) dissipation integral Taylor Kolmogorov length Reynolds number",
  spectrum: "wavenumber",
  increments: "separation scaling",
  structures: "vortices worms connected",
};

/** Analyses that can take all stored times together. */
const OVER_TIMES: readonly ShownAnalysis[] = ["profile", "energy", "spectrum"];

/** What a view analyses, with what it leaves to the dataset. */
export interface AnalysisChoice extends Pick<ViewState, "part" | "frames"> {
  readonly show: ShownAnalysis;
  /** The axis of profiles. */
  readonly along: AxisName;
  /** The condition of conditional means. */
  readonly on: string;
}

export type NodePlace = readonly [number, number, number];

export interface AnalysisCall {
  readonly call: "statistics" | "structures" | "spectrum" | "structure-functions";
  readonly body: Readonly<Record<string, unknown>>;
  /** The same for a table: with the one reduction that is drawn. */
  readonly table: Readonly<Record<string, unknown>>;
}

export interface FieldMoments {
  readonly mean: number;
  readonly variance: number;
  readonly skewness: number;
  readonly flatness: number;
  readonly count: number;
  readonly missing: number;
  readonly min: number | null;
  readonly max: number | null;
}

interface ExtremeNode {
  readonly value: number;
  readonly at: NodePlace;
}

export interface ListedStructure {
  readonly nodes: number;
  readonly volume: number;
  readonly centre: NodePlace;
  readonly properties: Readonly<Record<string, { readonly mean: number; readonly min: number; readonly max: number }>>;
}

/** The members of the answers that the page reads; each belongs to one call or reduction. */
export interface ShownAnswer {
  readonly weights?: "nodes" | "volume";
  readonly frames: readonly { readonly frame: number; readonly time: number }[];
  readonly formulas: Readonly<Record<string, string>>;
  readonly results?: readonly unknown[];
  readonly threshold?: number;
  readonly nodes?: number;
  readonly count?: number;
  readonly structures?: readonly ListedStructure[];
  readonly separations?: readonly {
    readonly length: number;
    readonly longitudinal: Readonly<Record<string, number>>;
    readonly transverse: Readonly<Record<string, number>>;
  }[];
  readonly kind?: "shell" | "plane";
  readonly k?: readonly number[];
  readonly E?: readonly number[] | readonly (readonly number[])[];
  readonly coordinates?: Readonly<Record<string, readonly number[]>>;
  readonly nyquist?: number;
  readonly scales?: Readonly<Record<string, number>>;
}

export interface ValueDistribution {
  readonly moments: FieldMoments;
  readonly histogram: Readonly<Record<"edges" | "counts" | "weights", readonly number[]>> & { readonly weight: number };
  readonly highest: ExtremeNode | undefined;
  readonly lowest: ExtremeNode | undefined;
}

/** The parts of an answer about a distribution. */
export function distributionOf({ results = [] }: ShownAnswer): ValueDistribution {
  const [moments, histogram, extremes] = results as [
    FieldMoments,
    ValueDistribution["histogram"],
    { readonly highest: readonly ExtremeNode[]; readonly lowest: readonly ExtremeNode[] },
  ];
  return { moments, histogram, highest: extremes.highest[0], lowest: extremes.lowest[0] };
}

const BINS = 64;
/** Bins of the joint distribution along each of its sides. */
const JOINT_BINS = 48;
const CONDITIONAL_BINS = 32;

/** The stored time that is nearest to a time. */
export function storedTime({ times }: DatasetFacts, time: number): number {
  return times.stored.reduce((best, stored) => (Math.abs(stored - time) < Math.abs(best - time) ? stored : best));
}

/** The position of the node of an axis that is nearest to a place. */
export function nodeNear({ coordinates, first, nodes, spacing }: AxisFacts, place: number): number {
  const places = coordinates ?? Array.from({ length: nodes }, (_, i) => first + i * spacing);
  return places.reduce((best, node) => (Math.abs(node - place) < Math.abs(best - place) ? node : best));
}

/** The nodes of an axis on either side of a place; the first and the last of all are the ends. */
export function nodesAround(
  { coordinates, first, nodes, spacing }: AxisFacts,
  place: number,
): readonly [number, number] {
  const places = coordinates ?? Array.from({ length: nodes }, (_, i) => first + i * spacing);
  const below = places.findLast((node) => node <= place) ?? first;
  return [below, places.find((node) => node >= place) ?? below];
}

/** The region of the plane of nodes that is nearest to the plane shown, within its window; or those on both sides. */
function planeRegion(state: ViewState, facts: DatasetFacts, both = false): { origin: number[]; extent: number[] } {
  const [left, right, bottom, top] = state.window ?? wholePlane(facts, state.axis);
  const [columns] = sidesOf(state.axis);
  const sides = AXES.map((name): readonly [number, number] => {
    const axis = axisOf(facts, name);
    // A part of a periodic axis ends before its last place.
    const end = axis.periodic ? 1e-4 * axis.spacing : 0;
    if (name !== state.axis) return name === columns ? [left, right - end] : [bottom, top - end];
    const node = nodeNear(axis, state.at);
    const [from, to] = both ? nodesAround(axis, state.at) : [node, node];
    return [from, to + (axis.periodic ? axis.spacing / 2 : 0)];
  });
  return { origin: sides.map(([from]) => from), extent: sides.map(([from, to]) => to - from) };
}

/** Differences between nodes of the accuracy that the view uses. */
export function differencesOf({ derivatives }: ViewState): ViewState["derivatives"] {
  return /^None_Fd[468]$/.test(derivatives) ? derivatives : "None_Fd4";
}

/** Whether the velocity gradient is known at nodes. */
function hasGradient(facts: DatasetFacts): boolean {
  return offers(facts, "GetVelocityGradient");
}

/** Whether a quantity has values at nodes: filtered ones have none, nor has a force that is not stored. */
function hasNodeValues(field: string, facts: DatasetFacts): boolean {
  const { method, operation } = quantityOf(field);
  return method !== null && (operation !== "GetForce" || facts.fields.some(({ name }) => name === "force"));
}

/** Axes along which whole frames cannot be transformed. */
function openAxes({ axes }: DatasetFacts): readonly AxisFacts[] {
  return axes.filter(({ periodic }) => !periodic);
}

/** Separations in nodes, up to half of an axis, about equally far apart in their logarithm. */
function separationsOf({ nodes }: AxisFacts): readonly number[] {
  const powers = Array.from({ length: 12 }, (_, i) => 2 ** i);
  return powers.flatMap((n) => (n === 1 ? [1] : [n, (3 * n) / 2])).filter((n) => n <= nodes / 2);
}

/** Whether an axis has increments over several lengths: those of nodes of a stretched axis have none. */
function hasSeparations(axis: AxisFacts): boolean {
  return axis.coordinates === undefined && separationsOf(axis).length > 2;
}

/** The axis of increments: the one of profiles, or the first that has them. */
export function incrementAxis(facts: DatasetFacts, along: AxisName): AxisFacts {
  const asked = axisOf(facts, along);
  return hasSeparations(asked) ? asked : (facts.axes.find(hasSeparations) ?? asked);
}

/** What the panel can show of a view. */
export function analysesOf(state: ViewState, facts: DatasetFacts): readonly ShownAnalysis[] {
  const transformed = openAxes(facts).length <= 1;
  const named = hasNodeValues(state.field, facts);
  const possible: Readonly<Record<ShownAnalysis, boolean>> = {
    distribution: named,
    profile: named,
    conditional: named,
    invariants: hasGradient(facts),
    energy: transformed && offers(facts, "GetVelocity"),
    spectrum: transformed && named,
    increments: offers(facts, "GetVelocity") && facts.axes.some(hasSeparations),
    structures: hasGradient(facts) || named,
  };
  return ANALYSES.filter((name) => possible[name]);
}

/** Quantities that can be analysed. */
export function nodeQuantities(facts: DatasetFacts): readonly ShownQuantity[] {
  return quantitiesOf(facts).filter(({ name }) => hasNodeValues(name, facts));
}

/** What structures are made of unless the view says it: vorticity if it is known, or else the quantity shown. */
export function structuresOf({ structure, field }: ViewState, facts: DatasetFacts): string {
  if (structure !== null && hasNodeValues(structure, facts)) return structure;
  return hasGradient(facts) ? "vorticity" : field;
}

/** Quantities on which means are usually conditioned, the first that is known and not the one averaged. */
const CONDITIONS = ["Q", "ux", "p"];

/** What a view analyses; null if its dataset offers nothing. */
export function analysisChoice(state: ViewState, facts: DatasetFacts): AnalysisChoice | null {
  const offered = analysesOf(state, facts);
  const show = offered.includes(state.analysis) ? state.analysis : offered[0];
  if (show === undefined) return null;
  const known = nodeQuantities(facts).map(({ name }) => name);
  const on = [state.condition, ...CONDITIONS, ...known].find((name) => {
    return name !== null && known.includes(name) && (name === state.condition || name !== state.field);
  });
  const walls = facts.axes.find(({ periodic, nodes }) => !periodic && nodes > 1);
  const along = state.profileAxis ?? walls?.name ?? "y";
  return { show, part: state.part, frames: state.frames, along, on: on ?? state.field };
}

/** The call behind what the panel shows. */
export function analysisCall(state: ViewState, facts: DatasetFacts, choice: AnalysisChoice): AnalysisCall {
  const { field } = state;
  const all = isOverTimes(choice, facts);
  const place = all ? { times: facts.times.stored } : { time: storedTime(facts, state.time) };
  const derivatives = differencesOf(state);
  const whole = { ...place, derivatives };
  const inPart = choice.part === "frame" ? whole : { ...whole, region: planeRegion(state, facts) };
  const statistics = (drawn: object, more: readonly object[] = [], body: object = inPart): AnalysisCall => ({
    call: "statistics",
    body: { ...body, reduce: [drawn, ...more] },
    table: { ...body, reduce: [drawn] },
  });
  const spectrum = (of: string): AnalysisCall => {
    const [open] = openAxes(facts);
    const body = { ...whole, of, ...(open === undefined ? {} : { kind: "plane", axis: open.name }) };
    return { call: "spectrum", body, table: body };
  };
  const calls: Readonly<Record<ShownAnalysis, () => AnalysisCall>> = {
    distribution: () => {
      const histogram = { histogram: field, bins: BINS, range: "auto" };
      const { body, table } = statistics(histogram);
      const reduce = [{ moments: field }, histogram, { extremes: field, count: 1 }];
      return { call: "statistics", body: { ...body, reduce }, table };
    },
    profile: () => {
      const over = [...AXES.filter((axis) => axis !== choice.along), ...(all ? ["t"] : [])];
      return statistics({ moments: field }, stressMoments(state, facts, choice.along), { ...whole, over });
    },
    conditional: () => statistics({ conditional: field, on: choice.on, bins: CONDITIONAL_BINS, range: "auto" }),
    invariants: () => statistics({ joint: ["R", "Q"], bins: [JOINT_BINS, JOINT_BINS], range: "auto" }),
    energy: () => spectrum("u"),
    spectrum: () => spectrum(field),
    increments: () => {
      const axis = incrementAxis(facts, choice.along);
      const separations = { nodes: separationsOf(axis) };
      const body = { ...place, orders: [2, 3], separations, axes: [axis.name], terms: ["longitudinal", "transverse"] };
      return { call: "structure-functions", body, table: body };
    },
    structures: () => {
      const of = structuresOf(state, facts);
      const body = {
        ...inPart,
        of,
        ...(marksBySmall(of) ? { below: { rms: -state.above } } : { above: { rms: state.above } }),
      };
      return { call: "structures", body, table: body };
    },
  };
  return calls[choice.show]();
}

/** Whether a profile can be put into wall units: a velocity along walls, from wall to wall, of a known viscosity. */
export function hasWallUnits({ field }: Pick<ViewState, "field">, facts: DatasetFacts, along: AxisName): boolean {
  const walls = axisOf(facts, along).faces?.every((face) => face === "wall") === true;
  return walls && /^u[xyz]$/.test(field) && field !== `u${along}` && (facts.viscosity ?? 0) > 0;
}

/** The reductions behind the stresses of a profile in wall units: those of the components, and of a product of two. */
function stressMoments(state: ViewState, facts: DatasetFacts, along: AxisName): readonly object[] {
  if (!hasWallUnits(state, facts, along)) return [];
  const product = `u.${state.field.slice(1)} * u.${along}`;
  return [...AXES.map((axis) => ({ moments: `u${axis}` })), { moments: product }];
}

/** Nodes of all times at most that are searched for extremes. */
const MOST_SEARCHED = 50_000_000;

/** The call for the extremes of a plane over all stored times; null if its values are none of single nodes. */
export function extremesCall(state: ViewState, facts: DatasetFacts): AnalysisCall["body"] | null {
  const nodes = facts.axes.reduce((product, axis) => product * (axis.name === state.axis ? 2 : axis.nodes), 1);
  const body = extremesBody(state, facts, nodes);
  return body === null ? null : { ...body, region: planeRegion({ ...state, window: null }, facts, true) };
}

/** The call for the extremes of every plane of nodes across an axis, likewise. */
export function familyCall(state: ViewState, facts: DatasetFacts): AnalysisCall["body"] | null {
  const nodes = facts.axes.reduce((product, axis) => product * axis.nodes, 1);
  const body = extremesBody(state, facts, nodes);
  return body === null ? null : { ...body, over: [...sidesOf(state.axis), "t"] };
}

/** What both calls share; null for more than `MOST_SEARCHED` nodes, or values that are none of single nodes. */
function extremesBody(state: ViewState, facts: DatasetFacts, nodes: number): AnalysisCall["body"] | null {
  const { stored } = facts.times;
  const known = hasNodeValues(state.field, facts) && state.compare === "none";
  if (!known || nodes * stored.length > MOST_SEARCHED) return null;
  return { times: stored, derivatives: differencesOf(state), reduce: [{ moments: state.field }] };
}

/** Whether an analysis takes all stored times together. */
export function isOverTimes({ show, frames }: Pick<AnalysisChoice, "show" | "frames">, facts: DatasetFacts): boolean {
  return frames === "all" && OVER_TIMES.includes(show) && canSearchTimes(facts);
}

/** Whether the nodes of all stored times are searched in one call. */
export function canSearchTimes({ axes, times }: DatasetFacts): boolean {
  return times.count > 1 && axes.reduce((product, { nodes }) => product * nodes, times.count) <= MOST_SEARCHED;
}

/** The call for the node of the strongest vortex: the one of the highest second invariant Q, of a frame or of all. */
export function strongestVortexCall(state: ViewState, facts: DatasetFacts, all: boolean): AnalysisCall["body"] {
  return {
    ...(all ? { times: facts.times.stored } : { time: storedTime(facts, state.time) }),
    derivatives: differencesOf(state),
    reduce: [{ extremes: "Q", count: 1 }],
  };
}

/** Whether a dataset has vortices to look for. */
export function hasVortices(facts: DatasetFacts): boolean {
  return hasGradient(facts) && facts.axes.every(({ nodes }) => nodes > 1);
}

/** The part that was analysed, in words. */
export function partText(state: ViewState, facts: DatasetFacts, choice: AnalysisChoice, time: string): string {
  const { show, part } = choice;
  const all = isOverTimes(choice, facts) ? `All ${facts.times.count} stored times` : `Frame t = ${time}`;
  const [open] = openAxes(facts);
  if (open !== undefined && (show === "energy" || show === "spectrum")) {
    const node = nodeNear(open, state.probe[AXES.indexOf(open.name)] as number);
    return `${all}: nodes of the plane ${open.name} = ${roundedPlace(node, open.length)} through the probe`;
  }
  if (part === "frame" || ["profile", "energy", "spectrum", "increments"].includes(show))
    return `${all}: all nodes of the volume`;
  const node = nodeNear(axisOf(facts, state.axis), state.at);
  const cut = state.window === null ? "" : ", the part in the picture";
  return `${all}: nodes of the plane ${state.axis} = ${roundedPlace(node, axisOf(facts, state.axis).length)}${cut}`;
}

/** Wavenumbers up to the last one that the nodes resolve; those beyond are corners of the cube. */
export function resolvedSpectrum(
  { k = [], E = [], nyquist = 0, coordinates }: ShownAnswer,
  place: (axis: AxisName) => number,
): { readonly k: readonly number[]; readonly E: readonly number[]; readonly at: string } {
  const [axis, places = []] = (Object.entries(coordinates ?? {})[0] ?? []) as [AxisName?, (readonly number[])?];
  const wanted = axis === undefined ? 0 : place(axis);
  const nearest = places.reduce((best, at, i) => {
    return Math.abs(at - wanted) < Math.abs((places[best] as number) - wanted) ? i : best;
  }, 0);
  const row = axis === undefined ? (E as readonly number[]) : ((E as readonly (readonly number[])[])[nearest] ?? []);
  const kept = k.flatMap((wave, i) => (wave > 0 && wave <= nyquist * (1 + 1e-9) ? [i] : []));
  return {
    k: kept.map((i) => k[i] as number),
    E: kept.map((i) => row[i] as number),
    at:
      axis === undefined
        ? ""
        : `${axis} = ${roundedPlace(places[nearest] as number, Math.max(...places.map(Math.abs)))}`,
  };
}

/** Analyses of the velocity, whose quantity is none of the names of their files. */
const OF_VELOCITY: readonly ShownAnalysis[] = ["energy", "invariants", "increments"];

/** The name of a file of an analysis, without its ending: dataset, analysis, quantity and time. */
export function analysisFile(
  state: ViewState,
  facts: DatasetFacts,
  choice: AnalysisChoice,
  time: number,
  inWallUnits: boolean,
): string {
  const { show, along, on } = choice;
  const { first, last } = facts.times;
  const times = isOverTimes(choice, facts) ? [first, last] : [time];
  const of = show === "structures" ? structuresOf(state, facts) : state.field;
  return [
    ...[state.dataset, show],
    ...(OF_VELOCITY.includes(show) ? [] : [of]),
    ...(show === "conditional" ? ["on", on] : show === "profile" ? ["along", along] : []),
    ...(inWallUnits ? ["wall-units"] : []),
    `t${times.map((one) => Number(one.toPrecision(5))).join("-")}`,
  ].join("-");
}

/** A place of an axis, rounded to a hundred-thousandth of its reach: 0 is 0. */
function roundedPlace(place: number, reach: number): number {
  const digits = Math.max(0, 5 - Math.floor(Math.log10(Math.max(reach, Number.MIN_VALUE))));
  return Number(place.toFixed(Math.min(20, digits)));
}

/**
 * Wavenumbers of the inertial range: between those of the largest lengths, from a sixth of the integral length on, and
 * those of dissipation, up to 60 Kolmogorov lengths (Pope, Turbulent Flows, section 6.5); null if there is none.
 */
export function inertialRange({ integral, kolmogorov }: NonNullable<ShownAnswer["scales"]>): [number, number] | null {
  if (integral === undefined || kolmogorov === undefined) return null;
  const [low, high] = [(12 * Math.PI) / integral, Math.PI / (30 * kolmogorov)];
  return low < high ? [low, high] : null;
}

/** A structure's centre inside the data: the circular mean of a periodic axis may be a period off. */
export function centreInside(centre: NodePlace, facts: DatasetFacts): readonly [number, number, number] {
  return centre.map((place, i) => {
    const axis = axisOf(facts, AXES[i] as AxisName);
    const turns = axis.periodic ? Math.floor((place - axis.first) / axis.length) : 0;
    return Math.fround(Math.max(axis.first, Math.min(endOf(axis), place - turns * axis.length)));
  }) as [number, number, number];
}

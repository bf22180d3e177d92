/** This file derives the queries of each figure from the view; the page sends, shows and copies the same queries. */
import { shortestDecimal, shortestFloat32, shortText, withMinus, withoutNoise } from "../../src/float32/format.js";
import {
  DERIVATIVES,
  INTERPOLATIONS,
  type OperationName,
  RECORDS,
  type SpatialInterpolation,
} from "../../src/shared/operations.js";
import { unitOf } from "../../src/shared/quantities.js";
import { differencesOf, nodeNear } from "./analyses.js";
import { nodePath, planePoints, type Slice, slicePath } from "./api.js";
import { axisOf, type DatasetFacts, hasOpenFaces, methodsOf, offers, periodOf } from "./facts.js";
import {
  AXES,
  copyAfter,
  fittingSide,
  isStretched,
  nodeAxis,
  sampleWindow,
  sidesOf,
  wholePlane,
} from "./plane-geometry.js";
import { operationOf, type PointQuery, type StretchingQuery, type Tracking } from "./point-query.js";
import { inSentence, isNamed, quantityOf, unitOfQuantity } from "./shown-quantity.js";
import { isOnAxis, type ParsedState, parseState, type ViewState } from "./view-state.js";

/** The spatial option in use for a quantity; null for a filtered one. */
export function methodOf(state: ViewState): SpatialInterpolation | null {
  const { method, methods } = quantityOf(state.field);
  if (method === null) return null;
  const wanted = INTERPOLATIONS.some((option) => option === method) ? state.values : state.derivatives;
  return methods.includes(wanted) ? wanted : method;
}

/** A spatial method in words. */
export function methodText(method: string): string {
  const order = method.at(-1);
  const [, smooth, nodes] = /^M(\d)Q(\d+)$/.exec(method) ?? [];
  const [, differences, lagrange] = /^Fd(\d)Lag(\d)$/.exec(method) ?? [];
  if (method === "None") return "the nearest node";
  if (method.startsWith("Lag")) return `Lagrange polynomial through ${order} nodes per axis`;
  if (method.startsWith("None_Fd")) return `differences of order ${order} at the nearest node`;
  if (smooth !== undefined) return `spline on ${nodes} nodes per axis, ${smooth} times continuously differentiable`;
  return `differences of order ${differences} at nodes, Lagrange polynomials through ${lagrange} nodes between them`;
}

/** Methods that are compared with one another; two splines represent all. */
const COMPARED: readonly string[] = [...INTERPOLATIONS, ...DERIVATIVES, "M1Q4", "M2Q8"];

/** The methods of an operation that are compared on a dataset: the one in use first. */
function comparedMethods(facts: DatasetFacts, operation: OperationName, used: string): readonly string[] {
  const methods = methodsOf(facts, operation);
  return [
    ...methods.filter((method) => method === used),
    ...methods.filter((method) => method !== used && COMPARED.includes(method)),
  ];
}

/** The options of a quantity in words. */
export function optionText(state: ViewState): string {
  const method = methodOf(state) ?? `box filter of width ${shortText(state.filter)}`;
  return `${method} in space, ${state.temporal} in time`;
}

/** The options that a quantity takes in addition to its time: a method, or the width of a box filter. */
function optionsOf(state: ViewState): Record<string, string | number> {
  const method = methodOf(state);
  const space =
    method === null ? { filterlength: Math.fround(state.filter), nlayers: 1 } : { spatialInterpolation: method };
  return { ...space, temporalInterpolation: state.temporal };
}

/** The quantity and the options of a slice or a volume in the query string. */
export function sampleOptions(state: ViewState): Record<string, string> {
  const method = methodOf(state);
  return {
    field: state.field,
    time: shortestDecimal(state.time),
    ...(method === null ? { filterlength: shortestFloat32(state.filter) } : { method }),
    temporalInterpolation: state.temporal,
  };
}

/** The slice shown, as a path of the service. */
export function slicePathOf(state: ViewState, facts: DatasetFacts, nodes: string = state.nodes): string {
  const part = state.window ?? wholePlane(facts, state.axis);
  const [alongColumns, alongRows] = sidesOf(state.axis).map((name) => axisOf(facts, name));
  if (nodes === "grid" && (isStretched(alongColumns) || isStretched(alongRows))) {
    const { points: _none, ...query } = fieldQuery(state, new Float32Array());
    const [columns, rows] = [nodeAxis(alongColumns, part[0], part[1]), nodeAxis(alongRows, part[2], part[3])];
    const { viscosity } = facts;
    return nodePath({ query, field: state.field, viscosity, axis: state.axis, at: state.at, columns, rows });
  }
  const { window, counts } = sampleWindow(facts, state.axis, part, nodes);
  const [left, right, bottom, top] = window.map(Math.fround);
  return slicePath(state.dataset, {
    ...sampleOptions(state),
    axis: state.axis,
    at: shortestFloat32(state.at),
    "region.origin": [left, bottom].map(shortestFloat32).join(","),
    "region.extent": [right - left, top - bottom].map(shortestFloat32).join(","),
    nodes: counts.join(","),
  });
}

/** The methods that a quantity can be compared with: the best first, and last those that give values only at nodes. */
export function otherMethods(state: ViewState, facts: DatasetFacts): readonly SpatialInterpolation[] {
  const used = methodOf(state);
  const methods = methodsOf(facts, quantityOf(state.field).operation).filter((method) => method !== used);
  const atNodes = (method: string) => method.startsWith("None");
  return [...methods.filter((method) => !atNodes(method)), ...methods.filter(atNodes)] as SpatialInterpolation[];
}

/** Whether a picture shows how much the flow stretches what starts there, in place of a quantity. */
export function showsStretching({ overlay }: ViewState): boolean {
  return overlay === "ftle";
}

/** Whether a picture shows values of a quantity, neither differences nor stretching. */
export function showsQuantity(state: ViewState): boolean {
  return !showsStretching(state) && comparedView(state) === null;
}

/** Another method to compare with, or none, if the quantity does not offer the one before. */
export function comparedStill(state: ViewState, facts: DatasetFacts): Partial<ViewState> {
  const methods = otherMethods(state, facts);
  if (state.compare !== "method" || methods.includes(state.otherMethod)) return {};
  return methods.length === 0 ? { compare: "none" } : { otherMethod: methods[0] };
}

/** Reads a view from a query string as `parseState` does; what it is compared with is offered. */
export function readView(search: string, facts: DatasetFacts): ParsedState {
  const { state, bad } = parseState(search, facts);
  const compared = comparedStill(state, facts);
  const isNamed = new URLSearchParams(search).has("otherMethod") && !bad.includes("otherMethod");
  return {
    state: { ...state, ...compared },
    bad: isNamed && Object.keys(compared).length > 0 ? [...bad, "otherMethod"] : bad,
  };
}

/** The view that a slice is compared with; null if it is not compared. */
export function comparedView(state: ViewState): ViewState | null {
  if (state.compare === "none" || showsStretching(state)) return null;
  if (state.compare === "time") return { ...state, compare: "none", time: state.otherTime };
  const { method, methods } = quantityOf(state.field);
  if (!methods.includes(state.otherMethod)) return null;
  const member = INTERPOLATIONS.some((option) => option === method) ? "values" : "derivatives";
  return { ...state, compare: "none", [member]: state.otherMethod };
}

/** What a picture is compared with: another method or another time, in words. */
function otherText(state: ViewState, compared: ViewState): string {
  return state.compare === "time" ? `t = ${shortText(compared.time)}` : (methodOf(compared) ?? "");
}

/** The title of what a picture shows: its quantity, the difference of the quantity, or the stretching. */
export function shownTitle(state: ViewState): string {
  if (showsStretching(state)) return STRETCHING.title;
  const compared = comparedView(state);
  const { title } = quantityOf(state.field);
  return compared === null ? title : `Difference of ${inSentence(title)} from ${otherText(state, compared)}`;
}

/** The same without the quantity, for places that name it already, such as next to a picture with a title. */
export function shortTitle(state: ViewState): string {
  const compared = comparedView(state);
  return compared === null ? shownTitle(state) : `Difference from ${otherText(state, compared)}`;
}

/** The unit of what a picture shows; empty if the dataset states none. */
export function shownUnit(state: ViewState, facts: DatasetFacts): string {
  if (!showsStretching(state)) return unitOfQuantity(facts, state.field);
  const time = unitOf(facts, "time");
  return time === "" ? "" : `1/${time}`;
}

/** The name of what a picture shows in columns and files: `p`, `p-minus-Lag4`, `p-minus-t0.5` or `ftle`. */
export function shownName(state: ViewState): string {
  if (showsStretching(state)) return STRETCHING.name;
  const compared = comparedView(state);
  return compared === null ? state.field : `${state.field}-minus-${otherText(state, compared).replace(" = ", "")}`;
}

/** The formula of what a picture shows, in the components of its operation. */
export function shownFormula(state: ViewState): string {
  if (showsStretching(state)) return STRETCHING.formula;
  const compared = comparedView(state);
  const { formula } = quantityOf(state.field);
  if (compared === null) return formula;
  const how = (view: ViewState) => `${state.compare === "time" ? "at" : "by"} ${otherText(state, view)}`;
  return `${formula}, ${how(state)} minus ${how(compared)}`;
}

/** The contents of a picture, in words. */
export function describePlane(state: ViewState, facts: DatasetFacts): string {
  const compared = comparedView(state);
  const [time, place] = [`t = ${shortText(state.time)}`, `${state.axis} = ${withMinus(shortText(state.at))}`];
  if (showsStretching(state)) {
    const end = flowEnd(state, facts);
    return `${shownTitle(state)} at ${place}, ${time} ${end < state.time ? "back " : ""}to ${shortText(end)}`;
  }
  if (compared === null || state.compare !== "time") return `${shownTitle(state)} at ${place}, ${time}`;
  return `${quantityOf(state.field).title} at ${time} minus ${otherText(state, compared)}, ${place}`;
}

/** The options behind a picture, in words. */
export function describeOptions(state: ViewState, facts: DatasetFacts): string {
  const compared = comparedView(state);
  const flow = stretchingOf(state, facts);
  if (flow !== null) {
    const { start, end, dt, method } = flow.body;
    return `${method} in space, ${Math.ceil(Math.abs(end - start) / dt - 1e-6)} steps of ${shortText(dt)}`;
  }
  if (compared === null || state.compare === "time") return optionText(state);
  return `${optionText(state)}, minus ${optionText(compared)}`;
}

/** The slices behind the picture of a plane: the quantity, what it is compared with, and the velocity in the plane. */
export interface PlanePaths {
  readonly main: string;
  readonly other: string | null;
  readonly vectors: readonly [string, string] | null;
  /** The quantities of the conditions on nodes, in their order, on the plane of nodes nearest to the one shown. */
  readonly brushed: readonly string[];
  /** How much the flow stretches what starts there; null if that is not drawn. */
  readonly stretching: StretchingQuery | null;
}

/** The slices of a plane in the order in which its figure takes them. */
export function slicesOf({ main, other, brushed, vectors }: PlanePaths): readonly string[] {
  return [main, ...(other === null ? [] : [other]), ...brushed, ...(vectors ?? [])];
}

/** Most particle steps of a flow map of the page, and the number of them that a step with its gradient counts as. */
const FLOW_MAP_STEPS = 40_000_000;
const FLOW_MAP_WEIGHT = 8;

/** The finite-time Lyapunov exponent of a flow map. */
const STRETCHING = {
  name: "ftle",
  title: "Finite-time Lyapunov exponent",
  formula: "ln σ / |T|, σ the largest stretching of a line from the start over the time T",
} as const;

/** The time at which the stretching of a view ends: after that of the particles; from the last time on, before it. */
function flowEnd({ time, dt, steps }: ViewState, { times: { first, last } }: DatasetFacts): number {
  const span = dt * steps;
  return withoutNoise(time < last ? Math.min(last, time + span) : Math.max(first, last - span));
}

/** The flow map of a plane over the time for which particles move, forward or, from the last time, backward. */
export function stretchingOf(state: ViewState, facts: DatasetFacts): StretchingQuery | null {
  if (!showsStretching(state)) return null;
  const { window, counts } = sampleWindow(
    facts,
    state.axis,
    state.window ?? wholePlane(facts, state.axis),
    state.nodes,
  );
  const [left, right, bottom, top] = window;
  const end = flowEnd(state, facts);
  const most = FLOW_MAP_STEPS / (FLOW_MAP_WEIGHT * counts[0] * counts[1]);
  const dt = Math.abs(end - state.time) / Math.max(1, Math.min(state.steps, Math.floor(most)));
  const plane = { normal: state.axis, at: state.at, count: counts };
  const region = { origin: [left, bottom], extent: [right - left, top - bottom] };
  return {
    dataset: state.dataset,
    body: { start: state.time, end, dt, method: state.values === "None" ? "Lag6" : state.values, plane, region },
  };
}

/** The view of the plane of nodes that is nearest to the one shown. */
function nodeView(state: ViewState, facts: DatasetFacts): ViewState {
  const at = Math.fround(nodeNear(axisOf(facts, state.axis), state.at));
  return { ...state, at, values: "None", derivatives: differencesOf(state), compare: "none" };
}

/** A component of the velocity at the samples of an overlay. */
function velocityPath(state: ViewState, facts: DatasetFacts, field: string): string {
  return slicePathOf({ ...state, field }, facts, String(fittingSide(facts, state.nodes === "32" ? 32 : 64)));
}

/** The slices, and the flow map, behind the picture of a plane. */
export function planePaths(state: ViewState, facts: DatasetFacts): PlanePaths {
  const other = comparedView(state);
  const drawn = state.overlay !== "none" && !showsStretching(state) && offers(facts, "GetVelocity");
  const component = (axis: string) => velocityPath(state, facts, `u${axis}`);
  const [columns, rows] = sidesOf(state.axis);
  return {
    main: slicePathOf(state, facts),
    other: other === null ? null : slicePathOf(other, facts),
    vectors: drawn ? [component(columns), component(rows)] : null,
    brushed: state.brush
      .filter((condition) => !isOnAxis(condition))
      .map(({ of }) => slicePathOf({ ...nodeView(state, facts), field: of }, facts, "grid")),
    stretching: stretchingOf(state, facts),
  };
}

/** The same plane as points of an operation, for clients that speak SOAP. */
export function planeQuery(state: ViewState, slice: Slice): PointQuery {
  return fieldQuery(state, planePoints({ ...slice, axis: state.axis, at: state.at }));
}

function fieldQuery(state: ViewState, points: Float32Array, time: number | readonly number[] = state.time): PointQuery {
  const { operation, field } = quantityOf(state.field);
  return {
    operation,
    dataset: state.dataset,
    parameters: { time, ...(field === undefined ? {} : { field }), ...optionsOf(state) },
    points,
  };
}

/** The quantity shown, at the probe. */
export function pointQuery(state: ViewState): PointQuery {
  return fieldQuery(state, Float32Array.from(state.probe));
}

/** Values and gradients of the fields other than velocity and pressure. */
const OTHER_VALUES: readonly OperationName[] = [
  "GetMagneticField",
  "GetVectorPotential",
  "GetDensity",
  "GetTemperature",
];
const OTHER_GRADIENTS: readonly OperationName[] = [
  "GetMagneticFieldGradient",
  "GetDensityGradient",
  "GetTemperatureGradient",
];

/** The calls of the probe, each with the methods to compare; what the dataset cannot answer is left out. */
export function probeOperations(
  state: ViewState,
  facts: DatasetFacts,
): readonly { call: string; methods: readonly string[] }[] {
  const point = offers(facts, "GetVelocityAndPressure") ? "GetVelocityAndPressure" : "GetVelocity";
  const operations: readonly OperationName[] = [
    point,
    "GetVelocityGradient",
    "GetPressureGradient",
    "GetPressureHessian",
    "GetVelocityHessian",
    ...OTHER_VALUES,
    ...OTHER_GRADIENTS,
  ];
  const values: readonly OperationName[] = [point, ...OTHER_VALUES, "GetField"];
  const byName = (["GetField", "GetFieldGradient"] as const).flatMap((operation) =>
    facts.fields.filter(isNamed).map(({ name }) => ({ operation, call: `${operation} ${name}` })),
  );
  return [...operations.map((operation) => ({ operation, call: operation })), ...byName]
    .filter(({ operation }) => offers(facts, operation))
    .map(({ operation, call }) => ({
      call,
      methods: comparedMethods(facts, operation, values.includes(operation) ? state.values : state.derivatives),
    }))
    .filter(({ methods }) => methods.length > 0);
}

/** The names of the components that a call at the probe answers. @param count how many there are */
export function probeComponents(call: string, count: number): readonly string[] {
  const { result, scalar } = operationOf({ operation: call.split(" ")[0] as OperationName });
  const components: readonly string[] = RECORDS[result];
  return components.length === count || !scalar ? components : RECORDS[scalar.result];
}

/** One call at the probe, of an operation or of an operation and a field. */
export function probeQuery(state: ViewState, call: string, method: string): PointQuery {
  const [operation, field] = call.split(" ") as [OperationName, string?];
  const named = field === undefined ? {} : { field };
  return {
    operation,
    dataset: state.dataset,
    parameters: { time: state.time, ...named, spatialInterpolation: method, temporalInterpolation: state.temporal },
    points: Float32Array.from(state.probe),
  };
}

/** Number of intervals of a profile, if the service admits that many points. */
const PROFILE_INTERVALS = 256;

/** The number of intervals of a curve that fits one request, at most `wanted`. */
function fittingIntervals({ points }: DatasetFacts, wanted: number): number {
  return Math.max(1, Math.min(wanted, points - 1));
}

/** The quantity shown, along a line through the probe from end to end of the domain. */
function profileQuery(state: ViewState, facts: DatasetFacts): PointQuery {
  const axis = AXES.indexOf(state.line);
  const { first, length } = axisOf(facts, state.line);
  const intervals = fittingIntervals(facts, PROFILE_INTERVALS);
  const points = new Float32Array(3 * (intervals + 1));
  for (let i = 0; i <= intervals; i++) {
    points.set(state.probe, 3 * i);
    points[3 * i + axis] = first + (length * i) / intervals;
  }
  return fieldQuery(state, points);
}

/** Largest number of curves of stored times in one chart. */
const MOST_TIMES = 6;

/** A query of one curve with the name that tells it from the others. */
export interface NamedQuery {
  readonly name: string;
  readonly query: PointQuery;
}

/** A view with the name of its curve. */
type NamedView = readonly [string, ViewState];

/** The view once for each method of the quantity shown, with the names of the methods; the one in use comes first. */
function byMethod(state: ViewState, facts: DatasetFacts): readonly NamedView[] {
  const { operation, method } = quantityOf(state.field);
  const member = INTERPOLATIONS.some((option) => option === method) ? "values" : "derivatives";
  const methods = comparedMethods(facts, operation, methodOf(state) ?? "");
  return methods.map((name) => [name, { ...state, [member]: name }] as const);
}

/** The view once for its own time and once for each of several stored times, in the order of time. */
function byTime(state: ViewState, { times: { stored } }: DatasetFacts): readonly NamedView[] {
  const count = Math.min(MOST_TIMES, stored.length);
  const chosen = Array.from({ length: count }, (_, i) =>
    withoutNoise(stored[count === 1 ? 0 : Math.round((i * (stored.length - 1)) / (count - 1))]),
  );
  const times = [...new Set([state.time, ...chosen])].toSorted((a, b) => a - b);
  return times.map((time) => [`t = ${shortText(time)}`, { ...state, time }] as const);
}

/** The name of a kept probe: A, B, C. */
export function pinName(index: number): string {
  return String.fromCharCode(65 + index);
}

/** The view once for the probe and once for each kept one. */
function byProbe(state: ViewState): readonly NamedView[] {
  return [
    ["probe", state],
    ...state.pins.map(
      (probe, i) => [`${pinName(i)} (${probe.map(shortText).join(", ")})`, { ...state, probe }] as const,
    ),
  ];
}

/** The views behind the curves of a chart: one, or one for each method, stored time or probe. */
function curveViews(state: ViewState, facts: DatasetFacts): readonly NamedView[] {
  if (state.curves === "methods" && methodOf(state) !== null) return byMethod(state, facts);
  if (state.curves === "times") return byTime(state, facts);
  if (state.curves === "probes") return byProbe(state);
  return [[quantityOf(state.field).title, state]];
}

/** The curves along the line through the probe. */
export function profileQueries(state: ViewState, facts: DatasetFacts): readonly NamedQuery[] {
  const views = curveViews(state, facts);
  return views.map(([name, view]) => ({ name, query: profileQuery(view, facts) }));
}

/** The curves at the probe over all times; a choice of several times has no meaning here and leaves one curve. */
export function seriesQueries(state: ViewState, facts: DatasetFacts): readonly NamedQuery[] {
  const views = state.curves === "times" ? [[quantityOf(state.field).title, state] as const] : curveViews(state, facts);
  return views.map(([name, view]) => ({ name, query: seriesQuery(view, facts) }));
}

/** Points of a series for each interval of stored times, and in all. */
const SERIES_PER_STEP = 8;
const SERIES_MAX = 512;

/** The quantity shown, at the probe over all times. */
function seriesQuery(state: ViewState, facts: DatasetFacts): PointQuery {
  const { count, first, last } = facts.times;
  const intervals = count === 1 ? 0 : fittingIntervals(facts, Math.min(SERIES_MAX, SERIES_PER_STEP * (count - 1)));
  const times = Array.from({ length: intervals + 1 }, (_, i) => {
    return withoutNoise(intervals === 0 ? first : first + ((last - first) * i) / intervals);
  });
  return fieldQuery(state, Float32Array.from(state.probe), times);
}

/** Places where particles start: at the probe, on the profile's line, or spread over the part of the plane shown. */
function seedPoints(state: ViewState, facts: DatasetFacts): Float32Array {
  if (state.seeds === "point") return Float32Array.from(state.probe);
  if (state.seeds === "places")
    return Float32Array.from((state.places.length > 0 ? state.places : [state.probe]).flat());
  if (state.seeds === "line") {
    const axis = AXES.indexOf(state.line);
    const { first, length } = axisOf(facts, state.line);
    const points = new Float32Array(3 * state.count);
    for (let i = 0; i < state.count; i++) {
      points.set(state.probe, 3 * i);
      points[3 * i + axis] = first + (length * (i + 0.5)) / state.count;
    }
    return points;
  }
  const side = Math.max(1, Math.floor(Math.sqrt(state.count)));
  const sides = sidesOf(state.axis).map((name) => axisOf(facts, name));
  // Three planes are shown whole.
  const window = state.layout === "one" ? state.window : null;
  const [left, right, bottom, top] = window ?? sides.flatMap(({ first, length }) => [first, first + length]);
  const points = new Float32Array(3 * side * side);
  for (let i = 0; i < side * side; i++) {
    points[3 * i + AXES.indexOf(state.axis)] = state.at;
    const places = [
      left + ((right - left) * ((i % side) + 0.5)) / side,
      bottom + ((top - bottom) * (Math.floor(i / side) + 0.5)) / side,
    ];
    // A part that crosses a seam goes on at the other side.
    for (const [k, axis] of sides.entries())
      points[3 * i + AXES.indexOf(axis.name)] = copyAfter(axis.first, places[k], periodOf(axis));
  }
  return points;
}

/** The query of the particles; if the domain has open faces, those that reach them stop there. */
export function tracking(state: ViewState, facts: DatasetFacts): Tracking {
  const query = particleQuery(state, facts);
  const count = query.points.length / 3;
  const release = releaseOf(state, facts);
  const startOf = (i: number) => state.start + (count > 1 ? (release * i) / (count - 1) : 0);
  return {
    query,
    every: state.every,
    stops: hasOpenFaces(facts),
    integrator: state.tracker === "GetPositionInertialParticle" ? "heun" : state.integrator,
    starts: release > 0 ? Float32Array.from({ length: count }, (_, i) => startOf(i)) : null,
    along: state.along === "none" ? null : quantityOf(state.along).expression,
  };
}

/** The time over which particles are released: at most half of what is left, so that the last ones move too. */
function releaseOf({ tracker, release, start }: ViewState, { times }: DatasetFacts): number {
  return tracker === "GetPosition" ? Math.min(release, (times.last - start) / 2) : 0;
}

/** The steps that particles make: those asked for, as far as there are data, and one at least. */
export function stepsMade(state: ViewState, facts: DatasetFacts): number {
  const time = facts.times.last - state.start - releaseOf(state, facts);
  return Math.max(1, Math.min(state.steps, Math.floor(time / state.dt + 1e-3)));
}

/** The query of the chosen operation, with the parameters that its row of the table names. */
function particleQuery(state: ViewState, facts: DatasetFacts): PointQuery {
  const given: Readonly<Record<string, string | number>> = {
    StartTime: state.start,
    EndTime: withoutNoise(Math.min(state.start + state.dt * state.steps, facts.times.last)),
    dt: withoutNoise(state.dt),
    nt: stepsMade(state, facts),
    Tp: Math.fround(state.tp),
    spatialInterpolation: state.values,
  };
  const names = operationOf({ operation: state.tracker }).request.map((member) => member.name);
  return {
    operation: state.tracker,
    dataset: state.dataset,
    parameters: Object.fromEntries(
      names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]),
    ),
    points: seedPoints(state, facts),
  };
}

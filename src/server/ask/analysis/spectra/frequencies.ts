/** Answers `spectrum` of frequencies, of wavenumbers and frequencies along a periodic axis, and of open lines. */
import { componentsIn } from "../../../../analysis/expression.js";
import {
  type Frequencies,
  type FrequencyOptions,
  modesIn,
  segmentsIn,
  seriesIn,
} from "../../../../analysis/frequencies.js";
import { nested } from "../../../../analysis/nested.js";
import { isStaggered } from "../../../../engine/contract/dataset.js";
import type { Context } from "../../context.js";
import { wrong } from "../../faults.js";
import type { MemberValues } from "../../question/member-values.js";
import { type AnalysedNodes, type AxisNumber, type Direction, framesIn, LETTERS, pooled } from "../analysed-nodes.js";
import { type Analysis, analysisOf, momentsOf, type Tabled, tabled } from "../analysis.js";
import { courantMembers, withMeans, withWarnings } from "../means.js";
import { aboutTexts, checkSize, coordinatesOf } from "../reductions.js";
import { fluctuationsOf, pairMembers, pairOf, pairText, shapesOf } from "./spectral-quantities.js";

function segmentsOf({ segment, overlap, window = "hann", detrend = "constant" }: MemberValues, times: number) {
  const length = segment ?? times;
  if (length < 2 || length > times)
    throw wrong("segment", `expected 2 to ${times}, all times or nodes of the question`);
  const shared = overlap ?? Math.floor(length / 2);
  if (shared >= length) throw wrong("overlap", `expected less than ${length}, the length of a segment`);
  return { times, length, step: length - shared, window, detrend };
}

/** The step of times that are equidistant to within 1e-4. Throws RequestError. */
function stepOf(times: readonly number[]): number {
  const step = ((times.at(-1) as number) - times[0]) / (times.length - 1);
  const isUniform = times.every((time, i) => Math.abs(time - times[0] - i * step) <= 1e-4 * step);
  if (times.length < 2 || !isUniform || !(step > 0))
    throw wrong("time", "frequencies need several times with one step between them, to 1e-4 of it");
  return step;
}

/** Answers a spectrum of one quantity or a pair, averaged over segments in time, or along an open axis of `line`. */
export async function frequencySpectrum(context: Context, question: MemberValues): Promise<Tabled> {
  const { dataset } = context;
  const { normalise, kind, remove, axis = [] } = question;
  const periodic = LETTERS.filter((_, a) => dataset.axes[a as AxisNumber].periodic);
  const plain = analysisOf(context, question);
  if (question.terms !== undefined) throw wrong("terms", "they are of shells, planes and periodic lines");
  if (question.at !== undefined) throw wrong("at", "it is for periodic lines, modes and correlations");
  if (kind === "frequency" && axis.length > 0) throw wrong("axis", "kind=wavenumber_frequency has an axis");
  if (kind !== "frequency" && axis.length !== 1) throw wrong("axis", "expected one axis");
  const texts = pairOf(question, dataset);
  // The axis that is transformed in addition to time; null for frequencies alone.
  const [number = null] = axis.map((one) => LETTERS.indexOf(one) as AxisNumber);
  const along = kind === "line" ? null : number;
  const line = kind === "line" && number !== null ? number : undefined;
  const { times } = plain.nodes.base;
  const samples = line === undefined ? times.length : dataset.axes[line].nodes;
  const step = line === undefined ? stepOf(times) : dataset.axes[line].spacing;
  if (samples < 2) throw wrong("axis", `${LETTERS[line as AxisNumber]} has one node`);
  if (line !== undefined && dataset.axes[line].coordinates !== null)
    throw wrong("axis", `nodes along ${LETTERS[line]} are not evenly spaced`);
  if (along !== null && !dataset.axes[along].periodic) throw wrong("axis", `${LETTERS[along]} is not periodic`);
  if (normalise === "wavelength") throw wrong("normalise", "of segments: density or premultiplied");
  // What is transformed is not averaged over.
  const over: readonly Direction[] = [...(question.over ?? periodic).filter((one) => one !== "t"), "t"];
  const shapes = shapesOf(texts, plain.nodes.base.names, question);
  const fluctuations = fluctuationsOf(texts, question);
  const isRemoved = (one: Direction) => one !== "t" || remove !== "frame";
  const removed = [...over, ...(line === undefined ? [] : [LETTERS[line]])].filter(isRemoved);
  const { analysis, about } = await withMeans(plain, fluctuations, removed);
  const { nodes } = analysis;
  const series = fluctuations.flatMap((text, i) => componentsIn(text, shapes[i] as "scalar"));
  const atTimes = series.flatMap((text) => nodes.publicFrames.map((frame) => `field(${text}, ${frame})`));
  const columns = line === undefined ? atTimes : series;
  const options: FrequencyOptions = {
    ...{ of: columns.map((_, c) => c), ...segmentsOf(question, samples), isPair: texts.length === 2 },
    ...{ line, axis: along, nodes: along === null ? 1 : dataset.axes[along].nodes },
  };
  const kept = LETTERS.map((one, a) => a !== number && !over.includes(one));
  const [nx, ny, nz] = nodes.base.extent;
  // In time, all frames are columns of the first one.
  const frames = line === undefined ? 1 : times.length;
  const base = {
    ...{ ...nodes.base, kept: [...kept, false] as unknown as AnalysedNodes["base"]["kept"] },
    ...{ extent: [nx, ny, nz, frames] as const, times: times.slice(0, frames) },
  };
  const reductions = [{ kind: "frequencies", ...options } as const];
  checkSize(reductions, base, analysis.maxNumbers);
  const own = { ...nodes, base, frames: nodes.frames.slice(0, frames) };
  const merged = await analysis.reduce(own, { columns, reductions });
  const isKnown = dataset.fields.velocity !== undefined && !isStaggered(dataset, "velocity");
  const speeds = along !== null && isKnown ? [`abs(u.${LETTERS[along]})`] : [];
  const [[found] = []] = await momentsOf(plain, pooled(plain.nodes), speeds);
  const speed = found?.max ?? Number.POSITIVE_INFINITY;
  const scales = { step, spacing: along === null ? 0 : dataset.axes[along].spacing, speed };
  const states = merged.states(0) as readonly Frequencies[];
  const places = (coordinatesOf(base).coordinates ?? {}) as Readonly<Record<string, readonly number[]>>;
  const members = frequencyMembers(options, states, scales, places, normalise);
  const segments = segmentsIn(options);
  const { window, detrend, length: segment } = options;
  const courant = options.isPair ? Number.NaN : (speed * step) / scales.spacing;
  const flow = Number.isFinite(courant) ? courantMembers(courant, "convection velocities") : {};
  const body = {
    ...withWarnings(about, flow),
    ...{ weights: nodes.weights, frames: framesIn(nodes), ...aboutTexts(texts, plain.nodes), segments },
    unused: samples - segment - (segments - 1) * options.step,
    results: [{ of: texts.join(", "), ...members }],
  };
  return tabled(body, {
    ...{ ...pairText(question, dataset), ...analysis.time, over, axis: axis.length === 0 ? undefined : axis },
    ...{ segment, overlap: segment - options.step, window, detrend },
  });
}

/** Steps of the times and of the nodes of the axis, and the largest velocity along it. */
type Scales = Readonly<Record<"step" | "spacing" | "speed", number>>;

/** The mean of list number `list` of each state, by group and bin. */
function meansIn(states: readonly Frequencies[], list: number, bins: number): Float64Array {
  return Float64Array.from({ length: states.length * bins }, (_, i) => {
    const state = states[Math.floor(i / bins)];
    return state.sums[list * bins + (i % bins)] / state.weight;
  });
}

/** Mean modes of lines along an open axis, each with as many zeros behind it: of each column, and re and im of two. */
export async function paddedModes(
  line: AxisNumber,
  columns: readonly string[],
  nodes: AnalysedNodes,
  { reduce }: Analysis,
): Promise<readonly Float64Array[]> {
  const times = 2 * nodes.base.extent[line];
  const how = { window: "none", detrend: "none", axis: null, nodes: 1, isPair: columns.length === 2 } as const;
  const options = { of: columns.map((_, c) => c), line, times, length: times, step: times, ...how };
  const merged = await reduce(nodes, { columns, reductions: [{ kind: "frequencies", ...options }] });
  const states = merged.states(0) as readonly Frequencies[];
  if (states.some(({ missing, infinite }) => missing + infinite > 0))
    throw wrong("axis", "along an open axis, a correlation needs all nodes, and some have no value");
  return Array.from({ length: columns.length === 2 ? 4 : 1 }, (_, list) => meansIn(states, list, times / 2 + 1));
}

/** The members of an answer. `places`: coordinates of the groups, the slowest first. */
function frequencyMembers(
  options: FrequencyOptions,
  states: readonly Frequencies[],
  { step, spacing, speed }: Scales,
  places: Readonly<Record<string, readonly number[]>>,
  normalise?: "density" | "premultiplied",
): Readonly<Record<string, unknown>> {
  const { axis, nodes, length, isPair } = options;
  const [along, inTime] = modesIn(options);
  const [domega, dk] = [(2 * Math.PI) / (length * step), axis === null ? 1 : (2 * Math.PI) / (nodes * spacing)];
  const omega = Array.from({ length: inTime }, (_, j) => domega * (axis !== null && 2 * j > length ? j - length : j));
  const k = Array.from({ length: along }, (_, i) => dk * i);
  const factor = (bin: number): number => {
    if (normalise === undefined) return 1;
    const density = 1 / (domega * dk);
    const [a, b] = [axis === null ? 1 : k[Math.floor(bin / inTime)], Math.abs(omega[bin % inTime])];
    return normalise === "density" ? density : density * a * b;
  };
  const bins = along * inTime;
  const shape = [...Object.values(places).map((list) => list.length), ...(axis === null ? [] : [along]), inTime];
  const means = (list: number): Float64Array => meansIn(states, list, bins);
  const plain = (values: Float64Array): unknown => nested([...values], shape);
  const scaled = (values: Float64Array): unknown => plain(values.map((one, i) => one * factor(i % bins)));
  const [total, ...more] = Array.from({ length: seriesIn(options) }, (_, s) => means(s));
  const isSingle = (i: number): boolean => states[Math.floor(i / bins)].count * segmentsIn(options) === 1;
  const groups = shape.slice(0, axis === null ? -1 : -2);
  const each = (value: (state: Frequencies) => unknown): unknown => nested(states.map(value), groups);
  const energies = isPair
    ? pairMembers([total, more[0], means(2), means(3)], isSingle, scaled, plain)
    : { E: scaled(total.map((one, i) => more.reduce((sum, own) => sum + own[i], one))) };
  return {
    coordinates: { ...places, ...(axis === null ? {} : { k }), [options.line === undefined ? "omega" : "k"]: omega },
    ...energies,
    ...(axis === null || isPair ? {} : convection(states, k, step, speed, groups)),
    realisations: each((state) => state.count * segmentsIn(options)),
    missing: each((state) => state.missing),
  };
}

/**
 * c(k) = -arg(sum conj(u_k(t)) u_k(t + dt)) / (k dt), null where k max|u| dt >= pi or the sum is 0; over all,
 * sum k^2 E c / sum k^2 E.
 * Source: del Alamo and Jimenez, Journal of Fluid Mechanics 640 (2009) 5.
 */
function convection(
  states: readonly Frequencies[],
  k: readonly number[],
  step: number,
  speed: number,
  groups: readonly number[],
): Readonly<Record<string, unknown>> {
  const n = k.length;
  const found = states.map(({ sums }) => {
    const [re, im, energy] = [3, 2, 1].map((list) => sums.subarray(sums.length - list * n));
    const isKnown = (i: number) => i > 0 && k[i] * speed * step < Math.PI && (re[i] !== 0 || im[i] !== 0);
    const c = k.map((one, i) => (isKnown(i) ? -Math.atan2(im[i], re[i]) / (one * step) : null));
    const sum = (of: (i: number) => number): number =>
      k.reduce((total, one, i) => total + (isKnown(i) ? one * one * (2 * i === n ? 1 : 2) * energy[i] * of(i) : 0), 0);
    return { c, mean: sum((i) => c[i] as number) / sum(() => 1) };
  });
  const [all, means] = [found.flatMap(({ c }) => c), found.map(({ mean }) => mean)];
  return { convection_velocity: nested(all, [...groups, n]), mean_convection_velocity: nested(means, groups) };
}

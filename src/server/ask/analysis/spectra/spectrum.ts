/** Answers `spectrum`: sums of the modes of whole frames over shells, rings or lines. Other files have other kinds. */
import { compileExpression, componentsIn } from "../../../../analysis/expression.js";
import type { GroupAnswer } from "../../../../analysis/reductions.js";
import type { OfAxes, SpectrumPlan, SpectrumSums, SpectrumTerm } from "../../../../analysis/spectrum.js";
import { binsOf, groupsOf, rangeOf, scalesOf } from "../../../../analysis/spectrum.js";
import type { Dataset } from "../../../../engine/contract/dataset.js";
import { refuse } from "../../../http/refusal.js";
import type { Context } from "../../context.js";
import { wrong } from "../../faults.js";
import type { MemberValues } from "../../question/member-values.js";
import { whatText } from "../../question/what.js";
import { checkTransforms } from "../../transforms.js";
import { type AnalysedNodes, AXES, type AxisNumber, derivedOf, framesIn, LETTERS } from "../analysed-nodes.js";
import { analysisOf, type Tabled, tabled } from "../analysis.js";
import { courantOf } from "../means.js";
import { aboutTexts, checkNumbers, coordinatesOf } from "../reductions.js";
import { frequencySpectrum } from "./frequencies.js";
import { lineSpectrum } from "./line-spectra.js";
import { onlyWhat, usualAxis } from "./spectral-quantities.js";

/** Members of the kinds that transform time, and of the kinds with positions. */
const IN_TIME = ["segment", "overlap", "window", "detrend"] as const;
const OF_LINES = ["over", "cross", "at", "remove", "normalise", "mean_time"] as const;

export async function spectrum(context: Context, given: MemberValues): Promise<Tabled> {
  const { axes } = context.dataset;
  const open = openAxes(axes).length;
  const { kind = open === 0 ? "shell" : open === 1 ? "plane" : "line" } = given;
  const isAlongLines = kind === "line" || kind === "wavenumber_frequency";
  const question = { ...given, kind, ...(isAlongLines ? { axis: given.axis ?? [usualAxis(axes, true)] } : {}) };
  const isOpenLine = kind === "line" && question.axis?.some((one) => !axes[LETTERS.indexOf(one) as 0].periodic);
  if (kind === "frequency" || kind === "wavenumber_frequency" || isOpenLine)
    return frequencySpectrum(context, question);
  const inTime = IN_TIME.find((name) => question[name] !== undefined);
  if (inTime !== undefined) throw wrong(inTime, "it is for frequencies, and for lines along an open axis");
  const ofLines = OF_LINES.find((name) => question[name] !== undefined);
  const hasPlaces = kind === "line" && question.terms === undefined && (open > 0 || ofLines !== undefined);
  if (kind === "modes" || hasPlaces) return lineSpectrum(context, question, kind);
  if (ofLines !== undefined) throw wrong(ofLines, "it is for kind=line and kind=modes");
  return spectrumOfFrames(context, question);
}

async function spectrumOfFrames(context: Context, question: MemberValues): Promise<Tabled> {
  const { dataset } = context;
  const analysis = analysisOf(context, question);
  const { nodes, sum, maxNumbers: most } = analysis;
  const what = onlyWhat(question, dataset);
  const { kind, terms = [] } = question;
  const [axis, ...others] = question.axis ?? [];
  if (others.length > 0) throw wrong("axis", "a spectrum has one axis");
  const odd = terms.find((term) => !/^(transfer|flux|dissipation|helicity|cross:.+)$/.test(term));
  if (odd !== undefined)
    throw wrong("terms", `expected some of transfer, flux, dissipation, helicity and cross:q, not ${odd}`);
  const plan = planOf(what.text, kind as SpectrumPlan["kind"], axis, terms, dataset, nodes);
  const columns = plan.terms.length + (plan.kind === "line" ? plan.components : 0);
  checkNumbers(groupsOf(plan) * binsOf(plan) * columns, most);
  const derived = derivedOf(nodes, plan.columns);
  const sums = await sum({ plan, frames: nodes.frames, times: nodes.base.times, derived }, nodes);
  for (const one of sums) for (let i = 0; i < one.length; i++) one[i] = one[i] / nodes.frames.length;
  const texts = [what.text, ...terms.flatMap((one) => /^cross:(.+)$/.exec(one)?.slice(1) ?? [])];
  const body = {
    ...{ weights: nodes.weights, frames: framesIn(nodes), ...(await courantOf(texts, analysis)) },
    ...aboutTexts(texts, nodes),
    ...describeSums(plan, sums, terms, dataset.viscosity),
    ...(plan.kind === "plane" ? coordinatesOf({ ...nodes.base, kept: [0, 1, 2, 3].map((a) => a === plan.axis) }) : {}),
  };
  return tabled(body, {
    ...{ what: [whatText(what)], ...analysis.time, kind, remove: undefined },
    axis: axis === undefined ? undefined : [axis],
  });
}

/** `letter`: the axis of lines, or the one across planes. `more`: what is asked besides the energy. */
function planOf(
  text: string,
  kind: SpectrumPlan["kind"],
  letter: "x" | "y" | "z" | undefined,
  more: readonly string[],
  dataset: Dataset,
  { base }: AnalysedNodes,
): SpectrumPlan {
  const { shape } = compileExpression(text, base.names, "what");
  if (shape === "tensor") throw wrong("what", "spectra are of a vector or a scalar, not of a tensor");
  const axis = axisOf(kind, letter, dataset);
  const transformed = AXES.map((a) => (kind === "line") === (a === axis)) as unknown as OfAxes<boolean>;
  const several = dataset.axes.map(({ nodes }, a) => transformed[a as AxisNumber] && nodes > 1);
  checkTransforms(dataset, several, "kind");
  const [nx, ny, nz] = base.extent;
  const columns = [...componentsIn(text, shape)];
  const isVelocity = ["u", "velocity"].includes(text.trim());
  const terms = termsOf(more, kind, shape, isVelocity, dataset.viscosity !== undefined);
  for (const one of more.filter((name) => name.startsWith("cross:"))) {
    const other = one.slice("cross:".length);
    if (compileExpression(other, base.names, "terms").shape !== shape)
      throw wrong("terms", `the quantity after cross: must be a ${shape}, as the one of the spectrum`);
    columns.push(...componentsIn(other, shape));
  }
  if (terms.includes("transfer"))
    columns.push("u.x * u.x", "u.x * u.y", "u.x * u.z", "u.y * u.y", "u.y * u.z", "u.z * u.z");
  const { order, names, weights } = base;
  return {
    ...{ kind, axis, transformed, columns, terms, order, names, weights },
    nodes: [nx, ny, nz],
    components: shape === "vector" ? 3 : 1,
    periods: dataset.axes.map(({ nodes, spacing }) => nodes * spacing) as unknown as OfAxes<number>,
  };
}

/** Checks the terms besides the energy. Throws RequestError. */
function termsOf(
  more: readonly string[],
  kind: SpectrumPlan["kind"],
  shape: "scalar" | "vector",
  isVelocity: boolean,
  hasViscosity: boolean,
): readonly SpectrumTerm[] {
  const wants = (...names: readonly string[]) => more.find((one) => names.includes(one));
  const crosses = more.filter((one) => one.startsWith("cross:"));
  const ofShells = wants("transfer", "flux", "dissipation", "helicity");
  if (kind !== "shell" && ofShells !== undefined) throw wrong("terms", `${ofShells} is of shells only`);
  const ofVelocity = wants("transfer", "flux", "dissipation");
  if (!isVelocity && ofVelocity !== undefined) throw wrong("terms", `${ofVelocity} is of the velocity u only`);
  if (shape !== "vector" && wants("helicity") !== undefined) throw wrong("terms", "helicity needs a vector");
  if (wants("dissipation") !== undefined && !hasViscosity)
    throw refuse("terms", 'terms: the dataset states no viscosity; statistics of "2*ddot(S,S)" need none.');
  if (crosses.length > 1) throw wrong("terms", "a spectrum takes only one cross: quantity");
  return [
    "energy",
    ...(kind === "shell" && isVelocity ? (["gradients"] as const) : []),
    ...(wants("helicity") === undefined ? [] : (["helicity"] as const)),
    ...(crosses.length === 0 ? [] : (["cross"] as const)),
    ...(wants("transfer", "flux") === undefined ? [] : (["transfer"] as const)),
  ];
}

/** Axes that are neither periodic nor of one node, along which fields are constant. */
const openAxes = (axes: Dataset["axes"]) => AXES.filter((a) => !axes[a].periodic && axes[a].nodes > 1);

/** The axis of lines or across planes. Throws RequestError if it is missing or does not fit. */
function axisOf(
  kind: SpectrumPlan["kind"],
  letter: "x" | "y" | "z" | undefined,
  { axes }: Dataset,
): SpectrumPlan["axis"] {
  if (kind === "shell" && letter !== undefined) throw wrong("axis", "shells have none; lines and planes do");
  if (kind === "shell") return null;
  if (letter !== undefined) return LETTERS.indexOf(letter) as 0 | 1 | 2;
  const open = openAxes(axes);
  if (open.length !== 1) throw wrong("axis", "the axis across the planes must be given: x, y or z");
  return open[0] as 0 | 1 | 2;
}

function describeSums(
  plan: SpectrumPlan,
  sums: SpectrumSums,
  more: readonly string[],
  nu: number | undefined,
): GroupAnswer {
  const bins = binsOf(plan);
  const of = (term: SpectrumTerm) => sums[plan.terms.indexOf(term)];
  const parts = (values: Float64Array) =>
    Array.from({ length: values.length / bins }, (_, g) => [...values.subarray(g * bins, (g + 1) * bins)]);
  const listed = (values: Float64Array) => (plan.kind === "plane" ? parts(values) : [...values]);
  const { unit, nyquist } = rangeOf(plan);
  const energies = plan.kind === "line" ? parts(of("energy")).reduce(sumOf) : listed(of("energy"));
  const transfer = plan.terms.includes("transfer") ? of("transfer") : new Float64Array(0);
  const members: GroupAnswer = {
    kind: plan.kind,
    ...(plan.axis === null ? {} : { axis: LETTERS[plan.axis] }),
    k: Array.from({ length: bins }, (_, n) => n * unit),
    E: energies,
    ...(plan.kind === "line" && plan.components === 3 ? { components: parts(of("energy")) } : {}),
    ...(plan.terms.includes("helicity") ? { helicity: listed(of("helicity")) } : {}),
    ...(plan.terms.includes("cross") ? { cross: listed(of("cross")) } : {}),
    ...(more.includes("dissipation") ? { dissipation: [...of("gradients").map((sum) => (nu as number) * sum)] } : {}),
    ...(more.includes("transfer") ? { transfer: [...transfer] } : {}),
    // Pi(n) = - sum of T(m) over m <= n.
    ...(more.includes("flux") ? { flux: [...transfer].map((_, n) => -sumIn(transfer.subarray(0, n + 1))) } : {}),
    nyquist,
  };
  if (!plan.terms.includes("gradients")) return members;
  return { ...members, scales: scalesOf(of("energy"), unit, sumIn(of("gradients")), nu, nyquist) };
}

const sumOf = (a: readonly number[], b: readonly number[]) => a.map((one, i) => one + b[i]);
const sumIn = (values: Float64Array): number => values.reduce((sum, one) => sum + one, 0);

/** Spectra and correlations along periodic axes, at each position along the directions that are not averaged. */
import { compileExpression, componentsIn } from "../../../../analysis/expression.js";
import { type InputKey, partsOfInput } from "../../../../analysis/names.js";
import { nested } from "../../../../analysis/nested.js";
import type { OfAxes, SpectrumPlan } from "../../../../analysis/spectrum.js";
import { binsOf, groupsOf, modesOf, wavenumbersAlong } from "../../../../analysis/spectrum.js";
import { Transform } from "../../../../analysis/transform.js";
import type { Context } from "../../context.js";
import { wrong } from "../../faults.js";
import type { MemberValues } from "../../question/member-values.js";
import { checkTransforms } from "../../transforms.js";
import type { AnalysedNodes, AxisNumber, Direction } from "../analysed-nodes.js";
import { AXES, derivedOf, framesIn, LETTERS, regrouped, replacedAlong } from "../analysed-nodes.js";
import { type Analysis, analysisOf, momentsOf, type Tabled, tabled } from "../analysis.js";
import { meansIn, numbersIn, withMeans } from "../means.js";
import { aboutTexts, checkNumbers, coordinatesOf } from "../reductions.js";
import { paddedModes } from "./frequencies.js";
import { fluctuationsOf, measured, pairMembers, pairOf, pairText, shapesOf, usualAxis } from "./spectral-quantities.js";

/** Directions to average over: as the question states, or all but open axes. */
function averagedOver({ question, dataset }: Analysis): readonly Direction[] {
  return question.over ?? [...LETTERS.filter((_, a) => dataset.axes[a as AxisNumber].periodic), "t"];
}

/**
 * Sums of the modes of one quantity, or of a pair, along transformed axes, by position. Throws RequestError.
 * @param isPadded whether one of the axes may be open, whose lines are followed by zeros
 */
async function sumModes(
  texts: readonly string[],
  transformedAxes: readonly AxisNumber[],
  plain: Analysis,
  isPadded = false,
) {
  const { question, dataset, maxNumbers: most } = plain;
  const over = averagedOver(plain);
  const transformed = AXES.map((a) => transformedAxes.includes(a)) as unknown as OfAxes<boolean>;
  const open = isPadded ? transformedAxes.find((a) => !dataset.axes[a].periodic) : undefined;
  if (open === undefined) checkTransforms(dataset, transformed, "axis");
  else if (transformedAxes.length > 1 || dataset.axes[open].coordinates !== null)
    throw wrong("axis", "along an open axis, a correlation is along that axis alone, of evenly spaced nodes");
  const resolvedAxes = AXES.map((a) => !transformed[a] && !over.includes(LETTERS[a])) as unknown as OfAxes<boolean>;
  const shapes = shapesOf(texts, plain.nodes.base.names, question);
  const { remove, at, fold, mean_time: meanTime } = question;
  // The mean over what is summed is in the modes of wavenumber 0: the sums remove it, without a pass before.
  const isOfFrame = remove === "frame" && plain.nodes.frames.length > 1;
  const isCentred = remove !== "none" && !isOfFrame && [open, at, fold, meanTime].every((one) => one === undefined);
  const own = isCentred ? texts : fluctuationsOf(texts, question);
  const ofFrames = remove === "frame" ? [] : (["t"] as const);
  const removed = [...LETTERS.filter((_, a) => !resolvedAxes[a]), ...ofFrames];
  const { analysis, about } = await withMeans(plain, own, removed);
  const fixed = at === undefined ? null : await fixedAt(at, own, resolvedAxes, analysis);
  const { nodes, texts: each } = fixed ?? { nodes: analysis.nodes, texts: own };
  const columns = each.flatMap((text, i) => componentsIn(text, shapes[i] as "scalar"));
  const { extent, order, names, weights } = nodes.base;
  const frames = extent[3];
  const doubled = AXES.map((a) => (a === open ? 2 : 1));
  const plan: SpectrumPlan = {
    ...(transformedAxes.length === 1
      ? { kind: "line", axis: transformedAxes[0] as AxisNumber }
      : { kind: "modes", axis: null }),
    ...{ transformed, resolvedAxes, columns, order, names, weights },
    nodes: doubled.map((by, a) => by * extent[a]) as unknown as OfAxes<number>,
    ...{ components: columns.length as 1 | 2 | 3 },
    terms: [...(isCentred ? ["mean" as const] : []), "energy", ...(texts[1] ? (["co", "quad"] as const) : [])],
    periods: dataset.axes.map((axis, a) => doubled[a] * axis.nodes * axis.spacing) as unknown as OfAxes<number>,
  };
  const length = groupsOf(plan) * binsOf(plan);
  checkNumbers(length * (columns.length + 2), most);
  const derived = derivedOf(nodes, columns);
  const energies: Float64Array[] = [];
  let [co, quad]: (Float64Array | undefined)[] = [];
  let means = about.means as object | undefined;
  if (open === undefined) {
    const sums = await analysis.sum({ plan, frames: nodes.frames, times: nodes.base.times, derived }, nodes);
    const [energy, ...more] = isCentred ? sums.slice(1) : sums;
    if (isCentred && groupsOf(plan) === 1 && columns.length === texts.length) {
      const points = plan.nodes.reduce((product, n, a) => product * (transformed[a] ? n : 1), 1);
      const values = [...(sums[0] as Float64Array).subarray(1)].map((one) => [Float64Array.of(one / points)]);
      const nameOf = (text: string) => String(meansIn(`mean(${text})`, nodes, "what").at(-1));
      const found = texts.map((text, c) => [nameOf(text), { values: values[c] }] as const);
      means = { ...means, ...(numbersIn(new Map(found)).means as object) };
    }
    for (const one of [energy, ...more]) for (let i = 0; i < one.length; i++) one[i] = one[i] / frames;
    energies.push(...columns.map((_, c) => energy.subarray(c * length, (c + 1) * length)));
    [co, quad] = more;
  } else {
    const all = await paddedModes(open, columns, regrouped(nodes, [...resolvedAxes, false]), analysis);
    energies.push(...all.slice(0, columns.length));
    [co, quad] = all.slice(columns.length);
  }
  const averaged = extent
    .slice(0, 3)
    .reduce((product, n, a) => product * (transformed[a] || resolvedAxes[a] ? 1 : n), 1);
  return {
    // The number of lines and frames averaged.
    ...{ plan, energies, co, quad, realisations: averaged * frames },
    about: {
      ...{ ...(isCentred ? { mean_over: removed, mean_passes: 0 } : {}), ...about, ...(means && { means }) },
      ...{ weights: nodes.weights, frames: framesIn(nodes), ...aboutTexts(texts, plain.nodes) },
    },
  };
}

/** A pair whose first quantity is fixed at one position along an axis. Throws RequestError. */
async function fixedAt(
  at: string,
  [first = "", second = first]: readonly string[],
  resolvedAxes: OfAxes<boolean>,
  analysis: Analysis,
): Promise<{ readonly nodes: AnalysedNodes; readonly texts: readonly string[] }> {
  const { nodes, dataset, maxNumbers: most } = analysis;
  const [, letter = "", value = ""] = /^([xyz]):([-+.\deE]+)$/.exec(at) ?? [];
  const a = LETTERS.indexOf(letter as "x");
  if (a < 0 || !Number.isFinite(Number(value))) throw wrong("at", "expected an axis and a place, such as y:0.1");
  if (!resolvedAxes[a]) throw wrong("at", `${letter} has no places: leave it out of over`);
  const { base } = nodes;
  const along = base.coordinates[a];
  const off = along.map((one) => Math.abs(one - Number(value)));
  const node = off.indexOf(Math.min(...off));
  if (!(off[node] <= 1e-6 * dataset.axes[a as AxisNumber].spacing))
    throw wrong("at", `no node is at ${value}; node ${node} is at ${along[node]}`, `${letter}:${along[node]}`);
  const isAlong = AXES.map((b) => b === a);
  const plane = replacedAlong(nodes, isAlong, () => ({ first: node, count: 1, step: 1 }));
  const { extent } = plane.base;
  const numbers = extent.reduce((product, n) => product * n, 1);
  checkNumbers(numbers, most);
  const [moments = []] = await momentsOf(analysis, regrouped(plane, [true, true, true, true]), [first]);
  const values = Float64Array.from(moments, ({ count, mean }) => (count === 0 ? Number.NaN : mean));
  // The mean of a plane, one number per node; adding 0 gives it another text than the mean itself has.
  const text = `mean(0 + ${first})`;
  const read = compileExpression(text, base.names).reads.find((key) => key.startsWith("mean:=(0 + ")) as InputKey;
  const table = { extent, frames: nodes.frames, isOfFrames: true, values: [values] };
  const means = { ...base.names.means, [partsOfInput(read)?.expression as string]: table };
  return { nodes: { ...nodes, base: { ...base, names: { ...base.names, means } } }, texts: [text, second] };
}

/** Coordinates of the kept positions, the slowest first. */
function placesOf({ resolvedAxes = [false, false, false] }: SpectrumPlan, { base }: AnalysedNodes) {
  const { coordinates = {} } = coordinatesOf({ ...base, kept: [...resolvedAxes, false] });
  return Object.entries(coordinates as Readonly<Record<string, number[]>>);
}

/** Modes along each transformed axis, the slowest first: signed wavenumbers, one-sided along the first. */
function wavesOf(plan: SpectrumPlan): readonly { readonly axis: 0 | 1 | 2; readonly k: readonly number[] }[] {
  const modes = modesOf(plan);
  return slowestFirst(plan).map((axis) => {
    const k = [...wavenumbersAlong(plan, axis)].slice(0, modes[axis]);
    return { axis, k: axis === plan.transformed.indexOf(true) ? k.map(Math.abs) : k };
  });
}

export async function lineSpectrum(context: Context, question: MemberValues, kind: "line" | "modes"): Promise<Tabled> {
  const { dataset } = context;
  const analysis = analysisOf(context, question);
  if (question.terms !== undefined)
    throw wrong("terms", "terms are of shells, planes, and lines without over, cross and remove");
  const periodic = LETTERS.filter((_, a) => dataset.axes[a as AxisNumber].periodic);
  const { axis = periodic } = question;
  if (kind === "line" && axis.length > 1) throw wrong("axis", "lines have one axis; modes have several");
  const texts = pairOf(question, dataset);
  const along = axis.map((one) => LETTERS.indexOf(one) as AxisNumber);
  if (along.length > 1 && question.normalise === "wavelength")
    throw wrong("normalise", "wavelengths are along one axis");
  const { plan, energies, co, quad, realisations, about } = await sumModes(texts, along, analysis);
  const waves = wavesOf(plan);
  const at = placesOf(plan, analysis.nodes);
  const names = waves.map(({ axis }) => (waves.length === 1 ? "k" : `k_${LETTERS[axis]}`));
  const coordinates = { ...Object.fromEntries(at), ...Object.fromEntries(waves.map(({ k }, i) => [names[i], k])) };
  const lengths = [...at.map(([, list]) => list.length), ...waves.map(({ k }) => k.length)];
  const factors = factorsOf(question, waves, plan);
  const plain = (values: Float64Array): unknown => nested([...values], lengths);
  const list = (values: Float64Array): unknown => plain(values.map((one, i) => one * factors[i % factors.length]));
  const [a, b] = energies;
  const members =
    co !== undefined && quad !== undefined
      ? pairMembers([a, b, co, quad], () => realisations === 1, list, plain)
      : { E: list(energies.reduce((sum, own) => sum.map((one, i) => one + own[i]))) };
  const each = energies.length === 3 ? energies.map((one, c) => [`E_${LETTERS[c]}`, list(one)]) : [];
  const result = { of: texts.join(", "), coordinates, ...members, ...Object.fromEntries(each) };
  const { normalise } = question;
  const wavelength = waves[0]?.k.map((k) => (k === 0 ? null : (2 * Math.PI) / k));
  const body = {
    ...{ ...about, kind: plan.kind, realisations },
    ...(normalise === undefined ? {} : { normalise }),
    ...(normalise === "wavelength" ? { wavelength } : {}),
    results: [result],
  };
  return tabled(body, { ...pairText(question, dataset), ...analysis.time, over: averagedOver(analysis), kind, axis });
}

/** Factor of each mode along each transformed axis: 1, 1/dk or k/dk; the fastest axis last. */
function factorsOf(
  { normalise }: MemberValues,
  waves: ReturnType<typeof wavesOf>,
  { periods }: SpectrumPlan,
): Float64Array {
  let factors = Float64Array.of(1);
  for (const { axis, k } of waves) {
    const step = (2 * Math.PI) / periods[axis];
    const own = k.map((one) =>
      normalise === undefined ? 1 : normalise === "density" ? 1 / step : Math.abs(one) / step,
    );
    factors = Float64Array.from([...factors].flatMap((factor) => own.map((one) => factor * one)));
  }
  return factors;
}

/** Answers `correlation`: R_ab(r) = <a'(x) b'(x + r)> along one axis, circular if it is periodic, or over two such. */
export async function correlation(context: Context, question: MemberValues): Promise<Tabled> {
  const { dataset } = context;
  const { axis = [usualAxis(dataset.axes, false)] } = question;
  const analysis = analysisOf(context, question);
  const texts = pairOf(question, dataset);
  if (axis.length > 2) throw wrong("axis", "a correlation is along one axis, or over the plane of two");
  const along = axis.map((one) => LETTERS.indexOf(one) as AxisNumber);
  const [a, b = a] = texts as [string, string?];
  const isAuto = a === b && analysis.question.at === undefined;
  const summed = await sumModes(isAuto ? [a] : [a, b], along, analysis, true);
  const { plan, energies, about, realisations, co, quad } = summed;
  if (energies.length > 2 || (isAuto && energies.length > 1))
    throw wrong("what", "a correlation is of scalars: name a component");
  // The spectrum of a single quantity is its pair with itself.
  const [own, other = own] = energies as [Float64Array, Float64Array?];
  const circular = await correlationsIn(plan, co ?? own, quad ?? own.map(() => 0), analysis);
  const [groups, bins] = [groupsOf(plan), binsOf(plan)];
  const isOpen = along.some((axis) => !dataset.axes[axis].periodic);
  const padded = circular.length / groups;
  // Along an open axis, of N nodes and as many zeros, N - i nodes have one that is i further, and none one N further.
  const share = (i: number): number => (isOpen ? padded / Math.abs(padded / 2 - i) : 1);
  const hasPairs = (_: unknown, i: number): boolean => !isOpen || 2 * (i % padded) !== padded;
  const R = circular.map((one, i) => one * share(i % padded)).filter(hasPairs);
  const cells = R.length / groups;
  const sumIn = (one: Float64Array, g: number) => one.subarray(g * bins, (g + 1) * bins).reduce((sum, e) => sum + e, 0);
  const squares = [own, other].map((one) => Float64Array.from({ length: groups }, (_, g) => share(0) * sumIn(one, g)));
  const [sa, sb] = squares.map((one) => [...one].map(Math.sqrt));
  const [isA, isB] = squares.map(measured);
  const rho = R.map((one, i) => {
    const g = Math.floor(i / cells);
    return isA(g) && isB(g) ? one / (sa[g] * sb[g]) : Number.NaN;
  });
  const at = placesOf(plan, analysis.nodes);
  const separations = slowestFirst(plan).map((axis): [string, number[]] => {
    const [n, h] = [plan.nodes[axis], plan.periods[axis] / plan.nodes[axis]];
    return [`r_${LETTERS[axis]}`, Array.from({ length: n }, (_, i) => h * (2 * i > n ? i - n : i)).filter(hasPairs)];
  });
  const coordinates = Object.fromEntries([...at, ...separations]);
  const lengths = Object.values(coordinates).map(({ length }) => length);
  const ofPlaces = (list: readonly unknown[]): unknown => nested(list, lengths.slice(0, at.length));
  const [[, r]] = separations as [[string, number[]]];
  const ahead = Math.ceil(cells / share(0));
  const last = isOpen ? ahead - 1 : Math.floor(ahead / 2);
  const lengthOf = (g: number) => integralLength(rho.subarray(g * cells, g * cells + ahead), r, last);
  const integrals = Array.from({ length: groups }, (_, g) => lengthOf(g));
  const body = {
    ...about,
    ...(isAuto && separations.length === 1
      ? Object.fromEntries(LENGTHS.map((name) => [name, ofPlaces(integrals.map((one) => one[name]))]))
      : {}),
    ...{ s_a: ofPlaces(sa), s_b: ofPlaces(sb), realisations },
    results: [{ of: texts.join(", "), coordinates, R: nested([...R], lengths), rho: nested([...rho], lengths) }],
  };
  return tabled(body, { ...pairText(question, dataset), ...analysis.time, over: averagedOver(analysis), axis });
}

/** The transformed axes, the slowest first. */
function slowestFirst({ transformed }: SpectrumPlan): readonly AxisNumber[] {
  return ([2, 1, 0] as const).filter((axis) => transformed[axis]);
}

/** Inverse transforms of one-sided cross spectra at each position, over a plane of two axes or along one. */
async function correlationsIn(
  plan: SpectrumPlan,
  co: Float64Array,
  quad: Float64Array,
  { slices }: Analysis,
): Promise<Float64Array> {
  const order = slowestFirst(plan);
  const fast = order.at(-1) as AxisNumber;
  const ns = order.length === 1 ? 1 : plan.nodes[order[0] as AxisNumber];
  const [nf, mf] = [plan.nodes[fast], modesOf(plan)[fast]];
  const [inS, inF] = [new Transform(ns), new Transform(nf)];
  const [groups, bins] = [groupsOf(plan), binsOf(plan)];
  const R = new Float64Array(groups * ns * nf);
  await slices.each(groups, (from, to) => {
    for (let g = from; g < to; g++) {
      // The inverse transform and the transform of the conjugate have the same real part.
      const rows = Array.from({ length: ns }, (_, m) => {
        const [re, im] = [new Float64Array(nf), new Float64Array(nf)];
        const at = g * bins + m * mf;
        re.set(co.subarray(at, at + mf));
        im.set(quad.subarray(at, at + mf).map((one) => -one));
        inF.forward(re, im);
        return [re, im] as const;
      });
      if (ns === 1) R.set(rows[0]?.[0] as Float64Array, g * nf);
      for (let q = 0; ns > 1 && q < nf; q++) {
        const [re, im] = [0, 1].map((part) => Float64Array.from(rows, (row) => row[part as 0][q]));
        inS.forward(re as Float64Array, im as Float64Array);
        for (let r = 0; r < ns; r++) R[(g * ns + r) * nf + q] = (re as Float64Array)[r] as number;
      }
    }
  });
  return R;
}

const LENGTHS = ["integral_length", "crossed"] as const;

/**
 * The integral of rho by trapezes to its first zero, on a line between nodes, or else over half of its nodes; null of one
 * node. `last`: the last separation, of a period its half.
 */
function integralLength(rho: Float64Array, r: readonly number[], last: number) {
  const half = Math.floor(rho.length / 2);
  if (half === 0) return { integral_length: null, crossed: false };
  let [sum, toHalf] = [0, 0];
  for (let i = 0; i < last; i++) {
    const [a, b] = [rho[i], rho[i + 1]];
    const h = Math.abs(r[i + 1]) - Math.abs(r[i]);
    if (Number.isNaN(a)) return { integral_length: null, crossed: false };
    if (b <= 0) return { integral_length: sum + (0.5 * a * h * a) / (a - b), crossed: true };
    sum += 0.5 * (a + b) * h;
    if (i + 1 === half) toHalf = sum;
  }
  return { integral_length: toHalf, crossed: false };
}

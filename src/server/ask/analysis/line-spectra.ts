/** Spectra and correlations along periodic axes, at each place of the directions that are not averaged over. */
import { compileExpression, componentsIn } from "../../../analysis/expression.js";
import type { Moments } from "../../../analysis/moments.js";
import { type InputKey, partsOfInput } from "../../../analysis/names.js";
import { nested } from "../../../analysis/nested.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import {
  binsOf,
  groupsOf,
  modesOf,
  type OfAxes,
  type SpectrumPlan,
  wavenumbersAlong,
} from "../../../analysis/spectrum.js";
import { Transform } from "../../../analysis/transform.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "../question/read-member.js";
import { checkTransforms } from "../transforms.js";
import { type AnalysedNodes, derivedOf, reductionOf } from "./analysed-nodes.js";
import { type Direction, meansFor } from "./means.js";
import { aboutTexts, checkNumbers, framesIn, type Means } from "./statistics.js";

const AXES = [0, 1, 2] as const;
const LETTERS = ["x", "y", "z"] as const;

/** Sums of modes at places, with what they are of. */
interface SummedModes {
  readonly plan: SpectrumPlan;
  readonly energies: readonly Float64Array[];
  readonly co: Float64Array | null;
  readonly quad: Float64Array | null;
  /** Lines and frames that are averaged. */
  readonly realisations: number;
  readonly about: GroupAnswer;
}

/** Directions averaged over: those asked, or all but open axes. */
export function linesOver({ over }: MemberValues, { axes }: Dataset): readonly Direction[] {
  return over ?? ([...LETTERS.filter((_, a) => axes[a as 0].periodic), "t"] as const);
}

/** Sums the modes of one quantity, or of a pair, along transformed axes. @throws RequestError */
async function sumModes(
  texts: readonly string[],
  transformedAxes: readonly number[],
  asked: MemberValues,
  places: AnalysedNodes,
  dataset: Dataset,
  means: Means,
): Promise<SummedModes> {
  const over = linesOver(asked, dataset);
  const { remove = "mean" } = asked;
  const transformed = AXES.map((a) => transformedAxes.includes(a)) as unknown as OfAxes<boolean>;
  checkTransforms(dataset, transformed, "axis");
  const isPlace = AXES.map((a) => !transformed[a] && !over.includes(LETTERS[a])) as unknown as OfAxes<boolean>;
  const own = remove === "none" ? texts : texts.map((text) => `fluc(${text})`);
  const removed = [...LETTERS.filter((_, a) => !isPlace[a]), ...(remove === "frame" ? [] : (["t"] as const))];
  const { places: all, about } = await meansFor(own, places, asked, dataset, means, removed, "what");
  const shapes = texts.map((text) => compileExpression(text, all.base.names, "what").shape);
  if (shapes.includes("tensor")) throw wrong("what", "spectra are of scalars and vectors, not of tensors");
  if (texts.length === 2 && shapes.some((shape) => shape !== "scalar"))
    throw wrong("cross", "a pair is of two scalars: name components");
  const fixed = asked.at === undefined ? null : await fixedAt(asked.at, own, isPlace, all, dataset, means);
  const { known, texts: each } = fixed ?? { known: all, texts: own };
  const columns = each.flatMap((text, i) => componentsIn(text, shapes[i] as "scalar"));
  const [nx, ny, nz, frames] = known.base.extent;
  const single = transformedAxes.length === 1;
  const plan: SpectrumPlan = {
    ...(single ? { kind: "line", axis: transformedAxes[0] as 0 } : { kind: "modes", axis: null }),
    ...{ transformed, places: isPlace, columns, order: known.base.order, names: known.base.names },
    ...{ nodes: [nx, ny, nz], components: columns.length as 1 | 2 | 3, weights: known.base.weights },
    terms: ["energy", ...(texts.length === 2 ? (["co", "quad"] as const) : [])],
    periods: dataset.axes.map(({ nodes, spacing }) => nodes * spacing) as unknown as OfAxes<number>,
  };
  const numbers = groupsOf(plan) * binsOf(plan) * (columns.length + 2);
  checkNumbers(numbers, means.most);
  const derived = derivedOf(known, columns);
  const sums = await means.sum({ plan, frames: known.frames, times: known.base.times, derived }, known);
  for (const one of sums) for (let i = 0; i < one.length; i++) one[i] = (one[i] as number) / frames;
  const [energy, co = null, quad = null] = sums as [Float64Array, Float64Array?, Float64Array?];
  const length = groupsOf(plan) * binsOf(plan);
  const averaged = plan.nodes.reduce((product, n, a) => product * (transformed[a] || isPlace[a] ? 1 : n), 1);
  return {
    ...{ plan, co, quad, realisations: averaged * frames },
    energies: columns.map((_, c) => energy.subarray(c * length, (c + 1) * length)),
    about: { ...about, weights: known.weights, frames: framesIn(known), ...aboutTexts(texts, places) },
  };
}

/** A pair whose first quantity is that of one place along an axis, whatever the place of the second. @throws RequestError */
async function fixedAt(
  at: string,
  [first, second = first]: readonly string[],
  isPlace: OfAxes<boolean>,
  places: AnalysedNodes,
  { axes }: Dataset,
  { reduce, most }: Means,
): Promise<{ readonly known: AnalysedNodes; readonly texts: readonly string[] }> {
  const [, letter = "", value = ""] = /^([xyz]):([-+.\deE]+)$/.exec(at) ?? [];
  const a = LETTERS.indexOf(letter as "x");
  if (a < 0 || !Number.isFinite(Number(value))) throw wrong("at", "expected an axis and a place, such as y:0.1");
  if (!isPlace[a]) throw wrong("at", `${letter} has no places: leave it out of over`);
  const { base } = places;
  const along = base.coordinates[a];
  const off = along.map((one) => Math.abs(one - Number(value)));
  const node = off.indexOf(Math.min(...off));
  if (!(off[node] <= 1e-6 * axes[a].spacing))
    throw wrong("at", `no node is at ${value}; node ${node} is at ${along[node]}`, `${letter}:${along[node]}`);
  const one = <T>(list: readonly T[], value: T) => list.map((own, b) => (b === a ? value : own));
  const extent = one(base.extent, 1) as unknown as typeof base.extent;
  const numbers = extent.reduce((product, n) => product * n, 1);
  checkNumbers(numbers, most);
  const plane = {
    ...{ ...base, extent, kept: [true, true, true, true] as const },
    ...{ coordinates: one(base.coordinates, along.subarray(node, node + 1)), weights: one(base.weights, null) },
  } as unknown as typeof base;
  const there = { ...places, base: plane, first: one(places.first, node) as unknown as typeof places.first };
  const reductions = [{ kind: "moments", of: 0, order: 1 } as const];
  const merged = await reduce(reductionOf(there, { columns: [first], reductions }), there);
  const values = Float64Array.from(merged.states(0) as readonly Moments[], ({ count, mean }) =>
    count === 0 ? Number.NaN : mean,
  );
  // A mean that has a number for each node of the plane: the sum makes its text another one than that of the mean itself.
  const text = `mean(0 + ${first})`;
  const read = compileExpression(text, base.names).reads.find((key) => key.startsWith("mean:=(0 + ")) as InputKey;
  const table = { extent, frames: places.frames, isOfFrames: true, values: [values] };
  const known = { ...base.names.means, [partsOfInput(read)?.expression as string]: table };
  return { known: { ...places, base: { ...base, names: { ...base.names, means: known } } }, texts: [text, second] };
}

/** Coordinates of places, the slowest first. */
function coordinatesOf(
  { places = [false, false, false] }: SpectrumPlan,
  { base }: AnalysedNodes,
): [string, number[]][] {
  return [2, 1, 0].flatMap((a): [string, number[]][] =>
    places[a] ? [[LETTERS[a as 0], [...base.coordinates[a as 0]]]] : [],
  );
}

/** Modes along each transformed axis, the slowest first: signed wavenumbers, one-sided along the first. */
function wavesOf(plan: SpectrumPlan): readonly { readonly axis: 0 | 1 | 2; readonly k: readonly number[] }[] {
  const modes = modesOf(plan);
  return ([2, 1, 0] as const)
    .filter((a) => plan.transformed[a])
    .map((a) => {
      const k = [...wavenumbersAlong(plan, a)].slice(0, modes[a]);
      return { axis: a, k: a === plan.transformed.indexOf(true) ? k.map(Math.abs) : k };
    });
}

/** Answers a spectrum of lines or modes. */
export async function lineSpectrum(
  texts: readonly string[],
  transformedAxes: readonly number[],
  asked: MemberValues,
  places: AnalysedNodes,
  dataset: Dataset,
  means: Means,
): Promise<GroupAnswer> {
  const summed = await sumModes(texts, transformedAxes, asked, places, dataset, means);
  const { plan, energies, co, quad, realisations } = summed;
  const waves = wavesOf(plan);
  const at = coordinatesOf(plan, places);
  const single = waves.length === 1;
  const names = waves.map(({ axis }) => (single ? "k" : `k_${LETTERS[axis]}`));
  const coordinates = { ...Object.fromEntries(at), ...Object.fromEntries(waves.map(({ k }, i) => [names[i], k])) };
  const lengths = [...at.map(([, list]) => list.length), ...waves.map(({ k }) => k.length)];
  const factors = factorsOf(asked, waves, plan);
  const list = (values: Float64Array): unknown =>
    nested(
      Array.from(values, (one, i) => one * (factors[i % factors.length] as number)),
      lengths,
    );
  const total = energies.reduce(
    (sum, one) => sum.map((value, i) => value + (one[i] as number)),
    new Float64Array(lengths.reduce((a, b) => a * b, 1)),
  );
  const isPair = co !== null && quad !== null;
  const [a, b] = energies as [Float64Array, Float64Array];
  const result: GroupAnswer = isPair
    ? {
        ...{ of: texts.join(", "), coordinates, E_aa: list(a), E_bb: list(b), re: list(co), im: list(quad) },
        phase: nested(
          Array.from(co, (re, i) => Math.atan2(quad[i] as number, re)),
          lengths,
        ),
        coherence: nested(
          Array.from(co, (re, i) =>
            realisations === 1
              ? Number.NaN
              : (re ** 2 + (quad[i] as number) ** 2) / ((a[i] as number) * (b[i] as number)),
          ),
          lengths,
        ),
      }
    : {
        ...{ of: texts[0], coordinates, E: list(total) },
        ...(energies.length === 3
          ? Object.fromEntries(energies.map((one, c) => [`E_${LETTERS[c as 0]}`, list(one)]))
          : {}),
      };
  const { normalise } = asked;
  const lines =
    single && normalise === "wavelength"
      ? { wavelength: waves[0]?.k.map((k) => (k === 0 ? null : (2 * Math.PI) / k)) }
      : {};
  return {
    ...{ ...summed.about, kind: plan.kind, realisations },
    ...(normalise === undefined ? {} : { normalise }),
    ...lines,
    results: [result],
  };
}

/** What each mode is multiplied by: 1, 1/dk, or k/dk along each transformed axis; the fastest axis last. */
function factorsOf(
  { normalise }: MemberValues,
  waves: ReturnType<typeof wavesOf>,
  { periods }: SpectrumPlan,
): Float64Array {
  let factors = Float64Array.of(1);
  for (const { axis, k } of waves) {
    const step = (2 * Math.PI) / periods[axis];
    const own = k.map((one) =>
      normalise === "density" ? 1 / step : normalise === "premultiplied" ? Math.abs(one) / step : 1,
    );
    factors = Float64Array.from([...factors].flatMap((factor) => own.map((one) => factor * one)));
  }
  return factors;
}

/** Answers `correlation`: R_ab(r) = <a'(x) b'(x + r)> along one periodic axis or over a plane of two, circular. */
export async function correlate(
  texts: readonly string[],
  along: readonly number[],
  asked: MemberValues,
  places: AnalysedNodes,
  dataset: Dataset,
  means: Means,
): Promise<GroupAnswer> {
  const [a, b = a] = texts as [string, string?];
  const isAuto = a === b && asked.at === undefined;
  const summed = await sumModes(isAuto ? [a] : [a, b], along, asked, places, dataset, means);
  const { plan, energies } = summed;
  if (energies.length > 2 || (isAuto && energies.length > 1))
    throw wrong("what", "a correlation is of scalars: name a component");
  // The spectrum of one quantity is its own pair.
  const [own, other = own] = energies as [Float64Array, Float64Array?];
  const { co, quad } = isAuto ? { co: own, quad: own.map(() => 0) } : summed;
  const modes = modesOf(plan);
  const order = ([2, 1, 0] as const).filter((axis) => plan.transformed[axis]);
  const sizes = order.map((axis) => plan.nodes[axis]);
  const bins = binsOf(plan);
  const cells = sizes.reduce((product, n) => product * n, 1);
  const groups = groupsOf(plan);
  const R = new Float64Array(groups * cells);
  const [slow, fast] = order.length === 1 ? [undefined, order[0] as 0] : (order as unknown as [0 | 1 | 2, 0 | 1 | 2]);
  const [ns, nf, mf] = [slow === undefined ? 1 : plan.nodes[slow], plan.nodes[fast], modes[fast]];
  const [inS, inF] = [new Transform(ns), new Transform(nf)];
  await means.slices.each(groups, (from, to) => {
    for (let g = from; g < to; g++) {
      // The real part of the inverse transform is that of the transform of the conjugate.
      const rows = Array.from({ length: ns }, (_, m) => {
        const [re, im] = [new Float64Array(nf), new Float64Array(nf)];
        const at = g * bins + m * mf;
        re.set((co as Float64Array).subarray(at, at + mf));
        im.set((quad as Float64Array).subarray(at, at + mf).map((one) => -one));
        inF.forward(re, im);
        return [re, im] as const;
      });
      if (ns === 1) R.set(rows[0]?.[0] as Float64Array, g * nf);
      for (let q = 0; ns > 1 && q < nf; q++) {
        const [re, im] = [0, 1].map((part) => Float64Array.from(rows, (row) => row[part as 0][q] as number));
        inS.forward(re as Float64Array, im as Float64Array);
        for (let r = 0; r < ns; r++) R[(g * ns + r) * nf + q] = (re as Float64Array)[r] as number;
      }
    }
  });
  const [sa, sb] = [own, other].map((one) =>
    Array.from({ length: groups }, (_, g) =>
      Math.sqrt(one.subarray(g * bins, (g + 1) * bins).reduce((sum, e) => sum + e, 0)),
    ),
  ) as [number[], number[]];
  const rho = R.map((one, i) => {
    const g = Math.floor(i / cells);
    const scale = (sa[g] as number) * (sb[g] as number);
    return scale > 0 ? one / scale : Number.NaN;
  });
  const at = coordinatesOf(plan, places);
  const separations = order.map((axis): [string, number[]] => {
    const [n, h] = [plan.nodes[axis], plan.periods[axis] / plan.nodes[axis]];
    return [`r_${LETTERS[axis]}`, Array.from({ length: n }, (_, i) => h * (2 * i > n ? i - n : i))];
  });
  const lengths = [...at, ...separations].map(([, list]) => list.length);
  const coordinates = Object.fromEntries([...at, ...separations]);
  const [[, r]] = separations as [[string, number[]]];
  const lengthsOf =
    isAuto && order.length === 1
      ? Array.from({ length: groups }, (_, g) => integralLength(rho.subarray(g * cells, (g + 1) * cells), r))
      : null;
  const spread = (list: readonly unknown[]): unknown => nested(list, lengths.slice(0, at.length));
  return {
    ...summed.about,
    ...(lengthsOf === null
      ? {}
      : {
          integral_length: spread(lengthsOf.map(({ length }) => length)),
          crossed: spread(lengthsOf.map(({ crossed }) => crossed)),
        }),
    ...{ s_a: spread(sa), s_b: spread(sb), realisations: summed.realisations },
    results: [{ of: texts.join(", "), coordinates, R: nested([...R], lengths), rho: nested([...rho], lengths) }],
  };
}

/** The integral of rho to its first zero by trapezes, the zero by a line between nodes; to half the period if it has none. */
function integralLength(
  rho: Float64Array,
  r: readonly number[],
): { readonly length: number | null; readonly crossed: boolean } {
  const half = Math.floor(rho.length / 2);
  let sum = 0;
  for (let i = 0; i < half; i++) {
    const [a, b] = [rho[i] as number, rho[i + 1] as number];
    const h = Math.abs(r[i + 1] as number) - Math.abs(r[i] as number);
    if (Number.isNaN(a)) return { length: null, crossed: false };
    if (b <= 0) return { length: sum + (0.5 * a * h * a) / (a - b), crossed: true };
    sum += 0.5 * (a + b) * h;
  }
  return { length: sum, crossed: false };
}

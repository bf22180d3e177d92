/** Answers `structure_functions`: moments of increments between nodes along axes, or between points. */
import { compileExpression, compileScalar, componentsIn } from "../../../analysis/expression.js";
import type { Bins } from "../../../analysis/histogram.js";
import { type Increments, incrementsOf, termsOf } from "../../../analysis/increments.js";
import type { Moments } from "../../../analysis/moments.js";
import { nested } from "../../../analysis/nested.js";
import { type AnyReduction, added, edgesOf, type GroupAnswer } from "../../../analysis/reductions.js";
import { type Axis, isStaggered } from "../../../engine/contract/dataset.js";
import type { Context } from "../context.js";
import { wrong } from "../faults.js";
import { randomPoints } from "../points/random-points.js";
import type { MemberValues, RequestedSeparations } from "../question/member-values.js";
import { pointDerivatives, pointOptions } from "../question/schemes.js";
import { whatText } from "../question/what.js";
import { boxIn, boxOfAll } from "../question/where.js";
import { type AxisNumber, framesIn, LETTERS, pointNodes, regionNodes, requireEveryNode } from "./analysed-nodes.js";
import { type Analysis, analysisOf, type Tabled, tabled } from "./analysis.js";
import { withMeans } from "./means.js";
import { aboutTexts, ColumnTable, checkNumbers } from "./reductions.js";
import { AGAINST, withSlopes } from "./self-similarity.js";
import { onlyWhat } from "./spectra/spectral-quantities.js";

const TERMS = ["longitudinal", "transverse", "mixed", "R_LL", "R_NN", "scalar", "yaglom"] as const;

type Separations = { readonly [K in "nodes" | "lengths"]: Extract<RequestedSeparations, Readonly<Record<K, unknown>>> };
type Increment = AnyReduction & { readonly kind: "increments" };

/** The computation along one axis. */
interface Along<S> extends Pick<Increment, "orders" | "absolute" | "histogram"> {
  readonly separations: S;
  readonly axis: AxisNumber;
  readonly columns: readonly string[];
}

/** Averages over all pairs of nodes along each axis, across whole periods, or over random pairs. */
export async function structureFunctions(context: Context, question: MemberValues): Promise<Tabled> {
  const { dataset } = context;
  const { orders = [2, 3], absolute = [], separations: given, terms, bins, range } = question;
  const what = onlyWhat(question, dataset);
  const isInvalid = orders.some((order) => !Number.isInteger(order) || order < 1 || order > 16);
  if (isInvalid) throw wrong("orders", "expected whole numbers from 1 to 16");
  if ((bins === undefined) !== (range === undefined)) throw wrong("bins", "histograms have bins and range");
  const histogram = bins === undefined || range === undefined ? undefined : { bins, range };
  const isAtNodes = given === undefined || "nodes" in given;
  const isUsable = ({ nodes, coordinates }: Axis) => nodes > 1 && (coordinates === null || !isAtNodes);
  const usable = LETTERS.filter((_, a) => isUsable(dataset.axes[a as 0]));
  const axis = question.axis ?? (usable.length > 0 ? usable : LETTERS);
  if (!isAtNodes && question.weights !== undefined) throw wrong("weights", "they are of nodes; pairs weigh 1 each");
  const plain = analysisOf(context, question, isAtNodes ? regionNodes : pointNodes);
  const { analysis, about } = isAtNodes ? await withMeans(plain, [what.text], LETTERS) : { analysis: plain, about: {} };
  const shortest = Math.min(...axis.map((one) => analysis.nodes.base.extent[LETTERS.indexOf(one)]));
  const doubled = Array.from({ length: 16 }, (_, n) => 2 ** n).filter((n) => n <= Math.max(1, shortest / 2));
  const separations = given ?? { nodes: doubled };
  const found = await increments(what.text, axis, { orders, absolute, histogram }, separations, analysis);
  const body = { ...about, ...found };
  return tabled(body, {
    ...{ what: [whatText(what)], ...analysis.time, axis, orders },
    separations: "nodes" in separations ? separations.nodes : separations,
    ...(isAtNodes ? { method: undefined } : { derivatives: pointDerivatives(question), weights: undefined }),
    ...(terms === undefined ? {} : { terms }),
  });
}

async function increments(
  text: string,
  letters: readonly ("x" | "y" | "z")[],
  { orders, absolute, histogram }: Pick<Increment, "orders" | "absolute" | "histogram">,
  separations: RequestedSeparations,
  analysis: Analysis,
): Promise<GroupAnswer> {
  const { nodes, dataset, question } = analysis;
  const isAtNodes = "nodes" in separations;
  const stretched = letters.find((one) => dataset.axes[LETTERS.indexOf(one) as 0].coordinates !== null);
  if (isAtNodes && stretched !== undefined)
    throw wrong(
      "axis",
      `nodes along ${stretched} are not evenly spaced, so a separation in nodes is no length there; give lengths`,
    );
  const { shape } = compileExpression(text, nodes.base.names, "what");
  const rowCount = letters.length * (isAtNodes ? separations.nodes : separations.lengths).length;
  checkNumbers(4 * rowCount * (histogram?.bins ?? 0), analysis.maxNumbers);
  if (shape === "tensor") throw wrong("what", "increments are of a vector or a scalar, not of a tensor");
  const rows: GroupAnswer[] = [];
  // One axis after another: sums of pairs along one axis are dropped before the next.
  if (!isAtNodes) await analysis.admit(separations.pairs);
  for (const letter of letters) {
    const axis = LETTERS.indexOf(letter) as AxisNumber;
    // For a scalar, the velocity along the axis is needed too, if it is known there.
    const isKnown = dataset.fields.velocity !== undefined && !(isAtNodes && isStaggered(dataset, "velocity"));
    const beside = isKnown ? [`u.${letter}`] : [];
    const columns = shape === "vector" ? componentsIn(text, shape) : [text, ...beside];
    const powers = absolute.length === 0 ? [] : [...new Set([...absolute, AGAINST])];
    const along = { orders, absolute: powers, histogram, axis, columns };
    const found = await (isAtNodes
      ? overNodes({ ...along, separations }, analysis)
      : overPairs({ ...along, separations }, analysis));
    rows.push(...(absolute.length === 0 ? found : withSlopes(found, absolute)));
  }
  return {
    ...{ weights: isAtNodes ? nodes.weights : "points", frames: framesIn(nodes), ...aboutTexts([text], nodes) },
    ...(histogram === undefined ? {} : { edges: edgesOf(histogram.range, histogram.bins) }),
    separations: rows.map((row) => requestedTerms(question, row)),
  };
}

/** Removes the terms that were not requested. Throws RequestError if none is left. */
function requestedTerms({ terms }: MemberValues, answer: GroupAnswer): GroupAnswer {
  const known: readonly string[] = TERMS.filter((term) => Object.hasOwn(answer, term));
  const other = terms?.find((term) => !known.includes(term));
  if (other !== undefined) throw wrong("terms", `${other} is not of this quantity; ${known.join(", ")} are`);
  const kept = Object.entries(answer).filter(([name]) => !known.includes(name) || (terms ?? known).includes(name));
  return Object.fromEntries(kept);
}

/** Pairs added between two checks of the clock. */
const PAIRS_TOGETHER = 1024;

async function overNodes(
  { separations, orders, absolute, histogram, axis, columns: texts }: Along<Separations["nodes"]>,
  { nodes, dataset, question, reduce }: Analysis,
): Promise<readonly GroupAnswer[]> {
  requireEveryNode(nodes);
  const [count, letter] = [nodes.base.extent[axis], LETTERS[axis]];
  if (separations.nodes.some((separation) => separation >= count))
    throw wrong("separations", `the region has ${count} nodes along ${letter}`);
  const columns = new ColumnTable(nodes);
  const of = texts.map((column) => columns.numberOf(column, "what"));
  const along = { axis, separations: separations.nodes, orders, absolute, histogram, periodic: nodes.wraps[axis] };
  const reduction: Increment = { kind: "increments", of, ...along };
  const ordered = [axis, ...[0, 1, 2].filter((c) => c !== axis)].map((c) => of[c]); // Longitudinal first.
  const means =
    of.length === 3 && question.remove !== "none"
      ? ordered.map((c) => ({ kind: "moments", of: c, order: 1 }) as const)
      : [];
  const merged = await reduce(nodes, { columns: columns.texts, reductions: [reduction, ...means] });
  const found = merged.states(0)[0] as Increments;
  const removed = means.map((_, c) => (merged.states(1 + c)[0] as Moments).mean);
  return separations.nodes.map((separation, s) => ({
    ...{ axis: letter, nodes: separation, length: separation * dataset.axes[axis].spacing },
    ...termsAt(found, s, of.length, along, removed),
  }));
}

/** Interpolates at points and, for each length, at points that far along the axis. */
async function overPairs(
  { separations, orders, absolute, histogram, axis, columns }: Along<Separations["lengths"]>,
  { question, dataset, nodes, evaluate, slices }: Analysis,
): Promise<readonly GroupAnswer[]> {
  const { lengths, pairs, seed } = separations;
  // A box that covers the whole domain is no restriction: pairs may cross its seams.
  const isWhole = (["x", "y", "z", "i", "j", "k"] as const).every((name) => question[name] === undefined);
  const { origin, extent } = isWhole ? boxOfAll(dataset) : boxIn(question, dataset);
  const room = extent.map(
    (length, a) => length - (a === axis && !(nodes.wraps[a] && isWhole) ? Math.max(...lengths) : 0),
  );
  if (room[axis] < 0) throw wrong("separations.lengths", `the region is ${extent[axis]} long along ${LETTERS[axis]}`);
  const points = await randomPoints(slices, pairs, seed, origin, room);
  const shifted = new Float32Array(points);
  const ordered = columns.length === 3 ? [columns[axis], ...columns.filter((_, c) => c !== axis)] : columns;
  const compiled = ordered.map((text) => compileScalar(text, nodes.base.names, "what"));
  const options = { ...pointOptions(question), temporalInterpolation: "None" as const };
  const sums: Increments[] = [];
  for (const time of nodes.base.times) {
    const first = await evaluate(compiled, points, { ...options, time });
    for (const [s, length] of lengths.entries()) {
      await slices.each(pairs, (from, to) => {
        for (let i = 3 * from + axis; i < 3 * to; i += 3) shifted[i] = points[i] + length;
      });
      const second = await evaluate(compiled, shifted, { ...options, time });
      const addSome = (from: number, to: number): void => {
        const ends = (c: number) => (_: unknown, i: number) => [first, second][i % 2][c][from + (i >> 1)];
        const values = first.map((_, c) => Float64Array.from({ length: 2 * (to - from) }, ends(c)));
        const pair = { axis: 0, separations: [1], orders, absolute, histogram, periodic: false } as const;
        const one = incrementsOf(values, [2, to - from, 1], pair);
        sums[s] = s in sums ? added(sums[s], one) : one;
      };
      await slices.each(pairs, addSome, PAIRS_TOGETHER);
    }
  }
  const removed = question.remove === "none" ? [] : "ends";
  return lengths.map((length, s) => ({
    ...{ axis: LETTERS[axis], length },
    ...termsAt(sums[s] as Increments, 0, columns.length, { orders, absolute, histogram }, removed),
  }));
}

/**
 * The means at a separation.
 * @param removed means of the components that correlations are without, the longitudinal one first; "ends" for those of
 * both ends of the pairs; none if empty
 */
function termsAt(
  { pairs, weight, sums, missing, infinite, ...inBins }: Increments,
  s: number,
  columns: number,
  { orders, absolute, histogram }: Pick<Increment, "orders" | "absolute" | "histogram">,
  removed: readonly number[] | "ends",
): GroupAnswer {
  const terms = termsOf(columns, orders, absolute);
  // L, N, M: powers of the longitudinal and both transverse increments; A: of absolute ones; LL, NN: products of ends.
  const sum = (term: string): number => sums[s * terms.length + terms.indexOf(term)];
  const mean = (term: string): number => sum(term) / weight[s];
  const powers = (value: (order: number) => number, of = orders) => Object.fromEntries(of.map((p) => [p, value(p)]));
  const absoluteMeans = absolute.length === 0 ? {} : { absolute: powers((p) => mean(`A${p}`), absolute) };
  const head = { pairs: pairs[s], missing: missing[s], infinite: infinite[s] };
  const lists = columns < 3 ? ["scalar"] : ["longitudinal", "transverse"];
  const pdf =
    histogram && Object.fromEntries(lists.map((name, l) => [name, pdfOf(histogram, inBins, s * lists.length + l)]));
  const more = { ...absoluteMeans, ...(pdf && { pdf }) };
  if (columns < 3) {
    const yaglom = columns === 2 ? { yaglom: sum("yaglom") / sum("yaglomWeight") } : {};
    return { ...head, scalar: powers((order) => mean(`L${order}`)), ...yaglom, ...more };
  }
  // <(a - m)(b - m)> = <a b> - m <a + b> + m^2.
  const without = (component: number): number => {
    const ends = mean(`ends${component}`);
    const m = removed === "ends" ? ends / 2 : (removed[component] ?? 0);
    return m * m - m * ends;
  };
  return {
    ...head,
    longitudinal: powers((order) => mean(`L${order}`)),
    transverse: powers((order) => (mean(`N${order}`) + mean(`M${order}`)) / 2),
    mixed: mean("mixed"),
    R_LL: mean("LL") + without(0),
    R_NN: mean("NN") + (without(1) + without(2)) / 2,
    ...more,
  };
}

/** The density of increments in bins, with the counts of bins and of those below and above them; `list`: its number. */
function pdfOf(
  { bins, range: [from, to] }: Bins,
  { counts, weights }: Pick<Increments, "counts" | "weights">,
  list: number,
) {
  const own = [counts, weights].map((all) => all.subarray(list * (bins + 2), (list + 1) * (bins + 2)));
  const total = own[1].reduce((sum, w) => sum + w, 0);
  const density = [...own[1].subarray(0, bins)].map((w) => (w * bins) / (total * (to - from)));
  return {
    density: nested(density, [bins]),
    counts: [...own[0].subarray(0, bins)],
    below: own[0][bins],
    above: own[0][bins + 1],
  };
}

/** Computes structure functions: moments of increments between nodes along axes, or between points. */
import { compileExpression, compileScalar, componentsIn } from "../../../analysis/expression.js";
import { type Increments, incrementsOf, mergeIncrements, termsOf } from "../../../analysis/increments.js";
import type { Moments } from "../../../analysis/moments.js";
import type { AnyReduction, GroupAnswer } from "../../../analysis/reductions.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { refuse } from "../../http/refusal.js";
import { randomPoints } from "../points/point-columns.js";
import { boxOf } from "../question/region.js";
import {
  type AnalysedNodes,
  type PlaceMembers,
  placesOf,
  pointPlacesOf,
  reductionOf,
  requireEveryNode,
} from "./analysed-nodes.js";
import { AskedColumns, aboutTexts, framesIn, type Means } from "./statistics.js";

const LETTERS = ["x", "y", "z"] as const;
const TERMS = ["longitudinal", "transverse", "mixed", "R_LL", "R_NN", "scalar", "yaglom"] as const;

/** What is asked of structure functions. */
export interface AskedIncrements extends PlaceMembers {
  /** A velocity, or a scalar. */
  readonly of: string;
  readonly orders: readonly number[];
  readonly separations: Separations;
  readonly axes: readonly ("x" | "y" | "z")[];
  /** Members of each separation in addition to `pairs`; absent: all. */
  readonly terms?: readonly string[];
  readonly remove: "mean" | "none";
}

/** Separations in nodes, or lengths of pairs at random points, the same for all lengths. */
type Separations =
  | { readonly nodes: readonly number[] }
  | { readonly lengths: readonly number[]; readonly pairs: number; readonly seed?: number; readonly method?: string };

type Increment = AnyReduction & { readonly kind: "increments" };

/** Computes the answer: all pairs of nodes along each axis, which wrap on whole periods, or pairs at random points. */
export async function structureFunctions(asked: AskedIncrements, dataset: Dataset, means: Means): Promise<GroupAnswer> {
  const { of: text, orders, separations, axes } = asked;
  const isAtNodes = "nodes" in separations;
  const places = (isAtNodes ? placesOf : pointPlacesOf)(asked, dataset);
  const isStretched = (letter: (typeof LETTERS)[number]) =>
    dataset.axes[LETTERS.indexOf(letter) as 0].coordinates !== null;
  const stretched = isAtNodes ? axes.find(isStretched) : undefined;
  if (stretched !== undefined)
    throw refuse(
      "axis",
      `axis: nodes along ${stretched} are not evenly spaced, so a separation in nodes is no length there; give lengths.`,
    );
  const { shape } = compileExpression(text, places.base.names, "what");
  if (shape === "tensor") throw refuse("what", "what: increments are of a vector or a scalar, not of a tensor.");
  const answers: GroupAnswer[] = [];
  // The axes are computed one after another, and what is kept of the pairs of one is dropped before the next.
  if ("pairs" in separations) await means.admit(separations.pairs);
  for (const letter of axes) {
    const axis = LETTERS.indexOf(letter) as 0 | 1 | 2;
    const columns = columnsOf(text, shape, letter, dataset);
    const along = "nodes" in separations ? overNodes : overPairs;
    answers.push(
      ...(await along({ asked, separations: separations as never, orders, axis, columns, places }, dataset, means)),
    );
  }
  const rows = answers.map((one) => askedTerms(asked, one));
  const weights = isAtNodes ? places.weights : "points";
  const about = { weights, frames: framesIn(places), ...aboutTexts([text], places) };
  return { ...about, separations: rows };
}

/** Leaves out the terms that were not asked. @throws RequestError if there are none */
function askedTerms({ terms }: AskedIncrements, answer: GroupAnswer): GroupAnswer {
  const known: readonly string[] = TERMS.filter((term) => Object.hasOwn(answer, term));
  const wrong = terms?.find((term) => !known.includes(term));
  if (wrong !== undefined) throw refuse("terms", `terms: ${wrong} is not of this quantity; ${known.join(", ")} are.`);
  const kept = Object.entries(answer).filter(([name]) => !known.includes(name) || (terms ?? known).includes(name));
  return Object.fromEntries(kept);
}

/** Pairs that are added up between two looks at the clock. */
const PAIRS_TOGETHER = 1024;

/** What is computed along one axis. */
interface Along<S> {
  readonly asked: AskedIncrements;
  readonly separations: S;
  readonly orders: readonly number[];
  readonly axis: 0 | 1 | 2;
  readonly columns: readonly string[];
  readonly places: AnalysedNodes;
}

async function overNodes(
  {
    asked,
    separations,
    orders,
    axis,
    columns: texts,
    places,
  }: Along<Extract<Separations, { readonly nodes: readonly number[] }>>,
  { axes }: Dataset,
  { reduce }: Means,
): Promise<readonly GroupAnswer[]> {
  requireEveryNode(places);
  const [nodes, letter] = [places.base.extent[axis], LETTERS[axis]];
  if (separations.nodes.some((separation) => separation >= nodes))
    throw refuse("separations", `separations: the region has ${nodes} nodes along ${letter}.`);
  const columns = new AskedColumns(places);
  const of = texts.map((column) => columns.of(column, "what"));
  const periodic = places.wraps[axis];
  const reduction: Increment = { kind: "increments", of, axis, separations: separations.nodes, orders, periodic };
  const own = [axis, ...[0, 1, 2].filter((c) => c !== axis)].map((c) => of[c] as number);
  const means =
    of.length === 3 && asked.remove !== "none" ? own.map((c) => ({ kind: "moments", of: c, order: 1 }) as const) : [];
  const reductions = [reduction, ...means];
  const merged = await reduce(reductionOf(places, { columns: columns.texts, reductions }), places);
  const increments = merged.states(0)[0] as Increments;
  const removed = means.map((_, c) => (merged.states(1 + c)[0] as Moments).mean);
  const { spacing } = axes[axis];
  return separations.nodes.map((separation, s) => ({
    ...{ axis: letter, nodes: separation, length: separation * spacing },
    ...termsAt(increments, s, of.length, orders, removed),
  }));
}

/** Interpolates at points and, for each length, at points that far along the axis. */
async function overPairs(
  { asked, separations, orders, axis, columns, places }: Along<Extract<Separations, { readonly pairs: number }>>,
  dataset: Dataset,
  { evaluate, slices }: Means,
): Promise<readonly GroupAnswer[]> {
  const { lengths, pairs, seed = 0, method = "Lag8" } = separations;
  const { origin, extent } = boxOf(dataset, asked.region);
  const room = extent.map(
    (length, a) => length - (a === axis && !(places.wraps[a] && asked.region === undefined) ? Math.max(...lengths) : 0),
  );
  if ((room[axis] as number) < 0)
    throw refuse(
      "separations.lengths",
      `separations.lengths: the region is ${extent[axis]} long along ${LETTERS[axis]}.`,
    );
  const points = await randomPoints(slices, pairs, seed, origin, room);
  const shifted = new Float32Array(points);
  // The component along the axis comes first, as in pairs along x.
  const ordered = columns.length === 3 ? [columns[axis] as string, ...columns.filter((_, c) => c !== axis)] : columns;
  const compiled = ordered.map((text) => compileScalar(text, places.base.names, "what"));
  const { derivatives = "Fd4Lag4", filter } = asked;
  const options = { method, derivatives, filter, temporalInterpolation: "None" } as const;
  const sums: Increments[] = [];
  for (const time of places.base.times) {
    const first = await evaluate(compiled, points, { ...options, time });
    for (const [s, length] of lengths.entries()) {
      await slices.each(pairs, (from, to) => {
        for (let i = 3 * from + axis; i < 3 * to; i += 3) shifted[i] = (points[i] as number) + length;
      });
      const second = await evaluate(compiled, shifted, { ...options, time });
      await slices.each(
        pairs,
        (from, to) => {
          const values = first.map((column, c) =>
            interleave(column.subarray(from, to), (second[c] as Float64Array).subarray(from, to)),
          );
          const pair = { axis: 0, separations: [1], orders, periodic: false } as const;
          const one = incrementsOf(values, [2, to - from, 1], pair);
          const known = sums[s];
          sums[s] = known === undefined ? one : mergeIncrements(known, one);
        },
        PAIRS_TOGETHER,
      );
    }
  }
  return lengths.map((length, s) => ({
    ...{ axis: LETTERS[axis], length },
    ...termsAt(sums[s] as Increments, 0, columns.length, orders, asked.remove === "none" ? [] : "ends"),
  }));
}

function interleave(a: Float64Array, b: Float64Array): Float64Array {
  const out = new Float64Array(2 * a.length);
  for (let i = 0; i < a.length; i++) [out[2 * i], out[2 * i + 1]] = [a[i] as number, b[i] as number];
  return out;
}

/** The columns of a vector, or of a scalar and the velocity along the axis. */
function columnsOf(text: string, shape: "scalar" | "vector", letter: string, { fields }: Dataset): readonly string[] {
  if (shape === "vector") return componentsIn(text, shape);
  return fields.velocity === undefined ? [text] : [text, `u.${letter}`];
}

/**
 * The means at a separation.
 *
 * @param removed means of the components that correlations are without, the longitudinal one first; "ends" for those of
 * both ends of the pairs; none if empty
 */
function termsAt(
  { pairs, weight, sums, missing, infinite }: Increments,
  s: number,
  columns: number,
  orders: readonly number[],
  removed: readonly number[] | "ends",
): GroupAnswer {
  const terms = termsOf(columns, orders);
  const mean = (term: string): number =>
    (sums[s * terms.length + terms.indexOf(term)] as number) / (weight[s] as number);
  const powers = (value: (order: number) => number) => Object.fromEntries(orders.map((order) => [order, value(order)]));
  const head = { pairs: pairs[s], missing: missing[s], infinite: infinite[s] };
  if (columns < 3) {
    const yaglom = columns === 2 ? { yaglom: mean("yaglom") } : {};
    return { ...head, scalar: powers((order) => mean(`D${order}`)), ...yaglom };
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
  };
}

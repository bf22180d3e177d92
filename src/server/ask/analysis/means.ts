/** Means inside expressions: what `mean(e)`, `rms(e)` and `fluc(e)` read is computed before them, a pass for each depth. */
import { SIZES } from "../../../analysis/array-functions.js";
import { compileExpression, componentsIn } from "../../../analysis/expression.js";
import type { Moments } from "../../../analysis/moments.js";
import { type MeanTable, partsOfInput } from "../../../analysis/names.js";
import { foldTable } from "../../../analysis/parity.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import { type Dataset, isStaggered } from "../../../engine/contract/dataset.js";
import { LimitError } from "../../../shared/errors.js";
import { timesOf } from "../../http/describe.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "../question/read-member.js";
import { coordinateOf } from "../question/region.js";
import { storedIn } from "../question/when.js";
import { type AnalysedNodes, reductionOf } from "./analysed-nodes.js";
import { signsOf, symmetryOf } from "./fold.js";
import type { Means } from "./statistics.js";

export type Direction = "x" | "y" | "z" | "t";
const AXES = [0, 1, 2] as const;

/** Nodes with the means that expressions read, and what an answer says of them. */
export interface KnownMeans {
  readonly places: AnalysedNodes;
  /** The means, as a member of analyses. */
  readonly members: { readonly means?: Readonly<Record<string, MeanTable>> };
  readonly about: GroupAnswer;
}

/**
 * Computes the means that expressions read, innermost first.
 *
 * @param over     the directions averaged over; along the others all nodes have means, whatever the region
 * @param memberOf the member that a text stands in, for refusals
 */
export async function meansFor(
  texts: readonly string[],
  places: AnalysedNodes,
  asked: MemberValues,
  dataset: Dataset,
  { reduce, most }: Pick<Means, "reduce" | "most">,
  over: readonly Direction[],
  member = "what",
  memberOf: (text: string) => string = () => member,
): Promise<KnownMeans> {
  const found = new Map<string, MeanTable>();
  const wanted = new Set(texts.flatMap((text) => meansIn(text, places, memberOf(text))));
  const base = meanNodes(places, asked.mean_time, dataset, over);
  const symmetry = symmetryOf(asked, dataset);
  let passes = 0;
  for (; wanted.size > found.size; passes++) {
    const names = { ...places.base.names, means: Object.fromEntries(found) };
    const ready = [...wanted].filter(
      (text) => !found.has(text) && meansIn(text, places, member).every((inner) => found.has(inner)),
    );
    const parts = ready.map((text) => {
      const { shape } = compileExpression(text, names, member);
      return { text, size: SIZES[shape], columns: componentsIn(text, shape) };
    });
    const columns = parts.flatMap((part) => part.columns);
    const extent = base.base.extent.map((n, a) => (base.base.kept[a] ? n : 1)) as unknown as MeanTable["extent"];
    const numbers = extent.reduce((product, n) => product * n, 1);
    if (numbers * columns.length > most)
      throw new LimitError("analysis.numbers", `The means would be ${numbers * columns.length} numbers; ${most} fit.`);
    const query = reductionOf(
      { ...base, base: { ...base.base, names } },
      { columns, reductions: columns.map((_, of) => ({ kind: "moments", of, order: 1 }) as const) },
    );
    const merged = await reduce(query, base);
    let at = 0;
    for (const { text, size } of parts) {
      const values = Array.from({ length: size }, () =>
        Float64Array.from(merged.states(at++), (state) => {
          const { count, mean } = state as Moments;
          return count === 0 ? Number.NaN : mean;
        }),
      );
      if (numbers === 1 && Number.isNaN(values[0]?.[0]))
        throw wrong(member, `${nameOf(text).name} is of nothing: the region has no value`);
      const isOfFrames = asked.mean_time === undefined && !over.includes("t");
      const table = { extent, frames: base.frames, isOfFrames, values };
      const isFolded = symmetry !== null && extent[symmetry.axis] > 1;
      found.set(text, isFolded ? foldTable(table, symmetry.axis, signsOf(text, names, symmetry)) : table);
    }
  }
  if (found.size === 0) return { places, members: {}, about: {} };
  const means = Object.fromEntries(found);
  return {
    places: { ...places, base: { ...places.base, names: { ...places.base.names, means } } },
    members: { means },
    about: { ...numbersIn(found), mean_over: [...over], mean_passes: passes },
  };
}

/** The expressions of which a text reads means, at any depth. */
function meansIn(text: string, { base: { names } }: AnalysedNodes, member: string): readonly string[] {
  return compileExpression(text, names, member).reads.flatMap((key) => {
    const parts = partsOfInput(key);
    return parts?.kind === "mean" ? [parts.expression as string] : [];
  });
}

/** The nodes and frames of means: along directions that are kept all nodes. */
function meanNodes(
  places: AnalysedNodes,
  time: MemberValues["mean_time"],
  dataset: Dataset,
  over: readonly Direction[],
): AnalysedNodes {
  const { base } = places;
  const stored = timesOf(dataset.time);
  const chosen = time === undefined ? null : storedIn({ time }, dataset).frames;
  const frames = chosen === null ? places.frames : chosen.map((frame) => frame + dataset.time.guardBefore);
  const times = chosen === null ? base.times : chosen.map((frame) => stored[frame] as number);
  const isKept = AXES.map((a) => !over.includes("xyz"[a] as Direction));
  const all = <T>(own: readonly T[], whole: (a: 0 | 1 | 2) => T) =>
    AXES.map((a) => (isKept[a] ? whole(a) : own[a])) as unknown as readonly [T, T, T];
  const [nx, ny, nz] = all([...base.extent].slice(0, 3), (a) => dataset.axes[a].nodes);
  return {
    ...places,
    frames,
    numbers: chosen === null ? places.numbers : chosen.map((frame) => frame + 1),
    first: all(places.first, () => 0),
    stride: all(places.stride, () => 1),
    base: {
      ...base,
      extent: [nx, ny, nz, frames.length],
      times,
      kept: [...isKept, chosen === null && !over.includes("t") && frames.length > 1] as never,
      coordinates: all(base.coordinates, (a) =>
        Float64Array.from({ length: dataset.axes[a].nodes }, (_, i) => coordinateOf(dataset.axes[a], i)),
      ),
      // Along a direction that is kept all nodes of a mean weigh the same.
      weights: all(base.weights, () => null),
    },
  };
}

/** A mean as it is written, and what it is of its number: rms(e) is the root of the mean of (e)^2. */
function nameOf(text: string): { readonly name: string; readonly of: (mean: number) => number } {
  const [, inner] = /^\((.*)\)\^2$/.exec(text) ?? [];
  return inner === undefined ? { name: `mean(${text})`, of: (mean) => mean } : { name: `rms(${inner})`, of: Math.sqrt };
}

/** Means that are one number, which an answer states. */
function numbersIn(found: ReadonlyMap<string, MeanTable>): GroupAnswer {
  const numbers = [...found].flatMap(([text, { values }]) => {
    const { name, of } = nameOf(text);
    const [only, ...more] = values;
    return only?.length === 1 && more.length === 0 ? [[name, of(only[0] as number)] as const] : [];
  });
  return numbers.length === 0 ? {} : { means: Object.fromEntries(numbers) };
}

/**
 * How far the flow goes in a step of the stored times, in nodes: the largest |u_i| dt / dx_i, dx_i the smaller gap
 * beside the node. Above 1 slopes in time are those of an undersampled signal. Nothing for expressions without a slope in time.
 */
export async function courantOf(
  texts: readonly string[],
  places: AnalysedNodes,
  dataset: Dataset,
  { reduce }: Pick<Means, "reduce">,
): Promise<GroupAnswer> {
  const { names, times } = places.base;
  const isRate = (text: string) => compileExpression(text, names).reads.some((key) => key.startsWith("rate:"));
  if (!texts.some(isRate) || names.fields.velocity !== 3 || isStaggered(dataset, "velocity")) return {};
  const stored = timesOf(dataset.time);
  const steps = times.map((time) => {
    const k = stored.indexOf(time);
    return Math.max(
      ...[k, k + 1].map((one) => ((stored[one] ?? time) as number) - ((stored[one - 1] ?? time) as number)),
    );
  });
  const numbers: number[] = [];
  for (const a of AXES) {
    // On a stretched axis each node has gaps of its own.
    const { coordinates, spacing } = dataset.axes[a];
    const kept = [0, 1, 2, 3].map((one) => one === a && coordinates !== null) as unknown as typeof places.base.kept;
    const base = { ...places.base, kept };
    const reductions = [{ kind: "moments", of: 0, order: 1 } as const];
    const column = `abs(u.${"xyz"[a]})`;
    const merged = await reduce(reductionOf({ ...places, base }, { columns: [column], reductions }), places);
    for (const [i, state] of merged.states(0).entries()) {
      const node = places.first[a] + i * places.stride[a];
      const at = (n: number): number => (coordinates as Float64Array)[n] ?? Number.NaN;
      const gaps = coordinates === null ? [spacing] : [at(node + 1) - at(node), at(node) - at(node - 1)];
      const gap = Math.min(...gaps.filter((one) => one > 0));
      numbers.push(((state as Moments).max * Math.max(...steps)) / gap);
    }
  }
  const courant = Math.max(...numbers);
  const text = `between stored times the flow moves up to ${courant.toPrecision(3)} nodes: ddt and DDt are of an undersampled signal`;
  return { courant, ...(courant > 1 ? { warnings: [text] } : {}) };
}

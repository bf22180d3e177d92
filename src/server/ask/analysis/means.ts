/** Means inside expressions (`mean(e)`, `rms(e)`, `fluc(e)`), computed first, with a pass for each level of nesting. */
import { SIZES } from "../../../analysis/array-functions.js";
import { compileExpression, componentsIn } from "../../../analysis/expression.js";
import { type MeanTable, partsOfInput } from "../../../analysis/names.js";
import { foldMeans } from "../../../analysis/parity.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import { isStaggered } from "../../../engine/contract/dataset.js";
import { LimitError } from "../../../shared/errors.js";
import { timesOf } from "../../http/describe.js";
import { wrong } from "../faults.js";
import { storedIn } from "../question/when.js";
import type { AnalysedNodes, Direction } from "./analysed-nodes.js";
import { AXES, keptAxes, LETTERS, regrouped, replacedAlong } from "./analysed-nodes.js";
import { type Analysis, momentsOf } from "./analysis.js";
import { signsOf, symmetryOf } from "./fold.js";

/**
 * Computes the means that expressions read, innermost first; returns what the answer says about them and slopes in time.
 * @param over   the directions averaged over; along the others all nodes have means, whatever the region
 * @param member the member, or the member of each text, that refusals name
 */
export async function withMeans(
  analysis: Analysis,
  texts: readonly string[],
  over: readonly Direction[],
  member: string | ((text: string) => string) = "what",
): Promise<{ readonly analysis: Analysis; readonly about: GroupAnswer }> {
  const { question, dataset, nodes, maxNumbers: most } = analysis;
  const known = (means: ReadonlyMap<string, MeanTable>) => ({ ...nodes.base.names, means: Object.fromEntries(means) });
  const memberOf = (text: string): string => (typeof member === "string" ? member : member(text));
  const found = new Map<string, MeanTable>();
  const wanted = new Set(texts.flatMap((text) => meansIn(text, nodes, memberOf(text))));
  const averaged = meanNodes(analysis, over);
  const extent = averaged.base.extent.map((n, a) => (averaged.base.kept[a] ? n : 1)) as unknown as MeanTable["extent"];
  const numbers = extent.reduce((product, n) => product * n, 1);
  const symmetry = symmetryOf(question, dataset);
  const own = typeof member === "string" ? member : "what";
  let passes = 0;
  for (; wanted.size > found.size; passes++) {
    const names = known(found);
    const ready = [...wanted].filter(
      (text) => !found.has(text) && meansIn(text, nodes, own).every((inner) => found.has(inner)),
    );
    const shapes = ready.map((text) => compileExpression(text, names, own).shape);
    const columns = ready.flatMap((text, i) => componentsIn(text, shapes[i] as "scalar"));
    if (numbers * columns.length > most)
      throw new LimitError("analysis.numbers", `The means would be ${numbers * columns.length} numbers; ${most} fit.`);
    const moments = await momentsOf(analysis, { ...averaged, base: { ...averaged.base, names } }, columns);
    let at = 0;
    for (const [i, text] of ready.entries()) {
      const groups = moments.slice(at, at + SIZES[shapes[i] as "scalar"]);
      at += groups.length;
      const signs = symmetry && extent[symmetry.axis] > 1 ? signsOf(text, names, symmetry) : null;
      const values = groups.map((list, c) =>
        symmetry && signs
          ? foldMeans(list, extent, symmetry.axis, signs[c])
          : Float64Array.from(list, ({ count, mean }) => (count === 0 ? Number.NaN : mean)),
      );
      if (numbers === 1 && Number.isNaN(values[0]?.[0]))
        throw wrong(own, `${nameOf(text).name} is of nothing: the region has no value`);
      const isOfFrames = question.mean_time === undefined && !over.includes("t");
      found.set(text, { extent, frames: averaged.frames, isOfFrames, values });
    }
  }
  const courant = await courantOf([...texts, ...wanted], analysis);
  if (found.size === 0) return { analysis, about: courant };
  return {
    analysis: { ...analysis, nodes: { ...nodes, base: { ...nodes.base, names: known(found) } } },
    about: { ...numbersIn(found), mean_over: [...over], mean_passes: passes, ...courant },
  };
}

/** The expressions of which a text reads means, at any depth. */
export function meansIn(text: string, { base: { names } }: AnalysedNodes, member: string): readonly string[] {
  return compileExpression(text, names, member).reads.flatMap((key) => {
    const parts = partsOfInput(key);
    return parts?.kind === "mean" ? [parts.expression as string] : [];
  });
}

/** The nodes and frames of means: all nodes along directions that are kept, with equal weights. */
function meanNodes({ question, dataset, nodes }: Analysis, over: readonly Direction[]): AnalysedNodes {
  const { mean_time: time } = question;
  const stored = timesOf(dataset.time);
  const numbers = time === undefined ? nodes.publicFrames : storedIn({ time }, dataset).frames;
  const kept = keptAxes(time === undefined ? over : [...over, "t"], numbers.length);
  const there = replacedAlong(nodes, kept, (a) => ({ first: 0, count: dataset.axes[a].nodes, step: 1 }));
  const [nx, ny, nz] = there.base.extent;
  const times = numbers.map((k) => stored[k]);
  return {
    ...{ ...there, publicFrames: numbers, frames: numbers.map((frame) => frame + dataset.time.guardBefore) },
    base: { ...there.base, kept, extent: [nx, ny, nz, numbers.length], times },
  };
}

/** The name of a mean, and the value of its number: rms(e) is the root of the mean of (abs(e))^2. */
function nameOf(text: string): { readonly name: string; readonly of: (mean: number) => number } {
  const [, inner] = /^\(abs\((.*)\)\)\^2$/.exec(text) ?? [];
  return inner === undefined ? { name: `mean(${text})`, of: (mean) => mean } : { name: `rms(${inner})`, of: Math.sqrt };
}

/** The means that are single numbers, which the answer states. */
export function numbersIn(found: ReadonlyMap<string, Pick<MeanTable, "values">>): GroupAnswer {
  const numbers = [...found].flatMap(([text, { values }]) => {
    const { name, of } = nameOf(text);
    const [only, ...more] = values;
    return only?.length === 1 && more.length === 0 ? [[name, of(only[0])] as const] : [];
  });
  return numbers.length === 0 ? {} : { means: Object.fromEntries(numbers) };
}

/**
 * How far the flow goes in a step of the stored times, in nodes: the largest |u_i| dt / dx_i, dx_i the smaller gap
 * beside the node. Above 1 slopes in time are those of an undersampled signal. Nothing for expressions without a slope in time.
 */
export async function courantOf(texts: readonly string[], analysis: Analysis): Promise<GroupAnswer> {
  const { dataset, nodes } = analysis;
  const { names, times } = nodes.base;
  const isRate = (text: string) => compileExpression(text, names).reads.some((key) => key.startsWith("rate:"));
  if (!texts.some(isRate) || names.fields.velocity !== 3 || isStaggered(dataset, "velocity")) return {};
  const stored = timesOf(dataset.time);
  const ends = times.flatMap((time) => [stored.indexOf(time), stored.indexOf(time) + 1]);
  const step = Math.max(...ends.map((k) => (stored[k] as number) - (stored[k - 1] as number) || 0));
  const numbers: number[] = [];
  for (const a of AXES) {
    // On a stretched axis each node has gaps of its own.
    const { coordinates, spacing } = dataset.axes[a];
    const kept = [0, 1, 2, 3].map((one) => one === a && coordinates !== null) as unknown as typeof nodes.base.kept;
    const [speeds = []] = await momentsOf(analysis, regrouped(nodes, kept), [`abs(u.${LETTERS[a]})`]);
    for (const [i, { max }] of speeds.entries()) {
      const node = nodes.first[a] + i * nodes.stride[a];
      const at = (n: number): number => (coordinates as Float64Array)[n] ?? Number.NaN;
      const gaps = coordinates === null ? [spacing] : [at(node + 1) - at(node), at(node) - at(node - 1)];
      numbers.push((max * step) / Math.min(...gaps.filter((one) => one > 0)));
    }
  }
  return courantMembers(Math.max(...numbers), "ddt and DDt");
}

/** Members of an answer, the later ones before the earlier, with the warnings of all. */
export function withWarnings(...parts: readonly GroupAnswer[]): GroupAnswer {
  const warnings = parts.flatMap((one) => (one.warnings ?? []) as readonly string[]);
  return Object.assign({}, ...parts, warnings.length > 0 ? { warnings } : {});
}

/** The members that tell how far the flow goes between stored times. @param what is of an undersampled signal above 1 */
export function courantMembers(courant: number, what: string): GroupAnswer {
  const text = `between stored times the flow moves up to ${courant.toPrecision(3)} nodes: ${what} are of an undersampled signal`;
  return { courant, ...(courant > 1 ? { warnings: [text] } : {}) };
}

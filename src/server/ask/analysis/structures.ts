/** Answers `structures`: connected sets of nodes where a condition holds. */
import { compileScalar } from "../../../analysis/expression.js";
import { nested } from "../../../analysis/nested.js";
import type { AnyReduction, GroupAnswer } from "../../../analysis/reductions.js";
import type { ConnectedSet, JoinedFragments, RankedStructures } from "../../../analysis/structures.js";
import { LimitError } from "../../../shared/errors.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";
import type { GridAnswer } from "../answer.js";
import type { Context } from "../context.js";
import { wrong } from "../faults.js";
import { emptyBoxesOf } from "../levels/skip.js";
import type { MemberValues } from "../question/member-values.js";
import { compileWhat } from "../question/what.js";
import { type AnalysedNodes, DIRECTIONS, framesIn, LETTERS, requireEveryNode } from "./analysed-nodes.js";
import { type Analysis, analysisOf, type Tabled, tabled } from "./analysis.js";
import { withMeans, withWarnings } from "./means.js";
import { aboutTexts, ColumnTable } from "./reductions.js";
import { type FrameStructures, trackedStructures } from "./tracked-structures.js";

/** Structures described between two checks of the clock. */
const DESCRIBED = 128;

/** Most labelled nodes per number of an answer: both take about as many bytes. */
const NODES_PER_NUMBER = 16;

export async function structures(context: Context, question: MemberValues): Promise<Tabled> {
  const { where = "", connectivity = "26", labels = false, track_overlap } = question;
  const plain = analysisOf(context, question);
  const isTracked = plain.nodes.frames.length > 1;
  if (isTracked && labels) throw wrong("labels", "they are of one frame, and several are followed");
  if (!isTracked && track_overlap !== undefined) throw wrong("track_overlap", "it is of structures in several frames");
  if (track_overlap !== undefined && !(track_overlap >= 0 && track_overlap < 1))
    throw wrong("track_overlap", `expected 0 to below 1, not ${track_overlap}`);
  const { analysis, about, properties, structuresOf } = await finderOf(context, question, plain, labels || isTracked);
  const { nodes } = analysis;
  const stated = { ...aboutTexts(properties, nodes), frames: framesIn(nodes), connectivity: Number(connectivity) };
  const answered = (found: GroupAnswer): GroupAnswer =>
    withWarnings({ where, ...about }, stated, { weights: nodes.weights, ...found });
  if (isTracked) {
    const found = { ...analysis.time, track_overlap: track_overlap ?? 0 };
    return tabled(answered(await trackedStructures(analysis, structuresOf, track_overlap ?? 0)), found);
  }
  const { counts, described, numbers } = await structuresOf(nodes);
  const body = answered({ ...counts, structures: described });
  const grid = numbers === null ? {} : { labels: labelGrid(numbers, nodes) };
  return { answer: { kind: "table", body, ...grid }, restatements: analysis.time };
}

/** What finds the structures of a frame, with the means that the question needs. Throws RequestError. */
export async function finderOf(context: Context, question: MemberValues, plain: Analysis, labels: boolean) {
  const { where = "", connectivity = "26", least = 1, what = [] } = question;
  const over = question.over ?? (plain.nodes.frames.length > 1 ? DIRECTIONS : LETTERS);
  const texts = [where, ...what.map(({ text }) => text)];
  const { analysis, about } = await withMeans(plain, texts, over, "where");
  const { nodes, reduce, slices, maxNumbers: most } = analysis;
  compileScalar(where, nodes.base.names, "where");
  const quantities = compileWhat(what, nodes.base.names);
  requireEveryNode(nodes);
  const properties = quantities.flatMap(({ components }) => components);
  const columns = new ColumnTable(nodes);
  const of = columns.numberOf(where, "where");
  const extent = nodes.base.extent.slice(0, 3);
  const count = extent.reduce((product, n) => product * n, 1);
  if (labels && count > NODES_PER_NUMBER * most)
    throw new LimitError("analysis.numbers", `Labels are of at most ${NODES_PER_NUMBER * most} nodes, not ${count}.`);
  const reduction: AnyReduction & { kind: "structures" } = {
    ...{ kind: "structures", of, side: "above", threshold: 0.5, most, labels, wraps: nodes.wraps },
    connectivity: Number(connectivity) as 6 | 18 | 26,
    properties: properties.map((property) => columns.numberOf(property, "what")),
  };
  const skipped = await emptyBoxesOf(context, question, where, nodes.frames, 0);
  let total = 0;
  const structuresOf = async (own: AnalysedNodes): Promise<FrameStructures> => {
    const merged = await reduce(own, { columns: columns.texts, reductions: [reduction], ...skipped });
    const joined = merged.states(0)[0] as JoinedFragments;
    const ranked = await inSlices(joined.rank(least), slices);
    const { listed } = ranked;
    total += listed.length;
    const numbersOf = total * (23 + 4 * properties.length);
    if (numbersOf > most) {
      const text = `The ${total} structures have ${numbersOf} numbers; at most ${most} are sent. Ask a larger least.`;
      throw new LimitError("analysis.numbers", text);
    }
    const described: GroupAnswer[] = [];
    const describe = (from: number, to: number): void => {
      for (let i = from; i < to; i++)
        described.push(describeStructure(joined.describe(ranked, i, nodes.base), properties, nodes));
    };
    await slices.each(listed.length, describe, DESCRIBED);
    const numbers = joined.labels === null ? null : labelNumbers(joined.labels, ranked);
    const { missing, infinite } = joined;
    return { counts: { nodes: ranked.nodes, missing, infinite, count: listed.length }, described, numbers };
  };
  return { analysis, about, properties, structuresOf };
}

function labelGrid(values: Int32Array, { base, transforms }: AnalysedNodes): GridAnswer {
  const unit = transforms.dataset.units.length ?? null;
  const dims = ([2, 1, 0] as const).map((a) => ({ name: LETTERS[a], coordinates: base.coordinates[a], unit }));
  const label = { name: "label", columns: ["label"], shape: [], unit: null, values };
  return { kind: "grid", dims, scalars: [], quantities: [label] };
}

async function inSlices<T>(work: Iterator<undefined, T>, slices: TimeSlices): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await slices.pause();
  }
}

function describeStructure(
  { nodes, volume, centre, low, high, wraps, inertia, properties }: ConnectedSet,
  texts: readonly string[],
  { base }: AnalysedNodes,
): GroupAnswer {
  const placeOf = (node: number, a: number): number => {
    const along = base.coordinates[a as 0 | 1 | 2];
    const n = along.length;
    return along[node % n] + Math.floor(node / n) * base.periods[a as 0 | 1 | 2];
  };
  const entries = properties.map(([known = 0, integral = 0, min, max], i) => [
    texts[i],
    known === 0 ? { integral: null, mean: null, min: null, max: null } : { integral, mean: integral / known, min, max },
  ]);
  const box = [low.map(placeOf), high.map(placeOf)];
  const tensor = nested(inertia, [3, 3]);
  return { nodes, volume, centre, box, wraps, inertia: tensor, properties: Object.fromEntries(entries) };
}

/** The index in the list, from 1, of the structure of each node, or 0. */
function labelNumbers(fragments: Int32Array, { listed, starts, members }: RankedStructures): Int32Array {
  const numbers = new Int32Array(1 + members.length);
  for (const [i, structure] of listed.entries())
    for (let at = starts[structure]; at < starts[structure + 1]; at++) numbers[members[at] + 1] = i + 1;
  return fragments.map((fragment) => numbers[fragment] ?? 0);
}

/** Answers `structures`: connected sets of nodes where a condition holds. */
import { compileScalar } from "../../../analysis/expression.js";
import type { AnyReduction, GroupAnswer } from "../../../analysis/reductions.js";
import type { ConnectedSet, JoinedFragments, RankedStructures } from "../../../analysis/structures.js";
import { LimitError } from "../../../shared/errors.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";
import type { GridAnswer } from "../answer.js";
import type { Context } from "../context.js";
import { wrong } from "../faults.js";
import { skipOf } from "../levels/skip.js";
import type { MemberValues } from "../question/member-values.js";
import { compileWhat } from "../question/what.js";
import { type AnalysedNodes, framesIn, LETTERS, requireEveryNode } from "./analysed-nodes.js";
import { analysisOf, type Tabled } from "./analysis.js";
import { withMeans } from "./means.js";
import { aboutTexts, Columns } from "./reductions.js";
import { columnNames, renamed } from "./statistics.js";

/** Structures described between two checks of the clock. */
const DESCRIBED = 128;

/** Most labelled nodes per number of an answer: both take about as many bytes. */
const NODES_PER_NUMBER = 16;

export async function structures(context: Context, question: MemberValues): Promise<Tabled> {
  const { where = "", connectivity = "26", least = 1, labels = false, what = [], over = LETTERS } = question;
  const plain = analysisOf(context, question);
  if (plain.nodes.frames.length !== 1) throw wrong("time", "structures are of one frame");
  const texts = [where, ...what.map(({ text }) => text)];
  const { analysis, about } = await withMeans(plain, texts, over, "where");
  const { nodes, reduce, slices, most } = analysis;
  compileScalar(where, nodes.base.names, "where");
  const quantities = compileWhat(what, nodes.base.names);
  requireEveryNode(nodes);
  const properties = quantities.flatMap(({ components }) => components);
  const columns = new Columns(nodes);
  const of = columns.of(where, "where");
  const extent = nodes.base.extent.slice(0, 3);
  const count = extent.reduce((product, n) => product * n, 1);
  if (labels && count > NODES_PER_NUMBER * most)
    throw new LimitError("analysis.numbers", `Labels are of at most ${NODES_PER_NUMBER * most} nodes, not ${count}.`);
  const reduction: AnyReduction & { kind: "structures" } = {
    ...{ kind: "structures", of, side: "above", threshold: 0.5, most, labels, wraps: nodes.wraps },
    connectivity: Number(connectivity) as 6 | 18 | 26,
    properties: properties.map((property) => columns.of(property, "what")),
  };
  const skipped = await skipOf(context, question, where, nodes.frames, 0);
  const merged = await reduce(nodes, { columns: columns.texts, reductions: [reduction], ...skipped });
  const joined = merged.states(0)[0] as JoinedFragments;
  const ranked = await inSlices(joined.rank(least), slices);
  const { listed } = ranked;
  checkList(listed.length, properties.length, most);
  const described: GroupAnswer[] = [];
  await slices.each(
    listed.length,
    (from, to) => {
      for (let i = from; i < to; i++)
        described.push(describeStructure(joined.describe(ranked, i, nodes.base), properties, nodes));
    },
    DESCRIBED,
  );
  const { formulas, units, ...more } = aboutTexts(columns.texts, nodes);
  const found = {
    ...{ formulas: without(formulas, where), units: without(units, where), frames: framesIn(nodes) },
    ...{ ...more, connectivity: Number(connectivity), weights: nodes.weights, nodes: ranked.nodes },
    ...{ missing: joined.missing, infinite: joined.infinite, count: listed.length, structures: described },
  };
  const body = { where, ...about, ...(renamed(found, columnNames(quantities)) as GroupAnswer) };
  const grid = joined.labels === null ? {} : { labels: labelGrid(labelNumbers(joined.labels, ranked), nodes) };
  return { answer: { kind: "table", body, ...grid }, found: analysis.time };
}

function without(members: unknown, name: string): object {
  const { [name]: _, ...rest } = (members ?? {}) as Record<string, unknown>;
  return rest;
}

function labelGrid(values: Int32Array, { base, transforms }: AnalysedNodes): GridAnswer {
  const unit = transforms.dataset.units.length ?? null;
  const dims = ([2, 1, 0] as const).map((a) => ({ name: LETTERS[a], coordinates: base.coordinates[a], unit }));
  const label = { name: "label", columns: ["label"], shape: [], unit: null, values };
  return { kind: "grid", dims, scalars: [], quantities: [label] };
}

/** Runs work that yields, in time slices. */
async function inSlices<T>(work: Iterator<undefined, T>, slices: TimeSlices): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done) return step.value;
    await slices.pause();
  }
}

function checkList(listed: number, properties: number, most: number): void {
  const numbers = listed * (14 + 4 * properties);
  if (numbers <= most) return;
  throw new LimitError(
    "analysis.numbers",
    `The ${listed} structures have ${numbers} numbers; at most ${most} are sent. Ask a larger least.`,
  );
}

function describeStructure(
  { nodes, volume, centre, low, high, wraps, properties }: ConnectedSet,
  texts: readonly string[],
  { base }: AnalysedNodes,
): GroupAnswer {
  const placeOf = (node: number, a: number): number => {
    const along = base.coordinates[a as 0 | 1 | 2];
    const n = along.length;
    return (along[node % n] as number) + Math.floor(node / n) * (base.periods[a as 0 | 1 | 2] as number);
  };
  const entries = properties.map(([known = 0, integral = 0, min, max], i) => [
    texts[i],
    known === 0 ? { integral: null, mean: null, min: null, max: null } : { integral, mean: integral / known, min, max },
  ]);
  const box = [low.map(placeOf), high.map(placeOf)];
  return { nodes, volume, centre, box, wraps, properties: Object.fromEntries(entries) };
}

/** The index in the list, from 1, of the structure of each node, or 0. */
function labelNumbers(fragments: Int32Array, ranked: RankedStructures): Int32Array {
  const numbers = placesInList(ranked);
  return fragments.map((fragment) => numbers[fragment] ?? 0);
}

/** The index in the list, from 1, of the structure of each fragment, or 0. */
function placesInList({ listed, starts, members }: RankedStructures): Int32Array {
  const numbers = new Int32Array(1 + members.length);
  for (const [i, structure] of listed.entries())
    for (let at = starts[structure] as number; at < (starts[structure + 1] as number); at++)
      numbers[(members[at] as number) + 1] = i + 1;
  return numbers;
}

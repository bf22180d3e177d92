/** Finds structures: connected sets of nodes where a condition holds. */
import type { AnyReduction, GroupAnswer } from "../../../analysis/reductions.js";
import type { ConnectedSet, JoinedFragments, RankedStructures } from "../../../analysis/structures.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { LimitError } from "../../../shared/errors.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";
import { refuse } from "../../http/refusal.js";
import { type AnalysedNodes, type PlaceMembers, placesOf, reductionOf, requireEveryNode } from "./analysed-nodes.js";
import { AskedColumns, aboutTexts, framesIn, type Means } from "./statistics.js";

/** What is asked of structures. */
export interface AskedStructures extends PlaceMembers {
  /** A condition: 1 where it holds. */
  readonly where: string;
  /** Neighbours of a node: 6 share a face, 18 an edge, 26 a corner. */
  readonly connectivity: 6 | 18 | 26;
  /** Fewest nodes of a structure that is listed. */
  readonly least: number;
  /** Quantities that are integrated over each structure. */
  readonly properties: readonly string[];
  /** Whether the place in the list of the structure of each node is answered too, or 0. */
  readonly labels: boolean;
}

/** Structures that are described before a look at the clock. */
const DESCRIBED = 128;

/** Nodes whose labels are answered, at most, for each number of an answer: both take about as many bytes. */
const NODES_PER_NUMBER = 16;

/** Finds the structures of one frame. */
export async function structures(
  asked: AskedStructures,
  dataset: Dataset,
  { reduce, slices, most }: Means,
): Promise<GroupAnswer> {
  const places = placesOf(asked, dataset);
  requireEveryNode(places);
  if (places.frames.length !== 1) throw refuse("time", "time: structures are of one frame.");
  const { where, connectivity, least, properties } = asked;
  const columns = new AskedColumns(places);
  const of = columns.of(where, "where");
  const extent = places.base.extent.slice(0, 3);
  const nodes = extent.reduce((product, n) => product * n, 1);
  if (asked.labels && nodes > NODES_PER_NUMBER * most)
    throw new LimitError("analysis.numbers", `Labels are of at most ${NODES_PER_NUMBER * most} nodes, not ${nodes}.`);
  const reduction: AnyReduction & { kind: "structures" } = {
    ...{ kind: "structures", of, side: "above", threshold: 0.5, connectivity, most },
    properties: properties.map((property) => columns.of(property, "what")),
    wraps: places.wraps,
    labels: asked.labels,
  };
  const query = reductionOf(places, { columns: columns.texts, reductions: [reduction] });
  const joined = (await reduce(query, places)).states(0)[0] as JoinedFragments;
  const ranked = await inSlices(joined.rank(least), slices);
  const { listed } = ranked;
  const shape = extent.toReversed();
  checkList(listed.length, properties.length, most);
  const structures: GroupAnswer[] = [];
  await slices.each(
    listed.length,
    (from, to) => {
      for (let i = from; i < to; i++)
        structures.push(describeStructure(joined.describe(ranked, i, places.base), properties, places));
    },
    DESCRIBED,
  );
  return {
    ...{
      frames: framesIn(places),
      ...aboutTexts(columns.texts, places),
      connectivity,
      weights: places.weights,
    },
    nodes: ranked.nodes,
    missing: joined.missing,
    infinite: joined.infinite,
    count: listed.length,
    structures,
    ...(joined.labels === null ? {} : { labelled: { shape, numbers: labelNumbers(joined.labels, ranked) } }),
  };
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
  const told = properties.map(([known = 0, integral = 0, min, max], i) => [
    texts[i],
    known === 0 ? { integral: null, mean: null, min: null, max: null } : { integral, mean: integral / known, min, max },
  ]);
  const box = [low.map(placeOf), high.map(placeOf)];
  return { nodes, volume, centre, box, wraps, properties: Object.fromEntries(told) };
}

/** The place in the list of the structure of each node, or 0. */
function labelNumbers(fragments: Int32Array, ranked: RankedStructures): Int32Array {
  const numbers = placesInList(ranked);
  return fragments.map((fragment) => numbers[fragment] ?? 0);
}

/** The place in the list of the structure that a fragment belongs to, or 0. */
function placesInList({ listed, starts, members }: RankedStructures): Int32Array {
  const numbers = new Int32Array(1 + members.length);
  for (const [i, structure] of listed.entries())
    for (let at = starts[structure] as number; at < (starts[structure + 1] as number); at++)
      numbers[(members[at] as number) + 1] = i + 1;
  return numbers;
}

/** Answers `POST /datasets/{name}/structures`: connected sets of nodes above or below a threshold. */
import { type Static, Type } from "@sinclair/typebox";
import { compileExpression } from "../../../analysis/expression.js";
import type { Moments } from "../../../analysis/moments.js";
import type { AnyReduction, GroupAnswer } from "../../../analysis/reductions.js";
import type { ConnectedSet, JoinedFragments, RankedStructures } from "../../../analysis/structures.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { LimitError } from "../../../shared/errors.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";
import { npyHeader } from "../answer/numpy-files.js";
import { refuse } from "../parameters.js";
import { type AnalysedNodes, PLACES, placesOf, QUANTITY, reductionOf, requireEveryNode } from "./analysis-request.js";
import { AskedColumns, aboutTexts, framesIn, type Means, type Reduce } from "./statistics.js";

const THRESHOLD = Type.Union([Type.Number(), Type.Object({ rms: Type.Number() }, { additionalProperties: false })], {
  description: 'A value, or {"rms": n} for n times the root of the mean square over the region.',
});

export const STRUCTURES = Type.Object(
  {
    ...PLACES,
    of: QUANTITY,
    above: Type.Optional(THRESHOLD),
    below: Type.Optional(THRESHOLD),
    connectivity: Type.Optional(
      Type.Union([Type.Literal(6), Type.Literal(18), Type.Literal(26)], {
        default: 26,
        description: "Neighbours of a node: those that share a face, an edge or a corner.",
      }),
    ),
    least: Type.Optional(
      Type.Integer({ minimum: 1, default: 1, description: "Fewest nodes of a structure that is listed." }),
    ),
    properties: Type.Optional(
      Type.Array(QUANTITY, { maxItems: 16, description: "Quantities that are integrated over each structure." }),
    ),
    labels: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Answers a NumPy array of int32 instead: the place in the list of the structure of each node, or 0.",
      }),
    ),
  },
  { additionalProperties: false },
);
type Structures = Static<typeof STRUCTURES> & {
  /** Whether labels stand beside the table instead of replacing it. */
  readonly beside?: boolean;
};

/** Nodes in a passage of labels. */
const PASSAGE_NODES = 16_384;
/** Structures that are described before a look at the clock. */
const DESCRIBED = 128;

/** Nodes whose labels are answered, at most, for each number of an answer: both take about as many bytes. */
const NODES_PER_NUMBER = 16;

/** An answer that is an array instead of JSON. */
export interface ArrayAnswer {
  readonly shape: readonly number[];
  readonly bytes: number;
  /** The passages of the file. */
  readonly npy: Generator<Buffer, undefined>;
}

/** Finds the structures of one frame. */
export async function structures(
  asked: Structures,
  dataset: Dataset,
  { reduce, slices, most }: Means,
): Promise<GroupAnswer | ArrayAnswer> {
  const places = placesOf(asked, dataset);
  requireEveryNode(places);
  if (places.frames.length !== 1) throw refuse("frames", "Structures take one frame.");
  const { of: text, connectivity = 26, least = 1, properties = [text] } = asked;
  const columns = new AskedColumns(places);
  const of = columns.of(text, "of");
  const { side, threshold } = await thresholdOf(asked, places, reduce);
  const extent = places.base.extent.slice(0, 3);
  const nodes = extent.reduce((product, n) => product * n, 1);
  if (asked.labels && nodes > NODES_PER_NUMBER * most)
    throw new LimitError("analysis.numbers", `Labels are of at most ${NODES_PER_NUMBER * most} nodes, not ${nodes}.`);
  const reduction: AnyReduction & { kind: "structures" } = {
    ...{ kind: "structures", of, side, threshold, connectivity, most },
    properties: properties.map((property, i) => columns.of(property, `properties[${i}]`)),
    wraps: places.wraps,
    labels: asked.labels ?? false,
  };
  const query = reductionOf(places, { columns: columns.texts, reductions: [reduction] });
  const joined = (await reduce(query, places)).states(0)[0] as JoinedFragments;
  const ranked = await inSlices(joined.rank(least), slices);
  const { listed } = ranked;
  const shape = extent.toReversed();
  if (joined.labels !== null && asked.beside !== true)
    return { shape, bytes: 4 * nodes, npy: labelsIn(joined.labels, shape, ranked) };
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
      of: text,
      connectivity,
      threshold,
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

/** The side and the threshold; a multiple of the rms takes a separate pass. */
async function thresholdOf(
  { above, below, of }: Structures,
  places: AnalysedNodes,
  reduce: Reduce,
): Promise<{ readonly side: "above" | "below"; readonly threshold: number }> {
  const side = above === undefined ? "below" : "above";
  const value = above ?? below;
  if (value === undefined || (above !== undefined && below !== undefined))
    throw refuse("above", "One of above and below must be given.");
  if (typeof value === "number") return { side, threshold: value };
  const { shape } = compileExpression(of, places.base.names, "of");
  const square = shape === "scalar" ? `(${of})^2` : shape === "vector" ? `dot(${of}, ${of})` : `ddot(${of}, ${of})`;
  const reductions = [{ kind: "moments", of: 0, order: 1 } as const];
  const squares = await reduce(reductionOf(places, { columns: [square], reductions }), places);
  const { count, mean } = squares.states(0)[0] as Moments;
  if (count === 0) throw refuse(side, `${side}: "of" has no value in the region, and so no rms.`);
  return { side, threshold: value.rms * Math.sqrt(mean) };
}

function checkList(listed: number, properties: number, most: number): void {
  const numbers = listed * (14 + 4 * properties);
  if (numbers <= most) return;
  throw new LimitError(
    "analysis.numbers",
    `The ${listed} structures have ${numbers} numbers; at most ${most} are sent. Set "least" to list larger ones.`,
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

/** The bytes of a NumPy file with the place in the list of the structure of each node, or 0. */
function* labelsIn(
  fragments: Int32Array,
  shape: readonly number[],
  ranked: RankedStructures,
): Generator<Buffer, undefined> {
  yield npyHeader(shape, "<i4");
  const numbers = placesInList(ranked);
  for (let from = 0; from < fragments.length; from += PASSAGE_NODES) {
    const places = fragments.slice(from, from + PASSAGE_NODES).map((fragment) => numbers[fragment] ?? 0);
    yield Buffer.from(places.buffer);
  }
}

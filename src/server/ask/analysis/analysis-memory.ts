/** Bounds the memory that a reduction may take, from its states to its answer, before any of it is made. */
import { widthOf } from "../../../analysis/fragments.js";
import { frequencySums } from "../../../analysis/frequencies.js";
import { groupExtent } from "../../../analysis/plan.js";
import type { AnyReduction } from "../../../analysis/reductions.js";
import type { ReductionQuery } from "../../../engine/contract/query.js";

/** Bytes of a number of an answer: in its object, and in the text that is made of it. */
const ANSWER_BYTES = 48;
/** States of a reduction at a time: the merged one, those of parts on their way, and those that wait for others. */
const STATES = 8;
/** Bytes of a fragment besides its row: its parent, seams, structure and place. */
const FRAGMENT_BYTES = 32;
/** Fragments for each node, at most: nodes as close as they may be without being neighbours. */
const DENSITY = { 6: 1 / 2, 18: 1 / 4, 26: 1 / 8 } as const;

/** Bytes that a reduction may take. */
export function bytesOfReduction({ plan }: ReductionQuery): number {
  const groups = groupExtent(plan).reduce((product, n) => product * n, 1);
  const nodes = plan.extent[0] * plan.extent[1] * plan.extent[2];
  return plan.reductions.reduce(
    (sum, one) =>
      sum +
      (one.kind === "structures"
        ? bytesOfStructures(one, nodes)
        : groups * numbersOf(one) * (8 * STATES + ANSWER_BYTES)),
    0,
  );
}

function bytesOfStructures(
  { most, connectivity, properties, labels }: AnyReduction & { kind: "structures" },
  nodes: number,
): number {
  const fragments = Math.min(most, nodes * DENSITY[connectivity]);
  const width = widthOf(properties.length);
  // A longer list is refused; labels are sent instead of it.
  const answer = labels ? 4 * nodes : ANSWER_BYTES * Math.min(most, fragments * width);
  return fragments * (8 * width + FRAGMENT_BYTES) + answer;
}

/** Numbers of a group, besides the weights of bins. */
export function numbersOf(reduction: AnyReduction): number {
  switch (reduction.kind) {
    case "histogram":
      return 3 * reduction.bins;
    case "conditional":
      return 3 * reduction.bins.reduce((product, n) => product * n, 1);
    case "joint":
      return reduction.bins[0] * reduction.bins[1];
    case "covariance":
      return reduction.of.length ** 2;
    case "frequencies":
      return frequencySums(reduction);
    case "digits":
      // What is listed is so of all groups together.
      if (reduction.listed > 0) return (3 * reduction.listed) / reduction.prefixes.length;
      return 2 * (reduction.prefixes[0]?.length ?? 0) * 2 ** reduction.bits;
    case "increments":
      return reduction.separations.length * (10 + 10 * reduction.orders.length);
    default:
      return 10;
  }
}

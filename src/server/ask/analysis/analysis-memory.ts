/** Bounds the memory of a reduction, from its states to its answer, before anything is allocated. */
import { widthOf } from "../../../analysis/fragments.js";
import { frequencySums } from "../../../analysis/frequencies.js";
import { groupExtent } from "../../../analysis/plan.js";
import type { AnyReduction } from "../../../analysis/reductions.js";
import type { ReductionQuery } from "../../../engine/contract/query.js";

/** Bytes of a number of an answer: in its object and in its text. */
const ANSWER_BYTES = 48;
/** States of a reduction held at once: the merged state, states in transit, and states that wait for earlier parts. */
const STATES = 8;
/** Bytes of a fragment besides its row: its parent, seams, structure and index. */
const FRAGMENT_BYTES = 32;
/** Largest number of fragments per node: the densest packing of nodes that are not neighbours. */
const DENSITY = { 6: 1 / 2, 18: 1 / 4, 26: 1 / 8 } as const;

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
  // Longer lists are refused; with labels, the labels are sent instead of the list.
  const answer = labels ? 4 * nodes : ANSWER_BYTES * Math.min(most, fragments * width);
  return fragments * (8 * width + FRAGMENT_BYTES) + answer;
}

/** Numbers per group, besides the weights of bins. */
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
    case "around":
      return reduction.lags.reduce((product, lag) => product * (2 * lag + 1), 3 * reduction.of.length);
    case "frequencies":
      return frequencySums(reduction);
    case "digits":
      // Listed values belong to all groups together.
      if (reduction.listed > 0) return (3 * reduction.listed) / reduction.prefixes.length;
      return (
        2 * (reduction.prefixes[0]?.length ?? 0) * 2 ** (reduction.widths[reduction.prefixes[0]?.[0]?.length ?? 0] ?? 0)
      );
    case "increments": {
      const { separations, orders, absolute, histogram } = reduction;
      return separations.length * (10 + 10 * orders.length + absolute.length + 4 * (histogram?.bins ?? 0));
    }
    default:
      return 10;
  }
}

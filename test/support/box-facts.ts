/** This file makes facts of a box of nodes, as the page has them of a dataset, for the tests of its state. */
import type { AxisFacts, DatasetFacts } from "../../web/state/facts.js";

/**
 * An axis of so many nodes from some place on.
 *
 * @param length the period of the axis; its nodes end one spacing before
 * @param more   what differs, for example of an axis with ends
 */
export function boxAxis(
  name: AxisFacts["name"],
  nodes: number,
  first = 0,
  length = nodes,
  more: Partial<AxisFacts> = {},
): AxisFacts {
  const spacing = length / nodes;
  return { name, nodes, first, last: first + length - spacing, length, spacing, periodic: true, ...more };
}

/** A periodic box of 4³ nodes at three times, which has nothing to ask for but what a test adds. */
export function boxFacts(more: Partial<DatasetFacts> = {}): DatasetFacts {
  return {
    name: "box",
    title: "A box",
    aliases: [],
    digest: "",
    axes: [boxAxis("x", 4), boxAxis("y", 4), boxAxis("z", 4)],
    times: { count: 3, first: 0, last: 2, stored: [0, 1, 2], guardBefore: 0, guardAfter: 0 },
    fields: [],
    units: {},
    forcing: "none",
    dnsStep: null,
    source: "",
    warnings: [],
    points: 2_000_000,
    operations: [],
    ...more,
  };
}

/** Nodes around the surface of an isovalue, by the extrema of levels. */
import { divide } from "../../../analysis/parts.js";
import type { RegionBox } from "../../../engine/contract/query.js";
import type { Context } from "../context.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "../question/member-values.js";
import type { Quantity } from "../question/what.js";
import type { NodeRun } from "../question/where.js";
import { emptyBoxesOf } from "./skip.js";

/** Planes of nodes that are divided into parts together, and nodes of a part along x and y. */
export const PART_PLANES = 8;
const PART = [32, 32, PART_PLANES] as const;

type Three = RegionBox["from"];

/**
 * A function that lists the parts of a box with the nodes of all cells where a quantity can have the isovalue.
 * @returns null without an isovalue, or if levels do not bound the quantity
 * @throws RequestError for several numbers, or nodes with a stride
 */
export async function nodesAround(
  context: Context,
  question: MemberValues,
  [quantity, ...others]: readonly Quantity[],
  runs: readonly NodeRun[],
  frames: readonly number[],
): Promise<((frame: number, box: readonly NodeRun[]) => readonly RegionBox[]) | null> {
  const { isovalue } = question;
  if (isovalue === undefined) return null;
  if (others.length > 0 || quantity?.columns.length !== 1)
    throw wrong("isovalue", "a surface is of one number: ask a component, or norm(u), alone");
  if (runs.some(({ step }) => step !== 1)) throw wrong("isovalue", "a surface needs every node: leave out the strides");
  const { axes, time } = context.dataset;
  const condition = `(${quantity.text}) >= ${isovalue} && (${quantity.text}) <= ${isovalue}`;
  const stored = (frame: number): number => time.guardBefore + frame;
  const { skip } = await emptyBoxesOf(context, question, condition, frames.map(stored), Number.NaN);
  if (skip === undefined) return null;
  return (frame, box) => {
    const { total, at: part } = divide(box.map(({ count }) => count) as unknown as Three, PART);
    return Array.from({ length: total }, (_, i) => part(i)).filter(({ from, count }) => {
      // A node belongs to the cells before it, too.
      const before = box.map(({ first }, a) => (first + from[a] > 0 || axes[a as 0].periodic ? 1 : 0));
      const first = box.map((one, a) => one.first + from[a] - before[a] + axes[a as 0].nodes);
      const cells = count.map((nodes, a) => nodes + before[a]);
      const nodes = { first: first as unknown as Three, count: cells as unknown as Three, stride: [1, 1, 1] } as const;
      return !skip.isEmpty({ ...nodes, frame: stored(frame) });
    });
  };
}

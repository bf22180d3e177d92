/**
 * Arranges the numbers of an answer for printing: the place that each record belongs to, and the names of its numbers.
 */
import { type OperationName, operationOf } from "../../shared/operations.js";
import type { FlagQuery, QueryAnswer } from "./answer.js";

/** An answer as it is printed. */
export interface Arranged {
  readonly components: readonly string[];
  readonly recordsPerPoint: number;
  /** x, y, z of every place: points as asked, or nodes of a cutout; null if the records need none. */
  readonly points: Float32Array | null;
  readonly values: Float32Array;
}

/**
 * Puts points or nodes next to the records of an answer. The records of a search name their nodes themselves; array
 * forms answer numbers one after another, as many for each point.
 */
export function arrange({ operation, members, points }: FlagQuery, answer: QueryAnswer): Arranged {
  const { family, request } = operationOf(operation as OperationName);
  const { components, recordsPerPoint, values } = answer;
  if (family === "cutout") return arrangeNodes(nodesAsked(members), values);
  if (!request.some(({ name }) => name === "points")) return { components, recordsPerPoint: 1, points: null, values };
  const perPoint = family === "arrays" ? values.length / (points.length / 3 || 1) : recordsPerPoint;
  return { components, recordsPerPoint: perPoint, points, values };
}

function arrangeNodes(nodes: Float32Array, values: Float32Array): Arranged {
  const vector = values.length === nodes.length;
  return { components: vector ? ["x", "y", "z"] : ["value"], recordsPerPoint: 1, points: nodes, values };
}

/** The numbers of the nodes of a cutout, x fastest, counted as its request counts them. */
function nodesAsked(members: FlagQuery["members"]): Float32Array {
  const number = (name: string, other: number): number => Number(members[name] ?? other);
  const axes = ["x", "y", "z"].map((axis) => {
    const corner = axis.toUpperCase();
    const first = number(`${axis}_start`, number(corner, 0));
    const step = number(`${axis}_step`, 1);
    const last = number(`${axis}_end`, first + number(`${corner}width`, 1) - 1);
    return { first, step, count: Math.floor((last - first) / step) + 1 };
  });
  const [x, y, z] = axes as [(typeof axes)[0], (typeof axes)[0], (typeof axes)[0]];
  const nodes = new Float32Array(3 * x.count * y.count * z.count);
  let at = 0;
  for (let k = 0; k < z.count; k++) {
    for (let j = 0; j < y.count; j++) {
      for (let i = 0; i < x.count; i++) {
        nodes[at++] = x.first + i * x.step;
        nodes[at++] = y.first + j * y.step;
        nodes[at++] = z.first + k * z.step;
      }
    }
  }
  return nodes;
}

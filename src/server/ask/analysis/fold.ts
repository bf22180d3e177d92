/** The symmetry by which statistics are folded, checked for a dataset. */
import type { Names } from "../../../analysis/names.js";
import { paritiesOf, type Symmetry } from "../../../analysis/parity.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "../question/member-values.js";
import { coordinateOf } from "../question/where.js";

/** Tolerance for the symmetry of nodes, relative to half the length of the axis. */
const NEAR = 1e-6;

/** The symmetry of a question; null without folding. Throws RequestError for nodes that are not symmetric. */
export function symmetryOf({ fold, odd = [], over = [] }: MemberValues, dataset: Dataset): Symmetry | null {
  if (fold === undefined && odd.length > 0) throw wrong("odd", "it is for fold");
  if (fold === undefined) return null;
  const [letter, by] = fold.split(":") as ["x" | "y" | "z", string];
  const axis = "xyz".indexOf(letter) as 0 | 1 | 2;
  const along = dataset.axes[axis];
  if (over.length === 0 || over.includes(letter))
    throw wrong("fold", `profiles along ${letter} are folded: over without it`);
  if (along.periodic) throw wrong("fold", `${letter} is periodic: walls or open ends have a middle between them`);
  if (dataset.walls[axis][0] !== dataset.walls[axis][1]) throw wrong("fold", `one end of ${letter} alone is a wall`);
  const at = (a: 0 | 1 | 2, i: number): number => coordinateOf(dataset.axes[a], i);
  const middle = ([0, 1, 2] as const).map((a) => (at(a, 0) + at(a, dataset.axes[a].nodes - 1)) / 2);
  for (let i = 0; i < along.nodes; i++)
    if (Math.abs(at(axis, i) + at(axis, along.nodes - 1 - i) - 2 * middle[axis]) > NEAR * (middle[axis] - at(axis, 0)))
      throw wrong("fold", `the nodes along ${letter} are not symmetric: node ${i} to ${NEAR} of half the length`);
  const about = axis === 2 ? 1 : 2;
  const signs = [0, 1, 2].map((a) => ((by === "mirror" ? a === axis : a !== about) ? -1 : 1));
  const unknown = odd.find((name) => !Object.hasOwn(dataset.fields, name));
  if (unknown !== undefined) throw wrong("odd", `expected names of fields, not ${unknown}`);
  return { axis, signs: signs as never, middle: middle as never, odd };
}

/** The signs of the components of a quantity. Throws RequestError if the quantity is neither even nor odd. */
export function signsOf(text: string, names: Names, symmetry: Symmetry): readonly number[] {
  try {
    return paritiesOf(text, names, symmetry);
  } catch (error) {
    throw wrong("fold", (error as Error).message);
  }
}

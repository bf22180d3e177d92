/** How a field continues across the ends of an axis: it may be periodic, or an end may be stored twice. */
import { openDataset, type StoredBricks } from "../bricks/brick-reader.js";
import type { AxisName, Dataset, Question, Triple } from "../dataset/dataset.js";
import { AXIS_NAMES, fieldNames } from "../dataset/dataset.js";

export const LINES = 48;
/** Nodes of a line whose steps are the usual ones: whole lines of a large set would take most of its chunks. */
export const STEPS = 512;
/** Largest difference of nodes that count as equal, relative to the largest value: a few roundings of float32. */
const EQUAL = 1e-6;

/** Lines of a field, by default the first, along an axis, spread over the other two. */
export function linesOf(dataset: Dataset, axis: number, open: StoredBricks, field = fieldNames(dataset)[0] ?? "") {
  const components = dataset.fields[field]?.components ?? 1;
  const read = (line: number, from: number, length: number): Float64Array => {
    // Multiples of two irrational numbers spread the lines evenly.
    const fractions = [(line * Math.SQRT2) % 1, (line * Math.E) % 1];
    const place = ({ nodes }: { nodes: number }) => Math.floor((fractions.pop() ?? 0) * nodes);
    const first = dataset.axes.map((one, at) => (at === axis ? from : place(one))) as unknown as Triple;
    const count = dataset.axes.map((_, at) => (at === axis ? length : 1)) as unknown as Triple;
    const out = new Float64Array(length * components);
    open.readNodes(field, 0, { first, count }, out);
    return out;
  };
  return { components, nodes: dataset.axes[axis as 0 | 1 | 2].nodes, read };
}

/**
 * The step from the last node to the first over the usual step (root mean squares over a few lines).
 * @returns not much above 1 if the field is periodic, far above if it is not; NaN if it cannot be measured
 */
export function seamRatio(dataset: Dataset, axis: number, open: StoredBricks): number {
  const { components, nodes, read } = linesOf(dataset, axis, open);
  const length = Math.min(nodes, STEPS);
  let [seam, inside] = [0, 0];
  for (let n = 0; n < LINES; n++) {
    const line = read(n, 0, length);
    const last = length < nodes ? read(n, nodes - 1, 1) : line.subarray(-components);
    for (let c = 0; c < components; c++) {
      seam += (line[c] - last[c]) ** 2;
      for (let i = components + c; i < line.length; i += components) inside += (line[i] - line[i - components]) ** 2;
    }
  }
  return Math.sqrt(seam / inside) * Math.sqrt(length - 1);
}

export const largest = (values: Iterable<number>): number => Math.max(...[...values].map(Math.abs));

/** Whether the last node repeats the first on all lines of a varying field. The first that differs ends the search. */
function isRepeated(dataset: Dataset, axis: number, open: StoredBricks): boolean {
  const { components, nodes, read } = linesOf(dataset, axis, open);
  for (let n = 0; n < LINES; n++) {
    const [first, last, inside] = [0, nodes - 1, Math.floor(nodes / 5)].map((at) => read(n, at, 1));
    // A component may be 0 at the ends, except for rounding; around a large mean, rounding may exceed what varies.
    const limit = Math.min(
      EQUAL * largest([...first, ...last, ...inside]),
      largest(first.map((v, c) => v - inside[c])) / 99,
    );
    if (first.some((value, c) => value !== last[c] && !(Math.abs(value - last[c]) <= limit))) return false;
  }
  for (let n = 0; n < LINES; n++)
    if (read(n, 0, nodes).some((value, at, line) => value !== line[at % components])) return true;
  return false;
}

/** Periodic axes whose last node repeats the first: the period seems to be one spacing too long. */
export function repeatedEnds(dataset: Dataset): AxisName[] {
  const isPeriodic = ({ periodic, nodes }: Dataset["axes"][0]): boolean => periodic && nodes > 1;
  const periodic = AXIS_NAMES.filter((_, at) => isPeriodic(dataset.axes[at as 0 | 1 | 2]));
  if (periodic.length === 0) return [];
  const open = openDataset(dataset);
  try {
    return periodic.filter((name) => isRepeated(dataset, AXIS_NAMES.indexOf(name), open));
  } finally {
    open.close();
  }
}

export function repeatedQuestion(axes: AxisName[]): Question {
  const question =
    "The last node has the values of the first, so the end of the period is stored as well, and the period is one spacing too long.";
  const answer = "axes.*.nodes, axes.*.origin and fields.*.offset in a descriptor that leaves one of the two out";
  return { about: "spacing", axes, question, answer, red: true };
}

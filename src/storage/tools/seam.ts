/**
 * Measures how a field continues over the ends of an axis: evidence for its periodicity, and of an end that is stored
 * twice.
 */
import { DataError } from "../../errors.js";
import { openDataset } from "../bricks/brick-reader.js";
import type { Recognised } from "../catalog/layouts/recognise.js";
import { verify } from "../catalog/verify.js";
import { AXIS_NAMES, type AxisName, type Dataset, type Question, type Triple } from "../file/dataset.js";

/** Lines along the axis that are read. */
const LINES = 48;
const CHUNK_BYTES = 2 ** 30;
/** Largest difference of equal nodes, over the largest value: the rounding of float32 a few times. */
const EQUAL = 1e-6;

/** Reads lines of a field along an axis of the first frame: `components` values a node. The array is used again. */
function* linesAlong(dataset: Dataset, axis: number): Generator<{ line: Float32Array; components: number }> {
  const field = dataset.fields.velocity === undefined ? "pressure" : "velocity";
  const components = dataset.fields[field]?.components ?? 1;
  const nodes = dataset.axes.map((entry) => entry.nodes);
  const line = new Float32Array(nodes[axis] * components);
  const open = openDataset(dataset);
  try {
    for (let n = 0; n < LINES; n++) {
      // Multiples of two irrational numbers spread the lines evenly over the other two axes.
      const share = [(n * Math.SQRT2) % 1, (n * Math.E) % 1];
      const first = nodes.map((count, at) => (at === axis ? 0 : Math.floor((share.pop() ?? 0) * count)));
      const count = nodes.map((length, at) => (at === axis ? length : 1));
      open.readNodes(field, 0, { first: first as unknown as Triple, count: count as unknown as Triple }, line);
      yield { line, components };
    }
  } finally {
    open.close();
  }
}

/**
 * The step from the last node of an axis back to the first, over the usual step between neighbours (root mean squares
 * over a few lines): not much above 1 where the field is periodic, far above where it is not. NaN where it cannot be
 * measured.
 */
function seamRatio(dataset: Dataset, axis: number): number {
  let [seam, inside, steps] = [0, 0, 0];
  for (const { line, components } of linesAlong(dataset, axis)) {
    for (let c = 0; c < components; c++) {
      seam += (line[c] - line[line.length - components + c]) ** 2;
      for (let i = components + c; i < line.length; i += components) inside += (line[i] - line[i - components]) ** 2;
    }
    steps += line.length / components - 1;
  }
  return Math.sqrt(seam / LINES / (inside / steps));
}

/** Whether the last node of an axis has the values of the first on all lines, though the field changes between them. */
function isRepeated(dataset: Dataset, axis: number): boolean {
  let changes = false;
  for (const { line, components } of linesAlong(dataset, axis)) {
    const most = line.reduce((sum, value) => Math.max(sum, Math.abs(value)), 0);
    const apart = (from: number) =>
      line.subarray(from, from + components).some((value, c) => !(Math.abs(value - line[c]) <= EQUAL * most));
    if (apart(line.length - components)) return false;
    for (let at = components; !changes && at < line.length; at += components) changes = apart(at);
  }
  return changes;
}

/**
 * The periodic axes of a dataset whose last node has the values of the first: their period seems to be one spacing too
 * long.
 */
export function repeatedEnds(dataset: Dataset): AxisName[] {
  return AXIS_NAMES.filter((_, at) => {
    const { nodes, periodic } = dataset.axes[at as 0 | 1 | 2];
    return periodic && nodes > 1 && isRepeated(dataset, at);
  });
}

/** The meaning of repeated ends, for people. */
export const REPEATED =
  "The last node has the values of the first, so the end of the period is stored as well, and the period is one spacing too long.";

/**
 * The description with a figure in every question about a periodicity, and a question about the ends that are stored
 * twice; unchanged where nothing can be read.
 */
export function measured(found: Recognised, folder: string): Recognised {
  const { descriptor } = found;
  const outcome = verify({ descriptor, folder, location: "", digest: "", warnings: [] }, CHUNK_BYTES);
  if ("problems" in outcome) return found;
  try {
    const questions = descriptor.questions.map((entry) => withFigure(entry, outcome.dataset));
    const axes = repeatedEnds(outcome.dataset);
    const answer = "axes.*.nodes, axes.*.origin and fields.*.offset in a descriptor that leaves one of the two out";
    if (axes.length > 0) questions.push({ about: "spacing", axes, question: REPEATED, answer });
    return { ...found, descriptor: { ...descriptor, questions }, written: { ...found.written, questions } };
  } catch (error) {
    if (error instanceof DataError) return found;
    throw error;
  }
}

function withFigure(entry: Question, dataset: Dataset): Question {
  const long = (entry.axes ?? []).filter((axis) => (dataset.axes[AXIS_NAMES.indexOf(axis)]?.nodes ?? 0) > 1);
  if (entry.about !== "periodicity" || long.length === 0) return entry;
  const figures = long.map((axis) => {
    const ratio = seamRatio(dataset, AXIS_NAMES.indexOf(axis));
    return `${axis} ${Number.isFinite(ratio) ? ratio.toPrecision(2) : "not measurable"}`;
  });
  const evidence =
    "The step from the last node to the first, over the usual one (not much above 1 where it is periodic, near 0 where the last node may repeat the first):";
  return { ...entry, question: `${entry.question} ${evidence} ${figures.join(", ")}.` };
}

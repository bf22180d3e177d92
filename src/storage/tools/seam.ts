/** Measures whether a field continues over the ends of an axis, as evidence for the question of its periodicity. */
import { DataError } from "../../errors.js";
import { openDataset } from "../bricks/brick-reader.js";
import type { Recognised } from "../catalog/layouts/recognise.js";
import { verify } from "../catalog/verify.js";
import { AXIS_NAMES, type Dataset, type Question, type Triple } from "../dataset.js";

/** Lines along the axis that are read. */
const LINES = 48;
const CHUNK_BYTES = 2 ** 30;

/**
 * The step from the last node of an axis back to the first, over the usual step between neighbours (root mean squares over
 * a few lines): about 1 where the field is periodic, far above where it is not. NaN where it cannot be measured.
 */
export function seamRatio(dataset: Dataset, axis: number): number {
  const field = dataset.fields.velocity === undefined ? "pressure" : "velocity";
  const components = dataset.fields[field]?.components ?? 1;
  const nodes = dataset.axes.map((entry) => entry.nodes);
  const line = new Float32Array(nodes[axis] * components);
  const open = openDataset(dataset);
  let [seam, inside, steps] = [0, 0, 0];
  try {
    for (let n = 0; n < LINES; n++) {
      // Multiples of two irrational numbers spread the lines evenly over the other two axes.
      const share = [(n * Math.SQRT2) % 1, (n * Math.E) % 1];
      const first = nodes.map((count, at) => (at === axis ? 0 : Math.floor((share.pop() ?? 0) * count)));
      const count = nodes.map((length, at) => (at === axis ? length : 1));
      open.readNodes(field, 0, { first: first as unknown as Triple, count: count as unknown as Triple }, line);
      for (let c = 0; c < components; c++) {
        seam += (line[c] - line[line.length - components + c]) ** 2;
        for (let i = components + c; i < line.length; i += components) inside += (line[i] - line[i - components]) ** 2;
      }
      steps += nodes[axis] - 1;
    }
  } finally {
    open.close();
  }
  return Math.sqrt(seam / LINES / (inside / steps));
}

/** The description with a figure in every question about a periodicity; unchanged where nothing can be read. */
export function measured(found: Recognised, folder: string): Recognised {
  const { descriptor } = found;
  if (!descriptor.questions.some(({ about }) => about === "periodicity")) return found;
  const outcome = verify({ descriptor, folder, location: "", digest: "", warnings: [] }, CHUNK_BYTES);
  if ("problems" in outcome) return found;
  try {
    const questions = descriptor.questions.map((entry) => withFigure(entry, outcome.dataset));
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
  const evidence = "The step from the last node to the first, over the usual one (about 1 where it is periodic):";
  return { ...entry, question: `${entry.question} ${evidence} ${figures.join(", ")}.` };
}

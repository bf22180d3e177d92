/** Evaluates expressions at points, by the operations behind what they read. */

import type { FieldFilter } from "../../../analysis/derived.js";
import type { BlockInputs, Expression } from "../../../analysis/expression.js";
import { type InputKey, namesFor } from "../../../analysis/names.js";
import { symmetric } from "../../../analysis/record-quantity.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import type { Query, Result } from "../../../engine/contract/query.js";
import { type FieldName, spatialOf } from "../../../shared/operations.js";
import { drawTriple } from "../../../shared/random.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";
import type { RequestLife } from "../../http/request-life.js";
import { refuse } from "../parameters.js";
import { TripleWriter } from "../triple-writer.js";
import { operationOfInput } from "../values-along.js";
import { derivedFor } from "./analysis-request.js";

/** How values and derivatives are interpolated, and when. */
export interface PointOptions {
  readonly time: number;
  readonly method: string;
  /** A spatial option of gradients, or `spectral`; of filtered fields, `spectral` or differences. */
  readonly derivatives: string;
  /** What gives filtered names their meaning; absent: nothing. */
  readonly filter?: FieldFilter | undefined;
  readonly temporalInterpolation: NonNullable<Query["temporalInterpolation"]>;
}

/** Evaluates columns at points, three float32 each; the values are in the order of the points. */
export type EvaluateAt = (
  columns: readonly Expression[],
  points: Float32Array,
  options: PointOptions,
) => Promise<readonly Float64Array[]>;

/** Points that are evaluated between two looks at the clock: an expression takes dozens of numbers of each. */
const STEP_POINTS = 512;

/** Returns what evaluates columns within the life of a request. */
export function evaluatorFor(life: RequestLife, dataset: Dataset): EvaluateAt {
  return async (columns, points, options) => {
    const keys = [...new Set(columns.flatMap(({ inputs }) => inputs))].filter((key) => key.includes(":"));
    const records = new Map<InputKey, ReadAt>(await derivedAt(life, dataset, keys, points, options));
    const results: Result[] = [];
    for (const key of keys) {
      if (records.has(key)) continue;
      const result = await recordsAt(life, dataset, key, points, options);
      results.push(result);
      records.set(key, readerOf(key, result));
    }
    const count = points.length / 3;
    const out = columns.map(() => life.doubles(count));
    const evaluate = (from: number, to: number): void => {
      const block = blockOf(records, points, options.time, from, to - from);
      columns.forEach((column, c) => {
        out[c]?.set(column.evaluate(block)[0] as Float64Array, from);
      });
    };
    await life.slices.each(count, evaluate, STEP_POINTS);
    for (const result of results) result.release();
    return out;
  };
}

/** Reads number i of a component of an input. */
type ReadAt = (i: number, component: number) => number;

/** Reads the parts of a result, mostly in their order. */
function readerOf(key: InputKey, { values, components }: Pick<Result, "values" | "components">): ReadAt {
  const isSymmetric = key.startsWith("hessian:");
  let part = 0;
  let first = 0;
  const itemsOf = (index: number): number => (values[index] as Float32Array).length / components;
  return (i, c) => {
    while (i < first) first -= itemsOf(--part);
    while (i >= first + itemsOf(part)) first += itemsOf(part++);
    return (values[part] as Float32Array)[(i - first) * components + (isSymmetric ? symmetric(c) : c)] as number;
  };
}

/** The inputs that transforms make of whole frames. @throws RequestError for a grid that has none */
async function derivedAt(
  life: RequestLife,
  dataset: Dataset,
  keys: readonly InputKey[],
  points: Float32Array,
  { time, temporalInterpolation, method, derivatives, filter = undefined }: PointOptions,
): Promise<readonly (readonly [InputKey, ReadAt])[]> {
  const order = Number(/Fd([468])/.exec(derivatives)?.[1]) as 4 | 6 | 8;
  if (keys.some((key) => key.startsWith("filteredGradient:")) && derivatives !== "spectral" && Number.isNaN(order))
    throw refuse("derivatives", "derivatives: filtered fields take None_Fd4, None_Fd6, None_Fd8 or spectral.");
  const scheme = derivatives === "spectral" ? "spectral" : order || 4;
  const plan = derivedFor(keys, dataset, namesFor(dataset), filter ?? null, scheme);
  if (plan === null) return [];
  const field = Object.keys(dataset.fields)[0] as FieldName;
  const accepted = spatialOf(operationOfInput("value:pressure").operation, dataset);
  if (!accepted.includes(method as never)) throw refuse("method", `method: expected one of ${accepted.join(", ")}.`);
  const nodes = {
    field,
    frame: dataset.time.guardBefore,
    first: [0, 0, 0],
    count: [1, 1, 1],
    stride: [1, 1, 1],
  } as const;
  const asked = { plan, points, method };
  const query = { operation: "GetAnyCutoutWeb", dataset: dataset.name, nodes, time, temporalInterpolation } as const;
  const evaluation = life.start({ ...query, derivedAt: asked });
  await life.enter();
  const { atPoints = [], release } = await evaluation.finish();
  life.forget(evaluation);
  release();
  return Object.entries(plan.inputs).map(([key, components = []]) => [
    key as InputKey,
    (i, c) => (atPoints[components[c] as number] as Float64Array)[i] as number,
  ]);
}

/** The operation behind an input, and the spatial option by which it is asked. */
function operationFor(
  key: InputKey,
  dataset: Dataset,
  { method, derivatives }: PointOptions,
): Pick<Query, "operation" | "spatialInterpolation"> {
  const { operation, ...of } = operationOfInput(key);
  const isValue = key.startsWith("value:");
  const [member, asked] = isValue ? (["method", method] as const) : (["derivatives", derivatives] as const);
  const accepted = spatialOf(operation, dataset);
  const spatialInterpolation = accepted.find((scheme) => scheme === asked);
  if (spatialInterpolation === undefined)
    throw refuse(member, `${member}: ${operation.name} takes ${accepted.join(", ")}.`);
  return { operation: operation.name, ...of, spatialInterpolation };
}

async function recordsAt(
  life: RequestLife,
  dataset: Dataset,
  key: InputKey,
  points: Float32Array,
  options: PointOptions,
): Promise<Result> {
  const { time, temporalInterpolation } = options;
  const asked = { ...operationFor(key, dataset, options), dataset: dataset.name, time, temporalInterpolation };
  const evaluation = life.start(asked);
  const writer = new TripleWriter(evaluation.points, evaluation.limit);
  await life.slices.each(points.length / 3, (from, to) => {
    writer.addAll(points.subarray(3 * from, 3 * to), to - from);
  });
  writer.flush();
  await life.enter();
  const result = await evaluation.finish();
  life.onEnd(() => result.release());
  life.forget(evaluation);
  return result;
}

function blockOf(
  records: ReadonlyMap<InputKey, ReadAt>,
  points: Float32Array,
  time: number,
  from: number,
  count: number,
): BlockInputs {
  const input = (key: InputKey, c: number): Float64Array => {
    if (key === "t") return new Float64Array(count).fill(time);
    const read = records.get(key) ?? ((i: number) => points[3 * i + "xyz".indexOf(key)] as number);
    const out = new Float64Array(count);
    for (let i = 0; i < count; i++) out[i] = read(from + i, c);
    return out;
  };
  return { count, computed: new Map(), scratch: () => new Float64Array(count), input };
}

/**
 * Records of three float32 kept for a drawn point until the answer is computed: the point, here and in the query, what
 * is read there, and columns.
 */
export const DRAWN_RECORDS = 8;

/**
 * Draws points at random in a box, three float32 each: point i is the same in every call with its seed.
 *
 * @param purpose what they are drawn for, so that points and directions of one seed are independent
 */
export async function randomPoints(
  slices: TimeSlices,
  count: number,
  seed: number,
  origin: readonly number[],
  extent: readonly number[],
  purpose: "points" | "directions" = "points",
): Promise<Float32Array> {
  const out = new Float32Array(3 * count);
  const words = new Uint32Array(4);
  await slices.each(count, (from, to) => {
    for (let i = from; i < to; i++) {
      const drawn = drawTriple(seed, i, purpose, words);
      for (let a = 0; a < 3; a++) out[3 * i + a] = (origin[a] as number) + (drawn[a] as number) * (extent[a] as number);
    }
  });
  return out;
}

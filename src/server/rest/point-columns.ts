/** Evaluates expressions at points, by the operations behind what they read. */
import type { BlockInputs, Expression } from "../../analysis/expression.js";
import type { InputKey } from "../../analysis/names.js";
import type { Dataset } from "../../engine/contract/dataset.js";
import { joinedValues, type Query } from "../../engine/contract/query.js";
import { spatialOf } from "../../operations.js";
import type { RequestLife } from "../life/request-life.js";
import { refuse } from "./parameters.js";
import { TripleWriter } from "./triple-writer.js";
import { operationOfInput, symmetric } from "./values-along.js";

/** How values and derivatives are interpolated, and when. */
export interface PointOptions {
  readonly time: number;
  readonly method: string;
  readonly derivatives: string;
  readonly temporalInterpolation: NonNullable<Query["temporalInterpolation"]>;
}

/** Evaluates columns at points, three float32 each; the values are in the order of the points. */
export type EvaluateAt = (
  columns: readonly Expression[],
  points: Float32Array,
  options: PointOptions,
) => Promise<readonly Float64Array[]>;

/** Records of an operation at all points. */
interface Records {
  readonly values: Float32Array;
  readonly components: number;
}

/** Returns what evaluates columns within the life of a request. */
export function evaluatorFor(life: RequestLife, dataset: Dataset): EvaluateAt {
  return async (columns, points, options) => {
    const records = new Map<InputKey, Records>();
    for (const key of new Set(columns.flatMap(({ inputs }) => inputs)))
      if (key.includes(":")) records.set(key, await recordsAt(life, dataset, key, points, options));
    const count = points.length / 3;
    const out = columns.map(() => new Float64Array(count));
    await life.slices.each(count, (from, to) => {
      const block = blockOf(records, points, options.time, from, to - from);
      columns.forEach((column, c) => {
        out[c]?.set(column.evaluate(block)[0] as Float64Array, from);
      });
    });
    return out;
  };
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
): Promise<Records> {
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
  const values = joinedValues(result);
  const { components } = result;
  result.release();
  life.forget(evaluation);
  return { values, components };
}

function blockOf(
  records: ReadonlyMap<InputKey, Records>,
  points: Float32Array,
  time: number,
  from: number,
  count: number,
): BlockInputs {
  const every = (values: Float32Array, components: number, c: number): Float64Array => {
    const out = new Float64Array(count);
    for (let i = 0; i < count; i++) out[i] = values[(from + i) * components + c] as number;
    return out;
  };
  const input = (key: InputKey, c: number): Float64Array => {
    if (key === "t") return new Float64Array(count).fill(time);
    const found = records.get(key);
    if (found === undefined) return every(points, 3, "xyz".indexOf(key));
    return every(found.values, found.components, key.startsWith("hessian:") ? symmetric(c) : c);
  };
  return { count, computed: new Map(), room: () => new Float64Array(count), input };
}

/** Draws points at random in a box, three float32 each, by the generator mulberry32. */
export function randomPoints(
  count: number,
  seed: number,
  origin: readonly number[],
  extent: readonly number[],
): Float32Array {
  let state = seed >>> 0;
  const out = new Float32Array(3 * count);
  for (let i = 0; i < out.length; i++) {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    const fraction = ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    out[i] = (origin[i % 3] as number) + fraction * (extent[i % 3] as number);
  }
  return out;
}

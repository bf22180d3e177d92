/** Evaluates expressions at points, by the operations behind what they read. */
import type { BlockInputs, Expression } from "../../analysis/expression.js";
import type { InputKey, InputKind } from "../../analysis/names.js";
import type { Dataset } from "../../engine/contract/dataset.js";
import type { Query } from "../../engine/contract/query.js";
import { RequestError } from "../../errors.js";
import { type FieldName, findOperation, type OperationRow } from "../../operations.js";
import type { RequestLife } from "../life/request-life.js";
import { refuse } from "./parameters.js";
import { TripleWriter } from "./triple-writer.js";

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

/** The names of fields in those of operations. */
const FIELD_WORDS: Readonly<Record<FieldName, string>> = {
  velocity: "Velocity",
  pressure: "Pressure",
  force: "Force",
  magnetic: "MagneticField",
  potential: "VectorPotential",
  density: "Density",
  temperature: "Temperature",
};
const KIND_WORDS: Readonly<Record<InputKind, string>> = {
  value: "",
  gradient: "Gradient",
  laplacian: "Laplacian",
  hessian: "Hessian",
};
/** Numbers of a symmetric tensor in a record, by rows. */
const SYMMETRIC = [0, 1, 2, 1, 3, 4, 2, 4, 5] as const;

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
  { method, derivatives }: PointOptions,
): Pick<Query, "spatialInterpolation"> & { readonly operation: OperationRow["name"] } {
  const [kind, field] = key.split(":") as [InputKind, FieldName];
  const operation = findOperation(`Get${FIELD_WORDS[field]}${KIND_WORDS[kind]}`);
  if (operation === undefined)
    throw new RequestError("Unsupported", `The ${kind} of ${field} is known at nodes, not at points.`);
  const [member, asked] = kind === "value" ? (["method", method] as const) : (["derivatives", derivatives] as const);
  const spatial: readonly string[] = "spatial" in operation ? operation.spatial : [];
  if (!spatial.includes(asked)) throw refuse(member, `${member}: ${operation.name} takes ${spatial.join(", ")}.`);
  return { operation: operation.name, spatialInterpolation: asked as NonNullable<Query["spatialInterpolation"]> };
}

async function recordsAt(
  life: RequestLife,
  dataset: Dataset,
  key: InputKey,
  points: Float32Array,
  options: PointOptions,
): Promise<Records> {
  const { time, temporalInterpolation } = options;
  const asked = { ...operationFor(key, options), dataset: dataset.name, time, temporalInterpolation };
  const evaluation = life.start(asked);
  const writer = new TripleWriter(evaluation.points, evaluation.limit);
  await life.slices.each(points.length / 3, (from, to) => {
    writer.addAll(points.subarray(3 * from, 3 * to), to - from);
  });
  writer.flush();
  await life.enter();
  const { items, components, values: parts, release } = await evaluation.finish();
  const values = new Float32Array(items * components);
  let at = 0;
  for (const part of parts) {
    values.set(part, at);
    at += part.length;
  }
  release();
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
    return every(found.values, found.components, key.startsWith("hessian:") ? (SYMMETRIC[c] as number) : c);
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

/** Evaluates expressions at points, by the operations that answer their inputs. */
import type { Components } from "../../../analysis/array-functions.js";
import type { FieldFilter } from "../../../analysis/derived.js";
import type { Expression } from "../../../analysis/expression.js";
import type { InputKey, InputKind, InputParts, PlainKind } from "../../../analysis/names.js";
import { namesFor, packedIndex, partsOfInput } from "../../../analysis/names.js";
import type { BlockInputs } from "../../../analysis/subexpression.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import type { Query, Result } from "../../../engine/contract/query.js";
import { RequestError } from "../../../shared/errors.js";
import type { FieldName, OperationName, OperationRow, SpatialInterpolation } from "../../../shared/operations.js";
import { operationOf, spatialOf } from "../../../shared/operations.js";
import type { RequestLife } from "../../http/request-life.js";
import { wrong } from "../faults.js";
import { runAtPoints, runQuery } from "../run-query.js";
import { derivedFor } from "../transforms.js";
import { answerAtOwnTimes } from "./own-times.js";

/** A mean over a cube about each point. */
export interface BoxFilter {
  readonly kind: "box";
  readonly width: number;
}

export interface PointOptions {
  /** A time for all points, or one for each. */
  readonly time: number | Float64Array;
  /** The value of t in expressions; absent: the time. */
  readonly clock?: Float64Array;
  readonly method: string;
  /** A spatial option of gradients, or `spectral`; of filtered fields, `spectral` or differences. */
  readonly derivatives: string;
  /** The meaning of filtered names; absent: none. */
  readonly filter?: FieldFilter | BoxFilter | undefined;
  readonly temporalInterpolation: NonNullable<Query["temporalInterpolation"]>;
}

/** Evaluates columns at points of three float32 each, in the order of the points. */
export type EvaluateAt = (
  columns: readonly Expression[],
  points: Float32Array,
  options: PointOptions,
) => Promise<readonly Float64Array[]>;

/** Points evaluated between two checks of the clock: an expression takes dozens of numbers for each. */
const STEP_POINTS = 512;

/** Makes a function that evaluates scalar columns within the life of a request. */
export function evaluatorFor(life: RequestLife, dataset: Dataset): EvaluateAt {
  return async (columns, points, options) => {
    const out = columns.map(() => life.doubles(points.length / 3));
    await evaluateAt(life, dataset, columns, points, options, (c, from, [values]) => {
      out[c]?.set(values as Float64Array, from);
    });
    return out;
  };
}

/** Evaluates columns of any shape; each operation that they need runs once. */
export async function evaluateAt(
  life: RequestLife,
  dataset: Dataset,
  columns: readonly Expression[],
  points: Float32Array,
  options: PointOptions,
  emit: (column: number, from: number, values: Components) => void,
): Promise<void> {
  const keys = [...new Set(columns.flatMap(({ inputs }) => inputs))].filter((key) => key.includes(":"));
  const readers = new Map<InputKey, ReadBlock>();
  // Filtered gradients are differences at nodes, which a scheme between nodes interpolates by its own method.
  const isOfLag4 = (key: string): boolean => options.derivatives === "Fd4Lag4" && key.startsWith("filteredGradient:");
  const methodOf = (key: string): string => (isOfLag4(key) ? "Lag4" : options.method);
  for (const method of new Set(keys.map(methodOf))) {
    const some = keys.filter((key) => methodOf(key) === method);
    for (const [key, read] of await derivedAt(life, dataset, some, points, { ...options, method }))
      readers.set(key, read);
  }
  const results: Result[] = [];
  const isOpen = (key: InputKey): boolean => !readers.has(key);
  for (const source of sourcesOf(keys.filter(isOpen), dataset, options)) {
    const result = await recordsAt(life, dataset, source.query, points, options);
    results.push(result);
    for (const [key, offset] of source.offsets) readers.set(key, readerOf(result, offset));
  }
  const scratchArrays: Float64Array[] = [];
  const evaluate = (from: number, to: number): void => {
    const block = blockOf(readers, points, options.clock ?? options.time, from, to - from, scratchArrays);
    for (const [c, column] of columns.entries()) emit(c, from, column.evaluate(block));
  };
  await life.slices.each(points.length / 3, evaluate, STEP_POINTS);
  for (const result of results) result.release();
}

/** Reads a component of an input at points from number `from` on. */
type ReadBlock = (component: number, from: number, out: Float64Array) => void;
/** The offset in a record of a component of an input. */
type ComponentOffset = (component: number) => number;

interface InputSource {
  readonly query: Pick<Query, "operation" | "spatialInterpolation" | "field" | "filterlength" | "nlayers">;
  readonly offsets: readonly (readonly [InputKey, ComponentOffset])[];
}

const sameOffset: ComponentOffset = (c) => c;
/** Components of a symmetric tensor that is stored as xx, yy, zz, xy, xz, yz. */
const STRESS_OFFSETS = [0, 3, 4, 3, 1, 5, 4, 5, 2];

const BOX_OPERATIONS: Readonly<Record<string, readonly [InputSource["query"]["operation"], ComponentOffset]>> = {
  "filtered:velocity": ["GetBoxFilterVelocity", sameOffset],
  "filtered:pressure": ["GetBoxFilterPressure", sameOffset],
  "filteredGradient:velocity": ["GetBoxFilterVelocityGradient", sameOffset],
  "filteredStress:velocity": ["GetBoxFilterSGSStress", (c) => STRESS_OFFSETS[c]],
};

/** The operations that answer inputs: velocity and pressure together. */
function sourcesOf(keys: readonly InputKey[], dataset: Dataset, options: PointOptions): readonly InputSource[] {
  const joint: readonly InputKey[] = ["value:velocity", "value:pressure"];
  const isJoint = joint.every((key) => keys.includes(key));
  const rest = keys.filter((key) => !(isJoint && joint.includes(key)));
  const sources = rest.map((key): InputSource => {
    if (key.startsWith("filtered")) return boxSource(key, options);
    return {
      query: operationFor(key, dataset, options),
      offsets: [[key, key.startsWith("hessian:") ? packedIndex : sameOffset]],
    };
  });
  if (!isJoint) return sources;
  const { spatialInterpolation } = operationFor("value:velocity", dataset, options);
  const query = { operation: "GetVelocityAndPressure", spatialInterpolation } as InputSource["query"];
  return [
    {
      query,
      offsets: [
        ["value:velocity", sameOffset],
        ["value:pressure", () => 3],
      ],
    },
    ...sources,
  ];
}

function boxSource(key: InputKey, { filter }: PointOptions): InputSource {
  const [operation, offset] = BOX_OPERATIONS[key] ?? [];
  if (filter?.kind !== "box" || operation === undefined || offset === undefined)
    throw wrong("filter", "a box has the means of u, p and A, and tau; take gaussian, sharp or tophat for others");
  return { query: { operation, filterlength: Math.fround(filter.width), nlayers: 1 }, offsets: [[key, offset]] };
}

/** Reads the parts of a result, mostly in order. */
function readerOf({ values, components }: Pick<Result, "values" | "components">, offset: ComponentOffset): ReadBlock {
  let partNumber = 0;
  let first = 0;
  const itemsOf = (index: number): number => values[index].length / components;
  return (c, from, out) => {
    while (from < first) first -= itemsOf(--partNumber);
    for (let i = 0; i < out.length; ) {
      while (from + i >= first + itemsOf(partNumber)) first += itemsOf(partNumber++);
      const numbers = values[partNumber];
      const end = Math.min(out.length, first + itemsOf(partNumber) - from);
      for (let at = (from + i - first) * components + offset(c); i < end; i++, at += components) out[i] = numbers[at];
    }
  };
}

/** The inputs that transforms make of whole frames. Throws RequestError for a grid that has none. */
async function derivedAt(
  life: RequestLife,
  dataset: Dataset,
  keys: readonly InputKey[],
  points: Float32Array,
  { time, temporalInterpolation, method, derivatives, filter = undefined }: PointOptions,
): Promise<readonly (readonly [InputKey, ReadBlock])[]> {
  if (filter?.kind === "box") return [];
  const order = Number(/Fd([468])/.exec(derivatives)?.[1]) as 4 | 6 | 8;
  if (keys.some((key) => key.startsWith("filteredGradient:")) && derivatives !== "spectral" && Number.isNaN(order))
    throw wrong("derivatives", `filtered fields take Fd4Lag4, Fd4, Fd6, Fd8 or spectral, not ${derivatives}`);
  const scheme = derivatives === "spectral" ? "spectral" : order || 4;
  const plan = derivedFor(keys, dataset, namesFor(dataset), filter ?? null, scheme);
  if (plan === null) return [];
  if (typeof time !== "number")
    throw wrong("time", "filters and spectral derivatives are of whole frames, so all points have one time");
  const field = Object.keys(dataset.fields)[0] as FieldName;
  const accepted = spatialOf(operationOfInput("value:pressure").operation, dataset);
  if (!accepted.includes(method as never)) throw wrong("method", `expected one of ${accepted.join(", ")}`);
  // The query needs a region; `derivedAt` ignores it.
  const one = [1, 1, 1] as const;
  const nodes = { field, frame: dataset.time.guardBefore, first: [0, 0, 0], count: one, stride: one } as const;
  const derived = { plan, points, method };
  const query = { operation: "GetAnyCutoutWeb", dataset: dataset.name, nodes, time, temporalInterpolation } as const;
  const { atPoints = [], release } = await runQuery(life, { ...query, derivedAt: derived });
  release();
  return Object.entries(plan.inputs).map(([key, components = []]) => [
    key as InputKey,
    (c, from, out) => out.set((atPoints[components[c]] as Float64Array).subarray(from, from + out.length)),
  ]);
}

/** The operation that answers each kind of input of any field. */
const OPERATIONS_OF = {
  value: "GetField",
  gradient: "GetFieldGradient",
  laplacian: "GetFieldLaplacian",
  hessian: "GetFieldHessian",
  laplacianOfGradient: "GetLaplacianOfGradient",
} as const satisfies Readonly<Record<PlainKind, OperationName>>;

/** The operation that answers an input at points, for any field but a force, which may not be stored. */
function operationOfInput(key: InputKey): { readonly operation: OperationRow; readonly field?: FieldName } {
  const { kind, field, expression } = partsOfInput(key) as InputParts;
  if (expression !== null || !Object.hasOwn(OPERATIONS_OF, kind)) throw atNodesOnly(key);
  if (field !== "force") return { operation: operationOf(OPERATIONS_OF[kind as PlainKind]), field };
  if (kind !== "value") throw new RequestError("Unsupported", `${key} is known at nodes, not at points.`);
  return { operation: operationOf("GetForce") };
}

function atNodesOnly(key: InputKey): RequestError {
  const { kind = "", expression = null } = partsOfInput(key) ?? {};
  const names: Readonly<Record<string, string>> = { rate: "ddt", frame: "field", secondDerivative: "d2", mean: "mean" };
  const text = `${names[kind] ?? kind} of ${expression ?? "this"} is known at nodes, not at points: ask nodes, find, statistics, spectrum or structures.`;
  return new RequestError("Unsupported", text, { member: "what" });
}

const INPUT_WORDS: Readonly<Partial<Record<InputKind, string>>> = {
  value: "a value",
  gradient: "a gradient",
  laplacian: "a Laplacian",
  hessian: "a Hessian",
  laplacianOfGradient: "lap(A)",
};

/** The operation that answers an input, and its spatial option. */
function operationFor(
  key: InputKey,
  dataset: Dataset,
  { method, derivatives }: PointOptions,
): Pick<Query, "operation" | "spatialInterpolation"> {
  const { operation, ...of } = operationOfInput(key);
  const isValue = key.startsWith("value:");
  const words = INPUT_WORDS[key.split(":")[0] as InputKind] ?? key;
  const [member, option] = isValue ? (["method", method] as const) : (["derivatives", derivatives] as const);
  const accepted = spatialOf(operation, dataset);
  const spatialInterpolation = accepted.find((scheme) => scheme === option);
  if (spatialInterpolation === undefined)
    throw wrong(member, `${words} takes ${accepted.map(presentScheme).join(", ")}`);
  return { operation: operation.name, ...of, spatialInterpolation };
}

const presentScheme = (scheme: SpatialInterpolation): string =>
  scheme === "None" ? "nearest" : scheme.replace("None_", "");

async function recordsAt(
  life: RequestLife,
  dataset: Dataset,
  source: InputSource["query"],
  points: Float32Array,
  { time, temporalInterpolation }: PointOptions,
): Promise<Result> {
  const query = { ...source, dataset: dataset.name, temporalInterpolation };
  if (typeof time !== "number") {
    if (operationOf(source.operation).family === "filter")
      throw new RequestError("Unsupported", "time: a box filter takes one time for all points.", { member: "time" });
    return answerAtOwnTimes(life, query, "time", { points, times: time });
  }
  return runAtPoints(life, { ...query, time }, points);
}

/** @param scratchArrays kept from block to block; the first block is the longest */
function blockOf(
  readers: ReadonlyMap<InputKey, ReadBlock>,
  points: Float32Array,
  time: number | Float64Array,
  from: number,
  count: number,
  scratchArrays: Float64Array[],
): BlockInputs {
  const readPoint = readerOf({ values: [points], components: 3 }, sameOffset);
  let used = 0;
  const scratch = (): Float64Array => {
    scratchArrays[used] ??= new Float64Array(Math.min(STEP_POINTS, points.length / 3));
    return scratchArrays[used++].subarray(0, count);
  };
  const input = (key: InputKey, c: number): Float64Array => {
    if (key === "t" && typeof time !== "number") return time.subarray(from, from + count);
    const out = scratch();
    if (key === "t") return out.fill(time as number);
    const read = readers.get(key);
    if (read === undefined) readPoint("xyz".indexOf(key), from, out);
    else read(c, from, out);
    return out;
  };
  return { count, computed: new Map(), scratch, input };
}

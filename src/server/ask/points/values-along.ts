/** Answers quantities at the recorded places and times of paths, as point calls there would answer them. */
import type { PathPart } from "../../../analysis/dispersion.js";
import { compileExpression, type Expression } from "../../../analysis/expression.js";
import { type InputKey, isOfExpression, namesFor, type PlainKind, partsOfInput } from "../../../analysis/names.js";
import { symmetric } from "../../../analysis/record-quantity.js";
import type { Dataset } from "../../../engine/contract/dataset.js";
import { joinedValues, type Query, type Result } from "../../../engine/contract/query.js";
import { withoutNoise } from "../../../float32/format.js";
import { RequestError, tooManyPoints } from "../../../shared/errors.js";
import {
  type FieldName,
  type OperationName,
  type OperationRow,
  operationOf,
  RECORDS,
  spatialOf,
} from "../../../shared/operations.js";
import type { TimeSlices } from "../../http/policies/time-slices.js";
import { refuse } from "../../http/refusal.js";
import type { RequestLife } from "../../http/request-life.js";
import { TripleWriter } from "../../http/triple-writer.js";
import { answerAtOwnTimes, type TimedPoints } from "./own-times.js";

const BLOCK = 8192;

interface AlongValues {
  readonly width: number;
  readonly values: Float32Array;
}

interface AskedAlong {
  readonly columns: readonly Expression[];
  readonly derivatives: string | null;
}

/**
 * Evaluates quantities at the records of paths; after a particle has left the domain or met a hole they are NaN.
 *
 * @param starts the start of each path, if they differ: the times of `result` then count from there
 */
export async function valuesAlong(
  life: RequestLife,
  { columns, derivatives }: AskedAlong,
  query: Query,
  result: Result,
  starts: Float64Array | null,
): Promise<readonly AlongValues[]> {
  const dataset = life.find(query.dataset ?? "") as Dataset;
  const records = await recordsOf(life.slices, result, query, starts);
  const startOf = (i: number) => starts?.[Math.floor(i / result.itemsPerPoint)] ?? (query.StartTime as number);
  const answers = new Map<InputKey, { readonly width: number; readonly numbers: Float32Array }>();
  // Along streamlines all quantities are those of one time.
  const at = query.frozen ? { ...records, times: records.times.map((_, i) => startOf(i)) } : records;
  const inputs = records.times.length === 0 ? [] : columns.flatMap(({ inputs }) => inputs);
  for (const key of new Set(inputs)) {
    if (!key.includes(":")) continue;
    const { operation, ...of } = operationOfInput(key);
    const scheme = schemeOf(operation, key, query, dataset, derivatives);
    const asked = { operation: operation.name, ...of, spatialInterpolation: scheme } as const;
    const given = { dataset: dataset.name, ...asked, temporalInterpolation: "PCHIP" } as const;
    const answer = await answerAtOwnTimes(life, given, "time", at);
    answers.set(key, { width: answer.components, numbers: answer.values[0] as Float32Array });
  }
  const { slices } = life;
  const along = columns.map((column) => {
    const width = { scalar: 1, vector: 3, tensor: 9 }[column.shape];
    return { width, values: new Float32Array(width * records.times.length) };
  });
  for (let from = 0; from < records.times.length; from += BLOCK) {
    const count = Math.min(BLOCK, records.times.length - from);
    const input = (key: InputKey, c: number): Float64Array => {
      const place = "xyzt".indexOf(key);
      if (place === 3) return records.times.subarray(from, from + count);
      const { width, numbers } = place >= 0 ? { width: 3, numbers: records.points } : known(answers, key);
      const component = place >= 0 ? place : width === 6 || width === 18 ? symmetric(c) : c;
      const out = new Float64Array(count);
      for (let i = 0; i < count; i++) out[i] = numbers[width * (from + i) + component] as number;
      return out;
    };
    const block = { count, input, scratch: () => new Float64Array(count), computed: new Map() };
    for (const [k, column] of columns.entries()) {
      const { values, width } = along[k] as AlongValues;
      for (const [c, numbers] of column.evaluate(block).entries())
        for (let i = 0; i < count; i++)
          values[width * (from + i) + c] = records.left[from + i] === 1 ? Number.NaN : Number(numbers[i]);
    }
    await slices.pause();
  }
  return along;
}

function known<V>(answers: ReadonlyMap<InputKey, V>, key: InputKey): V {
  const answer = answers.get(key);
  if (answer === undefined) throw new Error(`${key} was not asked`);
  return answer;
}

export interface Paths {
  /** The particles that fit into one call of `along`. @throws LimitError if `count` are too many for the request */
  roomFor(query: Query, count: number): number;
  /** Tracks particles, and answers places and velocities at the recorded times. */
  along(query: Query, points: Float32Array): Promise<PathPart & { readonly times: readonly number[] }>;
}

export function pathsFor(life: RequestLife, dataset: Dataset): Paths {
  const limitOf = (query: Query) => {
    const evaluation = life.start(query);
    evaluation.abort();
    life.forget(evaluation);
    return life.limit(evaluation.limit);
  };
  let total = 0;
  return {
    roomFor(query, count) {
      total = count;
      const { recordEvery: _, ...unrecorded } = query;
      const { points, name, tracking } = limitOf(unrecorded);
      if (count > points) throw tooManyPoints(name, count, points, tracking);
      return limitOf(query).points;
    },
    async along(query, points) {
      const evaluation = life.start(query);
      const writer = new TripleWriter(evaluation.points, evaluation.limit);
      writer.addAll(points, points.length / 3);
      writer.flush();
      // One slot for all parts.
      life.foresee((3 * evaluation.work * total) / writer.count);
      await life.enter();
      const result = await evaluation.finish();
      life.forget(evaluation);
      try {
        const columns = [compileExpression("u", namesFor(dataset), "with")];
        const [along] = await valuesAlong(life, { columns, derivatives: null }, query, result, null);
        const { itemsPerPoint: records, components: width, recordTimes = [] } = result;
        const velocities = (along as AlongValues).values;
        const times = Array.from(recordTimes, withoutNoise);
        return { particles: points.length / 3, records, width, places: joinedValues(result), velocities, times };
      } finally {
        result.release();
      }
    },
  };
}

/** Places and times of all records, and 1 for those of particles that have left the domain or met a hole. */
async function recordsOf(
  slices: TimeSlices,
  { values, components, record, itemsPerPoint, recordTimes = new Float64Array(1) }: Result,
  { StartTime = 0, dt = 1, EndTime = StartTime + dt }: Query,
  starts: Float64Array | null,
): Promise<TimedPoints & { readonly left: Uint8Array }> {
  const count = values.reduce((sum, part) => sum + part.length / components, 0);
  const points = new Float32Array(3 * count);
  const times = new Float64Array(count);
  const left = new Uint8Array(count);
  const names: readonly string[] = RECORDS[record ?? "Point3"];
  const exit = names.indexOf("exit");
  const sign = EndTime < StartTime || dt < 0 ? -1 : 1;
  const shared = starts === null ? Float64Array.from(recordTimes, withoutNoise) : null;
  let i = 0;
  for (const part of values)
    for (let at = 0; at < part.length; at += components, i++) {
      if (i % BLOCK === 0) await slices.pause();
      const isKnown = !Number.isNaN(Number(part[at]) + Number(part[at + 1]) + Number(part[at + 2]));
      if (!isKnown) left[i] = 1;
      // A place for the query of a particle that has none any more.
      const first = 3 * (i - (i % itemsPerPoint));
      for (let c = 0; c < 3; c++) points[3 * i + c] = isKnown ? Number(part[at + c]) : Number(points[first + c]);
      const nth = i % itemsPerPoint;
      const start = starts?.[Math.floor(i / itemsPerPoint)] ?? 0;
      times[i] = shared?.[nth] ?? withoutNoise(start + Number(recordTimes[nth]));
      if (exit >= 0 && sign * (Number(times[i]) - Number(part[at + exit])) > 0) left[i] = 1;
    }
  return { points, times, left };
}

const OPERATIONS_OF = {
  value: "GetField",
  gradient: "GetFieldGradient",
  laplacian: "GetFieldLaplacian",
  hessian: "GetFieldHessian",
  laplacianOfGradient: "GetLaplacianOfGradient",
} as const satisfies Readonly<Record<PlainKind, OperationName>>;

/** The operation that answers an input at points, for any field but a force, which may not be stored. */
export function operationOfInput(key: InputKey): { readonly operation: OperationRow; readonly field?: FieldName } {
  const [kind, field] = key.split(":") as [PlainKind, FieldName];
  if (isOfExpression(key) || !Object.hasOwn(OPERATIONS_OF, kind)) throw atNodesOnly(key);
  if (field !== "force") return { operation: operationOf(OPERATIONS_OF[kind]), field };
  if (kind !== "value") throw new RequestError("Unsupported", `${key} is known at nodes, not at points.`);
  return { operation: operationOf("GetForce") };
}

function atNodesOnly(key: InputKey): RequestError {
  const { kind = "", expression = null } = partsOfInput(key) ?? {};
  const words: Readonly<Record<string, string>> = { rate: "ddt", frame: "field", second: "d2", mean: "mean" };
  const text = `${words[kind] ?? kind} of ${expression ?? "this"} is known at nodes, not at points: ask nodes, find, statistics, spectrum or structures.`;
  return new RequestError("Unsupported", text, { member: "what" });
}

/** The scheme of an input: the one that moves the particles, or that of derivatives. */
function schemeOf(operation: OperationRow, key: InputKey, query: Query, dataset: Dataset, derivatives: string | null) {
  const { spatialInterpolation: own = "None" } = query;
  if (key.startsWith("value:")) return own;
  const accepted = spatialOf(operation, dataset);
  const asked = derivatives ?? (own.startsWith("M") ? own : "Fd4Lag4");
  const found = accepted.find((scheme) => scheme === asked);
  if (found !== undefined) return found;
  throw refuse("derivatives", `derivatives: ${operation.name} takes ${accepted.join(", ")}.`);
}

/** Evaluates a query in this process, without a service. */
import { type Logger, pino } from "pino";
import { type Engine, joinedValues, type Query, writeTriples } from "../../engine/contract/query.js";
import { openEngine } from "../../engine/main/engine.js";
import { loadConfig } from "../../shared/config.js";
import { FieldprobeError } from "../../shared/errors.js";
import {
  functionNamed,
  functionsOf,
  INTEGRATORS,
  type OperationName,
  type OperationRow,
  operationOf,
  ownMembers,
  RECORDS,
  type RecordName,
  TIME_MEMBERS,
} from "../../shared/operations.js";
import { claimText } from "../../storage/file/dataset.js";
import { type DatasetLabels, explain, type FlagQuery, NO_LABELS, type OnProgress, type QueryAnswer } from "./answer.js";

/** Settings of a public service or a cluster, which do not apply to a query of this process. */
const PUBLIC = /^FIELDPROBE_(HOST|PORT|TOKENS?|ANONYMOUS|TLS|BASE_URL|HTTP|EVENTS|NATS)(_|$)/;
/** Most points of one evaluation. */
const PART_POINTS = 100_000;
/** Fewest points for which a second worker thread is worth its start. */
const SECOND_THREAD_POINTS = 2_000;

/**
 * Evaluates a query on the configured data folders.
 *
 * @param data        data folders that win over the configured ones, separated by the platform's path delimiter
 * @param descriptors folder of descriptors that wins over the configured one
 * @throws ConfigError, or Error whose message names the remedy if there is one
 */
export async function queryLocally(
  asked: FlagQuery,
  { data, descriptors }: { readonly data: string | undefined; readonly descriptors: string | undefined },
  onProgress: OnProgress,
): Promise<QueryAnswer> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !PUBLIC.test(name)));
  const given = Object.fromEntries(
    Object.entries({ DATA: data, DESCRIPTORS: descriptors }).filter(([, value]) => value !== undefined),
  ) as Record<string, string>;
  const config = loadConfig(given, {
    FIELDPROBE_LOG_LEVEL: "warn",
    ...(asked.points.length < 3 * SECOND_THREAD_POINTS && { FIELDPROBE_WORKERS: "1" }),
    ...env,
  });
  const engine = await openEngine(config, plainLog(config.logLevel, asked.members.dataset));
  try {
    return await evaluate(engine, asked, onProgress);
  } catch (error) {
    if (!(error instanceof FieldprobeError)) throw error;
    const { code, message, context } = error;
    throw new Error(explain({ code, message, limit: context.limit }));
  } finally {
    await engine.close(0);
  }
}

/** Evaluates the query, and adds what the answer says about its dataset. */
async function evaluate(engine: Engine, asked: FlagQuery, onProgress: OnProgress): Promise<QueryAnswer> {
  const form = operationOf(asked.operation as OperationName);
  const operation = functionAsked(form, asked.members.function_name);
  const { openFaces, integrator = INTEGRATORS[0], tolerance } = asked.members;
  const tracking = {
    ...(form.family === "track" ? { exitTimes: true, integrator } : {}),
    ...(openFaces === undefined ? {} : { openFaces }),
    ...(tolerance === undefined ? {} : { tolerance }),
  };
  const query = { ...rounded(operation, asked.members), operation: operation.name, ...tracking } as Query;
  const facts = factsOf(engine, query.dataset);
  const takesPoints = operation.request.some(({ name }) => name === "points");
  const { record, ...found } = takesPoints
    ? await evaluateInParts(engine, query, asked, form, onProgress)
    : { record: form.result, recordsPerPoint: 1, values: await evaluateWhole(engine, query) };
  return { record, components: RECORDS[record], ...found, ...facts };
}

/** What an answer says about its dataset: digest and assumptions; nothing for an operation without one. */
function factsOf(engine: Engine, name: string | undefined): DatasetLabels {
  const dataset = name === undefined ? undefined : engine.find(name);
  return dataset === undefined ? NO_LABELS : { manifest: dataset.digest, assumed: dataset.assumed.map(claimText) };
}

/** The operation that evaluates a form: itself or, for an array form, the function that it names. */
function functionAsked(form: OperationRow, name: string | number | undefined): OperationRow {
  if (form.family !== "arrays") return form;
  const found = functionNamed(form, name);
  if (found !== null) return found;
  const names = functionsOf(form).map((row) => row.name);
  throw new Error(`Function name incorrect. ${form.name} takes ${names.join(", ")}.`);
}

/** Answers a query at points, `PART_POINTS` at a time. */
async function evaluateInParts(
  engine: Engine,
  query: Query,
  asked: FlagQuery,
  form: OperationRow,
  onProgress: OnProgress,
) {
  let record: RecordName = form.result;
  const total = asked.points.length / 3;
  let values = new Float32Array();
  let recordsPerPoint = 1;
  for (let first = 0, count = 0; first === 0 || first < total; first += Math.max(1, count)) {
    const evaluation = engine.start(query, {});
    count = Math.min(total - first, PART_POINTS, Math.max(1, evaluation.limit.points));
    writeTriples(evaluation.points, asked.points.subarray(3 * first, 3 * (first + count)));
    if (asked.velocities) writeTriples(evaluation.velocities, velocitiesOf(asked, first, count));
    const result = await evaluation.finish();
    recordsPerPoint = result.itemsPerPoint;
    record = result.record ?? form.result;
    const width = recordsPerPoint * result.components;
    if (first === 0) values = new Float32Array(total * width);
    values.set(joinedValues(result), first * width);
    result.release();
    onProgress(first + count, total);
  }
  return { record, recordsPerPoint, values };
}

/** Answers a search or a cutout. */
async function evaluateWhole(engine: Engine, query: Query): Promise<Float32Array> {
  const result = await engine.start(query, {}).finish();
  const values = new Float32Array(result.items * result.components);
  let at = 0;
  for await (const part of result.stream ?? result.values) {
    values.set(part, at);
    at += part.length;
  }
  result.release();
  return values;
}

/** Initial velocities of some of the points; all of them if their number is wrong, which the engine reports. */
function velocitiesOf({ points, velocities }: FlagQuery, first: number, count: number): Float32Array {
  const all = velocities as Float32Array;
  return all.length === points.length ? all.subarray(3 * first, 3 * (first + count)) : all;
}

/** The members of an operation as over the wire: floats in single precision, but times in double. */
function rounded(operation: OperationRow, members: FlagQuery["members"]): Record<string, string | number> {
  const floats = new Set<string>(
    operation.request
      .filter(({ name, type }) => type === "float" && !TIME_MEMBERS.includes(name))
      .map(({ name }) => name),
  );
  const round = ([name, value]: [string, string | number]) =>
    [name, floats.has(name) ? Math.fround(Number(value)) : value] as const;
  return Object.fromEntries(Object.entries(ownMembers(operation, members)).map(round));
}

/** Prints log entries from `level` on as plain lines, without those about datasets other than `dataset`. */
function plainLog(level: string, dataset: string | number | undefined): Logger {
  const write = (line: string): void => {
    const entry = JSON.parse(line) as { readonly msg: string; readonly dataset?: string };
    const about = entry.dataset?.toLowerCase();
    if (about !== undefined && about !== String(dataset).toLowerCase()) return;
    process.stderr.write(`fieldprobe: ${about === undefined ? "" : `${entry.dataset}: `}${entry.msg}\n`);
  };
  return pino({ level, base: null }, { write });
}

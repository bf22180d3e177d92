/** Turns a message into a task for the threads of a peer, and checks it as untrusted input. */
import type { Limits } from "../../config.js";
import { type CheckedQuery, checkQuery, pointLimit } from "../../engine/check.js";
import { BATCH_POINTS } from "../../engine/memory.js";
import { BATCH_VALUES } from "../../engine/plan/by-arrival.js";
import type { BufferPool } from "../../engine/points/buffers.js";
import { recordsBetween } from "../../engine/records.js";
import type { BatchTask, StepRange } from "../../engine/task.js";
import { DeadlineError, LimitError, RequestError } from "../../errors.js";
import { RECORDS } from "../../operations.js";
import type { Dataset } from "../../storage/dataset.js";
import { copyBytes, type Header } from "../wire/message.js";

/** A task, its buffers, and the arrays of its answer. */
export interface PeerTask {
  readonly task: BatchTask;
  readonly buffers: readonly SharedArrayBuffer[];
  readonly answer: readonly (Float32Array | Float64Array)[];
}

/** What a message is turned into a task with. */
export interface TaskSetting {
  readonly dataset: Dataset;
  /** Number of the dataset's first field in the brick cache. */
  readonly source: number;
  /** Word 0 becomes 1 when the task is cancelled. */
  readonly cancel: Int32Array;
  readonly limits: Limits;
  readonly buffers: BufferPool;
}

/**
 * Makes a task of a message.
 *
 * @throws DeadlineError, LimitError for more work than a query may be, and RequestError for what no gateway would send
 */
export function prepareTask(header: Header, values: Uint8Array, setting: TaskSetting): PeerTask {
  const { dataset, source, cancel, limits } = setting;
  if (header.deadlineMs === 0) throw new DeadlineError();
  const checked = checkQuery({ ...header.ask, dataset: dataset.name }, () => dataset);
  checkShape(header, checked);
  checkAmount(header, checked, limits);
  const buffers: SharedArrayBuffer[] = [];
  const shared = (bytes: number): SharedArrayBuffer => {
    const buffer = setting.buffers.take(bytes);
    buffers.push(buffer);
    return buffer;
  };
  const { count } = header;
  const out = new Float32Array(shared(4 * count * header.components), 0, count * header.components);
  const input = (at: number): BatchTask["points"] => {
    const triples = new Float32Array(shared(12 * count), 0, 3 * count);
    copyBytes(values.subarray(at, at + 12 * count), triples);
    return [{ triples, count }];
  };
  const range = checked.operation.family === "track" ? stepRangeOf(header, values, shared) : null;
  const fresh = header.from === 0;
  const task: BatchTask = {
    kind: "batch",
    query: checked.query,
    fields: checked.fields,
    dataset,
    source,
    first: 0,
    points: fresh ? input(0) : [],
    velocities: fresh && header.velocities ? input(12 * count) : [],
    count,
    steps: checked.steps,
    step: checked.step,
    last: checked.last,
    itemsPerPoint: checked.itemsPerPoint,
    out,
    places: null,
    pass: null,
    cancel,
    work: count * checked.samples * Math.max(1, 2 * (header.to - header.from)),
    ...(range ? { range } : {}),
  };
  const last = header.to === checked.steps;
  const state = range && !last ? [range.positions, ...(header.ask.Tp === undefined ? [] : [range.velocities])] : [];
  return { task, buffers, answer: [...state, out] };
}

/** Refuses numbers that contradict each other. */
function checkShape(
  { count, components, from, to, ask }: Header,
  { operation, steps, itemsPerPoint }: CheckedQuery,
): void {
  const tracking = operation.family === "track";
  const records = tracking ? recordsBetween(steps, ask.recordEvery, { from, to }) : { first: 0, end: itemsPerPoint };
  const expected = (records.end - records.first) * RECORDS[operation.result].length;
  const fits = Number.isSafeInteger(steps) && components === expected && to <= (tracking ? steps : 0);
  if (operation.family === "echo" || count > BATCH_POINTS || !fits)
    throw new RequestError("InvalidRequest", "The message does not fit its operation.");
}

/** Refuses more work or more memory than a gateway with the same limits would ask for. */
function checkAmount({ count, components }: Header, checked: CheckedQuery, limits: Limits): void {
  const { points, name } = pointLimit(limits, checked);
  if (!(count <= points)) throw new LimitError(name, `Request size too large (${count} > ${points})`);
  if (count > 1 && count * components > BATCH_VALUES)
    throw new RequestError("InvalidRequest", "The answer to the message would be too large.");
}

/** The state of particles, read from the message unless they start. */
function stepRangeOf(
  { count, from, to, ask }: Header,
  values: Uint8Array,
  shared: (bytes: number) => SharedArrayBuffer,
): StepRange {
  const state = (at: number): Float64Array => {
    const triples = new Float64Array(shared(24 * count), 0, 3 * count);
    if (from > 0) copyBytes(values.subarray(at, at + 24 * count), triples);
    return triples;
  };
  const positions = state(0);
  return { from, to, positions, velocities: ask.Tp === undefined ? positions : state(24 * count) };
}

/** Scatter-gather: the values that go out for each portion of a batch, and the places that its answer fills. */

import { sliceSlabs } from "../../engine/plan/by-arrival.js";
import type { BufferPool } from "../../engine/points/buffers.js";
import { frameShift } from "../../engine/points/positions.js";
import { recordsBetween } from "../../engine/records.js";
import type { BatchTask } from "../../engine/task.js";
import { FieldprobeError } from "../../errors.js";
import { operationOf } from "../../operations.js";
import { copyBytes, type Header } from "../wire/message.js";
import { type Portion, rangesOf, type Shards } from "./shards.js";

/** Positions and velocities of the particles of a batch between two ranges of steps; the answers to the first range fill them. */
export interface State {
  readonly positions: Float64Array;
  readonly velocities: Float64Array | null;
}

/** A batch, or a range of its steps, whose portions are evaluated by peers. */
export interface Scatter {
  readonly task: BatchTask;
  readonly generation: string;
  readonly from: number;
  readonly to: number;
  /** Tracking only. */
  readonly state: State | null;
  /** Float32 values of the answer to one point. */
  readonly components: number;
}

/** The members of a header that all portions share. */
export function sharedHeader({
  task,
  generation,
  from,
  to,
  components,
}: Scatter): Omit<Header, "kind" | "count" | "query" | "batch" | "attempt" | "deadlineMs" | "offset" | "total"> {
  const { dataset: _, ...ask } = task.query;
  return { generation, ask, from, to, components, velocities: task.velocities.length > 0 };
}

/** Bytes of a particle's state in the answer: none after the last step, when only records count. */
export function stateBytes(task: BatchTask, to: number): number {
  if (operationOf(task.query.operation).family !== "track" || to === task.steps) return 0;
  return task.query.Tp === undefined ? 24 : 48;
}

/** Shard ranges of the points, or of the present positions of particles. */
export function rangesIn(shards: Shards, { task, from, state }: Scatter): Uint16Array {
  if (from > 0 && state) return rangesOf(shards, [{ triples: state.positions, count: task.count }], [0, 0, 0]);
  const time = task.query.time ?? task.query.StartTime ?? 0;
  return rangesOf(shards, task.points, frameShift(task.dataset.frameVelocity, time));
}

/**
 * The values that a portion sends: points and velocities, or the state of particles after earlier steps. Consecutive values
 * are sent without a copy.
 *
 * @param room lends memory for values that must be gathered
 */
export function inputOf(
  { task, from, state }: Scatter,
  { indices, first, count }: Portion,
  room: (bytes: number) => SharedArrayBuffer,
): Uint8Array[] {
  if (from === 0 || !state)
    return [task.points, task.velocities].flatMap((segments) => {
      if (segments.length === 0) return [];
      if (indices === null)
        return sliceSlabs(segments, first, count).map(({ triples, count }) => bytesOf(triples.subarray(0, 3 * count)));
      return [bytesOf(gather(segments, indices, new Float32Array(room(12 * count), 0, 3 * count)))];
    });
  return [state.positions, state.velocities].flatMap((triples) => {
    if (triples === null) return [];
    if (indices === null) return [bytesOf(triples.subarray(3 * first, 3 * (first + count)))];
    const whole = { triples, count: task.count };
    return [bytesOf(gather([whole], indices, new Float64Array(room(24 * count), 0, 3 * count)))];
  });
}

/** Copies the triples with some indices, which ascend. */
function gather<A extends Float32Array | Float64Array>(
  segments: readonly { readonly triples: A; readonly count: number }[],
  indices: Uint32Array,
  into: A,
): A {
  let i = 0;
  let start = 0;
  for (const { triples, count } of segments) {
    const end = start + count;
    for (; i < indices.length && indices[i] < end; i++) {
      const at = 3 * (indices[i] - start);
      into[3 * i] = triples[at];
      into[3 * i + 1] = triples[at + 1];
      into[3 * i + 2] = triples[at + 2];
    }
    start = end;
  }
  return into;
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array | Float64Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/**
 * Copies an answer to its places in the result.
 *
 * @param buffers lends memory for values that must be aligned first
 */
export function absorb(
  { task, from, to, state, components }: Scatter,
  portion: Portion,
  answer: Uint8Array,
  buffers: BufferPool,
): void {
  const { indices, first, count } = portion;
  const width = task.out.length / task.count;
  if (!state && indices === null) {
    copyBytes(answer, task.out.subarray(width * first, width * (first + count)));
    return;
  }
  const buffer = buffers.take(count * Math.max(24, 4 * components));
  let at = 0;
  const aligned = <A extends Float32Array | Float64Array>(into: A): A => {
    copyBytes(answer.subarray(at, at + into.byteLength), into);
    at += into.byteLength;
    return into;
  };
  if (state && stateBytes(task, to) > 0)
    for (const part of [state.positions, state.velocities])
      if (part) put(portion, aligned(new Float64Array(buffer, 0, 3 * count)), 3, part, 3, 0);
  if (components > 0) {
    const column = state ? 3 * recordsBetween(task.steps, task.query.recordEvery, { from, to }).first : 0;
    put(portion, aligned(new Float32Array(buffer, 0, components * count)), components, task.out, width, column);
  }
  buffers.give(buffer);
}

/** Copies `size` values a point from a portion to column `offset` of rows of `width` values. */
function put<A extends Float32Array | Float64Array>(
  { indices, first, count }: Portion,
  from: A,
  size: number,
  into: A,
  width: number,
  offset: number,
): void {
  for (let i = 0; i < count; i++) {
    const to = width * (indices ? indices[i] : first + i) + offset;
    for (let k = 0; k < size; k++) into[to + k] = from[size * i + k];
  }
}

/** Turns an error of a portion into one of the query: a point that it names gets its index in the query. */
export function locate(
  error: FieldprobeError,
  { indices, first }: Portion,
  start: number,
): { index: number; error: FieldprobeError } {
  const [, digits, rest] = /^points\[(\d+)\](.*)$/.exec(error.context.member ?? "") ?? [];
  if (digits === undefined) return { index: Number.MAX_SAFE_INTEGER, error };
  const place = Number(digits);
  const index = start + (indices ? (indices[place] ?? 0) : first + place);
  const context = { ...error.context, member: `points[${index}]${rest}` };
  return { index, error: new FieldprobeError(error.code, error.message, context, error.cause) };
}

/** What goes out for a piece of a batch, and where its answer goes. */

import { segmentsOf } from "../../engine/plan/by-arrival.js";
import type { BufferPool } from "../../engine/points/buffers.js";
import { frameShift } from "../../engine/points/positions.js";
import type { BatchTask } from "../../engine/task.js";
import { legRecords } from "../../engine/threads/leg.js";
import { FieldprobeError } from "../../errors.js";
import { operationOf } from "../../operations.js";
import { copyBytes, type Header } from "../wire/message.js";
import { type Piece, rangesOf, type Shards } from "./shards.js";

/** Positions and velocities of the particles of a batch between two legs; filled by the answers to the first. */
export interface State {
  readonly positions: Float64Array;
  readonly velocities: Float64Array | null;
}

/** A batch, or a leg of one, while pieces of it are away. */
export interface Round {
  readonly task: BatchTask;
  readonly generation: string;
  readonly from: number;
  readonly to: number;
  /** Tracking only. */
  readonly state: State | null;
  /** Float32 values of the answer to one point. */
  readonly components: number;
}

/** The members of a header that all pieces of a round have. */
export function sharedHeader({
  task,
  generation,
  from,
  to,
  components,
}: Round): Omit<Header, "kind" | "count" | "query" | "batch" | "attempt" | "deadlineMs" | "offset" | "total"> {
  const { dataset: _, ...ask } = task.query;
  return { generation, ask, from, to, components, velocities: task.velocities.length > 0 };
}

/** Bytes of a particle's state in the answer: none after the last step, where only records count. */
export function stateBytes(task: BatchTask, to: number): number {
  if (operationOf(task.query.operation).family !== "track" || to === task.steps) return 0;
  return task.query.Tp === undefined ? 24 : 48;
}

/** Shard ranges of the points, or of where the particles are by now. */
export function rangesIn(shards: Shards, { task, from, state }: Round): Uint16Array {
  if (from > 0 && state) return rangesOf(shards, [{ triples: state.positions, count: task.count }], [0, 0, 0]);
  const time = task.query.time ?? task.query.StartTime ?? 0;
  return rangesOf(shards, task.points, frameShift(task.dataset.frameVelocity, time));
}

/**
 * The values of an evaluation: points and velocities, or the state of particles on their way. What lies together goes out
 * from where it is.
 *
 * @param room memory for what has to be gathered
 */
export function inputOf(
  { task, from, state }: Round,
  { indices, first, count }: Piece,
  room: (bytes: number) => SharedArrayBuffer,
): Uint8Array[] {
  if (from === 0 || !state)
    return [task.points, task.velocities].flatMap((segments) => {
      if (segments.length === 0) return [];
      if (indices === null)
        return segmentsOf(segments, first, count).map(({ triples, count }) => bytesOf(triples.subarray(0, 3 * count)));
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
 * Puts an answer where it belongs.
 *
 * @param buffers for values that have to be aligned before they are spread
 */
export function absorb(
  { task, from, to, state, components }: Round,
  piece: Piece,
  answer: Uint8Array,
  buffers: BufferPool,
): void {
  const { indices, first, count } = piece;
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
      if (part) put(piece, aligned(new Float64Array(buffer, 0, 3 * count)), 3, part, 3, 0);
  if (components > 0) {
    const column = state ? 3 * legRecords(task.steps, task.query.recordEvery, { from, to }).first : 0;
    put(piece, aligned(new Float32Array(buffer, 0, components * count)), components, task.out, width, column);
  }
  buffers.give(buffer);
}

/** Copies `size` values a point from a piece to column `offset` of rows of `width` values. */
function put<A extends Float32Array | Float64Array>(
  { indices, first, count }: Piece,
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

/** An error of a piece as an error of the query: a point it names gets the number that it has there. */
export function locate(
  error: FieldprobeError,
  { indices, first }: Piece,
  start: number,
): { index: number; error: FieldprobeError } {
  const [, digits, rest] = /^points\[(\d+)\](.*)$/.exec(error.context.member ?? "") ?? [];
  if (digits === undefined) return { index: Number.MAX_SAFE_INTEGER, error };
  const place = Number(digits);
  const index = start + (indices ? (indices[place] ?? 0) : first + place);
  const context = { ...error.context, member: `points[${index}]${rest}` };
  return { index, error: new FieldprobeError(error.code, error.message, context, error.cause) };
}

/** The messages between gateways and peers have a fixed little-endian header and raw values; docs/cluster.md has the table. */

import { FIELD_LETTERS } from "../../engine/fields-asked.js";
import type { Query } from "../../engine/query.js";
import { ALL_OPERATIONS, SPATIAL_INTERPOLATION, TEMPORAL_INTERPOLATION } from "../../operations.js";

/** Largest size of a message, header included. */
export const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
/** Bytes of the header: a multiple of 8, so that the values after it are aligned. */
export const HEADER_BYTES = 184;
export const MESSAGE_VERSION = 2;
/** The value of a message without a deadline. */
export const NO_DEADLINE = 0xffff_ffff;

/** "FPQ1" as a little-endian word. */
const MAGIC = 0x3151_5046;
const ABSENT = 255;

/** The kinds of messages; a kind is sent as its index in this list. */
export const KINDS = ["evaluate", "answer", "fault", "cancel", "enquire", "held", "unknown"] as const;
export type MessageKind = (typeof KINDS)[number];

/** Numeric members of a query, in the order of their bits and offsets. */
const MEMBERS = [
  "time",
  "StartTime",
  "EndTime",
  "dt",
  "nt",
  "Tp",
  "filterlength",
  "nlayers",
  "recordEvery",
  "filterwidth",
  "spacing",
] as const;

/** Byte offsets of the header. */
const AT = {
  magic: 0,
  version: 4,
  kind: 6,
  flags: 7,
  count: 8,
  components: 12,
  query: 16,
  batch: 24,
  attempt: 28,
  generation: 32,
  deadline: 64,
  operation: 68,
  spatial: 69,
  temporal: 70,
  field: 71,
  members: 72,
  from: 80,
  to: 84,
  offset: 88,
  total: 92,
  values: 96,
} as const;

/** A decoded header. */
export interface Header {
  readonly kind: MessageKind;
  /** Points or particles. */
  readonly count: number;
  /** Float32 values of the answer to one point. */
  readonly components: number;
  /** Id of the query, 16 hexadecimal digits. */
  readonly query: string;
  readonly batch: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** Generation of the dataset, 64 hexadecimal digits (`generationOf`). */
  readonly generation: string;
  /** Milliseconds left when the message was sent, or NO_DEADLINE. */
  readonly deadlineMs: number;
  /** The query; it names no dataset, because the generation does. */
  readonly ask: Query;
  /** Whether initial velocities follow the points. */
  readonly velocities: boolean;
  /** Part of the steps of tracking. */
  readonly from: number;
  readonly to: number;
  /** Answers: first byte of this part, and bytes of the whole answer. */
  readonly offset: number;
  readonly total: number;
}

/** Reports a message that is foreign or truncated. */
export class MessageError extends Error {
  override readonly name = "MessageError";
}

/** Encodes a header. */
export function encodeHeader(header: Header): Uint8Array<ArrayBuffer> {
  const message = new Uint8Array(HEADER_BYTES);
  const view = new DataView(message.buffer);
  view.setUint32(AT.magic, MAGIC, true);
  view.setUint16(AT.version, MESSAGE_VERSION, true);
  view.setUint8(AT.kind, KINDS.indexOf(header.kind));
  view.setUint8(AT.flags, header.velocities ? 1 : 0);
  view.setUint32(AT.count, header.count, true);
  view.setUint32(AT.components, header.components, true);
  message.set(Buffer.from(header.query, "hex"), AT.query);
  view.setUint32(AT.batch, header.batch, true);
  view.setUint32(AT.attempt, header.attempt, true);
  message.set(Buffer.from(header.generation, "hex"), AT.generation);
  view.setUint32(AT.deadline, header.deadlineMs, true);
  encodeQuery(view, header.ask);
  view.setUint32(AT.from, header.from, true);
  view.setUint32(AT.to, header.to, true);
  view.setUint32(AT.offset, header.offset, true);
  view.setUint32(AT.total, header.total, true);
  return message;
}

function encodeQuery(view: DataView, ask: Query): void {
  const { spatialInterpolation: spatial, temporalInterpolation: temporal } = ask;
  view.setUint8(
    AT.operation,
    ALL_OPERATIONS.findIndex(({ name }) => name === ask.operation),
  );
  view.setUint8(AT.spatial, spatial === undefined ? ABSENT : SPATIAL_INTERPOLATION.indexOf(spatial));
  view.setUint8(AT.field, fieldCode(ask.field));
  view.setUint8(AT.temporal, temporal === undefined ? ABSENT : TEMPORAL_INTERPOLATION.indexOf(temporal));
  let present = 0;
  MEMBERS.forEach((name, i) => {
    const value = ask[name];
    if (value === undefined) return;
    present |= 1 << i;
    view.setFloat64(AT.values + 8 * i, value, true);
  });
  view.setUint32(AT.members, present, true);
}

/**
 * Decodes a message; `values` is a view of it and may be misaligned.
 *
 * @throws MessageError for anything truncated, oversized, foreign or of another version
 */
export function decodeMessage(data: Uint8Array): { readonly header: Header; readonly values: Uint8Array } {
  if (data.length < HEADER_BYTES) throw new MessageError(`${data.length} bytes are less than a header`);
  if (data.length > MAX_MESSAGE_BYTES) throw new MessageError(`${data.length} bytes are more than a message may have`);
  const view = new DataView(data.buffer, data.byteOffset, HEADER_BYTES);
  if (view.getUint32(AT.magic, true) !== MAGIC) throw new MessageError("not a message of this service");
  const version = view.getUint16(AT.version, true);
  if (version !== MESSAGE_VERSION) throw new MessageError(`version ${version} of the messages is not spoken here`);
  const kind = KINDS[view.getUint8(AT.kind)];
  if (!kind) throw new MessageError("no kind of message has that number");
  const hex = (at: number, bytes: number): string =>
    Buffer.from(data.buffer, data.byteOffset + at, bytes).toString("hex");
  const header: Header = {
    kind,
    count: view.getUint32(AT.count, true),
    components: view.getUint32(AT.components, true),
    query: hex(AT.query, 8),
    batch: view.getUint32(AT.batch, true),
    attempt: view.getUint32(AT.attempt, true),
    generation: hex(AT.generation, 32),
    deadlineMs: view.getUint32(AT.deadline, true),
    ask: decodeQuery(view),
    velocities: (view.getUint8(AT.flags) & 1) !== 0,
    from: view.getUint32(AT.from, true),
    to: view.getUint32(AT.to, true),
    offset: view.getUint32(AT.offset, true),
    total: view.getUint32(AT.total, true),
  };
  const values = data.subarray(HEADER_BYTES);
  if (kind === "evaluate") checkInput(header, values.length);
  if (kind === "answer" && header.offset + values.length > header.total)
    throw new MessageError(
      `an answer of ${header.total} bytes has no part that ends at ${header.offset + values.length}`,
    );
  return { header, values };
}

/** The letters of one or two fields as a number: that of the first, and eight times one more than that of the second. */
function fieldCode(text: string | undefined): number {
  if (text === undefined) return ABSENT;
  const [first, second] = [...text].map((letter) => FIELD_LETTERS.indexOf(letter));
  return (first ?? 0) + (second === undefined ? 0 : 8 * (second + 1));
}

function fieldOf(code: number): { readonly field?: string } {
  if (code === ABSENT) return {};
  const first = FIELD_LETTERS[code % 8];
  const second = code < 8 ? "" : FIELD_LETTERS[Math.floor(code / 8) - 1];
  if (first === undefined || second === undefined) throw new MessageError("no field has that number");
  return { field: first + second };
}

function decodeQuery(view: DataView): Query {
  const operation = ALL_OPERATIONS[view.getUint8(AT.operation)];
  const spatial = view.getUint8(AT.spatial);
  const temporal = view.getUint8(AT.temporal);
  if (!operation) throw new MessageError("no operation has that number");
  if (spatial !== ABSENT && !SPATIAL_INTERPOLATION[spatial])
    throw new MessageError("no spatial option has that number");
  if (temporal !== ABSENT && !TEMPORAL_INTERPOLATION[temporal])
    throw new MessageError("no temporal option has that number");
  const present = view.getUint32(AT.members, true);
  const members = MEMBERS.flatMap((name, i) =>
    (present >>> i) & 1 ? [[name, view.getFloat64(AT.values + 8 * i, true)] as const] : [],
  );
  const spatialInterpolation = SPATIAL_INTERPOLATION[spatial];
  const temporalInterpolation = TEMPORAL_INTERPOLATION[temporal];
  return {
    operation: operation.name,
    ...(spatialInterpolation ? { spatialInterpolation } : {}),
    ...(temporalInterpolation ? { temporalInterpolation } : {}),
    ...fieldOf(view.getUint8(AT.field)),
    ...Object.fromEntries(members),
  };
}

/** Bytes of the values of an evaluation: float32 triples, or the float64 state of particles on their way. */
export function inputBytes({
  ask,
  count,
  velocities,
  from,
}: Pick<Header, "ask" | "count" | "velocities" | "from">): number {
  if (from > 0) return 24 * count * (ask.Tp === undefined ? 1 : 2);
  return 12 * count * (velocities ? 2 : 1);
}

function checkInput(header: Header, bytes: number): void {
  if (header.count === 0) throw new MessageError("an evaluation without points");
  if (header.from > header.to) throw new MessageError("steps that end before they start");
  const expected = inputBytes(header);
  if (bytes !== expected) throw new MessageError(`${header.count} points take ${expected} bytes, not ${bytes}`);
}

/** Copies bytes that may be misaligned into a typed array. */
export function copyBytes(from: Uint8Array, into: Float32Array | Float64Array): void {
  new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(from);
}

/**
 * A piece is the part of a query that one peer asks of another: its query as JSON in a header, its points and initial
 * velocities as little-endian float32 in the body. The answer is the values, float32 too, or an error as JSON.
 */
import { z } from "zod";
import type { Query, RegionBox } from "../engine/contract/query.js";
import type { Failure } from "../engine/contract/task.js";
import { CALLER_CODES, RequestError, SERVER_CODES } from "../errors.js";
import {
  ALL_OPERATIONS,
  INTEGRATORS,
  type MemberType,
  type OperationRow,
  SPATIAL_INTERPOLATION,
  TEMPORAL_INTERPOLATION,
} from "../operations.js";
import { OPEN_FACES } from "../storage/file/dataset.js";

/** The header that carries a piece. */
export const PIECE_HEADER = "fieldprobe-piece";
export const PIECE_PATH = "/v1/piece";
export const STATUS_PATH = "/v1/status";
export const OCTETS = "application/octet-stream";

const whole = z.int().min(0);
const text = z.string().max(256);
const triple = z.tuple([whole, whole, whole]);

/** Values of the members of a query; arrays travel in the body. */
const MEMBERS: Partial<Record<MemberType, z.ZodType>> = {
  ...{ string: text, float: z.number(), int: z.int() },
  SpatialInterpolation: z.enum(SPATIAL_INTERPOLATION),
  TemporalInterpolation: z.enum(TEMPORAL_INTERPOLATION),
};
/** Members that no request of SOAP has. */
const OWN_MEMBERS = {
  ...{ recordEvery: z.int(), exitTimes: z.boolean() },
  ...{
    openFaces: z.enum(OPEN_FACES),
    integrator: z.enum(INTEGRATORS),
    tolerance: z.number(),
    flowMap: z.enum(SPATIAL_INTERPOLATION),
  },
};

function queryOf({ name, request }: OperationRow) {
  const members = request.map((member) => [member.name, MEMBERS[member.type] ?? z.never()]);
  return z
    .strictObject({ ...Object.fromEntries(members), ...OWN_MEMBERS })
    .partial()
    .extend({ operation: z.literal(name), dataset: text });
}

const QUERIES = ALL_OPERATIONS.map(queryOf) as unknown as readonly [ReturnType<typeof queryOf>];
const PIECE = z.strictObject({
  /** The generation, on which the answer depends besides the query (`generation.ts`). */
  generation: z.string().regex(/^[0-9a-f]{64}$/),
  query: z.discriminatedUnion("operation", QUERIES),
  /** Searches and cutouts: the part of their nodes. */
  box: z.strictObject({ from: triple, count: triple }).nullable(),
  /** Points in the body; initial velocities, as many, may follow them. */
  points: whole,
  deadlineMs: whole,
});

/** A piece without its points. */
export interface Piece extends Omit<z.output<typeof PIECE>, "query" | "box"> {
  readonly query: Query & { readonly dataset: string };
  readonly box: RegionBox | null;
}

/** Writes a piece as the value of a header: ASCII only. */
export function writePiece(piece: Piece): string {
  return JSON.stringify(piece).replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Reads a piece from a header. @throws RequestError for anything that `writePiece` does not write */
export function readPiece(header: unknown): Piece {
  let value: unknown;
  try {
    value = JSON.parse(String(header));
  } catch {
    throw new RequestError("InvalidRequest", "The piece is not JSON.");
  }
  const { data, error } = PIECE.safeParse(value);
  if (data === undefined)
    throw new RequestError("InvalidRequest", `The piece has no valid ${error?.issues[0]?.path.join(".")}.`);
  return data as unknown as Piece;
}

const FAILURE = z.object({
  code: z.enum([...CALLER_CODES, ...SERVER_CODES]),
  message: z.string().max(4096),
  context: z.object({ member: z.string().optional(), limit: z.string().optional(), retryAfter: z.number().optional() }),
  detail: z.string(),
});

/** Reads an error that a peer reports; null for anything else. */
export function readFailure(body: Uint8Array): Failure | null {
  return readJson(FAILURE, body) as Failure | null;
}

const STATUS = z.object({
  /** Identifies the process; another one after a restart. */
  id: z.string(),
  version: z.string(),
  /** Digest of what computes (`generation.ts`). */
  build: z.string().regex(/^[0-9a-f]{64}$/),
  draining: z.boolean(),
  threads: whole,
  running: whole,
  /** Grows while the peer makes progress. */
  progress: whole,
  queued: whole,
  cache: z.object({ bytes: whole, used: whole, read: whole }),
  datasets: whole,
});

/** A peer's statement about itself. */
export type PeerReport = z.output<typeof STATUS>;

/** Reads a peer's statement about itself; null for anything else. */
export function readReport(body: Uint8Array): PeerReport | null {
  return readJson(STATUS, body);
}

function readJson<T>(schema: z.ZodType<T>, body: Uint8Array): T | null {
  try {
    return schema.safeParse(JSON.parse(new TextDecoder().decode(body))).data ?? null;
  } catch {
    return null;
  }
}

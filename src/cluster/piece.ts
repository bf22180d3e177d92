/**
 * A piece is the part of a query that one peer asks of another: its query as JSON in a header, its points and initial
 * velocities as little-endian float32 in the body. The answer is the values, float32 too, or an error as JSON.
 */
import { z } from "zod";
import type { Query } from "../engine/query.js";
import type { Failure } from "../engine/task.js";
import { CALLER_CODES, RequestError, SERVER_CODES } from "../errors.js";
import {
  findOperation,
  type Member,
  operationOf,
  SPATIAL_INTERPOLATION,
  TEMPORAL_INTERPOLATION,
} from "../operations.js";
import { OPEN_FACES } from "../storage/dataset.js";

/** The header that carries a piece. */
export const PIECE_HEADER = "fieldprobe-piece";
export const PIECE_PATH = "/v1/piece";
export const STATUS_PATH = "/v1/status";
export const REGIONS_PATH = "/v1/regions";
export const OCTETS = "application/octet-stream";

const whole = z.number().int().min(0);
const PIECE = z.strictObject({
  /** The generation, on which the answer depends beside the query (`generation.ts`). */
  generation: z.string().regex(/^[0-9a-f]{64}$/),
  query: z.record(z.string().max(64), z.union([z.string().max(256), z.number(), z.boolean()])),
  points: whole,
  /** Whether initial velocities follow the points. */
  velocities: z.boolean(),
  deadlineMs: whole,
});

/** A piece without its points. */
export interface Piece extends Omit<z.output<typeof PIECE>, "query"> {
  readonly query: Query & { readonly dataset: string };
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
  return { ...data, query: queryIn(data.query) };
}

/** Members of a query that no request of SOAP has, and what they may be. */
const OWN_MEMBERS: ReadonlyMap<string, (value: string | number | boolean) => boolean> = new Map<
  string,
  (value: string | number | boolean) => boolean
>([
  ["operation", () => true],
  ["recordEvery", () => true],
  ["openFaces", (value) => (OPEN_FACES as readonly unknown[]).includes(value)],
  ["exitTimes", (value) => typeof value === "boolean"],
]);

/** Checks the members of a query by the operation that it names. */
function queryIn(members: Readonly<Record<string, string | number | boolean>>): Piece["query"] {
  const operation = findOperation(String(members.operation));
  if (operation === undefined || typeof members.dataset !== "string")
    throw new RequestError("InvalidRequest", "The piece names no operation on a dataset.");
  for (const [name, value] of Object.entries(members)) {
    const member = operationOf(operation.name).request.find((one) => one.name === name);
    const known = OWN_MEMBERS.get(name)?.(value) ?? (member !== undefined && fits(member, value));
    if (!known) throw new RequestError("InvalidRequest", `The piece has no valid ${name}.`, { member: name });
  }
  return members as unknown as Piece["query"];
}

const CHOICES: Partial<Record<Member["type"], readonly string[]>> = {
  SpatialInterpolation: SPATIAL_INTERPOLATION,
  TemporalInterpolation: TEMPORAL_INTERPOLATION,
};

function fits({ type }: Member, value: string | number | boolean): boolean {
  if (typeof value === "number") return type === "float" || (type === "int" && Number.isInteger(value));
  return typeof value === "string" && (type === "string" || (CHOICES[type]?.includes(value) ?? false));
}

/** Bytes of the points and velocities of a piece. */
export function inputBytes({ points, velocities }: Pick<Piece, "points" | "velocities">): number {
  return 12 * points * (velocities ? 2 : 1);
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
  /** Tells processes apart; another one after a restart. */
  id: z.string(),
  version: z.string(),
  /** Digest of what computes (`generation.ts`). */
  build: z.string().regex(/^[0-9a-f]{64}$/),
  draining: z.boolean(),
  threads: whole,
  running: whole,
  /** Grows while it gets something done. */
  progress: whole,
  queued: whole,
  cache: z.object({ bytes: whole, used: whole, read: whole }),
  datasets: whole,
});

/** A peer's statement about itself. */
export type PeerReport = z.output<typeof STATUS>;

/** Reads what a peer says of itself; null for anything else. */
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

/** Reads the bodies of questions: members as JSON, or points as CSV, npy or octets. */
import type { FastifyRequest } from "fastify";
import { readNpy } from "../../../float32/npy.js";
import { PointLines } from "../../../float32/point-lines.js";
import { type CallName, callOf } from "../../../shared/calls.js";
import { readWhole } from "../../http/read-whole.js";
import type { RequestLife } from "../../http/request-life.js";
import { hasBody } from "../../http/send-answer.js";
import { wrong } from "../faults.js";
import type { RequestedPoints } from "./member-values.js";
import { type GivenMembers, membersOfJson } from "./read-question.js";

export const BODY_TYPES = ["application/json", "application/octet-stream", "text/csv", "application/x-npy"] as const;

/** Most bytes of a question in JSON; points beyond go as npy, CSV or octets. */
export const JSON_BYTES = 16 * 1024 * 1024;
export const JSON_TOO_LARGE =
  ": JSON has at most 16 MiB; send more points as text/csv, application/x-npy or application/octet-stream";
const STEP_BYTES = 64 * 1024;

/** The members in a body. `query`: the members of the query string. */
export async function readBodyMembers(
  life: RequestLife,
  request: FastifyRequest,
  call: CallName,
  query: GivenMembers,
  most: number,
): Promise<GivenMembers> {
  const type = request.headers["content-type"]?.toLowerCase().split(";")[0]?.trim() ?? "";
  if (request.method !== "POST" && hasBody(request.raw))
    throw wrong("question", "GET takes its members in the address");
  if (request.method !== "POST" || type === "") return new Map();
  if (type === "application/json") {
    const body = await readWhole(life, Math.min(most, JSON_BYTES), JSON_TOO_LARGE);
    return body.length === 0 ? new Map() : membersOfJson(await life.readJson(body));
  }
  if (!callOf(call).members.includes("points")) throw wrong("points", `${call} takes none; send members as JSON`);
  const body = await readWhole(life, most);
  const isTimed = query.get("time") === "each" || String(query.get("time") ?? "").startsWith("each:");
  const points =
    type === "text/csv"
      ? await csvPoints(life, body)
      : type === "application/x-npy"
        ? checked(npyPoints(body))
        : octetPoints(body, isTimed ? 4 : 3);
  return new Map<string, unknown>([["points", points]]);
}

function octetPoints(body: Buffer, width: number): RequestedPoints {
  if (body.length % (4 * width) !== 0)
    throw wrong("points", `the body is not a whole number of points of ${4 * width} bytes each`);
  const numbers = new Float32Array(body.length / 4);
  Buffer.from(numbers.buffer).set(body);
  return checked({ rows: new Float64Array(numbers), width });
}

function npyPoints(body: Buffer): ReturnType<typeof readNpy> {
  try {
    return readNpy(body);
  } catch (error) {
    throw wrong("points", (error as Error).message);
  }
}

/** Points of CSV: three or four numbers a line, or the columns that a header names. */
async function csvPoints({ slices }: RequestLife, body: Buffer): Promise<RequestedPoints> {
  const lines = new PointLines();
  slices.noteActivity();
  try {
    for (let at = 0; at < body.length; at += STEP_BYTES) {
      lines.addBytes(body.subarray(at, at + STEP_BYTES), at + STEP_BYTES >= body.length);
      await slices.pause();
    }
    lines.requireNamed();
  } catch (error) {
    throw wrong("points", (error as Error).message);
  }
  const { rows, columns, header } = lines;
  return { rows, width: columns.length, columns, ...header };
}

function checked(points: { readonly rows: Float64Array; readonly width: number }): RequestedPoints {
  const { rows, width } = points;
  for (let i = 0; i < rows.length; i++)
    if (!Number.isFinite(rows[i])) throw wrong(`points[${Math.floor(i / width)}]`, "it is not finite");
  return points;
}

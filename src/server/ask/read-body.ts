/** Reads the bodies of questions: members as JSON, or points as CSV, npy or octets. */
import type { FastifyRequest } from "fastify";
import { readTimedNpy } from "../../float32/npy.js";
import type { CallName } from "../../shared/calls.js";
import { callOf } from "../../shared/calls.js";
import { RequestError } from "../../shared/errors.js";
import { hasDoubledMember } from "../../storage/dataset/documents.js";
import type { RequestLife } from "../http/request-life.js";
import { readWhole } from "../rest/body/read-body.js";
import { wrong } from "./faults.js";
import { type AskedPoints, NUMBER } from "./read-member.js";
import { type GivenMembers, membersOfJson } from "./read-question.js";

/** Media types of bodies besides JSON and octets, which `/api` has anyway. */
export const POINT_TYPES = ["text/csv", "application/x-npy"] as const;

/** Most bytes of a question in JSON; points beyond go as npy, CSV or octets. */
export const JSON_BYTES = 16 * 1024 * 1024;
export const JSON_TOO_LARGE =
  ": JSON has at most 16 MiB; send more points as text/csv, application/x-npy or application/octet-stream";
/** Bytes of CSV that are read between two looks at the clock. */
const STEP_BYTES = 64 * 1024;

/** The media type of a body, without parameters; empty if there is none. */
function typeOf({ headers }: FastifyRequest): string {
  return headers["content-type"]?.toLowerCase().split(";")[0]?.trim() ?? "";
}

/** Parses JSON. @throws RequestError in one line, also if an object has two members of one name */
export function parseJson(body: Buffer): unknown {
  let [value, isDoubled] = [undefined as unknown, false];
  try {
    value = JSON.parse(body.toString("utf8"));
    isDoubled = hasDoubledMember(value, body);
  } catch (error) {
    // A list in a list in a list, thousands of times, overflows the stack.
    const text = error instanceof RangeError ? "The body is nested too deeply." : "The body is not JSON.";
    throw new RequestError("InvalidRequest", text, { member: "body" });
  }
  if (isDoubled) throw new RequestError("InvalidRequest", "The body gives a member twice.", { member: "body" });
  return value;
}

/** The members that a body gives. @param query those of the query string */
export async function readBodyMembers(
  life: RequestLife,
  request: FastifyRequest,
  call: CallName,
  query: GivenMembers,
  most: number,
): Promise<GivenMembers> {
  const type = typeOf(request);
  if (request.method !== "POST" || type === "") return new Map();
  if (type === "application/json") {
    const body = await readWhole(life, Math.min(most, JSON_BYTES), JSON_TOO_LARGE);
    return body.length === 0 ? new Map() : membersOfJson(parseJson(body));
  }
  if (!callOf(call).members.includes("points")) throw wrong("points", `${call} takes none; send members as JSON`);
  const body = await readWhole(life, most);
  const isTimed = query.get("time") === "each" || String(query.get("time") ?? "").startsWith("each:");
  const points =
    type === "text/csv"
      ? await csvPoints(life, body)
      : type === "application/x-npy"
        ? npyPoints(body)
        : octetPoints(body, isTimed ? 4 : 3);
  return new Map<string, unknown>([["points", points]]);
}

/** Points of octets: float32, three or four a point. */
function octetPoints(body: Buffer, width: number): AskedPoints {
  if (body.length % (4 * width) !== 0)
    throw wrong("points", `the body is not a whole number of points of ${4 * width} bytes each`);
  const rows = new Float64Array(body.length / 4);
  for (let i = 0; i < rows.length; i++) rows[i] = body.readFloatLE(4 * i);
  return checked({ rows, width });
}

/** Points of a NumPy file of shape (n, 3) or (n, 4). */
function npyPoints(body: Buffer): AskedPoints {
  const { points, times } = readNpy(body);
  const width = times === null ? 3 : 4;
  const rows = new Float64Array((width * points.length) / 3);
  for (let i = 0; i < points.length; i++) rows[width * Math.floor(i / 3) + (i % 3)] = points[i] as number;
  for (const [i, time] of (times ?? []).entries()) rows[4 * i + 3] = time;
  return checked({ rows, width });
}

function readNpy(body: Buffer): ReturnType<typeof readTimedNpy> {
  try {
    return readTimedNpy(body, true);
  } catch (error) {
    throw wrong("points", (error as Error).message);
  }
}

/** Points of CSV with a header of names. */
async function csvPoints(life: RequestLife, body: Buffer): Promise<AskedPoints> {
  const end = body.indexOf(10);
  const title = body.toString("utf8", 0, end < 0 ? body.length : end).replace(/^\uFEFF/, "");
  const columns = title.split(",").map((name) => name.trim().replaceAll('"', "").toLowerCase());
  const width = columns.length;
  if (!["x", "y", "z"].every((name) => columns.includes(name)))
    throw wrong("points", "CSV begins with a header of names, x, y and z among them");
  const doubled = columns.find((name, i) => name !== "" && columns.indexOf(name) < i);
  if (doubled !== undefined) throw wrong("points", `two columns of the CSV have the name ${doubled.slice(0, 32)}`);
  let numbers = new Float64Array(1024 * width);
  let count = 0;
  let at = end < 0 ? body.length : end + 1;
  const { slices } = life;
  slices.note();
  while (at < body.length) {
    let to = Math.min(body.length, at + STEP_BYTES);
    if (to < body.length) {
      const line = body.lastIndexOf(10, to);
      to = line > at ? line + 1 : body.indexOf(10, to) + 1 || body.length;
    }
    for (const line of body.toString("latin1", at, to).split("\n")) {
      if (line.trim() === "") continue;
      const cells = line.split(",");
      if (cells.length !== width) throw wrong(`points[${count / width}]`, `a row has ${width} numbers`);
      if (count + width > numbers.length) {
        const longer = new Float64Array(2 * numbers.length);
        longer.set(numbers);
        numbers = longer;
      }
      for (const cell of cells) {
        const text = cell.trim();
        const number = NUMBER.test(text) ? Number(text) : Number.NaN;
        if (!Number.isFinite(number))
          throw wrong(`points[${Math.floor(count / width)}]`, `"${text.slice(0, 32)}" is not a number`);
        numbers[count++] = number;
      }
    }
    at = to;
    await slices.pause();
  }
  return { rows: numbers.subarray(0, count), width, columns };
}

function checked(points: { readonly rows: Float64Array; readonly width: number }): AskedPoints {
  const odd = points.rows.findIndex((number) => !Number.isFinite(number));
  if (odd >= 0) throw wrong(`points[${Math.floor(odd / points.width)}]`, "it is not finite");
  return points;
}

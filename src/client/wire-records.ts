/** Turns points into request members, and response elements into typed arrays. */
import { type Member, RECORDS, type RecordName } from "../shared/operations.js";
import { ClientError } from "./error.js";
import type { Points, TableRow } from "./request-types.js";

/** A copy of points, one number after another. Throws ClientError unless there are three a point. */
export function flatten(member: string, points: Points): Float32Array {
  // A copy from the iterator has undefined in place of holes, which `every` would pass over.
  const rows = Array.isArray(points) ? Array.from(points, (row): number[] => Array.from(row ?? [])) : null;
  const isTriple = (row: readonly unknown[]) => row.length === 3 && row.every((one) => typeof one === "number");
  if (rows === null ? ArrayBuffer.isView(points) && points.length % 3 === 0 : rows.every(isTriple))
    return new Float32Array(rows?.flat() ?? (points as Float32Array));
  throw new ClientError("InvalidRequest", `${member} must have three numbers a point.`, { member });
}

/** Text of an xs:float: JavaScript names infinity otherwise, and drops the sign of zero. */
export function floatText(value: number): string | number {
  if (Object.is(value, -0)) return "-0";
  return value === Infinity ? "INF" : value === -Infinity ? "-INF" : value;
}

/** Lists of numbers of an array form. Throws ClientError for what is no number. */
export function floatLists(member: string, lists: readonly ArrayLike<number>[]): object {
  const rows = Array.from(lists, (list): readonly unknown[] => Array.from(list ?? [list]));
  if (rows.some((row) => row.some((one) => typeof one !== "number")))
    throw new ClientError("InvalidRequest", `${member} must be lists of numbers.`, { member });
  return { ArrayOfFloat: rows.map((row) => ({ float: (row as number[]).map(floatText) })) };
}

export function isList(member: Member): boolean {
  return member.type === "ArrayOfPoint3" || member.type === "ArrayOfVector3";
}

export function triples(member: Member, flat: Float32Array, first: number, count: number): object {
  const items = Array.from({ length: count }, (_, i) => {
    const [x, y, z] = flat.subarray(3 * (first + i));
    return { x: floatText(x as number), y: floatText(y as number), z: floatText(z as number) };
  });
  return { [member.type === "ArrayOfPoint3" ? "Point3" : "Vector3"]: items };
}

/** Copies the records of a response element into `out` from `offset` on. Throws ClientError unless they are `count`. */
export function readRecords(
  operation: TableRow,
  response: Readonly<Record<string, unknown>>,
  count: number,
  out: Float32Array,
  offset: number,
): void {
  const record: RecordName = operation.result;
  const components: readonly string[] = RECORDS[record];
  const result = response[`${operation.wire}Result`] as Record<string, unknown> | null | undefined;
  const items = (result?.[record] ?? []) as readonly unknown[];
  if (items.length !== count) {
    throw new ClientError("Protocol", `${operation.name} answered ${items.length} records instead of ${count}.`);
  }
  for (let i = 0, at = offset; i < count; i++) {
    if (record === "float") out[at++] = items[i] as number;
    else for (const name of components) out[at++] = (items[i] as Record<string, number>)[name] as number;
  }
}

/** Reads all numbers of a response: record after record, or from its text. */
export function readWhole(operation: TableRow, response: Readonly<Record<string, unknown>>): Float32Array {
  const result = response[`${operation.wire}Result`];
  if (operation.result === "base64") {
    const bytes = Buffer.from(String(result ?? ""), "base64");
    return Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
  }
  const items = ((result as Record<string, unknown> | null | undefined)?.[operation.result] ??
    []) as readonly unknown[];
  const values = new Float32Array(items.length * RECORDS[operation.result].length);
  readRecords(operation, response, items.length, values, 0);
  return values;
}

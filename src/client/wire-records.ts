/** Turns points into request members, and response elements into typed arrays. */
import { RECORDS, type RecordName, type WireMember } from "../shared/operations.js";
import { ClientError } from "./error.js";
import type { Points, TableRow } from "./request-types.js";

/** Copies points to x, y, z, x, … Throws ClientError unless each has three numbers; small integers are refused. */
export function flatten(member: string, points: Points): Float32Array {
  // Array.from turns holes into undefined; `every` would skip them.
  const rows = Array.isArray(points) ? Array.from(points, (row): number[] => Array.from(row ?? [])) : null;
  const isTriple = (row: readonly unknown[]) => row.length === 3 && row.every((one) => typeof one === "number");
  const isFlat = /^(Float|Int)(16|32|64)Array$/.test(points?.constructor.name) && points.length % 3 === 0;
  if (rows === null ? isFlat : rows.every(isTriple)) return new Float32Array(rows?.flat() ?? (points as Float32Array));
  throw new ClientError("InvalidRequest", `${member} must have three numbers a point.`, { member });
}

/** Text of an xs:float: JavaScript writes Infinity instead of INF, and drops the sign of zero. */
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

export function isList(member: WireMember): boolean {
  return member.type === "ArrayOfPoint3" || member.type === "ArrayOfVector3";
}

export function triples(member: WireMember, flat: Float32Array, first: number, count: number): object {
  const items = Array.from({ length: count }, (_, i) => {
    const [x, y, z] = flat.subarray(3 * (first + i));
    return { x: floatText(x as number), y: floatText(y as number), z: floatText(z as number) };
  });
  return { [member.type === "ArrayOfPoint3" ? "Point3" : "Vector3"]: items };
}

/** The numbers of the records of a response element. Throws ClientError unless all are there, of `count` records. */
export function readRecords(
  operation: TableRow,
  response: Readonly<Record<string, unknown>>,
  count?: number,
): Float32Array {
  const record: RecordName = operation.result;
  const components: readonly string[] = RECORDS[record];
  const result = response[`${operation.wire}Result`] as Record<string, unknown> | null | undefined;
  const items = (result?.[record] ?? []) as readonly unknown[];
  if (items.length !== (count ?? items.length)) {
    throw new ClientError("Protocol", `${operation.name} answered ${items.length} records instead of ${count}.`);
  }
  const componentsOf = (item: unknown) => components.map((name) => (item as Record<string, unknown> | null)?.[name]);
  const numbers = record === "float" ? items : items.flatMap(componentsOf);
  if (numbers.every((one) => typeof one === "number")) return Float32Array.from(numbers);
  throw new ClientError("Protocol", `${operation.name} answered a record without a number.`);
}

/** Reads all numbers of a response: record after record or, for base64, from its text. */
export function readWhole(operation: TableRow, response: Readonly<Record<string, unknown>>): Float32Array {
  if (operation.result !== "base64") return readRecords(operation, response);
  const bytes = Buffer.from(String(response[`${operation.wire}Result`] ?? ""), "base64");
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i));
}

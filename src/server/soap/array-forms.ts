/** Array forms of requests: the name of a function, and coordinates as three lists. */
import type { Query, TripleSink } from "../../engine/contract/query.js";
import { excerpt, LimitError, type RequestError } from "../../shared/errors.js";
import { functionNamed, functionsOf, type OperationRow, pickMembers } from "../../shared/operations.js";
import type { Steps } from "../../text/steps.js";
import { readFloat } from "../http/read-number.js";
import { checkAttributes, collapsed, invalid, type RequestDialect, readText, schemaType } from "./simple-members.js";
import { START, type XmlReader } from "./xml/reader.js";

/** @throws RequestError for a function that the form lacks */
export function requestedFunction(form: OperationRow, name: string | undefined): OperationRow {
  const found = functionNamed(form, name);
  if (found !== null) return found;
  const names = functionsOf(form)
    .map((row) => row.name)
    .join(", ");
  throw invalid(`Function name incorrect. ${form.wire} takes ${names}.`, "function_name");
}

export function queryOf(target: OperationRow, members: Readonly<Record<string, unknown>>): Query {
  return { ...pickMembers(target, members), operation: target.name } as Query;
}

export function* readLists(reader: XmlReader, expected: RequestDialect, most: number): Steps<readonly Float32Array[]> {
  const lists: Float32Array[] = [];
  const stray = (): RequestError => invalid("There is text inside points.", "points");
  while ((yield* reader.nextTag(stray)) === START) {
    expectName(reader, expected, "ArrayOfFloat", `points[${lists.length}]`);
    checkAttributes(reader, expected.version, "points", `{${expected.namespace}}ArrayOfFloat`);
    if (lists.length === 3) throw wrongLists();
    lists.push(yield* readList(reader, expected, most));
  }
  return lists;
}

function* readList(reader: XmlReader, expected: RequestDialect, most: number): Steps<Float32Array> {
  const values: number[] = [];
  const stray = (): RequestError => invalid("There is text inside points.", "points");
  while ((yield* reader.nextTag(stray)) === START) {
    expectName(reader, expected, "float", "points");
    checkAttributes(reader, expected.version, "points", schemaType("float"));
    if (values.length === most) throw new LimitError("query.points", `Request size too large (${most + 1} > ${most})`);
    values.push(readFloat(collapsed(yield* readText(reader, "points")), "points"));
  }
  return Float32Array.from(values);
}

function expectName(reader: XmlReader, { namespace }: RequestDialect, local: string, path: string): void {
  if (reader.local === local && reader.namespace === namespace) return;
  throw invalid(`${path}: expected ${local}, found ${excerpt(reader.local)}.`, "points");
}

function wrongLists(): RequestError {
  return invalid("The first dimension of points array must have a size of 3.", "points");
}

/** @throws RequestError unless there are three lists of equal length, or none */
export function writePoints(lists: readonly Float32Array[], sink: TripleSink): void {
  const [x, y, z] = lists;
  if (lists.length === 0) return;
  if (x === undefined || y === undefined || z === undefined) throw wrongLists();
  if (x.length !== y.length || x.length !== z.length) {
    throw invalid("Three components of points array must have the same size", "points");
  }
  for (let done = 0; done < x.length; ) {
    const room = Math.min(sink.slab.length / 3, x.length - done);
    for (let i = 0; i < room; i++) {
      sink.slab[3 * i] = x[done + i];
      sink.slab[3 * i + 1] = y[done + i];
      sink.slab[3 * i + 2] = z[done + i];
    }
    sink.commit(room);
    done += room;
  }
}

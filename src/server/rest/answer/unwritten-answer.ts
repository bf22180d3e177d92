/** An answer of records before it is written in some form: its numbers, their shape, and where they come from. */
import type { Result } from "../../../engine/contract/query.js";
import type { AlongValues } from "../values-along.js";

/** An answer before it is written in some form. */
export interface UnwrittenAnswer {
  /** The result of all times, one after another. */
  readonly result: Result;
  /** Times asked for, at least 1. */
  readonly timeCount: number;
  /** The times asked for, or that of each record with `recordTimes`, as written; none if the operation has no time. */
  readonly times: readonly number[];
  /** Names of the components of a record. */
  readonly components: readonly string[];
  /** Quantities at the records, which JSON has in a member of their own, and other forms in columns. */
  readonly along?: readonly AlongValues[];
  /** Members of a JSON answer before its values. */
  readonly about: Readonly<Record<string, unknown>>;
}

/**
 * The shape of an answer in C order: times, points, records of a point, components. Several times or records make a
 * dimension; one does not.
 */
export function shapeOf({ result, timeCount }: UnwrittenAnswer): number[] {
  const records = result.itemsPerPoint;
  return [
    ...(timeCount > 1 ? [timeCount] : []),
    records === 0 ? 0 : result.items / records / timeCount,
    ...(records > 1 ? [records] : []),
    result.components,
  ];
}

/** What a file says of its origin: the members of a JSON answer before its values. */
export function originOf({ about: { times: _, ...about } }: UnwrittenAnswer): readonly (readonly [string, string])[] {
  return Object.entries(about).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
}

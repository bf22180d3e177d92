/** This file writes the numbers of a figure as CSV, or as JSON together with the queries behind them. */
import { shortestFloat32 } from "../../src/float32/format.js";
import type { WallUnits } from "../state/wall-units.js";

export interface ValueTable {
  readonly name: string;
  readonly columns: readonly string[];
  /** The unit of each column, as far as the dataset states it. */
  readonly units?: readonly string[];
  readonly rows: readonly (readonly (number | string)[])[];
  /** The queries behind it: of operations, or other calls with their bodies. */
  readonly queries: readonly { readonly operation: string; readonly dataset: string; readonly parameters: object }[];
  /** Further members of a JSON file: dataset, digest, units, formula. */
  readonly about?: Readonly<Record<string, unknown>>;
}

function text(value: number | string): string {
  if (typeof value === "number") return shortestFloat32(value);
  return /[",\r\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

/** A table as CSV: one line of names with their units, then the rows. */
export function toCsv({ columns, units = [], rows }: Pick<ValueTable, "columns" | "units" | "rows">): string {
  const head = columns.map((name, i) => withUnit(name, units[i]));
  return `${[head, ...rows].map((row) => row.map(text).join(",")).join("\r\n")}\r\n`;
}

/**
 * The halves of a profile in wall units as CSV, with the stresses; each row has the friction velocity and its Reynolds
 * number, by which all are scaled.
 *
 * @param along the axis across the walls
 * @param unit  that of velocity; empty if the dataset states none
 */
export function wallTable(
  { distance, fromFirst, fromLast, stresses, friction, reynolds }: WallUnits,
  along: string,
  unit: string,
): string {
  const names = [`${along}+`, "u+ from the lower wall", "u+ from the upper wall"];
  return toCsv({
    columns: [...names, ...stresses.map(({ column }) => column), "u_tau", "Re_tau"],
    units: [...names, ...stresses].map(() => "").concat(unit),
    rows: distance.map((at, i) => [
      ...[at, fromFirst[i] as number, fromLast[i] as number],
      ...stresses.map(({ values }) => values[i] as number),
      ...[friction, reynolds],
    ]),
  });
}

/** The name of a column with its unit, if it has one. */
export function withUnit(name: string, unit = ""): string {
  return unit === "" ? name : `${name} (${unit})`;
}

export function toJson({ columns, rows, queries, about }: ValueTable, version: string): string {
  const requests = queries.map(({ operation, dataset, parameters }) => ({ operation, dataset, parameters }));
  const values = rows.map((row) =>
    row.map((value) =>
      typeof value === "string" ? value : Number.isFinite(value) ? Number(shortestFloat32(value)) : null,
    ),
  );
  return `${JSON.stringify({ version, ...about, requests, columns, values })}\n`;
}

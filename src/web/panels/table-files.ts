/** This file writes the numbers of a figure as CSV, or as JSON together with the queries behind them. */
import { shortestFloat32 } from "../../float32/format.js";
import type { PointQuery } from "../state/point-query.js";

export interface ValueTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (number | string)[])[];
  /** The queries behind it. */
  readonly queries: readonly PointQuery[];
}

function text(value: number | string): string {
  return typeof value === "string" ? value : shortestFloat32(value);
}

export function toCsv({ columns, rows }: ValueTable): string {
  return `${[columns, ...rows.map((row) => row.map(text))].map((row) => row.join(",")).join("\r\n")}\r\n`;
}

export function toJson({ columns, rows, queries }: ValueTable, version: string): string {
  const requests = queries.map(({ operation, dataset, parameters }) => ({ operation, dataset, parameters }));
  const values = rows.map((row) =>
    row.map((value) =>
      typeof value === "string" ? value : Number.isFinite(value) ? Number(shortestFloat32(value)) : null,
    ),
  );
  return `${JSON.stringify({ version, requests, columns, values })}\n`;
}

/** Saves a text as a file of the browser. */
export function download(name: string, type: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}

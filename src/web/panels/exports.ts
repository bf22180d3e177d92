/** What a figure shows as a file: rows of numbers as CSV, or JSON together with the call they came from. */

import { floatText } from "../float-text.js";
import type { Call } from "../state/call.js";

export interface ExportedTable {
  readonly name: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (number | string)[])[];
  /** The calls behind it. */
  readonly calls: readonly Call[];
}

function text(value: number | string): string {
  return typeof value === "string" ? value : floatText(value);
}

export function toCsv({ columns, rows }: ExportedTable): string {
  return `${[columns, ...rows.map((row) => row.map(text))].map((row) => row.join(",")).join("\r\n")}\r\n`;
}

export function toJson({ columns, rows, calls }: ExportedTable, version: string): string {
  const requests = calls.map(({ operation, dataset, parameters }) => ({ operation, dataset, parameters }));
  const values = rows.map((row) =>
    row.map((value) => (typeof value === "string" ? value : Number.isFinite(value) ? Number(floatText(value)) : null)),
  );
  return `${JSON.stringify({ version, requests, columns, values })}\n`;
}

/** Hands a file to the person. */
export function download(name: string, type: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}

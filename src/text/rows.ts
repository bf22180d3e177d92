/** Rows of points in a question, as lists or as text: numbers in a row. */
import { excerpt, RequestError } from "../shared/errors.js";

export const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

export interface Rows {
  readonly rows: Float64Array;
  readonly width: number;
}

/** A value as messages show it. */
export const shown = (value: unknown): string =>
  typeof value === "string" ? `"${excerpt(value)}"` : excerpt(JSON.stringify(value) ?? String(value));

/** Reads rows of three to seven numbers. @param given lists, or text as `1,2,3;4,5,6` @throws RequestError that names the row */
export function readRows(given: readonly unknown[] | string, member: string): Rows {
  const wrong = (row: number, detail: string) =>
    new RequestError("InvalidRequest", `${member}[${row}]: ${detail}.`, { member: `${member}[${row}]` });
  const list: readonly unknown[] = typeof given === "string" ? given.trim().replace(/;$/, "").split(";") : given;
  const rowOf = (row: unknown): unknown => (typeof given === "string" ? String(row).split(",") : row);
  const first = rowOf(list[0]);
  const width = Array.isArray(first) ? first.length : 0;
  if (list.length > 0 && (width < 3 || width > 7)) throw wrong(0, "a row has x, y, z");
  const rows = new Float64Array(width * list.length);
  for (const [r, one] of list.entries()) {
    const row = rowOf(one);
    if (!Array.isArray(row) || row.length !== width) throw wrong(r, `a row has ${width || 3} numbers`);
    for (let c = 0; c < width; c++) {
      const value: unknown = row[c];
      const isText = typeof value === "string" && NUMBER.test(value.trim());
      const number = typeof value === "number" || isText ? Number(value) : Number.NaN;
      if (!Number.isFinite(number)) throw wrong(r, `${shown(value)} is not a number`);
      rows[width * r + c] = number;
    }
  }
  return { rows, width: width === 0 ? 3 : width };
}

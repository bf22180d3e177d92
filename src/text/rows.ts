/** Rows of points in a question, as lists or as text: numbers in a row. */
import { excerpt, RequestError } from "../shared/errors.js";

export const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

export interface Rows {
  readonly rows: Float64Array;
  readonly width: number;
}

/** A value as messages show it. */
export const shown = (one: unknown): string =>
  typeof one === "string" ? `"${excerpt(one)}"` : excerpt(one instanceof Object ? JSON.stringify(one) : `${one}`);

/** Reads rows of three to seven numbers. @param given lists, or text as `1,2,3;4,5,6` Throws RequestError. */
export function readRows(given: readonly unknown[] | string, member: string): Rows {
  const wrong = (row: number, detail: string) =>
    new RequestError("InvalidRequest", `${member}[${row}]: ${detail}.`, { member: `${member}[${row}]` });
  const list: readonly unknown[] = typeof given === "string" ? given.trim().replace(/;$/, "").split(";") : given;
  let [rows, width] = [new Float64Array(), 3];
  for (const [r, one] of list.entries()) {
    const row = typeof given === "string" ? String(one).split(",") : one;
    if (r === 0) width = Array.isArray(row) ? row.length : 0;
    if (width < 3 || width > 7) throw wrong(0, "a row has x, y, z");
    if (r === 0) rows = new Float64Array(width * list.length);
    if (!Array.isArray(row) || row.length !== width) throw wrong(r, `a row has ${width} numbers`);
    for (const [c, value] of row.entries()) {
      const isText = typeof value === "string" && NUMBER.test(value.trim());
      const number = typeof value === "number" || isText ? Number(value) : Number.NaN;
      if (!Number.isFinite(number)) throw wrong(r, `${shown(value)} is not a number`);
      rows[width * r + c] = number;
    }
  }
  return { rows, width };
}

/** Writes the table of an analysis as CSV, as NumPy files, or as the columns of a NetCDF file. */
import { type AnalysisTable, tableLines } from "../../../analysis/table.js";
import type { NumberTable, TableColumn } from "../../../engine/cutouts/cutout-thread.js";
import { RequestError } from "../../../shared/errors.js";
import { npyHeader, npzFile, numberArray, textArray, textsArray, writeLetters } from "./numpy-files.js";

const CHUNK_ROWS = 512;

/** The chunks of a table in a form. Throws RequestError for names of columns that no NumPy file holds. */
export function tableChunks(table: AnalysisTable, type: "text/csv" | "application/x-npy"): Generator<Buffer> {
  return type === "text/csv" ? csvChunks(table) : npyChunks(table);
}

function* csvChunks(table: AnalysisTable): Generator<Buffer> {
  let lines: string[] = [];
  for (const line of tableLines(table)) {
    lines.push(line);
    if (lines.length < CHUNK_ROWS) continue;
    yield Buffer.from(lines.join(""));
    lines = [];
  }
  yield Buffer.from(lines.join(""));
}

/** An array for each column, and the origin of the answer. */
export function tableArchive(
  { columns, rows }: AnalysisTable,
  origin: Readonly<Record<string, string>>,
): AsyncGenerator<Buffer> {
  const arrays = columns.map((column, c) => {
    const name = column.replaceAll("/", "_");
    const values = rows.map((row) => row[c]);
    const isText = values.some((value) => typeof value === "string" && value !== "");
    if (isText)
      return textsArray(
        name,
        values.map((value) => String(value ?? "")),
      );
    return numberArray(
      name,
      values.map((value) => (value === "" || value === null ? Number.NaN : Number(value))),
    );
  });
  return npzFile([...arrays, ...Object.entries(origin).map(([name, text]) => textArray(name, text))]);
}

/** Columns as .npy rows: numbers and booleans as float64, NaN if missing; texts as UTF-32 of the longest one. */
function npyChunks({ columns, rows }: AnalysisTable): Generator<Buffer> {
  const lengths = columns.map((_, c) =>
    rows.reduce((most, row) => Math.max(most, typeof row[c] === "string" ? row[c].length : 0), 0),
  );
  const names = columns.map((name, c) => [name, lengths[c] === 0 ? "<f8" : `<U${lengths[c]}`] as const);
  const list = names.map(([name, type]) => `('${name.replaceAll(/[\\']/g, "\\$&")}', '${type}')`).join(", ");
  if (list.length > 60_000)
    throw new RequestError("Unsupported", "The names of the columns are too long for a NumPy file: take CSV.");
  const head = npyHeader([rows.length], `[${list}]`);
  const sizes = lengths.map((length) => (length === 0 ? 8 : 4 * length));
  const width = sizes.reduce((sum, size) => sum + size, 0);
  const write = (row: readonly unknown[], into: Buffer, start: number): void => {
    let at = start;
    for (const [c, value] of row.entries()) {
      if (lengths[c] === 0) into.writeDoubleLE(value === "" || value === null ? Number.NaN : Number(value), at);
      else writeLetters(String(value), into, at);
      at += sizes[c] as number;
    }
  };
  return (function* () {
    yield head;
    for (let from = 0; from < rows.length; from += CHUNK_ROWS) {
      const some = rows.slice(from, from + CHUNK_ROWS);
      const chunk = Buffer.alloc(width * some.length);
      for (const [i, row] of some.entries()) write(row, chunk, width * i);
      yield chunk;
    }
  })();
}

/** The numbers of a table for a NetCDF file: along the column on its plot's x axis if that ascends, else by row. */
export function numberTable(table: AnalysisTable, about: NumberTable["about"], names = table.columns): NumberTable {
  const { columns, rows, plot } = table;
  const all = columns.map((title, c) => {
    const values = rows.map((row) => row[c]);
    return numberColumn(names[c] as string, title, values);
  });
  const ordered = all[columns.indexOf(plot?.x ?? "")];
  const ascends = ordered?.values.every((value, i) => i === 0 || value > Number(ordered.values[i - 1])) === true;
  const numbers = {
    name: "row",
    values: Float64Array.from(rows.keys()),
    attributes: { long_name: "number of the row" },
  };
  const along = ascends && ordered !== undefined ? ordered : numbers;
  return { along, columns: all.filter((column) => column !== along), about };
}

/** A column; texts are numbers of what `flag_meanings` lists, from 0 on. */
function numberColumn(name: string, title: string, values: readonly unknown[]): TableColumn {
  const texts = [...new Set(values.filter((value): value is string => typeof value === "string" && value !== ""))];
  const number = (value: unknown): number =>
    typeof value === "string" && value !== ""
      ? texts.indexOf(value)
      : value === "" || value === null
        ? Number.NaN
        : Number(value);
  const meanings =
    texts.length === 0 ? {} : { flag_meanings: texts.map((text) => text.replaceAll(" ", "_")).join(" ") };
  return {
    name,
    values: Float64Array.from(values, number),
    attributes: { long_name: title, ...meanings },
  };
}

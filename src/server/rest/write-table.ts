/** Writes the table of an analysis as CSV or as a NumPy file of named columns. */
import { type AnalysisTable, tableLines } from "../../analysis/table.js";
import { RequestError } from "../../errors.js";
import { npyHeader } from "./numpy-files.js";

/** Forms of an analysis, the default first; all but JSON are tables. */
export const ANALYSIS_TYPES = ["application/json", "text/csv", "application/x-npy"] as const;

/** Rows of a passage. */
const PASSAGE_ROWS = 512;

/** The passages of a table in a form. @throws RequestError for names of columns that no NumPy file holds */
export function tablePassages(table: AnalysisTable, type: "text/csv" | "application/x-npy"): Generator<Buffer> {
  return type === "text/csv" ? csvPassages(table) : npyPassages(table);
}

function* csvPassages(table: AnalysisTable): Generator<Buffer> {
  let lines: string[] = [];
  for (const line of tableLines(table)) {
    lines.push(line);
    if (lines.length < PASSAGE_ROWS) continue;
    yield Buffer.from(lines.join(""));
    lines = [];
  }
  yield Buffer.from(lines.join(""));
}

/** Numbers and truths are float64, with NaN for what is missing; texts are UTF-32 of the longest one's length. */
function npyPassages({ columns, rows }: AnalysisTable): Generator<Buffer> {
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
      else
        for (const [i, letter] of [...String(value)].entries())
          into.writeUInt32LE(letter.codePointAt(0) ?? 0, at + 4 * i);
      at += sizes[c] as number;
    }
  };
  return (function* () {
    yield head;
    for (let from = 0; from < rows.length; from += PASSAGE_ROWS) {
      const some = rows.slice(from, from + PASSAGE_ROWS);
      const passage = Buffer.alloc(width * some.length);
      for (const [i, row] of some.entries()) write(row, passage, width * i);
      yield passage;
    }
  })();
}

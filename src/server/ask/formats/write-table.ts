/** Writes the table of an analysis as CSV, as NumPy files, or as the columns of a NetCDF file. */
import { dimensionOfPowers, unitIn } from "../../../analysis/dimensions.js";
import type { GroupAnswer } from "../../../analysis/reductions.js";
import { type AnalysisTable, tableLines } from "../../../analysis/table.js";
import type { NumberColumn, NumberTable } from "../../../engine/cutouts/cutout-thread.js";
import { RequestError } from "../../../shared/errors.js";
import { type Column, columnOf, type Outcome } from "../answer.js";
import { fileNames } from "../question/what.js";
import type { TextColumn } from "./column-files.js";
import { npyHeader, npzFile, numberArray, textArray, textsArray, writeLetters } from "./numpy-files.js";
import { attributesOf } from "./origin.js";

const CHUNK_ROWS = 512;

export function* csvChunks(table: AnalysisTable): Generator<Buffer> {
  let lines: string[] = [];
  for (const line of tableLines(table)) {
    lines.push(line);
    if (lines.length < CHUNK_ROWS) continue;
    yield Buffer.from(lines.join(""));
    lines = [];
  }
  yield Buffer.from(lines.join(""));
}

/** The columns of a table: texts, or numbers, NaN where they are missing. */
export function tableColumns({ columns, rows }: AnalysisTable): readonly (Column | TextColumn)[] {
  return columns.map((name, c) => {
    const values = rows.map((row) => row[c]);
    if (values.some((value) => typeof value === "string" && value !== ""))
      return { name, texts: values.map((value) => String(value ?? "")) };
    const number = (value: unknown): number => (value === "" || value === null ? Number.NaN : Number(value));
    return columnOf(name, Float64Array.from(values, number));
  });
}

export function tableArchive(table: AnalysisTable, origin: Readonly<Record<string, string>>): AsyncGenerator<Buffer> {
  const arrays = tableColumns(table).map((column) => {
    const name = column.name.replaceAll("/", "_");
    return "texts" in column ? textsArray(name, column.texts) : numberArray(name, column.values as Float64Array);
  });
  return npzFile([...arrays, ...Object.entries(origin).map(([name, text]) => textArray(name, text))]);
}

/**
 * Columns as .npy rows: numbers and booleans as float64, NaN if missing; texts as UTF-32 of the longest one.
 * @throws RequestError for names that no NumPy file holds
 */
export function npyChunks(table: AnalysisTable): Generator<Buffer> {
  const columns = tableColumns(table).map((column) => {
    const letters = "texts" in column ? Math.max(...column.texts.map(({ length }) => length)) : 0;
    return { ...column, type: letters === 0 ? "<f8" : `<U${letters}`, size: letters === 0 ? 8 : 4 * letters };
  });
  const list = columns.map(({ name, type }) => `('${name.replaceAll(/[\\']/g, "\\$&")}', '${type}')`).join(", ");
  if (list.length > 60_000)
    throw new RequestError("Unsupported", "The names of the columns are too long for a NumPy file: take CSV.");
  const { length: rows } = table.rows;
  const head = npyHeader([rows], `[${list}]`);
  const width = columns.reduce((sum, { size }) => sum + size, 0);
  return (function* () {
    yield head;
    for (let from = 0; from < rows; from += CHUNK_ROWS) {
      const chunk = Buffer.alloc(width * Math.min(CHUNK_ROWS, rows - from));
      for (let at = 0, row = from; at < chunk.length; row++)
        for (const column of columns) {
          if ("texts" in column) writeLetters(column.texts[row], chunk, at);
          else chunk.writeDoubleLE((column.values as Float64Array)[row], at);
          at += column.size;
        }
      yield chunk;
    }
  })();
}

/** Columns by their powers of the units of a dataset, and those in the unit of a quantity. */
const MEASURED = [
  [/^([xyz]|r_[xyz]|(wave|integral_)?length|centre|box)$/, { length: 1 }],
  [/^(inertia|mean_square|eigenvalue)$/, { length: 2 }],
  [/^k/, { length: -1 }],
  [/^(t|time)$/, { time: 1 }],
  [/^omega$/, { time: -1 }],
] as const;
/** A column of a quantity of structures, such as `properties.u.x.mean`. */
const PROPERTY = /^properties\.(.+)\.(\w+)$/;
const OF_QUANTITIES = /^(mean|mean_se|min|max|values?)$/;

/** The unit of each column; null where an answer states none. */
function unitsOf(columns: readonly string[], body: GroupAnswer, { dataset }: Outcome): readonly (string | null)[] {
  const units = (body.units ?? {}) as Readonly<Record<string, string>>;
  const results = (body.results ?? [{ of: Object.keys(units) }]) as readonly GroupAnswer[];
  const common = (member: "of" | "on"): string | null => {
    const texts = results.flatMap((one) => [one[member] ?? one.of].flat());
    const [unit = null, ...others] = new Set(texts.map((text) => units[String(text)]));
    return others.length === 0 ? unit : null;
  };
  // Nodes may weigh 1 instead of their volumes.
  const weight = { length: body.weights === "volume" ? 3 : 0 };
  return columns.map((column) => {
    const [, name = "", of = ""] = /^(\w+)(?:\.(.+))?$/.exec(column.replace(PROPERTY, "$2.$1")) ?? [];
    if (name === "volume" || name === "integral")
      return unitIn(dimensionOfPowers({ ...units, ...dataset.units }, { ...(of && { [of]: 1 }), ...weight }));
    const [, powers] = MEASURED.find(([pattern]) => pattern.test(name)) ?? [];
    if (powers !== undefined) return unitIn(dimensionOfPowers(dataset.units, powers));
    if (/^(from|to)$/.test(name)) return common("on");
    return OF_QUANTITIES.test(name) ? (units[of] ?? common("of")) : null;
  });
}

/** The numbers of a table for a NetCDF file: along the column on its plot's x axis if that ascends, else by row. */
export function numberTable(table: AnalysisTable, body: GroupAnswer, answered: Outcome): NumberTable {
  const [names, units] = [fileNames(table.columns), unitsOf(table.columns, body, answered)];
  const all = tableColumns(table).map((column, c) => numberColumn(names[c], column, units[c]));
  const ordered = all[table.columns.indexOf(table.plot?.x ?? "")];
  const ascends = ordered?.values.every((value, i) => i === 0 || value > Number(ordered.values[i - 1])) === true;
  const values = Float64Array.from(table.rows.keys());
  const numbers = { name: "row", values, attributes: { long_name: "number of the row" } };
  const along = ascends && ordered !== undefined ? ordered : numbers;
  return { along, columns: all.filter((column) => column !== along), about: attributesOf(answered) };
}

/** A column; texts are numbers of what `flag_meanings` lists, from 0 on. */
function numberColumn(name: string, column: Column | TextColumn, units: string | null): NumberColumn {
  const attributes = { long_name: column.name, ...(units && { units }) };
  if (!("texts" in column)) return { name, values: column.values as Float64Array, attributes };
  const texts = [...new Set(column.texts.filter((text) => text !== ""))];
  const values = Float64Array.from(column.texts, (text) => (text === "" ? Number.NaN : texts.indexOf(text)));
  const meanings = texts.map((text) => text.replaceAll(" ", "_")).join(" ");
  return { name, values, attributes: { ...attributes, flag_meanings: meanings } };
}

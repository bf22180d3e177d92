/** Answers as arrays: the columns of rows, the quantities and coordinates of grids; and their numbers as bytes. */
import type { Format } from "../../../shared/calls.js";
import { blockOf, LongNumbers, type Numbers, strided, type Values } from "../../../storage/tools/long-numbers.js";
import type { AnsweredQuantity, Column, GridAnswer, GridDimension, RowsAnswer } from "../answer.js";
import { columnOf, columnsOf } from "../answer.js";
import { checkAlone } from "../faults.js";
import { fileNames } from "../question/what.js";

/** Numbers taken from an answer at a time. */
const BLOCK_NUMBERS = 16 * 1024;

/** The arrays of an answer by name: columns of rows, quantities and coordinates of a grid. */
export interface NamedNumbers {
  readonly name: string;
  /** Its name outside files. */
  readonly title: string;
  readonly unit: string | null;
  readonly dims: readonly string[];
  readonly shape: readonly number[];
  readonly values: Values;
  /** Whether it holds the coordinates of the dimension of its name. */
  readonly isScale: boolean;
}

export function arraysOf(answer: RowsAnswer | GridAnswer): readonly NamedNumbers[] {
  if (answer.kind === "rows") {
    const { columns } = rowsOf(answer);
    const names = fileNames(columns.map(({ name }) => name));
    return columns.map((column, c) => ({
      name: names[c],
      title: column.name,
      unit: column.unit,
      dims: ["row"],
      shape: [answer.count],
      values: strided(column.values, column.stride, column.offset, answer.count),
      isScale: false,
    }));
  }
  const { dims, scalars, quantities } = answer;
  const names = fileNames(quantities.map(({ name }) => name));
  const coordinatesOf = ({ name, coordinates, unit }: GridDimension, isScale: boolean) => ({
    name,
    title: name,
    unit,
    dims: isScale ? [name] : [],
    shape: isScale ? [coordinates.length] : [],
    values: coordinates,
    isScale,
  });
  const data = quantities.map(({ name: title, unit, shape, columns, values }, q) => ({
    name: names[q],
    title,
    unit,
    values,
    isScale: false,
    dims: [...dims.map(({ name }) => name), ...(shape.length === 0 ? [] : [`component${columns.length}`])],
    shape: [...dims.map(({ coordinates }) => coordinates.length), ...(shape.length === 0 ? [] : [columns.length])],
  }));
  return [
    ...dims.map((dim) => coordinatesOf(dim, true)),
    ...scalars.map((fixed) => coordinatesOf(fixed, false)),
    ...data,
  ];
}

export interface Rows {
  readonly columns: readonly Column[];
  readonly count: number;
}

/** An answer as rows; a grid has x, y, z and t where they are dimensions, x fastest. */
export function rowsOf(answer: RowsAnswer | GridAnswer): Rows {
  if (answer.kind === "rows")
    return { columns: [...answer.leadColumns, ...columnsOf(answer.quantities)], count: answer.count };
  const { dims, quantities } = answer;
  const count = dims.reduce((product, { coordinates }) => product * coordinates.length, 1);
  let span = count;
  const lead = dims.map(({ name, coordinates, unit }) => {
    span /= coordinates.length;
    const each = span;
    const values = new LongNumbers("<f8", count, (from, to) =>
      Float64Array.from(
        { length: to - from },
        (_, i) => coordinates[Math.floor((from + i) / each) % coordinates.length],
      ),
    );
    return columnOf(name, values, unit);
  });
  const order = ["x", "y", "z", "t"];
  return {
    columns: [...lead.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name)), ...columnsOf(quantities)],
    count,
  };
}

export function arrayShape(answer: RowsAnswer | GridAnswer, { shape }: AnsweredQuantity): readonly number[] {
  const lengths = answer.kind === "rows" ? answer.shape : answer.dims.map(({ coordinates }) => coordinates.length);
  return [...lengths, ...shape];
}

/** The only quantity of an answer. Throws RequestError if there are several. */
export function onlyQuantity({ quantities, ...answer }: RowsAnswer | GridAnswer, format: Format): AnsweredQuantity {
  const places = answer.kind === "rows" ? answer.positions : undefined;
  const [only = places as AnsweredQuantity] = quantities;
  checkAlone(quantities.length || (places === undefined ? 0 : 1), format);
  return only;
}

export async function* blocksOf(
  values: Values,
): AsyncGenerator<{ readonly from: number; readonly numbers: Numbers }, undefined> {
  for (let from = 0; from < values.length; from += BLOCK_NUMBERS)
    yield { from, numbers: await blockOf(values, from, Math.min(values.length, from + BLOCK_NUMBERS)) };
}

export async function* chunksOf(values: Values): AsyncGenerator<Buffer, undefined> {
  // Copies: nothing is sent from memory that workers may write to.
  for await (const { numbers } of blocksOf(values)) yield bytesIn(numbers);
}

export const bytesIn = ({ buffer, byteOffset, byteLength }: Numbers): Buffer =>
  Buffer.from(new Uint8Array(buffer, byteOffset, byteLength));

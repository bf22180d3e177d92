/** Writes values on a grid, or a table, as NetCDF-4 by the CF conventions, with axes as dimension scales. */
import { setImmediate } from "node:timers/promises";
import { Hdf5Writer } from "../hdf5/writer.js";
import { LongNumbers, slabLengths, slabsOf, typeOf, type Values } from "./long-numbers.js";

const TYPES = { "<f4": "float32", "<f8": "float64", "<i4": "int32" } as const;
const SLAB_NUMBERS = 256 * 1024;

/** The coordinates of an axis, or a fixed position or time of the whole grid, without a dimension. */
export interface GridCoordinate {
  readonly name: string;
  readonly coordinates: Float64Array;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface GridVariable {
  readonly name: string;
  readonly values: Values;
  /** Names of its axes, the slowest first. */
  readonly axes: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
}

export interface SampledGrid {
  readonly variables: readonly GridVariable[];
  readonly axes: readonly GridCoordinate[];
  readonly scalars: readonly GridCoordinate[];
  readonly about: Readonly<Record<string, string>>;
}

export interface TableColumn {
  readonly name: string;
  readonly values: Float64Array;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Columns along the one that orders the rows, or along row numbers. */
export interface NumberTable {
  readonly along: TableColumn;
  readonly columns: readonly TableColumn[];
  readonly about: SampledGrid["about"];
}

export async function writeTableFile(path: string, { along, columns, about }: NumberTable): Promise<void> {
  const axis = { ...along, coordinates: along.values };
  const variables = columns.map((column) => ({ ...column, axes: [along.name] }));
  await writeGridFile(path, { variables, axes: [axis], scalars: [], about });
}

/** @throws DataError if the file cannot be written */
export async function writeGridFile(path: string, grid: SampledGrid): Promise<void> {
  const { variables, axes, scalars, about } = grid;
  await Hdf5Writer.write(path, async (writer) => {
    writer.attribute("Conventions", "CF-1.11");
    for (const [name, text] of Object.entries(about)) writer.attribute(name, text);
    for (const { name, coordinates, attributes: own } of axes) {
      writer.whole(name, "float64", [coordinates.length], coordinates);
      writer.scale(name);
      writer.describe(name, own);
    }
    for (const { name, coordinates, attributes: own } of scalars) {
      writer.whole(name, "float64", [], coordinates);
      writer.describe(name, own);
    }
    const lengths = new Map(axes.map(({ name, coordinates }) => [name, coordinates.length]));
    for (const { name, values, axes: along, attributes } of variables) {
      const shape = along.map((axis) => lengths.get(axis) as number);
      if (values instanceof LongNumbers) await writeLong(writer, name, shape, values);
      else writer.whole(name, TYPES[typeOf(values)], shape, values);
      const at = scalars.map((scalar) => scalar.name).join(" ");
      writer.describe(name, at === "" ? attributes : { ...attributes, coordinates: at });
      for (const [d, axis] of along.entries()) writer.attach(name, d, axis);
    }
  });
}

async function writeLong(
  writer: Hdf5Writer,
  path: string,
  shape: readonly number[],
  values: LongNumbers,
): Promise<void> {
  const chunks = slabLengths(shape, SLAB_NUMBERS);
  const write = writer.dataset({ path, type: TYPES[values.type], shape, chunks, filter: "none" });
  for (const { start, count, from, to } of slabsOf(shape, chunks)) {
    write(start, count, await values.read(from, to));
    await setImmediate();
  }
}

/** Writes values on a grid, or a table, as NetCDF-4 by the CF conventions, with axes as dimension scales. */
import { setImmediate } from "node:timers/promises";
import { Hdf5Writer } from "../hdf5/writer.js";
import { LongNumbers, slabLengths, slabsOf, typeOf, type Values } from "./long-numbers.js";

const TYPES = { "<f4": "float32", "<f8": "float64", "<i4": "int32" } as const;
const SLAB_NUMBERS = 256 * 1024;

/** A column of a table, the coordinates of an axis, or a fixed position or time of a grid, without a dimension. */
export interface NumberColumn {
  readonly name: string;
  readonly values: Float64Array;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface GridVariable {
  readonly name: string;
  readonly values: Values;
  readonly axes: readonly string[];
  readonly attributes: Readonly<Record<string, string>>;
}

export interface SampledGrid {
  readonly variables: readonly GridVariable[];
  readonly axes: readonly NumberColumn[];
  readonly scalars: readonly NumberColumn[];
  readonly about: Readonly<Record<string, string>>;
}

/** Columns along the one that orders the rows, or along row numbers. */
export interface NumberTable {
  readonly along: NumberColumn;
  readonly columns: readonly NumberColumn[];
  readonly about: SampledGrid["about"];
}

export async function writeTableFile(path: string, { along, columns, about }: NumberTable): Promise<void> {
  const variables = columns.map((column) => ({ ...column, axes: [along.name] }));
  await writeGridFile(path, { variables, axes: [along], scalars: [], about });
}

/** @throws DataError if the file cannot be written */
export async function writeGridFile(path: string, grid: SampledGrid): Promise<void> {
  const { variables, axes, scalars, about } = grid;
  await Hdf5Writer.write(path, async (writer) => {
    writer.attribute("Conventions", "CF-1.11");
    for (const [name, text] of Object.entries(about)) writer.attribute(name, text);
    for (const { name, values, attributes: own } of axes) {
      writer.whole(name, "float64", [values.length], values);
      writer.scale(name);
      writer.describe(name, own);
    }
    for (const { name, values, attributes: own } of scalars) {
      writer.whole(name, "float64", [], values);
      writer.describe(name, own);
    }
    const lengths = new Map(axes.map(({ name, values }) => [name, values.length]));
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

/** Writes a quantity sampled on a grid as NetCDF-4 by the CF conventions, its axes as dimension scales. */
import { Hdf5Writer } from "../hdf5/writer.js";

/** An axis of a grid, or a place or time of the whole of it, which has one coordinate and no dimension. */
export interface GridCoordinate {
  readonly name: string;
  readonly coordinates: Float64Array;
  readonly attributes: Readonly<Record<string, string>>;
}

/** A sampled quantity. */
export interface SampledGrid {
  readonly variable: string;
  readonly values: Float32Array;
  /** The axes, the one that varies slowest first. */
  readonly axes: readonly GridCoordinate[];
  /** Where and when the whole grid is. */
  readonly scalars: readonly GridCoordinate[];
  readonly attributes: Readonly<Record<string, string>>;
  /** Attributes of the file. */
  readonly about: Readonly<Record<string, string>>;
}

/** @throws DataError if the file cannot be written */
export async function writeGridFile(path: string, grid: SampledGrid): Promise<void> {
  const { variable, values, axes, scalars, attributes, about } = grid;
  const writer = await Hdf5Writer.create(path);
  try {
    writer.attribute("Conventions", "CF-1.11");
    for (const [name, text] of Object.entries(about)) writer.attribute(name, text);
    for (const { name, coordinates, attributes: told } of axes) {
      writer.whole(name, "float64", [coordinates.length], coordinates);
      writer.scale(name);
      writer.describe(name, told);
    }
    for (const { name, coordinates, attributes: told } of scalars) {
      writer.whole(name, "float64", [], coordinates);
      writer.describe(name, told);
    }
    writer.whole(
      variable,
      "float32",
      axes.map(({ coordinates }) => coordinates.length),
      values,
    );
    writer.describe(variable, { ...attributes, coordinates: scalars.map(({ name }) => name).join(" ") });
    for (const [d, { name }] of axes.entries()) writer.attach(variable, d, name);
    writer.close();
  } finally {
    writer.discard();
  }
}

/** Writes a table as NetCDF-4: a variable for each column, along the one that orders the rows or their numbers. */
import { Hdf5Writer } from "../hdf5/writer.js";

export interface TableColumn {
  readonly name: string;
  readonly values: Float64Array;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface NumberTable {
  readonly along: TableColumn;
  readonly columns: readonly TableColumn[];
  /** Attributes of the file. */
  readonly about: Readonly<Record<string, string>>;
}

/** @throws DataError if the file cannot be written */
export async function writeTableFile(path: string, { along, columns, about }: NumberTable): Promise<void> {
  const writer = await Hdf5Writer.create(path);
  try {
    writer.attribute("Conventions", "CF-1.11");
    for (const [name, text] of Object.entries(about)) writer.attribute(name, text);
    writer.whole(along.name, "float64", [along.values.length], along.values);
    writer.scale(along.name);
    writer.describe(along.name, along.attributes);
    for (const { name, values, attributes } of columns) {
      writer.whole(name, "float64", [values.length], values);
      writer.describe(name, attributes);
      writer.attach(name, 0, along.name);
    }
    writer.close();
  } finally {
    writer.discard();
  }
}

/** Writes paths of particles as NetCDF by the CF conventions. */
import { Hdf5Writer } from "../hdf5/writer.js";

/** Records of particles; the records of a particle are consecutive. */
export interface PathRecords {
  readonly particles: number;
  readonly records: number;
  /** The time of each record, or the time since the start of its path. */
  readonly times: readonly number[];
  readonly columns: readonly string[];
  /** Units of the times, then of the columns; null where none is stated. */
  readonly units: readonly (string | null)[];
  /** `particles * records * columns.length` numbers. */
  readonly values: Float32Array;
}

function timeAt({ times }: PathRecords, starts: Float64Array | null, particle: number, record: number): number {
  // Sums of decimal times have at most twelve meaningful digits.
  return Number(((starts?.[particle] ?? 0) + times[record]).toPrecision(12));
}

function variableName(column: string, taken: Set<string>): string {
  const plain = column.replaceAll(/[^A-Za-z0-9_]/g, "_");
  const base = /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
  let name = base;
  for (let n = 2; taken.has(name); n++) name = `${base}_${n}`;
  taken.add(name);
  return name;
}

/**
 * Source: CF conventions 1.11, section H.4.1 (multidimensional array representation of trajectories).
 * @throws DataError if the file cannot be written
 */
export async function writeTrajectoryFile(
  path: string,
  paths: PathRecords,
  starts: Float64Array | null,
  dataset: string,
  about: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { particles, records, columns, units, values } = paths;
  const shape = [particles, records];
  await Hdf5Writer.write(path, (writer) => {
    writer.attribute("Conventions", "CF-1.11");
    writer.attribute("featureType", "trajectory");
    writer.attribute("title", `Paths of particles in ${dataset}`);
    for (const [name, text] of Object.entries(about)) if (name !== "title") writer.attribute(name, text);
    for (const [name, count] of [
      ["trajectory", particles],
      ["obs", records],
    ] as const) {
      const numbers = Int32Array.from({ length: count }, (_, i) => i);
      writer.whole(name, "int32", [count], numbers);
      writer.scale(name);
    }
    writer.describe("trajectory", { cf_role: "trajectory_id", long_name: "number of the particle" });
    const times = Float64Array.from({ length: particles * records }, (_, i) =>
      timeAt(paths, starts, Math.floor(i / records), i % records),
    );
    writer.whole("time", "float64", shape, times);
    writer.describe("time", { axis: "T", long_name: "time of the simulation", units: units[0] });
    const taken = new Set(["trajectory", "obs", "time"]);
    const names = columns.map((column) => variableName(column, taken));
    for (const [c, name] of names.entries()) {
      writer.whole(
        name,
        "float32",
        shape,
        values.filter((_, i) => i % columns.length === c),
      );
      const axis = "xyz".indexOf(name) >= 0 && name.length === 1 ? { axis: name.toUpperCase() } : null;
      writer.describe(name, { long_name: columns[c], units: units[c + 1], ...(axis ?? { coordinates: "time x y z" }) });
    }
    for (const name of ["time", ...names])
      for (const [d, scale] of ["trajectory", "obs"].entries()) writer.attach(name, d, scale);
  });
}

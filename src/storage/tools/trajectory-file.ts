/** Writes paths of particles as CSV, as a NumPy array with named columns, and as NetCDF by the CF conventions. */
import { Hdf5Writer } from "../hdf5/writer.js";

/** Records of particles in their order: those of a particle follow one another. */
export interface PathRecords {
  readonly particles: number;
  readonly records: number;
  /** The time of each record, or how long after the start of its path. */
  readonly times: readonly number[];
  readonly columns: readonly string[];
  /** `particles * records * columns.length` numbers. */
  readonly values: Float32Array;
}

function timeAt({ times }: PathRecords, starts: Float64Array | null, particle: number, record: number): number {
  // Sums of decimal times have no more than twelve digits that mean something.
  return Number(((starts?.[particle] ?? 0) + times[record]).toPrecision(12));
}

/** Lines of CSV with the number of the particle, the time, and the columns. */
export function* trajectoryCsv(paths: PathRecords, starts: Float64Array | null): Generator<string> {
  const { particles, records, columns, values } = paths;
  const cell = (name: string) => (/[",]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);
  yield `${["particle", "time", ...columns].map(cell).join(",")}\n`;
  for (let i = 0; i < particles; i++) {
    let text = "";
    for (let r = 0; r < records; r++) {
      const at = columns.length * (i * records + r);
      const numbers = Array.from(values.subarray(at, at + columns.length), shortest);
      text += `${[i, timeAt(paths, starts, i, r), ...numbers].join(",")}\n`;
    }
    yield text;
  }
}

function shortest(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const text = Number(value.toPrecision(digits));
    if (Math.fround(text) === value) return text;
  }
  return value;
}

/** A NumPy array of shape (particles, records), whose elements have a time in float64 and the columns in float32. */
export function trajectoryNpy(paths: PathRecords, starts: Float64Array | null): Uint8Array {
  const { particles, records, columns, values } = paths;
  const fields = [["time", "<f8"], ...columns.map((name) => [name, "<f4"])];
  const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
  const types = fields.map(([name, type]) => `(${quoted(name)}, ${quoted(type)})`).join(", ");
  const dictionary = `{'descr': [${types}], 'fortran_order': False, 'shape': (${particles}, ${records}), }`;
  const start = Math.ceil((12 + dictionary.length + 1) / 64) * 64;
  const width = 8 + 4 * columns.length;
  const bytes = Buffer.alloc(start + width * particles * records);
  bytes.write("\x93NUMPY\x02\x00", 0, "latin1");
  bytes.writeUInt32LE(start - 12, 8);
  bytes.write(`${dictionary.padEnd(start - 13)}\n`, 12, "latin1");
  for (let i = 0, at = start; i < particles * records; i++) {
    bytes.writeDoubleLE(timeAt(paths, starts, Math.floor(i / records), i % records), at);
    at += 8;
    for (let c = 0; c < columns.length; c++, at += 4) bytes.writeFloatLE(values[columns.length * i + c], at);
  }
  return bytes;
}

function variableName(column: string, taken: Set<string>): string {
  const plain = column.replaceAll(/[^A-Za-z0-9_]+/g, "_").replaceAll(/^_+|_+$/g, "");
  const base = /^[A-Za-z]/.test(plain) ? plain : `q_${plain}`;
  let name = base;
  for (let n = 2; taken.has(name); n++) name = `${base}_${n}`;
  taken.add(name);
  return name;
}

/**
 * Writes NetCDF-4 in the layout of trajectories of the CF conventions: variables of the dimensions `trajectory` and
 * `obs`.
 *
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
  const { particles, records, columns, values } = paths;
  const writer = await Hdf5Writer.create(path);
  const shape = [particles, records];
  try {
    writer.attribute("Conventions", "CF-1.11");
    writer.attribute("featureType", "trajectory");
    writer.attribute("title", `Paths of particles in ${dataset}`);
    for (const [name, text] of Object.entries(about)) if (name !== "title") writer.attribute(name, text);
    for (const [name, count] of [
      ["trajectory", particles],
      ["obs", records],
    ] as const) {
      writer.whole(
        name,
        "int32",
        [count],
        Int32Array.from({ length: count }, (_, i) => i),
      );
      writer.scale(name);
    }
    writer.describe("trajectory", { cf_role: "trajectory_id", long_name: "number of the particle" });
    const times = Float64Array.from({ length: particles * records }, (_, i) =>
      timeAt(paths, starts, Math.floor(i / records), i % records),
    );
    writer.whole("time", "float64", shape, times);
    writer.describe("time", { axis: "T", long_name: "time of the simulation" });
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
      writer.describe(name, { long_name: columns[c], ...(axis ?? { coordinates: "time x y z" }) });
    }
    for (const name of ["time", ...names])
      for (const [d, scale] of ["trajectory", "obs"].entries()) writer.attach(name, d, scale);
    writer.close();
  } finally {
    writer.discard();
  }
}

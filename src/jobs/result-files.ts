/** Writes the numbers of a result as HDF5 and as NetCDF-4, in bounded memory. */
import { Hdf5Writer, product } from "../storage/hdf5/writer.js";

/** Forms of results that the service writes for jobs. */
export interface ServiceForms {
  /** The header of a NumPy file of a shape. */
  npyHead(shape: readonly number[]): Buffer;
  /** A Parquet file of columns. @param numbers whole records each @param about what it says of their origin */
  parquet(
    columns: readonly string[],
    numbers: AsyncIterable<Float32Array>,
    about: Readonly<Record<string, string>>,
  ): AsyncIterable<Buffer>;
}

const STEP_NUMBERS = 64 * 1024;

export interface ResultNumbers {
  /** Times if there are several, points, records of a point if there are several, components. */
  readonly shape: readonly number[];
  /** The times, if they are the first dimension. */
  readonly times: readonly number[] | null;
  readonly columns: readonly string[];
  /** What the file says of their origin. */
  readonly about: Readonly<Record<string, string>>;
  /** Little-endian float32, in C order. */
  readonly octets: AsyncIterable<Buffer>;
}

/** The numbers of octets, as many at a time as `lengths` says. @throws Error if there are fewer */
export async function* numbersIn(
  octets: AsyncIterable<Buffer>,
  lengths: Iterable<number>,
): AsyncGenerator<Float32Array> {
  const parts = octets[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  try {
    for (const length of lengths) {
      while (rest.length < 4 * length) {
        const { value, done } = await parts.next();
        if (done) throw new Error("the outputs have fewer numbers than their shape says");
        rest = rest.length === 0 ? value : Buffer.concat([rest, value]);
      }
      yield new Float32Array(rest.buffer.slice(rest.byteOffset, rest.byteOffset + 4 * length) as ArrayBuffer);
      rest = rest.subarray(4 * length);
    }
  } finally {
    await parts.return?.();
  }
}

/** Steps along a dimension of elements of `width` numbers: the first element of each, and how many. */
export function* stepsOf(
  length: number,
  width: number,
  numbers = STEP_NUMBERS,
): Generator<readonly [first: number, count: number]> {
  const most = Math.max(1, Math.floor(numbers / width));
  for (let first = 0; first < length; first += most) yield [first, Math.min(most, length - first)];
}

/** Some points of a result at one of its times. */
interface ResultStep {
  /** Number of the time, and of the step in it. */
  readonly time: number;
  readonly number: number;
  /** The first point, and how many. */
  readonly first: number;
  readonly count: number;
  readonly values: Float32Array;
}

/** How a result is cut: dimensions before the points, dimensions behind them, and points of a step. */
export function cutOf({ shape, times }: ResultNumbers, numbers = STEP_NUMBERS) {
  const lead = times === null ? [] : [times.length];
  const [points = 0, ...row] = shape.slice(lead.length);
  const steps = [...stepsOf(points, product(row), numbers)];
  return { lead, points, row, steps, rows: steps[0]?.[1] ?? 1 };
}

/** The steps of a result, of about `numbers` numbers each. @throws Error if there are fewer than its shape says */
export async function* stepsIn(result: ResultNumbers, numbers = STEP_NUMBERS): AsyncGenerator<ResultStep> {
  const { row, steps } = cutOf(result, numbers);
  const width = product(row);
  const lengths = (result.times ?? [0]).flatMap(() => steps.map(([, count]) => count * width));
  let done = 0;
  for await (const values of numbersIn(result.octets, lengths)) {
    const [time, number] = [Math.floor(done / steps.length), done % steps.length];
    const [first, count] = steps[number] as readonly [number, number];
    yield { time, number, first, count, values };
    done++;
  }
}

/** Writes a dataset `values`. @throws DataError if the file cannot be written */
export async function writeHdf5(path: string, result: ResultNumbers): Promise<void> {
  const writer = await Hdf5Writer.create(path);
  try {
    const { lead, row, rows } = cutOf(result);
    const chunks = [...lead.map(() => 1), rows, ...row];
    const write = writer.dataset({ path: "/values", type: "float32", shape: result.shape, chunks, filter: "none" });
    for await (const { time, first, count, values } of stepsIn(result))
      write([...lead.map(() => time), first, ...row.map(() => 0)], [...lead.map(() => 1), count, ...row], values);
    writer.close();
  } finally {
    writer.discard();
  }
}

/**
 * Writes a variable for each component, of the dimensions `time`, `point` and `record`, as far as there are several.
 *
 * Source: CF conventions 1.11, section 9 (discrete sampling geometries), without coordinates.
 * @throws DataError if the file cannot be written
 */
export async function writeNetcdf(path: string, result: ResultNumbers): Promise<void> {
  const { shape, times, columns, about } = result;
  const writer = await Hdf5Writer.create(path);
  try {
    writer.attribute("Conventions", "CF-1.11");
    for (const [name, text] of Object.entries(about)) writer.attribute(`fieldprobe_${name}`, text);
    const { lead, points, row, rows } = cutOf(result);
    const more = row.slice(0, -1);
    const scales = [...lead.map(() => "time"), "point", ...more.map(() => "record")];
    if (times !== null) {
      writer.whole("time", "float64", [times.length], Float64Array.from(times));
      writer.scale("time");
      writer.describe("time", { axis: "T", long_name: "time of the simulation" });
    }
    for (const records of more) {
      writer.whole("record", "int32", [records], numbersFrom(0, records));
      writer.scale("record");
    }
    const chunked = { chunks: [...lead.map(() => 1), rows, ...more], filter: "none" } as const;
    const variable = { type: "float32", shape: shape.slice(0, -1), ...chunked } as const;
    const writes = columns.map((name) => writer.dataset({ path: `/${name}`, ...variable }));
    const numbering = { type: "int32", shape: [points], chunks: [rows], filter: "gzip" } as const;
    const writeNumbers = writer.dataset({ path: "/point", ...numbering });
    for await (const { time, first, count, values } of stepsIn(result)) {
      const start = [...lead.map(() => time), first, ...more.map(() => 0)];
      for (const [c, write] of writes.entries())
        write(start, [...lead.map(() => 1), count, ...more], componentOf(values, c, columns.length));
      if (time === 0) writeNumbers([first], [count], numbersFrom(first, count));
    }
    writer.scale("point");
    for (const name of columns) for (const [d, scale] of scales.entries()) writer.attach(name, d, scale);
    writer.close();
  } finally {
    writer.discard();
  }
}

function numbersFrom(first: number, count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => first + i);
}

/** A component of records of `width` numbers. */
function componentOf(values: Float32Array, c: number, width: number): Float32Array {
  const out = new Float32Array(values.length / width);
  for (let i = 0; i < out.length; i++) out[i] = values[width * i + c] as number;
  return out;
}

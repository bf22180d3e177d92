/** Writes records as Parquet files, whose columns have names. */
import { setImmediate } from "node:timers/promises";
import { lastRead } from "../../../engine/contract/query.js";
import { originOf, type UnwrittenAnswer } from "./unwritten-answer.js";

/** Numbers that are written together, less than a time slice of work. */
const BATCH_NUMBERS = 131_072;

interface NamedColumn {
  readonly name: string;
  readonly values: Float32Array | Float64Array;
}

/** How many records of some components are written together. */
function mostRecords(components: number): number {
  return Math.max(1, Math.floor(BATCH_NUMBERS / components));
}

/** The columns of an answer: its components and, if there are several times, the time before them. */
function namesOf({ times, components }: UnwrittenAnswer): readonly string[] {
  return times.length > 1 ? ["time", ...components] : components;
}

/** The records of an answer, some at a time; others have their turn between. */
async function* batches({
  result,
  timeCount,
  times,
  components,
}: UnwrittenAnswer): AsyncGenerator<readonly NamedColumn[]> {
  const width = components.length;
  const most = mostRecords(width);
  const timed = result.recordTimes === undefined ? 0 : result.itemsPerPoint;
  const timeOf = (item: number): number =>
    times[timed > 0 ? item % timed : Math.floor(item / (result.items / timeCount))] as number;
  let item = 0;
  for (const part of lastRead(result)) {
    for (let from = 0; from < part.length; from += width * most) {
      const records = part.subarray(from, from + width * most);
      const count = records.length / width;
      const first = item;
      item += count;
      const columns = columnsOf(components, records);
      const time = Float64Array.from({ length: times.length > 1 ? count : 0 }, (_, i) => timeOf(first + i));
      yield times.length > 1 ? [{ name: "time", values: time }, ...columns] : columns;
      await setImmediate();
    }
  }
}

/** The Parquet file of an answer. */
export function parquetFile(answer: UnwrittenAnswer): AsyncGenerator<Buffer> {
  return writeParquet(namesOf(answer), batches(answer), originOf(answer));
}

/** The Parquet file of numbers, of which each part is whole records. */
export function parquetOf(
  columns: readonly string[],
  numbers: AsyncIterable<Float32Array>,
  about: Readonly<Record<string, string>>,
): AsyncGenerator<Buffer> {
  async function* columnsIn(): AsyncGenerator<readonly NamedColumn[]> {
    for await (const some of numbers) yield columnsOf(columns, some);
  }
  return writeParquet(columns, columnsIn(), Object.entries(about));
}

/** A column of numbers: number `stride * row + offset` of `values`. */
interface StridedColumn {
  readonly name: string;
  readonly values: Float32Array | Float64Array | Int32Array;
  readonly stride: number;
  readonly offset: number;
}

/** The Parquet file of columns, each of the type of its numbers. */
export function parquetColumns(
  columns: readonly StridedColumn[],
  rows: number,
  about: readonly (readonly [string, string])[],
): AsyncGenerator<Buffer> {
  const most = mostRecords(columns.length);
  async function* parts(): AsyncGenerator<readonly NamedColumn[]> {
    for (let from = 0; from === 0 || from < rows; from += most) {
      const count = Math.min(most, rows - from);
      yield columns.map(({ name, values, stride, offset }) => {
        const out = values instanceof Float32Array ? new Float32Array(count) : new Float64Array(count);
        for (let i = 0; i < count; i++) out[i] = values[stride * (from + i) + offset] as number;
        return { name, values: out };
      });
      await setImmediate();
    }
  }
  const doubles = columns.filter(({ values }) => !(values instanceof Float32Array)).map(({ name }) => name);
  return writeParquet(
    columns.map(({ name }) => name),
    parts(),
    about,
    doubles,
  );
}

function columnsOf(names: readonly string[], records: Float32Array): readonly NamedColumn[] {
  const width = names.length;
  return names.map((name, c) => {
    const values = new Float32Array(records.length / width);
    for (let i = 0; i < values.length; i++) values[i] = records[width * i + c] as number;
    return { name, values };
  });
}

/** Writes a Parquet file, not compressed: a row group for each batch. */
async function* writeParquet(
  columns: readonly string[],
  all: AsyncIterable<readonly NamedColumn[]>,
  about: readonly (readonly [string, string])[],
  doubles: readonly string[] = ["time"],
): AsyncGenerator<Buffer> {
  const { ByteWriter, ParquetWriter } = await import("hyparquet-writer");
  const bytes = new ByteWriter();
  const taken = (): Buffer => {
    const some = Buffer.from(bytes.getBuffer());
    bytes.index = 0;
    return some;
  };
  const typeOf = (name: string) => (doubles.includes(name) ? "DOUBLE" : "FLOAT");
  const writer = new ParquetWriter({
    writer: bytes,
    codec: "UNCOMPRESSED",
    createdBy: "fieldprobe",
    schema: [
      { name: "root", num_children: columns.length },
      ...columns.map((name) => ({ name, type: typeOf(name), repetition_type: "REQUIRED" }) as const),
    ],
    kvMetadata: about.map(([key, value]) => ({ key, value })),
  });
  for await (const batch of all) {
    const columnData = batch.map(({ name, values }) => ({ name, data: values, encoding: "PLAIN" as const }));
    writer.write({ columnData, rowGroupSize: Math.max(1, batch[0]?.values.length ?? 0) });
    yield taken();
  }
  writer.finish();
  yield taken();
}

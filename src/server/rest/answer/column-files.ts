/** Writes records as columns with names: Arrow streams and Parquet files. */
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

/**
 * An Arrow stream: a batch of records for each that is written. A batch is written when its bytes are asked for, so
 * that one is held at a time, and none is written once the reader has left.
 */
export async function* arrowStream(answer: UnwrittenAnswer): AsyncGenerator<Buffer> {
  const arrow = await import("apache-arrow");
  const { Field, Float32, Float64, makeData, RecordBatch, RecordBatchStreamWriter, Schema, Struct } = arrow;
  const written: Uint8Array[] = [];
  /** Keeps what is written here instead of in a queue, whose reader could leave. */
  class Sink extends arrow.AsyncByteQueue {
    override write(bytes: Uint8Array): void {
      written.push(bytes);
    }
  }
  const typeOf = (name: string) => (name === "time" ? new Float64() : new Float32());
  const fields = namesOf(answer).map((name) => new Field(name, typeOf(name), false));
  const schema = new Schema(fields, new Map(originOf(answer)));
  const batchOf = (columns: readonly NamedColumn[]) => {
    const children = columns.map(({ name, values }) => makeData({ type: typeOf(name), data: values as never }));
    const length = columns[0]?.values.length ?? 0;
    return new RecordBatch(schema, makeData({ type: new Struct(fields), length, children }));
  };
  const taken = (): Buffer => Buffer.concat(written.splice(0));
  const writer = new RecordBatchStreamWriter();
  writer.reset(new Sink());
  // A batch without records says what the columns are, should none follow.
  writer.write(
    batchOf(fields.map(({ name }) => ({ name, values: name === "time" ? new Float64Array(0) : new Float32Array(0) }))),
  );
  yield taken();
  for await (const columns of batches(answer)) {
    writer.write(batchOf(columns));
    yield taken();
  }
  writer.close();
  yield taken();
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

/** Records as columns. */
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
): AsyncGenerator<Buffer> {
  const { ByteWriter, ParquetWriter } = await import("hyparquet-writer");
  const bytes = new ByteWriter();
  const taken = (): Buffer => {
    const some = Buffer.from(bytes.getBuffer());
    bytes.index = 0;
    return some;
  };
  const typeOf = (name: string) => (name === "time" ? "DOUBLE" : "FLOAT");
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

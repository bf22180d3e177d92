/** Writes records as Parquet files, whose columns have names. */
import { setImmediate } from "node:timers/promises";
import { blockOf, typeOf, type Values } from "../../../storage/tools/long-numbers.js";

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

/** A column of numbers: number `stride * row + offset` of `values`. */
interface StridedColumn {
  readonly name: string;
  readonly values: Values;
  readonly stride: number;
  readonly offset: number;
}

const isSingle = (values: Values): boolean => typeOf(values) === "<f4";

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
      const some: NamedColumn[] = [];
      for (const { name, values, stride, offset } of columns) {
        const block = await blockOf(values, stride * from, stride * (from + count));
        const out = isSingle(values) ? new Float32Array(count) : new Float64Array(count);
        for (let i = 0; i < count; i++) out[i] = block[stride * i + offset] as number;
        some.push({ name, values: out });
      }
      yield some;
      await setImmediate();
    }
  }
  const doubles = columns.filter(({ values }) => !isSingle(values)).map(({ name }) => name);
  return writeParquet(
    columns.map(({ name }) => name),
    parts(),
    about,
    doubles,
  );
}

/** Writes a Parquet file, not compressed: a row group for each batch. */
async function* writeParquet(
  columns: readonly string[],
  all: AsyncIterable<readonly NamedColumn[]>,
  about: readonly (readonly [string, string])[],
  doubles: readonly string[],
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

/** Writes rows as Parquet files, whose columns have names. */
import { setImmediate } from "node:timers/promises";
import { blockOf, typeOf } from "../../../storage/tools/long-numbers.js";
import type { Column } from "../answer.js";

const BATCH_NUMBERS = 131_072;

export interface TextColumn {
  readonly name: string;
  readonly texts: readonly string[];
}

async function rowsIn(column: Column | TextColumn, from: number, count: number) {
  if ("texts" in column) return column.texts.slice(from, from + count);
  const { values, stride, offset } = column;
  const block = await blockOf(values, stride * from, stride * (from + count));
  const out = typeOf(values) === "<f4" ? new Float32Array(count) : new Float64Array(count);
  for (let i = 0; i < count; i++) out[i] = block[stride * i + offset];
  return out;
}

/** Columns as an uncompressed Parquet file, with a row group for each batch. */
export async function* parquetColumns(
  columns: readonly (Column | TextColumn)[],
  rows: number,
  about: readonly (readonly [string, string])[],
): AsyncGenerator<Buffer> {
  const { ByteWriter, ParquetWriter } = await import("hyparquet-writer");
  const bytes = new ByteWriter();
  const taken = (): Buffer => {
    const some = Buffer.from(bytes.getBuffer());
    bytes.index = 0;
    return some;
  };
  const schema = columns.map((column) => {
    const common = { name: column.name, repetition_type: "REQUIRED" } as const;
    if ("texts" in column) return { ...common, type: "BYTE_ARRAY", converted_type: "UTF8" } as const;
    return { ...common, type: typeOf(column.values) === "<f4" ? "FLOAT" : "DOUBLE" } as const;
  });
  const writer = new ParquetWriter({
    ...{ writer: bytes, codec: "UNCOMPRESSED", createdBy: "fieldprobe" },
    schema: [{ name: "root", num_children: columns.length }, ...schema],
    kvMetadata: about.map(([key, value]) => ({ key, value })),
  });
  const most = Math.max(1, Math.floor(BATCH_NUMBERS / columns.length));
  for (let from = 0; from === 0 || from < rows; from += most) {
    const count = Math.min(most, rows - from);
    const columnData: { name: string; data: Awaited<ReturnType<typeof rowsIn>>; encoding: "PLAIN" }[] = [];
    for (const column of columns)
      columnData.push({ name: column.name, data: await rowsIn(column, from, count), encoding: "PLAIN" });
    writer.write({ columnData, rowGroupSize: Math.max(1, count) });
    yield taken();
    await setImmediate();
  }
  writer.finish();
  yield taken();
}

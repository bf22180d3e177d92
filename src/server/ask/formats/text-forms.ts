/** Answers as text: JSON and CSV, some rows or numbers at a time. */
import { shortestFloat32 } from "../../../float32/format.js";
import { blockOf, type Numbers, typeOf, type Values } from "../../../storage/tools/long-numbers.js";
import type { AnsweredQuantity, Column, GridAnswer, Outcome } from "../answer.js";
import { blocksOf, type Rows, rowsOf } from "./arrays.js";
import { jsonChunks } from "./json-chunks.js";
import { originOf } from "./origin.js";

const CHUNK_BYTES = 64 * 1024;
const BLOCK_ROWS = 4096;

class TextBuffer {
  #bytes = Buffer.allocUnsafe(CHUNK_BYTES + 4096);
  #at = 0;

  get full(): boolean {
    return this.#at >= CHUNK_BYTES;
  }

  text(text: string): void {
    if (text.length > 2048) {
      this.#bytes = Buffer.concat([
        this.#bytes.subarray(0, this.#at),
        Buffer.from(text),
        Buffer.allocUnsafe(CHUNK_BYTES),
      ]);
      this.#at += Buffer.byteLength(text);
    } else this.#at += this.#bytes.write(text, this.#at);
  }

  /** Appends a number in its shortest form that reads back equal; `missing` if it is not finite. */
  number(value: number, isSingle: boolean, missing: string | null): void {
    if (missing !== null && !Number.isFinite(value)) this.text(missing);
    else this.text(isSingle ? shortestFloat32(value) : String(value));
  }

  take(): Buffer {
    const chunk = this.#bytes.subarray(0, this.#at);
    this.#bytes = Buffer.allocUnsafe(CHUNK_BYTES + 4096);
    this.#at = 0;
    return chunk;
  }
}

const isSingle = (values: Values): boolean => typeOf(values) === "<f4";

export async function* jsonOf(answered: Outcome): AsyncGenerator<Buffer, undefined> {
  const { answer } = answered;
  const head = originOf(answered);
  if (answer.kind === "table") {
    const labels = answer.labels === undefined ? {} : { labels: nestedList(answer.labels) };
    yield* jsonChunks({ ...head, ...answer.body, ...labels });
    return;
  }
  const begun = JSON.stringify({ ...head, ...answer.more }).slice(0, -1);
  if (answer.kind === "rows") {
    const rows = rowsOf(answer);
    const columns = rows.columns.map(({ name, unit }) => (unit === null ? { name } : { name, unit }));
    yield Buffer.from(`${begun},"columns":${JSON.stringify(columns)},"rows":`);
    yield* rowsText(rows, { open: "[", close: "]", between: ",", missing: "null" });
    yield Buffer.from("}\n");
    return;
  }
  const coords = Object.fromEntries(
    [...answer.dims, ...answer.scalars].map(({ name, coordinates }, i) => [
      name,
      i < answer.dims.length ? [...coordinates] : coordinates[0],
    ]),
  );
  const units = Object.fromEntries(
    [...answer.dims, ...answer.scalars, ...answer.quantities].flatMap(({ name, unit }) =>
      unit === null ? [] : [[name, unit]],
    ),
  );
  const dims = answer.dims.map(({ name }) => name);
  yield Buffer.from(
    `${begun},"dims":${JSON.stringify(dims)},"coords":${JSON.stringify(coords)},"units":${JSON.stringify(units)},"data":{`,
  );
  for (const [i, { name, values, shape }] of answer.quantities.entries()) {
    yield Buffer.from(`${i === 0 ? "" : ","}${JSON.stringify(name)}:`);
    yield* nestedText(values, [...answer.dims.map(({ coordinates }) => coordinates.length), ...shape]);
  }
  yield Buffer.from("}}\n");
}

function nestedList({ dims, quantities: [labels] }: GridAnswer): unknown {
  const { values } = labels as AnsweredQuantity;
  let level: unknown[] = Array.from(values as Numbers);
  for (const { coordinates } of dims.slice(1).toReversed()) {
    const n = coordinates.length;
    level = Array.from({ length: level.length / n }, (_, i) => level.slice(i * n, (i + 1) * n));
  }
  return level;
}

interface RowText {
  readonly open: string;
  readonly close: string;
  readonly between: string;
  readonly missing: string | null;
}

async function* rowsText({ columns, count }: Rows, { open, close, between, missing }: RowText): AsyncGenerator<Buffer> {
  const buffer = new TextBuffer();
  const isJson = open !== "";
  const single = columns.map(({ values }) => isSingle(values));
  if (isJson) buffer.text("[");
  for (let first = 0; first < count; first += BLOCK_ROWS) {
    const many = Math.min(BLOCK_ROWS, count - first);
    const blocks: Numbers[] = [];
    for (const { values, stride } of columns)
      blocks.push(await blockOf(values, stride * first, stride * (first + many)));
    for (let i = 0; i < many; i++) {
      buffer.text(isJson && first + i > 0 ? `,${open}` : open);
      for (let c = 0; c < columns.length; c++) {
        const { stride, offset } = columns[c] as Column;
        if (c > 0) buffer.text(between);
        buffer.number((blocks[c] as Numbers)[stride * i + offset] as number, single[c] as boolean, missing);
        if (buffer.full) yield buffer.take();
      }
      buffer.text(close);
    }
  }
  if (isJson) buffer.text("]");
  yield buffer.take();
}

/** Numbers as nested lists of JSON; null where they are not finite. */
async function* nestedText(values: Values, shape: readonly number[]): AsyncGenerator<Buffer> {
  const buffer = new TextBuffer();
  const single = isSingle(values);
  const spans = shape.map((_, axis) => shape.slice(axis).reduce((product, length) => product * length, 1));
  for await (const { from, numbers } of blocksOf(values)) {
    for (let n = 0, i = from; n < numbers.length; n++, i++) {
      if (i > 0) buffer.text(",");
      for (const span of spans) if (i % span === 0) buffer.text("[");
      buffer.number(numbers[n], single, "null");
      for (const span of spans) if ((i + 1) % span === 0) buffer.text("]");
      if (buffer.full) yield buffer.take();
    }
  }
  yield buffer.take();
}

const cell = (name: string): string => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);

export async function* csvOf(rows: Rows): AsyncGenerator<Buffer, undefined> {
  yield Buffer.from(`${rows.columns.map(({ name }) => cell(name)).join(",")}\r\n`);
  yield* rowsText(rows, { open: "", close: "\r\n", between: ",", missing: null });
}

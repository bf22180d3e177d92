/** Writes answers in their forms: every form of one answer has the same columns. */
import { join } from "node:path";
import type { FastifyReply } from "fastify";
import type { FieldFilter } from "../../../analysis/derived.js";
import { analysisTable } from "../../../analysis/table.js";
import type { CutoutThread, SampledGrid } from "../../../engine/cutouts/cutout-thread.js";
import { shortestFloat32 } from "../../../float32/format.js";
import { version } from "../../../shared/build.js";
import { FORMS, type FormName } from "../../../shared/calls.js";
import { COLOUR_MAPS } from "../../../shared/colour-map.js";
import { RequestError } from "../../../shared/errors.js";
import { writeGridFile } from "../../../storage/tools/grid-file.js";
import {
  blockOf,
  LongNumbers,
  type Numbers,
  numbersOf,
  slabLengths,
  slabsOf,
  strided,
  typeOf,
  type Values,
} from "../../../storage/tools/long-numbers.js";
import { arrayDocument, documentBytes, PLAIN_CODECS, rootDocument } from "../../../storage/zarr/array-document.js";
import type { RequestLife } from "../../http/request-life.js";
import { sendPassages, sendStream } from "../../http/send-answer.js";
import type { Service } from "../../http/service.js";
import {
  type Answer,
  type Answered,
  type AnsweredQuantity,
  type Column,
  columnOf,
  columnsOf,
  type GridAnswer,
  type RowsAnswer,
  type TableAnswer,
} from "../answer.js";
import { wrong } from "../faults.js";
import type { AskedScale } from "../question/read-member.js";
import { fileNames } from "../question/what.js";
import { widthsOf } from "../transforms.js";
import { parquetColumns } from "./column-files.js";
import { jsonPassages } from "./json-passages.js";
import { type NamedArray, npyHeader, npzFile, textArray } from "./numpy-files.js";
import { drawPicture, Range } from "./picture.js";
import { sendWritten } from "./send-written.js";
import { numberTable, tableArchive, tablePassages } from "./write-table.js";
import { ZipWriter } from "./zip-writer.js";

const PASSAGE_BYTES = 64 * 1024;
/** Rows, and numbers, that are taken from an answer at a time. */
const BLOCK_ROWS = 4096;
const BLOCK_NUMBERS = 16 * 1024;
/** Numbers of a file that are held in memory for the thread that writes it. */
const HELD_NUMBERS = 1 << 20;

class TextBuffer {
  #bytes = Buffer.allocUnsafe(PASSAGE_BYTES + 4096);
  #at = 0;

  get full(): boolean {
    return this.#at >= PASSAGE_BYTES;
  }

  text(text: string): void {
    if (text.length > 2048) {
      this.#bytes = Buffer.concat([
        this.#bytes.subarray(0, this.#at),
        Buffer.from(text),
        Buffer.allocUnsafe(PASSAGE_BYTES),
      ]);
      this.#at += Buffer.byteLength(text);
    } else this.#at += this.#bytes.write(text, this.#at);
  }

  /** A number as short as it reads back; `missing` if it is not finite. */
  number(value: number, isSingle: boolean, missing: string | null): void {
    if (missing !== null && !Number.isFinite(value)) this.text(missing);
    else this.text(isSingle ? shortestFloat32(value) : String(value));
  }

  take(): Buffer {
    const passage = this.#bytes.subarray(0, this.#at);
    this.#bytes = Buffer.allocUnsafe(PASSAGE_BYTES + 4096);
    this.#at = 0;
    return passage;
  }
}

const isSingle = (values: Values): boolean => typeOf(values) === "<f4";

/** What an answer says of its origin, as members of JSON. */
export function originOf({ question, dataset }: Answered): Readonly<Record<string, unknown>> {
  const assumed = dataset.assumed.length === 0 ? {} : { assumed: dataset.assumed.map(({ question: text }) => text) };
  const [kind, text] = String(question.filter ?? "").split(":");
  const filter = { kind, width: Number(text) } as FieldFilter;
  // The filter as it acts: a tophat has a whole number of nodes.
  const acting = text === undefined ? {} : { filter: { ...filter, widths: widthsOf(filter, dataset) } };
  return { dataset: dataset.name, version, manifest: dataset.digest, ...assumed, question, ...acting };
}

/** The same as texts for a file. */
function aboutOf(answered: Answered): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(originOf(answered)).map(([name, value]) => [
      name,
      typeof value === "string" ? value : JSON.stringify(value),
    ]),
  );
}

const attributesOf = (answered: Answered): Readonly<Record<string, string>> => ({
  title: `${answered.question.call} of ${answered.dataset.name}`,
  ...Object.fromEntries(Object.entries(aboutOf(answered)).map(([name, text]) => [`fieldprobe_${name}`, text])),
});

/** An answer as the passages of one JSON object. */
export async function* jsonOf(answered: Answered): AsyncGenerator<Buffer, undefined> {
  const { answer } = answered;
  const head = originOf(answered);
  if (answer.kind === "table") {
    const labels = answer.labels === undefined ? {} : { labels: nestedList(answer.labels) };
    yield* jsonPassages({ ...head, ...answer.body, ...labels });
    return;
  }
  const begun = JSON.stringify({ ...head, ...answer.more }).slice(0, -1);
  if (answer.kind === "rows") {
    const columns = [...answer.lead, ...columnsOf(answer.quantities)];
    const told = columns.map(({ name, unit }) => (unit === null ? { name } : { name, unit }));
    yield Buffer.from(`${begun},"columns":${JSON.stringify(told)},"rows":`);
    yield* rowsText(columns, answer.count, { open: "[", close: "]", between: ",", missing: "null" });
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

/** Rows as text; JSON is a list of them. */
async function* rowsText(
  columns: readonly Column[],
  count: number,
  { open, close, between, missing }: RowText,
): AsyncGenerator<Buffer> {
  const passage = new TextBuffer();
  const isJson = open !== "";
  const single = columns.map(({ values }) => isSingle(values));
  if (isJson) passage.text("[");
  for (let first = 0; first < count; first += BLOCK_ROWS) {
    const many = Math.min(BLOCK_ROWS, count - first);
    const blocks: Numbers[] = [];
    for (const { values, stride } of columns)
      blocks.push(await blockOf(values, stride * first, stride * (first + many)));
    for (let i = 0; i < many; i++) {
      passage.text(isJson && first + i > 0 ? `,${open}` : open);
      for (let c = 0; c < columns.length; c++) {
        const { stride, offset } = columns[c] as Column;
        if (c > 0) passage.text(between);
        passage.number((blocks[c] as Numbers)[stride * i + offset] as number, single[c] as boolean, missing);
        if (passage.full) yield passage.take();
      }
      passage.text(close);
    }
  }
  if (isJson) passage.text("]");
  yield passage.take();
}

/** Numbers as nested lists of JSON; what is not finite is null. */
async function* nestedText(values: Values, shape: readonly number[]): AsyncGenerator<Buffer> {
  const passage = new TextBuffer();
  const single = isSingle(values);
  const spans = shape.map((_, axis) => shape.slice(axis).reduce((product, length) => product * length, 1));
  for await (const { from, numbers } of blocksOf(values)) {
    for (let n = 0, i = from; n < numbers.length; n++, i++) {
      if (i > 0) passage.text(",");
      for (const span of spans) if (i % span === 0) passage.text("[");
      passage.number(numbers[n] as number, single, "null");
      for (const span of spans) if ((i + 1) % span === 0) passage.text("]");
      if (passage.full) yield passage.take();
    }
  }
  yield passage.take();
}

const cell = (name: string): string => (/[",\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name);

async function* csvOf(columns: readonly Column[], count: number): AsyncGenerator<Buffer, undefined> {
  yield Buffer.from(`${columns.map(({ name }) => cell(name)).join(",")}\r\n`);
  yield* rowsText(columns, count, { open: "", close: "\r\n", between: ",", missing: null });
}

/** A grid as rows: x, y, z and t where they are dimensions, x fastest. */
function rowsOfGrid({ dims, quantities }: GridAnswer): { readonly columns: readonly Column[]; readonly count: number } {
  const count = dims.reduce((product, { coordinates }) => product * coordinates.length, 1);
  let span = count;
  const lead = dims.map(({ name, coordinates, unit }) => {
    span /= coordinates.length;
    const each = span;
    const values = new LongNumbers("<f8", count, (from, to) =>
      Float64Array.from(
        { length: to - from },
        (_, i) => coordinates[Math.floor((from + i) / each) % coordinates.length] as number,
      ),
    );
    return columnOf(name, values, unit);
  });
  const order = ["x", "y", "z", "t"];
  return {
    columns: [...lead.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name)), ...columnsOf(quantities)],
    count,
  };
}

/** Numbers some at a time. */
async function* blocksOf(
  values: Values,
): AsyncGenerator<{ readonly from: number; readonly numbers: Numbers }, undefined> {
  for (let from = 0; from < values.length; from += BLOCK_NUMBERS)
    yield { from, numbers: await blockOf(values, from, Math.min(values.length, from + BLOCK_NUMBERS)) };
}

async function* passagesOf(values: Values): AsyncGenerator<Buffer, undefined> {
  // Copies: nothing is sent from memory that workers may write to.
  for await (const { numbers } of blocksOf(values)) yield bytesIn(numbers);
}

/** The arrays of an answer by name: columns of rows, quantities and coordinates of a grid. */
interface NamedNumbers {
  readonly name: string;
  /** What it is called outside of files. */
  readonly title: string;
  readonly unit: string | null;
  readonly dims: readonly string[];
  readonly shape: readonly number[];
  readonly values: Values;
  /** Whether it holds the places along the dimension of its name. */
  readonly isScale: boolean;
}

const columnValues = ({ values, stride, offset }: Column, count: number): Values =>
  strided(values, stride, offset, count);

function arraysOf(answer: RowsAnswer | GridAnswer): readonly NamedNumbers[] {
  if (answer.kind === "rows") {
    const columns = [...answer.lead, ...columnsOf(answer.quantities)];
    const names = fileNames(columns.map(({ name }) => name));
    return columns.map((column, c) => ({
      ...{ name: names[c] as string, title: column.name, unit: column.unit, dims: ["row"] },
      ...{ shape: [answer.count], values: columnValues(column, answer.count), isScale: false },
    }));
  }
  const { dims, scalars, quantities } = answer;
  const names = fileNames(quantities.map(({ name }) => name));
  const scales = dims.map(({ name, coordinates, unit }) => ({
    ...{ name, title: name, unit, dims: [name], shape: [coordinates.length], values: coordinates, isScale: true },
  }));
  const fixed = scalars.map(({ name, coordinates, unit }) => ({
    ...{ name, title: name, unit, dims: [], shape: [], values: coordinates, isScale: false },
  }));
  const data = quantities.map(({ name: title, unit, shape, columns, values }, q) => ({
    ...{ name: names[q] as string, title, unit, values, isScale: false },
    dims: [...dims.map(({ name }) => name), ...(shape.length === 0 ? [] : [`component${columns.length}`])],
    shape: [...dims.map(({ coordinates }) => coordinates.length), ...(shape.length === 0 ? [] : [columns.length])],
  }));
  return [...scales, ...fixed, ...data];
}

/** An answer as the file of NetCDF and HDF5 describes it. */
function fileOf(answered: Answered, answer: RowsAnswer | GridAnswer): SampledGrid {
  const arrays = arraysOf(answer);
  const attributes = ({ title, unit }: NamedNumbers) => ({
    long_name: title,
    ...(unit === null ? {} : { units: unit }),
  });
  const letter = (name: string) => (/^[xyzt]$/.test(name) ? { axis: name.toUpperCase() } : {});
  const dims = new Map(
    arrays.flatMap(({ dims: own, shape }) => own.map((name, d) => [name, shape[d] as number] as const)),
  );
  const scales = new Set(arrays.filter(({ isScale }) => isScale).map(({ name }) => name));
  const counted = [...dims].filter(([name]) => !scales.has(name));
  return {
    axes: [
      ...arrays
        .filter(({ isScale }) => isScale)
        .map((one) => ({
          ...{
            name: one.name,
            coordinates: one.values as Float64Array,
            attributes: { ...attributes(one), ...letter(one.name) },
          },
        })),
      ...counted.map(([name, length]) => ({
        ...{
          name,
          coordinates: Float64Array.from({ length }, (_, i) => i),
          attributes: { long_name: `number of the ${name.replace(/\d+$/, "")}` },
        },
      })),
    ],
    scalars: arrays
      .filter(({ dims: own }) => own.length === 0)
      .map((one) => ({
        ...{
          name: one.name,
          coordinates: one.values as Float64Array,
          attributes: { ...attributes(one), ...letter(one.name) },
        },
      })),
    variables: arrays
      .filter(({ isScale, dims: own }) => !isScale && own.length > 0)
      .map((one) => ({
        ...{ name: one.name, values: one.values, axes: one.dims, attributes: attributes(one) },
      })),
    about: attributesOf(answered),
  };
}

const ZARR_TYPES = { "<f4": "float32", "<f8": "float64", "<i4": "int32" } as const;
/** Numbers of a chunk of Zarr, at most. */
const CHUNK_NUMBERS = 256 * 1024;

/** An answer as a store of Zarr 3 in a ZIP archive, not compressed. */
async function* zarrOf(answered: Answered, answer: RowsAnswer | GridAnswer): AsyncGenerator<Buffer, undefined> {
  const zip = new ZipWriter();
  const documents = new Map<string, object>();
  const arrays = arraysOf(answer);
  const chunksOf = (shape: readonly number[]) => slabLengths(shape, CHUNK_NUMBERS);
  for (const { name, title, unit, dims, shape, values } of arrays) {
    const type = ZARR_TYPES[typeOf(values)];
    const attributes = { long_name: title, ...(unit === null ? {} : { units: unit }) };
    const fill = type === "int32" ? 0 : "NaN";
    documents.set(
      name,
      arrayDocument({ shape, chunks: chunksOf(shape), type, fill, codecs: PLAIN_CODECS, dimensions: dims, attributes }),
    );
  }
  yield* zip.add("zarr.json", documentBytes(rootDocument(attributesOf(answered), documents)));
  for (const [path, document] of documents) yield* zip.add(`${path}/zarr.json`, documentBytes(document));
  for (const { name, shape, values } of arrays) {
    const lengths = chunksOf(shape);
    const length = lengths.reduce((product, n) => product * n, 1);
    for (const { start, from, to } of slabsOf(shape, lengths)) {
      const part = await blockOf(values, from, to);
      // Chunks have one shape, the last one too.
      const whole = part.length === length ? part : filled(part, length);
      yield* zip.add(`${name}/c${start.map((at, d) => `/${at / (lengths[d] as number)}`).join("")}`, bytesIn(whole));
    }
  }
  yield* zip.end();
}

function filled(part: Numbers, length: number): Numbers {
  const out = numbersOf(typeOf(part), length);
  if (!(out instanceof Int32Array)) out.fill(Number.NaN);
  out.set(part);
  return out;
}

const bytesIn = ({ buffer, byteOffset, byteLength }: Numbers): Buffer =>
  Buffer.from(new Uint8Array(buffer, byteOffset, byteLength));

/** The only quantity of an answer. @throws RequestError if there are several */
export function onlyQuantity(answer: RowsAnswer | GridAnswer, form: FormName): AnsweredQuantity {
  const { quantities } = answer;
  const places = answer.kind === "rows" ? answer.places : undefined;
  const [only = places, ...more] = quantities;
  if (only === undefined || more.length > 0)
    throw wrong("format", `${form} holds one quantity, and there are ${quantities.length}`);
  return only;
}

/** @throws RequestError if a form does not hold an answer: several quantities, or names that become the same */
export function checkForm({ answer }: Answered, form: FormName): void {
  if (answer.kind === "table") return;
  if (FORMS[form].alone) onlyQuantity(answer, form);
  if (!["npz", "nc", "h5", "zarr"].includes(form)) return;
  const named = answer.kind === "rows" ? [...answer.lead, ...columnsOf(answer.quantities)] : answer.quantities;
  fileNames(named.map(({ name }) => name));
}

/** Sends the numbers of an answer alone, quantity after quantity. */
export async function sendNumbers(
  { answer }: Answered,
  { service, life, reply }: Pick<Sending, "service" | "life" | "reply">,
): Promise<FastifyReply> {
  const { quantities } = answer as RowsAnswer | GridAnswer;
  const passages = async function* (): AsyncGenerator<Buffer> {
    for (const { values } of quantities) yield* passagesOf(values);
  };
  await sendPassages(reply, FORMS.f32.type, passages(), service, life.reader);
  return reply;
}

/** The shape of the values of a quantity in arrays. */
function arrayShape(answer: RowsAnswer | GridAnswer, { shape }: AnsweredQuantity): readonly number[] {
  return [
    ...(answer.kind === "rows" ? answer.shape : answer.dims.map(({ coordinates }) => coordinates.length)),
    ...shape,
  ];
}

/** What pictures of a plane need to know. */
export interface PictureOptions {
  readonly map: string;
  readonly range?: readonly [number, number] | undefined;
  readonly scale: AskedScale;
}

function scaled(values: Float32Array, scale: AskedScale): Float32Array {
  if (scale.kind === "linear") return values;
  return values.map((value) => colourValue(value, scale));
}

function colourValue(value: number, scale: AskedScale): number {
  if (scale.kind === "linear") return value;
  if (scale.kind === "log") return value > 0 ? Math.log10(value) : Number.NaN;
  const { linear } = scale as { readonly linear: number };
  return Math.sign(value) * Math.log10(1 + Math.abs(value) / linear);
}

async function pictureOf(
  answer: GridAnswer,
  { map, range, scale }: PictureOptions,
  life: RequestLife,
): Promise<Buffer> {
  const only = onlyQuantity(answer, "png");
  const [rows, columns, ...more] = answer.dims;
  if (rows === undefined || columns === undefined || more.length > 0)
    throw wrong("format", "png is of a plane at one time: give one of x, y, z as a number");
  if (only.shape.length > 0) throw wrong("format", `png is of a scalar: ask norm(${only.name}), or a component`);
  const colours = COLOUR_MAPS.find((one) => one === map);
  if (colours === undefined) throw wrong("map", `expected one of ${COLOUR_MAPS.join(", ")}`);
  const values = scaled(only.values as Float32Array, scale);
  const found = new Range();
  found.add(values);
  const ends = range?.map((end) => colourValue(end, scale)) as [number, number] | undefined;
  if (ends?.some((end) => !Number.isFinite(end))) throw wrong("range", "a logarithmic scale has ends above 0");
  return drawPicture(
    values,
    rows.coordinates.length,
    columns.coordinates.length,
    colours,
    ends ?? found.ends,
    life.slices,
  );
}

/** The smallest and the largest value of the only quantity; null if there are several. */
function rangeOf({ quantities }: GridAnswer): readonly [number, number] | null {
  const [only, ...more] = quantities;
  if (only === undefined || more.length > 0 || !(only.values instanceof Float32Array)) return null;
  const range = new Range();
  range.add(only.values);
  return range.ends;
}

export interface Sending {
  readonly service: Service;
  readonly life: RequestLife;
  readonly reply: FastifyReply;
  readonly thread: CutoutThread;
  readonly picture: PictureOptions;
}

function tellHeaders({ answer }: Answered, reply: FastifyReply): void {
  if (answer.kind === "table") return;
  const [first] = answer.quantities;
  if (first !== undefined) reply.header("fieldprobe-shape", arrayShape(answer, first).join(","));
  const names = JSON.stringify(answer.quantities.flatMap(({ columns }) => columns));
  if (names.length < 4096 && /^[ -~]*$/.test(names)) reply.header("fieldprobe-columns", names);
  const total = answer.more?.total;
  if (total !== undefined) reply.header("fieldprobe-total", String(total));
  const level = answer.more?.level;
  if (level !== undefined) reply.header("fieldprobe-level", String(level));
  if (answer.kind === "grid") {
    const range = rangeOf(answer);
    if (range !== null) reply.header("fieldprobe-range", range.map((end) => Math.fround(end)).join(","));
  }
}

export async function sendAnswer(answered: Answered, form: FormName, sending: Sending): Promise<FastifyReply> {
  const { service, life, reply, thread } = sending;
  const { type } = FORMS[form];
  const answer: Answer =
    answered.answer.kind === "table" && answered.answer.labels !== undefined && form !== "json"
      ? answered.answer.labels
      : answered.answer;
  tellHeaders({ ...answered, answer }, reply);
  const send = async (passages: AsyncGenerator<Buffer, undefined>): Promise<FastifyReply> => {
    await sendPassages(reply, contentType(form), passages, service, life.reader);
    return reply;
  };
  if (form === "json") return send(jsonOf(answered));
  if (answer.kind === "table") return sendTable(answered, answer, form, sending);
  if (form === "png") {
    const picture = await pictureOf(answer as GridAnswer, sending.picture, life);
    return reply.type(type).send(picture);
  }
  const rows =
    answer.kind === "rows"
      ? { columns: [...answer.lead, ...columnsOf(answer.quantities)], count: answer.count }
      : rowsOfGrid(answer);
  switch (form) {
    case "csv":
      return send(csvOf(rows.columns, rows.count));
    case "f32": {
      const { values } = onlyQuantity(answer, form);
      reply.header("content-length", String(4 * values.length));
      return send(floatsOf(values));
    }
    case "npy": {
      const only = onlyQuantity(answer, form);
      const header = npyHeader(arrayShape(answer, only), typeOf(only.values));
      const width = Number(typeOf(only.values).at(-1));
      reply.header("content-length", String(header.length + width * only.values.length));
      return send(npyOf(header, only.values));
    }
    case "npz":
      return send(npzFile(archiveOf(answered, answer)));
    case "zarr":
      return send(zarrOf(answered, answer));
    case "parquet": {
      const about = Object.entries(aboutOf(answered));
      await sendStream(reply, type, parquetColumns(rows.columns, rows.count, about), service, life.reader);
      return reply;
    }
    default:
      break;
  }
  const cutout = answer.kind === "grid" ? answer.cutout : undefined;
  reply.type(type);
  if (form === "xmf" && cutout === undefined)
    throw wrong("format", "xmf describes stored fields: ask fields only, every node of them");
  if (cutout !== undefined && (form === "h5" || form === "xmf"))
    return sendWritten(life, reply, `nodes.${form}`, (folder) => cutout(join(folder, "nodes.h5")));
  const { paths } = answer as RowsAnswer;
  if (paths !== undefined)
    return sendWritten(life, reply, "paths.nc", (folder) =>
      thread.writePaths(
        { paths: paths.records, starts: paths.starts, of: answered.dataset.name, about: attributesOf(answered) },
        join(folder, "paths.nc"),
      ),
    );
  const file = await held(fileOf(answered, answer));
  const isLong = file.variables.some(({ values }) => values instanceof LongNumbers);
  return sendWritten(life, reply, "answer.nc", (folder) => {
    const path = join(folder, "answer.nc");
    // Another thread gets arrays only.
    return isLong ? writeGridFile(path, file) : thread.writeGrid(file, path);
  });
}

/** A file whose numbers are arrays, unless they are many. */
async function held(file: SampledGrid): Promise<SampledGrid> {
  if (file.variables.reduce((sum, { values }) => sum + values.length, 0) > HELD_NUMBERS) return file;
  const variables = file.variables.map(async (one) => ({
    ...one,
    values: await blockOf(one.values, 0, one.values.length),
  }));
  return { ...file, variables: await Promise.all(variables) };
}

async function* floatsOf(values: Values): AsyncGenerator<Buffer, undefined> {
  for await (const { numbers } of blocksOf(values))
    yield bytesIn(numbers instanceof Float64Array ? Float32Array.from(numbers) : numbers);
}

async function* npyOf(header: Buffer, values: Values): AsyncGenerator<Buffer, undefined> {
  yield header;
  yield* passagesOf(values);
}

function archiveOf(answered: Answered, answer: RowsAnswer | GridAnswer): readonly NamedArray[] {
  const arrays = arraysOf(answer).map(({ name, shape, values }) => ({
    name,
    type: typeOf(values),
    shape,
    passages: passagesOf(values),
  }));
  return [...arrays, ...Object.entries(aboutOf(answered)).map(([name, text]) => textArray(`fieldprobe_${name}`, text))];
}

function contentType(form: FormName): string {
  const { type } = FORMS[form];
  if (form === "json") return `${type}; charset=utf-8`;
  return form === "csv" ? `${type}; charset=utf-8; header=present` : type;
}

async function sendTable(
  answered: Answered,
  { body }: TableAnswer,
  form: FormName,
  { service, life, reply, thread }: Sending,
): Promise<FastifyReply> {
  const { type } = FORMS[form];
  const table = analysisTable(body);
  const about = aboutOf(answered);
  if (form === "nc") {
    reply.type(type);
    const numbers = numberTable(table, attributesOf(answered));
    return sendWritten(life, reply, "table.nc", (folder) => thread.writeTable(numbers, join(folder, "table.nc")));
  }
  if (form === "parquet") {
    const columns = numberTable(table, {});
    const all = [columns.along, ...columns.columns].map(({ name, values }) => columnOf(name, values));
    await sendStream(reply, type, parquetColumns(all, table.rows.length, Object.entries(about)), service, life.reader);
    return reply;
  }
  if (form !== "csv" && form !== "npy" && form !== "npz")
    throw new RequestError("Unsupported", `A table has no form ${form}.`, { member: "format" });
  const passages = form === "npz" ? tableArchive(table, about) : tablePassages(table, FORMS[form].type as "text/csv");
  await sendPassages(reply, contentType(form), passages, service, life.reader);
  return reply;
}

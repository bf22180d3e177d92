/** Sends answers in the requested format. All formats of an answer have the same columns. */
import { join } from "node:path";
import type { FastifyReply } from "fastify";
import { analysisTable } from "../../../analysis/table.js";
import type { CutoutThread } from "../../../engine/cutouts/cutout-thread.js";
import { FORMATS, type Format } from "../../../shared/calls.js";
import { writeGridFile } from "../../../storage/tools/grid-file.js";
import { LongNumbers, typeOf, type Values } from "../../../storage/tools/long-numbers.js";
import type { RequestLife } from "../../http/request-life.js";
import { sendChunks } from "../../http/send-answer.js";
import type { Service } from "../../http/service.js";
import type { GridAnswer, Outcome, RowsAnswer, TableAnswer } from "../answer.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "../question/member-values.js";
import { checkDistinct, checkFileNames } from "../question/what.js";
import { archiveOf, gridFileOf, zarrOf } from "./array-files.js";
import { arrayShape, blocksOf, bytesIn, chunksOf, onlyQuantity, rowsOf } from "./arrays.js";
import { parquetColumns } from "./column-files.js";
import { npyHeader, npzFile } from "./numpy-files.js";
import { aboutOf, attributesOf } from "./origin.js";
import { pictureOf, Range } from "./picture.js";
import { sendWritten } from "./send-written.js";
import { csvOf, jsonOf } from "./text-forms.js";
import { csvChunks, npyChunks, numberTable, tableArchive, tableColumns } from "./write-table.js";

export interface Sending {
  readonly service: Service;
  readonly life: RequestLife;
  readonly reply: FastifyReply;
  readonly thread: CutoutThread;
  /** The question, for the colours of pictures. */
  readonly question: MemberValues;
}

/** Names in a file beside those of an answer: of its dimensions, or of its origin. */
function addedNames(answered: Outcome, format: Format): readonly string[] {
  const { answer } = answered;
  if (format === "npz") return Object.keys(aboutOf(answered)).map((name) => `fieldprobe_${name}`);
  if (answer.kind === "rows")
    return answer.paths === undefined || format === "zarr" ? ["row"] : ["trajectory", "obs", "time"];
  const vectors = answer.kind === "table" ? [] : answer.quantities.filter(({ shape }) => shape.length > 0);
  return [...new Set(vectors.map(({ columns }) => `component${columns.length}`))];
}

/** @throws RequestError if a format cannot hold an answer: several quantities, or names that are or become equal */
export function checkFormat(answered: Outcome, format: Format): void {
  const { answer } = answered;
  if (answer.kind === "table") return;
  if (FORMATS[format].singleQuantity) onlyQuantity(answer, format);
  const isFile = ["npz", "nc", "h5", "zarr"].includes(format);
  const isRows = answer.kind === "rows" || format === "csv";
  if (FORMATS[format].singleQuantity || !(isFile || isRows)) return;
  const named = isRows ? rowsOf(answer).columns : [...answer.dims, ...answer.scalars, ...answer.quantities];
  const names = named.map(({ name }) => name);
  if (isFile) checkFileNames([...addedNames(answered, format), ...names]);
  else checkDistinct(names);
}

export async function sendNumbers(
  numbers: readonly Values[],
  { service, life, reply }: Pick<Sending, "service" | "life" | "reply">,
): Promise<FastifyReply> {
  const chunks = async function* (): AsyncGenerator<Buffer> {
    for (const values of numbers) yield* chunksOf(values);
  };
  await sendChunks(reply, FORMATS.f32.type, chunks(), service, life.reader);
  return reply;
}

function rangeOf({ quantities }: GridAnswer): readonly [number, number] | null {
  const [only, ...more] = quantities;
  if (only === undefined || more.length > 0 || !(only.values instanceof Float32Array)) return null;
  const range = new Range();
  range.add(only.values);
  return range.ends;
}

function setHeaders(answered: Outcome, reply: FastifyReply): void {
  const { answer } = answered;
  if (answer.kind === "table") return;
  const [first] = answer.quantities;
  if (first !== undefined) reply.header("fieldprobe-shape", arrayShape(answer, first).join(","));
  reply.header("fieldprobe-unit", encodeURIComponent(first?.unit ?? ""));
  const names = JSON.stringify(answer.quantities.flatMap(({ columns }) => columns));
  if (names.length < 4096 && /^[ -~]*$/.test(names)) reply.header("fieldprobe-columns", names);
  const level = answer.more?.level ?? answered.levelNote.level;
  for (const [name, value] of Object.entries({ total: answer.more?.total, level }))
    if (value !== undefined) reply.header(`fieldprobe-${name}`, String(value));
  if (answer.kind === "grid") {
    const range = rangeOf(answer);
    if (range !== null) reply.header("fieldprobe-range", range.map((end) => Math.fround(end)).join(","));
  }
}

export async function sendAnswer(answered: Outcome, format: Format, sending: Sending): Promise<FastifyReply> {
  const { answer: whole } = answered;
  const answer = whole.kind === "table" && whole.labels !== undefined && format !== "json" ? whole.labels : whole;
  setHeaders({ ...answered, answer }, sending.reply);
  if (format === "json") return sendAs(format, jsonOf(answered), sending);
  if (answer.kind === "table") return sendTable(answered, answer, format, sending);
  return SENDERS[format](answered, answer, sending, format);
}

async function sendAs(
  format: Format,
  chunks: Parameters<typeof sendChunks>[2],
  { service, life, reply }: Sending,
): Promise<FastifyReply> {
  await sendChunks(reply, contentType(format), chunks, service, life.reader);
  return reply;
}

type Sender = (
  answered: Outcome,
  answer: RowsAnswer | GridAnswer,
  sending: Sending,
  format: Format,
) => Promise<FastifyReply>;

const SENDERS: Readonly<Record<Exclude<Format, "json">, Sender>> = {
  csv: (_, answer, sending) => sendAs("csv", csvOf(rowsOf(answer)), sending),
  f32: (_, answer, sending) => {
    const { values } = onlyQuantity(answer, "f32");
    sending.reply.header("content-length", String(4 * values.length));
    return sendAs("f32", floatsOf(values), sending);
  },
  npy: (_, answer, sending) => {
    const only = onlyQuantity(answer, "npy");
    const header = npyHeader(arrayShape(answer, only), typeOf(only.values));
    const width = Number(typeOf(only.values).at(-1));
    sending.reply.header("content-length", String(header.length + width * only.values.length));
    return sendAs("npy", npyOf(header, only.values), sending);
  },
  npz: (answered, answer, sending) => sendAs("npz", npzFile(archiveOf(answered, answer)), sending),
  zarr: (answered, answer, sending) => sendAs("zarr", zarrOf(answered, answer), sending),
  parquet: (answered, answer, sending) => {
    const { columns, count } = rowsOf(answer);
    return sendAs("parquet", parquetColumns(columns, count, Object.entries(aboutOf(answered))), sending);
  },
  png: async (_, answer, { reply, question, life }) =>
    reply.type(FORMATS.png.type).send(await pictureOf(answer as GridAnswer, question, life.slices)),
  nc: sendFile,
  h5: sendFile,
  xmf: sendFile,
};

async function sendFile(
  answered: Outcome,
  answer: RowsAnswer | GridAnswer,
  { life, reply, thread }: Sending,
  format: Format,
): Promise<FastifyReply> {
  const cutout = answer.kind === "grid" ? answer.cutout : undefined;
  reply.type(FORMATS[format].type);
  if (cutout !== undefined && (format === "h5" || format === "xmf"))
    return sendWritten(life, reply, `nodes.${format}`, (folder) => cutout(join(folder, "nodes.h5")));
  const { paths } = answer as RowsAnswer;
  if (paths !== undefined)
    return sendWritten(life, reply, "paths.nc", (folder) =>
      thread.writePaths(
        { paths: paths.records, starts: paths.starts, of: answered.dataset.name, about: attributesOf(answered) },
        join(folder, "paths.nc"),
      ),
    );
  const file = await gridFileOf(answered, answer);
  const isLong = file.variables.some(({ values }) => values instanceof LongNumbers);
  return sendWritten(life, reply, "answer.nc", (folder) => {
    const path = join(folder, "answer.nc");
    // Only arrays can be sent to another thread.
    return isLong ? writeGridFile(path, file) : thread.writeGrid(file, path);
  });
}

async function* floatsOf(values: Values): AsyncGenerator<Buffer, undefined> {
  for await (const { numbers } of blocksOf(values))
    yield bytesIn(numbers instanceof Float64Array ? Float32Array.from(numbers) : numbers);
}

async function* npyOf(header: Buffer, values: Values): AsyncGenerator<Buffer, undefined> {
  yield header;
  yield* chunksOf(values);
}

function contentType(format: Format): string {
  const { type } = FORMATS[format];
  if (format === "json") return `${type}; charset=utf-8`;
  return format === "csv" ? `${type}; charset=utf-8; header=present` : type;
}

async function sendTable(
  answered: Outcome,
  { body }: TableAnswer,
  format: Format,
  sending: Sending,
): Promise<FastifyReply> {
  const table = analysisTable(body);
  const about = aboutOf(answered);
  if (format === "nc") {
    if (table.rows.length === 0)
      throw wrong("format", "the table has no rows, and a dimension of NetCDF has at least one: take json or csv");
    const { life, reply, thread } = sending;
    reply.type(FORMATS.nc.type);
    const numbers = numberTable(table, body, answered);
    return sendWritten(life, reply, "table.nc", (folder) => thread.writeTable(numbers, join(folder, "table.nc")));
  }
  if (format === "parquet")
    return sendAs(format, parquetColumns(tableColumns(table), table.rows.length, Object.entries(about)), sending);
  const chunks = format === "npz" ? tableArchive(table, about) : format === "csv" ? csvChunks(table) : npyChunks(table);
  return sendAs(format, chunks, sending);
}

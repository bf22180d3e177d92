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
import type { Answer, GridAnswer, Outcome, RowsAnswer, TableAnswer } from "../answer.js";
import { wrong } from "../faults.js";
import type { MemberValues } from "../question/member-values.js";
import { checkApart, fileNames } from "../question/what.js";
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
function ownNames(answered: Outcome, form: Format): readonly string[] {
  const { answer } = answered;
  if (form === "npz") return Object.keys(aboutOf(answered)).map((name) => `fieldprobe_${name}`);
  if (answer.kind === "rows")
    return answer.paths === undefined || form === "zarr" ? ["row"] : ["trajectory", "obs", "time"];
  const vectors = answer.kind === "table" ? [] : answer.quantities.filter(({ shape }) => shape.length > 0);
  return [...new Set(vectors.map(({ columns }) => `component${columns.length}`))];
}

/** @throws RequestError if a form cannot hold an answer: several quantities, or names that are or become equal */
export function checkFormat(answered: Outcome, form: Format): void {
  const { answer } = answered;
  if (answer.kind === "table") return;
  if (FORMATS[form].singleQuantity) onlyQuantity(answer, form);
  const isFile = ["npz", "nc", "h5", "zarr"].includes(form);
  const isRows = answer.kind === "rows" || form === "csv";
  if (FORMATS[form].singleQuantity || !(isFile || isRows)) return;
  const named = isRows ? rowsOf(answer).columns : [...answer.dims, ...answer.scalars, ...answer.quantities];
  const names = named.map(({ name }) => name);
  if (isFile) fileNames([...ownNames(answered, form), ...names]);
  else checkApart(names);
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

/** The range of the only quantity; null if there are several. */
function rangeOf({ quantities }: GridAnswer): readonly [number, number] | null {
  const [only, ...more] = quantities;
  if (only === undefined || more.length > 0 || !(only.values instanceof Float32Array)) return null;
  const range = new Range();
  range.add(only.values);
  return range.ends;
}

function tellHeaders(answered: Outcome, reply: FastifyReply): void {
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

export async function sendAnswer(answered: Outcome, form: Format, sending: Sending): Promise<FastifyReply> {
  const { service, life, reply, thread } = sending;
  const { type } = FORMATS[form];
  const answer: Answer =
    answered.answer.kind === "table" && answered.answer.labels !== undefined && form !== "json"
      ? answered.answer.labels
      : answered.answer;
  tellHeaders({ ...answered, answer }, reply);
  const send = async (chunks: AsyncGenerator<Buffer, undefined>): Promise<FastifyReply> => {
    await sendChunks(reply, contentType(form), chunks, service, life.reader);
    return reply;
  };
  if (form === "json") return send(jsonOf(answered));
  if (answer.kind === "table") return sendTable(answered, answer, form, sending);
  if (form === "png") {
    return reply.type(type).send(await pictureOf(answer as GridAnswer, sending.question, life.slices));
  }
  switch (form) {
    case "csv":
      return send(csvOf(rowsOf(answer)));
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
      const rows = rowsOf(answer);
      return send(parquetColumns(rows.columns, rows.count, about));
    }
    default:
      break;
  }
  const cutout = answer.kind === "grid" ? answer.cutout : undefined;
  reply.type(type);
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

function contentType(form: Format): string {
  const { type } = FORMATS[form];
  if (form === "json") return `${type}; charset=utf-8`;
  return form === "csv" ? `${type}; charset=utf-8; header=present` : type;
}

async function sendTable(
  answered: Outcome,
  { body }: TableAnswer,
  form: Format,
  { service, life, reply, thread }: Sending,
): Promise<FastifyReply> {
  const { type } = FORMATS[form];
  const table = analysisTable(body);
  const about = aboutOf(answered);
  if (form === "nc") {
    if (table.rows.length === 0)
      throw wrong("format", "the table has no rows, and a dimension of NetCDF has at least one: take json or csv");
    reply.type(type);
    const numbers = numberTable(table, body, answered);
    return sendWritten(life, reply, "table.nc", (folder) => thread.writeTable(numbers, join(folder, "table.nc")));
  }
  if (form === "parquet") {
    const chunks = parquetColumns(tableColumns(table), table.rows.length, Object.entries(about));
    await sendChunks(reply, type, chunks, service, life.reader);
    return reply;
  }
  const chunks = form === "npz" ? tableArchive(table, about) : form === "csv" ? csvChunks(table) : npyChunks(table);
  await sendChunks(reply, contentType(form), chunks, service, life.reader);
  return reply;
}

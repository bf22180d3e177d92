/** Writes the outputs of tasks to files, and joins them to the result of a job. */
import { createHash, type Hash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { version } from "../shared/build.js";
import { makeFolder } from "../shared/system.js";
import { product } from "../storage/hdf5/writer.js";
import { type Job, type JobCut, type JobResult, RESULT_FORMS, type TaskOutput } from "./job.js";
import {
  besides,
  isId,
  type JobFolders,
  keptOnlyIf,
  type OutputBytes,
  removeOld,
  taskFile,
  tasksFolder,
  temporaryName,
  writeWhole,
} from "./job-files.js";
import { numbersIn, type ResultNumbers, type ServiceForms, stepsOf, writeHdf5, writeNetcdf } from "./result-files.js";
import { zarrArchive } from "./zarr-archive.js";

const STEP_BYTES = 256 * 1024;

const KEPT = [
  "fieldprobe-version",
  "fieldprobe-manifest",
  "fieldprobe-options",
  "fieldprobe-frames",
  "fieldprobe-shape",
  "fieldprobe-columns",
  "fieldprobe-units",
  "fieldprobe-times",
  "content-type",
];

/** Outputs that are missing, or whose files are not what their tasks wrote: they have to be computed again. */
export class DamagedOutputs extends Error {
  readonly tasks: readonly number[];

  constructor(tasks: readonly number[]) {
    super(`outputs of tasks are damaged: ${tasks.join(", ")}`);
    this.tasks = tasks;
  }
}

export interface TaskAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
  readonly body: AsyncIterable<Buffer>;
}

/**
 * Writes the answer to a task into a file.
 *
 * @param checkDue throws if the output is no longer wanted
 * @param admit    throws if it has too many bytes, before they are written
 */
export async function writeOutput(
  folders: JobFolders,
  id: string,
  number: number,
  { headers, body }: TaskAnswer,
  checkDue: () => Promise<void>,
  admit: (bytes: number) => void = () => undefined,
): Promise<Omit<TaskOutput, "ms">> {
  const folder = tasksFolder(folders, id);
  makeFolder(folder);
  const target = {
    temporary: temporaryName(join(folder, String(number))),
    nameOf: (written: OutputBytes) => taskFile(folders, id, number, written),
  };
  const write = async (file: FileHandle): Promise<OutputBytes> => {
    let [bytes, crc] = [0, 0];
    for await (const part of body) {
      crc = crc32(part, crc);
      bytes += part.length;
      admit(bytes);
      await file.writeFile(part);
    }
    return { bytes, crc };
  };
  const { bytes, crc } = await writeWhole(target, write, checkDue);
  const kept = KEPT.flatMap((name) => (headers[name] === undefined ? [] : [[name, String(headers[name])] as const]));
  return { bytes, crc, headers: Object.fromEntries(kept) };
}

async function* bytesFrom(path: string, start: number, length: number): AsyncGenerator<Buffer, undefined> {
  if (length === 0) return;
  yield* createReadStream(path, { start, end: start + length - 1, highWaterMark: STEP_BYTES });
}

/** Checks the file of an output. @throws DamagedOutputs */
async function verify(path: string, number: number, { bytes, crc }: TaskOutput): Promise<void> {
  const size = (await stat(path).catch(() => null))?.size;
  if (size !== bytes) throw new DamagedOutputs([number]);
  let found = 0;
  for await (const part of bytesFrom(path, 0, bytes)) found = crc32(part, found);
  if (found !== crc) throw new DamagedOutputs([number]);
}

/** The shape of the numbers of a cut job: that of its tasks, with all points. */
function shapeOf({ points, times }: JobCut, output: TaskOutput): number[] {
  const shape = (output.headers["fieldprobe-shape"] ?? "").split(",").map(Number);
  return shape.map((length, i) => (i === (times > 1 ? 1 : 0) ? points : length));
}

/** The bytes of all outputs in the order of the result: times first, then points. */
async function* joined(paths: readonly string[], outputs: readonly TaskOutput[], cut: JobCut): AsyncGenerator<Buffer> {
  const isText = cut.form === "text/csv";
  for (let time = 0; time < cut.times; time++)
    for (const [i, { bytes }] of outputs.entries()) {
      const path = paths[i] as string;
      const length = bytes / cut.times;
      const start = isText && i > 0 ? await titleLength(path) : time * length;
      yield* bytesFrom(path, start, isText ? bytes - start : length);
    }
}

/** The bytes of the first line of a CSV file, which names the columns. */
async function titleLength(path: string): Promise<number> {
  for await (const part of bytesFrom(path, 0, STEP_BYTES)) return part.indexOf("\n") + 1;
  return 0;
}

/** Forms that a library writes to a path. */
const LIBRARY_FILES: ReadonlyMap<string, (path: string, numbers: ResultNumbers) => Promise<void>> = new Map([
  ["application/x-hdf5", writeHdf5],
  ["application/netcdf", writeNetcdf],
]);

/** Endings of the results of calls that are a single task; others end with `.bin`. */
const ENDINGS: ReadonlyMap<string, string> = new Map([
  ...Object.entries(RESULT_FORMS),
  ["application/json", "json"],
  ["image/png", "png"],
  ["application/xml", "xmf"],
]);

/**
 * Writes the result of a job whose tasks are done, with its manifest and its checksum next to it. Every attempt gives
 * its files a name of its own, so that attempts of several processes never meet.
 *
 * @param checkDue throws if the result is no longer wanted
 * @throws DamagedOutputs
 */
export async function writeResult(
  folders: JobFolders,
  job: Job,
  found: readonly (TaskOutput | null)[],
  forms: ServiceForms,
  checkDue: () => Promise<void>,
): Promise<JobResult> {
  const { id, cut } = job;
  const isOurs = (output: TaskOutput | null) => output !== null && output.generation === job.generation;
  const missing = Array.from({ length: job.tasks }, (_, number) => number).filter((n) => !isOurs(found[n] ?? null));
  if (missing.length > 0) throw new DamagedOutputs(missing);
  const outputs = found as readonly TaskOutput[];
  const [first] = outputs as readonly [TaskOutput];
  const paths = outputs.map((output, number) => taskFile(folders, id, number, output));
  for (const [number, output] of outputs.entries()) await verify(paths[number] as string, number, output);
  const type = cut?.form ?? first.headers["content-type"] ?? "application/octet-stream";
  const attempt = randomBytes(4).toString("hex");
  const name = `${id}-${attempt}.${ENDINGS.get((type.split(";")[0] as string).trim()) ?? "bin"}`;
  makeFolder(folders.results);
  const path = join(folders.results, name);
  const body = cut === null ? bytesFrom(paths[0] as string, 0, first.bytes) : joined(paths, outputs, cut);
  const shape = cut === null ? null : shapeOf(cut, first);
  const write = cut === null ? null : (LIBRARY_FILES.get(cut.form) ?? null);
  const partial = `${path}.partial`;
  const [manifest, checksum] = besides(path) as [string, string];
  return keptOnlyIf([partial, manifest, checksum], async () => {
    if (cut !== null && write !== null) await write(partial, numbersOf(cut, first, body));
    else {
      const file = await open(partial, "w");
      try {
        const passages = cut === null ? body : passagesOf(cut, first, body, forms);
        for await (const part of passages) await file.writeFile(part);
      } finally {
        await file.close();
      }
    }
    const result = { name, type, ...(await digestOf(partial)) };
    await checkDue();
    await writeFile(manifest, manifestOf(job, first, { ...result, shape }));
    await writeFile(checksum, `${result.sha256}  ${name}\n`);
    // The result comes last: where it is, the others are.
    await rename(partial, path);
    return result;
  });
}

/** The numbers of a cut job, with what its tasks have said of them. */
function numbersOf(cut: JobCut, first: TaskOutput, octets: AsyncIterable<Buffer>): ResultNumbers {
  const { headers } = first;
  const { time } = JSON.parse(headers["fieldprobe-options"] ?? "{}") as { readonly time?: unknown };
  const times = cut.times > 1 ? [time].flat().map(Number) : null;
  const columns = JSON.parse(headers["fieldprobe-columns"] ?? "[]") as string[];
  const said = ["version", "manifest", "options", "frames", "units"].flatMap((name) => {
    const text = headers[`fieldprobe-${name}`];
    return text === undefined ? [] : [[name, text] as const];
  });
  return { shape: shapeOf(cut, first), times, columns, about: Object.fromEntries(said), octets };
}

/** The bytes of a result that no library writes to a path. */
async function* passagesOf(
  cut: JobCut,
  first: TaskOutput,
  body: AsyncIterable<Buffer>,
  { npyHead, parquet }: ServiceForms,
): AsyncGenerator<Buffer> {
  const numbers = numbersOf(cut, first, body);
  const { shape, columns, about } = numbers;
  if (cut.form === "application/vnd.apache.parquet") {
    const records = product(shape.slice(0, -1));
    const lengths = [...stepsOf(records, columns.length)].map(([, count]) => count * columns.length);
    return yield* parquet(columns, numbersIn(body, lengths), about);
  }
  if (cut.form === "application/vnd.zarr+zip") return yield* zarrArchive(numbers);
  if (cut.form === "application/x-npy") yield npyHead(shape);
  yield* body;
}

async function digestOf(path: string): Promise<Pick<JobResult, "bytes" | "sha256">> {
  const hash: Hash = createHash("sha256");
  const { size } = await stat(path);
  for await (const part of bytesFrom(path, 0, size)) hash.update(part);
  const file = await open(path);
  await file.sync().finally(() => file.close());
  return { bytes: size, sha256: hash.digest("hex") };
}

function manifestOf(job: Job, { headers }: TaskOutput, about: object): string {
  const { id, call, cut, createdAt } = job;
  const manifest = {
    job: id,
    version,
    call: { method: call.method, url: call.url },
    ...about,
    points: cut?.points ?? null,
    dataset: headers["fieldprobe-manifest"] ?? null,
    options: headers["fieldprobe-options"] ?? null,
    frames: headers["fieldprobe-frames"] ?? null,
    times: headers["fieldprobe-times"] ?? null,
    created: new Date(createdAt).toISOString(),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

export async function removeOutputs(folders: JobFolders, id: string): Promise<void> {
  await rm(tasksFolder(folders, id), { recursive: true, force: true });
}

/** Removes outputs of tasks that belong to none of these jobs and were last written before a time. */
export function sweepOutputs({ state }: JobFolders, ids: ReadonlySet<string>, before: number): Promise<void> {
  return removeOld(join(state, "tasks"), before, (id) => isId(id) && !ids.has(id));
}

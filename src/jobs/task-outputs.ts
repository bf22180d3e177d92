/** Outputs of tasks in files, and the result of a job joined from them. */
import { createHash, type Hash, randomBytes } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, readFile, rename, stat, writeFile } from "node:fs/promises";
import { join as pathIn } from "node:path";
import { crc32 } from "node:zlib";
import { version } from "../shared/build.js";
import type { Format } from "../shared/calls.js";
import { makeFolder } from "../shared/system.js";
import type { Job, JobResult, TaskOutput } from "./job.js";
import {
  besides,
  bodyFile,
  type JobFolders,
  keptOnlyIf,
  type OutputBytes,
  taskFile,
  tasksFolder,
  temporaryName,
  writeWhole,
} from "./job-files.js";

const STEP_BYTES = 256 * 1024;

/** Endings of the files of results. */
const ENDINGS: Readonly<Record<Format, string>> = {
  ...{ json: "json", csv: "csv", npy: "npy", npz: "npz", f32: "bin", parquet: "parquet", nc: "nc", h5: "h5" },
  ...{ zarr: "zarr.zip", png: "png", xmf: "xmf" },
};

const KEPT = ["fieldprobe-manifest", "fieldprobe-manifests", "content-type"];

/** Outputs that are missing or damaged, and have to be computed again. */
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

/** Writes the answer to a task into a file, unless `checkDue` or, before bytes are written, `admit` throws. */
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
    temporary: temporaryName(pathIn(folder, String(number))),
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

/** Checks the file of an output. Throws DamagedOutputs. */
async function verify(path: string, number: number, { bytes, crc }: TaskOutput): Promise<void> {
  const size = (await stat(path).catch(() => null))?.size;
  if (size !== bytes) throw new DamagedOutputs([number]);
  let found = 0;
  for await (const part of bytesFrom(path, 0, bytes)) found = crc32(part, found);
  if (found !== crc) throw new DamagedOutputs([number]);
}

/** The files of the outputs of the first tasks of a job, compared with their checksums. Throws DamagedOutputs. */
export async function filesOf(
  folders: JobFolders,
  { id, generation }: Job,
  found: readonly (TaskOutput | null)[],
  count: number,
): Promise<readonly string[]> {
  const all = Array.from({ length: count }, (_, number) => found[number] ?? null);
  const missing = [...all.keys()].filter((n) => all[n] === null || all[n]?.generation !== generation);
  if (missing.length > 0) throw new DamagedOutputs(missing);
  const outputs = all as readonly TaskOutput[];
  const paths = outputs.map((output, number) => taskFile(folders, id, number, output));
  for (const [number, output] of outputs.entries()) await verify(paths[number] as string, number, output);
  return paths;
}

/**
 * Writes the result of a job whose tasks are done, with its manifest and its checksum next to it. Every attempt gives
 * its files a name of its own, so that attempts of several processes never meet.
 *
 * @param join     answers the call of a job that is cut from the files of its tasks, by number
 * @param checkDue throws if the result is no longer wanted
 * @throws DamagedOutputs
 */
export async function writeResult(
  folders: JobFolders,
  job: Job,
  found: readonly (TaskOutput | null)[],
  join: (paths: readonly string[]) => Promise<TaskAnswer>,
  checkDue: () => Promise<void>,
): Promise<JobResult> {
  const { id, cut, call } = job;
  const paths = await filesOf(folders, job, found, job.tasks);
  const attempt = randomBytes(4).toString("hex");
  const name = `${id}-${attempt}.${ENDINGS[call.form ?? "json"]}`;
  makeFolder(folders.results);
  const path = pathIn(folders.results, name);
  const partial = `${path}.partial`;
  const [manifest, checksum] = besides(path) as [string, string];
  return keptOnlyIf([partial, manifest, checksum], async () => {
    const answer = cut === null ? null : await join(paths);
    const headers = answer?.headers ?? (found[0] as TaskOutput).headers;
    const type = headers["content-type"] ?? "application/octet-stream";
    const file = await open(partial, "w");
    try {
      for await (const part of answer?.body ?? bytesFrom(paths[0] as string, 0, (found[0] as TaskOutput).bytes))
        await file.writeFile(part);
    } finally {
      await file.close();
    }
    const result = { name, type: String(type), ...(await digestOf(partial)) };
    await checkDue();
    const question = JSON.parse(await readFile(bodyFile(folders, id), "utf8").catch(() => "null")) as unknown;
    await writeFile(manifest, manifestOf(job, headers, { question, ...result }));
    await writeFile(checksum, `${result.sha256}  ${name}\n`);
    // The result is renamed last: where it exists, the other files do.
    await rename(partial, path);
    return result;
  });
}

async function digestOf(path: string): Promise<Pick<JobResult, "bytes" | "sha256">> {
  const hash: Hash = createHash("sha256");
  const { size } = await stat(path);
  for await (const part of bytesFrom(path, 0, size)) hash.update(part);
  const file = await open(path);
  await file.sync().finally(() => file.close());
  return { bytes: size, sha256: hash.digest("hex") };
}

function manifestOf({ id, call, cut, createdAt }: Job, headers: TaskAnswer["headers"], about: object): string {
  const digests = String(headers["fieldprobe-manifests"] ?? "").split(" ");
  const manifest = {
    ...{ job: id, version },
    call: { method: call.method, url: call.url },
    ...about,
    points: cut?.points ?? null,
    dataset: headers["fieldprobe-manifest"] ?? null,
    ...(call.others && { others: Object.fromEntries(call.others.map((name, i) => [name, digests[i]])) }),
    created: new Date(createdAt).toISOString(),
  };
  return `${JSON.stringify(manifest, null, 2)}\n`;
}

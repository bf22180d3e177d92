/** `fieldprobe jobs`: lists the jobs of a service, and shows, awaits, saves or cancels one. */
import { renameSync, rmSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { extname } from "node:path";
import { Command } from "commander";
import { ClientError } from "../../client/error.js";
import { type JobDescription, type JobMethods, jobsOf } from "../../client/jobs.js";
import { FORMATS, type Format } from "../../shared/calls.js";
import { reasonOf } from "../../shared/system.js";
import { MisuseError } from "../input/arguments.js";

interface JobsFlags {
  readonly url: string;
  readonly token?: string;
  readonly wait?: boolean;
  readonly out?: string;
  readonly cancel?: boolean;
}

export function lineOf({ id, state, progress, secondsLeft, call, problem, result }: JobDescription): string {
  const left = secondsLeft === null ? "" : `, ${Math.ceil(secondsLeft)} s left`;
  const about = problem ?? (result === null ? call : `${result.bytes} bytes, sha256 ${result.sha256}`);
  return `${id}  ${state.padEnd(9)}  ${String(Math.floor(100 * progress)).padStart(3)} %${left}  ${about}\n`;
}

async function jobs(id: string | undefined, flags: JobsFlags): Promise<void> {
  const service = jobsOf(flags.url, flags.token);
  if (id === undefined) {
    if (flags.cancel || flags.wait || flags.out !== undefined) throw new MisuseError("name a job by its id");
    const all = await service.jobs();
    process.stdout.write(all.length === 0 ? "There are no jobs.\n" : all.map(lineOf).join(""));
    return;
  }
  if (flags.cancel) process.stdout.write(lineOf(await service.cancelJob(id)));
  else if (flags.out !== undefined) await save(service, id, flags.out);
  else {
    const job = await (flags.wait ? service.wait(id) : service.job(id));
    process.stdout.write(lineOf(job));
    if (flags.wait && job.state !== "done") process.exitCode = 1;
  }
}

/** Saves the result of a job, once it is done, by an atomic write. Throws MisuseError for a wrong file ending. */
export async function save(service: JobMethods, id: string, path: string): Promise<void> {
  const { result } = await service.wait(id);
  const form = FORMATS[extname(path).slice(1).toLowerCase() as Format] as { readonly type: string } | undefined;
  if (result !== null && form !== undefined && !result.type.startsWith(form.type))
    throw new MisuseError(`--out ${path}: the result is ${result.name}; --format of the call chooses its form`);
  const { body } = await service.result(id);
  const partial = `${path}.${process.pid}.partial`;
  try {
    await writeFile(partial, body ?? "");
    renameSync(partial, path);
  } catch (error) {
    rmSync(partial, { force: true });
    if (error instanceof ClientError) throw error;
    throw new Error(`${path} cannot be written: ${reasonOf(error)}`);
  }
}

export function jobsCommand(): Command {
  return new Command("jobs")
    .argument("[id]", "a job; without it, your jobs are listed")
    .requiredOption("--url <url>", "a running service")
    .option("--token <token>", "the token to send")
    .option("--wait", "wait until the job has ended; exit code 1 unless it is done")
    .option("--out <file>", "wait, and save the result")
    .option("--cancel", "cancel the job; one that has ended is forgotten, with its result")
    .action(jobs);
}

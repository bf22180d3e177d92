/** `fieldprobe query` runs one operation at the points of a file, on a running service or in this process. */

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { SingleBar } from "cli-progress";
import { Argument, Command, InvalidArgumentError, Option } from "commander";
import { RESULT_FORMS } from "../../jobs/job.js";
import { version } from "../../shared/build.js";
import { ALL_OPERATIONS, type Operation, type OperationName, operationOf } from "../../shared/operations.js";
import { MisuseError } from "../input/arguments.js";
import { nearest } from "../input/nearest.js";
import { readPoints } from "../input/points.js";
import { EXAMPLE, flagsOf, type GivenFlags, QUERY_FLAGS, readRequest, takesPoints } from "../input/query-request.js";
import { csv, json } from "../output/print.js";
import type { FlagQuery, OnProgress, QueryAnswer } from "../query/answer.js";
import { arrange } from "../query/arrange.js";
import type { ServiceFlags } from "./own-service.js";

/** Draws the progress of a query on stderr if that is a terminal; `stop` ends the drawing. */
function progressBar(): { readonly update: OnProgress; stop(): void } {
  if (!process.stderr.isTTY) return { update() {}, stop() {} };
  const bar = new SingleBar({ format: "{bar} {percentage}% | {value}/{total} points | {eta_formatted} left" });
  const update = (done: number, total: number) => {
    if (!bar.isActive) bar.start(total, 0);
    bar.update(done);
  };
  return { update, stop: () => bar.stop() };
}

async function print(text: Iterable<string>): Promise<void> {
  try {
    await pipeline(Readable.from(text), process.stdout, { end: false });
  } catch (error) {
    // The reader of a pipe may stop early, as `head` does.
    if ((error as NodeJS.ErrnoException).code !== "EPIPE") throw error;
  }
}

/** Forms of the results of jobs, by the endings of their files, that of an archive without `.zip`. */
const JOB_FORMS: ReadonlyMap<string, string> = new Map(
  Object.entries(RESULT_FORMS).map(([type, ending]) => [ending.replace(/\.zip$/, ""), type] as const),
);

async function query(operation: OperationName, given: GivenFlags): Promise<void> {
  if (given.json && given.csv) throw new MisuseError("--json and --csv exclude each other");
  if (given.points === "-" && given.initialVelocity === "-") {
    throw new MisuseError("--points and --initial-velocity cannot both be standard input");
  }
  const row = operationOf(operation);
  const places = takesPoints(row) && typeof given.points === "string" ? await readPoints(given.points) : null;
  const each = places?.times ? ownTimesOf(row, given, places.times) : null;
  const { authToken: _, ...members } = readRequest(operation, each?.given ?? given);
  if (each !== null) delete members[each.member];
  const points = places?.points ?? new Float32Array();
  const velocities =
    typeof given.initialVelocity === "string" ? (await readPoints(given.initialVelocity)).points : null;
  const { dataset = null, ...options } = members;
  if (given.job) {
    if (typeof given.url !== "string") throw new MisuseError("--job needs --url: a job runs in a service");
    const job = { operation, members, points, velocities, ...(each && { [each.list]: each.times }) };
    const token = typeof given.token === "string" ? given.token : undefined;
    const named = given.csv && given.job === "npy" ? "csv" : String(given.job);
    if (given.csv && named !== "csv") throw new MisuseError(`--csv and --job ${named} exclude each other`);
    const form = JOB_FORMS.get(named);
    return (await import("./jobs.js")).submitQuery(given.url, token, job, form as string);
  }
  const progress = progressBar();
  const asked = { operation, members, points, velocities, ...(each && { [each.list]: each.times }) };
  const answer = await evaluate(asked, given, progress.update).finally(progress.stop);
  const { record, manifest, assumed } = answer;
  const about = given.json ? { manifest, ...(assumed.length > 0 && { assumed }) } : {};
  const facts = { version, operation, dataset, ...about, options, record };
  await print((given.json ? json : csv)({ facts, ...arrange(asked, answer) }));
}

/** The times of points whose file has a column of them, and the flags as if all had the first one. */
function ownTimesOf(row: Operation, given: GivenFlags, times: Float64Array) {
  const member = row.family === "track" ? ("StartTime" as const) : ("time" as const);
  const [flag, list] = member === "time" ? (["time", "times"] as const) : (["startTime", "startTimes"] as const);
  if (given[flag] !== undefined || !row.request.some(({ name }) => name === member)) return null;
  return { member, list, times, given: { ...given, [flag]: String(times[0] ?? 0) } };
}

/** Asks the service that `--url` names, or else evaluates in this process. */
async function evaluate(asked: FlagQuery, given: GivenFlags, onProgress: OnProgress): Promise<QueryAnswer> {
  const token = typeof given.token === "string" ? given.token : undefined;
  const ask = async (url: string) =>
    (await import("../query/remote.js")).queryService(url, token, asked, given.json === true, onProgress);
  if (typeof given.url === "string") return ask(given.url);
  // Only `/api` has points with times of their own.
  if (asked.times !== undefined || asked.startTimes !== undefined)
    return (await import("./own-service.js")).withService(given as ServiceFlags, ask);
  const { queryLocally } = await import("../query/local.js");
  const { data, descriptors } = given as Readonly<Record<"data" | "descriptors", string | undefined>>;
  return queryLocally(asked, { data, descriptors }, onProgress);
}

/** The operation of a name. @throws InvalidArgumentError that proposes similar names */
function operationNamed(name: string): OperationName {
  const names = ALL_OPERATIONS.map((operation) => operation.name);
  const found = names.find((known) => known === name);
  if (found !== undefined) return found;
  const like = nearest(name, names);
  const hint = like === null ? "fieldprobe query --help lists all" : `did you mean ${like}?`;
  throw new InvalidArgumentError(`There is no such operation (${hint})`);
}

/** The flags of every operation, one line each. */
function flagTable(): string {
  const width = Math.max(...ALL_OPERATIONS.map(({ name }) => name.length));
  return ALL_OPERATIONS.map((operation) => `  ${operation.name.padEnd(width)}  ${flagsOf(operation)}`.trimEnd()).join(
    "\n",
  );
}

/** The command, with the flags of every operation. */
export function queryCommand(): Command {
  const command = new Command("query")
    .addArgument(new Argument("<operation>", "one of the operations below").argParser(operationNamed))
    .option("--url <URL>", "address of a running service; without it, this command reads the data itself")
    .option("--data <FOLDERS>", "data folders to read; as FIELDPROBE_DATA")
    .option("--descriptors <FOLDER>", "separate folder of descriptors; as FIELDPROBE_DESCRIPTORS");
  for (const flag of QUERY_FLAGS) {
    const about = flag.fallback === undefined ? flag.about : `${flag.about} (${flag.fallback} unless given)`;
    const option = new Option(`--${flag.name} <${flag.value}>`, about);
    if (flag.choices) option.choices(flag.choices);
    command.addOption(option);
  }
  return command
    .option("--csv", "print CSV: x,y,z of the point or the node and the components of the record (default)")
    .option("--json", "print JSON with version, dataset, manifest digest, what is assumed, and options")
    .addOption(
      new Option("--job [form]", "with --url: start a job with a result of this form (npy unless given); print its id")
        .choices([...JOB_FORMS.keys()])
        .preset("npy"),
    )
    .addHelpText("after", `\nOperations and their flags, besides --points:\n${flagTable()}\n\nExample:\n  ${EXAMPLE}`)
    .action(query);
}

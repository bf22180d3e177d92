/** A command for each call of the table: flags are its members, endings of `--out` choose the formats. */
import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, extname, relative } from "node:path";
import { Command } from "commander";
import { analysisTable } from "../../analysis/table.js";
import { type JobDescription, jobsOf } from "../../client/jobs.js";
import { sendOnce, sendWithRetries } from "../../client/plain-http.js";
import {
  type CallName,
  callOf,
  describeWithChoices,
  FORMATS,
  type Format,
  type MemberName,
  memberOf,
} from "../../shared/calls.js";
import { writeAtomically } from "../../shared/write-atomically.js";
import { hasDoubledMember } from "../../text/json-body.js";
import { withAnswers } from "../input/answer-flags.js";
import { MisuseError } from "../input/arguments.js";
import { type PointsBody, pointsBody } from "../input/points.js";
import { analysisPlot, escaped } from "../output/analysis-plot.js";
import { elapsed } from "../output/progress.js";
import { lineOf, save } from "./jobs.js";
import { type ServiceFlags, withService, withServiceFlags } from "./own-service.js";

interface AskFlags extends ServiceFlags {
  readonly out: readonly string[];
  readonly question?: string;
  readonly job?: boolean;
  readonly [flag: string]: unknown;
}

const dashed = (name: string): string => name.replaceAll("_", "-");
const camel = (name: string): string => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const objectMembersOf = (call: CallName): readonly string[] =>
  callOf(call).members.flatMap((name) => (memberOf(name).objectMembers ?? []).map((leaf) => `${name}.${leaf}`));

const endingsOf = (call: CallName): readonly string[] =>
  [...callOf(call).formats, ...(callOf(call).kind === "rows" ? [] : ["svg"])].map((format) => `.${format}`);

const quoted = (text: string): string => (/^[\w.,:/-]+$/.test(text) ? text : `'${text}'`);

export function exampleLine(call: CallName): string {
  const { what, ...members } = callOf(call).example as Readonly<Record<string, string>>;
  const flags = Object.entries(members).flatMap(([name, value]) => [`--${dashed(name)}`, quoted(value)]);
  return ["fieldprobe", dashed(call), "isotropic32", ...(what === undefined ? [] : [quoted(what)]), ...flags].join(" ");
}

export function askCommand(call: CallName): Command {
  const { description, members } = callOf(call);
  const command = new Command(dashed(call))
    .description(description)
    .argument("<dataset>", "a name; without --url also a file, a store, a folder (with a slash) or an address");
  if (members.includes("what")) command.argument("[what]", describeWithChoices("what", call));
  for (const name of members) {
    const { type } = memberOf(name);
    if (name === "what" || name === "job") continue;
    const words = describeWithChoices(name, call, name === "format" ? "csv" : undefined);
    const files = type === "points" ? " Here also a file (.csv, .npy, .bin of float32), or - for standard input." : "";
    command.option(type === "boolean" ? `--${dashed(name)}` : `--${dashed(name)} <value>`, `${words}${files}`);
  }
  for (const leaf of objectMembersOf(call))
    command.option(`--${dashed(leaf)} <value>`, dashed(leaf).replace(/(.*)[.](.*)/, "The same as --$1 '{\"$2\": …}'."));
  command
    .option(
      "--out <file>",
      `write a file instead of printing; may be repeated: ${endingsOf(call).join(" ")}`,
      (file: string, before: readonly string[]) => [...before, file],
      [] as readonly string[],
    )
    .option("--question <file>", "a question as JSON; flags win; - is standard input")
    .option("--job", "with --url: start a job and print its line; with --out wait and save the result");
  return withAnswers(withServiceFlags(command), true)
    .addHelpText(
      "after",
      `\nA file that waits takes the answers of inspect, for this call.\nExample:\n  ${exampleLine(call)}`,
    )
    .action((dataset: string, ...rest: readonly unknown[]) => {
      const [what, flags] = members.includes("what") ? rest : [undefined, ...rest];
      return run(call, dataset, what as string | undefined, flags as AskFlags);
    });
}

interface CliQuestion {
  readonly call: CallName;
  readonly members: Readonly<Record<string, unknown>>;
  readonly body: PointsBody | null;
}

function readQuestionFile(file: string, call: CallName): Record<string, unknown> {
  const bytes = readFileSync(file === "-" ? 0 : file);
  let read: unknown;
  try {
    read = JSON.parse(String(bytes));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (typeof read !== "object" || read === null || Array.isArray(read))
    throw new MisuseError(`--question ${file}: it holds no JSON object`);
  if (hasDoubledMember(read, bytes)) throw new MisuseError(`--question ${file}: it gives a member twice`);
  const { call: named = call, ...members } = read as Record<string, unknown>;
  if (named !== call) throw new MisuseError(`--question ${file}: it is a question of ${named}, not of ${call}`);
  return members;
}

async function questionOf(call: CallName, what: string | undefined, flags: AskFlags): Promise<CliQuestion> {
  const members = flags.question === undefined ? {} : readQuestionFile(flags.question, call);
  for (const name of callOf(call).members) {
    const given = name === "job" ? undefined : flags[camel(name)];
    if (given !== undefined) members[name] = given;
  }
  if (what !== undefined) members.what = what;
  for (const leaf of objectMembersOf(call)) {
    const [name, objectMember] = leaf.split(".") as [MemberName, string];
    const value = flags[camel(leaf)];
    if (value === undefined) continue;
    if (flags[camel(name)] !== undefined) throw new MisuseError(`--${dashed(leaf)} does not go with --${dashed(name)}`);
    const known = members[name];
    members[name] = { ...(typeof known === "object" && !Array.isArray(known) ? known : {}), [objectMember]: value };
  }
  const { points } = flags;
  if (typeof points !== "string" || !isSource(points)) return { call, members, body: null };
  if (points === "-" && flags.question === "-")
    throw new MisuseError("--points and --question cannot both be standard input");
  delete members.points;
  return { call, members, body: await pointsBody(points) };
}

/** Whether points are a file or standard input. Throws MisuseError for what is neither that nor points. */
function isSource(points: string): boolean {
  if (points === "-" || existsSync(points)) return true;
  if (/^\s*[[{]/.test(points) || /^[\s\d.,;:eE+-]+$/.test(points)) return false;
  throw new MisuseError(`--points ${points}: there is no such file; text is 1,2,3;4,5,6`);
}

/** Format of a file by its ending; `svg`, written after the others, is drawn of a table or a line. */
function formatOf(call: CallName, file: string): Format | "svg" {
  const ending = /\.zarr\.zip$/i.test(file) ? ".zarr" : extname(file).toLowerCase();
  if (endingsOf(call).includes(ending)) return ending.slice(1) as Format | "svg";
  throw new MisuseError(`--out ${basename(file)}: ${dashed(call)} writes ${endingsOf(call).join(", ")}`);
}

function printedFormat(call: CallName, { format = "csv" }: CliQuestion["members"]): Format {
  const known = callOf(call).formats.find((one) => one === String(format).toLowerCase());
  if (known !== undefined) return known;
  throw new MisuseError(`--format ${format}: ${dashed(call)} writes ${callOf(call).formats.join(", ")}`);
}

type Outputs = readonly (readonly [file: string, format: Format | "svg"])[];

function checkOutputs(outputs: Outputs, format: unknown): void {
  const [other] = outputs.find(([, own]) => typeof format === "string" && own !== format.toLowerCase()) ?? [];
  if (other !== undefined) throw new MisuseError(`--format ${format} contradicts --out ${basename(other)}`);
}

function checkXdmf(outputs: Outputs): void {
  const [xmf] = outputs.find(([, format]) => format === "xmf") ?? [];
  if (xmf !== undefined && !outputs.some(([, format]) => format === "h5"))
    throw new MisuseError(`--out ${xmf}: it describes an HDF5 file; add --out ${xmf.replace(/\.xmf$/i, ".h5")}`);
}

async function run(call: CallName, dataset: string, what: string | undefined, flags: AskFlags): Promise<void> {
  const outputs = flags.out.map((file) => [file, formatOf(call, file)] as const);
  checkOutputs(outputs, flags.format);
  const asked = await questionOf(call, what, flags);
  const { job, ...members } = asked.members;
  const question = { ...asked, members };
  if (flags.job === true || job === true) return submit(dataset, question, outputs, flags);
  checkXdmf(outputs);
  const wait = elapsed(dashed(call));
  try {
    await withService(dataset, flags, async (url, name) => {
      let version: string | null = null;
      const fetchAnswer = async (format: Format): Promise<Buffer> => {
        const { path, request } = requestOf(name, question, format, false);
        const { bytes, headers } = await sendWithRetries(url, path, request, flags.token, new AbortController().signal);
        const manifest = `${headers.get("fieldprobe-manifest")} ${headers.get("fieldprobe-manifests")}`;
        version ??= manifest;
        if (manifest === version) return Buffer.from(bytes);
        throw new Error(`${name} was replaced while it was asked: the files would be of two versions; ask again`);
      };
      if (outputs.length === 0) {
        const format = printedFormat(call, question.members);
        const answer = await fetchAnswer(format);
        wait.stop();
        // On a terminal and in pipes, lines of CSV end as other lines do.
        process.stdout.write(format === "csv" ? answer.toString("latin1").replaceAll("\r\n", "\n") : answer, "latin1");
      }
      for (const [file, format] of outputs.toSorted(([, a], [, b]) => Number(a === "svg") - Number(b === "svg")))
        if (format === "svg") writeAtomically(file, plotOf(JSON.parse(String(await fetchAnswer("json"))), call));
        else {
          const answer = await fetchAnswer(format);
          writeAtomically(file, format === "xmf" ? withDataPath(answer, file, outputs) : answer);
        }
    });
  } finally {
    wait.stop();
  }
}

/** XDMF that refers to the HDF5 file written with it by its path from the folder of the XDMF. */
function withDataPath(xdmf: Buffer, file: string, outputs: Outputs): string {
  const [data = ""] = outputs.find(([, format]) => format === "h5") ?? [];
  return String(xdmf).replaceAll(">nodes.h5:", () => `>${escaped(relative(dirname(file), data))}:`);
}

async function submit(
  dataset: string,
  question: CliQuestion,
  outputs: Outputs,
  { url, token }: AskFlags,
): Promise<void> {
  if (url === undefined) throw new MisuseError("--job needs --url: a job runs in a service");
  const [[file, format] = [null, printedFormat(question.call, question.members)], more] = outputs;
  if (more !== undefined || format === "svg") throw new MisuseError("--job takes one --out, and no .svg");
  const { path, request } = requestOf(dataset, question, format, true);
  const answer = await sendOnce(url, path, request, token, new AbortController().signal);
  const job = (await answer.json()) as JobDescription;
  process.stdout.write(lineOf(job));
  if (file !== null) await save(jobsOf(url, token), job.id, file);
}

function plotOf(answer: Readonly<Record<string, unknown>>, call: CallName): string {
  const { dims, coords, data, question } = answer as {
    readonly [member in "dims" | "coords" | "data" | "question"]: unknown;
  };
  const title = `${call} of ${(question as { readonly dataset: string }).dataset}`;
  if (callOf(call).kind === "table") return analysisPlot(analysisTable(answer), title);
  const [x, ...others] = dims as readonly string[];
  if (x === undefined || others.length > 0)
    throw new Error(`an .svg shows a line, and this answer has the dimensions ${[x, ...others].join(", ")}`);
  const columns = Object.entries(data as Readonly<Record<string, readonly unknown[]>>).flatMap(([name, rows]) => {
    const flat = rows.map((row) => [row].flat(3));
    const width = flat[0]?.length ?? 0;
    return Array.from({ length: width }, (_, c) => ({
      name: width === 1 ? name : `${name}.${width === 3 ? "xyz"[c] : c}`,
      values: flat.map((row) => row[c]),
    }));
  });
  const along = (coords as Readonly<Record<string, readonly number[]>>)[x] as readonly number[];
  const names = columns.map(({ name }) => name);
  const rows = along.map((place, i) => [place, ...columns.map(({ values }) => values[i])]);
  return analysisPlot({ columns: [x, ...names], rows, plot: { x, y: names, log: false } }, title);
}

function memberText(value: unknown): string {
  if (typeof value === "string") return value;
  const isList = Array.isArray(value) && value.every((one) => typeof one !== "object");
  return isList ? value.join(",") : JSON.stringify(value);
}

/**
 * The request for a question: to `/api/ask`, or to the address of its call if points are the body or it becomes a job.
 */
function requestOf(dataset: string, { call, members, body }: CliQuestion, format: Format, job: boolean) {
  const accept = FORMATS[format].type;
  const { dataset: named = dataset, ...given } = members;
  if (String(named).toLowerCase() !== dataset.toLowerCase())
    throw new MisuseError(`--question: it is a question of ${named}, not of ${dataset}`);
  const question = { ...given, format };
  const callPath = `/api/datasets/${encodeURIComponent(dataset)}/${call}`;
  if (body === null) {
    const headers = { "content-type": "application/json", accept };
    const whole = job ? { ...question, job } : { dataset, call, ...question };
    return { path: job ? callPath : "/api/ask", request: { method: "POST", headers, body: JSON.stringify(whole) } };
  }
  const stated = Object.entries(question).filter(([, value]) => value !== null);
  const headers = { "content-type": body.type, accept, ...(job ? { prefer: "respond-async" } : {}) };
  const path = `${callPath}?${new URLSearchParams(Object.fromEntries(stated.map(([name, value]) => [name, memberText(value)])))}`;
  return { path, request: { method: "POST", headers, body: body.bytes as Buffer<ArrayBuffer> } };
}

/** `fieldprobe cutout` writes a sub-box of a file or of a running service, for ParaView, NumPy and existing scripts. */
import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { LIMITS } from "../../shared/config.js";
import type { Answers } from "../../storage/catalog/layouts/answers.js";
import { openSource } from "../../storage/catalog/source.js";
import { axesOfField, type Dataset, type FieldName, fieldNames, type Triple } from "../../storage/file/dataset.js";
import { writeCutout, xdmfBeside } from "../../storage/tools/cutout.js";
import { selectionProblem } from "../../storage/tools/selection.js";
import { answersOf, withAnswers } from "../input/answer-flags.js";
import { MisuseError, wholeNumber } from "../input/arguments.js";
import { openStorage } from "../input/storage.js";
import { counted, PROGRESS_HELP, progressOf } from "../output/progress.js";
import { downloadCutout, type NumberRange } from "../query/download-cutout.js";

interface CutoutFlags extends Answers {
  readonly x?: NumberRange;
  readonly y?: NumberRange;
  readonly z?: NumberRange;
  readonly frames?: NumberRange;
  readonly field?: FieldName[];
  readonly force?: boolean;
  readonly url?: string;
  readonly token?: string;
  readonly step?: readonly number[];
  readonly filterNodes?: number;
}

/** Endings of files that hold one field of one frame; only a service makes them. */
const BARE: readonly string[] = [".npy", ".raw"];

async function cutout(from: string, to: string, flags: CutoutFlags): Promise<void> {
  const path = resolve(to);
  const ending = extname(path);
  const bare = BARE.includes(ending);
  if (!bare && ending !== ".h5")
    throw new MisuseError(`${to}: the name of a cutout ends in .h5, or with --url in .npy or .raw`);
  for (const file of bare ? [to] : [to, xdmfBeside(to)])
    if (existsSync(resolve(file)) && flags.force !== true)
      throw new MisuseError(`${file} exists already (--force replaces it)`);
  if (flags.url !== undefined) return download(from, path, flags, flags.url);
  for (const [given, name] of [
    [bare, ending],
    [flags.step, "--step"],
    [flags.filterNodes, "--filter-nodes"],
    [flags.token, "--token"],
  ] as const)
    if (given !== false && given !== undefined) throw new MisuseError(`${name} needs --url, the address of a service`);
  await openStorage();
  const dataset = openSource(from, LIMITS["engine.chunkBytes"], answersOf(flags));
  const selection = select(dataset, flags);
  const problem = selectionProblem(dataset, selection);
  if (problem !== null) throw new MisuseError(problem);
  const progress = progressOf(dataset.name);
  await writeCutout(dataset, selection, path, progress.update).finally(progress.stop);
  process.stdout.write(
    `${path}: ${selection.box.count.join(" x ")} nodes, ${counted(selection.frames.count, "frame")}, and its .xmf\n`,
  );
}

/** Downloads the cutout of a dataset that a service has. */
async function download(dataset: string, path: string, flags: CutoutFlags, url: string): Promise<void> {
  const shape = await downloadCutout({ url, token: flags.token, dataset }, flags, path);
  process.stdout.write(`${path}: ${shape === null ? "written with its .xmf" : `float32, ${shape.join(" x ")}`}\n`);
}

function select(dataset: Dataset, flags: CutoutFlags) {
  const fields = flags.field ?? fieldNames(dataset);
  const [field = ""] = fields;
  // All fields of a file have the same nodes.
  const axes = Object.hasOwn(dataset.fields, field) ? axesOfField(dataset, field) : dataset.axes;
  const ranges = (["x", "y", "z"] as const).map(
    (axis, index) => flags[axis] ?? { first: 1, last: axes[index]?.nodes ?? 1 },
  );
  const frames = flags.frames ?? { first: 1, last: dataset.time.count };
  return {
    fields,
    frames: { first: frames.first - 1, count: frames.last - frames.first + 1 },
    box: {
      first: ranges.map(({ first }) => first - 1) as unknown as Triple,
      count: ranges.map(({ first, last }) => last - first + 1) as unknown as Triple,
    },
  };
}

function range(text: string): NumberRange {
  const match = /^(\d{1,9})(?::(\d{1,9}))?$/.exec(text);
  const first = Number(match?.[1]);
  const last = Number(match?.[2] ?? match?.[1]);
  if (match === null || first < 1 || last < first)
    throw new InvalidArgumentError("FIRST:LAST is needed, counted from 1, both included.");
  return { first, last };
}

function steps(text: string): number[] {
  const numbers = text.split(",").map((part) => (/^[1-9]\d{0,4}$/.test(part) ? Number(part) : 0));
  const [all = 0] = numbers;
  if (numbers.includes(0) || (numbers.length !== 1 && numbers.length !== 3))
    throw new InvalidArgumentError("three whole numbers x,y,z from 1 are needed, or one for all.");
  return numbers.length === 3 ? numbers : [all, all, all];
}

export function cutoutCommand(): Command {
  const command = new Command("cutout")
    .argument("<source>", "a dataset folder or an HDF5 file; with --url the name of a dataset")
    .argument("<file>", "the cutout, *.h5; with --url also *.npy, or *.raw for bare float32")
    .option("--url <URL>", "address of a running service that has the dataset")
    .option("--token <TOKEN>", "token of the service, if it asks for one");
  for (const axis of ["x", "y", "z"])
    command.option(`--${axis} <first:last>`, `nodes along ${axis}, counted from 1 (default: all)`, range);
  return withAnswers(command)
    .option("--frames <first:last>", "stored frames, counted from 1 (default: all)", range)
    .option("--field <name...>", "fields (default: all)")
    .option("--step <x,y,z>", "strides in nodes, or one number for all (.npy and .raw)", steps)
    .option(
      "--filter-nodes <n>",
      "nodes per axis over which each value is averaged (.npy and .raw)",
      wholeNumber(1, 65_536),
    )
    .option("--force", "replace an existing cutout")
    .addHelpText("after", PROGRESS_HELP)
    .action(cutout);
}

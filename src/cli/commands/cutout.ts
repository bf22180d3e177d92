/** `fieldprobe cutout` writes a sub-box in the layout of JHTDB cutouts, for ParaView and existing scripts. */
import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { LIMITS } from "../../config.js";
import type { Answers } from "../../storage/catalog/layouts/answers.js";
import { openSource } from "../../storage/catalog/source.js";
import { type Dataset, FIELD_NAMES, type FieldName, type Triple } from "../../storage/dataset.js";
import { loadHdf5 } from "../../storage/hdf5/library.js";
import { selectionProblem, writeCutout } from "../../storage/tools/cutout.js";
import { answersOf, withAnswers } from "../input/answers.js";
import { MisuseError } from "../input/arguments.js";
import { counted, progressOf } from "../output/progress.js";

/** A range of numbers from 1, inclusive at both ends. */
interface Range {
  readonly first: number;
  readonly last: number;
}

interface CutoutFlags extends Answers {
  readonly x?: Range;
  readonly y?: Range;
  readonly z?: Range;
  readonly frames?: Range;
  readonly field?: FieldName[];
  readonly force?: boolean;
}

async function cutout(from: string, to: string, flags: CutoutFlags): Promise<void> {
  const path = resolve(to);
  if (extname(path) !== ".h5") throw new MisuseError(`${to}: the name of a cutout ends in .h5`);
  if (existsSync(path) && flags.force !== true) throw new MisuseError(`${to} exists already (--force replaces it)`);
  await loadHdf5();
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

function select(dataset: Dataset, flags: CutoutFlags) {
  const ranges = (["x", "y", "z"] as const).map(
    (axis, index) => flags[axis] ?? { first: 1, last: dataset.axes[index]?.nodes ?? 1 },
  );
  const frames = flags.frames ?? { first: 1, last: dataset.time.count };
  return {
    fields: flags.field ?? FIELD_NAMES.filter((field) => dataset.fields[field] !== undefined),
    frames: { first: frames.first - 1, count: frames.last - frames.first + 1 },
    box: {
      first: ranges.map(({ first }) => first - 1) as unknown as Triple,
      count: ranges.map(({ first, last }) => last - first + 1) as unknown as Triple,
    },
  };
}

function range(text: string): Range {
  const match = /^(\d{1,9})(?::(\d{1,9}))?$/.exec(text);
  const first = Number(match?.[1]);
  const last = Number(match?.[2] ?? match?.[1]);
  if (match === null || first < 1 || last < first)
    throw new InvalidArgumentError("FIRST:LAST is needed, counted from 1, both included.");
  return { first, last };
}

export function cutoutCommand(): Command {
  const command = new Command("cutout")
    .argument("<source>", "a dataset folder or an HDF5 file")
    .argument("<file>", "the cutout, *.h5");
  for (const axis of ["x", "y", "z"])
    command.option(`--${axis} <first:last>`, `nodes along ${axis}, counted from 1 (default: all)`, range);
  return withAnswers(command)
    .option("--frames <first:last>", "stored frames, counted from 1 (default: all)", range)
    .addOption(new Option("--field <name...>", "fields (default: all)").choices(FIELD_NAMES))
    .option("--force", "replace an existing cutout")
    .action(cutout);
}

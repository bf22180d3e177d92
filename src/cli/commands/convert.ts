/** `fieldprobe convert` rewrites any readable dataset into the fast form. */
import { resolve } from "node:path";
import { Command, Option } from "commander";
import { NAME_PATTERN } from "../../storage/catalog/descriptor.js";
import type { Answers } from "../../storage/catalog/layouts/answers.js";
import { openSource } from "../../storage/catalog/source.js";
import { FILTERS, type Filter } from "../../storage/hdf5/writer.js";
import { convert } from "../../storage/tools/convert.js";
import { answersOf, withAnswers } from "../input/answers.js";
import { MisuseError, wholeNumber } from "../input/arguments.js";
import { openStorage } from "../input/storage.js";
import { counted, progressOf } from "../output/progress.js";

/** Chunks that are too large to be served can still be rewritten. */
const SOURCE_CHUNK_BYTES = 1024 * 1024 * 1024;

/** A vector chunk of this edge stays below engine.chunkBytes. */
const MAX_CHUNK = 160;

interface ConvertFlags extends Answers {
  readonly chunk: number;
  readonly filter: Filter;
  readonly name?: string;
}

async function convertDataset(from: string, to: string, flags: ConvertFlags): Promise<void> {
  await openStorage();
  const dataset = openSource(from, SOURCE_CHUNK_BYTES, answersOf(flags));
  const name = flags.name ?? dataset.name;
  if (!NAME_PATTERN.test(name))
    throw new MisuseError(`--name ${name}: 1 to 64 letters, digits, "_", "." and "-" are needed`);
  const progress = progressOf(name);
  const options = { folder: resolve(to), name, chunk: flags.chunk, filter: flags.filter };
  const { files, kept, bytesRead } = await convert(dataset, options, progress.update).finally(progress.stop);
  const resumed = kept === 0 ? "" : `, ${kept} of them kept from before`;
  process.stdout.write(`${name} in ${options.folder}: ${counted(files, "file")}${resumed}, ${bytesRead} bytes read\n`);
}

export function convertCommand(): Command {
  const command = new Command("convert")
    .argument("<source>", "a dataset folder or an HDF5 file")
    .argument("<folder>", "where to; an interrupted conversion resumes")
    .option("--chunk <n>", "nodes of a chunk along each axis", wholeNumber(4, MAX_CHUNK), 64)
    .addOption(
      new Option("--filter <filter>", "what protects or shrinks a chunk").choices(FILTERS).default("fletcher32"),
    )
    .option("--name <name>", "name of the new dataset (default: that of the source)")
    .action(convertDataset);
  return withAnswers(command);
}

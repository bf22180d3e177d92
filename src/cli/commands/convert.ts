/** `fieldprobe convert`: rewrites a dataset into the fast form, or into a store of Zarr 3. */
import { resolve } from "node:path";
import { Command, Option } from "commander";
import { isAddress } from "../../shared/addresses.js";
import { descriptorFolder, readConfig } from "../../shared/config.js";
import { openSource } from "../../storage/catalog/source.js";
import { NAME_PATTERN } from "../../storage/dataset/descriptor.js";
import { FILTERS, type Filter } from "../../storage/hdf5/writer.js";
import { objectTarget } from "../../storage/remote/objects/object-target.js";
import { convert } from "../../storage/tools/convert.js";
import { convertToZarr } from "../../storage/tools/convert-zarr.js";
import { COMPRESSIONS, type Compression } from "../../storage/zarr/shard.js";
import { type AnswerOptions, answersOf, withAnswers } from "../input/answer-flags.js";
import { MisuseError, pathArgument, wholeNumber } from "../input/arguments.js";
import { openStorage } from "../input/storage.js";
import { counted, PROGRESS_HELP, progressOf } from "../output/progress.js";
import { makeLevels } from "./levels.js";

/** Chunks that are too large to be served can still be rewritten. */
const SOURCE_CHUNK_BYTES = 1024 * 1024 * 1024;

/** A vector chunk of this edge stays below engine.chunkBytes. */
const MAX_CHUNK = 160;

/** Most nodes of a shard along each axis: a shard is made in memory. */
const MAX_SHARD = 512;

interface ConvertFlags extends AnswerOptions {
  readonly format?: "hdf5" | "zarr";
  readonly chunk: number;
  readonly filter?: Filter;
  readonly shard?: number;
  readonly compression?: Compression;
  readonly name?: string;
  readonly levels?: boolean;
}

async function convertDataset(from: string, to: string, flags: ConvertFlags): Promise<void> {
  const isZarr = flags.format === "zarr" || (flags.format === undefined && (isAddress(to) || /\.zarr\/?$/i.test(to)));
  checkFlags(to, flags, isZarr);
  await openStorage();
  const dataset = openSource(from, SOURCE_CHUNK_BYTES, answersOf(flags), descriptorFolder(readConfig().config));
  const name = flags.name ?? dataset.name;
  if (!NAME_PATTERN.test(name))
    throw new MisuseError(`--name ${name}: 1 to 64 letters, digits, "_", "." and "-" are needed`);
  const progress = progressOf(name);
  const place = isAddress(to) ? to : resolve(to);
  const { chunk, filter = "fletcher32", shard = roundedShard(chunk), compression = "none" } = flags;
  const options = { name, chunk, shard, compression };
  const converting = isZarr
    ? convertToZarr(dataset, objectTarget(place, readConfig().config.stores), options, progress.update)
    : convert(dataset, { folder: place, name, chunk, filter }, progress.update);
  const { files, kept, bytesRead } = await converting.finally(progress.stop);
  const resumed = kept === 0 ? "" : `, ${kept} of them kept from before`;
  const what = counted(files, isZarr ? "object" : "file");
  process.stdout.write(`${name} in ${place}: ${what}${resumed}, ${bytesRead} bytes read\n`);
  if (flags.levels) await makeLevels(place, {});
}

function checkFlags(to: string, { chunk, filter, shard, compression, levels }: ConvertFlags, isZarr: boolean): void {
  if (levels && isAddress(to)) throw new MisuseError("--levels are made of a dataset on this machine");
  if (!isZarr && isAddress(to)) throw new MisuseError(`${to}: only --format zarr is written to an address`);
  if (isZarr && filter !== undefined) throw new MisuseError("--filter is for HDF5; stores take --compression");
  if (!isZarr && (shard ?? compression) !== undefined)
    throw new MisuseError("--shard and --compression are for --format zarr");
  if (shard !== undefined && shard % chunk !== 0)
    throw new MisuseError(`--shard ${shard} is not a multiple of --chunk ${chunk}`);
}

/** Nodes of a shard if none are given: of the chunks that fit into 128, and of two at least. */
const roundedShard = (chunk: number): number => chunk * Math.max(2, Math.floor(128 / chunk));

export function convertCommand(): Command {
  const command = new Command("convert")
    .argument("<source>", "a dataset folder or an HDF5 file", pathArgument)
    .argument(
      "<target>",
      "a folder, or a store: NAME.zarr or s3://bucket/prefix; an interrupted conversion resumes",
      pathArgument,
    )
    .addOption(new Option("--format <format>", "hdf5 or zarr (default: by the target)").choices(["hdf5", "zarr"]))
    .option("--chunk <n>", "nodes of a chunk along each axis", wholeNumber(4, MAX_CHUNK), 64)
    .addOption(
      new Option("--filter <filter>", "of HDF5: checksum or compression of chunks (default: fletcher32)").choices(
        FILTERS,
      ),
    )
    .option(
      "--shard <n>",
      "of Zarr: nodes of a shard along each axis, 0 for none (default: of all chunks that fit into 128, of two at least)",
      wholeNumber(0, MAX_SHARD),
    )
    .addOption(
      new Option("--compression <codec>", "of Zarr; every chunk has a checksum (default: none)").choices(COMPRESSIONS),
    )
    .option("--name <name>", "name of the new dataset (default: that of the source)")
    .option("--levels", "make levels of the new dataset too, as fieldprobe levels does")
    .addHelpText("after", PROGRESS_HELP)
    .action(convertDataset);
  return withAnswers(command);
}

/** `fieldprobe check`: verifies descriptors, files, checksums and values below a folder. */
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { Command } from "commander";
import { descriptorFolder, LIMITS, readConfig } from "../../shared/config.js";
import { DataError } from "../../shared/errors.js";
import { STORE_DEFAULTS } from "../../shared/store-settings.js";
import { openDataset } from "../../storage/bricks/brick-reader.js";
import { saveCheckRecord } from "../../storage/catalog/check-record.js";
import { digestIn, MANIFEST_NAME, readManifest } from "../../storage/catalog/manifest.js";
import { scanFolders } from "../../storage/catalog/scan-folders.js";
import { openSource } from "../../storage/catalog/source.js";
import { type Dataset, type FieldName, type FileStamp, fieldNames } from "../../storage/dataset/dataset.js";
import { DESCRIPTOR_NAME } from "../../storage/dataset/folder-names.js";
import { isDoubtful, shuffledText } from "../../storage/tools/divergence.js";
import { type FrameStatistics, frameStatistics } from "../../storage/tools/frame-statistics.js";
import { outliersIn, repeatedFrames } from "../../storage/tools/outliers.js";
import { hasHdf5Name, isReferences } from "../../storage/zarr/kinds.js";
import { type AnswerOptions, answersOf, withAnswers } from "../input/answer-flags.js";
import { MisuseError, pathArgument } from "../input/arguments.js";
import { openStorage } from "../input/storage.js";
import { failureText } from "../output/failure.js";
import { PROGRESS_HELP, progressOf } from "../output/progress.js";
import { isFolder } from "./inspect.js";

/** Bytes of a manifest, which has a line for each object of a store. */
const MANIFEST_BYTES = STORE_DEFAULTS.referencesBytes;

const print = (text: string) => process.stdout.write(`${text}\n`);

async function check(folder: string, flags: AnswerOptions & { readonly descriptors?: string }): Promise<void> {
  await openStorage();
  const descriptors = flags.descriptors ?? descriptorFolder(readConfig().config);
  const answers = answersOf(flags);
  const chunkBytes = LIMITS["engine.chunkBytes"];
  const isAnswered = Object.keys(answers).length > 0;
  if (isAnswered && isFolder(folder)) throw new MisuseError(`answers like --dims are for files; ${folder} is a folder`);
  const { datasets, problems } = isAnswered
    ? { datasets: [openSource(folder, chunkBytes, answers, descriptors)], problems: [] }
    : scanFolders([folder], { chunkBytes, descriptors });
  for (const { location, message } of problems) print(`${location}: ${message}`);
  let faults = problems.length;
  for (const dataset of datasets) faults += await checkDataset(dataset);
  if (datasets.length === 0 && faults === 0) print(`${folder}: there is no dataset below it`);
  if (datasets.length === 0 || faults > 0) process.exitCode = 1;
}

async function checkDataset(dataset: Dataset): Promise<number> {
  print(`${dataset.name} (${dataset.location})`);
  for (const warning of dataset.warnings) print(`  warning: ${warning}`);
  const sums = await checkSums(dataset);
  const faults = await checkValues(dataset);
  saveCheckRecord(readConfig().config.state, dataset, sums.manifest);
  return sums.faults + faults;
}

/** Faults, and the text of the manifest that all files of the dataset agree with. */
async function checkSums({ location, name, files }: Dataset): Promise<{ faults: number; manifest: string | null }> {
  // A converted store has a manifest of its objects.
  const folder = location.endsWith(DESCRIPTOR_NAME) ? dirname(location) : location;
  const stored = hasHdf5Name(folder) || isReferences(folder) ? null : readManifest(folder, MANIFEST_BYTES);
  if (stored !== null && "problems" in stored) {
    for (const problem of stored.problems) print(`  ${problem}`);
    return { faults: stored.problems.length, manifest: null };
  }
  if (stored === null) {
    print("  checksums: none, there is no manifest.json (fieldprobe convert writes one)");
    return { faults: 0, manifest: null };
  }
  const entries = Object.entries(stored.manifest.files);
  const progress = progressOf(`${name} checksums`);
  let faults = 0;
  try {
    for (const [index, [file, { bytes, sha256 }]] of entries.entries()) {
      const read = await digestIn(folder, file);
      if (read.bytes !== bytes || read.sha256 !== sha256) {
        faults++;
        print(`  ${file}: its SHA-256 is ${read.sha256}, ${MANIFEST_NAME} says ${sha256}`);
      }
      progress.update((index + 1) / entries.length);
    }
  } finally {
    progress.stop();
  }
  print(`  checksums: ${entries.length - faults} of ${entries.length} files as ${MANIFEST_NAME} says`);
  const compared = entries.map(([file]) => join(folder, file));
  const described = [MANIFEST_NAME, DESCRIPTOR_NAME].map((file) => join(folder, file));
  const isCompared = ({ path }: FileStamp): boolean =>
    described.includes(path) || compared.some((file) => file === path || file.startsWith(`${path}/`));
  return { faults, manifest: faults === 0 && files.every(isCompared) ? stored.text : null };
}

interface ReadFrame {
  readonly field: FieldName;
  readonly frame: number;
  readonly statistics: FrameStatistics | string;
}

/** Reads every value, prints a line per field and frame, and then what is wrong. */
async function checkValues(dataset: Dataset): Promise<number> {
  const fields = fieldNames(dataset);
  const frames = dataset.time.count;
  const progress = progressOf(`${dataset.name} values`);
  const open = openDataset(dataset);
  const read: ReadFrame[] = [];
  try {
    for (let frame = 0; frame < frames; frame++)
      for (const [index, field] of fields.entries()) {
        const done = frame * fields.length + index;
        const onFraction = async (fraction: number) => {
          progress.update((done + fraction) / (frames * fields.length));
          await setImmediate();
        };
        const statistics = await frameStatistics(dataset, open, field, frame, onFraction).catch(textOf);
        read.push({ field, frame, statistics });
      }
  } finally {
    progress.stop();
    open.close();
  }
  print("  frame field             min          max          rms  rms div / rms grad");
  for (const { field, frame, statistics } of read) {
    const head = `  ${String(frame).padStart(5)} ${field.padEnd(10)}`;
    print(`${head}${typeof statistics === "string" ? `  ${statistics}` : statisticsText(statistics)}`);
  }
  return fields.reduce((sum, field) => sum + printFaults(read.filter((part) => part.field === field)), 0);
}

/** Prints what is wrong with the frames of one field, or the same in all of them. @returns the number of wrong frames */
function printFaults(read: readonly ReadFrame[]): number {
  const byFrame = new Map(
    read.flatMap(({ frame, statistics }) => (typeof statistics === "string" ? [] : [[frame, statistics] as const])),
  );
  const known = [...byFrame.values()];
  const doubtful = known.map(({ divergence }) => divergence).find(isDoubtful);
  if (doubtful && read[0]?.field === "velocity") print(`  warning: velocity: ${shuffledText(doubtful)}`);
  const repeated = repeatedFrames(byFrame);
  // A block with one value in all frames is not damage to one frame: it is a body, or fluid at rest.
  const isInAllFrames = (block: string) =>
    known.length > 1 && known.every((one) => one.places.constant.includes(block));
  let faults = read.length - known.length;
  for (const { field, frame, statistics } of read) {
    if (typeof statistics === "string") continue;
    const { constant, others } = statistics.places;
    const faultTexts = [
      ...constant.filter((block) => !isInAllFrames(block)),
      ...others,
      ...(repeated.get(statistics) ?? []),
      ...outliersIn(known, known.indexOf(statistics)),
    ];
    if (faultTexts.length > 0) faults++;
    for (const text of faultTexts) print(`  wrong: frame ${frame} ${field}: ${text}`);
  }
  for (const text of known[0]?.places.constant.filter(isInAllFrames) ?? [])
    print(`  in all frames ${read[0]?.field}: ${text}`);
  return faults;
}

function textOf(error: unknown): string {
  if (!(error instanceof DataError)) throw error;
  return failureText(error);
}

function statisticsText({ min, max, rms, nonFinite, divergence }: FrameStatistics): string {
  const cell = (value: number) => value.toPrecision(6).padStart(13);
  const relative = (divergence?.own.toPrecision(3) ?? "-").padStart(20);
  const bad = nonFinite === 0 ? "" : `  ${nonFinite} values are not finite`;
  return `${cell(min)}${cell(max)}${cell(rms)}${relative}${bad}`;
}

export function checkCommand(): Command {
  const command = new Command("check")
    .argument("<folder>", "a dataset folder, a folder of datasets, a file, or the address of one", pathArgument)
    .option("--descriptors <folder>", "a separate folder of descriptors (NAME.json)", pathArgument)
    .addHelpText("after", PROGRESS_HELP)
    .action(check);
  return withAnswers(command, true);
}

/** `fieldprobe inspect` prints the contents of a file and explains how it would be served. */
import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { foreignAddress, isAddress, withoutFileScheme } from "../../shared/addresses.js";
import { LIMITS } from "../../shared/config.js";
import { DataError } from "../../shared/errors.js";
import { makeFolder } from "../../shared/system.js";
import { type DescriptorInput, NAME_PATTERN, parseDescriptor } from "../../storage/catalog/descriptor.js";
import type { Answers } from "../../storage/catalog/layouts/answers.js";
import { type Recognised, recognise } from "../../storage/catalog/layouts/recognise.js";
import { measured } from "../../storage/catalog/raised-questions.js";
import { nameOf } from "../../storage/catalog/scan-folders.js";
import { recogniseSeries } from "../../storage/catalog/series.js";
import { placesAt } from "../../storage/catalog/source.js";
import { unclaimedWarning } from "../../storage/catalog/unclaimed.js";
import { realPath } from "../../storage/file/files.js";
import { DESCRIPTOR_NAME, folderKind, isStore } from "../../storage/file/folder-names.js";
import { openFile } from "../../storage/open-file.js";
import { explain } from "../../storage/tools/report.js";
import { describeTree } from "../../storage/tools/survey.js";
import { answersOf, withAnswers } from "../input/answer-flags.js";
import { MisuseError, pathArgument } from "../input/arguments.js";
import { openStorage } from "../input/storage.js";
import { writeWhole } from "../output/write-whole.js";

interface InspectFlags extends Answers {
  readonly json?: boolean;
  readonly write?: string;
  readonly descriptors?: string;
  readonly name?: string;
  readonly alias?: readonly string[];
}

const print = (lines: readonly string[]) => process.stdout.write(`${lines.join("\n")}\n`);

async function inspect(files: readonly string[], flags: InspectFlags): Promise<void> {
  const paths = files.map((file) => pathOf(file, flags.velocity?.length === 1 && files.length > 1));
  await openStorage();
  const [first] = paths as [string];
  if (paths.length === 1 && isAddress(first)) inspectAll(first, flags);
  else inspectPlaces(paths, flags);
}

/** Inspects one file or store, or several that are the frames of one dataset. */
function inspectPlaces(paths: readonly string[], flags: InspectFlags): void {
  const [first] = paths as [string];
  const name = nameOf(first);
  const single = paths.length === 1;
  const real = single && !isAddress(first) ? realpathSync(first) : first;
  const home = isAddress(first) ? "." : dirname(real);
  const answers = { ...answersOf(flags), anyName: true };
  const recognised = single ? recognise(real, answers, flags.name ?? name) : recogniseSeries(paths, answers);
  if (recognised === null) {
    explainUnknown(first);
    return;
  }
  const found = measured(renamed(recognised, flags), home, flags.assume === true);
  if (flags.json === true) process.stdout.write(`${JSON.stringify(found.written, null, 2)}\n`);
  else {
    const { lines, refusal } = explain(found, home, basename(first), LIMITS["engine.chunkBytes"]);
    print(lines);
    if (refusal !== null) tellRefusal(`${basename(first)} ${refusal}`);
  }
  if (flags.write !== undefined) writeDescriptor(found, home, resolve(flags.write));
  if (flags.descriptors !== undefined) writeApart(found, home, resolve(flags.descriptors));
}

/** What was found under the names that the user gives. @throws MisuseError for those that are none */
function renamed(found: Recognised, { name, alias }: InspectFlags): Recognised {
  if (name === undefined && alias === undefined) return found;
  const names = { ...(name === undefined ? {} : { name }), ...(alias === undefined ? {} : { aliases: [...alias] }) };
  const written = { ...found.written, ...names };
  const parsed = parseDescriptor(JSON.stringify(written));
  if ("problems" in parsed) throw new MisuseError(`--name, --alias: ${parsed.problems.join("; ")}`);
  return { ...found, written, descriptor: parsed.descriptor };
}

/** The path of a file or store that is there; an address as it is. @throws MisuseError */
function pathOf(file: string, isSplit: boolean): string {
  if (isAddress(file)) return file;
  const foreign = foreignAddress(file);
  if (foreign !== null) throw new MisuseError(foreign);
  const path = resolve(withoutFileScheme(file));
  const status = statSync(path, { throwIfNoEntry: false });
  if (status === undefined) {
    const hint = isSplit ? " (--velocity takes three paths with commas and no blanks between them)" : "";
    throw new MisuseError(`${path}: there is no such file${hint}`);
  }
  const names = status.isDirectory() ? readdirSync(path) : [];
  const kind = folderKind(names);
  if (typeof kind === "object") throw new MisuseError(`${path}: ${kind.refused}`);
  if (!status.isFile() && !isStore(names))
    throw new MisuseError(`${path} is not a file; fieldprobe check FOLDER looks at dataset folders`);
  return path;
}

/** Inspects what an address is, or all datasets of the folder that is there. */
function inspectAll(address: string, flags: InspectFlags): void {
  const places = placesAt(address);
  const [only] = places;
  const isItself = only === undefined || only === address.replace(/\/+$/, "");
  if (isItself || (places.length === 1 && basename(only) !== DESCRIPTOR_NAME)) {
    inspectPlaces([isItself ? address : only], flags);
    return;
  }
  if ([flags.write, flags.descriptors].some((target) => target !== undefined))
    throw new MisuseError(`${address} holds ${places.length} datasets; name one, e.g. ${places[0]}`);
  for (const place of places) {
    const isDescribed = basename(place) === DESCRIPTOR_NAME;
    if (isDescribed) print([`${place}: a descriptor; fieldprobe check ${address} looks at its dataset`]);
    else inspectOrTell(place, flags);
  }
}

/** Inspects one dataset of several; what is wrong with it keeps none of the others back. */
function inspectOrTell(place: string, flags: InspectFlags): void {
  try {
    inspectPlaces([place], flags);
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    tellRefusal(error.message);
  }
}

/** Says why the command ends with exit code 1 although it succeeded. */
function tellRefusal(text: string): void {
  process.stderr.write(`fieldprobe: ${text} (exit code 1)\n`);
  process.exitCode = 1;
}

/** Lists what is in a file in which nothing can be a field. */
function explainUnknown(path: string): void {
  const file = openFile(path, { named: true });
  try {
    const tree = describeTree(file);
    print([
      `${basename(path)}: no known layout, and no dataset of numbers in three dimensions, which a field needs. It holds${tree.length === 0 ? " nothing." : ""}`,
      ...tree.map((text) => `  ${text}`),
    ]);
    tellRefusal(`${basename(path)} cannot be served`);
  } finally {
    file.close();
  }
}

/** Writes the descriptor; its paths are relative to its folder, which must hold the files. */
function writeDescriptor(found: Recognised, home: string, folder: string): void {
  const target = join(folder, DESCRIPTOR_NAME);
  if (existsSync(target))
    throw new MisuseError(
      `${target} exists already: delete it to write another, or write one into a separate folder with --descriptors FOLDER`,
    );
  const isFar = filesOf(found.written).every(isAddress);
  const from = isFar ? "" : relative(realPath(folder) ?? resolve(folder), realpathSync(home));
  if (from === ".." || from.startsWith(`..${sep}`) || isAbsolute(from))
    throw new MisuseError(`--write ${folder}: a descriptor must be in the folder of its files or above it (${home})`);
  makeFolder(folder);
  const written = movedTo(found.written, from);
  writeWhole(target, `${JSON.stringify(written, null, 2)}\n`);
  process.stderr.write(`wrote ${target}\n`);
  const unclaimed = unclaimedWarning(folder, written);
  if (unclaimed !== null) process.stderr.write(`${unclaimed}\n`);
}

/** Writes the descriptor into a folder of descriptors; its files have absolute paths. */
function writeApart(found: Recognised, home: string, folder: string): void {
  const target = join(folder, `${found.written.name}.json`);
  if (existsSync(target)) throw new MisuseError(`${target} exists already: delete it to write another`);
  makeFolder(folder);
  writeWhole(target, `${JSON.stringify(movedTo(found.written, realpathSync(home)), null, 2)}\n`);
  process.stderr.write(`wrote ${target}\n`);
}

/** The files and addresses that the fields of a descriptor are in. */
function filesOf({ fields }: DescriptorInput): string[] {
  const files: string[] = [];
  JSON.stringify(fields, (key, value) => {
    if (key === "file") files.push(String(value));
    return value;
  });
  return files;
}

/** The descriptor with every file below `from`, addresses as they are. */
function movedTo(written: DescriptorInput, from: string): unknown {
  return JSON.parse(JSON.stringify(written), (key, value) =>
    key === "file" && typeof value === "string" && !isAddress(value) ? join(from, value).split(sep).join("/") : value,
  );
}

const EXIT_CODES = `
Exit code: 0 if the file would be served as it is; 1 if it would not, because of a problem or an open question
marked *; 2 for misuse. With --json it is 0 if there is a descriptor; its list of questions says the same.`;

export function inspectCommand(): Command {
  const command = new Command("inspect")
    .argument("<files...>", "an HDF5 file, a Zarr store or an address; or the files of a series, one time each")
    .option("--name <name>", "name of the dataset, instead of that of the file", (text: string) => {
      if (!NAME_PATTERN.test(text)) throw new InvalidArgumentError("a name is 1 to 64 of A-Z a-z 0-9 _ . -");
      return text;
    })
    .option("--alias <names>", "other names that the service answers to, such as isotropic1024coarse", (text: string) =>
      text.split(",").map((alias) => alias.trim()),
    )
    .option("--json", "print the descriptor of what was found as JSON")
    .option("--write <folder>", "write the descriptor into the folder of the files, or one above it", pathArgument)
    .option("--descriptors <folder>", "write the descriptor as NAME.json into a separate folder", pathArgument)
    .addHelpText("after", EXIT_CODES)
    .action(inspect);
  return withAnswers(command);
}

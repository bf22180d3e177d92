/** `fieldprobe inspect` prints the contents of a file and explains how it would be served. */
import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import { foreignAddress, isAddress, withoutFileScheme } from "../../shared/addresses.js";
import { descriptorsOf, LIMITS, readConfig } from "../../shared/config.js";
import { DataError } from "../../shared/errors.js";
import { makeFolder } from "../../shared/system.js";
import {
  type ConfirmationPlace,
  confirmationFor,
  confirmationOf,
  isConfirmation,
  placeOfConfirmation,
  renewed,
} from "../../storage/catalog/confirmation.js";
import { measured } from "../../storage/catalog/raised-questions.js";
import { nameOf, scanFolders } from "../../storage/catalog/scan-folders.js";
import { recogniseSeries } from "../../storage/catalog/series.js";
import { placesAt } from "../../storage/catalog/source.js";
import { unclaimedWarning } from "../../storage/catalog/unclaimed.js";
import { type DescriptorInput, NAME_PATTERN, parseDescriptor } from "../../storage/dataset/descriptor.js";
import { realPath } from "../../storage/dataset/files.js";
import { DESCRIPTOR_NAME, folderKind, isStore } from "../../storage/dataset/folder-names.js";
import { openFile } from "../../storage/open-file.js";
import type { Answers } from "../../storage/recognise/answers.js";
import { flagOf, openLines } from "../../storage/recognise/draft.js";
import { isComplete, type Recognised, recognise } from "../../storage/recognise/recognise.js";
import { explain } from "../../storage/tools/report.js";
import { describeTree } from "../../storage/tools/survey.js";
import { answersOf, withAnswers } from "../input/answer-flags.js";
import { MisuseError, pathArgument } from "../input/arguments.js";
import { answerAtTerminal } from "../input/ask-person.js";
import { openStorage } from "../input/storage.js";
import { writeWhole } from "../output/write-whole.js";

export interface InspectFlags extends Answers {
  readonly json?: boolean;
  readonly all?: boolean;
  readonly same?: boolean;
  readonly write?: string;
  readonly descriptors?: string;
  readonly name?: string;
  readonly alias?: readonly string[];
}

const print = (lines: readonly string[]) => process.stdout.write(`${lines.join("\n")}\n`);

async function inspect(files: readonly string[], flags: InspectFlags): Promise<void> {
  const [only] = files;
  if (flags.all === true && files.length === 1 && isFolder(only as string)) {
    await openStorage();
    inspectWaiting(resolve(only as string), flags);
    return;
  }
  const paths = files.map((file) => pathOf(file, flags.velocity?.length === 1 && files.length > 1));
  await openStorage();
  const [first] = paths as [string];
  if (flags.same === true) takeForSame(first);
  else if (paths.length === 1 && isAddress(first)) inspectAll(first, flags);
  else await inspectAtTerminal(paths, flags);
}

/**
 * Inspects files, and at a terminal asks for what is open, one line after another, with the draft redrawn after each
 * answer; at the end it asks whether the draft is right.
 */
async function inspectAtTerminal(paths: readonly string[], flags: InspectFlags): Promise<void> {
  const isQuiet = flags.json === true || flags.yes === true || (flags.write ?? flags.descriptors) !== undefined;
  const found = inspectPlaces(paths, flags);
  if (isQuiet || found === null || isComplete(found) || !process.stdin.isTTY || !process.stdout.isTTY) return;
  process.exitCode = 0;
  const answered = await answerAtTerminal(found, flags, (next) => inspectPlaces(paths, next) ?? found);
  if (answered === null) process.exitCode = 1;
  else inspectPlaces(paths, { ...answered, yes: true });
}

/** Inspects one file or store, or several that are the frames of one dataset. */
function inspectPlaces(paths: readonly string[], flags: InspectFlags): Recognised | null {
  const [first] = paths as [string];
  const name = nameOf(first);
  const single = paths.length === 1;
  const real = single && !isAddress(first) ? realpathSync(first) : first;
  const home = isAddress(first) ? "." : dirname(real);
  const answers = answersOf(flags);
  const recognised = single ? recognise(real, answers, flags.name ?? name) : recogniseSeries(paths, answers);
  if (recognised === null) {
    explainUnknown(first);
    return null;
  }
  const found = measured(renamed(recognised, flags), home, answers);
  if (flags.json === true) process.stdout.write(`${JSON.stringify(found.written, null, 2)}\n`);
  else {
    const { lines, refusal } = explain(found, home, basename(first), LIMITS["engine.chunkBytes"], flags.all);
    print(lines);
    const isKept = [flags.yes === true ? "" : undefined, flags.write, flags.descriptors].some(
      (one) => one !== undefined,
    );
    const isConfirmed = isKept && openLines(found.descriptor.questions).length === 0;
    if (refusal !== null && !isConfirmed) reportRefusal(`${basename(first)} ${refusal}`);
  }
  if (flags.yes === true) confirm(found, first, home);
  if (flags.write !== undefined) writeDescriptor(found, home, resolve(flags.write));
  if (flags.descriptors !== undefined) writeApart(found, home, resolve(flags.descriptors));
  return found;
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
    else inspectOrReport(place, flags);
  }
}

/** Inspects one dataset of several; what is wrong with it keeps none of the others back. */
function inspectOrReport(place: string, flags: InspectFlags): void {
  try {
    inspectPlaces([place], flags);
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    reportRefusal(error.message);
  }
}

/**
 * Keeps what a person has confirmed.
 *
 * @param place where it is kept; absent: beside the files, or in the folder of descriptors where that cannot be written
 * @throws MisuseError while a line is open or red
 */
function confirm(found: Recognised, first: string, home: string, place?: ConfirmationPlace): void {
  const open = openLines(found.descriptor.questions);
  if (open.length > 0) {
    const flags = [...new Set(open.map(flagOf))].join(", ");
    throw new MisuseError(
      `--yes: ${open.length === 1 ? "a line is" : `${open.length} lines are`} open or red: ${flags}`,
    );
  }
  const { path, isApart } =
    place ??
    placeOfConfirmation(found.written.name, isAddress(first) ? first : home, descriptorsOf(readConfig().config));
  makeFolder(dirname(path));
  writeWhole(path, confirmationOf(found, found.varies, home, isApart));
  process.stderr.write(`wrote ${path}\n`);
}

/** Whether a path is a folder of files, not a store. */
function isFolder(path: string): boolean {
  return (
    !isAddress(path) && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true && !isStore(readdirSync(path))
  );
}

/** Lists the files below a folder that wait, with the flags of those with open lines; --yes confirms the others. */
function inspectWaiting(folder: string, flags: InspectFlags): void {
  const descriptors = descriptorsOf(readConfig().config);
  const { problems } = scanFolders([folder], { chunkBytes: LIMITS["engine.chunkBytes"], descriptors });
  let left = 0;
  for (const { location } of problems.filter(({ waits }) => waits === true)) {
    const home = dirname(realpathSync(location));
    const found = isConfirmation(basename(location))
      ? null
      : recognise(realpathSync(location), answersOf(flags), nameOf(location));
    const draft = found === null ? null : measured(found, home, answersOf(flags));
    const open = openLines(draft?.descriptor.questions ?? []);
    if (draft !== null && open.length === 0 && flags.yes === true) {
      confirm(draft, location, home);
      continue;
    }
    left++;
    const needs = draft === null ? "--same" : open.length === 0 ? "--yes" : [...new Set(open.map(flagOf))].join(", ");
    print([`${location}: ${needs}`]);
  }
  if (left > 0) reportRefusal(`${left} of the files below ${folder} wait${left === 1 ? "s" : ""}`);
}

/** Takes a file for what was confirmed although its structure differs. @throws MisuseError if nothing claims it */
function takeForSame(path: string): void {
  const location = confirmationFor(path, descriptorsOf(readConfig().config));
  if (location === null) throw new MisuseError(`--same: no confirmation claims ${path}`);
  writeWhole(location, renewed(location));
  process.stderr.write(`wrote ${location}\n`);
}

/**
 * Confirms a file that is to be served, in the state folder, unless its format or an earlier confirmation says
 * everything.
 *
 * @throws MisuseError if nobody answers: there is no terminal, or the person stops
 */
export async function confirmToServe(file: string, flags: InspectFlags): Promise<string> {
  const path = pathOf(file, false);
  await openStorage();
  const apart = descriptorsOf(readConfig().config);
  const isSaid = Object.values(answersOf(flags)).some((answer) => answer !== undefined);
  if (!isSaid && confirmationFor(path, apart) !== null) return path;
  const home = isAddress(path) ? "." : dirname(realpathSync(path));
  const read = (said: InspectFlags): Recognised => {
    const found = recognise(isAddress(path) ? path : realpathSync(path), answersOf(said), nameOf(path));
    if (found === null)
      throw new MisuseError(`${path}: it has no dataset of numbers in three dimensions, which a field needs`);
    return measured(found, home, answersOf(said));
  };
  const show = (found: Recognised) => {
    const { lines, refusal } = explain(found, home, basename(path), LIMITS["engine.chunkBytes"]);
    print(lines);
    return refusal;
  };
  let found = read(flags);
  if (!isSaid && isComplete(found)) return path;
  const refusal = show(found);
  const isAnswered = flags.yes === true && openLines(found.descriptor.questions).length === 0;
  if (!isAnswered) {
    if (!process.stdin.isTTY || !process.stdout.isTTY) throw new MisuseError(`${path} ${refusal ?? "waits: --yes"}`);
    const answered = await answerAtTerminal(found, flags, (next) => {
      const drawn = read(next);
      show(drawn);
      return drawn;
    });
    if (answered === null) throw new MisuseError(`${path} is not confirmed`);
    found = read(answered);
  }
  confirm(found, path, home, { path: join(apart, `${found.written.name}.json`), isApart: true });
  return path;
}

/** Says why the command ends with exit code 1 although it succeeded. */
function reportRefusal(text: string): void {
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
    reportRefusal(`${basename(path)} cannot be served`);
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
Exit code: 0 if the file is served as it is, or is confirmed now (--yes); 1 if it waits for an answer or cannot be
served; 2 for misuse. With --json it is 0 if there is a descriptor; its list of questions says the same.`;

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
    .option("--all", "list everything that was seen and not used; of a folder, inspect every file that waits")
    .option("--same", "take the file for what was confirmed although its structure differs")
    .option("--json", "print the descriptor of what was found as JSON")
    .option("--write <folder>", "write the descriptor into the folder of the files, or one above it", pathArgument)
    .option("--descriptors <folder>", "write the descriptor as NAME.json into a separate folder", pathArgument)
    .addHelpText("after", EXIT_CODES)
    .action(inspect);
  return withAnswers(command);
}

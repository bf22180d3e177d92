/** `fieldprobe inspect` prints the contents of a file and explains how it would be served. */

import { readdirSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { Command } from "commander";
import { foreignAddress, isAddress, withoutFileScheme } from "../../shared/addresses.js";
import { descriptorFolder, LIMITS, readConfig } from "../../shared/config.js";
import { DataError, RequestError, readOr } from "../../shared/errors.js";
import { groupBy } from "../../shared/group-by.js";
import { writeAtomically } from "../../shared/write-atomically.js";
import {
  changedSince,
  confirmationFor,
  descriptorAbove,
  isChangedConfirmation,
  renewed,
} from "../../storage/catalog/confirmation.js";
import { withNewFrames } from "../../storage/catalog/growth.js";
import { fileSets } from "../../storage/catalog/places.js";
import { scanFolders } from "../../storage/catalog/scan-folders.js";
import { seriesAround, seriesPattern } from "../../storage/catalog/series-hint.js";
import { describedBy, placesAt } from "../../storage/catalog/source.js";
import type { Description } from "../../storage/catalog/verify.js";
import { realPath, statusOf } from "../../storage/dataset/files.js";
import { DESCRIPTOR_NAME, folderKind, isStore } from "../../storage/dataset/folder-names.js";
import { flagsOf, openLines } from "../../storage/recognise/draft.js";
import { Contents } from "../../storage/recognise/layout.js";
import { isComplete, type Recognised } from "../../storage/recognise/recognise.js";
import { unusedIn } from "../../storage/recognise/seen.js";
import { folderOf, type GivenNames, keepDraft, nameTaken, readDraft } from "../../storage/tools/drafts.js";
import { describeDraft, describeKnown, screenOf, seenLines } from "../../storage/tools/report.js";
import { withFiles } from "../../storage/united-file.js";
import { type AnswerOptions, answersOf, textsOf, withAnswers } from "../input/answer-flags.js";
import { MisuseError, pathArgument } from "../input/arguments.js";
import { answerAtTerminal, isAgreed } from "../input/ask-person.js";
import { openStorage } from "../input/storage.js";
import { failureText } from "../output/failure.js";

export interface InspectFlags extends AnswerOptions, GivenNames {
  readonly json?: boolean;
  readonly all?: boolean;
  readonly same?: boolean;
  readonly descriptors?: string;
  readonly data?: string;
}

const apartOf = ({ descriptors }: InspectFlags): string =>
  descriptors === undefined ? descriptorFolder(readConfig().config) : resolve(descriptors);

const print = (lines: readonly string[]) => process.stdout.write(`${lines.join("\n")}\n`);

async function inspect(files: readonly string[], flags: InspectFlags): Promise<void> {
  const [only] = files;
  if (flags.all === true && files.length === 1 && isFolder(only as string))
    return inspectWaiting(resolve(only as string), flags);
  const paths = files.map(pathOf);
  await openStorage(flags.data === undefined ? undefined : [flags.data]);
  const [first] = paths as [string];
  if (flags.same === true) takeForSame(first, apartOf(flags));
  else if (paths.length === 1 && isAddress(first)) inspectAll(first, flags);
  else await inspectAtTerminal(paths, flags);
}

async function inspectAtTerminal(paths: readonly string[], flags: InspectFlags): Promise<void> {
  const asks = flags.json !== true && flags.yes !== true && process.stdin.isTTY && process.stdout.isTTY;
  const found = inspectPlaces(paths, flags, asks);
  if (!asks || found === null || isComplete(found)) return;
  const answered = await answerAtTerminal(found, flags, (next) => inspectPlaces(paths, next, asks) ?? found);
  if (answered === null) process.exitCode = 1;
  else inspectPlaces(paths, { ...answered, yes: true });
}

/**
 * Inspects one file or store, or several that are the frames of one dataset. `asks`: whether a question follows.
 * @returns null if there is nothing to ask
 */
function inspectPlaces(paths: readonly string[], flags: InspectFlags, asks = false): Recognised | null {
  const [first] = paths as [string];
  const home = folderOf(first, paths.length === 1);
  const known = flags.json === true ? null : knownOf(paths, flags);
  if (known !== null) {
    showKnown(known, paths, flags.all);
    return null;
  }
  const above = flags.json === true || confirmationFor(first, apartOf(flags)) !== null ? null : descriptorAbove(first);
  const hidden = above === null ? [] : [`is not served: ${above} claims its folder and does not name it`];
  for (const text of hidden) print([`${first} ${text}: name it there, or add --yes --descriptors FOLDER.`]);
  const found = draftOf(paths, flags);
  if (found === null) {
    explainUnknown(first, flags.all);
    return null;
  }
  if (flags.json === true) process.stdout.write(`${JSON.stringify(found.written, null, 2)}\n`);
  else {
    const reasons = [...hidden, show(found, home, first, flags.all) ?? []].flat();
    const isFree = (one: string) => confirmationFor(one, apartOf(flags)) === null;
    const joined = paths.length > 1 ? null : seriesAround(first, isFree, flags.descriptors && apartOf(flags));
    if (joined !== null) print([`${joined}.`]);
    if (reasons.length > 0 && flags.yes !== true && !asks) reportRefusal(`${basename(first)} ${reasons.join("; it ")}`);
  }
  if (flags.yes === true) tellWritten(confirm(found, first, home, placeIn(flags.descriptors, found)));
  return found;
}

function knownOf(paths: readonly string[], { yes, ...said }: InspectFlags): string | null {
  const isAnswered = Object.keys(answersOf(said)).length > 0 || said.name !== undefined;
  const [known = null, ...others] = isAnswered ? [] : new Set(paths.map((one) => confirmationFor(one, apartOf(said))));
  if (known === null || others.length > 0) return null;
  const isReplaced = basename(known) !== DESCRIPTOR_NAME || said.descriptors !== undefined;
  return yes === true && isReplaced ? null : known;
}

function showKnown(known: string, paths: readonly string[], isAll = false): void {
  const found = describedBy(known);
  if ("problems" in found) return void reportRefusal(`${known}: ${found.problems.join("; ")}`);
  const late = changedSince(found) ?? waitOf(found, paths);
  if (late !== null) return void reportRefusal(late);
  const { description } = withNewFrames(found);
  const view = describeKnown(description, basename(paths[0] as string), LIMITS["engine.chunkBytes"]);
  print(screenOf(view, isAll));
  if (view.refusal !== null) reportRefusal(`${known} ${view.refusal}`);
  else if (basename(known) === DESCRIPTOR_NAME)
    print([`Described by ${known}, and served so. There is nothing to confirm.`]);
  else
    print([`Confirmed by ${known}, and served so. Answers with --yes replace it; without it, the file waits again.`]);
}

function waitOf(found: Description, paths: readonly string[]): string | null {
  const real = paths.map(realPath);
  return withNewFrames(found).waiting.find(({ location }) => real.includes(realPath(location)))?.message ?? null;
}

function draftOf(paths: readonly string[], flags: InspectFlags): Recognised | null {
  try {
    return readDraft(paths, textsOf(flags), flags);
  } catch (error) {
    throw error instanceof RequestError ? new MisuseError(error.message.replace(/^name/, "--name")) : error;
  }
}

function show(found: Recognised, home: string, first: string, isAll = false): string | null {
  const view = describeDraft(found, home, basename(first), LIMITS["engine.chunkBytes"]);
  print(screenOf(view, isAll));
  return view.refusal;
}

/** The path of an existing file or store; an address unchanged. @throws MisuseError */
function pathOf(file: string): string {
  if (isAddress(file)) return file;
  const foreign = foreignAddress(file);
  if (foreign !== null) throw new MisuseError(foreign);
  const path = resolve(withoutFileScheme(file));
  const status = statusOf(path);
  if (status === undefined) throw new MisuseError(`${path}: there is no such file`);
  const names = status.isDirectory() ? readdirSync(path) : [];
  const kind = folderKind(names);
  if (typeof kind === "object") throw new MisuseError(`${path}: ${kind.refused}`);
  if (status.isFile() || isStore(names)) return path;
  if (!status.isDirectory()) throw new MisuseError(`${path} is neither a file nor a folder`);
  throw new MisuseError(`${path} is a folder, not a file; fieldprobe check looks at it, and serve takes it as --data`);
}

function inspectAll(address: string, flags: InspectFlags): void {
  const places = placesAt(address);
  const [only] = places;
  const isItself = only === undefined || only === address.replace(/\/+$/, "");
  if (isItself || (places.length === 1 && basename(only) !== DESCRIPTOR_NAME))
    return void inspectPlaces([isItself ? address : only], flags);
  if (flags.descriptors !== undefined)
    throw new MisuseError(`${address} holds ${places.length} datasets; name one, e.g. ${places[0]}`);
  for (const place of places) {
    if (basename(place) === DESCRIPTOR_NAME)
      print([`${place}: a descriptor; fieldprobe check ${address} looks at its dataset`]);
    else
      try {
        inspectPlaces([place], flags);
      } catch (error) {
        if (!(error instanceof DataError)) throw error;
        reportRefusal(error.message);
      }
  }
}

/** Stores a confirmation, by default where it was before. Throws MisuseError while a line is open or red. */
function confirm(found: Recognised, first: string, home: string, place?: string): string {
  const open = openLines(found.descriptor.questions);
  if (open.length > 0) {
    const lines = open.length === 1 ? "a line is" : `${open.length} lines are`;
    throw new MisuseError(`--yes: ${lines} open or red: ${flagsOf(open)}`);
  }
  const apart = descriptorFolder(readConfig().config);
  const above = place === undefined ? descriptorAbove(first) : null;
  if (above !== null)
    throw new MisuseError(`--yes: ${above} hides a confirmation beside it: change that, or add --descriptors FOLDER`);
  const known = confirmationFor(first, apart);
  if (known !== null && place === undefined) requireReplaceable(known, found, first, home);
  const again = basename(known ?? "").replace(/(\.dataset)?\.json$/, "") === found.written.name ? known : null;
  try {
    const draft = { draft: found, location: first, folder: home, chunkBytes: LIMITS["engine.chunkBytes"] };
    const path = keepDraft({ ...draft, descriptors: apart, confirmationPath: place ?? again ?? undefined });
    // Under another name it replaces the earlier one.
    if (known !== null && place === undefined && path !== known) {
      rmSync(known);
      process.stderr.write(`removed ${known}\n`);
    }
    return path;
  } catch (error) {
    throw error instanceof RequestError ? new MisuseError(error.message) : error;
  }
}

/** @throws MisuseError if what is to be replaced has other files too, or was written by hand for another name */
function requireReplaceable(known: string, found: Recognised, first: string, home: string): void {
  const before = describedBy(known);
  if ("problems" in before) return;
  const { confirmed, name } = before.descriptor;
  if (confirmed === undefined && name !== found.written.name)
    throw new MisuseError(`--yes: ${known} describes ${basename(first)} as ${name}: change that, or remove it first`);
  const placed = ({ descriptor }: Recognised | Description, folder: string) =>
    fileSets(descriptor).flatMap((set) =>
      set.map((file) => (isAddress(file) ? file : realPath(resolve(folder, file)))),
    );
  const named = new Set(placed(found, home));
  const files = placed(before, before.folder);
  if (files.every((file) => named.has(file))) return;
  throw new MisuseError(
    `--yes: ${known} confirms ${basename(first)} as one of ${files.length} files: name all of them, or remove it first`,
  );
}

function placeIn(folder: string | undefined, { written }: Recognised): string | undefined {
  return folder === undefined ? undefined : join(resolve(folder), `${written.name}.json`);
}

export function isFolder(path: string): boolean {
  return !isAddress(path) && statusOf(path)?.isDirectory() === true && !isStore(readdirSync(path));
}

/** Lists the files below a folder that are not served, with the flags of open lines; --yes confirms the others. */
async function inspectWaiting(folder: string, flags: InspectFlags): Promise<void> {
  await openStorage();
  const descriptors = apartOf(flags);
  const { datasets, problems } = scanFolders([folder], { chunkBytes: LIMITS["engine.chunkBytes"], descriptors });
  const waiting = new Map(problems.filter(({ waits }) => waits === true).map((one) => [one.location, one.message]));
  const hidden = datasets.flatMap(({ warnings }) => warnings.filter((text) => text.startsWith("Not served: ")));
  for (const { location, message, waits } of problems) if (waits !== true) hidden.push(`${location}: ${message}`);
  if (hidden.length > 0) print(hidden);
  const taken = new Set(datasets.flatMap(({ name, aliases }) => [name, ...aliases]));
  let left = 0;
  for (const { paths, draft } of draftsOf([...waiting.keys()], descriptors, flags)) {
    const [first] = paths as [string];
    const open = openLines(draft?.descriptor.questions ?? []);
    let message = waiting.get(first) as string;
    const isReady = draft !== null && open.length === 0 && flags.yes === true;
    try {
      if (isReady && taken.has(draft.written.name)) throw new MisuseError(nameTaken(draft.written.name));
      if (isReady)
        tellWritten(confirm(draft, first, folderOf(first, paths.length === 1), placeIn(flags.descriptors, draft)));
      if (isReady) taken.add(draft.written.name);
      if (isReady) continue;
    } catch (error) {
      if (!(error instanceof DataError || error instanceof MisuseError)) throw error;
      ({ message } = error);
    }
    left += paths.length;
    const own = message.endsWith("--same") ? "--same" : message;
    const needs = draft === null || isReady ? own : open.length === 0 ? "--yes" : flagsOf(open);
    print([`${paths.length === 1 ? first : `${seriesPattern(first)} (${paths.length} files)`}: ${needs}`]);
  }
  if (left > 0) reportRefusal(`${left} of the files below ${folder} wait${left === 1 ? "s" : ""}`);
  else if (hidden.length > 0) reportRefusal(`files below ${folder} are not served`);
}

/** Drafts of files that wait, those of a series together; null for what a confirmation claims. */
function draftsOf(files: readonly string[], descriptors: string | null, flags: InspectFlags) {
  // Of a confirmed file that has changed, or one that waits to join its series, a draft would be another dataset.
  const isClaimed = (path: string) => isChangedConfirmation(path) || confirmationFor(path, descriptors) !== null;
  const groups = groupBy(files, (path) => (isClaimed(path) ? null : seriesPattern(path)) ?? path);
  const { name: _, alias: __, ...answers } = { ...flags, isOfFolder: true };
  return [...groups.values()]
    .flatMap((paths) => seriesIn(paths, answers))
    .map((paths) => ({ paths, draft: paths.some(isClaimed) ? null : readDraft(paths, textsOf(flags), answers) }));
}

/** Updates a confirmation to the changed structure of a file. Throws MisuseError if none claims it. */
function takeForSame(path: string, apart: string): void {
  const location = confirmationFor(path, apart);
  if (location === null || basename(location) === DESCRIPTOR_NAME)
    throw new MisuseError(`--same: no confirmation claims ${path}`);
  writeAtomically(location, renewed(location, path));
  tellWritten(location);
  const found = describedBy(location);
  const why = "problems" in found ? null : waitOf(found, [path]);
  if (why !== null) reportRefusal(why);
}

const tellWritten = (path: string) => process.stderr.write(`wrote ${path}\n`);

/**
 * Confirms files that are to be served, in the folder of descriptors; those that wait are one series if they can be.
 * @returns their paths @throws MisuseError, DataError for the last that is not served, after a line for each other
 */
export async function confirmToServe(
  files: readonly string[],
  flags: InspectFlags,
  apart = descriptorFolder(readConfig().config),
): Promise<string[]> {
  await openStorage([]);
  const failures: Error[] = [];
  const attempt = async <T>(use: () => T | Promise<T>): Promise<T[]> => {
    try {
      return [await use()];
    } catch (error) {
      if (!(error instanceof DataError || error instanceof MisuseError)) throw error;
      failures.push(error);
      return [];
    }
  };
  const given = (await Promise.all(files.map((file) => attempt(() => pathOf(file))))).flat();
  const paths = [...new Map(given.map((path) => [realPath(path) ?? path, path])).values()];
  const { yes: _, ...said } = flags;
  const isSaid = said.name !== undefined || Object.keys(answersOf(said)).length > 0;
  const claims = new Map(paths.map((path) => [path, confirmationFor(path, apart)]));
  const changes = [...new Set(claims.values())].map((known) =>
    attempt(() => (changeOf(known) === null ? [] : [known])),
  );
  const changed = (await Promise.all(changes)).flat(2);
  const isOpen = (path: string) =>
    changed.includes(`${claims.get(path)}`) || (claims.get(path) === null && (isSaid || !isDefined(path)));
  const open = paths.filter(isOpen);
  for (const one of (await attempt(() => seriesIn(isSaid && open.length === 0 ? paths : open, flags))).flat())
    await attempt(() => confirmOne(one, flags, apart));
  const last = failures.pop();
  for (const error of failures) process.stderr.write(`fieldprobe: ${failureText(error)}\n`);
  if (last !== undefined) throw last;
  return paths;
}

/** Whether the format of a file states everything; a file that is not readable has its reason once it is confirmed. */
function isDefined(path: string): boolean {
  const found = readOr(
    () => readDraft([path], new Map()),
    () => null,
  );
  return found !== null && isComplete(found);
}

function changeOf(known: string | null): string | null {
  const found = known === null ? null : describedBy(known);
  return found === null || "problems" in found ? null : changedSince(found);
}

function seriesIn(paths: readonly string[], flags: InspectFlags): readonly (readonly string[])[] {
  try {
    if (paths.length > 1) requireDraft(paths, flags);
    return paths.length > 1 ? [paths] : paths.map((path) => [path]);
  } catch (error) {
    if (!(error instanceof DataError) || flags.name !== undefined) throw error;
    const [pattern, ...others] = new Set(paths.map(seriesPattern));
    if (pattern != null && others.length === 0)
      process.stderr.write(`fieldprobe: they are no series: ${error.message}\n`);
    return paths.map((path) => [path]);
  }
}

function requireDraft(paths: readonly string[], flags: InspectFlags): Recognised {
  const found = draftOf(paths, flags);
  if (found !== null) return found;
  throw new MisuseError(`${paths[0]}: it has no dataset of numbers in three dimensions, which a field needs`);
}

async function confirmOne(paths: readonly string[], flags: InspectFlags, apart: string): Promise<void> {
  const [path] = paths as [string];
  const home = folderOf(path, paths.length === 1);
  const known = confirmationFor(path, apart);
  const change = changeOf(known);
  const asks = process.stdin.isTTY && process.stdout.isTTY;
  // What its description does not use may change without further answers.
  if (asks && flags.yes !== true && change?.endsWith("--same") === true) {
    print([change]);
    if (await isAgreed("Is it the same as before in all that matters?")) return void takeForSame(path, apart);
  }
  let found = requireDraft(paths, flags);
  const refusal = show(found, home, path, flags.all);
  if (change !== null) print([change]);
  if (flags.yes !== true || openLines(found.descriptor.questions).length > 0) {
    if (!asks)
      throw new MisuseError(`${path} ${change === null ? "" : `${change}; else it `}${refusal ?? "waits: --yes"}`);
    const answered = await answerAtTerminal(found, flags, (next) => {
      const drawn = requireDraft(paths, next);
      show(drawn, home, path);
      return drawn;
    });
    if (answered === null) throw new MisuseError(`${path} is not confirmed`);
    found = requireDraft(paths, answered);
  }
  const place = known === null || change === null ? placeIn(apart, found) : known;
  if (known !== null && known !== place) throw new MisuseError(`${known} confirms it: inspect --yes changes that`);
  if (known !== null) requireReplaceable(known, found, path, home);
  tellWritten(confirm(found, path, home, place));
}

/** Confirms a file in a folder for one call, and prints nothing. Throws MisuseError for an open line with --yes. */
export async function confirmIn(descriptors: string, file: string, flags: AnswerOptions): Promise<void> {
  await openStorage([]);
  const found = requireDraft([file], flags);
  confirm(found, file, folderOf(file), placeIn(descriptors, found));
}

function reportRefusal(text: string): void {
  process.stderr.write(`fieldprobe: ${text} (exit code 1)\n`);
  process.exitCode = 1;
}

function explainUnknown(path: string, isAll = false): void {
  withFiles([path], (file) => {
    print([
      `${basename(path)}: no known layout, and no dataset of numbers in three dimensions, which a field needs.`,
      ...seenLines(unusedIn(new Contents(file, basename(path), {}), null, null), isAll),
    ]);
    reportRefusal(`${basename(path)} cannot be served`);
  });
}

const EXIT_CODES = `
Exit code: 0 if the file is served as it is, or is confirmed now (--yes); 1 if it waits for an answer or cannot be
served; 2 for misuse, as for --yes while a line is open. With --json it is 0 if there is a descriptor; its list of questions says the same.`;

const namesIn = (text: string) => text.split(",").map((alias) => alias.trim());

export function inspectCommand(): Command {
  const command = new Command("inspect")
    .argument("<files...>", "an HDF5 file, a Zarr store or an address; or the files of a series, one time each")
    .option("--name <name>", "name of the dataset, instead of that of the file")
    .option("--alias <names>", "other names that the service answers to, such as isotropic1024coarse", namesIn)
    .option("--all", "list everything that was seen and not used; of a folder, inspect every file that waits")
    .option("--same", "take the file for what was confirmed although its structure differs")
    .option("--json", "print the descriptor of what was found as JSON")
    .option("--descriptors <folder>", "with --yes: keep the confirmation in a separate folder", pathArgument)
    .option("--data <folder>", "a folder that holds all sources of its virtual datasets", pathArgument)
    .addHelpText("after", EXIT_CODES)
    .action(inspect);
  return withAnswers(command);
}

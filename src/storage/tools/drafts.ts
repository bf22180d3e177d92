/** Drafts of datasets: the description of files with the user's answers, and its confirmation. */
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { DataError, RequestError } from "../../shared/errors.js";
import { makeFolder } from "../../shared/system.js";
import { claims } from "../catalog/apart.js";
import {
  confirmationFor,
  confirmationOf,
  isChangedConfirmation,
  placedSets,
  placeOfConfirmation,
  renewed,
} from "../catalog/confirmation.js";
import { differences, firstOf } from "../catalog/differences.js";
import { isOfStructure, withNewFrames } from "../catalog/growth.js";
import { measured } from "../catalog/raised-questions.js";
import { nameOf } from "../catalog/scan-folders.js";
import { recogniseSeries } from "../catalog/series.js";
import { describedBy } from "../catalog/source.js";
import { verify } from "../catalog/verify.js";
import { type DescriptorInput, NAME_PATTERN, parseDescriptor } from "../dataset/descriptor.js";
import { beingWritten, realPath, setDataFolders } from "../dataset/files.js";
import { writeAtomically } from "../dataset/write-atomically.js";
import { type AnswerTexts, answersFrom } from "../recognise/answer-texts.js";
import type { Answers } from "../recognise/answers.js";
import { openLines } from "../recognise/draft.js";
import { type Recognised, recognise } from "../recognise/recognise.js";
import type { Structure } from "../recognise/structure.js";
import { requireEffect } from "./effect.js";
import { type DraftView, describeDraft } from "./report.js";

export interface GivenNames {
  readonly name?: string;
  readonly alias?: readonly string[];
  /** Whether the answers are for all files of a folder, some of which may not need them. */
  readonly isOfFolder?: boolean;
}

/**
 * @returns null if no array can be a field @throws RequestError for an invalid name, DataError when a file cannot be
 * read
 */
export function readDraft(paths: readonly string[], texts: AnswerTexts, names: GivenNames = {}): Recognised | null {
  const [first] = paths as [string];
  const isAlone = paths.length === 1;
  if (names.name !== undefined && !NAME_PATTERN.test(names.name))
    throw new RequestError("InvalidRequest", "name: 1 to 64 of A-Z a-z 0-9 _ . - are needed.", { member: "name" });
  const real = isAlone && !isAddress(first) ? realpathSync(first) : first;
  const read = (said: Answers) => {
    const found = isAlone ? recognise(real, said, names.name ?? nameOf(first)) : recogniseSeries(paths, said);
    return found && measured(found, homeOf(first, isAlone), said);
  };
  const found = read(answersFrom(texts));
  if (found === null) return null;
  if (names.isOfFolder !== true) requireEffect(real, texts, found, read);
  // A scan takes a known file as it is: alone, and without answers.
  const isKnown = found.isKnown && isAlone && texts.size === 0 && (names.name ?? names.alias) === undefined;
  return { ...withNames(found, names), isKnown };
}

/** The folder of a file; links are followed if the file is alone. */
export function homeOf(first: string, isAlone = true): string {
  if (isAddress(first)) return ".";
  return dirname(isAlone ? realpathSync(first) : first);
}

function withNames(found: Recognised, { name, alias }: GivenNames): Recognised {
  if (name === undefined && alias === undefined) return found;
  const names = { ...(name === undefined ? {} : { name }), ...(alias === undefined ? {} : { aliases: [...alias] }) };
  const written = { ...found.written, ...names };
  const parsed = parseDescriptor(JSON.stringify(written));
  if ("problems" in parsed)
    throw new RequestError("InvalidRequest", `name, alias: ${parsed.problems.join("; ")}`, { member: "name" });
  return { ...found, written, descriptor: parsed.descriptor };
}

/**
 * Writes a confirmed draft next to its files, or into the folder of descriptors.
 * @returns the path of the confirmation
 * @throws DataError while a line is open or red, or if it cannot be served; RequestError if the name is taken
 */
export function keepDraft(
  found: Recognised,
  first: string,
  home: string,
  descriptors: string,
  chunkBytes: number,
  place = placeOfConfirmation(found.written.name, isAddress(first) ? first : home, descriptors),
): string {
  const description = { descriptor: found.descriptor, folder: home, location: first, digest: "", warnings: [] };
  const held = beingWritten(placedSets(found.descriptor, home).flat());
  if (held !== undefined) throw new DataError(`${held}: a program is writing to it`);
  const outcome = verify(description, chunkBytes);
  if ("problems" in outcome) throw new DataError(`${first} cannot be served: ${outcome.problems.join("; ")}`);
  if (existsSync(place) && !claims(place, first))
    throw new RequestError("InvalidRequest", `${place} is of another file; --name NAME keeps both`);
  const isApart = isAddress(first) || realPath(dirname(place)) !== realPath(home);
  const text = confirmationOf(found, found.varies, home, isApart);
  makeFolder(dirname(place));
  writeAtomically(place, text);
  return place;
}

export interface DraftRequest {
  /** A file that waits, or several read as one series. */
  readonly paths: readonly string[];
  /** Answers by flag, among them `name`. */
  readonly texts: AnswerTexts;
  readonly descriptors: string;
  readonly folders: readonly string[];
  /** Largest chunk of the files and largest brick, in bytes. */
  readonly chunkBytes: number;
  readonly confirms: boolean;
  /** The structure that a person has seen, which alone is confirmed; absent: any. */
  readonly shown?: Structure | undefined;
  readonly taken: readonly string[];
}

/** Reads a draft; writes its confirmation if requested and no line is open. Throws RequestError, DataError. */
export function answerDraft(request: DraftRequest): DraftView {
  const { paths, texts, descriptors, chunkBytes, confirms, taken, shown } = request;
  setDataFolders(request.folders);
  const [first] = paths as [string];
  const known = isChangedConfirmation(first) ? first : confirmationFor(first, descriptors);
  if (known !== null) return changedDraft(known, first, request);
  const others = new Map(texts);
  const [name] = others.get("name") ?? [];
  others.delete("name");
  const found = readDraft(paths, others, name === undefined ? {} : { name });
  if (found === null)
    throw new DataError(`${basename(first)} has no dataset of numbers in three dimensions, which a field needs`);
  const home = homeOf(first, paths.length === 1);
  const varies = new Set(found.varies);
  const structure = new Map([...found.structure].filter(([key]) => !varies.has(key)));
  const draft = describeDraft(found, home, basename(first), chunkBytes);
  const view = { ...draft, structure, problems: [...draft.problems, ...changesSince(shown, structure)] };
  if (confirms && view.problems.length === 0 && openLines(found.descriptor.questions).length === 0) {
    if (taken.includes(view.name)) throw new RequestError("InvalidRequest", nameTaken(view.name), { member: "name" });
    keepDraft(found, first, home, descriptors, chunkBytes);
  }
  return view;
}

function changesSince(shown: Structure | undefined, structure: Structure): string[] {
  const all = shown === undefined ? [] : differences(Object.fromEntries(shown), [], structure);
  return all.length === 0 ? [] : [`it has changed since it was shown: ${firstOf(all)}.`];
}

export const nameTaken = (name: string): string => `another dataset is called ${name}; --name NAME keeps both`;

/**
 * The view of files that differ from their confirmation, or of a file that waits to join its series; confirming again
 * accepts the new structure.
 */
function changedDraft(location: string, path: string, { confirms, shown }: DraftRequest): DraftView {
  const text = renewed(location, path === location ? null : path);
  const found = describedBy(location);
  const late = "problems" in found ? undefined : withNewFrames(found).waiting.find((one) => one.location === path);
  const { name, title = "", confirmed } = JSON.parse(text) as DescriptorInput;
  const structure = new Map(Object.entries(confirmed?.structure ?? {}));
  const problems = late === undefined || isOfStructure(late) ? changesSince(shown, structure) : [late.message];
  if (confirms && problems.length === 0) writeAtomically(location, text);
  const none = { what: [], mind: [], assumed: [], look: [], slice: null, varies: [], unused: [] };
  return {
    ...{ file: basename(path), name, producer: title, problems, ...none, open: [], notes: [] },
    why: problems.length > 0 ? [] : ["it is not as it was confirmed; confirming takes it for the same (--same)"],
    ...{ refusal: null, structure },
  };
}

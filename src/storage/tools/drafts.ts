/** Drafts of datasets: descriptions of files, with a person's answers, that are served once they are confirmed. */
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { DataError, RequestError } from "../../shared/errors.js";
import { makeFolder } from "../../shared/system.js";
import { writeAtomically } from "../../shared/write-atomically.js";
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
import { type AnswerTexts, answersFrom } from "../recognise/answer-texts.js";
import type { Answers } from "../recognise/answers.js";
import { openLines } from "../recognise/draft.js";
import { type Recognised, recognise } from "../recognise/recognise.js";
import type { Structure } from "../recognise/structure.js";
import { requireEffect } from "./effect.js";
import { type DraftView, describeDraft, EMPTY_VIEW } from "./report.js";

export interface GivenNames {
  readonly name?: string;
  readonly alias?: readonly string[];
  /** Whether the answers are for all files of a folder, some of which may not need them. */
  readonly isOfFolder?: boolean;
}

/**
 * Describes one file, or several as one series, with the answers of a person.
 * @returns null if no array can be a field
 * @throws RequestError for an invalid name or an answer without effect, DataError if a file is unreadable
 */
export function readDraft(paths: readonly string[], texts: AnswerTexts, names: GivenNames = {}): Recognised | null {
  const [first] = paths as [string];
  const isSingleFile = paths.length === 1;
  if (names.name !== undefined && !NAME_PATTERN.test(names.name))
    throw new RequestError("InvalidRequest", "name: 1 to 64 of A-Z a-z 0-9 _ . - are needed.", { member: "name" });
  const path = isSingleFile && !isAddress(first) ? realpathSync(first) : first;
  const describe = (answers: Answers) => {
    const draft = isSingleFile
      ? recognise(path, answers, names.name ?? nameOf(first))
      : recogniseSeries(paths, answers);
    return draft && measured(draft, folderOf(first, isSingleFile), answers);
  };
  const draft = describe(answersFrom(texts));
  if (draft === null) return null;
  if (names.isOfFolder !== true) requireEffect(path, texts, draft, describe);
  // Known: a scan would serve the file as it is.
  const isKnown = draft.isKnown && isSingleFile && texts.size === 0 && (names.name ?? names.alias) === undefined;
  return { ...withNames(draft, names), isKnown };
}

/** The folder of a file, of a single one with links followed; `.` for an address, whose descriptors name it whole. */
export function folderOf(first: string, isSingleFile = true): string {
  if (isAddress(first)) return ".";
  return dirname(isSingleFile ? realpathSync(first) : first);
}

function withNames(draft: Recognised, { name, alias }: GivenNames): Recognised {
  if (name === undefined && alias === undefined) return draft;
  const names = { ...(name === undefined ? {} : { name }), ...(alias === undefined ? {} : { aliases: [...alias] }) };
  const written = { ...draft.written, ...names };
  const parsed = parseDescriptor(JSON.stringify(written));
  if ("problems" in parsed)
    throw new RequestError("InvalidRequest", `name, alias: ${parsed.problems.join("; ")}`, { member: "name" });
  return { ...draft, written, descriptor: parsed.descriptor };
}

export interface DraftToKeep extends Pick<DraftRequest, "descriptors" | "chunkBytes"> {
  readonly draft: Recognised;
  /** The file, the first file of a series, or an address. */
  readonly location: string;
  readonly folder: string;
  /** Absent: beside the files if that folder can be written, else in `descriptors`. */
  readonly confirmationPath?: string | undefined;
}

/**
 * Writes the confirmation of a draft.
 * @returns the path of the confirmation
 * @throws DataError while a question is open or a problem is shown; RequestError if the name is taken
 */
export function keepDraft({ draft, location, folder, descriptors, chunkBytes, ...kept }: DraftToKeep): string {
  const home = isAddress(location) ? location : folder;
  const path = kept.confirmationPath ?? placeOfConfirmation(draft.written.name, home, descriptors);
  const description = { descriptor: draft.descriptor, folder, location, digest: "", warnings: [] };
  const fileBeingWritten = beingWritten(placedSets(draft.descriptor, folder).flat());
  if (fileBeingWritten !== undefined) throw new DataError(`${fileBeingWritten}: a program is writing to it`);
  const outcome = verify(description, chunkBytes);
  if ("problems" in outcome) throw new DataError(`${location} cannot be served: ${outcome.problems.join("; ")}`);
  if (existsSync(path) && !claims(path, location))
    throw new RequestError("InvalidRequest", `${path} is of another file; --name NAME keeps both`);
  const isApart = isAddress(location) || realPath(dirname(path)) !== realPath(folder);
  const text = confirmationOf(draft, draft.varies, folder, isApart);
  makeFolder(dirname(path));
  writeAtomically(path, text);
  return path;
}

export interface DraftRequest {
  /** A file that waits, or several read as one series. */
  readonly paths: readonly string[];
  /** Answers by flag, among them `name`. */
  readonly texts: AnswerTexts;
  /** The folder of confirmations that cannot be beside their files. */
  readonly descriptors: string;
  readonly folders: readonly string[];
  /** Largest chunk of the files and largest brick, in bytes. */
  readonly chunkBytes: number;
  readonly confirms: boolean;
  /** The structure that a person has seen, which alone is confirmed; absent: any. */
  readonly shown?: Structure | undefined;
  readonly taken: readonly string[];
}

/** Reads a draft; writes its confirmation if requested and no question is open. Throws RequestError, DataError. */
export function answerDraft(request: DraftRequest): DraftView {
  const { paths, texts, descriptors, chunkBytes, confirms, taken, shown } = request;
  setDataFolders(request.folders);
  const [first] = paths as [string];
  const confirmation = isChangedConfirmation(first) ? first : confirmationFor(first, descriptors);
  if (confirmation !== null) return changedDraft(confirmation, first, request);
  const answers = new Map(texts);
  const [name] = answers.get("name") ?? [];
  answers.delete("name");
  const draft = readDraft(paths, answers, name === undefined ? {} : { name });
  if (draft === null)
    throw new DataError(`${basename(first)} has no dataset of numbers in three dimensions, which a field needs`);
  const folder = folderOf(first, paths.length === 1);
  const varyingKeys = new Set(draft.varies);
  const structure = new Map([...draft.structure].filter(([key]) => !varyingKeys.has(key)));
  const described = describeDraft(draft, folder, basename(first), chunkBytes);
  const view = { ...described, structure, problems: [...described.problems, ...changesSince(shown, structure)] };
  if (confirms && view.problems.length === 0 && openLines(draft.descriptor.questions).length === 0) {
    if (taken.includes(view.name)) throw new RequestError("InvalidRequest", nameTaken(view.name), { member: "name" });
    keepDraft({ draft, location: first, folder, descriptors, chunkBytes });
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
function changedDraft(confirmation: string, path: string, { confirms, shown, texts }: DraftRequest): DraftView {
  const text = renewed(confirmation, path === confirmation ? null : path);
  const description = describedBy(confirmation);
  const waiting = "problems" in description ? [] : withNewFrames(description).waiting;
  const waitingFile = waiting.find(({ location }) => location === path);
  const { name, title: producer = "", confirmed } = JSON.parse(text) as DescriptorInput;
  const structure = new Map(Object.entries(confirmed?.structure ?? {}));
  const isOther = waitingFile !== undefined && !isOfStructure(waitingFile);
  const problems = isOther ? [waitingFile.message] : changesSince(shown, structure);
  if (confirms && problems.length === 0) writeAtomically(confirmation, text);
  const isChanged = "it has changed since it was confirmed; confirm again to accept it as the same data (--same)";
  const why = problems.length > 0 ? [] : [isChanged];
  const unused = texts.size === 0 ? [] : ["answers: confirming again keeps those of the confirmation"];
  const view = { ...EMPTY_VIEW, slice: null, refusal: null, unused };
  return { ...view, file: basename(path), name, producer, problems, why, structure };
}

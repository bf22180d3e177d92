/** Scans data folders: every dataset is verified, and everything refused gets one line. */

import { createHash } from "node:crypto";
import { type Dirent, readdirSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { isAddress } from "../../addresses.js";
import { BusyError, DataError } from "../../errors.js";
import { reasonOf } from "../../system-error.js";
import type { Dataset } from "../dataset.js";
import { realPath, statusOf } from "../files.js";
import { DESCRIPTOR_NAME, FOLDER_DEPTH, folderKind, isPassedOver, UNFINISHED } from "../folder-names.js";
import { isHdf5 } from "../hdf5/bytes.js";
import { hasHdf5Name, isReferences } from "../zarr/kinds.js";
import { StoreStates } from "../zarr/store-states.js";
import { claimedAddresses, claimedBy, describeApart, descriptorsIn, descriptorText, stateApart } from "./apart.js";
import { NAME_PATTERN, openQuestions, parseDescriptor } from "./descriptor.js";
import { recognise } from "./layouts/recognise.js";
import { readManifest } from "./manifest.js";
import {
  type CandidateOutcome,
  completeScan,
  type FolderScan,
  type Refusal,
  type ScanChanges,
  statesOf,
} from "./scan.js";
import { ScanIndex } from "./scan-index.js";
import { unclaimedWarning } from "./unclaimed.js";
import { type Description, verify } from "./verify.js";

export interface ScanOptions {
  /** Largest chunk of the files and largest brick, in bytes (`engine.chunkBytes`). */
  readonly chunkBytes: number;
  readonly previous?: FolderScan;
  /** A folder of descriptors apart from their files, which stand in it or in one of the data folders. */
  readonly descriptors?: string | null;
}

/** Files that a scan has to open before an index of them is worth writing. */
const MANY_FILES = 200;

/** Scans data folders, three folders deep. `loadHdf5` must have been waited for. */
export function scanFolders(folders: readonly string[], { previous, ...options }: ScanOptions): FolderScan {
  return completeScan(scanChanges(folders, { ...options, known: statesOf(previous) }), previous);
}

/** Options of a look for changes. */
export interface ChangesOptions extends Omit<ScanOptions, "previous"> {
  /** States of the last scan, by location. */
  readonly known: ReadonlyMap<string, string>;
  /** Findings of scans of earlier processes; it receives those of this one. */
  readonly index?: ScanIndex | null;
  /** Called with the outcome of each candidate that was opened. */
  readonly examined?: (outcome: CandidateOutcome) => void;
}

/**
 * Scans data folders for the first time in a process: what an index knows is not opened.
 *
 * @param path of the index, which is written again where many files had to be opened
 * @param key everything that outcomes depend on beside the files
 */
export function scanWithIndex(
  folders: readonly string[],
  options: ChangesOptions,
  path: string,
  key: string,
): ScanChanges {
  const index = new ScanIndex(path, key);
  let opened = 0;
  const examined = (outcome: CandidateOutcome): void => {
    opened += "dataset" in outcome ? outcome.dataset.files.length : 1;
  };
  const changes = scanChanges(folders, { ...options, index, examined });
  if (opened >= MANY_FILES) index.write();
  return changes;
}

/** Scans data folders and addresses, and examines what has another state than `known` says. */
export function scanChanges(folders: readonly string[], options: ChangesOptions): ScanChanges {
  const states = new StoreStates(folders.filter(isAddress));
  try {
    return changesSeen(folders, options, states);
  } finally {
    states.close();
  }
}

function changesSeen(folders: readonly string[], options: ChangesOptions, states: StoreStates): ScanChanges {
  const unreadable: Refusal[] = [];
  const apart = findApart(options.descriptors ?? null, unreadable);
  const claimed = claimedBy(apart);
  const roots = folders.filter((folder) => !isAddress(folder));
  const described = apart.map((location) =>
    candidateAt(location, options, (known) => {
      const state = stateApart(location);
      const own = { state, changedMs: null, version: () => state };
      const snapshot = withChanges(own, location, states, known);
      return { snapshot, describe: () => describeApart(location, snapshot.version(), [...roots, dirname(location)]) };
    }),
  );
  const walked: string[] = [];
  const local = findLocations(roots, unreadable, walked);
  const addresses = folders.filter(isAddress).flatMap((address) => states.placesAt(address, options.known));
  const descriptors = local.filter((location) => basename(location) === DESCRIPTOR_NAME);
  const isNamed = addresses.length === 0 ? () => false : claimedAddresses([...apart, ...descriptors]);
  const isClaimed = (location: string): boolean =>
    isAddress(location) ? isNamed(location) : claimed.size > 0 && claimed.has(realPath(location) ?? location);
  // Addresses first: descriptors may name stores of the hosts that are named there.
  const found = [...new Set([...addresses, ...local])].filter((location) => !isClaimed(location));
  const others = found.map((location) =>
    candidateAt(location, options, (known) => {
      const problem = states.problemAt(location);
      if (problem !== null) {
        const snapshot = { state: problem, changedMs: null, version: () => problem };
        return { snapshot, describe: () => ({ problems: [problem] }) };
      }
      const snapshot = snapshotOf(location, states, known);
      return { snapshot, describe: () => describe(location, snapshot.version()) };
    }),
  );
  if (options.descriptors) walked.push(options.descriptors);
  return { candidates: [...described, ...others], unreadable, folders: walked };
}

/** A look at a candidate, and how to describe it where it has changed. */
interface Look {
  readonly snapshot: ObservedState;
  readonly describe: () => Description | { problems: string[] };
}

/**
 * Examines a candidate unless it is as it was. Errors of the operating system, and any other error that its file
 * causes, are problems of that candidate alone, which the next scan looks at again.
 *
 * @param look is given the state that the last scan saw
 */
function candidateAt(
  location: string,
  options: ChangesOptions,
  look: (known: string | undefined) => Look,
): ScanChanges["candidates"][number] {
  const before = options.known.get(location);
  try {
    const { snapshot, describe } = look(before);
    const { state, changedMs } = snapshot;
    if (before === state) return { location, state, outcome: null };
    const kept = options.index?.find(location, state) ?? null;
    const outcome = kept ?? examine(describe(), options);
    if (kept === null) options.examined?.(outcome);
    if (changedMs !== null) options.index?.add(location, state, changedMs, outcome);
    return { location, state, outcome };
  } catch (error) {
    // A host that does not answer for a while takes no dataset away.
    if (error instanceof BusyError && before !== undefined) return { location, state: before, outcome: null };
    return { location, state: "", outcome: { problems: [problemOf(error, location)] } };
  }
}

function problemOf(error: unknown, location: string): string {
  const reason = reasonOf(error);
  // The problem is listed with its location; most texts begin with it.
  if (error instanceof DataError || error instanceof BusyError) return reason.replace(location, "").replace(/^:? /, "");
  return `${error instanceof Error && "syscall" in error ? "not readable" : "the examination failed"}: ${reason}`;
}

/**
 * Descriptors, and HDF5 files that no descriptor claims; what is reached on several ways counts once.
 *
 * @param walked receives the folders that were looked at
 */
function findLocations(folders: readonly string[], problems: Refusal[], walked: string[]): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const isNew = (real: string | undefined) => real !== undefined && seen.size < seen.add(real).size;
  /** @param real the folder without symbolic links */
  const walk = (folder: string, real: string, depth: number) => {
    let entries: Dirent[];
    try {
      entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
      if (!isNew(real)) return;
      walked.push(folder);
    } catch (error) {
      problems.push({ location: folder, message: `the folder is not readable: ${reasonOf(error)}` });
      return;
    }
    const names = entries.map(({ name }) => name);
    const kind = folderKind(names);
    if (kind === "described") found.push(join(folder, DESCRIPTOR_NAME));
    if (kind === "store") found.push(folder);
    if (kind === "unfinished") problems.push({ location: folder, message: UNFINISHED });
    if (kind !== "folder") return;
    for (const entry of entries) {
      const { name } = entry;
      if (isPassedOver(name)) continue;
      const path = join(folder, name);
      // The folder says what most entries are; others are looked at.
      const plain = entry.isFile() || entry.isDirectory();
      const status = plain ? entry : statusOf(path);
      const realOf = () => (plain ? join(real, name) : realPath(path));
      if (status?.isDirectory() && depth < FOLDER_DEPTH) walk(path, realOf() ?? path, depth + 1);
      if (status?.isFile() && isStoredFile(path) && isNew(realOf())) found.push(path);
    }
  };
  for (const folder of folders) walk(folder, realPath(folder) ?? folder, 0);
  return found;
}

function isStoredFile(path: string): boolean {
  return hasHdf5Name(path) || isReferences(path) || isHdf5(path);
}

/** The state of a candidate as the system tells it, without opening it. */
interface ObservedState {
  /** A text that changes when anything does that the candidate may read: its file, or everything below its folder. */
  readonly state: string;
  /** Time of the last change of all these files; null where some of it lies elsewhere. */
  readonly changedMs: number | null;
  /** A digest of the content as far as the system tells: sizes, times of writing and inodes. */
  version(): string;
}

/** Takes a snapshot of a candidate. @param known its state in the last scan */
function snapshotOf(location: string, states: StoreStates, known: string | undefined): ObservedState {
  if (isAddress(location) || isReferences(location)) {
    const isDescribed = isAddress(location) && basename(location) === DESCRIPTOR_NAME;
    const state = (isDescribed ? describedState : stateOfStore)(location, states, known !== undefined);
    return { state, changedMs: null, version: () => state };
  }
  const isDescriptor = basename(location) === DESCRIPTOR_NAME;
  const status = statusOf(location);
  const isFolder = isDescriptor || status?.isDirectory() === true;
  const found: FileStatus[] = [];
  if (!isFolder) found.push(statusAt(location, status));
  else listBelow(isDescriptor ? dirname(location) : location, found);
  const written = found.map(({ path, written }) => `${path}\n${written}\n`);
  const changedMs = found.reduce((latest, { changedMs }) => Math.max(latest, changedMs), 0);
  const whole = `${written.join("")}${found.map(({ changedMs }) => changedMs).join()}`;
  // Of many single files a digest of each would cost more than the look at it.
  const snapshot = { state: isFolder ? sha256(whole) : whole, changedMs, version: () => sha256(written.join("")) };
  return isDescriptor ? withChanges(snapshot, location, states, known) : snapshot;
}

function stateOfStore(location: string, states: StoreStates, isKnown: boolean): string {
  return states.of(location, isKnown);
}

/**
 * The state of a descriptor at an address: its version, those of what is listed beside it, and changes that queries
 * have found.
 */
function describedState(location: string, states: StoreStates, isKnown: boolean): string {
  const folder = location.slice(0, location.lastIndexOf("/"));
  const version = states.of(location, isKnown);
  const parts = [version, ...states.listedIn(folder), ...states.changes([`${folder}/`])];
  return sha256(parts.join("\n"));
}

/**
 * The status of a file as the system tells it: members that change with its content, and the time of its last change.
 */
interface FileStatus {
  readonly path: string;
  readonly written: string;
  readonly changedMs: number;
}

function statusAt(path: string, status: Stats | undefined): FileStatus {
  const written = `${status?.size} ${status?.mtimeMs} ${status?.ino}`;
  return { path, written, changedMs: status?.ctimeMs ?? 0 };
}

/** Lists everything below a folder. */
function listBelow(folder: string, found: FileStatus[]): void {
  for (const name of readdirSync(folder).sort()) {
    const path = folder + sep + name;
    const status = statusOf(path);
    found.push(statusAt(path, status));
    if (status?.isDirectory()) listBelow(path, found);
  }
}

/**
 * The snapshot of a descriptor, which is another one when a store has been found changed that it names. One that names
 * none has the state of its files; it is not read again while that is known.
 */
function withChanges(
  snapshot: ObservedState,
  location: string,
  states: StoreStates,
  known: string | undefined,
): ObservedState {
  if (known === snapshot.state) return snapshot;
  const read = descriptorText(location);
  const named = "problems" in read ? [] : [...read.text.matchAll(/"file"\s*:\s*"((?:https?|s3):\/\/[^"{]*)/gi)];
  if (named.length === 0) return snapshot;
  const changes = states.changes([...new Set(named.map(([, beginning]) => beginning))]);
  const version = (): string =>
    changes.length === 0 ? snapshot.version() : sha256([snapshot.version(), ...changes].join("\n"));
  return { state: `${snapshot.state} ${sha256(changes.join("\n"))}`, changedMs: null, version };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function describe(location: string, state: string): Description | { problems: string[] } {
  return basename(location) === DESCRIPTOR_NAME ? describeFolder(location, state) : describeFile(location, state);
}

function examine(
  description: Description | { problems: string[] },
  options: Pick<ScanOptions, "chunkBytes">,
): CandidateOutcome {
  return "problems" in description ? description : admit(description, options.chunkBytes);
}

/** Descriptors of a folder of their own; one that cannot be listed is a problem. */
function findApart(folder: string | null, problems: Refusal[]): string[] {
  if (folder === null) return [];
  try {
    return descriptorsIn(folder);
  } catch (error) {
    problems.push({ location: folder, message: `the folder of descriptors is not readable: ${reasonOf(error)}` });
    return [];
  }
}

/** Verifies a description, unless a guess in it that changes values has neither been answered nor accepted. */
export function admit(description: Description, chunkBytes: number): { dataset: Dataset } | { problems: string[] } {
  const questions = openQuestions(description.descriptor);
  if (questions.length === 0) return verify(description, chunkBytes);
  const isWritten = basename(description.location) === DESCRIPTOR_NAME;
  const then = isWritten ? ` Delete the question from ${DESCRIPTOR_NAME} when it is answered there.` : "";
  return { problems: questions.map((text) => `open question about ${text}${then}`) };
}

/**
 * Reads descriptor and manifest of a folder, on this machine or at an address.
 * @throws DataError, BusyError of a host
 */
export function describeFolder(location: string, state: string): Description | { problems: string[] } {
  const read = descriptorText(location);
  if ("problems" in read) return read;
  const { text } = read;
  const parsed = parseDescriptor(text);
  if ("problems" in parsed) return parsed;
  const folder = dirname(location);
  const unclaimed = isAddress(folder) ? null : unclaimedWarning(folder, parsed.descriptor);
  const base = { descriptor: parsed.descriptor, folder, location, warnings: unclaimed === null ? [] : [unclaimed] };
  const found = readManifest(folder);
  if (found === null) return { ...base, digest: state };
  if ("problems" in found) return found;
  return { ...base, digest: createHash("sha256").update(found.text).update(text).digest("hex") };
}

/** The name that a file, folder or address gives to its dataset. */
export function nameOf(location: string): string {
  const path = isAddress(location) ? decodeURI(new URL(location).pathname).replace(/\/+$/, "") : location;
  return basename(path).replace(/(\.(refs|kerchunk)\.json|\.[^.]*)$/i, "");
}

/** Recognises a bare file; a link to one gives its own name to it. */
function describeFile(location: string, state: string): Description | { problems: string[] } {
  const name = nameOf(location);
  if (!NAME_PATTERN.test(name)) return { problems: [`the name "${name}" is not 1 to 64 of A-Z a-z 0-9 _ . -`] };
  try {
    const path = isAddress(location) ? location : realpathSync(location);
    const found = recognise(path, {}, name);
    if (found === null)
      return { problems: ["the layout of the file is not recognised; fieldprobe inspect shows what it holds"] };
    const { descriptor, warnings } = found;
    const folder = isAddress(path) ? "." : dirname(path);
    return { descriptor, folder, location, digest: state, warnings };
  } catch (error) {
    if (!(error instanceof DataError)) throw error;
    // The problem is listed with its location; most texts begin with it.
    return {
      problems: [
        error.message.startsWith(location) ? error.message.slice(location.length).replace(/^:? /, "") : error.message,
      ],
    };
  }
}

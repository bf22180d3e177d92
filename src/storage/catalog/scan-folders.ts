/** Scans data folders and addresses: verifies every dataset, and gives a reason for every refusal. */

import { type Dirent, readdirSync, type Stats } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { BusyError, DataError, orElse, readOr } from "../../shared/errors.js";
import { sha256 } from "../../shared/sha256.js";
import { isOutOfFiles, reasonOf } from "../../shared/system.js";
import { type Descriptor, NAME_PATTERN, parseDescriptor, placesIn } from "../dataset/descriptor.js";
import { isIn, RealPaths, realPath, STEP_PLACE, setDataFolders, statusOf } from "../dataset/files.js";
import { DESCRIPTOR_NAME, FOLDER_DEPTH, folderKind, isPassedOver, LEVELS_SUFFIX } from "../dataset/folder-names.js";
import type { CandidateOutcome, FolderScan, Refusal, Refused, ScanChanges } from "../dataset/scan.js";
import { completeScan, statesOf, timesServed } from "../dataset/scan.js";
import { isHdf5 } from "../hdf5-bytes/bytes.js";
import { LibraryNeeded } from "../hdf5-bytes/filters.js";
import { Hdf5File } from "../hdf5-bytes/hdf5-file.js";
import { ROOM_BYTES } from "../hdf5-bytes/open-bytes.js";
import { openFile } from "../open-file.js";
import { isComplete, recogniseOpen } from "../recognise/recognise.js";
import { StoreStates } from "../remote/store-states.js";
import { hasHdf5Name, isReferences } from "../zarr/kinds.js";
import {
  claimedAddresses,
  claimedBy,
  describeApart,
  descriptorsIn,
  descriptorText,
  stampDigest,
  stateApart,
  unclaimedWarning,
} from "./apart.js";
import { confirmationFor, isConfirmation, waitsFor } from "./confirmation.js";
import { admit } from "./gate.js";
import { readManifest } from "./manifest.js";
import { ScanIndex } from "./scan-index.js";
import type { Description } from "./verify.js";

export interface ScanOptions {
  /** Largest chunk of the files and largest brick, in bytes (`engine.chunkBytes`). */
  readonly chunkBytes: number;
  readonly previous?: FolderScan;
  /** A separate folder of descriptors; their files lie in it or in one of the data folders. */
  readonly descriptors?: string | null;
}

const MANY_FILES = 200;

/** Scans data folders, FOLDER_DEPTH folders deep. Throws LibraryNeeded if `loadHdf5` has to resolve before. */
export function scanFolders(folders: readonly string[], { previous, ...options }: ScanOptions): FolderScan {
  const before = { known: statesOf(previous), served: timesServed(previous) };
  return completeScan(scanChanges(folders, { ...options, ...before }), previous);
}

export interface ChangesOptions extends Omit<ScanOptions, "previous"> {
  /** States seen by the last scan, by location. */
  readonly known: ReadonlyMap<string, string>;
  readonly served?: ReadonlyMap<string, Float64Array> | undefined;
  /** Findings from scans of earlier processes; this scan adds its own. */
  readonly index?: ScanIndex | null;
  readonly examined?: (outcome: CandidateOutcome) => void;
}

/**
 * The first scan of a process, which does not open candidates that the index of earlier scans knows.
 * @param path of the index, which is written if many files had to be opened
 * @param key everything that outcomes depend on except the files
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

/** Scans data folders and addresses, and examines candidates whose state differs from that in `known`. */
export function scanChanges(folders: readonly string[], options: ChangesOptions): ScanChanges {
  return StoreStates.with(folders.filter(isAddress), (states) => scanAll(folders, options, states));
}

function scanAll(folders: readonly string[], options: ChangesOptions, states: StoreStates): ScanChanges {
  const unreadable: Refusal[] = [];
  const roots = folders.filter((folder) => !isAddress(folder));
  setDataFolders(roots);
  const walked: string[] = [];
  const alone: string[] = [];
  const located = findLocations(roots, unreadable, walked, alone, options);
  const confirmed = located.filter((location) => isConfirmation(basename(location)));
  const local = located.filter((location) => !isConfirmation(basename(location)));
  const apart = [...findApart(options.descriptors ?? null, folders, unreadable), ...confirmed];
  const descriptors = local.filter((location) => basename(location) === DESCRIPTOR_NAME);
  const claimedFiles = claimedBy(alone.length === 0 ? apart : [...apart, ...descriptors]);
  const described = apart.map((location) =>
    candidateAt(location, options, (known) => {
      const state = stateApart(location);
      const own = { state, changedMs: null, version: () => stampDigest([location]) };
      const observed = withChanges(own, location, states, known);
      const describe = () => describeAlone(location, observed.version(), roots, alone);
      return { observed, examine: () => withFileDigest(examine(describe(), options)) };
    }),
  );
  const addresses = folders.filter(isAddress).flatMap((address) => states.placesAt(address, options.known));
  const isClaimedAddress = addresses.length === 0 ? () => false : claimedAddresses([...apart, ...descriptors]);
  const isClaimed = (location: string): boolean =>
    isAddress(location)
      ? isClaimedAddress(location)
      : claimedFiles.size > 0 && claimedFiles.has(realPath(location) ?? location);
  const found = [...new Set([...addresses, ...local])].filter((location) => !isClaimed(location));
  const shared = { paths: new RealPaths(), room: Buffer.allocUnsafeSlow(ROOM_BYTES) };
  const others = found.map((location) =>
    candidateAt(location, options, (known) => {
      const problem = states.problemAt(location);
      if (problem !== null) {
        const observed = { state: problem, changedMs: null, version: () => problem };
        return { observed, examine: () => ({ problems: [problem] }) };
      }
      const observed = observe(location, states, known);
      const isDescribed = basename(location) === DESCRIPTOR_NAME;
      const look = () =>
        isDescribed
          ? examine(describeFolder(location, observed.version()), options)
          : examineFile(location, observed.version(), options, shared);
      return { observed, examine: look };
    }),
  );
  if (options.descriptors) walked.push(options.descriptors);
  return { candidates: [...described, ...others], unreadable, folders: walked };
}

interface Observation {
  readonly observed: ObservedState;
  readonly examine: () => CandidateOutcome;
}

/**
 * Examines a candidate if its state has changed. An error is a problem of this candidate alone; its state is then
 * empty, so that the next scan examines it again.
 */
function candidateAt(
  location: string,
  options: ChangesOptions,
  look: (known: string | undefined) => Observation,
): ScanChanges["candidates"][number] {
  const before = options.known.get(location);
  try {
    const { observed, examine } = look(before);
    const { state, changedMs } = observed;
    if (before === state) return { location, state, outcome: null };
    const kept = options.index?.find(location, state) ?? null;
    const outcome = kept ?? examine();
    if (kept === null) options.examined?.(outcome);
    if (changedMs !== null) options.index?.add(location, state, changedMs, outcome);
    return { location, state, outcome };
  } catch (error) {
    if (error instanceof LibraryNeeded) throw error;
    if (isTransient(error) && before !== undefined) return { location, state: before, outcome: null };
    return { location, state: "", outcome: { problems: [problemOf(error, location)] } };
  }
}

function isTransient(error: unknown): boolean {
  if (error instanceof BusyError || isOutOfFiles(error)) return true;
  const { syscall, code } = error as NodeJS.ErrnoException;
  return syscall === "scandir" && code !== "ENOENT";
}

function problemOf(error: unknown, location: string): string {
  const reason = reasonOf(error);
  // The problem is listed with its location, with which most texts begin.
  if (error instanceof DataError || error instanceof BusyError) return reason.replace(location, "").replace(/^:? /, "");
  return `${error instanceof Error && "syscall" in error ? "not readable" : "the examination failed"}: ${reason}`;
}

/**
 * Finds candidates in data folders: descriptors, Zarr stores, HDF5 files and lists of references. Several paths to one
 * file count once.
 * @param problems receives folders that cannot be read
 * @param walked receives all other folders
 * @param alone receives real paths of what is given itself, or by a link that leads out of the folders
 * @param known candidates of the last scan, which stay if their folder cannot be read now
 */
function findLocations(
  folders: readonly string[],
  problems: Refusal[],
  walked: string[],
  alone: string[],
  { known, descriptors = null }: Pick<ChangesOptions, "known" | "descriptors">,
): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const isNew = (real: string) => seen.size < seen.add(real).size;
  const within = folders.flatMap((folder) => realPath(folder) ?? []);
  const take = (path: string, real = realPath(path)) => {
    if (real === undefined || !isNew(real)) return;
    found.push(path);
    if (!folders.includes(path) && within.some((folder) => isIn(folder, real))) return;
    alone.push(real);
    // Answers that hold for one call are in the folder of descriptors.
    const beside = confirmationFor(path, descriptors);
    if (beside !== null && !(descriptors && beside.startsWith(join(descriptors, sep))) && isNew(beside))
      found.push(beside);
  };
  /** @param real the folder without symbolic links */
  const walk = (folder: string, real: string, depth: number) => {
    let entries: Dirent[];
    try {
      entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
      if (!isNew(real)) return;
      walked.push(folder);
    } catch (error) {
      problems.push({ location: folder, message: `the folder is not readable: ${reasonOf(error)}` });
      if (statusOf(folder)?.isDirectory())
        found.push(...[...known.keys()].filter((location) => location.startsWith(folder + sep) || location === folder));
      return;
    }
    const names = entries.map(({ name }) => name);
    const kind = folderKind(names);
    if (kind === "described") found.push(join(folder, DESCRIPTOR_NAME));
    if (kind === "store") found.push(folder);
    if (typeof kind === "object") problems.push({ location: folder, message: kind.refused });
    if (kind !== "folder") return;
    for (const entry of entries) {
      const { name } = entry;
      if (isPassedOver(name)) continue;
      const path = join(folder, name);
      // The listing of a folder distinguishes files and folders; links and entries of unknown kind need a status call.
      const plain = entry.isFile() || entry.isDirectory();
      const status = plain ? entry : statusOf(path);
      const realOf = () => (plain ? join(real, name) : realPath(path));
      if (status?.isDirectory() && depth < FOLDER_DEPTH) walk(path, realOf() ?? path, depth + 1);
      const isDatasetFile = () => known.has(path) || isConfirmation(name) || isStoredFile(path);
      if (status?.isFile() && isDatasetFile()) take(path, realOf());
    }
  };
  for (const folder of folders) {
    if (isSingle(folder)) take(folder);
    else walk(folder, realPath(folder) ?? folder, 0);
  }
  return found;
}

function isSingle(path: string): boolean {
  const status = statusOf(path);
  return status?.isFile() === true || (status?.isDirectory() === true && isListedStore(path));
}

const isListedStore = (folder: string): boolean => orElse(() => folderKind(readdirSync(folder)) === "store", false);

/**
 * Describes a dataset by a separate descriptor, which may read the data folders and its own; of the folder of a file
 * that is served alone, only the files of the descriptor that claims it or is it.
 */
function describeAlone(location: string, state: string, roots: readonly string[], alone: readonly string[]) {
  const claimed = [...claimedBy([location])];
  const named = alone.includes(location) ? claimed : alone.filter((file) => claimed.includes(file));
  const own = claimed.filter((path) => named.some((file) => isIn(dirname(file), path)));
  const folder = realPath(dirname(location));
  const beside = alone.some((file) => dirname(file) === folder) ? [] : [dirname(location)];
  const found = describeApart(location, state, [...roots, ...own, ...beside]);
  if ("problems" in found || named.length === 0 || own.length === named.length) return found;
  if (!placesIn(found.descriptor).some(({ file }) => STEP_PLACE.test(file))) return found;
  const files = named.map((file) => basename(file)).join(", ");
  return { ...found, warnings: [`It is the whole series that ${location} confirms, not ${files} alone.`] };
}

const isStoredFile = (path: string): boolean => hasHdf5Name(path) || isReferences(path) || isHdf5(path);

/** State of a candidate as reported by the operating system or its host; no data are read. */
interface ObservedState {
  /** A text that changes with anything that the candidate may read: its file, or everything below its folder. */
  readonly state: string;
  /** Time of the last change among these files; null if some are elsewhere. */
  readonly changedMs: number | null;
  /** Identifies the content of the candidate: on this machine a digest of sizes, times of writing and inodes. */
  version(): string;
}

function observe(location: string, states: StoreStates, known: string | undefined): ObservedState {
  if (isAddress(location) || isReferences(location)) {
    const isDescribed = isAddress(location) && basename(location) === DESCRIPTOR_NAME;
    const isKnown = known !== undefined;
    const state = isDescribed ? describedState(location, states, isKnown) : states.of(location, isKnown);
    return { state, changedMs: null, version: () => state };
  }
  const isDescriptor = basename(location) === DESCRIPTOR_NAME;
  const status = statusOf(location);
  const isFolder = isDescriptor || status?.isDirectory() === true;
  const found = isFolder ? listBelow(isDescriptor ? dirname(location) : location) : [statusAt(location, status)];
  const written = found.map(({ path, written }) => `${path}\n${written}\n`);
  const changedMs = found.reduce((latest, { changedMs }) => Math.max(latest, changedMs), 0);
  const whole = `${written.join("")}${found.map(({ changedMs }) => changedMs).join()}`;
  // The state of a single file is its text: with many files, digests would cost more than the status calls.
  const observed = { state: isFolder ? sha256(whole) : whole, changedMs, version: () => sha256(written.join("")) };
  return isDescriptor ? withChanges(observed, location, states, known) : observed;
}

/** The version of a descriptor at an address, the versions of the files next to it, and changes found by reads. */
function describedState(location: string, states: StoreStates, isKnown: boolean): string {
  const folder = location.slice(0, location.lastIndexOf("/"));
  const version = states.of(location, isKnown);
  const parts = [version, ...states.listedIn(folder), ...states.changes([`${folder}/`])];
  return sha256(parts.join("\n"));
}

interface FileStatus {
  readonly path: string;
  readonly written: string;
  /** Time of the last change, including its permissions and name. */
  readonly changedMs: number;
}

function statusAt(path: string, status: Stats | undefined): FileStatus {
  return { path, written: `${status?.size} ${status?.mtimeMs} ${status?.ino}`, changedMs: status?.ctimeMs ?? 0 };
}

/** Lists everything below a folder but levels, which follow from it; folders reached by several links are listed once. */
function listBelow(folder: string, found: FileStatus[] = [], seen = new Set<string>()): FileStatus[] {
  for (const name of readdirSync(folder).sort()) {
    if (name.endsWith(LEVELS_SUFFIX)) continue;
    const path = folder + sep + name;
    const status = statusOf(path);
    found.push(statusAt(path, status));
    const place = status?.isDirectory() ? `${status.dev} ${status.ino}` : null;
    if (place === null || seen.has(place)) continue;
    seen.add(place);
    listBelow(path, found, seen);
  }
  return found;
}

/** Adds changes that reads have found in the stores of a descriptor, which is read again only if its state changes. */
function withChanges(
  observed: ObservedState,
  location: string,
  states: StoreStates,
  known: string | undefined,
): ObservedState {
  if (known === observed.state) return observed;
  const read = descriptorText(location);
  const named = "problems" in read ? [] : [...read.text.matchAll(/"file"\s*:\s*"((?:https?|s3):\/\/[^"{]*)/gi)];
  if (named.length === 0) return observed;
  const changes = states.changes([...new Set(named.map(([, beginning]) => beginning))]);
  const version = (): string =>
    changes.length === 0 ? observed.version() : sha256([observed.version(), ...changes].join("\n"));
  return { state: `${observed.state} ${sha256(changes.join("\n"))}`, changedMs: null, version };
}

/** An outcome whose digest is also that of its times and of the files which the dataset reads, and of no others. */
function withFileDigest(outcome: CandidateOutcome): CandidateOutcome {
  if ("problems" in outcome) return outcome;
  const { dataset } = outcome;
  const { digest, time, files } = dataset;
  const stamps = files.map((one) => [one.path, one.bytes, one.modifiedMs, one.inode, one.version].join(" "));
  return { ...outcome, dataset: { ...dataset, digest: sha256([digest, time.count, ...stamps].join("\n")) } };
}

function examine(description: Description | Refused, { chunkBytes, served }: ChangesOptions): CandidateOutcome {
  if ("problems" in description) return description;
  const outcome = admit(description, chunkBytes, served?.get(description.location));
  return "dataset" in outcome ? outcome : { ...outcome, names: namesOf(description.descriptor) };
}

const namesOf = ({ name, aliases }: Descriptor): string[] => [name, ...aliases];

/** Finds separate descriptors, but no confirmations of files elsewhere: the folder may serve several services. */
function findApart(folder: string | null, roots: readonly string[], problems: Refusal[]): string[] {
  if (folder === null) return [];
  try {
    const real = roots.flatMap((root) => realPath(root) ?? []);
    const isAlone = roots.every((root) => isAddress(root) || isSingle(root));
    return descriptorsIn(folder).filter((location) => {
      const read = descriptorText(location);
      if ("problems" in read || !read.text.includes('"confirmed"')) return true;
      const claimed = [...claimedBy([location])];
      if (claimed.length > 0) return claimed.some((path) => real.some((root) => isIn(root, path)));
      return !isAlone || roots.some((root) => isAddress(root) && read.text.includes(root));
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    problems.push({ location: folder, message: `the folder of descriptors is not readable: ${reasonOf(error)}` });
    return [];
  }
}

/**
 * Reads the descriptor and the manifest of a folder or address.
 * @param version identifies the content without a manifest
 * @throws DataError, BusyError of a host
 */
export function describeFolder(location: string, version: string): Description | Refused {
  const read = descriptorText(location);
  if ("problems" in read) return read;
  const { text } = read;
  const parsed = parseDescriptor(text);
  if ("problems" in parsed) return parsed;
  const folder = dirname(location);
  const unclaimed = isAddress(folder) ? null : unclaimedWarning(location, parsed.descriptor);
  const base = { descriptor: parsed.descriptor, folder, location, warnings: unclaimed === null ? [] : [unclaimed] };
  const found = readManifest(folder);
  if (found === null) return { ...base, digest: version };
  if ("problems" in found) return { ...found, names: namesOf(parsed.descriptor) };
  return { ...base, digest: sha256(found.text, text) };
}

export function nameOf(location: string): string {
  const path = isAddress(location) ? pathOf(location).replace(/\/+$/, "") : location;
  return basename(path).replace(/(\.(refs|kerchunk)\.json|\.[^.]*)$/i, "");
}

/** The path of an address. Throws DataError for a percent sign that encodes no character. */
function pathOf(address: string): string {
  try {
    return decodeURI(new URL(address).pathname);
  } catch (cause) {
    throw new DataError(`${address}: a % must begin a character such as %20; write %25 for the sign itself`, cause);
  }
}

/** Examines a file without a descriptor. A symbolic link names the dataset after itself, not after its target. */
function examineFile(
  location: string,
  digest: string,
  { chunkBytes, descriptors }: ScanOptions,
  { paths, room }: { readonly paths: RealPaths; readonly room: Buffer },
): CandidateOutcome {
  const name = nameOf(location);
  if (!NAME_PATTERN.test(name)) return { problems: [`the name "${name}" is not 1 to 64 of A-Z a-z 0-9 _ . -`] };
  const { path, isFile } = isAddress(location) ? { path: location, isFile: false } : paths.look(location);
  const file = readOr(
    () => openFile(path, { named: true, isFile, room }),
    (error) => refusalBy(error, location),
  );
  if ("problems" in file) return file;
  try {
    const found = readOr(
      () => recogniseOpen(file, {}, name),
      (error) => refusalBy(error, location),
    );
    if (found === null)
      return { problems: ["the layout of the file is not recognised; fieldprobe inspect shows what it holds"] };
    if ("problems" in found) return found;
    const waits = { names: [name], waits: true, sources: found.sources } as const;
    if (!isComplete(found)) return { problems: [waitsFor(location, found, descriptors)], ...waits };
    const folder = isAddress(path) ? "." : dirname(path);
    const open = file instanceof Hdf5File && file.stamp !== null ? { file: { opened: file, stamp: file.stamp } } : {};
    return admit({ ...found, folder, location, digest, ...open }, chunkBytes);
  } finally {
    file.close();
  }
}

function refusalBy({ message }: DataError, location: string): { problems: string[] } {
  return { problems: [message.startsWith(location) ? message.slice(location.length).replace(/^:? /, "") : message] };
}

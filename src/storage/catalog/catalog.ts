/** Scans data folders: every dataset is verified, and everything refused gets one line. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import { isAddress } from "../../addresses.js";
import { BusyError, DataError } from "../../errors.js";
import { reasonOf } from "../../system-error.js";
import type { Dataset } from "../dataset.js";
import { realPath, statusOf } from "../files.js";
import { isHdf5 } from "../hdf5/bytes.js";
import { isReferences, isStore } from "../zarr/kinds.js";
import { ZarrFile } from "../zarr/zarr-file.js";
import { NAME_PATTERN, openQuestions, parseDescriptor } from "./descriptor.js";
import { recognise } from "./layouts/recognise.js";
import { DESCRIPTOR_NAME, readManifest } from "./manifest.js";
import { type Description, verify } from "./verify.js";

/** Something in the data folders that is not served, and the reason. */
export interface Refusal {
  readonly location: string;
  readonly message: string;
}

/** Result of a scan, a plain record; handed to the next scan, it keeps unchanged datasets from being opened again. */
export interface FolderScan {
  readonly datasets: readonly Dataset[];
  readonly problems: readonly Refusal[];
  /** Every candidate with the state of its files and what came of it. */
  readonly candidates: readonly Candidate[];
}

interface Candidate {
  readonly location: string;
  /** Digest of the names, sizes, times and inodes of everything the candidate may read. */
  readonly state: string;
  readonly outcome: { readonly dataset: Dataset } | { readonly problems: readonly string[] };
}

export interface ScanOptions {
  /** Largest chunk of the files and largest brick, in bytes (`engine.chunkBytes`). */
  readonly chunkBytes: number;
  readonly previous?: FolderScan;
}

/** Stands in the folder of a conversion until it is complete. */
export const CONVERSION_NAME = "conversion.json";
const DEPTH = 3;
const HDF5_NAMES = new Set([".h5", ".hdf5", ".hdf", ".he5", ".nc"]);

/** Scans data folders, three folders deep. `loadHdf5` must have been waited for. */
export function scanFolders(folders: readonly string[], options: ScanOptions): FolderScan {
  const known = new Map(options.previous?.candidates.map((candidate) => [candidate.location, candidate]));
  const candidates: Candidate[] = [];
  const unreadable: Refusal[] = [];
  for (const location of findLocations(folders, unreadable)) candidates.push(candidateAt(location, known, options));
  const found = candidates.flatMap(({ outcome }) => ("dataset" in outcome ? [outcome.dataset] : []));
  const refused = candidates.flatMap(({ location, outcome }) =>
    "problems" in outcome ? outcome.problems.map((message) => ({ location, message })) : [],
  );
  const { datasets, clashes } = withoutClashes(found);
  return { datasets, problems: [...unreadable, ...refused, ...clashes], candidates };
}

/**
 * Returns a candidate as it was, or examines it anew. Errors of the operating system, and any other error that its file causes,
 * are problems of that candidate alone.
 */
function candidateAt(location: string, known: ReadonlyMap<string, Candidate>, options: ScanOptions): Candidate {
  let state = "";
  const before = known.get(location);
  try {
    state = stateOf(location);
    return before?.state === state ? before : { location, state, outcome: examine(location, state, options) };
  } catch (error) {
    // A host that does not answer for a while takes no dataset away.
    if (error instanceof BusyError && before !== undefined) return before;
    const what = error instanceof Error && "syscall" in error ? "not readable" : "the examination failed";
    return { location, state, outcome: { problems: [`${what}: ${reasonOf(error)}`] } };
  }
}

/** Descriptors, and HDF5 files that no descriptor claims; what is reached on several ways counts once. */
function findLocations(folders: readonly string[], problems: Refusal[]): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const isNew = (path: string) => {
    const real = realPath(path);
    return real !== undefined && seen.size < seen.add(real).size;
  };
  const walk = (folder: string, depth: number) => {
    let names: string[];
    try {
      names = readdirSync(folder).sort();
      if (!isNew(folder)) return;
    } catch (error) {
      problems.push({ location: folder, message: `the folder is not readable: ${reasonOf(error)}` });
      return;
    }
    if (names.includes(DESCRIPTOR_NAME)) {
      found.push(join(folder, DESCRIPTOR_NAME));
      return;
    }
    if (isStore(names)) {
      found.push(folder);
      return;
    }
    if (names.includes(CONVERSION_NAME)) {
      const message = "an unfinished conversion; fieldprobe convert with the same arguments resumes it";
      problems.push({ location: folder, message });
      return;
    }
    for (const name of names) {
      if (name.startsWith(".") || name.endsWith(".partial")) continue;
      const path = join(folder, name);
      const status = statusOf(path);
      if (status?.isDirectory() && depth < DEPTH) walk(path, depth + 1);
      if (status?.isFile() && isStoredFile(path) && isNew(path)) found.push(path);
    }
  };
  // Addresses first: descriptors may name stores of the hosts that are named there.
  found.push(...folders.filter(isAddress));
  for (const folder of folders) if (!isAddress(folder)) walk(folder, 0);
  return found;
}

function isStoredFile(path: string): boolean {
  return HDF5_NAMES.has(extname(path).toLowerCase()) || isReferences(path) || isHdf5(path);
}

/** A digest that changes when anything does that the candidate may read: its file, or everything below its folder. */
function stateOf(location: string): string {
  if (isAddress(location) || isReferences(location)) return storeState(location);
  const hash = createHash("sha256");
  const add = (path: string) => {
    const status = statusOf(path);
    hash.update(`${path}\n${status?.size} ${status?.mtimeMs} ${status?.ino}\n`);
  };
  const isStore = statusOf(location)?.isDirectory() === true;
  if (basename(location) !== DESCRIPTOR_NAME && !isStore) add(location);
  else {
    const folder = isStore ? location : dirname(location);
    for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) add(join(folder, name));
  }
  return hash.digest("hex");
}

/** The version of a store whose objects cannot be looked at by their paths. */
function storeState(location: string): string {
  const { tree } = new ZarrFile(location, { named: true });
  return `${tree.digest} ${tree.newestMs}`;
}

function examine(location: string, state: string, options: ScanOptions): Candidate["outcome"] {
  const description =
    basename(location) === DESCRIPTOR_NAME ? describeFolder(location, state) : describeFile(location, state);
  return "problems" in description ? description : admit(description, options.chunkBytes);
}

/** Verifies a description, unless a guess in it that changes values has neither been answered nor accepted. */
export function admit(description: Description, chunkBytes: number): { dataset: Dataset } | { problems: string[] } {
  const questions = openQuestions(description.descriptor);
  if (questions.length === 0) return verify(description, chunkBytes);
  return { problems: questions.map((text) => `open question about ${text}`) };
}

/** Reads descriptor and manifest of a folder. */
export function describeFolder(location: string, state: string): Description | { problems: string[] } {
  const text = readFileSync(location, "utf8");
  const parsed = parseDescriptor(text);
  if ("problems" in parsed) return parsed;
  const folder = dirname(location);
  const base = { descriptor: parsed.descriptor, folder, location, warnings: [] };
  const found = readManifest(folder);
  if (found === null) return { ...base, digest: state };
  if ("problems" in found) return found;
  return { ...base, digest: createHash("sha256").update(found.text).update(text).digest("hex") };
}

/** The name that a file, folder or address gives to its dataset. */
export function nameOf(location: string): string {
  const path = isAddress(location) ? new URL(location).pathname.replace(/\/+$/, "") : location;
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

/** Of datasets that claim one name or alias none is served. Names are compared without regard to letter case. */
function withoutClashes(found: readonly Dataset[]): { datasets: Dataset[]; clashes: Refusal[] } {
  const claims = new Map<string, Dataset[]>();
  for (const dataset of found) {
    for (const name of new Set([dataset.name, ...dataset.aliases].map((claim) => claim.toLowerCase())))
      claims.set(name, [...(claims.get(name) ?? []), dataset]);
  }
  const refused = new Set<Dataset>();
  const clashes: Refusal[] = [];
  for (const [name, claimants] of claims) {
    if (claimants.length < 2) continue;
    for (const dataset of claimants) {
      refused.add(dataset);
      const others = claimants.filter((other) => other !== dataset).map((other) => other.location);
      clashes.push({
        location: dataset.location,
        message: `the name "${name}" is also claimed by ${others.join(", ")}; neither is served`,
      });
    }
  }
  const datasets = found.filter((dataset) => !refused.has(dataset));
  return { datasets: datasets.sort((a, b) => (a.name < b.name ? -1 : 1)), clashes };
}

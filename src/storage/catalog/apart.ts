/** Descriptors in a separate folder, and the files that descriptors claim. */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join, relative, resolve, sep } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { readOr } from "../../shared/errors.js";
import { shortList } from "../../shared/messages.js";
import { reasonOf } from "../../shared/system.js";
import { type Descriptor, parseDescriptor, placesIn } from "../dataset/descriptor.js";
import { beingWritten, isFresh, realPath, statusOf } from "../dataset/files.js";
import type { Refused } from "../dataset/scan.js";
import { hasHdf5Name, isReferences } from "../zarr/kinds.js";
import { MAX_TEXT_BYTES, remoteText } from "./remote-text.js";
import type { Description } from "./verify.js";

/** Files NAME.json in the order of their names. Throws the error of the system when the folder cannot be listed. */
export function descriptorsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".json") && !name.startsWith("."))
    .sort()
    .map((name) => join(folder, name));
}

/** The text of a descriptor, or the reason why there is none. Throws BusyError of a host. */
export function descriptorText(location: string): { text: string } | { problems: string[] } {
  if (isAddress(location))
    return readOr(
      () => ({ text: remoteText(location) }),
      ({ message }) => ({ problems: [message] }),
    );
  const status = statusOf(location);
  if (status !== undefined && !status.isFile() && !status.isDirectory())
    return { problems: ["it is not a regular file"] };
  if ((status?.size ?? 0) > MAX_TEXT_BYTES)
    return { problems: [`it has ${status?.size} bytes, more than any descriptor`] };
  try {
    return { text: readFileSync(location, "utf8") };
  } catch (error) {
    return { problems: [`not readable: ${reasonOf(error)}`] };
  }
}

/**
 * Describes a dataset by a separate descriptor, whose paths are absolute or relative to it.
 * @param roots folders that its files must be in
 */
export function describeApart(location: string, state: string, roots: readonly string[]): Description | Refused {
  const found = descriptorText(location);
  if ("problems" in found) return found;
  const parsed = parseDescriptor(found.text);
  if ("problems" in parsed) return parsed;
  return { descriptor: parsed.descriptor, folder: dirname(location), roots, location, digest: state, warnings: [] };
}

const STEP_PLACES = /\{step(?::0\d{1,2}d)?\}/;

/** A file of a descriptor as written, with `{step}`, and the texts that this stands for. */
type Claim = Readonly<Record<"file" | "step", string>>;

function filesOf(location: string): Claim[] {
  const found = describeApart(location, "", []);
  return "problems" in found ? [] : placesOf(found.descriptor);
}

/** The files of a confirmed series are numbered; a descriptor may list other texts. */
function placesOf(descriptor: Descriptor): Claim[] {
  const step = descriptor.confirmed === undefined ? "[^/]+" : "\\d+(?:\\.\\d+)?";
  const named = placesIn(descriptor).map(({ file }) => file);
  const sources = descriptor.confirmed?.sources ?? [];
  // Of a series, sources that are named after a file are of all its files.
  const stems = named.filter((file) => STEP_PLACES.test(file)).map((file) => basename(file, extname(file)));
  const ofAll = (source: string) =>
    stems.reduce(
      (text, stem) => text.replace(new RegExp(patternOf(stem, step).source.slice(1, -1), "g"), stem),
      source,
    );
  return [...new Set([...sources, ...sources.map(ofAll), ...named])].map((file) => ({ file, step }));
}

/** Matches a file at any step, and captures the first text that stands for it. */
function patternOf(file: string, step: string): RegExp {
  const [head = "", ...tail] = file.split(STEP_PLACES).map(escaped);
  return new RegExp(`^${head}${tail.map((text, at) => (at === 0 ? `(${step})` : step) + text).join("")}$`);
}

/** Tells whether an address is named by a local descriptor; such addresses are not datasets themselves. */
export function claimedAddresses(locations: readonly string[]): (address: string) => boolean {
  const files = locations.flatMap(filesOf).filter(({ file }) => isAddress(file));
  const patterns = files.map(({ file, step }) => patternOf(file, step));
  return (address) => patterns.some((pattern) => pattern.test(address));
}

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

/** The files that a path stands for: the file itself, or the files that match its pattern. */
function filesAt(location: string, { file, step }: Claim): string[] {
  if (isAddress(file)) return [];
  const path = resolve(dirname(location), file);
  const start = path.indexOf("{");
  if (start < 0) return [path];
  const folder = dirname(path.slice(0, start + 1));
  const [segment = "", ...below] = relative(folder, path).split(sep);
  const pattern = patternOf(segment, step);
  const within = (found: string) => below.map((part) => part.split(STEP_PLACES).join(found));
  try {
    return readdirSync(folder)
      .map((name) => [name, pattern.exec(name)?.[1]] as const)
      .flatMap(([name, found]) => (found === undefined ? [] : [join(folder, name, ...within(found))]))
      .sort();
  } catch {
    return [];
  }
}

export function claimedBy(locations: readonly string[]): Set<string> {
  return new Set(locations.flatMap(allFilesAt).map((path) => realPath(path) ?? path));
}

export function claims(location: string, file: string): boolean {
  if (isAddress(file)) return claimedAddresses([location])(file.replace(/\/+$/, ""));
  return claimedBy([location]).has(realPath(file) ?? file);
}

const allFilesAt = (location: string): string[] => filesOf(location).flatMap((file) => filesAt(location, file));

/** The warning that stored files in or below the folder of a descriptor are not served, as it does not name them. */
export function unclaimedWarning(location: string, descriptor: Descriptor): string | null {
  const folder = dirname(location);
  const claimed = new Set(placesOf(descriptor).flatMap((file) => filesAt(location, file)));
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? [] : [join(entry.parentPath, entry.name)]))
    .filter((path) => (hasHdf5Name(path) || isReferences(path)) && !claimed.has(path))
    .map((path) => relative(folder, path))
    .sort();
  if (files.length === 0) return null;
  return (
    `Not served: ${shortList(files, 3, ", ")}, for ${location} describes everything in its folder and below. ` +
    "A folder of descriptors (inspect FILE --yes --descriptors FOLDER) keeps several datasets in one folder."
  );
}

/** A digest that changes with the descriptor, a file that it names, and whether one of them may be incomplete. */
export function stateApart(location: string): string {
  const paths = [location, ...allFilesAt(location)];
  return stampDigest(paths, `${beingWritten(paths)} ${paths.some(isFresh)}`);
}

export function stampDigest(paths: readonly string[], more = ""): string {
  const hash = createHash("sha256").update(more);
  for (const path of paths) {
    const status = statusOf(path);
    hash.update(`${path}\n${status?.size} ${status?.mtimeMs} ${status?.ino}\n`);
  }
  return hash.digest("hex");
}

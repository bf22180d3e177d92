/**
 * Confirmed descriptions: `NAME.dataset.json` beside the file, or `NAME.json` in the folder of descriptors. Each claims
 * its own files and holds for files of one structure.
 */
import { accessSync, constants, existsSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { DataError, orElse } from "../../shared/errors.js";
import { shellText } from "../../shared/messages.js";
import { type Descriptor, type DescriptorInput, parseDescriptor } from "../dataset/descriptor.js";
import { isIn, realPath } from "../dataset/files.js";
import { DESCRIPTOR_NAME, FOLDER_DEPTH } from "../dataset/folder-names.js";
import { openLines } from "../recognise/draft.js";
import type { Recognised } from "../recognise/recognise.js";
import { structureOf } from "../recognise/structure.js";
import { withFiles } from "../united-file.js";
import { isReferences } from "../zarr/kinds.js";
import { claims, descriptorsIn } from "./apart.js";
import { differences, firstOf, varyingKeys } from "./differences.js";
import { fileSets } from "./places.js";
import { timesStatedBy, usedAmong } from "./series.js";
import type { Description } from "./verify.js";

const ENDING = ".dataset.json";

export function isConfirmation(name: string): boolean {
  return name.endsWith(ENDING) && name !== ENDING;
}

export const isChangedConfirmation = (location: string): boolean =>
  location.endsWith(".json") && !isReferences(location);

/** The flags of a command about a file: the folder of its confirmation if that cannot be beside it, and of its sources. */
export function placeFlags(location: string, sources: readonly string[], apart: string | null): string {
  const home = dirname(realPath(location) ?? location);
  const isBeside = apart === null || (!isAddress(home) && isWritable(home));
  return `${isBeside ? "" : descriptorsFlag(apart)}${dataFlag(home, sources)}`;
}

export const descriptorsFlag = (folder: string): string => ` --descriptors ${shellText(folder)}`;

/** The flag of a folder that holds a file and the sources of its virtual datasets; empty if `home` does. */
function dataFlag(home: string, sources: readonly string[]): string {
  let around = home;
  while (sources.some((one) => !isIn(around, realPath(one) ?? one))) around = dirname(around);
  return around === home ? "" : ` --data ${shellText(around)}`;
}

const needsLook = (location: string, why: string, flags: string): string =>
  `needs a look${why}: fieldprobe inspect ${shellText(location)}${flags}`;

/** The message that a file waits. `apart`: folder of its confirmation if that cannot be beside it. */
export const waitsFor = (location: string, { sources }: Recognised, apart: string | null = null): string =>
  needsLook(location, "", placeFlags(location, sources, apart));

/** The message about a file that differs from its confirmation. */
export function notAsConfirmed({ descriptor, folder, location }: Description, path: string, what: string): string {
  const isBeside = basename(location) === DESCRIPTOR_NAME || isConfirmation(basename(location));
  const sources = (descriptor.confirmed?.sources ?? []).map((one) => resolve(folder, one));
  const flags = `${isBeside ? "" : descriptorsFlag(dirname(location))}${dataFlag(dirname(realPath(path) ?? path), sources)}`;
  return needsLook(path, ` (not as it was confirmed: ${what})`, flags);
}

/** The message about the first file whose structure differs from the confirmed one; null if there is none. */
export function changedSince(description: Description): string | null {
  const { descriptor, folder } = description;
  const { confirmed } = descriptor;
  if (confirmed === undefined) return null;
  const sets = placedSets(descriptor, folder);
  for (const placed of sets) {
    const [path] = placed as [string];
    const found = withFiles(placed, (file) => structureOf(file, descriptor, confirmed.timeTable ?? null));
    const all = differences(confirmed.structure, confirmed.varies, found);
    if (all.length === 0) continue;
    const look = notAsConfirmed(description, path, firstOf(all));
    return usedAmong(all, placed) === undefined ? `${look} --same` : look;
  }
  const other = otherTimes(descriptor, sets);
  return other === null ? null : notAsConfirmed(description, other.path, other.text);
}

export const placedSets = (descriptor: Descriptor, folder: string): string[][] =>
  fileSets(descriptor).map((names) =>
    names.map((name) =>
      isAddress(name) || isAddress(folder) ? name : join(name.startsWith("/") ? "/" : folder, name),
    ),
  );

export const isNumbered = ({ fields }: Descriptor): boolean => /"path":"[^"]*\{step/.test(JSON.stringify(fields));

/** The first files whose times are not those that they stated before; further times may follow. */
function otherTimes(descriptor: Descriptor, sets: readonly (readonly string[])[]) {
  for (const [i, [path = "", ...others]] of sets.entries()) {
    const times = descriptor.confirmed?.times?.[i] ?? [];
    const now = times.length === 0 ? [] : timesStatedBy([path, ...others]);
    if (typeof now === "string") return { path, text: now };
    const k = times.findIndex((time, n) => now[n] !== time);
    if (k >= now.length) return { path, text: "it lacks a time that it stated" };
    if (k >= 0) return { path, text: `it states the time ${now[k]}, and stated ${times[k]}` };
  }
  return null;
}

/**
 * The path of a confirmation: next to the file, or in another folder where nothing can be written.
 * @param home folder of the files, or their address
 */
export function placeOfConfirmation(name: string, home: string, apart: string): string {
  const beside = isAddress(home) ? null : join(home, `${name}${ENDING}`);
  return beside !== null && isWritable(home) ? beside : join(apart, `${name}.json`);
}

const isWritable = (folder: string): boolean => orElse(() => accessSync(folder, constants.W_OK) === undefined, false);

/**
 * The text of a confirmation.
 * @param isApart its files then have absolute paths
 * @throws DataError while a line is open
 */
export function confirmationOf(found: Recognised, varies: readonly string[], home: string, isApart: boolean): string {
  const [open] = openLines(found.written.questions ?? []);
  if (open !== undefined) throw new DataError(`${found.written.name} has a line that is open: ${open.question}`);
  const { questions: _, ...members } = found.written;
  const left = new Set(varies);
  const structure = Object.fromEntries([...found.structure].filter(([key]) => !left.has(key)));
  const confirmed = {
    structure,
    varies: [...varies],
    ...(found.sources.length === 0
      ? {}
      : { sources: found.sources.map((path) => (isApart ? path : relative(realpathSync(home), path))) }),
    ...(found.timeTable === null ? {} : { timeTable: found.timeTable }),
    times: placedSets(found.descriptor, home)
      .map((paths) => timesStatedBy(paths))
      .map((stated) => (typeof stated === "string" ? null : stated)),
  };
  const moved = isApart && !isAddress(home) ? withPaths(members, realpathSync(home)) : members;
  return `${JSON.stringify({ ...moved, confirmed }, null, 2)}\n`;
}

function withPaths(written: DescriptorInput, from: string): DescriptorInput {
  return JSON.parse(JSON.stringify(written), (key, value) =>
    key === "file" && typeof value === "string" && !isAddress(value) ? join(from, value) : value,
  );
}

/**
 * What claims a file: a confirmation in the folder of descriptors, the descriptor of a folder above it, or a
 * confirmation next to it; null if nothing does.
 */
export function confirmationFor(location: string, apart: string | null): string | null {
  const above = descriptorAbove(location) ?? [];
  const beside = isAddress(location)
    ? []
    : descriptorsIn(dirname(realPath(location) ?? location)).filter((path) => isConfirmation(basename(path)));
  const others = apart === null || !existsSync(apart) ? [] : descriptorsIn(apart);
  return [others, above, beside].flat().find((path) => claims(path, location)) ?? null;
}

/** The descriptor that hides a file: that of its folder, or of one above; null if there is none. */
export function descriptorAbove(location: string): string | null {
  if (isAddress(location)) return null;
  let folder = dirname(realPath(location) ?? location);
  for (let depth = 0; depth <= FOLDER_DEPTH; depth++, folder = dirname(folder))
    if (existsSync(join(folder, DESCRIPTOR_NAME))) return join(folder, DESCRIPTOR_NAME);
  return null;
}

/**
 * A confirmation, updated to the present structure of its files. @param path one of them, or a new file of its series
 * @throws DataError if it is not readable
 */
export function renewed(location: string, path: string | null = null): string {
  const written: DescriptorInput = JSON.parse(readFileSync(location, "utf8"));
  const parsed = parseDescriptor(JSON.stringify(written));
  if ("problems" in parsed) throw new DataError(`${location}: ${parsed.problems.join("; ")}`);
  const { descriptor } = parsed;
  const { structure = {}, varies = [], timeTable = null } = descriptor.confirmed ?? {};
  const sets = placedSets(descriptor, resolve(dirname(location)));
  if (path !== null && sets[0]?.length === 1 && !sets.flat().includes(path)) sets.push([path]);
  const other = otherTimes(descriptor, sets);
  if (other !== null) throw new DataError(`${other.path}: ${other.text}; inspect it again without --same`);
  const all = sets.map((paths) => withFiles(paths, (file) => structureOf(file, descriptor, timeTable)));
  for (const [i, paths] of sets.entries()) {
    const used = usedAmong(differences(structure, varies, all[i] ?? new Map()), paths);
    if (used !== undefined)
      throw new DataError(`${paths[0]}: ${used.text}, which its description uses: inspect it again without --same`);
  }
  const differing = varyingKeys(all);
  const same = Object.fromEntries([...(all[0] ?? [])].filter(([key]) => !differing.includes(key)));
  const confirmed = { ...descriptor.confirmed, structure: same, varies: differing };
  return `${JSON.stringify({ ...written, confirmed }, null, 2)}\n`;
}

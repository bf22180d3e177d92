/** Stamps of files, and step numbers in names such as `p_{step:05d}.h5`. */
import { existsSync, lstatSync, readFileSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { isAddress } from "../../shared/addresses.js";
import { orElse } from "../../shared/errors.js";
import type { FieldPart, FileStamp } from "./dataset.js";

/** The current stamp of a file; an address has only its name. Throws the error of `stat`. */
export function fileStamp(path: string): FileStamp {
  if (isAddress(path)) return { path, bytes: 0, modifiedMs: 0, inode: 0 };
  const { size, mtimeMs, ino, ctimeMs } = statSync(path);
  return { path, bytes: size, modifiedMs: mtimeMs, inode: ino, changedMs: ctimeMs };
}

/** The status of a path; undefined if it does not exist or is not accessible, and for broken or circular links. */
export const statusOf = (path: string): Stats | undefined => orElse(() => statSync(path), undefined);

/** The inodes of files that a program holds a lock to write, as HDF5 does from 1.10 on; only Linux tells. */
export function heldToWrite(): ReadonlySet<number> {
  const locks = existsSync("/proc/locks") ? readFileSync("/proc/locks", "utf8") : "";
  return new Set(Array.from(locks.matchAll(/FLOCK +\S+ +WRITE .*:(\d+) /g), ([, inode]) => Number(inode)));
}

export function beingWritten(paths: readonly string[], held = heldToWrite()): string | undefined {
  return held.size > 0 ? paths.find((path) => !isAddress(path) && held.has(statusOf(path)?.ino ?? -1)) : undefined;
}

/** Time after which a file that was written to counts as complete, if no lock tells. */
const STILL_MS = 30_000;

export const isFresh = (path: string): boolean => Math.abs(Date.now() - (statusOf(path)?.mtimeMs ?? 0)) < STILL_MS;

/** Whether a file still has its stamp; objects of a store are compared when they are read. */
export function isUnchanged(record: FileStamp): boolean {
  if (isAddress(record.path)) return true;
  const now = statusOf(record.path);
  if (now === undefined || now.size !== record.bytes) return false;
  const isSame = now.mtimeMs === record.modifiedMs && now.ino === record.inode;
  return isSame && (record.changedMs === undefined || now.ctimeMs === record.changedMs);
}

/** The path without symbolic links; undefined if nothing is there. */
export const realPath = (path: string): string | undefined => orElse(() => realpathSync(path), undefined);

/** Whether a path is a folder or below it; both without symbolic links. */
export function isIn(folder: string, path: string): boolean {
  const inside = relative(folder, path);
  return !(inside === ".." || inside.startsWith(`..${sep}`) || isAbsolute(inside));
}

/** The data folders of this thread, real paths: the sources of a virtual dataset lie in or below that of its file. */
let dataFolders: readonly string[] = [];

export function setDataFolders(folders: readonly string[]): void {
  dataFolders = folders.flatMap((folder) => (isAddress(folder) ? [] : (realPath(folder) ?? [])));
}

/** The innermost data folder that holds a folder without symbolic links, else this folder. */
export const dataFolderAround = (folder: string): string =>
  dataFolders.filter((one) => isIn(one, folder)).sort((a, b) => b.length - a.length)[0] ?? folder;

/** Paths without symbolic links, of many files in few folders: the links of a folder are followed once. */
export class RealPaths {
  readonly #folders = new Map<string, string>();

  of(path: string): string {
    return this.look(path).path;
  }

  /** @throws the error of the system if nothing is there */
  look(path: string): { readonly path: string; readonly isFile: boolean } {
    const folder = dirname(path);
    const real = this.#folders.get(folder) ?? realpathSync(folder);
    this.#folders.set(folder, real);
    const inside = join(real, basename(path));
    const status = lstatSync(inside);
    if (!status.isSymbolicLink()) return { path: inside, isFile: status.isFile() };
    const target = realpathSync(inside);
    return { path: target, isFile: statSync(target).isFile() };
  }
}

/** `{step:0Nd}`, the number of a step, or `{step}`, a listed text, in a path. */
export const STEP_PLACE = /\{step(?::0(\d{1,2})d)?\}/;

const STEP_PLACES = new RegExp(STEP_PLACE, "g");

/** The numbering of the frames of a field; frame k has the step k unless it says otherwise. */
interface FrameSteps {
  readonly firstStep?: number | undefined;
  readonly stepIncrement?: number | undefined;
  readonly numbers?: readonly number[] | undefined;
  readonly steps?: readonly string[] | null | undefined;
}

/** The number of a frame in `{step:0Nd}`. */
export const numberOf = ({ firstStep = 0, stepIncrement = 1, numbers }: FrameSteps, frame: number): number =>
  numbers?.[frame] ?? firstStep + frame * stepIncrement;

/** `p_{step:05d}.h5`, step 20 -> `p_00020.h5`; `{step}` is a text of the list. */
export function placeOf(place: string, numbering: FrameSteps, frame: number): string {
  return place.replace(STEP_PLACES, (_, digits: string | undefined) =>
    digits === undefined
      ? (numbering.steps?.[frame] ?? "")
      : String(numberOf(numbering, frame)).padStart(Number(digits), "0"),
  );
}

/** Index of a frame along `t` in its dataset; 0 if each frame has a separate dataset. */
export function frameIn(part: FieldPart, frame: number): number {
  if (part.frames !== undefined) return part.frames[frame] as number;
  return STEP_PLACE.test(part.file) || STEP_PLACE.test(part.path) ? 0 : frame;
}

/** Files of jobs: their names, and atomic writes. */
import { randomBytes } from "node:crypto";
import { type FileHandle, open, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { TaskOutput } from "./job.js";

export type OutputBytes = Pick<TaskOutput, "bytes" | "crc">;

export interface JobFolders {
  /** In the state folder: the queue, inputs and outputs of tasks. */
  readonly state: string;
  readonly results: string;
}

/** An id that cannot be guessed, and that is also part of file names. */
export function newId(): string {
  return randomBytes(12).toString("hex");
}

/** Whether a text of a caller has the form of an id. */
export function isId(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text);
}

export function tasksFolder({ state }: JobFolders, id: string): string {
  return join(state, "tasks", id);
}

/** The file with the output of a task: outputs that differ have different names. */
export function taskFile(folders: JobFolders, id: string, number: number, { bytes, crc }: OutputBytes): string {
  return join(tasksFolder(folders, id), `${number}.${bytes}.${crc.toString(16)}.out`);
}

/** The file with the body of a call that is a single task. */
export function bodyFile({ state }: JobFolders, id: string): string {
  return join(state, "inputs", `${id}.body`);
}

/** The files next to a result: its manifest, and its checksum in the form of `sha256sum`. */
export function besides(result: string): readonly string[] {
  return [`${result}.json`, `${result}.sha256`];
}

/** Runs work that makes files, and removes the files if it fails. */
export async function keptOnlyIf<T>(paths: readonly string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    for (const path of paths) await rm(path, { force: true });
    throw error;
  }
}

/** Removes entries of a folder that were last changed before a time. `isLeft`: whether a name belongs to nothing. */
export async function removeOld(folder: string, before: number, isLeft: (name: string) => boolean): Promise<void> {
  for (const name of (await readdir(folder).catch(() => [])).filter(isLeft)) {
    const path = join(folder, name);
    const changed = (await stat(path).catch(() => null))?.mtimeMs ?? before;
    if (changed < before) await rm(path, { recursive: true, force: true });
  }
}

/** A temporary name next to a file, which no other attempt to write it uses. */
export function temporaryName(path: string): string {
  return `${path}.${randomBytes(6).toString("hex")}.partial`;
}

/**
 * Writes a file under a temporary name, makes it durable and renames it; writing the same content twice changes
 * nothing. @param target the file, or a function of the value that `write` returns @param checkDue throws if the file
 * is no longer wanted; called just before it is renamed @throws what `write` and `checkDue` throw, after which the file
 * is unchanged
 */
export async function writeWhole<T>(
  target: string | { readonly temporary: string; readonly nameOf: (value: T) => string },
  write: (file: FileHandle) => Promise<T>,
  checkDue: () => Promise<void> = async () => undefined,
): Promise<T> {
  const temporary = typeof target === "string" ? temporaryName(target) : target.temporary;
  return keptOnlyIf([temporary], async () => {
    const file = await open(temporary, "w");
    let value: T;
    try {
      value = await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
    await checkDue();
    await rename(temporary, typeof target === "string" ? target : target.nameOf(value));
    return value;
  });
}

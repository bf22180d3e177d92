/** Writes files that are either whole or not there, and names those of jobs. */
import { randomBytes } from "node:crypto";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** The folders of jobs. */
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

/** The folder with the outputs of the tasks of a job. */
export function tasksFolder({ state }: JobFolders, id: string): string {
  return join(state, "tasks", id);
}

/** The file with the output of a task. */
export function taskFile(folders: JobFolders, id: string, number: number): string {
  return join(tasksFolder(folders, id), `${number}.out`);
}

/** The file with the body of a call that is a single task. */
export function bodyFile({ state }: JobFolders, id: string): string {
  return join(state, "inputs", `${id}.body`);
}

/** Does work that makes files, and removes them if it fails. */
export async function keptOnlyIf<T>(paths: readonly string[], work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    for (const path of paths) await rm(path, { force: true });
    throw error;
  }
}

/**
 * Writes a file under another name, makes it durable and renames it; doing so twice with the same content changes
 * nothing.
 *
 * @throws what `write` throws, after which the file is as it was
 */
export async function writeWhole<T>(path: string, write: (file: FileHandle) => Promise<T>): Promise<T> {
  const temporary = `${path}.partial`;
  return keptOnlyIf([temporary], async () => {
    const file = await open(temporary, "w");
    let value: T;
    try {
      value = await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
    return value;
  });
}

/** Puts refusals of the operating system into words: no codes, no names of system calls. */

/**
 * Words for the codes that files, folders and sockets meet; for a code that is not here the system's own text serves.
 */
const REASONS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "no such file or folder"],
  ["EMFILE", "too many files are open"],
  ["ENFILE", "too many files are open"],
  ["EACCES", "permission denied"],
  ["EPERM", "permission denied"],
  ["EISDIR", "it is a folder"],
  ["ENOTDIR", "there is a file where a folder is needed"],
  ["EEXIST", "there is a file where a folder is needed"],
  ["ENOSPC", "no space is left on the device"],
  ["SQLITE_FULL", "no space is left on the device"],
  ["EDQUOT", "the quota of the disk is used up"],
  ["EFBIG", "the system allows no file of that size"],
  ["EROFS", "the file system is read-only"],
  ["EADDRINUSE", "the port is in use; --port or FIELDPROBE_PORT takes another"],
  ["EADDRNOTAVAIL", "this machine has no such address"],
  ["ENOTFOUND", "there is no host of that name"],
]);

/** Codes of writes for which there is no room. */
const FULL: readonly unknown[] = ["ENOSPC", "EDQUOT", "SQLITE_FULL"];

const OUT_OF_FILES: readonly unknown[] = ["EMFILE", "ENFILE"];

interface SystemError extends Error {
  readonly code?: string;
  readonly path?: string;
  readonly address?: string;
  readonly hostname?: string;
  readonly port?: number;
}

/** The reason of the operating system, e.g. `permission denied`; the text of any other error, in one line. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as SystemError;
  return REASONS.get(code ?? "") ?? (message ?? String(error)).replace(/\s*\n\s*/g, " ").trim();
}

/** Whether an error, or what caused it, is that the system had no room for what was to be written. */
export function isFullDisk(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return FULL.includes((error as SystemError).code) || isFullDisk(error.cause);
}

/** Whether an error, or what caused it, is that too many files are open, which passes. */
export function isOutOfFiles(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return OUT_OF_FILES.includes((error as SystemError).code) || isOutOfFiles(error.cause);
}

/** An error in one line that names the file or address when it is one of the operating system's; else its text. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code, path, address, hostname, port } = error as SystemError;
  if (!REASONS.has(code ?? "")) return error.message;
  const host = address ?? hostname;
  const where = path ?? (host === undefined || port === undefined ? host : `${host}:${port}`);
  return where === undefined ? error.message : `${where}: ${reasonOf(error)}`;
}

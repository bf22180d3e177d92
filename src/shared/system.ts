/** The operating system: its errors in words, signals of a serving process, new folders, and file locks. */
import {
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import type { Logger } from "pino";

/** Words for the codes that files, folders and sockets meet; other codes have the system's own text. */
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

/** Whether an error, or its cause, is a full disk or quota. */
export function isFullDisk(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return FULL.includes((error as SystemError).code) || isFullDisk(error.cause);
}

/** Whether an error, or its cause, is too many open files, which passes. */
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

/** The parts of a process that signals act on. */
export interface Served {
  /** Counts of running work, for the log. */
  underWay(): Readonly<Record<string, number>>;
  /**
   * Accepts nothing new and lets running work end; false if something was cut off, null if the process ends by itself.
   */
  drain(): Promise<boolean | null>;
  /** Reads data folders, token file and TLS files again. */
  reload(): Promise<void>;
}

export interface Ending {
  readonly begun: boolean;
  /** Drains and ends the process with this code, or with 1 if something was cut off. */
  begin(code: number): void;
}

/** Services of the process that are needed. */
export type Signalled = Pick<NodeJS.Process, "on" | "removeAllListeners" | "kill" | "exit" | "pid">;

/**
 * `npm` and others pass on a Ctrl-C that the process has already received from the terminal: within this time they
 * count as one.
 */
const SAME_KEY_MS = 500;

/**
 * SIGTERM and SIGINT drain and end the process, a later SIGINT ends it at once, SIGHUP reads files again.
 *
 * At once means by the signal's own effect: `exit` would cut off threads in native code, which then panic.
 */
export function obeySignals(log: Logger, served: Served, subject: Signalled = process): Ending {
  let since: number | null = null;
  const begin = (code: number): void => {
    if (since !== null) return;
    since = performance.now();
    log.info(served.underWay(), "shutting down; a SIGINT from now on does not wait for what is under way");
    served.drain().then(
      (complete) => {
        if (complete !== null) subject.exit(complete ? code : 1);
      },
      (error: unknown) => {
        log.fatal({ err: error }, "the process could not be shut down");
        subject.exit(1);
      },
    );
  };
  subject.on("SIGTERM", () => begin(0));
  subject.on("SIGINT", () => {
    if (since !== null && performance.now() - since > SAME_KEY_MS) {
      subject.removeAllListeners("SIGINT");
      subject.kill(subject.pid, "SIGINT");
    }
    begin(0);
  });
  subject.on("SIGHUP", () => {
    served.reload().catch((error: unknown) => log.error({ err: error }, "files could not be read again"));
  });
  return {
    get begun() {
      return since !== null;
    },
    begin,
  };
}

/**
 * Makes a folder and those above it; `mkdirSync` with `recursive` never ends if a file system refuses folders as
 * /proc does.
 *
 * @param mode permissions of folders that are made
 * @throws the error of the operating system
 */
export function makeFolder(path: string, mode = 0o777): void {
  if (isFolder(path)) return;
  if (dirname(path) !== path) makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(path)) throw error;
  }
}

/** Whether a folder is there; what cannot be looked at is none, and making it fails with the reason. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Age from which a lock counts as abandoned, whoever holds it: changes take milliseconds, or keep it fresh. */
const LEFT_OVER_MS = 60_000;
/** The same age for a lock without a process, which was killed between making the lock and writing it. */
const EMPTY_MS = 5_000;
/** Time for which a command waits. */
const WAIT_MS = 10_000;
const FRESH_MS = 10_000;
const LOOK_MS = 20;

/** A lock that another process holds. */
interface HeldLock {
  readonly pid: number;
  readonly host: string;
  readonly inode: number;
  readonly ageMs: number;
}

/** Options of `withLock`. */
export interface LockOptions {
  /** Called once, before it waits, with the process that holds the lock. */
  readonly waiting?: (pid: number) => void;
  /** Milliseconds that it waits at most. */
  readonly waitMs?: number;
}

/**
 * Runs `change` while no other process runs one under the lock of the same file: `PATH.lock` next to it, which names
 * its process. A lock whose process has ended, or which is a minute old, is taken over. In a folder where no file can
 * be made, `change` runs without a lock.
 *
 * @throws Error in one line when the lock is not free in time; what `change` throws
 */
export function withLock<T>(path: string, change: () => T, { waiting, waitMs = WAIT_MS }: LockOptions = {}): T {
  const lock = lockOf(path);
  const until = performance.now() + waitMs;
  let isReported = false;
  for (;;) {
    const release = takeLock(lock);
    if (typeof release === "function") {
      try {
        return change();
      } finally {
        release();
      }
    }
    const { pid, host } = release;
    if (performance.now() >= until)
      throw new Error(`process ${pid} on ${host} is changing ${path}; if there is none, delete ${lock}`);
    if (!isReported) waiting?.(pid);
    isReported = true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
  }
}

/**
 * Takes the same lock for a change that takes long; its folder is made.
 *
 * @returns the function that releases it; or the process that holds it
 */
export function holdLock(path: string): (() => void) | Pick<HeldLock, "pid" | "host"> {
  const lock = lockOf(path);
  try {
    mkdirSync(dirname(lock), { recursive: true });
  } catch {
    return () => undefined;
  }
  const release = takeLock(lock);
  if (typeof release !== "function") return release;
  const keepFresh = () => {
    const now = new Date();
    if (existsSync(lock)) utimesSync(lock, now, now);
  };
  const timer = setInterval(keepFresh, FRESH_MS).unref();
  return () => {
    clearInterval(timer);
    release();
  };
}

const lockOf = (path: string): string => `${existsSync(path) ? realpathSync(path) : path}.lock`;

function takeLock(lock: string): (() => void) | HeldLock {
  for (;;) {
    const own = tryLock(lock);
    if (own === "impossible") return () => undefined;
    if (own !== "taken")
      return () => {
        if (statSync(lock, { throwIfNoEntry: false })?.ino === own) rmSync(lock, { force: true });
      };
    const held = readLock(lock);
    if (held === null) continue;
    if (!isLeftOver(held)) return held;
    removeLock(lock, held);
  }
}

/** Makes a lock and returns its inode; impossible if no file can be made there. */
function tryLock(lock: string): number | "taken" | "impossible" {
  let file: number;
  try {
    file = openSync(lock, "wx", 0o644);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EEXIST" ? "taken" : "impossible";
  }
  try {
    writeSync(file, `${process.pid} ${hostname()}\n`);
    return fstatSync(file).ino;
  } catch {
    rmSync(lock, { force: true });
    return "impossible";
  } finally {
    closeSync(file);
  }
}

/** The lock at a path, or null if it is gone. */
function readLock(lock: string): HeldLock | null {
  try {
    const { ino: inode, mtimeMs } = statSync(lock);
    const [pid = "", host = ""] = readFileSync(lock, "utf8").trim().split(" ");
    return { pid: Number(pid), host, inode, ageMs: Date.now() - mtimeMs };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** A lock is empty between its making and its writing; one of another machine is checked by its age. */
function isLeftOver({ pid, host, ageMs }: HeldLock): boolean {
  if (ageMs > (pid === 0 ? EMPTY_MS : LEFT_OVER_MS)) return true;
  if (pid === 0 || host !== hostname()) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}

/** Removes a lock, and puts it back if another process has replaced it by its own meanwhile. */
function removeLock(lock: string, { inode }: HeldLock): void {
  const aside = `${lock}.${process.pid}`;
  try {
    renameSync(lock, aside);
    if (statSync(aside).ino !== inode) linkSync(aside, lock);
  } catch (error) {
    if (!["ENOENT", "EEXIST"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

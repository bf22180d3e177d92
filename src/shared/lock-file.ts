/** `withLock` lets one process at a time change a file. */
import {
  closeSync,
  existsSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";

/** Age from which a lock counts as left over, whoever holds it: changes take milliseconds. */
const LEFT_OVER_MS = 60_000;
/** The same for a lock without a process: one that was killed between making the lock and writing it. */
const EMPTY_MS = 5_000;
/** Time after which a command that waits gives up. */
const WAIT_MS = 10_000;
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
  /** Told once, before it waits, the process that holds the lock. */
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
  const lock = `${existsSync(path) ? realpathSync(path) : path}.lock`;
  const until = performance.now() + waitMs;
  let told = false;
  for (;;) {
    const own = tryLock(lock);
    if (own === "impossible") return change();
    if (own !== "taken") {
      try {
        return change();
      } finally {
        if (statSync(lock, { throwIfNoEntry: false })?.ino === own) rmSync(lock, { force: true });
      }
    }
    const held = readLock(lock);
    if (held === null) continue;
    if (isLeftOver(held)) {
      removeLock(lock, held);
      continue;
    }
    if (performance.now() >= until)
      throw new Error(`process ${held.pid} on ${held.host} is changing ${path}; if there is none, delete ${lock}`);
    if (!told) waiting?.(held.pid);
    told = true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
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

/** A lock is empty for the moment between its making and its writing; that of another machine is checked by its age. */
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

/** Watches folders and reports changes, where the system supports it; elsewhere scans at intervals find them. */
import { type FSWatcher, watch } from "node:fs";

/** Time without further changes after which a change is reported: files arrive in many writes. */
const QUIET_MS = 1_000;
/** Most watched folders: the system has a bound for all programs together. */
const MAX_FOLDERS = 1_024;

export class FolderWatch {
  readonly #changed: () => void;
  readonly #quietMs: number;
  readonly #watchers = new Map<string, FSWatcher>();
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(changed: () => void, quietMs = QUIET_MS) {
    this.#changed = changed;
    this.#quietMs = quietMs;
  }

  /** Watches these folders and no others; none once it is closed. */
  set(folders: readonly string[]): void {
    if (this.#closed) return;
    const wanted = new Set(folders.slice(0, MAX_FOLDERS));
    for (const folder of this.#watchers.keys()) if (!wanted.has(folder)) this.#drop(folder);
    for (const folder of wanted) if (!this.#watchers.has(folder)) this.#add(folder);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const folder of this.#watchers.keys()) this.#drop(folder);
  }

  #add(folder: string): void {
    try {
      const watcher = watch(folder, { persistent: false }, () => this.#notice());
      watcher.on("error", () => this.#drop(folder));
      this.#watchers.set(folder, watcher);
    } catch {
      // The folder is gone, or the system has stopped watching: scans at intervals continue.
    }
  }

  #drop(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }

  #notice(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(this.#changed, this.#quietMs).unref();
  }
}

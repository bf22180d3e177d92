/** Keeps the last version of each store or file open, and looks for the present one. */
import { changedSinceScan } from "../../shared/errors.js";
import type { VersionName } from "./object-store.js";
import type { RemoteObjects } from "./objects/remote-objects.js";

export interface OpenVersion {
  readonly state: VersionName;
  /** `changedMs`: time of another version found by reads; 0 if there is none. */
  readonly objects: { readonly changedMs: number; readonly hosts: readonly RemoteObjects[] };
}

/** Opens the present version; one that is the known or the last one keeps its time. */
export type FindVersion<T> = (location: string, known: T | null, last: VersionName | null) => Promise<T>;

export type ReportVersion = (location: string, version: VersionName) => void;

/** Time without use after which a version is closed. */
const UNUSED_MS = 30_000;

export class Versioned<T extends OpenVersion> {
  readonly #find: FindVersion<T>;
  readonly #clock: () => number;
  readonly #open = new Map<string, T>();
  readonly #earlier: Map<string, VersionName>;
  readonly #reportVersion: ReportVersion;
  /** Times of the last use, and the scans that looked last. */
  readonly #used = new Map<string, number>();
  readonly #scans = new Map<string, string>();
  readonly #looks = new Map<string, Promise<T>>();

  /** @param reportVersion receives each version that is not the last one */
  constructor(
    find: FindVersion<T>,
    clock: () => number,
    earlier: ReadonlyMap<string, VersionName>,
    reportVersion: ReportVersion,
  ) {
    this.#find = find;
    this.#earlier = new Map(earlier);
    this.#reportVersion = reportVersion;
    this.#clock = clock;
  }

  known(location: string): T | null {
    return this.#open.get(location) ?? null;
  }

  /** The present version; a scan sees one version only. */
  async now(location: string, scan?: string): Promise<T> {
    this.#used.set(location, this.#clock());
    const known = this.known(location);
    const isSeen = scan !== undefined && this.#scans.get(location) === scan;
    if (isSeen && known?.objects.changedMs === 0) return known;
    const version = await this.#look(location);
    if (scan !== undefined) this.#scans.set(location, scan);
    return version;
  }

  /** The version that the caller has verified. Throws DataError when it has changed. */
  async verified(location: string, newestMs: number): Promise<T> {
    this.#used.set(location, this.#clock());
    const known = this.known(location);
    if (known?.state.newestMs === newestMs) return known;
    const now = await this.now(location);
    if (now.state.newestMs !== newestMs) throw changedSinceScan(location);
    return now;
  }

  async #look(location: string): Promise<T> {
    const known = this.known(location);
    const last = known?.state ?? this.#earlier.get(location) ?? null;
    const looking = this.#looks.get(location) ?? this.#find(location, known, last);
    this.#looks.set(location, looking);
    try {
      const version = await looking;
      this.#open.set(location, version);
      const { digest, newestMs } = version.state;
      if (last?.digest !== digest || last.newestMs !== newestMs) this.#reportVersion(location, { digest, newestMs });
      this.#used.set(location, this.#clock());
      return version;
    } finally {
      this.#looks.delete(location);
    }
  }

  changes(beginnings: readonly string[]): string[] {
    const isMeant = (location: string) => beginnings.some((beginning) => location.startsWith(beginning));
    return [...this.#open]
      .filter(([location, { objects }]) => objects.changedMs > 0 && isMeant(location))
      .map(([location, { state }]) => `${location} ${state.digest} ${state.newestMs}`);
  }

  keep(locations: ReadonlySet<string>): void {
    const before = this.#clock() - UNUSED_MS;
    for (const [location, usedAt] of this.#used) {
      if (locations.has(location) || usedAt > before || this.#looks.has(location)) continue;
      for (const members of [this.#used, this.#open, this.#earlier, this.#scans]) members.delete(location);
    }
  }

  hosts(): (readonly [location: string, hosts: readonly RemoteObjects[]])[] {
    return [...this.#open].map(([location, { objects }]) => [location, objects.hosts]);
  }
}

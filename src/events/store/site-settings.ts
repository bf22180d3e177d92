/** Settings of the site come from the operator, from imported files and from the store, which keeps them. */

import type { StoreConnection } from "../../sqlite.js";
import type { FileHead } from "../model/calendar.js";

/**
 * Records of the store as a whole: settings from the heads of files, and the zone and day that its instances were made
 * for.
 */
export type StoredSetting = "zone" | "site" | "primarySource" | "instanceZone" | "horizonFirst";

/** Reads every stored setting. */
export function readStored(db: StoreConnection): ReadonlyMap<string, string> {
  return new Map(db.all("SELECT name, value FROM meta").map(([name, value]) => [String(name), String(value)]));
}

/** Stores a setting instead of its old value. */
export function writeStored(db: StoreConnection, name: StoredSetting, value: string): void {
  const sql = "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value";
  db.run(sql, [name, value]);
}

/** The operator's settings; null members are left to the files. */
export interface Configured {
  /** Epoch seconds. */
  readonly now: number;
  readonly zone: string | null;
  readonly site: string | null;
  readonly source: string | null;
  /** Public site unless one is named. */
  readonly fallbackSite: string;
}

/** The settings in force while a file is imported. */
export interface ImportSettings {
  readonly now: number;
  readonly zone: string;
  readonly site: string;
  readonly source: string;
}

/** The operator's settings, else the file's, else those of earlier files, else UTC, the fallback site, `main`. */
export function importSettings(db: StoreConnection, head: FileHead, configured: Configured): ImportSettings {
  const stored = readStored(db);
  const site = configured.site ?? head.site ?? stored.get("site") ?? configured.fallbackSite;
  return {
    now: configured.now,
    zone: configured.zone ?? head.zone ?? stored.get("zone") ?? "UTC",
    site: site.replace(/\/+$/, ""),
    source: configured.source ?? head.primarySource ?? stored.get("primarySource") ?? "main",
  };
}

/** The settings in force while a file is imported. */
import type { Head } from "../model/calendar.js";
import type { Connection } from "./database.js";
import { readMeta } from "./meta.js";

/** What the operator has set; null members are left to the files. */
export interface Configured {
  readonly now: number;
  readonly zone: string | null;
  readonly site: string | null;
  readonly source: string | null;
  /** Public site when nobody names one. */
  readonly fallbackSite: string;
}

export interface ImportSettings {
  readonly now: number;
  readonly zone: string;
  readonly site: string;
  readonly source: string;
}

/** What is configured, else the file's head, else what earlier files said, else UTC, the fallback site and `main`. */
export function importSettings(db: Connection, head: Head, configured: Configured): ImportSettings {
  const meta = readMeta(db);
  const site = configured.site ?? head.site ?? meta.get("site") ?? configured.fallbackSite;
  return {
    now: configured.now,
    zone: configured.zone ?? head.zone ?? meta.get("zone") ?? "UTC",
    site: site.replace(/\/+$/, ""),
    source: configured.source ?? head.primarySource ?? meta.get("primarySource") ?? "main",
  };
}

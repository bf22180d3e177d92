/** Settings of the site: those of the operator, else of the file, else of files imported before. */
import type { FileHead } from "../model/calendar.js";

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
export function importSettings(stored: FileHead, head: FileHead, configured: Configured): ImportSettings {
  const site = configured.site ?? head.site ?? stored.site ?? configured.fallbackSite;
  return {
    now: configured.now,
    zone: configured.zone ?? head.zone ?? stored.zone ?? "UTC",
    site: site.replace(/\/+$/, ""),
    source: configured.source ?? head.primarySource ?? stored.primarySource ?? "main",
  };
}

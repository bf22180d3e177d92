/** Settings of the site: the operator's, else the file's, else those of earlier files, else a default. */
import type { FileHead } from "../model/calendar.js";

export interface Configured {
  readonly now: number;
  readonly zone: string | null;
  readonly site: string | null;
  readonly source: string | null;
  readonly fallbackSite: string;
}

export interface ImportSettings {
  readonly now: number;
  readonly zone: string;
  readonly site: string;
  readonly source: string;
}

export function importSettings(stored: FileHead, head: FileHead, configured: Configured): ImportSettings {
  const site = configured.site ?? head.site ?? stored.site ?? configured.fallbackSite;
  return {
    now: configured.now,
    zone: configured.zone ?? head.zone ?? stored.zone ?? "UTC",
    site: site.replace(/\/+$/, ""),
    source: configured.source ?? head.primarySource ?? stored.primarySource ?? "main",
  };
}

/** Imports one file: whole, or not at all. */
import { readFileSync } from "node:fs";
import { reasonOf } from "../../shared/system.js";
import { type FileHead, ImportError } from "../model/calendar.js";
import { addCalendar, type ImportSettings } from "../store/add-calendar.js";
import type { StoredCalendar } from "../store/stored-calendar.js";
import { readIcs } from "./ics.js";
import { readJson } from "./json.js";

/** Settings of the operator. */
export interface Configured {
  readonly now: number;
  readonly zone: string | null;
  readonly site: string | null;
  readonly source: string | null;
  readonly fallbackSite: string;
}

/** The operator's settings, else the file's, else the settings of earlier files, else defaults. */
function importSettings(stored: FileHead, head: FileHead, configured: Configured): ImportSettings {
  const site = configured.site ?? head.site ?? stored.site ?? configured.fallbackSite;
  return {
    now: configured.now,
    zone: configured.zone ?? head.zone ?? stored.zone ?? "UTC",
    site: site.replace(/\/+$/, ""),
    source: configured.source ?? head.primarySource ?? stored.primarySource ?? "main",
  };
}

/**
 * @param replace drops what was there, except ids of UIDs @returns the new calendar, and the number of events in the
 * file @throws ImportError with every problem of the file
 */
export function importFile(
  stored: StoredCalendar,
  file: string,
  configured: Configured,
  replace = false,
): { readonly calendar: StoredCalendar; readonly count: number } {
  const text = readText(file);
  const kind = /\.(json|ics)$/i.exec(file)?.[1]?.toLowerCase();
  if (kind === undefined) throw new ImportError(file, [{ place: "name", reason: "must end in .json or .ics" }]);
  const before = replace ? { settings: {}, terms: new Map(), events: new Map(), uids: stored.uids } : stored;
  const settings = (head: FileHead) => importSettings(before.settings, head, configured);
  const { calendar, problems } =
    kind === "ics" ? readIcs(text, settings({}).zone) : readJson(text, (zone) => settings({ zone }).zone);
  const added = calendar ? addCalendar(before, calendar, settings(calendar.head), problems) : before;
  if (problems.length > 0) throw new ImportError(file, problems);
  return { calendar: added, count: calendar?.events.length ?? 0 };
}

function readText(file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    const unreadable = error instanceof TypeError ? "is not UTF-8" : `cannot be read: ${reasonOf(error)}`;
    throw new ImportError(file, [{ place: "(file)", reason: unreadable }]);
  }
}

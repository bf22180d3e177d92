/** Imports one file: whole, or not at all. */
import { readFileSync } from "node:fs";
import { reasonOf } from "../../shared/system.js";
import { type FileHead, ImportError } from "../model/calendar.js";
import { addCalendar } from "../store/add-calendar.js";
import { type Configured, importSettings } from "../store/site-settings.js";
import type { StoredCalendar } from "../store/stored-calendar.js";
import { readIcs } from "./ics.js";
import { readJson } from "./json.js";

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

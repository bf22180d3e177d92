/** Loads the calendar in a worker thread: reads its file, on the first start makes it, and expands its events. */
import { existsSync } from "node:fs";
import { builtFile } from "../shared/build.js";
import { DataError } from "../shared/errors.js";
import { OneThread } from "../shared/one-thread.js";
import { importFile } from "./import/import-file.js";
import { type CalendarArrays, expandCalendar, type FailedEvent } from "./store/expand-calendar.js";
import type { Configured } from "./store/site-settings.js";
import {
  type CalendarPlace,
  changeCalendar,
  openCalendar,
  readCalendar,
  signatureOf,
} from "./store/stored-calendar.js";

/** What to load. */
export interface LoadTask extends CalendarPlace {
  /** Nothing has been loaded yet: a missing file is none of the faults, and may be made. */
  readonly first: boolean;
  /** File imported if there is no event; null: none. */
  readonly sample: string | null;
  readonly configured: Configured;
}

/** A loaded calendar. */
export interface LoadedCalendar {
  readonly arrays: CalendarArrays;
  readonly failed: readonly FailedEvent[];
  /** State of the file that was read. */
  readonly signature: string;
  /** Events of the sample that were imported. */
  readonly imported: number;
}

/** @throws DataError or ImportError with the reason */
export function load({ first, sample, configured, ...place }: LoadTask): LoadedCalendar {
  let imported = 0;
  if (first && !existsSync(place.file) && existsSync(place.db)) changeCalendar(place, (stored) => stored);
  if (first && sample !== null && openCalendar(place).events.size === 0) {
    changeCalendar(place, (stored) => {
      const { calendar, count } = importFile(stored, sample, configured);
      imported = count;
      return calendar;
    });
  }
  const signature = signatureOf(place.file);
  const stored = first ? openCalendar(place) : readCalendar(place.file);
  return { ...expandCalendar(stored, configured.zone, configured.now), signature, imported };
}

const ENTRY = builtFile(new URL("./worker.js", import.meta.url));

/**
 * Loads the calendar in a worker thread. Resolves once the thread has ended, because the process must not end while
 * native code closes a database.
 *
 * @throws DataError with the reason, fit for the operator
 */
export async function loadInThread(task: LoadTask): Promise<LoadedCalendar> {
  const thread = new OneThread({ filename: ENTRY, name: "load", makes: "the index of events" });
  try {
    return await thread.run<LoadedCalendar>(task);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DataError(`events: ${reason.replace(/^events: /, "")}`);
  } finally {
    await thread.close();
  }
}

/** Loads the calendar in a worker thread: reads its file, makes it on the first start, and expands its events. */
import { existsSync } from "node:fs";
import { builtFile } from "../shared/build.js";
import { DataError } from "../shared/errors.js";
import { OneThread } from "../shared/one-thread.js";
import { type Configured, importFile } from "./import/import-file.js";
import { type ExpandedCalendar, expandCalendar, type FailedEvent } from "./store/expand-calendar.js";
import {
  type CalendarPlace,
  changeCalendar,
  openCalendar,
  readCalendar,
  signatureOf,
} from "./store/stored-calendar.js";

export interface LoadTask extends CalendarPlace {
  /** Nothing has been loaded yet: a missing file may be made. */
  readonly first: boolean;
  /** Imported if there is no event. */
  readonly sample: string | null;
  readonly configured: Configured;
}

export interface LoadedCalendar {
  readonly calendar: ExpandedCalendar;
  readonly failed: readonly FailedEvent[];
  readonly signature: string;
  readonly imported: number;
}

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

/** Resolves once the thread has ended: the process must not end while native code closes a file. Throws DataError. */
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

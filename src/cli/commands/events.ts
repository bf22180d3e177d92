/** `fieldprobe events`: imports files into the calendar of the events interface, or lists its events. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Command, Option } from "commander";
import { configuredFor } from "../../events/http/events-settings.js";
import { importFile } from "../../events/import/import-file.js";
import { ImportError } from "../../events/model/calendar.js";
import { listEvents } from "../../events/store/list-events.js";
import { changeCalendar, openCalendar } from "../../events/store/stored-calendar.js";
import { fixedClock, systemClock } from "../../events/time/clock.js";
import { loadConfig } from "../../shared/config.js";
import { MisuseError } from "../input/arguments.js";
import { counted } from "../output/progress.js";

interface CalendarOptions {
  readonly file?: string;
  readonly db?: string;
}

/** The calendar of `--file` or `--db`, else of the configuration, and the operator's settings. */
function placeFor({ db, file = db }: CalendarOptions) {
  const config = loadConfig();
  const clock = config.events.now === null ? systemClock : fixedClock(config.events.now);
  const named = file === undefined ? null : resolve(file);
  // A calendar that is named has no database of version 1.0.
  const place = named === null ? config.events : { file: named, db: named };
  return { place, configured: configuredFor(config, clock()) };
}

function importFiles(files: readonly string[], options: CalendarOptions & { readonly replace?: boolean }): void {
  const refused: ImportError[] = [];
  const lines: string[] = [];
  const { place, configured } = placeFor(options);
  changeCalendar(place, (before) => {
    let stored = before;
    for (const file of files) {
      try {
        // The first file without problems replaces the calendar, so that a bad one alone leaves it as it was.
        const replace = options.replace === true && lines.length === 0;
        const { calendar, count } = importFile(stored, file, configured, replace);
        stored = calendar;
        lines.push(`${file}: ${counted(count, "event")}\n`);
      } catch (error) {
        if (!(error instanceof ImportError)) throw error;
        refused.push(error);
      }
    }
    return stored;
  });
  process.stdout.write(lines.join(""));
  if (refused.length > 0) throw new Error(refused.map(({ message }) => message).join("\n"));
}

function list(options: CalendarOptions): void {
  const { place, configured } = placeFor(options);
  if (!existsSync(place.file) && !existsSync(place.db))
    throw new MisuseError(`${place.file}: this file does not exist; fieldprobe events import creates it`);
  const lines = listEvents(openCalendar(place), configured.zone, configured.now);
  process.stdout.write(lines.map((line) => `${line}\n`).join(""));
}

export function eventsCommand(): Command {
  const command = new Command("events");
  const child = (name: string, about: string) =>
    command
      .command(name)
      .description(about)
      .option("--file <file>", "calendar (default: FIELDPROBE_EVENTS_FILE)")
      // The name of `--file` in version 1.0.
      .addOption(new Option("--db <file>", "the same as --file").conflicts("file"))
      .exitOverride();
  child("import", "load .json and .ics files, each wholly or not at all; events with known ids are replaced")
    .argument("<file...>", "files to load")
    .option("--replace", "drop the events there are first")
    .action(importFiles);
  child("list", "print the stored events: id, next or last start, number of instances, name").action(list);
  return command;
}

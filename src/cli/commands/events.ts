/** `fieldprobe events` imports calendars into the store of the events interface, or lists its events. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Command } from "commander";
import { loadConfig } from "../../config.js";
import { configuredFor } from "../../events/http/events-settings.js";
import { importFile } from "../../events/import/import-file.js";
import { ImportError } from "../../events/model/calendar.js";
import { listEvents } from "../../events/store/list-events.js";
import { migrate } from "../../events/store/migrations.js";
import { fixedClock, systemClock } from "../../events/time/clock.js";
import { openConnection, type StoreConnection } from "../../sqlite.js";
import { MisuseError } from "../input/arguments.js";
import { counted } from "../output/progress.js";

interface StoreOptions {
  readonly db?: string;
}

/** Runs `work` on the store that `--db`, or else the configuration, names; `create` makes a missing one. */
function withStore(
  options: StoreOptions,
  create: boolean,
  work: (db: StoreConnection, configured: ReturnType<typeof configuredFor>) => void,
) {
  const config = loadConfig();
  const clock = config.events.now === null ? systemClock : fixedClock(config.events.now);
  const path = options.db === undefined ? config.events.db : resolve(options.db);
  if (!create && !existsSync(path))
    throw new MisuseError(`${path}: this store does not exist; fieldprobe events import creates it`);
  const db = openConnection(path, "write");
  try {
    migrate(db);
    work(db, configuredFor(config, clock()));
  } finally {
    db.close();
  }
}

/** Imports each file that has no problem; then fails with the problems of the others. */
function importFiles(files: readonly string[], options: StoreOptions & { readonly replace?: boolean }): void {
  const refused: ImportError[] = [];
  withStore(options, true, (db, configured) => {
    // The first file that is imported empties the store, so that a bad one alone leaves it as it was.
    let replace = options.replace === true;
    for (const file of files) {
      try {
        const count = importFile(db, file, configured, replace);
        replace = false;
        process.stdout.write(`${file}: ${counted(count, "event")}\n`);
      } catch (error) {
        if (!(error instanceof ImportError)) throw error;
        refused.push(error);
      }
    }
  });
  if (refused.length > 0) throw new Error(refused.map(({ message }) => message).join("\n"));
}

export function eventsCommand(): Command {
  const command = new Command("events");
  command
    .command("import")
    .description("load .json and .ics files, each wholly or not at all; events with known ids are replaced")
    .argument("<file...>", "files to load")
    .option("--replace", "empty the store first")
    .option("--db <file>", "store file (default: FIELDPROBE_EVENTS_DB)")
    .exitOverride()
    .action(importFiles);
  command
    .command("list")
    .description("print the stored events: id, next or last start, number of instances, name")
    .option("--db <file>", "store file (default: FIELDPROBE_EVENTS_DB)")
    .exitOverride()
    .action((options: StoreOptions) =>
      withStore(options, false, (db, { now }) => {
        for (const line of listEvents(db, now)) process.stdout.write(`${line}\n`);
      }),
    );
  return command;
}

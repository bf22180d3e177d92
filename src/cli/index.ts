/** The command line: one file per command; errors are one line on stderr, exit code 2 for misuse and 1 for failure. */
import { Command, CommanderError } from "commander";
import { ConfigError } from "../config.js";
import { checkCommand } from "./check.js";
import { convertCommand } from "./convert.js";
import { cutoutCommand } from "./cutout.js";
import { eventsCommand } from "./events.js";
import { generateCommand } from "./generate.js";
import { inspectCommand } from "./inspect.js";
import { MisuseError } from "./misuse.js";
import { queryCommand } from "./query.js";
import { serveCommand } from "./serve.js";
import { version } from "./version.js";

const program = new Command("fieldprobe")
  .description(
    "Velocity, pressure, derivatives, filtered values and particle paths from HDF5 cubes, over SOAP and HTTP.",
  )
  .version(version)
  .showSuggestionAfterError()
  .exitOverride();

/** Every command, each from a file of its own. */
const COMMANDS: readonly (() => Command)[] = [
  serveCommand,
  queryCommand,
  generateCommand,
  inspectCommand,
  checkCommand,
  convertCommand,
  cutoutCommand,
  eventsCommand,
];
for (const command of COMMANDS) program.addCommand(command().exitOverride());

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    const misuse = error instanceof MisuseError || error instanceof ConfigError;
    process.stderr.write(`fieldprobe: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = misuse ? 2 : 1;
  }
}

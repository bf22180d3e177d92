/** The command line: one file per command; errors are one line on stderr, exit code 2 for misuse and 1 for failure. */
import { Command, CommanderError } from "commander";
import { ConfigError } from "../config.js";
import { MisuseError } from "./misuse.js";
import { version } from "./version.js";

const program = new Command("fieldprobe")
  .description(
    "Velocity, pressure, derivatives, filtered values and particle paths from HDF5 cubes, over SOAP and HTTP.",
  )
  .version(version)
  .showSuggestionAfterError()
  .exitOverride();

/** Every command by name, each from a file of its own, which is loaded when the command is run. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ["serve", async () => (await import("./serve.js")).serveCommand()],
  ["query", async () => (await import("./query.js")).queryCommand()],
  ["generate", async () => (await import("./generate.js")).generateCommand()],
  ["inspect", async () => (await import("./inspect.js")).inspectCommand()],
  ["check", async () => (await import("./check.js")).checkCommand()],
  ["convert", async () => (await import("./convert.js")).convertCommand()],
  ["cutout", async () => (await import("./cutout.js")).cutoutCommand()],
  ["events", async () => (await import("./events.js")).eventsCommand()],
  ["worker", async () => (await import("./worker.js")).workerCommand()],
  ["cluster", async () => (await import("./cluster.js")).clusterCommand()],
  ["token", async () => (await import("./token.js")).tokenCommand()],
]);
const named = COMMANDS.get(process.argv[2] ?? "");
for (const load of named ? [named] : COMMANDS.values()) program.addCommand((await load()).exitOverride());

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

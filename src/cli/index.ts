/** The command line runs one command; an error is one line on stderr, with exit code 2 for misuse and 1 for failure. */
import { Command, CommanderError } from "commander";
import { ConfigError } from "../config.js";
import { describeError } from "../system-error.js";
import { version } from "../version.js";
import { MisuseError } from "./input/arguments.js";

const program = new Command("fieldprobe")
  .description(
    "Velocity, pressure, derivatives, filtered values and particle paths from HDF5 cubes, over SOAP and HTTP.",
  )
  .version(version)
  .showSuggestionAfterError()
  .exitOverride();

/** Every command by name; its file is loaded when the command is run. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ["serve", async () => (await import("./commands/serve.js")).serveCommand()],
  ["query", async () => (await import("./commands/query.js")).queryCommand()],
  ["inspect", async () => (await import("./commands/inspect.js")).inspectCommand()],
  ["check", async () => (await import("./commands/check.js")).checkCommand()],
  ["convert", async () => (await import("./commands/convert.js")).convertCommand()],
  ["cutout", async () => (await import("./commands/cutout.js")).cutoutCommand()],
  ["generate", async () => (await import("./commands/generate.js")).generateCommand()],
  ["token", async () => (await import("./commands/token.js")).tokenCommand()],
  ["events", async () => (await import("./commands/events.js")).eventsCommand()],
  ["worker", async () => (await import("./commands/worker.js")).workerCommand()],
  ["cluster", async () => (await import("./commands/cluster.js")).clusterCommand()],
]);
const named = COMMANDS.get(process.argv[2] ?? "");
for (const load of named ? [named] : COMMANDS.values()) program.addCommand((await load()).exitOverride());

/** Prints errors of the parser like all others. */
function likeOthers(command: Command): void {
  command.configureOutput({
    outputError: (text, write) => write(text.replace(/^error: /, "fieldprobe: ").replace(/\n\(Did you/, " (did you")),
  });
  command.commands.forEach(likeOthers);
}
likeOthers(program);

/** Commands that go on when nobody reads their output. */
const SERVICES: readonly string[] = ["serve", "worker"];

// A reader that closes the pipe (`| head`) ends the command silently.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  if (!SERVICES.includes(process.argv[2] ?? "")) process.exit(1);
});

try {
  await program.parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2;
  } else {
    const misuse = error instanceof MisuseError || error instanceof ConfigError;
    process.stderr.write(`fieldprobe: ${describeError(error)}\n`);
    process.exitCode = misuse ? 2 : 1;
  }
}

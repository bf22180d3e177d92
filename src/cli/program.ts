/** The commands of the program: their names, loading and exit codes. */
import { Command, CommanderError } from "commander";
import { version } from "../shared/build.js";
import { CALL_NAMES, callOf } from "../shared/calls.js";
import { MisuseError } from "./input/arguments.js";
import { failureText } from "./output/failure.js";
import { boundOldGarbage, boundYoungObjects } from "./v8-heaps.js";

const soap = async () => (await import("./commands/soap.js")).soapCommand();
const jobs = async () => (await import("./commands/jobs.js")).jobsCommand();
const check = async () => (await import("./commands/check.js")).checkCommand();
const convert = async () => (await import("./commands/convert.js")).convertCommand();
const levels = async () => (await import("./commands/levels.js")).levelsCommand();
const generate = async () => (await import("./commands/generate.js")).generateCommand();
const token = async () => (await import("./commands/token.js")).tokenCommand();
const events = async () => (await import("./commands/events.js")).eventsCommand();

const COMMANDS: readonly (readonly [name: string, about: string, load: () => Promise<Command>])[] = [
  [
    "serve",
    "serve the datasets over SOAP and HTTP until SIGTERM or SIGINT (Ctrl-C)",
    async () => {
      boundYoungObjects();
      return (await import("./commands/serve.js")).serveCommand(boundOldGarbage);
    },
  ],
  ...CALL_NAMES.map(
    (name) =>
      [
        name.replaceAll("_", "-"),
        callOf(name).summary.toLowerCase(),
        async () => (await import("./commands/ask.js")).askCommand(name),
      ] as const,
  ),
  ["soap", "run an operation over SOAP and print its records as CSV", soap],
  ["jobs", "list the jobs of a service; show, await, save or cancel one", jobs],
  [
    "inspect",
    "explain what a file, Zarr store or address holds, how it would be served, and why; several files form a series",
    async () => (await import("./commands/inspect.js")).inspectCommand(),
  ],
  ["check", "read everything below a folder: descriptors, files, checksums, values; exit code 1 for faults", check],
  ["convert", "rewrite a dataset into the fast form: chunked float32, one file per field and frame", convert],
  ["levels", "make coarser levels of a dataset, for pictures and searches of large grids", levels],
  ["generate", "make a dataset: a simulated, analytic or random flow", generate],
  ["token", "add, rotate, disable and remove the tokens that a service accepts", token],
  ["events", "fill or list the calendar of the events interface", events],
  ["cluster", "look at a running cluster", async () => (await import("./commands/cluster.js")).clusterCommand()],
];

/** Prints errors as plain lines, and refuses a flag that is given again, unless its values are collected. */
function refusePlainly(command: Command): void {
  command.configureOutput({
    outputError: (text, write) =>
      write(
        text
          .replace(/^error: /, "fieldprobe: ")
          .replace(/\n\(Did you/, " (did you")
          .replace(/(unknown option '-[^-].*')/, "$1; a text that begins with - stands behind --"),
      ),
  });
  for (const option of command.options) {
    let before = 0;
    command.on(`option:${option.name()}`, () => {
      const value: unknown = command.getOptionValue(option.attributeName());
      const length = Array.isArray(value) ? value.length : 1;
      if (length <= before && !option.isBoolean()) command.error(`error: ${option.long} is given more than once`);
      before = length;
    });
  }
  command.commands.forEach(refusePlainly);
}

/** The program with all commands; only the modules of the requested one are loaded. */
async function programFor(requested: string | undefined): Promise<Command> {
  const program = new Command("fieldprobe")
    .description(
      "Velocity, pressure, derivatives, filtered values and particle paths from HDF5, NetCDF and Zarr, over SOAP and HTTP.",
    )
    .version(version)
    .showSuggestionAfterError()
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .exitOverride();
  for (const [name, about, load] of COMMANDS) {
    const command = name === requested ? await load() : new Command(name);
    if (command.description() === "") command.description(about);
    program.addCommand(command.summary(about).exitOverride());
  }
  refusePlainly(program);
  return program;
}

/** Runs one command, e.g. `["check", "data"]` or `["help", "check"]`: an error is one line on stderr, and an exit code of the process. */
export async function runProgram(words: readonly string[]): Promise<void> {
  const typed = words[0] === "help" && words[1] !== undefined ? [words[1], "--help", ...words.slice(2)] : words;
  try {
    await (await programFor(typed[0])).parseAsync(typed, { from: "user" });
  } catch (error) {
    const isParsed = error instanceof CommanderError;
    const isMisuse = isParsed || error instanceof MisuseError || (error as Error).name === "ConfigError";
    if (!isParsed) process.stderr.write(`fieldprobe: ${failureText(error)}\n`);
    process.exitCode = isParsed && error.exitCode === 0 ? 0 : isMisuse ? 2 : 1;
  }
}

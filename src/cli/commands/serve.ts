/** `fieldprobe serve`: the service in the foreground, until a signal stops it. */
import { delimiter } from "node:path";
import { Command } from "commander";
import { runService } from "../../main.js";
import { descriptorFolder } from "../../shared/config.js";
import { withAnswers } from "../input/answer-flags.js";
import { MisuseError } from "../input/arguments.js";
import { addSettings, configOf } from "../input/settings.js";
import { startProblems } from "../start-problems.js";
import { confirmToServe } from "./inspect.js";

export function serveCommand(onListening: () => void): Command {
  const command = new Command("serve").argument("[files...]", "files that are served alone, confirmed if they wait");
  command.option("--name <name>", "name of the dataset that the files make");
  return withAnswers(addSettings(command)).action(async (files: readonly string[]) => {
    refuseFlagsOfNpm(command);
    if (files.length > 0) {
      command.setOptionValue("data", files.join(delimiter));
      const paths = await confirmToServe(files, command.opts(), descriptorFolder(configOf(command)));
      command.setOptionValue("data", paths.join(delimiter));
    }
    await runService(configOf(command, startProblems));
    onListening();
  });
}

/** Refuses flags that npm keeps for itself: `npm start --data=X` loses the flag, `npm start --data X` all but the value. */
function refuseFlagsOfNpm({ options, args }: Command): void {
  if (process.env.npm_lifecycle_event !== "start") return;
  const kept = options.flatMap(({ long }) => {
    const value = process.env[`npm_config_${long?.slice(2).replaceAll("-", "_")}`];
    return long == null || value === undefined || value === "" ? [] : [{ long, value }];
  });
  if (kept.length === 0) return;
  // npm does not say which of several values belongs to which flag.
  const [only] = args.length === 1 && kept.length === 1 ? args : [];
  const typed = kept.map(({ long, value }) => `${long} ${value === "true" ? (only ?? "VALUE") : value}`);
  const flags = kept.map(({ long }) => long).join(", ");
  throw new MisuseError(`npm has kept ${flags} for itself; type npm start -- ${typed.join(" ")}`);
}

/** `fieldprobe serve` runs the service in the foreground until a signal stops it. */
import { Command } from "commander";
import { startProblems } from "../../cli/start-problems.js";
import { runService } from "../../main.js";
import { MisuseError } from "../input/arguments.js";
import { addSettings, configOf } from "../input/settings.js";

/** @param listening called when the service accepts requests */
export function serveCommand(listening: () => void): Command {
  const command = new Command("serve");
  return addSettings(command.allowExcessArguments()).action(async () => {
    refuseFlagsOfNpm(command);
    if (command.args.length > 0) throw new MisuseError(`serve takes no arguments but flags: ${command.args.join(" ")}`);
    await runService(configOf(command, startProblems));
    listening();
  });
}

/**
 * Refuses flags that npm has kept for itself. `npm start --data=X` runs the service without the flag,
 * `npm start --data X` with the value alone.
 */
function refuseFlagsOfNpm({ options, args }: Command): void {
  if (process.env.npm_lifecycle_event !== "start") return;
  const kept = options.flatMap(({ long }) => {
    const value = process.env[`npm_config_${long?.slice(2).replaceAll("-", "_")}`];
    return long == null || value === undefined || value === "" ? [] : [{ long, value }];
  });
  if (kept.length === 0) return;
  // It is not known which of several values belongs to which flag.
  const [only] = args.length === 1 && kept.length === 1 ? args : [];
  const typed = kept.map(({ long, value }) => `${long} ${value === "true" ? (only ?? "VALUE") : value}`);
  const flags = kept.map(({ long }) => long).join(", ");
  throw new MisuseError(`npm has kept ${flags} for itself; type npm start -- ${typed.join(" ")}`);
}

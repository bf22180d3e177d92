/** `fieldprobe serve` runs the service in the foreground until a signal stops it. */
import { Command } from "commander";
import { runService } from "../../main.js";
import { startProblems } from "../../start-problems.js";
import { MisuseError } from "../input/arguments.js";
import { addSettings, configOf } from "../input/settings.js";

export function serveCommand(): Command {
  const command = new Command("serve");
  return addSettings(command).action(async () => {
    refuseFlagsOfNpm();
    await runService(configOf(command, startProblems));
  });
}

/** Refuses flags that npm has kept for itself: `npm start --data X` runs the service without them. */
function refuseFlagsOfNpm(): void {
  if (process.env.npm_lifecycle_event !== "start") return;
  for (const name of ["data", "port", "host", "workers", "tokens", "base_url", "cache_bytes"]) {
    const value = process.env[`npm_config_${name}`];
    if (value === undefined || value === "") continue;
    const flag = `--${name.replaceAll("_", "-")}`;
    throw new MisuseError(
      `npm has kept ${flag} for itself; type npm start -- ${flag} ${value === "true" ? "VALUE" : value}`,
    );
  }
}

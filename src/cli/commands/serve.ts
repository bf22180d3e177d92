/** `fieldprobe serve` runs the service in the foreground until a signal stops it. */
import { Command } from "commander";
import { runService } from "../../main.js";
import { startProblems } from "../../start-problems.js";
import { addSettings, configOf } from "../input/settings.js";

export function serveCommand(): Command {
  const command = new Command("serve");
  return addSettings(command).action(async () => {
    await runService(configOf(command, startProblems));
  });
}

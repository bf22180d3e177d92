/** Flags of the settings, for commands that start a service or a worker. */
import { type Command, Option } from "commander";
import { ALL_SETTINGS, type Config, ConfigError, readConfig, type Setting } from "../../shared/config.js";

const WITH_FLAGS = ALL_SETTINGS.filter(({ flag }) => flag !== null);

/** `BASE_URL` -> `--base-url <url>`. */
function optionOf({ variable, flag, meaning: about }: Setting<unknown>): Option {
  const name = variable.toLowerCase().replaceAll("_", "-");
  return new Option(`--${name} <${flag}>`, `${about.replaceAll("`", "")} (FIELDPROBE_${variable})`);
}

export function addSettings(command: Command, variables?: readonly string[]): Command {
  for (const row of WITH_FLAGS) if (variables?.includes(row.variable) ?? true) command.addOption(optionOf(row));
  return command;
}

/**
 * The configuration of the environment and of flags, which win. @param check finds more problems, in files and in
 * combinations of settings @throws ConfigError with the problems of both
 */
export function configOf(command: Command, check: (config: Config) => readonly string[] = () => []): Config {
  const options: Record<string, unknown> = command.opts();
  const given: Record<string, string> = {};
  const flags = new Map<string, string>();
  for (const row of WITH_FLAGS) {
    const option = optionOf(row);
    const value = options[option.attributeName()];
    if (typeof value !== "string") continue;
    given[row.variable] = value;
    flags.set(`FIELDPROBE_${row.variable}`, option.long as string);
  }
  const { config, problems } = readConfig(given);
  const named = problems.map((problem) => problem.replace(/^FIELDPROBE_\w+/, (name) => flags.get(name) ?? name));
  const all = [...named, ...check(config)];
  if (all.length > 0) throw new ConfigError(all);
  return config;
}

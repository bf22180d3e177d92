/** Flags that stand for settings, for every command that starts the service or reads its data. */
import { type Command, Option } from "commander";
import { type Config, loadConfig, type SettingName } from "../../config.js";

/** Flag, setting, help. */
const FLAGS: readonly (readonly [string, SettingName, string])[] = [
  ["--host <address>", "HOST", "address to listen on"],
  ["--port <number>", "PORT", "port to listen on, 0 for any free one"],
  ["--data <folders>", "DATA", "folders searched for datasets, separated by the platform's path delimiter"],
  ["--namespace <uri>", "NAMESPACE", "target namespace of the SOAP service, ends in a slash"],
  ["--base-url <url>", "BASE_URL", "public address, where it differs from that of the socket"],
  ["--workers <number>", "WORKERS", "worker threads"],
  ["--cache-bytes <bytes>", "CACHE_BYTES", "bound on cached field data"],
  ["--tokens <file>", "TOKENS", "token file; without one every request is served"],
  ["--state <folder>", "STATE", "folder for what the service itself keeps"],
  ["--role <role>", "ROLE", "all, or gateway: workers of a cluster evaluate"],
  ["--nats <urls>", "NATS", "NATS servers of the cluster, separated by commas"],
  ["--nats-nkey <file>", "NATS_NKEY", "file with the seed of the key to connect with"],
  ["--nats-ca <file>", "NATS_CA", "file with the authorities of the NATS servers"],
  ["--node <name>", "NODE", "name of a worker among the nodes of a cluster"],
  ["--replicas <number>", "REPLICAS", "workers that keep a part of the data in their caches"],
  ["--hedge-ms <ms>", "HEDGE_MS", "shortest time after which a second worker gets an unanswered batch"],
  ["--batch-timeout-ms <ms>", "BATCH_TIMEOUT_MS", "silence of a worker after which its batch is lost"],
  ["--message-points <number>", "MESSAGE_POINTS", "most points of a message to a worker"],
  ["--log-level <level>", "LOG_LEVEL", "trace, debug, info, warn, error, fatal or silent"],
];

/** Adds the flags of the named settings to a command. */
export function addSettings(command: Command, names: readonly SettingName[]): Command {
  for (const [flags, name, help] of FLAGS) {
    if (names.includes(name)) command.addOption(new Option(flags, `${help} (FIELDPROBE_${name})`));
  }
  return command;
}

/** Every setting that has a flag. */
export const ALL_FLAGS: readonly SettingName[] = FLAGS.map(([, name]) => name);

/** The configuration from the environment and a command's flags. */
export function configOf(command: Command, overrides: Readonly<Record<string, string>> = {}): Config {
  const given: Record<string, string> = { ...overrides };
  const options: Record<string, unknown> = command.opts();
  for (const [flags, name] of FLAGS) {
    const value = options[new Option(flags).attributeName()];
    if (typeof value === "string") given[name] = value;
  }
  return loadConfig(given);
}

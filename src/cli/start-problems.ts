/** Problems in files and combinations of settings that would keep a service from starting; one line each. */
import { statSync } from "node:fs";
import { checkExposure, readTokenFile, tokenFileAt } from "../server/http/auth.js";
import { TlsFiles } from "../server/http/tls.js";
import { isAddress } from "../shared/addresses.js";
import { type Config, ConfigError } from "../shared/config.js";
import { natsOptions } from "../shared/nats.js";
import { describeError } from "../shared/system.js";

export function startProblems(config: Config): string[] {
  const { data, descriptors, tls, tokens } = config;
  return [
    ...problemsOf(() => checkExposure(config)),
    ...problemsOf(() => tls && new TlsFiles(tls)),
    ...problemsOf(() => tokens !== null && readTokenFile(tokenFileAt(tokens))),
    ...data.flatMap((path) => folderProblem("DATA", path, true)),
    ...(descriptors === null ? [] : folderProblem("DESCRIPTORS", descriptors)),
    ...problemsOf(() => natsOptions(config.nats)),
  ];
}

function problemsOf(check: () => unknown): readonly string[] {
  try {
    check();
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [describeError(error)];
  }
}

function folderProblem(variable: string, path: string, orFile = false): string[] {
  if (isAddress(path)) return [];
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory() || (orFile && found?.isFile())) return [];
  return [`FIELDPROBE_${variable}: ${path} ${found === undefined ? "does not exist" : "is not a folder"}`];
}

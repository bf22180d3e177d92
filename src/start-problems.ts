/** Finds what would keep a service from starting, in files and combinations of settings, before anything is started. */

import { statSync } from "node:fs";
import { isAddress } from "./addresses.js";
import { addressOf, readKeys, readPeers } from "./cluster/keys.js";
import { type Config, ConfigError, isLoopbackHost } from "./config.js";
import { checkExposure, readTokenFile, tokenFileAt } from "./server/http/auth.js";
import { TlsFiles } from "./server/http/tls.js";
import { describeError } from "./system-error.js";

/** The problems of a configuration whose settings are valid one by one; one line each. */
export function startProblems(config: Config): string[] {
  const { data, descriptors, tls, tokens } = config;
  return [
    ...problemsOf(() => checkExposure(config)),
    ...problemsOf(() => tls && new TlsFiles(tls)),
    ...problemsOf(() => tokens !== null && readTokenFile(tokenFileAt(tokens))),
    ...data.flatMap((path) => folderProblem("DATA", path)),
    ...(descriptors === null ? [] : folderProblem("DESCRIPTORS", descriptors)),
    ...problemsOf(() => checkCluster(config)),
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

function folderProblem(variable: string, path: string): string[] {
  if (isAddress(path)) return [];
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isDirectory()) return [];
  return [`FIELDPROBE_${variable}: ${path} ${found === undefined ? "does not exist" : "is not a folder"}`];
}

/** Refuses a cluster that others than this machine can reach without keys. @throws ConfigError */
export function checkCluster({ cluster }: Config): void {
  const { peers, listen } = cluster;
  if (peers === null && listen === null) return;
  const keys = readKeys(cluster);
  if (listen !== null && !(addressOf(listen).port >= 0 && addressOf(listen).host !== ""))
    throw new ConfigError([`FIELDPROBE_PEER_LISTEN: ${listen} is no address like 10.0.0.1:9080`]);
  const open = [...(listen === null ? [] : [listen]), ...(peers === null ? [] : readPeers(peers))].find(
    (address) => !isLoopbackHost(addressOf(address).host),
  );
  if (keys !== null || open === undefined) return;
  throw new ConfigError([
    `${open} is not a loopback address: a cluster of machines needs FIELDPROBE_PEER_CERT, FIELDPROBE_PEER_KEY and FIELDPROBE_PEER_CA`,
  ]);
}

/** Reads the keys of a cluster: peers show each other certificates of the cluster's own authority. */
import { readFileSync, statSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { type Config, ConfigError, isLoopbackHost } from "../config.js";
import { reasonOf } from "../system-error.js";

/** The name in the certificates of all peers, whatever their addresses are. */
export const PEER_NAME = "peer.fieldprobe";

/** Certificate, key and authority in PEM form. */
export interface Keys {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** An address of a peer, `host:port`, in its parts. */
export function addressOf(text: string): { readonly host: string; readonly port: number } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? [];
  return { host: bracketed ?? plain ?? "", port: Number(port) };
}

/** Reads the keys; null if none are set. @throws ConfigError when they cannot be used */
function readKeys({ cert, key, ca }: Config["cluster"]): Keys | null {
  if (cert === null || key === null || ca === null) {
    if (cert === null && key === null && ca === null) return null;
    throw new ConfigError(["FIELDPROBE_PEER_CERT, FIELDPROBE_PEER_KEY and FIELDPROBE_PEER_CA go together"]);
  }
  const read = (variable: string, path: string): string => {
    try {
      return readFileSync(path, "utf8");
    } catch (error) {
      throw new ConfigError([`FIELDPROBE_${variable}: ${path}: ${reasonOf(error)}`]);
    }
  };
  const keys = { cert: read("PEER_CERT", cert), key: read("PEER_KEY", key), ca: read("PEER_CA", ca) };
  try {
    createSecureContext(keys);
  } catch (error) {
    throw new ConfigError([
      `the keys of the cluster (FIELDPROBE_PEER_CERT, _KEY and _CA) cannot be used: ${reasonOf(error)}`,
    ]);
  }
  return keys;
}

/**
 * The addresses in the list of peers, or in the file that it names, sorted.
 * @throws ConfigError for what is not an address
 */
function readPeers(peers: readonly string[]): string[] {
  const [first = ""] = peers;
  const file = peers.length === 1 && statSync(first, { throwIfNoEntry: false })?.isFile() === true;
  const lines = file ? readFileSync(first, "utf8").split("\n") : peers;
  const names = lines.map((line) => line.replace(/#.*/, "").trim()).filter((line) => line !== "");
  const wrong = names.find((name) => !(addressOf(name).port > 0));
  if (wrong !== undefined)
    throw new ConfigError([`FIELDPROBE_PEERS: ${wrong} is neither an address like 10.0.0.1:9080 nor a file`]);
  if (names.length > MOST_PEERS) throw new ConfigError([`FIELDPROBE_PEERS: more than ${MOST_PEERS} addresses`]);
  return [...new Set(names)].sort();
}

/** Largest number of addresses in a list of peers: an owner is stored in a byte. */
const MOST_PEERS = 250;

/**
 * Reads the keys of a cluster and the addresses of its peers.
 * @throws ConfigError when they cannot be used, or others than this machine could reach it without keys
 */
export function readCluster(cluster: Config["cluster"]): { readonly keys: Keys | null; readonly names: string[] } {
  const { peers, listen } = cluster;
  if (peers === null && listen === null) return { keys: null, names: [] };
  const keys = readKeys(cluster);
  if (listen !== null && !(addressOf(listen).port >= 0 && addressOf(listen).host !== ""))
    throw new ConfigError([`FIELDPROBE_PEER_LISTEN: ${listen} is not an address like 10.0.0.1:9080`]);
  const names = readPeers(peers ?? []);
  const open = [...(listen === null ? [] : [listen]), ...names].find((name) => !isLoopbackHost(addressOf(name).host));
  if (keys !== null || open === undefined) return { keys, names };
  throw new ConfigError([
    `${open} is not a loopback address: a cluster of machines needs FIELDPROBE_PEER_CERT, FIELDPROBE_PEER_KEY and FIELDPROBE_PEER_CA`,
  ]);
}

/** Reads the settings of NATS, without its client, which only a cluster loads. */
import { readFileSync } from "node:fs";
import { checkServerIdentity as checkIdentity, type PeerCertificate } from "node:tls";
import type { ConnectionOptions, TlsOptions } from "@nats-io/transport-node";
import { type Config, ConfigError } from "./config.js";
import { reasonOf } from "./system.js";

/** The first word of all subjects, of which a cluster needs no others. */
export const ROOT = "fieldprobe";
const CONNECT_MS = 3_000;
/** Interval at which a silent server is asked whether it is there; how many answers it may owe. */
const PING_MS = 1_000;
const MOST_PINGS = 2;

/** Options of connections, and the content of a file of credentials, or an NKEY. */
export interface NatsOptions extends ConnectionOptions {
  readonly secret: Uint8Array | null;
}

/** Reads a file of a setting. @throws ConfigError */
function read(variable: string, path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError([`FIELDPROBE_${variable}: ${path}: ${reasonOf(error)}`]);
  }
}

/** The address of a server without what it may hold of a password. @throws ConfigError */
function parseServer(text: string): URL {
  const whole = /^\w+:\/\//.test(text) ? text : `nats://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : null;
  if (url !== null && ["nats:", "tls:"].includes(url.protocol) && url.hostname !== "") return url;
  throw new ConfigError([`FIELDPROBE_NATS: ${url?.host || text} is not an address like nats://10.0.0.1:4222`]);
}

/** Options of connections to NATS; null without servers. @throws ConfigError when settings cannot be used */
export function natsOptions({ servers, credentials, ca, cert, key }: Config["nats"]): NatsOptions | null {
  if (servers === null) return null;
  if ((cert === null) !== (key === null))
    throw new ConfigError(["FIELDPROBE_NATS_CERT and FIELDPROBE_NATS_KEY go together"]);
  const urls = servers.map(parseServer);
  const { username, password } = urls.find((url) => url.username !== "") ?? { username: "", password: "" };
  const [user, pass] = [decodeURIComponent(username), decodeURIComponent(password)];
  const secret = credentials === null ? null : read("NATS_CREDENTIALS", credentials);
  const pem = (name: string, path: string | null) => path && Buffer.from(read(name, path)).toString();
  const files = { ca: pem("NATS_CA", ca), cert: pem("NATS_CERT", cert), key: pem("NATS_KEY", key) };
  const tls = Object.fromEntries(Object.entries(files).filter(([, text]) => text !== null));
  const hosts = urls.map(({ hostname }) => hostname.replace(/^\[(.*)\]$/, "$1"));
  // The client tells TLS no name of a server that has an address only.
  const checkServerIdentity = (_: string, shown: PeerCertificate): Error | undefined => {
    const problems = hosts.map((host) => checkIdentity(host, shown));
    return problems.includes(undefined) ? undefined : problems[0];
  };
  const isSecure = Object.keys(tls).length > 0 || urls.some(({ protocol }) => protocol === "tls:");
  return {
    name: ROOT,
    servers: urls.map(({ host, port }) => (port === "" ? `${host}:4222` : host)),
    secret,
    ...(user === "" ? {} : pass === "" ? { token: user } : { user, pass }),
    ...(isSecure ? { tls: { ...tls, checkServerIdentity } as TlsOptions } : {}),
    ...{ inboxPrefix: `${ROOT}.inbox`, reconnect: false, noAsyncTraces: true },
    ...{ timeout: CONNECT_MS, pingInterval: PING_MS, maxPingOut: MOST_PINGS },
  };
}

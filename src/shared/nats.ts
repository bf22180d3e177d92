/** Settings of NATS, and a connection that is opened again whenever it is lost. Only a cluster loads the client. */
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { checkServerIdentity as checkIdentity, type PeerCertificate } from "node:tls";
import type { ConnectionOptions, NatsConnection, TlsOptions } from "@nats-io/transport-node";
import type { Logger } from "pino";
import { type Config, ConfigError } from "./config.js";
import { reasonOf } from "./system.js";

/** The first token of all subjects. */
export const ROOT = "fieldprobe";
const CONNECT_MS = 3_000;
/** Interval of pings to a silent server, and how many may be pending. */
const PING_MS = 1_000;
const MAX_PINGS = 2;
/** Time between two attempts to connect. */
const RETRY_MS = 250;
/** Time that the last messages may take at the end. */
const FLUSH_MS = 500;

/** Options of connections, and the content of a file of credentials, or an NKEY. */
export interface NatsOptions extends ConnectionOptions {
  readonly secret: Uint8Array | null;
}

/** Reads a file named by a setting. Throws ConfigError. */
function read(variable: string, path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new ConfigError([`FIELDPROBE_${variable}: ${path}: ${reasonOf(error)}`]);
  }
}

/** The address of a server without a password. Throws ConfigError. */
function parseServer(text: string): URL {
  const whole = /^\w+:\/\//.test(text) ? text : `nats://${text}`;
  const url = URL.canParse(whole) ? new URL(whole) : null;
  if (url !== null && ["nats:", "tls:"].includes(url.protocol) && url.hostname !== "") return url;
  throw new ConfigError([`FIELDPROBE_NATS: ${url?.host || text} is not an address like nats://10.0.0.1:4222`]);
}

/** Options of connections to NATS; null without servers. Throws ConfigError when settings cannot be used. */
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
  // The client gives TLS no server name if the address has none.
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
    inboxPrefix: `${ROOT}.inbox`,
    reconnect: false,
    noAsyncTraces: true,
    timeout: CONNECT_MS,
    pingInterval: PING_MS,
    maxPingOut: MAX_PINGS,
  };
}

/** The client, which only a cluster needs. */
const client = () => import("@nats-io/transport-node");

/** Makes an NKEY and keeps its seed in a new file. Returns the public part. Throws the error of the system. */
export async function writeNkey(path: string): Promise<string> {
  const { nkeys } = await client();
  const key = nkeys.createUser();
  writeFileSync(path, key.getSeed(), { mode: 0o600, flag: "wx" });
  return key.getPublicKey();
}

/** Opens a connection. Throws Error in words. */
export async function openNats({ secret, ...options }: NatsOptions): Promise<NatsConnection> {
  const { connect, credsAuthenticator, nkeyAuthenticator } = await client();
  // A secret is the seed of an NKEY, or the content of a file of credentials.
  const text = Buffer.from(secret ?? [])
    .toString()
    .trim();
  const isSeed = /^S[A-Z2-7]{57}$/.test(text);
  try {
    if (secret === null) return await connect(options);
    const authenticator = isSeed ? nkeyAuthenticator(Buffer.from(text)) : credsAuthenticator(secret);
    return await connect({ ...options, authenticator });
  } catch (error) {
    throw new Error(`NATS (${[options.servers].flat().join(", ")}): ${reasonOf(error)}`);
  }
}

/** Callbacks of a link: each connection is a new session. */
interface LinkEvents {
  up(connection: NatsConnection): void;
  down(): void;
}

/** A connection that is opened again whenever it is lost. */
export class NatsLink {
  readonly #end = new AbortController();
  #connection: NatsConnection | null = null;
  /** The reason why there is no connection; null if there is one. */
  problem: string | null = "not connected yet";

  constructor(options: NatsOptions, log: Logger, events: LinkEvents) {
    void this.#run(options, log, events);
  }

  async #run(options: NatsOptions, log: Logger, events: LinkEvents): Promise<void> {
    const { signal } = this.#end;
    let logged: string | null = null;
    while (!signal.aborted) {
      try {
        this.#connection = await openNats(options);
        if (signal.aborted) break;
        log.info({ server: this.#connection.getServer() }, "connected to NATS");
        logged = null;
        this.problem = null;
        events.up(this.#connection);
        const error = await this.#connection.closed();
        this.problem = error ? reasonOf(error) : "closed";
        events.down();
        if (!signal.aborted) log.warn({ reason: error ? reasonOf(error) : "closed" }, "lost NATS: working alone");
      } catch (error) {
        // Logged once: strangers and wrong credentials are refused again and again.
        if (logged !== reasonOf(error)) log.warn({ reason: reasonOf(error) }, "no connection to NATS: working alone");
        logged = this.problem = reasonOf(error);
      }
      await delay(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
    await this.#connection?.close();
  }

  /** Flushes what was written, and closes. */
  async close(): Promise<void> {
    this.#end.abort();
    const connection = this.#connection;
    if (connection === null || connection.isClosed()) return;
    // A server that hangs acknowledges nothing.
    await Promise.race([connection.flush(), delay(FLUSH_MS, undefined, { ref: false })]).catch(() => undefined);
    await connection.close();
  }
}

/** Stays connected to the NATS servers of a cluster: while there is none, everything goes on without. */
import { writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import {
  type Authenticator,
  connect,
  credsAuthenticator,
  type NatsConnection,
  nkeyAuthenticator,
  nkeys,
} from "@nats-io/transport-node";
import type { Logger } from "pino";
import type { NatsOptions } from "./nats-options.js";
import { reasonOf } from "./system.js";

/** Time between two attempts to connect. */
const RETRY_MS = 250;
/** Time that the last messages may take at the end. */
const FLUSH_MS = 500;

/** Makes an NKEY and keeps its seed in a new file. @returns the public part @throws the error of the system */
export function writeNkey(path: string): string {
  const key = nkeys.createUser();
  writeFileSync(path, key.getSeed(), { mode: 0o600, flag: "wx" });
  return key.getPublicKey();
}

/** Opens a connection. @throws Error in words */
export async function openNats({ secret, ...options }: NatsOptions): Promise<NatsConnection> {
  try {
    return await connect(secret === null ? options : { ...options, authenticator: authenticatorOf(secret) });
  } catch (error) {
    throw new Error(`NATS (${[options.servers].flat().join(", ")}): ${reasonOf(error)}`);
  }
}

/** Shows a secret: the seed of an NKEY, or the content of a file of credentials. */
function authenticatorOf(secret: Uint8Array): Authenticator {
  const text = Buffer.from(secret).toString().trim();
  return /^S[A-Z2-7]{57}$/.test(text) ? nkeyAuthenticator(Buffer.from(text)) : credsAuthenticator(secret);
}

/** What a link reports: each connection is a new session. */
interface LinkEvents {
  up(connection: NatsConnection): void;
  down(): void;
}

/** A connection that is opened again whenever it is lost. */
export class NatsLink {
  readonly #end = new AbortController();
  #connection: NatsConnection | null = null;
  /** Why there is no connection; null if there is one. */
  problem: string | null = "not connected yet";

  constructor(options: NatsOptions, log: Logger, events: LinkEvents) {
    void this.#run(options, log, events);
  }

  async #run(options: NatsOptions, log: Logger, events: LinkEvents): Promise<void> {
    const { signal } = this.#end;
    let told: string | null = null;
    while (!signal.aborted) {
      try {
        this.#connection = await openNats(options);
        if (signal.aborted) break;
        log.info({ server: this.#connection.getServer() }, "connected to NATS");
        told = null;
        this.problem = null;
        events.up(this.#connection);
        const error = await this.#connection.closed();
        this.problem = error ? reasonOf(error) : "closed";
        events.down();
        if (!signal.aborted) log.warn({ reason: error ? reasonOf(error) : "closed" }, "lost NATS: working alone");
      } catch (error) {
        // Said once: strangers and wrong credentials are refused again and again.
        if (told !== reasonOf(error)) log.warn({ reason: reasonOf(error) }, "no connection to NATS: working alone");
        told = this.problem = reasonOf(error);
      }
      await delay(RETRY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
    await this.#connection?.close();
  }

  /** Sends what is written, and ends. */
  async close(): Promise<void> {
    this.#end.abort();
    const connection = this.#connection;
    if (connection === null || connection.isClosed()) return;
    // A server that has hung acknowledges nothing.
    await Promise.race([connection.flush(), delay(FLUSH_MS, undefined, { ref: false })]).catch(() => undefined);
    await connection.close();
  }
}

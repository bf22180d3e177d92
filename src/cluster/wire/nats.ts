/** The connection to NATS. */
import { readFileSync } from "node:fs";
import {
  type ConnectionOptions,
  createInbox,
  NatsConnectionImpl,
  nkeyAuthenticator,
  setTransportFactory,
} from "@nats-io/transport-node";
import { nodeResolveHost } from "@nats-io/transport-node/lib/node_transport.js";
import { BulkSocket } from "./bulk-socket.js";
import { MAX_MESSAGE_BYTES } from "./message.js";
import type { Channel, ConnectionEvent, Delivery, Transport } from "./transport.js";

/** Between two tries to reach a server again. */
const RECONNECT_MS = 50;
/** A server that leaves three pings unanswered is given up; so long, because a busy process is late in reading answers. */
const PING_MS = 5000;
const CONNECT_MS = 5000;
/** Status of the message that a server sends in place of an answer when nobody listens. */
const NO_RESPONDERS = 503;

export interface NatsSettings {
  readonly servers: readonly string[];
  /** File with the seed of an NKEY, or null. */
  readonly nkey: string | null;
  /** File with the authorities that servers are checked against; null: the system's for `tls://`, else TLS if a server wants it. */
  readonly ca: string | null;
  /** Shown by the server. */
  readonly name: string;
  /** First token of the subjects on which answers come back; the permissions name it. */
  readonly inboxPrefix: string;
}

/**
 * Connects.
 *
 * @throws Error with the reason, an unknown key or authority being one
 */
export async function connectNats({ servers, nkey, ca, name, inboxPrefix }: NatsSettings): Promise<Transport> {
  const options: ConnectionOptions = {
    servers: [...servers],
    name,
    inboxPrefix,
    timeout: CONNECT_MS,
    pingInterval: PING_MS,
    maxPingOut: 3,
    reconnectTimeWait: RECONNECT_MS,
    reconnectJitter: RECONNECT_MS,
    reconnectJitterTLS: RECONNECT_MS,
    maxReconnectAttempts: -1,
    // A key may be unknown for a while, until a server has its new configuration.
    ignoreAuthErrorAbort: true,
    noAsyncTraces: true,
  };
  if (nkey !== null)
    options.authenticator = nkeyAuthenticator(new TextEncoder().encode(readFileSync(nkey, "utf8").trim()));
  // Given, they refuse a server without TLS: the scheme of the address alone would not.
  if (ca !== null) options.tls = { caFile: ca };
  else if (servers.some((url) => url.startsWith("tls://"))) options.tls = {};
  setTransportFactory({ factory: () => new BulkSocket(), dnsResolveFn: nodeResolveHost });
  let connection: NatsConnectionImpl;
  try {
    connection = (await NatsConnectionImpl.connect(options)) as NatsConnectionImpl;
  } catch (error) {
    throw new Error(`no connection to NATS at ${servers.join(", ")}: ${(error as Error).message}`, { cause: error });
  }
  return new NatsTransport(connection, inboxPrefix);
}

class NatsTransport implements Transport {
  readonly inbox: string;
  readonly closed: Promise<Error | null>;
  readonly #connection: NatsConnectionImpl;
  readonly #listeners: ((event: ConnectionEvent) => void)[] = [];
  #closing: Promise<void> | null = null;

  constructor(connection: NatsConnectionImpl, inboxPrefix: string) {
    this.#connection = connection;
    this.inbox = createInbox(inboxPrefix);
    this.closed = connection.closed().then((error) => error ?? null);
    void this.#follow();
  }

  maxBytes(): number {
    return Math.min(MAX_MESSAGE_BYTES, this.#connection.info?.max_payload ?? MAX_MESSAGE_BYTES);
  }

  publish(subject: string, parts: readonly Uint8Array[], reply = ""): Promise<void> {
    if (this.#connection.isClosed() || this.#connection.protocol.noMorePublishing) return Promise.resolve();
    const bytes = parts.reduce((sum, { length }) => sum + length, 0);
    if (bytes > this.maxBytes()) throw new RangeError(`a message of ${bytes} bytes is larger than any may be`);
    const { connected, transport, outbound } = this.#connection.protocol;
    // Nothing overtakes what the client still has to send, a subscription for instance.
    if (connected && outbound.size() === 0 && transport instanceof BulkSocket && !transport.isClosed)
      return transport.publish(subject, reply, parts);
    this.#connection.publish(subject, Buffer.concat(parts), { reply });
    return Promise.resolve();
  }

  subscribe(subject: string, receive: (delivery: Delivery) => void, queue?: string): Channel {
    const subscription = this.#connection.subscribe(subject, {
      ...(queue === undefined ? {} : { queue }),
      callback: (error, { subject: from, reply = "", data, headers }) => {
        if (error) return;
        receive({ subject: from, reply, data, unanswered: headers?.code === NO_RESPONDERS });
      },
    });
    // What cannot be drained any more has been given up by the client.
    return { drain: () => subscription.drain().catch(() => {}) };
  }

  watch(listener: (event: ConnectionEvent) => void): void {
    this.#listeners.push(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  /** A connection that is lost cannot be drained; it would try to come back for ever. */
  async #end(): Promise<void> {
    if (this.#connection.isClosed()) return;
    await this.#connection.drain().catch(() => this.#connection.close());
  }

  async #follow(): Promise<void> {
    const events = new Map<string, ConnectionEvent>([
      ["disconnect", "lost"],
      ["reconnect", "restored"],
      ["update", "unsettled"],
    ]);
    for await (const { type } of this.#connection.status()) {
      const event = events.get(type);
      if (event) for (const listener of this.#listeners) listener(event);
    }
  }
}

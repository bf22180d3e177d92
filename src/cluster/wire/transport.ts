/** The transport interface of the cluster; `nats.ts` implements it over NATS, the tests in memory. */

/** A received message. */
export interface Delivery {
  readonly subject: string;
  /** Subject for the answer; empty when none is expected. */
  readonly reply: string;
  /** May be misaligned; valid until the receiver returns. */
  readonly data: Uint8Array;
  /** True in the notice that nobody listens where the message with this reply subject went. */
  readonly unanswered: boolean;
}

/** A subscription. */
export interface Channel {
  /** Ends the subscription; resolves once messages in flight have been delivered. */
  drain(): Promise<void>;
}

/**
 * Events of the connection: it was lost or restored, or servers came or went (`unsettled`), so that other clients may be
 * reconnecting.
 */
export type ConnectionEvent = "lost" | "restored" | "unsettled";

/** Publishes and receives messages. */
export interface Transport {
  /** Prefix of the reply subjects of this process. */
  readonly inbox: string;
  /** Largest message that the server takes now. */
  maxBytes(): number;
  /**
   * Publishes a message given in parts.
   *
   * @returns resolves once the parts may be changed again, or the connection is lost
   * @throws RangeError for more than `maxBytes`
   */
  publish(subject: string, parts: readonly Uint8Array[], reply?: string): Promise<void>;
  subscribe(subject: string, receive: (delivery: Delivery) => void, queue?: string): Channel;
  watch(listener: (event: ConnectionEvent) => void): void;
  /** Resolves when the connection has ended for good; with the reason unless `close` was called. */
  readonly closed: Promise<Error | null>;
  /** Sends the published messages, then ends the connection. */
  close(): Promise<void>;
}

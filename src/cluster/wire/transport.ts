/** What the cluster needs of a message system; `nats.ts` provides it, tests have one in memory. */

/** A message that has arrived. */
export interface Delivery {
  readonly subject: string;
  /** Where an answer goes; empty when none is wanted. */
  readonly reply: string;
  /** Perhaps misaligned, and only valid until the receiver returns. */
  readonly data: Uint8Array;
  /** Instead of a message: nobody listens where the message with this reply subject went. */
  readonly unanswered: boolean;
}

export interface Channel {
  /** Takes no more messages; resolves once those under way have been handed out. */
  drain(): Promise<void>;
}

/**
 * What happens to the connection: `lost` and `restored` are its own, `unsettled` means that servers came or went, so that
 * others may be on their way to another one.
 */
export type ConnectionEvent = "lost" | "restored" | "unsettled";

export interface Transport {
  /** Prefix of subjects that only this process hears. */
  readonly inbox: string;
  /** Largest message that it takes now. */
  maxBytes(): number;
  /**
   * Sends a message that consists of parts.
   *
   * @returns resolves once the parts may be changed again, which they must not be before; also when the connection is lost
   * @throws RangeError for more than `maxBytes`
   */
  publish(subject: string, parts: readonly Uint8Array[], reply?: string): Promise<void>;
  subscribe(subject: string, receive: (delivery: Delivery) => void, queue?: string): Channel;
  watch(listener: (event: ConnectionEvent) => void): void;
  /** Resolves when the connection has ended for good, with the reason where it was not asked to. */
  readonly closed: Promise<Error | null>;
  /** Sends what has been published, then ends the connection. */
  close(): Promise<void>;
}

/** A message system in memory: deliveries come in order, after the publisher's turn; nobody listening is said at once. */
import { MAX_MESSAGE_BYTES } from "../../../src/engine/cluster/message.js";
import type { ConnectionEvent, Delivery, Transport } from "../../../src/engine/cluster/transport.js";

interface Subscription {
  readonly pattern: RegExp;
  readonly queue: string | undefined;
  readonly receive: (delivery: Delivery) => void;
}

export class MemoryBus {
  readonly published: { readonly subject: string; readonly data: Uint8Array }[] = [];
  #subscriptions: Subscription[] = [];
  #listeners: ((event: ConnectionEvent) => void)[] = [];
  #clients = 0;
  #turn = 0;

  /** A connection. */
  connect(): Transport {
    const inbox = `inbox.${this.#clients++}`;
    return {
      inbox,
      maxBytes: () => MAX_MESSAGE_BYTES,
      closed: new Promise(() => {}),
      publish: (subject, data, reply = "") => this.publish(subject, data, reply),
      subscribe: (subject, receive, queue) => {
        const source = subject.replaceAll(".", "\\.").replace("*", "[^.]+");
        const subscription = { pattern: new RegExp(`^${source}$`), queue, receive };
        this.#subscriptions.push(subscription);
        const end = async (): Promise<void> => {
          this.#subscriptions = this.#subscriptions.filter((other) => other !== subscription);
        };
        return { drain: end };
      },
      watch: (listener) => {
        this.#listeners.push(listener);
      },
      close: async () => {},
    };
  }

  /** Tells every client what became of its connection. */
  tell(event: ConnectionEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  publish(subject: string, data: Uint8Array, reply = ""): void {
    this.published.push({ subject, data });
    queueMicrotask(() => {
      const matching = this.#subscriptions.filter(({ pattern }) => pattern.test(subject));
      const alone = matching.filter(({ queue }) => queue === undefined);
      const group = matching.filter(({ queue }) => queue !== undefined);
      const chosen = group.length > 0 ? [group[this.#turn++ % group.length] as Subscription] : [];
      for (const { receive } of [...alone, ...chosen]) receive({ subject, reply, data, unanswered: false });
      if (matching.length > 0 || reply === "") return;
      for (const { pattern, receive } of this.#subscriptions) {
        if (pattern.test(reply)) receive({ subject: reply, reply: "", data: new Uint8Array(0), unanswered: true });
      }
    });
  }
}

/** A message system in memory: deliveries come in order, after the publisher's turn, and are spoilt once they have been received. */
import { encodeHeader, type Header, MAX_MESSAGE_BYTES } from "../../src/cluster/wire/message.js";
import type { ConnectionEvent, Delivery, Transport } from "../../src/cluster/wire/transport.js";

/** A whole message. */
export function messageOf(header: Header, values: Uint8Array | number = 0): Uint8Array<ArrayBuffer> {
  const bytes = typeof values === "number" ? new Uint8Array(values) : values;
  return new Uint8Array(Buffer.concat([encodeHeader(header), bytes]));
}

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
      publish: (subject, parts, reply = "") => this.publish(subject, parts, reply),
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

  publish(subject: string, parts: readonly Uint8Array[], reply = ""): Promise<void> {
    const data = new Uint8Array(Buffer.concat(parts));
    if (data.length > MAX_MESSAGE_BYTES) throw new RangeError(`${data.length} bytes`);
    this.published.push({ subject, data });
    queueMicrotask(() => {
      const matching = this.#subscriptions.filter(({ pattern }) => pattern.test(subject));
      const alone = matching.filter(({ queue }) => queue === undefined);
      const group = matching.filter(({ queue }) => queue !== undefined);
      const chosen = group.length > 0 ? [group[this.#turn++ % group.length] as Subscription] : [];
      for (const { receive } of [...alone, ...chosen]) {
        const lent = data.slice();
        receive({ subject, reply, data: lent, unanswered: false });
        lent.fill(0xa5);
      }
      if (matching.length > 0 || reply === "") return;
      for (const { pattern, receive } of this.#subscriptions) {
        if (pattern.test(reply)) receive({ subject: reply, reply: "", data: new Uint8Array(0), unanswered: true });
      }
    });
    return Promise.resolve();
  }
}

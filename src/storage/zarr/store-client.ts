/**
 * The store client asks the store thread and waits for its answers: files are read by calls that return values, so a
 * thread that computes sleeps until the store thread wakes it.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { BusyError, DataError } from "../../errors.js";
import type { StoreAnswer, StoreReplies, StoreRequest } from "./protocol.js";
import { type StorePort, StoreThread } from "./store-thread.js";

/** Time after which an answer is no longer waited for. */
const PATIENCE_MS = 60_000;

/** How long an answer is waited for. */
export interface Patience {
  readonly patienceMs?: number;
}

/** Hands a connection to the store thread. */
export type StoreConnector = (connection: StorePort) => void;

/** The connection of this thread to the store thread. */
export class StoreClient {
  static #ofThread: StoreClient | null = null;
  static #connector: StoreConnector | null = null;
  readonly #port: MessagePort;
  readonly #signal = new Int32Array(new SharedArrayBuffer(4));
  #requests = 0;

  private constructor(connect: StoreConnector) {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.unref();
    connect({ port: port2, signal: this.#signal });
  }

  /** The client of this thread, which connects at its first use. */
  static ofThread(): StoreClient {
    StoreClient.#ofThread ??= new StoreClient(StoreClient.#connector ?? ownThread());
    return StoreClient.#ofThread;
  }

  /** Connects this thread to a store thread that it shares with others, rather than to one of its own. */
  static share(connector: StoreConnector): void {
    StoreClient.#connector = connector;
  }

  /** Has a request worked on whose answer somebody may ask for later. */
  announce(request: StoreRequest): void {
    this.#port.postMessage({ id: ++this.#requests, request });
  }

  /**
   * Asks and waits.
   *
   * @param patienceMs time after which the answer is no longer waited for
   * @throws DataError, or BusyError where another try may succeed
   */
  ask<Request extends StoreRequest>(request: Request, patienceMs = PATIENCE_MS): StoreReplies[Request["kind"]] {
    const id = ++this.#requests;
    this.#port.postMessage({ id, request });
    const end = performance.now() + patienceMs;
    for (;;) {
      const seen = Atomics.load(this.#signal, 0);
      for (;;) {
        const received = receiveMessageOnPort(this.#port) as { readonly message: StoreAnswer } | undefined;
        if (received === undefined) break;
        // An answer to an earlier request came after its caller had given up.
        if (received.message.id === id) return resultOf(received.message) as StoreReplies[Request["kind"]];
      }
      const left = end - performance.now();
      if (left <= 0) throw new BusyError(`${request.store} has not answered in ${patienceMs / 1000} s.`);
      Atomics.wait(this.#signal, 0, seen, left);
    }
  }
}

function ownThread(): StoreConnector {
  const thread = new StoreThread();
  return (connection) => thread.connect(connection);
}

function resultOf(answer: StoreAnswer): unknown {
  if ("value" in answer) return answer.value;
  throw answer.busy ? new BusyError(answer.message) : new DataError(answer.message);
}

/** Connection of this thread to the store thread. Calls are synchronous: this thread sleeps until it is woken. */
import { randomUUID } from "node:crypto";
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { BusyError, DataError } from "../../shared/errors.js";
import { ReadMemory } from "../../shared/read-memory.js";
import type { OpenRequest, StoreAnswer, StoreMessage, StoreReplies, StoreRequest } from "./protocol.js";
import { ENDED, type StorePort } from "./store-port.js";
import { StoreThread } from "./store-thread.js";

const TIMEOUT_MS = 60_000;

export type OpenOptions = Omit<OpenRequest, "store"> & { readonly timeoutMs?: number };

export type StoreConnector = (connection: StorePort) => void;

export class StoreClient {
  static #ofThread: StoreClient | null = null;
  static #connector: StoreConnector | null = null;
  readonly #connect: StoreConnector;
  #port: MessagePort;
  #signal: Int32Array;
  /** Answers that will be collected later, null until they arrive. */
  readonly #awaited = new Map<number, StoreAnswer | null>();
  #requests = 0;
  #scan: string | undefined;

  constructor(connect: StoreConnector) {
    this.#connect = connect;
    [this.#port, this.#signal] = connected(connect);
  }

  static ofThread(): StoreClient {
    StoreClient.#ofThread ??= new StoreClient(StoreClient.#connector ?? ownThread());
    return StoreClient.#ofThread;
  }

  static share(connector: StoreConnector): void {
    StoreClient.#connector = connector;
  }

  /**
   * Sends a request and waits. Lent elements and bytes must be given back after copying.
   * @throws DataError, or BusyError if a retry may succeed
   */
  ask<Request extends StoreRequest>(request: Request, timeoutMs = TIMEOUT_MS): StoreReplies[Request["kind"]] {
    return this.send(request)(timeoutMs);
  }

  /** Sends a request. Returns a function, called once, that waits for the answer. */
  send<Request extends StoreRequest>(request: Request): (timeoutMs: number) => StoreReplies[Request["kind"]] {
    const id = this.post(request);
    this.#awaited.set(id, null);
    return (timeoutMs) => {
      try {
        return resultOf(this.#wait(id, timeoutMs, request.store)) as StoreReplies[Request["kind"]];
      } finally {
        this.#awaited.delete(id);
      }
    };
  }

  beginScan(): void {
    this.#scan = randomUUID();
  }

  endScan(): void {
    this.#scan = undefined;
    this.#awaited.clear();
  }

  /** Requests files that the scan of this thread will open; others are requested when they are opened. */
  lookAhead(files: readonly string[]): void {
    if (this.#scan === undefined) return;
    for (const store of files) this.post({ kind: "file", store });
  }

  post(request: StoreRequest): number {
    if (Atomics.load(this.#signal, 0) === ENDED) this.#reconnect();
    const isOpening = request.kind === "open" || request.kind === "file";
    const message = { id: ++this.#requests, request: isOpening ? { ...request, scan: this.#scan } : request };
    this.#port.postMessage(message satisfies StoreMessage);
    return message.id;
  }

  #wait(id: number, timeoutMs: number, store: string): StoreAnswer {
    const end = performance.now() + timeoutMs;
    for (;;) {
      const seen = Atomics.load(this.#signal, 0);
      this.#receive();
      const answer = this.#awaited.get(id);
      if (answer) return answer;
      if (seen === ENDED || answer === undefined)
        throw new BusyError(`${store} was not read: the thread that reads stores has ended.`);
      const left = end - performance.now();
      if (left <= 0) throw new BusyError(`${store} has not answered in time.`);
      Atomics.wait(this.#signal, 0, seen, left);
    }
  }

  /** Answers that the ended thread still owes are no longer awaited. */
  #reconnect(): void {
    this.#receive();
    for (const [id, answer] of this.#awaited) if (answer === null) this.#awaited.delete(id);
    this.#port.close();
    [this.#port, this.#signal] = connected(this.#connect);
  }

  #receive(): void {
    for (;;) {
      const received = receiveMessageOnPort(this.#port) as { readonly message: StoreAnswer } | undefined;
      if (received === undefined) return;
      const { message } = received;
      const lent = "lent" in message ? message.lent : [];
      for (const view of lent) ReadMemory.ofThread().receive(view);
      if (this.#awaited.has(message.id)) this.#awaited.set(message.id, message);
      else for (const view of lent) ReadMemory.ofThread().giveBack(view);
    }
  }
}

function connected(connect: StoreConnector): [MessagePort, Int32Array] {
  const { port1, port2 } = new MessageChannel();
  const signal = new Int32Array(new SharedArrayBuffer(4));
  port1.unref();
  connect({ port: port2, signal });
  return [port1, signal];
}

function ownThread(): StoreConnector {
  const thread = new StoreThread();
  return (connection) => thread.connect(connection);
}

function resultOf(answer: StoreAnswer): unknown {
  if ("value" in answer) return answer.value;
  const { message, isBusy, context } = answer;
  throw isBusy ? new BusyError(message, context.retryAfter) : new DataError(message, undefined, context);
}

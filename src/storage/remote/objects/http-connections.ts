/** Sends requests to hosts over keep-alive connections. */
import type { IncomingHttpHeaders } from "node:http";
import type { LookupFunction } from "node:net";
import type { Agent, Dispatcher } from "undici";
import { copyToShared, ReadMemory } from "../../../shared/read-memory.js";

/** Time after which an unused connection is closed; many hosts close theirs after five seconds. */
const IDLE_MS = 4000;

export interface HttpRequest {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
}

export interface HttpHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

export interface HttpAnswer extends HttpHead {
  /** In lent memory if the host announced its length, so that other threads can use it without a copy. */
  readonly body: Uint8Array;
}

/** Number of bytes of a body to read; the connection is closed when more arrive. Its error ends the request. */
export type NeededBytes = (head: HttpHead) => number;

export class HttpConnections {
  readonly #options: Agent.Options;
  /** Loaded by the first request: the library takes longer to load than a picture of local files takes. */
  #agent: Agent | null = null;

  constructor(lookup?: LookupFunction) {
    // Each request bounds its time by a signal and its bytes by `needed`.
    const unbounded = { headersTimeout: 0, bodyTimeout: 0, maxResponseSize: -1 };
    const connect = { timeout: 0, ...(lookup === undefined ? {} : { lookup }) };
    this.#options = { ...unbounded, keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS, connect };
  }

  /**
   * Sends a request. Redirections are not followed, and bodies are returned as sent.
   * @throws the reason of the signal, an error of the connection, or the error of `needed`
   */
  async send(address: string, request: HttpRequest, signal: AbortSignal, needed: NeededBytes): Promise<HttpAnswer> {
    const { Agent } = await import("undici");
    this.#agent ??= new Agent(this.#options);
    const agent = this.#agent;
    const { origin, pathname, search } = new URL(address);
    const { method, headers, body } = request;
    return new Promise((resolve, reject) => {
      const answer = new CollectedAnswer(signal, needed, resolve, reject);
      const sent = { "user-agent": "fieldprobe", ...headers };
      agent.dispatch({ origin, path: pathname + search, method, headers: sent, body }, answer);
    });
  }
}

class CollectedAnswer implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal;
  readonly #needed: NeededBytes;
  readonly #resolve: (answer: HttpAnswer) => void;
  readonly #reject: (error: unknown) => void;
  #head: HttpHead = { status: 0, headers: {} };
  #most = 0;
  #body: Uint8Array | null = null;
  readonly #parts: Buffer[] = [];
  #length = 0;
  #stop: () => void = () => {};

  constructor(
    signal: AbortSignal,
    needed: NeededBytes,
    resolve: (answer: HttpAnswer) => void,
    reject: (error: unknown) => void,
  ) {
    [this.#signal, this.#needed, this.#resolve, this.#reject] = [signal, needed, resolve, reject];
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#stop = () => {
      this.#reject(this.#signal.reason);
      controller.abort(this.#signal.reason as Error);
    };
    if (this.#signal.aborted) this.#stop();
    else this.#signal.addEventListener("abort", this.#stop, { once: true });
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#head = { status, headers };
    try {
      this.#most = this.#needed(this.#head);
    } catch (error) {
      this.#reject(error);
      this.#end(controller);
      return;
    }
    const announced = headers["content-length"];
    if (announced === undefined) return;
    this.#body = ReadMemory.ofThread().allocate(Math.min(Number(announced), this.#most));
  }

  onResponseData(controller: Dispatcher.DispatchController, part: Buffer): void {
    const left = this.#most - this.#length;
    const wanted = part.length > left ? part.subarray(0, left) : part;
    if (this.#body === null) this.#parts.push(wanted);
    else copyToShared(wanted, this.#body, this.#length);
    this.#length += wanted.length;
    if (part.length <= left) return;
    this.#done();
    this.#end(controller);
  }

  onResponseEnd(): void {
    this.#done();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.#signal.removeEventListener("abort", this.#stop);
    this.#reject(error);
  }

  #done(): void {
    this.#signal.removeEventListener("abort", this.#stop);
    this.#resolve({ ...this.#head, body: this.#body?.subarray(0, this.#length) ?? Buffer.concat(this.#parts) });
  }

  #end(controller: Dispatcher.DispatchController): void {
    controller.abort(new Error("the rest of the answer is not needed"));
  }
}

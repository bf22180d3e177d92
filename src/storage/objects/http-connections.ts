/** `HttpConnections` sends requests to hosts, and keeps connections for a while so that they can be used again. */
import type { LookupFunction } from "node:net";
import { Agent, type Dispatcher, request } from "undici";

/** Time after which an unused connection is closed; many hosts close theirs after five seconds. */
const IDLE_MS = 4000;

/** What is sent to a host. */
export interface HttpRequest {
  readonly method: "GET" | "PUT" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
}

/** An answer, once its headers are there; its body must be read or destroyed. */
export type HttpAnswer = Dispatcher.ResponseData;

export class HttpConnections {
  readonly #agent: Agent;

  /** @param lookup finds the address of a host for a connection, and may refuse it; absent: the system's */
  constructor(lookup?: LookupFunction) {
    // Time is bounded by the signal of each request, and bytes by those who read.
    const unbounded = { headersTimeout: 0, bodyTimeout: 0, maxResponseSize: -1 };
    const connect = { timeout: 0, ...(lookup === undefined ? {} : { lookup }) };
    this.#agent = new Agent({ ...unbounded, keepAliveTimeout: IDLE_MS, keepAliveMaxTimeout: IDLE_MS, connect });
  }

  /**
   * Sends a request. Redirections are not followed, and bodies come as they were sent.
   *
   * @throws the reason of the signal, the error of the lookup, or that of the connection
   */
  send(address: string, { method, headers, body }: HttpRequest, signal: AbortSignal): Promise<HttpAnswer> {
    const dispatcher = this.#agent;
    return request(address, {
      method,
      headers: { "user-agent": "fieldprobe", ...headers },
      body,
      signal,
      dispatcher,
    });
  }
}

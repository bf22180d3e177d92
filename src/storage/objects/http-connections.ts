/** HTTP connections send requests to hosts, and keep connections for a while so that they can be used again. */
import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import type { LookupFunction } from "node:net";

/** Time after which a connection that nobody uses is closed; many hosts close them after five seconds. */
const IDLE_MS = 4000;

/** What is sent to a host. */
export interface HttpRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  /** Finds the address of the host where a connection is made, and may refuse it; absent: the system's. */
  readonly lookup?: LookupFunction | undefined;
}

export class HttpConnections {
  readonly #plain = new PlainAgent({ keepAlive: true, timeout: IDLE_MS });
  readonly #secure = new SecureAgent({ keepAlive: true, timeout: IDLE_MS });

  /**
   * Sends a request. Redirections are not followed, and bodies come as they were sent.
   *
   * @returns the answer, once its headers are there
   * @throws the reason of the signal, the error of the lookup, or that of the connection
   */
  send(address: string, { method, headers, body, lookup }: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
    const url = new URL(address);
    const isSecure = url.protocol === "https:";
    const options = {
      method,
      headers: { "user-agent": "fieldprobe", ...headers },
      signal,
      agent: isSecure ? this.#secure : this.#plain,
      ...(lookup === undefined ? {} : { lookup }),
    };
    return new Promise((resolve, reject) => {
      const request = (isSecure ? secureRequest : plainRequest)(url, options, resolve);
      request.on("error", (error) => reject(signal.aborted ? signal.reason : error));
      request.end(body);
    });
  }
}

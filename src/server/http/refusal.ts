/** `HttpRefusal` is the refusal of a request by HTTP alone: a status and a line of text. */

import type { FastifyInstance } from "fastify";

/** An error that every interface lets through as it is. */
export class HttpRefusal extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = "HttpRefusal";
    this.status = status;
    this.headers = headers;
  }
}

/** The refusal of a body that is longer than `http.bodyBytes`. */
export function bodyTooLarge(): HttpRefusal {
  return new HttpRefusal(413, "The body is too large.", { connection: "close" });
}

/** Refuses a compressed body, which nobody inflates. */
export function refuseEncoded(encoding: string | undefined): void {
  if (encoding === undefined || encoding.trim().toLowerCase() === "identity") return;
  throw new HttpRefusal(415, "Compressed requests are not taken.", { "accept-encoding": "identity" });
}

/**
 * Refuses the requests under `prefix` that no route takes, before their bodies are read: whatever they hold, nobody
 * asked for it.
 *
 * @param refusalOf the refusal of a path
 */
export async function refuseTheRest(
  app: FastifyInstance,
  prefix: string,
  refusalOf: (path: string) => HttpRefusal,
): Promise<void> {
  await app.register(
    async (nowhere) => {
      nowhere.addHook("onRequest", (request, _reply, done) => done(refusalOf(request.url.split("?", 1)[0])));
      nowhere.setNotFoundHandler(() => undefined);
    },
    { prefix },
  );
}

/** Refusals of requests by HTTP alone: a status and a line of text. */
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import { BusyError, DataError, fullDisk, RequestError } from "../../shared/errors.js";
import { describeError, isFullDisk, isOutOfFiles } from "../../shared/system.js";

/** An error that every interface passes on unchanged. */
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

interface Failed {
  readonly id: string;
  readonly log: Pick<FastifyBaseLogger, "error">;
}

/** Turns a transient refusal of the operating system into Busy, and logs it; returns other errors unchanged. */
export function busyIfPassing(error: unknown, { id, log }: Failed): unknown {
  const full = isFullDisk(error);
  if (!full && !isOutOfFiles(error)) return error;
  log.error(
    { reqId: id, reason: describeError(error) },
    `a request found ${full ? "no room on the disk" : "too many files open"}`,
  );
  return full ? fullDisk(error) : new BusyError("The service has too many files open.", 1, error);
}

/** Logs what a service answers for with this code: data that cannot be read by the reason, anything else as it is. */
export function logFailure(error: unknown, code: string, { id, log }: Failed): void {
  const cause = error instanceof DataError && error.cause instanceof Error ? ` ${error.cause.message}` : "";
  const said = error instanceof DataError ? { reason: `${error.message}${cause}` } : { err: error };
  if (code === "Internal" || code === "DataError") log.error({ reqId: id, ...said }, "a request failed");
}

/** The answer to an error outside all interfaces: a status and a line of text. */
export function plainRefusal(
  thrown: unknown,
  request: Failed,
): { readonly status: number; readonly headers: HttpRefusal["headers"]; readonly body: string } {
  const type = { "content-type": "text/plain; charset=utf-8" };
  const error = busyIfPassing(thrown, request);
  if (error instanceof BusyError) {
    const headers = { ...type, "retry-after": String(error.context.retryAfter) };
    return { status: 503, headers, body: `${error.message}\n` };
  }
  if (error instanceof HttpRefusal)
    return { status: error.status, headers: { ...type, ...error.headers }, body: `${error.message}\n` };
  const status = (error as { statusCode?: number }).statusCode ?? 500;
  if (status < 500) return { status, headers: type, body: "The request is not valid.\n" };
  request.log.error({ reqId: request.id, err: error }, "a request failed");
  return { status, headers: type, body: "The service failed.\n" };
}

/** The refusal of a body longer than `http.bodyBytes`, or than its form allows. `instead`: what to send instead. */
export function bodyTooLarge(instead = ""): HttpRefusal {
  return new HttpRefusal(413, `The body is too large${instead}.`, { connection: "close" });
}

export function refuseEncoded(encoding: string | undefined): void {
  if (encoding === undefined || encoding.trim().toLowerCase() === "identity") return;
  throw new HttpRefusal(415, "Compressed requests are not supported.", { "accept-encoding": "identity" });
}

/**
 * Refuses requests under `prefix` that no route takes, before their bodies are read.
 * @param refusalOf the refusal of a path
 */
export async function refuseOtherRequests(
  app: FastifyInstance,
  prefix: string,
  refusalOf: (path: string) => HttpRefusal,
): Promise<void> {
  await app.register(
    async (nowhere) => {
      const refuse = (url: string) => refusalOf(url.split("?", 1)[0] as string);
      nowhere.addHook("onRequest", (request, _reply, done) => done(refuse(request.url)));
      // Reached by routes without a file: folders of files.
      nowhere.setNotFoundHandler((request) => {
        throw refuse(request.url);
      });
    },
    { prefix },
  );
}

export function refuse(member: string, message: string): RequestError {
  return new RequestError("InvalidRequest", message, { member });
}

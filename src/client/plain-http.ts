/** Posts JSON to `/api`, and turns refusals into errors of the client. */
import { ClientError, type ClientErrorCode } from "./error.js";
import { fetchFailure, untilAnswered } from "./retries.js";
import { endpoint } from "./transport.js";

/** A problem as the service answers it. */
interface Problem {
  readonly code?: ClientErrorCode;
  readonly detail?: string;
  readonly member?: string;
  readonly limit?: string;
  readonly requestId?: string;
}

/** The service's base address, from it or from its endpoint. */
export function baseOf(url: string): string {
  return endpoint(url).replace(/\/service\/[^/]*$/, "");
}

/**
 * Posts a body and returns the answer; a busy service is asked again.
 *
 * @param path below `/api/datasets/`
 * @throws ClientError
 */
export async function postTo(
  url: string,
  path: string,
  body: unknown,
  accept: string,
  token: unknown,
  signal: AbortSignal,
): Promise<{ readonly bytes: ArrayBuffer; readonly headers: Headers }> {
  const base = baseOf(url);
  const request = {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept,
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
    signal,
  };
  const failed = (error: unknown): never => {
    if (signal.aborted) throw signal.reason;
    throw fetchFailure(base, error);
  };
  return untilAnswered(async () => {
    const response = await fetch(`${base}/api/datasets/${path}`, request).catch(failed);
    if (!response.ok) throw await refusalOf(response);
    return { bytes: await response.arrayBuffer().catch(failed), headers: response.headers };
  }, signal);
}

/** The error of a refusal. One of the body's size names no limit if it comes before the body is read. */
async function refusalOf(response: Response): Promise<ClientError> {
  const { status, statusText, headers } = response;
  const problem = (await response.json().catch(() => ({}))) as Problem;
  const { code = "Http", detail = statusText, member, limit = status === 413 ? "http.bodyBytes" : undefined } = problem;
  const { requestId } = problem;
  const retryAfter = Number(headers.get("retry-after") ?? Number.NaN);
  return new ClientError(code, detail, {
    status,
    ...(member === undefined ? {} : { member }),
    ...(limit === undefined ? {} : { limit }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(Number.isFinite(retryAfter) ? { retryAfter } : {}),
  });
}

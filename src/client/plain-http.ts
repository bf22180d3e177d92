/** Sends requests to `/api`, and turns refusals into errors of the client. */
import type { Fault } from "../shared/errors.js";
import { ClientError, type ClientErrorCode, present, secondsOf } from "./error.js";
import { fetchFailure, untilAnswered } from "./retries.js";
import { endpoint } from "./transport.js";

interface Problem {
  readonly code?: ClientErrorCode;
  readonly detail?: string;
  readonly member?: string;
  readonly limit?: string;
  readonly requestId?: string;
  readonly errors?: readonly Fault[];
}

export function baseOf(url: string): string {
  return endpoint(url).replace(/\/service\/[^/]*$/, "");
}

/** A question as JSON. Throws ClientError for what JSON would turn into null, which means "not given": NaN, a hole. */
export function bodyOf(question: Readonly<Record<string, unknown>>): string {
  for (const [member, given] of Object.entries(question))
    JSON.stringify(given, function (this: unknown, _, value: unknown) {
      const isHole = value === undefined && Array.isArray(this);
      if (!isHole && (typeof value !== "number" || Number.isFinite(value))) return value;
      throw new ClientError("InvalidRequest", `${member}: ${value} is not a number.`, { member });
    });
  return JSON.stringify(question);
}

export interface PlainRequest {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Float32Array<ArrayBuffer> | Buffer<ArrayBuffer>;
}

/** Sends a request, again if the service is busy, and reads the whole answer. Throws ClientError, also of a refusal. */
export async function askWhole(
  ...[url, path, request, token, signal]: Parameters<typeof ask>
): Promise<{ readonly bytes: ArrayBuffer; readonly headers: Headers }> {
  return untilAnswered(async () => {
    const response = await ask(url, path, request, token, signal);
    return { bytes: await response.arrayBuffer().catch(failureOf(url, signal)), headers: response.headers };
  }, signal);
}

/** Sends a request once. Throws ClientError, also of a refusal. */
export async function ask(
  url: string,
  path: string,
  request: PlainRequest,
  token: unknown,
  signal: AbortSignal,
): Promise<Response> {
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const headers = { ...request.headers, ...authorization };
  const response = await fetch(`${baseOf(url)}${path}`, { ...request, headers, signal }).catch(failureOf(url, signal));
  if (!response.ok) throw await refusalOf(response);
  return response;
}

function failureOf(url: string, signal: AbortSignal): (error: unknown) => never {
  return (error) => {
    if (signal.aborted) throw signal.reason;
    throw fetchFailure(baseOf(url), error);
  };
}

/** The error of a refusal. One of the body's size names no limit if it comes before the body is read. */
async function refusalOf(response: Response): Promise<ClientError> {
  const { status, statusText, headers } = response;
  const problem = (await response.json().catch(() => ({}))) as Problem;
  const { code = "Http", detail = statusText, member, requestId, errors: faults } = problem;
  const { limit = status === 413 ? "http.bodyBytes" : undefined } = problem;
  const retryAfter = secondsOf(headers.get("retry-after"));
  return new ClientError(code, detail, present({ status, member, limit, requestId, retryAfter, faults }));
}

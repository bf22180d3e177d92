/** Sends requests to `/api`, and turns refusals into errors of the client. */
import type { Fault } from "../shared/errors.js";
import { ClientError, type ClientErrorCode, present, secondsOf } from "./error.js";
import { untilAnswered } from "./retries.js";
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

/** A question as JSON. Throws ClientError for what JSON has not: NaN, a hole, a function, points without rows. */
export function bodyOf(question: Readonly<Record<string, unknown>>): string {
  let member = "";
  return JSON.stringify(question, function (this: unknown, name, value: unknown) {
    if (this === question) member = name;
    const isListed = Array.isArray(this);
    // Numbers in a row do not say how many a point has.
    const isFlat = ArrayBuffer.isView(value) && (member === "points" ? !isListed : value instanceof DataView);
    if (ArrayBuffer.isView(value) && !isFlat) return Array.from(value as Float64Array);
    const isDropped = (value === undefined && isListed) || isFlat || /function|symbol|bigint/.test(typeof value);
    if (!isDropped && (typeof value !== "number" || Number.isFinite(value))) return value;
    const found = isFlat ? "an array without rows" : String(value);
    throw new ClientError("InvalidRequest", `${member}: ${found} is neither a number nor a text.`, { member });
  });
}

/** Throws ClientError unless an answer has a type: something between may answer with a page of its own. */
export function checkType(headers: Headers, type: string): void {
  const given = headers.get("content-type") ?? "nothing";
  if (!given.startsWith(type)) throw new ClientError("Protocol", `The answer is ${given} instead of ${type}.`);
}

export interface PlainRequest {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Float32Array<ArrayBuffer> | Buffer<ArrayBuffer>;
}

/** Sends a request, again if the service is busy, and reads the whole answer. Throws ClientError, also of a refusal. */
export async function sendWithRetries(
  ...[url, path, request, token, signal]: Parameters<typeof sendOnce>
): Promise<{ readonly bytes: ArrayBuffer; readonly headers: Headers }> {
  return untilAnswered(async () => {
    const response = await sendOnce(url, path, request, token, signal);
    return { bytes: await response.arrayBuffer().catch(failureOf(url, signal)), headers: response.headers };
  }, signal);
}

/** Sends a request once. Throws ClientError, also of a refusal. */
export async function sendOnce(
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
    const { message, cause } = error as Error & { cause?: { code?: string; message?: string } };
    const why = cause === undefined ? message : [cause.code, cause.message].filter(Boolean).join(": ");
    throw new ClientError("Network", `${baseOf(url)}: ${why}`);
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

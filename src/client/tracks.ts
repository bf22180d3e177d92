/**
 * Tracks particles over plain HTTP, where integrators can be chosen and answers have the times of exits; SOAP has no
 * place for either.
 */
import { RECORDS } from "../operations.js";
import { ClientError, type ClientErrorCode } from "./error.js";
import { fetchFailure, untilAnswered } from "./retries.js";
import { endpoint } from "./transport.js";

/** Records of tracks. */
export type TrackRecord = "Point3" | "Exit" | "Steps" | "ExitSteps";

/** A problem as the service answers it. */
interface Problem {
  readonly code?: ClientErrorCode;
  readonly detail?: string;
  readonly member?: string;
  readonly limit?: string;
  readonly requestId?: string;
}

/**
 * Asks for the positions of some particles; with the times at which they have left if they stop at open faces.
 *
 * @param url     the service's base address or its endpoint
 * @param members parameters and arrays of the operation by name, and the options of tracking
 * @param count   the number of points
 * @returns the records of the points, and their name
 * @throws ClientError
 */
export async function askTracks(
  url: string,
  operation: string,
  { dataset, authToken, openFaces, integrator, tolerance, ...members }: Readonly<Record<string, unknown>>,
  count: number,
  signal: AbortSignal,
): Promise<{ readonly record: TrackRecord; readonly values: Float32Array }> {
  const base = endpoint(url).replace(/\/service\/[^/]*$/, "");
  const options = Object.entries({ openFaces, integrator, tolerance }).filter(([, value]) => value !== undefined);
  const asked = new URLSearchParams(options.map(([name, value]): [string, string] => [name, String(value)]));
  const address = `${base}/api/datasets/${encodeURIComponent(String(dataset))}/${operation}?${asked}`;
  const request = {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/octet-stream",
      ...(authToken === undefined ? {} : { authorization: `Bearer ${authToken}` }),
    },
    body: JSON.stringify(members),
    signal,
  };
  const failed = (error: unknown): never => {
    if (signal.aborted) throw signal.reason;
    throw fetchFailure(base, error);
  };
  const body = await untilAnswered(async () => {
    const response = await fetch(address, request).catch(failed);
    if (!response.ok) throw await refusalOf(response);
    return response.arrayBuffer().catch(failed);
  }, signal);
  // The dataset may stop particles too: the width of the records tells whether they have exits.
  const [plain, exits] = integrator === "dopri5" ? (["Steps", "ExitSteps"] as const) : (["Point3", "Exit"] as const);
  const isOf = (record: TrackRecord): boolean => body.byteLength === 4 * RECORDS[record].length * count;
  const record = openFaces === "stop" || !isOf(plain) ? exits : plain;
  if (!isOf(record))
    throw new ClientError("Protocol", `${base}: ${body.byteLength} bytes for the tracks of ${count} points`);
  return { record, values: new Float32Array(body) };
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

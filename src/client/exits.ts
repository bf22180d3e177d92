/**
 * Tracks particles to open faces over plain HTTP, whose answers have the times of the exits; SOAP has no place for
 * them.
 */
import { ClientError, type ClientErrorCode } from "./error.js";
import { endpoint } from "./transport.js";

/** A problem as the service answers it. */
interface Problem {
  readonly code?: ClientErrorCode;
  readonly detail?: string;
  readonly member?: string;
  readonly limit?: string;
  readonly requestId?: string;
}

/**
 * Asks for the positions of some particles, and the times at which they have left.
 *
 * @param url     the service's base address or its endpoint
 * @param members parameters and arrays of the operation by name
 * @returns x, y, z and exit of each point
 * @throws ClientError
 */
export async function askExits(
  url: string,
  operation: string,
  { dataset, authToken, ...members }: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<Float32Array> {
  const base = endpoint(url).replace(/\/service\/[^/]*$/, "");
  const address = `${base}/api/datasets/${encodeURIComponent(String(dataset))}/${operation}?openFaces=stop`;
  const response = await fetch(address, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/octet-stream",
      ...(authToken === undefined ? {} : { authorization: `Bearer ${authToken}` }),
    },
    body: JSON.stringify(members),
    signal,
  }).catch((error: unknown) => {
    if (signal.aborted) throw signal.reason;
    throw new ClientError("Network", `${base}: ${(error as Error).message}`);
  });
  if (!response.ok) {
    const {
      code = "Http",
      detail = response.statusText,
      ...rest
    } = (await response.json().catch(() => ({}))) as Problem;
    throw new ClientError(code, detail, { ...rest, status: response.status });
  }
  return new Float32Array(await response.arrayBuffer());
}

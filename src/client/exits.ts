/**
 * Tracks particles to open faces over plain HTTP, whose answers have the times of the exits; SOAP has no place for
 * them.
 */
import { ClientError, type ClientErrorCode } from "./error.js";
import { endpoint } from "./transport.js";

/** x, y, z and exit of a point as float32. */
const EXIT_BYTES = 16;

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
 * @param count   the number of points
 * @returns x, y, z and exit of each point
 * @throws ClientError
 */
export async function askExits(
  url: string,
  operation: string,
  { dataset, authToken, ...members }: Readonly<Record<string, unknown>>,
  count: number,
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
  const body = await response.arrayBuffer().catch((error: unknown) => {
    if (signal.aborted) throw signal.reason;
    throw new ClientError("Network", `${base}: ${(error as Error).message}`);
  });
  if (body.byteLength !== EXIT_BYTES * count)
    throw new ClientError("Protocol", `${base}: ${body.byteLength} bytes for the exits of ${count} points`);
  return new Float32Array(body);
}

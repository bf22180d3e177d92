/**
 * Tracks particles over plain HTTP, where integrators can be chosen and answers have the times of exits; SOAP has no
 * place for either.
 */
import { RECORDS } from "../operations.js";
import { ClientError } from "./error.js";
import { baseOf, postTo } from "./plain-http.js";

/** Records of tracks. */
export type TrackRecord = "Point3" | "Exit" | "Steps" | "ExitSteps";

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
  const options = Object.entries({ openFaces, integrator, tolerance }).filter(([, value]) => value !== undefined);
  const asked = new URLSearchParams(options.map(([name, value]): [string, string] => [name, String(value)]));
  const path = `${encodeURIComponent(String(dataset))}/${operation}?${asked}`;
  const { bytes: body } = await postTo(url, path, members, "application/octet-stream", authToken, signal);
  // The dataset may stop particles too: the width of the records tells whether they have exits.
  const [plain, exits] = integrator === "dopri5" ? (["Steps", "ExitSteps"] as const) : (["Point3", "Exit"] as const);
  const isOf = (record: TrackRecord): boolean => body.byteLength === 4 * RECORDS[record].length * count;
  const record = openFaces === "stop" || !isOf(plain) ? exits : plain;
  if (!isOf(record))
    throw new ClientError("Protocol", `${baseOf(url)}: ${body.byteLength} bytes for the tracks of ${count} points`);
  return { record, values: new Float32Array(body) };
}

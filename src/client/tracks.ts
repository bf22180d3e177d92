/** Requests over plain HTTP for what SOAP has no member for: integrators, times of exits, a time for each point. */
import { type Operation, RECORDS, type RecordName } from "../shared/operations.js";
import { ClientError } from "./error.js";
import { baseOf, postTo } from "./plain-http.js";

export type TrackRecord = "Point3" | "Exit" | "Steps" | "ExitSteps";

/**
 * Requests records at points. @param members parameters and arrays of the operation, and the options of tracking @param
 * count number of records @throws ClientError
 */
export async function askTracks(
  url: string,
  operation: Operation,
  { dataset, authToken, openFaces, integrator, tolerance, ...members }: Readonly<Record<string, unknown>>,
  count: number,
  signal: AbortSignal,
): Promise<{ readonly record: RecordName; readonly values: Float32Array }> {
  const options = Object.entries({ openFaces, integrator, tolerance }).filter(([, value]) => value !== undefined);
  const parameters = new URLSearchParams(options.map(([name, value]): [string, string] => [name, String(value)]));
  const path = `${encodeURIComponent(String(dataset))}/${operation.name}?${parameters}`;
  const { bytes: body } = await postTo(url, path, members, "application/octet-stream", authToken, signal);
  const isOf = (record: RecordName): boolean => body.byteLength === 4 * RECORDS[record].length * count;
  // The dataset may stop particles too: records with exits are wider.
  const [plain, exits] = integrator === "dopri5" ? (["Steps", "ExitSteps"] as const) : (["Point3", "Exit"] as const);
  const tracked = openFaces === "stop" || !isOf(plain) ? exits : plain;
  const { scalar, result } = operation;
  const ofField = scalar && isOf(scalar.result) ? scalar.result : result;
  const record = operation.family === "track" ? tracked : ofField;
  if (!isOf(record)) throw new ClientError("Protocol", `${baseOf(url)}: ${body.byteLength} bytes for ${count} records`);
  return { record, values: new Float32Array(body) };
}

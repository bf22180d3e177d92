/** Sends a query to a running service by the typed client. */
import { type Answer, type CallOptions, ClientError, connect, type TrackingName } from "../../client/index.js";
import { fetchFailure, untilAnswered } from "../../client/retries.js";
import { type Operation, type OperationName, operationOf } from "../../shared/operations.js";
import {
  type DatasetLabels,
  explain,
  explainNetwork,
  type FlagQuery,
  NO_LABELS,
  type OnProgress,
  type QueryAnswer,
} from "./answer.js";

/**
 * Asks the service at `url`.
 *
 * @param wantsFacts whether the service is asked about the dataset as well
 * @throws Error whose message names the remedy if there is one
 */
export async function queryService(
  url: string,
  token: string | undefined,
  asked: FlagQuery,
  wantsFacts: boolean,
  onProgress: OnProgress,
): Promise<QueryAnswer> {
  const base = url.replace(/\/service\/turbulence\.asmx$|\/+$/, "");
  const { operation, members, points, velocities, times, startTimes } = asked;
  try {
    const client = await connect(url, token === undefined ? {} : { token });
    // The flags match the operation's row, which the compiler cannot see for a variable name.
    const method = client[operation as OperationName] as (request: object, options: CallOptions) => Promise<Answer>;
    const lists = operationOf(operation as OperationName).family === "arrays";
    const places = lists ? [0, 1, 2].map((axis) => points.filter((_, i) => i % 3 === axis)) : points;
    const own = { ...(times && { times: [...times] }), ...(startTimes && { startTimes: [...startTimes] }) };
    const request = { ...members, ...own, points: places, ...(velocities && { InitialV: velocities }) };
    const answer =
      times !== undefined
        ? await client.atTimes(operation as OperationName, request as never, { onProgress })
        : startTimes !== undefined || needsPlainHttp(operation, members)
          ? await client.track(operation as TrackingName, request as never, { onProgress })
          : await method(request, { onProgress });
    const { dataset } = members;
    const facts = wantsFacts && dataset !== undefined ? await factsOf(base, String(dataset), token) : NO_LABELS;
    return { ...answer, ...facts };
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    if (error.code === "Network") throw new Error(explainNetwork(base, error.message));
    throw new Error(explain(error));
  }
}

/** Whether SOAP has no place for what is asked: options of tracking, or splines. */
function needsPlainHttp(
  operation: string,
  { openFaces, integrator, spatialInterpolation }: FlagQuery["members"],
): boolean {
  const row: Operation = operationOf(operation as OperationName);
  if (row.family !== "track") return false;
  const isSpline = !row.spatial.some((option) => option === spatialInterpolation);
  return openFaces === "stop" || integrator !== undefined || isSpline;
}

async function factsOf(base: string, dataset: string, token: string | undefined): Promise<DatasetLabels> {
  const url = `${base}/api/datasets/${encodeURIComponent(dataset)}`;
  const headers = token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } };
  const ask = async (): Promise<DatasetLabels> => {
    const response = await fetch(url, headers);
    if (!response.ok) return NO_LABELS;
    const { digest = null, assumed = [] } = (await response.json()) as { digest?: string; assumed?: string[] };
    return { manifest: digest, assumed };
  };
  const failed = (error: unknown): never => {
    throw fetchFailure(base, error);
  };
  return untilAnswered(() => ask().catch(failed), new AbortController().signal);
}

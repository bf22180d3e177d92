/** Calls of the service's HTTP interface, always relative to the page, so that it works below any path. */
import { RECORDS } from "../../operations.js";
import { type Call, operationOf } from "./call.js";
import type { Catalogue, DatasetFacts } from "./facts.js";

/** A refusal of the service, with its public code; status 0 where there was no answer. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
  }
}

/** Kept in memory only: it is gone when the page is closed. */
let token = "";

export function setToken(text: string): void {
  token = text.trim();
}

/** Absolute address of a path of the service. */
export function addressOf(path: string): string {
  return new URL(path, new URL(".", document.baseURI)).href;
}

/** A token that may run few requests at a time is asked again, a little later each time. */
const ATTEMPTS = 20;
const LATER_MS = 50;

async function send(path: string, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  if (token !== "") headers.set("authorization", `Bearer ${token}`);
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(addressOf(path), { ...init, headers }).catch((error: unknown) => {
      throw init.signal?.aborted ? error : new ApiError(0, "Network", "The service cannot be reached.");
    });
    if (response.ok) return response;
    const problem = (await response.json().catch(() => ({}))) as { code?: string; detail?: string; limit?: string };
    if (problem.limit !== "token.concurrent" || attempt === ATTEMPTS) throw refusalOf(response, problem);
    await new Promise((resolve) => setTimeout(resolve, attempt * LATER_MS));
  }
}

function refusalOf(response: Response, { code, detail }: { code?: string; detail?: string }): ApiError {
  const wanting = code === "AuthenticationFailed" && token === "";
  const asking = "This service asks for a token: put yours into the field at the top.";
  return new ApiError(response.status, code ?? "Internal", wanting ? asking : (detail ?? response.statusText));
}

export async function fetchCatalogue(): Promise<Catalogue> {
  return (await send("api/datasets", {})).json() as Promise<Catalogue>;
}

export async function fetchFacts(name: string): Promise<DatasetFacts> {
  return (await send(`api/datasets/${encodeURIComponent(name)}`, {})).json() as Promise<DatasetFacts>;
}

/** Records of an answer, outermost dimension first. */
export interface Records {
  readonly components: readonly string[];
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

function numbersOf(header: string | null): number[] {
  return (header ?? "").split(",").filter(Boolean).map(Number);
}

/** Path and query string of a call, seen from the service's root. */
export function pathOf(call: Call): string {
  const query = new URLSearchParams(
    Object.entries(call.parameters).map(([name, value]): [string, string] => [name, String(value)]),
  );
  if (operationOf(call).request.some((member) => member.name === "InitialV")) query.set("InitialV", "false");
  return `api/datasets/${encodeURIComponent(call.dataset)}/${call.operation}?${query}`;
}

/** Asks for the records at the points of a call, as raw float32 both ways. */
export async function fetchRecords(call: Call, signal: AbortSignal): Promise<Records> {
  const response = await send(pathOf(call), {
    method: "POST",
    headers: { "content-type": "application/octet-stream", accept: "application/octet-stream" },
    body: call.points as Float32Array<ArrayBuffer>,
    signal,
  });
  return {
    components: RECORDS[operationOf(call).result],
    shape: numbersOf(response.headers.get("fieldprobe-shape")),
    values: new Float32Array(await response.arrayBuffer()),
  };
}

/** Positions of particles on the way: `positions[(particle * times.length + record) * 3 + axis]`. */
export interface Trajectories {
  readonly times: readonly number[];
  readonly particles: number;
  readonly positions: Float32Array;
}

export async function fetchTrajectories(call: Call, every: number, signal: AbortSignal): Promise<Trajectories> {
  const query = new URLSearchParams({ operation: call.operation, every: String(every) });
  const points = Array.from({ length: call.points.length / 3 }, (_, i) => [...call.points.slice(3 * i, 3 * i + 3)]);
  const response = await send(`api/datasets/${encodeURIComponent(call.dataset)}/trajectories?${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ ...call.parameters, points }),
    signal,
  });
  const answer = (await response.json()) as { times: number[]; values: unknown[] };
  return {
    times: answer.times,
    particles: points.length,
    positions: Float32Array.from(answer.values.flat(2) as number[]),
  };
}

/** Equally spaced positions along an axis. */
export interface Ruler {
  readonly axis: "x" | "y" | "z";
  readonly count: number;
  readonly origin: number;
  readonly spacing: number;
}

/** A plane of values, row by row from the smallest coordinates up. */
export interface Slice {
  readonly rows: Ruler;
  readonly columns: Ruler;
  readonly values: Float32Array;
  readonly low: number;
  readonly high: number;
}

/** Path and query string of a slice. */
export function slicePath(dataset: string, query: Readonly<Record<string, string>>): string {
  return `api/datasets/${encodeURIComponent(dataset)}/slice?${new URLSearchParams(query)}`;
}

export async function fetchSlice(path: string, signal: AbortSignal): Promise<Slice> {
  const response = await send(path, { headers: { accept: "application/octet-stream" }, signal });
  const [rows = 0, columns = 0] = numbersOf(response.headers.get("fieldprobe-shape"));
  const [rowAxis, columnAxis] = (response.headers.get("fieldprobe-axes") ?? "").split(",") as Ruler["axis"][];
  const [rowOrigin = 0, columnOrigin = 0] = numbersOf(response.headers.get("fieldprobe-origin"));
  const [rowSpacing = 1, columnSpacing = 1] = numbersOf(response.headers.get("fieldprobe-spacing"));
  const [low = 0, high = 0] = numbersOf(response.headers.get("fieldprobe-range"));
  return {
    rows: { axis: rowAxis ?? "y", count: rows, origin: rowOrigin, spacing: rowSpacing },
    columns: { axis: columnAxis ?? "x", count: columns, origin: columnOrigin, spacing: columnSpacing },
    values: new Float32Array(await response.arrayBuffer()),
    low,
    high,
  };
}

/** The API client asks the service's HTTP interface, always relative to the page, so that it works below any path. */
import { RECORDS } from "../../operations.js";
import type { Catalogue, DatasetFacts } from "./facts.js";
import { operationOf, type PointQuery } from "./point-query.js";

/** A refusal of the service with its public code; status 0 where there was no answer. */
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

/** The records of an answer, outermost dimension first. */
export interface PointRecords {
  readonly components: readonly string[];
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/** Recorded positions of particles: `positions[(particle * times.length + record) * 3 + axis]`. */
export interface Trajectories {
  readonly times: readonly number[];
  readonly particles: number;
  readonly positions: Float32Array;
}

/** Equally spaced samples along an axis. */
export interface SampleAxis {
  readonly axis: "x" | "y" | "z";
  readonly count: number;
  readonly origin: number;
  readonly spacing: number;
}

/** A plane of values, row by row from the smallest coordinates up. */
export interface Slice {
  readonly rows: SampleAxis;
  readonly columns: SampleAxis;
  readonly values: Float32Array;
  readonly low: number;
  readonly high: number;
}

interface Problem {
  readonly code?: string;
  readonly detail?: string;
  readonly limit?: string;
}

/** A token that may run few requests at a time is asked again, a little later each time. */
const ATTEMPTS = 20;
const RETRY_MS = 50;

const OCTETS = "application/octet-stream";
const JSON_TYPE = "application/json";

/** The address of a path of the service. */
export function addressOf(path: string): string {
  return new URL(path, new URL(".", document.baseURI)).href;
}

function datasetPath(name: string): string {
  return `api/datasets/${encodeURIComponent(name)}`;
}

/** Path and query string of a slice below the service's root. */
export function slicePath(dataset: string, query: Readonly<Record<string, string>>): string {
  return `${datasetPath(dataset)}/slice?${new URLSearchParams(query)}`;
}

/** Path and query string of a point query below the service's root. */
function pathOf({ operation, dataset, parameters }: PointQuery): string {
  const query = new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
  );
  if (operationOf({ operation }).request.some((member) => member.name === "InitialV")) query.set("InitialV", "false");
  return `${datasetPath(dataset)}/${operation}?${query}`;
}

function numbersOf(header: string | null): number[] {
  return (header ?? "").split(",").filter(Boolean).map(Number);
}

export class ApiClient {
  /** Kept in memory only: it is gone when the page is closed. */
  #token = "";

  /** Sends a token with every further request; none where the text is empty. */
  useToken(text: string): void {
    this.#token = text.trim();
  }

  async catalogue(): Promise<Catalogue> {
    return (await this.#send("api/datasets", {})).json() as Promise<Catalogue>;
  }

  async facts(dataset: string): Promise<DatasetFacts> {
    return (await this.#send(datasetPath(dataset), {})).json() as Promise<DatasetFacts>;
  }

  /** Asks for the records at the points of a query, as raw float32 both ways. */
  async records(query: PointQuery, signal: AbortSignal): Promise<PointRecords> {
    const response = await this.#send(pathOf(query), {
      method: "POST",
      headers: { "content-type": OCTETS, accept: OCTETS },
      body: query.points as Float32Array<ArrayBuffer>,
      signal,
    });
    return {
      components: RECORDS[operationOf(query).result],
      shape: numbersOf(response.headers.get("fieldprobe-shape")),
      values: new Float32Array(await response.arrayBuffer()),
    };
  }

  /** Asks for the positions of particles after every so many steps. */
  async trajectories(query: PointQuery, every: number, signal: AbortSignal): Promise<Trajectories> {
    const options = new URLSearchParams({ operation: query.operation, every: String(every) });
    const points = Array.from({ length: query.points.length / 3 }, (_, i) => [
      ...query.points.subarray(3 * i, 3 * i + 3),
    ]);
    const response = await this.#send(`${datasetPath(query.dataset)}/trajectories?${options}`, {
      method: "POST",
      headers: { "content-type": JSON_TYPE, accept: JSON_TYPE },
      body: JSON.stringify({ ...query.parameters, points }),
      signal,
    });
    const { times, values } = (await response.json()) as { times: number[]; values: unknown[] };
    return { times, particles: points.length, positions: Float32Array.from(values.flat(2) as number[]) };
  }

  /** Asks for a plane of values by its path, see `slicePath`. */
  async slice(path: string, signal: AbortSignal): Promise<Slice> {
    const response = await this.#send(path, { headers: { accept: OCTETS }, signal });
    const { headers } = response;
    const axes = (headers.get("fieldprobe-axes") ?? "y,x").split(",") as SampleAxis["axis"][];
    const pairs = ["shape", "origin", "spacing"].map((name) => numbersOf(headers.get(`fieldprobe-${name}`)));
    const [rows, columns] = axes.map((axis, i) => {
      const [count = 0, origin = 0, spacing = 1] = pairs.map((pair) => pair[i]);
      return { axis, count, origin, spacing };
    }) as [SampleAxis, SampleAxis];
    const [low = 0, high = 0] = numbersOf(headers.get("fieldprobe-range"));
    return { rows, columns, values: new Float32Array(await response.arrayBuffer()), low, high };
  }

  async #send(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.#token !== "") headers.set("authorization", `Bearer ${this.#token}`);
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(addressOf(path), { ...init, headers }).catch((error: unknown) => {
        throw init.signal?.aborted ? error : new ApiError(0, "Network", "The service cannot be reached.");
      });
      if (response.ok) return response;
      const problem = (await response.json().catch(() => ({}))) as Problem;
      if (problem.limit !== "token.concurrent" || attempt === ATTEMPTS) throw this.#refusal(response, problem);
      await new Promise((resolve) => setTimeout(resolve, attempt * RETRY_MS));
    }
  }

  #refusal({ status, statusText }: Response, { code, detail }: Problem): ApiError {
    const wanting = code === "AuthenticationFailed" && this.#token === "";
    const asking = "This service asks for a token: put yours into the field at the top.";
    return new ApiError(status, code ?? "Internal", wanting ? asking : (detail ?? statusText));
  }
}

/** Starts and follows jobs: calls that a service runs in idle time, whose results are files. */
import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import type { OperationName } from "../shared/operations.js";
import { ClientError } from "./error.js";
import { ask, type PlainRequest } from "./plain-http.js";
import { untilAnswered } from "./retries.js";

/** Milliseconds between two looks at a job, at first and at most. */
const FIRST_LOOK_MS = 100;
const LAST_LOOK_MS = 5_000;

/** A job as the service describes it. */
export interface JobDescription {
  readonly id: string;
  readonly state: "queued" | "running" | "done" | "failed" | "cancelled";
  readonly call: string;
  /** From 0 to 1. */
  readonly progress: number;
  readonly secondsLeft: number | null;
  readonly cost: { readonly points: number; readonly tasks: number; readonly seconds: number };
  readonly problem: string | null;
  readonly result: {
    readonly href: string;
    readonly name: string;
    readonly type: string;
    readonly bytes: number;
    readonly sha256: string;
  } | null;
}

/** A call that becomes a job. */
export interface JobRequest {
  readonly dataset: string;
  readonly operation: OperationName;
  /** The members of the request besides points, by name. */
  readonly parameters: Readonly<Record<string, string | number | readonly number[]>>;
  /** Coordinates, three for each point; or the id of an input. */
  readonly points?: Float32Array | readonly number[] | readonly (readonly number[])[];
  readonly input?: string;
  /**
   * Media type of the result: `application/x-npy` unless given, `text/csv`, `application/x-hdf5`,
   * `application/netcdf`, `application/vnd.apache.parquet`, `application/vnd.zarr+zip` or octets.
   */
  readonly accept?: string;
}

/** Ends a request early, and hears of progress. */
export interface JobOptions {
  readonly signal?: AbortSignal;
  readonly onProgress?: (job: JobDescription) => void;
}

/** The methods of a client for jobs. */
export interface JobMethods {
  /** Starts a job. It is sent once: if the connection breaks, `jobs` tells whether it was accepted. */
  submit(request: JobRequest, options?: JobOptions): Promise<JobDescription>;
  job(id: string, options?: JobOptions): Promise<JobDescription>;
  /** One's own jobs, latest first. */
  jobs(options?: JobOptions): Promise<readonly JobDescription[]>;
  /** Waits until a job has ended, in whatever state. */
  wait(id: string, options?: JobOptions): Promise<JobDescription>;
  /**
   * The file of a job, once it is done; its body fails at the end if it is not what was written.
   *
   * @throws ClientError if the job failed or was cancelled
   */
  result(id: string, options?: JobOptions): Promise<Response>;
  /** Ends a job, or forgets one that has ended, with its result. */
  cancelJob(id: string, options?: JobOptions): Promise<JobDescription>;
}

/** The methods for the jobs of a service. */
export function jobsOf(url: string, token: string | undefined): JobMethods {
  const never = new AbortController().signal;
  const send = (path: string, request: PlainRequest, { signal = never }: JobOptions = {}) =>
    untilAnswered(() => ask(url, path, request, token, signal), signal);
  const pathOf = (id: string) => `/api/jobs/${encodeURIComponent(id)}`;
  const job = async (id: string, options?: JobOptions) =>
    (await (await send(pathOf(id), { method: "GET" }, options)).json()) as JobDescription;
  /** The job; while the queue of a cluster cannot be reached, it is asked for again. */
  const found = async (id: string, options: JobOptions): Promise<JobDescription> => {
    for (;;) {
      try {
        return await job(id, options);
      } catch (error) {
        if (!(error instanceof ClientError) || error.code !== "Busy") throw error;
      }
    }
  };
  const ended = async (id: string, options: JobOptions = {}): Promise<JobDescription> => {
    for (let pause = FIRST_LOOK_MS; ; pause = Math.min(1.5 * pause, LAST_LOOK_MS)) {
      const now = await found(id, options);
      options.onProgress?.(now);
      if (now.state !== "queued" && now.state !== "running") return now;
      await wait(pause, undefined, options.signal === undefined ? {} : { signal: options.signal });
    }
  };
  return {
    job,
    wait: ended,
    async submit(request, { signal = never } = {}) {
      const answer = await ask(url, addressOf(request), bodyOf(request), token, signal);
      return (await answer.json()) as JobDescription;
    },
    async jobs(options) {
      const answer = await send("/api/jobs", { method: "GET" }, options);
      return ((await answer.json()) as { jobs: readonly JobDescription[] }).jobs;
    },
    async result(id, options) {
      const { state, problem, result } = await ended(id, options);
      if (result === null) throw new ClientError("Http", problem ?? `The job was ${state}.`);
      return compared(await send(`${pathOf(id)}/result`, { method: "GET" }, options), result);
    },
    async cancelJob(id, options) {
      return (await (await send(pathOf(id), { method: "DELETE" }, options)).json()) as JobDescription;
    },
  };
}

/** An answer whose body fails at its end unless it has the digest that the job states. */
function compared(answer: Response, { name, sha256 }: NonNullable<JobDescription["result"]>): Response {
  const hash = createHash("sha256");
  const check = new TransformStream<Uint8Array, Uint8Array>({
    transform(part, controller) {
      hash.update(part);
      controller.enqueue(part);
    },
    flush() {
      if (hash.digest("hex") !== sha256) throw new ClientError("DataError", `${name} is not what the job has written.`);
    },
  });
  const { status, statusText, headers } = answer;
  return new Response(answer.body?.pipeThrough(check) ?? null, { status, statusText, headers });
}

function addressOf({ dataset, operation, parameters, input }: JobRequest): string {
  const query = new URLSearchParams(
    Object.entries(parameters).map(([name, value]): [string, string] => [name, String(value)]),
  );
  if (input !== undefined) query.set("input", input);
  return `/api/datasets/${encodeURIComponent(dataset)}/${operation}?${query}`;
}

function bodyOf({ points, accept = "application/x-npy" }: JobRequest): PlainRequest {
  const headers = { prefer: "respond-async", accept };
  if (points === undefined) return { method: "POST", headers };
  const flat = Float32Array.from(points instanceof Float32Array ? points : (points as readonly number[][]).flat());
  return { method: "POST", headers: { ...headers, "content-type": "application/octet-stream" }, body: flat };
}

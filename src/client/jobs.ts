/** Starts and follows jobs: calls that a service runs in idle time and whose results are files. */
import { createHash } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type CallName, FORMATS } from "../shared/calls.js";
import { ClientError } from "./error.js";
import { bodyOf, checkType, type PlainRequest, sendOnce } from "./plain-http.js";
import type { Question, QuestionOptions } from "./questions.js";
import { untilAnswered } from "./retries.js";

const FIRST_POLL_MS = 100;
const LAST_POLL_MS = 5_000;

/** A job as the service describes it. */
export interface JobDescription {
  readonly id: string;
  readonly state: "queued" | "running" | "done" | "failed" | "cancelled";
  readonly call: string;
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

export interface JobOptions extends QuestionOptions {
  readonly onProgress?: (job: JobDescription) => void;
}

export interface JobMethods {
  /** Starts a question as a job. It is sent once: if the connection breaks, `jobs` shows whether it was accepted. */
  submit<C extends CallName>(
    dataset: string,
    call: C,
    question: Question<C>,
    options?: JobOptions,
  ): Promise<JobDescription>;
  job(id: string, options?: JobOptions): Promise<JobDescription>;
  /** Your jobs, latest first. */
  jobs(options?: JobOptions): Promise<readonly JobDescription[]>;
  wait(id: string, options?: JobOptions): Promise<JobDescription>;
  /** The result of a job; reading it fails at the end if its digest is wrong. Throws ClientError if the job failed. */
  result(id: string, options?: JobOptions): Promise<Response>;
  /** Cancels a job, or deletes an ended job together with its result. */
  cancelJob(id: string, options?: JobOptions): Promise<JobDescription>;
}

export function jobsOf(url: string, token: string | undefined): JobMethods {
  const neverAborted = new AbortController().signal;
  const send = (path: string, request: PlainRequest, { signal = neverAborted }: JobOptions = {}) =>
    untilAnswered(() => sendOnce(url, path, request, token, signal), signal);
  const pathOf = (id: string) => `/api/jobs/${encodeURIComponent(id)}`;
  const job = async (id: string, options?: JobOptions): Promise<JobDescription> =>
    jsonOf(await send(pathOf(id), { method: "GET" }, options));
  /** Turns Busy, while the queue of a cluster cannot be reached, into null. */
  const unlessBusy = (error: unknown): null => {
    if (error instanceof ClientError && error.code === "Busy") return null;
    throw error;
  };
  const waitUntilEnded = async (id: string, options: JobOptions = {}): Promise<JobDescription> => {
    for (let pause = FIRST_POLL_MS; ; pause = Math.min(1.5 * pause, LAST_POLL_MS)) {
      const description = await job(id, options).catch(unlessBusy);
      if (description !== null) options.onProgress?.(description);
      if (description !== null && description.state !== "queued" && description.state !== "running") return description;
      await wait(pause, undefined, options.signal === undefined ? {} : { signal: options.signal });
    }
  };
  return {
    job,
    wait: waitUntilEnded,
    async submit(dataset, call, question, { signal = neverAborted } = {}) {
      const body = bodyOf({ ...question, job: true });
      const request = { method: "POST", headers: { "content-type": "application/json" }, body } as const;
      const path = `/api/datasets/${encodeURIComponent(dataset)}/${call}`;
      const answer = await sendOnce(url, path, request, token, signal);
      return jsonOf(answer);
    },
    async jobs(options) {
      return (await jsonOf<{ jobs: JobDescription[] }>(await send("/api/jobs", { method: "GET" }, options))).jobs;
    },
    async result(id, options) {
      const { state, problem, result } = await waitUntilEnded(id, options);
      if (result === null) throw new ClientError("Http", problem ?? `The job was ${state}.`);
      return verifyDigest(await send(`${pathOf(id)}/result`, { method: "GET" }, options), result);
    },
    cancelJob: async (id, options) => jsonOf(await send(pathOf(id), { method: "DELETE" }, options)),
  };
}

async function jsonOf<T = JobDescription>(answer: Response): Promise<T> {
  checkType(answer.headers, FORMATS.json.type);
  return (await answer.json()) as T;
}

/** The answer, whose body fails at its end if its digest is wrong. */
function verifyDigest(answer: Response, { name, sha256 }: NonNullable<JobDescription["result"]>): Response {
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

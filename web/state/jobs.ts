/** Jobs of the service: questions that run in the background, their progress and their results. */
import { signal } from "@preact/signals-core";
import { jsonOf, pause, type Question, Refusal, requireManifest, rootOf, send } from "./ask.js";

export interface Job {
  readonly id: string;
  readonly state: "queued" | "running" | "done" | "failed" | "cancelled";
  readonly call: string;
  readonly progress: number;
  readonly secondsLeft: number | null;
  readonly created: string;
  readonly problem: string | null;
  readonly result: { readonly name: string; readonly bytes: number; readonly sha256: string } | null;
}

export const jobs = signal<readonly Job[]>([]);

const POLL_MS = 700;
export const isOpen = ({ state }: Job): boolean => state === "queued" || state === "running";
export const resultOf = ({ id }: Job): string => `${rootOf()}api/jobs/${encodeURIComponent(id)}/result`;

let timer = 0;
/** Reads the list of jobs, and again while a job is open, also after a failure. Throws Refusal. */
export async function readJobs(): Promise<void> {
  try {
    jobs.value = ((await (await send("api/jobs")).json()) as { jobs: readonly Job[] }).jobs;
  } finally {
    clearTimeout(timer);
    if (jobs.peek().some(isOpen)) timer = window.setTimeout(() => void readJobs().catch(() => {}), POLL_MS);
  }
}

export async function startJob({ dataset, call, ...members }: Question, format: string): Promise<Job> {
  const path = `api/datasets/${encodeURIComponent(dataset)}/${call}`;
  const job = (await (await send(path, jsonOf({ ...members, format, job: true }))).json()) as Job;
  jobs.value = [job, ...jobs.peek().filter(({ id }) => id !== job.id)];
  void readJobs().catch(() => {});
  return job;
}

/** Cancels a job, or removes one that has ended. Throws Refusal. */
export async function endJob({ id }: Job): Promise<void> {
  await send(`api/jobs/${encodeURIComponent(id)}`, { method: "DELETE" });
  await readJobs();
}

/** Runs a question as a job and waits for its answer. Throws Refusal. */
export async function answerOfJob<T>(question: Question, signal: AbortSignal): Promise<T> {
  const { id } = await startJob(question, "json");
  for (;;) {
    const now = jobs.peek().find((one) => one.id === id);
    if (now === undefined) throw new Refusal(0, "The job was removed.");
    if (now.state === "done") {
      const answer = (await (await send(`api/jobs/${id}/result`, {}, signal)).json()) as T & { manifest?: string };
      requireManifest(question, answer.manifest);
      return answer;
    }
    if (!isOpen(now)) throw new Refusal(0, now.problem ?? `The job was ${now.state}.`);
    await pause(POLL_MS, signal);
  }
}

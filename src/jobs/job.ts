/** Jobs: calls of the service that outlive their connections, cut into tasks. */
import type { Format } from "../shared/calls.js";

/** The states of a job; the last three are final. */
export const JOB_STATES = ["queued", "running", "done", "failed", "cancelled"] as const;
export type JobState = (typeof JOB_STATES)[number];
/** The states of a job that has not ended. */
export const UNFINISHED: readonly JobState[] = ["queued", "running"];

/** The call of a job. Its question is a file of JSON. */
export interface JobCall {
  readonly method: string;
  readonly url: string;
  /** Other datasets that it reads; absent: none. */
  readonly others?: readonly string[];
  /** Form of the result; absent: the job is of version 1, whose calls are gone. */
  readonly form?: Format;
  /** Points per call of the token that started the job; absent: any number. */
  readonly limit?: number;
}

/** The division of a job into tasks: ranges of the elements of its answer at each of its times. */
export interface JobCut {
  /** Elements at each time: points, samples or nodes. */
  readonly points: number;
  readonly times: number;
  readonly perTask: number;
  /** Expected bytes of the result, which are reserved until it exists; absent: unknown. */
  readonly bytes?: number;
  /**
   * The elements are shares of a pass over the data, and the times are passes: each needs the outputs of those before,
   * and the last one known tells whether there is another.
   */
  readonly inPasses?: true;
}

export interface CutRange {
  readonly round: number;
  readonly from: number;
  readonly to: number;
}

export function tasksOf({ points, times, perTask }: JobCut): number {
  return times * Math.ceil(points / perTask);
}

export function rangeOf({ points, perTask }: JobCut, number: number): CutRange {
  const each = Math.ceil(points / perTask);
  const from = (number % each) * perTask;
  return { round: Math.floor(number / each), from, to: Math.min(points, from + perTask) };
}

export interface JobResult {
  /** Name of the file in the folder of results. */
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** A key that a caller gave, with the digest of its question. */
export interface JobKey {
  readonly name: string;
  readonly digest: string;
}

export interface JobPoints {
  readonly id: string;
  /** Whether it is removed with the job. */
  readonly own: boolean;
}

/** A job. Times are milliseconds since 1970. */
export interface Job {
  readonly id: string;
  /** Names the token that started it; null without tokens. */
  readonly owner: string | null;
  readonly state: JobState;
  readonly call: JobCall;
  readonly cut: JobCut | null;
  readonly input?: JobPoints;
  /** The caller's name for it, by which repeating the question does not start it twice; absent: none. */
  readonly key?: JobKey;
  /** Number of tasks that compute; one more task writes the result. */
  readonly tasks: number;
  readonly doneTasks: number;
  readonly spentMs: number;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly problem: string | null;
  readonly result: JobResult | null;
  /** Whether its owner has deleted it after its end; it still counts against quotas. */
  readonly removed: boolean;
  /** Name of the code and the data by which its tasks are computed; absent: none has started. */
  readonly generation?: string;
  /** Number of restarts because code or data had changed; absent: none. */
  readonly restarts?: number;
}

/** The output of a task: a file, and the headers of its answer. */
export interface TaskOutput {
  readonly bytes: number;
  /** CRC-32 of the file, which is part of its name. */
  readonly crc: number;
  readonly ms: number;
  /** The generation by which it was computed; absent if the job has none. */
  readonly generation?: string;
  /** Headers of the answer that describe it: `content-type`, `fieldprobe-shape`, ... */
  readonly headers: Readonly<Record<string, string>>;
}

/** The points of a job that count against the quotas of its owner: those at each of its times. */
export function pointsOf({ cut }: Pick<Job, "cut">): number {
  return cut === null || cut.inPasses ? 0 : cut.points * cut.times;
}

/** The bytes of a job that count against its owner's quotas: the size of its result, or the bytes reserved for it. */
export function bytesOf({ state, cut, result }: Job): number {
  return result?.bytes ?? (UNFINISHED.includes(state) ? (cut?.bytes ?? 0) : 0);
}

/** The fraction of its tasks that a job has done. */
export function progressOf({ state, doneTasks, tasks }: Job): number {
  return state === "done" ? 1 : doneTasks / (tasks + 1);
}

/** Estimated seconds until a running job ends, by its rate so far; null if unknown. */
export function secondsLeft(job: Job, now: number): number | null {
  const { state, startedAt, doneTasks, tasks } = job;
  if (state !== "running" || startedAt === null || doneTasks === 0) return null;
  return Math.round(((now - startedAt) / doneTasks) * (tasks - doneTasks)) / 1000;
}

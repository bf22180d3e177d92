/** Declares jobs: calls of the service that outlive their connections, cut into tasks. */

/** The states of a job; the last three are final. */
export const JOB_STATES = ["queued", "running", "done", "failed", "cancelled"] as const;
export type JobState = (typeof JOB_STATES)[number];
/** The states of a job that has not ended. */
export const UNFINISHED: readonly JobState[] = ["queued", "running"];

/** Forms of the result of a job that is cut by its points, the default first, with their endings. */
export const RESULT_FORMS = {
  "application/x-npy": "npy",
  "text/csv": "csv",
  "application/x-hdf5": "h5",
  "application/netcdf": "nc",
  "application/vnd.apache.parquet": "parquet",
  "application/vnd.zarr+zip": "zarr.zip",
  "application/octet-stream": "bin",
} as const;
export type ResultForm = keyof typeof RESULT_FORMS;

export interface JobCall {
  readonly method: string;
  readonly url: string;
  /** Media types of the answer that each task asks for. */
  readonly accept: string;
  /** Media type of the body; null without one. */
  readonly contentType: string | null;
  /** Points per call of the token that started the job; absent: any number. */
  readonly limit?: number;
}

/** The cut of a job into tasks: ranges of the points of an input. */
export interface JobCut {
  readonly input: string;
  /** Whether the input goes with the job. */
  readonly ownInput: boolean;
  readonly bytesPerPoint: number;
  readonly points: number;
  readonly perTask: number;
  readonly form: ResultForm;
  /** Times of the call; several make the first dimension of the result. */
  readonly times: number;
  /** Bytes that the result is expected to have, which are reserved until it is there; absent: unknown. */
  readonly bytes?: number;
}

export interface JobResult {
  /** Name of the file in the folder of results. */
  readonly name: string;
  readonly type: string;
  readonly bytes: number;
  /** Hex digest of the file. */
  readonly sha256: string;
}

/** A job. Times are milliseconds since 1970. */
export interface Job {
  readonly id: string;
  /** Names the token that started it; null without tokens. */
  readonly owner: string | null;
  readonly state: JobState;
  readonly call: JobCall;
  /** Null if the call is a single task, whose body is a separate file. */
  readonly cut: JobCut | null;
  /** Tasks that compute; the one after the last of them writes the result. */
  readonly tasks: number;
  readonly doneTasks: number;
  /** Milliseconds that its tasks took. */
  readonly spentMs: number;
  readonly createdAt: number;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly problem: string | null;
  readonly result: JobResult | null;
  /** Whether its owner has deleted it after its end; it still counts against quotas. */
  readonly removed: boolean;
  /** Names the code and the data by which its tasks are computed; absent: none has begun. */
  readonly generation?: string;
  /** How often its tasks have started anew because code or data had changed; absent: never. */
  readonly restarts?: number;
}

/** The output of a task: a file, and what its answer said. */
export interface TaskOutput {
  readonly bytes: number;
  /** CRC-32 of the file, which is part of its name. */
  readonly crc: number;
  readonly ms: number;
  /** The generation by which it was computed; absent: that of a job that has none. */
  readonly generation?: string;
  /** Headers of the answer that describe it: `content-type`, `fieldprobe-shape`, ... */
  readonly headers: Readonly<Record<string, string>>;
}

/** The points that a job counts against the quotas of its owner: at each of its times. */
export function pointsOf({ cut }: Pick<Job, "cut">): number {
  return cut === null ? 0 : cut.points * cut.times;
}

/** The bytes that a job counts against the quotas of its owner: those of its result, or those reserved for it. */
export function bytesOf({ state, cut, result }: Job): number {
  return result?.bytes ?? (UNFINISHED.includes(state) ? (cut?.bytes ?? 0) : 0);
}

/** The part of its tasks that a job has done, from 0 to 1. */
export function progressOf({ state, doneTasks, tasks }: Job): number {
  return state === "done" ? 1 : doneTasks / (tasks + 1);
}

/** Seconds until a running job has ended, by its rate so far; null if that is not known. */
export function secondsLeft(job: Job, now: number): number | null {
  const { state, startedAt, doneTasks, tasks } = job;
  if (state !== "running" || startedAt === null || doneTasks === 0) return null;
  return Math.round(((now - startedAt) / doneTasks) * (tasks - doneTasks)) / 1000;
}

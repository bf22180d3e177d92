/** Interface of the persistent queue of jobs and their tasks; the processes of a cluster share one. */
import { type Job, type JobCut, type JobState, type TaskOutput, tasksOf, UNFINISHED } from "./job.js";

/** The generation under which this process may take tasks: other than the job's it restarts them, null takes none. */
export type GenerationFor = (job: Job) => string | null;

/** The generation of a job itself, under which nothing restarts; empty if it has none yet. */
export const OF_JOB = ({ generation = "" }: Job): string => generation;

/** Whether a job continues with the tasks that it had as `before`: it has neither ended nor been restarted. */
export function goesOn(now: Job, before: Pick<Job, "generation">): boolean {
  return UNFINISHED.includes(now.state) && now.generation === before.generation;
}

/** A job whose tasks restart under another generation. */
export function restarted(job: Job, generation: string): Job {
  return { ...job, generation, doneTasks: 0, restarts: (job.restarts ?? 0) + (job.generation === undefined ? 0 : 1) };
}

/** The cut and the tasks of a job with another pass. */
export function extended({ cut }: Job): Pick<Job, "cut" | "tasks"> {
  const longer = { ...(cut as JobCut), times: (cut as JobCut).times + 1 };
  return { cut: longer, tasks: tasksOf(longer) };
}

/** A task that this process runs; number `job.tasks` writes the result. */
export interface TakenTask {
  readonly job: Job;
  readonly number: number;
  readonly attempts: number;
}

export interface JobQueue {
  /** Subscribes to changes of jobs by other processes; absent in a queue of one process. */
  watch?(changed: (id: string) => void): void;
  add(job: Job): Promise<void>;
  find(id: string): Promise<Job | null>;
  /** The jobs of an owner, latest first, or of everyone, in any order. */
  list(owner?: string | null): Promise<readonly Job[]>;
  /** The number of jobs in some states, of an owner or of everyone. */
  count(states: readonly JobState[], owner?: string | null): Promise<number>;
  /** Changes a job; null, without any effect, unless it is in one of these states. */
  change(id: string, from: readonly JobState[], changes: Partial<Job>): Promise<Job | null>;
  /** Takes a free task of the job that has used the least time, or null. The task that writes the result comes last. */
  take(generationFor?: GenerationFor): Promise<TakenTask | null>;
  /** Records the output of a task that computes. Returns null if the job has ended or started anew meanwhile. */
  done(task: TakenTask, output: TaskOutput): Promise<Job | null>;
  /** Returns a task to the queue; `failed` counts it as an attempt. */
  putBack(task: TakenTask, failed?: boolean): Promise<void>;
  /** Discards the outputs of some tasks, to compute them again; without effect if the job has ended or restarted. */
  redo(job: Job, numbers: readonly number[]): Promise<void>;
  /** Adds the tasks of another pass, in place of the task that would have written the result. */
  extend(last: TakenTask): Promise<void>;
  /** The outputs of the tasks of a job, by number; null for tasks that are not done. */
  outputs(id: string): Promise<readonly (TaskOutput | null)[]>;
  remove(id: string): Promise<void>;
  close(): Promise<void>;
}

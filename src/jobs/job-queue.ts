/** Declares the queue of jobs and their tasks, which survives the process; a cluster shares one. */
import { type Job, type JobState, type TaskOutput, UNFINISHED } from "./job.js";

/** Generation under which this process may take tasks: another than the job's starts them anew, null takes none. */
export type GenerationFor = (job: Job) => string | null;

/** The generation of a job itself, so that nothing starts anew; empty if it has none yet. */
export const OF_JOB = ({ generation = "" }: Job): string => generation;

/** Whether a job, as it is now, goes on with the tasks that it had as `before`: not once it has ended or started anew. */
export function goesOn(now: Job, before: Pick<Job, "generation">): boolean {
  return UNFINISHED.includes(now.state) && now.generation === before.generation;
}

/** A job whose tasks start anew under another generation. */
export function restarted(job: Job, generation: string): Job {
  return { ...job, generation, doneTasks: 0, restarts: (job.restarts ?? 0) + (job.generation === undefined ? 0 : 1) };
}

/** A task that this process runs: number `job.tasks` writes the result. */
export interface TakenTask {
  readonly job: Job;
  readonly number: number;
  /** How often it has failed. */
  readonly attempts: number;
}

/** Keeps jobs and hands out their tasks. */
export interface JobQueue {
  /** Calls back with each job that another process has changed; a queue of one process has none. */
  watch?(changed: (id: string) => void): void;
  add(job: Job): Promise<void>;
  find(id: string): Promise<Job | null>;
  /** The jobs of an owner, or of everyone, latest first. */
  list(owner?: string | null): Promise<readonly Job[]>;
  /** The number of jobs in some states, of an owner or of everyone. */
  count(states: readonly JobState[], owner?: string | null): Promise<number>;
  /** Changes a job; null, without any effect, unless it is in one of these states. */
  change(id: string, from: readonly JobState[], changes: Partial<Job>): Promise<Job | null>;
  /** Takes a free task of the job that has used the least time, or null. The task that writes the result comes last. */
  take(generationFor?: GenerationFor): Promise<TakenTask | null>;
  /** Records the output of a task that computes. @returns null if the job has ended or started anew meanwhile */
  done(task: TakenTask, output: TaskOutput): Promise<Job | null>;
  /** Gives a task back, to be taken again; `failed` counts it as an attempt. */
  putBack(task: TakenTask, failed?: boolean): Promise<void>;
  /** Forgets the outputs of some tasks, to be computed again; without effect if the job has ended or started anew. */
  redo(job: Job, numbers: readonly number[]): Promise<void>;
  /** The outputs of the tasks of a job, by number; null: it is not done. */
  outputs(id: string): Promise<readonly (TaskOutput | null)[]>;
  remove(id: string): Promise<void>;
  close(): Promise<void>;
}

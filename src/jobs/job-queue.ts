/** Declares the queue of jobs and their tasks, which survives the process; a cluster shares one. */
import type { Job, JobState, TaskOutput } from "./job.js";

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
  /** Adds a job with its tasks. */
  add(job: Job): Promise<void>;
  find(id: string): Promise<Job | null>;
  /** The jobs of an owner, or of everyone, latest first. */
  list(owner?: string | null): Promise<readonly Job[]>;
  /** The number of jobs in some states, of an owner or of everyone. */
  count(states: readonly JobState[], owner?: string | null): Promise<number>;
  /** Changes a job; null, without any effect, unless it is in one of these states. */
  change(id: string, from: readonly JobState[], changes: Partial<Job>): Promise<Job | null>;
  /**
   * Takes a task that no process works on, of the job that has used the least time; null if there is none. The task
   * that writes the result comes once all others are done.
   */
  take(): Promise<TakenTask | null>;
  /** Records the output of a task that computes. @returns the job, or null if it has ended meanwhile */
  done(task: TakenTask, output: TaskOutput): Promise<Job | null>;
  /** Gives a task back, to be taken again; `failed` counts it as an attempt. */
  putBack(task: TakenTask, failed?: boolean): Promise<void>;
  /** Forgets the outputs of some tasks, which are to be computed again. */
  redo(id: string, numbers: readonly number[]): Promise<void>;
  /** The outputs of the tasks of a job, by number. */
  outputs(id: string): Promise<readonly TaskOutput[]>;
  /** Forgets a job. */
  remove(id: string): Promise<void>;
  close(): Promise<void>;
}

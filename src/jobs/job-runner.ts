/** Runs the tasks of jobs, a few at a time, and writes their results. */
import { createReadStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import { BusyError, DataError, LimitError } from "../shared/errors.js";
import { describeError, reasonOf } from "../shared/system.js";
import type { Inputs } from "./inputs.js";
import {
  type CutRange,
  type Job,
  type JobCall,
  type JobCut,
  type JobResult,
  rangeOf,
  type TaskOutput,
  tasksOf,
  UNFINISHED,
} from "./job.js";
import { bodyFile, type JobFolders, tasksFolder } from "./job-files.js";
import type { JobQueue, TakenTask } from "./job-queue.js";
import { JobSlots } from "./job-slots.js";
import type { ResultStore } from "./result-store.js";
import { DamagedOutputs, filesOf, type TaskAnswer, writeOutput, writeResult } from "./task-outputs.js";

/** Delay before a task is tried again, after the service was too busy for it or failed. */
const RETRY_MS = 2_000;
const MAX_ATTEMPTS = 3;
/** Most restarts of a job: data that grow all the time would never let it end. */
const MAX_RESTARTS = 8;
const PROBLEM_BYTES = 64 * 1024;

/**
 * The part of a call that a task answers: the numbers of a range, or without one the whole call from the files of its
 * tasks; a range of a pass has the files of the passes before.
 */
export interface TaskPart {
  readonly range?: CutRange;
  readonly cut: JobCut;
  readonly paths: readonly string[];
}

/** The status of an answer that needs another pass over the data first. */
export const ANOTHER_PASS_STATUS = 202;

export interface TaskCall extends JobCall {
  readonly owner: string | null;
  /** Made as it is read. */
  readonly body: { readonly bytes: number; readonly steps: Iterable<Buffer> | AsyncIterable<Buffer> };
  readonly part: TaskPart | null;
}

/** The code and the data by which this process would compute a call now. */
export interface Generation {
  /** Its name; null if it is unknown yet. */
  readonly id: string | null;
  /** Whether another process of the cluster has the generation of this name. */
  isElsewhere(id: string): boolean;
  /** Time for which a job waits for a process of its own generation before its tasks restart under this one. */
  readonly patienceMs: number;
  /** Whether the data are still those of this generation, so that a call made meanwhile was computed by it. */
  holds(): boolean;
}

export interface JobHost {
  generationOf(call: JobCall): Generation;
  send(call: TaskCall, signal: AbortSignal): Promise<TaskAnswer>;
  readonly log: { warn(about: object, message: string): void; error(about: object, message: string): void };
}

/** The reason to drop a task: its job has ended or restarted meanwhile, or the data were replaced. */
class Overtaken extends Error {}

class TaskProblem extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export class JobRunner {
  readonly #queue: JobQueue;
  readonly #inputs: Inputs;
  readonly #folders: JobFolders;
  readonly #results: ResultStore;
  readonly #host: JobHost;
  readonly #changed: (id: string) => void;
  readonly #bytesLeft: (owner: string | null) => Promise<number>;
  readonly #running = new Map<AbortController, { readonly id: string; readonly ended: Promise<void> }>();
  /** Tasks that the queue could not store because its disk is full; they are put back once it can. */
  readonly #unstored = new Set<TakenTask>();
  /** By job, the time since which no process of its generation is known. */
  readonly #orphanedAt = new Map<string, number>();
  readonly #slots = new JobSlots();
  /** Error of the queue that was last logged, so that it is logged once. */
  #reported: string | null = null;
  #stopped = false;
  #taking = false;
  /** Whether a job waits for a process of its generation, which no message announces. */
  #isWaiting = false;
  #retryTimer: NodeJS.Timeout | null = null;
  /** Resolves when the last job with a result has ended. */
  #ending: Promise<unknown> = Promise.resolve();
  /** Time at which a task last succeeded, by `Date.now`. */
  progressAt = Date.now();

  /** `changed`: is called with each changed job; `bytesLeft`: bytes of results that an owner may still store today. */
  constructor(
    queue: JobQueue,
    inputs: Inputs,
    folders: JobFolders,
    results: ResultStore,
    host: JobHost,
    changed: (id: string) => void,
    bytesLeft: (owner: string | null) => Promise<number> = async () => Number.POSITIVE_INFINITY,
  ) {
    this.#queue = queue;
    this.#inputs = inputs;
    this.#folders = folders;
    this.#results = results;
    this.#host = host;
    this.#changed = changed;
    this.#bytesLeft = bytesLeft;
  }

  #take(isFirst: boolean): Promise<TakenTask | null> {
    return this.#queue.take((job) => (this.#slots.admits(job, isFirst) ? this.#generationFor(job) : null));
  }

  async pump(): Promise<void> {
    if (this.#taking) return;
    this.#taking = true;
    try {
      if (!this.#stopped && this.#retryTimer === null) await this.#putUnstoredBack();
      while (!this.#stopped && this.#retryTimer === null && this.#slots.areFree) {
        this.#isWaiting = false;
        // Owners without a running task come first.
        const task = (await this.#take(true)) ?? (await this.#take(false));
        this.#reported = null;
        if (task === null) {
          if (this.#isWaiting) this.#retryLater();
          return;
        }
        if (this.#running.size === 0) this.progressAt = Math.max(this.progressAt, task.job.createdAt);
        const abort = new AbortController();
        const leave = this.#slots.take(task.job, () => void this.pump());
        const ended = this.#runTask(task, abort.signal).finally(() => {
          leave();
          this.#running.delete(abort);
        });
        this.#running.set(abort, { id: task.job.id, ended });
        void ended.then(() => this.pump());
      }
    } catch (error) {
      const reason = reasonOf(error);
      if (this.#unstored.size === 0 && reason !== this.#reported)
        this.#host.log.error({ reason }, "the queue of the jobs cannot be read; jobs rest");
      this.#reported = reason;
      this.#retryLater();
    } finally {
      this.#taking = false;
    }
  }

  /** Tasks of another generation than this process's restart once no process of theirs has been known for a while. */
  #generationFor(job: Job): string | null {
    const own = this.#host.generationOf(job.call);
    if (own.id === null) this.#isWaiting = true;
    if (own.id === null || own.id === job.generation || job.generation === undefined) return own.id;
    const isAlive = own.isElsewhere(job.generation);
    const since = this.#orphanedAt.get(job.id) ?? Date.now();
    if (isAlive) this.#orphanedAt.delete(job.id);
    else this.#orphanedAt.set(job.id, since);
    if (!isAlive && Date.now() - since >= own.patienceMs) return own.id;
    this.#isWaiting = true;
    return null;
  }

  async #putUnstoredBack(): Promise<void> {
    for (const task of this.#unstored) {
      await this.#queue.putBack(task);
      this.#unstored.delete(task);
    }
  }

  #retryLater(): void {
    this.#retryTimer ??= setTimeout(() => {
      this.#retryTimer = null;
      void this.pump();
    }, RETRY_MS);
  }

  async cancel(id: string): Promise<void> {
    const tasks = [...this.#running].filter(([, task]) => task.id === id);
    for (const [abort] of tasks) abort.abort();
    await Promise.all(tasks.map(([, { ended }]) => ended));
  }

  /** Aborts all tasks, which are taken again after the next start. */
  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#retryTimer !== null) clearTimeout(this.#retryTimer);
    for (const abort of this.#running.keys()) abort.abort();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
  }

  async #runTask(task: TakenTask, signal: AbortSignal): Promise<void> {
    const { id } = task.job;
    try {
      if (task.job.call.form === undefined)
        throw new DataError(
          `${nameOfCall(task.job.call)} is a call of version 1, which is gone: ask for the job again by a call of /api/docs.`,
        );
      if ((task.job.restarts ?? 0) > MAX_RESTARTS)
        throw new DataError("The dataset, or the service, changed again and again while the job ran.");
      if (task.number === task.job.tasks) await this.#finish(task.job, signal);
      else await this.#queue.done(task, await this.#compute(task, signal));
      this.progressAt = Date.now();
    } catch (error) {
      await this.#handleFailure(task, error, signal.aborted).catch((failure: unknown) => {
        if (this.#unstored.size === 0)
          this.#host.log.error({ job: id, reason: reasonOf(failure) }, "a job cannot be kept; it goes on later");
        this.#unstored.add(task);
        this.#retryLater();
      });
    }
    this.#changed(id);
  }

  async #handleFailure(task: TakenTask, error: unknown, aborted: boolean): Promise<void> {
    const { id } = task.job;
    const status = error instanceof TaskProblem ? error.status : null;
    if (error instanceof DamagedOutputs) {
      this.#host.log.warn({ job: id, tasks: error.tasks }, "outputs of tasks are damaged: they are computed again");
      await this.#queue.redo(task.job, error.tasks);
      await this.#queue.putBack(task);
      // A later pass would otherwise be tried again and again until the earlier one is there.
      if (task.number < task.job.tasks) this.#retryLater();
    } else if (status === ANOTHER_PASS_STATUS) await this.#queue.extend(task);
    else if (aborted || error instanceof Overtaken) await this.#queue.putBack(task);
    else if (error instanceof BusyError) {
      if (task.attempts === 0) this.#host.log.warn({ job: id, reason: error.message }, "a job waits for its bucket");
      await this.#queue.putBack(task, true);
      this.#retryLater();
    } else if (status === 503 || (status === 500 && task.attempts + 1 < MAX_ATTEMPTS)) {
      // Being too busy does not count as a failed attempt.
      await this.#queue.putBack(task, status === 500);
      this.#retryLater();
    } else await this.#failJob(task.job, error);
  }

  async #failJob(job: Job, error: unknown): Promise<void> {
    const problem = reasonOf(error);
    const failed = { state: "failed", endedAt: Date.now(), problem } as const;
    // Missing files of a job that has ended meanwhile are no failure.
    if ((await this.#queue.change(job.id, UNFINISHED, failed)) === null) return;
    this.#host.log.warn({ job: job.id, reason: describeError(error) }, "a job failed");
    for (const [abort, { id }] of this.#running) if (id === job.id) abort.abort();
    await this.clear(job);
  }

  async #compute({ job, number }: TakenTask, signal: AbortSignal): Promise<TaskOutput> {
    const since = performance.now();
    const generation = this.#host.generationOf(job.call);
    const checkDue = async (): Promise<void> => {
      if (generation.id !== job.generation || !generation.holds()) throw new Overtaken();
      await this.#checkDue(job);
    };
    const answer = await this.#send(job, job.cut && (await this.#partOf(job, job.cut, number)), signal);
    // The bytes of most divided jobs are reserved; other sizes are not known in advance.
    const left = job.cut?.bytes === undefined ? await this.#bytesLeft(job.owner) : Number.POSITIVE_INFINITY;
    const admit = (bytes: number) => checkBytes(bytes, left);
    const output = await writeOutput(this.#folders, job.id, number, answer, checkDue, admit);
    const ofJob = job.generation === undefined ? {} : { generation: job.generation };
    return { ...output, ...ofJob, ms: performance.now() - since };
  }

  async #partOf(job: Job, cut: JobCut, number: number): Promise<TaskPart> {
    const range = rangeOf(cut, number);
    const before = cut.inPasses ? tasksOf({ ...cut, times: range.round }) : 0;
    const outputs = before === 0 ? [] : await this.#queue.outputs(job.id);
    return { range, cut, paths: await filesOf(this.#folders, job, outputs, before) };
  }

  /** @throws Overtaken if a job has ended, or its tasks have been restarted */
  async #checkDue({ id, generation }: Job): Promise<void> {
    const now = await this.#queue.find(id);
    if (now?.state !== "running" || now.generation !== generation) throw new Overtaken();
  }

  /** Sends the call of a job, or a part of it. Throws TaskProblem if it is refused. */
  async #send({ id, call, owner }: Job, part: TaskPart | null, signal: AbortSignal): Promise<TaskAnswer> {
    const path = bodyFile(this.#folders, id);
    const { size: bytes } = await stat(path);
    signal.throwIfAborted();
    const body = { bytes, steps: createReadStream(path) };
    const answer = await this.#host.send({ ...call, owner, body, part }, signal);
    if (answer.status !== 200) throw new TaskProblem(answer.status, await problemOf(answer));
    return { ...answer, body: bytesOf(answer.body) };
  }

  async #finish(job: Job, signal: AbortSignal): Promise<void> {
    await this.#results.check();
    const outputs = await this.#queue.outputs(job.id);
    const join = (paths: readonly string[]) => this.#send(job, { cut: job.cut as JobCut, paths }, signal);
    const result = await writeResult(this.#folders, job, outputs, join, () => this.#checkDue(job));
    await this.#results.keep(result.name, signal);
    const [ended] = await Promise.allSettled([this.#end(job, result)]);
    const isDone = ended.status === "fulfilled" && ended.value !== null;
    // A change may have been made and its answer lost: the queue knows whose result it has. Others are removed.
    if (!isDone && (await this.#queue.find(job.id))?.result?.name !== result.name) {
      await this.#results.discard(result.name);
      return ended.status === "rejected" ? Promise.reject(ended.reason) : undefined;
    }
    await this.#results.tidy(job.id, result.name);
    // Outputs are removed after the queue has the result: otherwise all tasks would be computed again.
    await this.clear(job);
  }

  /** Ends a job with its result, one job after another: otherwise results would not be counted against each other. */
  #end(job: Job, result: JobResult): Promise<Job | null> {
    const ended = this.#ending.then(async () => {
      if (job.cut?.bytes === undefined) checkBytes(result.bytes, await this.#bytesLeft(job.owner));
      return this.#queue.change(job.id, ["running"], { state: "done", endedAt: Date.now(), result });
    });
    this.#ending = ended.catch(() => undefined);
    return ended;
  }

  /** Removes what a job needs only while it runs. */
  async clear(job: Job): Promise<void> {
    await rm(tasksFolder(this.#folders, job.id), { recursive: true, force: true });
    await rm(bodyFile(this.#folders, job.id), { force: true });
    if (job.input?.own) await this.#inputs.remove(job.input.id);
  }

  async remove(job: Job): Promise<void> {
    await this.clear(job);
    await this.#results.remove(new Set([job.id]));
  }
}

/** The name of the call: the last part of its address. */
const nameOfCall = ({ url }: JobCall): string => (url.split("?", 1)[0] as string).split("/").at(-1) as string;

/** @throws LimitError if a result exceeds the bytes that its owner may still store today */
function checkBytes(bytes: number, left: number): void {
  if (bytes > left)
    throw new LimitError("jobs.bytesPerDay", `Result too large (more than the ${left} bytes left today)`);
}

/** The bytes of an answer. Throws TaskProblem of a failure that is tried again if the answer breaks off. */
async function* bytesOf(body: TaskAnswer["body"]): AsyncGenerator<Buffer, undefined> {
  try {
    yield* body;
  } catch (error) {
    throw new TaskProblem(500, `the answer to a task broke off: ${reasonOf(error)}`);
  }
}

async function problemOf({ status, body }: TaskAnswer): Promise<string> {
  let text = "";
  for await (const part of body) if (text.length < PROBLEM_BYTES) text += part.toString("utf8");
  try {
    return String((JSON.parse(text) as { detail?: unknown }).detail);
  } catch {
    return `the service answered ${status}`;
  }
}

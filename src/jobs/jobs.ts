/** The jobs of a service: accepts jobs within quotas, runs, lists and ends them. */
import { EventEmitter } from "node:events";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isBucket } from "../shared/addresses.js";
import type { Config } from "../shared/config.js";
import { BusyError, LimitError, RequestError } from "../shared/errors.js";
import { reasonOf } from "../shared/system.js";
import { Inputs, type JobInput, MAX_POINT_BYTES, type PointSource } from "./inputs.js";
import {
  bytesOf,
  JOB_STATES,
  type Job,
  type JobCall,
  type JobCut,
  type JobKey,
  type JobState,
  pointsOf,
  tasksOf,
  UNFINISHED,
} from "./job.js";
import { bodyFile, isId, type JobFolders, keptOnlyIf, newId, removeOld } from "./job-files.js";
import type { JobQueue } from "./job-queue.js";
import { type JobHost, JobRunner } from "./job-runner.js";
import { type ResultStore, resultStore } from "./result-store.js";
import { openSqlQueue } from "./sql-queue.js";

const FINAL = JOB_STATES.filter((state) => !UNFINISHED.includes(state));
const RETRY_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The settings of jobs: state folder, result folder, servers of a cluster, quotas. */
export type JobSettings = Pick<Config, "state" | "results" | "nats" | "limits" | "stores">;

type OpenShared = (nats: JobSettings["nats"], folder: string) => JobQueue;

interface OpenJobs {
  readonly queue: JobQueue;
  readonly inputs: Inputs;
  readonly runner: JobRunner;
}

export interface JobCounts {
  readonly queued: number;
  readonly running: number;
  readonly stalledSeconds: number;
}

/** Whether all processes of a cluster share the jobs, whose files are in the folder of results. */
export function isShared({ nats, results }: JobSettings): boolean {
  return nats.servers !== null && results !== null && !isBucket(results);
}

/** The jobs of a service; nothing is opened before the first job, unless there are some from an earlier run. */
export class Jobs {
  readonly folders: JobFolders;
  readonly results: ResultStore;
  readonly #settings: JobSettings;
  readonly #host: JobHost;
  readonly #openShared: OpenShared | null;
  readonly #events = new EventEmitter().setMaxListeners(0);
  #opened: OpenJobs | null = null;
  #upkeep: NodeJS.Timeout | null = null;
  #retry: NodeJS.Timeout | null = null;
  /** Resolves when the last submitted job has been added or refused. */
  #adding: Promise<void> = Promise.resolve();
  #counts: Omit<JobCounts, "stalledSeconds"> = { queued: 0, running: 0 };
  #closed = false;

  /** @param openShared opens the queue of a cluster; null if the process has a queue of its own */
  constructor(settings: JobSettings, host: JobHost, openShared: OpenShared | null = null) {
    this.#settings = settings;
    this.#host = host;
    this.#openShared = openShared;
    const place = settings.results ?? join(settings.state, "results");
    const state = join(openShared === null ? settings.state : place, "jobs");
    this.results = resultStore(place, join(state, "results"), settings.stores);
    this.folders = { state, results: this.results.folder };
  }

  get #isUsed(): boolean {
    return this.#opened !== null || this.#openShared !== null || existsSync(this.#file);
  }

  get #file(): string {
    return join(this.folders.state, "jobs.db");
  }

  /** Continues the jobs of an earlier run. If the queue cannot be opened, that is logged and tried again later. */
  resume(isFirst = true): void {
    if (!this.#isUsed || this.#closed) return;
    try {
      this.#open();
    } catch (error) {
      if (isFirst) this.#host.log.error({ reason: reasonOf(error) }, "jobs are not available; everything else is");
      this.#retry = setTimeout(() => this.resume(false), RETRY_MS).unref();
    }
  }

  /** @throws DataError if the queue cannot be opened, BusyError while the service ends */
  #open(): OpenJobs {
    if (this.#closed) throw new BusyError("The service is shutting down.");
    if (this.#opened !== null) return this.#opened;
    const inputs = new Inputs(join(this.folders.state, "inputs"), this.#settings.limits["jobs.points"]);
    const queue = this.#openShared?.(this.#settings.nats, this.folders.state) ?? openSqlQueue(this.#file);
    const changed = (id: string) => void this.#notify(id);
    const bytesLeft = (owner: string | null) => this.#bytesFor(owner);
    const runner = new JobRunner(queue, inputs, this.folders, this.results, this.#host, changed, bytesLeft);
    this.#opened = { queue, inputs, runner };
    queue.watch?.((id) => void this.#logged(this.#changedElsewhere(id)));
    this.#upkeep = setInterval(() => void this.#upkeepNow(), HOUR_MS).unref();
    // Nothing has been received yet: unless processes share the folder, files of no job are left from a killed process.
    const left = this.#openShared === null ? inputs.files() : undefined;
    void this.#upkeepNow(left).then(() => runner.pump());
    return this.#opened;
  }

  /** Aborts the tasks of a job that another process has ended; after other changes, looks for tasks to take. */
  async #changedElsewhere(id: string): Promise<void> {
    if (this.#opened === null) return;
    const { queue, runner } = this.#opened;
    const job = (await queue.list()).find((one) => one.id === id);
    if (job === undefined || !UNFINISHED.includes(job.state)) await runner.cancel(id);
    else void runner.pump();
    await this.#notify(id);
  }

  async #notify(id: string): Promise<void> {
    await this.#logged(this.#count());
    this.#events.emit(id);
  }

  #upkeepNow(left?: ReadonlySet<string>): Promise<void> {
    return this.#logged(this.#expire(left));
  }

  async #logged(work: Promise<void>): Promise<void> {
    await work.catch((error: unknown) => {
      if (!this.#closed) this.#host.log.error({ reason: reasonOf(error) }, "the jobs cannot be looked after");
    });
  }

  async #count(): Promise<void> {
    const of = async (state: JobState): Promise<number> => (await this.#opened?.queue.count([state])) ?? 0;
    this.#counts = { queued: await of("queued"), running: await of("running") };
  }

  /** Subscribes to the changes of a job. Returns a function that unsubscribes. */
  watch(id: string, changed: () => void): () => void {
    this.#events.on(id, changed);
    return () => this.#events.off(id, changed);
  }

  counts(): JobCounts {
    const { queued, running } = this.#counts;
    const since = this.#opened?.runner.progressAt ?? Date.now();
    return { queued, running, stalledSeconds: queued + running === 0 ? 0 : (Date.now() - since) / 1000 };
  }

  async addInput(owner: string | null, source: PointSource): Promise<JobInput> {
    const { inputs } = this.#open();
    const most = this.#settings.limits["jobs.points"];
    const input = await inputs.add({ id: newId(), owner, source });
    const least = source.kind === "upload" ? source.bytes / MAX_POINT_BYTES[source.form] : (input.points ?? 0);
    if (least <= most && (source.kind !== "upload" || (await this.#bytesFor(owner)) >= source.bytes)) return input;
    await inputs.remove(input.id);
    if (least > most) throw new LimitError("jobs.points", `Input too large (${Math.ceil(least)} > ${most} points)`);
    throw new LimitError("jobs.bytesPerDay", `Input too large: no ${source.kind} of that size fits today's quota`);
  }

  get inputs(): Inputs {
    return this.#open().inputs;
  }

  /** The input with an id and an owner; null if there is none. */
  async input(owner: string | null, id: string): Promise<JobInput | null> {
    const input = await this.inputs.find(id);
    return input !== null && input.owner === owner ? input : null;
  }

  async #bytesFor(owner: string | null): Promise<number> {
    const { queue, inputs } = this.#open();
    const since = Date.now() - DAY_MS;
    const jobs = (await queue.list(owner)).filter(({ createdAt }) => createdAt >= since);
    const uploads = (await inputs.list()).filter((input) => input.owner === owner && input.createdAt >= since);
    const used = jobs.reduce((sum, job) => sum + bytesOf(job), 0);
    const uploaded = uploads.reduce((sum, { source }) => sum + (source.kind === "upload" ? source.bytes : 0), 0);
    return this.#settings.limits["jobs.bytesPerDay"] - used - uploaded;
  }

  /** Checks the quotas of an owner, for a `cut` if it is known. Throws LimitError naming the quota. */
  async admit(owner: string | null, cut: JobCut | null = null): Promise<void> {
    const points = pointsOf({ cut });
    const { limits } = this.#settings;
    const { queue } = this.#open();
    const open = await queue.count(UNFINISHED, owner);
    if (open >= limits["jobs.atOnce"]) {
      const text = `You have ${open} jobs that wait or run; ${limits["jobs.atOnce"]} are allowed.`;
      throw new LimitError("jobs.atOnce", text);
    }
    if (points > limits["jobs.points"])
      throw new LimitError("jobs.points", `Job too large (${points} > ${limits["jobs.points"]} points)`);
    const since = Date.now() - DAY_MS;
    const jobs = await queue.list(owner);
    const today = jobs.reduce((sum, job) => sum + (job.createdAt >= since ? pointsOf(job) : 0), points);
    if (today > limits["jobs.pointsPerDay"])
      throw new LimitError("jobs.pointsPerDay", `Too many points today (${today} > ${limits["jobs.pointsPerDay"]})`);
    const [bytes, left] = [cut?.bytes ?? 0, await this.#bytesFor(owner)];
    if (left <= 0) throw new LimitError("jobs.bytesPerDay", "The bytes of results and uploads of today are used up.");
    if (bytes > left)
      throw new LimitError("jobs.bytesPerDay", `Result too large (${bytes} bytes > ${left} that are left today)`);
  }

  /**
   * Starts a job, or finds the one that was started with its key. @throws LimitError naming the quota that does not
   * admit it, RequestError if the key belongs to another question
   */
  async start(
    owner: string | null,
    call: JobCall,
    cut: JobCut | null,
    question: object,
    { input, key }: Pick<Job, "input" | "key"> = {},
  ): Promise<Job> {
    const { queue, runner } = this.#open();
    const id = newId();
    const generation = this.#host.generationOf(call).id;
    const tasks = cut === null ? 1 : tasksOf(cut);
    const job: Job = {
      ...{ id, owner, call, cut, tasks, state: "queued", doneTasks: 0, spentMs: 0, createdAt: Date.now() },
      ...{ startedAt: null, endedAt: null, problem: null, result: null, removed: false },
      ...(input === undefined ? {} : { input }),
      ...(key === undefined ? {} : { key }),
      ...(generation === null ? {} : { generation }),
    };
    const body = bodyFile(this.folders, id);
    const known = await keptOnlyIf([body], async () => {
      await writeFile(body, JSON.stringify(question));
      // One after another: otherwise jobs that are submitted together would not see each other's reservations.
      const added = this.#adding.then(async () => {
        const before = await this.#withKey(owner, key);
        if (before !== null) return before;
        await this.admit(owner, cut);
        await queue.add(job);
        return null;
      });
      this.#adding = added.then(
        () => undefined,
        () => undefined,
      );
      return added;
    });
    if (known !== null) {
      await rm(body, { force: true });
      return known;
    }
    await this.#notify(id);
    void runner.pump();
    return job;
  }

  /** The job that an owner has started with a key; null if there is none. Throws RequestError for another question. */
  async #withKey(owner: string | null, key: JobKey | undefined): Promise<Job | null> {
    if (key === undefined) return null;
    const found = (await this.list(owner)).find((one) => one.key?.name === key.name);
    if (found === undefined || found.key?.digest === key.digest) return found ?? null;
    const text = "Idempotency-Key: it has started a job of another question.";
    throw new RequestError("InvalidRequest", text, { member: "idempotency-key" });
  }

  /** The job with an id and an owner; null if there is none. */
  async find(owner: string | null, id: string): Promise<Job | null> {
    if (!isId(id) || !this.#isUsed) return null;
    const job = await this.#open().queue.find(id);
    return job !== null && job.owner === owner && !job.removed ? job : null;
  }

  async list(owner: string | null): Promise<readonly Job[]> {
    if (!this.#isUsed) return [];
    return (await this.#open().queue.list(owner)).filter(({ removed }) => !removed);
  }

  /** Cancels a job that has not ended, and removes one that has, with its result. */
  async cancel(job: Job): Promise<Job> {
    const { queue, runner } = this.#open();
    const ended = await queue.change(job.id, UNFINISHED, { state: "cancelled", endedAt: Date.now() });
    if (ended !== null) await runner.cancel(job.id);
    const last = ended ?? (await queue.change(job.id, FINAL, { removed: true })) ?? job;
    await this.#notify(job.id);
    // Files that cannot be removed now are removed when they are old.
    await this.#logged(runner.remove(last));
    return last;
  }

  /**
   * Removes results, inputs and records that are too old. @param left files that a killed process may have left of
   * submissions; they are removed, as are its files of jobs that have ended or been removed. Absent: other processes
   * may still use such files
   */
  async #expire(left?: ReadonlySet<string>): Promise<void> {
    const { queue, inputs, runner } = this.#open();
    const before = Date.now() - this.#settings.limits["jobs.resultHours"] * HOUR_MS;
    const jobs = await queue.list();
    const used = new Set(jobs.flatMap(({ state, input }) => (UNFINISHED.includes(state) && input ? [input.id] : [])));
    const isOld = ({ endedAt }: Job) => endedAt !== null && endedAt < before;
    const old = jobs.filter(isOld);
    const toClear = left === undefined ? old : jobs.filter(({ state }) => FINAL.includes(state));
    for (const job of toClear) await runner.clear(job);
    const gone = toClear.filter((job) => job.state !== "done" || job.removed || isOld(job));
    const removing = this.results.remove(new Set(gone.map(({ id }) => id)));
    const isRemoved = await removing.then(
      () => true,
      (error: unknown) => {
        this.#host.log.error({ reason: reasonOf(error) }, "results of jobs cannot be removed");
        return false;
      },
    );
    // The record of a job is kept while its result exists, so that the removal is tried again.
    for (const job of isRemoved ? old : []) {
      if ((job.endedAt ?? 0) < Date.now() - DAY_MS) await queue.remove(job.id);
      else await queue.change(job.id, FINAL, { removed: true });
    }
    for (const { id, createdAt, ofCall } of await inputs.list()) {
      const isLeft = ofCall === true && left?.has(`${id}.json`);
      if ((createdAt < before || isLeft) && !used.has(id)) await inputs.remove(id);
    }
    const ids = new Set(jobs.map(({ id }) => id));
    await inputs.sweep(before, left ?? new Set(), ids);
    // A queue that was lost with its disk knows no jobs, whose files would stay for ever.
    await this.results.sweep(ids, before);
    await removeOld(join(this.folders.state, "tasks"), before, (id) => isId(id) && !ids.has(id));
    await this.#count();
  }

  /** Aborts all tasks and closes the queue; unfinished jobs continue after the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#upkeep !== null) clearInterval(this.#upkeep);
    if (this.#retry !== null) clearTimeout(this.#retry);
    await this.#opened?.runner.stop();
    await this.#opened?.queue.close();
    this.#opened = null;
  }
}

/**
 * Queue of jobs in JetStream, for all processes of a cluster. Jobs are entries of a bucket, changed only from the
 * revision that was read. Tasks are messages of a work queue: those of a process that falls silent go to others.
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AckPolicy, jetstream, jetstreamManager, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { type KV, Kvm } from "@nats-io/kv";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import type { Config } from "../shared/config.js";
import { BusyError, DataError, FieldprobeError } from "../shared/errors.js";
import { type NatsOptions, natsOptions, openNats, ROOT } from "../shared/nats.js";
import { makeFolder, reasonOf } from "../shared/system.js";
import { type Job, type JobState, type TaskOutput, UNFINISHED } from "./job.js";
import { newId } from "./job-files.js";
import { extended, type GenerationFor, goesOn, type JobQueue, OF_JOB, restarted, type TakenTask } from "./job-queue.js";

/** The stream of tasks and the bucket of jobs. */
const NAME = `${ROOT}-jobs`;
/** Subject on which processes compare the marks of their folders. */
const FOLDER = `${ROOT}.folder`;
/** Subtracted from the start time once a process has joined, so that it counts as older than any newcomer. */
const JOINED_MS = 1e13;
/** Silence of a process after which its tasks go to others. */
const SILENCE_MS = 15_000;
const HEARTBEAT_MS = 5_000;
const ANSWER_MS = 5_000;
/** Seconds after which a caller should try again while the queue cannot be reached. */
const RETRY_S = 5;
const NS_PER_MS = 1e6;
/** JetStream's error code: the entry was changed meanwhile. */
const WRONG_LAST_SEQUENCE = 10071;
const MAX_SENT = 256;

/** The stored form of a job. `done`: a bit for each task, in base64. */
interface KeptJob {
  readonly job: Job;
  readonly done: string;
}

type SentTask = Pick<TakenTask, "number" | "attempts">;

interface ReadJob extends KeptJob {
  readonly revision: number;
}

type JobOfGeneration = Pick<Job, "id" | "generation">;

interface OpenQueue {
  readonly connection: NatsConnection;
  readonly jobs: KV;
  /** @param messageId the server drops a second message with the same id */
  publish(job: JobOfGeneration, task: SentTask, messageId: string): Promise<unknown>;
  addConsumer(job: JobOfGeneration): Promise<unknown>;
  end(job: JobOfGeneration): Promise<void>;
  pending(job: JobOfGeneration): Promise<number>;
  forget(id: string): Promise<unknown>;
}

/** The last token of the subject of tasks, and the name of the consumer that hands them out. */
const nameOf = ({ id, generation }: JobOfGeneration): string => (generation === undefined ? id : `${id}-${generation}`);
const subjectOf = (name: string): string => `${ROOT}.task.${name}`;
const jobKey = (id: string): string => `job.${id}`;
const outputKey = ({ id, generation = "none" }: JobOfGeneration, number: number): string =>
  `output.${id}.${generation}.${number}`;
const noneDone = (tasks: number): string => Buffer.alloc(Math.ceil(tasks / 8)).toString("base64");

/** The queue of a cluster. `folder`: has the files of its jobs, for all processes. */
export function openSharedQueue(nats: Config["nats"], folder: string): JobQueue {
  return new JetStreamQueue(natsOptions(nats) as NatsOptions, folder);
}

/** A queue that connects when it is first used, and again if the connection was lost. */
class JetStreamQueue implements JobQueue {
  readonly #options: NatsOptions;
  readonly #folder: string;
  #opened: Promise<OpenQueue> | null = null;
  readonly #jobs = new Map<string, ReadJob>();
  /** The messages of the tasks that this process has. */
  readonly #taken = new Map<string, Msg>();
  readonly #heartbeat: NodeJS.Timeout;
  #watcher: (id: string) => void = () => undefined;
  #announcement = "";
  #wasRefused = false;

  constructor(options: NatsOptions, folder: string) {
    this.#folder = folder;
    this.#options = { ...options, name: NAME };
    this.#heartbeat = setInterval(() => {
      for (const message of this.#taken.values()) message.respond("+WPI"); // Work in progress.
      // Tasks of a process that has fallen silent become available without a message.
      for (const { id } of this.#unfinished()) this.#watcher(id);
      void this.#opened?.then((open) => this.#repair(open)).catch(() => undefined);
    }, HEARTBEAT_MS).unref();
  }

  watch(changed: (id: string) => void): void {
    this.#watcher = changed;
    void this.#open().catch(() => undefined);
  }

  /** @throws the error of a connection that cannot be made */
  #open(): Promise<OpenQueue> {
    this.#opened ??= this.#connect().catch((error: unknown) => {
      this.#opened = null;
      throw error;
    });
    return this.#opened;
  }

  /** Runs work that needs the queue. Throws BusyError if JetStream cannot be reached. */
  async #use<T>(work: (open: OpenQueue) => Promise<T>): Promise<T> {
    try {
      return await work(await this.#open());
    } catch (error) {
      if (error instanceof FieldprobeError) throw error;
      throw new BusyError(`jobs: the queue of the cluster cannot be reached: ${reasonOf(error)}`, RETRY_S, error);
    }
  }

  #unfinished(): readonly Job[] {
    return [...this.#jobs.values()].flatMap(({ job }) => (UNFINISHED.includes(job.state) ? [job] : []));
  }

  async #connect(): Promise<OpenQueue> {
    const connection = await openNats(this.#options);
    void connection.closed().then(() => {
      this.#opened = null;
      // Other processes get these tasks once this one has been silent for long enough.
      this.#taken.clear();
    });
    try {
      await this.#compareFolder(connection);
      return await this.#join(connection);
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /**
   * Compares the mark of the folder with the peers: who started later with another mark gives up, even after joining.
   * @throws DataError if a peer that started before has another folder, or the mark cannot be stored
   */
  async #compareFolder(connection: NatsConnection): Promise<void> {
    const file = join(this.#folder, "mark");
    const own = await storedMark(this.#folder, file);
    const read = (): Promise<string> => readFile(file, "utf8").catch(() => "");
    let since = Date.now() + Math.random();
    let refused = false;
    const compare = (text: string): void => {
      const [start, mark] = text.split(" ");
      refused ||= mark !== undefined && mark !== own && Number(start) < since;
      this.#wasRefused ||= refused;
    };
    connection.subscribe(FOLDER, {
      callback: (error, message) => {
        if (error) return;
        compare(message.string());
        const hasJoined = since < 0;
        if (refused && hasJoined) void connection.close();
        else void read().then((mark) => message.respond(`${since} ${mark}`));
      },
    });
    // A process that was refused waits for longer, as the others may be busy.
    const wait = { strategy: "stall", stall: this.#wasRefused ? 3_000 : 300, maxWait: 5_000 } as const;
    for await (const answer of await connection.requestMany(FOLDER, `${since} ${own}`, wait)) compare(answer.string());
    if (refused)
      throw new DataError(
        `jobs: ${this.#folder} is not the folder of other processes of the cluster: FIELDPROBE_RESULTS has to be shared`,
      );
    since -= JOINED_MS;
    this.#announcement = `${since} ${own}`;
  }

  async #join(connection: NatsConnection): Promise<OpenQueue> {
    const manager = await jetstreamManager(connection);
    await manager.streams.add({
      name: NAME,
      subjects: [subjectOf("*")],
      retention: RetentionPolicy.Workqueue,
      storage: StorageType.File,
      num_replicas: 1,
    });
    const jobs = await new Kvm(connection).create(NAME, { storage: StorageType.File, history: 1 });
    const client = jetstream(connection);
    const open: OpenQueue = {
      connection,
      jobs,
      publish: (job, task, messageId) =>
        client.publish(subjectOf(nameOf(job)), JSON.stringify(task), {
          msgID: `${nameOf(job)}.${task.number}.${messageId}`,
        }),
      addConsumer: (job) =>
        manager.consumers.add(NAME, {
          durable_name: nameOf(job),
          filter_subject: subjectOf(nameOf(job)),
          ack_policy: AckPolicy.Explicit,
          ack_wait: SILENCE_MS * NS_PER_MS,
        }),
      end: async (job) => {
        await manager.consumers.delete(NAME, nameOf(job)).catch(() => undefined);
        await manager.streams.purge(NAME, { filter: subjectOf(nameOf(job)) });
      },
      pending: async (job) => {
        const { num_pending, num_ack_pending } = await manager.consumers.info(NAME, nameOf(job));
        return num_pending + num_ack_pending;
      },
      forget: (id) => manager.streams.purge(`KV_${NAME}`, { filter: `$KV.${NAME}.output.${id}.>` }),
    };
    await this.#follow(jobs);
    await this.#repair(open);
    return open;
  }

  /** Reads all jobs and follows their changes. Earlier state is kept until the jobs have been read. */
  async #follow(jobs: KV): Promise<void> {
    const entries = await jobs.watch({ key: "job.*" });
    const present = new Set<string>();
    const all = new Promise<void>((resolve) => {
      const follow = async (): Promise<void> => {
        if ((await jobs.status()).values === 0) resolve();
        for await (const { key, operation, value, revision, delta } of entries) {
          const id = key.slice("job.".length);
          present.add(id);
          if (operation !== "PUT") this.#jobs.delete(id);
          else this.#remember(id, { ...(JSON.parse(Buffer.from(value).toString()) as KeptJob), revision });
          if (delta === 0) resolve();
          this.#watcher(id);
        }
        resolve();
      };
      void follow().catch(() => resolve());
    });
    // If all values are outputs of tasks, no entry of a job arrives.
    await Promise.race([all, new Promise((resolve) => setTimeout(resolve, ANSWER_MS).unref())]);
    for (const id of this.#jobs.keys()) if (!present.has(id)) this.#jobs.delete(id);
  }

  #remember(id: string, read: ReadJob): void {
    if (read.revision >= (this.#jobs.get(id)?.revision ?? 0)) this.#jobs.set(id, read);
  }

  /** Announces the mark again, and publishes tasks again that were lost because a process ended between two steps. */
  async #repair(open: OpenQueue): Promise<void> {
    open.connection.publish(FOLDER, this.#announcement);
    for (const { id } of this.#unfinished()) {
      const read = await this.#read(open, id);
      if (read === null || !UNFINISHED.includes(read.job.state)) continue;
      await open.addConsumer(read.job);
      if ((await open.pending(read.job)) === 0) await this.#publishMissing(open, read);
    }
  }

  /** Publishes the tasks that are not done, or the one that writes the result; once for a revision of the job. */
  async #publishMissing(open: OpenQueue, { job, done, revision }: ReadJob): Promise<void> {
    const bits = bitsOf(done);
    const notDone = Array.from({ length: job.tasks }, (_, number) => number).filter((number) => !isSet(bits, number));
    const due = notDone.length === 0 ? [job.tasks] : notDone;
    for (let i = 0; i < due.length; i += MAX_SENT)
      await Promise.all(
        due.slice(i, i + MAX_SENT).map((number) => open.publish(job, { number, attempts: 0 }, `${revision}`)),
      );
  }

  async #read({ jobs }: OpenQueue, id: string): Promise<ReadJob | null> {
    const entry = await jobs.get(jobKey(id));
    if (entry === null || entry.operation !== "PUT") return null;
    return { ...entry.json<KeptJob>(), revision: entry.revision };
  }

  /** Changes the entry of a job, again if another process was faster. Returns null if there is no job or no change. */
  async #update(open: OpenQueue, id: string, change: (kept: KeptJob) => KeptJob | null): Promise<ReadJob | null> {
    for (;;) {
      const current = await this.#read(open, id);
      const changed = current === null ? null : change({ job: current.job, done: current.done });
      if (current === null || changed === null) return null;
      try {
        const revision = await open.jobs.update(jobKey(id), JSON.stringify(changed), current.revision);
        this.#remember(id, { ...changed, revision });
        return { ...changed, revision };
      } catch (error) {
        if ((error as { code?: number }).code !== WRONG_LAST_SEQUENCE) throw error;
      }
    }
  }

  add(job: Job): Promise<void> {
    return this.#use(async (open) => {
      const kept: KeptJob = { job, done: noneDone(job.tasks) };
      await open.addConsumer(job);
      const revision = await open.jobs.create(jobKey(job.id), JSON.stringify(kept));
      this.#remember(job.id, { ...kept, revision });
      await this.#publishMissing(open, { ...kept, revision });
    });
  }

  async find(id: string): Promise<Job | null> {
    try {
      return await this.#use(async (open) => (await this.#read(open, id))?.job ?? null);
    } catch (error) {
      // A job that has ended does not change: its result is available without the queue.
      const cached = this.#jobs.get(id)?.job;
      if (cached !== undefined && !UNFINISHED.includes(cached.state)) return cached;
      throw error;
    }
  }

  async list(owner?: string | null): Promise<readonly Job[]> {
    return this.#use(async () => {
      const all = [...this.#jobs.values()].map(({ job }) => job);
      if (owner === undefined) return all;
      return all.filter((job) => job.owner === owner).sort((one, other) => other.createdAt - one.createdAt);
    });
  }

  async count(states: readonly JobState[], owner?: string | null): Promise<number> {
    return (await this.list(owner)).filter(({ state }) => states.includes(state)).length;
  }

  change(id: string, from: readonly JobState[], changes: Partial<Job>): Promise<Job | null> {
    return this.#use(async (open) => {
      const changed = await this.#update(open, id, ({ job, done }) =>
        from.includes(job.state) ? { job: { ...job, ...changes }, done } : null,
      );
      if (changed !== null && !UNFINISHED.includes(changed.job.state)) await open.end(changed.job);
      return changed?.job ?? null;
    });
  }

  take(generationFor: GenerationFor = OF_JOB): Promise<TakenTask | null> {
    return this.#use(async (open) => {
      const jobs = [...this.#unfinished()];
      for (const job of jobs.sort((one, other) => one.spentMs - other.spentMs || one.createdAt - other.createdAt)) {
        const generation = generationFor(job);
        if (generation === null) continue;
        const current = generation === OF_JOB(job) ? job : await this.#restart(open, job, generation);
        const task = current === null ? null : await this.#next(open, current);
        if (task !== null) return task;
      }
      return null;
    });
  }

  /** Restarts the tasks of a job under another generation. Returns null if another process was faster. */
  async #restart(open: OpenQueue, before: Job, generation: string): Promise<Job | null> {
    const changed = await this.#update(open, before.id, ({ job }) =>
      goesOn(job, before) ? { job: restarted(job, generation), done: noneDone(job.tasks) } : null,
    );
    if (changed === null) return null;
    await open.end(before);
    await open.forget(before.id);
    await open.addConsumer(changed.job);
    await this.#publishMissing(open, changed);
    return changed.job;
  }

  /** Takes the next task of a job. Messages of tasks that are done or obsolete are dropped. */
  async #next(open: OpenQueue, before: Job): Promise<TakenTask | null> {
    for (;;) {
      const message = await next(open.connection, nameOf(before));
      if (message === null) return null;
      const { number, attempts } = message.json<SentTask>();
      const changed = await this.#update(open, before.id, ({ job, done }) =>
        goesOn(job, before)
          ? { job: { ...job, state: "running", startedAt: job.startedAt ?? Date.now() }, done }
          : null,
      );
      if (changed === null) return null;
      const { job, done } = changed;
      const isAll = job.doneTasks === job.tasks;
      if (number === job.tasks ? isAll : !isSet(bitsOf(done), number)) {
        this.#taken.set(outputKey(job, number), message);
        return { job, number, attempts };
      }
      if (isAll) await this.#publishLast(open, job);
      message.respond("+ACK");
    }
  }

  #publishLast(open: OpenQueue, job: Job): Promise<unknown> {
    return open.publish(job, { number: job.tasks, attempts: 0 }, `${job.spentMs}`);
  }

  #acknowledge(job: Job, number: number): void {
    this.#taken.get(outputKey(job, number))?.respond("+ACK");
    this.#taken.delete(outputKey(job, number));
  }

  done({ job: taken, number }: TakenTask, output: TaskOutput): Promise<Job | null> {
    return this.#use(async (open) => {
      await open.jobs.put(outputKey(taken, number), JSON.stringify(output));
      const changed = await this.#update(open, taken.id, ({ job, done }) => {
        if (!goesOn(job, taken)) return null;
        if (isSet(bitsOf(done), number)) return { job, done };
        const more = { doneTasks: job.doneTasks + 1, spentMs: job.spentMs + output.ms };
        return { job: { ...job, ...more }, done: flipped(done, [number]) };
      });
      if (changed?.job.doneTasks === taken.tasks) await this.#publishLast(open, changed.job);
      this.#acknowledge(taken, number);
      return changed?.job ?? null;
    });
  }

  putBack({ job: taken, number, attempts }: TakenTask, failed = false): Promise<void> {
    return this.#use(async (open) => {
      const job = (await this.#read(open, taken.id))?.job;
      // The task that writes the result is published again once all others are done.
      const isDue = job !== undefined && goesOn(job, taken) && (number < job.tasks || job.doneTasks === job.tasks);
      const again = { number, attempts: attempts + (failed ? 1 : 0) };
      if (isDue) await open.publish(job, again, `${again.attempts}.${Date.now()}`);
      this.#acknowledge(taken, number);
    });
  }

  redo(before: Job, numbers: readonly number[]): Promise<void> {
    return this.#use(async (open) => {
      const changed = await this.#update(open, before.id, ({ job, done }) => {
        const bits = bitsOf(done);
        const lost = numbers.filter((number) => isSet(bits, number));
        if (!goesOn(job, before) || lost.length === 0) return null;
        return { job: { ...job, doneTasks: job.doneTasks - lost.length }, done: flipped(done, lost) };
      });
      if (changed !== null) await this.#publishMissing(open, changed);
    });
  }

  extend({ job: before, number }: TakenTask): Promise<void> {
    return this.#use(async (open) => {
      const changed = await this.#update(open, before.id, ({ job, done }) => {
        if (!goesOn(job, before) || job.tasks !== number) return null;
        const changes = extended(job);
        const bits = Buffer.concat([bitsOf(done), bitsOf(noneDone(changes.tasks))]);
        return { job: { ...job, ...changes }, done: bits.toString("base64") };
      });
      if (changed !== null) await this.#publishMissing(open, changed);
      this.#acknowledge(before, number);
    });
  }

  outputs(id: string): Promise<readonly (TaskOutput | null)[]> {
    return this.#use(async (open) => {
      const kept = await this.#read(open, id);
      if (kept === null) return [];
      const bits = bitsOf(kept.done);
      const outputs: (TaskOutput | null)[] = [];
      for (let number = 0; number < kept.job.tasks; number++) {
        const entry = isSet(bits, number) ? await open.jobs.get(outputKey(kept.job, number)) : null;
        outputs.push(entry?.operation === "PUT" ? entry.json<TaskOutput>() : null);
      }
      return outputs;
    });
  }

  remove(id: string): Promise<void> {
    return this.#use(async (open) => {
      await open.end((await this.#read(open, id))?.job ?? { id });
      await open.forget(id);
      await open.jobs.purge(jobKey(id));
      this.#jobs.delete(id);
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#heartbeat);
    const open = await this.#opened?.catch(() => null);
    if (!open) return;
    for (const message of this.#taken.values()) message.respond("-NAK");
    await open.connection.flush().catch(() => undefined);
    await open.connection.close();
  }
}

/** The mark of a folder, which the first process writes. Throws DataError if it cannot be written or read. */
async function storedMark(folder: string, file: string): Promise<string> {
  try {
    makeFolder(folder);
    await writeFile(file, newId(), { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    return await readFile(file, "utf8");
  } catch (error) {
    throw new DataError(`jobs: ${file} cannot be written and read: ${reasonOf(error)}`);
  }
}

const bitsOf = (done: string): Buffer => Buffer.from(done, "base64");

/** Whether the bit of a task is set: it is done. */
function isSet(bits: Uint8Array, number: number): boolean {
  return ((bits[number >> 3] ?? 0) & (1 << (number & 7))) !== 0;
}

/** The bits, with the bits of some tasks flipped. */
function flipped(done: string, numbers: readonly number[]): string {
  const bits = bitsOf(done);
  for (const number of numbers) bits.writeUInt8(bits.readUInt8(number >> 3) ^ (1 << (number & 7)), number >> 3);
  return bits.toString("base64");
}

/** The next message of a consumer; null if there is none now. */
async function next(connection: NatsConnection, consumer: string): Promise<Msg | null> {
  const subject = `$JS.API.CONSUMER.MSG.NEXT.${NAME}.${consumer}`;
  const request = JSON.stringify({ batch: 1, no_wait: true });
  try {
    const message = await connection.request(subject, request, { timeout: ANSWER_MS, noMux: true });
    return (message.headers?.code ?? 0) >= 400 ? null : message;
  } catch (error) {
    // No consumer: the job has just ended.
    if (connection.isClosed()) throw error;
    return null;
  }
}

/**
 * `openSharedQueue` keeps the queue of jobs in JetStream, for all processes of a cluster. Jobs are entries of a bucket,
 * changed only from the revision that was read. Their tasks are messages of a work queue in files: one process has a
 * task at a time, and if it falls silent, another one gets it.
 */
import { AckPolicy, jetstream, jetstreamManager, RetentionPolicy, StorageType } from "@nats-io/jetstream";
import { type KV, Kvm } from "@nats-io/kv";
import type { Msg, NatsConnection } from "@nats-io/transport-node";
import type { Config } from "../config.js";
import { DataError } from "../errors.js";
import { openNats } from "../nats.js";
import { type NatsOptions, natsOptions, ROOT } from "../nats-options.js";
import { reasonOf } from "../system-error.js";
import { type Job, type JobState, type TaskOutput, UNFINISHED } from "./job.js";
import type { JobQueue, TakenTask } from "./job-queue.js";

/** The stream of tasks and the bucket of jobs. */
const NAME = `${ROOT}-jobs`;
/** Silence of a process after which its tasks go to others. */
const SILENCE_MS = 15_000;
/** Time between two signs that a process gives of its tasks. */
const SIGN_MS = 5_000;
/** Longest wait for an answer of the server. */
const ANSWER_MS = 5_000;
const NANOS = 1e6;
/** Messages that are sent before their receipt is awaited. */
const MOST_SENT = 256;

/** A job as it is kept: with the numbers of its tasks that are done, a bit each. */
interface KeptJob {
  readonly job: Job;
  readonly done: string;
}

/** A task as a message. */
interface SentTask {
  readonly number: number;
  readonly attempts: number;
}

/** The parts of an open queue. */
interface OpenQueue {
  readonly connection: NatsConnection;
  readonly jobs: KV;
  /** @param once identifies the message: the server drops another one with the same */
  publish(id: string, task: SentTask, once: string): Promise<unknown>;
  addConsumer(id: string): Promise<unknown>;
  end(id: string): Promise<void>;
  pending(id: string): Promise<number>;
}

const subjectOf = (id: string): string => `${ROOT}.task.${id}`;
const jobKey = (id: string): string => `job.${id}`;
const outputKey = (id: string, number: number): string => `output.${id}.${number}`;

/** The queue of a cluster. */
export function openSharedQueue(nats: Config["nats"]): JobQueue {
  return new JetStreamQueue(natsOptions(nats) as NatsOptions);
}

/** A queue that connects when it is first used, and again if the connection was lost. */
class JetStreamQueue implements JobQueue {
  readonly #options: NatsOptions;
  #opened: Promise<OpenQueue> | null = null;
  /** The jobs as last heard, by id. */
  readonly #heard = new Map<string, KeptJob>();
  /** The messages of the tasks that this process has. */
  readonly #taken = new Map<string, Msg>();
  readonly #signs: NodeJS.Timeout;
  #watcher: (id: string) => void = () => undefined;

  constructor(options: NatsOptions) {
    this.#options = { ...options, name: NAME };
    this.#signs = setInterval(() => {
      for (const message of this.#taken.values()) message.respond("+WPI");
      // Tasks of a process that has fallen silent can be taken again, which no message announces.
      for (const [id, { job }] of this.#heard) if (UNFINISHED.includes(job.state)) this.#watcher(id);
    }, SIGN_MS).unref();
  }

  watch(changed: (id: string) => void): void {
    this.#watcher = changed;
    void this.#open().catch(() => undefined);
  }

  /** @throws DataError if JetStream cannot be reached */
  #open(): Promise<OpenQueue> {
    this.#opened ??= this.#connect().catch((error: unknown) => {
      this.#opened = null;
      throw new DataError(`jobs: the queue of the cluster cannot be reached: ${reasonOf(error)}`);
    });
    return this.#opened;
  }

  async #connect(): Promise<OpenQueue> {
    const connection = await openNats(this.#options);
    void connection.closed().then(() => {
      this.#opened = null;
      // Other processes get these tasks once this one has been silent for long enough.
      this.#taken.clear();
    });
    const manager = await jetstreamManager(connection);
    const kept = { storage: StorageType.File, num_replicas: 1 };
    await manager.streams.add({
      ...kept,
      name: NAME,
      subjects: [subjectOf("*")],
      retention: RetentionPolicy.Workqueue,
    });
    const jobs = await new Kvm(connection).create(NAME, { storage: StorageType.File, history: 1 });
    const client = jetstream(connection);
    const open: OpenQueue = {
      connection,
      jobs,
      publish: (id, task, once) => client.publish(subjectOf(id), JSON.stringify(task), { msgID: once }),
      addConsumer: (id) =>
        manager.consumers.add(NAME, {
          durable_name: id,
          filter_subject: subjectOf(id),
          ack_policy: AckPolicy.Explicit,
          ack_wait: SILENCE_MS * NANOS,
        }),
      end: async (id) => {
        await manager.consumers.delete(NAME, id).catch(() => undefined);
        await manager.streams.purge(NAME, { filter: subjectOf(id) });
      },
      pending: async (id) => {
        const { num_pending, num_ack_pending } = await manager.consumers.info(NAME, id);
        return num_pending + num_ack_pending;
      },
    };
    this.#heard.clear();
    await this.#hear(jobs);
    for (const [id, { job }] of this.#heard) if (UNFINISHED.includes(job.state)) await this.#repair(open, id);
    return open;
  }

  /** Reads all jobs, and follows their changes from then on. */
  async #hear(jobs: KV): Promise<void> {
    const entries = await jobs.watch({ key: "job.*" });
    const all = new Promise<void>((resolve) => {
      const follow = async (): Promise<void> => {
        if ((await jobs.status()).values === 0) resolve();
        for await (const { key, operation, value, delta } of entries) {
          const id = key.slice("job.".length);
          if (operation === "PUT") this.#heard.set(id, JSON.parse(Buffer.from(value).toString()) as KeptJob);
          else this.#heard.delete(id);
          if (delta === 0) resolve();
          this.#watcher(id);
        }
        resolve();
      };
      void follow().catch(() => resolve());
    });
    // If all values are outputs, no entry of a job comes.
    await Promise.race([all, new Promise((resolve) => setTimeout(resolve, ANSWER_MS).unref())]);
  }

  /** Publishes tasks of a job again that were lost because a process ended between two steps. */
  async #repair(open: OpenQueue, id: string): Promise<void> {
    await open.addConsumer(id);
    if ((await open.pending(id)) > 0) return;
    const kept = await this.#read(open, id);
    if (kept !== null) await this.#publishMissing(open, kept.value, `again.${kept.revision}`);
  }

  /** Publishes the tasks that are not done, or the one that writes the result. */
  async #publishMissing(open: OpenQueue, { job, done }: KeptJob, once: string): Promise<void> {
    const bits = Buffer.from(done, "base64");
    const all = Array.from({ length: job.tasks }, (_, number) => number).filter((number) => !isSet(bits, number));
    const missing = all.length === 0 ? [job.tasks] : all;
    for (let i = 0; i < missing.length; i += MOST_SENT)
      await Promise.all(
        missing
          .slice(i, i + MOST_SENT)
          .map((number) => open.publish(job.id, { number, attempts: 0 }, `${job.id}.${number}.${once}`)),
      );
  }

  async #read({ jobs }: OpenQueue, id: string): Promise<{ readonly value: KeptJob; readonly revision: number } | null> {
    const entry = await jobs.get(jobKey(id));
    if (entry === null || entry.operation !== "PUT") return null;
    return { value: entry.json<KeptJob>(), revision: entry.revision };
  }

  /** Changes the entry of a job, again if another process was faster. @returns null if there is no job or no change */
  async #update(open: OpenQueue, id: string, change: (kept: KeptJob) => KeptJob | null): Promise<KeptJob | null> {
    for (;;) {
      const found = await this.#read(open, id);
      const changed = found === null ? null : change(found.value);
      if (found === null || changed === null) return null;
      try {
        await open.jobs.update(jobKey(id), JSON.stringify(changed), found.revision);
        this.#heard.set(id, changed);
        return changed;
      } catch (error) {
        if (!/wrong last sequence/.test((error as Error).message)) throw error;
      }
    }
  }

  async add(job: Job): Promise<void> {
    const open = await this.#open();
    const kept: KeptJob = { job, done: Buffer.alloc(Math.ceil(job.tasks / 8)).toString("base64") };
    await open.addConsumer(job.id);
    await open.jobs.create(jobKey(job.id), JSON.stringify(kept));
    this.#heard.set(job.id, kept);
    await this.#publishMissing(open, kept, "first");
  }

  async find(id: string): Promise<Job | null> {
    return (await this.#read(await this.#open(), id))?.value.job ?? null;
  }

  async list(owner?: string | null): Promise<readonly Job[]> {
    await this.#open();
    const all = [...this.#heard.values()].map(({ job }) => job);
    if (owner === undefined) return all;
    return all.filter((job) => job.owner === owner).sort((one, other) => other.createdAt - one.createdAt);
  }

  async count(states: readonly JobState[], owner?: string | null): Promise<number> {
    return (await this.list(owner)).filter(({ state }) => states.includes(state)).length;
  }

  async change(id: string, from: readonly JobState[], changes: Partial<Job>): Promise<Job | null> {
    const open = await this.#open();
    const changed = await this.#update(open, id, ({ job, done }) =>
      from.includes(job.state) ? { job: { ...job, ...changes }, done } : null,
    );
    if (changed !== null && !UNFINISHED.includes(changed.job.state)) await open.end(id);
    return changed?.job ?? null;
  }

  async take(): Promise<TakenTask | null> {
    const open = await this.#open();
    const jobs = (await this.list()).filter(({ state }) => UNFINISHED.includes(state));
    for (const { id } of jobs.sort((one, other) => one.spentMs - other.spentMs || one.createdAt - other.createdAt)) {
      const message = await next(open.connection, id);
      if (message === null) continue;
      const { number, attempts } = message.json<SentTask>();
      const changed = await this.#update(open, id, ({ job, done }) =>
        UNFINISHED.includes(job.state)
          ? { job: { ...job, state: "running", startedAt: job.startedAt ?? Date.now() }, done }
          : null,
      );
      if (changed === null) continue;
      this.#taken.set(outputKey(id, number), message);
      return { job: changed.job, number, attempts };
    }
    return null;
  }

  /** Tells the server that this process is done with a task. */
  #acknowledge(id: string, number: number): void {
    this.#taken.get(outputKey(id, number))?.respond("+ACK");
    this.#taken.delete(outputKey(id, number));
  }

  async done({ job: { id, tasks }, number }: TakenTask, output: TaskOutput): Promise<Job | null> {
    const open = await this.#open();
    await open.jobs.put(outputKey(id, number), JSON.stringify(output));
    const changed = await this.#update(open, id, ({ job, done }) => {
      if (job.state !== "running") return null;
      const bits = Buffer.from(done, "base64");
      if (isSet(bits, number)) return { job, done };
      bits[number >> 3] = (bits[number >> 3] as number) | (1 << (number & 7));
      const more = { doneTasks: job.doneTasks + 1, spentMs: job.spentMs + output.ms };
      return { job: { ...job, ...more }, done: bits.toString("base64") };
    });
    if (changed?.job.doneTasks === tasks)
      await open.publish(id, { number: tasks, attempts: 0 }, `${id}.${tasks}.${changed.job.spentMs}`);
    this.#acknowledge(id, number);
    return changed?.job ?? null;
  }

  async putBack({ job: { id, tasks }, number, attempts }: TakenTask, failed = false): Promise<void> {
    const open = await this.#open();
    const kept = (await this.#read(open, id))?.value;
    // The task that writes the result is published again once all others are done.
    const isDue = kept !== undefined && (number < tasks || kept.job.doneTasks === tasks);
    const again = { number, attempts: attempts + (failed ? 1 : 0) };
    if (isDue) await open.publish(id, again, `${id}.${number}.${again.attempts}.${Date.now()}`);
    this.#acknowledge(id, number);
  }

  async redo(id: string, numbers: readonly number[]): Promise<void> {
    const open = await this.#open();
    const changed = await this.#update(open, id, ({ job, done }) => {
      const bits = Buffer.from(done, "base64");
      for (const number of numbers) bits[number >> 3] = (bits[number >> 3] as number) & ~(1 << (number & 7));
      return { job: { ...job, doneTasks: job.doneTasks - numbers.length }, done: bits.toString("base64") };
    });
    if (changed !== null) await this.#publishMissing(open, changed, `redo.${Date.now()}`);
  }

  async outputs(id: string): Promise<readonly TaskOutput[]> {
    const open = await this.#open();
    const kept = (await this.#read(open, id))?.value;
    const bits = Buffer.from(kept?.done ?? "", "base64");
    const numbers = Array.from({ length: kept?.job.tasks ?? 0 }, (_, number) => number);
    const outputs: TaskOutput[] = [];
    for (const number of numbers.filter((one) => isSet(bits, one))) {
      const entry = await open.jobs.get(outputKey(id, number));
      if (entry !== null) outputs.push(entry.json<TaskOutput>());
    }
    return outputs;
  }

  async remove(id: string): Promise<void> {
    const open = await this.#open();
    const job = (await this.#read(open, id))?.value.job;
    await open.end(id);
    for (let number = 0; number < (job?.tasks ?? 0); number++) await open.jobs.purge(outputKey(id, number));
    await open.jobs.purge(jobKey(id));
    this.#heard.delete(id);
  }

  async close(): Promise<void> {
    clearInterval(this.#signs);
    const open = await this.#opened?.catch(() => null);
    if (!open) return;
    for (const message of this.#taken.values()) message.respond("-NAK");
    await open.connection.flush().catch(() => undefined);
    await open.connection.close();
  }
}

/** Whether a task is done. */
function isSet(bits: Uint8Array, number: number): boolean {
  return ((bits[number >> 3] ?? 0) & (1 << (number & 7))) !== 0;
}

/** The next task of a job that no process has; null if there is none now. */
async function next(connection: NatsConnection, id: string): Promise<Msg | null> {
  const subject = `$JS.API.CONSUMER.MSG.NEXT.${NAME}.${id}`;
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

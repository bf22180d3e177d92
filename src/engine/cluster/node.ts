/** A worker of a cluster: evaluates what gateways send it, on a pool of its own, and says every second that it lives. */
import type { Logger } from "pino";
import type { Config } from "../../config.js";
import { BusyError, DeadlineError, FieldprobeError, RequestError, WorkerError } from "../../errors.js";
import { RECORDS } from "../../operations.js";
import type { Dataset } from "../../storage/grid.js";
import { BufferPool } from "../buffers.js";
import { Catalog } from "../catalog.js";
import { type CheckedQuery, checkQuery } from "../check.js";
import { failureOf } from "../failure.js";
import { legRecords } from "../leg.js";
import { BATCH_POINTS } from "../memory.js";
import { openPool, type Pool } from "../pool.js";
import type { BatchTask, Leg, Scan } from "../task.js";
import { writeFault } from "./fault.js";
import { generationOf } from "./generation.js";
import { encodeHeartbeat, HEARTBEAT_MS } from "./heartbeat.js";
import {
  copyBytes,
  decodeMessage,
  encodeMessage,
  HEADER_BYTES,
  type Header,
  MessageError,
  type MessageKind,
  NO_DEADLINE,
} from "./message.js";
import { SUBJECTS, WORKERS_GROUP } from "./subjects.js";
import type { Channel, Delivery, Transport } from "./transport.js";

/** How often the data folders are scanned without being asked. */
const RESCAN_MS = 30_000;

/** A running worker. */
export interface ClusterNode {
  readonly name: string;
  /** Scans the data folders again. */
  reload(): Promise<void>;
  /** Takes nothing new, answers what it has, ends; false when something was cut off after `graceMs`. */
  close(graceMs: number): Promise<boolean>;
}

/** What a node does for gateways. */
export interface NodeOptions {
  readonly config: Config;
  readonly name: string;
  readonly transport: Transport;
  readonly log: Logger;
}

/** Starts the threads, loads the catalogue, listens. */
export async function openNode({ config, name, transport, log }: NodeOptions): Promise<ClusterNode> {
  const pool = openPool({
    workers: config.workers,
    cacheBytes: config.cacheBytes,
    chunkBytes: config.limits["engine.chunkBytes"],
    fd8Legacy: config.fd8Legacy,
  });
  const node = new Worker(config, name, transport, log, pool);
  try {
    await node.reload();
  } catch (error) {
    await pool.close();
    throw error;
  }
  node.listen();
  return node;
}

class Worker implements ClusterNode {
  readonly name: string;
  readonly #config: Config;
  readonly #transport: Transport;
  readonly #log: Logger;
  readonly #pool: Pool;
  readonly #buffers = new BufferPool();
  readonly #catalog: Catalog;
  #generations: ReadonlyMap<string, Dataset> = new Map();
  /** Cancel flags of the batches it has, by query, batch and attempt. */
  readonly #held = new Map<string, Int32Array>();
  readonly #channels = new Map<string, Channel>();
  readonly #timers: NodeJS.Timeout[] = [];
  #control: Channel | null = null;
  #idle: (() => void) | null = null;
  #draining = false;

  constructor(config: Config, name: string, transport: Transport, log: Logger, pool: Pool) {
    this.name = name;
    this.#config = config;
    this.#transport = transport;
    this.#log = log;
    this.#pool = pool;
    this.#catalog = new Catalog(log);
  }

  listen(): void {
    this.#control = this.#transport.subscribe(SUBJECTS.control(this.name), (delivery) => this.#heed(delivery));
    this.#open(SUBJECTS.evaluate(this.name));
    this.#listenForDatasets();
    const rescan = (): void => {
      this.reload().catch((error: unknown) => this.#log.error({ err: error }, "the data folders could not be scanned"));
    };
    this.#timers.push(
      setInterval(() => this.#beat(), HEARTBEAT_MS),
      setInterval(rescan, RESCAN_MS),
    );
    this.#transport.watch((event) => {
      if (event === "restored") this.#beat();
    });
    this.#beat();
  }

  async reload(): Promise<void> {
    this.#catalog.adopt(await this.#pool.run<Scan>({ kind: "scan", folders: this.#config.data }));
    const { fd8Legacy } = this.#config;
    this.#generations = new Map(this.#catalog.datasets.map((dataset) => [generationOf(dataset, fd8Legacy), dataset]));
    if (this.#control) {
      this.#listenForDatasets();
      this.#beat();
    }
  }

  async close(graceMs: number): Promise<boolean> {
    this.#draining = true;
    this.#beat();
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all([...this.#channels.values()].map((channel) => channel.drain()));
    let finished = this.#held.size === 0;
    if (!finished) {
      const idle = new Promise<boolean>((resolve) => {
        this.#idle = () => resolve(true);
      });
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(false), graceMs);
      });
      finished = await Promise.race([idle, late]);
      clearTimeout(timer);
    }
    await this.#control?.drain();
    await this.#transport.close();
    await this.#pool.close();
    return finished;
  }

  /** Has a channel for each dataset, and none for others. */
  #listenForDatasets(): void {
    const wanted = new Set(this.#catalog.datasets.map(({ name }) => SUBJECTS.any(name)));
    for (const subject of wanted) this.#open(subject, WORKERS_GROUP);
    for (const [subject, channel] of this.#channels) {
      if (subject === SUBJECTS.evaluate(this.name) || wanted.has(subject)) continue;
      this.#channels.delete(subject);
      void channel.drain();
    }
  }

  #open(subject: string, queue?: string): void {
    if (this.#draining || this.#channels.has(subject)) return;
    this.#channels.set(
      subject,
      this.#transport.subscribe(subject, (delivery) => this.#evaluate(delivery), queue),
    );
  }

  #beat(): void {
    const { hits, misses, bytesRead, bytesUsed } = this.#pool.cache();
    const heartbeat = encodeHeartbeat({
      version: 1,
      node: this.name,
      threads: this.#pool.workers,
      queued: this.#pool.queued(),
      running: this.#pool.running(),
      draining: this.#draining,
      cache: { capacity: this.#pool.cacheBytes, used: bytesUsed, hits, misses, bytesRead },
      datasets: [...this.#generations].map(([generation, { name }]): [string, string] => [name, generation]),
    });
    this.#transport.publish(SUBJECTS.heartbeat(this.name), heartbeat);
  }

  /** Decodes a message, or notes that it is none. */
  #read({ data, reply, subject }: Delivery): ReturnType<typeof decodeMessage> | null {
    try {
      if (reply === "") throw new MessageError("nobody waits for an answer");
      return decodeMessage(data);
    } catch (error) {
      if (!(error instanceof MessageError)) throw error;
      this.#log.warn({ subject, bytes: data.length, err: error }, "a message that makes no sense");
      return null;
    }
  }

  /** Cancels a batch, or says whether it is here. */
  #heed(delivery: Delivery): void {
    const message = this.#read(delivery);
    if (!message) return;
    const { header } = message;
    const flag = this.#held.get(keyOf(header));
    if (header.kind === "cancel" && flag) Atomics.store(flag, 0, 1);
    this.#say(delivery.reply, header, flag ? "held" : "unknown");
  }

  #say(reply: string, header: Header, kind: MessageKind, values: Uint8Array = new Uint8Array(0)): void {
    const message = encodeMessage({ ...header, kind, offset: 0, total: values.length }, values.length);
    message.set(values, HEADER_BYTES);
    this.#transport.publish(reply, message);
  }

  #evaluate(delivery: Delivery): void {
    const message = this.#read(delivery);
    if (message?.header.kind !== "evaluate") return;
    const { header, values } = message;
    const key = keyOf(header);
    if (this.#held.has(key)) return;
    const cancel = new Int32Array(new SharedArrayBuffer(4));
    const fail = (error: unknown): void => {
      if (!(error instanceof FieldprobeError)) this.#log.error({ err: error }, "a batch failed");
      const known = error instanceof FieldprobeError ? error : new WorkerError(undefined, error);
      this.#say(delivery.reply, header, "fault", writeFault(failureOf(known)));
    };
    let work: Work;
    try {
      work = this.#prepare(header, values, cancel);
    } catch (error) {
      fail(error);
      return;
    }
    this.#held.set(key, cancel);
    let late = false;
    const expire = (): void => {
      late = true;
      Atomics.store(cancel, 0, 1);
    };
    const timer =
      header.deadlineMs === NO_DEADLINE ? null : setTimeout(expire, Math.min(header.deadlineMs, 2 ** 31 - 1));
    this.#pool
      .run(work.task)
      .then(() => this.#answer(delivery.reply, header, work.answer))
      .catch((error: unknown) => fail(late ? new DeadlineError() : error))
      .finally(() => {
        if (timer) clearTimeout(timer);
        for (const buffer of work.buffers) this.#buffers.give(buffer);
        this.#held.delete(key);
        if (this.#held.size === 0) this.#idle?.();
      });
  }

  /**
   * Makes a task of a message.
   *
   * @throws BusyError when another node has to do it, DeadlineError, and RequestError for what no gateway would send
   */
  #prepare(header: Header, values: Uint8Array, cancel: Int32Array): Work {
    const dataset = this.#generations.get(header.generation);
    if (!dataset) throw new BusyError("This node does not have that generation of the dataset.");
    if (header.deadlineMs === 0) throw new DeadlineError();
    const checked = checkQuery({ ...header.ask, dataset: dataset.name }, () => dataset);
    checkShape(header, checked);
    const buffers: SharedArrayBuffer[] = [];
    const shared = (bytes: number): SharedArrayBuffer => {
      const buffer = this.#buffers.take(bytes);
      buffers.push(buffer);
      return buffer;
    };
    const { count } = header;
    const out = new Float32Array(shared(4 * count * header.components), 0, count * header.components);
    const input = (at: number): BatchTask["points"] => {
      const triples = new Float32Array(shared(12 * count), 0, 3 * count);
      copyBytes(values.subarray(at, at + 12 * count), triples);
      return [{ triples, count }];
    };
    const leg = checked.kernel.family === "track" ? legOf(header, values, shared) : null;
    const fresh = header.from === 0;
    const task: BatchTask = {
      kind: "batch",
      query: checked.query,
      kernel: checked.operation.kernel,
      dataset,
      source: this.#catalog.sourceOf(dataset),
      first: 0,
      points: fresh ? input(0) : [],
      velocities: fresh && header.velocities ? input(12 * count) : [],
      count,
      steps: checked.steps,
      step: checked.step,
      itemsPerPoint: checked.itemsPerPoint,
      out,
      places: null,
      pass: null,
      cancel,
      ...(leg ? { leg } : {}),
    };
    const last = header.to === checked.steps;
    const state = leg && !last ? [leg.positions, ...(header.ask.Tp === undefined ? [] : [leg.velocities])] : [];
    return { task, buffers, answer: [...state, out] };
  }

  /** Sends an answer, in parts where it does not fit a message. */
  #answer(reply: string, header: Header, parts: readonly (Float32Array | Float64Array)[]): void {
    const total = parts.reduce((sum, part) => sum + part.byteLength, 0);
    const room = this.#transport.maxBytes() - HEADER_BYTES;
    for (let offset = 0; offset < total; offset += room) {
      const size = Math.min(room, total - offset);
      const message = encodeMessage({ ...header, kind: "answer", offset, total }, size);
      copyRange(parts, offset, message.subarray(HEADER_BYTES));
      this.#transport.publish(reply, message);
    }
  }
}

/** A task, the buffers it lives in, and what its answer consists of. */
interface Work {
  readonly task: BatchTask;
  readonly buffers: readonly SharedArrayBuffer[];
  readonly answer: readonly (Float32Array | Float64Array)[];
}

function keyOf({ query, batch, attempt }: Header): string {
  return `${query} ${batch} ${attempt}`;
}

/** Refuses numbers that do not fit together. */
function checkShape(
  { count, components, from, to, ask }: Header,
  { kernel, operation, steps, itemsPerPoint }: CheckedQuery,
): void {
  const tracking = kernel.family === "track";
  const records = tracking ? legRecords(steps, ask.recordEvery, { from, to }) : { first: 0, end: itemsPerPoint };
  const expected = (records.end - records.first) * RECORDS[operation.result].length;
  if (kernel.family === "echo" || count > BATCH_POINTS || components !== expected || to > (tracking ? steps : 0))
    throw new RequestError("InvalidRequest", "The message does not fit its operation.");
}

/** The state of particles, read from the message where they are on their way. */
function legOf(
  { count, from, to, ask }: Header,
  values: Uint8Array,
  shared: (bytes: number) => SharedArrayBuffer,
): Leg {
  const state = (at: number): Float64Array => {
    const triples = new Float64Array(shared(24 * count), 0, 3 * count);
    if (from > 0) copyBytes(values.subarray(at, at + 24 * count), triples);
    return triples;
  };
  const positions = state(0);
  return { from, to, positions, velocities: ask.Tp === undefined ? positions : state(24 * count) };
}

/** Copies bytes `offset ..` of some arrays seen as one. */
function copyRange(parts: readonly (Float32Array | Float64Array)[], offset: number, into: Uint8Array): void {
  let start = 0;
  let filled = 0;
  for (const { buffer, byteOffset, byteLength } of parts) {
    const from = Math.max(0, offset + filled - start);
    const size = Math.min(byteLength - from, into.length - filled);
    if (size > 0) {
      into.set(new Uint8Array(buffer, byteOffset + from, size), filled);
      filled += size;
    }
    start += byteLength;
  }
}

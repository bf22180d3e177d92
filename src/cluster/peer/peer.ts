/** A peer of a cluster evaluates the batches that gateways send, on worker threads of its own, and sends a heartbeat every second. */
import type { Logger } from "pino";
import type { Config } from "../../config.js";
import type { Carrier } from "../../engine/carrier.js";
import { Catalog } from "../../engine/catalog.js";
import { InProgress } from "../../engine/drain.js";
import { BufferPool } from "../../engine/points/buffers.js";
import { failureOf } from "../../engine/threads/errors-as-data.js";
import { openPool } from "../../engine/threads/pool.js";
import { BusyError, DeadlineError, FieldprobeError, WorkerError } from "../../errors.js";
import type { Dataset } from "../../storage/dataset.js";
import { generationOf } from "../wire/generation.js";
import { encodeHeartbeat, HEARTBEAT_MS } from "../wire/heartbeat.js";
import {
  decodeMessage,
  encodeHeader,
  HEADER_BYTES,
  type Header,
  MessageError,
  type MessageKind,
  NO_DEADLINE,
} from "../wire/message.js";
import { SUBJECTS, WORKERS_GROUP } from "../wire/subjects.js";
import type { Channel, Delivery, Transport } from "../wire/transport.js";
import { writeFault } from "../wire/wire-fault.js";
import { type PeerTask, prepareTask } from "./peer-task.js";

/** Bytes of batches above which a peer takes no more: what eight gateways may send at a time. */
const HELD_BYTES = 256 * 1024 * 1024;

/** A running peer. */
export interface Peer {
  readonly name: string;
  /** Batches that have not been answered. */
  readonly held: number;
  /** Scans the data folders again. */
  reload(): Promise<void>;
  /** Takes nothing new, answers what it has, ends; false when something was cut off after `graceMs`. */
  close(graceMs: number): Promise<boolean>;
}

/** What a peer is made with. */
export interface PeerOptions {
  readonly config: Config;
  readonly name: string;
  readonly transport: Transport;
  readonly log: Logger;
}

/** Starts the threads of a peer, loads its catalogue and subscribes to its subjects. */
export async function openPeer({ config, name, transport, log }: PeerOptions): Promise<Peer> {
  const pool = openPool(config);
  const peer = new ClusterPeer(config, name, transport, log, pool);
  try {
    await peer.reload();
  } catch (error) {
    await pool.close();
    throw error;
  }
  peer.listen();
  return peer;
}

/** A peer on worker threads of its own. */
class ClusterPeer implements Peer {
  readonly name: string;
  readonly #config: Config;
  readonly #transport: Transport;
  readonly #log: Logger;
  readonly #pool: Carrier;
  readonly #buffers = new BufferPool();
  readonly #catalog: Catalog;
  #generations: ReadonlyMap<string, Dataset> = new Map();
  /** Cancel flags of the batches that it holds, by query, batch and attempt. */
  readonly #held = new Map<string, Int32Array>();
  readonly #running = new InProgress<string>();
  #heldBytes = 0;
  readonly #channels = new Map<string, Channel>();
  #heart: NodeJS.Timeout | undefined;
  #control: Channel | null = null;
  #draining = false;

  constructor(config: Config, name: string, transport: Transport, log: Logger, pool: Carrier) {
    this.name = name;
    this.#config = config;
    this.#transport = transport;
    this.#log = log;
    this.#pool = pool;
    this.#catalog = new Catalog(config.data, pool, log, () => this.#adopt());
  }

  listen(): void {
    this.#control = this.#transport.subscribe(SUBJECTS.control(this.name), (delivery) => this.#heed(delivery));
    this.#open(SUBJECTS.evaluate(this.name));
    this.#listenForDatasets();
    this.#heart = setInterval(() => this.#beat(), HEARTBEAT_MS);
    this.#catalog.watch();
    this.#transport.watch((event) => {
      if (event === "restored") this.#beat();
    });
    this.#beat();
  }

  get held(): number {
    return this.#held.size;
  }

  reload(): Promise<void> {
    return this.#catalog.reload();
  }

  async close(graceMs: number): Promise<boolean> {
    this.#draining = true;
    this.#beat();
    this.#catalog.close();
    await Promise.all([...this.#channels.values()].map((channel) => channel.drain()));
    const finished = await this.#running.drain(graceMs);
    // Heartbeats go on until now: a gateway gives up a silent peer and the batches that it still evaluates.
    clearInterval(this.#heart);
    await this.#control?.drain();
    await this.#transport.close();
    await this.#pool.close();
    return finished;
  }

  /** Subscribes to the datasets of a scan, and announces them. */
  #adopt(): void {
    const { fd8Legacy } = this.#config;
    this.#generations = new Map(this.#catalog.datasets.map((dataset) => [generationOf(dataset, fd8Legacy), dataset]));
    if (this.#control) {
      this.#listenForDatasets();
      this.#beat();
    }
  }

  /** Keeps one subscription per dataset. */
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
      threads: this.#pool.parallelism,
      queued: this.#pool.queued(),
      running: this.#pool.running(),
      draining: this.#draining,
      cache: { capacity: this.#pool.cacheBytes, used: bytesUsed, hits, misses, bytesRead },
      datasets: [...this.#generations].map(([generation, { name }]): [string, string] => [name, generation]),
    });
    void this.#transport.publish(SUBJECTS.heartbeat(this.name), [heartbeat]);
  }

  /** Decodes a message; logs one that is malformed and returns null. */
  #read({ data, reply, subject }: Delivery): ReturnType<typeof decodeMessage> | null {
    try {
      if (reply === "") throw new MessageError("nobody waits for an answer");
      return decodeMessage(data);
    } catch (error) {
      if (!(error instanceof MessageError)) throw error;
      this.#log.warn({ subject, bytes: data.length, err: error }, "malformed message");
      return null;
    }
  }

  /** Cancels a batch, or replies whether it is held. */
  #heed(delivery: Delivery): void {
    const message = this.#read(delivery);
    if (!message) return;
    const { header } = message;
    const flag = this.#held.get(keyOf(header));
    if (header.kind === "cancel" && flag) Atomics.store(flag, 0, 1);
    this.#say(delivery.reply, header, flag ? "held" : "unknown");
  }

  #say(reply: string, header: Header, kind: MessageKind, values: Uint8Array = new Uint8Array(0)): void {
    const head = encodeHeader({ ...header, kind, offset: 0, total: values.length });
    void this.#transport.publish(reply, [head, values]);
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
    let held: PeerTask;
    try {
      held = this.#prepare(header, values, cancel);
    } catch (error) {
      fail(error);
      return;
    }
    this.#held.set(key, cancel);
    this.#running.add(key);
    const bytes = held.buffers.reduce((sum, { byteLength }) => sum + byteLength, 0);
    this.#heldBytes += bytes;
    let late = false;
    const expire = (): void => {
      late = true;
      Atomics.store(cancel, 0, 1);
    };
    const timer =
      header.deadlineMs === NO_DEADLINE ? null : setTimeout(expire, Math.min(header.deadlineMs, 2 ** 31 - 1));
    this.#pool
      .run(held.task)
      .then(() => this.#answer(delivery.reply, header, held.answer))
      .catch((error: unknown) => fail(late ? new DeadlineError() : error))
      .finally(() => {
        if (timer) clearTimeout(timer);
        for (const buffer of held.buffers) this.#buffers.give(buffer);
        this.#held.delete(key);
        this.#heldBytes -= bytes;
        this.#running.delete(key);
      });
  }

  /** @throws what `prepareTask` does, BusyError where another peer has to evaluate the batch */
  #prepare(header: Header, values: Uint8Array, cancel: Int32Array): PeerTask {
    const dataset = this.#generations.get(header.generation);
    if (!dataset) throw new BusyError("This peer does not have that generation of the dataset.");
    if (this.#heldBytes > HELD_BYTES) throw new BusyError("This peer has more batches than it can hold.");
    const source = this.#catalog.sourceOf(dataset);
    return prepareTask(header, values, {
      dataset,
      source,
      cancel,
      limits: this.#config.limits,
      buffers: this.#buffers,
    });
  }

  /** Sends an answer, in parts where it exceeds a message; resolves once its values may be reused. */
  async #answer(reply: string, header: Header, values: readonly (Float32Array | Float64Array)[]): Promise<void> {
    const total = values.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const room = this.#transport.maxBytes() - HEADER_BYTES;
    const writes: Promise<void>[] = [];
    for (let offset = 0; offset < total; offset += room) {
      const head = encodeHeader({ ...header, kind: "answer", offset, total });
      writes.push(this.#transport.publish(reply, [head, ...bytesBetween(values, offset, offset + room)]));
    }
    await Promise.all(writes);
  }
}

function keyOf({ query, batch, attempt }: Header): string {
  return `${query} ${batch} ${attempt}`;
}

/** Bytes `from .. to - 1` of the concatenation of some arrays. */
function bytesBetween(arrays: readonly (Float32Array | Float64Array)[], from: number, to: number): Uint8Array[] {
  let start = 0;
  return arrays.flatMap(({ buffer, byteOffset, byteLength }) => {
    const [first, end] = [Math.max(0, from - start), Math.min(byteLength, to - start)];
    start += byteLength;
    return first < end ? [new Uint8Array(buffer, byteOffset + first, end - first)] : [];
  });
}

/** The carrier of a gateway: batches go to the peers of a cluster, other tasks to a thread of its own. */
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import type { Carrier, RunOptions } from "../../engine/carrier.js";
import { LEAST_POINTS } from "../../engine/plan/by-arrival.js";
import { BufferPool } from "../../engine/points/buffers.js";
import type { PeerStatus, SendingCounts } from "../../engine/query.js";
import { recordsBetween } from "../../engine/records.js";
import type { BatchTask, Task } from "../../engine/task.js";
import { CancelledError, DeadlineError, FieldprobeError } from "../../errors.js";
import { operationOf } from "../../operations.js";
import { generationOf } from "../wire/generation.js";
import { HEADER_BYTES, type Header, inputBytes, NO_DEADLINE } from "../wire/message.js";
import type { Transport } from "../wire/transport.js";
import { Dispatcher, type DispatchSettings } from "./dispatch.js";
import { loadOf, type Member } from "./membership.js";
import { holders } from "./placement.js";
import {
  absorb,
  inputOf,
  locate,
  rangesIn,
  type Scatter,
  type State,
  sharedHeader,
  stateBytes,
} from "./scatter-gather.js";
import { cutByPeer, cutEvenly, type Portion, ShardTables } from "./shards.js";
import type { Shipment } from "./shipment.js";

/** Steps after which particles are sent to the peers that cache their new surroundings. */
const RANGE_STEPS = 64;
/** Interval at which cancel flags are polled. */
const POLL_MS = 20;

/** What the carrier of a gateway is made with. */
export interface CarrierOptions {
  readonly transport: Transport;
  /** Runs the tasks that are not batches. */
  readonly local: Carrier;
  readonly fd8Legacy: boolean;
  /** Largest number of points of a message. */
  readonly messagePoints: number;
  readonly settings: DispatchSettings;
  readonly log: Logger;
}

/** Gives up a shipment. */
type Abandon = (error: FieldprobeError) => void;

/** Divides each batch into shipments for peers. */
export class ClusterCarrier implements Carrier {
  /** Points are not put in an order that suits one cache: each shipment goes to the cache that suits it. */
  readonly cacheBytes = Number.POSITIVE_INFINITY;
  /** The dispatcher has repeated a lost shipment already. */
  readonly attempts = 1;
  readonly #dispatcher: Dispatcher;
  readonly #options: CarrierOptions;
  readonly #buffers = new BufferPool();
  readonly #shards = new ShardTables();
  readonly #active = new Map<BatchTask, Set<Abandon>>();
  /** Queries by the cancel flag that their batches share. */
  readonly #queries = new WeakMap<Int32Array, { readonly id: string; batches: number }>();
  #poll: NodeJS.Timeout | null = null;

  constructor(options: CarrierOptions) {
    this.#options = options;
    this.#dispatcher = new Dispatcher(options.transport, options.settings, options.log);
  }

  /** Number of peers, at least one: a batch is divided among peers first and among their threads afterwards. */
  get parallelism(): number {
    return Math.max(1, this.#live().length);
  }

  async run<T>(task: Task, { kill, share }: RunOptions = {}): Promise<T> {
    if (task.kind !== "batch") return this.#options.local.run<T>(task, { kill, ...(share ? { share } : {}) });
    const abandons = new Set<Abandon>();
    const killed = (): void => {
      for (const abandon of abandons) abandon(new DeadlineError());
    };
    this.#active.set(task, abandons);
    this.#poll ??= setInterval(() => this.#pollFlags(), POLL_MS);
    kill?.addEventListener("abort", killed, { once: true });
    try {
      await this.#runBatch(task, abandons);
      return null as T;
    } finally {
      kill?.removeEventListener("abort", killed);
      this.#active.delete(task);
      if (this.#active.size === 0 && this.#poll) {
        clearInterval(this.#poll);
        this.#poll = null;
      }
    }
  }

  queued(): number {
    return this.#dispatcher.waiting;
  }

  running(): number {
    return this.#dispatcher.sent;
  }

  stores(): readonly [] {
    return [];
  }

  cache(): ReturnType<Carrier["cache"]> {
    const sum = { hits: 0, misses: 0, bytesRead: 0, bytesUsed: 0 };
    for (const { cache } of this.peers()) {
      sum.hits += cache.hits;
      sum.misses += cache.misses;
      sum.bytesRead += cache.bytesRead;
      sum.bytesUsed += cache.bytesUsed;
    }
    return sum;
  }

  alive(): number {
    return this.#live().length;
  }

  peers(): readonly PeerStatus[] {
    return this.#dispatcher.membership.all().map(({ name, heartbeat, outstanding, suspect }) => {
      const { hits, misses, bytesRead, used } = heartbeat.cache;
      const { threads, queued, running, draining } = heartbeat;
      const cache = { hits, misses, bytesRead, bytesUsed: used };
      return { name, threads, queued, running, draining, suspect, outstanding, cache };
    });
  }

  sending(): SendingCounts {
    return this.#dispatcher.counts;
  }

  async close(): Promise<void> {
    this.#dispatcher.close();
    await Promise.all([this.#options.transport.close(), this.#options.local.close()]);
  }

  #live(): readonly Member[] {
    return this.#dispatcher.membership.all().filter(({ heartbeat }) => !heartbeat.draining);
  }

  /** Gives up the shipments of cancelled batches. */
  #pollFlags(): void {
    for (const [task, abandons] of this.#active) {
      if (Atomics.load(task.cancel, 0) === 0) continue;
      for (const abandon of abandons) abandon(new CancelledError());
    }
  }

  async #runBatch(task: BatchTask, abandons: Set<Abandon>): Promise<void> {
    const generation = generationOf(task.dataset, this.#options.fd8Legacy);
    if (operationOf(task.query.operation).family !== "track") {
      const components = task.out.length / task.count;
      await this.#scatterGather({ task, generation, from: 0, to: 0, state: null, components }, abandons);
      return;
    }
    const state: State = {
      positions: new Float64Array(3 * task.count),
      velocities: task.query.Tp === undefined ? null : new Float64Array(3 * task.count),
    };
    let from = 0;
    do {
      // Steps of no length need no surroundings.
      const to = task.step === 0 ? task.steps : Math.min(task.steps, from + RANGE_STEPS);
      const { first, end } = recordsBetween(task.steps, task.query.recordEvery, { from, to });
      await this.#scatterGather({ task, generation, from, to, state, components: 3 * (end - first) }, abandons);
      from = to;
    } while (from < task.steps);
  }

  /** Sends the portions of a batch, or of a range of its steps, to peers and copies the answers to their places. */
  async #scatterGather(scatter: Scatter, abandons: Set<Abandon>): Promise<void> {
    if (Atomics.load(scatter.task.cancel, 0) !== 0) throw new CancelledError();
    const mine = new Set<Abandon>();
    let worst: { readonly index: number; readonly error: FieldprobeError } | null = null;
    const shipments = this.#cut(scatter).map(async (portion) => {
      const buffers: SharedArrayBuffer[] = [];
      const { done, abandon } = this.#dispatcher.send(this.#shipmentOf(scatter, portion, buffers));
      mine.add(abandon);
      abandons.add(abandon);
      try {
        await done;
      } catch (error) {
        if (!(error instanceof FieldprobeError)) throw error;
        const found = locate(error, portion, scatter.task.first);
        if (!worst || found.index < worst.index) worst = found;
        // Other portions may hold an earlier bad point; after anything else there is nothing to wait for.
        if (error.blame === "server") for (const end of mine) end(error);
      } finally {
        for (const buffer of buffers) this.#buffers.give(buffer);
        mine.delete(abandon);
        abandons.delete(abandon);
      }
    });
    await Promise.all(shipments);
    if (worst) throw (worst as { error: FieldprobeError }).error;
  }

  #cut(scatter: Scatter): Portion[] {
    const { task, generation, to, components } = scatter;
    const peers = this.#dispatcher.membership.usable(generation);
    const threads = Math.max(
      1,
      peers.reduce((sum, { heartbeat }) => sum + heartbeat.threads, 0),
    );
    const least = LEAST_POINTS[operationOf(task.query.operation).family];
    const bytes = Math.max(4 * components + stateBytes(task, to), inputBytes({ ...sharedHeader(scatter), count: 1 }));
    const fits = Math.max(1, Math.floor((this.#options.transport.maxBytes() - HEADER_BYTES) / bytes));
    const most = Math.min(Math.max(least, Math.ceil(task.count / threads)), this.#options.messagePoints, fits);
    const shards = peers.length > this.#options.settings.replicas ? this.#shards.of(task, generation) : null;
    if (!shards) return cutEvenly(task.count, most);
    return cutByPeer(shards, rangesIn(shards, scatter), this.#chooser(peers, most), least, most);
  }

  /** Chooses the peer of a slot: the least loaded of those that hold it. */
  #chooser(usable: readonly Member[], most: number): (slot: number, points: number) => string {
    const placement = this.#dispatcher.membership.placement();
    const planned = new Map<string, number>();
    const members = new Map(usable.map((member) => [member.name, member]));
    const load = (member: Member): number => loadOf(member, (planned.get(member.name) ?? 0) / most);
    return (slot, points) => {
      const holding = holders(placement, slot).flatMap((name) => members.get(name) ?? []);
      const trusted = holding.filter(({ suspect }) => !suspect);
      const candidates = [trusted, holding, usable].find(({ length }) => length > 0) as readonly Member[];
      const { name } = candidates.reduce((best, member) => (load(member) < load(best) ? member : best));
      planned.set(name, (planned.get(name) ?? 0) + points);
      return name;
    };
  }

  /** @param buffers receives the buffers that the values are gathered in */
  #shipmentOf(scatter: Scatter, portion: Portion, buffers: SharedArrayBuffer[]): Shipment {
    const { task, generation, from, to } = scatter;
    const { query } = task;
    const known = this.#queries.get(task.cancel) ?? { id: randomBytes(8).toString("hex"), batches: 0 };
    this.#queries.set(task.cancel, known);
    const header: Header = {
      ...sharedHeader(scatter),
      kind: "evaluate",
      count: portion.count,
      query: known.id,
      batch: known.batches++,
      attempt: 1,
      deadlineMs: NO_DEADLINE,
      offset: 0,
      total: 0,
    };
    const room = (bytes: number): SharedArrayBuffer => {
      const buffer = this.#buffers.take(bytes);
      buffers.push(buffer);
      return buffer;
    };
    const { spatialInterpolation, temporalInterpolation, filterlength, nlayers } = query;
    return {
      header,
      values: inputOf(scatter, portion, room),
      dataset: task.dataset.name,
      peer: portion.peer,
      answerBytes: portion.count * (4 * scatter.components + stateBytes(task, to)),
      take: (answer) => absorb(scatter, portion, answer, this.#buffers),
      deadline: task.deadline ?? null,
      costKey: [
        generation.slice(0, 16),
        query.operation,
        spatialInterpolation,
        temporalInterpolation,
        filterlength,
        query.filterwidth,
        query.field,
        nlayers,
      ].join(),
      work: portion.count * Math.max(1, to - from),
    };
  }
}

/** The pool of a gateway: batches go to nodes of a cluster; scans and the like stay on a thread of its own. */
import { randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { CancelledError, DeadlineError, FieldprobeError } from "../../errors.js";
import { KERNELS } from "../../kernels/index.js";
import { legRecords } from "../leg.js";
import type { NodeStatus, Pool, SendingCounts } from "../pool.js";
import type { BatchTask, Segment, Task } from "../task.js";
import { Dispatcher, type DispatchSettings, type Parcel } from "./dispatch.js";
import { generationOf } from "./generation.js";
import { loadOf, type Member } from "./membership.js";
import { copyBytes, encodeMessage, HEADER_BYTES, type Header, inputBytes, NO_DEADLINE } from "./message.js";
import { holders } from "./placement.js";
import { cutByNode, cutEvenly, type Piece, rangesOf, type Shards, shardsOf } from "./split.js";
import type { Transport } from "./transport.js";

/** Points of a message. */
const MESSAGE_POINTS = 32_768;
/** Fewest points worth a message, by family. */
const LEAST = { points: 1024, force: 1024, track: 64, filter: 1, echo: 1 } as const;
/** Steps after which particles are sent where their surroundings are cached. */
const LEG_STEPS = 64;
/** Between two looks at the cancel flags. */
const POLL_MS = 20;

export interface CarrierOptions {
  readonly transport: Transport;
  /** Runs what is not sent away. */
  readonly local: Pool;
  readonly fd8Legacy: boolean;
  readonly settings: DispatchSettings;
  readonly log: Logger;
}

/** Positions and velocities of the particles of a batch between two legs. */
interface State {
  readonly positions: Float64Array;
  readonly velocities: Float64Array | null;
}

/** A batch while pieces of it are away. */
interface Round {
  readonly task: BatchTask;
  readonly generation: string;
  readonly from: number;
  readonly to: number;
  readonly state: State | null;
  /** Float32 values of the answer to one point. */
  readonly components: number;
  readonly points: Float32Array;
  readonly velocities: Float32Array | null;
}

/** Gives up everything that a batch has away. */
type Abandon = (error: FieldprobeError) => void;

/** The carrier of a gateway. */
export class Carrier implements Pool {
  /** Batches are not put in an order that suits one cache: their pieces are sent to the cache that suits them. */
  readonly cacheBytes = Number.POSITIVE_INFINITY;
  /** A batch that was lost has been tried often enough. */
  readonly attempts = 1;
  readonly #dispatcher: Dispatcher;
  readonly #options: CarrierOptions;
  readonly #active = new Map<BatchTask, Set<Abandon>>();
  /** Queries by the flag their batches share. */
  readonly #queries = new WeakMap<Int32Array, { readonly id: string; batches: number }>();
  #poll: NodeJS.Timeout | null = null;

  constructor(options: CarrierOptions) {
    this.#options = options;
    this.#dispatcher = new Dispatcher(options.transport, options.settings, options.log);
  }

  /** Nodes, at least one: batches are cut for nodes first and for their threads afterwards. */
  get workers(): number {
    return Math.max(1, this.#live().length);
  }

  async run<T>(task: Task, kill?: AbortSignal): Promise<T> {
    if (task.kind !== "batch") return this.#options.local.run<T>(task, kill);
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

  cache(): ReturnType<Pool["cache"]> {
    const sum = { hits: 0, misses: 0, bytesRead: 0, bytesUsed: 0 };
    for (const { cache } of this.nodes()) {
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

  nodes(): readonly NodeStatus[] {
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

  /** Tells nodes of batches that need not go on. */
  #pollFlags(): void {
    for (const [task, abandons] of this.#active) {
      if (Atomics.load(task.cancel, 0) === 0) continue;
      for (const abandon of abandons) abandon(new CancelledError());
    }
  }

  async #runBatch(task: BatchTask, abandons: Set<Abandon>): Promise<void> {
    const generation = generationOf(task.dataset, this.#options.fd8Legacy);
    const points = joined(task.points);
    const velocities = task.velocities.length > 0 ? joined(task.velocities) : null;
    const tracking = KERNELS[task.kernel].family === "track";
    const components = tracking ? 0 : task.out.length / task.count;
    if (!tracking) {
      await this.#round({ task, generation, from: 0, to: 0, state: null, components, points, velocities }, abandons);
      return;
    }
    const drag = task.query.Tp !== undefined;
    const state: State = {
      positions: Float64Array.from(points),
      velocities: drag ? new Float64Array(3 * task.count) : null,
    };
    let from = 0;
    do {
      const to = Math.min(task.steps, from + LEG_STEPS);
      const { first, end } = legRecords(task.steps, task.query.recordEvery, { from, to });
      await this.#round(
        { task, generation, from, to, state, components: 3 * (end - first), points, velocities },
        abandons,
      );
      from = to;
    } while (from < task.steps);
  }

  /** Sends a batch, or a leg of one, in pieces and puts the answers in place. */
  async #round(round: Round, abandons: Set<Abandon>): Promise<void> {
    if (Atomics.load(round.task.cancel, 0) !== 0) throw new CancelledError();
    const mine = new Set<Abandon>();
    let worst: { readonly index: number; readonly error: FieldprobeError } | null = null;
    const pieces = this.#cut(round).map(async (piece) => {
      const { answer, abandon } = this.#dispatcher.send(this.#parcel(round, piece));
      mine.add(abandon);
      abandons.add(abandon);
      try {
        absorb(round, piece, await answer);
      } catch (error) {
        if (!(error instanceof FieldprobeError)) throw error;
        const found = locate(error, piece, round.task.first);
        if (!worst || found.index < worst.index) worst = found;
        // Other pieces may hold an earlier bad point; after anything else there is nothing to wait for.
        if (error.blame === "server") for (const end of mine) end(error);
      } finally {
        mine.delete(abandon);
        abandons.delete(abandon);
      }
    });
    await Promise.all(pieces);
    if (worst) throw (worst as { error: FieldprobeError }).error;
  }

  #cut(round: Round): Piece[] {
    const { task, generation, from, to, state, components } = round;
    const nodes = this.#dispatcher.membership.usable(generation);
    const { family } = KERNELS[task.kernel];
    const threads = Math.max(
      1,
      nodes.reduce((sum, { heartbeat }) => sum + heartbeat.threads, 0),
    );
    const least = LEAST[family];
    const bytes = Math.max(4 * components + stateBytes(task, to), inputBytes({ ...asHeader(round), count: 1, from }));
    const fits = Math.max(1, Math.floor((this.#options.transport.maxBytes() - HEADER_BYTES) / bytes));
    const most = Math.min(Math.max(least, Math.ceil(task.count / threads)), MESSAGE_POINTS, fits);
    const shards = nodes.length > this.#options.settings.replicas ? shardsOf(task, generation) : null;
    if (!shards) return cutEvenly(task.count, most);
    return cutByNode(shards, rangesIn(shards, round, state), this.#chooser(nodes, most), least, most);
  }

  /** Chooses a node for a slot: of those that hold it the one with least to do. */
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

  #parcel(round: Round, piece: Piece): Parcel {
    const { task, from, to } = round;
    const { query } = task;
    const known = this.#queries.get(task.cancel) ?? { id: randomBytes(8).toString("hex"), batches: 0 };
    this.#queries.set(task.cancel, known);
    const header: Header = {
      ...asHeader(round),
      kind: "evaluate",
      count: piece.count,
      query: known.id,
      batch: known.batches++,
      attempt: 1,
      deadlineMs: NO_DEADLINE,
      offset: 0,
      total: 0,
    };
    const message = encodeMessage(header, inputBytes(header));
    fillInput(message, round, piece);
    const { spatialInterpolation, temporalInterpolation, filterlength, nlayers } = query;
    return {
      message,
      header,
      dataset: task.dataset.name,
      node: piece.node,
      answerBytes: piece.count * (4 * round.components + stateBytes(task, to)),
      deadline: task.deadline ?? null,
      kind: [
        generationKey(header),
        task.kernel,
        spatialInterpolation,
        temporalInterpolation,
        filterlength,
        nlayers,
      ].join(),
      work: piece.count * Math.max(1, to - from),
    };
  }
}

function generationKey({ generation }: Header): string {
  return generation.slice(0, 16);
}

/** The members of a header that all pieces of a round have. */
function asHeader({ task, generation, from, to, components, velocities }: Round) {
  const { dataset: _, ...ask } = task.query;
  return { generation, ask, from, to, components, velocities: velocities !== null };
}

/** Bytes of a particle's state in the answer: none after the last step, where only records count. */
function stateBytes(task: BatchTask, to: number): number {
  if (KERNELS[task.kernel].family !== "track" || to === task.steps) return 0;
  return task.query.Tp === undefined ? 24 : 48;
}

/** All triples of some segments in one array. */
function joined(segments: readonly Segment[]): Float32Array {
  const [only] = segments;
  if (only && segments.length === 1) return only.triples.subarray(0, 3 * only.count);
  const all = new Float32Array(3 * segments.reduce((sum, { count }) => sum + count, 0));
  let at = 0;
  for (const { triples, count } of segments) {
    all.set(triples.subarray(0, 3 * count), at);
    at += 3 * count;
  }
  return all;
}

/** Shard ranges of the points, or of where the particles are by now. */
function rangesIn(shards: Shards, { task, from, points }: Round, state: State | null): Uint16Array {
  const moved = from > 0 && state;
  const where = moved ? state.positions : points;
  const time = task.query.time ?? task.query.StartTime ?? 0;
  const [dx, dy, dz] = moved ? [0, 0, 0] : task.dataset.frameVelocity.map((speed) => speed * time);
  const shift = [dx as number, dy as number, dz as number] as const;
  return rangesOf(shards, task.count, (i, a) => (where[3 * i + a] as number) - shift[a]);
}

/** Triples of a piece out of those of the batch. */
function take<A extends Float32Array | Float64Array>({ indices, first, count }: Piece, from: A, into: A): void {
  if (indices === null) {
    into.set(from.subarray(3 * first, 3 * (first + count)));
    return;
  }
  for (let i = 0; i < count; i++) {
    const at = 3 * (indices[i] as number);
    into[3 * i] = from[at] as number;
    into[3 * i + 1] = from[at + 1] as number;
    into[3 * i + 2] = from[at + 2] as number;
  }
}

/** Writes points and velocities, or the state of particles, into a message. */
function fillInput(
  { buffer }: Uint8Array<ArrayBuffer>,
  { from, state, points, velocities }: Round,
  piece: Piece,
): void {
  const values = 3 * piece.count;
  if (from > 0 && state) {
    take(piece, state.positions, new Float64Array(buffer, HEADER_BYTES, values));
    if (state.velocities) take(piece, state.velocities, new Float64Array(buffer, HEADER_BYTES + 8 * values, values));
    return;
  }
  take(piece, points, new Float32Array(buffer, HEADER_BYTES, values));
  if (velocities) take(piece, velocities, new Float32Array(buffer, HEADER_BYTES + 4 * values, values));
}

/** Puts an answer where it belongs. */
function absorb(round: Round, piece: Piece, answer: Uint8Array): void {
  const { task, to, state, components, from } = round;
  const { count } = piece;
  let at = 0;
  if (state && stateBytes(task, to) > 0) {
    for (const part of [state.positions, state.velocities]) {
      if (!part) continue;
      const moved = new Float64Array(3 * count);
      copyBytes(answer.subarray(at, at + moved.byteLength), moved);
      put(piece, moved, 3, part, 3, 0);
      at += moved.byteLength;
    }
  }
  if (components === 0) return;
  const width = task.out.length / task.count;
  const offset = state ? 3 * legRecords(task.steps, task.query.recordEvery, { from, to }).first : 0;
  if (piece.indices === null && components === width) {
    copyBytes(answer.subarray(at), task.out.subarray(width * piece.first, width * (piece.first + count)));
    return;
  }
  const values = new Float32Array(components * count);
  copyBytes(answer.subarray(at), values);
  put(piece, values, components, task.out, width, offset);
}

/** Copies `size` values a point from a piece to column `offset` of rows of `width` values. */
function put<A extends Float32Array | Float64Array>(
  { indices, first, count }: Piece,
  from: A,
  size: number,
  into: A,
  width: number,
  offset: number,
): void {
  for (let i = 0; i < count; i++) {
    const to = width * (indices ? (indices[i] as number) : first + i) + offset;
    for (let k = 0; k < size; k++) into[to + k] = from[size * i + k] as number;
  }
}

/** An error of a piece as an error of the query: a point it names gets the number that it has there. */
function locate(
  error: FieldprobeError,
  { indices, first }: Piece,
  start: number,
): { index: number; error: FieldprobeError } {
  const [, digits, rest] = /^points\[(\d+)\](.*)$/.exec(error.context.member ?? "") ?? [];
  if (digits === undefined) return { index: Number.MAX_SAFE_INTEGER, error };
  const place = Number(digits);
  const index = start + (indices ? (indices[place] ?? 0) : first + place);
  const context = { ...error.context, member: `points[${index}]${rest}` };
  return { index, error: new FieldprobeError(error.code, error.message, context, error.cause) };
}

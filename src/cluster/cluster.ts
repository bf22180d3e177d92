/**
 * Division of large queries among the peers of a cluster. Each region of the data has one owner, which gets its part of
 * a query as one piece. A piece that fails is divided again among the other peers; after two owners this process
 * evaluates it itself.
 */
import { setMaxListeners } from "node:events";
import { availableParallelism } from "node:os";
import type { Logger } from "pino";
import type { MergedSome } from "../analysis/parts.js";
import { digestProgram } from "../engine/contract/build-digest.js";
import { reviveError } from "../engine/contract/errors-as-data.js";
import { type NodeRegion, placeBox } from "../engine/contract/node-region.js";
import { frameShift } from "../engine/contract/positions.js";
import {
  type Engine,
  type Evaluation,
  type ReductionQuery,
  type RegionBox,
  type RegionCounts,
  type SharedGenerations,
  writeTriples,
} from "../engine/contract/query.js";
import { type ReducedParts, unpackStates } from "../engine/contract/reduced-parts.js";
import { BufferPool } from "../engine/main/buffers.js";
import { type CheckedQuery, workOf } from "../engine/main/check-query.js";
import { inOrder } from "../engine/main/in-order.js";
import { valuesPerPoint } from "../engine/main/plan/by-arrival.js";
import type { SharedPoints, Sharing, SharingControl } from "../engine/main/sharing.js";
import { frameWeights } from "../kernels/time.js";
import { version } from "../shared/build.js";
import type { Config } from "../shared/config.js";
import { CancelledError, DeadlineError, FieldprobeError, LimitError, WorkerError } from "../shared/errors.js";
import { NatsLink, natsOptions } from "../shared/nats.js";
import { type Bricking, componentsOf, type Dataset, type FieldSource } from "../storage/dataset/dataset.js";
import { Exchange } from "./exchange.js";
import { Members, type Peer, PeerError, type Report } from "./members.js";
import { boxesOf, runsOf } from "./owned-boxes.js";
import { evaluatePiece, Owner, type Piece, type PieceAnswer } from "./owner.js";
import { cutPoints, mergeValues, type PointsToCut, type Portion } from "./portions.js";
import { ownersOf, type Regions, ranksThatPay, regionsIn, regionsOf } from "./regions.js";

/** Least work of a divided query whose data fit one cache, in evaluations of a field or nodes. */
const LEAST_WORK = 65_536;
const LEAST_NODES = 262_144;
/** Consecutive frames with the same owners, where owners vary with time because regions are fewer than peers. */
const SAME_OWNER_FRAMES = 16;
const LOOK_MS = 500;
/** Pieces that may be sent to a second peer when late: the first few, and this fraction of all. */
const MOST_LATE = { fraction: 0.05, first: 8 } as const;
/** Work per thread below which a process can take over the work of others. */
const LOW_LOAD = 1;
/** Most peers that get a part, one after another, before this process evaluates it itself. */
const MOST_OWNERS = 2;
const MOST_PARTS = 64;
const QUERY_ENDED = new CancelledError();

interface Distribution {
  readonly dataset: Dataset;
  readonly time: number;
  readonly regions: Regions;
  /** Whether the fields of the query, in all frames, exceed the cache of one process. */
  readonly large: boolean;
  /** Number of ranks among which the query is divided, this process included. */
  readonly rankCount: number;
  readonly isWorthwhile: boolean;
}

interface DividedQuery extends Distribution, SharingControl {
  readonly checked: CheckedQuery;
  /** Ids of peers that have had the part already, and own nothing in this division. */
  readonly excluded: ReadonlySet<string>;
}

interface Ownership {
  readonly peers: readonly (Peer | null)[];
  /** The rank of the owner of each region; 255 if no process is usable. */
  readonly ranks: Uint8Array;
}

interface OpenPortion<T> extends Omit<Portion, "owner"> {
  readonly owner: Peer | null;
  /** Searches and cutouts: the nodes. */
  readonly box: RegionBox | null;
  /** Reductions: the parts of the region. */
  readonly parts: ReducedParts | null;
  /** Float32 values of the answer; null if their number is unknown. */
  readonly size: number | null;
  take(values: readonly Float32Array[]): T;
  divide(divided: DividedQuery): Promise<readonly T[]>;
}

const NO_POINTS = { points: [], velocities: [], count: 0, indices: new Uint32Array(0) };

type TakeBox<T> = (box: RegionBox, values: readonly Float32Array[]) => T;

export class Cluster implements Sharing {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #build = digestProgram();
  readonly #members: Members;
  readonly #buffers = new BufferPool();
  readonly #regions = new WeakMap<Bricking, Regions>();
  /** The owners as last computed, with a key of everything that they depend on. */
  readonly #ownerships = new WeakMap<Regions, Ownership & { readonly key: string }>();
  /** The ranks that divide queries beyond one cache, with the number of ranks that they were computed for. */
  readonly #rankCounts = new WeakMap<Regions, { readonly ranks: number; readonly rankCount: number }>();
  readonly #counts = { own: 0, asked: 0, refused: 0, late: 0 };
  #engine: Engine | null = null;
  #owner: Owner | null = null;
  #link: NatsLink | null = null;
  #exchange: Exchange | null = null;

  constructor(config: Config, log: Logger) {
    this.#config = config;
    this.#log = log;
    this.#members = new Members(() => this.#report(), log);
  }

  /** @throws ConfigError if the settings of NATS are wrong */
  attach(engine: Engine): void {
    const options = natsOptions(this.#config.nats);
    const common = JSON.stringify([this.#build, this.#config.fd8Legacy]);
    const owner = new Owner(engine, this.#config.state, common, this.#log);
    [this.#engine, this.#owner] = [engine, owner];
    if (options === null) return;
    this.#link = new NatsLink(options, this.#log, {
      up: (connection) => {
        this.#members.join(connection);
        this.#exchange = new Exchange(connection, (this.#members.self as Peer).id);
        owner.join(this.#exchange);
      },
      down: () => {
        this.#exchange = null;
        this.#members.leave();
        owner.leave();
      },
    });
  }

  #report(): Report {
    const [engine, owner] = [this.#engine as Engine, this.#owner as Owner];
    owner.refresh();
    const { workers: threads, running, queued, cacheBytes: used, bytesRead: read, ...status } = engine.status();
    const load = { cores: availableParallelism(), threads, running, queued, datasets: engine.datasets().length };
    const cache = { bytes: this.#config.cacheBytes, used, read };
    const progress = status.cacheHits + status.cacheMisses + owner.samples + owner.answered;
    const [build, pieces, { revision }] = [this.#build, this.#pieces, owner];
    return { version, build, ...load, progress, cache, revision, ...owner.announced(), pieces };
  }

  get #pieces() {
    return { ...this.#counts, answered: this.#owner?.answered ?? 0 };
  }

  divides(checked: CheckedQuery): boolean {
    return this.#members.others.length > 0 && this.#distributionOf(checked)?.isWorthwhile === true;
  }

  pays(checked: CheckedQuery, count: number): boolean {
    const distribution = this.#distributionOf(checked);
    if (!distribution?.isWorthwhile || count === 0) return false;
    if (distribution.large) return true;
    return checked.region === null ? workOf(checked, count) >= LEAST_WORK : count >= LEAST_NODES;
  }

  async evaluate(checked: CheckedQuery, work: SharedPoints, control: SharingControl): Promise<void> {
    await this.#evaluatePoints(this.#divided(checked, control), { ...work, indices: null }, work.out);
  }

  async search(checked: CheckedQuery, control: SharingControl): Promise<readonly Float32Array[]> {
    const whole = { from: [0, 0, 0], count: (checked.region as NodeRegion).count } as const;
    const take: TakeBox<Float32Array[]> = (_, records) => records.map((some) => some.slice());
    return (await this.#evaluateBoxes(this.#divided(checked, control), whole, take)).flat();
  }

  async cutout(checked: CheckedQuery, around: RegionBox, out: Float32Array, control: SharingControl): Promise<void> {
    const components = componentsOf(checked.dataset as Dataset, (checked.region as NodeRegion).field);
    const take: TakeBox<void> = (box, values) => placeBox(values, box, around, components, out);
    await this.#evaluateBoxes(this.#divided(checked, control), around, take);
  }

  reduce(checked: CheckedQuery, parts: ReducedParts, control: SharingControl): Promise<readonly MergedSome[]> {
    return this.#evaluateParts(this.#divided(checked, control), parts);
  }

  status(): ReturnType<Sharing["status"]> {
    const unverified = this.#owner?.announced().unverified.length ?? 0;
    const problem = this.#link === null ? "not connected yet" : this.#link.problem;
    const [peers, nats] = [this.#members.states(), { connected: problem === null, problem }];
    return { peers, pieces: this.#pieces, unverified, nats, lentBytes: this.#buffers.lentBytes };
  }

  regions(): RegionCounts {
    const engine = this.#engine as Engine;
    const held = engine.held();
    const counts = { owned: 0, cached: 0 };
    for (const dataset of engine.datasets()) {
      const [main] = Object.values(dataset.fields);
      const regions = main === undefined ? null : this.#regionsOf(dataset, main.bricking);
      if (regions === null || regions.size < this.#members.ranks.length) continue;
      const rankCount = this.#rankCount(dataset, main.bricking, this.#isLarge(dataset, Object.values(dataset.fields)));
      const { peers, ranks } = this.#ownershipIn({ dataset, regions, time: 0, rankCount, excluded: new Set() });
      const mine = peers.indexOf(this.#members.self);
      counts.owned += ranks.filter((rank) => rank === mine).length;
      const cached = held.flatMap(({ dataset: one, field, bricks }) => {
        const { bricking } = one.fields[field] as FieldSource;
        return one === dataset ? regionsIn(this.#regionsOf(dataset, bricking), bricking, bricks) : [];
      });
      counts.cached += new Set(cached).size;
    }
    return counts;
  }

  readonly generations: SharedGenerations = {
    of: (dataset) => {
      const owner = this.#owner as Owner;
      const known = dataset === null ? owner.ofAll() : owner.of(dataset);
      if (known === null) owner.refresh();
      return known;
    },
    isElsewhere: (generation) => this.#members.hasGeneration(generation),
  };

  drain(): void {
    this.#members.retire("draining");
    this.#owner?.drain();
  }

  async close(): Promise<void> {
    this.#members.close();
    await this.#link?.close();
  }

  /** The regions by which a query may be divided; null if no query of its kind is. */
  #distributionOf({ query, dataset, fields, region, operation }: CheckedQuery): Distribution | null {
    const { reduction, spectrum, derivedAt, quantity } = query;
    // Transforms need whole frames, and derived fields exist in this process only.
    if (dataset === null || spectrum || derivedAt || quantity || reduction?.derived) return null;
    const sources = fields.flatMap((name) => dataset.fields[name] ?? []);
    const [main] = sources;
    if (main === undefined) return null;
    const large = this.#isLarge(dataset, sources);
    const regions = this.#regionsOf(dataset, main.bricking);
    const rankCount = this.#rankCount(dataset, main.bricking, large);
    // Every process caches small datasets whole, and also copies cutouts of them itself.
    const isCut = region !== null && operation.family === "cutout" && reduction === undefined;
    const isWorthwhile = large ? rankCount > 1 : regions.size >= this.#members.ranks.length && !isCut;
    return { dataset, time: query.time ?? query.StartTime ?? 0, regions, large, rankCount, isWorthwhile };
  }

  /** Whether the fields of a dataset, in all frames, exceed the cache of one process. */
  #isLarge({ axes, time }: Dataset, sources: readonly FieldSource[]): boolean {
    const nodes = axes.reduce((product, axis) => product * axis.nodes, 1);
    const values = sources.reduce((sum, { components }) => sum + components, 0) * nodes * time.count;
    return 4 * values > this.#config.cacheBytes;
  }

  /** Number of ranks among which queries are divided: all, unless halos would be read from files again and again. */
  #rankCount(dataset: Dataset, bricking: Bricking, large: boolean): number {
    const ranks = this.#members.ranks.length;
    if (!large) return ranks;
    const regions = this.#regionsOf(dataset, bricking);
    const known = this.#rankCounts.get(regions);
    if (known?.ranks === ranks) return known.rankCount;
    const rankCount = ranksThatPay(regions, bricking, ranks);
    this.#rankCounts.set(regions, { ranks, rankCount });
    if (rankCount < ranks)
      this.#log.info(
        { dataset: dataset.name, processes: ranks, among: rankCount },
        "queries beyond the cache are divided among fewer processes: halos would cost more than that saves",
      );
    return rankCount;
  }

  #regionsOf({ axes }: Dataset, bricking: Bricking): Regions {
    const regions = this.#regions.get(bricking) ?? regionsOf(axes, bricking);
    this.#regions.set(bricking, regions);
    return regions;
  }

  #ownershipIn(divided: Pick<DividedQuery, "regions" | "dataset" | "time" | "rankCount" | "excluded">): Ownership {
    const { regions, dataset, time, rankCount, excluded } = divided;
    const { ranks: all, version, self } = this.#members;
    const own = Math.max(0, all.indexOf(self));
    const first = Math.max(0, Math.min(own - (own % rankCount), all.length - rankCount));
    const peers = all.slice(first, first + rankCount);
    const [frame = 0] = regions.size < peers.length ? frameWeights(dataset.time, time, "None").frames : [0];
    const seed = `${dataset.name} ${Math.floor(frame / SAME_OWNER_FRAMES)}`;
    const generation = this.#owner?.of(dataset) ?? "";
    const key = [seed, version, generation, rankCount, ...excluded].join(" ");
    const known = this.#ownerships.get(regions);
    if (known?.key === key) return known;
    const isSame = (member: Peer): boolean =>
      this.#members.isUsable(member) && member.generations[dataset.name] === generation;
    const usable = peers.map(
      (member) => member !== null && !excluded.has(member.id) && (member === self || isSame(member)),
    );
    const found = { key, peers, ranks: ownersOf(regions, usable, seed) };
    this.#ownerships.set(regions, found);
    return found;
  }

  #divided(checked: CheckedQuery, control: SharingControl): DividedQuery {
    return { checked, ...control, ...(this.#distributionOf(checked) as Distribution), excluded: new Set() };
  }

  async #evaluatePoints(divided: DividedQuery, work: PointsToCut, out: Float32Array): Promise<readonly unknown[]> {
    const { checked, dataset, regions, time } = divided;
    const { peers, ranks } = this.#ownershipIn(divided);
    const lent: Uint8Array<SharedArrayBuffer>[] = [];
    const room = (bytes: number): Uint8Array<SharedArrayBuffer> => {
      const block = this.#buffers.take(bytes);
      lent.push(block);
      return block;
    };
    const width = valuesPerPoint(checked);
    try {
      const all = await cutPoints(regions, ranks, work, frameShift(dataset.frameVelocity, time), room);
      // Few points of one owner are not worth a message: this process evaluates them.
      const isSmall = workOf(checked, work.count) < LEAST_WORK;
      const isFair = ({ count }: Portion): boolean => !isSmall || 2 * count * all.length >= work.count;
      const here = peers.indexOf(this.#members.self);
      const portions = all.map((portion) => (isFair(portion) ? portion : { ...portion, owner: here }));
      const parts = portions.map((portion): OpenPortion<unknown> => {
        const { owner, count, indices } = portion;
        const part = { ...portion, owner: peers[owner] ?? null, box: null, parts: null, size: width * count };
        const take = (values: readonly Float32Array[]): void => mergeValues(values, indices, width, out);
        return { ...part, take, divide: (given) => this.#evaluatePoints(given, portion, out) };
      });
      return await this.#evaluateAll(divided, parts);
    } finally {
      for (const block of lent) this.#buffers.give(block);
    }
  }

  #evaluateBoxes<T>(divided: DividedQuery, around: RegionBox, take: TakeBox<T>): Promise<readonly T[]> {
    const { region, operation } = divided.checked as CheckedQuery & { readonly region: NodeRegion };
    const { peers, ranks } = this.#ownershipIn(divided);
    const parts = boxesOf(divided.regions, ranks, region, around).map(({ owner, ...box }): OpenPortion<T> => {
      const nodes = box.count[0] * box.count[1] * box.count[2];
      const size = operation.family === "search" ? null : componentsOf(divided.dataset, region.field) * nodes;
      const part = { ...NO_POINTS, owner: peers[owner] ?? null, box, parts: null, size };
      return { ...part, take: (values) => take(box, values), divide: (given) => this.#evaluateBoxes(given, box, take) };
    });
    return this.#evaluateAll(divided, parts);
  }

  #evaluateParts(divided: DividedQuery, { frames, runs }: ReducedParts): Promise<readonly MergedSome[]> {
    const { region, query } = divided.checked as CheckedQuery & { readonly region: NodeRegion };
    const { peers, ranks } = this.#ownershipIn(divided);
    const { plan } = query.reduction as ReductionQuery;
    const parts = [...runsOf(divided.regions, ranks, region, plan, runs)].map(
      ([owner, own]): OpenPortion<MergedSome> => {
        const some = { frames, runs: own };
        const part = { ...NO_POINTS, owner: peers[owner] ?? null, box: null, parts: some, size: null };
        return { ...part, take: unpackStates, divide: (given) => this.#evaluateParts(given, some) };
      },
    );
    return this.#evaluateAll(divided, parts);
  }

  /**
   * Evaluates parts concurrently and waits until all have ended. An error of the service aborts the others; after an
   * error of the caller the query fails with the one at its first point. @throws the error of the query
   */
  async #evaluateAll<T>(divided: DividedQuery, parts: readonly OpenPortion<T>[]): Promise<readonly T[]> {
    const end = new AbortController();
    const { signal } = end;
    const abort = (): void => end.abort(QUERY_ENDED);
    // Each part of a query is a listener; Node would warn of a leak.
    setMaxListeners(0, signal, divided.signal);
    divided.signal.addEventListener("abort", abort);
    const done: T[] = [];
    const errors: FieldprobeError[] = [];
    const start = (index: number): Promise<readonly T[]> =>
      this.#evaluatePart({ ...divided, signal }, parts[index]).catch((error: unknown) => {
        const known = error instanceof FieldprobeError ? error : new WorkerError(undefined, error);
        errors.push(known);
        if (known.blame === "server") abort();
        return [];
      });
    const isOver = (): boolean => signal.aborted || divided.signal.aborted;
    await inOrder(parts.length, Math.min(MOST_PARTS, parts.length), isOver, start, (some) => done.push(...some));
    divided.signal.removeEventListener("abort", abort);
    abort();
    if (divided.signal.aborted) throw QUERY_ENDED;
    const ours = errors.find(({ blame }) => blame === "server");
    const worst = ours ?? errors.sort((one, other) => pointIn(one) - pointIn(other))[0];
    if (worst !== undefined) throw worst;
    return done;
  }

  /**
   * Evaluates a part by its owner. If that fails or is late, the part is divided again without that peer; every process
   * of the cluster computes the same owners.
   */
  async #evaluatePart<T>(divided: DividedQuery, part: OpenPortion<T>): Promise<readonly T[]> {
    const { owner: peer } = part;
    if (peer === null || divided.excluded.size === MOST_OWNERS) return [await this.#evaluateHere(divided, part)];
    const others = { ...divided, excluded: new Set([...divided.excluded, peer.id]) };
    const isSelf = peer === this.#members.self;
    try {
      if (isSelf) return [await this.#evaluateHere(divided, part)];
      return await this.#askInTime(others, peer, part);
    } catch (error) {
      const isPeerError = error instanceof PeerError;
      if (divided.signal.aborted || !(isPeerError || (isSelf && isOwnFailure(error)))) throw error;
      if (isPeerError) this.#counts.refused++;
      if ((error as Error).cause instanceof LimitError && !peer.isLimited) {
        peer.isLimited = true;
        this.#log.warn({ peer: peer.said.name, reason: (error as Error).message }, "peer has lower limits");
      }
      this.#log.debug({ peer: peer.said.name, reason: (error as Error).message }, "piece evaluated by others");
      return await part.divide(others);
    }
  }

  /**
   * Requests a part from a peer, and once it is late from others too: the first answer counts. @throws as `#request`
   */
  async #askInTime<T>(divided: DividedQuery, peer: Peer, part: OpenPortion<T>): Promise<readonly T[]> {
    // A peer without pieces could make no progress: its time starts now.
    peer.progressAt = Math.max(peer.progressAt, peer.outstanding === 0 ? performance.now() : 0);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setInterval(() => this.#isLate(peer) && resolve(null), LOOK_MS);
    });
    const first = this.#request(divided, peer, part).then((one) => [one]);
    const answer = await Promise.race([first, late]).finally(() => clearInterval(timer));
    if (answer !== null) return answer;
    this.#counts.late++;
    this.#members.suspend(peer);
    const instead = part.divide(divided);
    return Promise.any([first, instead]).catch(() => instead);
  }

  #isLate(peer: Peer): boolean {
    const { late, asked } = this.#counts;
    if (!peer.isStuck || late >= MOST_LATE.first + MOST_LATE.fraction * asked) return false;
    return this.#members.ranks.some((member) => member !== null && member !== peer && member.load < LOW_LOAD);
  }

  #pieceOf({ checked, dataset, deadline }: DividedQuery, { box, parts, count }: OpenPortion<unknown>): Piece {
    const query = { ...checked.query, dataset: dataset.name };
    return { query, box, parts, points: count, deadlineMs: Math.max(1, deadline - Date.now()) };
  }

  async #evaluateHere<T>(divided: DividedQuery, part: OpenPortion<T>): Promise<T> {
    const { dataset, signal, client } = divided;
    this.#counts.own++;
    const write = ({ points, velocities }: Evaluation): void => {
      for (const { triples } of part.velocities) writeTriples(velocities, triples);
      for (const { triples } of part.points) writeTriples(points, triples);
    };
    const [engine, piece] = [this.#engine as Engine, this.#pieceOf(divided, part)];
    const evaluated = evaluatePiece(engine, piece, { dataset, signal, client }, write);
    const { values, release } = await evaluated.catch((error: unknown) => {
      throw withQueryIndex(error, part.indices);
    });
    try {
      // The first answer has been taken, so the buffer of the values may have been reused.
      signal.throwIfAborted();
      return part.take(values);
    } finally {
      release();
    }
  }

  /** Requests a part from a peer. @throws PeerError if another process may succeed, or the error of the query */
  async #request<T>(divided: DividedQuery, peer: Peer, part: OpenPortion<T>): Promise<T> {
    const { points, velocities, size } = part;
    const exchange = this.#exchange;
    if (exchange === null) throw new PeerError("this process has lost NATS");
    const generation = this.#owner?.of(divided.dataset) ?? "none";
    const body = [...points, ...velocities].map(
      ({ triples: { buffer, byteOffset }, count }) => new Uint8Array(buffer, byteOffset, 12 * count),
    );
    const signal = AbortSignal.any([divided.signal, peer.lost.signal]);
    this.#counts.asked++;
    peer.outstanding++;
    try {
      const piece = this.#pieceOf(divided, part);
      const answer = await exchange.request<PieceAnswer>(peer.id, generation, piece, body, signal);
      const { head, bytes } = answer;
      if (head.failure !== null) throw reviveError(head.failure);
      if (size !== null && bytes !== 4 * size) throw new PeerError(`${peer.said.name} answers with something else`);
      const into = this.#buffers.take(bytes);
      try {
        await exchange.receive(answer, (some, at) => into.set(some, at), signal);
        signal.throwIfAborted();
        return part.take([new Float32Array(into.buffer, into.byteOffset, bytes / 4)]);
      } finally {
        this.#buffers.give(into);
      }
    } catch (error) {
      if (signal.aborted || !(isOwnFailure(error) || error instanceof LimitError))
        throw withQueryIndex(error, part.indices);
      throw new PeerError(`${peer.said.name}: ${(error as Error).message}`, { cause: error });
    } finally {
      peer.outstanding--;
    }
  }
}

/** Whether an error is one of the process, so that another process may succeed. */
function isOwnFailure(error: unknown): boolean {
  return error instanceof FieldprobeError && error.blame === "server" && !(error instanceof DeadlineError);
}

function pointIn({ context }: FieldprobeError): number {
  return Number(/^points\[(\d+)\]/.exec(context.member ?? "")?.[1] ?? 0);
}

/** Translates the index of the point in an error to its index in the query. */
function withQueryIndex(error: unknown, indices: Uint32Array): unknown {
  if (!(error instanceof FieldprobeError) || error.context.member === undefined) return error;
  const { code, message, context, cause } = error;
  const member = error.context.member.replace(/^points\[\d+\]/, `points[${indices[pointIn(error)] ?? 0}]`);
  return member === context.member ? error : new FieldprobeError(code, message, { ...context, member }, cause);
}

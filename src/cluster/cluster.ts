/**
 * Division of large queries among the peers of a cluster. A query has a *distribution*: the regions of its data, and how
 * many ranks (`members.ts`) share them. *Ownership* says which peer owns each region. The query is cut into *pieces*, one
 * for each owner. A piece that fails is divided again without that owner; after two failures, this process evaluates it.
 */
import { setMaxListeners } from "node:events";
import { availableParallelism } from "node:os";
import type { Logger } from "pino";
import type { PartialMerge } from "../analysis/parts.js";
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
import { valuesPerPoint } from "../engine/main/plan/plan.js";
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
import { cutPoints, mergeValues, type PointPiece, type PointsToCut } from "./point-pieces.js";
import { ownersOf, type Regions, regionsIn, regionsOf, worthwhileRanks } from "./regions.js";

/** Fewest evaluations of a field in a divided query whose data fit one cache. */
const MIN_WORK = 65_536;
/** Fewest nodes of such a query, if it is about nodes. */
const MIN_NODES = 262_144;
/** Consecutive frames with the same owners. Owners vary in time only if there are fewer regions than peers. */
const SAME_OWNER_FRAMES = 16;
const LATENESS_CHECK_MS = 500;
/** Pieces that may be sent to a second peer when late: the first few, and this fraction of all. */
const MAX_LATE = { fraction: 0.05, first: 8 } as const;
/** Tasks per thread below which a process can take over pieces of others. */
const LOW_LOAD = 1;
/** Most peers that get a piece, one after another, before this process evaluates it itself. */
const MAX_OWNERS = 2;
const MAX_PIECES = 64;
const QUERY_ENDED = new CancelledError();

interface Distribution {
  readonly dataset: Dataset;
  readonly time: number;
  readonly regions: Regions;
  /** Whether the fields of the query, in all frames, exceed the cache of one process. */
  readonly isLarge: boolean;
  /** Number of ranks among which the query is divided, this process included. */
  readonly rankCount: number;
  readonly mayDivide: boolean;
}

interface DividedQuery extends Distribution, SharingControl {
  readonly checked: CheckedQuery;
  /** Ids of peers that have already had the piece, and own nothing in this division. */
  readonly excluded: ReadonlySet<string>;
}

interface Ownership {
  readonly peers: readonly (Peer | null)[];
  /** The rank of the owner of each region; 255 if no process is usable. */
  readonly ownerRanks: Uint8Array;
}

interface PendingPiece<T> extends Omit<PointPiece, "owner"> {
  readonly owner: Peer | null;
  readonly box: RegionBox | null;
  readonly runs: ReducedParts | null;
  /** Float32 values of the answer; null if their number is unknown. */
  readonly size: number | null;
  /** Puts the values of the answer in their place. */
  merge(values: readonly Float32Array[]): T;
  divide(divided: DividedQuery): Promise<readonly T[]>;
}

const NO_POINTS = { points: [], velocities: [], count: 0, indices: new Uint32Array(0) };

/** Receives the values of a box. */
type TakeBox<T> = (box: RegionBox, values: readonly Float32Array[]) => T;

export class Cluster implements Sharing {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #build = digestProgram();
  readonly #members: Members;
  readonly #buffers = new BufferPool();
  readonly #regions = new WeakMap<Bricking, Regions>();
  /** The owners as last computed, with a key of all that they depend on. */
  readonly #ownerships = new WeakMap<Regions, Ownership & { readonly key: string }>();
  readonly #rankCounts = new WeakMap<Regions, { readonly rankTotal: number; readonly rankCount: number }>();
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
    const program = { version, build: this.#build, revision: owner.revision };
    return { ...program, ...load, progress, cache, ...owner.announced(), pieces: this.#pieces };
  }

  get #pieces() {
    return { ...this.#counts, answered: this.#owner?.answered ?? 0 };
  }

  mayDivide(checked: CheckedQuery): boolean {
    return this.#members.others.length > 0 && this.#distributionOf(checked)?.mayDivide === true;
  }

  shouldDivide(checked: CheckedQuery, count: number): boolean {
    const distribution = this.#distributionOf(checked);
    if (!distribution?.mayDivide || count === 0) return false;
    if (distribution.isLarge) return true;
    return checked.region === null ? workOf(checked, count) >= MIN_WORK : count >= MIN_NODES;
  }

  async evaluate(checked: CheckedQuery, points: SharedPoints, control: SharingControl): Promise<void> {
    await this.#evaluatePoints(this.#dividedQuery(checked, control), { ...points, indices: null }, points.out);
  }

  async search(checked: CheckedQuery, control: SharingControl): Promise<readonly Float32Array[]> {
    const whole = { from: [0, 0, 0], count: (checked.region as NodeRegion).count } as const;
    const take: TakeBox<Float32Array[]> = (_, records) => records.map((block) => block.slice());
    return (await this.#evaluateBoxes(this.#dividedQuery(checked, control), whole, take)).flat();
  }

  async cutout(checked: CheckedQuery, around: RegionBox, out: Float32Array, control: SharingControl): Promise<void> {
    const components = componentsOf(checked.dataset as Dataset, (checked.region as NodeRegion).field);
    const take: TakeBox<void> = (box, values) => placeBox(values, box, around, components, out);
    await this.#evaluateBoxes(this.#dividedQuery(checked, control), around, take);
  }

  reduce(checked: CheckedQuery, parts: ReducedParts, control: SharingControl): Promise<readonly PartialMerge[]> {
    return this.#evaluateReduction(this.#dividedQuery(checked, control), parts);
  }

  status(): ReturnType<Sharing["status"]> {
    const unverified = this.#owner?.announced().unverified.length ?? 0;
    const problem = this.#link === null ? "not connected yet" : this.#link.problem;
    const [peers, nats] = [this.#members.states(), { connected: problem === null, problem }];
    return { peers, pieces: this.#pieces, unverified, nats, lentBytes: this.#buffers.lentBytes };
  }

  regionCounts(): RegionCounts {
    const engine = this.#engine as Engine;
    const cachedBricks = engine.held();
    const counts = { owned: 0, cached: 0 };
    for (const dataset of engine.datasets()) {
      const fields = Object.values(dataset.fields);
      const [firstField] = fields;
      const regions = firstField === undefined ? null : this.#regionsOf(dataset, firstField.bricking);
      if (firstField === undefined || regions === null || regions.size < this.#members.peersByRank.length) continue;
      const rankCount = this.#rankCount(dataset, firstField.bricking, this.#isLarge(dataset, fields));
      const { peers, ownerRanks } = this.#ownershipFor({ dataset, regions, time: 0, rankCount, excluded: new Set() });
      const ownRank = peers.indexOf(this.#members.self);
      counts.owned += ownerRanks.filter((rank) => rank === ownRank).length;
      const cachedRegions = cachedBricks.flatMap(({ dataset: brickedDataset, field, bricks }) => {
        const { bricking } = brickedDataset.fields[field] as FieldSource;
        return brickedDataset === dataset ? regionsIn(this.#regionsOf(dataset, bricking), bricking, bricks) : [];
      });
      counts.cached += new Set(cachedRegions).size;
    }
    return counts;
  }

  readonly generations: SharedGenerations = {
    of: (dataset) => {
      const owner = this.#owner as Owner;
      const generation = dataset === null ? owner.ofAll() : owner.of(dataset);
      if (generation === null) owner.refresh();
      return generation;
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

  /** How a query may be divided; null if queries of its kind never are. */
  #distributionOf({ query, dataset, fields, region, operation }: CheckedQuery): Distribution | null {
    const { reduction, spectrum, derivedAt, quantity } = query;
    // Transforms need whole frames, and derived fields exist in this process only.
    if (dataset === null || spectrum || derivedAt || quantity || reduction?.derived) return null;
    const sources = fields.flatMap((name) => dataset.fields[name] ?? []);
    const [firstField] = sources;
    if (firstField === undefined) return null;
    const isLarge = this.#isLarge(dataset, sources);
    const regions = this.#regionsOf(dataset, firstField.bricking);
    const rankCount = this.#rankCount(dataset, firstField.bricking, isLarge);
    // Every process caches small datasets whole, and also cuts them out itself.
    const isCutout = region !== null && operation.family === "cutout" && reduction === undefined;
    const mayDivide = isLarge ? rankCount > 1 : regions.size >= this.#members.peersByRank.length && !isCutout;
    return { dataset, time: query.time ?? query.StartTime ?? 0, regions, isLarge, rankCount, mayDivide };
  }

  /** Whether the fields of a dataset, in all frames, exceed the cache of one process. */
  #isLarge({ axes, time }: Dataset, sources: readonly FieldSource[]): boolean {
    const nodes = axes.reduce((product, axis) => product * axis.nodes, 1);
    const values = sources.reduce((sum, { components }) => sum + components, 0) * nodes * time.count;
    return 4 * values > this.#config.cacheBytes;
  }

  /** Number of ranks among which queries are divided: all, unless reading halos again costs more than that saves. */
  #rankCount(dataset: Dataset, bricking: Bricking, isLarge: boolean): number {
    const rankTotal = this.#members.peersByRank.length;
    if (!isLarge) return rankTotal;
    const regions = this.#regionsOf(dataset, bricking);
    const cached = this.#rankCounts.get(regions);
    if (cached?.rankTotal === rankTotal) return cached.rankCount;
    const rankCount = worthwhileRanks(regions, bricking, rankTotal);
    this.#rankCounts.set(regions, { rankTotal, rankCount });
    if (rankCount < rankTotal)
      this.#log.info(
        { dataset: dataset.name, processes: rankTotal, among: rankCount },
        "queries beyond the cache are divided among fewer processes: halos would cost more than that saves",
      );
    return rankCount;
  }

  #regionsOf({ axes }: Dataset, bricking: Bricking): Regions {
    const regions = this.#regions.get(bricking) ?? regionsOf(axes, bricking);
    this.#regions.set(bricking, regions);
    return regions;
  }

  #ownershipFor(divided: Pick<DividedQuery, "regions" | "dataset" | "time" | "rankCount" | "excluded">): Ownership {
    const { regions, dataset, time, rankCount, excluded } = divided;
    const { peersByRank, arrangement, self } = this.#members;
    // The block of `rankCount` ranks that includes this process; the last block overlaps the one before.
    const ownRank = Math.max(0, peersByRank.indexOf(self));
    const first = Math.max(0, Math.min(ownRank - (ownRank % rankCount), peersByRank.length - rankCount));
    const peers = peersByRank.slice(first, first + rankCount);
    const [frame = 0] = regions.size < peers.length ? frameWeights(dataset.time, time, "None").frames : [0];
    const seed = `${dataset.name} ${Math.floor(frame / SAME_OWNER_FRAMES)}`;
    const generation = this.#owner?.of(dataset) ?? "";
    const key = [seed, arrangement, generation, rankCount, ...excluded].join(" ");
    const cached = this.#ownerships.get(regions);
    if (cached?.key === key) return cached;
    const hasSameData = (peer: Peer): boolean =>
      this.#members.isUsable(peer) && peer.generations[dataset.name] === generation;
    const usable = peers.map((peer) => peer !== null && !excluded.has(peer.id) && (peer === self || hasSameData(peer)));
    const ownership = { key, peers, ownerRanks: ownersOf(regions, usable, seed) };
    this.#ownerships.set(regions, ownership);
    return ownership;
  }

  #dividedQuery(checked: CheckedQuery, control: SharingControl): DividedQuery {
    return { checked, ...control, ...(this.#distributionOf(checked) as Distribution), excluded: new Set() };
  }

  async #evaluatePoints(divided: DividedQuery, work: PointsToCut, out: Float32Array): Promise<readonly unknown[]> {
    const { checked, dataset, regions, time } = divided;
    const { peers, ownerRanks } = this.#ownershipFor(divided);
    const lent: Uint8Array<SharedArrayBuffer>[] = [];
    const lend = (bytes: number): Uint8Array<SharedArrayBuffer> => {
      const block = this.#buffers.lend(bytes);
      lent.push(block);
      return block;
    };
    const width = valuesPerPoint(checked);
    try {
      const cut = await cutPoints(regions, ownerRanks, work, frameShift(dataset.frameVelocity, time), lend);
      // In a small query, less than half of an equal share is not worth a message: this process evaluates it.
      const isSmallQuery = workOf(checked, work.count) < MIN_WORK;
      const isWorthSending = ({ count }: PointPiece) => !isSmallQuery || 2 * count * cut.length >= work.count;
      const selfRank = peers.indexOf(this.#members.self);
      const pieces = cut.map((points): PendingPiece<unknown> => {
        const { count, indices } = points;
        const owner = peers[isWorthSending(points) ? points.owner : selfRank] ?? null;
        const piece = { ...points, owner, box: null, runs: null, size: width * count };
        const merge = (values: readonly Float32Array[]): void => mergeValues(values, indices, width, out);
        return { ...piece, merge, divide: (others) => this.#evaluatePoints(others, points, out) };
      });
      return await this.#evaluateAll(divided, pieces);
    } finally {
      for (const block of lent) this.#buffers.giveBack(block);
    }
  }

  #evaluateBoxes<T>(divided: DividedQuery, around: RegionBox, take: TakeBox<T>): Promise<readonly T[]> {
    const { region, operation } = divided.checked as CheckedQuery & { readonly region: NodeRegion };
    const { peers, ownerRanks } = this.#ownershipFor(divided);
    const pieces = boxesOf(divided.regions, ownerRanks, region, around).map(({ owner, ...box }): PendingPiece<T> => {
      const nodes = box.count[0] * box.count[1] * box.count[2];
      const size = operation.family === "search" ? null : componentsOf(divided.dataset, region.field) * nodes;
      const piece = { ...NO_POINTS, owner: peers[owner] ?? null, box, runs: null, size };
      return {
        ...piece,
        merge: (values) => take(box, values),
        divide: (others) => this.#evaluateBoxes(others, box, take),
      };
    });
    return this.#evaluateAll(divided, pieces);
  }

  #evaluateReduction(divided: DividedQuery, { frames, runs }: ReducedParts): Promise<readonly PartialMerge[]> {
    const { region, query } = divided.checked as CheckedQuery & { readonly region: NodeRegion };
    const { peers, ownerRanks } = this.#ownershipFor(divided);
    const { plan } = query.reduction as ReductionQuery;
    const pieces = [...runsOf(divided.regions, ownerRanks, region, plan, runs)].map(
      ([owner, ownerRuns]): PendingPiece<PartialMerge> => {
        const reduced = { frames, runs: ownerRuns };
        const piece = { ...NO_POINTS, owner: peers[owner] ?? null, box: null, runs: reduced, size: null };
        return { ...piece, merge: unpackStates, divide: (others) => this.#evaluateReduction(others, reduced) };
      },
    );
    return this.#evaluateAll(divided, pieces);
  }

  /**
   * Evaluates pieces concurrently and waits until all have ended. A server error aborts the remaining pieces. If the
   * request is at fault, they run to the end, so that the error at the lowest point index is reported.
   */
  async #evaluateAll<T>(divided: DividedQuery, pieces: readonly PendingPiece<T>[]): Promise<readonly T[]> {
    const end = new AbortController();
    const { signal } = end;
    const abort = (): void => end.abort(QUERY_ENDED);
    // Each piece of a query is a listener; Node would warn of a leak.
    setMaxListeners(0, signal, divided.signal);
    divided.signal.addEventListener("abort", abort);
    const results: T[] = [];
    const errors: FieldprobeError[] = [];
    const evaluate = (index: number): Promise<readonly T[]> =>
      this.#evaluatePiece({ ...divided, signal }, pieces[index]).catch((error: unknown) => {
        const failure = error instanceof FieldprobeError ? error : new WorkerError(undefined, error);
        errors.push(failure);
        if (failure.blame === "server") abort();
        return [];
      });
    const isOver = (): boolean => signal.aborted || divided.signal.aborted;
    const keep = (ofPiece: readonly T[]) => results.push(...ofPiece);
    await inOrder(pieces.length, Math.min(MAX_PIECES, pieces.length), isOver, evaluate, keep);
    divided.signal.removeEventListener("abort", abort);
    abort();
    if (divided.signal.aborted) throw QUERY_ENDED;
    const reported =
      errors.find(({ blame }) => blame === "server") ?? errors.sort((a, b) => pointIn(a) - pointIn(b))[0];
    if (reported !== undefined) throw reported;
    return results;
  }

  /** Has a piece evaluated by its owner. If that fails or is late, the piece is divided again without that peer. */
  async #evaluatePiece<T>(divided: DividedQuery, piece: PendingPiece<T>): Promise<readonly T[]> {
    const { owner: peer } = piece;
    if (peer === null || divided.excluded.size === MAX_OWNERS) return [await this.#evaluateHere(divided, piece)];
    const withoutPeer = { ...divided, excluded: new Set([...divided.excluded, peer.id]) };
    const isSelf = peer === this.#members.self;
    try {
      if (isSelf) return [await this.#evaluateHere(divided, piece)];
      return await this.#requestInTime(withoutPeer, peer, piece);
    } catch (error) {
      const isPeerError = error instanceof PeerError;
      if (divided.signal.aborted || !(isPeerError || (isSelf && isProcessFailure(error)))) throw error;
      if (isPeerError) this.#counts.refused++;
      if ((error as Error).cause instanceof LimitError && !peer.isLimited) {
        peer.isLimited = true;
        this.#log.warn({ peer: peer.announcement.name, reason: (error as Error).message }, "peer has lower limits");
      }
      this.#log.debug({ peer: peer.announcement.name, reason: (error as Error).message }, "piece evaluated by others");
      return await piece.divide(withoutPeer);
    }
  }

  /** Requests a piece from a peer and, once it is late, from others too: the first answer counts. */
  async #requestInTime<T>(divided: DividedQuery, peer: Peer, piece: PendingPiece<T>): Promise<readonly T[]> {
    // A peer without pieces could make no progress: its time starts now.
    peer.progressAt = Math.max(peer.progressAt, peer.outstanding === 0 ? performance.now() : 0);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setInterval(() => this.#isLate(peer) && resolve(null), LATENESS_CHECK_MS);
    });
    const first = this.#request(divided, peer, piece).then((result) => [result]);
    const answer = await Promise.race([first, late]).finally(() => clearInterval(timer));
    if (answer !== null) return answer;
    this.#counts.late++;
    this.#members.suspend(peer);
    const retry = piece.divide(divided);
    // An error of the caller would be that of the late peer too, and ends the wait for it.
    const answered = retry.catch((error) => (error.blame === "caller" ? null : Promise.reject(error)));
    return (await Promise.any([first, answered]).catch(() => null)) ?? retry;
  }

  #isLate(peer: Peer): boolean {
    const { late, asked } = this.#counts;
    if (!peer.isStuck || late >= MAX_LATE.first + MAX_LATE.fraction * asked) return false;
    return this.#members.peersByRank.some((member) => member !== null && member !== peer && member.load < LOW_LOAD);
  }

  #messageFor({ checked, dataset, deadline }: DividedQuery, { box, runs, count }: PendingPiece<unknown>): Piece {
    const query = { ...checked.query, dataset: dataset.name };
    return { query, box, parts: runs, points: count, deadlineMs: Math.max(1, deadline - Date.now()) };
  }

  async #evaluateHere<T>(divided: DividedQuery, piece: PendingPiece<T>): Promise<T> {
    const { dataset, signal, client } = divided;
    this.#counts.own++;
    const write = ({ points, velocities }: Evaluation): void => {
      for (const { triples } of piece.velocities) writeTriples(velocities, triples);
      for (const { triples } of piece.points) writeTriples(points, triples);
    };
    const message = this.#messageFor(divided, piece);
    const evaluated = evaluatePiece(this.#engine as Engine, message, { dataset, signal, client }, write);
    const { values, release } = await evaluated.catch((error: unknown) => {
      throw withQueryIndex(error, piece.indices);
    });
    try {
      // If another answer came first, the buffer may already belong to another query.
      signal.throwIfAborted();
      return piece.merge(values);
    } finally {
      release();
    }
  }

  /** Requests a piece from a peer. Throws PeerError if another process may succeed, or the error of the query. */
  async #request<T>(divided: DividedQuery, peer: Peer, piece: PendingPiece<T>): Promise<T> {
    const { points, velocities, size } = piece;
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
      const message = this.#messageFor(divided, piece);
      const answer = await exchange.request<PieceAnswer>(peer.id, generation, message, body, signal);
      const { head, bytes } = answer;
      if (head.failure !== null) throw reviveError(head.failure);
      if (size !== null && bytes !== 4 * size)
        throw new PeerError(`${peer.announcement.name} answers with something else`);
      const into = this.#buffers.lend(bytes);
      try {
        await exchange.receive(answer, (part, at) => into.set(part, at), signal);
        signal.throwIfAborted();
        return piece.merge([new Float32Array(into.buffer, into.byteOffset, bytes / 4)]);
      } finally {
        this.#buffers.giveBack(into);
      }
    } catch (error) {
      if (signal.aborted || !(isProcessFailure(error) || error instanceof LimitError))
        throw withQueryIndex(error, piece.indices);
      throw new PeerError(`${peer.announcement.name}: ${(error as Error).message}`, { cause: error });
    } finally {
      peer.outstanding--;
    }
  }
}

/** Whether an error is due to the process that evaluated the piece, so that another process may succeed. */
function isProcessFailure(error: unknown): boolean {
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

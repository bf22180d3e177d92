/**
 * `Cluster` divides large queries among peers: each region of the data has one owner among them, every owner gets its
 * part of a query as one piece, and the answers are merged. A part that its owner does not answer is divided again
 * among the other peers; after two owners this process evaluates it itself.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Config } from "../config.js";
import { digestBuild } from "../engine/build-digest.js";
import { type CheckedQuery, workOf } from "../engine/check-query.js";
import { type NodeRegion, placeBox } from "../engine/node-region.js";
import { valuesPerPoint } from "../engine/plan/by-arrival.js";
import { BufferPool } from "../engine/points/buffers.js";
import { frameShift } from "../engine/points/positions.js";
import { type Engine, type Query, type RegionBox, type RegionCounts, writeTriples } from "../engine/query.js";
import type { SharedPoints, Sharing, SharingControl } from "../engine/sharing.js";
import type { Slab } from "../engine/task.js";
import { reviveError } from "../engine/threads/errors-as-data.js";
import { CancelledError, DeadlineError, FieldprobeError, WorkerError } from "../errors.js";
import { frameWeights } from "../kernels/time.js";
import { FIELDS } from "../operations.js";
import type { Bricking, Dataset, FieldSource } from "../storage/dataset.js";
import { reasonOf } from "../system-error.js";
import { version } from "../version.js";
import { Generations } from "./generation.js";
import { checkCluster, readKeys, readPeers } from "./keys.js";
import { Listener } from "./listener.js";
import { boxesOf } from "./owned-boxes.js";
import { type Peer, PeerError, Peers } from "./peers.js";
import { OCTETS, type PeerReport, PIECE_HEADER, PIECE_PATH, type Piece, readFailure, writePiece } from "./piece.js";
import { cutPoints, mergeValues, type PointsToCut } from "./portions.js";
import { hashText, ownersOf, type Regions, regionsIn, regionsOf } from "./regions.js";

/**
 * Least work of a query that is divided although one process could cache its data: evaluations of a field, or nodes of
 * a search.
 */
const LEAST_WORK = 65_536;
const LEAST_NODES = 262_144;
/** Consecutive frames with the same owners, where owners vary with time: there are fewer regions than peers. */
const SAME_OWNER_FRAMES = 16;
/** Time without progress of a peer after which its pieces are late. */
const STUCK_MS = 3_000;
/** Most peers that are asked for a part, one after the other, before this process evaluates it itself. */
const MOST_ASKED = 2;
const NO_PEERS: ReadonlySet<Peer> = new Set();

/** The regions by which a query is divided. */
interface Distribution {
  readonly dataset: Dataset;
  readonly regions: Regions;
  /** Whether the fields of the query, in all frames, are larger than the cache of one process. */
  readonly large: boolean;
}

/** The owners of the regions of a dataset. */
interface Owners {
  readonly list: readonly Peer[];
  /** By region: the index of its owner in `list`; 255 where no peer is usable. */
  readonly owners: Uint8Array;
}

/** A part of a query, for one owner. */
interface Part<T> {
  readonly owner: number;
  readonly dataset: Dataset;
  readonly query: Query;
  /** Searches and cutouts: the nodes. */
  readonly box: RegionBox | null;
  readonly triples: Float32Array;
  readonly velocities: Float32Array;
  /** Index in the query of each point. */
  readonly indices: Uint32Array;
  /** Float32 values of the answer; null for a search, whose answer has any length. */
  readonly size: number | null;
  /** Takes the values, which last until it returns. */
  take(values: readonly Float32Array[]): T;
  /** Divides the part again, among the peers that are not in `without`. */
  divide(without: ReadonlySet<Peer>, control: SharingControl): Promise<readonly T[]>;
}

/** This process as a member of its cluster. */
export class Cluster implements Sharing {
  readonly #config: Config;
  readonly #log: Logger;
  /** The identity of this process, by which it finds itself among the peers. */
  readonly #id = randomUUID();
  readonly #build = digestBuild();
  readonly #generations: Generations;
  readonly #peers: Peers;
  readonly #buffers = new BufferPool();
  readonly #regions = new WeakMap<Bricking, Regions>();
  /** The owners as they were last worked out, and a key of all that they depend on. */
  readonly #owners = new WeakMap<Regions, Owners & { readonly key: string }>();
  /** The query that was looked at last: planning one asks several times. */
  #distributed: { readonly checked: CheckedQuery; readonly distribution: Distribution | null } | null = null;
  readonly #counts = { own: 0, asked: 0, refused: 0, late: 0, answered: 0 };
  #engine: Engine | null = null;
  #listener: Listener | null = null;

  /** @throws ConfigError when its keys or its peers cannot be used */
  constructor(config: Config, log: Logger) {
    this.#config = config;
    this.#log = log;
    this.#generations = new Generations(this.#build, config.fd8Legacy);
    const names = readPeers(config.cluster.peers ?? []);
    this.#peers = new Peers(names, readKeys(config.cluster), { id: this.#id, build: this.#build }, log);
  }

  attach(engine: Engine): void {
    this.#engine = engine;
  }

  /** Listens for pieces of peers, where the settings name an address. @throws the error of the system */
  async listen(): Promise<void> {
    const { listen: address, ...files } = this.#config.cluster;
    if (address === null || this.#engine === null) return;
    const engine = this.#engine;
    this.#listener = new Listener({
      address,
      keys: readKeys({ listen: address, ...files }),
      engine,
      generations: this.#generations,
      log: this.#log,
      status: () => this.#statusOf(engine),
      answered: () => void this.#counts.answered++,
    });
    await this.#listener.listen();
  }

  /** What this process tells its peers of itself. */
  #statusOf(engine: Engine): Omit<PeerReport, "draining"> {
    const { workers: threads, running, queued, cacheBytes: used, bytesRead: read, ...status } = engine.status();
    const cache = { bytes: this.#config.cacheBytes, used, read };
    const progress = status.cacheHits + status.cacheMisses + this.#generations.samples;
    const datasets = engine.datasets().length;
    return { id: this.#id, version, build: this.#build, threads, running, progress, queued, cache, datasets };
  }

  divides(checked: CheckedQuery): boolean {
    return this.#peers.hasOthers && this.#distributionOf(checked) !== null;
  }

  pays(checked: CheckedQuery, count: number): boolean {
    const distribution = this.#distributionOf(checked);
    if (distribution === null || count === 0) return false;
    if (distribution.large) return true;
    return checked.region === null ? workOf(checked, count) >= LEAST_WORK : count >= LEAST_NODES;
  }

  async evaluate(checked: CheckedQuery, work: SharedPoints, control: SharingControl): Promise<void> {
    await this.#evaluatePoints(checked, { ...work, indices: null }, control);
  }

  async search(checked: CheckedQuery, control: SharingControl): Promise<readonly Float32Array[]> {
    const whole = { from: [0, 0, 0], count: (checked.region as NodeRegion).count } as const;
    const take = (_: RegionBox, records: readonly Float32Array[]) => records.map((some) => some.slice());
    return (await this.#evaluateBoxes(checked, whole, null, take, control)).flat();
  }

  async cutout(checked: CheckedQuery, around: RegionBox, out: Float32Array, control: SharingControl): Promise<void> {
    const components = FIELDS[(checked.region as NodeRegion).field];
    const take = (box: RegionBox, values: readonly Float32Array[]): void =>
      placeBox(values, box, around, components, out);
    await this.#evaluateBoxes(checked, around, components, take, control);
  }

  status(): ReturnType<Sharing["status"]> {
    return { peers: this.#peers.states(), pieces: this.#counts };
  }

  regions(): RegionCounts {
    const engine = this.#engine as Engine;
    const held = engine.held();
    const counts = { owned: 0, cached: 0 };
    for (const dataset of engine.datasets()) {
      const [main] = Object.values(dataset.fields);
      const regions = main === undefined ? null : this.#regionsOf(dataset, main.bricking);
      if (regions === null || regions.size < this.#peers.list.length) continue;
      const { list, owners } = this.#ownersIn(regions, dataset, 0, NO_PEERS);
      const mine = list.findIndex((peer) => this.#peers.isSelf(peer));
      counts.owned += owners.filter((owner) => owner === mine).length;
      const cached = held.flatMap(({ dataset: one, field, bricks }) => {
        const { bricking } = one.fields[field] as FieldSource;
        return one === dataset ? regionsIn(this.#regionsOf(dataset, bricking), bricking, bricks) : [];
      });
      counts.cached += new Set(cached).size;
    }
    return counts;
  }

  reload(): void {
    try {
      checkCluster(this.#config);
      const keys = readKeys(this.#config.cluster);
      const names = readPeers(this.#config.cluster.peers ?? []);
      if (keys !== null) this.#listener?.rekey(keys);
      this.#peers.rekey(keys);
      this.#peers.replace(names);
    } catch (error) {
      this.#log.error({ reason: reasonOf(error) }, "keys and peers stay as they were");
    }
  }

  async drain(graceMs: number): Promise<void> {
    await this.#listener?.drain(graceMs);
  }

  close(): void {
    this.#listener?.close();
    this.#peers.close();
  }

  /** The regions by which a query may be divided; null where this process had better evaluate all of it. */
  #distributionOf(checked: CheckedQuery): Distribution | null {
    if (this.#distributed?.checked !== checked)
      this.#distributed = { checked, distribution: this.#distribute(checked) };
    return this.#distributed.distribution;
  }

  #distribute({ query, dataset, fields, region, operation }: CheckedQuery): Distribution | null {
    // Boxes of `nodes` may cross a periodic seam, which `owned-boxes.ts` does not know: they are not divided.
    if (dataset === null || query.nodes !== undefined) return null;
    const sources = fields.flatMap((name) => dataset.fields[name] ?? []);
    const [main] = sources;
    if (main === undefined) return null;
    const nodes = dataset.axes.reduce((product, axis) => product * axis.nodes, 1);
    const values = sources.reduce((sum, { components }) => sum + components, 0) * nodes * dataset.time.count;
    const large = 4 * values > this.#config.cacheBytes;
    const regions = this.#regionsOf(dataset, main.bricking);
    // Every process caches a dataset of few regions itself, and copies cutouts of data that it can cache.
    if (!large && (regions.size < this.#peers.list.length || (region !== null && operation.family === "cutout")))
      return null;
    return { dataset, regions, large };
  }

  #regionsOf({ axes }: Dataset, bricking: Bricking): Regions {
    const regions = this.#regions.get(bricking) ?? regionsOf(axes, bricking);
    this.#regions.set(bricking, regions);
    return regions;
  }

  /**
   * The owners of the regions of a dataset at a time.
   *
   * @param at      time of the query; it decides only where there are fewer regions than peers
   * @param without peers that are to own nothing
   */
  #ownersIn(regions: Regions, { name, time }: Dataset, at: number, without: ReadonlySet<Peer>): Owners {
    const { list, version } = this.#peers;
    const [frame = 0] = regions.size < list.length ? frameWeights(time, at, "None").frames : [0];
    const seed = `${name} ${Math.floor(frame / SAME_OWNER_FRAMES)}`;
    const key = [seed, version, ...Array.from(without, (peer) => peer.name)].join(" ");
    const known = this.#owners.get(regions);
    if (known?.key === key) return known;
    const peers = list.map((peer) => ({ name: peer.name, usable: this.#peers.isUsable(peer) && !without.has(peer) }));
    const found = { key, list, owners: ownersOf(regions, peers, hashText(seed) % list.length) };
    this.#owners.set(regions, found);
    return found;
  }

  /** Divides points by owner, and puts the values in their places in `work.out`. */
  async #evaluatePoints(
    checked: CheckedQuery,
    work: PointsToCut & Pick<SharedPoints, "out">,
    control: SharingControl,
    without: ReadonlySet<Peer> = NO_PEERS,
  ): Promise<readonly unknown[]> {
    const { query } = checked;
    const { dataset, regions } = this.#distributionOf(checked) as Distribution;
    const time = query.time ?? query.StartTime ?? 0;
    const { list, owners } = this.#ownersIn(regions, dataset, time, without);
    const lent: SharedArrayBuffer[] = [];
    const room = (bytes: number): SharedArrayBuffer => {
      const buffer = this.#buffers.take(bytes);
      lent.push(buffer);
      return buffer;
    };
    const width = valuesPerPoint(checked);
    const portions = await cutPoints(regions, owners, work, frameShift(dataset.frameVelocity, time), room);
    const parts = portions.map((portion): Part<unknown> => {
      const { count, indices } = portion;
      const slabs = (triples: Float32Array): readonly Slab[] => (triples.length > 0 ? [{ triples, count }] : []);
      const again = { points: slabs(portion.triples), velocities: slabs(portion.velocities), count, indices };
      return {
        ...{ ...portion, query, dataset, box: null, size: width * count },
        take: (values) => mergeValues(values, indices, width, work.out),
        divide: (others, given) => this.#evaluatePoints(checked, { ...again, out: work.out }, given, others),
      };
    });
    const none = await this.#evaluateAll(parts, list, control, without);
    for (const buffer of lent) this.#buffers.give(buffer);
    return none;
  }

  /**
   * Divides a box of nodes by owner.
   *
   * @param components values of a node in a cutout; null for a search, whose records are hits
   * @param take       receives the values of a box, which last until it returns
   */
  #evaluateBoxes<T>(
    checked: CheckedQuery,
    around: RegionBox,
    components: number | null,
    take: (box: RegionBox, values: readonly Float32Array[]) => T,
    control: SharingControl,
    without: ReadonlySet<Peer> = NO_PEERS,
  ): Promise<readonly T[]> {
    const { query } = checked;
    const { dataset, regions } = this.#distributionOf(checked) as Distribution;
    const { list, owners } = this.#ownersIn(regions, dataset, query.time ?? 0, without);
    const none = { triples: new Float32Array(0), velocities: new Float32Array(0), indices: new Uint32Array(0) };
    const parts = boxesOf(regions, owners, checked.region as NodeRegion, around).map(({ owner, ...box }): Part<T> => {
      const nodes = box.count[0] * box.count[1] * box.count[2];
      return {
        ...{ ...none, owner, query, dataset, box, size: components === null ? null : components * nodes },
        take: (values) => take(box, values),
        divide: (others, given) => this.#evaluateBoxes(checked, box, components, take, given, others),
      };
    });
    return this.#evaluateAll(parts, list, control, without);
  }

  async #evaluateAll<T>(
    parts: readonly Part<T>[],
    list: readonly Peer[],
    control: SharingControl,
    without: ReadonlySet<Peer>,
  ): Promise<readonly T[]> {
    const run = (part: Part<T>, signal: AbortSignal): Promise<readonly T[]> =>
      this.#evaluatePart(list[part.owner], part, { ...control, signal }, without);
    return (await runAll(control, parts, run)).flat();
  }

  /**
   * Has a part evaluated by its owner. If the owner refuses it, is lost or is late, the part is divided again among the
   * owners that its regions have without that peer; every process of the cluster finds the same ones.
   *
   * @param peer    the owner; undefined where no peer is usable
   * @param without peers that have been asked for the part already
   */
  async #evaluatePart<T>(
    peer: Peer | undefined,
    part: Part<T>,
    control: SharingControl,
    without: ReadonlySet<Peer>,
  ): Promise<readonly T[]> {
    const isHere = peer === undefined || this.#peers.isSelf(peer) || without.size === MOST_ASKED;
    // A digest of files that are new here may take a while: it is made before the clock of the peer starts. Without
    // one, because files cannot be read here, no peer can show to have the same.
    const generation = isHere ? null : await this.#generations.of(part.dataset).catch(() => null);
    if (peer === undefined || generation === null) {
      this.#counts.own++;
      return [await this.#evaluateHere(part, control)];
    }
    this.#counts.asked++;
    const others = new Set([...without, peer]);
    const end = new AbortController();
    const signal = AbortSignal.any([control.signal, end.signal]);
    try {
      const asked = this.#ask(peer, part, generation, { ...control, signal }).then((one) => [one]);
      const answer = await Promise.race([asked, this.#late(peer, control.deadline, signal)]);
      if (answer !== null) return answer;
      this.#counts.late++;
      const instead = part.divide(others, { ...control, signal });
      return await Promise.any([asked, instead]).catch(() => instead);
    } catch (error) {
      if (!(error instanceof PeerError)) throw error;
      this.#counts.refused++;
      this.#log.debug({ peer: peer.name, reason: error.message }, "piece evaluated by others");
      return await part.divide(others, control);
    } finally {
      end.abort();
    }
  }

  /** Resolves once a peer has made no progress for `STUCK_MS`, or half of the time to the deadline is over. */
  async #late(peer: Peer, deadline: number, signal: AbortSignal): Promise<null> {
    const since = performance.now();
    const half = since + (deadline - Date.now()) / 2;
    for (;;) {
      const due = Math.min(half, Math.max(since, peer.progressAt) + STUCK_MS);
      const left = due - performance.now();
      if (left <= 0) return null;
      await delay(left, null, { signal });
    }
  }

  /** Evaluates a part on the threads of this process. */
  async #evaluateHere<T>(part: Part<T>, { deadline, signal, client }: SharingControl): Promise<T> {
    const { query, dataset, box, triples, velocities, indices } = part;
    const deadlineMs = Math.max(1, deadline - Date.now());
    const control = { dataset, deadlineMs, signal, client, box, points: indices.length, alone: true };
    const evaluation = (this.#engine as Engine).start(query, control);
    writeTriples(evaluation.velocities, velocities);
    writeTriples(evaluation.points, triples);
    try {
      const result = await evaluation.finish();
      try {
        const parts = [...result.values];
        for await (const some of result.stream ?? []) parts.push(some.slice());
        // Whoever came first has been taken: what the values are for may be over.
        signal.throwIfAborted();
        return part.take(parts);
      } finally {
        result.release();
      }
    } catch (error) {
      throw located(error, indices);
    }
  }

  /**
   * Asks a peer for a part, as one piece.
   *
   * @throws PeerError where another process may succeed, or the error of the query
   */
  async #ask<T>(peer: Peer, part: Part<T>, generation: string, { deadline, signal }: SharingControl): Promise<T> {
    const { query, dataset, box, triples, velocities, indices, size } = part;
    const piece: Piece = {
      ...{ generation, query: { ...query, dataset: dataset.name }, box },
      ...{ points: indices.length, velocities: velocities.length > 0 },
      deadlineMs: Math.max(1, deadline - Date.now()),
    };
    const headers = {
      "content-type": OCTETS,
      "content-length": triples.byteLength + velocities.byteLength,
      [PIECE_HEADER]: writePiece(piece),
    };
    const bytes = 4 * (size ?? 0);
    const lent = this.#buffers.take(bytes);
    const into = size === null ? undefined : new Uint8Array(lent, 0, bytes);
    const request = { method: "POST", path: PIECE_PATH, headers, body: [triples, velocities], into, signal } as const;
    const { status, type, body } = await this.#peers.ask(peer, request);
    signal.throwIfAborted();
    if (status === 200 && type === OCTETS && body.length === (into?.length ?? body.length) && body.length % 4 === 0) {
      const taken = part.take([new Float32Array(body.buffer, body.byteOffset, body.length / 4)]);
      this.#buffers.give(lent);
      return taken;
    }
    const failure = readFailure(body);
    if (failure === null || status === 200) throw new PeerError(`${peer.name} answers with something else`);
    const error = reviveError(failure);
    // No other peer could mend an error of the caller or a deadline that has passed.
    if (error.blame === "caller" || error instanceof DeadlineError) throw located(error, indices);
    throw new PeerError(`${peer.name}: ${error.message}`);
  }
}

/** Parts of a query that are under way at a time: each has a connection. */
const MOST_PARTS = 64;

/**
 * Runs parts side by side and waits until none runs. An error of the service aborts the other parts; errors of the
 * caller do not, because the one at the first point is that of the query.
 *
 * @throws the error of the query
 */
async function runAll<P, T>(
  { signal }: SharingControl,
  parts: readonly P[],
  run: (part: P, signal: AbortSignal) => Promise<T>,
): Promise<T[]> {
  const end = new AbortController();
  const both = AbortSignal.any([signal, end.signal]);
  const done: T[] = [];
  const errors: { readonly index: number; readonly error: FieldprobeError }[] = [];
  const waiting = parts.values();
  const lane = async (): Promise<void> => {
    for (const part of waiting) {
      try {
        done.push(await run(part, both));
      } catch (error) {
        const known = error instanceof FieldprobeError ? error : new WorkerError(undefined, error);
        const index = known.blame === "server" ? -1 : (pointIn(known)?.index ?? 0);
        errors.push({ index, error: known });
        if (index < 0) return end.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(MOST_PARTS, parts.length) }, lane));
  if (signal.aborted) throw new CancelledError();
  const [worst] = errors.sort((one, other) => one.index - other.index);
  if (worst !== undefined) throw worst.error;
  return done;
}

/** The point that an error names, and the words behind it. */
function pointIn({ context }: FieldprobeError): { readonly index: number; readonly rest: string } | null {
  const [, digits, rest = ""] = /^points\[(\d+)\](.*)$/.exec(context.member ?? "") ?? [];
  return digits === undefined ? null : { index: Number(digits), rest };
}

/** Turns an error of a part into one of the query: it replaces the index of the point that the error names. */
function located(error: unknown, indices: Uint32Array): unknown {
  const point = error instanceof FieldprobeError ? pointIn(error) : null;
  if (!(error instanceof FieldprobeError) || point === null) return error;
  const context = { ...error.context, member: `points[${indices[point.index] ?? 0}]${point.rest}` };
  return new FieldprobeError(error.code, error.message, context, error.cause);
}

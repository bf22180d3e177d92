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
import type { NodeRegion } from "../engine/node-region.js";
import { valuesPerPoint } from "../engine/plan/by-arrival.js";
import { BufferPool } from "../engine/points/buffers.js";
import { frameShift } from "../engine/points/positions.js";
import { type Engine, type PieceCounts, type Query, type RegionCounts, writeTriples } from "../engine/query.js";
import type { SharedPoints, Sharing, SharingControl } from "../engine/sharing.js";
import type { Slab } from "../engine/task.js";
import { reviveError } from "../engine/threads/errors-as-data.js";
import { CancelledError, DeadlineError, FieldprobeError, WorkerError } from "../errors.js";
import type { Hits } from "../kernels/threshold.js";
import { frameWeights } from "../kernels/time.js";
import { FIELDS } from "../operations.js";
import type { Bricking, Dataset, FieldSource } from "../storage/dataset.js";
import { reasonOf } from "../system-error.js";
import { version } from "../version.js";
import { Generations } from "./generation.js";
import { readKeys, readPeers } from "./keys.js";
import { Listener, type RegionLists } from "./listener.js";
import { boxesOf, boxQuery, hitsIn, type OwnedBox, partOf, placeBox } from "./owned-boxes.js";
import { type Peer, PeerError, Peers } from "./peers.js";
import { OCTETS, type PeerReport, PIECE_HEADER, PIECE_PATH, type Piece, readFailure, writePiece } from "./piece.js";
import { cutPoints, mergeValues, type Portion } from "./portions.js";
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

/** The values of a part, or of a query. */
interface PartValues {
  readonly parts: readonly Float32Array[];
  /** Gives the memory of the parts back. */
  release(): void;
}

/** A part of a query for one process. */
interface QueryPart {
  readonly query: Query;
  readonly dataset: Dataset;
  readonly triples: Float32Array;
  readonly velocities: Float32Array;
  /** Bytes of the answer; null for a search, whose answer has any length. */
  readonly bytes: number | null;
  /** Divides the part again, among the peers that are not in `without`. */
  divideAgain(without: ReadonlySet<Peer>, control: SharingControl): Promise<PartValues>;
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
  readonly #counts: { -readonly [K in keyof PieceCounts]: number } = {
    own: 0,
    asked: 0,
    refused: 0,
    late: 0,
    answered: 0,
  };
  #engine: Engine | null = null;
  #listener: Listener | null = null;

  /** @throws ConfigError when its keys or its peers cannot be used */
  constructor(config: Config, log: Logger) {
    this.#config = config;
    this.#log = log;
    this.#generations = new Generations(this.#build, config.fd8Legacy);
    const keys = readKeys(config.cluster);
    const names = readPeers(config.cluster.peers ?? []);
    this.#peers = new Peers({ names, keys, id: this.#id, build: this.#build, log });
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
      regions: () => this.#regionLists(),
      answered: () => {
        this.#counts.answered++;
      },
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
    const distribution = this.#peers.hasOthers ? this.#distributionOf(checked) : null;
    if (distribution === null || count === 0) return false;
    if (distribution.large) return true;
    return checked.region === null ? workOf(checked, count) >= LEAST_WORK : count >= LEAST_NODES;
  }

  async evaluate(checked: CheckedQuery, work: SharedPoints, control: SharingControl): Promise<void> {
    await this.#eachPortion(checked, work, control, NO_PEERS);
  }

  async search(checked: CheckedQuery, region: NodeRegion, control: SharingControl): Promise<readonly Hits[]> {
    const found: Hits[] = [];
    await this.#eachBox(checked, region, control, null, NO_PEERS, (_, parts) => {
      for (const records of parts) found.push(hitsIn(records));
    });
    return found;
  }

  async cutout(checked: CheckedQuery, region: NodeRegion, out: Float32Array, control: SharingControl): Promise<void> {
    const components = FIELDS[region.field];
    await this.#eachBox(checked, region, control, components, NO_PEERS, (box, parts) =>
      placeBox(parts, box, region, components, out),
    );
  }

  status(): ReturnType<Sharing["status"]> {
    return { peers: this.#peers.states(), pieces: this.#counts };
  }

  regions(): RegionCounts {
    const counts = { owned: 0, cached: 0 };
    for (const { owned, cached } of Object.values(this.#regionLists())) {
      counts.owned += owned.length;
      counts.cached += cached.length;
    }
    return counts;
  }

  reload(): void {
    try {
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
  #distributionOf({ query, dataset, fields, region, operation }: CheckedQuery): Distribution | null {
    // `owned-boxes.ts` cannot divide boxes that cross a periodic seam, as those of `nodes` may: they are not divided.
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

  /** By dataset: the regions that this process owns, and those of which its cache holds more than half. */
  #regionLists(): RegionLists {
    const engine = this.#engine as Engine;
    const held = engine.held();
    const divided = engine.datasets().flatMap((dataset): [string, RegionLists[string]][] => {
      const [main] = Object.values(dataset.fields);
      const regions = main === undefined ? null : this.#regionsOf(dataset, main.bricking);
      if (regions === null || regions.size < this.#peers.list.length) return [];
      const { list, owners } = this.#ownersIn(regions, dataset, 0, NO_PEERS);
      const mine = list.findIndex((peer) => this.#peers.isSelf(peer));
      const owned = Array.from(owners.keys()).filter((region) => owners[region] === mine);
      const cached = held.flatMap(({ dataset: one, field, bricks }) => {
        if (one !== dataset) return [];
        const { bricking } = dataset.fields[field] as FieldSource;
        return regionsIn(this.#regionsOf(dataset, bricking), bricking, bricks);
      });
      return [[dataset.name, { owned, cached: [...new Set(cached)] }]];
    });
    return Object.fromEntries(divided);
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

  /** Divides points into portions, has each evaluated by its owner and puts the values in their places. */
  async #eachPortion(
    checked: CheckedQuery,
    work: SharedPoints,
    control: SharingControl,
    without: ReadonlySet<Peer>,
  ): Promise<void> {
    const { dataset, regions } = this.#distributionOf(checked) as Distribution;
    const time = checked.query.time ?? checked.query.StartTime ?? 0;
    const { list, owners } = this.#ownersIn(regions, dataset, time, without);
    const shift = frameShift(dataset.frameVelocity, time);
    const lent: SharedArrayBuffer[] = [];
    const room = (bytes: number): SharedArrayBuffer => {
      const buffer = this.#buffers.take(bytes);
      lent.push(buffer);
      return buffer;
    };
    const width = valuesPerPoint(checked);
    const portions = await cutPoints(regions, owners, work, shift, room);
    await runAll(control, portions, async (portion, signal) => {
      const { owner, triples, velocities, count, indices } = portion;
      const bytes = 4 * width * count;
      const slabs = (values: Float32Array): readonly Slab[] => (values.length > 0 ? [{ triples: values, count }] : []);
      const divideAgain: QueryPart["divideAgain"] = async (excluded, given) => {
        const buffer = this.#buffers.take(bytes);
        const out = new Float32Array(buffer, 0, width * count);
        const points = { points: slabs(triples), velocities: slabs(velocities), count, out };
        await this.#eachPortion(checked, points, given, excluded);
        return { parts: [out], release: () => this.#buffers.give(buffer) };
      };
      const part = { query: checked.query, dataset, triples, velocities, bytes, divideAgain };
      try {
        const answer = await this.#evaluatePart(list[owner], part, { ...control, signal }, without);
        mergeValues(answer.parts, indices, width, work.out);
        answer.release();
      } catch (error) {
        throw located(error, portion);
      }
    });
    for (const buffer of lent) this.#buffers.give(buffer);
  }

  /**
   * Divides a region of nodes into boxes and has each evaluated by its owner.
   *
   * @param components values of a node in a cutout; null for a search, whose records are hits
   * @param take       receives the values of a box, which last until it returns
   */
  async #eachBox(
    checked: CheckedQuery,
    region: NodeRegion,
    control: SharingControl,
    components: number | null,
    without: ReadonlySet<Peer>,
    take: (box: OwnedBox, parts: readonly Float32Array[]) => void,
  ): Promise<void> {
    const { dataset, regions } = this.#distributionOf(checked) as Distribution;
    const { list, owners } = this.#ownersIn(regions, dataset, checked.query.time ?? 0, without);
    await runAll(control, boxesOf(regions, owners, region), async (box, signal) => {
      const values = components === null ? null : components * box.count[0] * box.count[1] * box.count[2];
      const inner = partOf(region, box);
      const divideAgain: QueryPart["divideAgain"] = async (excluded, given) => {
        const out = new Float32Array(values ?? 0);
        const found: Float32Array[] = components === null ? [] : [out];
        await this.#eachBox(checked, inner, given, components, excluded, (small, parts) => {
          if (components === null) found.push(...parts.map((records) => records.slice()));
          else placeBox(parts, small, inner, components, out);
        });
        return { parts: found, release: () => undefined };
      };
      const none = new Float32Array(0);
      const query = boxQuery(checked.query, region, box);
      const bytes = values === null ? null : 4 * values;
      const part = { query, dataset, triples: none, velocities: none, bytes, divideAgain };
      const answer = await this.#evaluatePart(list[box.owner], part, { ...control, signal }, without);
      take(box, answer.parts);
      answer.release();
    });
  }

  /**
   * Has a part evaluated by its owner. If the owner refuses it, is lost or is late, the part is divided again among the
   * owners that its regions have without that peer; every process of the cluster finds the same ones.
   *
   * @param peer    the owner; undefined where no peer is usable
   * @param without peers that have been asked for the part already
   */
  async #evaluatePart(
    peer: Peer | undefined,
    part: QueryPart,
    control: SharingControl,
    without: ReadonlySet<Peer>,
  ): Promise<PartValues> {
    const isHere = peer === undefined || this.#peers.isSelf(peer) || without.size === MOST_ASKED;
    // A digest of files that are new here may take a while: it is made before the clock of the peer starts.
    const generation = isHere ? null : await this.#generationOf(part.dataset);
    if (peer === undefined || generation === null) {
      this.#counts.own++;
      return this.#evaluateHere(part, control);
    }
    this.#counts.asked++;
    const excluded = new Set([...without, peer]);
    const end = new AbortController();
    const signal = AbortSignal.any([control.signal, end.signal]);
    try {
      const asked = this.#ask(peer, part, generation, control.deadline, signal);
      const answer = await Promise.race([asked, this.#late(peer, control.deadline, signal)]);
      if (answer !== null) return answer;
      this.#counts.late++;
      const instead = part.divideAgain(excluded, { ...control, signal });
      return await Promise.any([asked, instead]).catch(() => instead);
    } catch (error) {
      if (!(error instanceof PeerError)) throw error;
      this.#counts.refused++;
      this.#log.debug({ peer: peer.name, reason: error.message }, "piece evaluated by others");
      return await part.divideAgain(excluded, control);
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
  async #evaluateHere(
    { query, dataset, triples, velocities }: QueryPart,
    { deadline, signal, client }: SharingControl,
  ): Promise<PartValues> {
    const deadlineMs = Math.max(1, deadline - Date.now());
    const evaluation = (this.#engine as Engine).start(query, { dataset, deadlineMs, signal, client, alone: true });
    writeTriples(evaluation.points, triples);
    writeTriples(evaluation.velocities, velocities);
    const result = await evaluation.finish();
    if (!result.stream) return { parts: result.values, release: () => result.release() };
    try {
      const parts: Float32Array[] = [];
      for await (const some of result.stream) parts.push(some.slice());
      return { parts, release: () => undefined };
    } finally {
      result.release();
    }
  }

  /**
   * Asks a peer for a part, as one piece.
   *
   * @throws PeerError where another process may succeed, or the error of the query
   */
  async #ask(
    peer: Peer,
    part: QueryPart,
    generation: string,
    deadline: number,
    signal: AbortSignal,
  ): Promise<PartValues> {
    const { query, dataset, triples, velocities, bytes } = part;
    const piece: Piece = {
      generation,
      query: { ...(query as Piece["query"]), dataset: dataset.name },
      points: triples.length / 3,
      velocities: velocities.length > 0,
      deadlineMs: Math.max(1, deadline - Date.now()),
    };
    const headers = {
      "content-type": OCTETS,
      "content-length": triples.byteLength + velocities.byteLength,
      [PIECE_HEADER]: writePiece(piece),
    };
    const lent = bytes === null ? null : this.#buffers.take(bytes);
    const into = lent === null ? {} : { into: new Uint8Array(lent, 0, bytes as number) };
    const request = { method: "POST", path: PIECE_PATH, headers, body: [triples, velocities], signal } as const;
    const { status, type, body } = await this.#peers.ask(peer, { ...request, ...into });
    if (status === 200 && type === OCTETS && body.length === (bytes ?? body.length) && body.length % 4 === 0) {
      const values = new Float32Array(body.buffer, body.byteOffset, body.length / 4);
      return { parts: [values], release: () => lent !== null && this.#buffers.give(lent) };
    }
    const failure = readFailure(body);
    if (failure === null || status === 200) throw new PeerError(`${peer.name} answers with something else`);
    const error = reviveError(failure);
    // No other peer could mend an error of the caller or a deadline that has passed.
    if (error.blame === "caller" || error instanceof DeadlineError) throw error;
    throw new PeerError(`${peer.name}: ${error.message}`);
  }

  /** The generation of a dataset; null where its files cannot be read here: no peer can then show to have the same. */
  async #generationOf(dataset: Dataset): Promise<string | null> {
    try {
      return await this.#generations.of(dataset);
    } catch (error) {
      this.#log.debug({ dataset: dataset.name, reason: reasonOf(error) }, "the generation is not known");
      return null;
    }
  }
}

/**
 * Runs all parts at a time and waits until none runs. An error of the service aborts the other parts; errors of the
 * caller do not, because the one at the first point is that of the query.
 *
 * @throws the error of the query
 */
async function runAll<T>(
  { signal }: SharingControl,
  parts: readonly T[],
  run: (part: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const end = new AbortController();
  let worst: { readonly index: number; readonly error: FieldprobeError } | null = null;
  await Promise.all(
    parts.map(async (part) => {
      try {
        await run(part, AbortSignal.any([signal, end.signal]));
      } catch (error) {
        const known = error instanceof FieldprobeError ? error : new WorkerError(undefined, error);
        const index =
          known.blame === "server" ? -1 : Number(/^points\[(\d+)\]/.exec(known.context.member ?? "")?.[1] ?? 0);
        if (worst === null || index < worst.index) worst = { index, error: known };
        if (index < 0) end.abort();
      }
    }),
  );
  if (signal.aborted) throw new CancelledError();
  if (worst !== null) throw (worst as { error: FieldprobeError }).error;
}

/** Turns an error of a portion into one of the query: it replaces the index of the point that the error names. */
function located(error: unknown, { indices }: Portion): unknown {
  if (!(error instanceof FieldprobeError)) return error;
  const [, digits, rest] = /^points\[(\d+)\](.*)$/.exec(error.context.member ?? "") ?? [];
  if (digits === undefined) return error;
  const context = { ...error.context, member: `points[${indices[Number(digits)] ?? 0}]${rest}` };
  return new FieldprobeError(error.code, error.message, context, error.cause);
}

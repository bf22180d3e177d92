/**
 * A cluster divides large queries: each region of the data has one owner among the peers, every owner gets its part of a query as one
 * piece, and the answers are merged. What a peer does not answer this process evaluates itself.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Logger } from "pino";
import type { Config } from "../config.js";
import { type CheckedQuery, workOf } from "../engine/check.js";
import { valuesPerPoint } from "../engine/plan/by-arrival.js";
import { BufferPool } from "../engine/points/buffers.js";
import { frameShift } from "../engine/points/positions.js";
import type { Engine, PieceCounts, Query } from "../engine/query.js";
import type { Region } from "../engine/region.js";
import type { SharedPoints, Sharing, SharingControl } from "../engine/sharing.js";
import { reviveError } from "../engine/threads/errors-as-data.js";
import { CancelledError, DeadlineError, FieldprobeError, WorkerError } from "../errors.js";
import type { Hits } from "../kernels/threshold.js";
import { frameWeights } from "../kernels/time.js";
import { FIELDS } from "../operations.js";
import type { Bricking, Dataset } from "../storage/dataset.js";
import { reasonOf } from "../system-error.js";
import { version } from "../version.js";
import { type Box, boxesOf, boxQuery, hitsIn, placeBox } from "./boxes.js";
import { digestBuild, Generations } from "./generation.js";
import { readKeys, readPeers } from "./keys.js";
import { Listener } from "./listener.js";
import { type Peer, PeerError, Peers } from "./peers.js";
import { OCTETS, PIECE_HEADER, PIECE_PATH, type Piece, readFailure, writePiece } from "./piece.js";
import { cutPoints, mergeValues, type Portion } from "./portions.js";
import { hashText, ownersOf, type Regions, regionsOf } from "./regions.js";

/** Evaluations of a field at a point that pay for dividing a query on data that every process can cache, and nodes of a region that do. */
const LEAST_WORK = 65_536;
const LEAST_NODES = 262_144;
/** Frames that have the same owners where there are fewer regions than peers. */
const CHUNK_FRAMES = 16;
/** Time after which this process evaluates a piece too that is not answered: so much, and so much an evaluation. */
const LATE = { ms: 3_000, msPerEvaluation: 0.05 } as const;

/** How the data of a query lies among the peers. */
interface Layout {
  readonly dataset: Dataset;
  readonly regions: Regions;
  /** Whether the dataset is larger than the cache of one process. */
  readonly large: boolean;
}

/** A part of a query for one process. */
interface Part {
  readonly query: Query;
  readonly dataset: Dataset;
  readonly triples: Float32Array;
  readonly velocities: Float32Array;
  /** Bytes of the answer; null where only the answer says. */
  readonly bytes: number | null;
  /** Evaluations of a field at a point. */
  readonly work: number;
}

/** This process as a member of its cluster. */
export class Cluster implements Sharing {
  readonly #config: Config;
  readonly #log: Logger;
  readonly #id = randomUUID();
  readonly #build = digestBuild();
  readonly #generations: Generations;
  readonly #peers: Peers;
  readonly #buffers = new BufferPool();
  readonly #regions = new WeakMap<Bricking, Regions>();
  readonly #owners = new WeakMap<Regions, { key: string; owners: Uint8Array }>();
  readonly #counts: { -readonly [K in keyof PieceCounts]: number } = { own: 0, asked: 0, refused: 0, late: 0 };
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

  /** Listens for pieces; before, this process only asks. @throws the error of the system */
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
      status: () => {
        const { workers: threads, running, queued, cacheBytes: used, bytesRead: read } = engine.status();
        const cache = { bytes: this.#config.cacheBytes, used, read };
        return {
          id: this.#id,
          version,
          build: this.#build,
          threads,
          running,
          queued,
          cache,
          datasets: engine.datasets().length,
        };
      },
    });
    await this.#listener.listen();
  }

  divides(checked: CheckedQuery): boolean {
    return this.#layoutOf(checked) !== null;
  }

  pays(checked: CheckedQuery, count: number): boolean {
    const layout = this.#layoutOf(checked);
    if (layout === null || count === 0) return false;
    if (layout.large) return true;
    return checked.region === null ? workOf(checked, count) >= LEAST_WORK : count >= LEAST_NODES;
  }

  async evaluate(checked: CheckedQuery, work: SharedPoints, control: SharingControl): Promise<void> {
    const { dataset, regions } = this.#layoutOf(checked) as Layout;
    const time = checked.query.time ?? checked.query.StartTime ?? 0;
    const owners = this.#ownersIn(regions, dataset, time);
    const shift = frameShift(dataset.frameVelocity, time);
    const lent: SharedArrayBuffer[] = [];
    const room = (bytes: number): SharedArrayBuffer => {
      const buffer = this.#buffers.take(bytes);
      lent.push(buffer);
      return buffer;
    };
    const portions = await cutPoints(regions, owners, work, shift, room);
    const width = valuesPerPoint(checked);
    await all(control, portions, async (portion, signal) => {
      const { owner, triples, velocities, count, indices } = portion;
      const part = {
        query: checked.query,
        dataset,
        triples,
        velocities,
        bytes: 4 * width * count,
        work: workOf(checked, count),
      };
      try {
        await this.#run(owner, part, { ...control, signal }, (parts) => mergeValues(parts, indices, width, work.out));
      } catch (error) {
        throw located(error, portion);
      }
    });
    for (const buffer of lent) this.#buffers.give(buffer);
  }

  async search(checked: CheckedQuery, region: Region, control: SharingControl): Promise<readonly Hits[]> {
    const found: Hits[] = [];
    await this.#eachBox(checked, region, control, null, (_, parts) => {
      for (const records of parts) found.push(hitsIn(records));
    });
    return found;
  }

  async cutout(checked: CheckedQuery, region: Region, out: Float32Array, control: SharingControl): Promise<void> {
    const components = FIELDS[region.field];
    await this.#eachBox(checked, region, control, components, (box, parts) =>
      placeBox(parts, box, region, components, out),
    );
  }

  status(): ReturnType<Sharing["status"]> {
    return { peers: this.#peers.states(), pieces: this.#counts };
  }

  reload(): void {
    try {
      const keys = readKeys(this.#config.cluster);
      if (keys !== null) this.#listener?.rekey(keys);
      this.#peers.rekey(keys);
      this.#peers.replace(readPeers(this.#config.cluster.peers ?? []));
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

  /** The layout of a query's data; null where this process had better evaluate all of it. */
  #layoutOf({ query, dataset, fields, region, operation }: CheckedQuery): Layout | null {
    // Boxes of nodes that may cross the seam of the grid are cut here only.
    if (dataset === null || query.nodes !== undefined || !this.#peers.some) return null;
    const sources = fields.flatMap((name) => dataset.fields[name] ?? []);
    const [main] = sources;
    if (main === undefined) return null;
    const nodes = dataset.axes.reduce((product, axis) => product * axis.nodes, 1);
    const values = sources.reduce((sum, { components }) => sum + components, 0) * nodes * dataset.time.count;
    const large = 4 * values > this.#config.cacheBytes;
    const regions = this.#regions.get(main.bricking) ?? regionsOf(dataset.axes, main.bricking);
    this.#regions.set(main.bricking, regions);
    // A small dataset is cached everywhere; so is what a cutout copies of data that one process can cache.
    if (!large && (regions.size < this.#peers.list.length || (region !== null && operation.family === "cutout")))
      return null;
    return { dataset, regions, large };
  }

  /** The owners of the regions of a dataset at a time. */
  #ownersIn(regions: Regions, { name, time }: Dataset, at: number): Uint8Array {
    const { list, version } = this.#peers;
    const [frame = 0] = regions.size < list.length ? frameWeights(time, at, "None").frames : [0];
    const key = `${name} ${Math.floor(frame / CHUNK_FRAMES)}`;
    const known = this.#owners.get(regions);
    if (known?.key === `${key} ${version}`) return known.owners;
    const peers = list.map((peer) => ({ name: peer.name, usable: this.#peers.isUsable(peer) }));
    const owners = ownersOf(regions, peers, hashText(key) % list.length);
    this.#owners.set(regions, { key: `${key} ${version}`, owners });
    return owners;
  }

  /** Evaluates a part where it belongs, and here when nobody else does. @param take is given the answer while it is valid */
  async #run(
    owner: number,
    part: Part,
    control: SharingControl,
    use: (parts: readonly Float32Array[]) => void,
  ): Promise<void> {
    let taken = false;
    const take = (parts: readonly Float32Array[]): void => {
      if (!taken) use(parts);
      taken = true;
    };
    const peer = this.#peers.list[owner];
    if (peer === undefined || this.#peers.isSelf(peer)) {
      this.#counts.own++;
      await this.#alone(part, control, take);
      return;
    }
    const given = new AbortController();
    const signal = AbortSignal.any([control.signal, given.signal]);
    this.#counts.asked++;
    const lent = part.bytes === null ? null : this.#buffers.take(part.bytes);
    const into = new Uint8Array(lent ?? new ArrayBuffer(0), 0, part.bytes ?? 0);
    const asked = this.#ask(peer, part, into, control.deadline, signal);
    try {
      const late = delay(LATE.ms + LATE.msPerEvaluation * part.work, null, { signal });
      late.catch(() => undefined);
      const answer = await Promise.race([asked, late]);
      if (answer !== null) {
        take([answer]);
        if (lent !== null) this.#buffers.give(lent);
      } else {
        this.#counts.late++;
        asked.catch(() => undefined);
        const race = new AbortController();
        const here = this.#alone(part, { ...control, signal: AbortSignal.any([signal, race.signal]) }, take);
        const there = asked.then((values) => {
          take([values]);
          race.abort();
        });
        await Promise.any([here, there]).catch(() => here);
      }
    } catch (error) {
      if (!(error instanceof PeerError)) throw error;
      this.#counts.refused++;
      this.#log.debug({ peer: peer.name, reason: error.message }, "piece evaluated here");
      await this.#alone(part, control, take);
    } finally {
      given.abort();
    }
  }

  /** Evaluates a part on the threads of this process. */
  async #alone(
    { query, dataset, triples, velocities }: Part,
    { deadline, signal, client }: SharingControl,
    take: (parts: readonly Float32Array[]) => void,
  ): Promise<void> {
    const deadlineMs = Math.max(1, deadline - Date.now());
    const evaluation = (this.#engine as Engine).start(query, { dataset, deadlineMs, signal, client, alone: true });
    for (const [sink, values] of [
      [evaluation.points, triples],
      [evaluation.velocities, velocities],
    ] as const) {
      for (let at = 0; at < values.length; ) {
        const { slab } = sink;
        const part = values.subarray(at, at + slab.length);
        slab.set(part);
        sink.commit(part.length / 3);
        at += part.length;
      }
    }
    const result = await evaluation.finish();
    const parts: Float32Array[] = [];
    if (result.stream) for await (const part of result.stream) parts.push(part.slice());
    else parts.push(...result.values);
    take(parts);
    result.release();
  }

  /**
   * Asks a peer.
   *
   * @param into memory for the answer
   * @throws PeerError where this process may try, or the error of the query
   */
  async #ask(peer: Peer, part: Part, into: Uint8Array, deadline: number, signal: AbortSignal): Promise<Float32Array> {
    const { query, dataset, triples, velocities, bytes } = part;
    const piece: Piece = {
      generation: await this.#generationOf(dataset),
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
    const request = { method: "POST", path: PIECE_PATH, headers, body: [triples, velocities], into, signal } as const;
    const { status, type, body } = await this.#peers.ask(peer, request);
    if (status === 200 && type === OCTETS && body.length === (bytes ?? body.length) && body.length % 4 === 0)
      return new Float32Array(body.buffer, body.byteOffset, body.length / 4);
    const failure = readFailure(body);
    if (failure === null || status === 200) throw new PeerError(`${peer.name} answers with something else`);
    const error = reviveError(failure);
    // What a caller has done wrong, and time that is over, are the same everywhere.
    if (error.blame === "caller" || error instanceof DeadlineError) throw error;
    throw new PeerError(`${peer.name}: ${error.message}`);
  }

  async #generationOf(dataset: Dataset): Promise<string> {
    try {
      return await this.#generations.of(dataset);
    } catch (error) {
      throw new PeerError(`the generation of ${dataset.name} is not known: ${reasonOf(error)}`);
    }
  }

  /** Evaluates the boxes that a region of nodes is divided into by owner. @param components values a node; null: of hits */
  async #eachBox(
    checked: CheckedQuery,
    region: Region,
    control: SharingControl,
    components: number | null,
    take: (box: Box, parts: readonly Float32Array[]) => void,
  ): Promise<void> {
    const { dataset, regions } = this.#layoutOf(checked) as Layout;
    const owners = this.#ownersIn(regions, dataset, checked.query.time ?? 0);
    await all(control, boxesOf(regions, owners, region), async (box, signal) => {
      const nodes = box.count[0] * box.count[1] * box.count[2];
      const query = boxQuery(checked.query, region, box);
      const none = new Float32Array(0);
      const bytes = components === null ? null : 4 * components * nodes;
      const part = { query, dataset, triples: none, velocities: none, bytes, work: nodes };
      await this.#run(box.owner, part, { ...control, signal }, (parts) => take(box, parts));
    });
  }
}

/**
 * Waits for all parts. An error of this service ends the others; of the errors of the caller that of the first point counts.
 *
 * @throws the error of the query
 */
async function all<T>(
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

/** An error of a portion as one of the query: a point that it names gets its index in the query. */
function located(error: unknown, { indices }: Portion): unknown {
  if (!(error instanceof FieldprobeError)) return error;
  const [, digits, rest] = /^points\[(\d+)\](.*)$/.exec(error.context.member ?? "") ?? [];
  if (digits === undefined) return error;
  const context = { ...error.context, member: `points[${indices[Number(digits)] ?? 0}]${rest}` };
  return new FieldprobeError(error.code, error.message, context, error.cause);
}

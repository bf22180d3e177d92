/**
 * An owner answers pieces for other processes, evaluated by this process alone. It listens to one subject for each
 * dataset. The name of the subject contains the dataset's generation, so processes with other code, settings or bytes
 * send their pieces elsewhere.
 */
import { createHash } from "node:crypto";
import type { Msg, NatsConnection, Subscription } from "@nats-io/transport-node";
import type { Logger } from "pino";
import { failureOf } from "../engine/contract/errors-as-data.js";
import type { Engine, Query, RegionBox } from "../engine/contract/query.js";
import type { ReducedParts } from "../engine/contract/reduced-parts.js";
import type { Failure } from "../engine/contract/task.js";
import { InProgress } from "../engine/main/drain.js";
import { BusyError, CancelledError, FieldprobeError, RequestError, WorkerError } from "../errors.js";
import { ROOT } from "../nats-options.js";
import { DatasetDigests } from "../storage/catalog/dataset-digest.js";
import type { Dataset } from "../storage/file/dataset.js";
import { type Exchange, type Received, read } from "./exchange.js";

/** Bytes of points above which a process takes no more pieces. */
const HELD_BYTES = 256 * 1024 * 1024;

/** The head of a piece: the part of a query that one process asks another one for. Its points are the body. */
export interface Piece {
  /** Names it, so that it can be ended. */
  readonly key: string;
  readonly query: Query;
  /** Searches and cutouts: the part of their nodes. */
  readonly box: RegionBox | null;
  /** Reductions: the parts whose states are the answer. */
  readonly parts: ReducedParts | null;
  readonly points: number;
  readonly deadlineMs: number;
}

/** The head of its answer, whose body is the values. */
export interface PieceAnswer {
  readonly failure: Failure | null;
}

/** The subject of pieces of a dataset for a process. */
export function pieceSubject(generation: string, id: string): string {
  return `${ROOT}.piece.${generation}.${id}`;
}

/** A dataset of which pieces are answered, and its generation here. */
interface ServedDataset {
  readonly dataset: Dataset;
  readonly generation: string;
  readonly verified: boolean;
  subscription: Subscription | null;
}

/** Answers pieces. */
export class Owner {
  readonly #engine: Engine;
  readonly #log: Logger;
  /** What values depend on besides a dataset. */
  readonly #common: string;
  readonly #digests: DatasetDigests;
  /** By the name of the dataset. */
  readonly #served = new Map<string, ServedDataset>();
  readonly #pieces = new InProgress<Piece>();
  readonly #aborts = new Map<string, () => void>();
  #link: { readonly connection: NatsConnection; readonly exchange: Exchange; readonly id: string } | null = null;
  #isComputing = false;
  #heldBytes = 0;
  /** Counts the changes of what `announced` returns. */
  revision = 0;
  answered = 0;

  /** @param common the code and the settings that change numbers */
  constructor(engine: Engine, state: string, common: string, log: Logger) {
    this.#engine = engine;
    this.#log = log;
    this.#common = common;
    this.#digests = new DatasetDigests(state);
  }

  /** Samples of files read for digests so far: a sign of progress. */
  get samples(): number {
    return this.#digests.samples;
  }

  /** The generation of a dataset; null as long as it is not known. */
  of(dataset: Dataset): string | null {
    const known = this.#served.get(dataset.name);
    return known?.dataset === dataset ? known.generation : null;
  }

  /** All generations, and the datasets whose bytes were not compared in full. */
  announced(): { readonly generations: Record<string, string>; readonly unverified: string[] } {
    const all = [...this.#served];
    const unverified = all.filter(([, { verified }]) => !verified).map(([name]) => name);
    return { generations: Object.fromEntries(all.map(([name, { generation }]) => [name, generation])), unverified };
  }

  /** Listens on a new connection. */
  join(connection: NatsConnection, exchange: Exchange, id: string): void {
    this.#link = { connection, exchange, id };
    connection.subscribe(`${ROOT}.end.${id}`, {
      callback: (_, message) => this.#aborts.get(message.string())?.(),
    });
    for (const served of this.#served.values()) this.#listen(served);
    this.refresh();
  }

  leave(): void {
    this.#link = null;
    for (const abort of this.#aborts.values()) abort();
  }

  /** Takes no more pieces; resolves once those taken are answered or the time is over. */
  async drain(graceMs: number): Promise<void> {
    for (const { subscription } of this.#served.values()) subscription?.unsubscribe();
    await this.#pieces.drain(graceMs);
  }

  /** Compares the datasets with those whose generations are known, and computes what is missing, one by one. */
  refresh(): void {
    const datasets = this.#engine.datasets();
    for (const [name, { dataset, subscription }] of this.#served)
      if (this.#engine.find(name) !== dataset) {
        subscription?.unsubscribe();
        this.#served.delete(name);
        this.revision++;
      }
    const missing = datasets.find(({ name }) => !this.#served.has(name));
    if (missing === undefined || this.#isComputing) return;
    this.#isComputing = true;
    void this.#compute(datasets).finally(() => {
      this.#isComputing = false;
    });
  }

  async #compute(datasets: readonly Dataset[]): Promise<void> {
    for (const dataset of datasets) {
      const { name } = dataset;
      if (this.#served.has(name)) continue;
      try {
        const { digest, verified } = await this.#digests.of(dataset);
        const generation = createHash("sha256").update(this.#common).update(digest).digest("hex").slice(0, 32);
        const served = { dataset, generation, verified, subscription: null };
        this.#served.set(name, served);
        this.#listen(served);
        this.revision++;
        if (!verified)
          this.#log.warn({ dataset: name }, "unverified copy: only samples are compared; see fieldprobe check");
      } catch {
        // Files that cannot be read cannot be compared with those of others. The next look tries again.
      }
    }
  }

  #listen(served: ServedDataset): void {
    if (this.#link === null) return;
    const { connection, exchange, id } = this.#link;
    const callback = (error: Error | null, message: Msg): void => {
      if (error === null) void this.#answer(served, exchange, message);
    };
    served.subscription = connection.subscribe(pieceSubject(served.generation, id), { callback });
  }

  async #answer(served: ServedDataset, exchange: Exchange, message: Msg): Promise<void> {
    const end = new AbortController();
    let release = (): void => undefined;
    try {
      const piece = read<Piece>(message);
      this.#aborts.set(piece.head.key, () => end.abort(new CancelledError()));
      const timer = setTimeout(() => end.abort(new CancelledError()), piece.head.deadlineMs);
      const place = this.#pieces.add(piece.head);
      this.#heldBytes += piece.bytes;
      try {
        const result = await this.#evaluate(served, exchange, piece, end.signal);
        release = result.release;
        const values = result.values.map(
          ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
        );
        await exchange.answer(message, { failure: null } satisfies PieceAnswer, values, end.signal);
        this.answered++;
      } finally {
        clearTimeout(timer);
        this.#heldBytes -= piece.bytes;
        this.#pieces.delete(place);
        this.#aborts.delete(piece.head.key);
      }
    } catch (error) {
      const known = error instanceof FieldprobeError ? error : new WorkerError(undefined, error);
      if (known !== error) this.#log.error({ err: error }, "a piece failed");
      await exchange.answer(message, { failure: failureOf(known) }, [], end.signal);
    } finally {
      release();
    }
  }

  async #evaluate(
    { dataset }: ServedDataset,
    exchange: Exchange,
    piece: Received<Piece>,
    signal: AbortSignal,
  ): Promise<{ readonly values: Float32Array[]; release(): void }> {
    const { query, box, parts, points, deadlineMs } = piece.head;
    const pointBytes = 12 * points;
    if (this.#engine.find(dataset.name) !== dataset) throw new BusyError("This dataset has just been replaced.");
    if (this.#heldBytes > HELD_BYTES) throw new BusyError("This process has more pieces than it can hold.");
    const evaluation = this.#engine.start(query, { dataset, deadlineMs, box, parts, points, alone: true, signal });
    const { points: into, velocities } = evaluation;
    const write = (bytes: Uint8Array, at: number): void => {
      const here = Math.min(bytes.length, Math.max(0, pointBytes - at));
      // The slabs are read again each time: an abort replaces them.
      if (here > 0) bytesOf(into.slab).set(bytes.subarray(0, here), at);
      if (here < bytes.length) bytesOf(velocities.slab).set(bytes.subarray(here), at + here - pointBytes);
    };
    try {
      if (pointBytes > into.slab.byteLength || (piece.bytes > pointBytes && pointBytes > velocities.slab.byteLength))
        throw new RequestError("InvalidRequest", "The piece has points that its operation does not accept.");
      await exchange.receive(piece, write, signal);
      velocities.commit((piece.bytes - pointBytes) / 12);
      // Points last: with them the query is complete and begins.
      into.commit(points);
    } catch (error) {
      evaluation.abort();
      throw error;
    }
    const result = await evaluation.finish();
    try {
      const values = [...result.values];
      for await (const some of result.stream ?? []) values.push(some.slice());
      return { values, release: () => result.release() };
    } catch (error) {
      result.release();
      throw error;
    }
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/**
 * Answers pieces of other processes. Subjects contain the version of the dataset, so that processes with other code,
 * settings or bytes do not share pieces.
 */
import { createHash } from "node:crypto";
import type { Subscription } from "@nats-io/transport-node";
import type { Logger } from "pino";
import { failureOf } from "../engine/contract/errors-as-data.js";
import type { Engine, Evaluation, Query, RegionBox, StartControl } from "../engine/contract/query.js";
import type { ReducedParts } from "../engine/contract/reduced-parts.js";
import type { Failure } from "../engine/contract/task.js";
import { BusyError, FieldprobeError, RequestError, WorkerError } from "../shared/errors.js";
import { DatasetDigests } from "../storage/catalog/dataset-digest.js";
import type { Dataset } from "../storage/dataset/dataset.js";
import type { Exchange, Received } from "./exchange.js";
import { generationOfAll } from "./members.js";

/** Bytes of points above which a process refuses further pieces. */
const HELD_BYTES = 256 * 1024 * 1024;

/** Header of a piece, the part of a query that one process evaluates. Its body has the points. */
export interface Piece {
  readonly query: Query;
  readonly box: RegionBox | null;
  readonly parts: ReducedParts | null;
  readonly points: number;
  readonly deadlineMs: number;
}

export interface PieceAnswer {
  readonly failure: Failure | null;
}

interface PieceValues {
  readonly values: readonly Float32Array[];
  release(): void;
}

interface ServedDataset {
  readonly dataset: Dataset;
  readonly version: string;
  readonly verified: boolean;
  subscription: Subscription | null;
}

export class Owner {
  readonly #engine: Engine;
  readonly #log: Logger;
  /** Code and settings that values depend on besides the dataset. */
  readonly #common: string;
  readonly #digests: DatasetDigests;
  readonly #served = new Map<string, ServedDataset>();
  #exchange: Exchange | null = null;
  #isComputing = false;
  #heldBytes = 0;
  revision = 0;
  answered = 0;

  /** @param common the code and the settings that change numbers */
  constructor(engine: Engine, state: string, common: string, log: Logger) {
    this.#engine = engine;
    this.#log = log;
    this.#common = common;
    this.#digests = new DatasetDigests(state);
  }

  get samples(): number {
    return this.#digests.samples;
  }

  of(dataset: Dataset): string | null {
    const known = this.#served.get(dataset.name);
    return known?.dataset === dataset ? known.version : null;
  }

  ofAll(): string | null {
    const { generations } = this.announced();
    return this.#engine.datasets().every(({ name }) => name in generations) ? generationOfAll(generations) : null;
  }

  announced(): { readonly generations: Record<string, string>; readonly unverified: string[] } {
    const all = [...this.#served];
    const unverified = all.filter(([, { verified }]) => !verified).map(([name]) => name);
    return { generations: Object.fromEntries(all.map(([name, { version }]) => [name, version])), unverified };
  }

  join(exchange: Exchange): void {
    this.#exchange = exchange;
    for (const served of this.#served.values()) this.#listen(served);
    this.refresh();
  }

  leave(): void {
    this.#exchange?.close();
    this.#exchange = null;
  }

  drain(): void {
    for (const { subscription } of this.#served.values()) subscription?.unsubscribe();
  }

  /** Compares the datasets with the announced versions, and computes missing versions one by one. */
  refresh(): void {
    const datasets = this.#engine.datasets();
    for (const [name, { dataset, subscription }] of this.#served)
      if (!datasets.includes(dataset)) {
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
        const version = createHash("sha256").update(this.#common).update(digest).digest("hex").slice(0, 32);
        const served = { dataset, version, verified, subscription: null };
        this.#served.set(name, served);
        this.#listen(served);
        this.revision++;
        if (!verified)
          this.#log.warn({ dataset: name }, "unverified copy: only samples are compared; see fieldprobe check");
      } catch {
        // A dataset that cannot be read now is tried again at the next refresh.
      }
    }
  }

  #listen(served: ServedDataset): void {
    const exchange = this.#exchange;
    if (exchange === null) return;
    served.subscription = exchange.listen<Piece>(served.version, async (piece, signal, send) => {
      this.#heldBytes += piece.bytes;
      try {
        const { values, release } = await this.#evaluate(served.dataset, exchange, piece, signal);
        this.answered++;
        await send({ failure: null } satisfies PieceAnswer, values.map(bytesOf)).finally(release);
      } catch (error) {
        const known = error instanceof FieldprobeError ? error : new WorkerError(undefined, error);
        if (known !== error) this.#log.error({ err: error }, "a piece failed");
        await send({ failure: failureOf(known) } satisfies PieceAnswer, []);
      } finally {
        this.#heldBytes -= piece.bytes;
      }
    });
  }

  #evaluate(dataset: Dataset, exchange: Exchange, piece: Received<Piece>, signal: AbortSignal): Promise<PieceValues> {
    if (!this.#engine.datasets().includes(dataset)) throw new BusyError("This dataset has just been replaced.");
    if (this.#heldBytes > HELD_BYTES) throw new BusyError("This process has more pieces than it can hold.");
    const pointBytes = 12 * piece.head.points;
    return evaluatePiece(this.#engine, piece.head, { dataset, signal }, async ({ points, velocities }) => {
      if (pointBytes > points.slab.byteLength || (piece.bytes > pointBytes && pointBytes > velocities.slab.byteLength))
        throw new RequestError("InvalidRequest", "The piece has points that its operation does not accept.");
      const write = (bytes: Uint8Array, at: number): void => {
        const here = Math.min(bytes.length, Math.max(0, pointBytes - at));
        // The slabs are read again each time, since an abort replaces them.
        if (here > 0) bytesOf(points.slab).set(bytes.subarray(0, here), at);
        if (here < bytes.length) bytesOf(velocities.slab).set(bytes.subarray(here), at + here - pointBytes);
      };
      await exchange.receive(piece, write, signal);
      velocities.commit((piece.bytes - pointBytes) / 12);
      // The points are committed last: with them the query is complete and starts.
      points.commit(piece.head.points);
    });
  }
}

export async function evaluatePiece(
  engine: Engine,
  { query, box, parts, points, deadlineMs }: Piece,
  control: StartControl,
  write: (evaluation: Evaluation) => Promise<void> | void,
): Promise<PieceValues> {
  const evaluation = engine.start(query, { ...control, deadlineMs, box, parts, points, alone: true });
  try {
    await write(evaluation);
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

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

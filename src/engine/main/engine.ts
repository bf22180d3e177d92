/** The engine: the catalogue of datasets, and queries that run on a thread pool. */
import type { Logger } from "pino";
import { type Config, descriptorFolder } from "../../shared/config.js";
import { BusyError, FieldprobeError } from "../../shared/errors.js";
import { type Dataset, fieldNames, partsOfField, sourceNumber } from "../../storage/dataset/dataset.js";
import { type LevelSet, readExtrema, readHistograms } from "../../storage/levels/level-store.js";
import type { StorePort } from "../../storage/remote/store-port.js";
import type { DraftRequest } from "../../storage/tools/drafts.js";
import type { DraftView } from "../../storage/tools/report.js";
import { partOf } from "../contract/node-region.js";
import type {
  Engine,
  Evaluation,
  HeldBricks,
  LentMemory,
  MakeControl,
  Query,
  RegionBox,
  RegionCounts,
  RequestedLevels,
  SharedGenerations,
  StartControl,
  WaitingFile,
} from "../contract/query.js";
import { BufferPool } from "./buffers.js";
import { Catalog } from "./catalog.js";
import { type CheckedQuery, checkQuery } from "./check-query.js";
import { InProgress } from "./drain.js";
import { Execution } from "./execution.js";
import { createShare } from "./fair-queue.js";
import { makeLevels, weightsOf } from "./levels.js";
import { RegionExecution } from "./node-region-execution.js";
import { openPool } from "./pool.js";
import type { QueryContext } from "./query-life.js";
import { ScratchSpace } from "./scratch-space.js";
import type { Sharing } from "./sharing.js";
import { TextThreads } from "./text-threads.js";
import { runWithRetries, type ThreadPool } from "./thread-pool.js";

/**
 * Loads the catalogue and starts the engine, which closes `pool` and `sharing`.
 *
 * @returns the engine once every dataset has been verified; each refused one is a log line
 */
export async function openEngine(
  config: Config,
  log: Logger,
  pool: ThreadPool = openPool(config, log),
  sharing: Sharing | null = null,
): Promise<Engine> {
  const running = new InProgress<RunningQuery>();
  const catalog = new Catalog(config, pool, log, () => {
    const levels = catalog.datasets.flatMap((one) => catalog.levels.of(one)?.datasets[0] ?? []);
    const read = [...catalog.datasets, ...levels, ...[...running].flatMap(({ datasets }) => datasets)];
    // Files in stores have `newestMs`.
    const used = read.flatMap(({ files, location }) =>
      files.flatMap(({ path, newestMs }) => (newestMs === undefined ? [] : [path, location])),
    );
    pool.keepStores(new Set([...config.data, ...used]), used.length > 0);
  });
  try {
    await catalog.reload();
  } catch (error) {
    await pool.close();
    throw error;
  }
  catalog.watch();
  const engine = new FieldEngine(config, pool, catalog, sharing, running);
  sharing?.attach(engine);
  return engine;
}

interface RunningQuery {
  readonly execution: Evaluation;
  /** The datasets that it reads. */
  readonly datasets: readonly Dataset[];
}

class FieldEngine implements Engine {
  readonly #config: Config;
  readonly #pool: ThreadPool;
  readonly #catalog: Catalog;
  readonly #sharing: Sharing | null;
  readonly #context: QueryContext;
  readonly #running: InProgress<RunningQuery>;
  #pointsInFlight = 0;
  #closing = false;

  /** @param running receives the queries in progress */
  constructor(
    config: Config,
    pool: ThreadPool,
    catalog: Catalog,
    sharing: Sharing | null,
    running: InProgress<RunningQuery>,
  ) {
    this.#running = running;
    this.#config = config;
    this.#pool = pool;
    this.#catalog = catalog;
    this.#sharing = sharing;
    const buffers = new BufferPool();
    this.#context = {
      pool,
      sharing,
      buffers,
      textThreads: new TextThreads(pool, buffers),
      limits: config.limits,
      scratch: new ScratchSpace(config, buffers),
      sourceOf: (dataset) => catalog.sourceOf(dataset),
      numberCombination: () => catalog.numberCombination(),
      countPoints: (points) => {
        this.#pointsInFlight += points;
      },
      onError: (error) => {
        if (error instanceof FieldprobeError && error.code === "DataError") catalog.suspect();
      },
    };
  }

  datasets(): readonly Dataset[] {
    return this.#catalog.datasets;
  }

  find(name: string): Dataset | undefined {
    return this.#catalog.find(name);
  }

  levels(dataset: Dataset): LevelSet | null {
    return this.#catalog.levels.of(dataset);
  }

  levelExtrema = readExtrema;
  levelHistograms = readHistograms;
  levelWeights = weightsOf;

  async makeLevels(dataset: Dataset, quantities: readonly RequestedLevels[], control: MakeControl): Promise<LevelSet> {
    // One box more than there are workers: all of them read while a box is added.
    await makeLevels(this, dataset, this.#config.state, quantities, this.#pool.parallelism + 1, control);
    return this.levels(dataset) as LevelSet;
  }

  start(query: Query, control: StartControl): Evaluation {
    const { signal, dataset, alone = false, box = null, parts = null } = control;
    const abort = (): void => execution.abort();
    const ended = (): void => {
      this.#running.delete(place);
      signal?.removeEventListener("abort", abort);
    };
    const life = { ...control, deadlineMs: control.deadlineMs ?? this.#config.limits["query.deadlineMs"], ended };
    const checked = this.#check(query, dataset, alone, box);
    const context = alone ? { ...this.#context, sharing: null } : this.#context;
    const execution =
      checked instanceof FieldprobeError || checked.region === null
        ? new Execution(context, checked, life)
        : new RegionExecution(context, checked, checked.region, life, parts);
    const own = checked instanceof FieldprobeError ? null : checked.dataset;
    const datasets = own === null ? [] : [own, ...Object.values(query.others ?? {})];
    const place = this.#running.add({ execution, datasets });
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    return execution;
  }

  readJson(bytes: Uint8Array, client: unknown, background = false): Promise<unknown> {
    const share = createShare(client, undefined, background);
    return runWithRetries(this.#pool, { kind: "json", bytes }, { share }, () => !this.#closing);
  }

  lend(bytes: number): LentMemory {
    const { buffers } = this.#context;
    const block = buffers.lend(bytes);
    return { bytes: block, giveBack: () => buffers.giveBack(block) };
  }

  status(): ReturnType<Engine["status"]> {
    const pool = this.#pool;
    const { hits, misses, bytesRead, bytesUsed } = pool.cache();
    const shared = this.#sharing?.status() ?? { peers: [], pieces: null, unverified: null, nats: null, lentBytes: 0 };
    return {
      ready: !this.#closing && pool.alive() > 0,
      waiting: this.#catalog.waiting.length,
      workers: pool.alive(),
      workersConfigured: pool.parallelism,
      queued: pool.queued(),
      running: pool.running(),
      inlined: pool.inlined?.() ?? 0,
      pointsInFlight: this.#pointsInFlight,
      sharedBytes: this.#context.buffers.bytes,
      bytesRead,
      cacheHits: hits,
      cacheMisses: misses,
      cacheBytes: bytesUsed,
      stores: pool.stores(),
      storeCache: pool.storeCache(),
      ...shared,
      lentBytes: this.#context.buffers.lentBytes + shared.lentBytes,
    };
  }

  waiting(): readonly WaitingFile[] {
    return this.#catalog.waiting;
  }

  async draft(request: Pick<DraftRequest, "paths" | "texts" | "confirms" | "shown">): Promise<DraftView> {
    const descriptors = descriptorFolder(this.#config);
    const chunkBytes = this.#config.limits["engine.chunkBytes"];
    const taken = this.datasets().flatMap(({ name, aliases }) => [name, ...aliases]);
    const task = { kind: "draft", ...request, descriptors, folders: this.#config.data, chunkBytes, taken } as const;
    const view = await runWithRetries<DraftView>(this.#pool, task, {}, () => !this.#closing);
    if (request.confirms) await this.reload();
    return view;
  }

  connectStores(connection: StorePort): void {
    this.#pool.connectStores(connection);
  }

  held(): readonly HeldBricks[] {
    const held = this.#pool.held();
    return this.datasets().flatMap((dataset) =>
      fieldNames(dataset).flatMap((field) => {
        const [part = field] = partsOfField(dataset, field);
        const bricks = held.get(this.#catalog.sourceOf(dataset) + sourceNumber(dataset, part));
        return bricks === undefined ? [] : [{ dataset, field, bricks }];
      }),
    );
  }

  regions(): RegionCounts | null {
    return this.#sharing?.regionCounts() ?? null;
  }

  generations(): SharedGenerations | null {
    return this.#sharing?.generations ?? null;
  }

  reload(): Promise<void> {
    return this.#catalog.reload();
  }

  async close(graceMs: number): Promise<boolean> {
    this.#closing = true;
    this.#catalog.close();
    this.#sharing?.drain();
    const finished = await this.#running.drain(graceMs);
    for (const { execution } of this.#running) execution.abort();
    await this.#sharing?.close();
    await this.#pool.close();
    return finished;
  }

  /** @param alone part of a query that was accepted before, here or by a peer */
  #check(
    query: Query,
    dataset: Dataset | undefined,
    alone: boolean,
    box: RegionBox | null,
  ): CheckedQuery | FieldprobeError {
    if (this.#closing && !alone) return new BusyError("The service is shutting down.");
    try {
      const checked = checkQuery(query, (name) => dataset ?? this.find(name), this.datasets());
      return box === null || checked.region === null ? checked : { ...checked, region: partOf(checked.region, box) };
    } catch (error) {
      if (error instanceof FieldprobeError) return error;
      throw error;
    }
  }
}

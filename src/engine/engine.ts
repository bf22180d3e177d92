/** The engine: keeps the catalogue of datasets, starts queries on the pool, reports figures. */
import type { Logger } from "pino";
import type { Config } from "../config.js";
import { BusyError, FieldprobeError } from "../errors.js";
import type { Dataset } from "../storage/grid.js";
import { BufferPool } from "./buffers.js";
import { type CheckedQuery, checkQuery } from "./check.js";
import { execute, type Workshop } from "./execute.js";
import { openPool, type Pool } from "./pool.js";
import type { Engine, Evaluation, Query } from "./query.js";
import type { Scan } from "./task.js";

/** How often the data folders are scanned without being asked. */
const RESCAN_MS = 30_000;
/** Numbers reserved in the brick cache for the fields of one version of a dataset. */
const FIELDS_PER_DATASET = 4;

/**
 * Starts the worker threads and loads the catalogue.
 *
 * @returns the engine once every dataset has been verified; each refused one is a log line
 */
export async function openEngine(config: Config, log: Logger): Promise<Engine> {
  const pool = openPool({
    workers: config.workers,
    cacheBytes: config.cacheBytes,
    chunkBytes: config.limits["engine.chunkBytes"],
    fd8Legacy: config.fd8Legacy,
  });
  const catalog = new Catalog(log);
  const scan = async (): Promise<void> => {
    catalog.adopt(await pool.run<Scan>({ kind: "scan", folders: config.data }));
  };
  try {
    await scan();
  } catch (error) {
    await pool.close();
    throw error;
  }
  return new LocalEngine(config, log, pool, catalog, scan);
}

/** The datasets served now, and which numbers stand for their fields in the brick cache. */
class Catalog {
  datasets: readonly Dataset[] = [];
  readonly #log: Logger;
  #names: ReadonlyMap<string, Dataset> = new Map();
  #sources: ReadonlyMap<Dataset, number> = new Map();
  #nextSource = 1;
  #reported: ReadonlySet<string> = new Set();

  constructor(log: Logger) {
    this.#log = log;
  }

  find(name: string): Dataset | undefined {
    return this.#names.get(name.toLowerCase());
  }

  /** The number of a dataset's first field; a dataset that has been replaced meanwhile gets numbers nobody else has. */
  sourceOf(dataset: Dataset): number {
    return this.#sources.get(dataset) ?? FIELDS_PER_DATASET * this.#nextSource++;
  }

  /** Takes over a scan: datasets that have not changed stay the same objects and keep their cached bricks. */
  adopt({ datasets, problems }: Scan): void {
    const before = new Map(this.datasets.map((dataset) => [versionOf(dataset), dataset]));
    const now = datasets.map((dataset) => before.get(versionOf(dataset)) ?? dataset);
    for (const dataset of this.datasets) {
      if (!now.includes(dataset)) this.#log.info({ dataset: dataset.name }, "dataset removed or replaced");
    }
    for (const dataset of now) {
      if (this.datasets.includes(dataset)) continue;
      this.#log.info({ dataset: dataset.name, location: dataset.location }, "dataset loaded");
      for (const warning of dataset.warnings) this.#log.warn({ dataset: dataset.name }, warning);
    }
    const lines = problems.map(({ location, message }) => `${location}: ${message}`);
    for (const line of lines) if (!this.#reported.has(line)) this.#log.warn(line);
    this.#reported = new Set(lines);
    this.datasets = now.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    this.#names = new Map(
      this.datasets.flatMap((dataset) =>
        [dataset.name, ...dataset.aliases].map((name) => [name.toLowerCase(), dataset]),
      ),
    );
    this.#sources = new Map(this.datasets.map((dataset) => [dataset, this.sourceOf(dataset)]));
  }
}

/** What two scans of the same unchanged dataset agree on. */
function versionOf({ name, location, digest, files }: Dataset): string {
  return JSON.stringify([name, location, digest, files]);
}

/** The engine of one process. */
class LocalEngine implements Engine {
  readonly #config: Config;
  readonly #pool: Pool;
  readonly #catalog: Catalog;
  readonly #scan: () => Promise<void>;
  readonly #rescan: NodeJS.Timeout;
  readonly #workshop: Workshop;
  readonly #running = new Set<Evaluation>();
  #idle: (() => void) | null = null;
  #pointsInFlight = 0;
  #closing = false;

  constructor(config: Config, log: Logger, pool: Pool, catalog: Catalog, scan: () => Promise<void>) {
    this.#config = config;
    this.#pool = pool;
    this.#catalog = catalog;
    this.#scan = scan;
    this.#rescan = setInterval(() => {
      scan().catch((error: unknown) => log.error({ err: error }, "the data folders could not be scanned"));
    }, RESCAN_MS).unref();
    this.#workshop = {
      pool,
      buffers: new BufferPool(),
      limits: config.limits,
      sourceOf: (dataset) => catalog.sourceOf(dataset),
      hold: (points) => {
        this.#pointsInFlight += points;
      },
    };
  }

  datasets(): readonly Dataset[] {
    return this.#catalog.datasets;
  }

  find(name: string): Dataset | undefined {
    return this.#catalog.find(name);
  }

  start(
    query: Query,
    { signal, deadlineMs }: { readonly signal?: AbortSignal; readonly deadlineMs?: number },
  ): Evaluation {
    const ended = (): void => {
      this.#running.delete(evaluation);
      signal?.removeEventListener("abort", abort);
      if (this.#running.size === 0) this.#idle?.();
    };
    const evaluation = execute(
      this.#workshop,
      this.#judge(query),
      deadlineMs ?? this.#config.limits["query.deadlineMs"],
      ended,
    );
    const abort = (): void => evaluation.abort();
    this.#running.add(evaluation);
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
    return evaluation;
  }

  status(): ReturnType<Engine["status"]> {
    const { hits, misses, bytesRead, bytesUsed } = this.#pool.cache();
    return {
      ready: !this.#closing && this.#pool.running() <= this.#pool.workers,
      workers: this.#pool.workers,
      queued: this.#pool.queued(),
      running: this.#pool.running(),
      pointsInFlight: this.#pointsInFlight,
      bytesRead,
      cacheHits: hits,
      cacheMisses: misses,
      cacheBytes: bytesUsed,
    };
  }

  reload(): Promise<void> {
    return this.#scan();
  }

  async close(graceMs: number): Promise<boolean> {
    this.#closing = true;
    clearInterval(this.#rescan);
    let finished = this.#running.size === 0;
    if (!finished) {
      const idle = new Promise<true>((resolve) => {
        this.#idle = () => resolve(true);
      });
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<false>((resolve) => {
        timer = setTimeout(() => resolve(false), graceMs);
      });
      finished = await Promise.race([idle, late]);
      clearTimeout(timer);
    }
    for (const evaluation of this.#running) evaluation.abort();
    await this.#pool.close();
    return finished;
  }

  #judge(query: Query): CheckedQuery | FieldprobeError {
    if (this.#closing) return new BusyError("The service is shutting down.");
    try {
      return checkQuery(query, (name) => this.find(name));
    } catch (error) {
      if (error instanceof FieldprobeError) return error;
      throw error;
    }
  }
}

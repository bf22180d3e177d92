/** The engine: keeps the catalogue of datasets, starts queries on the pool, reports figures. */
import type { Logger } from "pino";
import type { Config } from "../config.js";
import { BusyError, FieldprobeError } from "../errors.js";
import type { Dataset } from "../storage/dataset.js";
import { Catalog } from "./catalog.js";
import { type CheckedQuery, checkQuery } from "./check.js";
import { execute, type Workshop } from "./execution.js";
import { oneAtATime } from "./one-at-a-time.js";
import { BufferPool } from "./points/buffers.js";
import type { Engine, Evaluation, Query } from "./query.js";
import type { Scan } from "./task.js";
import { openPool, type Pool } from "./threads/pool.js";

/** How often the data folders are scanned without being asked. */
const RESCAN_MS = 30_000;

/**
 * Starts the worker threads, or connects to the cluster, and loads the catalogue.
 *
 * @returns the engine once every dataset has been verified; each refused one is a log line
 */
export async function openEngine(config: Config, log: Logger): Promise<Engine> {
  const pool = await openCarrier(config, log);
  const catalog = new Catalog(log);
  const scan = oneAtATime(async () => {
    catalog.adopt(await pool.run<Scan>({ kind: "scan", folders: config.data }));
  });
  try {
    await scan();
  } catch (error) {
    await pool.close();
    throw error;
  }
  return new LocalEngine(config, log, pool, catalog, scan);
}

/** Threads of this process, or for a gateway the nodes of a cluster. */
async function openCarrier(config: Config, log: Logger): Promise<Pool> {
  if (config.cluster.role === "gateway") return (await import("../cluster/gateway/open.js")).openGateway(config, log);
  return openPool({
    workers: config.workers,
    cacheBytes: config.cacheBytes,
    chunkBytes: config.limits["engine.chunkBytes"],
    fd8Legacy: config.fd8Legacy,
  });
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
      ready: !this.#closing && this.#pool.alive() > 0,
      workers: this.#pool.workers,
      queued: this.#pool.queued(),
      running: this.#pool.running(),
      pointsInFlight: this.#pointsInFlight,
      bytesRead,
      cacheHits: hits,
      cacheMisses: misses,
      cacheBytes: bytesUsed,
      nodes: this.#pool.nodes(),
      sending: this.#pool.sending(),
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

/** The engine: keeps the catalogue of datasets, starts queries on a carrier, reports figures. */
import type { Logger } from "pino";
import type { Config } from "../config.js";
import { BusyError, FieldprobeError } from "../errors.js";
import type { Dataset } from "../storage/dataset.js";
import type { Carrier } from "./carrier.js";
import { Catalog } from "./catalog.js";
import { type CheckedQuery, checkQuery } from "./check.js";
import { execute, type Workshop } from "./execution.js";
import { oneAtATime } from "./one-at-a-time.js";
import { BufferPool } from "./points/buffers.js";
import type { Engine, Evaluation, Query } from "./query.js";
import type { Scan } from "./task.js";
import { openPool } from "./threads/pool.js";

/** How often the data folders are scanned without being asked. */
const RESCAN_MS = 30_000;

/**
 * Loads the catalogue and starts the engine.
 *
 * @param carrier runs the tasks of queries; the engine closes it
 * @returns the engine once every dataset has been verified; each refused one is a log line
 */
export async function openEngine(config: Config, log: Logger, carrier: Carrier = openPool(config)): Promise<Engine> {
  const catalog = new Catalog(log);
  const scan = oneAtATime(async () => {
    catalog.adopt(await carrier.run<Scan>({ kind: "scan", folders: config.data }));
  });
  try {
    await scan();
  } catch (error) {
    await carrier.close();
    throw error;
  }
  return new FieldEngine(config, log, carrier, catalog, scan);
}

/** An engine that evaluates on a carrier. */
class FieldEngine implements Engine {
  readonly #config: Config;
  readonly #carrier: Carrier;
  readonly #catalog: Catalog;
  readonly #scan: () => Promise<void>;
  readonly #rescan: NodeJS.Timeout;
  readonly #workshop: Workshop;
  readonly #running = new Set<Evaluation>();
  #idle: (() => void) | null = null;
  #pointsInFlight = 0;
  #closing = false;

  constructor(config: Config, log: Logger, carrier: Carrier, catalog: Catalog, scan: () => Promise<void>) {
    this.#config = config;
    this.#carrier = carrier;
    this.#catalog = catalog;
    this.#scan = scan;
    this.#rescan = setInterval(() => {
      scan().catch((error: unknown) => log.error({ err: error }, "the data folders could not be scanned"));
    }, RESCAN_MS).unref();
    this.#workshop = {
      carrier,
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
    const { hits, misses, bytesRead, bytesUsed } = this.#carrier.cache();
    return {
      ready: !this.#closing && this.#carrier.alive() > 0,
      workers: this.#carrier.parallelism,
      queued: this.#carrier.queued(),
      running: this.#carrier.running(),
      pointsInFlight: this.#pointsInFlight,
      bytesRead,
      cacheHits: hits,
      cacheMisses: misses,
      cacheBytes: bytesUsed,
      peers: this.#carrier.peers(),
      sending: this.#carrier.sending(),
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
    await this.#carrier.close();
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

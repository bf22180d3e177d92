/** A discrete-event model of a cluster: balance of the shards, copies that a lost worker moves, response times at a load. */
import { place, SLOTS, shares } from "../dist/cluster/gateway/placement.js";

export interface ModelOptions {
  readonly workers: number;
  /** Threads of a worker. */
  readonly threads: number;
  readonly replicas: number;
  /** Share of the threads' time that the queries need, 0 .. 1; 0: one query at a time. */
  readonly load: number;
  readonly queries: number;
  /** Batches of a query. */
  readonly batches: number;
  /** Time of a batch on a thread. */
  readonly batchMs: number;
  /** Time that the gateway spends on a batch, one after the other. */
  readonly gatewayMs: number;
  /** Share of batches that take `slowFactor` times as long on one worker, but not on another. */
  readonly slow: number;
  readonly slowFactor: number;
  /** Time after which an unanswered batch goes to a second worker; null: never. */
  readonly hedgeMs: number | null;
  /** Largest share of batches that are sent twice. */
  readonly hedgeShare: number;
  /** How a worker is chosen among the replicas. */
  readonly choice: "least" | "random";
  readonly seed: number;
}

/** Placement over a number of workers: largest load in means, and the share of copies that move when one of them is lost. */
export function placementFigures(workers: number, replicas: number): { maxToMean: number; moved: number } {
  const names = Array.from({ length: workers }, (_, i) => `worker-${i}`);
  const before = place(names, replicas);
  const loads = [...shares(before).values()];
  const mean = loads.reduce((sum, load) => sum + load, 0) / workers;
  const after = place(names.slice(1), replicas);
  let moved = 0;
  for (let slot = 0; slot < SLOTS; slot++) {
    const had = new Set(
      Array.from(
        { length: before.replicas },
        (_, i) => before.peers[before.table[slot * before.replicas + i] as number],
      ),
    );
    for (let i = 0; i < after.replicas; i++) {
      if (!had.has(after.peers[after.table[slot * after.replicas + i] as number] as string)) moved++;
    }
  }
  return { maxToMean: Math.max(...loads) / mean, moved: moved / (SLOTS * before.replicas) };
}

export interface TailFigures {
  readonly p50: number;
  readonly p99: number;
  readonly p999: number;
  /** Share of batches that were sent twice. */
  readonly hedged: number;
}

/** A batch on a worker. */
interface Run {
  readonly batch: Batch;
  readonly worker: Worker;
  ms: number;
  /** Given up: it is passed over in the queue, or its thread is free at once. */
  over: boolean;
  started: boolean;
}

interface Batch {
  readonly query: { left: number; readonly since: number };
  readonly holders: readonly Worker[];
  readonly runs: Run[];
  done: boolean;
}

interface Worker {
  free: number;
  outstanding: number;
  readonly queue: Run[];
}

/** Runs the model; time is in milliseconds. */
export function runModel(options: ModelOptions): TailFigures {
  return new Model(options).run();
}

class Model {
  readonly #options: ModelOptions;
  readonly #random: () => number;
  readonly #events = new Agenda();
  readonly #workers: readonly Worker[];
  readonly #slots: readonly (readonly Worker[])[];
  readonly #latencies: number[] = [];
  #gatewayFree = 0;
  #started = 0;
  #sent = 0;
  #hedged = 0;

  constructor(options: ModelOptions) {
    this.#options = options;
    this.#random = mulberry32(options.seed);
    this.#workers = Array.from({ length: options.workers }, () => ({
      free: options.threads,
      outstanding: 0,
      queue: [],
    }));
    const names = this.#workers.map((_, i) => `worker-${i}`);
    const { table, replicas, peers } = place(names, options.replicas);
    this.#slots = Array.from({ length: SLOTS }, (_, slot) =>
      Array.from(table.subarray(slot * replicas, (slot + 1) * replicas), (at) => {
        return this.#workers[names.indexOf(peers[at] as string)] as Worker;
      }),
    );
  }

  run(): TailFigures {
    this.#arrive();
    this.#events.run();
    const sorted = this.#latencies.toSorted((a, b) => a - b);
    const quantile = (q: number): number =>
      sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] as number;
    return { p50: quantile(0.5), p99: quantile(0.99), p999: quantile(0.999), hedged: this.#hedged / this.#sent };
  }

  /** A query comes in; the next one comes at random at the given load, or when this one has been answered. */
  #arrive(): void {
    const { queries, batches, load, gatewayMs, workers, threads, batchMs, slow, slowFactor } = this.#options;
    if (this.#started++ >= queries) return;
    const query = { left: batches, since: this.#events.now };
    this.#gatewayFree = Math.max(this.#gatewayFree, this.#events.now);
    for (let i = 0; i < batches; i++) {
      this.#gatewayFree += gatewayMs;
      this.#events.at(this.#gatewayFree, () => this.#send(query));
    }
    if (load === 0) return;
    const work = batches * batchMs * (1 + slow * (slowFactor - 1));
    const gap = work / (load * workers * threads);
    this.#events.at(this.#events.now - gap * Math.log(1 - this.#random()), () => this.#arrive());
  }

  #send(query: Batch["query"]): void {
    const { hedgeMs } = this.#options;
    const holders = this.#slots[Math.floor(this.#random() * SLOTS)] as readonly Worker[];
    const batch: Batch = { query, holders, runs: [], done: false };
    this.#sent++;
    this.#give(batch, this.#choose(holders));
    if (hedgeMs !== null) this.#events.at(this.#events.now + hedgeMs, () => this.#hedge(batch));
  }

  #choose(workers: readonly Worker[]): Worker {
    if (this.#options.choice === "random") return workers[Math.floor(this.#random() * workers.length)] as Worker;
    return workers.reduce((least, worker) => (worker.outstanding < least.outstanding ? worker : least));
  }

  #hedge(batch: Batch): void {
    const others = batch.holders.filter((worker) => worker !== batch.runs[0]?.worker);
    if (batch.done || others.length === 0 || this.#hedged + 1 > this.#options.hedgeShare * this.#sent) return;
    this.#hedged++;
    this.#give(batch, this.#choose(others));
  }

  #give(batch: Batch, worker: Worker): void {
    const { batchMs, slow, slowFactor } = this.#options;
    const ms = batchMs * (this.#random() < slow ? slowFactor : 1);
    const run: Run = { batch, worker, ms, over: false, started: false };
    batch.runs.push(run);
    worker.outstanding++;
    worker.queue.push(run);
    this.#work(worker);
  }

  #work(worker: Worker): void {
    while (worker.free > 0) {
      const run = worker.queue.shift();
      if (!run) return;
      if (run.over) continue;
      run.started = true;
      worker.free--;
      this.#events.at(this.#events.now + run.ms, () => this.#complete(run));
    }
  }

  #complete(run: Run): void {
    if (run.over) return;
    this.#end(run);
    const { batch } = run;
    batch.done = true;
    for (const other of batch.runs) if (other !== run && !other.over) this.#end(other);
    if (--batch.query.left > 0) return;
    this.#latencies.push(this.#events.now - batch.query.since);
    if (this.#options.load === 0) this.#arrive();
  }

  #end(run: Run): void {
    run.over = true;
    run.worker.outstanding--;
    if (run.started) run.worker.free++;
    this.#work(run.worker);
  }
}

/** Things that happen, in the order of their times: a binary heap. */
class Agenda {
  now = 0;
  readonly #heap: { readonly time: number; readonly number: number; readonly act: () => void }[] = [];
  #count = 0;

  at(time: number, act: () => void): void {
    const heap = this.#heap;
    const entry = { time, number: this.#count++, act };
    let at = heap.length;
    while (at > 0) {
      const above = (at - 1) >> 1;
      const other = heap[above] as typeof entry;
      if (earlier(other, entry)) break;
      heap[at] = other;
      at = above;
    }
    heap[at] = entry;
  }

  run(): void {
    for (let next = this.#take(); next; next = this.#take()) {
      this.now = next.time;
      next.act();
    }
  }

  #take() {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let at = 0;
    for (let below = 1; below < heap.length; below = 2 * at + 1) {
      const right = heap[below + 1];
      const left = heap[below] as typeof last;
      const lesser = right && earlier(right, left) ? right : left;
      if (earlier(last, lesser)) break;
      heap[at] = lesser;
      at = lesser === left ? below : below + 1;
    }
    heap[at] = last;
    return first;
  }
}

function earlier(a: { time: number; number: number }, b: { time: number; number: number }): boolean {
  return a.time < b.time || (a.time === b.time && a.number < b.number);
}

/** Reproducible random numbers in [0, 1). */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b_79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

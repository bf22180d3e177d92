/** Metrics of a service in the text form of Prometheus. */
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Engine, EngineStatus, PeerStatus } from "../../engine/contract/query.js";
import type { Admission } from "./policies/admission.js";
import type { Outgoing } from "./policies/outgoing.js";
import type { TimeSlices } from "./policies/time-slices.js";
import type { RequestFacts } from "./request-facts.js";

const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120];

export interface RequestEnd extends Pick<RequestFacts, "operation" | "interface" | "points" | "token"> {
  /** "ok", a code of the error list, a fault code, or a status. */
  readonly outcome: string;
  readonly seconds: number;
}

export interface Metrics {
  readonly registry: Registry;
  observe(facts: RequestEnd): void;
  addJobs(read: () => JobFigures): void;
}

export interface JobFigures {
  readonly queued: number;
  readonly running: number;
  /** Seconds since a task ended well; 0 if no job waits or runs. */
  readonly stalledSeconds: number;
}

type StoreStatus = EngineStatus["stores"][number];
type StoreCache = NonNullable<EngineStatus["storeCache"]>;
type MetricSample = readonly [labels: readonly string[], value: number];

/** A metric whose samples are read on request: a counter if its name ends in `_total`, else a gauge. */
function figure(
  registers: Registry[],
  name: string,
  help: string,
  labelNames: readonly string[],
  read: () => Iterable<MetricSample>,
): void {
  function collect(this: Counter | Gauge): void {
    this.reset();
    for (const [labels, value] of read())
      if (this instanceof Gauge) this.labels(...labels).set(value);
      else this.labels(...labels).inc(value);
  }
  const settings = { name: `fieldprobe_${name}`, help, labelNames, registers, collect };
  if (name.endsWith("_total")) new Counter(settings);
  else new Gauge(settings);
}

/** Counts that are copied when they are scraped: requests are many, scrapes are few. */
class Tally {
  readonly #counts = new Map<string, { readonly labels: readonly string[]; count: number }>();

  constructor(name: string, help: string, registers: Registry[], labelNames: readonly string[]) {
    figure(registers, name, help, labelNames, () =>
      [...this.#counts.values()].map(({ labels, count }): MetricSample => [labels, count]),
    );
  }

  add(labels: readonly string[], count: number): void {
    const key = labels.join(" ");
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { labels, count });
    else known.count += count;
  }
}

export function createMetrics(engine: Engine, admission: Admission, outgoing: Outgoing, slices: TimeSlices): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const byOutcome = ["interface", "operation", "outcome"];
  const requests = new Tally("requests_total", "Requests by interface, operation and outcome.", registers, byOutcome);
  const points = new Tally("points_total", "Points answered, by operation.", registers, ["operation"]);
  const ofToken = ["token", "outcome"];
  const byToken = new Tally(
    "token_requests_total",
    "Requests with a token, by its id and outcome.",
    registers,
    ofToken,
  );
  const pointsByToken = new Tally("token_points_total", "Points of requests with a token.", registers, ["token"]);
  const seconds = new Histogram({
    name: "fieldprobe_request_seconds",
    help: "Time from arrival to the end of the answer, by operation.",
    labelNames: ["operation"],
    buckets: SECONDS,
    registers,
  });
  const rows = [...plainFigures(engine, admission, outgoing, slices), ...storeFigures(engine), ...peerFigures(engine)];
  for (const [name, help, read, ...labels] of rows) figure(registers, name, help, labels, read);
  let readJobs = (): JobFigures => ({ queued: 0, running: 0, stalledSeconds: 0 });
  jobFigures(() => readJobs(), registers);
  return {
    registry,
    addJobs(read) {
      readJobs = read;
    },
    observe(facts) {
      requests.add([facts.interface, facts.operation, facts.outcome], 1);
      seconds.observe({ operation: facts.operation }, facts.seconds);
      if (facts.points > 0) points.add([facts.operation], facts.points);
      if (facts.token === null) return;
      byToken.add([facts.token, facts.outcome], 1);
      if (facts.points > 0) pointsByToken.add([facts.token], facts.points);
    },
  };
}

function jobFigures(read: () => JobFigures, registers: Registry[]): void {
  figure(registers, "jobs", "Jobs that wait or run.", ["state"], () => {
    const { queued, running } = read();
    return [
      [["queued"], queued],
      [["running"], running],
    ];
  });
  const help = "Seconds since a task of a job ended well; 0 if no job waits or runs.";
  figure(registers, "jobs_stalled_seconds", help, [], () => [[[], read().stalledSeconds]]);
}

/** A metric: its name, its help, its samples or its only value, and its labels. */
type Figure = readonly [name: string, help: string, read: () => Iterable<MetricSample>, ...labels: readonly string[]];

function plainFigures(engine: Engine, admission: Admission, outgoing: Outgoing, slices: TimeSlices): readonly Figure[] {
  const inline = "Small batches evaluated on the main thread, whose bricks were in the cache.";
  const plain: readonly (readonly [name: string, help: string, read: () => number])[] = [
    ["ready", "1 when the catalogue is loaded and the pool answers.", () => (engine.status().ready ? 1 : 0)],
    ["workers", "Worker threads that can take work; all but one start on demand.", () => engine.status().workers],
    ["workers_configured", "Worker threads that may run at once.", () => engine.status().workersConfigured],
    ["batches_queued", "Batches that wait for a worker.", () => engine.status().queued],
    ["batches_running", "Batches on a worker.", () => engine.status().running],
    ["batches_inline_total", inline, () => engine.status().inlined],
    ["read_bytes_total", "Bytes read from datasets.", () => engine.status().bytesRead],
    ["cache_hits_total", "Bricks found in the cache.", () => engine.status().cacheHits],
    ["cache_misses_total", "Bricks not found in the cache.", () => engine.status().cacheMisses],
    ["cache_bytes", "Bytes of bricks in the cache.", () => engine.status().cacheBytes],
    ["requests_in_flight", "Requests being answered.", () => admission.taken],
    ["requests_waiting", "Requests that wait for a slot.", () => admission.waiting],
    [
      "points_in_flight",
      "Points of requests being read or answered; if an answer has several numbers at a point, records of three numbers.",
      () => admission.points.held,
    ],
    ["lent_bytes", "Bytes of shared memory that are lent to queries.", () => engine.status().lentBytes],
    ["shared_bytes", "Bytes of the memory from which they are lent.", () => engine.status().sharedBytes],
    ["waiting_answer_bytes", "Bytes of computed answers that wait for their readers.", () => outgoing.bytes],
    [
      "longest_turn_seconds",
      "Longest turn of the event loop with work of requests since the start, CPU time; connections that wait to be accepted are not in it.",
      () => slices.longestMs / 1000,
    ],
    [
      "longest_accept_seconds",
      "Longest time since the start for which more connections waited to be accepted, one after another.",
      () => slices.accepting.longestMs / 1000,
    ],
  ];
  return plain.map(([name, help, read]) => [name, help, () => [[[], read()]]]);
}

function storeFigures(engine: Engine): readonly Figure[] {
  const ofStores: readonly (readonly [name: string, help: string, read: (store: StoreStatus) => number])[] = [
    ["requests_total", "Requests to the host of a store.", ({ requests }) => requests],
    ["retries_total", "Requests to the host of a store that were repeated.", ({ retries }) => retries],
    ["failures_total", "Requests to the host of a store that failed in all attempts.", ({ failures }) => failures],
    ["bytes_total", "Bytes fetched from a store.", ({ bytes }) => bytes],
    ["seconds_total", "Total time of requests to the host of a store.", ({ seconds }) => seconds],
    ["answers", "1 when the host of a store answered the last request.", ({ answers }) => (answers ? 1 : 0)],
  ];
  const ofCache: readonly (readonly [name: string, help: string, read: (cache: StoreCache) => number])[] = [
    ["hits_total", "Reads of stores that were found in the cache on disk.", ({ hits }) => hits],
    ["misses_total", "Reads of stores that were not found in the cache on disk.", ({ misses }) => misses],
    ["damaged_total", "Entries of the cache on disk with a wrong checksum, which were misses.", (one) => one.damaged],
    ["evictions_total", "Entries removed from the cache on disk to make room.", ({ evictions }) => evictions],
    ["dropped_total", "Entries that the cache on disk dropped.", ({ dropped }) => dropped],
    ["bytes", "Bytes in the cache on disk.", ({ bytes }) => bytes],
  ];
  const stores = (read: (store: StoreStatus) => number) => () =>
    engine.status().stores.map((store): MetricSample => [[store.store], read(store)]);
  const caches = (read: (cache: StoreCache) => number) => () =>
    [engine.status().storeCache ?? []].flat().map((cache): MetricSample => [[], read(cache)]);
  return [
    ...ofStores.map(([name, help, read]) => [`store_${name}`, help, stores(read), "store"] as const),
    ...ofCache.map(([name, help, read]) => [`store_cache_${name}`, help, caches(read)] as const),
  ];
}

/** Metrics of the cluster; a process that works alone has none. */
function peerFigures(engine: Engine): readonly Figure[] {
  const peers = (read: (peer: PeerStatus) => number) => () =>
    engine.status().peers.map((peer): MetricSample => [[peer.name], read(peer)]);
  const counts = (read: () => object | null) => () =>
    Object.entries(read() ?? {}).map(([kind, count]): MetricSample => [[kind], count]);
  const only = (read: () => number | null | undefined) => () =>
    [read() ?? []].flat().map((count): MetricSample => [[], count]);
  const nats = () => {
    const { nats } = engine.status();
    return nats && Number(nats.connected);
  };
  const same = () =>
    engine.status().peers.flatMap(({ name, shared, differing }): MetricSample[] => [
      [[name, "shared"], shared],
      [[name, "differing"], differing],
    ]);
  const pieces = "Pieces of divided queries: own, asked of peers, of these refused or late; answered for peers.";
  const regions = "Regions of divided datasets: owned, and more than half in the cache.";
  const usable = "1 when a peer takes pieces of queries; 0 for 15 minutes after it was lost.";
  const datasets = "Datasets that a peer has too: shared (the same bytes), differing (others, so nothing is shared).";
  const outstanding = "Pieces that a peer has been asked for and has not answered.";
  const unverified = "Datasets of a cluster of which samples were compared, not all bytes.";
  return [
    ["nats_connected", "1 while this process is connected to the NATS servers of its cluster.", only(nats)],
    ["peer_usable", usable, peers((peer) => (peer.usable ? 1 : 0)), "peer"],
    ["peer_datasets", datasets, same, "peer", "kind"],
    ["unverified_copies", unverified, only(() => engine.status().unverified)],
    ["peer_pieces", outstanding, peers((peer) => peer.outstanding), "peer"],
    ["pieces_total", pieces, counts(() => engine.status().pieces), "kind"],
    ["regions", regions, counts(() => engine.regions()), "kind"],
  ];
}

/** An engine without data or threads: recognisable numbers per operation, limits honoured, failures on demand. */
import type {
  Engine,
  EngineStatus,
  Evaluation,
  LentMemory,
  Query,
  Result,
  TripleSink,
} from "../../src/engine/contract/query.js";
import {
  CancelledError,
  DeadlineError,
  FieldprobeError,
  NotFoundError,
  RequestError,
} from "../../src/shared/errors.js";
import { OLDER_OPERATIONS, RECORDS } from "../../src/shared/operations.js";
import { readJsonBody } from "../../src/text/json-body.js";
import type { TextWorkers } from "../../src/text/text-task.js";

export interface FakeOptions {
  /** Points per slab; small ones make several commits. */
  readonly slabPoints?: number;
  readonly points?: number;
  readonly limitName?: string;
}

class SlabSink implements TripleSink {
  slab: Float32Array;
  readonly taken: Float32Array[] = [];
  readonly #points: number;

  constructor(points: number) {
    this.#points = points;
    this.slab = new Float32Array(3 * points);
  }

  get count(): number {
    return this.taken.reduce((sum, slab) => sum + slab.length / 3, 0);
  }

  commit(count: number): void {
    this.taken.push(this.slab.subarray(0, 3 * count));
    this.slab = new Float32Array(3 * this.#points);
  }
}

const BASES: ReadonlyMap<string, number> = new Map(OLDER_OPERATIONS.map(({ name }, row) => [name, 100 * (row + 1)]));

/** The value of a component, from which a test can tell operation, point and component apart. */
export function fakeValue(operation: string, x: number, record: number, component: number): number {
  return Math.fround(Math.fround(x) + (BASES.get(operation) ?? Number.NaN) + component + record / 4);
}

const recordsPerPoint = ({ nlayers }: Query): number => (nlayers === undefined ? 1 : (8 ** nlayers - 1) / 7);

export class FakeEngine implements Engine {
  readonly queries: Query[] = [];
  /** Queries that were asked for their result: their requests hold slots. */
  finishing = 0;
  aborted = 0;
  /** Results not given back yet. */
  open = 0;
  lent = 0;
  ready = true;
  /** Set to make every `finish` reject with it. */
  failure: Error | null = null;
  /** Set to have large answers written by these threads. */
  textThreads: TextWorkers | null = null;
  /** Set to hold every `finish` until it resolves. */
  gate: Promise<void> | null = null;
  /** Whether deadlines are missed: a query ends only when the gate opens or it is aborted. */
  deaf = false;
  readonly #options: Required<FakeOptions>;

  constructor(options: FakeOptions = {}) {
    this.#options = { slabPoints: 1024, points: 2_000_000, limitName: "query.points", ...options };
  }

  datasets(): readonly [] {
    return [];
  }

  find(): undefined {
    return undefined;
  }

  levels(): null {
    return null;
  }

  makeLevels(): Promise<never> {
    return Promise.reject(new Error("no dataset has levels here"));
  }

  levelExtrema = this.makeLevels;
  levelHistograms = this.makeLevels;
  levelWeights = this.makeLevels;

  waiting(): [] {
    return [];
  }

  draft(): Promise<never> {
    return Promise.reject(new Error("nothing waits here"));
  }

  held(): [] {
    return [];
  }

  regions(): null {
    return null;
  }

  generations(): null {
    return null;
  }

  readJson(bytes: Uint8Array): Promise<unknown> {
    return Promise.resolve().then(() => readJsonBody(Buffer.from(bytes)));
  }

  lend(bytes: number): LentMemory {
    this.lent++;
    return { bytes: new Uint8Array(new SharedArrayBuffer(bytes)), giveBack: () => void this.lent-- };
  }

  status(): EngineStatus {
    return {
      ...{ ready: this.ready, workers: 1, waiting: 0, workersConfigured: 1, queued: 0, running: 0 },
      ...{ pointsInFlight: 0, lentBytes: 0, sharedBytes: 0, bytesRead: 0, inlined: 0, cacheHits: 0, cacheMisses: 0 },
      ...{ cacheBytes: 0 },
      peers: [],
      unverified: null,
      nats: null,
      stores: [],
      storeCache: null,
      pieces: null,
    };
  }

  async reload(): Promise<void> {}

  async close(): Promise<boolean> {
    return true;
  }

  start(query: Query, { deadlineMs = Number.POSITIVE_INFINITY }: { readonly deadlineMs?: number }): Evaluation {
    this.queries.push({ ...query });
    const points = new SlabSink(this.#options.slabPoints);
    const velocities = new SlabSink(this.#options.slabPoints);
    const stop = new AbortController();
    let ended = false;
    return {
      points,
      velocities,
      nodes: 0,
      get extraRecords() {
        return points.count * (recordsPerPoint(query) - 1);
      },
      get work() {
        return points.count;
      },
      limit: { points: this.#options.points, name: this.#options.limitName },
      finish: async () => {
        this.finishing++;
        try {
          await this.#wait(stop.signal, deadlineMs);
          this.#judge(query, points, velocities);
          return this.#result(query, points);
        } finally {
          this.finishing--;
          ended = true;
        }
      },
      abort: () => {
        if (!ended && !stop.signal.aborted) this.aborted++;
        stop.abort();
      },
    };
  }

  /** Holds every `finish` until the function that it returns is called. */
  closeGate(): () => void {
    let open = (): void => undefined;
    this.gate = new Promise((resolve) => {
      open = resolve;
    });
    return open;
  }

  #wait(signal: AbortSignal, deadlineMs: number): Promise<void> | undefined {
    const { gate } = this;
    if (gate === null) return undefined;
    return new Promise((resolve, reject) => {
      const timer =
        Number.isFinite(deadlineMs) && !this.deaf
          ? setTimeout(() => reject(new DeadlineError()), deadlineMs)
          : undefined;
      signal.addEventListener("abort", () => reject(new CancelledError()));
      void gate.then(resolve).finally(() => clearTimeout(timer));
    });
  }

  #judge(query: Query, points: SlabSink, velocities: SlabSink): void {
    if (this.failure !== null) throw this.failure;
    if (query.operation !== "NullOp" && query.dataset !== "isotropic32") {
      throw new NotFoundError(`Invalid set name: ${query.dataset}`);
    }
    for (const [member, value] of Object.entries(query)) {
      if (typeof value === "number" && !Number.isFinite(value)) {
        throw new FieldprobeError("OutOfRange", `The value of ${member} is out of range.`, { member });
      }
    }
    for (const [name, sink] of [
      ["points", points],
      ["InitialV", velocities],
    ] as const) {
      const flat = sink.taken.flatMap((slab) => [...slab]);
      const bad = flat.findIndex((value) => !Number.isFinite(value));
      if (bad >= 0) {
        const member = `${name}[${Math.floor(bad / 3)}].${"xyz"[bad % 3]}`;
        throw new FieldprobeError("OutOfRange", `The value of ${member} is out of range.`, { member });
      }
    }
    if (query.operation === "GetPositionInertialParticle" && velocities.count !== points.count) {
      throw new RequestError("InvalidRequest", "InitialV must hold as many vectors as points.", { member: "InitialV" });
    }
  }

  #result(query: Query, points: SlabSink): Result {
    const row = OLDER_OPERATIONS.find(({ name }) => name === query.operation);
    if (row === undefined) throw new TypeError(`no operation ${query.operation}`);
    const components = RECORDS[row.result].length;
    const itemsPerPoint = recordsPerPoint(query);
    const values = points.taken.map((slab) => {
      const out: number[] = [];
      for (let i = 0; i < slab.length; i += 3) {
        for (let record = 0; record < itemsPerPoint; record++) {
          for (let c = 0; c < components; c++) {
            out.push(
              query.operation === "NullOp"
                ? (slab[i + c] as number)
                : fakeValue(query.operation, slab[i] as number, record, c),
            );
          }
        }
      }
      return Float32Array.from(out);
    });
    this.open++;
    return {
      items: points.count * itemsPerPoint,
      itemsPerPoint,
      components,
      values,
      ...(this.textThreads === null ? {} : { textThreads: this.textThreads }),
      release: () => {
        this.open--;
      },
    };
  }
}

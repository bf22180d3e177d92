/** Searches and cutouts in parts: together the parts are the region, in order, and none is large. */
import { afterEach, describe, expect, it, vi } from "vitest";
import { derivedPlan } from "../../../src/analysis/derived.js";
import type { NodeRegion } from "../../../src/engine/contract/node-region.js";
import type { Query } from "../../../src/engine/contract/query.js";
import type { CutoutTask, JoinTask, SearchTask, Task } from "../../../src/engine/contract/task.js";
import { BufferPool } from "../../../src/engine/main/buffers.js";
import type { CheckedQuery } from "../../../src/engine/main/check-query.js";
import { RegionExecution } from "../../../src/engine/main/node-region-execution.js";
import type { Sharing, SharingControl } from "../../../src/engine/main/sharing.js";
import type { ThreadPool } from "../../../src/engine/main/thread-pool.js";
import { recordsByValue } from "../../../src/kernels/threshold.js";
import { LIMITS } from "../../../src/shared/config.js";
import { CancelledError, DataError, WorkerError } from "../../../src/shared/errors.js";
import { operationOf } from "../../../src/shared/operations.js";
import type { Dataset } from "../../../src/storage/dataset/dataset.js";
import { queryContext } from "./query-context.js";

const REGION: NodeRegion = {
  field: "pressure",
  frame: 3,
  first: [5, 7, 11],
  count: [20, 30, 40],
  stride: [2, 1, 3],
  width: 1,
  criterion: "norm",
};

function execution(
  name: "GetThreshold" | "GetAnyCutoutWeb",
  region: NodeRegion,
  run: (task: Task) => unknown,
  limits: Partial<typeof LIMITS> = {},
  sharing: Sharing | null = null,
  more: Partial<Query> = {},
  buffers = new BufferPool(),
): RegionExecution {
  const pool = { parallelism: 2, attempts: 2, run: async (task: Task) => run(task) } as unknown as ThreadPool;
  const setting = queryContext(pool, { sharing, buffers, limits: { ...LIMITS, ...limits } });
  const checked = {
    query: { operation: name, threshold: 0, ...more },
    operation: operationOf(name),
    dataset: { fields: {}, axes: [{ nodes: 4 }, { nodes: 5 }, { nodes: 6 }] } as unknown as Dataset,
  };
  const control = { deadlineMs: 10_000, ended: () => undefined };
  return new RegionExecution(setting, checked as unknown as CheckedQuery, region, control, null);
}

afterEach(() => {
  vi.useRealTimers();
});

const nodesOf = ({ count }: NodeRegion): number => count[0] * count[1] * count[2];

function eachNode({ first, count, stride }: NodeRegion, use: (x: number, y: number, z: number) => void): void {
  for (let k = 0; k < count[2]; k++) {
    for (let j = 0; j < count[1]; j++) {
      for (let i = 0; i < count[0]; i++)
        use(first[0] + i * stride[0], first[1] + j * stride[1], first[2] + k * stride[2]);
    }
  }
}

describe("a search", () => {
  it("asks for every node once, in parts of at most a quarter of a million", async () => {
    const region = { ...REGION, first: [1, 2, 3], count: [600, 70, 65], stride: [1, 1, 1] } as const;
    const seen = new Map<string, number>();
    const search = execution("GetThreshold", region, (task) => {
      const { region: part } = task as SearchTask;
      expect(nodesOf(part)).toBeLessThanOrEqual(2 ** 18);
      eachNode({ ...part, count: [1, part.count[1], part.count[2]] }, (x, y, z) => {
        const row = `${y} ${z}`;
        expect(seen.get(row) ?? region.first[0]).toBe(x);
        seen.set(row, x + part.count[0]);
      });
      return { count: 0, unknown: 0, nodes: new Int32Array(0), values: new Float32Array(0), limit: 0 };
    });
    expect((await search.finish()).items).toBe(0);
    expect([seen.size, new Set(seen.values())]).toEqual([70 * 65, new Set([601])]);
  });

  it("counts the hits that it may find as records, so that few large ones are held at a time", () => {
    const large = { ...REGION, count: [600, 70, 65] } as const;
    const records = (limits: Partial<typeof LIMITS>) =>
      execution("GetThreshold", large, () => undefined, limits).extraRecords;
    expect(records({ "search.hits": 1_000 })).toBe(3_000);
    expect(records({ "search.hits": 10_000_000 })).toBe(3 * nodesOf(large));
  });

  it("asks for nothing after it was stopped", async () => {
    let asked = 0;
    const search = execution("GetThreshold", REGION, () => {
      asked++;
    });
    search.abort();
    await expect(search.finish()).rejects.toBeInstanceOf(CancelledError);
    expect(asked).toBe(0);
  });

  it("ends when it finds more than the setting allows", async () => {
    const found = { count: 6, unknown: 0, nodes: new Int32Array(18), values: new Float32Array(6), limit: 10 };
    const search = execution(
      "GetThreshold",
      REGION,
      (task) => {
        expect((task as SearchTask).most).toBe(10);
        return found;
      },
      { "search.hits": 10 },
    );
    await expect(search.finish()).rejects.toMatchObject({ code: "LimitExceeded", context: { limit: "search.hits" } });
  });
});

describe("the hits of a search", () => {
  const hitsOf = (count: number) => ({
    count,
    unknown: 0,
    nodes: Int32Array.from({ length: 3 * count }, (_, i) => (i * 7919) % 64),
    values: Float32Array.from({ length: count }, (_, i) => (i * 31) % 977),
    limit: count,
  });

  it.each([4096, 4097])("are sorted by a thread if they are many: %i", async (count) => {
    const joined: JoinTask[] = [];
    let parts = 0;
    const search = execution("GetThreshold", { ...REGION, stride: [1, 1, 1] }, (task) => {
      if (task.kind !== "join") return hitsOf(parts++ === 0 ? count : 0);
      joined.push(task);
      return recordsByValue(task.parts, task.count);
    });
    const { items, values } = await search.finish();
    expect(joined.map((task) => task.count)).toEqual(count > 4096 ? [count] : []);
    expect(items).toBe(count);
    expect(values).toEqual([recordsByValue([hitsOf(count)], count)]);
  });
});

describe("a part whose thread is lost", () => {
  const none = { count: 0, unknown: 0, nodes: new Int32Array(0), values: new Float32Array(0), limit: 0 };

  it.each([
    ["GetThreshold", none],
    ["GetAnyCutoutWeb", null],
  ] as const)("is computed again, once (%s)", async (name, outcome) => {
    let runs = 0;
    const once = execution(name, REGION, () => {
      if (runs++ === 0) throw new WorkerError();
      return outcome;
    });
    const result = await once.finish();
    result.release();
    const always = execution(name, REGION, () => {
      throw new WorkerError();
    });
    await expect(always.finish()).rejects.toBeInstanceOf(WorkerError);
  });

  it("is computed again in a transform, except where planes are overwritten", async () => {
    const names = { fields: { pressure: 1 } } as const;
    const grid = { nodes: [4, 4, 4], periods: [1, 1, 1], transformed: [true, true, true] } as const;
    const derived = derivedPlan(["gradient:pressure"], grid, names, null, "spectral");
    const plan = { times: [0], columns: [], reductions: [], extent: [4, 4, 4, 1], kept: [] } as never;
    const stages: string[] = [];
    const lost = new Set(["derive", "back"]);
    const query = { reduction: { plan, frames: [0], derived } };
    const run = (task: Task): null => {
      if (task.kind !== "transform") return null;
      stages.push(task.stage);
      if (lost.delete(task.stage)) throw new WorkerError();
      return null;
    };
    const made = execution("GetAnyCutoutWeb", REGION, run, {}, null, query);
    await expect(made.finish()).rejects.toBeInstanceOf(WorkerError);
    expect(stages).toEqual(["forward", "derive", "derive", "back"]);
  });

  it("is not computed again when its data are damaged", async () => {
    let runs = 0;
    const search = execution("GetThreshold", { ...REGION, count: [1, 1, 1] }, () => {
      runs++;
      throw new DataError("damaged");
    });
    await expect(search.finish()).rejects.toBeInstanceOf(DataError);
    expect(runs).toBe(1);
  });
});

describe("the work of a query at nodes", () => {
  const small = { ...REGION, count: [2, 2, 2] } as const;
  const work = (query: Partial<Query>) => execution("GetAnyCutoutWeb", small, () => null, {}, null, query).work;
  const plan = { columns: ["p"], reductions: [] } as never;

  it("is that of all frames, columns and separations", () => {
    expect(work({})).toBe(8);
    expect(work({ reduction: { plan, frames: [0, 1, 2] } })).toBe(24);
    const reductions = [{ kind: "increments", separations: [1, 2, 3] }];
    const many = { columns: ["p", "u.x"], reductions } as never;
    expect(work({ reduction: { plan: many, frames: [0, 1, 2] } })).toBe(24 * 5);
  });

  it("is that of whole frames where transforms are needed", () => {
    const frame = 4 * 5 * 6;
    const derived = {} as never;
    expect(work({ reduction: { plan, frames: [0, 1, 2], derived } })).toBe(3 * frame);
    expect(work({ spectrum: { plan, frames: [0, 1], times: [0, 1], derived: null } })).toBe(2 * frame);
    expect(work({ derivedAt: { plan, points: new Float32Array(3), method: "Lag4" } })).toBe(frame);
  });
});

describe("a cutout", () => {
  it.each([
    ["layers", REGION],
    ["rows of a layer that is larger than a part", { ...REGION, count: [3000, 900, 2] } as const],
  ])("gives its nodes in order, in %s", async (_, region) => {
    const number = (x: number, y: number, z: number): number => (x + 1009 * y + 1013 * z) % 65_521;
    const cutout = execution("GetAnyCutoutWeb", region, (task) => {
      const { region: part, out } = task as CutoutTask;
      expect(out.length).toBe(nodesOf(part));
      expect(out.length).toBeLessThanOrEqual(2 ** 19);
      let at = 0;
      eachNode(part, (x, y, z) => {
        out[at++] = number(x, y, z);
      });
      return null;
    });
    const { stream, shape, release } = await cutout.finish();
    expect(shape).toEqual([region.count[2], region.count[1], region.count[0], 1]);
    const whole = new Float32Array(nodesOf(region));
    let at = 0;
    for await (const part of stream as AsyncIterable<Float32Array>) {
      whole.set(part, at);
      at += part.length;
    }
    release();
    const expected = new Float32Array(nodesOf(region));
    at = 0;
    eachNode(region, (x, y, z) => {
      expected[at++] = number(x, y, z);
    });
    expect(Buffer.from(whole.buffer).equals(Buffer.from(expected.buffer))).toBe(true);
  });

  /** A cutout of nine parts, of which the second fails if `error` is given, and the memory of its parts. */
  const inParts = (error: Error | null = null) => {
    const buffers = new BufferPool();
    let begun = 0;
    const run = (): null => {
      begun++;
      if (begun === 2 && error !== null) throw error;
      return null;
    };
    const region = { ...REGION, count: [3000, 900, 3] } as const;
    return { buffers, cutout: execution("GetAnyCutoutWeb", region, run, {}, null, {}, buffers), begun: () => begun };
  };
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it("counts the parts that it holds at a time before it takes memory for them", async () => {
    const { buffers, cutout } = inParts();
    const { release, heldBytes = 0 } = await cutout.finish();
    // Each part is lent in whole pages.
    expect(buffers.lentBytes).toBeLessThanOrEqual(heldBytes + 3 * 4096);
    expect(12 * cutout.extraRecords).toBeGreaterThanOrEqual(heldBytes);
    release();
  });

  it("gives all parts back when its reader leaves after the first", async () => {
    const { buffers, cutout } = inParts();
    const { stream, release } = await cutout.finish();
    for await (const _ of stream as AsyncIterable<Float32Array>) break;
    release();
    await settled();
    expect(buffers.lentBytes).toBe(0);
  });

  it("gives all parts back when it is stopped, and begins none for a reader that has not heard of it", async () => {
    const { buffers, cutout, begun } = inParts();
    const { stream, release } = await cutout.finish();
    const parts = (stream as AsyncIterable<Float32Array>)[Symbol.asyncIterator]();
    await parts.next();
    cutout.abort();
    release();
    const other = buffers.lend(1);
    const before = begun();
    await expect(parts.next()).rejects.toBeInstanceOf(CancelledError);
    await settled();
    expect([begun(), buffers.lentBytes]).toEqual([before, 4096]);
    buffers.giveBack(other);
  });

  it("gives all parts back when one fails", async () => {
    const error = new DataError("damaged");
    const { buffers, cutout } = inParts(error);
    const { stream, release } = await cutout.finish();
    const parts = (stream as AsyncIterable<Float32Array>)[Symbol.asyncIterator]();
    await parts.next();
    await expect(parts.next()).rejects.toBe(error);
    release();
    await settled();
    expect(buffers.lentBytes).toBe(0);
  });

  it("gives all parts back when nothing of it is read", async () => {
    const { buffers, cutout } = inParts();
    (await cutout.finish()).release();
    await settled();
    expect(buffers.lentBytes).toBe(0);
  });

  it("gives its peers the whole time for each part, however slowly the parts are read", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const left: number[] = [];
    const cutout = async (_: unknown, __: unknown, ___: unknown, { deadline }: SharingControl): Promise<void> => {
      left.push(deadline - Date.now());
    };
    const sharing = { mayDivide: () => true, shouldDivide: () => true, cutout } as unknown as Sharing;
    const region = { ...REGION, count: [3000, 900, 2] } as const;
    const { stream, release } = await execution("GetAnyCutoutWeb", region, () => null, {}, sharing).finish();
    for await (const _ of stream as AsyncIterable<Float32Array>) vi.setSystemTime(Date.now() + 20_000);
    release();
    expect(left.length).toBeGreaterThan(3);
    expect(new Set(left)).toEqual(new Set([10_000]));
  });
});

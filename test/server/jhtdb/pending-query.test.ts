/** A pending query starts as soon as it can, keeps points until then, and answers lists of times in one way. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Evaluation, Query, Result } from "../../../src/engine/contract/query.js";
import type { PointLimit, RequestLife } from "../../../src/server/http/request-life.js";
import { PendingQuery, partsOf } from "../../../src/server/jhtdb/pending-query.js";
import { loadConfig } from "../../../src/shared/config.js";
import { DataError, RequestError } from "../../../src/shared/errors.js";

const { limits } = loadConfig({}, {});
const QUERY: Query = {
  ...{ operation: "GetVelocity", dataset: "cube" },
  ...{ spatialInterpolation: "None", temporalInterpolation: "None" },
};

/** What the life of a request was asked for. */
let asked: (Query & { readonly stream: boolean })[];
let running: number;
let mostRunning: number;
/** Results that are not given back, and the calls that stop all queries. */
let open: number;
let aborted: number;
let entered: (readonly [number, number])[];
let admitted: number;
let ends: (() => void)[];
/** Lets results come only when it resolves. */
let gate: (time: number) => Promise<void>;
let most: PointLimit;

beforeEach(() => {
  asked = [];
  running = mostRunning = open = aborted = admitted = 0;
  entered = [];
  ends = [];
  gate = async () => undefined;
  most = { points: 1e7, name: "query.points" };
});
afterEach(() => {
  for (const end of ends) end();
});

/** An evaluation whose values tell time and point apart: x + 1000 time in each component. */
function start(query: Query, stream = false): Evaluation {
  asked.push({ ...query, stream });
  const time = query.time ?? 0;
  const sink = () => {
    const taken: Float32Array[] = [];
    return {
      taken,
      slab: new Float32Array(30),
      commit(count: number) {
        taken.push(this.slab.slice(0, 3 * count));
      },
    };
  };
  const points = sink();
  return {
    points,
    velocities: sink(),
    nodes: 0,
    limit: most,
    work: 7,
    extraRecords: 2,
    async finish(): Promise<Result> {
      mostRunning = Math.max(mostRunning, ++running);
      await gate(time).finally(() => running--);
      open++;
      const values = points.taken.map((slab) => slab.map((_, i) => (slab[i - (i % 3)] as number) + 1000 * time));
      const items = values.reduce((sum, { length }) => sum + length / 3, 0);
      let given = false;
      const release = (): void => {
        if (!given) open--;
        given = true;
      };
      const [first, ...rest] = values;
      const parts = (async function* () {
        yield* rest;
      })();
      const cut = stream && first !== undefined;
      return {
        ...{ items, itemsPerPoint: 1, components: 3, release },
        values: cut ? [first] : values,
        ...(cut ? { stream: parts } : {}),
      };
    },
    abort: () => undefined,
  };
}

const life = (): RequestLife =>
  ({
    start,
    limit: (limit: PointLimit) => limit,
    countPoints: (count: number) => {
      admitted += count;
      return null;
    },
    acquireSlot: async (work = 0, records = 0) => void entered.push([work, records]),
    find: () => undefined,
    forget: () => undefined,
    floats: (count: number) => new Float32Array(count),
    abort: () => aborted++,
    onEnd: (end: () => void) => ends.push(end),
    slices: { pause: () => null },
  }) as unknown as RequestLife;

const pend = (...times: number[]): PendingQuery => new PendingQuery(life(), limits, QUERY, times);
function fill(pending: PendingQuery, xs: Iterable<number>): void {
  const writer = pending.writer();
  for (const x of xs) writer.add(x, 0, 0);
  writer.flush();
}
const numbersOf = async (result: Result): Promise<number[]> => {
  const all: number[] = [];
  for await (const part of partsOf(result)) all.push(...part);
  return all;
};

describe("one time", () => {
  it("starts before the points when everything else is there, and takes them directly", async () => {
    const pending = pend(0.5);
    pending.writer();
    expect(asked).toMatchObject([{ operation: "GetVelocity", dataset: "cube", time: 0.5, stream: true }]);
    fill(pend(0.5), [1]);
    expect(asked).toHaveLength(2);
  });

  it("gives the stream of the engine on", async () => {
    const pending = pend(0);
    fill(pending, Array(25).keys());
    const result = await pending.answer();
    expect(result.stream).toBeDefined();
    expect((await numbersOf(result)).filter((_, i) => i % 3 === 0)).toEqual([...Array(25).keys()]);
  });

  it("counts each point once as admitted", () => {
    const pending = pend(0);
    fill(pending, [1, 2]);
    expect(pending.admit()).toBeNull();
    expect(pending.admit()).toBeNull();
    expect(admitted).toBe(2);
  });
});

describe("a list of times", () => {
  it("is one result in its order, a few queries at once, each given back", async () => {
    const times = [3, 1, 2, 5, 4, 0, 6];
    const turns: (() => void)[] = [];
    gate = (time) => new Promise((resolve) => turns.push(time === 3 ? resolve : () => resolve()));
    const pending = pend(...times);
    fill(pending, [1, 2]);
    expect(asked).toEqual([]);
    const answer = pending.answer();
    const ended = answer.then(() => true);
    for (let over = false; !over; ) {
      turns.pop()?.();
      over = await Promise.race([ended, new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))]);
    }
    const result = await answer;
    expect(await numbersOf(result)).toEqual(times.flatMap((t) => [1, 1, 1, 2, 2, 2].map((x) => x + 1000 * t)));
    expect(result).toMatchObject({ items: 14, itemsPerPoint: 1, components: 3 });
    expect(asked.map(({ time }) => time)).toEqual(times);
    expect([mostRunning, running, open]).toEqual([4, 0, 0]);
    expect(entered).toEqual([[6 * 7, 6 * 2]]);
    expect(admitted).toBe(6 * 2);
  });

  it("counts a time without points as one point, in flight and at least one of work", async () => {
    fill(pend(0, 1), []);
    const pending = pend(0, 1, 2);
    const result = await pending.answer();
    expect([result.items, admitted]).toEqual([0, 2]);
  });

  it.each([
    [3, [1, 2, 3, 4], true],
    [3, [1, 2, 3], false],
    [11, [], true],
    [10, [], false],
  ])("of %i times at %j is more than ten points: %s", async (count, xs, refused) => {
    most = { points: 9 + (xs.length === 0 ? 1 : 0), name: "token.points" };
    const pending = pend(...Array(count).keys());
    fill(pending, xs);
    const answer = pending.answer();
    if (refused) await expect(answer).rejects.toMatchObject({ code: "LimitExceeded", context: { limit: most.name } });
    else expect((await answer).items).toBe(count * xs.length);
  });

  it("fails by the first failure, after it has ended the others and given them back", async () => {
    gate = async (time) => {
      if (time >= 2) throw new DataError(`time ${time}`);
    };
    const pending = pend(0, 1, 2, 3, 4, 5, 6);
    fill(pending, [1]);
    await expect(pending.answer()).rejects.toThrow("time 2");
    expect([open, running]).toEqual([0, 0]);
    expect(aborted).toBeGreaterThan(0);
    expect(asked.length).toBeLessThan(7);
  });

  it("is a whole result if a stream is wanted and its values are few", async () => {
    const pending = pend(0, 1);
    fill(pending, Array(25).keys());
    const result = await pending.answer();
    expect(result.stream).toBeUndefined();
    expect(result.items).toBe(50);
    expect(asked.map(({ stream }) => stream)).toEqual([false, false]);
  });

  describe("of more values than are kept", () => {
    const COUNT = 2 ** 21;
    const POINTS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    const many = Array.from({ length: Math.ceil(COUNT / POINTS.length) }, (_, i) => i);
    const large = (): PendingQuery => {
      const pending = new PendingQuery(life(), limits, QUERY, many);
      fill(pending, POINTS);
      return pending;
    };

    it("comes time by time, a few ahead of its reader, and ends when the caller leaves", async () => {
      const result = await large().answer();
      expect(result.items).toBe(many.length * POINTS.length);
      const probes = asked.filter(({ stream }) => !stream).length;
      expect(probes).toBe(2);
      expect(asked.length - probes).toBeLessThanOrEqual(5);
      const parts = partsOf(result);
      const seen: number[] = [];
      while (seen.length < 3 * 3 * POINTS.length) seen.push(...((await parts.next()).value as Float32Array));
      expect(seen.filter((_, i) => i % 3 === 0)).toEqual([0, 1, 2].flatMap((t) => POINTS.map((x) => x + 1000 * t)));
      expect(asked.length - probes).toBeLessThan(12);
      await parts.return(undefined);
      await new Promise(setImmediate);
      expect(open).toBe(0);
    });

    it("is refused at the first of its ascending times that cannot be answered, before any is", async () => {
      gate = async (time) => {
        if (time >= 1234) throw new RequestError("OutOfRange", `time ${time}`, { member: "time" });
      };
      await expect(large().answer()).rejects.toThrow("time 1234");
      expect(asked.every(({ stream }) => !stream)).toBe(true);
      expect(open).toBe(0);
    });

    it.each([
      ["late", 5_000_000],
      ["early", -3],
    ])("is refused before any is answered, wherever one of its times is too %s", async (_, bad) => {
      gate = async (time) => {
        if (time < 0 || time > 1_000_000) throw new RequestError("OutOfRange", `time ${time}`, { member: "time" });
      };
      for (const place of [1, many.length >> 1, many.length - 2]) {
        asked.length = 0;
        const pending = new PendingQuery(life(), limits, QUERY, many.with(place, bad));
        fill(pending, POINTS);
        await expect(pending.answer()).rejects.toThrow(`time ${bad}`);
        expect(asked.every(({ stream }) => !stream)).toBe(true);
        expect(open).toBe(0);
      }
    });
  });
});

import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import { DataError } from "../../../src/shared/errors.js";
import { BrickCache, type BrickRequest, NotCached } from "../../../src/storage/bricks/cache.js";
import { CachedBricks } from "../../../src/storage/bricks/cached-bricks.js";
import { BrickDirectory, cacheLayout } from "../../../src/storage/bricks/directory.js";
import { fc } from "../../support/property.js";

const UNIT = 16 * 1024;
const MODULE = new URL("../../../dist/storage/bricks/cache.js", import.meta.url).href;

function openCache(units: number, workers: number) {
  const layout = cacheLayout(0, units * UNIT, workers);
  const buffer = new SharedArrayBuffer(layout.end);
  new BrickCache(buffer, layout, -1).initialise();
  return { buffer, layout, cache: new BrickCache(buffer, layout, 0) };
}

/** The value that every element of a brick has in these tests. */
const content = (source: number, frame: number, brick: number): number => source * 10_000 + frame * 100 + brick;

function request(source: number, frame: number, bricks: number[], units: number, reads?: string[]): BrickRequest {
  return {
    source,
    frame,
    bricks: Int32Array.from(bricks),
    count: bricks.length,
    values: (units * UNIT) / 4,
    load: (atFrame, brick, into) => {
      reads?.push(`${source}/${atFrame}/${brick}`);
      into.fill(content(source, atFrame, brick));
    },
    offsets: new Int32Array(bricks.length),
  };
}

function check(buffer: SharedArrayBuffer, { source, frame, bricks, offsets, values }: BrickRequest): void {
  const all = new Float32Array(buffer);
  bricks.forEach((brick, i) => {
    const offset = offsets[i] as number;
    expect(all[offset]).toBe(content(source, frame, brick));
    expect(all[offset + values - 1]).toBe(content(source, frame, brick));
  });
}

function placeOf({ bricks, offsets }: BrickRequest, place: number): number {
  const first = Math.min(...offsets);
  return bricks[[...offsets].indexOf(first + (place * UNIT) / 4)] as number;
}

describe("brick cache", () => {
  it("reads a brick once while it fits, and hands out what was read", () => {
    const { buffer, cache } = openCache(8, 2);
    const reads: string[] = [];
    for (let round = 0; round < 3; round++) {
      const wanted = request(1, 0, [4, 5, 6], 2, reads);
      cache.acquire([wanted]);
      check(buffer, wanted);
      cache.release([wanted]);
    }
    expect(reads).toEqual(["1/0/4", "1/0/5", "1/0/6"]);
    expect(cache.status()).toEqual({ hits: 6, misses: 3, bytesRead: 6 * UNIT, bytesUsed: 6 * UNIT });
  });

  it("evicts the least recently used brick and never a pinned one", () => {
    const { buffer, cache } = openCache(3, 2);
    const reads: string[] = [];
    const pinned = request(1, 0, [0], 1, reads);
    cache.acquire([pinned]);
    for (const brick of [1, 2, 1, 3, 1, 2]) {
      const wanted = request(1, 0, [brick], 1, reads);
      cache.acquire([wanted]);
      check(buffer, wanted);
      cache.release([wanted]);
    }
    check(buffer, pinned);
    cache.release([pinned]);
    expect(reads).toEqual(["1/0/0", "1/0/1", "1/0/2", "1/0/3", "1/0/2"]);
  });

  it("drops what will not be needed again, but nothing that is pinned, and leaves the rest", () => {
    const { buffer, layout, cache } = openCache(8, 2);
    const reads: string[] = [];
    const [wanted, pinned] = [request(1, 0, [4, 5], 2, reads), request(1, 0, [6], 2)];
    cache.acquire([wanted]);
    cache.release([wanted]);
    new BrickCache(buffer, layout, 1).acquire([pinned]);
    cache.drop(request(1, 0, [5, 6, 7], 2));
    expect(cache.missing(request(1, 0, [4, 5, 6, 7], 2))).toEqual([5, 7]);
    expect(cache.status().bytesUsed).toBe(4 * UNIT);
    cache.acquire([wanted]);
    expect(reads).toEqual(["1/0/4", "1/0/5", "1/0/5"]);
    check(buffer, wanted);
    check(buffer, pinned);
  });

  it("makes bricks of others at a time, those that it lacks, and counts what it is told to", () => {
    const { buffer, cache } = openCache(8, 1);
    const made: (readonly number[])[] = [];
    const wanted = request(1, 0, [4, 5], 2);
    const make: BrickRequest["make"] = (bricks, offsets) => {
      made.push(bricks);
      for (const [i, brick] of bricks.entries()) {
        const first = offsets[i] as number;
        new Float32Array(buffer).fill(content(1, 0, brick), first, first + wanted.values);
      }
      cache.countRead(100);
    };
    for (const bricks of [[4], [4, 5, 6]]) {
      const some = { ...request(1, 0, bricks, 2), make };
      cache.acquire([some]);
      check(buffer, some);
      cache.release([some]);
    }
    expect(made).toEqual([[4], [5, 6]]);
    expect(cache.status().bytesRead).toBe(200);
  });

  it("refuses a set that can never fit, and keeps working", () => {
    const { buffer, cache } = openCache(4, 1);
    expect(() => cache.acquire([request(1, 0, [0, 1, 2], 2)])).toThrow(DataError);
    const fits = request(1, 0, [0, 1], 2);
    cache.acquire([fits]);
    check(buffer, fits);
    cache.release([fits]);
    expect(cache.status().bytesUsed).toBe(4 * UNIT);
  });

  it("finds room for bricks that fit, also where smaller ones that are needed with them lie scattered", () => {
    const { buffer, cache } = openCache(8, 1);
    const small = request(1, 0, [0, 1, 2, 3, 4, 5, 6, 7], 1);
    cache.acquire([small]);
    cache.release([small]);
    const scattered = [2, 5];
    const wanted = [request(1, 0, [...scattered.map((place) => placeOf(small, place))], 1), request(2, 0, [0], 4)];
    cache.acquire(wanted);
    for (const each of wanted) check(buffer, each);
    cache.release(wanted);
  });

  it("refuses at once what can never fit, without driving out what others use", () => {
    const { buffer, layout } = openCache(4, 2);
    const other = new BrickCache(buffer, layout, 1);
    const held = request(1, 0, [0], 1);
    other.acquire([held]);
    const kept = request(1, 0, [1, 2], 1);
    other.acquire([kept]);
    other.release([kept]);
    expect(() => new BrickCache(buffer, layout, 0).acquire([request(2, 0, [0, 1, 2], 2)])).toThrow(DataError);
    const reads: string[] = [];
    other.acquire([request(1, 0, [1, 2], 1, reads)]);
    expect(reads).toEqual([]);
  });

  it("passes a failed read on, counts what was read before it, frees its space, and reads again at the next try", () => {
    const { buffer, cache } = openCache(4, 1);
    const bad = request(1, 0, [0, 1, 2], 1);
    const failing = {
      ...bad,
      load: (frame: number, brick: number, into: Float32Array) => {
        if (brick === 1) throw new DataError("checksum");
        bad.load(frame, brick, into);
      },
    };
    expect(() => cache.acquire([failing])).toThrow("checksum");
    expect(cache.status().bytesRead).toBe(UNIT);
    const again = request(1, 0, [0, 1, 2, 3], 1);
    cache.acquire([again]);
    check(buffer, again);
    cache.release([again]);
  });

  it("keeps every brick whole under random sizes, frames and pins", () => {
    const step = fc.record({
      source: fc.integer({ min: 1, max: 3 }),
      frame: fc.nat(3),
      first: fc.nat(5),
      count: fc.integer({ min: 1, max: 3 }),
      hold: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { buffer, layout } = openCache(24, 2);
        const caches = [new BrickCache(buffer, layout, 0), new BrickCache(buffer, layout, 1)] as const;
        let held: BrickRequest | null = null;
        for (const { source, frame, first, count, hold } of steps) {
          const bricks = Array.from({ length: count }, (_, i) => first + i);
          const wanted = request(source, frame, bricks, source);
          caches[0].acquire([wanted]);
          check(buffer, wanted);
          caches[0].release([wanted]);
          if (held) check(buffer, held);
          if (hold) {
            if (held) caches[1].release([held]);
            held = request(source, frame, bricks, source);
            caches[1].acquire([held]);
          }
        }
        expect(caches[0].status().bytesUsed).toBeLessThanOrEqual(24 * UNIT);
      }),
    );
  });

  it("takes over from a worker that died with pins, a half-read brick and the lock", async () => {
    const { buffer, layout } = openCache(6, 2);
    const code = `
      const { workerData, parentPort } = require("node:worker_threads");
      import(workerData.module).then(({ BrickCache }) => {
        const cache = new BrickCache(workerData.buffer, workerData.layout, 0);
        const request = (bricks, load) => ({ source: 1, frame: 0, bricks: Int32Array.from(bricks), count: bricks.length,
          values: 4096, load, offsets: new Int32Array(bricks.length) });
        cache.acquire([request([0, 1], (frame, brick, into) => into.fill(brick))]);
        cache.acquire([request([2, 3], () => { parentPort.postMessage("reading"); for (;;); })]);
      });`;
    const worker = new Worker(code, { eval: true, workerData: { buffer, layout, module: MODULE } });
    await new Promise((resolve) => worker.once("message", resolve));
    await worker.terminate();
    const lock = new Int32Array(buffer, layout.base + 24, 1);
    Atomics.store(lock, 0, 2);
    expect(new BrickCache(buffer, layout, -1).repair(0)).toBe(true);
    expect(lock[0]).toBe(0);
    const alive = new BrickCache(buffer, layout, 1);
    const reads: string[] = [];
    const all = request(3, 0, [0, 1, 2, 3, 4, 5], 1, reads);
    alive.acquire([all]);
    check(buffer, all);
    alive.release([all]);
    expect(reads.length).toBe(6);
  });

  it("does not wait, in the thread that would hear of its death, for a second worker that died with the lock", () => {
    const { buffer, layout } = openCache(6, 2);
    const main = new BrickCache(buffer, layout, -1);
    const lock = new Int32Array(buffer, layout.base + 24, 1);
    Atomics.store(lock, 0, 3);
    expect(main.repair(0)).toBe(false);
    expect(main.repair(1)).toBe(true);
    expect(main.repair(0)).toBe(true);
    expect(lock[0]).toBe(0);
  });

  it("gives a large set its turn before small ones that come later", async () => {
    const { buffer, layout, cache: holder } = openCache(6, 3);
    const held = request(1, 0, [0, 1, 2], 1);
    holder.acquire([held]);
    const ranks = new Int32Array(new SharedArrayBuffer(4));
    const code = `
      const { workerData, parentPort } = require("node:worker_threads");
      import(workerData.module).then(({ BrickCache }) => {
        const { buffer, layout, index, first, count, ranks } = workerData;
        const cache = new BrickCache(buffer, layout, index);
        const request = { source: 2, frame: 0, bricks: Int32Array.from({ length: count }, (_, i) => first + i), count, values: 4096,
          load: (frame, brick, into) => into.fill(brick), offsets: new Int32Array(count) };
        parentPort.postMessage("tries");
        cache.acquire([request]);
        const rank = Atomics.add(ranks, 0, 1);
        cache.release([request]);
        parentPort.postMessage(rank);
      });`;
    /** Starts a worker; it has tried once the first promise resolves, and the second one tells its rank. */
    const start = (
      index: number,
      first: number,
      count: number,
    ): { tries: Promise<unknown>; rank: Promise<unknown> } => {
      const worker = new Worker(code, {
        eval: true,
        workerData: { buffer, layout, index, first, count, ranks, module: MODULE },
      });
      const tries = once(worker, "message");
      return { tries, rank: tries.then(() => once(worker, "message")).then(([rank]) => rank) };
    };
    const large = start(1, 0, 6);
    const turn = new Int32Array(buffer, layout.base + 24 + 28, 1);
    await expect.poll(() => Atomics.load(turn, 0)).not.toBe(0);
    // A brick that the large set does not share: there is room for it now, or when that set is released.
    const small = start(2, 6, 1);
    await small.tries;
    // Both threads wait: this call wakes them and counts them, and they wait again.
    const releases = new Int32Array(buffer, layout.base + 24 + 4, 1);
    await expect.poll(() => Atomics.notify(releases, 0), { timeout: 5000 }).toBe(2);
    holder.release([held]);
    expect(await Promise.all([large.rank, small.rank])).toEqual([0, 1]);
    expect(Atomics.load(turn, 0)).toBe(0);
  });

  it("lets threads share reads: each brick is read once, every thread sees it whole", async () => {
    const { buffer, layout } = openCache(64, 4);
    const code = `
      const { workerData, parentPort } = require("node:worker_threads");
      import(workerData.module).then(({ BrickCache }) => {
        const { buffer, layout, index } = workerData;
        const cache = new BrickCache(buffer, layout, index);
        const all = new Float32Array(buffer);
        let reads = 0, wrong = 0;
        for (let round = 0; round < 400; round++) {
          const bricks = Int32Array.from([0, 1, 2, 3].map((i) => (round * 7 + i * 5 + index) % 60));
          const values = 4096;
          const request = { source: 1, frame: 0, bricks, count: 4, values, offsets: new Int32Array(4),
            load: (frame, brick, into) => { reads++; into.fill(brick); } };
          cache.acquire([request]);
          request.offsets.forEach((offset, i) => { if (all[offset] !== bricks[i] || all[offset + values - 1] !== bricks[i]) wrong++; });
          cache.release([request]);
        }
        parentPort.postMessage({ reads, wrong });
      });`;
    const outcomes = await Promise.all(
      [0, 1, 2, 3].map(
        (index) =>
          new Promise<{ reads: number; wrong: number }>((resolve, reject) => {
            const worker = new Worker(code, { eval: true, workerData: { buffer, layout, index, module: MODULE } });
            worker.once("message", resolve);
            worker.once("error", reject);
          }),
      ),
    );
    expect(outcomes.reduce((sum, { reads }) => sum + reads, 0)).toBe(60);
    expect(outcomes.every(({ wrong }) => wrong === 0)).toBe(true);
  });
});

describe("a thread that neither reads nor waits", () => {
  it("pins what is there, all or nothing, and keeps it from being evicted", () => {
    const { buffer, layout, cache: reader } = openCache(3, 2);
    const other = new CachedBricks(buffer, layout, 1);
    const there = request(1, 0, [4], 2);
    reader.acquire([there]);
    reader.release([there]);
    const reads: string[] = [];
    expect(() => other.acquire([request(1, 0, [4, 5], 2, reads)])).toThrow(NotCached);
    const wanted = request(1, 0, [4], 2, reads);
    other.acquire([wanted]);
    check(buffer, wanted);
    const next = request(1, 0, [6], 1);
    reader.acquire([next]);
    reader.release([next]);
    expect(() => reader.acquire([request(1, 0, [7, 8], 2)])).toThrow(DataError);
    check(buffer, wanted);
    other.release([wanted]);
    const large = request(1, 0, [7], 3);
    reader.acquire([large]);
    check(buffer, large);
    reader.release([large]);
    expect(() => other.acquire([wanted])).toThrow(NotCached);
    expect(reads).toEqual([]);
  });

  it("does not wait for the lock, nor take pins that another waits for, and drops its own in a moment", async () => {
    const { buffer, layout, cache: reader } = openCache(3, 3);
    const other = new CachedBricks(buffer, layout, 1);
    const third = new BrickDirectory(buffer, layout, 2);
    const there = request(1, 0, [4], 2);
    reader.acquire([there]);
    reader.release([there]);
    third.locked(() => expect(() => other.acquire([there])).toThrow(NotCached));
    third.locked(() => third.claimTurn());
    expect(() => other.acquire([there])).toThrow(NotCached);
    third.locked(() => third.endTurn());
    other.acquire([there]);
    third.locked(() => other.release([there]));
    expect(third.anyPinned).toBe(true);
    await expect.poll(() => third.anyPinned, { interval: 0 }).toBe(false);
    other.acquire([there]);
    other.release([there]);
    expect(third.anyPinned).toBe(false);
  });
});

import { afterEach, describe, expect, it, vi } from "vitest";
import { type CombinedSweep, sweepRows } from "../../../src/engine/contract/combined-bricks.js";
import { memoryLayout } from "../../../src/engine/contract/memory.js";
import type { BrickSource } from "../../../src/engine/worker/brick-source.js";
import { CombinedField } from "../../../src/engine/worker/combined-field.js";
import { type Emit, Sampler } from "../../../src/engine/worker/sampler.js";
import { createScheme } from "../../../src/kernels/index.js";
import { createSharedMemory } from "../../../src/kernels/simd/index.js";
import type { Axes, Scheme } from "../../../src/kernels/types.js";
import type { FrameBricks } from "../../../src/storage/bricks/brick-reader.js";
import { BrickCache } from "../../../src/storage/bricks/cache.js";

const axis = { nodes: 8, origin: 0, spacing: 1, periodic: true, coordinates: null };
const axes: Axes = [axis, axis, axis];
const bricking = { edge: [4, 4, 4], count: [2, 2, 2] } as const;
/** A field whose every value is the number of its brick. */
const source = {
  source: 1,
  components: 3,
  bricking,
  load: (_frame: number, brick: number, into: Float32Array): void => {
    into.fill(brick);
  },
};

afterEach(() => void vi.restoreAllMocks());

/** @param left each byte of the memory of the worker, from an earlier one */
function samplerOf(bytes: number, workers = 1, left = 0): Sampler {
  const layout = memoryLayout(workers, bytes);
  const buffer = createSharedMemory(layout.bytes).buffer as ArrayBufferLike as SharedArrayBuffer;
  new Uint8Array(buffer, layout.arenas, layout.arenaBytes).fill(left);
  new BrickCache(buffer, layout.cache, -1).initialise();
  return new Sampler(buffer, layout, 0, () => undefined);
}

const oneFrame = { frames: [0], weights: [1] };
const ignore = (): void => {};
const wide = { ...axis, nodes: 32 };
const grid: Axes = [wide, wide, wide];
const cut = { edge: [8, 8, 8], count: [4, 4, 4] } as const;
const combinedSweep = (): CombinedSweep => ({
  source: -100,
  shape: { axes: [0, 1, 2], width: [4, 4, 4], reference: 2 },
  bricking: cut,
  halo: 3,
  rows: sweepRows(1),
  batch: 0,
});
/** Two frames of a field on `grid`, combined. */
const samplingOf = (stored: BrickSource, sweep: CombinedSweep) => ({
  axes: grid,
  scheme: createScheme("velocity", "Lag4", grid, { fd8Legacy: false }, undefined),
  sources: [new CombinedField(grid, stored, { frames: [0, 1], weights: [0.25, 0.75] }, sweep, 0)],
  combination: oneFrame,
  sorted: true,
});
/** Writes the first value of each point to its index in `found`. */
const into =
  (found: number[]): Emit =>
  (values, order, count) => {
    for (let i = 0; i < count; i++) found[order[i] as number] = values[3 * i] as number;
  };

describe("sampler", () => {
  it("takes nothing over from a thread that died in the middle of a group and had its index", () => {
    const sampler = samplerOf(1024 * 1024, 1, 1);
    const scheme = createScheme("velocity", "None", axes, { fd8Legacy: false }, undefined);
    const found: number[] = [];
    for (let brick = 0; brick < 8; brick++) {
      for (let a = 0; a < 3; a++) sampler.positions[3 * brick + a] = 1 + 4 * ((brick >> a) & 1);
    }
    sampler.sample({ axes, scheme, sources: [source], combination: oneFrame, sorted: false }, 8, into(found), ignore);
    expect(found).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("looks at a point only a few times for its group where a cache holds little more than one stencil", () => {
    const sampler = samplerOf(16 * 16_384);
    const fine = { edge: [4, 4, 4], count: [8, 8, 8] } as const;
    const count = 2000;
    // Each point lies at a corner where eight bricks meet, none of which the next point needs.
    for (let i = 0; i < 3 * count; i++) {
      sampler.positions[i] = 3.5 + 8 * ((((i % 3) + 1) * Math.floor(i / 3)) % 4);
    }
    const lag4 = createScheme("velocity", "Lag4", grid, { fd8Legacy: false }, undefined);
    let looks = 0;
    let answered = 0;
    const scheme: Scheme = {
      ...lag4,
      listBricks(...args) {
        looks += args[3];
        return lag4.listBricks(...args);
      },
    };
    const sources = [{ ...source, bricking: fine }];
    const emit: Emit = (_values, _order, points) => {
      answered += points;
    };
    sampler.sample({ axes: grid, scheme, sources, combination: oneFrame, sorted: true }, count, emit, ignore);
    expect(answered).toBe(count);
    expect(looks / count).toBeLessThan(10);
  });

  it("makes groups of expensive points, and of bricks that are slow to read, as small as a time slice asks", () => {
    const sampler = samplerOf(1024 * 1024);
    let now = 0;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    const read: number[] = [];
    const load = (_frame: number, brick: number, into: Float32Array): void => {
      now += 50;
      read.push(brick);
      into.fill(brick);
    };
    const plain = createScheme("velocity", "None", axes, { fd8Legacy: false }, undefined);
    const scheme: Scheme = {
      ...plain,
      evaluate(...args) {
        now += 0.1 * args[3];
        return plain.evaluate(...args);
      },
    };
    const count = 2000;
    for (let i = 0; i < count; i++)
      for (let a = 0; a < 3; a++) sampler.positions[3 * i + a] = 1 + 4 * ((Math.floor(i / 250) >> a) & 1);
    const groups: number[] = [];
    const readsBefore: number[] = [];
    const emit: Emit = (_values, _order, points) => {
      groups.push(points);
      readsBefore.push(read.length);
    };
    const sources = [{ ...source, load }];
    sampler.sample({ axes, scheme, sources, combination: oneFrame, sorted: true }, count, emit, ignore);
    expect(groups.reduce((sum, size) => sum + size, 0)).toBe(count);
    // One of unknown cost, then 4 ms each.
    expect(groups[0]).toBeLessThanOrEqual(256);
    expect(Math.max(...groups.slice(1))).toBe(40);
    const newReads = readsBefore.map((reads, i) => reads - (readsBefore[i - 1] ?? 0));
    expect(Math.max(...newReads.slice(1))).toBe(1);
    expect(read).toHaveLength(8);
  });

  it("reads ahead the bricks that a batch then finds, as many as there is time for", () => {
    const sampler = samplerOf(1024 * 1024);
    const scheme = createScheme("velocity", "None", axes, { fd8Legacy: false }, undefined);
    const read: string[] = [];
    const load = (frame: number, brick: number, into: Float32Array): void => {
      read.push(`${frame} ${brick}`);
      into.fill(brick);
    };
    const frames = { frames: [3, 4], weights: [0.5, 0.5] };
    const sampling = { axes, scheme, sources: [{ ...source, load }], combination: frames, sorted: true };
    const place = (brick: number, at: number): void => {
      for (let a = 0; a < 3; a++) sampler.positions[3 * at + a] = 1 + 4 * ((brick >> a) & 1);
    };
    for (const [at, brick] of [6, 1, 3].entries()) place(brick, at);
    sampler.readAhead(sampling, 3, () => read.length === 3);
    expect(read).toEqual(["3 6", "4 6", "3 1"]);
    sampler.readAhead(sampling, 3, () => false);
    expect(read).toEqual(["3 6", "4 6", "3 1", "4 1", "3 3", "4 3"]);
    const values: number[] = [];
    sampler.sample(sampling, 3, into(values), ignore);
    expect([values, read.length]).toEqual([[6, 1, 3], 6]);
  });

  const eight = [0, 1, 2, 3, 4, 5, 6, 7];
  const reads = eight.map((brick) => `read ${brick}`);
  it.each([
    [
      "one by one, while others are on their way",
      1024 * 1024,
      eight.flatMap((at) => [`ask ${eight.slice(at)}`, reads[at]]),
    ],
    ["at the end, where a group may pin the whole cache", 17 * 16_384, [...eight.map(() => `ask ${eight}`), ...reads]],
  ])("reads bricks that arrive from a store %s", (_, cacheBytes, expected) => {
    const sampler = samplerOf(cacheBytes, 3);
    const steps: string[] = [];
    let arrived = 0;
    const store = {
      ...source,
      load(frame: number, brick: number, into: Float32Array): void {
        if (frame === 0) steps.push(`read ${brick}`);
        into.fill(brick);
      },
      fetched(wanted: readonly FrameBricks[]): readonly FrameBricks[] {
        const first = wanted.find(({ frame }) => frame === 0);
        if (first !== undefined) steps.push(`ask ${first.bricks}`);
        arrived++;
        return wanted.map(({ frame, bricks }) => ({ frame, bricks: bricks.filter((brick) => brick < arrived) }));
      },
    };
    // A stencil that reaches into all bricks, in two frames: more than a worker's part of the small cache.
    const scheme = createScheme("velocity", "Lag4", axes, { fd8Legacy: false }, undefined);
    sampler.positions.fill(3.5, 0, 3);
    const frames = { frames: [0, 1], weights: [0.5, 0.5] };
    const found: number[] = [];
    const sampling = { axes, scheme, sources: [store], combination: frames, sorted: true };
    sampler.sample(sampling, 1, into(found), ignore);
    expect(steps).toEqual(expected);
    expect(found).toEqual([expect.closeTo(3.5, 5)]);
  });

  it("asks a store once for each brick that a group combines, though all made of them exceeds the cache", () => {
    const sampler = samplerOf(18 * 16_384);
    const asked: string[] = [];
    const arrived = new Set<string>();
    const begin = (piece: string): void => {
      if (asked.push(piece) > 100) throw new Error("bricks are asked for without end");
    };
    const store = {
      ...source,
      bricking: cut,
      /** Takes a brick, whose nodes are (frame + 1) (x + 2 y + 3 z), as the store forgets what has been taken. */
      load(frame: number, brick: number, into: Float32Array): void {
        if (!arrived.delete(`${frame} ${brick}`)) begin(`${frame} ${brick}`);
        const first = [8 * (brick % 4), 8 * (Math.floor(brick / 4) % 4), 8 * Math.floor(brick / 16)] as const;
        for (let i = 0; i < into.length; i++) {
          const node = Math.floor(i / 3);
          const [x, y, z] = [node % 8, Math.floor(node / 8) % 8, Math.floor(node / 64)];
          into[i] = (frame + 1) * (first[0] + x + 2 * (first[1] + y) + 3 * (first[2] + z));
        }
      },
      fetched(wanted: readonly FrameBricks[]): readonly FrameBricks[] {
        const pieces = wanted.flatMap(({ frame, bricks }) => bricks.map((brick) => `${frame} ${brick}`));
        const next = pieces.find((piece) => !arrived.has(piece));
        if (next !== undefined) {
          arrived.add(next);
          begin(next);
        }
        return wanted.map(({ frame, bricks }) => ({
          frame,
          bricks: bricks.filter((brick) => arrived.has(`${frame} ${brick}`)),
        }));
      },
    };
    const sampling = samplingOf(store, combinedSweep());
    // Each of six points needs a quarter of a stored brick, together a third of the cache; whole bricks exceed it.
    const places = [0, 1, 2].flatMap((z) => [0, 2].map((y) => [3.5, 8 * y + 1.5, 8 * z + 1.5] as const));
    for (const [i, place] of places.entries()) sampler.positions.set(place, 3 * i);
    const found: number[] = [];
    sampler.readAhead(sampling, places.length, () => false);
    expect(asked).toEqual([]);
    sampler.sample(sampling, places.length, into(found), ignore);
    expect(asked.toSorted()).toEqual([...new Set(asked)].toSorted());
    expect(asked).toHaveLength(2 * places.length);
    expect(found).toEqual(places.map(([x, y, z]) => expect.closeTo(1.75 * (x + 2 * y + 3 * z), 5)));
  });

  it.each(["is read ahead", "takes two time slices"])("keeps bricks of earlier batches while one %s", (how) => {
    const sampler = samplerOf(4 * 1024 * 1024);
    const read: string[] = [];
    const load = (frame: number, brick: number, out: Float32Array): void => {
      read.push(`${frame} ${brick}`);
      out.fill(brick);
    };
    const sweep = combinedSweep();
    const batch = (number: number, more = {}) =>
      samplingOf({ ...source, bricking: cut, load }, { ...sweep, batch: number, ...more });
    const count = 600;
    const placeAt = (z: number): void => {
      for (let i = 0; i < count; i++) sampler.positions.set([3.5, 3.5, z], 3 * i);
    };
    placeAt(1.5);
    sampler.readAhead(batch(0), count, () => false);
    placeAt(28.5);
    if (how === "is read ahead") sampler.readAhead(batch(1), count, () => false);
    const done = sampler.sample(batch(1), count, ignore, ignore, 0, () => how !== "is read ahead");
    if (done < count) sampler.sample(batch(1, { isResumed: true }), count, ignore, ignore, done);
    placeAt(1.5);
    sampler.sample(batch(0), count, ignore, ignore);
    expect(read.toSorted()).toEqual([...new Set(read)].toSorted());
  });

  it("sorts particles with every eighth evaluation, and others always", () => {
    const sampler = samplerOf(1024 * 1024);
    const scheme = createScheme("velocity", "None", axes, { fd8Legacy: false }, undefined);
    const count = 400;
    const sampling = { axes, scheme, sources: [source], combination: oneFrame, sorted: false };
    /** The order in which the points are evaluated, and whether each has the value of its brick. */
    const sample = (of: object): string => {
      const seen: number[] = [];
      const emit: Emit = (values, order, size) => {
        for (let i = 0; i < size; i++) {
          const point = order[i] as number;
          const [x = 0, y = 0, z = 0] = sampler.positions.subarray(3 * point, 3 * point + 3);
          expect(values[3 * i]).toBe(Math.floor(x / 4) + 2 * Math.floor(y / 4) + 4 * Math.floor(z / 4));
          seen.push(point);
        }
      };
      sampler.sample({ ...sampling, ...of }, count, emit, ignore);
      return seen.join();
    };
    const move = (by: number): void => {
      for (let i = 0; i < 3 * count; i++) sampler.positions[i] = (5 * i + by) % 8;
    };
    const moving = {};
    move(0);
    const first = sample({ moving });
    move(4);
    const kept = Array.from({ length: 7 }, () => sample({ moving }));
    expect(new Set([first, ...kept]).size).toBe(1);
    expect(sample({ moving })).not.toBe(first);
    move(0);
    expect(sample({})).toBe(first);
    move(4);
    expect(sample({})).not.toBe(first);
    move(0);
    expect(sample({ moving })).toBe(first);
    move(4);
    expect(sample({ moving: {} })).not.toBe(first);
  });

  it("leaves no bricks of a refused query to the next one", () => {
    const sampler = samplerOf(4 * 1024 * 1024);
    const fine = { ...source, bricking: { edge: [4, 4, 4], count: [8, 8, 8] } as const };
    const tooFine = {
      ...source,
      source: 2,
      components: 1,
      bricking: { edge: [1, 1, 1], count: [1024, 1024, 1] } as const,
    };
    const both = createScheme("velocityPressure", "None", grid, { fd8Legacy: false }, undefined);
    sampler.positions.fill(31, 0, 3);
    const refused = { axes: grid, scheme: both, sources: [fine, tooFine], combination: oneFrame, sorted: true };
    expect(() => sampler.sample(refused, 1, ignore, ignore)).toThrow("too finely cut");
    const read: number[] = [];
    const load = (_frame: number, brick: number): void => {
      read.push(brick);
    };
    const scheme = createScheme("velocity", "None", axes, { fd8Legacy: false }, undefined);
    sampler.positions.fill(1, 0, 3);
    const next = { axes, scheme, sources: [{ ...source, source: 3, load }], combination: oneFrame, sorted: true };
    sampler.sample(next, 1, ignore, ignore);
    expect(read).toEqual([0]);
  });
});

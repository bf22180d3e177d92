import { describe, expect, it } from "vitest";
import { cutByPeer, cutEvenly, rangesOf, type Shards, ShardTables } from "../../../src/cluster/gateway/shards.js";
import { decodeHeartbeat, encodeHeartbeat, type Heartbeat } from "../../../src/cluster/wire/heartbeat.js";
import type { BatchTask } from "../../../src/engine/task.js";
import type { Axis, Dataset } from "../../../src/storage/dataset.js";
import { generator } from "../../support/run-query.js";

const NODES = 64;
const uniform = (periodic: boolean): Axis => ({ nodes: NODES, origin: 0, spacing: 1, periodic, coordinates: null });
const tabulated: Axis = { ...uniform(false), coordinates: Float64Array.from({ length: NODES }, (_, i) => i ** 1.5) };

function shards(axes: Shards["axes"] = [uniform(true), uniform(true), uniform(true)]): Shards {
  const bricking = { edge: [8, 8, 8], count: [8, 8, 8] } as const;
  const dataset = {
    axes,
    time: { count: 20, origin: 0, step: 1, values: null, guardBefore: 0, guardAfter: 0 },
    fields: { velocity: { components: 3, bricking, parts: [] } },
  } as unknown as Dataset;
  return new ShardTables().of(
    { dataset, fields: ["velocity"], query: { operation: "GetVelocity", time: 3 } } as unknown as BatchTask,
    "ab",
  ) as Shards;
}

const at = (points: readonly (readonly number[])[]) => ({
  triples: Float64Array.from(points.flat()),
  count: points.length,
});

describe("shards", () => {
  it("number bricks in Morton order", () => {
    const corner = [
      [0, 0, 0],
      [8, 0, 0],
      [0, 8, 0],
      [0, 0, 8],
      [16, 0, 0],
      [63, 63, 63],
    ] as const;
    const ranges = rangesOf(shards(), [at(corner)], [0, 0, 0]);
    expect([...ranges]).toEqual([0, 1, 2, 4, 8, 511]);
  });

  it("wrap on periodic axes, end on others, and have a place for points that are nowhere", () => {
    const axes: Shards["axes"] = [uniform(true), uniform(false), tabulated];
    const points = [
      [-1, 0, 0],
      [71, 0, 0],
      [0, -5, 0],
      [0, 900, 0],
      [0, 0, 16 ** 1.5 + 0.1],
      [0, Number.NaN, 0],
      [Infinity, 0, 0],
    ];
    const ranges = rangesOf(shards(axes), [at(points.slice(0, 2)), at(points.slice(2))], [0, 0, 0]);
    expect([...ranges]).toEqual([0b001001001, 0, 0, 0b010010010, 0b000100000, 0, 0]);
  });
});

describe("pieces", () => {
  it("are even", () => {
    expect(cutEvenly(10, 4).map(({ first, count }) => [first, count])).toEqual([
      [0, 3],
      [3, 3],
      [6, 4],
    ]);
    expect(cutEvenly(4, 4).length).toBe(1);
  });

  it("have every point once, in the order of the batch, on the peer of its slot", () => {
    const random = generator(1);
    const all = shards();
    const count = 5000;
    const positions = Float64Array.from({ length: 3 * count }, () => 64 * random());
    const ranges = rangesOf(all, [{ triples: positions, count }], [0, 0, 0]);
    const peerOf = (slot: number): string => `peer-${slot % 3}`;
    const pieces = cutByPeer(all, ranges, peerOf, 10, 400);
    const seen = new Uint8Array(count);
    for (const { indices, count: size, peer } of pieces) {
      expect(size).toBeLessThanOrEqual(400);
      for (let k = 0; k < size; k++) {
        const i = indices?.[k] as number;
        seen[i] = (seen[i] as number) + 1;
        if (k > 0) expect(i).toBeGreaterThan(indices?.[k - 1] as number);
        expect(peerOf(all.slots[ranges[i] as number] as number)).toBe(peer);
      }
    }
    expect(seen.every((times) => times === 1)).toBe(true);
  });

  it("of few points go to the peer that has most", () => {
    const all = shards();
    const ranges = Uint16Array.from({ length: 1000 }, (_, i) => (i < 990 ? 0 : 7));
    const few = all.slots[7];
    const pieces = cutByPeer(all, ranges, (slot) => (slot === few ? "few" : "many"), 100, 5000);
    expect(pieces.map(({ peer, count }) => [peer, count])).toEqual([["many", 1000]]);
  });
});

describe("heartbeats", () => {
  const heartbeat: Heartbeat = {
    version: 1,
    node: "a",
    threads: 2,
    queued: 0,
    running: 1,
    draining: false,
    cache: { capacity: 1, used: 1, hits: 1, misses: 1, bytesRead: 1 },
    datasets: [["x", "0".repeat(64)]],
  };

  it("come back as they were sent", () => {
    expect(decodeHeartbeat(encodeHeartbeat(heartbeat))).toEqual(heartbeat);
  });

  it.each([
    ["another version", { version: 2 }],
    ["a name that is no token", { node: "a.b" }],
    ["no threads", { threads: 0 }],
    ["a short generation", { datasets: [["x", "00"]] }],
  ])("are ignored with %s", (_, change) => {
    expect(decodeHeartbeat(encodeHeartbeat({ ...heartbeat, ...change } as never))).toBeNull();
  });

  it("are ignored when they are not JSON", () => {
    expect(decodeHeartbeat(Uint8Array.of(0x7b, 0xff))).toBeNull();
  });
});

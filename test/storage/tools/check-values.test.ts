/** Damage inside a field is found with its frame and place; what a flow may have by nature is left alone. */
import { describe, expect, it } from "vitest";
import type { Axis, Triple } from "../../../src/storage/dataset/dataset.js";
import { PlacesOfFrame } from "../../../src/storage/tools/frame-places.js";
import type { FrameStatistics } from "../../../src/storage/tools/frame-statistics.js";
import { outliersIn, repeatedFrames } from "../../../src/storage/tools/outliers.js";

const N = 64;
const EDGE = 32;
type Value = (x: number, y: number, z: number) => number;

/** A value that no other node has, on a grid that is read in eight bricks. */
const own: Value = (x, y, z) => Math.sin(x + 64 * y + 4096 * z);
const inBlock = (x: number, y: number, z: number) => x >= 32 && y < 32 && z >= 32;

function placesOf(value: Value, components = 1, nodesOfY = N) {
  const [axis, y] = [{ nodes: N } as Axis, { nodes: nodesOfY } as Axis];
  const places = new PlacesOfFrame([axis, y, axis], components);
  const edge: Triple = [EDGE, EDGE, EDGE];
  for (let brick = 0; brick < 4 * Math.ceil(nodesOfY / EDGE); brick++) {
    const first: Triple = [(brick & 1) * EDGE, (brick >> 2) * EDGE, ((brick >> 1) & 1) * EDGE];
    const values = new Float32Array(EDGE ** 3 * components);
    for (let i = 0; i < values.length; i++) {
      const node = Math.floor(i / components);
      const at = [node % EDGE, Math.floor(node / EDGE) % EDGE, Math.floor(node / EDGE ** 2)] as const;
      values[i] = value(first[0] + at[0], first[1] + at[1], first[2] + at[2]) + (i % components);
    }
    places.add(values, edge, [EDGE, Math.min(EDGE, nodesOfY - first[1]), EDGE], first);
  }
  return places.found();
}

describe("a frame", () => {
  it("has no remarkable places if no node has the value of another", () => {
    for (const components of [1, 3]) expect(placesOf(own, components)).toMatchObject({ constant: [], others: [] });
  });

  it.each([
    [1, "0"],
    [3, "0, 1, 2"],
  ])("tells the box of a block of zeros, with %i components", (components, value) => {
    const found = placesOf((x, y, z) => (inBlock(x, y, z) ? 0 : own(x, y, z)), components);
    expect(found.constant).toEqual([`nodes x 32 to 63, y 0 to 31, z 32 to 63 are all ${value}`]);
  });

  it("tells blocks that touch at a corner apart", () => {
    const isIn = (...at: number[]) => at.every((i) => i < 8) || at.every((i) => i >> 3 === 1);
    const boxes = ["0 to 7", "8 to 15"].map((ends) => `nodes x ${ends}, y ${ends}, z ${ends} are all 0.1`);
    expect(placesOf((x, y, z) => (isIn(x, y, z) ? 0.1 : own(x, y, z))).constant).toEqual(boxes);
    expect(placesOf((x, y, z) => own(isIn(x, y, z) ? x + 16 : x, y, z)).others).toHaveLength(2);
  });

  it("tells a block that repeats another", () => {
    const found = placesOf((x, y, z) => (x >= 48 && y < 16 && z < 16 ? own(x - 32, y, z) : own(x, y, z)));
    expect(found.others).toEqual([
      "nodes x 48 to 63, y 0 to 15, z 0 to 15 repeat nodes x 16 to 31, y 0 to 15, z 0 to 15",
    ]);
  });

  it("tells the box of values that are not finite", () => {
    const found = placesOf((x, y, z) => (x === 9 && y === 9 && z === 9 ? Number.NaN : own(x, y, z)));
    expect(found.others).toEqual(["nodes x 8 to 15, y 8 to 15, z 8 to 15 hold values that are not finite"]);
  });

  it("may end in a plane of one value that is a brick of its own, as walls of 2^n + 1 nodes are, but not in a part of it", () => {
    const at = (wall: (x: number) => boolean) =>
      placesOf((x, y, z) => (y === N && wall(x) ? 0 : own(x, y, z)), 1, N + 1).constant;
    expect(at(() => true)).toEqual([]);
    expect(at((x) => x >= 32)).toEqual(["nodes x 32 to 63, y 64 to 64, z 0 to 63 are all 0"]);
  });

  it("may be constant, constant along an axis, or symmetric by nature", () => {
    expect(placesOf(() => 3)).toEqual({ constant: [], others: [], hash: null });
    expect(placesOf((x, y) => own(x, y, 0))).toMatchObject({ constant: [], others: [] });
    expect(placesOf((x, y, z) => own(x % 32, y, z))).toMatchObject({ constant: [], others: [] });
  });
});

const divergence = (own: number) => ({ own, shuffled: [0.6, 0.7] as const });

describe("frames beside each other", () => {
  const frame = (given: Partial<FrameStatistics>) =>
    ({ rms: 1, mean: 0, divergence: divergence(0.024), ...given }) as FrameStatistics;
  const among = (given: Partial<FrameStatistics>) => {
    const odd = frame(given);
    return outliersIn([frame({}), frame({}), odd, frame({}), frame({})], 2);
  };

  it.each<[Partial<FrameStatistics>, string]>([
    [{ divergence: divergence(0.388) }, "divergence / gradient 0.388, 0.0240 in the frames around"],
    [{ rms: 3.1 }, "rms 3.10, 1.00 in the frames around"],
    [{ rms: 0.3 }, "rms 0.300, 1.00 in the frames around"],
    [{ mean: -2.5 }, "mean -2.50, 0.00 in the frames around"],
  ])("have one that differs by a factor: %o", (given, text) => expect(among(given)).toEqual([text]));

  it("have one that differs although another one around it does too", () => {
    const frames = [1, 1, 10, 1, 1, 30].map((rms) => frame({ rms }));
    expect(outliersIn(frames, 2)).toEqual(["rms 10.0, 1.00 in the frames around"]);
  });

  it("may differ by less", () => {
    for (const given of [{}, { divergence: divergence(0.09) }, { rms: 2.9 }, { mean: 1.9 }])
      expect(among(given)).toEqual([]);
  });

  it("may grow or decay by any factor, and start from rest", () => {
    const growing = [0, 1, 20, 400, 8000].map((rms) => frame({ rms, mean: rms / 2 }));
    for (const frames of [growing, growing.toReversed()])
      for (const at of frames.keys()) expect(outliersIn(frames, at)).toEqual([]);
  });

  it.each([0, 4])("have one at an end that differs by more: frame %i", (at) => {
    const ended = (given: Partial<FrameStatistics>) => {
      const frames = Array.from({ length: 5 }, (_, frame_) => frame(frame_ === at ? given : {}));
      return outliersIn(frames, at);
    };
    expect(ended({ rms: 9 })).toEqual([]);
    expect(ended({ rms: 0.01 })).toEqual([]);
    expect(ended({ rms: 10.5 })).toEqual(["rms 10.5, 1.00 in the frames around"]);
    expect(ended({ mean: 9 })).toEqual([]);
    expect(ended({ mean: 50 })).toEqual(["mean 50.0, 0.00 in the frames around"]);
  });

  /** What is said of frames by the hashes of their values; null: one value. */
  const saidOf = (...hashes: readonly (number | null)[]) => {
    const frames = hashes.map((hash) => ({ nonFinite: 0, min: 0, places: { hash } }) as FrameStatistics);
    const said = repeatedFrames(new Map(frames.map((one, at) => [10 + at, one])));
    return frames.map((one) => said.get(one)?.join() ?? "");
  };

  it("repeat none, unless the flow is steady", () => {
    expect(saidOf(1, 2, 3)).toEqual(["", "", ""]);
    expect(saidOf(1, 2, 2, 3)).toEqual(["", "", "all values repeat those of frame 11", ""]);
    expect(saidOf(1, 2, 1)).toEqual(["", "", "all values repeat those of frame 10"]);
    expect(saidOf(1, 1)).toEqual(["", ""]);
    expect(saidOf(1, 2, 2, 2)).toEqual(["", "", "", ""]);
  });

  it("hold one value only before the flow begins", () => {
    expect(saidOf(null, null, 1, 2, null)).toEqual(["", "", "", "", "all values are 0"]);
    expect(saidOf(null, null)).toEqual(["", ""]);
  });

  it("are not compared if there are fewer than three", () => {
    expect(outliersIn([frame({}), frame({ rms: 100 })], 1)).toEqual([]);
  });
});

/** Damage inside a field is found with its frame and place; what a flow may have by nature is left alone. */
import { describe, expect, it } from "vitest";
import type { Axis, Triple } from "../../../src/storage/file/dataset.js";
import { PlacesOfFrame } from "../../../src/storage/tools/frame-places.js";
import type { FrameStatistics } from "../../../src/storage/tools/frame-statistics.js";
import { outliersIn } from "../../../src/storage/tools/outliers.js";

const N = 64;
const EDGE = 32;
type Value = (x: number, y: number, z: number) => number;

/** A value that no other node has, on a grid that is read in eight bricks. */
const own: Value = (x, y, z) => Math.sin(x + 64 * y + 4096 * z);
const inBlock = (x: number, y: number, z: number) => x >= 32 && y < 32 && z >= 32;

function placesOf(value: Value, components = 1) {
  const axis = { nodes: N } as Axis;
  const places = new PlacesOfFrame([axis, axis, axis], components);
  const edge: Triple = [EDGE, EDGE, EDGE];
  for (let brick = 0; brick < 8; brick++) {
    const first = [0, 1, 2].map((at) => ((brick >> at) & 1) * EDGE) as unknown as Triple;
    const values = new Float32Array(EDGE ** 3 * components);
    for (let i = 0; i < values.length; i++) {
      const node = Math.floor(i / components);
      const at = [node % EDGE, Math.floor(node / EDGE) % EDGE, Math.floor(node / EDGE ** 2)] as const;
      values[i] = value(first[0] + at[0], first[1] + at[1], first[2] + at[2]) + (i % components);
    }
    places.add(values, edge, edge, first);
  }
  return places.found();
}

describe("a frame", () => {
  it("has no remarkable places if no node has the value of another", () => {
    expect(placesOf(own)).toEqual({ constant: [], others: [] });
    expect(placesOf(own, 3)).toEqual({ constant: [], others: [] });
  });

  it.each([
    [1, "0"],
    [3, "0, 1, 2"],
  ])("tells the box of a block of zeros, with %i components", (components, value) => {
    const found = placesOf((x, y, z) => (inBlock(x, y, z) ? 0 : own(x, y, z)), components);
    expect(found.constant).toEqual([`nodes x 32 to 63, y 0 to 31, z 32 to 63 are all ${value}`]);
  });

  it("tells a block that repeats another", () => {
    const found = placesOf((x, y, z) => (x >= 48 && y < 16 && z < 16 ? own(x - 32, y, z) : own(x, y, z)));
    expect(found.others).toEqual([
      "nodes x 48 to 63, y 0 to 15, z 0 to 15 repeat nodes x 16 to 31, y 0 to 15, z 0 to 15",
    ]);
  });

  it.each([
    ["x", 5],
    ["y", 40],
    ["z", 31],
  ])("tells the plane %s %i that repeats the one before", (axis, plane) => {
    const moved = (name: string, at: number) => (name === axis && at === plane ? at - 1 : at);
    const found = placesOf((x, y, z) => own(moved("x", x), moved("y", y), moved("z", z)));
    expect(found.others).toEqual([`plane ${axis} ${plane} repeats the one before`]);
  });

  it("tells the box of values that are not finite", () => {
    const found = placesOf((x, y, z) => (x === 9 && y === 9 && z === 9 ? Number.NaN : own(x, y, z)));
    expect(found.others).toEqual(["nodes x 8 to 15, y 8 to 15, z 8 to 15 hold values that are not finite"]);
  });

  it("may be constant, constant along an axis, or symmetric by nature", () => {
    expect(placesOf(() => 3)).toEqual({ constant: [], others: [] });
    expect(placesOf((x, y) => own(x, y, 0))).toEqual({ constant: [], others: [] });
    expect(placesOf((x, y, z) => own(x % 32, y, z))).toEqual({ constant: [], others: [] });
  });
});

describe("frames beside each other", () => {
  const frame = (given: Partial<FrameStatistics>) =>
    ({ rms: 1, mean: 0, divergence: 0.024, ...given }) as FrameStatistics;
  const among = (given: Partial<FrameStatistics>) => {
    const odd = frame(given);
    return outliersIn([frame({}), frame({}), odd, frame({}), frame({})], 2);
  };

  it.each<[Partial<FrameStatistics>, string]>([
    [{ divergence: 0.388 }, "divergence 0.388, 0.0240 in the frames around"],
    [{ rms: 11 }, "rms 11.0, 1.00 in the frames around"],
    [{ rms: 0.09 }, "rms 0.0900, 1.00 in the frames around"],
    [{ mean: -2.5 }, "mean -2.50, 0.00 in the frames around"],
  ])("have one that differs by a factor: %o", (given, text) => expect(among(given)).toEqual([text]));

  it("may differ by less", () => {
    for (const given of [{}, { divergence: 0.09 }, { rms: 9 }, { mean: 1.9 }]) expect(among(given)).toEqual([]);
  });

  it("may grow or decay by any factor", () => {
    const growing = [1, 20, 400, 8000].map((rms) => frame({ rms, mean: rms / 2 }));
    for (const at of growing.keys()) expect(outliersIn(growing, at)).toEqual([]);
  });

  it("are not compared if there are fewer than three", () => {
    expect(outliersIn([frame({}), frame({ rms: 100 })], 1)).toEqual([]);
  });
});

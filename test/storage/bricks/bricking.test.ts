/** Bricks follow the chunks of the storage, within their bounds. */
import { describe, expect, it } from "vitest";
import { chooseBricking } from "../../../src/storage/bricks/bricking.js";
import { type FieldPart, MAX_NODES, type Triple } from "../../../src/storage/dataset/dataset.js";
import type { Stored } from "../../../src/storage/dataset/stored.js";

const MIB = 1024 * 1024;
const ZYXC = ["z", "y", "x", "c"];

function bricks(
  nodes: Triple,
  chunks: number[] | null,
  { dimensions = ZYXC, filters = ["gzip"], size = 4, chunkBytes = 64 * MIB, file = "/data/flow.h5" } = {},
): Triple {
  const components = dimensions.includes("c") ? 3 : 1;
  const part = { dimensions, file } as unknown as FieldPart;
  const stored = { chunks, filters, size } as unknown as Stored;
  const { edge, count } = chooseBricking(nodes, components, part, stored, chunkBytes);
  expect(4 * components * edge[0] * edge[1] * edge[2]).toBeLessThanOrEqual(chunkBytes);
  for (const axis of [0, 1, 2] as const) expect(count[axis]).toBe(Math.ceil(nodes[axis] / edge[axis]));
  return edge;
}

describe("chooseBricking", () => {
  it.each<[string, Triple, number[], Triple]>([
    ["takes a chunk of ordinary size as it is", [128, 128, 128], [64, 32, 48, 3], [48, 32, 64]],
    ["groups tiny chunks to 16 nodes on their borders", [128, 128, 128], [4, 6, 7, 3], [21, 18, 16]],
    ["groups planes as far as 8 MiB go", [256, 256, 256], [1, 256, 256, 3], [256, 256, 10]],
    ["leaves a plane alone that is 8 MiB itself", [1024, 1024, 64], [1, 1024, 1024, 3], [1024, 1024, 1]],
    ["never passes the grid", [10, 40, 40], [64, 64, 64, 3], [10, 40, 40]],
  ])("%s", (_, nodes, chunks, edge) => {
    expect(bricks(nodes, chunks)).toEqual(edge);
  });

  it("cuts contiguous storage evenly, twice as long on the axis stored fastest", () => {
    expect(bricks([256, 256, 256], null, { filters: [] })).toEqual([64, 32, 32]);
    expect(bricks([256, 256, 256], null, { filters: [], dimensions: ["c", "x", "y", "z"] })).toEqual([32, 32, 64]);
    expect(bricks([96, 33, 20], null, { filters: [] })).toEqual([48, 17, 20]);
  });

  it("cuts contiguous storage at an address into whole planes, each brick one range, or else into whole rows", () => {
    const far = { filters: [], file: "https://example.org/flow.h5" };
    expect(bricks([256, 256, 256], null, far)).toEqual([256, 256, 10]);
    expect(bricks([256, 256, 256], null, { ...far, dimensions: ["t", "x", "y", "z", "c"] })).toEqual([10, 256, 256]);
    expect(bricks([64, 64, 4], null, far)).toEqual([64, 64, 4]);
    expect(bricks([512, 512, 512], null, far)).toEqual([512, 32, 32]);
    expect(bricks([256, 256, 256], [256, 256, 256, 3], far)).toEqual([256, 32, 32]);
  });

  it("treats large chunks without a filter as contiguous: they are read in part", () => {
    expect(bricks([512, 512, 512], [128, 128, 128, 3], { filters: [] })).toEqual([64, 32, 32]);
    expect(bricks([512, 512, 512], [128, 128, 128, 3])).toEqual([128, 128, 128]);
  });

  it.each<[Triple, number[] | null, Triple]>([
    [
      [8192, 8192, 8192],
      [64, 64, 64, 3],
      [128, 128, 64],
    ],
    [[8192, 8192, 8192], null, [128, 128, 64]],
    [
      [65_536, 4096, 2],
      [1, 16, 16, 3],
      [32, 16, 2],
    ],
  ])("doubles the bricks of %j nodes in chunks %j until a frame has at most 524 288", (nodes, chunks, edge) => {
    expect(bricks(nodes, chunks, { filters: chunks === null ? [] : ["gzip"] })).toEqual(edge);
    expect(nodes.reduce((count, n, axis) => count * Math.ceil(n / (edge[axis] as number)), 1)).toBeLessThanOrEqual(
      524_288,
    );
  });

  it("refuses what has too many even so, with the reason", () => {
    expect(() => bricks([MAX_NODES, MAX_NODES, MAX_NODES], [64, 64, 64, 3])).toThrow(
      "a frame is cut into 67108864 bricks of 256 x 128 x 128 nodes, of which 524288 are served; larger ones would have 100663296 bytes",
    );
  });

  it("halves what is above engine.chunkBytes", () => {
    expect(bricks([256, 256, 256], [128, 128, 128, 3], { chunkBytes: 8 * MIB })).toEqual([64, 64, 128]);
    expect(bricks([256, 256, 256], null, { filters: [], chunkBytes: 4096 })).toEqual([4, 8, 8]);
  });

  it("keeps edges so short that 31 bits hold their product with the nodes of an axis", () => {
    const [edge] = bricks([MAX_NODES, 4, 4], [4, 4, MAX_NODES, 3]);
    expect(edge * MAX_NODES).toBeLessThan(2 ** 31);
  });

  it("looks at space only where chunks span times", () => {
    expect(bricks([64, 64, 64], [8, 32, 32, 32], { dimensions: ["t", "z", "y", "x"] })).toEqual([32, 32, 32]);
  });
});

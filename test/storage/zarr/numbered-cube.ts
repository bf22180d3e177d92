/** The cube of numbered nodes as arrays of Zarr stores, and the comparison of what is read with it. */
import { expect } from "vitest";
import { openDataset } from "../../../src/storage/bricks/brick-reader.js";
import type { Dataset, FieldName } from "../../../src/storage/dataset/dataset.js";
import { type Dimension, FRAMES, fill, NODES, nodeValue } from "../../support/cubes.js";
import { firstDifference, readNodes } from "../../support/read-nodes.js";
import type { ArraySpec } from "../../support/zarr.js";

const LENGTHS = { ...NODES, t: FRAMES, c: 3, n: 1 };
export const CHUNKS = { x: 5, y: 10, z: 4, t: 1, c: 3, n: 1 };
const LABELS = { t: "time", x: "x", y: "y", z: "z", c: "component", n: "n" };

function coordinates(dimension: "x" | "y" | "z" | "t"): ArraySpec {
  const length = LENGTHS[dimension];
  return {
    dimensions: [LABELS[dimension]],
    shape: [length],
    chunks: [length],
    values: Float64Array.from({ length }, (_, i) => i),
    type: "float64",
  };
}

export const SNAPSHOT = {
  x: coordinates("x"),
  y: coordinates("y"),
  z: coordinates("z"),
  time: { ...coordinates("t"), shape: [1], chunks: [1] },
};
export const TABLES = { x: coordinates("x"), y: coordinates("y"), z: coordinates("z"), time: coordinates("t") };

/** The nodes as an array with these dimensions; a field without components takes those of `component`. */
export function array(dimensions: readonly Dimension[], members: Partial<ArraySpec> = {}, component = 0): ArraySpec {
  const shape = dimensions.map((dimension) => LENGTHS[dimension]);
  return {
    dimensions: dimensions.map((dimension) => LABELS[dimension]),
    shape,
    chunks: dimensions.map((dimension) => CHUNKS[dimension]),
    values: fill(dimensions, shape, (at) => nodeValue({ ...at, c: at.c + component })),
    ...members,
  };
}

export function expectNodes(dataset: Dataset, field: FieldName, components: number): void {
  const open = openDataset(dataset);
  for (let frame = 0; frame < dataset.time.count; frame++) {
    const shape = [NODES.z, NODES.y, NODES.x, components];
    const wanted = fill(["z", "y", "x", "c"], shape, (at) => nodeValue({ ...at, t: frame }));
    expect(firstDifference(readNodes(dataset, open, field, frame), Float32Array.from(wanted))).toBeNull();
  }
  open.close();
}

export function firstBrick(dataset: Dataset, field: FieldName = "pressure"): Float32Array {
  const { edge = [0, 0, 0] } = dataset.fields[field]?.bricking ?? {};
  const brick = new Float32Array(edge[0] * edge[1] * edge[2] * (dataset.fields[field]?.components ?? 1));
  const open = openDataset(dataset);
  try {
    open.readBrick(field, 0, 0, brick);
  } finally {
    open.close();
  }
  return brick;
}

export function failureOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return null;
}

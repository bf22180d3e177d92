/** Reads every node of a field through the bricks of an open dataset, and compares nodes. */
import { openDataset, type StoredBricks } from "../../src/storage/bricks/brick-reader.js";
import type { Dataset, FieldName } from "../../src/storage/dataset/dataset.js";

/** All nodes of a frame in order [z][y][x][c]; surplus nodes of bricks at the far faces must be NaN. */
export function readNodes(dataset: Dataset, open: StoredBricks, field: FieldName, frame: number): Float32Array {
  const source = dataset.fields[field];
  if (source === undefined) throw new Error(`no ${field}`);
  const [nx, ny, nz] = dataset.axes.map(({ nodes }) => nodes) as [number, number, number];
  const { edge, count } = source.bricking;
  const c = source.components;
  const all = new Float32Array(nx * ny * nz * c).fill(-1);
  const brick = new Float32Array(edge[0] * edge[1] * edge[2] * c);
  for (let index = 0; index < count[0] * count[1] * count[2]; index++) {
    brick.fill(-1);
    open.readBrick(field, frame, index, brick);
    const first = [index % count[0], Math.floor(index / count[0]) % count[1], Math.floor(index / count[0] / count[1])];
    for (let i = 0; i < brick.length; i++) {
      const node = Math.floor(i / c);
      const x = (first[0] as number) * edge[0] + (node % edge[0]);
      const y = (first[1] as number) * edge[1] + (Math.floor(node / edge[0]) % edge[1]);
      const z = (first[2] as number) * edge[2] + Math.floor(node / edge[0] / edge[1]);
      const value = brick[i] as number;
      if (x < nx && y < ny && z < nz) all[((z * ny + y) * nx + x) * c + (i % c)] = value;
      else if (!Number.isNaN(value)) throw new Error(`surplus node ${x}, ${y}, ${z} of brick ${index} holds ${value}`);
    }
  }
  return all;
}

/** All nodes of a frame of a dataset that is opened for them. */
export function nodesOf(dataset: Dataset, field: FieldName, frame = 0): Float32Array {
  const open = openDataset(dataset);
  try {
    return readNodes(dataset, open, field, frame);
  } finally {
    open.close();
  }
}

/** The first difference of two lists of values, NaN being equal to NaN, or null: quick for lists of thousands. */
export function firstDifference(actual: Float32Array, expected: Float32Array): string | null {
  if (actual.length !== expected.length) return `${actual.length} values, not ${expected.length}`;
  const at = actual.findIndex((value, index) => !Object.is(value, expected[index]));
  return at < 0 ? null : `value ${at} is ${actual[at]}, not ${expected[at]}`;
}

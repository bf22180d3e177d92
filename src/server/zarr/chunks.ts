/** Chunks of a view: stored nodes, quantities at nodes, or coordinates. */

import type { Dataset, FieldName } from "../../engine/contract/dataset.js";
import { placeBox } from "../../engine/contract/node-region.js";
import { frameShift } from "../../engine/contract/positions.js";
import type { Result } from "../../engine/contract/query.js";
import { tooManyPoints } from "../../shared/errors.js";
import type { Quantity } from "../../shared/quantities.js";
import { timesOf } from "../http/describe.js";
import type { RequestLife } from "../http/request-life.js";
import { TripleWriter } from "../http/triple-writer.js";
import { recordQuantity } from "./record-quantity.js";
import { nodesOf, type ZarrArray, type ZarrView } from "./view.js";

export interface Chunk {
  readonly path: string;
  readonly array: ZarrArray;
  readonly place: readonly number[];
}

/** The chunk at a path of a view (`velocity/0.0.0.0.0`), or null. */
export function chunkAt({ arrays }: ZarrView, path: string): Chunk | null {
  const cut = path.lastIndexOf("/");
  const owner = path.slice(0, Math.max(0, cut));
  const array = arrays.get(owner);
  const key = path.slice(cut + 1);
  if (array === undefined || !/^(0|[1-9]\d{0,5})(\.(0|[1-9]\d{0,5}))*$/.test(key)) return null;
  const place = key.split(".").map(Number);
  const { shape, chunks } = array;
  const inside = place.length === shape.length && place.every((at, i) => at * chunks[i] < shape[i]);
  return inside ? { path, array, place } : null;
}

/** Number of elements of a chunk; those beyond the ends of the grid are NaN. */
export function chunkElements({ array: { chunks } }: Chunk): number {
  return chunks.reduce((product, edge) => product * edge, 1);
}

interface ChunkBox {
  readonly time: number;
  readonly first: readonly [number, number, number];
  readonly count: readonly [number, number, number];
}

function boxOf({ array: { shape, chunks }, place }: Chunk): ChunkBox {
  const first = [3, 2, 1].map((i) => place[i] * chunks[i]) as [number, number, number];
  const count = [3, 2, 1].map((i, a) => Math.min(chunks[i], shape[i] - first[a])) as [number, number, number];
  return { time: place[0], first, count };
}

/** Copies rows of nodes into a chunk, which is larger than they are at the ends of the grid. */
function padded(chunk: Chunk, box: ChunkBox, components: number, rows: readonly Float32Array[]): Float32Array {
  if (rows[0]?.length === chunkElements(chunk)) return rows[0];
  const out = new Float32Array(chunkElements(chunk)).fill(Number.NaN);
  const { chunks } = chunk.array;
  const around = { from: [0, 0, 0], count: [chunks[3], chunks[2], chunks[1]] } as const;
  placeBox(rows, { from: [0, 0, 0], count: box.count }, around, components, out);
  return out;
}

async function readNodes(life: RequestLife, dataset: Dataset, field: FieldName, box: ChunkBox): Promise<Result> {
  const frame = dataset.time.guardBefore + box.time;
  const nodes = { field, frame, first: box.first, count: box.count, stride: [1, 1, 1] as const };
  const evaluation = life.start({ operation: "GetAnyCutoutWeb", dataset: dataset.name, nodes });
  await life.acquireSlot();
  const result = await evaluation.finish();
  life.onEnd(() => result.release());
  return result;
}

export async function computeChunk(
  life: RequestLife,
  dataset: Dataset,
  chunk: Chunk,
): Promise<{ readonly values: Float32Array; readonly result: Result }> {
  const { content } = chunk.array;
  const box = boxOf(chunk);
  if (content.kind === "field") {
    const result = await readNodes(life, dataset, content.field, box);
    const rows: Float32Array[] = [];
    // A part is valid only until the next one is requested.
    for await (const part of result.stream as AsyncIterable<Float32Array>)
      rows.push(content.of === undefined ? part.slice() : componentOf(part, result.components, content.of.component));
    if (content.of !== undefined) return { values: padded(chunk, box, 1, rows), result };
    return { values: padded(chunk, box, result.components, rows), result };
  }
  if (content.kind === "coordinates") throw new Error("coordinates are not computed");
  const { quantity, method } = content;
  const count = box.count[0] * box.count[1] * box.count[2];
  const time = timesOf(dataset.time)[box.time] as number;
  const options = { spatialInterpolation: method, temporalInterpolation: "None" } as const;
  const evaluation = life.start({ operation: quantity.operation, dataset: dataset.name, time, ...options });
  const limit = life.limit(evaluation.limit);
  if (count > limit.points) throw tooManyPoints(limit.name, count, limit.points);
  await life.countPoints(count);
  await writeNodes(life, dataset, box, time, new TripleWriter(evaluation.points, limit));
  await life.acquireSlot();
  const result = await evaluation.finish();
  life.onEnd(() => result.release());
  const values = await reduce(quantity, result, life, dataset.viscosity);
  result.release();
  return { values: padded(chunk, box, 1, [values]), result };
}

/** Reduces the records of an operation to a quantity at every point. */
async function reduce(
  quantity: Quantity,
  result: Result,
  life: RequestLife,
  viscosity: number | undefined,
): Promise<Float32Array> {
  const { components } = result;
  const valuesOf = recordQuantity(quantity, viscosity);
  const values = life.floats(result.items);
  let filled = 0;
  for (const records of result.values) {
    const before = filled;
    const count = records.length / components;
    await life.slices.each(count, (from, to) => {
      values.set(valuesOf(records, components, from, to - from), before + from);
    });
    filled += count;
  }
  return values;
}

function componentOf(part: Float32Array, components: number, component: number): Float32Array {
  return Float32Array.from({ length: part.length / components }, (_, i) => part[components * i + component]);
}

/** Writes the coordinates of the nodes of a box, x fastest, in the position of the frame at a time. */
async function writeNodes(
  life: RequestLife,
  dataset: Dataset,
  { first, count }: ChunkBox,
  time: number,
  writer: TripleWriter,
): Promise<void> {
  const shift = frameShift(dataset.frameVelocity, time);
  const [xs, ys, zs] = dataset.axes.map((axis, a) => {
    const nodes = nodesOf(axis).subarray(first[a], first[a] + count[a]);
    return nodes.map((at) => at + shift[a]);
  }) as [Float64Array, Float64Array, Float64Array];
  await life.slices.each(count[1] * count[2], (from, to) => {
    for (let row = from; row < to; row++)
      for (const x of xs) writer.add(x, ys[row % count[1]], zs[Math.floor(row / count[1])]);
  });
  writer.flush();
}

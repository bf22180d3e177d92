/** Filters over cubes of nodes. Points are grouped by tiles of the grid, within which cubes share sums. */
import { cellOf } from "../../kernels/brick-order.js";
import {
  createNodeFilter,
  type FilterQuantity,
  filterNodes,
  type NodeFilter,
} from "../../kernels/filter/node-filter.js";
import { frameWeights } from "../../kernels/time.js";
import type { Axes, Triple } from "../../kernels/types.js";
import { RequestError } from "../../shared/errors.js";
import { RECORDS } from "../../shared/operations.js";
import { axesOfField, componentsOf, type FieldName, partsOfField } from "../../storage/dataset/dataset.js";
import type { Progress } from "../contract/task.js";
import type { BatchContext } from "./batch-context.js";

/** Points by tile: `indices` lists them tile after tile; the points of a tile end before `ends[tile]`. */
interface Groups {
  readonly indices: Uint32Array;
  readonly ends: readonly number[];
}

/** Groups points by the tile of `edges` cells along the axes that they lie in; the same points give the same groups. */
function groupByTile(axes: Axes, edges: Triple, positions: Float64Array, count: number): Groups {
  const tiles = axes.map(({ nodes }, a) => Math.ceil(nodes / edges[a]));
  const tileOf = (i: number, a: 0 | 1 | 2): number => Math.floor(cellOf(axes[a], positions[3 * i + a]) / edges[a]);
  const keys = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    keys[i] = ((tileOf(i, 2) * tiles[1] + tileOf(i, 1)) * tiles[0] + tileOf(i, 0)) * count + i;
  }
  keys.sort();
  const ends: number[] = [];
  for (let i = 1; i <= count; i++) {
    if (i === count || Math.floor(keys[i] / count) !== Math.floor(keys[i - 1] / count)) ends.push(i);
  }
  return { indices: Uint32Array.from(keys, (key) => key % count), ends };
}

/** The filter of a batch. Throws RequestError when the cube of a point leaves the domain. */
function boxFilter({ task, operation, opened, sampler }: BatchContext, fields: readonly FieldName[]): NodeFilter {
  const { query, count, first, outIndices } = task;
  const axes = axesOfField(opened.dataset, fields[0] as FieldName);
  const { filterwidth = 0, spacing = 0 } = query;
  const step = axes[0].spacing;
  const filter = createNodeFilter(
    operation.kernel as FilterQuantity,
    axes,
    filterNodes(filterwidth, step),
    fields.map((field) => componentsOf(opened.dataset, field)),
    Math.round(spacing / step),
    sampler.sumsScratch,
  );
  for (let i = 0; i < count && task.progress === undefined; i++) {
    if (filter.boxInside(sampler.positions.subarray(3 * i, 3 * i + 3))) continue;
    const text = "The box of the filter leaves the domain.";
    throw new RequestError("OutOfRange", text, {
      member: `points[${outIndices === null ? first + i : outIndices[i]}]`,
    });
  }
  return filter;
}

/** Evaluates means over cubes of nodes around the nearest node, at the nearest frame, and their products. */
export function evaluateBoxes(context: BatchContext): Progress | null {
  const { task, opened } = context;
  const [field = ""] = task.fields;
  const parts = partsOfField(opened.dataset, field);
  if (parts.length === 1) return evaluateFields(context, task.fields, 0);
  // Components on nodes of their own are filtered one by one, without time slices.
  const { progress: _, ...whole } = task;
  const unsliced = { ...context, task: whole, pause: () => false };
  for (const [c, part] of parts.entries()) evaluateFields(unsliced, [part], c);
  return null;
}

/** Filters fields, and writes the values from a component of the records on. */
function evaluateFields(context: BatchContext, fields: readonly FieldName[], component: number): Progress | null {
  const { task, operation, opened, sampler, checkCancel, mustPause } = context;
  const { query, count, out, outIndices } = task;
  const { time } = opened.dataset;
  const axes = axesOfField(opened.dataset, fields[0] as FieldName);
  const filter = boxFilter(context, fields);
  const { components } = filter;
  const readers = fields.map((field) => sampler.reader(opened.source(field)));
  const [frame = 0] = frameWeights(time, query.time as number, "None").frames;
  const width = RECORDS[operation.result].length;
  const { indices, ends } = groupByTile(axes, filter.edges, sampler.positions, count);
  const { index: part, of: parts } = task.part ?? { index: 0, of: 1 };
  const border = (at: number): number => Math.round((at * ends.length) / parts);
  const resumed = task.progress?.done ?? ends[border(part) - 1] ?? 0;
  let from = resumed;
  for (const end of ends.slice(border(part), border(part + 1))) {
    if (end <= from) continue;
    if (from > resumed && mustPause()) return { done: from };
    const size = end - from;
    const positions = new Float64Array(3 * size);
    for (let i = 0; i < size; i++) {
      for (let a = 0; a < 3; a++) positions[3 * i + a] = sampler.positions[3 * indices[from + i] + a];
    }
    const values = new Float64Array(components * size);
    filter.evaluate(readers, frame, positions, 0, size, values, checkCancel);
    for (let i = 0; i < size; i++) {
      const point = indices[from + i];
      const to = width * (outIndices === null ? point : outIndices[point]);
      const first = component * components;
      for (let c = first; c < width; c++) out[to + c] = c - first < components ? values[components * i + c - first] : 0;
    }
    from = end;
  }
  return null;
}

/**
 * The order in which a query walks data that does not fit the cache: columns of bricks, swept along z.
 *
 * A column of w by w bricks needs about three layers of (w + 2)^2 bricks at a time, its neighbours included. While the cache
 * holds those, the interior of a column is read once and only its sides are read again by the next column: (1 + 2 / w)^2
 * reads per brick, where an order that ignores the cache reads a brick for each of its 27 neighbours. Frames that would
 * make the columns too narrow together are swept one after another, their sums kept as float64.
 */
import type { Axes, Bricking } from "../kernels/field.js";
import { type OrderTables, orderByBrick } from "../kernels/order.js";
import { timeBracket } from "../kernels/pchip.js";
import { firstOutside } from "../kernels/stencil.js";
import { BrickCache } from "../storage/brick-cache.js";
import type { FieldSource } from "../storage/grid.js";
import type { CheckedQuery } from "./check.js";
import { batchOf, type Cutter, type Job, segmentsOf, valuesPerPoint } from "./cut.js";
import { fillPositions, frameShift, outsideError } from "./positions.js";
import type { BatchTask, SortTask } from "./task.js";

/** Layers of bricks that a stencil touches on its way along z. */
const LAYERS = 3;
/** Columns narrower than this are widened by sweeping frame by frame. */
const WIDE = 8;
/** Points put in order at a time; fewer where float64 sums of that many would pass the bound. */
const SECTION = 1_048_576;
const SUM_BYTES = 32 * 1024 * 1024;
/** Bounds on the points of a batch: one layer of a column is what is aimed at. */
const BATCH = { least: 2_048, most: 32_768 } as const;
/** Nodes per edge of the blocks by which points within a brick are ordered, as a power of two. */
const BLOCK_BITS = 4;

/** How a query is swept. */
export interface SweepPlan {
  readonly bricking: Bricking;
  /** Bricks of a frame. */
  readonly bricks: number;
  /** Edge of a column, in bricks. */
  readonly width: number;
  /** Times every section is swept: 1, or once per frame. */
  readonly passes: number;
}

/** Plans the sweep of a query at points; null when all frames that it needs fit the cache together. */
export function planSweep({ query, kernel, dataset }: CheckedQuery, cacheBytes: number): SweepPlan | null {
  if (!dataset || (kernel.family !== "points" && kernel.family !== "force")) return null;
  const fields = kernel.fields.flatMap((name) => dataset.fields[name] ?? []);
  const [main] = fields;
  if (!main) return null;
  const frames = timeBracket(dataset.time, query.time as number, query.temporalInterpolation ?? "None").frames.length;
  const perBrick = fields.reduce((sum, field) => sum + bytesOf(field), 0);
  const bricks = main.bricking.count.reduce((product, count) => product * count, 1);
  if (frames * bricks * perBrick <= cacheBytes) return null;
  const together = columnWidth(cacheBytes / (frames * perBrick));
  const passes = together < WIDE ? frames : 1;
  const width = passes === 1 ? together : columnWidth(cacheBytes / perBrick);
  return { bricking: main.bricking, bricks, width, passes };
}

function bytesOf({ components, bricking: { edge } }: FieldSource): number {
  return BrickCache.brickBytes(components * edge[0] * edge[1] * edge[2]);
}

/** Edge of a column, in bricks, when the cache holds so many bricks. */
export function columnWidth(bricks: number): number {
  return Math.max(1, Math.floor(Math.sqrt(bricks / LAYERS)) - 2);
}

/** Points `first .. end - 1` of the query on their way through the sweep. */
interface Section {
  readonly first: number;
  readonly end: number;
  readonly order: Uint32Array;
  readonly triples: Float32Array;
  readonly sums: Float64Array | null;
  pass: number;
  /** Points of this pass that are in batches; -1 while they are put in order. */
  taken: number;
}

/** Batches in sweep order, section by section; starts when all points are in. */
export function cutBySweep(job: Job, { bricking, bricks, width, passes }: SweepPlan): Cutter {
  const { points, buffers, checked } = job;
  const perPoint = valuesPerPoint(checked);
  const most = passes === 1 ? SECTION : Math.min(SECTION, Math.floor(SUM_BYTES / (8 * perPoint)));
  const values: Float32Array[] = [];
  const lent: SharedArrayBuffer[] = [];
  const borrow = (bytes: number): SharedArrayBuffer => {
    const buffer = buffers.take(bytes);
    lent.push(buffer);
    return buffer;
  };
  const giveSection = (): void => {
    for (const buffer of lent.splice(0)) buffers.give(buffer);
  };
  let section: Section | null = null;
  let end = 0;

  const sort = (first: number): SortTask => {
    const count = Math.min(most, points.count - first);
    const order = new Uint32Array(borrow(4 * count), 0, count);
    const triples = new Float32Array(borrow(12 * count), 0, 3 * count);
    const sums = passes === 1 ? null : new Float64Array(borrow(8 * count * perPoint), 0, count * perPoint);
    section = { first, end: first + count, order, triples, sums, pass: 0, taken: -1 };
    const shift = frameShift(checked.dataset.frameVelocity, checked.query.time as number);
    const { dataset } = checked;
    return {
      kind: "sort",
      dataset,
      points: segmentsOf(points.slabs, first, count),
      count,
      first,
      shift,
      bricking,
      width,
      triples,
      order,
    };
  };
  const batch = (now: Section): BatchTask => {
    const size = now.end - now.first;
    const layer = Math.round((size / bricks) * width ** 2);
    const count = Math.min(size - now.taken, Math.min(Math.max(layer, BATCH.least), BATCH.most));
    const at = now.taken;
    now.taken += count;
    const triples = now.triples.subarray(3 * at, 3 * (at + count));
    const places = now.order.subarray(at, at + count);
    const pass = now.sums && {
      index: now.pass,
      count: passes,
      sums: now.sums.subarray(at * perPoint, (at + count) * perPoint),
    };
    const [out] = values as [Float32Array];
    return batchOf(job, { points: [{ triples, count }], first: now.first, count, out, places, pass });
  };
  return {
    values,
    next(ended, outstanding) {
      if (!ended || points.count === 0) return null;
      if (values.length === 0) {
        const size = points.count * perPoint;
        values.push(new Float32Array(buffers.take(4 * size), 0, size));
      }
      if (section === null) return sort(0);
      if (section.taken < 0) {
        if (outstanding > 0) return null;
        section.taken = 0;
      }
      if (section.taken < section.end - section.first) return batch(section);
      // The next pass adds to sums that batches of this one may still be writing; so do new sections to their buffers.
      if (outstanding > 0) return null;
      if (section.pass + 1 < passes) {
        section.pass++;
        section.taken = 0;
        return batch(section);
      }
      end = section.end;
      if (end === points.count) return null;
      giveSection();
      return sort(end);
    },
    complete: () => end === points.count,
    release() {
      giveSection();
      for (const { buffer } of values) buffers.give(buffer as SharedArrayBuffer);
    },
  };
}

/** Key tables of the sweep; from the highest bits down: column y, column x, brick z, y and x in the column, block z, y, x. */
export function sweepTables(axes: Axes, { edge, count }: Bricking, width: number): OrderTables {
  type Part = readonly [axis: number, values: number, valueAt: (node: number, brick: number) => number];
  const blocks = edge.map(
    (nodes, a): Part => [
      a,
      Math.ceil(nodes / 2 ** BLOCK_BITS),
      (node, brick) => (node - brick * (edge[a] as number)) >> BLOCK_BITS,
    ],
  );
  const inColumn = [0, 1].map((a): Part => [a, width, (_, brick) => brick % width]);
  const layer: Part = [2, count[2], (_, brick) => brick];
  const columns = [0, 1].map(
    (a): Part => [a, Math.ceil((count[a] as number) / width), (_, brick) => Math.floor(brick / width)],
  );
  const bits = (values: number): number => (values <= 1 ? 0 : 32 - Math.clz32(values - 1));
  const bricks = [...inColumn, layer, ...columns];
  const parts = [...blocks, ...bricks];
  const fits = parts.reduce((sum, [, values]) => sum + bits(values), 0) <= 32;
  const tables = axes.map(({ nodes }) => new Uint32Array(nodes));
  let shift = 0;
  for (const [axis, values, valueAt] of fits ? parts : bricks) {
    const table = tables[axis] as Uint32Array;
    for (let node = 0; node < table.length; node++) {
      const part = valueAt(node, Math.floor(node / (edge[axis] as number)));
      table[node] = ((table[node] as number) | (part << shift)) >>> 0;
    }
    shift += bits(values);
  }
  const [x, y, z] = tables as [Uint32Array, Uint32Array, Uint32Array];
  return { x, y, z };
}

/**
 * Puts the points of a section in sweep order: their triples, and for each the index it had.
 *
 * @throws RequestError for the first point outside the domain
 */
export function sortSection({ dataset, points, count, first, shift, bricking, width, triples, order }: SortTask): null {
  const { axes } = dataset;
  const positions = new Float64Array(3 * count);
  fillPositions(points, positions, shift);
  const outside = firstOutside(axes, positions, 0, count);
  if (outside >= 0) throw outsideError(axes, positions, outside, first + outside);
  const indices = new Uint32Array(2 * count);
  orderByBrick(axes, sweepTables(axes, bricking, width), positions, count, new Uint32Array(2 * count), indices);
  fillPositions(points, positions, [0, 0, 0]);
  for (let i = 0; i < count; i++) {
    const from = indices[i] as number;
    order[i] = first + from;
    for (let a = 0; a < 3; a++) triples[3 * i + a] = positions[3 * from + a] as number;
  }
  return null;
}

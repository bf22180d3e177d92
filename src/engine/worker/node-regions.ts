/** Searches and cutouts of node regions in a worker. */
import { namesFor } from "../../analysis/names.js";
import { gatherBox } from "../../kernels/block.js";
import { createNodeSums } from "../../kernels/filter/node-sums.js";
import type { DifferenceOrder } from "../../kernels/finite-difference.js";
import { type ClosedForce, closedForceOf, forceAtNodes } from "../../kernels/forcing.js";
import { wrap } from "../../kernels/stencil.js";
import {
  addHit,
  createHits,
  createThresholdSearch,
  type Hits,
  type ThresholdQuantity,
  type ThresholdSearch,
} from "../../kernels/threshold.js";
import { frameTime } from "../../kernels/time.js";
import type { BrickReader } from "../../kernels/types.js";
import { DataError } from "../../shared/errors.js";
import { axesOfField, componentsOf, type FieldName } from "../../storage/dataset/dataset.js";
import type { Message } from "../contract/dataset-copy.js";
import type { NodeRegion } from "../contract/node-region.js";
import type { QuantityQuery } from "../contract/query.js";
import type { CutoutTask, Progress, SearchTask } from "../contract/task.js";
import type { OpenDataset } from "./open-dataset.js";
import type { NodeReductions } from "./reduce-nodes.js";
import { makeForGrid, throwIfCancelled } from "./refusals.js";
import type { Sampler } from "./sampler.js";

/** @param method a method at nodes, which ends in the order of its differences */
function thresholdQuantity(criterion: "norm" | "vorticity" | "q", size: 1 | 3, method: string): ThresholdQuantity {
  if (criterion === "norm") return { kind: "norm", size };
  return { kind: criterion, order: Number(method.slice(-1)) as DifferenceOrder };
}

/**
 * Finds the nodes of a region whose value is strictly greater than the threshold.
 *
 * @returns the hits; their lists hold no more than `task.most`
 * @throws DataError when a value is not a number, since it is on neither side of the threshold
 */
export function searchNodes(
  task: Message<SearchTask>,
  opened: OpenDataset,
  sampler: Sampler,
  reductions: NodeReductions,
): Hits {
  const { region, threshold, method, most, cancel } = task;
  const { first, count, frame, criterion, field } = region;
  const checkCancel = () => throwIfCancelled(cancel);
  const hits = createHits(most);
  if (typeof criterion === "object") {
    // The method None names no order.
    const order = (Number(method.slice(-1)) || 4) as DifferenceOrder;
    const columns = { columns: [criterion.expression], order, names: namesFor(opened.dataset) };
    const request = { ...columns, region, time: frameTime(opened.dataset.time, frame), cancel };
    const [values] = reductions.evaluate(request, opened, sampler);
    addHits(hits, values, region, threshold);
  } else {
    const reader = sampler.reader(opened.source(field));
    const quantity = thresholdQuantity(criterion, componentsOf(opened.dataset, field), method);
    thresholdSearchOf(opened, field, quantity).search(reader, frame, first, count, threshold, hits, checkCancel);
  }
  if (hits.unknown > 0) {
    // Without a number: this is one part of the box, and parts depend on the number of workers.
    throw new DataError("Some values in the box are missing, so that they cannot be compared.");
  }
  return hits;
}

/** Adds the nodes of a region whose values, as float32, are greater than the threshold. */
function addHits(hits: Hits, values: Float64Array, { first, count }: NodeRegion, threshold: number): void {
  values.forEach((exact, i) => {
    const value = Math.fround(exact);
    if (Number.isNaN(value)) hits.unknown++;
    else if (value > threshold) {
      const row = Math.floor(i / count[0]);
      addHit(
        hits,
        first[0] + (i % count[0]),
        first[1] + (row % count[1]),
        first[2] + Math.floor(row / count[1]),
        value,
      );
    }
  });
}

/** @throws RequestError (Unsupported) when an axis has fewer nodes than the stencil */
function thresholdSearchOf({ dataset }: OpenDataset, field: FieldName, quantity: ThresholdQuantity): ThresholdSearch {
  const text = `The grid of "${dataset.name}" is too small for differences.`;
  return makeForGrid(text, "spatialInterpolation", () => createThresholdSearch(axesOfField(dataset, field), quantity));
}

/** Nodes of a cutout that are filtered together, so that neighbours share sums; at least one plane. */
const FILTERED_NODES = 65_536;

/** Overwrites `out` with planes `k .. k + planes - 1` of a region. */
type PlaneFiller = (k: number, planes: number, out: Float32Array) => void;

/**
 * Fills `task.out` with the nodes of a region, means over the cubes around them, or a force in closed form.
 *
 * @returns the planes done if `pause` has ended the time slice before the cutout, else null
 */
export function cutNodes(
  task: Message<CutoutTask>,
  opened: OpenDataset,
  sampler: Sampler,
  pause: () => boolean,
  reductions: NodeReductions,
): Progress | null {
  const { region, out, progress, quantity } = task;
  const { count, width, field } = region;
  const checkCancel = () => throwIfCancelled(task.cancel);
  const from = progress?.done ?? 0;
  const planesPerStep =
    width === 1 && quantity === undefined ? 1 : Math.max(1, Math.floor(FILTERED_NODES / (count[0] * count[1])));
  const size = count[0] * count[1] * (quantity?.columns.length ?? componentsOf(opened.dataset, field));
  const closedForce = field === "force" ? closedForceOf(opened.dataset.forcing) : null;
  const fill =
    quantity !== undefined
      ? quantityFiller(task, quantity, opened, sampler, reductions)
      : closedForce !== null
        ? forceFiller(opened, closedForce, region)
        : width === 1
          ? nodeFiller(opened, sampler, region)
          : meanFiller(opened, sampler, region, checkCancel);
  for (let k = from; k < count[2]; k += planesPerStep) {
    checkCancel();
    if (k > from && pause()) return { done: k };
    const planes = Math.min(planesPerStep, count[2] - k);
    fill(k, planes, out.subarray(k * size, (k + planes) * size));
  }
  return null;
}

/** Copies stored nodes. Rows are read whole; planes and rows that a stride skips are not read. */
function nodeFiller(opened: OpenDataset, sampler: Sampler, region: NodeRegion): PlaneFiller {
  const { first, count, stride, frame, field } = region;
  const reader = sampler.reader(opened.source(field));
  const axes = axesOfField(opened.dataset, field);
  const span = (count[0] - 1) * stride[0] + 1;
  const rows = stride[1] === 1 ? count[1] : 1;
  const scratch = stride[0] === 1 ? null : new Float32Array(span * rows * reader.components);
  const size = count[0] * rows * reader.components;
  return (k, planes, out) => {
    let to = 0;
    for (let z = k; z < k + planes; z++) {
      for (let y = 0; y < count[1]; y += rows, to += size) {
        const corner = [first[0], first[1] + y * stride[1], first[2] + z * stride[2]];
        const part = out.subarray(to, to + size);
        gatherBox(reader, axes, frame, corner, [span, rows, 1], scratch ?? part);
        if (scratch !== null) pickNodes(scratch, span, rows, reader, region, part);
      }
    }
  };
}

function pickNodes(
  nodes: Float32Array,
  span: number,
  rows: number,
  { components }: BrickReader,
  { count, stride }: NodeRegion,
  out: Float32Array,
): void {
  let to = 0;
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < count[0]; x++) {
      const from = (y * span + x * stride[0]) * components;
      for (let c = 0; c < components; c++) out[to++] = nodes[from + c];
    }
  }
}

function forceFiller({ dataset }: OpenDataset, force: ClosedForce, region: NodeRegion): PlaneFiller {
  const { frame, first, count, stride } = region;
  return (k, planes, out) => {
    const [x, y, z] = first;
    const nodes = { frame, stride, first: [x, y, z + k * stride[2]], count: [count[0], count[1], planes] } as const;
    forceAtNodes(dataset.axes, force, nodes, out);
  };
}

function quantityFiller(
  { region, derived = null, cancel }: Message<CutoutTask>,
  quantity: QuantityQuery,
  opened: OpenDataset,
  sampler: Sampler,
  reductions: NodeReductions,
): PlaneFiller {
  const { first, count, stride, frame } = region;
  const time = frameTime(opened.dataset.time, frame);
  return (k, planes, out) => {
    const at = [first[0], first[1], first[2] + k * stride[2]] as const;
    const box = [count[0], count[1], planes] as const;
    const nodes = { frame, first: at, count: box, stride };
    const values = reductions.evaluate({ ...quantity, region: nodes, time, derived, cancel }, opened, sampler);
    values.forEach((column, c) => {
      for (let i = 0; i < column.length; i++) out[values.length * i + c] = column[i];
    });
  };
}

/** Takes means over the cubes around nodes. */
function meanFiller(opened: OpenDataset, sampler: Sampler, region: NodeRegion, checkCancel: () => false): PlaneFiller {
  const { first, count, stride, width, frame, field } = region;
  const { axes } = opened.dataset;
  const reader = sampler.reader(opened.source(field));
  const sums = createNodeSums(axes, width, [reader.components], [], sampler.sumsScratch);
  const half = (width - 1) / 2;
  const start = (a: 0 | 1 | 2, i: number): number => wrap(first[a] + i * stride[a] - half, axes[a].nodes);
  return (k, planes, out) => {
    const starts = new Int32Array(3 * count[0] * count[1] * planes);
    let at = 0;
    for (let z = k; z < k + planes; z++) {
      for (let y = 0; y < count[1]; y++) {
        for (let x = 0; x < count[0]; x++, at += 3) {
          starts[at] = start(0, x);
          starts[at + 1] = start(1, y);
          starts[at + 2] = start(2, z);
        }
      }
    }
    const totals = new Float64Array(out.length);
    sums([reader], frame, starts, totals, checkCancel);
    for (let i = 0; i < out.length; i++) out[i] = totals[i] / width ** 3;
  };
}

/** Searches and cutouts of regions of nodes inside a worker. */
import { CancelledError, DataError, RequestError } from "../../errors.js";
import { gatherBox } from "../../kernels/block.js";
import { createNodeSums, type NodeSums } from "../../kernels/filter/node-sums.js";
import type { DifferenceOrder } from "../../kernels/finite-difference.js";
import { wrap } from "../../kernels/stencil.js";
import {
  createHits,
  createThreshold,
  type Hits,
  type Threshold,
  type ThresholdQuantity,
} from "../../kernels/threshold.js";
import type { Axes, BrickReader } from "../../kernels/types.js";
import { FIELDS } from "../../operations.js";
import { MAX_HITS, type Region } from "../region.js";
import type { CutoutMessage, SearchMessage } from "./dataset-copy.js";
import type { OpenDataset } from "./open-dataset.js";
import type { Sampler } from "./sampler.js";

function stopOf(cancel: Int32Array): () => void {
  return () => {
    if (Atomics.load(cancel, 0) !== 0) throw new CancelledError();
  };
}

/** What a search compares. */
function quantityOf({ criterion, field }: Region, method: string): ThresholdQuantity {
  if (criterion === "norm") return { kind: "norm", size: FIELDS[field] };
  return { kind: criterion, order: Number(method.slice(-1)) as DifferenceOrder };
}

/**
 * Finds the nodes of a region whose value is strictly greater than the threshold.
 *
 * @returns the hits; their lists hold no more than MAX_HITS
 * @throws DataError when a value is not a number, for nobody knows on which side of the threshold it is
 */
export function searchNodes(task: SearchMessage, open: OpenDataset, sampler: Sampler): Hits {
  const { region, threshold, method, cancel } = task;
  const { first, count, frame } = region;
  const stop = stopOf(cancel);
  const hits = createHits(MAX_HITS);
  const reader = sampler.reader(open.source(region.field));
  searchOf(open, quantityOf(region, method)).search(reader, frame, first, count, threshold, hits, () => {
    stop();
    return false;
  });
  if (hits.unknown > 0) {
    throw new DataError(`${hits.unknown} values in the box are not numbers, so that they cannot be compared.`);
  }
  return hits;
}

/** @throws RequestError (Unsupported) when an axis has fewer nodes than the stencil */
function searchOf({ dataset }: OpenDataset, quantity: ThresholdQuantity): Threshold {
  try {
    return createThreshold(dataset.axes, quantity);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RequestError("Unsupported", `The grid of "${dataset.name}" is too small for differences.`, {
      member: "spatialInterpolation",
    });
  }
}

/** Nodes of a cutout that are filtered together, so that neighbours share sums; at least those of a plane. */
const FILTERED_NODES = 65_536;

/** Fills `task.out` with the nodes of a region, or with means over the cubes around them. */
export function cutNodes(task: CutoutMessage, open: OpenDataset, sampler: Sampler): null {
  const { region, out } = task;
  const { first, count, stride, width, frame } = region;
  const reader = sampler.reader(open.source(region.field));
  const stop = stopOf(task.cancel);
  const { axes } = open.dataset;
  const size = count[0] * count[1] * reader.components;
  const sums = width === 1 ? null : createNodeSums(axes, width, [reader.components], []);
  const thick = sums === null ? 1 : Math.max(1, Math.floor(FILTERED_NODES / (count[0] * count[1])));
  const spans = [0, 1].map((a) => (count[a] - 1) * stride[a] + 1);
  const plane = stride[0] * stride[1] === 1 ? null : new Float32Array(spans[0] * spans[1] * reader.components);
  for (let k = 0; k < count[2]; k += thick) {
    stop();
    const planes = Math.min(thick, count[2] - k);
    const to = out.subarray(k * size, (k + planes) * size);
    if (sums !== null) takeMeans(sums, reader, axes, region, k, planes, to, stop);
    else {
      const corner = [first[0], first[1], first[2] + k * stride[2]];
      gatherBox(reader, axes, frame, corner, [spans[0], spans[1], 1], plane ?? to);
      if (plane !== null) pickNodes(plane, spans[0], reader, region, to);
    }
  }
  return null;
}

/** Takes the nodes of a region out of a plane. */
function pickNodes(
  plane: Float32Array,
  span: number,
  { components }: BrickReader,
  { count, stride }: Region,
  out: Float32Array,
): void {
  let to = 0;
  for (let y = 0; y < count[1]; y++) {
    for (let x = 0; x < count[0]; x++) {
      const from = (y * stride[1] * span + x * stride[0]) * components;
      for (let c = 0; c < components; c++) out[to++] = plane[from + c];
    }
  }
}

/** Takes means over the cubes around the nodes of `planes` planes, from number `k` on. */
function takeMeans(
  sums: NodeSums,
  reader: BrickReader,
  axes: Axes,
  { first, count, stride, width, frame }: Region,
  k: number,
  planes: number,
  out: Float32Array,
  stop: () => void,
): void {
  const half = (width - 1) / 2;
  const start = (a: 0 | 1 | 2, i: number): number => wrap(first[a] + i * stride[a] - half, axes[a].nodes);
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
  sums([reader], frame, starts, totals, () => {
    stop();
    return false;
  });
  for (let i = 0; i < out.length; i++) out[i] = totals[i] / width ** 3;
}

/** Searches and cutouts of regions of nodes inside a worker. */
import { CancelledError, DataError, RequestError } from "../../errors.js";
import { gatherBox } from "../../kernels/block.js";
import type { DifferenceOrder } from "../../kernels/finite-difference.js";
import {
  createHits,
  createThreshold,
  type Hits,
  type Threshold,
  type ThresholdQuantity,
} from "../../kernels/threshold.js";
import type { BrickReader } from "../../kernels/types.js";
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

/** Fills `task.out` with the nodes of a region, plane by plane. */
export function cutNodes(task: CutoutMessage, open: OpenDataset, sampler: Sampler): null {
  const { region, out } = task;
  const { first, count, stride, width, frame } = region;
  const reader = sampler.reader(open.source(region.field));
  const stop = stopOf(task.cancel);
  const { axes } = open.dataset;
  const plain = width === 1 && stride.every((step) => step === 1);
  const half = (width - 1) / 2;
  const spans = [0, 1].map((a) => (count[a] - 1) * stride[a] + width);
  const plane = plain ? null : new Float32Array(spans[0] * spans[1] * reader.components);
  const sum = plain ? null : new Float64Array(spans[0] * spans[1] * reader.components);
  const size = count[0] * count[1] * reader.components;
  for (let k = 0; k < count[2]; k++) {
    stop();
    const z = first[2] + k * stride[2];
    const to = out.subarray(k * size, (k + 1) * size);
    if (plane === null || sum === null) {
      gatherBox(reader, axes, frame, [first[0], first[1], z], [count[0], count[1], 1], to);
      continue;
    }
    sum.fill(0);
    for (let layer = z - half; layer <= z + half; layer++) {
      const corner = [first[0] - half, first[1] - half, layer];
      gatherBox(reader, axes, frame, corner, [spans[0], spans[1], 1], plane);
      for (let i = 0; i < sum.length; i++) sum[i] += plane[i];
    }
    averagePlane(sum, spans[0], reader, region, to);
  }
  return null;
}

/** Takes the means over `width` columns and rows of a plane of sums over `width` layers. */
function averagePlane(
  sum: Float64Array,
  span: number,
  { components }: BrickReader,
  { count, stride, width }: Region,
  out: Float32Array,
): void {
  const scale = 1 / width ** 3;
  const rows = sum.length / (span * components);
  const lines = new Float64Array(rows * count[0] * components);
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < count[0]; x++) {
      for (let c = 0; c < components; c++) {
        let total = 0;
        for (let i = 0; i < width; i++) total += sum[(y * span + x * stride[0] + i) * components + c];
        lines[(y * count[0] + x) * components + c] = total;
      }
    }
  }
  for (let y = 0; y < count[1]; y++) {
    for (let e = 0; e < count[0] * components; e++) {
      let total = 0;
      for (let j = 0; j < width; j++) total += lines[(y * stride[1] + j) * count[0] * components + e];
      out[y * count[0] * components + e] = scale * total;
    }
  }
}

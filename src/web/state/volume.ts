/** This file cuts the volume behind an isosurface into requests that the service admits, and joins their answers. */
import { shortestFloat32 } from "../../float32/format.js";
import type { QuantityName } from "../../quantities.js";
import { type Volume, volumePath } from "./api.js";
import { type DomainBox, wholeBox } from "./domain-box.js";
import type { DatasetFacts } from "./facts.js";
import { sampleOptions } from "./queries.js";
import type { ViewState } from "./view-state.js";

/** Most samples along a side of a volume. */
const MOST_SAMPLES = 512;

/** The samples of a volume along x, y and z: about equal distances, `side` cubed of them in all. */
export function volumeCounts(box: DomainBox, side: number): readonly [number, number, number] {
  const lengths = [box[1] - box[0], box[3] - box[2], box[5] - box[4]];
  const distance = Math.cbrt(lengths[0] * lengths[1] * lengths[2]) / side;
  const count = (length: number) => Math.max(2, Math.min(MOST_SAMPLES, Math.round(length / distance)));
  return [count(lengths[0]), count(lengths[1]), count(lengths[2])];
}

/**
 * The volume of a quantity over the box of a view, as paths of the service: slabs across z, each of at most as many samples as
 * the service admits. Samples stand in the middle of equal intervals.
 */
export function volumePathsOf(state: ViewState, facts: DatasetFacts, field: QuantityName): readonly string[] {
  const box = state.box ?? wholeBox(facts);
  const [nx, ny, nz] = volumeCounts(box, Number(state.volume));
  const layers = Math.max(1, Math.min(nz, Math.floor(facts.points / (nx * ny))));
  const slabs = Math.ceil(nz / layers);
  return Array.from({ length: slabs }, (_, i) => {
    const [from, to] = [Math.floor((i * nz) / slabs), Math.floor(((i + 1) * nz) / slabs)];
    const [low, high] = [from, to].map((k) => Math.fround(box[4] + ((box[5] - box[4]) * k) / nz));
    return volumePath(state.dataset, {
      ...sampleOptions({ ...state, field }),
      origin: [box[0], box[2], low].map(rounded).join(","),
      extent: [box[1] - box[0], box[3] - box[2], high - low].map(rounded).join(","),
      nodes: [nx, ny, to - from].join(","),
    });
  });
}

function rounded(value: number): string {
  return shortestFloat32(Math.fround(value));
}

/** Joins slabs across z, from the lowest to the highest, to one volume. */
export function joinVolumes(slabs: readonly Volume[]): Volume {
  const [first] = slabs;
  if (slabs.length === 1) return first;
  const values = new Float32Array(slabs.reduce((sum, slab) => sum + slab.values.length, 0));
  let filled = 0;
  for (const slab of slabs) {
    values.set(slab.values, filled);
    filled += slab.values.length;
  }
  const [x, y, z] = first.axes;
  return {
    axes: [x, y, { ...z, count: slabs.reduce((sum, slab) => sum + slab.axes[2].count, 0) }],
    values,
    low: Math.min(...slabs.map(({ low }) => low)),
    high: Math.max(...slabs.map(({ high }) => high)),
  };
}

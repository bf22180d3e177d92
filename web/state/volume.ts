/** This file cuts the volume behind an isosurface into requests that the service admits, and joins their answers. */
import { shortestFloat32 } from "../../src/float32/format.js";
import { type Volume, volumePath } from "./api.js";
import { type DomainBox, wholeBox } from "./domain-box.js";
import type { DatasetFacts } from "./facts.js";
import { sampleOptions } from "./queries.js";
import type { ViewState } from "./view-state.js";

/** Most samples along a side of a volume. */
const MOST_SAMPLES = 512;
/** Samples a side by default. */
const USUAL_SIDE = 64;
/** Most requests for one volume. */
const MOST_PARTS = 64;

type SampleCounts = readonly [number, number, number];

/** A part of a volume that one request asks for: its first sample, its samples along x, y and z, and its path. */
export interface VolumePart {
  readonly from: SampleCounts;
  readonly counts: SampleCounts;
  readonly path: string;
}

/** The samples of a volume along x, y and z: about equal distances, `side` cubed of them in all. */
function volumeCounts(box: DomainBox, side: number): SampleCounts {
  const lengths = [box[1] - box[0], box[3] - box[2], box[5] - box[4]];
  const distance = Math.cbrt(lengths[0] * lengths[1] * lengths[2]) / side;
  const count = (length: number) => Math.max(2, Math.min(MOST_SAMPLES, Math.round(length / distance)));
  return [count(lengths[0]), count(lengths[1]), count(lengths[2])];
}

/**
 * The samples along each axis of the largest parts of at most `points`: layers across z, else rows, else stretches of a
 * row.
 */
function partCounts([nx, ny, nz]: SampleCounts, points: number): SampleCounts {
  if (points >= nx * ny) return [nx, ny, Math.min(nz, Math.floor(points / (nx * ny)))];
  if (points >= nx) return [nx, Math.floor(points / nx), 1];
  return [Math.max(1, points), 1, 1];
}

/** The number of parts of a size that a volume has along each axis. */
function cutsOf(counts: SampleCounts, part: SampleCounts): number[] {
  return counts.map((count, i) => Math.ceil(count / part[i]));
}

function countParts(counts: SampleCounts, points: number): number {
  return cutsOf(counts, partCounts(counts, points)).reduce((product, cuts) => product * cuts, 1);
}

/** The samples a side, at most `wanted`, of a volume whose parts are not too many for the service. */
export function fittingVolume(box: DomainBox, { points }: Pick<DatasetFacts, "points">, wanted: number): number {
  let side = wanted;
  while (side > 2 && countParts(volumeCounts(box, side), points) > MOST_PARTS) side--;
  return side;
}

/** The samples a side of the volume of a view. */
export function volumeSide({ volume, box }: ViewState, facts: DatasetFacts): number {
  return volume === "auto" ? fittingVolume(box ?? wholeBox(facts), facts, USUAL_SIDE) : Number(volume);
}

/** Whether the volume of a view goes once around each axis, whose first layer then follows its last one again. */
export function goesAround({ box }: Pick<ViewState, "box">, { axes }: DatasetFacts): [boolean, boolean, boolean] {
  return axes.map((axis) => box === null && axis.periodic && axis.nodes > 1) as [boolean, boolean, boolean];
}

/**
 * The volume of a quantity over the box of a view, in parts of at most as many samples as the service admits. Samples
 * are in the middle of equal intervals, around an axis at their beginnings: they are the nodes if they are as many, and
 * none counts twice. A volume of too many parts is one part, which the service then refuses by the name of its limit.
 */
export function volumeParts(state: ViewState, facts: DatasetFacts, field: string): readonly VolumePart[] {
  const within = state.box ?? wholeBox(facts);
  const counts = volumeCounts(within, volumeSide(state, facts));
  // The service samples the middles of intervals, so what begins half an interval earlier has samples at beginnings.
  const around = goesAround(state, facts);
  const box = within.map((end, i) => {
    const axis = Math.floor(i / 2);
    const half = (within[2 * axis + 1] - within[2 * axis]) / (2 * counts[axis]);
    return around[axis] ? end - half : end;
  }) as unknown as DomainBox;
  const cuts =
    countParts(counts, facts.points) > MOST_PARTS ? [1, 1, 1] : cutsOf(counts, partCounts(counts, facts.points));
  const edges = cuts.map((parts, axis) =>
    Array.from({ length: parts + 1 }, (_, i) => Math.floor((i * counts[axis]) / parts)),
  );
  const parts: VolumePart[] = [];
  for (let k = 0; k < cuts[2]; k++) {
    for (let j = 0; j < cuts[1]; j++) {
      for (let i = 0; i < cuts[0]; i++) parts.push(partAt([i, j, k], edges, box, counts, state, field));
    }
  }
  return parts;
}

/** The part at a place among the parts of a volume. */
function partAt(
  place: SampleCounts,
  edges: readonly (readonly number[])[],
  box: DomainBox,
  counts: SampleCounts,
  state: ViewState,
  field: string,
): VolumePart {
  const ends = place.map((at, axis) => [edges[axis][at], edges[axis][at + 1]]);
  const limits = ends.map((pair, axis) => {
    const [low, high] = [box[2 * axis], box[2 * axis + 1]];
    return pair.map((sample) => Math.fround(low + ((high - low) * sample) / counts[axis]));
  });
  const size = ends.map(([from, to]) => to - from) as unknown as SampleCounts;
  return {
    from: ends.map(([from]) => from) as unknown as SampleCounts,
    counts: size,
    path: volumePath(state.dataset, {
      ...sampleOptions({ ...state, field }),
      "region.origin": limits.map(([low]) => rounded(low)).join(","),
      "region.extent": limits.map(([low, high]) => rounded(high - low)).join(","),
      nodes: size.join(","),
    }),
  };
}

function rounded(value: number): string {
  return shortestFloat32(Math.fround(value));
}

/** Joins the answers of parts, in their order, to one volume. */
export function joinVolumes(parts: readonly Pick<VolumePart, "from" | "counts">[], volumes: readonly Volume[]): Volume {
  const [first] = volumes;
  if (volumes.length === 1) return first;
  const counts = [0, 1, 2].map((axis) => Math.max(...parts.map((part) => part.from[axis] + part.counts[axis])));
  const values = new Float32Array(counts[0] * counts[1] * counts[2]);
  for (const [i, { from, counts: own }] of parts.entries()) {
    for (let z = 0; z < own[2]; z++) {
      for (let y = 0; y < own[1]; y++) {
        const row = own[0] * (y + own[1] * z);
        const to = from[0] + counts[0] * (from[1] + y + counts[1] * (from[2] + z));
        values.set(volumes[i].values.subarray(row, row + own[0]), to);
      }
    }
  }
  return {
    axes: first.axes.map((axis, i) => ({ ...axis, count: counts[i] })),
    values,
    low: Math.min(...volumes.map(({ low }) => low)),
    high: Math.max(...volumes.map(({ high }) => high)),
  };
}

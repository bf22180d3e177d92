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
/** Samples a side where nothing else is said. */
const USUAL_SIDE = 64;
/** Most requests for one volume. */
const MOST_PIECES = 64;

type Triple = readonly [number, number, number];

/** A part of a volume that one request asks for: its first sample, its samples along x, y and z, and its path. */
export interface VolumePiece {
  readonly from: Triple;
  readonly counts: Triple;
  readonly path: string;
}

/** The samples of a volume along x, y and z: about equal distances, `side` cubed of them in all. */
export function volumeCounts(box: DomainBox, side: number): Triple {
  const lengths = [box[1] - box[0], box[3] - box[2], box[5] - box[4]];
  const distance = Math.cbrt(lengths[0] * lengths[1] * lengths[2]) / side;
  const count = (length: number) => Math.max(2, Math.min(MOST_SAMPLES, Math.round(length / distance)));
  return [count(lengths[0]), count(lengths[1]), count(lengths[2])];
}

/**
 * The samples along each axis of the largest pieces of at most `points`: layers across z, else rows, else parts of a
 * row.
 */
function pieceCounts([nx, ny, nz]: Triple, points: number): Triple {
  if (points >= nx * ny) return [nx, ny, Math.min(nz, Math.floor(points / (nx * ny)))];
  if (points >= nx) return [nx, Math.floor(points / nx), 1];
  return [Math.max(1, points), 1, 1];
}

/** The number of pieces of a size that a volume has along each axis. */
function cutsOf(counts: Triple, piece: Triple): number[] {
  return counts.map((count, i) => Math.ceil(count / piece[i]));
}

function countPieces(counts: Triple, points: number): number {
  return cutsOf(counts, pieceCounts(counts, points)).reduce((product, cuts) => product * cuts, 1);
}

/** The samples a side, at most `wanted`, of a volume whose pieces are not too many for the service. */
export function fittingVolume(box: DomainBox, { points }: Pick<DatasetFacts, "points">, wanted: number): number {
  let side = wanted;
  while (side > 2 && countPieces(volumeCounts(box, side), points) > MOST_PIECES) side--;
  return side;
}

/** The samples a side of the volume of a view. */
export function volumeSide({ volume, box }: ViewState, facts: DatasetFacts): number {
  return volume === "auto" ? fittingVolume(box ?? wholeBox(facts), facts, USUAL_SIDE) : Number(volume);
}

/**
 * The volume of a quantity over the box of a view, in pieces of at most as many samples as the service admits. Samples
 * stand in the middle of equal intervals. A volume of too many pieces is one piece, which the service then refuses by
 * the name of its limit.
 */
export function volumePieces(state: ViewState, facts: DatasetFacts, field: QuantityName): readonly VolumePiece[] {
  const box = state.box ?? wholeBox(facts);
  const counts = volumeCounts(box, volumeSide(state, facts));
  const cuts =
    countPieces(counts, facts.points) > MOST_PIECES ? [1, 1, 1] : cutsOf(counts, pieceCounts(counts, facts.points));
  const edges = cuts.map((pieces, axis) =>
    Array.from({ length: pieces + 1 }, (_, i) => Math.floor((i * counts[axis]) / pieces)),
  );
  const pieces: VolumePiece[] = [];
  for (let k = 0; k < cuts[2]; k++) {
    for (let j = 0; j < cuts[1]; j++) {
      for (let i = 0; i < cuts[0]; i++) pieces.push(pieceAt([i, j, k], edges, box, counts, state, field));
    }
  }
  return pieces;
}

/** The piece at a place among the pieces of a volume. */
function pieceAt(
  place: Triple,
  edges: readonly (readonly number[])[],
  box: DomainBox,
  counts: Triple,
  state: ViewState,
  field: QuantityName,
): VolumePiece {
  const ends = place.map((at, axis) => [edges[axis][at], edges[axis][at + 1]]);
  const limits = ends.map((pair, axis) => {
    const [low, high] = [box[2 * axis], box[2 * axis + 1]];
    return pair.map((sample) => Math.fround(low + ((high - low) * sample) / counts[axis]));
  });
  const size = ends.map(([from, to]) => to - from) as unknown as Triple;
  return {
    from: ends.map(([from]) => from) as unknown as Triple,
    counts: size,
    path: volumePath(state.dataset, {
      ...sampleOptions({ ...state, field }),
      origin: limits.map(([low]) => rounded(low)).join(","),
      extent: limits.map(([low, high]) => rounded(high - low)).join(","),
      nodes: size.join(","),
    }),
  };
}

function rounded(value: number): string {
  return shortestFloat32(Math.fround(value));
}

/** Joins the answers of pieces, in their order, to one volume. */
export function joinVolumes(pieces: readonly Pick<VolumePiece, "from" | "counts">[], parts: readonly Volume[]): Volume {
  const [first] = parts;
  if (parts.length === 1) return first;
  const counts = [0, 1, 2].map((axis) => Math.max(...pieces.map((piece) => piece.from[axis] + piece.counts[axis])));
  const values = new Float32Array(counts[0] * counts[1] * counts[2]);
  for (const [i, { from, counts: own }] of pieces.entries()) {
    for (let z = 0; z < own[2]; z++) {
      for (let y = 0; y < own[1]; y++) {
        const row = own[0] * (y + own[1] * z);
        const to = from[0] + counts[0] * (from[1] + y + counts[1] * (from[2] + z));
        values.set(parts[i].values.subarray(row, row + own[0]), to);
      }
    }
  }
  return {
    axes: first.axes.map((axis, i) => ({ ...axis, count: counts[i] })),
    values,
    low: Math.min(...parts.map(({ low }) => low)),
    high: Math.max(...parts.map(({ high }) => high)),
  };
}

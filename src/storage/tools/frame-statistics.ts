/** Statistics of a stored frame: range, rms, non-finite values, and the relative divergence of the velocity. */
import type { StoredBricks } from "../bricks/brick-reader.js";
import type { Dataset, FieldName, Triple } from "../dataset/dataset.js";
import { type Divergence, DivergenceSums } from "./divergence.js";
import { type FramePlaces, PlacesOfFrame } from "./frame-places.js";

export interface FrameStatistics {
  readonly min: number;
  readonly max: number;
  /** Root mean square over all values, all components. */
  readonly rms: number;
  /** Number of NaN or infinite values, which the statistics above leave out. */
  readonly nonFinite: number;
  /** Relative divergence of a vector, inside bricks; null for scalars and staggered components. */
  readonly divergence: Divergence | null;
  readonly mean: number;
  readonly places: FramePlaces;
}

/** Sums over values of a component. */
export class Sums {
  min = Number.POSITIVE_INFINITY;
  max = Number.NEGATIVE_INFINITY;
  squares = 0;
  total = 0;
  finite = 0;
  nonFinite = 0;
  readonly divergence = new DivergenceSums();

  add(value: number): void {
    if (!Number.isFinite(value)) {
      this.nonFinite++;
      return;
    }
    this.min = Math.min(this.min, value);
    this.max = Math.max(this.max, value);
    this.squares += value * value;
    this.total += value;
    this.finite++;
  }
}

/**
 * Reads every brick once.
 * @param onBrick awaited after each brick, with the fraction done
 * @throws DataError when a brick is unreadable
 */
export async function frameStatistics(
  dataset: Dataset,
  open: StoredBricks,
  field: FieldName,
  frame: number,
  onBrick: (fraction: number) => Promise<void>,
): Promise<FrameStatistics> {
  const source = dataset.fields[field];
  if (source === undefined) throw new RangeError(`${dataset.name} has no ${field}`);
  const { edge, count } = source.bricking;
  const { components } = source;
  const brick = new Float32Array(edge[0] * edge[1] * edge[2] * components);
  const sums = new Sums();
  const places = new PlacesOfFrame(dataset.axes, components);
  const bricks = count[0] * count[1] * count[2];
  for (let index = 0; index < bricks; index++) {
    open.readBrick(field, frame, index, brick);
    const at = [index % count[0], Math.floor(index / count[0]) % count[1], Math.floor(index / (count[0] * count[1]))];
    const first = at.map((place, axis) => place * edge[axis]) as unknown as Triple;
    const size = (source.axes ?? dataset.axes).map(({ nodes }, axis) => Math.min(edge[axis], nodes - first[axis]));
    addValues(brick, edge, size as unknown as Triple, components, sums);
    places.add(brick, edge, size as unknown as Triple, first);
    if (components === 3 && source.own === undefined)
      sums.divergence.add(brick, edge, size as unknown as Triple, first, dataset.axes);
    await onBrick((index + 1) / bricks);
  }
  return {
    min: sums.min,
    max: sums.max,
    rms: Math.sqrt(sums.squares / sums.finite),
    mean: sums.total / sums.finite,
    places: places.found(),
    nonFinite: sums.nonFinite,
    divergence: sums.divergence.found(),
  };
}

function addValues(brick: Float32Array, edge: Triple, size: Triple, components: number, sums: Sums): void {
  for (let z = 0; z < size[2]; z++)
    for (let y = 0; y < size[1]; y++) {
      const start = (z * edge[1] + y) * edge[0] * components;
      for (let i = start; i < start + size[0] * components; i++) sums.add(brick[i]);
    }
}

/** The plan of a reduction: its columns, and its region, whose parts are reduced concurrently. */
import type { Names } from "./names.js";
import {
  type AnyReduction,
  firstState,
  mergeStates,
  type ReductionState,
  reduceSample,
  type Sample,
} from "./reductions.js";

export type Four = readonly [number, number, number, number];

export interface ReductionPlan {
  /** Expressions, each a scalar. */
  readonly columns: readonly string[];
  /** Order of the differences at nodes. */
  readonly order: 4 | 6 | 8;
  readonly reductions: readonly AnyReduction[];
  readonly names: Names;
  /** Nodes of the region along x, y, z, and frames. */
  readonly extent: Four;
  /** Whether an axis, x, y, z or time, is kept: each of its nodes is a group with an answer of its own. */
  readonly kept: readonly [boolean, boolean, boolean, boolean];
  /** Coordinates of the region's nodes, x, y, z, and the periods; 0 for none. */
  readonly coordinates: readonly [Float64Array, Float64Array, Float64Array];
  readonly periods: readonly [number, number, number];
  /** Points in place of nodes, three numbers each, along the first axis. */
  readonly points?: Float32Array;
  readonly times: readonly number[];
  /** Widths of nodes along x, y, z; null along an axis with equal widths. A node weighs `cell` times these. */
  readonly weights: readonly [Float64Array | null, Float64Array | null, Float64Array | null];
  readonly cell: number;
}

export interface PartBox {
  readonly from: readonly [number, number, number];
  readonly count: readonly [number, number, number];
  /** Index of the frame in the plan. */
  readonly frame: number;
}

/** States of the groups with nodes in a part: one list for each reduction. */
export type PartStates = readonly (readonly (readonly [group: number, state: ReductionState])[])[];

export function groupExtent({ extent, kept }: ReductionPlan): Four {
  return extent.map((n, a) => (kept[a] ? n : 1)) as unknown as Four;
}

export function placeOf([nx, ny]: Four, node: number): PartBox["from"] {
  return [node % nx, Math.floor(node / nx) % ny, Math.floor(node / (nx * ny))];
}

export function placeIn({ extent, coordinates, points }: ReductionPlan, node: number): readonly number[] {
  if (points !== undefined) return [...points.subarray(3 * node, 3 * node + 3)];
  return placeOf(extent, node).map((n, a) => coordinates[a][n]);
}

/** Squared distance of two positions, the shorter way on periodic axes; infinite for positions of two groups. */
export function distanceIn(plan: ReductionPlan): Sample["distance2"] {
  const { periods, kept } = plan;
  return (a, b) => {
    if (kept[3] && a.frame !== b.frame) return Infinity;
    const other = placeIn(plan, b.node);
    return placeIn(plan, a.node).reduce((sum, place, axis) => {
      const d = Math.abs(place - other[axis]);
      if (kept[axis] && d > 0) return Infinity;
      return sum + (periods[axis] > 0 ? Math.min(d, periods[axis] - d) : d) ** 2;
    }, 0);
  };
}

/** Reduces the columns of a part, each with the values of its nodes, x fastest. */
export function reducePart(
  plan: ReductionPlan,
  box: PartBox,
  columns: readonly Float64Array[],
  tables: Float64Array[] = [],
): PartStates {
  const { extent, coordinates, periods, cell } = plan;
  const { from, count, frame } = box;
  const [distance2, weights] = [distanceIn(plan), weightsIn(plan, box)];
  const nodes = count.reduce((product, n, a) => product * (plan.kept[a] ? 1 : n), 1);
  // Groups use the same memory one after another, unless the part is one group.
  const memories = nodes === columns[0]?.length ? [] : [...columns, weights].map(() => new Float64Array(nodes));
  const states = plan.reductions.map((): [number, ReductionState][] => []);
  for (const [group, corner, inner] of groupsOf(plan, box)) {
    const [nx, ny, nz] = inner;
    const picked = (values: Float64Array, c: number): Float64Array =>
      nx * ny * nz === values.length ? values : pick(values, count, corner, inner, memories[c]);
    const sample: Sample = {
      group, // Not as a spread of an object, which took half as long as the moments of a small group.
      tables,
      cell,
      from,
      shape: count,
      inner,
      coordinates,
      periods,
      frame,
      distance2,
      columns: columns.map(picked),
      weights: weights && picked(weights, columns.length),
      nodeOf: (n) => {
        const [x, y, z] = placeOf([nx, ny, nz, 1], n).map((at, a) => from[a] + corner[a] + at);
        return (z * extent[1] + y) * extent[0] + x;
      },
    };
    for (const [r, reduction] of plan.reductions.entries()) states[r].push([group, reduceSample(reduction, sample)]);
  }
  return states;
}

/** The groups of a part, with the first node of each in the part, and its nodes there along x, y and z. */
export function* groupsOf(
  plan: ReductionPlan,
  { from, count, frame }: PartBox,
): Generator<readonly [group: number, corner: PartBox["from"], inner: PartBox["count"]]> {
  const { kept } = plan;
  const [gx, gy, gz] = groupExtent(plan);
  const inner = count.map((n, a) => (kept[a] ? 1 : n)) as unknown as PartBox["count"];
  const time = kept[3] ? frame : 0;
  const runs = count.map((n, a) => (kept[a] ? n : 1));
  for (let k = 0; k < runs[2]; k++)
    for (let j = 0; j < runs[1]; j++)
      for (let i = 0; i < runs[0]; i++) {
        const [x, y, z] = [i, j, k].map((n, a) => (kept[a] ? from[a] + n : 0));
        yield [((time * gz + z) * gy + y) * gx + x, [i, j, k], inner];
      }
}

/** The weights of the nodes of a part divided by `cell`, x fastest; null if all are 1. */
export function weightsIn({ weights }: ReductionPlan, { from, count }: PartBox): Float64Array | null {
  if (weights.every((axis) => axis === null)) return null;
  const [x, y, z] = weights.map((axis, a) => axis?.subarray(from[a], from[a] + count[a]));
  const out = new Float64Array(count[0] * count[1] * count[2]);
  for (let k = 0, i = 0; k < count[2]; k++)
    for (let j = 0; j < count[1]; j++) {
      const row = (y?.[j] ?? 1) * (z?.[k] ?? 1);
      for (let n = 0; n < count[0]; n++) out[i++] = row * (x?.[n] ?? 1);
    }
  return out;
}

function pick(
  values: Float64Array,
  count: PartBox["count"],
  [x, y, z]: PartBox["from"],
  [nx, ny, nz]: PartBox["count"],
  out: Float64Array,
): Float64Array {
  for (let k = 0, n = 0; k < nz; k++)
    for (let j = 0; j < ny; j++) {
      const row = ((z + k) * count[1] + y + j) * count[0] + x;
      for (let i = row; i < row + nx; i++) out[n++] = values[i];
    }
  return out;
}

/** Merges states in the order in which they are added, on which the bits of sums depend. */
export class Merged {
  readonly #plan: ReductionPlan;
  readonly #groups: readonly Map<number, ReductionState>[];
  constructor(plan: ReductionPlan) {
    this.#plan = plan;
    this.#groups = plan.reductions.map(() => new Map());
  }

  add(part: PartStates): void {
    const [nx, ny, nz] = this.#plan.extent;
    part.forEach((states, r) => {
      const into = this.#groups[r];
      const reduction = this.#plan.reductions[r];
      for (const [group, state] of states) {
        const known = into.get(group);
        into.set(group, known ? mergeStates(reduction, known, state) : firstState(reduction, state, [nx, ny, nz]));
      }
    });
  }

  all(): PartStates {
    return this.#groups.map((groups) => [...groups]);
  }

  /** States of the groups of a reduction, in the order of the groups. */
  states(reduction: number): readonly ReductionState[] {
    return [...this.#groups[reduction]].toSorted(([a], [b]) => a - b).map(([, state]) => state);
  }
}

/** Positions: the points of a task as float64, relative to the grid. Points outside the domain are errors. */
import { axisEnd, axisStart, firstOutside } from "../../kernels/stencil.js";
import type { Axes, Triple } from "../../kernels/types.js";
import { RequestError } from "../../shared/errors.js";
import type { Slab } from "./task.js";

const AXIS_NAMES = ["x", "y", "z"] as const;

/** Joins slabs of triples and subtracts `shift` from each. */
export function fillPositions(slabs: readonly Slab[], into: Float64Array, shift: Triple): void {
  let at = 0;
  for (const { triples, count } of slabs) {
    into.set(triples.subarray(0, 3 * count), at);
    at += 3 * count;
  }
  for (let a = 0; a < 3; a++) {
    const by = shift[a];
    if (by !== 0) for (let i = a; i < at; i += 3) into[i] -= by;
  }
}

export function frameShift(velocity: Triple, time: number): Triple {
  return [velocity[0] * time, velocity[1] * time, velocity[2] * time];
}

/**
 * The error of a point outside the domain, in the words of the public service, with the end of the axis.
 *
 * @param at    index of the point in `positions`
 * @param index index of the point in the query
 */
export function outsideError(axes: Axes, positions: Float64Array, at: number, index: number): RequestError {
  const position = positions.subarray(3 * at, 3 * at + 3);
  const excess = axes.map((axis, a) => {
    const x = position[a];
    if (!Number.isFinite(x)) return Number.POSITIVE_INFINITY;
    return axis.periodic ? 0 : Math.max(axisStart(axis) - x, x - axisEnd(axis));
  });
  const a = excess.indexOf(Math.max(...excess)) as 0 | 1 | 2;
  const name = AXIS_NAMES[a];
  const x = position[a];
  const isBelow = x < axisStart(axes[a]);
  const side = isBelow ? "smaller than the smallest" : "greater than the largest";
  const end = isBelow ? axisStart(axes[a]) : axisEnd(axes[a]);
  const text = Number.isFinite(x)
    ? `The given ${name} value is ${side} allowed grid value for the ${name} dimension: ${end} (given: ${x})`
    : `The given ${name} value is not a finite number.`;
  return new RequestError("OutOfRange", text, { member: `points[${index}].${name}` });
}

/** The error of the first point of a slab outside the domain, or null. `first`: index of the slab in the query. */
export function slabOutsideError(axes: Axes, shift: Triple, slab: Slab, first: number): RequestError | null {
  const positions = new Float64Array(3 * slab.count);
  fillPositions([slab], positions, shift);
  const at = firstOutside(axes, positions, slab.count);
  return at < 0 ? null : outsideError(axes, positions, at, first + at);
}

/** The error of the first number that is not finite, or null. `first`: index of the first triple in the query. */
export function notFiniteError(
  slabs: readonly { readonly triples: Float32Array; readonly count: number }[],
  member: "points" | "InitialV",
  first = 0,
): RequestError | null {
  let before = first;
  for (const { triples, count } of slabs) {
    for (let i = areFinite(triples, count) ? 3 * count : 0; i < 3 * count; i++) {
      if (Number.isFinite(triples[i])) continue;
      const name = AXIS_NAMES[i % 3];
      const path = `${member}[${before + Math.floor(i / 3)}].${name}`;
      return new RequestError("OutOfRange", `The given ${name} value is not a finite number.`, { member: path });
    }
    before += count;
  }
  return null;
}

/** Whether all numbers of triples are finite. The sum of their products with zero is then zero, otherwise NaN. */
function areFinite(triples: Float32Array, count: number): boolean {
  let x = 0;
  let y = 0;
  let z = 0;
  for (let i = 0; i < 3 * count; i += 3) {
    x += 0 * triples[i];
    y += 0 * triples[i + 1];
    z += 0 * triples[i + 2];
  }
  return x + y + z === 0;
}

/**
 * Order of accuracy of every option: interpolation, first, second and mixed derivatives, away from walls and at them.
 */
import { describe, expect, it } from "vitest";
import { createScheme } from "../../src/kernels/index.js";
import type { Axes, Axis, Triple } from "../../src/kernels/types.js";
import { cosineAxis, endedAxis, fieldOf, nodeAt, periodicAxis, valuesAt } from "./fields.js";

/**
 * exp(i (x + 2 y)) as real and imaginary part, times the factors i kx and i ky of a derivative: its error has one size
 * everywhere.
 */
function wave(x: number, y: number, derivatives: string): [number, number] {
  const [re, im] = [Math.cos(x + 2 * y), Math.sin(x + 2 * y)];
  return [...derivatives].reduce(
    ([a, b], axis): [number, number] => (axis === "x" ? [-b, a] : [-2 * b, 2 * a]),
    [re, im],
  );
}

interface Quantity {
  readonly name: string;
  readonly kernel: string;
  /** Results per component, the one to look at, and the derivative it is. */
  readonly results: number;
  readonly entry: number;
  readonly derivative: string;
}

const VALUE: Quantity = { name: "value", kernel: "velocity", results: 1, entry: 0, derivative: "" };
const DERIVATIVES: readonly Quantity[] = [
  { name: "first derivative", kernel: "velocityGradient", results: 3, entry: 1, derivative: "y" },
  { name: "second derivative", kernel: "velocityHessian", results: 6, entry: 3, derivative: "yy" },
  { name: "mixed derivative", kernel: "velocityHessian", results: 6, entry: 1, derivative: "xy" },
];

/** A kind of axis, and the nodes to look at: a share of the axis (centre) or the first few (wall). */
interface Place {
  readonly name: string;
  readonly make: (nodes: number) => Axis;
  readonly wall: boolean;
}

const PLACES: readonly Place[] = [
  { name: "periodic axes", make: (nodes) => periodicAxis(nodes), wall: false },
  { name: "the interior of uniform axes with ends", make: (nodes) => endedAxis(nodes, 3, -1.5), wall: false },
  { name: "uniform ends", make: (nodes) => endedAxis(nodes, 3, -1.5), wall: true },
  { name: "the interior of cosine-clustered axes", make: cosineAxis, wall: false },
  { name: "cosine-clustered walls", make: cosineAxis, wall: true },
];

/**
 * Numbers of nodes: few enough that rounding does not show, which is early at walls where spacings shrink
 * quadratically.
 */
const SIZES: Readonly<Record<number, readonly [number, number]>> = { 4: [48, 64], 6: [48, 64], 8: [48, 60] };
const WALL_SIZES: Readonly<Record<number, readonly [number, number]>> = { 4: [34, 40], 6: [24, 28], 8: [20, 24] };

/** Coordinates to look at: on nodes, or at five places in every cell. */
function coordinates(place: Place, axis: Axis, onNodes: boolean): number[] {
  const cells = place.wall ? [0, 1, 2] : middleCells(axis);
  return cells.flatMap((cell) => {
    const [left, right] = [nodeAt(axis, cell), nodeAt(axis, cell + 1)];
    return onNodes ? [left] : [0.1, 0.3, 0.5, 0.7, 0.9].map((part) => left + part * (right - left));
  });
}

/**
 * Spacing in the middle; at a wall the geometric mean of the distances of the next nodes, to which errors are
 * proportional.
 */
function localSpacing(place: Place, axis: Axis, order: number): number {
  const middle = axis.nodes / 2;
  if (!place.wall) return nodeAt(axis, middle) - nodeAt(axis, middle - 1);
  const product = Array.from({ length: order }, (_, j) => nodeAt(axis, j + 1) - nodeAt(axis, 0)).reduce(
    (a, b) => a * b,
  );
  return product ** (1 / order);
}

function middleCells(axis: Axis): number[] {
  const count = Math.round(axis.nodes / 5);
  return Array.from({ length: count }, (_, i) => Math.floor(0.4 * axis.nodes) + i);
}

function largestError(quantity: Quantity, method: string, place: Place, nodes: number): { error: number; axis: Axis } {
  const { kernel, results, entry, derivative } = quantity;
  const axes: Axes = [place.make(nodes), place.make(nodes), endedAxis(12, 1)];
  const field = fieldOf(axes, 3, (x, y) => [...wave(x, y, ""), 0]);
  const onNodes = method.startsWith("None_");
  const [x, y] = [coordinates(place, axes[0], onNodes), coordinates(place, axes[1], onNodes)];
  const points = x.flatMap((a) => y.map((b): Triple => [a, b, 0.5]));
  const values = valuesAt(createScheme(kernel, method, axes, { fd8Legacy: false }), [field], points);
  const errors = points.map(([a, b], i) => {
    const [re, im] = wave(a, b, derivative);
    const value = values[i] as number[];
    return Math.hypot((value[entry] as number) - re, (value[results + entry] as number) - im);
  });
  return { error: Math.max(...errors), axis: axes[1] };
}

function slope(quantity: Quantity, method: string, order: number, place: Place): number {
  const [few, many] = (place.make === cosineAxis && place.wall ? WALL_SIZES : SIZES)[order] as readonly [
    number,
    number,
  ];
  const coarse = largestError(quantity, method, place, few);
  const fine = largestError(quantity, method, place, many);
  const refinement = localSpacing(place, coarse.axis, order) / localSpacing(place, fine.axis, order);
  return Math.log(coarse.error / fine.error) / Math.log(refinement);
}

describe.each(PLACES)("at $name", (place) => {
  const cases: readonly (readonly [Quantity, string, number])[] = [
    [VALUE, "Lag4", 4],
    [VALUE, "Lag6", 6],
    [VALUE, "Lag8", 8],
    ...DERIVATIVES.flatMap((quantity) => [
      [quantity, "None_Fd4", 4] as const,
      [quantity, "None_Fd6", 6] as const,
      [quantity, "None_Fd8", 8] as const,
      [quantity, "Fd4Lag4", 4] as const,
    ]),
  ];
  it.each(cases.map(([quantity, method, order]) => [quantity.name, method, order, quantity] as const))(
    "%s by %s has order %d",
    (_name, method, order, quantity) => {
      expect(Math.abs(slope(quantity, method, order, place) - order)).toBeLessThan(0.2);
    },
  );
});

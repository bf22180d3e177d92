/**
 * Cubes and points that kernels are measured with, what is measured together, and whether two ways of computing agree.
 */
import type { Accelerator } from "../dist/kernels/index.js";
import { createScheme } from "../dist/kernels/index.js";
import { SCRATCH_BYTES } from "../dist/kernels/simd/index.js";
import type { BrickField, Scheme } from "../dist/kernels/types.js";
import { type Comparison, type Contestant, nanoseconds } from "./alternate.js";
import { Arena, brickCube, createSorter, cubeAxes, randomPositions } from "./field.js";

const SEED = 1_024;
/** Nodes per edge of a brick. */
export const EDGE = 64;
export const OPTIONS = { fd8Legacy: false };
const MAX_COMPONENTS = 18;
/** Points whose answers are compared before anything is measured. */
export const CHECKED = 20;
/**
 * The difference between two ways of computing the same that is allowed, of the largest value (of 1 where that is
 * less).
 */
const TOLERANCE = 1e-6;

/** A cube in a shared memory, and points in it. */
export interface Setting {
  readonly nodes: number;
  readonly arena: Arena;
  readonly accelerator: Accelerator;
  readonly velocity: BrickField;
  readonly pressure: BrickField;
  readonly positions: Readonly<Record<"random" | "sorted", Float64Array>>;
  readonly out: Float64Array;
}

export function prepare(nodes: number, points: number): Setting {
  const bricks = Math.ceil(nodes / EDGE) ** 3;
  const arena = new Arena(16 * bricks * EDGE ** 3 + (8 * MAX_COMPONENTS + 192) * points + 8 * SCRATCH_BYTES + 2 ** 20);
  const accelerator = arena.accelerator();
  const velocity = brickCube(arena, nodes, EDGE, 3);
  const pressure = brickCube(arena, nodes, EDGE, 1);
  const random = randomPositions(arena, points, SEED);
  const sorted = arena.float64(3 * points);
  createSorter(arena, cubeAxes(nodes), velocity, points).sort(points, random, sorted);
  const out = arena.float64(MAX_COMPONENTS * points);
  return { nodes, arena, accelerator, velocity, pressure, positions: { random, sorted }, out };
}

/** `points` points, the whole set when there is no need to save time. */
export function evaluation(
  setting: Setting,
  name: string,
  scheme: Scheme,
  fields: readonly BrickField[],
  backend: string,
  order: "random" | "sorted",
  points: number,
): Contestant {
  const positions = setting.positions[order];
  const params = { nodes: setting.nodes, order, points, brick: EDGE };
  return {
    row: { bench: "kernel", case: name, backend, unit: "ns/point", params },
    run: () => nanoseconds(() => scheme.evaluate(fields, positions, 0, points, setting.out)) / points,
  };
}

/** Fails unless the first numbers of two answers agree. */
export function checkClose(name: string, some: ArrayLike<number>, others: ArrayLike<number>, length: number): void {
  let largest = 1;
  for (let i = 0; i < length; i++) largest = Math.max(largest, Math.abs(others[i] as number));
  for (let i = 0; i < length; i++) {
    if (!(Math.abs((some[i] as number) - (others[i] as number)) <= TOLERANCE * largest))
      throw new Error(`${name}: number ${i} is ${some[i]} and ${others[i]}`);
  }
}

/** Cases that are measured together, and the ratios that their rows report. */
export interface Group {
  readonly contestants: readonly Contestant[];
  readonly comparisons: readonly Comparison[];
}

/** Lag8 velocities at one time, the measure of other costs in their group. */
export function lag8({ nodes, accelerator }: Setting): Scheme {
  return createScheme("velocity", "Lag8", cubeAxes(nodes), OPTIONS, accelerator);
}

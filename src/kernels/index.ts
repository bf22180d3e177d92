/** The kernel table: what each operation computes from which fields with which options, and the schemes behind the names. */

import type { orderByBrick } from "./brick-order.js";
import { createDerivative, DERIVATIVE_METHODS, type Layout } from "./derivative.js";
import type { BoxAverage } from "./filter/box-average.js";
import { createInterpolation, VALUE_ORDERS } from "./interpolate.js";
import type { Axes, Scheme } from "./types.js";

/** How the engine runs a kernel: at points, over regions, along paths, as a forcing, or not at all. */
export type Family = "points" | "filter" | "track" | "force" | "echo";

/** One kernel. */
export interface Kernel {
  readonly family: Family;
  /** Fields of the dataset it reads, in the order of `Scheme.evaluate`. */
  readonly fields: readonly ("velocity" | "pressure" | "force")[];
  /** Values of SpatialInterpolation it takes; empty where the operation has no such member. */
  readonly methods: readonly string[];
  /** Numbers per result record. */
  readonly components: number;
}

const VALUES = [...VALUE_ORDERS.keys()];
const DERIVATIVES = [...DERIVATIVE_METHODS.keys()];
const VELOCITY = ["velocity"] as const;
const PRESSURE = ["pressure"] as const;

const points = (fields: Kernel["fields"], methods: readonly string[], components: number) =>
  ({ family: "points", fields, methods, components }) as const;
const filter = (fields: Kernel["fields"], components: number) =>
  ({ family: "filter", fields, methods: [], components }) as const;
const track = { family: "track", fields: VELOCITY, methods: VALUES, components: 3 } as const;

/**
 * Kernels by the name that operations give them. `force` speaks of a stored force field; a forcing known in closed form
 * (forcing.ts) reads no field and takes every option.
 */
export const KERNELS = {
  velocity: points(VELOCITY, VALUES, 3),
  velocityPressure: points(["velocity", "pressure"], VALUES, 4),
  velocityGradient: points(VELOCITY, DERIVATIVES, 9),
  pressureGradient: points(PRESSURE, DERIVATIVES, 3),
  pressureHessian: points(PRESSURE, DERIVATIVES, 6),
  velocityHessian: points(VELOCITY, DERIVATIVES, 18),
  velocityLaplacian: points(VELOCITY, DERIVATIVES, 3),
  force: { family: "force", fields: ["force"], methods: VALUES, components: 3 },
  boxVelocity: filter(VELOCITY, 3),
  boxPressure: filter(PRESSURE, 1),
  boxVelocityGradient: filter(VELOCITY, 9),
  boxStress: filter(VELOCITY, 6),
  trackInertial: track,
  trackStepped: track,
  trackControlled: track,
  echo: { family: "echo", fields: [], methods: [], components: 3 },
} as const satisfies Readonly<Record<string, Kernel>>;

/** Settings of schemes. */
export interface SchemeOptions {
  /** Published (sixth-order) coefficients for second derivatives with None_Fd8. */
  readonly fd8Legacy: boolean;
}

/** A faster implementation of the kernels in this folder, with the same results to rounding. */
export interface Accelerator {
  /** A scheme, or null where there is none; arguments as for `createScheme`. */
  scheme(kernel: string, method: string, axes: Axes, options: SchemeOptions): Scheme | null;
  readonly boxAverage?: BoxAverage;
  readonly orderByBrick?: typeof orderByBrick;
}

const LAYOUTS: ReadonlyMap<string, { readonly layout: Layout; readonly size: 1 | 3 }> = new Map([
  ["velocityGradient", { layout: "gradient", size: 3 }],
  ["pressureGradient", { layout: "gradient", size: 1 }],
  ["pressureHessian", { layout: "hessian", size: 1 }],
  ["velocityHessian", { layout: "hessian", size: 3 }],
  ["velocityLaplacian", { layout: "laplacian", size: 3 }],
] as const);
const SIZES: ReadonlyMap<string, readonly number[]> = new Map([
  ["velocity", [3]],
  ["velocityPressure", [3, 1]],
  ["force", [3]],
]);

/**
 * The scheme of a kernel of the families `points` and `force`, for one thread: it holds scratch of its own.
 * Tracking kernels use the scheme of `velocity`.
 *
 * @param method one of the kernel's methods
 * @throws RangeError for any other kernel or method, and when an axis with ends has fewer nodes than the stencil
 */
export function createScheme(
  kernel: string,
  method: string,
  axes: Axes,
  options: SchemeOptions,
  accelerator?: Accelerator,
): Scheme {
  const sizes = SIZES.get(kernel);
  const order = VALUE_ORDERS.get(method);
  const derivative = LAYOUTS.get(kernel);
  const difference = DERIVATIVE_METHODS.get(method);
  const known = (sizes !== undefined && order !== undefined) || (derivative !== undefined && difference !== undefined);
  if (!known) throw new RangeError(`no scheme ${method} for ${kernel}`);
  const accelerated = accelerator?.scheme(kernel, method, axes, options) ?? null;
  if (accelerated !== null) return accelerated;
  if (sizes !== undefined && order !== undefined) return createInterpolation(axes, order, sizes);
  if (derivative !== undefined && difference !== undefined) {
    return createDerivative(axes, derivative.layout, difference, derivative.size, options.fd8Legacy);
  }
  throw new RangeError(`no scheme ${method} for ${kernel}`);
}

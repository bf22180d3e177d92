/** Tables of what each kernel computes, from how many components, and of what each spatial option means. */
import type { DifferenceOrder } from "./finite-difference.js";
import type { Order } from "./lagrange.js";
import type { Spline } from "./spline-weights.js";

/** Quantities of fields at points. */
export type PointQuantity = "value" | "gradient" | "hessian" | "laplacian" | "laplacianOfGradient";

/** Results per component of a field. */
export const RESULTS: Readonly<Record<PointQuantity, number>> = {
  value: 1,
  gradient: 3,
  hessian: 6,
  laplacian: 1,
  laplacianOfGradient: 3,
};

/** Quantities of a box around a point. */
export type BoxQuantity = "mean" | "meanGradient" | "stress";

/** A computation at points: of fields with a number of components, whose results follow each other. */
export interface PointKernel {
  readonly quantity: PointQuantity;
  readonly sizes: readonly (1 | 3)[];
}

/** A computation over boxes of one field. */
export interface BoxKernel {
  readonly quantity: BoxQuantity;
  readonly size: 1 | 3;
  /** Numbers per record. */
  readonly components: number;
}

/** Kernels of schemes by the names that operations give them; a vector may be any field of three components. */
export const POINT_KERNELS: ReadonlyMap<string, PointKernel> = new Map([
  ["velocity", { quantity: "value", sizes: [3] }],
  ["pressure", { quantity: "value", sizes: [1] }],
  ["velocityPressure", { quantity: "value", sizes: [3, 1] }],
  ["velocityGradient", { quantity: "gradient", sizes: [3] }],
  ["pressureGradient", { quantity: "gradient", sizes: [1] }],
  ["pressureHessian", { quantity: "hessian", sizes: [1] }],
  ["velocityHessian", { quantity: "hessian", sizes: [3] }],
  ["velocityLaplacian", { quantity: "laplacian", sizes: [3] }],
  ["pressureLaplacian", { quantity: "laplacian", sizes: [1] }],
  ["velocityLaplacianOfGradient", { quantity: "laplacianOfGradient", sizes: [3] }],
  ["pressureLaplacianOfGradient", { quantity: "laplacianOfGradient", sizes: [1] }],
] as const);

/** Kernels of the box filters by the names that operations give them. */
export const BOX_KERNELS: ReadonlyMap<string, BoxKernel> = new Map([
  ["boxVelocity", { quantity: "mean", size: 3, components: 3 }],
  ["boxPressure", { quantity: "mean", size: 1, components: 1 }],
  // Of a component that has nodes of its own.
  ["boxPressureGradient", { quantity: "meanGradient", size: 1, components: 3 }],
  ["boxVelocityGradient", { quantity: "meanGradient", size: 3, components: 9 }],
  ["boxStress", { quantity: "stress", size: 3, components: 6 }],
] as const);

/**
 * A spatial option: Lagrange interpolation, differences of `order` at the nodes of a Lagrange stencil of `base` nodes,
 * or a spline.
 */
export type Method =
  | ({ readonly kind: "spline" } & Spline)
  | { readonly kind: "lagrange"; readonly order: Order }
  | { readonly kind: "difference"; readonly base: 1 | 4; readonly order: DifferenceOrder };

/** Spatial options by name. */
export const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ["None", { kind: "lagrange", order: 1 }],
  ["Lag4", { kind: "lagrange", order: 4 }],
  ["Lag6", { kind: "lagrange", order: 6 }],
  ["Lag8", { kind: "lagrange", order: 8 }],
  ["None_Fd4", { kind: "difference", base: 1, order: 4 }],
  ["None_Fd6", { kind: "difference", base: 1, order: 6 }],
  ["None_Fd8", { kind: "difference", base: 1, order: 8 }],
  ["Fd4Lag4", { kind: "difference", base: 4, order: 4 }],
  ...splines(),
]);

/** Nodes of stencils around a cell, along an axis: from `below` before it to `above` after it. */
export interface StencilReach {
  readonly below: number;
  readonly above: number;
}

/** The reach of a method, whatever the quantity and the place in the cell; at the ends of an axis it is further. */
export function reachOf(method: Method): StencilReach {
  if (method.kind === "spline") return { below: method.nodes / 2 - 1, above: method.nodes / 2 };
  const base = method.kind === "lagrange" ? method.order : method.base;
  const differences = method.kind === "lagrange" ? 0 : method.order / 2;
  return { below: Math.max(0, base / 2 - 1) + differences, above: Math.max(1, base / 2) + differences };
}

/** The splines M{m}Q{q}; the derivatives 0 .. m of each are taken from q - 1 nodes: M3Q4 and M4Q4 do not exist. */
function splines(): [string, Method][] {
  return [4, 6, 8, 10, 12, 14].flatMap((nodes) =>
    [1, 2, 3, 4]
      .filter((smoothness) => smoothness <= nodes - 2)
      .map((smoothness): [string, Method] => [`M${smoothness}Q${nodes}`, { kind: "spline", smoothness, nodes }]),
  );
}

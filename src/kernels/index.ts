/** Makes the scheme of a kernel: the plain scheme of this folder, or the scheme of an accelerator. */
import { createDerivative } from "./derivative.js";
import { differencedAxes } from "./finite-difference.js";
import { createInterpolation } from "./interpolate.js";
import { createSpline } from "./spline.js";
import { METHODS, type Method, POINT_KERNELS, type PointKernel } from "./table.js";
import type { Axes, Scheme } from "./types.js";

/** Settings of schemes. */
export interface SchemeOptions {
  /** Published (sixth-order) coefficients for second derivatives with None_Fd8. */
  readonly fd8Legacy: boolean;
}

/** The specification of a scheme: a computation at points by a method, on axes. */
export interface SchemeRequest extends PointKernel {
  readonly method: Method;
  readonly axes: Axes;
  readonly options: SchemeOptions;
}

/** A faster implementation of the kernels in this folder, with the same bits. */
export interface Accelerator {
  /** A scheme that does what `plain` does, or null if there is none. */
  scheme(request: SchemeRequest, plain: Scheme): Scheme | null;
}

/**
 * Makes the scheme of a point kernel for one thread: it holds its own scratch.
 *
 * @param kernel a name of POINT_KERNELS
 * @param method a name of METHODS that suits the kernel: interpolation for values, differences for derivatives, splines
 *   for both but no Laplacian and, if only the first derivative is continuous, no Hessian
 * @throws RangeError for any other kernel or method, and when an axis with ends has fewer nodes than the stencil
 */
export function createScheme(
  kernel: string,
  method: string,
  axes: Axes,
  options: SchemeOptions,
  accelerator?: Accelerator,
): Scheme {
  const target = POINT_KERNELS.get(kernel);
  const known = METHODS.get(method);
  const own = target?.quantity === "value" ? axes : differencedAxes(axes);
  const request = target && known && { ...target, method: known, axes: own, options };
  const plain = request && createPlainScheme(request);
  if (!request || !plain) throw new RangeError(`no scheme ${method} for ${kernel}`);
  return accelerator?.scheme(request, plain) ?? plain;
}

/** The plain scheme of a request; null when the method does not suit the quantity. */
function createPlainScheme({ quantity, sizes, method, axes, options }: SchemeRequest): Scheme | null {
  if (method.kind === "spline") {
    if (quantity === "laplacian" || quantity === "laplacianOfGradient") return null;
    return quantity === "hessian" && method.smoothness < 2 ? null : createSpline(axes, quantity, method, sizes);
  }
  if (quantity === "value") return method.kind === "lagrange" ? createInterpolation(axes, method.order, sizes) : null;
  // Fd4Lag4 has no Laplacian of the gradient.
  return method.kind === "difference" && (quantity !== "laplacianOfGradient" || method.base === 1)
    ? createDerivative(axes, quantity, method, sizes[0], options.fd8Legacy)
    : null;
}

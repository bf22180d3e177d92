/** Makes the scheme of a kernel: the plain one of this folder, or that of an accelerator. */
import type { orderByBrick } from "./brick-order.js";
import { createDerivative, DERIVATIVE_METHODS } from "./derivative.js";
import type { BoxAverage } from "./filter/box-average.js";
import { createInterpolation, VALUE_ORDERS } from "./interpolate.js";
import { POINT_KERNELS } from "./table.js";
import type { Axes, Scheme } from "./types.js";

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

/**
 * Makes the scheme of a point kernel for one thread: it holds scratch of its own.
 *
 * @param kernel a name of POINT_KERNELS
 * @param method an option for values (VALUE_ORDERS) or derivatives (DERIVATIVE_METHODS), as the kernel asks for
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
  const order = VALUE_ORDERS.get(method);
  const difference = DERIVATIVE_METHODS.get(method);
  const known = target !== undefined && (target.quantity === "value" ? order : difference) !== undefined;
  if (!known) throw new RangeError(`no scheme ${method} for ${kernel}`);
  const accelerated = accelerator?.scheme(kernel, method, axes, options) ?? null;
  if (accelerated !== null) return accelerated;
  const { quantity, sizes } = target;
  if (quantity === "value") return createInterpolation(axes, order as NonNullable<typeof order>, sizes);
  return createDerivative(
    axes,
    quantity,
    difference as NonNullable<typeof difference>,
    sizes[0] as 1 | 3,
    options.fd8Legacy,
  );
}

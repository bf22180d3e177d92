/**
 * Makes the schemes that the SIMD module evaluates: separable products for interpolation, Fd4Lag4 and splines, weighted
 * nodes for the None options.
 */
import type { DifferenceOrder } from "../finite-difference.js";
import type { SchemeRequest } from "../index.js";
import { nodalTaps } from "../nodal.js";
import { type PolynomialTable, splinePolynomials } from "../spline-weights.js";
import { type PointKernel, RESULTS } from "../table.js";
import type { Axes, BrickField, Scheme } from "../types.js";
import { bytesOf, createCombination, type Evaluate } from "./combination.js";
import { TERM_BYTES } from "./record-sizes.js";
import { imageOfProducts, imageOfTaps, type Scratch } from "./scratch.js";
import { DERIVATIVES, products, type SimdQuantity, splineProducts } from "./terms.js";
import type { Module } from "./webassembly.js";

/**
 * Size of a field, in bytes, above which its nodes are prefetched: it exceeds the caches of a core and half of the
 * cache that cores share.
 */
const LARGE_BYTES = 16 * 1024 * 1024;

/**
 * Ratio of the nodes of all terms to the nodes of the cube around them. Above it the cube is combined as one, below it
 * the nodes of each term are.
 */
const CUBE_RATIO = 1.2;

/**
 * Largest ratio of the nodes in a packet's box to those in the stencils of its points, one by one, as measured. It is
 * larger for nodal schemes, whose stencils are mostly rows of a single node: these are combined more slowly.
 */
const PACKET_DENSITY = { tensor: 1.2, nodal: 2 } as const;

/** The number of values that a kernel has for one point. */
function countComponents({ quantity, sizes }: PointKernel): number {
  return RESULTS[quantity] * sizes.reduce((sum, size) => sum + size, 0);
}

/** A kernel that the module has. */
interface Target extends PointKernel {
  readonly quantity: SimdQuantity;
}

/** A scheme without `listBricks`, which the plain kernels provide. */
type SimdScheme = Omit<Scheme, "listBricks">;

/** The scheme of a request on periodic axes; null when the module has none. */
export function createSimdScheme(module: Module, records: Scratch, request: SchemeRequest): SimdScheme | null {
  const { quantity, sizes, method, axes, options } = request;
  if (quantity === "laplacianOfGradient") return null;
  const target: Target = { quantity, sizes };
  if (method.kind === "spline")
    return tensorScheme(module, records, axes, target, method.nodes, splinePolynomials(method));
  const nodes = method.kind === "lagrange" ? method.order : method.base;
  if (nodes > 1) return tensorScheme(module, records, axes, target, nodes, null);
  const order = method.kind === "lagrange" ? 4 : method.order;
  return nodalScheme(module, records, axes, target, order, options.fd8Legacy);
}

/** Makes a separable scheme: interpolation on `nodes` nodes per axis, Fd4Lag4, or a spline if there is a `table`. */
function tensorScheme(
  module: Module,
  records: Scratch,
  axes: Axes,
  target: Target,
  nodes: number,
  table: PolynomialTable | null,
): SimdScheme {
  const { quantity, sizes } = target;
  const components = countComponents(target);
  const terms = table === null ? products(quantity, nodes) : splineProducts(quantity, nodes);
  const image = imageOfProducts(axes, terms, table?.coefficients ?? new Float64Array(0));
  const polynomials = table === null ? 0 : records.stencil + terms.length * TERM_BYTES;
  const degree = table === null ? 0 : table.length - 1;
  const vectors = terms.flatMap((term) => term.vectors);
  const low = Math.min(...vectors.map(({ start }) => start));
  const span = Math.max(...vectors.map(({ start, length }) => start + length)) - low;
  const used = vectors.reduce((bits, { vector }) => bits | (1 << vector), 0);
  const large = (fields: readonly BrickField[]): boolean =>
    fields.some(({ components: size, bricking }) => bytesOf(bricking, size) > LARGE_BYTES);
  /** Whether the kernel of values evaluates it. */
  const isPlain = quantity === "value" && nodes <= 8;
  const call = (ahead: boolean, frames: number, together: number, at: number, count: number, to: number): void => {
    if (isPlain) {
      const source = [records.axes, records.fields, sizes.length, at, count, to, components, records.work];
      module.values(nodes, polynomials, degree, ahead ? 1 : 0, frames, together, ...source);
      return;
    }
    const stencil = [frames, together, records.axes, records.stencil, terms.length, RESULTS[quantity]];
    const points = [records.fields, sizes.length, at, count, to, components, records.work];
    if (table === null) module.tensor(DERIVATIVES[quantity], ...stencil, ...points);
    else module.spline(nodes, used, polynomials, degree, ...stencil, ...points);
  };
  const evaluate: Evaluate = (frames, together, positions, first, count, out) =>
    call(false, frames, together, positions.byteOffset + 24 * first, count, out.byteOffset + 8 * components * first);
  /** Nodes of all terms, each counted as often as it occurs. */
  const each = terms.reduce((sum, { vectors: [x, y, z] }) => sum + x.length * y.length * z.length, 0);
  const whole = each > CUBE_RATIO * span ** 3;
  const stencil = { first: 1 - nodes / 2, nearest: false, low, span, whole, nodes: whole ? span ** 3 : each };
  return {
    components,
    evaluate(fields, positions, first, count, out) {
      records.writeScheme(image);
      records.writeFields(fields, sizes.length);
      const at = positions.byteOffset + 24 * first;
      call(large(fields), 0, 0, at, count, out.byteOffset + 8 * components * first);
    },
    ...createCombination(
      module,
      records,
      { ...stencil, density: PACKET_DENSITY.tensor, sizes, image, weighsEach: isPlain },
      evaluate,
    ),
  };
}

/** Makes a nodal scheme: values, or differences of `order`, at the nearest node. */
function nodalScheme(
  module: Module,
  records: Scratch,
  axes: Axes,
  target: Target,
  order: DifferenceOrder,
  legacy: boolean,
): SimdScheme {
  const { quantity, sizes } = target;
  const components = countComponents(target);
  const stencil = nodalTaps(quantity, order, axes, legacy);
  const image = imageOfTaps(axes, stencil);
  const reach = quantity === "value" ? 0 : order / 2;
  const evaluate: Evaluate = (frames, together, positions, first, count, out) => {
    module.nodal(
      reach,
      frames,
      together,
      records.axes,
      records.stencil,
      stencil.length,
      RESULTS[quantity],
      records.fields,
      sizes.length,
      positions.byteOffset + 24 * first,
      count,
      out.byteOffset + 8 * components * first,
      components,
      records.work,
    );
  };
  const nodes = new Set(stencil.map(({ offset }) => offset.join())).size;
  const around = { first: 0, nearest: true, low: -reach, span: 2 * reach + 1, whole: true, nodes };
  return {
    components,
    evaluate(fields, positions, first, count, out) {
      records.writeScheme(image);
      records.writeFields(fields, sizes.length);
      evaluate(0, 0, positions, first, count, out);
    },
    ...createCombination(
      module,
      records,
      { ...around, density: PACKET_DENSITY.nodal, sizes, image, weighsEach: false },
      evaluate,
    ),
  };
}

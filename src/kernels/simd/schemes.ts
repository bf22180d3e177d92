/** Makes the schemes of the module: separable products for interpolation and Fd4Lag4, weighted nodes for the None options. */

import type { DifferenceOrder } from "../finite-difference.js";
import { type PointKernel, RESULTS } from "../table.js";
import type { Axes, Bricking, Scheme } from "../types.js";
import { imageOfProducts, imageOfTaps, type Scratch } from "./scratch.js";
import { DERIVATIVES, products, taps } from "./terms.js";
import type { Module } from "./webassembly.js";

/** Bytes of a field from which on its nodes are fetched ahead: more than the caches of a core and half of those that cores share. */
const LARGE_BYTES = 16 * 1024 * 1024;

/** Bytes of a field in bricks of float32. */
function bytesOf({ edge, count }: Bricking, components: number): number {
  return [0, 1, 2].reduce((bytes, a) => bytes * edge[a] * count[a], 4 * components);
}

/** Values per point. */
function countComponents({ quantity, sizes }: PointKernel): number {
  return RESULTS[quantity] * sizes.reduce((sum, size) => sum + size, 0);
}

/** Interpolation on `order` nodes an axis, or Fd4Lag4. */
export function tensorScheme(module: Module, records: Scratch, axes: Axes, target: PointKernel, order: number): Scheme {
  const { quantity, sizes } = target;
  const components = countComponents(target);
  const terms = products(quantity, order);
  const image = imageOfProducts(axes, terms);
  const vectors = terms.flatMap((term) => term.vectors);
  const low = Math.min(...vectors.map(({ start }) => start));
  const span = Math.max(...vectors.map(({ start, length }) => start + length)) - low;
  return {
    components,
    cover(bricking, positions, first, count, marks, list, length) {
      records.writeScheme(image);
      records.writeBricking(bricking);
      return module.coverTensor(
        1 - order / 2,
        low,
        span,
        records.axes,
        records.stencil,
        terms.length,
        records.fields,
        positions.byteOffset + 24 * first,
        count,
        marks.byteOffset,
        list.byteOffset,
        length,
      );
    },
    evaluate(fields, positions, first, count, out) {
      records.writeScheme(image);
      records.writeFields(fields, sizes.length);
      if (quantity === "value") {
        module.values(
          order,
          fields.some(({ components: size, bricking }) => bytesOf(bricking, size) > LARGE_BYTES) ? 1 : 0,
          records.axes,
          records.fields,
          sizes.length,
          positions.byteOffset + 24 * first,
          count,
          out.byteOffset + 8 * components * first,
          components,
          records.work,
        );
        return;
      }
      module.tensor(
        DERIVATIVES[quantity],
        records.axes,
        records.stencil,
        terms.length,
        RESULTS[quantity],
        records.fields,
        sizes.length,
        positions.byteOffset + 24 * first,
        count,
        out.byteOffset + 8 * components * first,
        components,
        records.work,
      );
    },
  };
}

/** Values, or differences of `order`, at the nearest node. */
export function nodalScheme(
  module: Module,
  records: Scratch,
  axes: Axes,
  target: PointKernel,
  order: DifferenceOrder,
  legacy: boolean,
): Scheme {
  const { quantity, sizes } = target;
  const components = countComponents(target);
  const stencil = taps(quantity, order, axes, legacy);
  const image = imageOfTaps(axes, stencil);
  const reach = quantity === "value" ? 0 : order / 2;
  return {
    components,
    cover(bricking, positions, first, count, marks, list, length) {
      records.writeScheme(image);
      records.writeBricking(bricking);
      return module.coverNodal(
        reach,
        records.axes,
        records.stencil,
        stencil.length,
        records.fields,
        positions.byteOffset + 24 * first,
        count,
        marks.byteOffset,
        list.byteOffset,
        length,
      );
    },
    evaluate(fields, positions, first, count, out) {
      records.writeScheme(image);
      records.writeFields(fields, sizes.length);
      module.nodal(
        reach,
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
    },
  };
}

/** The SIMD module behind the same interfaces as the plain kernels; everything it touches lies in one shared memory. */
import type { Axes, Scheme } from "../field.js";
import type { DifferenceOrder } from "../finite-difference.js";
import { type Accelerator, createScheme, type SchemeOptions } from "../index.js";
import { orderByBrick as orderPlainly } from "../order.js";
import { createRecords, imageOfGrid, imageOfProducts, imageOfTaps, type Records, SCRATCH_BYTES } from "./records.js";
import { DERIVATIVES, products, type Quantity, SLOTS, taps } from "./stencils.js";
import { instantiate, type WasmBytes, type WasmMemory } from "./webassembly.js";

export { createSharedMemory, type WasmBytes, type WasmMemory } from "./webassembly.js";
export { SCRATCH_BYTES };

/** The kernels of the module, for one thread. */
export interface SimdAccelerator extends Accelerator {
  /** As the plain one; every array must be a view of the memory. Tabulated axes are sorted by the plain one. */
  readonly orderByBrick: typeof orderPlainly;
}

/** Kernels that have a SIMD form: what they compute of which fields. */
const KERNELS: ReadonlyMap<string, { readonly quantity: Quantity; readonly sizes: readonly number[] }> = new Map([
  ["velocity", { quantity: "value", sizes: [3] }],
  ["force", { quantity: "value", sizes: [3] }],
  ["velocityPressure", { quantity: "value", sizes: [3, 1] }],
  ["velocityGradient", { quantity: "gradient", sizes: [3] }],
  ["pressureGradient", { quantity: "gradient", sizes: [1] }],
  ["pressureHessian", { quantity: "hessian", sizes: [1] }],
  ["velocityHessian", { quantity: "hessian", sizes: [3] }],
  ["velocityLaplacian", { quantity: "laplacian", sizes: [3] }],
]);

/** Options by name: stencil of the interpolation (1 is the nearest node), and order of the differences. */
const METHODS: ReadonlyMap<string, { readonly nodes: 1 | 4 | 6 | 8; readonly order: DifferenceOrder }> = new Map([
  ["None", { nodes: 1, order: 4 }],
  ["Lag4", { nodes: 4, order: 4 }],
  ["Lag6", { nodes: 6, order: 4 }],
  ["Lag8", { nodes: 8, order: 4 }],
  ["None_Fd4", { nodes: 1, order: 4 }],
  ["None_Fd6", { nodes: 1, order: 6 }],
  ["None_Fd8", { nodes: 1, order: 8 }],
  ["Fd4Lag4", { nodes: 4, order: 4 }],
]);

/** What the module exports; addresses are byte offsets in the memory. */
interface Module {
  tensor(
    order: number,
    derivatives: number,
    axes: number,
    terms: number,
    termCount: number,
    slots: number,
    fields: number,
    fieldCount: number,
    positions: number,
    count: number,
    out: number,
    components: number,
    work: number,
  ): void;
  nodal(
    reach: number,
    axes: number,
    taps: number,
    tapCount: number,
    slots: number,
    fields: number,
    fieldCount: number,
    positions: number,
    count: number,
    out: number,
    components: number,
    work: number,
  ): void;
  orderByBrick(
    axes: number,
    x: number,
    y: number,
    z: number,
    positions: number,
    count: number,
    keys: number,
    order: number,
    work: number,
  ): void;
}

/** Instantiates the module for one thread; threads may share the memory, each with scratch of its own. */
export function instantiateSimd(
  wasm: WasmBytes | object,
  memory: WasmMemory,
  scratch: { readonly offset: number; readonly bytes: number },
): SimdAccelerator {
  if (scratch.bytes < SCRATCH_BYTES || scratch.offset % 16 !== 0)
    throw new RangeError(`scratch: ${SCRATCH_BYTES} bytes at a multiple of 16 are needed`);
  const module = instantiate(wasm, memory) as unknown as Module;
  const records = createRecords(memory, scratch.offset);
  return {
    scheme(kernel, method, axes, options) {
      const row = KERNELS.get(kernel);
      const stencil = METHODS.get(method);
      if (row === undefined || stencil === undefined || !axes.every(({ periodic }) => periodic)) return null;
      const components = SLOTS[row.quantity] * row.sizes.reduce((sum, size) => sum + size, 0);
      const { cover } = createScheme(kernel, method, axes, options);
      const evaluate =
        stencil.nodes === 1
          ? nodalEvaluate(module, records, axes, row, stencil.order, options, components)
          : tensorEvaluate(module, records, axes, row, stencil.nodes, components);
      return { components, cover, evaluate };
    },
    orderByBrick(axes, tables, positions, count, keys, order) {
      if (axes.some(({ coordinates }) => coordinates !== null)) {
        orderPlainly(axes, tables, positions, count, keys, order);
        return;
      }
      records.writeScheme(imageOfGrid(axes));
      module.orderByBrick(
        records.axes,
        tables.x.byteOffset,
        tables.y.byteOffset,
        tables.z.byteOffset,
        positions.byteOffset,
        count,
        keys.byteOffset,
        order.byteOffset,
        records.work,
      );
    },
  };
}

interface Row {
  readonly quantity: Quantity;
  readonly sizes: readonly number[];
}

/** Interpolation on `nodes` nodes an axis, or Fd4Lag4. */
function tensorEvaluate(
  module: Module,
  records: Records,
  axes: Axes,
  { quantity, sizes }: Row,
  nodes: number,
  components: number,
): Scheme["evaluate"] {
  const terms = products(quantity, nodes);
  const image = imageOfProducts(axes, terms);
  return (fields, positions, first, count, out) => {
    records.writeScheme(image);
    records.writeFields(fields, sizes.length);
    module.tensor(
      nodes,
      DERIVATIVES[quantity],
      records.axes,
      records.stencil,
      terms.length,
      SLOTS[quantity],
      records.fields,
      sizes.length,
      positions.byteOffset + 24 * first,
      count,
      out.byteOffset + 8 * components * first,
      components,
      records.work,
    );
  };
}

/** Values or differences of `order` at the nearest node. */
function nodalEvaluate(
  module: Module,
  records: Records,
  axes: Axes,
  { quantity, sizes }: Row,
  order: DifferenceOrder,
  options: SchemeOptions,
  components: number,
): Scheme["evaluate"] {
  const stencil = taps(quantity, order, axes, options.fd8Legacy);
  const image = imageOfTaps(axes, stencil);
  const reach = quantity === "value" ? 0 : order / 2;
  return (fields, positions, first, count, out) => {
    records.writeScheme(image);
    records.writeFields(fields, sizes.length);
    module.nodal(
      reach,
      records.axes,
      records.stencil,
      stencil.length,
      SLOTS[quantity],
      records.fields,
      sizes.length,
      positions.byteOffset + 24 * first,
      count,
      out.byteOffset + 8 * components * first,
      components,
      records.work,
    );
  };
}

/** Box filters stay within the scratch memory that docs/operating.md states, whatever their width and layers. */
import { afterEach, expect, it, vi } from "vitest";
import { createBoxFilter } from "../../../src/kernels/filter/box-filter.js";
import { createNodeFilter } from "../../../src/kernels/filter/node-filter.js";
import { sharedEdges } from "../../../src/kernels/filter/node-sums.js";
import type { Axes, BrickReader } from "../../../src/kernels/types.js";
import { generator } from "../../support/run-query.js";
import { periodicAxis } from "../fields.js";

const MIB = 2 ** 20;
const MOST = 64 * MIB;
/** Scratch is there from the first box of cubes on: the rest need not be evaluated. */
const POLLS = 16;
const NODES = 128;
const AXES: Axes = [periodicAxis(NODES, NODES), periodicAxis(NODES, NODES), periodicAxis(NODES, NODES)];

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The bytes of all arrays of float64 that `run` makes. */
function bytesMade(run: () => void): number {
  let bytes = 0;
  const Counted = class extends Float64Array {
    constructor(...given: readonly unknown[]) {
      super(...(given as [number]));
      if (!(given[0] instanceof ArrayBuffer)) bytes += this.byteLength;
    }
  };
  vi.stubGlobal("Float64Array", Counted);
  run();
  vi.unstubAllGlobals();
  return bytes;
}

function zeros(components: 1 | 3): BrickReader {
  const data = new Float32Array(components * NODES ** 3);
  const bricking = { edge: [NODES, NODES, NODES], count: [1, 1, 1] } as const;
  return { components, bricking, visit: (_frame, _brick, use) => use(data, 0) };
}

it.each([7, 101])("means, covariances and gradients over cubes of %d nodes", (width) => {
  const random = generator(width);
  const points = 8192;
  const cells = [64, 64, NODES];
  const positions = Float64Array.from({ length: 3 * points }, (_, i) => (cells[i % 3] as number) * random());
  const reader = zeros(3);
  for (const quantity of ["mean", "covariance", "gradient"] as const) {
    const made = bytesMade(() => {
      const filter = createNodeFilter(quantity, AXES, width, [3], 1);
      const out = new Float64Array(filter.components * points);
      let polls = 0;
      filter.evaluate([reader], 0, positions, 0, points, out, () => polls++ >= POLLS);
    });
    expect(made, quantity).toBeGreaterThan(MIB);
    expect(made, quantity).toBeLessThan(MOST);
  }
});

it("the boxes of cubes that share sums keep to their bytes at every width", () => {
  for (const channels of [1, 3, 4, 6, 9, 15]) {
    for (let width = 1; width <= 1025; width += 32) {
      const [x, y, z] = sharedEdges(width, channels);
      expect(8 * channels * x * y * (z + width - 1), `${channels} of ${width}`).toBeLessThanOrEqual(16 * MIB);
    }
  }
});

it.each([
  ["boxVelocityGradient", 7, 1],
  ["boxVelocityGradient", 7, 5],
  ["boxStress", 7, 2],
  ["boxStress", 7, 5],
  ["boxVelocity", 8, 3],
] as const)("%s over a cube of 2^%d leaves, %d layers, but for its answer", (kernel, halvings, nlayers) => {
  const reader = zeros(3);
  const position = new Float64Array([1, 2, 3]);
  const made = bytesMade(() => {
    const filter = createBoxFilter(kernel, AXES, 2 ** halvings, nlayers);
    const out = new Array(filter.components * filter.itemsPerPoint).fill(0) as unknown as Float64Array;
    // Stopped after a few tiles: all scratch is there from the first on.
    let tiles = 0;
    filter.evaluate([reader], { frames: [0], weights: [1] }, position, 0, 1, out, () => tiles++ >= 2);
  });
  expect(made).toBeLessThan(4 * MIB);
});

/** Every SIMD kernel against its plain twin: the same bits, the same bricks, whatever the bricks look like. */
import { describe, expect, it } from "vitest";
import { type Accelerator, createScheme } from "../../../src/kernels/index.js";
import { instantiateSimd, SCRATCH_BYTES } from "../../../src/kernels/simd/index.js";
import type { Axes, BrickField, Scheme, Triple } from "../../../src/kernels/types.js";
import { Arena, brickField, bricking, moduleBytes, periodicAxes, randomNumbers } from "../../support/simd-memory.js";

const VALUES = ["None", "Lag4", "Lag6", "Lag8"];
const SPLINES = ["M1Q4", "M2Q6", "M2Q8", "M3Q10", "M1Q12", "M4Q14"];
const SMOOTH = ["M2Q4", "M3Q8", "M4Q12", "M2Q14"];
const DERIVATIVES = ["None_Fd4", "None_Fd6", "None_Fd8", "Fd4Lag4"];
/** Kernel, its options, and components of its fields. */
const ROWS = [
  { kernel: "velocity", methods: VALUES, sizes: [3] },
  { kernel: "velocityPressure", methods: VALUES, sizes: [3, 1] },
  { kernel: "velocityGradient", methods: DERIVATIVES, sizes: [3] },
  { kernel: "pressureGradient", methods: DERIVATIVES, sizes: [1] },
  { kernel: "pressureHessian", methods: DERIVATIVES, sizes: [1] },
  { kernel: "velocityHessian", methods: DERIVATIVES, sizes: [3] },
  { kernel: "velocityLaplacian", methods: DERIVATIVES, sizes: [3] },
  { kernel: "velocityPressure", methods: SPLINES, sizes: [3, 1] },
  { kernel: "velocityGradient", methods: SPLINES, sizes: [3] },
  { kernel: "pressureHessian", methods: SMOOTH, sizes: [1] },
  { kernel: "velocityHessian", methods: ["M2Q8", "M4Q14"], sizes: [3] },
] as const;
const CASES = ROWS.flatMap(({ methods, ...row }) => methods.map((method) => ({ ...row, method })));

/**
 * Grids and bricks: one brick, bricks that fit, surplus nodes at the far faces, bricks smaller than a stencil, fewer
 * nodes than a stencil.
 */
const CUTS: { readonly nodes: Triple; readonly edge: Triple }[] = [
  { nodes: [16, 16, 16], edge: [16, 16, 16] },
  { nodes: [32, 16, 24], edge: [16, 16, 16] },
  { nodes: [20, 27, 18], edge: [16, 16, 16] },
  { nodes: [23, 17, 19], edge: [7, 9, 5] },
  { nodes: [13, 12, 11], edge: [3, 2, 1] },
  { nodes: [9, 10, 12], edge: [64, 64, 64] },
  { nodes: [5, 3, 4], edge: [4, 4, 4] },
];
const SPACING: Triple = [0.1, 0.125, 0.07];
const ORIGIN: Triple = [-0.3, 0, 1.7];
const SEED = 20_261_121;

/** Random points, points on nodes and cell centres, next to seams, negative, and far beyond the domain. */
function points(nodes: Triple, random: () => number): Float64Array {
  const out: number[] = [];
  const put = (cells: (a: number) => number) => {
    for (let a = 0; a < 3; a++) out.push((ORIGIN[a] as number) + cells(a) * (SPACING[a] as number));
  };
  for (let i = 0; i < 60; i++) put((a) => random() * (nodes[a] as number));
  for (let i = 0; i < 30; i++) put((a) => Math.floor(random() * (nodes[a] as number)) + (i % 2) / 2);
  for (let i = 0; i < 20; i++) put((a) => (i % 5) - 2 - 1e-9 * random() + (i < 10 ? 0 : (nodes[a] as number)));
  for (let i = 0; i < 20; i++) put(() => (random() - 0.5) * 1e4);
  for (const far of [1e9, -1e9, 1e15, -3e15, 7e17, -1e20, 3e38]) put((a) => far * (1 + a / 7));
  return Float64Array.from(out, Math.fround);
}

/** Bricks of the points in rising order; marks and list in `arena`, or outside the memory. */
function covered(scheme: Scheme, field: BrickField, positions: Float64Array, arena?: Arena): number[] {
  const bricks = field.table.length;
  const marks = arena === undefined ? new Uint8Array(bricks) : arena.bytes(bricks).fill(0);
  const list = arena === undefined ? new Int32Array(bricks) : arena.integers(bricks);
  const length = scheme.listBricks(field.bricking, positions, 0, positions.length / 3, marks, list, 0);
  return [...list.subarray(0, length)].sort((a, b) => a - b);
}

interface Setting {
  readonly kernel: string;
  readonly method: string;
  readonly sizes: readonly number[];
  readonly nodes: Triple;
  readonly edge: Triple;
  readonly fd8Legacy?: boolean;
  readonly value?: (i: number, j: number, k: number, c: number) => number;
}

/** Both results at the same points, each point with the bricks of its own cover alone at hand. */
function evaluateBoth({ kernel, method, sizes, nodes, edge, fd8Legacy = false, value }: Setting) {
  const random = randomNumbers(SEED);
  const arena = new Arena(2 ** 23);
  const axes = periodicAxes(nodes, SPACING, ORIGIN);
  const cut = bricking(nodes, edge);
  const fields = sizes.map((size) => brickField(arena, nodes, cut, size, random, value ?? (() => 2 * random() - 1)));
  const plain = createScheme(kernel, method, axes, { fd8Legacy });
  const simd = createScheme(kernel, method, axes, { fd8Legacy }, arena.accelerator());
  const samples = points(nodes, randomNumbers(SEED));
  const count = samples.length / 3;
  const positions = arena.doubles(samples.length);
  positions.set(samples);
  const out = arena.doubles(count * simd.components);
  const tables = fields.map(({ table }) => Int32Array.from(table));
  for (let i = 0; i < count; i++) {
    const bricks = covered(plain, fields[0] as BrickField, positions.slice(3 * i, 3 * i + 3));
    fields.forEach(({ table }, f) => {
      table.fill(-1);
      for (const b of bricks) table[b] = (tables[f] as Int32Array)[b] as number;
    });
    simd.evaluate(fields, positions, i, 1, out);
  }
  fields.forEach(({ table }, f) => {
    table.set(tables[f] as Int32Array);
  });
  const batch = arena.doubles(count * simd.components);
  simd.evaluate(fields, positions, 0, count, batch);
  const expected = new Float64Array(count * plain.components);
  plain.evaluate(fields, positions, 0, count, expected);
  return { arena, plain, simd, fields, positions, out, batch, expected };
}

function largestDifference(a: Float64Array, b: Float64Array): number {
  let largest = 0;
  for (let i = 0; i < b.length; i++) {
    const difference = Math.abs((a[i] as number) - (b[i] as number));
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

describe.each(CASES)("$kernel $method", ({ kernel, method, sizes }) => {
  it.each(CUTS)("has bits and bricks of the plain kernel on $nodes nodes in bricks of $edge", ({ nodes, edge }) => {
    const both = evaluateBoth({ kernel, method, sizes, nodes, edge });
    expect(both.simd.components).toBe(both.plain.components);
    expect(both.simd.evaluate).not.toBe(both.plain.evaluate);
    expect(both.batch).toEqual(both.expected);
    expect(both.out).toEqual(both.batch);
    const { arena, plain, simd, fields, positions } = both;
    const [field] = fields as [BrickField];
    for (let i = 0; i < positions.length; i += 3) {
      const point = positions.subarray(i, i + 3);
      const expected = covered(plain, field, point);
      expect(covered(simd, field, point)).toEqual(expected);
      expect(covered(simd, field, point, arena)).toEqual(expected);
    }
    expect(covered(simd, field, positions, arena)).toEqual(covered(plain, field, positions));
  });

  it("gives the same bits whatever the bricks", () => {
    const nodes: Triple = [23, 17, 19];
    const value = (i: number, j: number, k: number, c: number) => Math.sin(12.9898 * i + 78.233 * j + 37.719 * k + c);
    const edges: Triple[] = [
      [32, 32, 32],
      [16, 16, 16],
      [8, 8, 8],
      [5, 3, 2],
    ];
    const [first, ...others] = edges.map((edge) => evaluateBoth({ kernel, method, sizes, nodes, edge, value }).batch);
    for (const other of others) expect(other).toEqual(first);
  });

  it("returns NaN exactly where the plain kernel does", () => {
    // The stencils of splines are so wide that most would hold one of many.
    const [nodes, every]: [Triple, number] = method.startsWith("M") ? [[33, 30, 31], 397] : [[17, 14, 15], 97];
    const value = (i: number, j: number, k: number, c: number) =>
      (i * 5 + j * 3 + k * 7 + c) % every === 0 ? Number.NaN : Math.cos(i + 2 * j + 3 * k + c);
    const { batch, expected } = evaluateBoth({ kernel, method, sizes, nodes, edge: [8, 8, 8], value });
    expect([...batch].map(Number.isNaN)).toEqual([...expected].map(Number.isNaN));
    expect(expected.some(Number.isNaN)).toBe(true);
    expect(expected.every(Number.isNaN)).toBe(false);
  });
});

describe("options", () => {
  it.each(["pressureHessian", "velocityHessian", "velocityLaplacian"])("honours the published Fd8 in %s", (kernel) => {
    const sizes = kernel === "pressureHessian" ? [1] : [3];
    const setting: Setting = { kernel, method: "None_Fd8", sizes, nodes: [20, 27, 18], edge: [16, 16, 16] };
    const standard = evaluateBoth(setting);
    const legacy = evaluateBoth({ ...setting, fd8Legacy: true });
    expect(legacy.batch).toEqual(legacy.expected);
    expect(largestDifference(legacy.batch, standard.batch)).toBeGreaterThan(1);
  });

  it("leaves grids with an axis that is not periodic to the plain kernels", () => {
    const [x, y, z] = periodicAxes([16, 16, 16], SPACING, ORIGIN);
    const accelerator = new Arena(2 ** 22).accelerator();
    const options = { fd8Legacy: false };
    const ended: Axes = [x, { ...y, periodic: false }, z];
    const evaluateOf = (axes: Axes, faster?: Accelerator) =>
      createScheme("velocity", "Lag4", axes, options, faster).evaluate.toString();
    expect(evaluateOf(ended, accelerator)).toBe(evaluateOf(ended));
    expect(evaluateOf([x, y, z], accelerator)).not.toBe(evaluateOf([x, y, z]));
  });

  it("refuses scratch that is too small or out of line", () => {
    const { memory } = new Arena(2 ** 22);
    expect(() => instantiateSimd(moduleBytes, memory, { offset: 0, bytes: SCRATCH_BYTES - 1 })).toThrow(RangeError);
    expect(() => instantiateSimd(moduleBytes, memory, { offset: 8, bytes: SCRATCH_BYTES })).toThrow(RangeError);
  });
});

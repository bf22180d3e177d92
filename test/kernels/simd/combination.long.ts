/** Combinations of frames: nodes are combined first, with the same bits whatever shares a batch, in both twins. */
import { describe, expect, it } from "vitest";
import { createScheme } from "../../../src/kernels/index.js";
import type { BrickField, Scheme, Triple } from "../../../src/kernels/types.js";
import { Arena, brickField, bricking, combinedField, periodicAxes, randomNumbers } from "../../support/simd-memory.js";

const SEED = 47_721;
/** Four frames as between stored times, and fewer as at the ends of a range without guard frames. */
const WEIGHTS = {
  4: [-0.0703125 - 2 ** -40, 0.8671875, 0.2265625 + 2 ** -41, -0.0234375],
  3: [0.7578125, 0.3359375 - 2 ** -42, -0.09375],
  2: [0.3, 0.7],
} as const;
/** Kernel, option, components of its fields. */
const CASES: readonly (readonly [string, string, readonly (1 | 3)[]])[] = [
  ["velocity", "None", [3]],
  ["velocity", "Lag4", [3]],
  ["velocityPressure", "Lag6", [3, 1]],
  ["velocity", "Lag8", [3]],
  ["pressure", "Lag8", [1]],
  ["velocityPressure", "M2Q8", [3, 1]],
  ["velocityPressure", "M1Q10", [3, 1]],
  ["velocity", "M4Q14", [3]],
  ["velocityGradient", "None_Fd4", [3]],
  ["pressureGradient", "None_Fd6", [1]],
  ["velocityHessian", "None_Fd8", [3]],
  ["velocityGradient", "Fd4Lag4", [3]],
  ["pressureHessian", "Fd4Lag4", [1]],
  ["velocityHessian", "Fd4Lag4", [3]],
  ["velocityLaplacian", "Fd4Lag4", [3]],
  ["velocityGradient", "M2Q8", [3]],
  ["pressureHessian", "M2Q14", [1]],
];
/** Nodes and bricks: many nodes a brick, stencils across every face, fewer nodes than a stencil. */
const CUTS = [
  { nodes: [36, 34, 40], edge: [32, 32, 32] },
  { nodes: [23, 17, 19], edge: [7, 9, 5] },
  { nodes: [5, 3, 4], edge: [4, 4, 4] },
] as const satisfies readonly { readonly nodes: Triple; readonly edge: Triple }[];
const SPACING: Triple = [0.1, 0.125, 0.07];
const ORIGIN: Triple = [-0.3, 0, 1.7];

/** Points close together, points apart, and points far beyond the domain. */
function points(nodes: Triple, random: () => number): Float64Array {
  const out: number[] = [];
  const put = (cells: (a: number) => number) => {
    for (let a = 0; a < 3; a++) out.push((ORIGIN[a] as number) + cells(a) * (SPACING[a] as number));
  };
  for (let i = 0; i < 20; i++) put((a) => random() * (nodes[a] as number));
  for (let i = 0; i < 120; i++) put((a) => (nodes[a] as number) * 0.8 + 14 * random() - 4);
  for (let i = 0; i < 20; i++) put((a) => random() * (nodes[a] as number));
  for (let i = 0; i < 40; i++) put((a) => -3 - 2 * random() - a);
  for (const far of [1e9, -1e15, 7e17, 3e38]) put((a) => far * (1 + a / 7));
  return Float64Array.from(out, Math.fround);
}

interface Setting {
  readonly arena: Arena;
  readonly plain: Scheme;
  readonly simd: Scheme;
  /** By frame, then field. */
  readonly frames: readonly (readonly BrickField[])[];
  readonly positions: Float64Array;
  readonly count: number;
  readonly out: () => Float64Array;
  readonly field: (size: number, value: (i: number, j: number, k: number, c: number) => number) => BrickField;
}

function prepare(
  [kernel, method, sizes]: (typeof CASES)[number],
  { nodes, edge }: { readonly nodes: Triple; readonly edge: Triple },
  frames: number,
  value?: (frame: number, i: number, j: number, k: number, c: number) => number,
): Setting {
  const random = randomNumbers(SEED);
  const arena = new Arena(2 ** 25);
  const cut = bricking(nodes, edge);
  const axes = periodicAxes(nodes, SPACING, ORIGIN);
  const field: Setting["field"] = (size, of) => brickField(arena, nodes, cut, size, random, of);
  const fields = Array.from({ length: frames }, (_, f) =>
    sizes.map((size) => field(size, (i, j, k, c) => (value ? value(f, i, j, k, c) : 2 * random() - 1))),
  );
  const plain = createScheme(kernel, method, axes, { fd8Legacy: false });
  const simd = createScheme(kernel, method, axes, { fd8Legacy: false }, arena.accelerator());
  const samples = points(nodes, random);
  const positions = arena.doubles(samples.length);
  positions.set(samples);
  const count = samples.length / 3;
  return {
    arena,
    plain,
    simd,
    frames: fields,
    positions,
    count,
    out: () => arena.doubles(count * simd.components),
    field,
  };
}

const inTurn =
  (frames: Setting["frames"]) =>
  (turn: number, use: (fields: readonly BrickField[]) => void): void =>
    use(frames[turn] as readonly BrickField[]);

const largest = (values: Float64Array): number => values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);

/** Whether two answers are equal or next to each other as float32, or closer than the rounding of float64 sums. */
function oneRoundingApart(a: number, b: number, scale: number): boolean {
  const [x, y] = [Math.fround(a), Math.fround(b)];
  const exponent = Math.floor(Math.log2(Math.max(Math.abs(x), 2 ** -126)));
  return Math.abs(x - y) <= 2 ** (exponent - 23) || Math.abs(a - b) <= 1e-14 * scale;
}

describe.each(CASES)("%s %s", (...row) => {
  it.each(CUTS)(
    "gives a point the bits of the plain kernel alone, among others and frame by frame, on $nodes nodes",
    (cut) => {
      for (const weights of cut === CUTS[1] ? [WEIGHTS[4], WEIGHTS[3], WEIGHTS[2]] : [WEIGHTS[4]]) {
        const { plain, simd, frames, positions, count, out } = prepare(row, cut, weights.length);
        const [batch, alone, turns] = [out(), out(), out()];
        simd.combine(frames, weights, positions, 0, count, batch);
        for (let i = 0; i < count; i++) {
          simd.combine(frames, weights, positions, i, 1, alone);
        }
        for (let i = 0; i < count; ) i += simd.combineInTurn(weights, inTurn(frames), positions, i, count - i, turns);
        expect(alone).toEqual(batch);
        expect(turns).toEqual(batch);
        const [all, single] = [new Float64Array(batch.length), new Float64Array(batch.length)];
        plain.combine(frames, weights, positions, 0, count, all);
        for (let i = 0; i < count; ) i += plain.combineInTurn(weights, inTurn(frames), positions, i, count - i, single);
        expect(single).toEqual(all);
        expect(batch).toEqual(all);
      }
    },
  );

  it("has these bits with weights of its own for each point", () => {
    for (const width of [4, 3, 2] as const) {
      const { plain, simd, frames, positions, count, out } = prepare(row, CUTS[1], width);
      const random = randomNumbers(SEED + width);
      const weights = Float64Array.from({ length: width * count }, () => 2 * random() - 1);
      const [each, alone] = [out(), out()];
      simd.combineEach(frames, weights, positions, 0, count, each);
      const [first, all] = [out(), new Float64Array(each.length)];
      for (let i = 0; i < count; i++)
        simd.combine(frames, [...weights.subarray(width * i, width * (i + 1))], positions, i, 1, alone);
      expect(alone).toEqual(each);
      plain.combineEach(frames, weights, positions, 0, count, all);
      expect(each).toEqual(all);
      // The weights are those of the points that are evaluated.
      simd.combineEach(frames, weights.subarray(10 * width), positions, 10, 5, first);
      const from = 10 * simd.components;
      expect(first.subarray(from, from + 5 * simd.components)).toEqual(each.subarray(from, from + 5 * simd.components));
    }
  });

  it("has these bits of nodes that have been combined before, whatever their cut", () => {
    for (const cut of CUTS) {
      const { plain, simd, frames, positions, count, out, arena } = prepare(row, cut, 4);
      const [expected, batch, alone] = [out(), out(), out()];
      simd.combine(frames, WEIGHTS[4], positions, 0, count, expected);
      const edge = cut.edge.map((length, a) => (a === 1 ? length : Math.ceil(length / 3))) as unknown as Triple;
      const sums = row[2].map((_, field) => {
        const stored = frames.map((fields) => fields[field] as BrickField);
        return combinedField(arena, stored, WEIGHTS[4], bricking(cut.nodes, edge));
      });
      simd.evaluateCombined(sums, positions, 0, count, batch);
      for (let i = 0; i < count; i++) simd.evaluateCombined(sums, positions, i, 1, alone);
      const twin = new Float64Array(batch.length);
      plain.evaluateCombined(sums, positions, 0, count, twin);
      expect(batch).toEqual(expected);
      expect(alone).toEqual(expected);
      expect(twin).toEqual(new Float64Array(expected));
    }
  });

  it("equals one frame that holds the combination, where that is exact in float32", () => {
    const weights = [-0.0625, 0.5625, 0.5625, -0.0625];
    const value = (f: number, i: number, j: number, k: number, c: number) =>
      ((i * 7 + j * 5 + k * 3 + c * 11 + f * 13) % 64) - 31.5;
    const { simd, plain, frames, positions, count, out, field } = prepare(row, CUTS[0], 4, value);
    const one = row[2].map((size) =>
      field(size, (i, j, k, c) => weights.reduce((sum, weight, f) => sum + weight * value(f, i, j, k, c), 0)),
    );
    const [combined, expected] = [out(), out()];
    for (const scheme of [simd, plain]) {
      scheme.combine(frames, weights, positions, 0, count, combined);
      scheme.evaluate(one, positions, 0, count, expected);
      expect(combined).toEqual(expected);
    }
  });

  it("stays within one float32 rounding of the frames' own values, combined", () => {
    const weights = WEIGHTS[4];
    const { simd, plain, frames, positions, count, out } = prepare(row, CUTS[0], 4);
    const combined = out();
    for (const scheme of [simd, plain]) {
      scheme.combine(frames, weights, positions, 0, count, combined);
      const sum = new Float64Array(combined.length);
      frames.forEach((fields, f) => {
        const values = out();
        scheme.evaluate(fields, positions, 0, count, values);
        for (let i = 0; i < sum.length; i++)
          sum[i] = (sum[i] as number) + (weights[f] as number) * (values[i] as number);
      });
      const scale = largest(sum);
      const apart = [...combined].filter((value, i) => !oneRoundingApart(value, sum[i] as number, scale));
      expect(apart).toEqual([]);
    }
  });

  it("reads no brick that no stencil touches", () => {
    const weights = WEIGHTS[4];
    const { simd, plain, frames, positions, count, out } = prepare(row, CUTS[1], 4);
    const whole = out();
    simd.combine(frames, weights, positions, 0, count, whole);
    const [first] = frames[0] as readonly BrickField[];
    const { bricking: cut, table } = first as BrickField;
    const some = 100;
    const list = new Int32Array(table.length);
    const length = plain.listBricks(cut, positions, 0, some, new Uint8Array(table.length), list, 0);
    const needed = new Set(list.subarray(0, length));
    for (const fields of frames) {
      for (const { table: entries } of fields)
        for (let b = 0; b < entries.length; b++) if (!needed.has(b)) entries[b] = -1;
    }
    const part = out();
    simd.combine(frames, weights, positions, 0, some, part);
    const size = some * simd.components;
    expect(part.subarray(0, size)).toEqual(whole.subarray(0, size));
  });
});

describe("frames that exceed the caches", () => {
  it.each([
    ["velocity", "Lag4", [3]],
    ["velocityPressure", "Lag6", [3, 1]],
    ["velocity", "Lag8", [3]],
    ["velocityGradient", "Fd4Lag4", [3]],
  ] as const)("give %s %s the same bits, though their lines are read ahead", (...row) => {
    const cut = { nodes: [64, 64, 64], edge: [32, 32, 32] } as const;
    const { simd, plain, frames, positions, out } = prepare(row, cut, 4, wavy);
    const [batch, all] = [out(), out()];
    const count = 24;
    simd.combine(frames, WEIGHTS[4], positions, 0, count, batch);
    plain.combine(frames, WEIGHTS[4], positions, 0, count, all);
    expect(batch.subarray(0, count * simd.components)).toEqual(all.subarray(0, count * simd.components));
  });
});

/** A value of every node that takes no time to compute. */
function wavy(frame: number, i: number, j: number, k: number, c: number): number {
  return ((i * 31 + j * 17 + k * 7 + c * 5 + frame * 3) % 101) / 7;
}

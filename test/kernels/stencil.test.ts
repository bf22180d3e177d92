/**
 * Where coordinates fall: cells, wrapping, sliding at ends, the two halves of a tabulated axis, and runs cut at bricks.
 */
import { describe, expect, it } from "vitest";
import {
  axisEnd,
  axisLength,
  axisStart,
  clampToDomain,
  createRuns,
  cutRun,
  firstOutside,
  nodeStencil,
  type Place,
  place,
  wrap,
} from "../../src/kernels/stencil.js";
import type { Axes, Axis } from "../../src/kernels/types.js";
import { fc } from "../support/property.js";
import { cosineAxis, endedAxis, periodicAxis, tabulatedAxis } from "./fields.js";

function placed(axis: Axis, order: number, x: number): Place {
  const out = { start: -1, offset: Number.NaN };
  place(axis, order, x, out);
  return out;
}

describe("wrap", () => {
  it("is the mathematical remainder, however far away", () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.integer({ min: 1, max: 10_000 }), (index, nodes) => {
        const exact = ((BigInt(index) % BigInt(nodes)) + BigInt(nodes)) % BigInt(nodes);
        expect(wrap(index, nodes) === Number(exact)).toBe(true);
      }),
    );
  });
});

describe("place on a uniform periodic axis", () => {
  const axis = periodicAxis(16);

  it.each([
    [1, 2, 0.5464790895],
    [2, 5, 0.0929581789],
    [3, 7, 0.6394372684],
  ])("puts %d in cell %d at fraction %d", (x, cell, fraction) => {
    for (const order of [4, 6, 8]) {
      const { start, offset } = placed(axis, order, x);
      expect(start).toBe(wrap(cell - order / 2 + 1, 16));
      expect(offset).toBeCloseTo(fraction, 9);
    }
  });

  it("takes the nearest node, the upper one of a tie", () => {
    const unit = periodicAxis(16, 16);
    const nearest = [1.49, 1.5, 1.51, -0.5, -0.51, 15.5].map((x) => placed(unit, 1, x).start);
    expect(nearest).toEqual([1, 2, 2, 0, 15, 0]);
  });

  it("takes the fraction before wrapping, with floor", () => {
    const unit = periodicAxis(16, 16);
    expect(placed(unit, 4, -0.25)).toEqual({ start: 14, offset: 0.75 });
    expect(placed(unit, 8, -16 * 1000 + 3.5)).toEqual({ start: 0, offset: 0.5 });
  });

  it.each([2 ** 53, 1.5e17, -3e24, 3e38])("puts %d, which is a node, on the same node whatever the order", (x) => {
    const unit = periodicAxis(16, 16);
    const node = Number(((BigInt(x) % 16n) + 16n) % 16n);
    expect(placed(unit, 1, x)).toEqual({ start: node, offset: 0 });
    for (const order of [4, 6, 8]) {
      expect(placed(unit, order, x)).toEqual({ start: wrap(node - order / 2 + 1, 16), offset: 0 });
    }
  });

  it("accepts every finite float32 coordinate", () => {
    fc.assert(
      fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(1, 4, 6, 8), (x, order) => {
        const { start, offset } = placed(periodicAxis(12, 0.7, 3), order, x);
        expect(Number.isInteger(start) && start >= 0 && start < 12).toBe(true);
        expect(order === 1 ? Math.abs(offset) <= 0.5 : offset >= 0 && offset <= 1).toBe(true);
      }),
    );
  });
});

describe("place on axes with ends", () => {
  it("slides inward and measures the offset from the centre of the stencil it slid to", () => {
    const axis = endedAxis(10, 9);
    expect(placed(axis, 8, 0.25)).toEqual({ start: 0, offset: -2.75 });
    expect(placed(axis, 4, 8.5)).toEqual({ start: 6, offset: 1.5 });
    expect(placed(axis, 4, 9)).toEqual({ start: 6, offset: 2 });
    expect(placed(axis, 1, 9)).toEqual({ start: 9, offset: 0 });
    expect(placed(axis, 4, 4.5)).toEqual({ start: 3, offset: 0.5 });
  });

  it("treats a point outside as the end", () => {
    for (const axis of [endedAxis(10, 9), cosineAxis(10)]) {
      const end = axisEnd(axis);
      for (const order of [1, 4, 6, 8]) expect(placed(axis, order, end + 1e-7)).toEqual(placed(axis, order, end));
    }
  });
});

describe("place on a tabulated axis", () => {
  const axis = cosineAxis(8);
  const y = (j: number) => (axis.coordinates as Float64Array)[j] as number;

  it.each([
    [4, [0, 0, 1, 2, 2, 3, 4, 4]],
    [5, [0, 0, 0, 1, 2, 3, 3, 3]],
    [6, [0, 0, 0, 1, 1, 2, 2, 2]],
  ])("starts stencils of %d nodes around nodes 0 .. 7 as published", (count, starts) => {
    expect(starts.map((_, node) => nodeStencil(8, node, count))).toEqual(starts);
  });

  it.each([
    [-0.95, 0],
    [-0.3, 1],
    [0, 2],
    [0.1, 2],
    [0.3, 3],
    [0.95, 4],
  ])("starts the Lag4 stencil of %d at node %d", (x, start) => {
    expect(placed(axis, 4, x)).toEqual({ start, offset: x });
  });

  it("gives a coordinate on a node to the cell above it in the lower half, below it in the upper", () => {
    expect(placed(axis, 4, y(2)).start).toBe(1);
    expect(placed(axis, 4, y(5)).start).toBe(3);
    expect(placed(tabulatedAxis([0, 1, 2, 3, 10, 20, 30]), 4, 3).start).toBe(1);
  });

  it("takes the closer node, the lower one of a tie", () => {
    const uneven = tabulatedAxis([0, 1, 3, 7, 8, 9]);
    expect([-5, 0.4, 0.5, 0.6, 2, 5, 5.1, 8.5, 99].map((x) => placed(uneven, 1, x).start)).toEqual([
      0, 0, 0, 1, 1, 2, 3, 4, 5,
    ]);
  });
});

describe("domain", () => {
  const axes: Axes = [periodicAxis(16), endedAxis(11, 10, -5), tabulatedAxis([0, 1, 3, 7])];

  it("knows the lengths of axes", () => {
    expect(axes.map(axisLength)).toEqual([2 * Math.PI, 10, 7]);
  });

  it.each([
    [[1e9, 0, 1], -1],
    [[0, -5 - 9e-6, 7 + 6e-6], -1],
    [[0, -5 - 1.1e-5, 1], 1],
    [[0, 5 + 1.1e-5, 1], 1],
    [[0, 0, -8e-6], 1],
    [[0, 0, Number.NaN], 1],
    [[Number.NaN, 0, 1], 1],
    [[Number.POSITIVE_INFINITY, 0, 1], 1],
  ])("judges %j", (point, expected) => {
    const positions = Float64Array.from([0, 0, 0, ...point, 99, 99, 99]);
    expect(firstOutside(axes, positions, 2)).toBe(expected);
    expect(firstOutside(axes, positions, 1)).toBe(-1);
    expect(firstOutside(axes, positions, 3)).toBe(expected === -1 ? 2 : 1);
  });

  it.each([
    ["even", endedAxis(20, 5.7, -500)],
    ["uneven", tabulatedAxis([-500.1, -497, -494.3])],
  ])("has both ends of a short %s axis far from zero in it, as float32", (_, far) => {
    const ends = [axisStart(far), axisEnd(far)].flatMap((end, i) => [Math.fround(end), end + (2 * i - 1) * 1e-4]);
    expect(ends.map((x) => firstOutside([far, axes[0], axes[0]], Float64Array.of(x, 0, 0), 1))).toEqual([-1, 0, -1, 0]);
  });

  it("moves points to the ends of axes that have ends, and no others", () => {
    const positions = Float64Array.from([1e9, -7, 8, -1e9, 7, -1, 1, 2, 3, 0, 99, 99]);
    clampToDomain(axes, positions, 3);
    expect([...positions]).toEqual([1e9, -5, 7, -1e9, 5, 0, 1, 2, 3, 0, 99, 99]);
  });
});

describe("cutRun", () => {
  it("covers the run node by node, each piece in one brick, none crossing the seam", () => {
    const argument = fc.record({
      nodes: fc.integer({ min: 1, max: 40 }),
      edge: fc.integer({ min: 1, max: 45 }),
      start: fc.nat(39),
      length: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(argument, ({ nodes, edge, start, length }) => {
        const runs = createRuns(length);
        const first = start % nodes;
        cutRun(nodes, edge, first, length, runs);
        const walked: number[] = [];
        for (let j = 0; j < runs.count; j++) {
          expect(runs.from[j]).toBe(walked.length);
          const size = runs.length[j] as number;
          expect((runs.inner[j] as number) + size).toBeLessThanOrEqual(edge);
          for (let t = 0; t < size; t++) walked.push((runs.brick[j] as number) * edge + (runs.inner[j] as number) + t);
        }
        expect(walked).toEqual(Array.from({ length }, (_, t) => (first + t) % nodes));
      }),
    );
  });
});

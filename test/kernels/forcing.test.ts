/** Closed forms of the force: the published value, periods that are not 2 pi, modes against their sum by hand, time. */
import { describe, expect, it } from "vitest";
import { constantForce, type ModeTable, modeForce, taylorGreenForce } from "../../src/kernels/forcing.js";
import { frameWeights } from "../../src/kernels/time.js";
import type { Axes } from "../../src/kernels/types.js";
import { endedAxis, periodicAxis, T16 } from "./fields.js";

const NOW = { frames: [0], weights: [1] };

describe("taylorGreenForce", () => {
  it("is the published one at (1, 2, 3)", () => {
    const out = new Float64Array(9).fill(4);
    taylorGreenForce(T16.axes, 0.25, 2, Float64Array.of(0, 0, 0, 1, 2, 3, 0, 0, 0), 2, out);
    expect([...out.subarray(6)]).toEqual(new Array(3).fill(4));
    [-0.1426708537, -0.075599239, 0].forEach((value, c) => {
      expect(Math.abs((out[3 + c] as number) - value)).toBeLessThanOrEqual(1e-10);
    });
  });

  it("has its wavenumber per length of each axis, and no divergence there", () => {
    const axes: Axes = [periodicAxis(8, 4), periodicAxis(8, 4), endedAxis(9, 6)];
    const at = (x: number, y: number, z: number) => {
      const out = new Float64Array(3);
      taylorGreenForce(axes, 3, 1, Float64Array.of(x, y, z), 1, out);
      return out;
    };
    const s = Math.SQRT1_2;
    expect(at(0.5, 0.5, 0)[0]).toBeCloseTo(3 * s * s, 14);
    expect(at(0.5, 0.5, 3)[0]).toBeCloseTo(-3 * s * s, 14);
    expect(at(0.3 + 4, 0.7 - 8, 0.2)[1]).toBeCloseTo(at(0.3, 0.7, 0.2)[1] as number, 13);
    const e = 1e-5;
    const divergence =
      (at(0.3 + e, 0.7, 0.2)[0] as number) -
      (at(0.3 - e, 0.7, 0.2)[0] as number) +
      ((at(0.3, 0.7 + e, 0.2)[1] as number) - (at(0.3, 0.7 - e, 0.2)[1] as number));
    expect(Math.abs(divergence / (2 * e))).toBeLessThan(1e-8);
  });
});

it("constantForce is the same everywhere, and leaves what follows alone", () => {
  const out = new Float64Array(9).fill(4);
  constantForce([1, -2, 0.5], 2, out);
  expect([...out]).toEqual([1, -2, 0.5, 1, -2, 0.5, 4, 4, 4]);
});

describe("modeForce", () => {
  /**
   * Two frames: one mode in the plane kx = 0 with its conjugate listed, one with kx = 1 that stands for its conjugate.
   */
  const table: ModeTable = {
    wavenumber: Int32Array.of(0, 1, 2, 0, -1, -2, 1, 0, -1),
    coefficient: Float64Array.from([
      ...[1, 2, 3, 4, 5, 6, 1, -2, 3, -4, 5, -6, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
      ...[7, 1, 7, 2, 7, 3, 7, -1, 7, -2, 7, -3, 1, 0, 0, 1, 1, 1],
    ]),
    frames: 2,
  };
  const axes: Axes = [periodicAxis(8), periodicAxis(8, Math.PI), periodicAxis(8, 4 * Math.PI)];
  const point = [0.7, 1.9, -3.3] as const;

  function byHand(frame: number): number[] {
    const [x, y, z] = point;
    const f = table.coefficient.subarray(18 * frame);
    // Phases 2 pi (ky y / Ly + kz z / Lz) with Ly = pi, Lz = 4 pi, and x - z / 2.
    const plane = 2 * y + 2 * (z / 2);
    const slanted = x - z / 2;
    return [0, 1, 2].map((c) => {
      const [a, b] = [f[2 * c] as number, f[2 * c + 1] as number];
      const [p, q] = [f[12 + 2 * c] as number, f[13 + 2 * c] as number];
      return 2 * (a * Math.cos(plane) - b * Math.sin(plane)) + 2 * (p * Math.cos(slanted) - q * Math.sin(slanted));
    });
  }

  const force = (source: ModeTable, frames: { frames: readonly number[]; weights: readonly number[] }) => {
    const out = new Float64Array(6).fill(3);
    modeForce(axes, source, frames, Float64Array.of(...point, 9, 9, 9), 1, out);
    expect([...out.subarray(3)]).toEqual([3, 3, 3]);
    return [...out.subarray(0, 3)];
  };

  it("is the sum of its modes, those above kx = 0 counted twice", () => {
    for (const frame of [0, 1]) {
      force(table, { frames: [frame], weights: [1] }).forEach((value, c) => {
        expect(value).toBeCloseTo(byHand(frame)[c] as number, 12);
      });
    }
  });

  it("combines frames linearly", () => {
    const time = { count: 2, origin: 0, step: 1, values: null, guardBefore: 0, guardAfter: 0 };
    force(table, frameWeights(time, 0.25, "PCHIP")).forEach((value, c) => {
      expect(value).toBeCloseTo(0.75 * (byHand(0)[c] as number) + 0.25 * (byHand(1)[c] as number), 12);
    });
  });

  it("ignores time when it is steady", () => {
    expect(force({ ...table, frames: 1 }, { frames: [5, 6], weights: [0.5, 0.5] })).toEqual(force(table, NOW));
  });
});

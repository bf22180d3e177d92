/** The sizes that docs/differences.md states for formulas which the service does not use, worked out again. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const text = readFileSync(new URL("../../docs/differences.md", import.meta.url), "utf8");
const STANDARD = [8 / 5, -1 / 5, 8 / 315, -1 / 560];
const PUBLISHED = [792 / 591, -207 / 2955, -104 / 8865, 9 / 3152];
const SIXTH = [3 / 2, -3 / 20, 1 / 90];

/** Error of a second difference of sin at its crest, spacing h. */
const crestError = (weights: readonly number[], h: number) =>
  Math.abs(weights.reduce((sum, b, i) => sum + 2 * b * (Math.cos((i + 1) * h) - 1), 0) / h ** 2 + 1);

/** Leading error term of a second difference: its factor of dx^6 f^(8). */
const leading = (weights: readonly number[]) => (2 / 40_320) * weights.reduce((sum, b, i) => sum + b * (i + 1) ** 8, 0);

/** Position after `steps` of the drag law in uniform flow u = 1 from rest, Adams-Bashforth 3 after two Heun steps. */
function adamsBashforth(drag: number, h: number, steps: number): number {
  let [x, v] = [0, 0];
  const rates: [number, number][] = [];
  for (let n = 0; n < steps; n++) {
    const rate: [number, number] = [v, (1 - v) / drag];
    rates.push(rate);
    if (n < 2) {
      const predicted = v + h * rate[1];
      const corrected = v + (h / 2) * (rate[1] + (1 - predicted) / drag);
      [x, v] = [x + (h / 2) * (v + corrected), corrected];
    } else {
      const [a, b, c] = rates.slice(-3) as [[number, number], [number, number], [number, number]];
      x += h * ((23 / 12) * c[0] - (4 / 3) * b[0] + (5 / 12) * a[0]);
      v += h * ((23 / 12) * c[1] - (4 / 3) * b[1] + (5 / 12) * a[1]);
    }
  }
  return x;
}

type Point = readonly [number, number, number];
const along = (a: Point, step: number, b: Point): Point => [a[0] + step * b[0], a[1] + step * b[1], a[2] + step * b[2]];

/** Steady velocity of a test field by Lag8 on 16 nodes per axis. */
function testVelocity(point: Point): Point {
  const h = Math.PI / 8;
  const weights = (xi: number) =>
    Array.from({ length: 8 }, (_, i) => i - 3).map((k) =>
      [-3, -2, -1, 0, 1, 2, 3, 4].reduce((product, m) => (m === k ? product : (product * (xi - m)) / (k - m)), 1),
    );
  const cells = point.map((x) => Math.floor(x / h)) as [number, number, number];
  const [wx, wy, wz] = point.map((x, a) => weights(x / h - (cells[a] as number))) as [number[], number[], number[]];
  let sum: Point = [0, 0, 0];
  for (let k = 0; k < 8; k++)
    for (let j = 0; j < 8; j++)
      for (let i = 0; i < 8; i++) {
        const [x, y, z] = [cells[0] + i - 3, cells[1] + j - 3, cells[2] + k - 3].map((n) => n * h) as [
          number,
          number,
          number,
        ];
        const node: Point = [
          Math.sin(x) * Math.cos(2 * y) * Math.cos(z) + 0.5,
          Math.cos(x) * Math.sin(y) * Math.cos(2 * z) - 0.25,
          0.3 * Math.sin(2 * x) * Math.sin(y) + Math.cos(z),
        ];
        sum = along(sum, (wx[i] as number) * (wy[j] as number) * (wz[k] as number), node);
      }
  return sum;
}

/** Position at 0.4 by Heun, or by Adams-Bashforth 3 after two steps of Heun. */
function tracked(steps: number, isHeun: boolean): Point {
  const dt = 0.4 / steps;
  let x: Point = [1, 2, 3];
  const rates: Point[] = [];
  for (let n = 0; n < steps; n++) {
    const u = testVelocity(x);
    rates.push(u);
    if (isHeun || n < 2) x = along(along(x, dt / 2, u), dt / 2, testVelocity(along(x, dt, u)));
    else {
      const [a, b, c] = rates.slice(-3) as [Point, Point, Point];
      x = along(along(along(x, (23 / 12) * dt, c), (-4 / 3) * dt, b), (5 / 12) * dt, a);
    }
  }
  return x;
}

describe("docs/differences.md", () => {
  it("states how far the two schemes of tracking are from the converged position", () => {
    const converged = tracked(128, false);
    const error = (steps: number, isHeun: boolean) => Math.hypot(...along(tracked(steps, isHeun), -1, converged));
    expect([error(4, true), error(4, false)].map((value) => value.toExponential(1))).toEqual(["1.4e-3", "7.5e-4"]);
    expect(text).toContain("Heun is 1.4e-3 from the converged position, theirs 7.5e-4");
    expect(Math.log2(error(8, true) / error(16, true))).toBeCloseTo(2, 0);
    expect(Math.log2(error(8, false) / error(16, false))).toBeCloseTo(3, 0);
  });

  it("states the error of the published eighth-order second derivative", () => {
    expect(crestError(PUBLISHED, 0.4).toExponential(1)).toBe("1.8e-5");
    expect(crestError(STANDARD, 0.4).toExponential(1)).toBe("2.0e-7");
    expect(text).toContain("1.8e-5 against 2.0e-7 at the crest of sin with dx = 0.4");
    expect(Math.abs(leading(PUBLISHED)).toFixed(5)).toBe("0.00464");
    expect(Math.abs(leading(PUBLISHED) / leading(SIXTH)).toFixed(1)).toBe("2.6");
    expect(text).toContain("error 0.00464 dx⁶ f⁽⁸⁾, 2.6 times that of `Fd6`");
    expect(Math.abs(leading(STANDARD))).toBeLessThan(1e-15);
  });

  it("states what the explicit scheme does to particles with drag", () => {
    const exact = 0.2 - 0.1 * (1 - Math.exp(-2));
    const error = Math.abs(adamsBashforth(0.1, 0.02, 10) - exact) / exact;
    expect((100 * error).toFixed(2)).toBe("0.35");
    expect(text).toContain("0.35 % of the way at h/Tp = 0.2");
    expect(Math.abs(adamsBashforth(0.001, 0.02, 10))).toBeGreaterThan(1e13);
    const settles = (ratio: number) => Math.abs(adamsBashforth(1, ratio, 4000) / (ratio * 4000) - 1) < 0.01;
    expect([settles(0.54), settles(0.56)]).toEqual([true, false]);
  });
});

/** Paths inside the box: what is drawn stays short, what crosses a face is cut, time is a range of pairs. */

import { describe, expect, it } from "vitest";
import { fc } from "../../../test/support/property.js";
import { drawnTrail, particlePixel, pathSegments } from "../../figures/path-segments.js";
import type { AxisFacts } from "../../state/facts.js";

const axis = (name: AxisFacts["name"], first: number, length: number, periodic: boolean): AxisFacts => ({
  name,
  nodes: 8,
  first,
  last: first + (length * 7) / 8,
  length,
  spacing: length / 8,
  periodic,
});
/** The one particle stays inside. */
const NO_EXITS = Float32Array.of(Number.NaN);
const BOX = [axis("x", 0, 4, true), axis("y", -1, 2, true), axis("z", 0, 10, false)];

it("draws whole paths of some particles, and the last steps of a thousand", () => {
  expect([1, 64, 225].map((particles) => particles * drawnTrail(particles) > 80 * particles)).toEqual([
    true,
    true,
    true,
  ]);
  for (const particles of [1000, 1024]) {
    expect(particles * drawnTrail(particles)).toBeLessThanOrEqual(20_000);
    expect(drawnTrail(particles)).toBeGreaterThan(15);
  }
  expect(drawnTrail(100_000)).toBe(8);
});

describe("pathSegments", () => {
  it("cuts a path where it leaves through a face and goes on at the other", () => {
    const positions = Float32Array.from([3, 0, 1, 3.5, 0, 1, 4.5, 0, 1, 5, 0, 1]);
    const {
      pairs,
      starts,
      positions: inside,
      longest,
    } = pathSegments({ times: [0, 1, 2, 3], particles: 1, positions, exits: NO_EXITS, values: null }, BOX);
    expect([...inside].filter((_, i) => i % 3 === 0)).toEqual([3, 3.5, 0.5, 1]);
    expect([...pairs]).toEqual([0, 1, 2, 3]);
    expect([...starts]).toEqual([0, 0, 2, 2, 4]);
    expect(longest).toBe(0.125);
  });

  it("draws paths on a plane, and nothing to a place that is not known", () => {
    const plane = [axis("x", 0, 4, true), axis("y", -1, 2, true), axis("z", 0, 0, false)];
    const positions = Float32Array.from([1, 0, 0, 1.5, 0.5, 0, Number.NaN, Number.NaN, Number.NaN]);
    const { pairs, longest } = pathSegments(
      { times: [0, 1, 2], particles: 1, positions, exits: NO_EXITS, values: null },
      plane,
    );
    expect([...pairs]).toEqual([0, 1]);
    expect(longest).toBe(0.25);
  });

  it("never draws a segment longer than half the box, and loses none that is shorter", () => {
    const coordinate = fc.float({ min: -30, max: 30, noNaN: true });
    const path = fc.array(fc.tuple(coordinate, coordinate, fc.float({ min: 0, max: 10, noNaN: true })), {
      minLength: 2,
      maxLength: 12,
    });
    fc.assert(
      fc.property(path, (points) => {
        const times = points.map((_, k) => k);
        const found = pathSegments(
          { times, particles: 1, positions: Float32Array.from(points.flat()), exits: NO_EXITS, values: null },
          BOX,
        );
        const reach = (from: number, to: number) =>
          Math.max(
            ...BOX.map(({ length }, c) => {
              const [a = 0, b = 0] = [found.positions[3 * from + c], found.positions[3 * to + c]];
              return Math.abs(a - b) / length;
            }),
          );
        const drawn = new Set([...found.pairs].filter((_, i) => i % 2 === 1));
        for (let k = 1; k < points.length; k++) expect(drawn.has(k)).toBe(reach(k - 1, k) <= 0.5);
        for (const [c, { first, length, periodic }] of BOX.entries()) {
          if (!periodic) continue;
          for (let k = 0; k < points.length; k++) {
            const place = ((found.positions[3 * k + c] as number) - first) / length;
            expect(place >= 0 && place <= 1).toBe(true);
          }
        }
      }),
    );
  });
});

describe("the colours of particles", () => {
  it("are those of a circle of hues, and grey for what has left", () => {
    const colour = (pixel: number) => [0, 8, 16, 24].map((shift) => (pixel >>> shift) & 255);
    // hsl(0 80% 55%), hsl(153 80% 55%) and hsl(0 0% 55%), as browsers have them.
    expect(colour(particlePixel(0, 10))).toEqual([232, 48, 48, 255]);
    expect(colour(particlePixel(5, 10))).toEqual([48, 232, 149, 255]);
    expect(colour(particlePixel(5, 10, true))).toEqual([140, 140, 140, 255]);
    expect(new Set(Array.from({ length: 64 }, (_, p) => particlePixel(p, 64))).size).toBe(64);
  });
});

/** Isosurfaces against the solids whose distance the samples are: on the surface, closed, and of the right volume. */
import { describe, expect, it } from "vitest";
import { marchingCubes, type Surface } from "../../figures/marching-cubes.js";

type Point = readonly [number, number, number];
const COUNTS = [41, 33, 37] as const;
const ORIGIN = [-2, -1.5, 3] as const;
const SPACING = [0.1, 0.12, 0.11] as const;
const CENTRE: Point = [0.02, 0.43, 5.01];
const RADIUS = 1.3;

/** Samples of a function of the place, x fastest. */
function sampled(value: (point: Point) => number): Float32Array {
  const [nx, ny, nz] = COUNTS;
  return Float32Array.from({ length: nx * ny * nz }, (_, i) => {
    const index = [i % nx, Math.floor(i / nx) % ny, Math.floor(i / (nx * ny))];
    return value(index.map((k, axis) => (ORIGIN[axis] as number) + k * (SPACING[axis] as number)) as unknown as Point);
  });
}

const away = (point: Point) => Math.hypot(...point.map((value, i) => value - (CENTRE[i] as number)));
const extract = (values: Float32Array, tint: Float32Array | null = null) =>
  marchingCubes({ counts: COUNTS, origin: ORIGIN, spacing: SPACING, values }, 0, tint);

function vertex({ positions }: Surface, i: number): Point {
  return [...positions.subarray(3 * i, 3 * i + 3)] as unknown as Point;
}

/** Counts the uses of each edge of the triangles in each sense. */
function edgesOf({ indices }: Surface): Map<string, number> {
  const edges = new Map<string, number>();
  for (let t = 0; t < indices.length; t += 3) {
    for (const [a, b] of [
      [0, 1],
      [1, 2],
      [2, 0],
    ] as const) {
      const key = `${indices[t + a]} ${indices[t + b]}`;
      edges.set(key, (edges.get(key) ?? 0) + 1);
    }
  }
  return edges;
}

describe("the surface of a ball", () => {
  const values = sampled((point) => RADIUS - away(point));
  const tint = sampled(([x, y, z]) => x - 2 * y + 3 * z);
  const surface = extract(values, tint);

  it("lies where the samples change sign, with normals outwards and the second quantity at each vertex", () => {
    const count = surface.positions.length / 3;
    expect(count).toBeGreaterThan(1000);
    for (let i = 0; i < count; i++) {
      const point = vertex(surface, i);
      expect(Math.abs(away(point) - RADIUS)).toBeLessThan(0.004);
      const outwards = point.map((value, axis) => (value - (CENTRE[axis] as number)) / RADIUS);
      const along = outwards.reduce((sum, value, axis) => sum + value * (surface.normals[3 * i + axis] as number), 0);
      expect(along).toBeGreaterThan(0.99);
      const [x, y, z] = point;
      expect(surface.tints[i]).toBeCloseTo(x - 2 * y + 3 * z, 3);
    }
  });

  it("is closed and encloses the volume of the ball", () => {
    const edges = edgesOf(surface);
    for (const [key, count] of edges) {
      expect([key, count, edges.get(key.split(" ").toReversed().join(" "))]).toEqual([key, 1, 1]);
    }
    let volume = 0;
    for (let t = 0; t < surface.indices.length; t += 3) {
      const [a, b, c] = [0, 1, 2].map((k) => {
        return vertex(surface, surface.indices[t + k] as number).map((value, i) => value - (CENTRE[i] as number));
      }) as unknown as [Point, Point, Point];
      volume +=
        (a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])) /
        6;
    }
    expect(Math.abs(volume)).toBeCloseTo((4 / 3) * Math.PI * RADIUS ** 3, 1);
  });
});

it("leaves cells without a value open, and finds nothing in samples of one sign", () => {
  const holed = sampled((point) => (point[0] > CENTRE[0] + 0.5 ? Number.NaN : RADIUS - away(point)));
  const surface = extract(holed);
  expect(surface.indices.length).toBeGreaterThan(0);
  expect(surface.positions.every(Number.isFinite)).toBe(true);
  for (let i = 0; i < surface.positions.length / 3; i++) {
    expect(vertex(surface, i)[0]).toBeLessThanOrEqual(CENTRE[0] + 0.5 + SPACING[0]);
  }
  expect([...edgesOf(surface).values()].every((count) => count === 1)).toBe(true);
  expect(extract(sampled(() => 1)).indices).toHaveLength(0);
});

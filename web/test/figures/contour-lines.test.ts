/** Contours lie where the values have their level, and nowhere else. */
import { expect, it } from "vitest";
import { contourLines } from "../../figures/contour-lines.js";
import type { SampleAxis } from "../../state/plane-geometry.js";

const axis = (name: "x" | "y", coordinates?: readonly number[]): SampleAxis => ({
  ...{ axis: name, count: coordinates?.length ?? 41, origin: -2, spacing: 0.1 },
  ...(coordinates === undefined ? {} : { coordinates }),
});

/** Samples of a function, rows from the lowest up. */
function plane(of: (x: number, y: number) => number, columns: SampleAxis, rows: SampleAxis) {
  const place = ({ coordinates, origin, spacing }: SampleAxis, i: number) => coordinates?.[i] ?? origin + i * spacing;
  const values = Float32Array.from({ length: columns.count * rows.count }, (_, i) =>
    of(place(columns, i % columns.count), place(rows, Math.floor(i / columns.count))),
  );
  return { columns, rows, values, low: 0, high: 0 };
}

it("follow a circle once around, on equal and on stretched samples", () => {
  const stretched = Array.from({ length: 61 }, (_, i) => -2 * Math.cos((Math.PI * i) / 60));
  for (const rows of [axis("y"), axis("y", stretched)]) {
    const { segments } = contourLines(
      plane((x, y) => x * x + y * y, axis("x"), rows),
      1,
    );
    let length = 0;
    for (let i = 0; i < segments.length; i += 4) {
      const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = segments.subarray(i, i + 4);
      for (const [x, y] of [
        [x0, y0],
        [x1, y1],
      ] as const)
        expect(Math.abs(Math.hypot(x, y) - 1)).toBeLessThan(0.01);
      length += Math.hypot(x1 - x0, y1 - y0);
    }
    expect(length).toBeCloseTo(2 * Math.PI, 1);
  }
});

it("part the two sides of a saddle by its middle, and leave out cells without a value", () => {
  const columns = { ...axis("x"), count: 2 };
  const rows = { ...axis("y"), count: 2 };
  const cell = (values: readonly number[]) =>
    contourLines({ columns, rows, values: Float32Array.from(values), low: 0, high: 0 }, 0);
  expect(cell([1, -1, -1, 1]).segments).toHaveLength(8);
  expect([...cell([3, -1, -1, 3]).segments]).not.toEqual([...cell([1, -3, -3, 1]).segments]);
  expect(cell([1, -1, Number.NaN, 1]).segments).toHaveLength(0);
  expect(cell([1, 2, 3, 4]).segments).toHaveLength(0);
});

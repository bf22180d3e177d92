/** The plot of a spectrum: points where the axes' labels say, empty shells left out. */
import { describe, expect, it } from "vitest";
import { spectrumPlot } from "../../../tools/generate/spectrum-plot.js";

describe("spectrumPlot", () => {
  const svg = spectrumPlot([5, 1, 0.1, 0, 1e-3], 3);
  const circles = [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => ({
    x: Number(x),
    y: Number(y),
  }));

  it("draws a point for each shell but the mean flow and the empty one", () => {
    expect(circles).toHaveLength(3);
  });

  it("is logarithmic both ways", () => {
    const [first, second, fourth] = circles as [
      { x: number; y: number },
      { x: number; y: number },
      { x: number; y: number },
    ];
    // From k = 1 to 2 and from 2 to 4 are equal steps; 1 to 1e-3 is three times 1 to 0.1. Coordinates are given to 0.1.
    expect(Math.abs(fourth.x - second.x - (second.x - first.x))).toBeLessThan(0.2);
    expect(Math.abs(fourth.y - first.y - 3 * (second.y - first.y))).toBeLessThan(0.3);
    expect(second.x).toBeGreaterThan(first.x);
    expect(second.y).toBeGreaterThan(first.y);
  });

  it("puts decades at their labels and marks the largest complete wavenumber", () => {
    const [first] = circles as [{ x: number; y: number }];
    expect(svg).toContain(`<path d="M${first.x.toFixed(1)} `);
    expect(svg).toContain(
      `y="${first.y.toFixed(1)}" dy="4" text-anchor="end">10<tspan dy="-5" font-size="9">0</tspan>`,
    );
    const mark = Number(svg.match(/<path d="M([\d.]+) [^>]*stroke-dasharray/)?.[1]);
    expect(mark).toBeGreaterThan(circles[1]?.x as number);
    expect(mark).toBeLessThan(circles[2]?.x as number);
  });
});

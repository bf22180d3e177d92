/** Drawings over a plane are seen on every colour. */
import { afterEach, expect, it, vi } from "vitest";
import { drawLayer } from "../../../src/web/figures/plane-canvas.js";
import { SvgPen } from "../../../src/web/figures/svg-pen.js";

afterEach(() => vi.unstubAllGlobals());

it("gives particles their colour and a dark rim, by which they are seen on white", () => {
  vi.stubGlobal("window", { devicePixelRatio: 1 });
  const pen = new SvgPen(100, 100);
  const points = Float32Array.of(0.2, 0.5, 0.6, 0.5);
  drawLayer(pen, {
    window: [0, 1, 0, 1],
    seams: [],
    contours: [],
    curves: [{ points, until: 2, head: true, tints: [0xff3030e8, 0xff3030e8] }],
    marked: null,
    probes: [],
  });
  const heads = pen.svg.split("\n").filter((part) => /^<path d="M\s?64 50/.test(part));
  expect(heads.map((part) => /(?:fill|stroke)="(?!none)([^"]+)"/.exec(part)?.[1])).toEqual([
    "#e83030",
    "rgba(0, 0, 0, 0.8)",
    "#fff",
  ]);
  const widths = heads.slice(1).map((part) => Number(/stroke-width="([^"]+)"/.exec(part)?.[1]));
  expect(widths[0]).toBeGreaterThan(widths[1] as number);
});

/** Drawings over a plane are seen on every colour. */
import { afterEach, expect, it, vi } from "vitest";
import { drawLayer } from "../../figures/plane-canvas.js";
import { SvgPen } from "../../figures/svg-pen.js";

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

it("writes no label over another one, of contours, notes and probes alike", () => {
  vi.stubGlobal("window", { devicePixelRatio: 1 });
  const pen = new SvgPen(400, 400);
  // Levels around a peak, and a note at the place of the probe.
  const ring = (radius: number) =>
    Float32Array.from({ length: 4 * 64 }, (_, i) => {
      const angle = (2 * Math.PI * (Math.floor(i / 4) + (i % 4 > 1 ? 1 : 0))) / 64;
      return 0.5 + radius * (i % 2 === 0 ? Math.cos(angle) : Math.sin(angle));
    });
  const at = { across: 0.2, up: 0.2, crossed: false };
  drawLayer(pen, {
    window: [0, 1, 0, 1],
    seams: [],
    contours: [1, 2, 3, 4].map((level) => ({ level, segments: ring(0.2 - 0.005 * level), text: `level ${level}` })),
    curves: [],
    marked: null,
    probes: [
      { ...at, name: "", distance: "Δz = 1.08" },
      { ...at, name: "a note", distance: "Δz = 1.08" },
    ],
  });
  const texts = [
    ...pen.svg.matchAll(/<text x="([^"]+)" y="([^"]+)" text-anchor="([^"]+)"[^>]*fill="#fff"[^>]*>([^<]*)/g),
  ];
  expect(texts).toHaveLength(6);
  const boxes = texts.map(([, x, y, anchor, text = ""]) => {
    const width = 6.6 * text.length;
    const left = Number(x) - (anchor === "end" ? width : anchor === "middle" ? width / 2 : 0);
    return [left, left + width, Number(y) - 9, Number(y)] as const;
  });
  for (const [i, [left, right, top, bottom]] of boxes.entries())
    for (const [l, r, t, b] of boxes.slice(i + 1)) expect(right < l || left > r || bottom < t || top > b).toBe(true);
});

/** This file draws the velocity in a plane: streamlines by line integral convolution, or arrows. */
import type { Slice } from "../state/api.js";
import type { SampleAxis } from "../state/plane-geometry.js";

/** The components of the velocity along the columns and the rows of a plane. */
export interface PlaneVectors {
  readonly across: Slice;
  readonly up: Slice;
}

/** Pixels along the longer side of an overlay. */
const SIDE = 640;
/** Steps of a streak on either side of a pixel, each one pixel long. */
const STREAK = 14;
/** Opacity of light and of dark streaks as strong as the scatter of the grains, and the most of any. */
const WHITE = 0.14;
const BLACK = 0.17;
const MOST_OPAQUE = 0.5;
/** Pixels from one arrow to the next, and the part of them that the longest arrow takes. */
const ARROW_GAP = 32;
const ARROW_FILLED = 0.9;

/** The largest speed in a plane. */
export function fastestIn({ across, up }: PlaneVectors): number {
  return across.values.reduce((most, u, i) => Math.max(most, Math.hypot(u, up.values[i]) || 0), 0);
}

/** The speed of an arrow whose length is `pixels` of the overlay. */
export function speedOfArrow(fastest: number, pixels: number): number {
  return (fastest * pixels) / (ARROW_GAP * ARROW_FILLED);
}

/** Width and height of the overlay of a plane, in pixels. */
export function overlaySize({ columns, rows }: Slice): [number, number] {
  const [w, h] = [columns, rows].map((axis) => axis.count * axis.spacing);
  return [w / h, h / w].map((part) => Math.max(1, Math.round(SIDE * Math.min(1, part)))) as [number, number];
}

/**
 * Draws the overlay of a plane over the part of it that `slice` covers.
 *
 * @param fastest the speed of the longest arrows
 */
export function drawOverlay(
  vectors: PlaneVectors,
  kind: "streamlines" | "arrows",
  slice: Slice,
  fastest: number,
): HTMLCanvasElement {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = overlaySize(slice);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (context === null) return canvas;
  const field = pixelVectors(vectors, canvas.width, canvas.height);
  if (kind === "arrows") drawArrows(context, field, fastest);
  else context.putImageData(convolve(field), 0, 0);
  return canvas;
}

/** The velocity at each pixel of a picture: across to the right and down, in units of the data. */
export interface PixelVectors {
  readonly width: number;
  readonly height: number;
  readonly across: Float32Array;
  readonly down: Float32Array;
}

/** The value of a plane at a fraction of its sides, linear between samples and even at the edges. */
function between({ rows, columns, values }: Slice, across: number, up: number): number {
  const index = (axis: SampleAxis, part: number) =>
    Math.max(0, Math.min(axis.count - 1.000001, part * axis.count - 0.5));
  const [x, y] = [index(columns, across), index(rows, up)];
  const [i, j] = [Math.floor(x), Math.floor(y)];
  const right = Math.min(i + 1, columns.count - 1);
  const above = Math.min(j + 1, rows.count - 1);
  const row = (k: number) =>
    values[k * columns.count + i] * (1 - (x - i)) + values[k * columns.count + right] * (x - i);
  return row(j) * (1 - (y - j)) + row(above) * (y - j);
}

function pixelVectors(vectors: PlaneVectors, width: number, height: number): PixelVectors {
  const across = new Float32Array(width * height);
  const down = new Float32Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const place = [(x + 0.5) / width, 1 - (y + 0.5) / height] as const;
      across[y * width + x] = between(vectors.across, ...place);
      down[y * width + x] = -between(vectors.up, ...place);
    }
  }
  return { width, height, across, down };
}

/** Reproducible noise: 0 or 1 for each pixel. */
function noise(count: number): Float32Array {
  let seed = 0x9e3779b9;
  return Float32Array.from({ length: count }, () => {
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    return (seed >>> 0) / 2 ** 32;
  });
}

/**
 * Smears noise along the streamlines: line integral convolution.
 *
 * Source: Cabral and Leedom, SIGGRAPH 1993. The streaks are thin white and black, so that the colours of a picture
 * below become lighter or darker and never others; on average about as much of both.
 */
function convolve({ width, height, across, down }: PixelVectors): ImageData {
  const grain = noise(width * height);
  const image = new ImageData(width, height);
  const { data } = image;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let sum = grain[y * width + x];
      let count = 1;
      for (const sense of [1, -1]) {
        let px = x + 0.5;
        let py = y + 0.5;
        for (let step = 0; step < STREAK; step++) {
          const at = (py | 0) * width + (px | 0);
          const [u, v] = [across[at], down[at]];
          const length = Math.sqrt(u * u + v * v);
          if (!(length > 0)) break;
          px += (sense * u) / length;
          py += (sense * v) / length;
          if (px < 0 || py < 0 || px >= width || py >= height) break;
          sum += grain[(py | 0) * width + (px | 0)];
          count++;
        }
      }
      // The mean of n grains scatters by 1 / sqrt(12 n): stretched to the range from dark to light.
      const light = (sum / count - 0.5) * Math.sqrt(12 * count);
      const pixel = 4 * (y * width + x);
      const known = Number.isFinite(across[y * width + x]) && Number.isFinite(down[y * width + x]);
      data[pixel] = data[pixel + 1] = data[pixel + 2] = light > 0 ? 255 : 0;
      data[pixel + 3] = known ? 255 * Math.min(MOST_OPAQUE, Math.abs(light) * (light > 0 ? WHITE : BLACK)) : 0;
    }
  }
  return image;
}

/** Draws arrows whose length grows with the speed, black with a white rim. */
function drawArrows(
  context: CanvasRenderingContext2D,
  { width, height, across, down }: PixelVectors,
  fastest: number,
): void {
  if (fastest === 0) return;
  context.lineCap = "round";
  for (const [style, thick] of [
    ["#fff", 4],
    ["#000", 1.8],
  ] as const) {
    context.strokeStyle = style;
    context.lineWidth = thick;
    context.beginPath();
    for (let y = ARROW_GAP / 2; y < height; y += ARROW_GAP) {
      for (let x = ARROW_GAP / 2; x < width; x += ARROW_GAP) {
        const at = Math.floor(y) * width + Math.floor(x);
        const [u, v] = [across[at], down[at]].map((value) => (value / fastest) * ARROW_GAP * ARROW_FILLED);
        if (!Number.isFinite(u + v)) continue;
        const [x0, y0, x1, y1] = [x - u / 2, y - v / 2, x + u / 2, y + v / 2];
        context.moveTo(x0, y0);
        context.lineTo(x1, y1);
        context.moveTo(x1 - 0.3 * u + 0.18 * v, y1 - 0.3 * v - 0.18 * u);
        context.lineTo(x1, y1);
        context.lineTo(x1 - 0.3 * u - 0.18 * v, y1 - 0.3 * v + 0.18 * u);
      }
    }
    context.stroke();
  }
}

/** Steps of a streamline on either side of its start, and their length in samples of the velocity. */
const LINE_STEPS = 800;
const LINE_STEP = 0.25;

/**
 * The streamline through a point of a plane, by the velocity in the plane: equal Runge-Kutta steps of order 4 on either
 * side until it leaves, stops or has gone far.
 *
 * @returns across and up of its points, in pairs
 */
export function streamline(vectors: PlaneVectors, start: readonly [number, number]): Float32Array {
  const { columns, rows } = vectors.across;
  const ends = [columns, rows].map(({ origin, spacing, count }) => [origin - spacing / 2, count * spacing] as const);
  const step = LINE_STEP * Math.min(columns.spacing, rows.spacing);
  const direction = ([x, y]: readonly [number, number]): readonly [number, number] | null => {
    const place = [x, y].map((value, i) => (value - ends[i][0]) / ends[i][1]) as [number, number];
    if (place.some((part) => !(part >= 0 && part <= 1))) return null;
    const [u, v] = [between(vectors.across, ...place), between(vectors.up, ...place)];
    const speed = Math.hypot(u, v);
    return speed > 0 ? [u / speed, v / speed] : null;
  };
  const halves = [-1, 1].map((sense) => {
    const points: number[] = [];
    let at = start;
    const go = (slope: readonly [number, number], part: number): readonly [number, number] => [
      at[0] + sense * step * part * slope[0],
      at[1] + sense * step * part * slope[1],
    ];
    for (let i = 0; i < LINE_STEPS; i++) {
      const k1 = direction(at);
      const k2 = k1 && direction(go(k1, 0.5));
      const k3 = k2 && direction(go(k2, 0.5));
      const k4 = k3 && direction(go(k3, 1));
      if (k1 === null || k2 === null || k3 === null || k4 === null) break;
      const mean = [0, 1].map((c) => (k1[c] + 2 * k2[c] + 2 * k3[c] + k4[c]) / 6) as [number, number];
      at = go(mean, 1);
      points.push(...at);
    }
    return points;
  });
  const [back, on] = halves as [number[], number[]];
  const reversed = Array.from({ length: back.length / 2 }, (_, i) =>
    back.slice(back.length - 2 * i - 2, back.length - 2 * i),
  );
  return Float32Array.from([...reversed.flat(), ...start, ...on]);
}

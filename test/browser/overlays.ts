/** Streaks and arrows over a picture, compared with the velocity below them. */
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { settled } from "./stage.js";

type Place = readonly [number, number];

/** Brightness of every pixel of the slice, row by row from the top. */
function brightness(page: Page) {
  return page.$eval("#slice", (element) => {
    const canvas = element as HTMLCanvasElement;
    const { width, height } = canvas;
    const { data } = (canvas.getContext("2d") as CanvasRenderingContext2D).getImageData(0, 0, width, height);
    const light = Array.from({ length: data.length / 4 }, (_, i) =>
      Math.round(((data[4 * i] ?? 0) + (data[4 * i + 1] ?? 0) + (data[4 * i + 2] ?? 0)) / 3),
    );
    return { light, width, height };
  });
}

/**
 * Switches streaks and arrows on and compares both with the velocity of the service.
 *
 * @param velocities answers velocities, three numbers each, at places of the plane
 */
export async function expectOverlays(
  page: Page,
  [left, right, bottom, top]: readonly [number, number, number, number],
  velocities: (places: readonly Place[]) => Promise<readonly number[]>,
): Promise<void> {
  const plain = await brightness(page);
  const { width, height } = plain;
  /** The velocity at pixels, to the right and down. */
  const flowAt = async (pixels: readonly Place[]): Promise<Place[]> => {
    const values = await velocities(
      pixels.map(([x, y]) => [left + ((right - left) * x) / width, top - ((top - bottom) * y) / height]),
    );
    return pixels.map((_, i) => [values[3 * i] as number, -(values[3 * i + 1] as number)] as const);
  };
  await page.selectOption("#overlay", "streamlines");
  await settled(page);
  expectStreaks(await brightness(page), plain.light, await flowAt(streakPlaces(width, height)));
  await page.selectOption("#overlay", "arrows");
  await settled(page);
  // Arrows stand 32 pixels apart on an overlay whose longer side has 640.
  const gap = (32 / 640) * Math.max(width, height);
  const [columns, rows] = [Math.floor(width / gap), Math.floor(height / gap)];
  const centres: Place[] = [];
  for (let j = 1; j < rows - 1; j++)
    for (let i = 1; i < columns - 1; i++) centres.push([gap * (i + 0.5), gap * (j + 0.5)]);
  expectArrows(await brightness(page), gap, centres, await flowAt(centres));
}

function streakPlaces(width: number, height: number): Place[] {
  return Array.from(
    { length: 40 },
    (_, i) =>
      [Math.round(width * (0.15 + 0.1 * (i % 8))), Math.round(height * (0.2 + 0.15 * Math.floor(i / 8)))] as const,
  );
}

/** Expects less change of brightness along the velocity than across it. */
function expectStreaks(
  { light, width, height }: Awaited<ReturnType<typeof brightness>>,
  plain: readonly number[],
  flow: readonly Place[],
): void {
  const streak = (x: number, y: number) => {
    const at = Math.round(y) * width + Math.round(x);
    return (light[at] ?? 0) - (plain[at] ?? 0);
  };
  let along = 0;
  let beside = 0;
  for (const [i, [x, y]] of streakPlaces(width, height).entries()) {
    const [u, v] = flow[i] as Place;
    const speed = Math.hypot(u, v);
    if (!(speed > 0)) continue;
    for (let dx = -12; dx <= 12; dx += 3) {
      for (let dy = -12; dy <= 12; dy += 3) {
        const here = streak(x + dx, y + dy);
        along += Math.abs(here - streak(x + dx + (4 * u) / speed, y + dy + (4 * v) / speed));
        beside += Math.abs(here - streak(x + dx - (4 * v) / speed, y + dy + (4 * u) / speed));
      }
    }
  }
  expect(along / beside).toBeLessThan(0.9);
}

/** Expects the black pixels about the middle of each arrow to lie along the velocity there. */
function expectArrows(
  { light, width }: Awaited<ReturnType<typeof brightness>>,
  gap: number,
  centres: readonly Place[],
  flow: readonly Place[],
): void {
  const turned: number[] = [];
  for (const [i, [cx, cy]] of centres.entries()) {
    const [u, v] = flow[i] as Place;
    let [xx, xy, yy, count] = [0, 0, 0, 0];
    for (let x = Math.round(cx - gap / 2); x < cx + gap / 2; x++) {
      for (let y = Math.round(cy - gap / 2); y < cy + gap / 2; y++) {
        if ((light[y * width + x] ?? 255) > 30) continue;
        const [dx, dy] = [x + 0.5 - cx, y + 0.5 - cy];
        xx += dx * dx;
        xy += dx * dy;
        yy += dy * dy;
        count++;
      }
    }
    if (count < 12) continue;
    const angle = Math.abs(0.5 * Math.atan2(2 * xy, xx - yy) - Math.atan2(v, u)) % Math.PI;
    turned.push(Math.min(angle, Math.PI - angle));
  }
  expect(turned.length).toBeGreaterThan(10);
  expect(turned.sort((a, b) => a - b)[Math.floor(turned.length / 2)] as number).toBeLessThan(0.25);
}

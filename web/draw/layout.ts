/** Panes of the stage, their scale, and the way between pixels and positions. */
import { type Dataset, sizeOf, type Vec3 } from "../state/dataset.js";
import type { Plane, View } from "../state/link.js";
import { PLANE_AXES } from "../state/picture-plan.js";
import { comparedPlane } from "../state/shown.js";

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface PlanePane {
  readonly kind: "plane";
  readonly plane: Plane;
  readonly rect: Rect;
  readonly second: boolean;
}
export interface Pane3d {
  readonly kind: "3d";
  readonly rect: Rect;
}
export type Pane = PlanePane | Pane3d;

export const PLANE_NAMES: Readonly<Record<Plane, string>> = { z: "xy", x: "zy", y: "xz" };

const GAP = 1;

export function panesOf({ show, compare }: View, width: number, height: number, one: Plane | "3d" | null): Pane[] {
  const all = { x: 0, y: 0, width, height };
  const plane = (name: Plane, rect: Rect, second = false): PlanePane => ({ kind: "plane", plane: name, rect, second });
  if (show === "3d") return [{ kind: "3d", rect: all }];
  if (show.startsWith("slice")) return [plane(show.slice(-1) as Plane, all)];
  const left = Math.floor((width - GAP) / 2);
  if (show === "compare") {
    const own = comparedPlane.value;
    if (compare !== "side") return [plane(own, all)];
    const half = (x: number): Rect => ({ x, y: 0, width: left, height });
    return [plane(own, half(0)), plane(own, half(left + GAP), true)];
  }
  if (one !== null) return one === "3d" ? [{ kind: "3d", rect: all }] : [plane(one, all)];
  const top = Math.floor((height - GAP) / 2);
  const at = (i: number, j: number): Rect => ({
    x: i * (left + GAP),
    y: j * (top + GAP),
    width: i === 0 ? left : width - left - GAP,
    height: j === 0 ? top : height - top - GAP,
  });
  return [plane("z", at(0, 0)), plane("x", at(1, 0)), plane("y", at(0, 1)), { kind: "3d", rect: at(1, 1) }];
}

const MARGIN = 0.08;

export function fittingPixel({ axes }: Dataset, panes: readonly Pane[]): number {
  let pixel = 0;
  for (const pane of panes) {
    if (pane.kind !== "plane") continue;
    const { width, height } = pane.rect;
    for (const [side, a] of PLANE_AXES[pane.plane].entries()) {
      const { length, periodic } = axes[a];
      pixel = Math.max(pixel, (length * (periodic ? 1 : 1 + 2 * MARGIN)) / (side === 0 ? width : height));
    }
  }
  return pixel;
}

export function pixelOf({ window }: View, set: Dataset, panes: readonly Pane[]): number {
  const plane = panes.find(({ kind }) => kind === "plane");
  if (window !== null && plane !== undefined) return window / plane.rect.height;
  return fittingPixel(set, panes);
}

export function positionAt(pane: PlanePane, x: number, y: number, centre: Vec3, cross: Vec3, pixel: number): Vec3 {
  const { rect, plane } = pane;
  const [h, v] = PLANE_AXES[plane];
  const place = [...cross];
  place[h] = centre[h] + (x - rect.x - rect.width / 2) * pixel;
  place[v] = centre[v] - (y - rect.y - rect.height / 2) * pixel;
  return place as unknown as Vec3;
}

export function pixelsAt(pane: PlanePane, centre: Vec3, pixel: number) {
  const { rect, plane } = pane;
  const [h, v] = PLANE_AXES[plane];
  return {
    across: (place: number) => rect.x + rect.width / 2 + (place - centre[h]) / pixel,
    up: (place: number) => rect.y + rect.height / 2 - (place - centre[v]) / pixel,
  };
}

/** Ends of the box that a view of space shows: of periodic axes one period about the centre. */
export function boxAbout({ axes }: Dataset, centre: Vec3): { readonly low: Vec3; readonly high: Vec3 } {
  const low = axes.map(({ periodic, length, first }, a) => (periodic ? centre[a] - length / 2 : first));
  const high = axes.map(({ length }, a) => low[a] + length);
  return { low: low as unknown as Vec3, high: high as unknown as Vec3 };
}

/** Positions as shaders have them: from the first nodes, in sizes of the box, so that float32 is fine enough for them. */
export function localIn(set: Dataset): (place: readonly number[]) => [number, number, number] {
  const size = sizeOf(set);
  return (place) => set.axes.map(({ first }, a) => (place[a] - first) / size) as [number, number, number];
}

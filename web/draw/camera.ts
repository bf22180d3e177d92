/** A camera that orbits the centre of a box: its eye, its axes, its projection and the rays of its pixels. */
import type { Vec3 } from "../state/dataset.js";

export interface Camera extends Readonly<Record<"eye" | "right" | "up" | "forward", Vec3>> {
  readonly tangent: number;
}

const TANGENT = Math.tan((30 / 2) * (Math.PI / 180));

export const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const along = (a: Vec3, t: number, b: Vec3): Vec3 => [a[0] + t * b[0], a[1] + t * b[1], a[2] + t * b[2]];
const cross = (a: Vec3, b: Vec3): Vec3 => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];
const unit = (a: Vec3): Vec3 => {
  const size = Math.hypot(...a) || 1;
  return [a[0] / size, a[1] / size, a[2] / size];
};

/** The camera of a longitude and a latitude in degrees and a distance in sizes of the box; y points up. */
export function cameraOf([longitude, latitude, distance]: Vec3, target: Vec3, size: number): Camera {
  const [l, b] = [longitude, Math.min(89, Math.max(-89, latitude))].map((angle) => (angle * Math.PI) / 180);
  const back: Vec3 = [Math.sin(l) * Math.cos(b), Math.sin(b), Math.cos(l) * Math.cos(b)];
  const forward: Vec3 = [-back[0], -back[1], -back[2]];
  const right = unit(cross(forward, [0, 1, 0]));
  return { eye: along(target, distance * size, back), right, up: cross(right, forward), forward, tangent: TANGENT };
}

/** The direction of the ray through a point of the picture, both coordinates from -1 to 1; its forward part is 1. */
export function rayOf({ right, up, forward, tangent }: Camera, u: number, v: number, aspect: number): Vec3 {
  return along(along(forward, u * tangent * aspect, right), v * tangent, up);
}

/** The matrix from positions to clip space, column by column, with the distance along the view as w. */
export function matrixOf({ eye, right, up, forward, tangent }: Camera, aspect: number): number[] {
  const x = 1 / (tangent * aspect);
  const y = 1 / tangent;
  const rows = [
    [...right.map((one) => one * x), -dot(right, eye) * x],
    [...up.map((one) => one * y), -dot(up, eye) * y],
    [0, 0, 0, 0],
    [...forward, -dot(forward, eye)],
  ];
  return Array.from({ length: 16 }, (_, i) => rows[i % 4][i >> 2]);
}

/** Distances at which a ray enters and leaves a box; null if it misses the box. */
export function throughBox(eye: Vec3, ray: Vec3, low: Vec3, high: Vec3): readonly [number, number] | null {
  let [near, far] = [0, Number.POSITIVE_INFINITY];
  for (let a = 0; a < 3; a++) {
    const [t0, t1] = [(low[a] - eye[a]) / ray[a], (high[a] - eye[a]) / ray[a]];
    near = Math.max(near, Math.min(t0, t1));
    far = Math.min(far, Math.max(t0, t1));
  }
  return far > near ? [near, far] : null;
}

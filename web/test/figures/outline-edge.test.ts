/** The labelled edges of a box lie on its outline: all of the box is drawn on one side of each of them. */
import { PerspectiveCamera, Vector3 } from "three";
import { expect, it } from "vitest";
import { outlineEdge } from "../../figures/outline-edge.js";

const SIDES = [1, 0.6, 0.4] as const;
const EYES = [-2.1, -0.9, 0.31, 1.7].flatMap((x) =>
  [-1.4, -0.2, 0.25, 1.3].flatMap((y) => [-1.9, 0.15, 1.6].map((z) => [x, y, z] as const)),
);

/** Corners of the box on the screen, by the camera of three. */
function onScreen(eye: readonly [number, number, number]) {
  const camera = new PerspectiveCamera(40, 1, 0.01, 100);
  camera.position.set(...eye);
  camera.lookAt(0, 0, 0);
  camera.updateMatrixWorld();
  return (senses: readonly number[]) =>
    new Vector3(...(senses.map((sense, i) => (sense * SIDES[i]) / 2) as [number, number, number])).project(camera);
}

const corners = Array.from({ length: 8 }, (_, i) => [0, 1, 2].map((axis) => (((i >> axis) & 1) === 0 ? -1 : 1)));

it("labels edges that the box is on one side of, wherever the viewer is", () => {
  const crossed: unknown[] = [];
  for (const eye of EYES) {
    const project = onScreen(eye);
    for (const axis of [0, 1, 2]) {
      // Whoever looks along an axis sees its edges end on, none of them on the outline.
      if ([0, 1, 2].every((i) => i === axis || Math.abs(eye[i] as number) <= (SIDES[i] as number) / 2)) continue;
      const edge = outlineEdge(axis, eye, SIDES);
      const [from, to] = [-1, 1].map((sense) => project(edge.map((side, i) => (i === axis ? sense : side)))) as [
        Vector3,
        Vector3,
      ];
      const sides = corners.map((corner) => {
        const { x, y } = project(corner);
        return (to.x - from.x) * (y - from.y) - (to.y - from.y) * (x - from.x);
      });
      const isEdge = edge.every((side, i) => Math.abs(side) === (i === axis ? 0 : 1));
      if (!isEdge || (Math.min(...sides) < -1e-6 && Math.max(...sides) > 1e-6)) crossed.push({ eye, axis, edge });
    }
  }
  expect(crossed).toEqual([]);
});

it("keeps the labels of the first view below and to the left", () => {
  const eye = [1.45, 1.05, 1.95] as const;
  expect([0, 1, 2].map((axis) => outlineEdge(axis, eye, [1, 1, 1]))).toEqual([
    [0, -1, 1],
    [-1, 0, 1],
    [1, -1, 0],
  ]);
});

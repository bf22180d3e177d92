/** This file chooses the edge of a box that bears the labels of an axis: one on the outline that the viewer sees. */

type Direction = readonly [number, number, number];

/** Edges for a viewer inside the box, who sees no outline. */
const INSIDE: readonly Direction[] = [
  [0, -1, 1],
  [-1, 0, 1],
  [1, -1, 0],
];

function dot(a: Direction, b: Direction): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/**
 * The edge along an axis on the outline of a box around the origin: the leftmost one of y, which is upright, and the
 * lowest one of x and of z. The outline has the edges between a face that is seen and one that is not.
 *
 * @param axis  0, 1 or 2
 * @param eye   place of the viewer, who looks at the origin with y upwards
 * @param sides lengths of the box
 * @returns 0 along the axis, and -1 or 1 along the others: the sides of the box that meet in the edge
 */
export function outlineEdge(axis: number, eye: Direction, sides: Direction): Direction {
  const distance = Math.hypot(...eye) || 1;
  const back = eye.map((part) => part / distance) as unknown as Direction;
  const flat = Math.hypot(back[0], back[2]) || 1;
  const right: Direction = [back[2] / flat, 0, -back[0] / flat];
  // The product of back and right, whose y is never negative.
  const up: Direction = [back[1] * right[2], back[2] * right[0] - back[0] * right[2], -back[1] * right[0]];
  const seen = (i: number, sense: number) => sense * eye[i] > sides[i] / 2;
  const [a, b] = [0, 1, 2].filter((i) => i !== axis) as [number, number];
  let [best, least] = [INSIDE[axis] as Direction, Number.POSITIVE_INFINITY];
  for (const [one, other] of [
    [-1, -1],
    [-1, 1],
    [1, -1],
    [1, 1],
  ] as const) {
    if (seen(a, one) === seen(b, other)) continue;
    const edge = [0, 1, 2].map((i) => (i === a ? one : i === b ? other : 0)) as unknown as Direction;
    const middle = edge.map((sense, i) => (sense * sides[i]) / 2) as unknown as Direction;
    const depth = distance - dot(middle, back);
    const place = dot(middle, axis === 1 ? right : up) / Math.max(depth, 1e-6);
    if (place < least - 1e-9) [best, least] = [edge, place];
  }
  return best;
}

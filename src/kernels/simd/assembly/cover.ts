/** Lists the bricks that stencils touch: every brick of a stencil node once, no others. */
import { Axis, Field, Tap, Term } from "./records";
import { brickOf, shift, wrap, wrapAfter } from "./nodes";

/** Appends a brick to the list unless it is marked; returns the new length of the list. */
// @ts-ignore: decorator
@inline
function mark(brick: i32, marks: usize, list: usize, length: i32): i32 {
  if (load<u8>(marks + <usize>brick)) return length;
  store<u8>(marks + <usize>brick, 1);
  store<i32>(list + (<usize>length << 2), brick);
  return length + 1;
}

/** Whether `length` nodes from `node` on lie in one brick. */
// @ts-ignore: decorator
@inline
function alone(node: i32, length: i32, nodes: i32, edge: i32, reciprocal: u32): bool {
  return node + length <= nodes && node - brickOf(node, reciprocal) * edge + length <= edge;
}

/** Number of nodes from `node` on, at most `left`, up to the next brick face or the seam. */
// @ts-ignore: decorator
@inline
function nodesToFace(node: i32, left: i32, nodes: i32, edge: i32, reciprocal: u32): i32 {
  return min(left, min(nodes - node, edge - (node - brickOf(node, reciprocal) * edge)));
}

/** Marks the bricks of a box of nodes. */
function markBox(
  field: Field, axisX: Axis, axisY: Axis, axisZ: Axis, x: i32, y: i32, z: i32, nx: i32, ny: i32, nz: i32, marks: usize,
  list: usize, length: i32
): i32 {
  for (let leftZ = nz; leftZ > 0; ) {
    const brickZ = brickOf(z, field.reciprocalZ) * field.countY;
    for (let leftY = ny, j = y; leftY > 0; ) {
      const brickY = (brickZ + brickOf(j, field.reciprocalY)) * field.countX;
      for (let leftX = nx, i = x; leftX > 0; ) {
        length = mark(brickY + brickOf(i, field.reciprocalX), marks, list, length);
        const stepX = nodesToFace(i, leftX, axisX.nodes, field.edgeX, field.reciprocalX);
        leftX -= stepX;
        i = shift(i, stepX, axisX.nodes);
      }
      const stepY = nodesToFace(j, leftY, axisY.nodes, field.edgeY, field.reciprocalY);
      leftY -= stepY;
      j = shift(j, stepY, axisY.nodes);
    }
    const stepZ = nodesToFace(z, leftZ, axisZ.nodes, field.edgeZ, field.reciprocalZ);
    leftZ -= stepZ;
    z = shift(z, stepZ, axisZ.nodes);
  }
  return length;
}

/**
 * Appends the bricks of separable schemes: of the boxes of all terms.
 *
 * @param first  of the interpolation's nodes, counted from the cell
 * @param low    first node of any term, counted from there, and
 * @param span   number of nodes to the last one
 * @param fields one record; its table is not used
 */
export function coverTensor(
  first: i32, low: i32, span: i32, axes: usize, terms: usize, termCount: i32, fields: usize, positions: usize,
  count: i32, marks: usize, list: usize, length: i32
): i32 {
  const axisX = changetype<Axis>(axes);
  const axisY = changetype<Axis>(axes + offsetof<Axis>());
  const axisZ = changetype<Axis>(axes + 2 * offsetof<Axis>());
  const field = changetype<Field>(fields);
  for (const end = positions + <usize>count * 24; positions < end; positions += 24) {
    const x = wrapAfter(Math.floor((load<f64>(positions) - axisX.origin) / axisX.spacing), first, axisX.nodes);
    const y = wrapAfter(Math.floor((load<f64>(positions, 8) - axisY.origin) / axisY.spacing), first, axisY.nodes);
    const z = wrapAfter(Math.floor((load<f64>(positions, 16) - axisZ.origin) / axisZ.spacing), first, axisZ.nodes);
    const lowX = shift(x, low, axisX.nodes);
    const lowY = shift(y, low, axisY.nodes);
    const lowZ = shift(z, low, axisZ.nodes);
    if (
      alone(lowX, span, axisX.nodes, field.edgeX, field.reciprocalX) &&
      alone(lowY, span, axisY.nodes, field.edgeY, field.reciprocalY) &&
      alone(lowZ, span, axisZ.nodes, field.edgeZ, field.reciprocalZ)
    ) {
      const brick = (
        brickOf(z, field.reciprocalZ) * field.countY + brickOf(y, field.reciprocalY)
      ) * field.countX + brickOf(x, field.reciprocalX);
      length = mark(brick, marks, list, length);
      continue;
    }
    for (let t = 0; t < termCount; t++) {
      const term = changetype<Term>(terms + t * offsetof<Term>());
      const startX = shift(x, term.startX, axisX.nodes);
      const startY = shift(y, term.startY, axisY.nodes);
      const startZ = shift(z, term.startZ, axisZ.nodes);
      length = markBox(
        field, axisX, axisY, axisZ, startX, startY, startZ, term.lengthX, term.lengthY, term.lengthZ, marks, list,
        length
      );
    }
  }
  return length;
}

/** Appends the bricks of nodal stencils: of the nodes of all taps, at most `reach` from the nearest node. */
export function coverNodal(
  reach: i32, axes: usize, taps: usize, tapCount: i32, fields: usize, positions: usize, count: i32, marks: usize,
  list: usize, length: i32
): i32 {
  const axisX = changetype<Axis>(axes);
  const axisY = changetype<Axis>(axes + offsetof<Axis>());
  const axisZ = changetype<Axis>(axes + 2 * offsetof<Axis>());
  const field = changetype<Field>(fields);
  const span = 2 * reach + 1;
  for (const end = positions + <usize>count * 24; positions < end; positions += 24) {
    const x = wrap(Math.floor((load<f64>(positions) - axisX.origin) / axisX.spacing + 0.5), axisX.nodes);
    const y = wrap(Math.floor((load<f64>(positions, 8) - axisY.origin) / axisY.spacing + 0.5), axisY.nodes);
    const z = wrap(Math.floor((load<f64>(positions, 16) - axisZ.origin) / axisZ.spacing + 0.5), axisZ.nodes);
    if (
      alone(shift(x, -reach, axisX.nodes), span, axisX.nodes, field.edgeX, field.reciprocalX) &&
      alone(shift(y, -reach, axisY.nodes), span, axisY.nodes, field.edgeY, field.reciprocalY) &&
      alone(shift(z, -reach, axisZ.nodes), span, axisZ.nodes, field.edgeZ, field.reciprocalZ)
    ) {
      const brick = (
        brickOf(z, field.reciprocalZ) * field.countY + brickOf(y, field.reciprocalY)
      ) * field.countX + brickOf(x, field.reciprocalX);
      length = mark(brick, marks, list, length);
      continue;
    }
    for (let t = 0; t < tapCount; t++) {
      const tap = changetype<Tap>(taps + t * offsetof<Tap>());
      const brickX = brickOf(shift(x, tap.x, axisX.nodes), field.reciprocalX);
      const brickY = brickOf(shift(y, tap.y, axisY.nodes), field.reciprocalY);
      const brickZ = brickOf(shift(z, tap.z, axisZ.nodes), field.reciprocalZ);
      length = mark((brickZ * field.countY + brickY) * field.countX + brickX, marks, list, length);
    }
  }
  return length;
}

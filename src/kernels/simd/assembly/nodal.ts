/**
 * Computes values and centred differences at the node nearest to a point: weighted sums of a few nodes, no others are
 * read.
 */
import { Axis, Field, Tap } from "./records";
import { brickOf, placeNodes, shift, wrap } from "./nodes";

/**
 * Places in the work area: nodes of a stencil along x, y and z when it lies in several bricks, and byte offsets in one
 * brick.
 */
const PLACES_X = 0;
const PLACES_Y = 128;
const PLACES_Z = 256;
const OFFSETS = 512;

/** The node nearest to a coordinate, a tie goes up, wrapped. */
// @ts-ignore: decorator
@inline
function nearest(axis: Axis, x: f64): i32 {
  return wrap(Math.floor((x - axis.origin) / axis.spacing + 0.5), axis.nodes);
}

/** Address of the node `tap` reaches from a stencil whose nodes are listed per axis. */
// @ts-ignore: decorator
@inline
function addressAcross(field: Field, tap: Tap, reach: i32, work: usize): usize {
  const x = work + PLACES_X + (<usize>(tap.x + reach) << 3);
  const y = work + PLACES_Y + (<usize>(tap.y + reach) << 3);
  const z = work + PLACES_Z + (<usize>(tap.z + reach) << 3);
  const brick = load<i32>(x) + load<i32>(y) + load<i32>(z);
  return (load<u32>(field.table + (<usize>brick << 2)) << 2) + load<i32>(x, 4) + load<i32>(y, 4) + load<i32>(z, 4);
}

/** Weighted sums of the stencil at one node; `at` is the address of the node, or 0 when places are listed instead. */
// @ts-ignore: decorator
@inline
function sumTaps(TRIPLE: bool, ACROSS: bool, field: Field, taps: usize, tapCount: i32, at: usize, reach: i32, slots: i32, out: usize, work: usize): void {
  let t = 0;
  for (let slot = 0; slot < slots; slot++) {
    let xy = f64x2.splat(0);
    let z: f64 = 0;
    for (; t < tapCount; t++) {
      const tap = changetype<Tap>(taps + t * offsetof<Tap>());
      if (tap.slot != slot) break;
      const p = ACROSS ? addressAcross(field, tap, reach, work) : at + load<i32>(work + OFFSETS + (<usize>t << 2));
      if (TRIPLE) {
        xy = f64x2.add(xy, f64x2.mul(f64x2.splat(tap.weight), f64x2.promote_low_f32x4(v128.load64_zero(p))));
        z += tap.weight * <f64>load<f32>(p, 8);
      } else {
        z += tap.weight * <f64>load<f32>(p);
      }
    }
    if (TRIPLE) {
      store<f64>(out + (<usize>slot << 3), f64x2.extract_lane(xy, 0));
      store<f64>(out + (<usize>(slots + slot) << 3), f64x2.extract_lane(xy, 1));
      store<f64>(out + (<usize>(2 * slots + slot) << 3), z);
    } else {
      store<f64>(out + (<usize>slot << 3), z);
    }
  }
}

/** The stencil at node (x, y, z) of one field. */
// @ts-ignore: decorator
@inline
function atNode(TRIPLE: bool, field: Field, axisX: Axis, axisY: Axis, axisZ: Axis, taps: usize, tapCount: i32, x: i32, y: i32, z: i32, reach: i32, slots: i32, out: usize, work: usize): void {
  const nodeBytes = TRIPLE ? 12 : 4;
  const rowBytes = nodeBytes * field.edgeX;
  const planeBytes = rowBytes * field.edgeY;
  const brickX = brickOf(x, field.reciprocalX);
  const brickY = brickOf(y, field.reciprocalY);
  const brickZ = brickOf(z, field.reciprocalZ);
  const localX = x - brickX * field.edgeX;
  const localY = y - brickY * field.edgeY;
  const localZ = z - brickZ * field.edgeZ;
  const inside =
    i32(localX >= reach) & i32(localY >= reach) & i32(localZ >= reach) &
    i32(localX + reach < field.edgeX) & i32(localY + reach < field.edgeY) & i32(localZ + reach < field.edgeZ) &
    i32(x + reach < axisX.nodes) & i32(y + reach < axisY.nodes) & i32(z + reach < axisZ.nodes);
  if (inside) {
    const base = load<u32>(field.table + (<usize>((brickZ * field.countY + brickY) * field.countX + brickX) << 2)) << 2;
    const at = base + localX * nodeBytes + localY * rowBytes + localZ * planeBytes;
    sumTaps(TRIPLE, false, field, taps, tapCount, at, reach, slots, out, work);
  } else {
    const length = 2 * reach + 1;
    placeNodes(work + PLACES_X, shift(x, -reach, axisX.nodes), length, axisX.nodes, field.edgeX, field.reciprocalX, 1, nodeBytes);
    placeNodes(work + PLACES_Y, shift(y, -reach, axisY.nodes), length, axisY.nodes, field.edgeY, field.reciprocalY, field.countX, rowBytes);
    placeNodes(work + PLACES_Z, shift(z, -reach, axisZ.nodes), length, axisZ.nodes, field.edgeZ, field.reciprocalZ, field.countX * field.countY, planeBytes);
    sumTaps(TRIPLE, true, field, taps, tapCount, 0, reach, slots, out, work);
  }
}

/**
 * Values of a nodal stencil at the nodes nearest to points, float64.
 *
 * @param reach largest distance of a tap from the node along any axis, at most 4
 * @param slots outputs per component of a field
 * @param out   `components` values a point, overwritten; fields one after the other, component-major
 * @param work  1 KiB of this thread
 */
export function nodal(reach: i32, axes: usize, taps: usize, tapCount: i32, slots: i32, fields: usize, fieldCount: i32, positions: usize, count: i32, out: usize, components: i32, work: usize): void {
  const axisX = changetype<Axis>(axes);
  const axisY = changetype<Axis>(axes + offsetof<Axis>());
  const axisZ = changetype<Axis>(axes + 2 * offsetof<Axis>());
  for (let f = 0; f < fieldCount; f++) {
    const field = changetype<Field>(fields + f * offsetof<Field>());
    const nodeBytes = field.components << 2;
    for (let t = 0; t < tapCount; t++) {
      const tap = changetype<Tap>(taps + t * offsetof<Tap>());
      store<i32>(work + OFFSETS + (<usize>t << 2), (tap.x + (tap.y + tap.z * field.edgeY) * field.edgeX) * nodeBytes);
    }
    for (let i = 0; i < count; i++) {
      const position = positions + <usize>i * 24;
      const x = nearest(axisX, load<f64>(position));
      const y = nearest(axisY, load<f64>(position, 8));
      const z = nearest(axisZ, load<f64>(position, 16));
      const at = out + (<usize>(i * components) << 3);
      if (field.components == 3) atNode(true, field, axisX, axisY, axisZ, taps, tapCount, x, y, z, reach, slots, at, work);
      else atNode(false, field, axisX, axisY, axisZ, taps, tapCount, x, y, z, reach, slots, at, work);
    }
    out += <usize>(field.components * slots) << 3;
  }
}

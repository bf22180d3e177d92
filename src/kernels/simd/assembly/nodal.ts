/**
 * Computes values and centred differences at the node nearest to a point: weighted sums of a few nodes, no others are
 * read.
 */
import { Axis, Field, Frames, Packet, Tap } from "./records";
import { brickOf, placeNodes, shift, wrap } from "./nodes";
import { inPacket, packetBytes } from "./packets";

/**
 * Places in the work area: nodes of a stencil along x, y and z when it lies in several bricks, and byte offsets in one
 * brick.
 */
const PLACES_X = 0;
const PLACES_Y = 128;
const PLACES_Z = 256;
const OFFSETS = 512;

/** Frames of a field: one, several in a packet of combined nodes, or four or fewer that are combined at each point. */
const ONE = 0;
const TOGETHER = 1;
const FOUR = 2;
const FEWER = 3;

/** The node nearest to a coordinate, a tie goes up, wrapped. */
// @ts-ignore: decorator
@inline
function nearest(axis: Axis, x: f64): i32 {
  return wrap(Math.floor((x - axis.origin) / axis.spacing + 0.5), axis.nodes);
}

/** Brick of the node that `tap` reaches from a stencil whose nodes are listed per axis. */
// @ts-ignore: decorator
@inline
function brickAcross(tap: Tap, reach: i32, work: usize): usize {
  const x = work + PLACES_X + (<usize>(tap.x + reach) << 3);
  const y = work + PLACES_Y + (<usize>(tap.y + reach) << 3);
  const z = work + PLACES_Z + (<usize>(tap.z + reach) << 3);
  return load<i32>(x) + load<i32>(y) + load<i32>(z);
}

/** Byte offset of that node in its brick. */
// @ts-ignore: decorator
@inline
function offsetAcross(tap: Tap, reach: i32, work: usize): usize {
  const x = work + PLACES_X + (<usize>(tap.x + reach) << 3);
  const y = work + PLACES_Y + (<usize>(tap.y + reach) << 3);
  const z = work + PLACES_Z + (<usize>(tap.z + reach) << 3);
  return load<i32>(x, 4) + load<i32>(y, 4) + load<i32>(z, 4);
}

/** Address of a brick in a frame. */
// @ts-ignore: decorator
@inline
function baseOf(table: usize, brick: usize): usize {
  return <usize>load<u32>(table + (brick << 2)) << 2;
}

/** The first two components of a node of two or three frames, or one, as `combine.ts` combines them. */
// @ts-ignore: decorator
@inline
function combinedPair(field: Field, frames: Frames, brick: usize, offset: usize): v128 {
  const count = frames.count;
  let sum = weighedPair(f64x2.splat(frames.weight0), baseOf(field.table, brick) + offset);
  if (count > 1) sum = f64x2.add(sum, weighedPair(f64x2.splat(frames.weight1), baseOf(field.table1, brick) + offset));
  if (count > 2) sum = f64x2.add(sum, weighedPair(f64x2.splat(frames.weight2), baseOf(field.table2, brick) + offset));
  return sum;
}

/** Two float32 values times a weight. */
// @ts-ignore: decorator
@inline
function weighedPair(weight: v128, at: usize): v128 {
  return f64x2.mul(weight, f64x2.promote_low_f32x4(v128.load64_zero(at)));
}

/** One component of such a node. */
// @ts-ignore: decorator
@inline
function combinedSingle(field: Field, frames: Frames, brick: usize, offset: usize): f64 {
  const count = frames.count;
  let sum = frames.weight0 * <f64>load<f32>(baseOf(field.table, brick) + offset);
  if (count > 1) sum += frames.weight1 * <f64>load<f32>(baseOf(field.table1, brick) + offset);
  if (count > 2) sum += frames.weight2 * <f64>load<f32>(baseOf(field.table2, brick) + offset);
  return sum;
}

/**
 * Weighted sums of the stencil at one node. ACROSS: its nodes are listed per axis; else the node is in `brick`, at byte
 * `at` of it. FRAMES: one, whose brick begins at address 0; several, that are combined here; or a packet of combined
 * nodes. What four frames have in common for all nodes, or for a node, is loaded once: each load repeated made a third
 * of the cost.
 */
// @ts-ignore: decorator
@inline
function sumTaps(
  TRIPLE: bool, ACROSS: bool, FRAMES: i32, field: Field, frames: Frames, taps: usize, tapCount: i32, brick: usize,
  at: usize, reach: i32, slots: i32, out: usize, work: usize
): void {
  const w0 = FRAMES == FOUR ? frames.weight0 : 0, w1 = FRAMES == FOUR ? frames.weight1 : 0;
  const w2 = FRAMES == FOUR ? frames.weight2 : 0, w3 = FRAMES == FOUR ? frames.weight3 : 0;
  const v0 = f64x2.splat(w0), v1 = f64x2.splat(w1), v2 = f64x2.splat(w2), v3 = f64x2.splat(w3);
  const ahead = FRAMES == FOUR && !ACROSS;
  let b0: usize = ahead ? baseOf(field.table, brick) : 0, b1: usize = ahead ? baseOf(field.table1, brick) : 0;
  let b2: usize = ahead ? baseOf(field.table2, brick) : 0, b3: usize = ahead ? baseOf(field.table3, brick) : 0;
  let t = 0;
  for (let slot = 0; slot < slots; slot++) {
    let xy = f64x2.splat(0);
    let z: f64 = 0;
    for (; t < tapCount; t++) {
      const tap = changetype<Tap>(taps + t * offsetof<Tap>());
      if (tap.slot != slot) break;
      const offset = ACROSS ? offsetAcross(tap, reach, work) : at + load<i32>(work + OFFSETS + (<usize>t << 2));
      const holder = ACROSS ? brickAcross(tap, reach, work) : brick;
      if (FRAMES == FOUR) {
        if (ACROSS) {
          b0 = baseOf(field.table, holder);
          b1 = baseOf(field.table1, holder);
          b2 = baseOf(field.table2, holder);
          b3 = baseOf(field.table3, holder);
        }
        const p = b0 + offset, q = b1 + offset, r = b2 + offset, s = b3 + offset;
        if (TRIPLE) {
          let pair = f64x2.add(weighedPair(v0, p), weighedPair(v1, q));
          pair = f64x2.add(pair, weighedPair(v2, r));
          pair = f64x2.add(pair, weighedPair(v3, s));
          xy = f64x2.add(xy, f64x2.mul(f64x2.splat(tap.weight), pair));
          z += tap.weight * (
            w0 * <f64>load<f32>(p, 8) + w1 * <f64>load<f32>(q, 8) + w2 * <f64>load<f32>(r, 8)
            + w3 * <f64>load<f32>(s, 8)
          );
        } else {
          z += tap.weight * (
            w0 * <f64>load<f32>(p) + w1 * <f64>load<f32>(q) + w2 * <f64>load<f32>(r) + w3 * <f64>load<f32>(s)
          );
        }
      } else if (FRAMES == FEWER) {
        if (TRIPLE) {
          xy = f64x2.add(xy, f64x2.mul(f64x2.splat(tap.weight), combinedPair(field, frames, holder, offset)));
          z += tap.weight * combinedSingle(field, frames, holder, offset + 8);
        } else {
          z += tap.weight * combinedSingle(field, frames, holder, offset);
        }
      } else if (FRAMES == TOGETHER) {
        if (TRIPLE) xy = f64x2.add(xy, f64x2.mul(f64x2.splat(tap.weight), v128.load(offset)));
        z += tap.weight * (TRIPLE ? load<f64>(offset, 16) : load<f64>(offset));
      } else {
        const p = ACROSS ? baseOf(field.table, holder) + offset : offset;
        if (TRIPLE) {
          xy = f64x2.add(xy, f64x2.mul(f64x2.splat(tap.weight), f64x2.promote_low_f32x4(v128.load64_zero(p))));
          z += tap.weight * <f64>load<f32>(p, 8);
        } else {
          z += tap.weight * <f64>load<f32>(p);
        }
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
function atNode(
  TRIPLE: bool, FRAMES: i32, field: Field, frames: Frames, axisX: Axis, axisY: Axis, axisZ: Axis, taps: usize,
  tapCount: i32, x: i32, y: i32, z: i32, reach: i32, slots: i32, out: usize, work: usize
): void {
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
    const brick: usize = (brickZ * field.countY + brickY) * field.countX + brickX;
    const base: usize = FRAMES == FOUR || FRAMES == FEWER ? 0 : baseOf(field.table, brick);
    const at = base + localX * nodeBytes + localY * rowBytes + localZ * planeBytes;
    sumTaps(TRIPLE, false, FRAMES, field, frames, taps, tapCount, brick, at, reach, slots, out, work);
  } else {
    const length = 2 * reach + 1;
    placeNodes(
      work + PLACES_X, shift(x, -reach, axisX.nodes), length, axisX.nodes, field.edgeX, field.reciprocalX, 1, nodeBytes
    );
    placeNodes(
      work + PLACES_Y, shift(y, -reach, axisY.nodes), length, axisY.nodes, field.edgeY, field.reciprocalY,
      field.countX, rowBytes
    );
    placeNodes(
      work + PLACES_Z, shift(z, -reach, axisZ.nodes), length, axisZ.nodes, field.edgeZ, field.reciprocalZ,
      field.countX * field.countY, planeBytes
    );
    sumTaps(TRIPLE, true, FRAMES, field, frames, taps, tapCount, 0, 0, reach, slots, out, work);
  }
}

/** The stencil at node (x, y, z) of one field, from the combined nodes of a packet. */
// @ts-ignore: decorator
@inline
function inCombined(
  TRIPLE: bool, field: Field, frames: Frames, packet: Packet, combined: usize, axisX: Axis, axisY: Axis, axisZ: Axis,
  taps: usize, tapCount: i32, x: i32, y: i32, z: i32, reach: i32, slots: i32, out: usize, work: usize
): void {
  const localX = inPacket(shift(x, -reach, axisX.nodes), packet.x, axisX.nodes) + reach;
  const localY = inPacket(shift(y, -reach, axisY.nodes), packet.y, axisY.nodes) + reach;
  const localZ = inPacket(shift(z, -reach, axisZ.nodes), packet.z, axisZ.nodes) + reach;
  const at = combined
    + (<usize>((localX + (localY + localZ * packet.lengthY) * packet.lengthX) * (TRIPLE ? 3 : 1)) << 3);
  sumTaps(TRIPLE, false, TOGETHER, field, frames, taps, tapCount, 0, at, reach, slots, out, work);
}

/** Stencils of one field at all points. */
// @ts-ignore: decorator
@inline
function atPoints(
  TRIPLE: bool, FRAMES: i32, field: Field, frames: Frames, packet: Packet, combined: usize, axes: usize, taps: usize,
  tapCount: i32, positions: usize, count: i32, reach: i32, slots: i32, out: usize, components: i32, work: usize
): void {
  const axisX = changetype<Axis>(axes);
  const axisY = changetype<Axis>(axes + offsetof<Axis>());
  const axisZ = changetype<Axis>(axes + 2 * offsetof<Axis>());
  for (let i = 0; i < count; i++) {
    const position = positions + <usize>i * 24;
    const x = nearest(axisX, load<f64>(position));
    const y = nearest(axisY, load<f64>(position, 8));
    const z = nearest(axisZ, load<f64>(position, 16));
    const at = out + (<usize>(i * components) << 3);
    if (FRAMES == TOGETHER) inCombined(
      TRIPLE, field, frames, packet, combined, axisX, axisY, axisZ, taps, tapCount, x, y, z, reach, slots, at, work
    );
    else atNode(TRIPLE, FRAMES, field, frames, axisX, axisY, axisZ, taps, tapCount, x, y, z, reach, slots, at, work);
  }
}

/**
 * Values of a nodal stencil at the nodes nearest to points, float64.
 *
 * @param reach  largest distance of a tap from the node along any axis, at most 4
 * @param slots  outputs per component of a field
 * @param frames how frames are combined; 0: there is one
 * @param packet the points are together in this packet; 0: each is combined alone
 * @param out    `components` values a point, overwritten; fields one after the other, component-major
 * @param work   1 KiB of this thread
 */
export function nodal(
  reach: i32, frames: usize, packet: usize, axes: usize, taps: usize, tapCount: i32, slots: i32, fields: usize,
  fieldCount: i32, positions: usize, count: i32, out: usize, components: i32, work: usize
): void {
  const weights = changetype<Frames>(frames);
  const box = changetype<Packet>(packet);
  let combined = packet ? weights.nodes : 0;
  for (let f = 0; f < fieldCount; f++) {
    const field = changetype<Field>(fields + f * offsetof<Field>());
    const edgeX = packet ? box.lengthX : field.edgeX;
    const edgeY = packet ? box.lengthY : field.edgeY;
    const nodeBytes = field.components << (packet ? 3 : 2);
    for (let t = 0; t < tapCount; t++) {
      const tap = changetype<Tap>(taps + t * offsetof<Tap>());
      store<i32>(work + OFFSETS + (<usize>t << 2), (tap.x + (tap.y + tap.z * edgeY) * edgeX) * nodeBytes);
    }
    if (field.components == 3) {
      if (packet) atPoints(
        true, TOGETHER, field, weights, box, combined, axes, taps, tapCount, positions, count, reach, slots, out,
        components, work
      );
      else if (frames && weights.count == 4) atPoints(
        true, FOUR, field, weights, box, 0, axes, taps, tapCount, positions, count, reach, slots, out, components, work
      );
      else if (frames) atPoints(
        true, FEWER, field, weights, box, 0, axes, taps, tapCount, positions, count, reach, slots, out, components,
        work
      );
      else atPoints(
        true, ONE, field, weights, box, 0, axes, taps, tapCount, positions, count, reach, slots, out, components, work
      );
    } else {
      if (packet) atPoints(
        false, TOGETHER, field, weights, box, combined, axes, taps, tapCount, positions, count, reach, slots, out,
        components, work
      );
      else if (frames && weights.count == 4) atPoints(
        false, FOUR, field, weights, box, 0, axes, taps, tapCount, positions, count, reach, slots, out, components,
        work
      );
      else if (frames) atPoints(
        false, FEWER, field, weights, box, 0, axes, taps, tapCount, positions, count, reach, slots, out, components,
        work
      );
      else atPoints(
        false, ONE, field, weights, box, 0, axes, taps, tapCount, positions, count, reach, slots, out, components, work
      );
    }
    if (packet) combined += packetBytes(box, field);
    out += <usize>(field.components * slots) << 3;
  }
}

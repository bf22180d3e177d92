/** Computes values and centred differences at the node nearest to a point, as weighted sums of a few nodes. */
import { Axis, Field, Frames, Packet, Tap } from "./records";
import { brickOf, placeNodes, shift, storeFirstNodes } from "./nodes";
import { inPacket, packetBytes } from "./packets";

/** Points whose nodes are found before any of them is read: an even number, since `findNodes` takes two at a time. */
const POINTS = 16;
/** Bytes of the place of a node: its brick, its offset there, and a number below 0 if its stencil leaves the brick. */
const PLACE_BYTES = 12;

/** A tap with what does not depend on the point. */
@unmanaged
class Prepared {
  weight: f64;
  output: i32;
  /** Bytes from the point's node, in a brick or in a packet. */
  offset: i32;
  /** Addresses of its places along x, y and z. */
  placeX: usize;
  placeY: usize;
  placeZ: usize;
}

/**
 * Byte offsets in the work area: places of a stencil along x, y and z when it lies in several bricks, nodes of the
 * points at hand and their places, and prepared taps.
 */
const PLACES_X = 0;
const PLACES_Y = 128;
const PLACES_Z = 256;
const NODES = 384;
const PLACES = NODES + 12 * POINTS;
const PREPARED = 1024;

/** Frames of a field: one; several, in a packet of combined nodes; four, or fewer, that are combined at each point. */
const ONE = 0;
const TOGETHER = 1;
const FOUR = 2;
const FEWER = 3;

/** Finds the nodes nearest to points along one axis, two points at a time (a lone last one twice); a tie goes up. */
// @ts-ignore: decorator
@inline
function findNodes(axis: Axis, positions: usize, count: i32, nodes: usize): void {
  const origin = v128.load64_splat(changetype<usize>(axis));
  const spacing = v128.load64_splat(changetype<usize>(axis), 8);
  for (let i = 0; i < count; i += 2) {
    const other = positions + (i + 1 < count ? 24 : 0);
    const x = v128.load64_lane(other, v128.load64_zero(positions), 1);
    const s = f64x2.div(f64x2.sub(x, origin), spacing);
    storeFirstNodes(f64x2.floor(f64x2.add(s, f64x2.splat(0.5))), 0, axis.nodes, nodes);
    positions += 48;
    nodes += 24;
  }
}

/** Prepares the taps: `edgeX` and `edgeY` are those of a brick or of a packet. */
function prepareTaps(
  taps: usize, tapCount: i32, reach: i32, nodeBytes: i32, edgeX: i32, edgeY: i32, work: usize
): void {
  let prepared = work + PREPARED;
  for (let t = 0; t < tapCount; t++) {
    const tap = changetype<Tap>(taps + t * offsetof<Tap>());
    const to = changetype<Prepared>(prepared);
    to.weight = tap.weight;
    to.output = tap.output;
    to.offset = (tap.x + (tap.y + tap.z * edgeY) * edgeX) * nodeBytes;
    to.placeX = work + PLACES_X + (<usize>(tap.x + reach) << 3);
    to.placeY = work + PLACES_Y + (<usize>(tap.y + reach) << 3);
    to.placeZ = work + PLACES_Z + (<usize>(tap.z + reach) << 3);
    prepared += offsetof<Prepared>();
  }
}

/** Finds the places of the nodes of the points at hand. */
// @ts-ignore: decorator
@inline
function findPlaces(
  field: Field, nodeBytes: i32, reach: i32, axisX: Axis, axisY: Axis, axisZ: Axis, count: i32, work: usize
): void {
  const rowBytes = nodeBytes * field.edgeX;
  const planeBytes = rowBytes * field.edgeY;
  let nodes = work + NODES;
  let place = work + PLACES;
  for (let i = 0; i < count; i++) {
    const x = load<i32>(nodes);
    const y = load<i32>(nodes, 4);
    const z = load<i32>(nodes, 8);
    const brickX = brickOf(x, field.reciprocalX);
    const brickY = brickOf(y, field.reciprocalY);
    const brickZ = brickOf(z, field.reciprocalZ);
    const localX = x - brickX * field.edgeX;
    const localY = y - brickY * field.edgeY;
    const localZ = z - brickZ * field.edgeZ;
    // Negative if the stencil leaves the brick or crosses the seam.
    const inside = (localX - reach) | (localY - reach) | (localZ - reach)
      | (field.edgeX - 1 - reach - localX) | (field.edgeY - 1 - reach - localY) | (field.edgeZ - 1 - reach - localZ)
      | (axisX.nodes - 1 - reach - x) | (axisY.nodes - 1 - reach - y) | (axisZ.nodes - 1 - reach - z);
    store<i32>(place, (brickZ * field.countY + brickY) * field.countX + brickX);
    store<i32>(place, localX * nodeBytes + localY * rowBytes + localZ * planeBytes, 4);
    store<i32>(place, inside, 8);
    nodes += 12;
    place += PLACE_BYTES;
  }
}

/** The place of a tap's node: its brick in the low half, its byte offset there in the high half. */
// @ts-ignore: decorator
@inline
function placeOf(tap: Prepared): u64 {
  return load<u64>(tap.placeX) + load<u64>(tap.placeY) + load<u64>(tap.placeZ);
}

/** Address of a brick in a frame. */
// @ts-ignore: decorator
@inline
function baseOf(table: usize, brick: usize): usize {
  return <usize>load<u32>(table + (brick << 2)) << 2;
}

/** The first two components of a node, combined from up to three frames in the order of `combine.ts`. */
// @ts-ignore: decorator
@inline
function combinedPair(field: Field, frames: Frames, brick: usize, offset: usize): v128 {
  const count = frames.count;
  let sum = weightedPair(f64x2.splat(frames.weight0), baseOf(field.table, brick) + offset);
  if (count > 1) sum = f64x2.add(sum, weightedPair(f64x2.splat(frames.weight1), baseOf(field.table1, brick) + offset));
  if (count > 2) sum = f64x2.add(sum, weightedPair(f64x2.splat(frames.weight2), baseOf(field.table2, brick) + offset));
  return sum;
}

/** Two float32 values times a weight. */
// @ts-ignore: decorator
@inline
function weightedPair(weight: v128, at: usize): v128 {
  return f64x2.mul(weight, f64x2.promote_low_f32x4(v128.load64_zero(at)));
}

/** One component of a node, combined likewise. */
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
 * Sums the stencil around the node at `at` in one frame or, if WIDE, among combined nodes. If ACROSS, the stencil lies
 * in several bricks: `placeStencil` has found its places, and `at` is not used.
 */
// @ts-ignore: decorator
@inline
function sumOne(
  TRIPLE: bool, ACROSS: bool, WIDE: bool, field: Field, tapCount: i32, at: usize, outputs: i32, out: usize,
  work: usize
): void {
  let taps = work + PREPARED;
  const end = taps + tapCount * offsetof<Prepared>();
  for (let output = 0; output < outputs; output++) {
    let xy = f64x2.splat(0);
    let z: f64 = 0;
    for (; taps < end; taps += offsetof<Prepared>()) {
      const tap = changetype<Prepared>(taps);
      if (tap.output != output) break;
      let p = at;
      if (ACROSS) {
        const place = placeOf(tap);
        p = baseOf(field.table, <u32>place) + <usize>(place >> 32);
      } else {
        p += tap.offset;
      }
      if (TRIPLE) {
        const pair = WIDE ? v128.load(p) : f64x2.promote_low_f32x4(v128.load64_zero(p));
        xy = f64x2.add(xy, f64x2.mul(f64x2.splat(tap.weight), pair));
        z += tap.weight * (WIDE ? load<f64>(p, 16) : <f64>load<f32>(p, 8));
      } else {
        z += tap.weight * (WIDE ? load<f64>(p) : <f64>load<f32>(p));
      }
    }
    storeOutput(TRIPLE, xy, z, output, outputs, out);
  }
}

/** Stores an output of every component. */
// @ts-ignore: decorator
@inline
function storeOutput(TRIPLE: bool, xy: v128, z: f64, output: i32, outputs: i32, out: usize): void {
  if (TRIPLE) {
    store<f64>(out + (<usize>output << 3), f64x2.extract_lane(xy, 0));
    store<f64>(out + (<usize>(outputs + output) << 3), f64x2.extract_lane(xy, 1));
    store<f64>(out + (<usize>(2 * outputs + output) << 3), z);
  } else {
    store<f64>(out + (<usize>output << 3), z);
  }
}

/** As `sumOne`, of up to three frames, which are combined node by node. */
// @ts-ignore: decorator
@inline
function sumFewer(
  TRIPLE: bool, ACROSS: bool, field: Field, frames: Frames, tapCount: i32, brick: usize, inner: usize, outputs: i32,
  out: usize, work: usize
): void {
  let taps = work + PREPARED;
  const end = taps + tapCount * offsetof<Prepared>();
  for (let output = 0; output < outputs; output++) {
    let xy = f64x2.splat(0);
    let z: f64 = 0;
    for (; taps < end; taps += offsetof<Prepared>()) {
      const tap = changetype<Prepared>(taps);
      if (tap.output != output) break;
      const place = ACROSS ? placeOf(tap) : 0;
      const holder = ACROSS ? <usize><u32>place : brick;
      const offset = ACROSS ? <usize>(place >> 32) : inner + tap.offset;
      if (TRIPLE) {
        xy = f64x2.add(xy, f64x2.mul(f64x2.splat(tap.weight), combinedPair(field, frames, holder, offset)));
        z += tap.weight * combinedSingle(field, frames, holder, offset + 8);
      } else {
        z += tap.weight * combinedSingle(field, frames, holder, offset);
      }
    }
    storeOutput(TRIPLE, xy, z, output, outputs, out);
  }
}

/** As `sumOne`, of four frames; `b0` to `b3` are addresses of the point's node or, if ACROSS, of the brick tables. */
// @ts-ignore: decorator
@inline
function sumFour(
  TRIPLE: bool, ACROSS: bool, frames: Frames, tapCount: i32, b0: usize, b1: usize, b2: usize, b3: usize, outputs: i32,
  out: usize, work: usize
): void {
  const w0 = frames.weight0, w1 = frames.weight1, w2 = frames.weight2, w3 = frames.weight3;
  const v0 = f64x2.splat(w0), v1 = f64x2.splat(w1), v2 = f64x2.splat(w2), v3 = f64x2.splat(w3);
  let taps = work + PREPARED;
  const end = taps + tapCount * offsetof<Prepared>();
  for (let output = 0; output < outputs; output++) {
    let xy = f64x2.splat(0);
    let z: f64 = 0;
    for (; taps < end; taps += offsetof<Prepared>()) {
      const tap = changetype<Prepared>(taps);
      if (tap.output != output) break;
      const place = ACROSS ? placeOf(tap) : 0;
      const offset = ACROSS ? <usize>(place >> 32) : <usize>tap.offset;
      const brick = <usize><u32>place;
      const p = (ACROSS ? baseOf(b0, brick) : b0) + offset, q = (ACROSS ? baseOf(b1, brick) : b1) + offset;
      const r = (ACROSS ? baseOf(b2, brick) : b2) + offset, s = (ACROSS ? baseOf(b3, brick) : b3) + offset;
      if (TRIPLE) {
        let pair = f64x2.add(weightedPair(v0, p), weightedPair(v1, q));
        pair = f64x2.add(pair, weightedPair(v2, r));
        pair = f64x2.add(pair, weightedPair(v3, s));
        xy = f64x2.add(xy, f64x2.mul(f64x2.splat(tap.weight), pair));
        z += tap.weight * (
          w0 * <f64>load<f32>(p, 8) + w1 * <f64>load<f32>(q, 8) + w2 * <f64>load<f32>(r, 8) + w3 * <f64>load<f32>(s, 8)
        );
      } else {
        z += tap.weight * (
          w0 * <f64>load<f32>(p) + w1 * <f64>load<f32>(q) + w2 * <f64>load<f32>(r) + w3 * <f64>load<f32>(s)
        );
      }
    }
    storeOutput(TRIPLE, xy, z, output, outputs, out);
  }
}

/** Finds the places along each axis of a stencil that lies in several bricks. */
// @ts-ignore: decorator
@inline
function placeStencil(
  field: Field, nodeBytes: i32, axisX: Axis, axisY: Axis, axisZ: Axis, x: i32, y: i32, z: i32, reach: i32, work: usize
): void {
  const length = 2 * reach + 1;
  const rowBytes = nodeBytes * field.edgeX;
  placeNodes(
    work + PLACES_X, shift(x, -reach, axisX.nodes), length, axisX.nodes, field.edgeX, field.reciprocalX, 1, nodeBytes
  );
  placeNodes(
    work + PLACES_Y, shift(y, -reach, axisY.nodes), length, axisY.nodes, field.edgeY, field.reciprocalY,
    field.countX, rowBytes
  );
  placeNodes(
    work + PLACES_Z, shift(z, -reach, axisZ.nodes), length, axisZ.nodes, field.edgeZ, field.reciprocalZ,
    field.countX * field.countY, rowBytes * field.edgeY
  );
}

/** Sums the stencils of one field at the points at hand. */
// @ts-ignore: decorator
@inline
function sumAtPoints(
  TRIPLE: bool, FRAMES: i32, field: Field, frames: Frames, packet: Packet, combined: usize, axisX: Axis, axisY: Axis,
  axisZ: Axis, tapCount: i32, count: i32, reach: i32, outputs: i32, out: usize, components: i32, work: usize
): void {
  const nodeBytes = TRIPLE ? 12 : 4;
  if (FRAMES != TOGETHER) findPlaces(field, nodeBytes, reach, axisX, axisY, axisZ, count, work);
  let nodes = work + NODES;
  let place = work + PLACES;
  for (let i = 0; i < count; i++) {
    const x = load<i32>(nodes);
    const y = load<i32>(nodes, 4);
    const z = load<i32>(nodes, 8);
    if (FRAMES == TOGETHER) {
      const localX = inPacket(shift(x, -reach, axisX.nodes), packet.x, axisX.nodes) + reach;
      const localY = inPacket(shift(y, -reach, axisY.nodes), packet.y, axisY.nodes) + reach;
      const localZ = inPacket(shift(z, -reach, axisZ.nodes), packet.z, axisZ.nodes) + reach;
      const at = combined
        + (<usize>((localX + (localY + localZ * packet.lengthY) * packet.lengthX) * (TRIPLE ? 3 : 1)) << 3);
      sumOne(TRIPLE, false, true, field, tapCount, at, outputs, out, work);
    } else {
      const brick = <usize>load<i32>(place);
      const inner = load<i32>(place, 4);
      const inside = load<i32>(place, 8) >= 0;
      if (!inside) placeStencil(field, nodeBytes, axisX, axisY, axisZ, x, y, z, reach, work);
      if (FRAMES == FOUR) {
        if (inside) sumFour(
          TRIPLE, false, frames, tapCount, baseOf(field.table, brick) + inner, baseOf(field.table1, brick) + inner,
          baseOf(field.table2, brick) + inner, baseOf(field.table3, brick) + inner, outputs, out, work
        );
        else sumFour(
          TRIPLE, true, frames, tapCount, field.table, field.table1, field.table2, field.table3, outputs, out, work
        );
      } else if (FRAMES == FEWER) {
        if (inside) sumFewer(TRIPLE, false, field, frames, tapCount, brick, inner, outputs, out, work);
        else sumFewer(TRIPLE, true, field, frames, tapCount, 0, 0, outputs, out, work);
      } else {
        const at = baseOf(field.table, brick) + inner;
        if (inside) sumOne(TRIPLE, false, false, field, tapCount, at, outputs, out, work);
        else sumOne(TRIPLE, true, false, field, tapCount, 0, outputs, out, work);
      }
    }
    out += <usize>components << 3;
    nodes += 12;
    place += PLACE_BYTES;
  }
}

/** Sums the stencils of all fields at all points, in FRAMES. */
// @ts-ignore: decorator
@inline
function sumFields(
  FRAMES: i32, reach: i32, frames: Frames, packet: Packet, axes: usize, taps: usize, tapCount: i32, outputs: i32,
  fields: usize, fieldCount: i32, positions: usize, count: i32, out: usize, components: i32, work: usize
): void {
  const axisX = changetype<Axis>(axes);
  const axisY = changetype<Axis>(axes + offsetof<Axis>());
  const axisZ = changetype<Axis>(axes + 2 * offsetof<Axis>());
  let combined: usize = FRAMES == TOGETHER ? frames.nodes : 0;
  for (let f = 0; f < fieldCount; f++) {
    const field = changetype<Field>(fields + f * offsetof<Field>());
    const edgeX = FRAMES == TOGETHER ? packet.lengthX : field.edgeX;
    const edgeY = FRAMES == TOGETHER ? packet.lengthY : field.edgeY;
    prepareTaps(taps, tapCount, reach, field.components << (FRAMES == TOGETHER ? 3 : 2), edgeX, edgeY, work);
    let to = out;
    for (let first = 0; first < count; first += POINTS) {
      const length = min(POINTS, count - first);
      const position = positions + <usize>first * 24;
      findNodes(axisX, position, length, work + NODES);
      findNodes(axisY, position + 8, length, work + NODES + 4);
      findNodes(axisZ, position + 16, length, work + NODES + 8);
      if (field.components == 3) sumAtPoints(
        true, FRAMES, field, frames, packet, combined, axisX, axisY, axisZ, tapCount, length, reach, outputs, to,
        components, work
      );
      else sumAtPoints(
        false, FRAMES, field, frames, packet, combined, axisX, axisY, axisZ, tapCount, length, reach, outputs, to,
        components, work
      );
      to += <usize>(components * POINTS) << 3;
    }
    if (FRAMES == TOGETHER) combined += packetBytes(packet, field);
    out += <usize>(field.components * outputs) << 3;
  }
}

/**
 * Computes the outputs of a nodal stencil at the nodes nearest to points, in float64.
 *
 * @param reach  largest distance of a tap from the node along any axis, at most 4
 * @param outputs  outputs per component of a field
 * @param frames address of the weights of frames; 0: there is one frame
 * @param packet address of the packet that holds all points; 0: frames are combined for each point alone
 * @param out    `components` values per point, overwritten; fields one after the other, component-major
 * @param work   4 KiB of this thread
 */
export function nodal(
  reach: i32, frames: usize, packet: usize, axes: usize, taps: usize, tapCount: i32, outputs: i32, fields: usize,
  fieldCount: i32, positions: usize, count: i32, out: usize, components: i32, work: usize
): void {
  const weights = changetype<Frames>(frames);
  const box = changetype<Packet>(packet);
  if (packet) sumFields(
    TOGETHER, reach, weights, box, axes, taps, tapCount, outputs, fields, fieldCount, positions, count, out, components,
    work
  );
  else if (frames && weights.count == 4) sumFields(
    FOUR, reach, weights, box, axes, taps, tapCount, outputs, fields, fieldCount, positions, count, out, components,
    work
  );
  else if (frames) sumFields(
    FEWER, reach, weights, box, axes, taps, tapCount, outputs, fields, fieldCount, positions, count, out, components,
    work
  );
  else sumFields(
    ONE, reach, weights, box, axes, taps, tapCount, outputs, fields, fieldCount, positions, count, out, components, work
  );
}

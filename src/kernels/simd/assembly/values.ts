/** Interpolates values at points: the kernel that most queries and all particles use. */
import { ACROSS_BYTES, addAcross, addFrames } from "./box";
import { combineInto } from "./combine";
import { Axis, Field, Frames, Packet } from "./records";
import { addBox, addWide } from "./rows";
import { brickOf, storeFirstNodes } from "./nodes";
import { inPacket, packetBytes } from "./packets";
import { weighSpline } from "./spline";
import { lagrange } from "./weights";

/** Points whose first nodes and weights are computed before any node is read; even. */
const POINTS = 16;
/** Bytes of one weight vector, and of the three of a point. */
const VECTOR = 64;
const VECTORS = 3 * VECTOR;

/** Places in the work area. */
const SUMS = 0;
const ACROSS = 192;
const NODES = ACROSS + ACROSS_BYTES;
const BOXES = NODES + 12 * POINTS;
const TOUCHED = BOXES + 4 * POINTS;
const WEIGHTS = TOUCHED + 64;

/** Frames of a field: one, or several that are combined for all points at hand together, or for each apart. */
const ONE = 0;
const TOGETHER = 1;
const APART = 2;

/** First nodes and weights along one axis, two points at a time; a lone last point is taken twice. */
// @ts-ignore: decorator
@inline
function weighAxis(ORDER: i32, axis: Axis, positions: usize, count: i32, nodes: usize, weights: usize): void {
  const origin = v128.load64_splat(changetype<usize>(axis));
  const spacing = v128.load64_splat(changetype<usize>(axis), 8);
  for (let i = 0; i < count; i += 2) {
    const other = positions + (i + 1 < count ? 24 : 0);
    const s = f64x2.div(f64x2.sub(v128.load64_lane(other, v128.load64_zero(positions), 1), origin), spacing);
    const cell = f64x2.floor(s);
    lagrange(ORDER, f64x2.sub(s, cell), weights, weights + VECTORS);
    storeFirstNodes(cell, (ORDER >> 1) - 1, axis.nodes, nodes);
    positions += 48;
    nodes += 24;
    weights += 2 * VECTORS;
  }
}

/**
 * Values of one field, `SIZE` components a node, at the points at hand. AHEAD: the rows of all their boxes are touched
 * first, so that the memory fetches for one point what the next ones need.
 */
// @ts-ignore: decorator
@inline
function valuesAt(
  ORDER: i32, SIZE: i32, AHEAD: bool, field: Field, axisX: Axis, axisY: Axis, axisZ: Axis, count: i32, out: usize,
  stride: usize, work: usize
): void {
  const rowBytes = (field.edgeX * SIZE) << 2;
  const planeBytes = rowBytes * field.edgeY;
  const lastX = field.edgeX - ORDER;
  const lastY = field.edgeY - ORDER;
  const lastZ = field.edgeZ - ORDER;
  const endX = axisX.nodes - ORDER;
  const endY = axisY.nodes - ORDER;
  const endZ = axisZ.nodes - ORDER;
  let nodes = work + NODES;
  let boxes = work + BOXES;
  let touched = 0;
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
    // Negative when the stencil passes a face or the seam.
    const inside = (lastX - localX) | (lastY - localY) | (lastZ - localZ) | (endX - x) | (endY - y) | (endZ - z);
    const base = load<u32>(field.table + (<usize>((brickZ * field.countY + brickY) * field.countX + brickX) << 2)) << 2;
    const at = base + ((localX * SIZE) << 2) + localY * rowBytes + localZ * planeBytes;
    store<u32>(boxes, select<u32>(at, 0, inside >= 0));
    if (AHEAD && inside >= 0) {
      let plane = at;
      for (let k = 0; k < ORDER; k++) {
        let row = plane;
        for (let j = 0; j < ORDER; j++) {
          touched |= load<u8>(row) | load<u8>(row + (((ORDER * SIZE) << 2) - 1));
          row += rowBytes;
        }
        plane += planeBytes;
      }
    }
    nodes += 12;
    boxes += 4;
  }
  // Kept, so that no compiler leaves the loads out.
  if (AHEAD) store<i32>(work + TOUCHED, touched);
  let w = work + WEIGHTS;
  nodes = work + NODES;
  boxes = work + BOXES;
  for (let i = 0; i < count; i++) {
    const at = load<u32>(boxes);
    if (at) {
      addBox(ORDER * SIZE, at, rowBytes, planeBytes, w + VECTOR, ORDER, w + 2 * VECTOR, ORDER, work + SUMS);
    } else {
      const x = load<i32>(nodes);
      const y = load<i32>(nodes, 4);
      const z = load<i32>(nodes, 8);
      addAcross(
        field, axisX, axisY, axisZ, x, ORDER, y, ORDER, z, ORDER, w + VECTOR, w + 2 * VECTOR, work + ACROSS,
        work + SUMS
      );
    }
    if (SIZE == 3) storeTriple(ORDER, work + SUMS, w, out);
    else store<f64>(out, sumSingle(ORDER, work + SUMS, w));
    out += stride;
    nodes += 12;
    boxes += 4;
    w += VECTORS;
  }
}

/**
 * Values of one field, combined of frames, at the points at hand. TOGETHER: the nodes of the packet are combined
 * already; else those of each point are combined first, with weights of its own if there are any at `each`.
 */
// @ts-ignore: decorator
@inline
function combinedAt(
  ORDER: i32, SIZE: i32, TOGETHER: bool, field: Field, frames: Frames, packet: Packet, combined: usize, axisX: Axis,
  axisY: Axis, axisZ: Axis, count: i32, each: usize, out: usize, stride: usize, work: usize
): void {
  const rowBytes = TOGETHER ? (packet.lengthX * SIZE) << 3 : (ORDER * SIZE) << 3;
  const planeBytes = TOGETHER ? rowBytes * packet.lengthY : rowBytes * ORDER;
  let nodes = work + NODES;
  let w = work + WEIGHTS;
  for (let i = 0; i < count; i++) {
    let x = load<i32>(nodes);
    let y = load<i32>(nodes, 4);
    let z = load<i32>(nodes, 8);
    let at = combined;
    if (TOGETHER) {
      x = inPacket(x, packet.x, axisX.nodes);
      y = inPacket(y, packet.y, axisY.nodes);
      z = inPacket(z, packet.z, axisZ.nodes);
      at += ((x * SIZE) << 3) + y * rowBytes + z * planeBytes;
    } else if (each) {
      const weights = changetype<usize>(frames);
      v128.store(weights, v128.load(each));
      v128.store(weights, v128.load(each, 16), 16);
      each += 32;
    }
    if (!TOGETHER && frames.count == 4) {
      addFrames(
        field, frames, axisX, axisY, axisZ, x, ORDER, y, ORDER, z, ORDER, w + VECTOR, w + 2 * VECTOR, work + ACROSS,
        work + SUMS
      );
    } else {
      if (!TOGETHER) combineInto(
        field, frames, axisX, axisY, axisZ, x, y, z, ORDER, ORDER, ORDER, at, rowBytes, planeBytes
      );
      addWide(ORDER, SIZE, at, rowBytes, planeBytes, w + VECTOR, ORDER, w + 2 * VECTOR, ORDER, work + SUMS);
    }
    if (SIZE == 3) storeTriple(ORDER, work + SUMS, w, out);
    else store<f64>(out, sumSingle(ORDER, work + SUMS, w));
    out += stride;
    nodes += 12;
    w += VECTORS;
  }
}

/** Sums along x of interleaved triples. */
// @ts-ignore: decorator
@inline
function storeTriple(ORDER: i32, sums: usize, w: usize, out: usize): void {
  let first = f64x2.splat(0), second = first, third = first;
  for (let i = 0; i < ORDER; i += 2) {
    first = f64x2.add(first, f64x2.mul(v128.load(sums), v128.load64_splat(w)));
    second = f64x2.add(second, f64x2.mul(v128.load(sums, 16), v128.load(w)));
    third = f64x2.add(third, f64x2.mul(v128.load(sums, 32), v128.load64_splat(w, 8)));
    sums += 48;
    w += 16;
  }
  store<f64>(out, f64x2.extract_lane(first, 0) + f64x2.extract_lane(second, 1));
  store<f64>(out, f64x2.extract_lane(first, 1) + f64x2.extract_lane(third, 0), 8);
  store<f64>(out, f64x2.extract_lane(second, 0) + f64x2.extract_lane(third, 1), 16);
}

/** Sum along x of single values. */
// @ts-ignore: decorator
@inline
function sumSingle(ORDER: i32, sums: usize, w: usize): f64 {
  let sum = f64x2.splat(0);
  for (let i = 0; i < ORDER; i += 2) {
    sum = f64x2.add(sum, f64x2.mul(v128.load(sums), v128.load(w)));
    sums += 16;
    w += 16;
  }
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
}

// @ts-ignore: decorator
@inline
function interpolate(
  ORDER: i32, AHEAD: bool, FRAMES: i32, frames: usize, packet: usize, table: usize, degree: i32, axes: usize,
  fields: usize, fieldCount: i32, positions: usize, count: i32, out: usize, components: i32, work: usize
): void {
  const axisX = changetype<Axis>(axes);
  const axisY = changetype<Axis>(axes + offsetof<Axis>());
  const axisZ = changetype<Axis>(axes + 2 * offsetof<Axis>());
  const stride = <usize>components << 3;
  let each: usize = FRAMES == APART ? changetype<Frames>(frames).each : 0;
  for (let first = 0; first < count; first += POINTS) {
    const length = min(POINTS, count - first);
    if (table) {
      weighSpline(ORDER, 1, table, degree, axisX, positions, length, work + NODES, work + WEIGHTS, VECTOR, VECTORS);
      weighSpline(
        ORDER, 1, table, degree, axisY, positions + 8, length, work + NODES + 4, work + WEIGHTS + VECTOR, VECTOR,
        VECTORS
      );
      weighSpline(
        ORDER, 1, table, degree, axisZ, positions + 16, length, work + NODES + 8, work + WEIGHTS + 2 * VECTOR, VECTOR,
        VECTORS
      );
    } else {
      weighAxis(ORDER, axisX, positions, length, work + NODES, work + WEIGHTS);
      weighAxis(ORDER, axisY, positions + 8, length, work + NODES + 4, work + WEIGHTS + VECTOR);
      weighAxis(ORDER, axisZ, positions + 16, length, work + NODES + 8, work + WEIGHTS + 2 * VECTOR);
    }
    let output = out;
    let combined: usize = FRAMES == ONE ? 0 : changetype<Frames>(frames).nodes;
    for (let f = 0; f < fieldCount; f++) {
      const field = changetype<Field>(fields + f * offsetof<Field>());
      if (FRAMES != ONE) {
        const weights = changetype<Frames>(frames);
        const box = changetype<Packet>(packet);
        if (field.components == 3) combinedAt(
          ORDER, 3, FRAMES == TOGETHER, field, weights, box, combined, axisX, axisY, axisZ, length, each, output,
          stride, work
        );
        else combinedAt(
          ORDER, 1, FRAMES == TOGETHER, field, weights, box, combined, axisX, axisY, axisZ, length, each, output,
          stride, work
        );
        if (FRAMES == TOGETHER) combined += packetBytes(box, field);
      } else if (field.components == 3) valuesAt(
        ORDER, 3, AHEAD, field, axisX, axisY, axisZ, length, output, stride, work
      );
      else valuesAt(ORDER, 1, AHEAD, field, axisX, axisY, axisZ, length, output, stride, work);
      output += <usize>field.components << 3;
    }
    positions += 24 * POINTS;
    out += stride * POINTS;
    if (each) each += 32 * POINTS;
  }
}

/**
 * Interpolated values at points, float64.
 *
 * @param order  4, 6 or 8 nodes
 * @param table  polynomials of the weights of a spline, of `degree`; 0: Lagrange interpolation
 * @param large  whether the fields are much larger than the processor's caches
 * @param frames how frames are combined; 0: there is one
 * @param packet the points are together in this packet; 0: each is combined alone
 * @param out    `components` values per point, overwritten; fields one after the other
 * @param work   16 KiB of this thread
 */
export function values(
  order: i32, table: usize, degree: i32, large: bool, frames: usize, packet: usize, axes: usize, fields: usize,
  fieldCount: i32, positions: usize, count: i32, out: usize, components: i32, work: usize
): void {
  if (packet) {
    if (order == 4) interpolate(
      4, false, TOGETHER, frames, packet, table, degree, axes, fields, fieldCount, positions, count, out, components,
      work
    );
    else if (order == 6) interpolate(
      6, false, TOGETHER, frames, packet, table, degree, axes, fields, fieldCount, positions, count, out, components,
      work
    );
    else interpolate(
      8, false, TOGETHER, frames, packet, table, degree, axes, fields, fieldCount, positions, count, out, components,
      work
    );
    return;
  }
  if (frames) {
    if (order == 4) interpolate(
      4, false, APART, frames, packet, table, degree, axes, fields, fieldCount, positions, count, out, components, work
    );
    else if (order == 6) interpolate(
      6, false, APART, frames, packet, table, degree, axes, fields, fieldCount, positions, count, out, components, work
    );
    else interpolate(
      8, false, APART, frames, packet, table, degree, axes, fields, fieldCount, positions, count, out, components, work
    );
    return;
  }
  // Boxes of more nodes take so long that looking ahead gains nothing.
  if (order == 4 && large) interpolate(
    4, true, ONE, 0, 0, table, degree, axes, fields, fieldCount, positions, count, out, components, work
  );
  else if (order == 4) interpolate(
    4, false, ONE, 0, 0, table, degree, axes, fields, fieldCount, positions, count, out, components, work
  );
  else if (order == 6) interpolate(
    6, false, ONE, 0, 0, table, degree, axes, fields, fieldCount, positions, count, out, components, work
  );
  else interpolate(
    8, false, ONE, 0, 0, table, degree, axes, fields, fieldCount, positions, count, out, components, work
  );
}

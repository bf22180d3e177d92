/** Differentiates by Fd4Lag4: sums of separable products over stencil boxes. */
import { ACROSS_BYTES, addAcross, addFrames } from "./box";
import { combineInto } from "./combine";
import { Axis, Field, Frames, Packet, Term } from "./records";
import { addBox, addWide, partOf } from "./rows";
import { brickOf, shift, wrapAfter } from "./nodes";
import { inPacket, packetBytes } from "./packets";
import { differences, firstDerivative, lagrange, secondDerivative } from "./weights";

/** Vectors of an axis that a scheme uses besides the interpolation weights (vector 0), as bits. */
const FIRST = 1;
const SECOND = 2;
const MIXED = 4;

/** Bytes of one weight vector. */
const VECTOR = 64;
/** Vectors per axis: interpolation, first, second, difference over one node, over two nodes. */
const VECTORS = 5;
/** Points whose first nodes and weights are computed before any node is read. */
const POINTS = 16;

/** Places in the work area: sums of up to 14 triples, and what follows. */
const SUMS = 0;
const ACROSS = 352;
/** The free part of the work area. */
export const FREE = ACROSS + ACROSS_BYTES;
const NODES = FREE;
const WEIGHTS = NODES + 256;

/** First node of the interpolation, and the weight vectors besides those of interpolation, for one coordinate. */
// @ts-ignore: decorator
@inline
function finish(derivatives: i32, axis: Axis, cell: f64, first: usize, w: usize): void {
  store<i32>(first, wrapAfter(cell, -1, axis.nodes));
  if (derivatives & FIRST) firstDerivative(w, axis.spacing, w + VECTOR);
  if (derivatives & SECOND) secondDerivative(w, axis.spacing, w + 2 * VECTOR);
  if (derivatives & MIXED) differences(w, axis.spacing, w + 3 * VECTOR, w + 4 * VECTOR);
}

/** First nodes and weight vectors of `count` points: coordinates in pairs, whichever axes they belong to. */
function weighPoints(derivatives: i32, axes: usize, positions: usize, count: i32, work: usize): void {
  let first = work + NODES;
  let low = work + WEIGHTS;
  let a = 0;
  for (let left = 3 * count; left > 0; left -= 2) {
    const b = a == 2 ? 0 : a + 1;
    const axisA = changetype<Axis>(axes + a * offsetof<Axis>());
    const axisB = changetype<Axis>(axes + b * offsetof<Axis>());
    const origin = v128.load64_lane(changetype<usize>(axisB), v128.load64_zero(changetype<usize>(axisA)), 1);
    const spacing = v128.load64_lane(changetype<usize>(axisB), v128.load64_zero(changetype<usize>(axisA), 8), 1, 8);
    const x = left == 1 ? v128.load64_zero(positions) : v128.load(positions);
    const s = f64x2.div(f64x2.sub(x, origin), spacing);
    const cell = f64x2.floor(s);
    const high = low + VECTORS * VECTOR;
    lagrange(4, f64x2.sub(s, cell), low, high);
    finish(derivatives, axisA, f64x2.extract_lane(cell, 0), first, low);
    if (left > 1) finish(derivatives, axisB, f64x2.extract_lane(cell, 1), first + 4, high);
    positions += 16;
    first += 8;
    low = high + VECTORS * VECTOR;
    a = b == 2 ? 0 : b + 1;
  }
}

/** The sums of a box over its rows, from one brick or several. */
// @ts-ignore: decorator
@inline
function addTerm(
  field: Field, term: Term, axisX: Axis, axisY: Axis, axisZ: Axis, nodes: usize, wy: usize, wz: usize, work: usize
): void {
  const x = shift(load<i32>(nodes), term.startX, axisX.nodes);
  const y = shift(load<i32>(nodes, 4), term.startY, axisY.nodes);
  const z = shift(load<i32>(nodes, 8), term.startZ, axisZ.nodes);
  const brickX = brickOf(x, field.reciprocalX);
  const brickY = brickOf(y, field.reciprocalY);
  const brickZ = brickOf(z, field.reciprocalZ);
  const localX = x - brickX * field.edgeX;
  const localY = y - brickY * field.edgeY;
  const localZ = z - brickZ * field.edgeZ;
  const inside =
    i32(
      localX + term.lengthX <= field.edgeX
    ) & i32(localY + term.lengthY <= field.edgeY) & i32(localZ + term.lengthZ <= field.edgeZ) &
    i32(x + term.lengthX <= axisX.nodes) & i32(y + term.lengthY <= axisY.nodes) & i32(z + term.lengthZ <= axisZ.nodes);
  if (inside) {
    const nodeBytes = field.components << 2;
    const rowBytes = nodeBytes * field.edgeX;
    const planeBytes = rowBytes * field.edgeY;
    const base = load<u32>(field.table + (<usize>((brickZ * field.countY + brickY) * field.countX + brickX) << 2)) << 2;
    const at = base + localX * nodeBytes + localY * rowBytes + localZ * planeBytes;
    for (let done = 0, part = 0; done < term.lengthX; done += part) {
      part = partOf(term.lengthX - done);
      const sums = work + SUMS + (<usize>(done * field.components) << 3);
      addBox(
        part * field.components, at + done * nodeBytes, rowBytes, planeBytes, wy, term.lengthY, wz, term.lengthZ, sums
      );
    }
  } else {
    addAcross(
      field, axisX, axisY, axisZ, x, term.lengthX, y, term.lengthY, z, term.lengthZ, wy, wz, work + ACROSS, work + SUMS
    );
  }
}

/**
 * Combines the nodes that the terms need at one point, whose first node of all is (x, y, z), into a cube of `span`
 * nodes.
 */
function combineStencil(
  field: Field, frames: Frames, axisX: Axis, axisY: Axis, axisZ: Axis, terms: usize, termCount: i32, x: i32, y: i32,
  z: i32
): void {
  const components = field.components;
  const span = frames.span;
  const rowBytes = (span * components) << 3;
  const planeBytes = rowBytes * span;
  if (frames.whole) {
    combineInto(field, frames, axisX, axisY, axisZ, x, y, z, span, span, span, frames.nodes, rowBytes, planeBytes);
    return;
  }
  const low = frames.low;
  for (let t = 0; t < termCount; t++) {
    const term = changetype<Term>(terms + t * offsetof<Term>());
    const fromX = term.startX - low, fromY = term.startY - low, fromZ = term.startZ - low;
    const to = frames.nodes + ((fromX * components) << 3) + fromY * rowBytes + fromZ * planeBytes;
    combineInto(
      field, frames, axisX, axisY, axisZ, shift(x, fromX, axisX.nodes), shift(y, fromY, axisY.nodes),
      shift(z, fromZ, axisZ.nodes), term.lengthX, term.lengthY, term.lengthZ, to, rowBytes, planeBytes
    );
  }
}

/** Sum along x of interleaved triples, an even number of nodes: adds to three outputs `stride` bytes apart. */
// @ts-ignore: decorator
@inline
function sumTriples(sums: usize, w: usize, length: i32, scale: f64, out: usize, stride: usize): void {
  let first = f64x2.splat(0), second = first, third = first;
  const end = w + (<usize>length << 3);
  for (; w < end; w += 16) {
    first = f64x2.add(first, f64x2.mul(v128.load(sums), v128.load64_splat(w)));
    second = f64x2.add(second, f64x2.mul(v128.load(sums, 16), v128.load(w)));
    third = f64x2.add(third, f64x2.mul(v128.load(sums, 32), v128.load64_splat(w, 8)));
    sums += 48;
  }
  const x = f64x2.extract_lane(first, 0) + f64x2.extract_lane(second, 1);
  const y = f64x2.extract_lane(first, 1) + f64x2.extract_lane(third, 0);
  const z = f64x2.extract_lane(second, 0) + f64x2.extract_lane(third, 1);
  store<f64>(out, load<f64>(out) + scale * x);
  store<f64>(out + stride, load<f64>(out + stride) + scale * y);
  store<f64>(out + 2 * stride, load<f64>(out + 2 * stride) + scale * z);
}

/** Sum along x of single values, an even number of nodes: adds to one output. */
// @ts-ignore: decorator
@inline
function sumSingles(sums: usize, w: usize, length: i32, scale: f64, out: usize): void {
  let sum = f64x2.splat(0);
  const end = w + (<usize>length << 3);
  for (; w < end; w += 16) {
    sum = f64x2.add(sum, f64x2.mul(v128.load(sums), v128.load(w)));
    sums += 16;
  }
  store<f64>(out, load<f64>(out) + scale * (f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1)));
}

/** Adds a product, whose sums over rows are in the work area, to its outputs. */
// @ts-ignore: decorator
@inline
function sumTerm(term: Term, components: i32, wx: usize, out: usize, stride: usize, work: usize): void {
  if (components == 3) sumTriples(work + SUMS, wx, term.lengthX, term.scale, out + (<usize>term.output << 3), stride);
  else sumSingles(work + SUMS, wx, term.lengthX, term.scale, out + (<usize>term.output << 3));
}

/**
 * As `addTerms`, for a field combined of frames.
 *
 * @param packet the points are together in this packet; 0: each is combined alone
 * @param combined the nodes of the packet
 */
// @ts-ignore: decorator
@inline
function addTermsCombined(
  vector: i32, vectors: i32, field: Field, frames: Frames, packet: usize, combined: usize, axes: usize, terms: usize,
  termCount: i32, outputs: i32, count: i32, nodes: usize, w: usize, out: usize, components: i32, work: usize
): void {
  const axisX = changetype<Axis>(axes);
  const axisY = changetype<Axis>(axes + offsetof<Axis>());
  const axisZ = changetype<Axis>(axes + 2 * offsetof<Axis>());
  const stride = <usize>outputs << 3;
  const low = frames.low;
  const box = changetype<Packet>(packet);
  const size = field.components;
  const rowBytes = ((packet ? box.lengthX : frames.span) * size) << 3;
  const planeBytes = rowBytes * (packet ? box.lengthY : frames.span);
  /** Whether frames are combined term by term, on the way to the sums. */
  const direct = !packet && !frames.whole && frames.count == 4;
  for (let i = 0; i < count; i++) {
    const x = shift(load<i32>(nodes), low, axisX.nodes);
    const y = shift(load<i32>(nodes, 4), low, axisY.nodes);
    const z = shift(load<i32>(nodes, 8), low, axisZ.nodes);
    let at = combined;
    if (packet) at += ((inPacket(x, box.x, axisX.nodes) * size) << 3) + inPacket(
      y, box.y, axisY.nodes
    ) * rowBytes + inPacket(z, box.z, axisZ.nodes) * planeBytes;
    else if (!direct) combineStencil(field, frames, axisX, axisY, axisZ, terms, termCount, x, y, z);
    for (let t = 0; t < termCount; t++) {
      const term = changetype<Term>(terms + t * offsetof<Term>());
      const wx = w + term.vectorX * vector;
      const wy = w + (vectors + term.vectorY) * vector;
      const wz = w + (2 * vectors + term.vectorZ) * vector;
      if (direct) {
        const fromX = shift(x, term.startX - low, axisX.nodes);
        const fromY = shift(y, term.startY - low, axisY.nodes);
        const fromZ = shift(z, term.startZ - low, axisZ.nodes);
        addFrames(
          field, frames, axisX, axisY, axisZ, fromX, term.lengthX, fromY, term.lengthY, fromZ, term.lengthZ, wy, wz,
          work + ACROSS, work + SUMS
        );
        sumTerm(term, size, wx, out, stride, work);
        continue;
      }
      const start = at + (((term.startX - low) * size) << 3) + (
        term.startY - low
      ) * rowBytes + (term.startZ - low) * planeBytes;
      addWide(term.lengthX, size, start, rowBytes, planeBytes, wy, term.lengthY, wz, term.lengthZ, work + SUMS);
      sumTerm(term, size, wx, out, stride, work);
    }
    nodes += 12;
    w += 3 * vectors * vector;
    out += <usize>components << 3;
  }
}

/** Adds all terms of one field at the points at hand; `vector` bytes a weight vector, `vectors` of them an axis. */
// @ts-ignore: decorator
@inline
function addTerms(
  vector: i32, vectors: i32, field: Field, axes: usize, terms: usize, termCount: i32, outputs: i32, count: i32,
  nodes: usize, w: usize, out: usize, components: i32, work: usize
): void {
  const axisX = changetype<Axis>(axes);
  const axisY = changetype<Axis>(axes + offsetof<Axis>());
  const axisZ = changetype<Axis>(axes + 2 * offsetof<Axis>());
  const stride = <usize>outputs << 3;
  for (let i = 0; i < count; i++) {
    for (let t = 0; t < termCount; t++) {
      const term = changetype<Term>(terms + t * offsetof<Term>());
      const wx = w + term.vectorX * vector;
      const wy = w + (vectors + term.vectorY) * vector;
      const wz = w + (2 * vectors + term.vectorZ) * vector;
      addTerm(field, term, axisX, axisY, axisZ, nodes, wy, wz, work);
      sumTerm(term, field.components, wx, out, stride, work);
    }
    nodes += 12;
    w += 3 * vectors * vector;
    out += <usize>components << 3;
  }
}

/** Adds all terms of all fields at the points at hand, of one frame (`frames` 0) or of combined ones. */
// @ts-ignore: decorator
@inline
export function addFields(
  vector: i32, vectors: i32, frames: usize, packet: usize, axes: usize, terms: usize, termCount: i32, outputs: i32,
  fields: usize, fieldCount: i32, count: i32, nodes: usize, w: usize, out: usize, components: i32, work: usize
): void {
  const combination = changetype<Frames>(frames);
  let combined = frames ? combination.nodes : 0;
  for (let f = 0; f < fieldCount; f++) {
    const field = changetype<Field>(fields + f * offsetof<Field>());
    if (frames) {
      addTermsCombined(
        vector, vectors, field, combination, packet, combined, axes, terms, termCount, outputs, count, nodes, w, out,
        components, work
      );
      if (packet) combined += packetBytes(changetype<Packet>(packet), field);
    } else {
      addTerms(
        vector, vectors, field, axes, terms, termCount, outputs, count, nodes, w, out, components, work
      );
    }
    out += <usize>(field.components * outputs) << 3;
  }
}

/**
 * Sums of separable products at points, float64; interpolation is on four nodes per axis.
 *
 * @param derivatives bits of the vectors that the terms use besides the interpolation weights
 * @param outputs       outputs per component of a field
 * @param frames      how frames are combined; 0: there is one
 * @param packet the points are together in this packet; 0: each is combined alone
 * @param out         `components` values per point, overwritten; fields one after the other, component-major
 * @param work        16 KiB of this thread
 */
export function tensor(
  derivatives: i32, frames: usize, packet: usize, axes: usize, terms: usize, termCount: i32, outputs: i32,
  fields: usize, fieldCount: i32, positions: usize, count: i32, out: usize, components: i32, work: usize
): void {
  memory.fill(out, 0, <usize>(count * components) << 3);
  for (let first = 0; first < count; first += POINTS) {
    const length = min(POINTS, count - first);
    weighPoints(derivatives, axes, positions + <usize>first * 24, length, work);
    addFields(
      VECTOR, VECTORS, frames, packet, axes, terms, termCount, outputs, fields, fieldCount, length, work + NODES,
      work + WEIGHTS, out + (<usize>(first * components) << 3), components, work
    );
  }
}

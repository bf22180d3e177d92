/**
 * Combines frames: the nodes of a box become float64 sums over frames, which kernels then read as they read one frame.
 *
 * The value of a node is w0 u0 + w1 u1 + ..., added in this order and in float64, so that its bits do not depend on the
 * box that it is combined in.
 *
 * COUNT, if it is a parameter, is the number of frames; 0 adds one frame to the sums that are there already.
 */
import { Axis, Field, Frames } from "./records";
import { brickOf, shift } from "./nodes";

/**
 * Stores the weighted sums of two values over frames, from AT bytes after the places `p`, `q`, `r` and `s` in their
 * rows; AT is 0, 8, 16 or 24. The sums are float64, so they are 2 AT bytes after `to`.
 */
// @ts-ignore: decorator
@inline
function storePair(
  COUNT: i32, AT: i32, p: usize, q: usize, r: usize, s: usize, w0: v128, w1: v128, w2: v128, w3: v128, to: usize
): void {
  let sum = f64x2.mul(w0, f64x2.promote_low_f32x4(loadPair(AT, p)));
  if (COUNT == 0) sum = f64x2.add(v128.load(to + 2 * AT), sum);
  if (COUNT > 1) sum = f64x2.add(sum, f64x2.mul(w1, f64x2.promote_low_f32x4(loadPair(AT, q))));
  if (COUNT > 2) sum = f64x2.add(sum, f64x2.mul(w2, f64x2.promote_low_f32x4(loadPair(AT, r))));
  if (COUNT > 3) sum = f64x2.add(sum, f64x2.mul(w3, f64x2.promote_low_f32x4(loadPair(AT, s))));
  if (AT == 0) v128.store(to, sum);
  else if (AT == 8) v128.store(to, sum, 16);
  else if (AT == 16) v128.store(to, sum, 32);
  else v128.store(to, sum, 48);
}

/** Loads two float32 values, AT bytes after an address, with the offset as a part of the instruction. */
// @ts-ignore: decorator
@inline
function loadPair(AT: i32, p: usize): v128 {
  if (AT == 0) return v128.load64_zero(p);
  if (AT == 8) return v128.load64_zero(p, 8);
  if (AT == 16) return v128.load64_zero(p, 16);
  return v128.load64_zero(p, 24);
}

/**
 * Combines a part of a box that lies in one brick: `ny` by `nz` rows of `floats` values. The first row of the first
 * frame is at `at`; `d1`, `d2` and `d3` lead from a row of that frame to the same row of the others, in bytes.
 */
// @ts-ignore: decorator
@inline
function combineRows(
  COUNT: i32, at: usize, d1: usize, d2: usize, d3: usize, frames: Frames, floats: i32, rowBytes: i32, planeBytes: i32,
  ny: i32, nz: i32, out: usize, outRow: i32, outPlane: i32
): void {
  const w0 = f64x2.splat(frames.weight0);
  const w1 = COUNT > 1 ? f64x2.splat(frames.weight1) : w0;
  const w2 = COUNT > 2 ? f64x2.splat(frames.weight2) : w0;
  const w3 = COUNT > 3 ? f64x2.splat(frames.weight3) : w0;
  const eights = <usize>(floats & ~7) << 3;
  const pairs = <usize>(floats & 6) << 3;
  for (let k = 0; k < nz; k++) {
    let row = at;
    let toRow = out;
    for (let j = 0; j < ny; j++) {
      let p = row;
      let q = p + d1;
      let r = p + d2;
      let s = p + d3;
      let to = toRow;
      for (const end = to + eights; to < end; to += 64) {
        storePair(COUNT, 0, p, q, r, s, w0, w1, w2, w3, to);
        storePair(COUNT, 8, p, q, r, s, w0, w1, w2, w3, to);
        storePair(COUNT, 16, p, q, r, s, w0, w1, w2, w3, to);
        storePair(COUNT, 24, p, q, r, s, w0, w1, w2, w3, to);
        p += 32;
        if (COUNT > 1) q += 32;
        if (COUNT > 2) r += 32;
        if (COUNT > 3) s += 32;
      }
      for (const end = to + pairs; to < end; to += 16) {
        storePair(COUNT, 0, p, q, r, s, w0, w1, w2, w3, to);
        p += 8;
        if (COUNT > 1) q += 8;
        if (COUNT > 2) r += 8;
        if (COUNT > 3) s += 8;
      }
      if (floats & 1) {
        let sum = frames.weight0 * <f64>load<f32>(p);
        if (COUNT == 0) sum = load<f64>(to) + sum;
        if (COUNT > 1) sum += frames.weight1 * <f64>load<f32>(q);
        if (COUNT > 2) sum += frames.weight2 * <f64>load<f32>(r);
        if (COUNT > 3) sum += frames.weight3 * <f64>load<f32>(s);
        store<f64>(to, sum);
      }
      row += rowBytes;
      toRow += outRow;
    }
    at += planeBytes;
    out += outPlane;
  }
}

/** Combines four frames, which PCHIP in time needs. */
function combineFour(
  at: usize, d1: usize, d2: usize, d3: usize, frames: Frames, floats: i32, rowBytes: i32, planeBytes: i32, ny: i32,
  nz: i32, out: usize, outRow: i32, outPlane: i32
): void {
  combineRows(4, at, d1, d2, d3, frames, floats, rowBytes, planeBytes, ny, nz, out, outRow, outPlane);
}

/** Combines three frames, two or one; or adds one, if the count is 0. */
function combineFewer(
  at: usize, d1: usize, d2: usize, frames: Frames, floats: i32, rowBytes: i32, planeBytes: i32, ny: i32, nz: i32,
  out: usize, outRow: i32, outPlane: i32
): void {
  if (frames.count == 3) combineRows(
    3, at, d1, d2, 0, frames, floats, rowBytes, planeBytes, ny, nz, out, outRow, outPlane
  );
  else if (frames.count == 2) combineRows(
    2, at, d1, 0, 0, frames, floats, rowBytes, planeBytes, ny, nz, out, outRow, outPlane
  );
  else if (frames.count == 1) combineRows(
    1, at, 0, 0, 0, frames, floats, rowBytes, planeBytes, ny, nz, out, outRow, outPlane
  );
  else combineRows(0, at, 0, 0, 0, frames, floats, rowBytes, planeBytes, ny, nz, out, outRow, outPlane);
}

/** Byte address of a brick of a frame. */
// @ts-ignore: decorator
@inline
function baseOf(table: usize, brick: i32): usize {
  return <usize>load<u32>(table + (<usize>brick << 2)) << 2;
}

/**
 * Combines the part of a box that lies in one brick. A brick that is not at hand leaves its part as it is: the box
 * holds it, but no stencil of its points does. Bricks are in the tables of all frames or of none, so the first table
 * decides.
 */
// @ts-ignore: decorator
@inline
function combinePart(
  field: Field, frames: Frames, brick: i32, inner: i32, floats: i32, rowBytes: i32, planeBytes: i32, ny: i32, nz: i32,
  out: usize, outRow: i32, outPlane: i32
): void {
  if (load<i32>(field.table + (<usize>brick << 2)) == -1) return;
  const base = baseOf(field.table, brick);
  const count = frames.count;
  const d1 = count > 1 ? baseOf(field.table1, brick) - base : 0;
  const d2 = count > 2 ? baseOf(field.table2, brick) - base : 0;
  if (count == 4) {
    const d3 = baseOf(field.table3, brick) - base;
    combineFour(base + inner, d1, d2, d3, frames, floats, rowBytes, planeBytes, ny, nz, out, outRow, outPlane);
  } else {
    combineFewer(base + inner, d1, d2, frames, floats, rowBytes, planeBytes, ny, nz, out, outRow, outPlane);
  }
}

/**
 * Combines a box of `nx` by `ny` by `nz` nodes whose lowest one is (x, y, z), 0 <= x < nodes, brick by brick. The box
 * may cross the seam of a period, several times if it is longer than the axis.
 *
 * @param frames   weights and count of the frames; a count of 0 adds one frame to the nodes at `out`
 * @param out      receives the nodes, `components` float64 each
 * @param outRow   bytes at `out` from one row to the next
 * @param outPlane bytes at `out` from one plane to the next
 */
export function combineInto(
  field: Field, frames: Frames, axisX: Axis, axisY: Axis, axisZ: Axis, x: i32, y: i32, z: i32, nx: i32, ny: i32,
  nz: i32, out: usize, outRow: i32, outPlane: i32
): void {
  const components = field.components;
  const rowBytes = (field.edgeX * components) << 2;
  const planeBytes = rowBytes * field.edgeY;
  for (let leftZ = nz; leftZ > 0; ) {
    const brickZ = brickOf(z, field.reciprocalZ);
    const localZ = z - brickZ * field.edgeZ;
    const partZ = min(leftZ, min(axisZ.nodes - z, field.edgeZ - localZ));
    let outY = out;
    for (let leftY = ny, j = y; leftY > 0; ) {
      const brickY = brickOf(j, field.reciprocalY);
      const localY = j - brickY * field.edgeY;
      const partY = min(leftY, min(axisY.nodes - j, field.edgeY - localY));
      let outX = outY;
      for (let leftX = nx, i = x; leftX > 0; ) {
        const brickX = brickOf(i, field.reciprocalX);
        const localX = i - brickX * field.edgeX;
        const partX = min(leftX, min(axisX.nodes - i, field.edgeX - localX));
        const brick = (brickZ * field.countY + brickY) * field.countX + brickX;
        const inner = ((localX * components) << 2) + localY * rowBytes + localZ * planeBytes;
        combinePart(
          field, frames, brick, inner, partX * components, rowBytes, planeBytes, partY, partZ, outX, outRow, outPlane
        );
        outX += (partX * components) << 3;
        leftX -= partX;
        i = shift(i, partX, axisX.nodes);
      }
      outY += partY * outRow;
      leftY -= partY;
      j = shift(j, partY, axisY.nodes);
    }
    out += partZ * outPlane;
    leftZ -= partZ;
    z = shift(z, partZ, axisZ.nodes);
  }
}

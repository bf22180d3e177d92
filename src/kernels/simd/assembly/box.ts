/**
 * Adds the nodes of stencil boxes that lie in several bricks: by lists of the addresses of their rows, and in parts
 * along x. For four frames that are combined it adds boxes inside one brick as well.
 */
import { Axis, Field, Frames } from "./records";
import { addListed, LONGEST_PART, shortPartOf } from "./rows";
import { addFramesBox, addFramesListed, LONGEST_FRAMES_PART } from "./rows-of-frames";
import { brickOf, placeNodes } from "./nodes";

/**
 * Size of the work area, in bytes, for boxes of up to 14 nodes per axis. It holds a list of row addresses for each of
 * four frames, the addresses of a plane's rows in their bricks, and the places of the nodes along y and z. Rows are
 * listed eight or sixteen at a time, so a list has room beyond its last address.
 */
export const ACROSS_BYTES = 3776;
const LIST_BYTES = 864;
const BASES = 3456;
const PLACES_Y = 3520;
const PLACES_Z = 3648;

/**
 * Writes the addresses of the rows of a box to `list`, y fastest, from the places of its nodes in `work`.
 *
 * @param table entry in a brick table: the brick with the part's x that is the first along y and z
 * @param start bytes from the start of a brick's row to the part's first node
 */
// @ts-ignore: decorator
@inline
function listRows(table: usize, start: i32, ny: i32, nz: i32, list: usize, work: usize): void {
  const bytes = <usize>ny << 2;
  let current = -1;
  for (let k = 0; k < nz; k++) {
    const placeZ = work + PLACES_Z + (<usize>k << 3);
    const brick = load<i32>(placeZ);
    if (brick != current) {
      current = brick;
      const column = table + (<usize>brick << 2);
      for (let j = 0; j < ny; j++) {
        const placeY = work + PLACES_Y + (<usize>j << 3);
        const base = load<u32>(column + (<usize>load<i32>(placeY) << 2)) << 2;
        store<u32>(work + BASES + (<usize>j << 2), base + load<i32>(placeY, 4));
      }
    }
    const offset = i32x4.splat(load<i32>(placeZ, 4) + start);
    v128.store(list, i32x4.add(offset, v128.load(work + BASES)));
    v128.store(list, i32x4.add(offset, v128.load(work + BASES, 16)), 16);
    if (ny > 8) {
      v128.store(list, i32x4.add(offset, v128.load(work + BASES, 32)), 32);
      v128.store(list, i32x4.add(offset, v128.load(work + BASES, 48)), 48);
    }
    list += bytes;
  }
}

/**
 * Stores at `sums` the weighted sums over y and z of a box of `nx` by `ny` by `nz` nodes whose lowest one is (x, y, z);
 * `wy` and `wz` are the addresses of the weights.
 */
export function addAcross(
  field: Field, axisX: Axis, axisY: Axis, axisZ: Axis, x: i32, nx: i32, y: i32, ny: i32, z: i32, nz: i32, wy: usize,
  wz: usize, work: usize, sums: usize
): void {
  const nodeBytes = field.components << 2;
  const rowBytes = nodeBytes * field.edgeX;
  placeNodes(work + PLACES_Y, y, ny, axisY.nodes, field.edgeY, field.reciprocalY, field.countX, rowBytes);
  placeNodes(
    work + PLACES_Z, z, nz, axisZ.nodes, field.edgeZ, field.reciprocalZ, field.countX * field.countY,
    rowBytes * field.edgeY
  );
  for (let done = 0; done < nx; ) {
    const brick = brickOf(x, field.reciprocalX);
    const local = x - brick * field.edgeX;
    const run = min(min(nx - done, LONGEST_PART), min(field.edgeX - local, axisX.nodes - x));
    listRows(field.table + (<usize>brick << 2), local * nodeBytes, ny, nz, work, work);
    addListed(run * field.components, work, wy, ny, wz, nz, sums + (<usize>(done * field.components) << 3));
    done += run;
    x += run;
    if (x == axisX.nodes) x = 0;
  }
}

/** Reads the lines of the memory that hold a row of up to 96 bytes. */
// @ts-ignore: decorator
@inline
function touch(row: usize, bytes: i32): i32 {
  const ends = load<u8>(row) | load<u8>(row + bytes - 1);
  return bytes > 72 ? ends | load<u8>(row + (bytes >> 1)) : ends;
}

/**
 * Reads a value of each line of a box in four frames: so close together that the memory fetches many lines at once,
 * which the long sums between the reads of `addFramesBox` prevent. What is read goes to `work`, so that no compiler
 * leaves it out.
 */
function touchBox(
  at: usize, d1: usize, d2: usize, d3: usize, rowBytes: i32, planeBytes: i32, bytes: i32, ny: i32, nz: i32, work: usize
): void {
  let touched = 0;
  for (let k = 0; k < nz; k++) {
    let row = at;
    for (let j = 0; j < ny; j++) {
      touched |= touch(row, bytes) | touch(row + d1, bytes) | touch(row + d2, bytes) | touch(row + d3, bytes);
      row += rowBytes;
    }
    at += planeBytes;
  }
  store<i32>(work, touched);
}

/** Does the same for `rows` rows of each frame that are listed in `work`. */
function touchListed(rows: i32, bytes: i32, work: usize): void {
  let touched = 0;
  for (let list = work, end = work + (<usize>rows << 2); list < end; list += 4) {
    touched |= touch(load<u32>(list), bytes) | touch(load<u32>(list + LIST_BYTES), bytes);
    touched |= touch(load<u32>(list + 2 * LIST_BYTES), bytes) | touch(load<u32>(list + 3 * LIST_BYTES), bytes);
  }
  store<i32>(work + BASES, touched);
}

/** Does the same as `addAcross` for four frames, which it combines. */
// @ts-ignore: decorator
@inline
function addFramesAcross(
  field: Field, frames: Frames, axisX: Axis, axisY: Axis, axisZ: Axis, x: i32, nx: i32, y: i32, ny: i32, z: i32,
  nz: i32, wy: usize, wz: usize, work: usize, sums: usize
): void {
  const nodeBytes = field.components << 2;
  const rowBytes = nodeBytes * field.edgeX;
  placeNodes(work + PLACES_Y, y, ny, axisY.nodes, field.edgeY, field.reciprocalY, field.countX, rowBytes);
  placeNodes(
    work + PLACES_Z, z, nz, axisZ.nodes, field.edgeZ, field.reciprocalZ, field.countX * field.countY,
    rowBytes * field.edgeY
  );
  for (let done = 0; done < nx; ) {
    const brick = brickOf(x, field.reciprocalX);
    const local = x - brick * field.edgeX;
    const run = min(min(nx - done, LONGEST_FRAMES_PART), min(field.edgeX - local, axisX.nodes - x));
    const start = local * nodeBytes;
    const entry = <usize>brick << 2;
    listRows(field.table + entry, start, ny, nz, work, work);
    listRows(field.table1 + entry, start, ny, nz, work + LIST_BYTES, work);
    listRows(field.table2 + entry, start, ny, nz, work + 2 * LIST_BYTES, work);
    listRows(field.table3 + entry, start, ny, nz, work + 3 * LIST_BYTES, work);
    if (frames.ahead) touchListed(ny * nz, run * nodeBytes, work);
    addFramesListed(
      run * field.components, changetype<usize>(frames), work, LIST_BYTES, wy, ny, wz, nz,
      sums + (<usize>(done * field.components) << 3)
    );
    done += run;
    x += run;
    if (x == axisX.nodes) x = 0;
  }
}

/**
 * Stores at `sums` the weighted sums over y and z of a box of `nx` by `ny` by `nz` nodes whose lowest one is (x, y, z),
 * of four frames that are combined. The box may lie inside one brick or across several.
 */
export function addFrames(
  field: Field, frames: Frames, axisX: Axis, axisY: Axis, axisZ: Axis, x: i32, nx: i32, y: i32, ny: i32, z: i32,
  nz: i32, wy: usize, wz: usize, work: usize, sums: usize
): void {
  const brickX = brickOf(x, field.reciprocalX);
  const brickY = brickOf(y, field.reciprocalY);
  const brickZ = brickOf(z, field.reciprocalZ);
  const localX = x - brickX * field.edgeX;
  const localY = y - brickY * field.edgeY;
  const localZ = z - brickZ * field.edgeZ;
  const inside =
    i32(localX + nx <= field.edgeX) & i32(localY + ny <= field.edgeY) & i32(localZ + nz <= field.edgeZ) &
    i32(x + nx <= axisX.nodes) & i32(y + ny <= axisY.nodes) & i32(z + nz <= axisZ.nodes);
  if (!inside) {
    addFramesAcross(field, frames, axisX, axisY, axisZ, x, nx, y, ny, z, nz, wy, wz, work, sums);
    return;
  }
  const components = field.components;
  const nodeBytes = components << 2;
  const rowBytes = nodeBytes * field.edgeX;
  const planeBytes = rowBytes * field.edgeY;
  const entry = <usize>((brickZ * field.countY + brickY) * field.countX + brickX) << 2;
  const base = load<u32>(field.table + entry) << 2;
  const d1 = (load<u32>(field.table1 + entry) << 2) - base;
  const d2 = (load<u32>(field.table2 + entry) << 2) - base;
  const d3 = (load<u32>(field.table3 + entry) << 2) - base;
  const at = base + localX * nodeBytes + localY * rowBytes + localZ * planeBytes;
  if (frames.ahead) touchBox(at, d1, d2, d3, rowBytes, planeBytes, nx * nodeBytes, ny, nz, work);
  for (let done = 0, part = 0; done < nx; done += part) {
    part = shortPartOf(nx - done, components);
    addFramesBox(
      part * components, changetype<usize>(frames), at + done * nodeBytes, d1, d2, d3, rowBytes, planeBytes, wy, ny, wz,
      nz, sums + (<usize>(done * components) << 3)
    );
  }
}

/** Adds boxes that several bricks share: rows by address, and in parts along x. */
import { Axis, Field } from "./records";
import { addListed, LONGEST_PART } from "./rows";
import { brickOf, placeNodes } from "./nodes";

/**
 * Bytes of the work area that `addAcross` uses for boxes of up to 14 nodes an axis; rows are listed eight at a time, so
 * the list needs room for one store too many.
 */
export const ACROSS_BYTES = 1184;
const LIST = 0;
const BASES = 864;
const PLACES_Y = 928;
const PLACES_Z = 1056;

/**
 * Addresses of the rows of a box, y fastest, from the places of its nodes; `table` is the entry of the first brick
 * along y and z.
 */
// @ts-ignore: decorator
@inline
function listRows(table: usize, start: i32, ny: i32, nz: i32, work: usize): void {
  const bytes = <usize>ny << 2;
  let list = work + LIST;
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

/** Stores at `sums` those of a box of `nx` by `ny` by `nz` nodes whose lowest one is (x, y, z). */
export function addAcross(field: Field, axisX: Axis, axisY: Axis, axisZ: Axis, x: i32, nx: i32, y: i32, ny: i32, z: i32, nz: i32, wy: usize, wz: usize, work: usize, sums: usize): void {
  const nodeBytes = field.components << 2;
  const rowBytes = nodeBytes * field.edgeX;
  placeNodes(work + PLACES_Y, y, ny, axisY.nodes, field.edgeY, field.reciprocalY, field.countX, rowBytes);
  placeNodes(work + PLACES_Z, z, nz, axisZ.nodes, field.edgeZ, field.reciprocalZ, field.countX * field.countY, rowBytes * field.edgeY);
  for (let done = 0; done < nx; ) {
    const brick = brickOf(x, field.reciprocalX);
    const local = x - brick * field.edgeX;
    const run = min(min(nx - done, LONGEST_PART), min(field.edgeX - local, axisX.nodes - x));
    listRows(field.table + (<usize>brick << 2), local * nodeBytes, ny, nz, work);
    addListed(run * field.components, work + LIST, wy, ny, wz, nz, sums + (<usize>(done * field.components) << 3));
    done += run;
    x += run;
    if (x == axisX.nodes) x = 0;
  }
}


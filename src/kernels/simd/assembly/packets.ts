/**
 * Divides sorted points into packets: points whose stencils share so many nodes that one box of them is combined at
 * once.
 */
import { combineInto } from "./combine";
import { Axis, Field, Frames, Packet } from "./records";
import { brickOf, shift, wrapAfter } from "./nodes";

/** The way from node `from` to node `to` of a periodic axis, the shorter one. */
// @ts-ignore: decorator
@inline
function distance(from: i32, to: i32, nodes: i32): i32 {
  const way = to - from;
  if (way + way >= nodes) return way - nodes;
  return way + way < -nodes ? way + nodes : way;
}

/** Cell of a coordinate, or its nearest node, as a whole number. */
// @ts-ignore: decorator
@inline
function cellOf(axis: Axis, x: f64, rounding: f64): f64 {
  return Math.floor((x - axis.origin) / axis.spacing + rounding);
}

/**
 * Whether two cells are less than half a period apart. Cells rise with coordinates: then every coordinate between two
 * that have these cells has its first node between theirs.
 */
// @ts-ignore: decorator
@inline
function isNear(low: f64, high: f64, nodes: i32): bool {
  return (high - low) * 2 < <f64>nodes;
}

/**
 * Finds the first points that are together: as many as follow each other with first nodes less than an edge apart along
 * every axis, if the nodes of their box are no more than `alone` for each. All points before them are apart.
 *
 * @param rounding added before a coordinate is rounded down to a node: 0.5 for the nearest node
 * @param low      first node of a stencil, counted from there, and
 * @param span     number of nodes along an axis
 * @param packet   receives what was found
 */
export function nextPacket(
  rounding: f64, low: i32, span: i32, edgeX: i32, edgeY: i32, edgeZ: i32, alone: i32, axes: usize, positions: usize,
  count: i32, packet: usize
): void {
  const axisX = changetype<Axis>(axes);
  const axisY = changetype<Axis>(axes + offsetof<Axis>());
  const axisZ = changetype<Axis>(axes + 2 * offsetof<Axis>());
  const out = changetype<Packet>(packet);
  out.together = 0;
  for (let i = 0; i < count; ) {
    const firstPoint = positions + <usize>i * 24;
    // Bounds of the coordinates of points that are together, and their cells: a point inside them is together with
    // these.
    let minX = load<f64>(firstPoint), minY = load<f64>(firstPoint, 8), minZ = load<f64>(firstPoint, 16);
    let maxX = minX, maxY = minY, maxZ = minZ;
    let minCellX = cellOf(
      axisX, minX, rounding
    ), minCellY = cellOf(axisY, minY, rounding), minCellZ = cellOf(axisZ, minZ, rounding);
    let maxCellX = minCellX, maxCellY = minCellY, maxCellZ = minCellZ;
    const x = wrapAfter(
      minCellX, low, axisX.nodes
    ), y = wrapAfter(minCellY, low, axisY.nodes), z = wrapAfter(minCellZ, low, axisZ.nodes);
    let lowX = 0, lowY = 0, lowZ = 0, highX = 0, highY = 0, highZ = 0;
    let j = i + 1;
    for (let p = firstPoint + 24; j < count; j++, p += 24) {
      const px = load<f64>(p), py = load<f64>(p, 8), pz = load<f64>(p, 16);
      if (
        i32(px >= minX) & i32(px <= maxX) & i32(py >= minY) & i32(py <= maxY) & i32(pz >= minZ) & i32(pz <= maxZ)
      ) continue;
      const cellX = cellOf(
        axisX, px, rounding
      ), cellY = cellOf(axisY, py, rounding), cellZ = cellOf(axisZ, pz, rounding);
      const toX = distance(x, wrapAfter(cellX, low, axisX.nodes), axisX.nodes);
      const toY = distance(y, wrapAfter(cellY, low, axisY.nodes), axisY.nodes);
      const toZ = distance(z, wrapAfter(cellZ, low, axisZ.nodes), axisZ.nodes);
      const newLowX = min(lowX, toX), newHighX = max(highX, toX);
      const newLowY = min(lowY, toY), newHighY = max(highY, toY);
      const newLowZ = min(lowZ, toZ), newHighZ = max(highZ, toZ);
      if (i32(newHighX - newLowX >= edgeX) | i32(newHighY - newLowY >= edgeY) | i32(newHighZ - newLowZ >= edgeZ)) break;
      lowX = newLowX;
      lowY = newLowY;
      lowZ = newLowZ;
      highX = newHighX;
      highY = newHighY;
      highZ = newHighZ;
      const newMinX = Math.min(minCellX, cellX), newMaxX = Math.max(maxCellX, cellX);
      const newMinY = Math.min(minCellY, cellY), newMaxY = Math.max(maxCellY, cellY);
      const newMinZ = Math.min(minCellZ, cellZ), newMaxZ = Math.max(maxCellZ, cellZ);
      if (
        isNear(newMinX, newMaxX, axisX.nodes) && isNear(newMinY, newMaxY, axisY.nodes)
        && isNear(newMinZ, newMaxZ, axisZ.nodes)
      ) {
        minX = Math.min(minX, px);
        minY = Math.min(minY, py);
        minZ = Math.min(minZ, pz);
        maxX = Math.max(maxX, px);
        maxY = Math.max(maxY, py);
        maxZ = Math.max(maxZ, pz);
        minCellX = newMinX;
        minCellY = newMinY;
        minCellZ = newMinZ;
        maxCellX = newMaxX;
        maxCellY = newMaxY;
        maxCellZ = newMaxZ;
      }
    }
    const nx = highX - lowX + span, ny = highY - lowY + span, nz = highZ - lowZ + span;
    if (<i64>(nx * ny * nz) <= <i64>(j - i) * <i64>alone) {
      out.apart = i;
      out.together = j - i;
      out.x = wrapAfter(<f64>x, lowX, axisX.nodes);
      out.y = wrapAfter(<f64>y, lowY, axisY.nodes);
      out.z = wrapAfter(<f64>z, lowZ, axisZ.nodes);
      out.lengthX = nx;
      out.lengthY = ny;
      out.lengthZ = nz;
      return;
    }
    i = j;
  }
  out.apart = count;
}

/** Place of a node in a packet along one axis, whose first node is `first`. */
// @ts-ignore: decorator
@inline
export function inPacket(node: i32, first: i32, nodes: i32): i32 {
  return node < first ? node - first + nodes : node - first;
}

/** Bytes of the combined nodes of a field. */
// @ts-ignore: decorator
@inline
export function packetBytes(packet: Packet, field: Field): usize {
  return <usize>(packet.lengthX * packet.lengthY * packet.lengthZ * field.components) << 3;
}

/** Combines the nodes of the box of a packet, for all fields. */
export function combinePacket(frames: usize, packet: usize, axes: usize, fields: usize, fieldCount: i32): void {
  const axisX = changetype<Axis>(axes);
  const axisY = changetype<Axis>(axes + offsetof<Axis>());
  const axisZ = changetype<Axis>(axes + 2 * offsetof<Axis>());
  const weights = changetype<Frames>(frames);
  const box = changetype<Packet>(packet);
  let out = weights.nodes;
  for (let f = 0; f < fieldCount; f++) {
    const field = changetype<Field>(fields + f * offsetof<Field>());
    const rowBytes = (box.lengthX * field.components) << 3;
    const planeBytes = rowBytes * box.lengthY;
    combineInto(
      field, weights, axisX, axisY, axisZ, box.x, box.y, box.z, box.lengthX, box.lengthY, box.lengthZ, out, rowBytes,
      planeBytes
    );
    out += packetBytes(box, field);
  }
}

/** Copies `ny` by `nz` rows of `bytes` bytes, a multiple of 8. */
// @ts-ignore: decorator
@inline
function copyRows(
  at: usize, rowBytes: i32, planeBytes: i32, bytes: i32, ny: i32, nz: i32, out: usize, outRow: i32, outPlane: i32
): void {
  const wide = <usize>(bytes & ~15);
  for (let k = 0; k < nz; k++) {
    for (let j = 0; j < ny; j++) {
      let from = at + k * planeBytes + j * rowBytes;
      let to = out + k * outPlane + j * outRow;
      for (const end = to + wide; to < end; to += 16, from += 16) v128.store(to, v128.load(from));
      if (bytes & 8) store<f64>(to, load<f64>(from));
    }
  }
}

/** Copies a box of nodes from bricks of float64 to `out`; a brick that is not at hand leaves its part as it is. */
function gatherBox(field: Field, axisX: Axis, axisY: Axis, axisZ: Axis, box: Packet, out: usize): void {
  const nodeBytes = field.components << 3;
  const rowBytes = field.edgeX * nodeBytes, planeBytes = field.edgeY * rowBytes;
  const outRow = box.lengthX * nodeBytes, outPlane = box.lengthY * outRow;
  for (let leftZ = box.lengthZ, z = box.z; leftZ > 0; ) {
    const brickZ = brickOf(z, field.reciprocalZ);
    const localZ = z - brickZ * field.edgeZ;
    const partZ = min(leftZ, min(axisZ.nodes - z, field.edgeZ - localZ));
    let outY = out;
    for (let leftY = box.lengthY, y = box.y; leftY > 0; ) {
      const brickY = brickOf(y, field.reciprocalY);
      const localY = y - brickY * field.edgeY;
      const partY = min(leftY, min(axisY.nodes - y, field.edgeY - localY));
      let outX = outY;
      for (let leftX = box.lengthX, x = box.x; leftX > 0; ) {
        const brickX = brickOf(x, field.reciprocalX);
        const localX = x - brickX * field.edgeX;
        const partX = min(leftX, min(axisX.nodes - x, field.edgeX - localX));
        const brick = (brickZ * field.countY + brickY) * field.countX + brickX;
        const entry = load<i32>(field.table + (<usize>brick << 2));
        const inner = localX * nodeBytes + localY * rowBytes + localZ * planeBytes;
        if (entry != -1) copyRows(
          (<usize>entry << 3) + inner, rowBytes, planeBytes, partX * nodeBytes, partY, partZ, outX, outRow, outPlane
        );
        outX += partX * nodeBytes;
        leftX -= partX;
        x = shift(x, partX, axisX.nodes);
      }
      outY += partY * outRow;
      leftY -= partY;
      y = shift(y, partY, axisY.nodes);
    }
    out += partZ * outPlane;
    leftZ -= partZ;
    z = shift(z, partZ, axisZ.nodes);
  }
}

/** Copies the nodes of the box of a packet, for all fields, from bricks that hold combined nodes. */
export function gatherPacket(frames: usize, packet: usize, axes: usize, fields: usize, fieldCount: i32): void {
  const axisX = changetype<Axis>(axes);
  const axisY = changetype<Axis>(axes + offsetof<Axis>());
  const axisZ = changetype<Axis>(axes + 2 * offsetof<Axis>());
  const box = changetype<Packet>(packet);
  let out = changetype<Frames>(frames).nodes;
  for (let f = 0; f < fieldCount; f++) {
    const field = changetype<Field>(fields + f * offsetof<Field>());
    gatherBox(field, axisX, axisY, axisZ, box, out);
    out += packetBytes(box, field);
  }
}

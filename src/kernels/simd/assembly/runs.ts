/** Divides sorted points into runs: points whose stencils share so many nodes that one box of them is combined at once. */
import { combineInto } from "./combine";
import { Axis, Field, Frames, Run } from "./records";
import { wrapAfter } from "./nodes";

/** The way from node `from` to node `to` of a periodic axis, the shorter one. */
// @ts-ignore: decorator
@inline
function distance(from: i32, to: i32, nodes: i32): i32 {
  const way = to - from;
  if (way + way >= nodes) return way - nodes;
  return way + way < -nodes ? way + nodes : way;
}

/** First node of a stencil. */
// @ts-ignore: decorator
@inline
function firstNode(axis: Axis, x: f64, rounding: f64, low: i32): i32 {
  return wrapAfter(Math.floor((x - axis.origin) / axis.spacing + rounding), low, axis.nodes);
}

/**
 * Finds the first points that are together: as many as follow each other with first nodes at most `edge` - 1 apart along
 * every axis, if the nodes of their box are no more than `alone` for each. All points before them are apart.
 *
 * @param rounding added before a coordinate is rounded down to a node: 0.5 for the nearest node
 * @param low      first node of a stencil, counted from there, and
 * @param span     number of nodes along an axis
 * @param run      receives what was found
 */
export function nextRun(rounding: f64, low: i32, span: i32, edge: i32, alone: i32, axes: usize, positions: usize, count: i32, run: usize): void {
  const axisX = changetype<Axis>(axes);
  const axisY = changetype<Axis>(axes + offsetof<Axis>());
  const axisZ = changetype<Axis>(axes + 2 * offsetof<Axis>());
  const out = changetype<Run>(run);
  out.together = 0;
  for (let i = 0; i < count; ) {
    let x = 0, y = 0, z = 0;
    let lowX = 0, lowY = 0, lowZ = 0, highX = 0, highY = 0, highZ = 0;
    let j = i;
    for (let p = positions + <usize>i * 24; j < count; j++, p += 24) {
      const nodeX = firstNode(axisX, load<f64>(p), rounding, low);
      const nodeY = firstNode(axisY, load<f64>(p, 8), rounding, low);
      const nodeZ = firstNode(axisZ, load<f64>(p, 16), rounding, low);
      if (j == i) {
        x = nodeX;
        y = nodeY;
        z = nodeZ;
        continue;
      }
      const toX = distance(x, nodeX, axisX.nodes);
      const toY = distance(y, nodeY, axisY.nodes);
      const toZ = distance(z, nodeZ, axisZ.nodes);
      const newLowX = min(lowX, toX), newHighX = max(highX, toX);
      const newLowY = min(lowY, toY), newHighY = max(highY, toY);
      const newLowZ = min(lowZ, toZ), newHighZ = max(highZ, toZ);
      if (max(newHighX - newLowX, max(newHighY - newLowY, newHighZ - newLowZ)) >= edge) break;
      lowX = newLowX;
      lowY = newLowY;
      lowZ = newLowZ;
      highX = newHighX;
      highY = newHighY;
      highZ = newHighZ;
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

/** Place of a node in a run along one axis, whose first node is `first`. */
// @ts-ignore: decorator
@inline
export function inRun(node: i32, first: i32, nodes: i32): i32 {
  return node < first ? node - first + nodes : node - first;
}

/** Bytes of the combined nodes of a field. */
// @ts-ignore: decorator
@inline
export function runBytes(run: Run, field: Field): usize {
  return <usize>(run.lengthX * run.lengthY * run.lengthZ * field.components) << 3;
}

/** Combines the nodes of the box of a run, for all fields. */
export function combineRun(frames: usize, run: usize, axes: usize, fields: usize, fieldCount: i32): void {
  const axisX = changetype<Axis>(axes);
  const axisY = changetype<Axis>(axes + offsetof<Axis>());
  const axisZ = changetype<Axis>(axes + 2 * offsetof<Axis>());
  const weights = changetype<Frames>(frames);
  const box = changetype<Run>(run);
  let out = weights.nodes;
  for (let f = 0; f < fieldCount; f++) {
    const field = changetype<Field>(fields + f * offsetof<Field>());
    const rowBytes = (box.lengthX * field.components) << 3;
    const planeBytes = rowBytes * box.lengthY;
    combineInto(field, weights, axisX, axisY, axisZ, box.x, box.y, box.z, box.lengthX, box.lengthY, box.lengthZ, out, rowBytes, planeBytes);
    out += runBytes(box, field);
  }
}

/** Records that the host writes into scratch memory before a call; `../scratch.ts` writes the same layouts. */
import { AXIS_BYTES, FIELD_BYTES, FRAMES_BYTES, PACKET_BYTES, TAP_BYTES, TERM_BYTES } from "../record-sizes";

/** A uniform axis: node i is at `origin + i * spacing`. */
@unmanaged
export class Axis {
  origin: f64;
  spacing: f64;
  nodes: i32;
  /** 1 or 0. */
  periodic: i32;
}

/** Up to four frames of a field in bricks [z][y][x][component] of float32. */
@unmanaged
export class Field {
  components: i32;
  /** Address of the brick table of the first frame; its entries are element offsets from address 0. */
  table: usize;
  edgeX: i32;
  edgeY: i32;
  edgeZ: i32;
  countX: i32;
  countY: i32;
  reciprocalX: u32;
  reciprocalY: u32;
  reciprocalZ: u32;
  /** Brick tables of the other frames. */
  table1: usize;
  table2: usize;
  table3: usize;
}

/** A combination of frames: the value of a node is weight0 * frame0 + weight1 * frame1 + ... */
@unmanaged
export class Frames {
  weight0: f64;
  weight1: f64;
  weight2: f64;
  weight3: f64;
  /** Number of frames; 0: one frame, which is added to nodes that are there. */
  count: i32;
  /** Nodes of a stencil: first one, counted from the first of the interpolation, and number along an axis. */
  low: i32;
  span: i32;
  /** Whether a stencil is combined as one cube of nodes, or term by term. */
  whole: i32;
  /** Address of combined nodes, [z][y][x][component] of float64; fields follow each other. */
  nodes: usize;
  /** Address of four weights for each point, which only `values` reads; 0: all points have those above. */
  each: usize;
  /** Whether the frames exceed the caches: a point's lines of four frames are read before its nodes are combined. */
  ahead: i32;
}

/** Points that follow each other in sorted order: `apart` whose stencils share little, then `together` in one box. */
@unmanaged
export class Packet {
  apart: i32;
  together: i32;
  /** First node of the box, and number of nodes along each axis. */
  x: i32;
  y: i32;
  z: i32;
  lengthX: i32;
  lengthY: i32;
  lengthZ: i32;
}

/** A separable product of three vectors, times `scale`, added to output `output` of every component. */
@unmanaged
export class Term {
  scale: f64;
  output: i32;
  vectorX: i32;
  startX: i32;
  lengthX: i32;
  vectorY: i32;
  startY: i32;
  lengthY: i32;
  vectorZ: i32;
  startZ: i32;
  lengthZ: i32;
}

/** A node of a stencil around the nearest node, and its weight in an output; records of an output are adjacent. */
@unmanaged
export class Tap {
  weight: f64;
  output: i32;
  x: i32;
  y: i32;
  z: i32;
}

if (
  offsetof<Axis>() != AXIS_BYTES || offsetof<Field>() != FIELD_BYTES || offsetof<Frames>() != FRAMES_BYTES
  || offsetof<Packet>() != PACKET_BYTES
)
  ERROR("record-sizes.ts does not agree with the records");
if (offsetof<Term>() != TERM_BYTES || offsetof<Tap>() != TAP_BYTES)
  ERROR("record-sizes.ts does not agree with the records");

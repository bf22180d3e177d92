/** Takes fields from the retained modes to the planes of nodes and back, row by row and plane by plane. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { halfOf, PlaneTransforms } from "#src/kernels/fft/plane-transforms.js";
import { type Modes, sharedNumbers } from "./modes.js";

/** The folder of the build, from here, or from the source as in tests. */
export const BUILD = new URL(import.meta.url.endsWith(".ts") ? "../../dist/" : "../../", import.meta.url);

/** Most fields that are transformed together. */
export const FIELDS = 6;

/**
 * Planes that are transformed by one thread after another, and whose rows are neighbours in scratch space, so that
 * both planes and rows read whole passages of it.
 */
const PLANES = 8;

/** Rows of modes with one ky, and room for them between the axes; what threads share. */
export function createScratch(modes: Modes): Float64Array {
  return sharedNumbers(FIELDS * groupsOf(modes) * PLANES * rowsOf(modes) * 2 * halfOf(modes.kmax + 1, false));
}

/** Groups of planes. */
export function groupsOf({ nodes }: Modes): number {
  return Math.ceil(nodes / PLANES);
}

/** Rows of modes: those with ky = 0, 1, ..., kmax, -kmax, ..., -1. */
export function rowsOf({ kmax }: Modes): number {
  return 2 * kmax + 1;
}

/** The ky of a row. */
export function wavenumberOf(row: number, { kmax }: Modes): number {
  return row <= kmax ? row : row - 2 * kmax - 1;
}

/**
 * The transforms of one thread. A row is transformed along z, and waits for the others in scratch space; a plane along
 * y and x. Forward transforms go the other way.
 */
export class CubeTransforms {
  /** From the real part of a mode of a row to its imaginary part. */
  readonly half: number;
  /** Numbers from one row of nodes to the next. */
  readonly stride: number;
  readonly #modes: Modes;
  readonly #scratch: Float64Array;
  readonly #columns: PlaneTransforms;
  readonly #lines: PlaneTransforms;
  readonly #rooms: readonly Float64Array[];
  readonly #planes: readonly Float64Array[];

  constructor(modes: Modes, scratch: Float64Array) {
    const { nodes, kmax } = modes;
    this.#modes = modes;
    this.#scratch = scratch;
    this.half = halfOf(kmax + 1, false);
    const long = halfOf(nodes, true);
    this.stride = 2 * long;
    const wasm = readFileSync(fileURLToPath(new URL("kernels/fft/fft.wasm", BUILD)));
    const make = (along: number, half: number) => {
      const planes = new PlaneTransforms(wasm);
      planes.prepare({ nodes: along, lengths: [nodes], half, rows: nodes, planes: FIELDS });
      return planes;
    };
    this.#columns = make(1, this.half);
    this.#lines = make(nodes, long);
    const planesOf = (planes: PlaneTransforms) => Array.from({ length: FIELDS }, (_, f) => planes.plane(f));
    this.#rooms = planesOf(this.#columns);
    this.#planes = planesOf(this.#lines);
  }

  /** Takes a row of modes of the first `fields` fields along z to the planes. @param fill writes all to the rooms */
  spread(row: number, fields: number, fill: (rooms: readonly Float64Array[]) => void): void {
    const { nodes, kmax } = this.#modes;
    for (let f = 0; f < fields; f++) this.#rooms[f].fill(0, 2 * this.half * (kmax + 1), 2 * this.half * (nodes - kmax));
    fill(this.#rooms);
    for (let f = 0; f < fields; f++) {
      this.#columns.alongColumns(f, nodes, true);
      this.#move(row, f, true);
    }
  }

  /** Takes a row of planes along z to modes, which are valid until the next. */
  collect(row: number, fields: number): readonly Float64Array[] {
    for (let f = 0; f < fields; f++) {
      this.#move(row, f, false);
      this.#columns.alongColumns(f, this.#modes.nodes, false);
    }
    return this.#rooms;
  }

  /** The planes of a group. */
  *planesOf(group: number): Generator<number> {
    for (let z = PLANES * group; z < Math.min(this.#modes.nodes, PLANES * (group + 1)); z++) yield z;
  }

  /** The nodes of plane z: a row along x each `stride` numbers. They may be overwritten; valid until the next. */
  nodesOf(z: number, fields: number): readonly Float64Array[] {
    const { nodes, kmax } = this.#modes;
    for (let f = 0; f < fields; f++) {
      this.#planes[f].fill(0, this.stride * (kmax + 1), this.stride * (nodes - kmax));
      this.#moveRows(z, f, true);
      this.#lines.alongColumns(f, nodes, true, 0, 1, this.half);
      this.#lines.inverseAlongRows(f, kmax + 1);
    }
    return this.#planes;
  }

  /** Takes the nodes of plane z, as `nodesOf` has given them and they were overwritten, to the rows. */
  placeNodes(z: number, fields: number): void {
    const { nodes, kmax } = this.#modes;
    for (let f = 0; f < fields; f++) {
      this.#lines.forwardAlongRows(f, kmax + 1);
      this.#lines.alongColumns(f, nodes, false, 0, 1, this.half);
      this.#moveRows(z, f, false);
    }
  }

  /** The place of a row of plane z of a field in scratch space. */
  #placeOf(field: number, z: number, row: number): number {
    const group = field * groupsOf(this.#modes) + Math.floor(z / PLANES);
    return ((group * rowsOf(this.#modes) + row) * PLANES + (z % PLANES)) * 2 * this.half;
  }

  /** Moves a row between a room and the planes. */
  #move(row: number, field: number, toPlanes: boolean): void {
    const { nodes } = this.#modes;
    const [room, width] = [this.#rooms[field], 2 * this.half];
    for (let z = 0; z < nodes; z += PLANES) {
      const length = width * Math.min(PLANES, nodes - z);
      const at = this.#placeOf(field, z, row);
      if (toPlanes) copy(room, z * width, this.#scratch, at, length);
      else copy(this.#scratch, at, room, z * width, length);
    }
  }

  /** Moves the rows of plane z between scratch space and the plane of nodes. */
  #moveRows(z: number, field: number, toPlane: boolean): void {
    const { nodes, kmax } = this.#modes;
    const { half, stride } = this;
    const [plane, rows] = [this.#planes[field], rowsOf(this.#modes)];
    for (let row = 0; row < rows; row++) {
      const at = this.#placeOf(field, z, row);
      const re = stride * (row <= kmax ? row : row - rows + nodes);
      const im = re + stride / 2;
      if (toPlane) {
        copy(this.#scratch, at, plane, re, kmax + 1);
        copy(this.#scratch, at + half, plane, im, kmax + 1);
      } else {
        copy(plane, re, this.#scratch, at, kmax + 1);
        copy(plane, im, this.#scratch, at + half, kmax + 1);
      }
    }
  }
}

/** Copies numbers: as fast as views of shared memory, which are copied word by word. */
function copy(from: Float64Array, at: number, to: Float64Array, place: number, length: number): void {
  for (let i = 0; i < length; i++) to[place + i] = from[at + i];
}

/** Takes fields from retained modes to nodes and products back, row by row and plane by plane, in one memory. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { LINES, LINES_BYTES } from "#src/kernels/fft/fft-layout.js";
import {
  createSharedFftMemory,
  type FftFunctions,
  instantiateFft,
  type SharedFftMemory,
} from "#src/kernels/fft/fft-module.js";
import { planBytes, writePlan } from "#src/kernels/fft/passes.js";
import { BLOCK, halfOf } from "#src/kernels/fft/plane-transforms.js";
import type { Modes } from "./modes.js";

/** The folder of the build, from here, or from the source as in tests. */
export const BUILD = new URL(import.meta.url.endsWith(".ts") ? "../../dist/" : "../../", import.meta.url);

/** Most fields that are transformed together. */
const FIELDS = 6;

/** Rows of modes: those with ky = 0, 1, ..., kmax, -kmax, ..., -1. */
export function rowsOf({ kmax }: Modes): number {
  return 2 * kmax + 1;
}

/** The ky of a row. */
export function wavenumberOf(row: number, { kmax }: Modes): number {
  return row <= kmax ? row : row - 2 * kmax - 1;
}

/** Byte offsets in the memory of a simulation: rows of all planes that threads share, and areas of a thread. */
function layoutOf(modes: Modes) {
  const { nodes, kmax } = modes;
  // A row has its real parts, then its imaginary parts.
  const rowBytes = 16 * halfOf(kmax + 1, false);
  const lanesBytes = 2 * LINES_BYTES * (nodes + 2);
  const planeBytes = rowBytes * BLOCK * Math.ceil(nodes / BLOCK);
  const plan = LINES_BYTES;
  const scratch = plan + LINES_BYTES * Math.ceil(planBytes(nodes) / LINES_BYTES);
  const sharedPlaneBytes = rowBytes * rowsOf(modes);
  const first = scratch + FIELDS * nodes * sharedPlaneBytes;
  // A work area of two sets of lanes, the lanes of each field, and its plane.
  const threadBytes = 2 * lanesBytes + FIELDS * (lanesBytes + planeBytes);
  return { plan, scratch, rowBytes, lanesBytes, planeBytes, sharedPlaneBytes, first, threadBytes };
}

/** The memory in which some threads transform cubes. Throws RangeError if 4 GiB are too few. */
export function createCubeMemory(modes: Modes, threads: number): SharedFftMemory {
  const { plan, first, threadBytes } = layoutOf(modes);
  const memory = createSharedFftMemory(first + threads * threadBytes);
  writePlan(memory.buffer, plan, modes.nodes);
  return memory;
}

/**
 * The transforms of one thread. A row is transformed along z where threads share it; a plane is copied from there,
 * transformed along y, and along x a block of rows after another, whose products go back at once.
 */
export class CubeTransforms {
  /** Modes of all planes: that of field f, plane z and a row at `placeOf(f, z, row)`, real parts first. */
  readonly numbers: Float64Array;
  /** From the real part of a mode to its imaginary part. */
  readonly half: number;
  /** From one plane of `numbers` to the next. */
  readonly stride: number;
  readonly #modes: Modes;
  readonly #layout: ReturnType<typeof layoutOf>;
  readonly #module: FftFunctions;
  readonly #buffer: ArrayBufferLike;
  readonly #work: number;
  readonly #lanes: number;
  readonly #planes: number;

  /** @param thread its number, from 0 on, of those that the memory was made for */
  constructor(modes: Modes, memory: SharedFftMemory, thread: number) {
    const layout = layoutOf(modes);
    const wasm = readFileSync(fileURLToPath(new URL("kernels/fft/fft-shared.wasm", BUILD)));
    this.#modes = modes;
    this.#layout = layout;
    this.#module = instantiateFft(wasm, memory);
    this.#buffer = memory.buffer;
    this.half = layout.rowBytes / 16;
    this.stride = layout.sharedPlaneBytes / 8;
    this.numbers = new Float64Array(memory.buffer, layout.scratch, FIELDS * modes.nodes * this.stride);
    this.#work = layout.first + thread * layout.threadBytes;
    this.#lanes = this.#work + 2 * layout.lanesBytes;
    this.#planes = this.#lanes + FIELDS * layout.lanesBytes;
  }

  placeOf(field: number, z: number, row: number): number {
    return (field * this.#modes.nodes + z) * this.stride + 2 * this.half * row;
  }

  /** Takes a row of modes of the first `fields` fields along z, which the caller has written for |kz| <= kmax. */
  spread(row: number, fields: number): void {
    const { nodes, kmax } = this.#modes;
    for (let f = 0; f < fields; f++) {
      for (let z = kmax + 1; z < nodes - kmax; z++)
        this.#module.clear(this.#layout.scratch + 8 * this.placeOf(f, z, row), this.#layout.rowBytes);
      this.#alongZ(row, f, true);
    }
  }

  /** Takes a row of the first `fields` fields along z to modes. */
  collect(row: number, fields: number): void {
    for (let f = 0; f < fields; f++) this.#alongZ(row, f, false);
  }

  /** Replaces a plane of the velocity by uu - ww, vv - ww, uv, uw, vw, or by `all` products: uu, vv, ww, uv, uw, vw. */
  multiply(z: number, all: boolean): void {
    const { nodes } = this.#modes;
    const { lanesBytes } = this.#layout;
    const products = all ? 6 : 5;
    for (let f = 0; f < 3; f++) this.#takePlane(f, z);
    for (let row = 0; row < nodes; row += BLOCK) {
      for (let f = 0; f < 3; f++) this.#takeBlock(f, row);
      this.#module.multiply(this.#lanes, lanesBytes, Number(all));
      for (let f = 0; f < products; f++) this.#placeBlock(f, row);
    }
    for (let f = 0; f < products; f++) this.#placePlane(f, z);
  }

  /** Copies the nodes of plane z of the first field to `out`, row by row. */
  nodesOf(z: number, out: Float64Array): void {
    const { nodes } = this.#modes;
    const lanes = new Float64Array(this.#buffer, this.#lanes, (2 * LINES_BYTES * nodes) / 8);
    this.#takePlane(0, z);
    for (let row = 0; row < nodes; row += BLOCK) {
      this.#takeBlock(0, row);
      for (let y = row; y < Math.min(nodes, row + BLOCK); y++)
        for (let x = 0; x < nodes; x++) out[y * nodes + x] = lanes[2 * LINES * x + y - row];
    }
  }

  #alongZ(row: number, field: number, isInverse: boolean): void {
    const at = this.#layout.scratch + 8 * this.placeOf(field, 0, row);
    this.#alongColumns(at, this.#layout.sharedPlaneBytes, isInverse);
  }

  /** Transforms columns of modes. `bytes`: from one number of a column to the next. */
  #alongColumns(at: number, bytes: number, isInverse: boolean): void {
    const im = at + this.#layout.rowBytes / 2;
    const [a, b] = isInverse ? [im, at] : [at, im];
    this.#module.transformRows(this.#layout.plan, a, b, bytes, this.half, this.#work, this.#layout.lanesBytes);
  }

  /** Transforms the lanes of a field. */
  #alongLanes(field: number, isInverse: boolean): void {
    const { plan, lanesBytes } = this.#layout;
    const at = this.#lanes + field * lanesBytes;
    const [a, b] = isInverse ? [at + LINES_BYTES, at] : [at, at + LINES_BYTES];
    this.#module.transformRows(plan, a, b, 2 * LINES_BYTES, LINES, this.#work, lanesBytes);
  }

  /** Takes plane z of a field along y, between the areas of this thread and the shared areas. */
  #takePlane(field: number, z: number): void {
    const { nodes, kmax } = this.#modes;
    const { rowBytes, planeBytes } = this.#layout;
    const { plane, from, rows, beyond } = this.#partsOf(field, z);
    this.#module.copy(plane, from, rows);
    this.#module.clear(plane + rows, (nodes - rowsOf(this.#modes)) * rowBytes);
    this.#module.copy(plane + beyond, from + rows, kmax * rowBytes);
    this.#alongColumns(plane, rowBytes, true);
    // Rows beyond the last share registers with it.
    this.#module.clear(plane + nodes * rowBytes, planeBytes - nodes * rowBytes);
  }

  #placePlane(field: number, z: number): void {
    const { kmax } = this.#modes;
    const { rowBytes } = this.#layout;
    const { plane, from, rows, beyond } = this.#partsOf(field, z);
    this.#alongColumns(plane, rowBytes, false);
    this.#module.copy(from, plane, rows);
    this.#module.copy(from + rows, plane + beyond, kmax * rowBytes);
  }

  /** A plane of this thread, the shared one, the bytes of its rows ky >= 0, and where the others begin in the first. */
  #partsOf(field: number, z: number) {
    const { nodes, kmax } = this.#modes;
    const { scratch, rowBytes, planeBytes } = this.#layout;
    return {
      plane: this.#planes + field * planeBytes,
      from: scratch + 8 * this.placeOf(field, z, 0),
      rows: (kmax + 1) * rowBytes,
      beyond: (nodes - kmax) * rowBytes,
    };
  }

  /** Takes a block of rows of a plane along x to lanes of nodes. */
  #takeBlock(field: number, row: number): void {
    const { nodes, kmax } = this.#modes;
    const { rowBytes, lanesBytes } = this.#layout;
    const lanes = this.#lanes + field * lanesBytes;
    this.#module.packRows(this.#rowAt(field, row), rowBytes / 2, rowBytes, nodes, kmax + 1, lanes);
    this.#alongLanes(field, true);
  }

  #placeBlock(field: number, row: number): void {
    const { nodes, kmax } = this.#modes;
    const { rowBytes, lanesBytes } = this.#layout;
    const lanes = this.#lanes + field * lanesBytes;
    this.#alongLanes(field, false);
    this.#module.unpackRows(lanes, nodes, kmax + 1, this.#rowAt(field, row), rowBytes / 2, rowBytes);
  }

  #rowAt(field: number, row: number): number {
    return this.#planes + field * this.#layout.planeBytes + row * this.#layout.rowBytes;
  }
}

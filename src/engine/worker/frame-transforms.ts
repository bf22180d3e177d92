/** Transforms of whole frames in a worker: planes along x and y, rows along z, and their modes. */
import { actsAlong, type DerivedComponent, type DerivedPlan, ModeFactors } from "../../analysis/derived.js";
import { type SpectrumPlan, SpectrumRows, type SpectrumSums } from "../../analysis/spectrum.js";
import { halfOf, type PlaneTransforms } from "../../kernels/fft/plane-transforms.js";
import type { DifferenceOrder } from "../../kernels/finite-difference.js";
import { createScheme } from "../../kernels/index.js";
import {
  applyLines,
  differenceLines,
  gaussianLines,
  type LineMatrix,
  productOfLines,
} from "../../kernels/line-matrix.js";
import type { Axes } from "../../kernels/types.js";
import { RequestError } from "../../shared/errors.js";
import type { Message } from "../contract/dataset-copy.js";
import { fillPositions, frameShift, slabOutsideError } from "../contract/positions.js";
import { readScratch, writeScratch } from "../contract/scratch.js";
import type { TransformTask } from "../contract/task.js";
import type { NodeColumns } from "./node-columns.js";
import type { OpenDataset } from "./open-dataset.js";
import { throwIfCancelled } from "./refusals.js";
import type { Sampler } from "./sampler.js";

export class FrameTransforms {
  readonly #columns: NodeColumns;
  readonly #make: () => PlaneTransforms;
  #planes: PlaneTransforms | null = null;

  constructor(columns: NodeColumns, make: () => PlaneTransforms) {
    this.#columns = columns;
    this.#make = make;
  }

  /** Runs a task: null, or the sums of its modes. Throws what `NodeColumns.evaluate` throws. */
  run(task: Message<TransformTask>, opened: OpenDataset, sampler: Sampler): SpectrumSums | Float64Array | null {
    this.#planes ??= this.#make();
    switch (task.stage) {
      case "forward":
      case "planes":
        return this.#forward(task, this.#planes, opened, sampler);
      case "sum":
        return this.#sum(task.plan, task, this.#planes);
      case "derive":
        return this.#derive(task, this.#planes, opened);
      case "back":
        return this.#back(task, this.#planes, opened);
      case "at":
        return interpolate(task, opened);
    }
  }

  /** Evaluates planes of the columns and transforms them along x and y; keeps the planes, or returns sums of their modes. */
  #forward(
    task: Message<TransformTask> & { readonly stage: "forward" | "planes" },
    planes: PlaneTransforms,
    opened: OpenDataset,
    sampler: Sampler,
  ): SpectrumSums | null {
    const { plan, from, count, scratch, time, frame, blend, derived = null, cancel } = task;
    const [nx, ny, nz] = plan.nodes;
    const half = halfOf(nx, plan.transformed[0]);
    planes.prepare({ nodes: nx, lengths: [ny], half, rows: ny, planes: plan.columns.length });
    const rooms = plan.columns.map((_, c) => planes.plane(c));
    const sums = task.stage === "planes" ? new SpectrumRows(task.plan) : null;
    const region = { frame, first: [0, 0, from], count: [nx, ny, count] } as const;
    this.#columns.evaluate({ ...plan, region, time, blend, derived, cancel }, opened, sampler, (c, y, z, values) => {
      const room = rooms[c];
      if (y === 0) room.fill(0);
      for (let row = 0; row * nx < values.length; row++)
        room.set(values.subarray(row * nx, (row + 1) * nx), 2 * half * (y + row));
      if (y + values.length / nx < ny) return;
      // The plane is whole, and in the processor's caches.
      if (plan.transformed[0]) planes.forwardAlongRows(c);
      if (plan.transformed[1]) planes.alongColumns(c, ny, false);
      // Missing values would spread to all nodes or to those within the filter; they are in the modes of wavenumber 0.
      if (!areFinite(room, 2 * half, plan.transformed[0] ? 1 : nx, plan.transformed[1] ? 1 : ny)) {
        const what = "terms" in plan ? "Spectra and correlations" : "Filters and spectral derivatives";
        const text = `${what} need all nodes, and some of "${opened.dataset.name}" have no value.`;
        throw new RequestError("Unsupported", text);
      }
      if (sums === null) writeScratch(scratch, (c * nz + from + z) * room.length, room);
      else if (c === rooms.length - 1) addRows(sums, half, { first: 0, count: ny, z: from + z }, rooms);
    });
    return sums?.sums ?? null;
  }

  /** Transforms rows of all planes along z, and sums their modes. */
  #sum(plan: SpectrumPlan, task: Message<TransformTask>, planes: PlaneTransforms): SpectrumSums {
    const half = this.#rowsAlongZ(task, planes);
    const { from, count } = task;
    const length = 2 * half * count;
    const sums = new SpectrumRows(plan);
    const columns = plan.columns.map((_, c) => planes.plane(c));
    for (let z = 0; z < plan.nodes[2]; z++) {
      const rows = columns.map((values) => values.subarray(z * length, (z + 1) * length));
      addRows(sums, half, { first: from, count, z }, rows);
    }
    return sums.sums;
  }

  /** Transforms rows of all planes along z, multiplies them by the factors of each component, and goes back along z. */
  #derive(
    task: Message<TransformTask> & { readonly stage: "derive" | "back" },
    planes: PlaneTransforms,
    { dataset: { axes } }: OpenDataset,
  ): null {
    const { plan, from, count, scratch, cancel } = task;
    const [, ny, nz] = plan.nodes;
    const half = this.#rowsAlongZ(task, planes, 1);
    const factors = new ModeFactors(plan);
    const length = 2 * half * count;
    const made = planes.plane(plan.columns.length);
    plan.components.forEach((component, i) => {
      throwIfCancelled(cancel);
      const { column } = component;
      const along = matrixAlong(plan, component, axes, 2);
      const modes = planes.plane(column);
      const part = (values: Float64Array, at: number) => values.subarray(at, at + half);
      for (let z = 0; z < nz; z++)
        for (let y = 0; y < count; y++) {
          const at = length * z + 2 * half * y;
          const [re, im] = [part(modes, at), part(modes, at + half)];
          factors.apply(i, from + y, z, re, im, part(made, at), part(made, at + half));
        }
      if (plan.transformed[2])
        for (let y = 0; y < count; y++) planes.alongColumns(plan.columns.length, nz, true, y, count);
      else if (along !== null) applyLines(along, made, 0, length, length);
      const place = (plan.columns.length + i) * nz;
      for (let z = 0; z < nz; z++)
        writeScratch(scratch, 2 * half * ((place + z) * ny + from), made.subarray(z * length, (z + 1) * length));
    });
    return null;
  }

  /** Transforms back along y and x, from planes of modes to planes of numbers at nodes. */
  #back(
    { plan, from, count, scratch, cancel }: Message<TransformTask> & { readonly stage: "derive" | "back" },
    planes: PlaneTransforms,
    { dataset: { axes } }: OpenDataset,
  ): null {
    const [nx, ny, nz] = plan.nodes;
    const { transformed } = plan;
    const half = halfOf(nx, transformed[0]);
    planes.prepare({ nodes: nx, lengths: [ny], half, rows: ny, planes: 1 });
    const plane = planes.plane(0);
    plan.components.forEach((component, i) => {
      const [alongX, alongY] = [matrixAlong(plan, component, axes, 0), matrixAlong(plan, component, axes, 1)];
      for (let z = from; z < from + count; z++) {
        throwIfCancelled(cancel);
        const at = ((plan.columns.length + i) * nz + z) * plane.length;
        readScratch(scratch, at, plane);
        if (transformed[1]) planes.alongColumns(0, ny, true);
        else if (alongY !== null) applyLines(alongY, plane, 0, 2 * half, 2 * half);
        if (transformed[0]) planes.inverseAlongRows(0);
        else if (alongX !== null) for (let y = 0; y < ny; y++) applyLines(alongX, plane, 2 * half * y, 1, 1);
        writeScratch(scratch, at, plane);
      }
    });
    return null;
  }

  /** Reads rows of all planes of each column and transforms them along z; row (y, z) is number `z * count + y`. */
  #rowsAlongZ(
    { plan, from, count, scratch, cancel }: Message<TransformTask>,
    planes: PlaneTransforms,
    more = 0,
  ): number {
    const [nx, ny, nz] = plan.nodes;
    const half = halfOf(nx, plan.transformed[0]);
    planes.prepare({ nodes: 1, lengths: [nz], half, rows: nz * count, planes: plan.columns.length + more });
    plan.columns.forEach((_, c) => {
      throwIfCancelled(cancel);
      const room = planes.plane(c);
      const length = 2 * half * count;
      for (let z = 0; z < nz; z++)
        readScratch(scratch, 2 * half * ((c * nz + z) * ny + from), room.subarray(z * length, (z + 1) * length));
      if (plan.transformed[2]) for (let y = 0; y < count; y++) planes.alongColumns(c, nz, false, y, count);
    });
    return half;
  }
}

/** Adds the modes of rows of a plane: `count` rows from y = `first` on. */
function addRows(
  sums: SpectrumRows,
  half: number,
  { first, count, z }: Readonly<Record<"first" | "count" | "z", number>>,
  columns: readonly Float64Array[],
): void {
  const part = (values: Float64Array, at: number) => values.subarray(at, at + half);
  for (let y = 0, at = 0; y < count; y++, at += 2 * half) {
    const modes = columns.map((values) => ({ re: part(values, at), im: part(values, at + half) }));
    sums.add(first + y, z, modes);
  }
}

/** The filter and the difference of a component along an axis that is not transformed; null if it has none. */
function matrixAlong(
  { transformed, scheme }: DerivedPlan,
  { axes: along, filter }: DerivedComponent,
  axes: Axes,
  a: 0 | 1 | 2,
): LineMatrix | null {
  if (transformed[a]) return null;
  const filtered = filter !== null && actsAlong(filter, a) ? gaussianLines(axes[a], filter.width) : null;
  if (along === "laplacian" || !along.includes(a)) return filtered;
  const difference = differenceLines(axes[a], scheme as DifferenceOrder);
  return filtered === null ? difference : productOfLines(difference, filtered);
}

/** Planes of a component that are read at a time, if they are in a file. */
const MAX_PLANES = 16;

/** Interpolates components at points, the first component first. Throws RequestError for a point outside the domain. */
function interpolate(task: Message<TransformTask> & { readonly stage: "at" }, { dataset }: OpenDataset): Float64Array {
  const { plan, points, from, count, method, time, scratch, cancel } = task;
  const { axes } = dataset;
  const shift = frameShift(dataset.frameVelocity, time);
  const outside = slabOutsideError(axes, shift, { triples: points, count }, from);
  if (outside !== null) throw outside;
  const positions = new Float64Array(3 * count);
  fillPositions([{ triples: points, count }], positions, shift);
  // A component is a scalar field whose bricks are its planes.
  const scheme = createScheme("pressure", method, axes, { fd8Legacy: false });
  const [nx, ny, nz] = plan.nodes;
  const row = 2 * halfOf(nx, plan.transformed[0]);
  const plane = row * ny;
  const bricking = { edge: [row, ny, 1], count: [1, 1, nz] } as const;
  const table = new Int32Array(nz);
  const out = new Float64Array(plan.components.length * count);
  const marks = new Uint8Array(nz);
  const list = new Int32Array(nz);
  let read = new Float64Array(0);
  plan.components.forEach((_, i) => {
    const first = (plan.columns.length + i) * nz * plane;
    const values = out.subarray(i * count, (i + 1) * count);
    const evaluate = (at: number, many: number): void => {
      throwIfCancelled(cancel);
      if (scratch.kind === "memory") {
        for (let z = 0; z < nz; z++) table[z] = z * plane;
        const data = scratch.values.subarray(first, first + nz * plane);
        scheme.evaluate([{ components: 1, bricking, data, table }], positions, at, many, values);
        return;
      }
      const touched = scheme.listBricks(bricking, positions, at, many, marks.fill(0), list, 0);
      if (touched > MAX_PLANES && many > 1) {
        const half = many >> 1;
        evaluate(at, half);
        evaluate(at + half, many - half);
        return;
      }
      if (read.length < touched * plane) read = new Float64Array(touched * plane);
      table.fill(-1);
      for (let k = 0; k < touched; k++) {
        table[list[k]] = k * plane;
        readScratch(scratch, first + list[k] * plane, read.subarray(k * plane, (k + 1) * plane));
      }
      scheme.evaluate([{ components: 1, bricking, data: read, table }], positions, at, many, values);
    };
    evaluate(0, count);
  });
  return out;
}

/** Whether the first numbers of the first rows are finite. */
function areFinite(values: Float64Array, length: number, count: number, rows: number): boolean {
  let sum = 0;
  for (let y = 0; y < rows; y++) for (let x = 0; x < count; x++) sum += 0 * values[y * length + x];
  return sum === 0;
}

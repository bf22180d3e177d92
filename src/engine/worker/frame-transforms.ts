/** A worker transforms planes of whole frames, and sums or changes their modes. */
import { ModeFactors } from "../../analysis/derived.js";
import { SpectrumRows, type SpectrumSums } from "../../analysis/spectrum.js";
import { CancelledError } from "../../errors.js";
import { halfOf, type PlaneTransforms } from "../../kernels/fft/plane-transforms.js";
import type { TransformMessage } from "../contract/dataset-copy.js";
import { readScratch, writeScratch } from "../contract/scratch.js";
import type { NodeColumns } from "./node-columns.js";
import type { OpenDataset } from "./open-dataset.js";
import type { Sampler } from "./sampler.js";

/** The transforms of one thread. */
export class FrameTransforms {
  readonly #columns: NodeColumns;
  readonly #make: () => PlaneTransforms;
  #planes: PlaneTransforms | null = null;

  constructor(columns: NodeColumns, make: () => PlaneTransforms) {
    this.#columns = columns;
    this.#make = make;
  }

  /** Runs a task: null, or the sums of its modes. @throws what `NodeColumns.evaluate` throws */
  run(task: TransformMessage, open: OpenDataset, sampler: Sampler): SpectrumSums | null {
    this.#planes ??= this.#make();
    switch (task.stage) {
      case "forward":
        return this.#forward(task, this.#planes, open, sampler);
      case "sum":
        return this.#sum(task, this.#planes);
      case "derive":
        return this.#derive(task, this.#planes);
      case "back":
        return this.#back(task, this.#planes);
    }
  }

  /** Evaluates planes of the columns and transforms them along x and y. */
  #forward(task: TransformMessage, planes: PlaneTransforms, open: OpenDataset, sampler: Sampler): null {
    const { plan, from, count, scratch, time, frame, derived = null, cancel } = task;
    const [nx, ny, nz] = plan.nodes;
    const half = halfOf(nx, plan.transformed[0]);
    const total = plan.columns.length * count;
    planes.prepare({ nodes: nx, lengths: [ny], half, rows: ny, planes: total });
    const rooms = Array.from({ length: total }, (_, i) => planes.plane(i).fill(0));
    const region = { frame, first: [0, 0, from], count: [nx, ny, count] } as const;
    this.#columns.evaluate({ ...plan, region, time, derived, cancel }, open, sampler, (c, y, z, values) => {
      const room = rooms[c * count + z];
      for (let row = 0; row * nx < values.length; row++)
        room.set(values.subarray(row * nx, (row + 1) * nx), 2 * half * (y + row));
    });
    for (let c = 0; c < plan.columns.length; c++)
      for (let z = 0; z < count; z++) {
        checkWanted(cancel);
        const i = c * count + z;
        if (plan.transformed[0]) planes.forwardAlongRows(i);
        if (plan.transformed[1]) planes.alongColumns(i, ny, false);
        writeScratch(scratch, (c * nz + from + z) * rooms[i].length, rooms[i]);
      }
    return null;
  }

  /** Transforms rows of all planes along z, and sums their modes. */
  #sum(task: TransformMessage & { readonly stage: "sum" }, planes: PlaneTransforms): SpectrumSums {
    const { plan, from, count } = task;
    const nz = plan.nodes[2];
    const half = this.#rowsAlongZ(task, planes);
    const rows = new SpectrumRows(plan);
    const rooms = plan.columns.map((_, c) => planes.plane(c));
    for (let z = 0; z < nz; z++)
      for (let y = 0; y < count; y++) {
        const at = 2 * half * (z * count + y);
        const parts = rooms.map((room) => ({
          re: room.subarray(at, at + half),
          im: room.subarray(at + half, at + 2 * half),
        }));
        rows.add(from + y, z, parts);
      }
    return rows.sums;
  }

  /** Transforms rows of all planes along z, multiplies them by the factors of each component, and goes back along z. */
  #derive(task: TransformMessage & { readonly stage: "derive" | "back" }, planes: PlaneTransforms): null {
    const { plan, from, count, scratch, cancel } = task;
    const [, ny, nz] = plan.nodes;
    const half = this.#rowsAlongZ(task, planes, 1);
    const factors = new ModeFactors(plan);
    const length = 2 * half * count;
    const made = planes.plane(plan.columns.length);
    plan.components.forEach(({ column }, i) => {
      checkWanted(cancel);
      const modes = planes.plane(column);
      const part = (values: Float64Array, at: number) => values.subarray(at, at + half);
      for (let z = 0; z < nz; z++)
        for (let y = 0; y < count; y++) {
          const at = length * z + 2 * half * y;
          const [re, im] = [part(modes, at), part(modes, at + half)];
          factors.apply(i, from + y, z, re, im, part(made, at), part(made, at + half));
        }
      for (let y = 0; y < count; y++) planes.alongColumns(plan.columns.length, nz, true, y, count);
      const place = (plan.columns.length + i) * nz;
      for (let z = 0; z < nz; z++)
        writeScratch(scratch, 2 * half * ((place + z) * ny + from), made.subarray(z * length, (z + 1) * length));
    });
    return null;
  }

  /** Goes back along y and x: planes of modes become planes of numbers at nodes. */
  #back(
    { plan, from, count, scratch, cancel }: TransformMessage & { readonly stage: "derive" | "back" },
    planes: PlaneTransforms,
  ): null {
    const [nx, ny, nz] = plan.nodes;
    planes.prepare({ nodes: nx, lengths: [ny], half: halfOf(nx, true), rows: ny, planes: 1 });
    const plane = planes.plane(0);
    plan.components.forEach((_, i) => {
      for (let z = from; z < from + count; z++) {
        checkWanted(cancel);
        const at = ((plan.columns.length + i) * nz + z) * plane.length;
        readScratch(scratch, at, plane);
        planes.alongColumns(0, ny, true);
        planes.inverseAlongRows(0);
        writeScratch(scratch, at, plane);
      }
    });
    return null;
  }

  /** Reads rows of all planes of each column and transforms them along z; row (y, z) is number `z * count + y`. */
  #rowsAlongZ({ plan, from, count, scratch, cancel }: TransformMessage, planes: PlaneTransforms, more = 0): number {
    const [nx, ny, nz] = plan.nodes;
    const half = halfOf(nx, plan.transformed[0]);
    planes.prepare({ nodes: 1, lengths: [nz], half, rows: nz * count, planes: plan.columns.length + more });
    plan.columns.forEach((_, c) => {
      checkWanted(cancel);
      const room = planes.plane(c);
      const length = 2 * half * count;
      for (let z = 0; z < nz; z++)
        readScratch(scratch, 2 * half * ((c * nz + z) * ny + from), room.subarray(z * length, (z + 1) * length));
      if (plan.transformed[2]) for (let y = 0; y < count; y++) planes.alongColumns(c, nz, false, y, count);
    });
    return half;
  }
}

function checkWanted(cancel: Int32Array): void {
  if (Atomics.load(cancel, 0) !== 0) throw new CancelledError();
}

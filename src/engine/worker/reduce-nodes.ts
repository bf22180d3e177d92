/** Reductions of the nodes of a part of a region in a worker. */
import { sumsAround } from "../../analysis/around.js";
import { type PartBox, type PartStates, type ReductionPlan, reducePart } from "../../analysis/plan.js";
import type { Axes, Triple } from "../../kernels/types.js";
import type { Message } from "../contract/dataset-copy.js";
import type { ReduceTask } from "../contract/task.js";
import type { ColumnsAtNodes, NodeColumns } from "./node-columns.js";
import type { OpenDataset } from "./open-dataset.js";
import type { Sampler } from "./sampler.js";

/** Columns at nodes of which some may be skipped. */
interface StridedColumns extends ColumnsAtNodes {
  readonly region: ColumnsAtNodes["region"] & { readonly stride?: Triple };
}

/** Reduces parts for one thread, which keeps its arrays from part to part. */
export class NodeReductions {
  readonly #columns: NodeColumns;
  readonly #values: Float64Array[] = [];
  readonly #tables: Float64Array[] = [];

  constructor(columns: NodeColumns) {
    this.#columns = columns;
  }

  /** Reduces a part. Throws what `NodeColumns.evaluate` throws. */
  reduce(
    { plan, region, box, derived = null, fill, cancel }: Message<ReduceTask>,
    opened: OpenDataset,
    sampler: Sampler,
  ): PartStates {
    if (fill !== undefined) {
      const nodes = region.count[0] * region.count[1] * region.count[2];
      const columns = plan.columns.map((_, c) => this.#column(c, nodes).fill(fill));
      return reducePart(plan, box, columns);
    }
    const ahead = nodesAhead(plan, box, opened.dataset.axes, region.first);
    const request = { ...plan, region, time: plan.times[box.frame], ahead, derived, cancel };
    const [first] = plan.reductions;
    if (first.kind === "around") {
      const evaluate = (columns: readonly string[], count: Triple) =>
        this.evaluate({ ...request, columns, region: { ...region, count } }, opened, sampler);
      return [sumsAround(plan, first, box, region.stride, evaluate)];
    }
    return reducePart(plan, box, this.evaluate(request, opened, sampler), this.#tables);
  }

  /** Evaluates columns, x fastest. The arrays are overwritten by the next evaluation. Throws as `reduce` does. */
  evaluate(request: StridedColumns, opened: OpenDataset, sampler: Sampler): readonly Float64Array[] {
    const { count, stride = [1, 1, 1] } = request.region;
    const [nx, ny, nz] = count;
    const values = request.columns.map((_, c) => this.#column(c, nx * ny * nz));
    if (stride.every((step) => step === 1))
      this.#columns.evaluate(request, opened, sampler, (c, y, z, rows) => {
        values[c].set(rows, (z * ny + y) * nx);
      });
    else this.#evaluateBoxes(request, stride, opened, sampler, values);
    return values;
  }

  /** Evaluates boxes one row wide along strided axes: skipped nodes along y and z are not evaluated. */
  #evaluateBoxes(
    { region, ...request }: StridedColumns,
    [sx, sy, sz]: Triple,
    opened: OpenDataset,
    sampler: Sampler,
    values: readonly Float64Array[],
  ): void {
    const { frame, first, count } = region;
    const [nx, ny, nz] = count;
    const span = (nx - 1) * sx + 1;
    const [deepY, deepZ] = [sy === 1 ? ny : 1, sz === 1 ? nz : 1];
    for (let z = 0; z < nz; z += deepZ)
      for (let y = 0; y < ny; y += deepY) {
        const at = [first[0], first[1] + y * sy, first[2] + z * sz] as const;
        const nodes = { frame, first: at, count: [span, deepY, deepZ] } as const;
        this.#columns.evaluate({ ...request, region: nodes }, opened, sampler, (c, dy, dz, rows) => {
          const to = ((z + dz) * ny + y + dy) * nx;
          for (let row = 0; row * span < rows.length; row++)
            for (let x = 0; x < nx; x++) values[c][to + row * nx + x] = rows[row * span + x * sx];
        });
      }
  }

  #column(c: number, length: number): Float64Array {
    if ((this.#values[c]?.length ?? 0) < length) this.#values[c] = new Float64Array(length);
    return this.#values[c].subarray(0, length);
  }
}

/** Nodes from the first node of a part, counted within its axis, to the node at its coordinates: whole periods. */
function nodesAhead({ coordinates, periods }: ReductionPlan, { from }: PartBox, axes: Axes, first: Triple): Triple {
  const [x, y, z] = axes.map(({ nodes, origin, spacing }, a) =>
    periods[a] === 0 ? 0 : nodes * Math.round((coordinates[a][from[a]] - origin - first[a] * spacing) / periods[a]),
  );
  return [x, y, z];
}

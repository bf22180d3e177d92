/** A worker reduces the quantities of a plan at the nodes of a part of a region. */
import { type PartStates, reducePart } from "../../analysis/plan.js";
import type { ReduceMessage } from "../contract/dataset-copy.js";
import type { ColumnsAtNodes, NodeColumns } from "./node-columns.js";
import type { OpenDataset } from "./open-dataset.js";
import type { Sampler } from "./sampler.js";

/** Reduces parts for one thread, which keeps its arrays from part to part. */
export class NodeReductions {
  readonly #columns: NodeColumns;
  readonly #values: Float64Array[] = [];

  constructor(columns: NodeColumns) {
    this.#columns = columns;
  }

  /** Reduces a part. @throws what `NodeColumns.evaluate` throws */
  reduce(
    { plan, region, box, derived = null, cancel }: ReduceMessage,
    open: OpenDataset,
    sampler: Sampler,
  ): PartStates {
    const asked = { ...plan, region, time: plan.times[box.frame], derived, cancel };
    return reducePart(plan, box, this.evaluate(asked, open, sampler));
  }

  /** Evaluates columns, x fastest. The arrays are overwritten by the next evaluation. @throws as `reduce` does */
  evaluate(asked: ColumnsAtNodes, open: OpenDataset, sampler: Sampler): readonly Float64Array[] {
    const [nx, ny, nz] = asked.region.count;
    const values = asked.columns.map((_, c) => this.#column(c, nx * ny * nz));
    this.#columns.evaluate(asked, open, sampler, (c, y, z, rows) => {
      values[c].set(rows, (z * ny + y) * nx);
    });
    return values;
  }

  #column(c: number, length: number): Float64Array {
    if ((this.#values[c]?.length ?? 0) < length) this.#values[c] = new Float64Array(length);
    return this.#values[c].subarray(0, length);
  }
}

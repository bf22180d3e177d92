/** Context in which a worker evaluates a batch; copies results into the caller's order. */
import type { Operation } from "../../shared/operations.js";
import type { BatchTask } from "../contract/task.js";
import type { OpenDataset } from "./open-dataset.js";
import type { Emit, Pause, Sampler } from "./sampler.js";

export interface BatchContext {
  readonly task: Omit<BatchTask, "dataset">;
  readonly operation: Operation;
  readonly opened: OpenDataset;
  readonly sampler: Sampler;
  /** As `throwIfCancelled`. */
  readonly checkCancel: () => false;
  readonly mustPause: Pause;
}

/** Copies each value to its position in the caller's order, rounded once. `outIndices`: positions, if not the index. */
export function scatterInto(
  out: Float32Array | Float64Array,
  components: number,
  outIndices: Uint32Array | null,
): Emit {
  return (values, order, count) => {
    for (let i = 0; i < count; i++) {
      const point = order[i];
      const to = components * (outIndices ? outIndices[point] : point);
      const from = components * i;
      for (let c = 0; c < components; c++) out[to + c] = values[from + c];
    }
  };
}

/**
 * Datasets on their way to worker threads. A task is copied for its thread, and the record of a long series or of a mode table
 * would cost milliseconds a batch: it is written down once, in shared memory, and read once per thread.
 */
import { deserialize, serialize } from "node:v8";
import type { Dataset } from "../../storage/dataset.js";
import type { BatchTask, SortTask, Task } from "../task.js";

/** Datasets a thread keeps at hand; the one used longest ago is forgotten. */
const MOST_KEPT = 32;

/** A dataset written down. */
export interface Parcel {
  /** Tells it from all others of this process. */
  readonly id: number;
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  /** The table of a forcing by modes, which threads share as it is; it is not in `bytes`. */
  readonly coefficient: Float64Array | null;
}

/** A task as it crosses to a thread. */
export type Posted =
  | Exclude<Task, BatchTask | SortTask>
  | (Omit<BatchTask, "dataset"> & { readonly dataset: Parcel })
  | (Omit<SortTask, "dataset"> & { readonly dataset: Parcel });

/** Replaces the dataset of tasks by its parcel, made at first sight. */
export function createPacker(): (task: Task) => Posted {
  const parcels = new WeakMap<Dataset, Parcel>();
  let next = 0;
  const parcelOf = (dataset: Dataset): Parcel => {
    const known = parcels.get(dataset);
    if (known) return known;
    const { forcing } = dataset;
    const coefficient = forcing.kind === "modes" ? forcing.coefficient : null;
    const record = serialize(coefficient ? { ...dataset, forcing: { ...forcing, coefficient: null } } : dataset);
    const bytes = new Uint8Array(new SharedArrayBuffer(record.length));
    bytes.set(record);
    const parcel = { id: next++, bytes, coefficient };
    parcels.set(dataset, parcel);
    return parcel;
  };
  return (task) => ("dataset" in task ? { ...task, dataset: parcelOf(task.dataset) } : task);
}

/** The other end: the same object for every task on the same dataset while it is at hand. */
export function createUnpacker(): (posted: Posted) => Task {
  const kept = new Map<number, Dataset>();
  const open = ({ id, bytes, coefficient }: Parcel): Dataset => {
    const dataset = kept.get(id) ?? read(bytes, coefficient);
    kept.delete(id);
    kept.set(id, dataset);
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value as number);
    return dataset;
  };
  return (posted) => ("dataset" in posted ? { ...posted, dataset: open(posted.dataset) } : posted);
}

function read(bytes: Uint8Array, coefficient: Float64Array | null): Dataset {
  const dataset = deserialize(Uint8Array.from(bytes)) as Dataset;
  if (coefficient === null || dataset.forcing.kind !== "modes") return dataset;
  return { ...dataset, forcing: { ...dataset.forcing, coefficient } };
}

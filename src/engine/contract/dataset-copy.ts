/**
 * Copies of datasets in shared memory for the worker threads. Cloning the record of a long series with every task would
 * cost milliseconds per batch, so it is serialised once, and read once per thread.
 */
import { deserialize, serialize } from "node:v8";
import type { Dataset } from "../../storage/dataset/dataset.js";
import type { OtherDataset, Task } from "./task.js";

export interface DatasetCopy {
  readonly bytes: Uint8Array<SharedArrayBuffer>;
  /** The mode table of a forcing, which all threads share; it is not in `bytes`. */
  readonly coefficient: Float64Array<SharedArrayBuffer> | null;
}

export type Message<T extends Task> = T extends { readonly dataset: Dataset }
  ? Omit<T, "dataset" | "others"> & { readonly dataset: DatasetCopy; others?: readonly OtherDataset<DatasetCopy>[] }
  : T;
export type TaskMessage = Message<Task>;

/** Makes a function that turns tasks into messages; it copies each dataset once. */
export function createPacker(): (task: Task) => TaskMessage {
  const copies = new WeakMap<Dataset, DatasetCopy>();
  const copied = <T extends { readonly dataset: Dataset }>(one: T) => {
    const dataset = copies.get(one.dataset) ?? copyDataset(one.dataset);
    copies.set(one.dataset, dataset);
    return { ...one, dataset };
  };
  return (task) => {
    if (!("dataset" in task)) return task;
    const others = "others" in task ? { others: task.others?.map(copied) } : {};
    return { ...copied(task), ...others } as TaskMessage;
  };
}

export function copyDataset(dataset: Dataset): DatasetCopy {
  const { forcing } = dataset;
  const table = forcing.kind === "modes" ? forcing.coefficient : null;
  const coefficient = table && new Float64Array(new SharedArrayBuffer(table.byteLength));
  coefficient?.set(table ?? []);
  const record = serialize(table ? { ...dataset, forcing: { ...forcing, coefficient: null } } : dataset);
  const bytes = new Uint8Array(new SharedArrayBuffer(record.length));
  bytes.set(record);
  return { bytes, coefficient };
}

export function readDataset({ bytes, coefficient }: DatasetCopy): Dataset {
  const dataset = deserialize(Uint8Array.from(bytes)) as Dataset;
  if (coefficient === null || dataset.forcing.kind !== "modes") return dataset;
  return { ...dataset, forcing: { ...dataset.forcing, coefficient } };
}

/** A task with a number that identifies it while it runs. */
export interface TicketedTask {
  readonly ticket: number;
  readonly task: TaskMessage;
}

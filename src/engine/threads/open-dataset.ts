/** Datasets a worker thread has open: their files, the brick sources of their fields, the schemes made for their grid. */
import { RequestError } from "../../errors.js";
import { type Accelerator, createScheme } from "../../kernels/index.js";
import type { Scheme } from "../../kernels/types.js";
import { type OpenDataset, openDataset } from "../../storage/bricks/brick-reader.js";
import { type Dataset, FIELD_NAMES, type FieldName } from "../../storage/dataset.js";
import type { BatchTask } from "../task.js";
import type { BrickSource } from "./sampler.js";

/** Datasets kept open per thread; the least recently used one is closed. */
const MOST_OPEN = 16;

/** A dataset as this thread has it open. */
export interface OpenFields {
  /** The same object from task to task, unlike the task's copy. */
  readonly dataset: Dataset;
  source(field: FieldName): BrickSource;
  /**
   * The scheme of a kernel on this grid, made once.
   *
   * @throws RequestError (Unsupported) when an axis has fewer nodes than the stencil
   */
  scheme(kernel: string, method: string): Scheme;
}

const opened = new Map<number, { readonly fields: OpenFields; readonly files: OpenDataset }>();

/** The open dataset of a task. */
export function openFields(
  { source, dataset }: BatchTask,
  settings: { readonly fd8Legacy: boolean; readonly accelerator: Accelerator | undefined },
): OpenFields {
  const entry = opened.get(source) ?? open(source, dataset, settings);
  opened.delete(source);
  opened.set(source, entry);
  if (opened.size > MOST_OPEN) {
    const [oldest, { files }] = opened.entries().next().value as [number, typeof entry];
    opened.delete(oldest);
    files.close();
  }
  return entry.fields;
}

function open(
  source: number,
  dataset: Dataset,
  { fd8Legacy, accelerator }: Parameters<typeof openFields>[1],
): { fields: OpenFields; files: OpenDataset } {
  const files = openDataset(dataset);
  const sources = new Map(
    FIELD_NAMES.flatMap((name, i): [FieldName, BrickSource][] => {
      const field = dataset.fields[name];
      if (!field) return [];
      const load: BrickSource["load"] = (frame, brick, into) => files.readBrick(name, frame, brick, into);
      return [[name, { source: source + i, components: field.components, bricking: field.bricking, load }]];
    }),
  );
  const schemes = new Map<string, Scheme>();
  const scheme = (kernel: string, method: string): Scheme => {
    const key = `${kernel} ${method}`;
    const known = schemes.get(key);
    if (known) return known;
    try {
      const made = createScheme(kernel, method, dataset.axes, { fd8Legacy }, accelerator);
      schemes.set(key, made);
      return made;
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      throw new RequestError("Unsupported", `The grid of "${dataset.name}" is too small for ${method}.`, {
        member: "spatialInterpolation",
      });
    }
  };
  return { files, fields: { dataset, source: (field) => sources.get(field) as BrickSource, scheme } };
}

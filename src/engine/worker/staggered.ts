/** Sampling of staggered fields: each component on its own grid, gathered into the records of the kernel. */
import { POINT_KERNELS, type PointQuantity, RESULTS } from "../../kernels/table.js";
import { axesOfField, type FieldName, isStaggered, partsOfField } from "../../storage/dataset/dataset.js";
import type { BatchContext } from "./batch-context.js";
import type { OpenDataset } from "./open-dataset.js";
import type { Emit, Sampling } from "./sampler.js";

/** The kernel of each quantity of one vector, and of one scalar. */
const KERNELS: Readonly<Record<PointQuantity, readonly [vector: string, scalar: string]>> = {
  value: ["velocity", "pressure"],
  gradient: ["velocityGradient", "pressureGradient"],
  hessian: ["velocityHessian", "pressureHessian"],
  laplacian: ["velocityLaplacian", "pressureLaplacian"],
  laplacianOfGradient: ["velocityLaplacianOfGradient", "pressureLaplacianOfGradient"],
};

/** A component of the fields of a kernel: its offset in the record, and its sampling. */
interface SampledPart extends Pick<Sampling, "axes" | "scheme" | "sources"> {
  readonly offset: number;
  readonly width: number;
}

/** The parts of fields, in the order of the record of a kernel. */
function partsFor(opened: OpenDataset, fields: readonly FieldName[], kernel: string, method: string): SampledPart[] {
  const { quantity } = POINT_KERNELS.get(kernel) as { readonly quantity: PointQuantity };
  let offset = 0;
  return fields.flatMap((field) =>
    partsOfField(opened.dataset, field).map((part) => {
      const source = opened.source(part);
      const width = source.components * RESULTS[quantity];
      const scheme = opened.scheme(KERNELS[quantity][source.components === 3 ? 0 : 1], method, part);
      const sampled = { axes: axesOfField(opened.dataset, part), scheme, sources: [source], offset, width };
      offset += width;
      return sampled;
    }),
  );
}

/** Whether fields of a kernel are sampled part by part. */
export function areStaggered({ dataset }: OpenDataset, fields: readonly FieldName[]): boolean {
  return fields.some((field) => isStaggered(dataset, field));
}

/** Makes a function that samples a kernel at the positions of the sampler, whatever the nodes of its fields. */
export function sampleComponents(
  { opened, sampler, checkCancel }: Pick<BatchContext, "opened" | "sampler" | "checkCancel">,
  fields: readonly FieldName[],
  kernel: string,
  method: string,
): (at: Pick<Sampling, "combination" | "weights" | "moving">, count: number, emit: Emit) => void {
  if (!areStaggered(opened, fields)) {
    const whole = {
      axes: opened.dataset.axes,
      scheme: opened.scheme(kernel, method),
      sources: fields.map((one) => opened.source(one)),
    };
    return (at, count, emit) => {
      sampler.sample({ ...whole, sorted: false, ...at }, count, emit, checkCancel);
    };
  }
  const parts = partsFor(opened, fields, kernel, method);
  const components = parts.reduce((sum, { width }) => sum + width, 0);
  return (at, count, emit) => {
    const records = new Float64Array(components * count);
    for (const { offset, width, ...part } of parts) {
      const gather: Emit = (values, order, size) => {
        for (let i = 0; i < size; i++)
          for (let c = 0; c < width; c++) records[components * order[i] + offset + c] = values[width * i + c];
      };
      sampler.sample({ ...part, sorted: false, ...at }, count, gather, checkCancel);
    }
    emit(
      records,
      Uint32Array.from({ length: count }, (_, i) => i),
      count,
    );
  };
}

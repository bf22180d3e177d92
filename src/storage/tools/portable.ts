/** Describes a dataset as a descriptor that is complete in itself: coordinates and times inline. */
import type { DescriptorInput } from "../catalog/descriptor.js";
import type { Axis, Dataset } from "../dataset.js";

type Fields = DescriptorInput["fields"];

/**
 * Descriptor of a dataset whose files have moved.
 *
 * @param fields  where the fields are kept now
 * @param forcing where its mode table is kept now, where it has one
 */
export function portableDescriptor(
  dataset: Dataset,
  name: string,
  fields: Fields,
  forcing: { readonly file: string; readonly path: string },
): DescriptorInput {
  const { dnsStep, forcing: drive } = dataset;
  return {
    schemaVersion: 1,
    name,
    title: dataset.title,
    axes: { x: describeAxis(dataset.axes[0]), y: describeAxis(dataset.axes[1]), z: describeAxis(dataset.axes[2]) },
    time: describeTime(dataset),
    fields,
    forcing: drive.kind === "modes" ? { kind: "modes", ...forcing } : drive,
    ...(dnsStep === null ? {} : { dnsStep }),
    frameVelocity: [...dataset.frameVelocity] as [number, number, number],
    units: { ...dataset.units },
    source: dataset.source,
    ...(dataset.assumed.length === 0 ? {} : { assumed: [...dataset.assumed] }),
    ...(dataset.questions.length === 0 ? {} : { questions: [...dataset.questions] }),
  };
}

function describeAxis({ nodes, origin, spacing, periodic, coordinates }: Axis): DescriptorInput["axes"]["x"] {
  return coordinates === null ? { nodes, origin, spacing, periodic } : { coordinates: [...coordinates] };
}

function describeTime({ time }: Dataset): DescriptorInput["time"] {
  const { count, origin, step, values, guardBefore, guardAfter } = time;
  if (count === 1) return { count: 1, origin };
  const guards = { guardBefore, guardAfter };
  return values === null ? { origin, step, count, ...guards } : { values: [...values], ...guards };
}

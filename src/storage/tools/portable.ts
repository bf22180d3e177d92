/** Self-contained descriptor of a dataset, including coordinates and times. */

import { DataError } from "../../shared/errors.js";
import { sha256 } from "../../shared/sha256.js";
import { type Dataset, isStaggered } from "../dataset/dataset.js";
import type { DescriptorInput } from "../dataset/descriptor.js";

type Fields = DescriptorInput["fields"];

/**
 * Descriptor of a dataset whose files have moved.
 * @param fields their new location
 * @param forcing new location of its mode table, if it has one
 */
export function portableDescriptor(
  dataset: Dataset,
  name: string,
  fields: Fields,
  forcing: { readonly file: string; readonly path: string },
): DescriptorInput {
  const { dnsStep, viscosity, forcing: drive } = dataset;
  return {
    schemaVersion: 1,
    name,
    title: dataset.title,
    // A copy under another name may be served together with its source, whose aliases it must not claim.
    ...(name === dataset.name && dataset.aliases.length > 0 ? { aliases: [...dataset.aliases] } : {}),
    axes: { x: describeAxis(dataset, 0), y: describeAxis(dataset, 1), z: describeAxis(dataset, 2) },
    openFaces: dataset.openFaces,
    time: describeTime(dataset),
    fields: withWords(dataset, fields),
    forcing: drive.kind === "modes" ? { kind: "modes", ...forcing } : drive,
    ...(dnsStep === null ? {} : { dnsStep }),
    ...(viscosity === undefined ? {} : { viscosity }),
    frameVelocity: [...dataset.frameVelocity] as [number, number, number],
    units: Object.fromEntries(Object.entries(dataset.units).filter(([name]) => BASES.includes(name))),
    source: dataset.source,
    ...(dataset.assumed.length === 0 ? {} : { assumed: [...dataset.assumed] }),
    ...(dataset.questions.length === 0 ? {} : { questions: [...dataset.questions] }),
  };
}

/** Measures of the units of a descriptor; other units belong to fields. */
const BASES = ["length", "time", "velocity", "pressure"];

function withWords({ fields: sources, units }: Dataset, fields: Fields): Fields {
  const described = Object.entries(fields).map(([name, field]) => {
    const unit = BASES.includes(name) ? undefined : units[name];
    const title = sources[name]?.title;
    return [name, { ...field, ...(unit && { unit }), ...(title && { long_name: title }) }];
  });
  return Object.fromEntries(described) as Fields;
}

function describeAxis({ axes, walls }: Dataset, at: 0 | 1 | 2): DescriptorInput["axes"]["x"] {
  const { nodes, origin, spacing, periodic, coordinates, edges } = axes[at];
  const [first, last] = walls[at].map((isWall) => (isWall ? "wall" : "open"));
  const faces =
    periodic || !walls[at].includes(true) ? {} : { faces: [first, last] as ["wall" | "open", "wall" | "open"] };
  const ends = { ...faces, ...(edges === undefined ? {} : { edges: [...edges] }) };
  return coordinates === null
    ? { nodes, origin, spacing, periodic, ...ends }
    : { coordinates: [...coordinates], ...ends };
}

function describeTime({ time }: Dataset): DescriptorInput["time"] {
  const { count, origin, step, values, guardBefore, guardAfter } = time;
  if (count === 1) return { count: 1, origin };
  const guards = { guardBefore, guardAfter };
  return values === null ? { origin, step, count, ...guards } : { values: [...values], ...guards };
}

/** @throws DataError for staggered fields, which a copy does not preserve */
export function requireConvertible(dataset: Dataset): void {
  const apart = Object.keys(dataset.fields).find((field) => isStaggered(dataset, field));
  if (apart !== undefined)
    throw new DataError(`${apart} has its own nodes, which a converted dataset does not keep; serve it as it is`);
}

/** A digest of how the files of a dataset are read: different readings of the same files give different numbers. */
export function readingDigest(dataset: Dataset): string {
  const { axes, walls, openFaces, time, fields, forcing, frameVelocity, units, assumed, questions } = dataset;
  const reading = { axes, walls, openFaces, time, fields, forcing, frameVelocity, units, assumed, questions };
  const plain = (_: string, value: unknown) => (ArrayBuffer.isView(value) ? [...(value as Float64Array)] : value);
  return sha256(JSON.stringify(reading, plain));
}

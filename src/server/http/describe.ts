/** Describes a dataset to callers: grid, times, fields and units. */
import {
  type Axis,
  axesOfField,
  claimText,
  type Dataset,
  type FieldName,
  fieldNames,
  isStaggered,
  type KnownField,
  partsOfField,
  type TimeAxis,
  type Walls,
} from "../../engine/contract/dataset.js";
import { type Measure, unitOf } from "../../shared/quantities.js";

const ABOUT_FIELDS: Readonly<Record<KnownField, { readonly measure: Measure; readonly title: string }>> = {
  velocity: { measure: "velocity", title: "Velocity" },
  pressure: { measure: "pressure", title: "Pressure" },
  force: { measure: "force", title: "Force" },
  magnetic: { measure: "magnetic", title: "Magnetic field" },
  potential: { measure: "potential", title: "Vector potential" },
  density: { measure: "density", title: "Density" },
  temperature: { measure: "temperature", title: "Temperature" },
};

export interface AxisSpan {
  readonly first: number;
  readonly last: number;
  /** Length of the domain: the period, or the distance between the end nodes. */
  readonly length: number;
}

/** The ends of an axis; the last node of a periodic axis is one spacing before the end of the period. */
export function spanOf(axis: Axis): AxisSpan {
  const table = axis.coordinates;
  if (table !== null) {
    const first = table[0];
    const last = table[table.length - 1];
    return { first, last, length: last - first };
  }
  const last = axis.origin + (axis.nodes - 1) * axis.spacing;
  return { first: axis.origin, last, length: axis.periodic ? axis.nodes * axis.spacing : last - axis.origin };
}

/** Queryable stored times, without guard frames. */
export function timesOf(time: TimeAxis): number[] {
  const end = time.count - time.guardAfter;
  const times: number[] = [];
  for (let k = time.guardBefore; k < end; k++) times.push(time.values?.[k] ?? time.origin + k * time.step);
  return times;
}

function describeAxis(name: string, axis: Axis, [first, last]: Walls) {
  return {
    name,
    nodes: axis.nodes,
    ...spanOf(axis),
    spacing: axis.spacing,
    periodic: axis.periodic,
    ...(axis.periodic ? {} : { faces: [first ? "wall" : "open", last ? "wall" : "open"] }),
    ...(axis.coordinates === null ? {} : { coordinates: [...axis.coordinates] }),
    ...(axis.edges === undefined ? {} : { edges: [...axis.edges] }),
  };
}

function describeField(name: FieldName, dataset: Dataset) {
  const { fields, units } = dataset;
  const { components = 1, title } = fields[name] ?? {};
  const unit = units[name];
  const nodes = isStaggered(dataset, name) ? { nodes: nodesOfField(dataset, name) } : {};
  return {
    ...{ name, components, ...nodes },
    ...{ ...(unit === undefined ? {} : { unit }), ...(title === undefined ? {} : { title }) },
  };
}

/** The nodes of a field or of its components along x, y and z, if they differ from those of the dataset. */
export function nodesOfField(dataset: Dataset, name: FieldName) {
  return partsOfField(dataset, name).map((part) => ({
    of: part,
    axes: axesOfField(dataset, part).map((axis, a) => {
      const { nodes, spacing, coordinates } = axis;
      const first = coordinates?.[0] ?? axis.origin;
      return {
        name: "xyz"[a],
        nodes,
        first,
        spacing,
        ...(coordinates === null ? {} : { coordinates: [...coordinates] }),
      };
    }),
  }));
}

export function assumedOf({ assumed }: Dataset): string[] {
  return assumed.map(claimText);
}

export function summarize(dataset: Dataset) {
  const times = timesOf(dataset.time);
  return {
    name: dataset.name,
    title: dataset.title,
    aliases: [...dataset.aliases],
    nodes: dataset.axes.map((axis) => axis.nodes),
    times: { count: times.length, first: times[0] ?? 0, last: times.at(-1) ?? 0 },
    fields: Object.keys(dataset.fields),
  };
}

/** The full description: everything that a caller may need before sending queries. */
export function describe(dataset: Dataset) {
  const { name, title, aliases, times } = summarize(dataset);
  const { guardBefore, guardAfter } = dataset.time;
  return {
    ...{ name, title, aliases },
    digest: dataset.digest,
    axes: dataset.axes.map((axis, index) => describeAxis("xyz"[index], axis, dataset.walls[index])),
    times: { ...times, stored: timesOf(dataset.time), guardBefore, guardAfter },
    fields: fieldNames(dataset).map((name) => describeField(name, dataset)),
    units: { ...dataset.units },
    forcing: dataset.forcing.kind,
    dnsStep: dataset.dnsStep,
    viscosity: dataset.viscosity ?? null,
    frameVelocity: [...dataset.frameVelocity],
    openFaces: dataset.openFaces,
    source: dataset.source,
    warnings: [...dataset.warnings],
    assumed: assumedOf(dataset),
  };
}

export function aboutField(dataset: Dataset, field: FieldName): Record<string, string> {
  const known = ABOUT_FIELDS[field as KnownField];
  if (known !== undefined) return about(dataset, known.title, known.measure);
  const unit = dataset.units[field];
  return { long_name: dataset.fields[field]?.title ?? field, ...(unit === undefined ? {} : { units: unit }) };
}

/** A long name, and the unit of a measure if the dataset states it. */
export function about(dataset: Dataset, title: string, measure: Measure): Record<string, string> {
  return { long_name: title, ...aboutUnit(dataset, measure) };
}

export function aboutUnit(dataset: Dataset, measure: Measure): Record<string, string> {
  const unit = unitOf(dataset, measure);
  return unit === "" ? {} : { units: unit };
}

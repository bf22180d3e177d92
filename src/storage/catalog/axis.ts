/** Axes of a descriptor: uniform ones, listed coordinates, and tables in a file. */
import { DataError } from "../../shared/errors.js";
import { type Axis, MAX_NODES, nodeAt } from "../dataset/dataset.js";
import type { AxisDescription } from "../dataset/descriptor.js";
import type { Verification } from "./verification.js";

const UNIFORM = 1e-6;

export interface ReadAxis {
  readonly axis: Axis;
  readonly descending: boolean;
}

/**
 * @throws DataError for coordinates that are missing, not strictly monotonic, too many, or periodic without being
 * uniform
 */
export function readAxis(description: AxisDescription, verification: Verification, name: string): ReadAxis {
  const read = axisOf(description, verification, name);
  const { nodes } = read.axis;
  if (nodes > MAX_NODES) throw new DataError(`an axis of ${nodes} nodes is too long, ${MAX_NODES} are served`);
  const { edges } = description;
  if (edges === undefined) return read;
  const stated = Array.isArray(edges) ? edges : readTable(edges.file, edges.path, verification).values;
  return { ...read, axis: { ...read.axis, edges: edgesOf(read, Float64Array.from(stated)) } };
}

/** The faces of all cells, ascending. Throws DataError if a node does not lie between its faces. */
function edgesOf({ axis, descending }: ReadAxis, stated: Float64Array): Float64Array {
  const { nodes } = axis;
  const at = (i: number): number => nodeAt(axis, i);
  const ascending = descending ? stated.toReversed() : stated;
  if (ascending.length !== nodes + 1 && ascending.length !== 2)
    throw new DataError(`edges: expected ${nodes + 1} numbers or 2, not ${ascending.length}`);
  const isEnds = ascending.length === 2;
  const edges = Float64Array.from({ length: nodes + 1 }, (_, i) =>
    !isEnds ? ascending[i] : i === 0 ? ascending[0] : i === nodes ? ascending[1] : (at(i - 1) + at(i)) / 2,
  );
  for (let i = 0; i < nodes; i++)
    if (!(edges[i] <= at(i) && at(i) <= edges[i + 1] && edges[i] < edges[i + 1]))
      throw new DataError(`edges: node ${i} at ${at(i)} is not between ${edges[i]} and ${edges[i + 1]}`);
  return edges;
}

function axisOf(description: AxisDescription, verification: Verification, name: string): ReadAxis {
  const { periodic } = description;
  if ("spacing" in description) {
    const { nodes, origin, spacing } = description;
    const first = spacing < 0 ? origin + (nodes - 1) * spacing : origin;
    return {
      axis: { nodes, origin: first, spacing: Math.abs(spacing), periodic, coordinates: null },
      descending: spacing < 0,
    };
  }
  const { coordinates } = description;
  const table = Array.isArray(coordinates)
    ? { values: Float64Array.from(coordinates), isFloat32: false }
    : readTable(coordinates.file, coordinates.path, verification);
  const read = tabulated(table, periodic);
  const { axis, deviation } = read;
  const isRounded = deviation > UNIFORM * axis.spacing || (deviation > 0 && table.values.every(isOfFloat32));
  if (!table.isFloat32 && isRounded)
    verification.warnings.push(
      `The coordinates along ${name} are rounded numbers and are taken as uniform, ${axis.spacing} apart from ${axis.origin}; ` +
        `their distances are off by at most ${Number(deviation.toPrecision(2))}.`,
    );
  return read;
}

interface Table {
  readonly values: Float64Array;
  readonly isFloat32: boolean;
}

function readTable(file: string, path: string, verification: Verification): Table {
  const h5 = verification.open(file);
  const resolved = h5.resolve(path);
  if (resolved === null || h5.kind(resolved) !== "dataset") throw new DataError(`${h5.path}: ${path} is not a dataset`);
  return { values: h5.numbers(resolved), isFloat32: h5.describe(resolved).size === 4 };
}

const isOfFloat32 = (value: number): boolean => Math.fround(value) === value;

/** Most decimal places to which coordinates may be rounded. */
const MAX_DIGITS = 9;
/** Largest unit of the last digit, in spacings: coarser numbers say little about an axis. */
const COARSEST = 0.02;

/**
 * The rounding of a table: that of float32 if all are such numbers, else the unit of the last digit. Digits matter only
 * on a periodic axis, which must be uniform; elsewhere the table itself is served.
 */
function roundingOf({ values, isFloat32 }: Table, mean: number, periodic: boolean): number {
  const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  if (isFloat32 || values.every(isOfFloat32)) return largest * 2 ** -23;
  if (!periodic) return 0;
  for (let digits = 1; digits <= MAX_DIGITS; digits++) {
    const unit = 10 ** -digits;
    const isRounded = (value: number) => Math.abs(value / unit - Math.round(value / unit)) < 1e-6;
    if (values.every(isRounded)) return unit <= COARSEST * mean ? unit : 0;
  }
  return 0;
}

/** An axis from a table; uniform if every interval equals the mean to 1e-6, or to the rounding of the table. */
function tabulated(table: Table, periodic: boolean): ReadAxis & { readonly deviation: number } {
  const { values } = table;
  const nodes = values.length;
  const bad = values.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw new DataError(`the coordinate of node ${bad} is ${values[bad]}, not a number`);
  const descending = nodes > 1 && values[1] < values[0];
  const ascending = descending ? values.slice().reverse() : values;
  const mean = nodes > 1 ? (ascending[nodes - 1] - ascending[0]) / (nodes - 1) : 1;
  let [smallest, deviation] = [mean, 0];
  for (let i = 1; i < nodes; i++) {
    const interval = ascending[i] - ascending[i - 1];
    if (!(interval > 0)) throw new DataError(`coordinates do not ascend or descend strictly at node ${i}`);
    smallest = Math.min(smallest, interval);
    deviation = Math.max(deviation, Math.abs(interval - mean));
  }
  const uniform = deviation <= UNIFORM * mean + (nodes > 1 ? roundingOf(table, mean, periodic) : 0);
  if (periodic && !uniform)
    throw new DataError(
      `a periodic axis must be uniform: the distances of its nodes are off their mean ${Number(mean.toPrecision(6))} by up to ` +
        `${Number(deviation.toPrecision(2))} (--spacing and --origin if they are meant to be equal, else --periodic without it)`,
    );
  const origin = ascending[0];
  return {
    axis: { nodes, origin, spacing: uniform ? mean : smallest, periodic, coordinates: uniform ? null : ascending },
    descending,
    deviation: uniform ? deviation : 0,
  };
}

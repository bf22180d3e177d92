/** The view of a dataset as a Zarr group: its arrays, their chunks, and what is known of them. */
import {
  AXIS_NAMES,
  type Axis,
  type Dataset,
  type FieldName,
  fieldNames,
  isStaggered,
} from "../../engine/contract/dataset.js";
import { version } from "../../shared/build.js";
import { lackOf, operationOf, type SpatialInterpolation, spatialOf } from "../../shared/operations.js";
import { formulaText, QUANTITIES, type Quantity } from "../../shared/quantities.js";
import { about, aboutField, assumedOf, timesOf } from "../rest/describe.js";

/** Nodes along an axis of a chunk, about: whole bricks, so that a chunk reads each brick once. */
const CHUNK_NODES = 64;
/** Spatial options that give the values at nodes as they are, and derivatives from the nodes around. */
const AT_NODES: readonly SpatialInterpolation[] = ["None", "None_Fd4"];
/** The group of quantities computed from stored fields. */
const DERIVED = "derived";

/** The content of an array: coordinates, a stored field, or a quantity computed at nodes. */
export type Content =
  | { readonly kind: "coordinates"; readonly values: Float64Array }
  | { readonly kind: "field"; readonly field: FieldName }
  | { readonly kind: "quantity"; readonly quantity: Quantity; readonly method: SpatialInterpolation };

/** An array of the view; shape and chunks go with its dimensions. */
export interface ZarrArray {
  readonly dimensions: readonly string[];
  readonly shape: readonly number[];
  readonly chunks: readonly number[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly content: Content;
}

/** Groups and arrays of a view by their paths; the root has the empty path. */
export interface ZarrView {
  readonly groups: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  readonly arrays: ReadonlyMap<string, ZarrArray>;
}

const VIEWS = new WeakMap<Dataset, ZarrView>();

/** The view of a dataset, which is made once. */
export function viewOf(dataset: Dataset): ZarrView {
  const known = VIEWS.get(dataset) ?? makeView(dataset);
  VIEWS.set(dataset, known);
  return known;
}

function makeView(dataset: Dataset): ZarrView {
  // Arrays share their coordinates: fields with nodes of their own are not among them.
  const stored = fieldNames(dataset).filter((name) => !isStaggered(dataset, name));
  const edges = chunkEdges(dataset, stored[0] ?? (fieldNames(dataset)[0] as FieldName));
  const times = timesOf(dataset.time).length;
  const nodes = [...dataset.axes.map((axis) => axis.nodes)].reverse();
  const grid = (more: readonly number[]) => ({
    dimensions: ["t", "z", "y", "x", ...(more.length > 0 ? ["component"] : [])],
    shape: [times, ...nodes, ...more],
    chunks: [1, ...edges, ...more],
  });
  const arrays = new Map<string, ZarrArray>();
  const coordinates = coordinatesOf(dataset);
  for (const [name, array] of coordinates) arrays.set(name, array);
  for (const field of stored) {
    const isVector = dataset.fields[field]?.components === 3;
    const attributes = { ...aboutField(dataset, field), ...(isVector ? { components: "x y z" } : {}) };
    arrays.set(field, { ...grid(isVector ? [3] : []), attributes, content: { kind: "field", field } });
  }
  for (const [name, array] of coordinates) arrays.set(`${DERIVED}/${name}`, array);
  for (const quantity of QUANTITIES) {
    const method = methodAtNodes(quantity, dataset);
    if (method === undefined) continue;
    const attributes = { ...about(dataset, quantity.title, quantity.measure), formula: formulaText(quantity), method };
    arrays.set(`${DERIVED}/${quantity.name}`, {
      ...grid([]),
      attributes,
      content: { kind: "quantity", quantity, method },
    });
  }
  const attributes = groupAttributes(dataset);
  return {
    arrays,
    groups: new Map([
      ["", attributes],
      [DERIVED, attributes],
    ]),
  };
}

/** Edges of chunks along z, y and x: whole bricks of a field, or the whole axis if it is shorter. */
function chunkEdges(dataset: Dataset, field: FieldName): readonly number[] {
  const { edge } = (dataset.fields[field] as NonNullable<Dataset["fields"][string]>).bricking;
  const edges = dataset.axes.map(({ nodes }, a) => {
    const brick = edge[a as 0 | 1 | 2];
    return Math.min(nodes, brick * Math.max(1, Math.round(CHUNK_NODES / brick)));
  });
  return edges.reverse();
}

/** The option that computes a quantity at nodes; undefined if it needs a filter width, or data that are not there. */
function methodAtNodes(
  { operation: name, methods, needsViscosity }: Quantity,
  dataset: Dataset,
): SpatialInterpolation | undefined {
  if (needsViscosity === true && dataset.viscosity === undefined) return undefined;
  const operation = operationOf(name);
  if (lackOf(operation, dataset) !== null || operation.fields.some((name) => isStaggered(dataset, name)))
    return undefined;
  const offered = spatialOf(operation, dataset);
  return AT_NODES.find((method) => methods.includes(method) && offered.includes(method));
}

/** Stored times and the nodes of the axes as float64, in the order t, z, y, x. */
function coordinatesOf(dataset: Dataset): readonly (readonly [string, ZarrArray])[] {
  const lines: (readonly [string, Float64Array, Record<string, unknown>])[] = [
    ["t", Float64Array.from(timesOf(dataset.time)), { ...about(dataset, "Time", "time"), axis: "T" }],
    ...[2, 1, 0].map((a) => {
      const axis = dataset.axes[a as 0 | 1 | 2];
      const name = AXIS_NAMES[a as 0 | 1 | 2];
      const attributes = { ...about(dataset, `Position along ${name}`, "length"), axis: name.toUpperCase() };
      const period = axis.periodic ? { period: axis.nodes * axis.spacing } : {};
      return [name, nodesOf(axis), { ...attributes, ...period }] as const;
    }),
  ];
  return lines.map(([name, values, attributes]) => {
    const shape = [values.length];
    return [name, { dimensions: [name], shape, chunks: shape, attributes, content: { kind: "coordinates", values } }];
  });
}

/** Coordinates of the nodes of an axis. */
export function nodesOf({ nodes, origin, spacing, coordinates }: Axis): Float64Array {
  return coordinates ?? Float64Array.from({ length: nodes }, (_, i) => origin + i * spacing);
}

function groupAttributes(dataset: Dataset): Readonly<Record<string, unknown>> {
  const { title, source, digest, frameVelocity, assumed } = dataset;
  return {
    Conventions: "CF-1.8",
    title,
    source,
    fieldprobe_version: version,
    fieldprobe_dataset: dataset.name,
    fieldprobe_manifest: digest,
    ...(frameVelocity.some((v) => v !== 0) ? { frame_velocity: [...frameVelocity] } : {}),
    ...(assumed.length === 0 ? {} : { assumed: assumedOf(dataset) }),
  };
}

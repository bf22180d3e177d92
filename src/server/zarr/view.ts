/** View of a dataset as a Zarr group. */
import {
  AXIS_NAMES,
  type Axis,
  type Dataset,
  type FieldName,
  fieldNames,
  isStaggered,
} from "../../engine/contract/dataset.js";
import type { LevelSet } from "../../engine/contract/query.js";
import { version } from "../../shared/build.js";
import { lacking, operationOf, type SpatialInterpolation, spatialOf } from "../../shared/operations.js";
import { formulaText, QUANTITIES, type Quantity } from "../../shared/quantities.js";
import { about, aboutField, assumedOf, timesOf } from "../http/describe.js";

/** Approximate nodes per edge of a chunk: whole bricks, so that a chunk reads each brick once. */
const CHUNK_NODES = 64;
/** Spatial options that give values at nodes unchanged, and derivatives from the surrounding nodes. */
const AT_NODES: readonly SpatialInterpolation[] = ["None", "None_Fd4"];
const DERIVED = "derived";
const LEVELS = "levels";

export interface LevelComponent {
  readonly level: number;
  readonly component: number;
}

/** The content of an array: coordinates, a stored field, or a quantity computed at nodes. */
export type Content =
  | { readonly kind: "coordinates"; readonly values: Float64Array }
  | { readonly kind: "field"; readonly field: FieldName; readonly of?: LevelComponent }
  | { readonly kind: "quantity"; readonly quantity: Quantity; readonly method: SpatialInterpolation };

export interface ZarrArray {
  readonly dimensions: readonly string[];
  readonly shape: readonly number[];
  readonly chunks: readonly number[];
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly content: Content;
}

/** Groups and arrays by path; the root has the empty path. */
export interface ZarrView {
  readonly groups: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  readonly arrays: ReadonlyMap<string, ZarrArray>;
}

const VIEWS = new WeakMap<Dataset | LevelSet, ZarrView>();

/** The view of a dataset and its levels, made once. */
export function viewOf(dataset: Dataset, levels: LevelSet | null = null): ZarrView {
  const known = VIEWS.get(levels ?? dataset) ?? makeView(dataset, levels);
  VIEWS.set(levels ?? dataset, known);
  return known;
}

function makeView(dataset: Dataset, levels: LevelSet | null): ZarrView {
  // Staggered fields have other coordinates.
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
  const groups = new Map([
    ["", attributes],
    [DERIVED, attributes],
  ]);
  if (levels !== null) addImages(dataset, levels, groups, arrays);
  return { arrays, groups };
}

/** Adds the levels as images of OME-NGFF, one for each component: `levels/velocity.x/0` and so on. */
function addImages(
  dataset: Dataset,
  { datasets, quantities }: LevelSet,
  groups: Map<string, Readonly<Record<string, unknown>>>,
  arrays: Map<string, ZarrArray>,
): void {
  groups.set(LEVELS, groupAttributes(dataset));
  const images = quantities.flatMap((one) =>
    Array.from({ length: one.components }, (_, component) => ({ ...one, component })),
  );
  for (const { text, array, components, component } of images) {
    const image = `${LEVELS}/${array}${components === 1 ? "" : `.${"xyz"[component]}`}`;
    const paths: number[] = [];
    for (const [level, one] of [dataset, ...datasets].entries()) {
      if (one.fields[text] === undefined) continue;
      paths.push(level);
      arrays.set(`${image}/${level}`, {
        dimensions: ["t", "z", "y", "x"],
        shape: [timesOf(one.time).length, ...one.axes.map(({ nodes }) => nodes).reverse()],
        chunks: [1, ...chunkEdges(one, text)],
        attributes: { what: text },
        content: { kind: "field", field: text, of: { level, component } },
      });
    }
    groups.set(image, {
      multiscales: [{ version: "0.4", name: image.slice(LEVELS.length + 1), ...imageOf(dataset, paths) }],
    });
  }
}

/** An image, translated to a voxel's centre; a stretched axis counts nodes. Source: OME-NGFF 0.4, 0.5, multiscales. */
function imageOf({ axes, time, units }: Dataset, paths: readonly number[]) {
  const [first = 0, second = first + 1, ...later] = timesOf(time);
  const isEven = [second, ...later].every(
    (at, i) => Math.abs(at - first - (i + 1) * (second - first)) < 1e-4 * (second - first),
  );
  const unitOf = (unit: string | undefined, base: string, long: string) => (unit === base ? { unit: long } : {});
  const space = [2, 1, 0].map((a) => ({ name: "xyz"[a], ...axes[a as 0 | 1 | 2] }));
  return {
    axes: [
      { name: "t", type: "time", ...(isEven ? unitOf(units.time, "s", "second") : {}) },
      ...space.map(({ name, coordinates }) => {
        return { name, type: "space", ...(coordinates === null ? unitOf(units.length, "m", "meter") : {}) };
      }),
    ],
    datasets: paths.map((k) => {
      const along = space.map(({ coordinates, origin, spacing }) =>
        coordinates === null ? { origin, spacing } : { origin: 0, spacing: 1 },
      );
      const scale = [isEven ? second - first : 1, ...along.map(({ spacing }) => 2 ** k * spacing)];
      const centre = along.map(({ origin, spacing }) => origin + ((2 ** k - 1) * spacing) / 2);
      const translation = [isEven ? first : 0, ...centre];
      return {
        path: String(k),
        coordinateTransformations: [
          { type: "scale", scale },
          { type: "translation", translation },
        ],
      };
    }),
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

/** The spatial option of a quantity at nodes; undefined if it needs a filter width or missing data. */
function methodAtNodes(
  { operation: name, methods, needsViscosity }: Quantity,
  dataset: Dataset,
): SpatialInterpolation | undefined {
  if (needsViscosity === true && dataset.viscosity === undefined) return undefined;
  const operation = operationOf(name);
  if (lacking(operation, dataset) !== null || operation.fields.some((name) => isStaggered(dataset, name)))
    return undefined;
  const offered = spatialOf(operation, dataset);
  return AT_NODES.find((method) => methods.includes(method) && offered.includes(method));
}

/** Coordinates as float64, in the order t, z, y, x. */
function coordinatesOf(dataset: Dataset): readonly (readonly [string, ZarrArray])[] {
  const lines: (readonly [string, Float64Array, Record<string, unknown>])[] = [
    ["t", Float64Array.from(timesOf(dataset.time)), { ...about(dataset, "Time", "time"), axis: "T" }],
    ...[2, 1, 0].map((a) => {
      const axis = dataset.axes[a as 0 | 1 | 2];
      const name = AXIS_NAMES[a as 0 | 1 | 2];
      const attributes = { ...about(dataset, `Position along ${name}`, "length"), axis: name.toUpperCase() };
      return [name, nodesOf(axis), attributes] as const;
    }),
  ];
  return lines.map(([name, values, attributes]) => {
    const shape = [values.length];
    return [name, { dimensions: [name], shape, chunks: shape, attributes, content: { kind: "coordinates", values } }];
  });
}

export function nodesOf({ nodes, origin, spacing, coordinates }: Axis): Float64Array {
  return coordinates ?? Float64Array.from({ length: nodes }, (_, i) => origin + i * spacing);
}

/** What coordinates do not say of the axes, in names that `inspect` knows: copies of the view are served unasked. */
function endsOf({ axes, walls }: Dataset): Readonly<Record<string, unknown>> {
  const ofAxes = axes.map(({ nodes, spacing, periodic }, a) => {
    const [name, [first, last]] = [AXIS_NAMES[a as 0], walls[a as 0]];
    if (periodic) return { [`boundary_${name}`]: "periodic", [`length_${name}`]: nodes * spacing };
    return first === last ? { [`boundary_${name}`]: first ? "wall" : "open" } : {};
  });
  return Object.assign({}, ...ofAxes);
}

function groupAttributes(dataset: Dataset): Readonly<Record<string, unknown>> {
  const { title, source, digest, frameVelocity, assumed } = dataset;
  return {
    ...endsOf(dataset),
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

/** View of a dataset as a Zarr group. */
import {
  AXIS_NAMES,
  type Axis,
  axesOfField,
  componentsOf,
  type Dataset,
  type FieldName,
  fieldNames,
  fieldOf,
  isStaggered,
  partsOfField,
} from "../../engine/contract/dataset.js";
import type { LevelSet } from "../../engine/contract/query.js";
import { version } from "../../shared/build.js";
import { missingFor, operationOf, type SpatialInterpolation, spatialOf } from "../../shared/operations.js";
import { formulaText, QUANTITIES, type Quantity } from "../../shared/quantities.js";
import { DESCRIPTOR_ATTRIBUTE, STORE_ITSELF } from "../../storage/recognise/converted-store.js";
import { portableDescriptor } from "../../storage/tools/portable.js";
import { about, aboutField, assumedOf, timesOf } from "../http/describe.js";

/** Approximate nodes per edge of a chunk: whole bricks, so that a chunk reads each brick once. */
const CHUNK_NODES = 64;
/** Spatial options that give values at nodes unchanged, and derivatives from the surrounding nodes. */
const AT_NODES: readonly SpatialInterpolation[] = ["None", "None_Fd4"];
const DERIVED = "derived";
const LEVELS = "levels";

/** The content of an array: coordinates, a stored field, or a quantity computed at nodes. */
export type Content =
  | { readonly kind: "coordinates"; readonly values: Float64Array }
  | { readonly kind: "field"; readonly field: FieldName; readonly of?: Record<"level" | "component", number> }
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
  const arrays = new Map<string, ZarrArray>();
  for (const [name, array] of coordinatesOf(dataset)) arrays.set(name, array).set(`${DERIVED}/${name}`, array);
  for (const field of fieldNames(dataset))
    for (const part of partsOfField(dataset, field)) {
      const isVector = componentsOf(dataset, part) === 3;
      const attributes = { ...aboutField(dataset, field), ...(isVector ? { components: "x y z" } : {}) };
      arrays.set(part, { ...gridOf(dataset, part, isVector), attributes, content: { kind: "field", field: part } });
      for (const [name, array] of coordinatesOf(dataset, part)) arrays.set(name, array);
    }
  const common = fieldNames(dataset).find((name) => !isStaggered(dataset, name)) as FieldName;
  for (const quantity of QUANTITIES) {
    const method = methodAtNodes(quantity, dataset);
    if (method === undefined) continue;
    const attributes = { ...about(dataset, quantity.title, quantity.measure), formula: formulaText(quantity), method };
    const content = { kind: "quantity", quantity, method } as const;
    arrays.set(`${DERIVED}/${quantity.name}`, { ...gridOf(dataset, common, false), attributes, content });
  }
  const attributes = groupAttributes(dataset);
  const copied = { [DESCRIPTOR_ATTRIBUTE]: JSON.stringify(describeCopy(dataset)) };
  const groups = new Map([["", { ...attributes, ...copied } as typeof attributes]]).set(DERIVED, attributes);
  if (levels !== null) addImages(dataset, levels, groups, arrays);
  return { arrays, groups };
}

/** Names of the axes of a field or a staggered component, by which its own coordinates are found. */
const axisNamesOf = (dataset: Dataset, part = "") =>
  AXIS_NAMES.map((name) => (isStaggered(dataset, part) ? `${part}.${name}` : name));

function gridOf(dataset: Dataset, part: FieldName, isVector: boolean) {
  const nodes = axesOfField(dataset, part).map((axis) => axis.nodes);
  return {
    dimensions: ["t", ...axisNamesOf(dataset, part).reverse(), ...(isVector ? ["component"] : [])],
    shape: [timesOf(dataset.time).length, ...nodes.reverse(), ...(isVector ? [3] : [])],
    chunks: [1, ...chunkEdges(dataset, part), ...(isVector ? [3] : [])],
  };
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
        ...gridOf(one, text, false),
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
      ...space.map(({ name, coordinates }) => ({
        ...{ name, type: "space", ...(coordinates === null ? unitOf(units.length, "m", "meter") : {}) },
      })),
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
  const { edge } = (fieldOf(dataset, field) as NonNullable<Dataset["fields"][string]>).bricking;
  const edges = axesOfField(dataset, field).map(({ nodes }, a) => {
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
  if (missingFor(operation, dataset) !== null || operation.fields.some((name) => isStaggered(dataset, name)))
    return undefined;
  const offered = spatialOf(operation, dataset);
  return AT_NODES.find((method) => methods.includes(method) && offered.includes(method));
}

function coordinatesOf(dataset: Dataset, part = ""): readonly (readonly [string, ZarrArray])[] {
  const [axes, names] = [axesOfField(dataset, part), axisNamesOf(dataset, part)];
  const space = ([2, 1, 0] as const).map((a) => {
    const attributes = { ...about(dataset, `Position along ${AXIS_NAMES[a]}`, "length"), axis: "XYZ"[a] };
    return [names[a], nodesOf(axes[a]), attributes] as const;
  });
  const time = { ...about(dataset, "Time", "time"), axis: "T" };
  const lines = [["t", Float64Array.from(timesOf(dataset.time)), time] as const, ...space];
  return lines.map(([name, values, attributes]) => {
    const shape = [values.length];
    return [name, { dimensions: [name], shape, chunks: shape, attributes, content: { kind: "coordinates", values } }];
  });
}

export function nodesOf({ nodes, origin, spacing, coordinates }: Axis): Float64Array {
  return coordinates ?? Float64Array.from({ length: nodes }, (_, i) => origin + i * spacing);
}

const ITSELF = { file: STORE_ITSELF, path: "/" };

/** The descriptor of a copy of the view, as `convert` writes it: a copy is served unasked, with the same numbers. */
function describeCopy(dataset: Dataset) {
  const times = Float64Array.from(timesOf(dataset.time));
  const time = { ...dataset.time, values: times, count: times.length, guardBefore: 0, guardAfter: 0 };
  const forcing = dataset.forcing.kind === "modes" ? ({ kind: "none" } as const) : dataset.forcing;
  const fields = fieldNames(dataset).map((field) => {
    const parts = partsOfField(dataset, field).map((part) => ({
      ...{ ...ITSELF, path: `/${part}`, at: isStaggered(dataset, part) ? ownNodes(dataset, part) : undefined },
    }));
    const isSplit = parts.length === 3;
    const dimensions = ["t", "z", "y", "x", ...(isSplit || componentsOf(dataset, field) === 1 ? [] : ["c"])];
    return [field, { ...(isSplit ? { components: parts } : parts[0]), dimensions }];
  });
  return portableDescriptor({ ...dataset, time, forcing }, dataset.name, Object.fromEntries(fields), ITSELF);
}

/** The nodes of a staggered field or component, as a descriptor states them. */
function ownNodes(dataset: Dataset, part: FieldName) {
  const entries = axesOfField(dataset, part).map(({ nodes, origin, coordinates }, a) => {
    const offset = (origin - dataset.axes[a as 0].origin) / dataset.axes[a as 0].spacing;
    return [AXIS_NAMES[a as 0], coordinates === null ? { offset, nodes } : [...coordinates]];
  });
  return Object.fromEntries(entries);
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

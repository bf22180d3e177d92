/** Tables of coordinates, labels of dimensions and names of components in a file. */
import { DataError } from "../../shared/errors.js";
import { AXIS_NAMES, type AxisName } from "../dataset/dataset.js";
import { isNumeric } from "../dataset/stored.js";
import type { Contents } from "./layout.js";
import { axisStatedAt } from "./stated-names.js";
import { areInOrder, type Role, roleNamed, tableNamed } from "./usual-names.js";

/** A dataset or an attribute with the coordinates along an axis, or with times. */
export interface CoordinateTable {
  readonly role: "t" | AxisName;
  readonly path: string;
  /** Numbers in the table; one more than nodes if they are the edges of cells. */
  readonly length: number;
  readonly isEdges: boolean;
  /** The dimension along which a table of three dimensions varies; null for a list. */
  readonly along: number | null;
}

const GRID_GROUPS =
  /^(grids?|nodes?|points?|cells?|cent(er|re)s?|vert(ex|ices)|mesh(es)?|coord(s|inates)?|scales?|dim(s|ensions)?|geom(etry)?|ax[ei]s|domain|info|param(s|eters)?|config|settings|header|attributes|meta(data)?)$/i;
/** Most numbers of a dataset that is read like an attribute. */
export const MAX_ATTRIBUTE_NUMBERS = 3;
/** A scale that netCDF-4 writes for a dimension without a variable. */
const NO_VARIABLE = /not a netCDF variable/i;

/** Groups that may hold the grid of a field, nearest first: its own, groups above, and grid groups next to these. */
export function groupsAround(contents: Contents, group: string): string[] {
  return groupsAbove(group).flatMap((path) => [
    path,
    ...(contents.group(path) ?? [])
      .filter((name) => GRID_GROUPS.test(name) && contents.group(join(path, name)) !== null)
      .map((name) => join(path, name)),
  ]);
}

/** The group and those above it, up to the root. */
export function groupsAbove(group: string): string[] {
  const above = [group];
  while (above[above.length - 1] !== "/") above.push(parentOf(above[above.length - 1]));
  return above;
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

export function join(group: string, name: string): string {
  return group === "/" ? `/${name}` : `${group}/${name}`;
}

/** Tables by name, nearest group first; then lists in attributes, at `path@name`. */
export function tablesIn(contents: Contents, groups: readonly string[], spatial: readonly number[]): CoordinateTable[] {
  const { coordinates } = contents.answers;
  const answered = [...(coordinates ?? [])].map(([axis, path]) => {
    const table = tableAt(contents, path, axis, false, spatial);
    if (table === null)
      throw new DataError(`--coordinates ${axis}=${path}: it is not a list of the coordinates along ${axis}`);
    return table;
  });
  const listed = groups.flatMap((holder) =>
    [...contents.attributes(holder)].flatMap(([name, value]): CoordinateTable[] => {
      const named = value instanceof Float64Array && value.length > MAX_ATTRIBUTE_NUMBERS ? tableNamed(name) : null;
      if (named === null || named.role === "t" || coordinates?.has(named.role)) return [];
      return [{ ...named, path: `${holder}@${name}`, length: (value as Float64Array).length, along: null }];
    }),
  );
  const tables = groups.flatMap((group) => {
    const names = contents.datasets(group);
    return names.flatMap((name) => {
      const named = tableNamed(name) ?? numberedTable(name, names);
      if (named === null || coordinates?.has(named.role as AxisName)) return [];
      return tableAt(contents, join(group, name), named.role, named.isEdges, spatial) ?? [];
    });
  });
  return [...answered, ...tables, ...listed];
}

/** The axis of one of three tables that are numbered from 0 or from 1: x1, x2, x3. */
function numberedTable(name: string, names: readonly string[]): { role: AxisName; isEdges: boolean } | null {
  const [, stem, digit] = /^(x|X|coord|mesh_?x)_?([0-3])$/.exec(name) ?? [];
  if (stem === undefined) return null;
  const from = names.some((other) => other !== name && other === name.replace(/\d$/, "0")) || digit === "0" ? 0 : 1;
  const isAll = [0, 1, 2].every((at) => names.includes(name.replace(/\d$/, `${from + at}`)));
  return isAll ? { role: AXIS_NAMES[Number(digit) - from], isEdges: false } : null;
}

/** Path of a mesh named after an axis that varies along several dimensions (curvilinear, multi-block); else null. */
export function curvedMeshIn(
  contents: Contents,
  groups: readonly string[],
  axis: AxisName,
  shape: readonly number[],
): string | null {
  for (const group of groups)
    for (const name of contents.datasets(group)) {
      const path = join(group, name);
      const lengths = (contents.dataset(path)?.shape ?? []).filter((length) => length !== 1);
      const isMesh =
        lengths.length >= 2 && lengths.every((length) => shape.includes(length) || shape.includes(length - 1));
      if (tableNamed(name)?.role === axis && isMesh && tableAt(contents, path, axis, false, shape) === null)
        return path;
    }
  return null;
}

/** Lists n, 1 x n, n x 1, and meshes of the shape of the field; null for others. */
function tableAt(
  contents: Contents,
  path: string,
  role: CoordinateTable["role"],
  isEdges: boolean,
  spatial: readonly number[],
): CoordinateTable | null {
  const stored = contents.dataset(path);
  if (stored === null || (stored.element !== "float" && stored.element !== "integer")) return null;
  const lengths = stored.shape.filter((length) => length !== 1);
  const texts = [...contents.attributes(path).values()].filter((value) => typeof value === "string");
  if (texts.some((text) => NO_VARIABLE.test(text)) || contents.isUnwritten(path)) return null;
  if (lengths.length <= 1) return { role, path, length: lengths[0] ?? 1, isEdges, along: null };
  if (role === "t" || stored.shape.length !== 3 || !stored.shape.every((length) => spatial.includes(length)))
    return null;
  const along = dimensionOfVariation(contents.numbers(path), stored.shape);
  return along === null ? null : { role, path, length: stored.shape[along], isEdges: false, along };
}

function dimensionOfVariation(values: Float64Array, [n0, n1, n2]: readonly number[]): number | null {
  const strides = [n1 * n2, n2, 1];
  const changes = [false, false, false];
  for (let i = 0; i < n0; i++)
    for (let j = 0; j < n1; j++)
      for (let k = 0; k < n2; k++) {
        const at = i * strides[0] + j * strides[1] + k;
        if (i > 0 && values[at] !== values[at - strides[0]]) changes[0] = true;
        if (j > 0 && values[at] !== values[at - strides[1]]) changes[1] = true;
        if (k > 0 && values[at] !== values[at - strides[2]]) changes[2] = true;
      }
  return changes.filter(Boolean).length === 1 ? changes.indexOf(true) : null;
}

/** The nodes of a table; of edges, the middles of the cells. */
export function tableNodes(contents: Contents, table: CoordinateTable): Float64Array {
  const values = contents.numbers(table.path);
  if (table.along !== null) {
    const shape = contents.dataset(table.path)?.shape as readonly number[];
    const stride = shape.slice(table.along + 1).reduce((product, length) => product * length, 1);
    return Float64Array.from({ length: table.length }, (_, i) => values[i * stride]);
  }
  if (!table.isEdges) return values;
  return Float64Array.from({ length: values.length - 1 }, (_, i) => (values[i] + values[i + 1]) / 2);
}

/** What a file says of the dimensions of a dataset. */
export interface DimensionLabels {
  readonly roles: readonly (Role | null)[];
  readonly names: readonly (string | null)[];
  /** By dimension: the attached table of coordinates or times, if any. */
  readonly tables: readonly (CoordinateTable | null)[];
  /** Storage order of some of the dimensions, if the file does not name all of them; else null. */
  readonly order: readonly Role[] | null;
  /** Other statements of the file that contradict the roles, as shown in messages; null if there are none. */
  readonly contradiction: string | null;
  readonly where: string;
}

/** Attributes that list the dimensions in their stored order. */
const ORDERS =
  /^(axes|axis_?(order|labels)|dims?|dimensions|(dim(ension)?|index|storage|memory|data|array)_?order|(memory_?)?layout|order(ing)?)$/i;

/** Labels from dimension scales and `dims[i].label`, else from an attribute of the dataset or its groups. */
export function labelsOf(contents: Contents, path: string): DimensionLabels {
  const { shape } = contents.dataset(path) as { shape: readonly number[] };
  const scales = contents.scales(path);
  const texts = contents.labels(path);
  const tables: (CoordinateTable | null)[] = [];
  const contradictions: string[] = [];
  const names = shape.map((_, index) => scales[index]?.[0]?.split("/").pop() ?? texts[index] ?? null);
  const roles = shape.map((length, index) => {
    const attachments = (scales[index] ?? []).map((scale) => {
      const role = roleNamed(scale.split("/").pop() ?? "") ?? axisStatedAt(contents, scale);
      return { role, table: attachedTable(contents, scale, role, length) };
    });
    const named = attachments.find(({ table }) => table !== null) ?? attachments.find(({ role }) => role !== null);
    tables.push(named?.table ?? null);
    const label = roleNamed(texts[index] ?? "");
    if (label !== null && named !== undefined && named.role !== null && named.role !== label)
      contradictions.push(`dimension ${index} has the label ${texts[index]} and the scale of ${named.role}`);
    return label ?? named?.role ?? null;
  });
  const [contradiction = null] = contradictions;
  const scaled = { roles, names, tables, order: null, contradiction, where: "the labels and scales of its dimensions" };
  const isScaled = roles.some((role) => role !== null);
  const places = [path, ...groupsAbove(parentOf(path))];
  const all = places.flatMap((place) => statedOrders(contents, place, path));
  const [first, ...others] = all;
  if (isScaled) return { ...scaled, contradiction: contradiction ?? disagreementText(all, roles) };
  if (first === undefined) return { ...scaled, where: "" };
  const { order, where } = first;
  const stated = { ...scaled, contradiction: disagreementText(others, order), where };
  return order.length === shape.length ? { ...stated, roles: order } : { ...stated, order };
}

interface StatedOrder {
  readonly order: readonly Role[];
  readonly where: string;
}

function statedOrders(contents: Contents, place: string, path: string): StatedOrder[] {
  const stated = contents.attributes(place, path);
  return [...stated.keys()].flatMap((name) => {
    const order = ORDERS.test(name) ? orderIn(stated.get(name) ?? null) : null;
    if (order === null || !AXIS_NAMES.every((axis) => order.includes(axis))) return [];
    contents.use(place, name);
    return [{ order, where: `the attribute ${name} of ${place}` }];
  });
}

function disagreementText(stated: readonly StatedOrder[], roles: readonly (Role | null)[]): string | null {
  const other = stated.find(({ order }) => {
    const both = order.filter((role) => roles.includes(role));
    const named = roles.filter((role) => role !== null && order.includes(role));
    return both.join() !== named.join();
  });
  return other === undefined ? null : `${other.where} says ${other.order.join(" ")}`;
}

const COMPONENTS =
  /^((components?|vector)(_?(names?|labels?|order|components))?|(field|variable|column|channel)_?names?|labels?|columns|channels)$/i;
/** Attributes that may also name other things than components, as all do in a group. */
const AMBIGUOUS = /^(labels?|columns|channels|(field|variable|column|channel)_?names?|vector)$/i;

interface ComponentNames {
  readonly names: readonly string[];
  readonly where: string;
  /** Whether the place holds names of other things as well. */
  readonly isShared: boolean;
}

/** The names that a file gives the components along a dimension: in its scale, else in an attribute. */
export function componentNames(contents: Contents, path: string, dimension: number): ComponentNames | null {
  for (const scale of contents.scales(path)[dimension] ?? []) {
    const stored = contents.dataset(scale);
    const isEmpty = [...contents.attributes(scale).values()].some(
      (value) => typeof value === "string" && NO_VARIABLE.test(value),
    );
    if (stored?.shape.join() !== "3" || isEmpty) continue;
    const names = isNumeric(stored) ? [...contents.numbers(scale)].map(String) : contents.textsIn(scale);
    if (names !== null && new Set(names).size === 3) return { names, where: scale, isShared: true };
  }
  const stated = [path, ...groupsAbove(parentOf(path))].flatMap((place) =>
    [...contents.attributes(place, path).keys()].flatMap((name) => {
      const value = COMPONENTS.test(name) ? contents.attributes(place).get(name) : null;
      const words = typeof value === "string" ? value.match(/\w+/g) : Array.isArray(value) ? (value as string[]) : null;
      const [only, second] = words ?? [];
      // Three letters in one word name three components as well.
      const names = only?.length === 3 && second === undefined ? [...only] : (words ?? []);
      if (names.length !== 3) return [];
      contents.use(place, name);
      return [{ names, where: `the attribute ${name} of ${place}`, isShared: place !== path || AMBIGUOUS.test(name) }];
    }),
  );
  return stated.find(({ names }) => areInOrder(names) === false) ?? stated[0] ?? null;
}

function attachedTable(contents: Contents, scale: string, role: Role | null, length: number): CoordinateTable | null {
  if (role === null || role === "c") return null;
  const table = tableAt(contents, scale, role, false, []);
  return table?.length === length ? table : null;
}

/** The roles that a text such as `zyxc`, `(t, z, y, x)` or a list of names spells, or null. */
function orderIn(value: unknown): Role[] | null {
  const texts = typeof value === "string" ? [value] : Array.isArray(value) ? (value as string[]) : [];
  const words = texts.flatMap((text) => text.match(/[A-Za-z_]+/g) ?? []);
  const [only] = words;
  const names =
    words.length === 1 && only !== undefined && only.length > 1 && roleNamed(only) === null ? [...only] : words;
  const roles = names.map(roleNamed);
  return roles.some((role) => role === null) || new Set(roles).size < roles.length ? null : (roles as Role[]);
}

/** What a file states of grid and times: tables of coordinates, and numbers in attributes and small datasets. */
import { DataError } from "../../shared/errors.js";
import { AXIS_NAMES, type AxisName } from "../dataset/dataset.js";
import { type AttributeValue, isNumeric } from "../dataset/stored.js";
import { quantityIn } from "../dataset/units.js";
import { type AxisClues, NO_CLUES, type StatedNumber } from "./grid.js";
import type { Contents, Statement } from "./layout.js";
import { axisSaid } from "./stated-names.js";
import { areInOrder, namesPlace, placeIn, type Role, roleNamed, tableNamed } from "./usual-names.js";

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
const FEW = 3;
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
  const said = [...(coordinates ?? [])].map(([axis, path]) => {
    const found = tableAt(contents, path, axis, false, spatial);
    if (found === null)
      throw new DataError(`--coordinates ${axis}=${path}: it is not a list of the coordinates along ${axis}`);
    return found;
  });
  const listed = groups.flatMap((holder) =>
    [...contents.attributes(holder)].flatMap(([name, value]): CoordinateTable[] => {
      const named = value instanceof Float64Array && value.length > FEW ? tableNamed(name) : null;
      if (named === null || named.role === "t" || coordinates?.has(named.role)) return [];
      return [{ ...named, path: `${holder}@${name}`, length: (value as Float64Array).length, along: null }];
    }),
  );
  const found = groups.flatMap((group) => {
    const names = contents.datasets(group);
    return names.flatMap((name) => {
      const named = tableNamed(name) ?? numberedTable(name, names);
      if (named === null || coordinates?.has(named.role as AxisName)) return [];
      return tableAt(contents, join(group, name), named.role, named.isEdges, spatial) ?? [];
    });
  });
  return [...said, ...found, ...listed];
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
export function curvedIn(
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
  const along = variesAlong(contents.numbers(path), stored.shape);
  return along === null ? null : { role, path, length: stored.shape[along], isEdges: false, along };
}

function variesAlong(values: Float64Array, [n0, n1, n2]: readonly number[]): number | null {
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
    const found = (scales[index] ?? []).map((scale) => {
      const role = roleNamed(scale.split("/").pop() ?? "") ?? axisSaid(contents, scale);
      return { role, table: attached(contents, scale, role, length) };
    });
    const named = found.find(({ table }) => table !== null) ?? found.find(({ role }) => role !== null);
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
  if (isScaled) return { ...scaled, contradiction: contradiction ?? disagreement(all, roles) };
  if (first === undefined) return { ...scaled, where: "" };
  const { order, where } = first;
  const stated = { ...scaled, contradiction: disagreement(others, order), where };
  return order.length === shape.length ? { ...stated, roles: order } : { ...stated, order };
}

interface StatedOrder {
  readonly order: readonly Role[];
  readonly where: string;
}

function statedOrders(contents: Contents, place: string, path: string): StatedOrder[] {
  const said = contents.attributes(place, path);
  return [...said.keys()].flatMap((name) => {
    const order = ORDERS.test(name) ? orderIn(said.get(name) ?? null) : null;
    if (order === null || !AXIS_NAMES.every((axis) => order.includes(axis))) return [];
    contents.use(place, name);
    return [{ order, where: `the attribute ${name} of ${place}` }];
  });
}

function disagreement(stated: readonly StatedOrder[], roles: readonly (Role | null)[]): string | null {
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

export interface ComponentNames {
  readonly names: readonly string[];
  readonly where: string;
  /** Whether the place holds names of other things as well. */
  readonly isLoose: boolean;
}

/** The names that a file gives the components along a dimension: in its scale, else in an attribute. */
export function componentNames(contents: Contents, path: string, dimension: number): ComponentNames | null {
  for (const scale of contents.scales(path)[dimension] ?? []) {
    const stored = contents.dataset(scale);
    const isNumber = isNumeric(stored);
    const isEmpty = [...contents.attributes(scale).values()].some(
      (value) => typeof value === "string" && NO_VARIABLE.test(value),
    );
    if (stored?.shape.join() !== "3" || isEmpty) continue;
    const names = isNumber ? [...contents.numbers(scale)].map(String) : contents.textsIn(scale);
    if (names !== null && new Set(names).size === 3) return { names, where: scale, isLoose: true };
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
      return [{ names, where: `the attribute ${name} of ${place}`, isLoose: place !== path || AMBIGUOUS.test(name) }];
    }),
  );
  return stated.find(({ names }) => areInOrder(names) === false) ?? stated[0] ?? null;
}

function attached(contents: Contents, scale: string, role: Role | null, length: number): CoordinateTable | null {
  if (role === null || role === "c") return null;
  const found = tableAt(contents, scale, role, false, []);
  return found?.length === length ? found : null;
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

/** Relative difference that two statements of one number may have: some are rounded. */
const SLACK = 1e-3;

function placeText({ path, attribute }: Statement): string {
  return attribute === null ? path : `the attribute ${attribute} of ${path}`;
}

/** Names of lists with one number per axis. */
const SPACING_LISTS = ["spacing", "grid_spacing", "gridspacing", "delta", "deltas", "cell_size", "dx"];
const LENGTH_LISTS = ["length", "lengths", "l", "box_size", "boxsize", "box_length", "domain_size", "domain_length"];
const PERIODIC_LISTS = ["periodic", "periodicity", "is_periodic", "periodic_axes", "periodic_dims", "cyclic", "wrap"];
/** Lists of conditions at the ends, of which only periodic ones are read. */
const CONDITION_LISTS = "bc bcs boundary boundaries boundary_condition boundary_conditions topology".split(" ");
const ORIGIN_LISTS = ["origin"];
/** Ends of a box: first nodes and last nodes, or outer faces of the end cells. */
const LOWER_LISTS = ["domain_left_edge", "left_edge", "lower", "lower_bound", "lower_bounds", "lo"];
const UPPER_LISTS = ["domain_right_edge", "right_edge", "upper", "upper_bound", "upper_bounds", "hi"];
/** Names of the extents of a box: three lengths, or both ends of three axes in an unknown order. */
const BOX_LISTS = [
  ...["extent", "extents", "domain_extent", "domain_extents", "physical_extent", "whole_extent", "grid_extent"],
  ...["bounds", "domain_bounds", "box_bounds", "bbox", "bounding_box", "boundingbox", "box", "domain", "region"],
  ...["limits", "domain_limits", "box_limits"],
];

/** Numbers that a file states by name, the nearest place first. A value is read when its name is needed. */
export class StatedNumbers {
  readonly #contents: Contents;
  readonly #lead: string;
  readonly #statements = new Map<string, Statement[]>();

  /** @param places the first is that of a field */
  constructor(contents: Contents, places: readonly string[]) {
    this.#contents = contents;
    this.#lead = places[0] as string;
    for (const place of places) {
      for (const name of contents.attributes(place).keys()) this.#add(name, { path: place, attribute: name });
      for (const name of contents.datasets(place)) {
        const path = join(place, name);
        const stored = contents.dataset(path);
        const count = stored?.shape.reduce((product, length) => product * length, 1) ?? 0;
        const most = stored?.element === "string" ? 1 : BOX_LISTS.includes(name.toLowerCase()) ? 6 : FEW;
        const isRead = isNumeric(stored) || stored?.element === "string";
        if (isRead && count > 0 && count <= most && !contents.isUnwritten(path))
          this.#add(name, { path, attribute: null });
      }
    }
  }

  #add(name: string, statement: Statement): void {
    // `T` is as often a temperature or a period.
    const key = name === "T" ? name : name.toLowerCase();
    const known = this.#statements.get(key);
    if (known === undefined) this.#statements.set(key, [statement]);
    else known.push(statement);
  }

  numbers(names: readonly string[]): StatedNumber<readonly number[]> | null {
    return this.#first(names, (statement) => this.#numbersOf(statement));
  }

  /** The first statement of these names, if it is none of numbers, as it is shown in messages; else null. */
  unread(names: readonly string[]): string | null {
    const [first] = this.#all(names);
    const isRead = first === undefined || this.#numbersOf(first) !== null;
    return isRead ? null : `${placeText(first)} is "${this.#read(first) ?? ""}"`;
  }

  #all(names: readonly string[]): Statement[] {
    return names.flatMap((name) => this.#statements.get(name) ?? []);
  }

  /**
   * Two places that state different numbers, or null.
   *
   * @param lists names of lists of three, any number of which may belong to the axis
   */
  contradiction(names: readonly string[], lists: readonly string[] = []): string | null {
    if (this.#all([...names, ...lists]).length < 2) return null;
    const [first, ...others] = [...this.#lists(names, 1), ...this.#lists(lists, 3)];
    if (first === undefined) return null;
    const isOther = (value: number, known: number) =>
      Math.abs(value - known) > SLACK * Math.max(Math.abs(value), Math.abs(known));
    const other = others.find(({ value }) => {
      if (first.value.length === value.length) return value.some((one, at) => isOther(one, first.value[at]));
      return value.every((one) => isOther(one, first.value[0]));
    });
    return other === undefined
      ? null
      : `${first.where} is ${first.value.join(", ")} and ${other.where} is ${other.value.join(", ")}`;
  }

  #lists(names: readonly string[], count: number): StatedNumber<readonly number[]>[] {
    return this.#all(names).flatMap((statement) => {
      const found = this.#numbersOf(statement);
      return found?.value.length === count ? [found] : [];
    });
  }

  /** The numbers of a statement, also of a text that is one number, with or without its unit; null if it has none. */
  #numbersOf(statement: Statement): StatedNumber<readonly number[]> | null {
    const found = this.#read(statement);
    const text = typeof found === "string" ? quantityIn(found) : null;
    const said = text?.value ?? found;
    const value = typeof said === "number" ? [said] : said instanceof Float64Array ? [...said] : [];
    if (value.length === 0 || !value.every(Number.isFinite)) return null;
    const { path, attribute } = statement;
    const units = text?.units || this.unitsAt(attribute === null ? path : `${path}@${attribute}`);
    return { value, where: placeText(statement), units };
  }

  /** The unit stated at a dataset or of its name, of an attribute `path@name`, or at a group that has no fields. */
  unitsAt(where: string): string {
    const [path = "", attribute] = where.split("@");
    const own = attribute === undefined ? this.#contents.units(path) : "";
    const named = own || this.units([attribute ?? path.slice(path.lastIndexOf("/") + 1)])?.units;
    const group = attribute === undefined ? parentOf(path) : path;
    return named || (join(this.#lead, "").startsWith(join(group, "")) ? "" : this.#contents.units(group));
  }

  /** A unit that is named after a number or after what it measures, as in `dx_units`, `unit_length` and `timeUnit`. */
  units(stems: readonly string[]): { readonly units: string; readonly where: string } | null {
    const parts = stems.flatMap((stem) => ["units", "unit"].map((word) => [stem.toLowerCase(), word]));
    const names = parts.flatMap(([a, b]) => [`${a}_${b}`, `${b}_${a}`, `${a}${b}`, `${b}${a}`]);
    return this.#first(names, (statement) => {
      const value = this.#read(statement);
      // Numbers in units of 1 are in the unit itself.
      const isUnit = typeof value === "string" || (typeof value === "number" && value !== 1);
      return isUnit ? { units: `${value}`.trim(), where: placeText(statement) } : null;
    });
  }

  #read({ path, attribute }: Statement): AttributeValue | null {
    const isNumber = attribute === null && isNumeric(this.#contents.dataset(path));
    if (isNumber) return this.#contents.numbers(path);
    const found = attribute === null ? this.#contents.textsIn(path) : this.#contents.attributes(path).get(attribute);
    return (Array.isArray(found) && found.length === 1 ? (found as string[])[0] : found) ?? null;
  }

  #use({ path, attribute }: Statement): void {
    this.#contents.use(path, attribute);
  }

  number(names: readonly string[]): StatedNumber | null {
    const found = this.numbers(names);
    return found?.value.length === 1 ? { ...found, value: found.value[0] } : null;
  }

  text(names: readonly string[]): StatedNumber<string> | null {
    return this.#first(names, (statement) => {
      const value = this.#read(statement);
      return typeof value === "string" ? { value, where: placeText(statement) } : null;
    });
  }

  #first<T>(names: readonly string[], read: (statement: Statement) => T | null): T | null {
    for (const statement of this.#all(names)) {
      const found = read(statement);
      if (found === null) continue;
      this.#use(statement);
      return found;
    }
    return null;
  }

  nodes(axis: AxisName): StatedNumber | null {
    return this.number([`n${axis}`, `n_${axis}`, `num_${axis}`, `${axis}_nodes`]);
  }

  /** What says that values are at the centres of cells, which stays among what is not used; null if nothing does. */
  #centres(): StatedNumber<string> | null {
    for (const [name, statements] of this.#statements)
      for (const statement of statements) {
        const value = namesPlace(name) ? this.#read(statement) : null;
        if (placeIn(name, value) === "centre") return { value: `${value}`, where: placeText(statement) };
      }
    return null;
  }

  /**
   * A list of three is in the order x, y, z; if the axes are stored otherwise and the numbers differ, its order is
   * unknown, and a list of lengths then stands for spacings too.
   */
  clues(axis: AxisName, storedOrder: readonly AxisName[]): AxisClues {
    const each = (own: readonly string[], lists: readonly string[]) => this.#each(axis, own, lists, storedOrder);
    const spacings = [`d${axis}`, `delta_${axis}`, `delta${axis}`, `h${axis}`, `${axis}_spacing`, `spacing_${axis}`];
    const lengths = [`l${axis}`, `length_${axis}`, `${axis}_length`, `${axis}len`, `len${axis}`, `box_size_${axis}`];
    const origins = [`${axis}0`, `${axis}_0`, `origin_${axis}`, `${axis}_origin`];
    const lowest = [`${axis}min`, `${axis}_min`, `min_${axis}`, `${axis}lo`, `${axis}_lo`];
    const highest = [`${axis}max`, `${axis}_max`, `max_${axis}`, `${axis}hi`, `${axis}_hi`];
    const limits = { lower: each(lowest, LOWER_LISTS), upper: each(highest, UPPER_LISTS) };
    const { said, unread } = this.#periodic(axis, storedOrder);
    const [periodic = null, ...others] = said;
    const [spacing, length] = [this.#listOfThree(SPACING_LISTS), this.#listOfThree(LENGTH_LISTS)];
    const unordered = {
      ...{ spacing: spacing ?? length, length },
      origin: this.#listOfThree(ORIGIN_LISTS) ?? this.#listOfThree(LOWER_LISTS),
    };
    const boxes = [3, 6].flatMap((count) => this.#lists(BOX_LISTS, count));
    const contradictions = [
      this.contradiction(spacings, SPACING_LISTS),
      this.contradiction(lengths, LENGTH_LISTS),
      this.contradiction(origins, ORIGIN_LISTS),
      this.contradiction(lowest, LOWER_LISTS),
      this.contradiction(highest, UPPER_LISTS),
    ].filter((text) => text !== null);
    const other = others.find(({ value }) => value !== periodic?.value);
    const says = ({ value, where }: StatedNumber<boolean>) => `${where} says ${value ? "periodic" : "not periodic"}`;
    if (periodic !== null && other !== undefined) contradictions.push(`${says(periodic)}, and ${says(other)}`);
    return {
      ...NO_CLUES,
      ...{ spacing: each(spacings, SPACING_LISTS), length: each(lengths, LENGTH_LISTS) },
      ...{
        centres: this.#centres(),
        origin: each(origins, ORIGIN_LISTS),
        limits,
        periodic,
        walls: this.#walls(axis),
        unordered,
        boxes,
      },
      contradictions: [...contradictions, ...unread],
    };
  }

  #listOfThree(names: readonly string[]): StatedNumber<readonly number[]> | null {
    const list = this.numbers(names);
    return list?.value.length === 3 ? list : null;
  }

  #each(
    axis: AxisName,
    own: readonly string[],
    lists: readonly string[],
    order: readonly AxisName[],
  ): StatedNumber | null {
    const single = this.number(own);
    if (single !== null) return single;
    const list = this.#listOfThree(lists);
    if (list === null) return null;
    const [first] = list.value as [number];
    if (list.value.every((value) => value === first)) return { ...list, value: first };
    return order.join() === AXIS_NAMES.join() ? { ...list, value: list.value[AXIS_NAMES.indexOf(axis)] } : null;
  }

  #walls(axis: AxisName): StatedNumber<boolean> | null {
    const found = this.text([`bc_${axis}`, `${axis}_bc`, `boundary_${axis}`]);
    const word = found?.value.trim() ?? "";
    if (found !== null && /^(wall|walls|no[-_ ]?slip|free[-_ ]?slip)$/i.test(word)) return { ...found, value: true };
    return found !== null && /^(open|inflow|outflow|free)$/i.test(word) ? { ...found, value: false } : null;
  }

  #periodic(axis: AxisName, order: readonly AxisName[]): { said: StatedNumber<boolean>[]; unread: string[] } {
    const forms = (word: string) => [`${word}_${axis}`, `${axis}_${word}`, `${word}${axis}`, `${axis}${word}`];
    const own = ["periodic", "is_periodic", "cyclic", "bc", "boundary", "boundary_condition"].flatMap(forms);
    const places = [AXIS_NAMES.indexOf(axis), order.indexOf(axis)];
    const said: StatedNumber<boolean>[] = [];
    const unread: string[] = [];
    const read = (names: readonly string[], truth: (value: AttributeValue) => boolean | null | undefined) => {
      for (const statement of this.#all(names)) {
        const found = this.#read(statement);
        const where = placeText(statement);
        const value = found === null ? null : truth(found);
        if (typeof value === "boolean") {
          said.push({ value, where });
          this.#use(statement);
        } else if (value === undefined) unread.push(`${where} is "${found}", which is not understood`);
      }
    };
    read(own, (value) => conditionOf(Array.isArray(value) ? value.join(" ") : value));
    read(PERIODIC_LISTS, (value) => isPeriodicIn(value, places, axis) ?? conditionOf(value));
    // Walls may be at the ends of one axis only.
    const ifTrue = (condition: boolean | null | undefined) => (condition === false ? null : condition);
    read(CONDITION_LISTS, (value) => isPeriodicIn(value, places, axis) ?? ifTrue(conditionOf(value)));
    return { said, unread };
  }
}

const PERIODIC = /^(periodic|cyclic|circular|true|yes|all)$/i;
const NOT_PERIODIC =
  /^((non|not|a)?[-_ ]periodic|aperiodic|no|none|false|walls?|no[-_ ]?slip|free[-_ ]?slip|open|inflow|outflow|free|dirichlet|neumann)$/i;

/** Whether a number or word says that an axis is periodic: null if it says nothing, undefined if it is not clear. */
function conditionOf(value: AttributeValue): boolean | null | undefined {
  if (typeof value === "number") return value !== 0;
  if (typeof value !== "string") return null;
  const word = value.trim();
  if (PERIODIC.test(word)) return true;
  if (NOT_PERIODIC.test(word)) return false;
  return /period|cyclic/i.test(word) ? undefined : null;
}

/**
 * Whether a list, of letters of the periodic axes or of one entry per axis, says that an axis is periodic.
 *
 * @param places possible positions of the axis in the list; if the entries there differ, the list says nothing
 */
function isPeriodicIn(value: AttributeValue, places: readonly number[], axis: AxisName): boolean | null | undefined {
  if (typeof value === "number") return null;
  const texts = typeof value === "string" ? [value] : value instanceof Float64Array ? [] : (value as string[]);
  if (texts.length > 0 && texts.every((text) => /^[xyz ,;]*$/i.test(text)))
    return texts.join().toLowerCase().includes(axis);
  const items = value instanceof Float64Array ? [...value] : texts.flatMap((text) => text.trim().split(/[\s,;]+/));
  if (items.length !== 3) return null;
  const [first, second] = places.map((place) => conditionOf(items[place] as number | string));
  return first === second ? first : null;
}

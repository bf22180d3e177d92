/** Numbers and texts that a file states by name, in attributes and small datasets. */
import { AXIS_NAMES, type AxisName } from "../dataset/dataset.js";
import { type AttributeValue, isNumeric } from "../dataset/stored.js";
import { quantityIn } from "../dataset/units.js";
import { join, MAX_ATTRIBUTE_NUMBERS, parentOf } from "./evidence.js";
import { type AxisClues, NO_CLUES, type Stated } from "./grid.js";
import type { Contents, Statement } from "./layout.js";
import { namesPlace, placeIn } from "./usual-names.js";

/** Relative difference that two statements of one number may have: some are rounded. */
const ROUNDING_TOLERANCE = 1e-3;

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
  readonly #fieldPath: string;
  readonly #statements = new Map<string, Statement[]>();

  /** @param places the first is that of a field */
  constructor(contents: Contents, places: readonly string[]) {
    this.#contents = contents;
    this.#fieldPath = places[0] as string;
    for (const place of places) {
      for (const name of contents.attributes(place).keys()) this.#add(name, { path: place, attribute: name });
      for (const name of contents.datasets(place)) {
        const path = join(place, name);
        const stored = contents.dataset(path);
        const count = stored?.shape.reduce((product, length) => product * length, 1) ?? 0;
        const most =
          stored?.element === "string" ? 1 : BOX_LISTS.includes(name.toLowerCase()) ? 6 : MAX_ATTRIBUTE_NUMBERS;
        const isRead = isNumeric(stored) || stored?.element === "string";
        if (isRead && count > 0 && count <= most && !contents.isUnwritten(path))
          this.#add(name, { path, attribute: null });
      }
    }
  }

  #add(name: string, statement: Statement): void {
    // `T` is as often a temperature or a period.
    const key = name === "T" ? name : name.toLowerCase();
    this.#statements.set(key, [...(this.#statements.get(key) ?? []), statement]);
  }

  numbers(names: readonly string[]): Stated<readonly number[]> | null {
    return this.#first(names, (statement) => this.#numbersOf(statement));
  }

  /** The first statement of these names, if it is none of numbers, as it is shown in messages; else null. */
  unreadText(names: readonly string[]): string | null {
    const [first] = this.#all(names);
    const isRead = first === undefined || this.#numbersOf(first) !== null;
    return isRead ? null : `${placeText(first)} is "${this.#read(first) ?? ""}"`;
  }

  #all(names: readonly string[]): Statement[] {
    return names.flatMap((name) => this.#statements.get(name) ?? []);
  }

  /** Two places that state different numbers, or null. Any number of the `lists`, of three each, may be the right one. */
  contradiction(names: readonly string[], lists: readonly string[] = []): string | null {
    if (this.#all([...names, ...lists]).length < 2) return null;
    const [first, ...others] = [...this.#lists(names, 1), ...this.#lists(lists, 3)];
    if (first === undefined) return null;
    const isOther = (value: number, other: number) =>
      Math.abs(value - other) > ROUNDING_TOLERANCE * Math.max(Math.abs(value), Math.abs(other));
    const other = others.find(({ value }) => {
      if (first.value.length === value.length) return value.some((number, at) => isOther(number, first.value[at]));
      return value.every((number) => isOther(number, first.value[0]));
    });
    return other === undefined
      ? null
      : `${first.where} is ${first.value.join(", ")} and ${other.where} is ${other.value.join(", ")}`;
  }

  #lists(names: readonly string[], count: number): Stated<readonly number[]>[] {
    return this.#all(names).flatMap((statement) => {
      const numbers = this.#numbersOf(statement);
      return numbers?.value.length === count ? [numbers] : [];
    });
  }

  /** The numbers of a statement, also of a text that is one number, with or without its unit; null if it has none. */
  #numbersOf(statement: Statement): Stated<readonly number[]> | null {
    const content = this.#read(statement);
    const text = typeof content === "string" ? quantityIn(content) : null;
    const parsed = text?.value ?? content;
    const value = typeof parsed === "number" ? [parsed] : parsed instanceof Float64Array ? [...parsed] : [];
    if (value.length === 0 || !value.every(Number.isFinite)) return null;
    const { path, attribute } = statement;
    const units = text?.units || this.unitsAt(attribute === null ? path : `${path}@${attribute}`);
    return { value, where: placeText(statement), units };
  }

  /** The unit stated at a dataset or of its name, of an attribute `path@name`, or at a group that has no fields. */
  unitsAt(where: string): string {
    const [path = "", attribute] = where.split("@");
    const unit = attribute === undefined ? this.#contents.units(path) : "";
    const named = unit || this.units([attribute ?? path.slice(path.lastIndexOf("/") + 1)])?.units;
    const group = attribute === undefined ? parentOf(path) : path;
    const holdsFields = join(this.#fieldPath, "").startsWith(join(group, ""));
    return named || (holdsFields ? "" : this.#contents.units(group));
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
    const content = attribute === null ? this.#contents.textsIn(path) : this.#contents.attributes(path).get(attribute);
    return (Array.isArray(content) && content.length === 1 ? (content as string[])[0] : content) ?? null;
  }

  number(names: readonly string[]): Stated | null {
    const stated = this.numbers(names);
    return stated?.value.length === 1 ? { ...stated, value: stated.value[0] } : null;
  }

  text(names: readonly string[]): Stated<string> | null {
    return this.#first(names, (statement) => {
      const value = this.#read(statement);
      return typeof value === "string" ? { value, where: placeText(statement) } : null;
    });
  }

  #first<T>(names: readonly string[], read: (statement: Statement) => T | null): T | null {
    for (const statement of this.#all(names)) {
      const result = read(statement);
      if (result === null) continue;
      this.#contents.use(statement.path, statement.attribute);
      return result;
    }
    return null;
  }

  nodes(axis: AxisName): Stated | null {
    return this.number([`n${axis}`, `n_${axis}`, `num_${axis}`, `${axis}_nodes`]);
  }

  /** What says that values are at the centres of cells, which stays among what is not used; null if nothing does. */
  #centres(): Stated<string> | null {
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
    const numberFor = (names: readonly string[], lists: readonly string[]) =>
      this.#numberFor(axis, names, lists, storedOrder);
    const spacings = [`d${axis}`, `delta_${axis}`, `delta${axis}`, `h${axis}`, `${axis}_spacing`, `spacing_${axis}`];
    const lengths = [`l${axis}`, `length_${axis}`, `${axis}_length`, `${axis}len`, `len${axis}`, `box_size_${axis}`];
    const origins = [`${axis}0`, `${axis}_0`, `origin_${axis}`, `${axis}_origin`];
    const lowest = [`${axis}min`, `${axis}_min`, `min_${axis}`, `${axis}lo`, `${axis}_lo`];
    const highest = [`${axis}max`, `${axis}_max`, `max_${axis}`, `${axis}hi`, `${axis}_hi`];
    const limits = { lower: numberFor(lowest, LOWER_LISTS), upper: numberFor(highest, UPPER_LISTS) };
    const { stated, unread } = this.#periodic(axis, storedOrder);
    const [periodic = null, ...others] = stated;
    const [spacing, length] = [this.#listOfThree(SPACING_LISTS), this.#listOfThree(LENGTH_LISTS)];
    const unordered = {
      spacing: spacing ?? length,
      length,
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
    const says = ({ value, where }: Stated<boolean>) => `${where} says ${value ? "periodic" : "not periodic"}`;
    if (periodic !== null && other !== undefined) contradictions.push(`${says(periodic)}, and ${says(other)}`);
    return {
      ...NO_CLUES,
      spacing: numberFor(spacings, SPACING_LISTS),
      length: numberFor(lengths, LENGTH_LISTS),
      centres: this.#centres(),
      origin: numberFor(origins, ORIGIN_LISTS),
      limits,
      periodic,
      walls: this.#walls(axis),
      unordered,
      boxes,
      contradictions: [...contradictions, ...unread],
    };
  }

  #listOfThree(names: readonly string[]): Stated<readonly number[]> | null {
    const list = this.numbers(names);
    return list?.value.length === 3 ? list : null;
  }

  /** The number of an axis, by names of its own or in a list of three. */
  #numberFor(axis: AxisName, names: readonly string[], lists: readonly string[], order: readonly AxisName[]) {
    const single: Stated | null = this.number(names);
    if (single !== null) return single;
    const list = this.#listOfThree(lists);
    if (list === null) return null;
    const [first] = list.value as [number];
    if (list.value.every((value) => value === first)) return { ...list, value: first };
    return order.join() === AXIS_NAMES.join() ? { ...list, value: list.value[AXIS_NAMES.indexOf(axis)] } : null;
  }

  #walls(axis: AxisName): Stated<boolean> | null {
    const stated = this.text([`bc_${axis}`, `${axis}_bc`, `boundary_${axis}`]);
    const word = stated?.value.trim() ?? "";
    if (stated !== null && /^(wall|walls|no[-_ ]?slip|free[-_ ]?slip)$/i.test(word)) return { ...stated, value: true };
    return stated !== null && /^(open|inflow|outflow|free)$/i.test(word) ? { ...stated, value: false } : null;
  }

  #periodic(axis: AxisName, order: readonly AxisName[]): { stated: Stated<boolean>[]; unread: string[] } {
    const forms = (word: string) => [`${word}_${axis}`, `${axis}_${word}`, `${word}${axis}`, `${axis}${word}`];
    const names = ["periodic", "is_periodic", "cyclic", "bc", "boundary", "boundary_condition"].flatMap(forms);
    const places = [AXIS_NAMES.indexOf(axis), order.indexOf(axis)];
    const stated: Stated<boolean>[] = [];
    const unread: string[] = [];
    const read = (names: readonly string[], truth: (value: AttributeValue) => Condition) => {
      for (const statement of this.#all(names)) {
        const content = this.#read(statement);
        const where = placeText(statement);
        const value = content === null ? null : truth(content);
        if (typeof value === "boolean") {
          stated.push({ value, where });
          this.#contents.use(statement.path, statement.attribute);
        } else if (value === "unclear") unread.push(`${where} is "${content}", which is not understood`);
      }
    };
    read(names, (value) => conditionOf(Array.isArray(value) ? value.join(" ") : value));
    read(PERIODIC_LISTS, (value) => isPeriodicIn(value, places, axis) ?? conditionOf(value));
    // Walls may be at the ends of one axis only.
    const ifTrue = (condition: Condition) => (condition === false ? null : condition);
    read(CONDITION_LISTS, (value) => isPeriodicIn(value, places, axis) ?? ifTrue(conditionOf(value)));
    return { stated, unread };
  }
}

type Condition = boolean | "unclear" | null;
const PERIODIC = /^(periodic|cyclic|circular|true|yes|all)$/i;
const NOT_PERIODIC =
  /^((non|not|a)?[-_ ]periodic|aperiodic|no|none|false|walls?|no[-_ ]?slip|free[-_ ]?slip|open|inflow|outflow|free|dirichlet|neumann)$/i;

/** Whether a number or word says that an axis is periodic; null if it says nothing. */
function conditionOf(value: AttributeValue): Condition {
  if (typeof value === "number") return value !== 0;
  if (typeof value !== "string") return null;
  const word = value.trim();
  if (PERIODIC.test(word)) return true;
  if (NOT_PERIODIC.test(word)) return false;
  return /period|cyclic/i.test(word) ? "unclear" : null;
}

/**
 * Whether a list, of letters of the periodic axes or of one entry per axis, says that an axis is periodic.
 * @param places possible positions of the axis in the list; if the entries there differ, the list says nothing
 */
function isPeriodicIn(value: AttributeValue, places: readonly number[], axis: AxisName): Condition {
  if (typeof value === "number") return null;
  const texts = typeof value === "string" ? [value] : value instanceof Float64Array ? [] : (value as string[]);
  if (texts.length > 0 && texts.every((text) => /^[xyz ,;]*$/i.test(text)))
    return texts.join().toLowerCase().includes(axis);
  const items = value instanceof Float64Array ? [...value] : texts.flatMap((text) => text.trim().split(/[\s,;]+/));
  if (items.length !== 3) return null;
  const [first, second] = places.map((place) => conditionOf(items[place] as number | string));
  return first === second ? first : null;
}

/**
 * Finds what can be drawn of a dataset by its name: a quantity of the table, or a field under a name of its own, whose
 * names are expressions of the service.
 */
import { recordQuantity } from "../../src/analysis/record-quantity.js";
import { FIELDS, type OperationName, VALUES } from "../../src/shared/operations.js";
import { formulaText, type Measure, QUANTITIES, type Quantity, unitOf } from "../../src/shared/quantities.js";
import { type DatasetFacts, type FieldFacts, offers } from "./facts.js";
import { AXES } from "./plane-geometry.js";

/** Lowest and highest value. */
export type ValueRange = readonly [number, number];

/** A quantity of the table, or one of a field under a name of its own. */
export interface ShownQuantity extends Omit<Quantity, "measure"> {
  /** Physical dimension, from which the unit follows; null if the field states its unit. */
  readonly measure: Measure | null;
  readonly formula: string;
  /** The field that the operation is asked for by name. */
  readonly field?: string;
}

/** An end of a range in five digits, rounded so that the range still has all that is in it: down for -1, up for 1. */
export function outwards(end: number, sense: -1 | 1): number {
  const rounded = Number(end.toPrecision(5));
  if (sense * (rounded - end) >= 0) return rounded;
  return Number((rounded + sense * 10 ** (Math.floor(Math.log10(Math.abs(end))) - 4)).toPrecision(5));
}

/** Asks for values of any field. */
const BY_NAME = {
  operation: "GetField" satisfies OperationName,
  methods: VALUES,
  method: "Lag6",
  measure: null,
} as const;
const COMPONENTS = ["x", "y", "z"];

/** Whether a name of a field is also that of a quantity of the table; brackets then tell the field. */
function isTaken(name: string): boolean {
  return QUANTITIES.some((row) => row.name === name);
}

/** The names of the quantities of a field: its value, or the components and the size of a vector. */
function namesOf({ name, components }: FieldFacts): readonly string[] {
  if (components === 1) return [isTaken(name) ? `(${name})` : name];
  return [...COMPONENTS.map((axis) => `${name}.${axis}`), `norm(${name})`];
}

/** Whether a field has no operation of its own. */
export function isNamed({ name }: Pick<FieldFacts, "name">): boolean {
  return !Object.hasOwn(FIELDS, name);
}

/** The quantity of a name, which `quantitiesOf` offers for some dataset. */
export function quantityOf(name: string): ShownQuantity {
  const row = QUANTITIES.find((one) => one.name === name);
  if (row !== undefined) return { ...row, formula: formulaText(row) };
  const [, size, scalar, vector] = /^(?:norm\((\w+)\)|\(?(\w+?)\)?|(\w+)\.[xyz])$/.exec(name) ?? [];
  return { ...BY_NAME, name, title: name, formula: name, expression: name, field: size ?? scalar ?? vector ?? "" };
}

/** The values of a quantity from records of its operation, of `width` numbers each. */
export function quantityValues(
  name: string,
  records: ArrayLike<number>,
  width: number,
  viscosity?: number | null,
): ArrayLike<number> {
  const quantity = quantityOf(name);
  const field = quantity.field === undefined ? {} : { [quantity.field]: width };
  return recordQuantity(quantity, viscosity, field)(records, width, 0, records.length / width);
}

/** The quantities that a dataset has. */
export function quantitiesOf(facts: DatasetFacts): readonly ShownQuantity[] {
  const named = facts.fields.filter(isNamed);
  const known = QUANTITIES.filter(({ name, operation, needsViscosity }: Quantity) => {
    if (needsViscosity === true && facts.viscosity == null) return false;
    return offers(facts, operation) && !named.some((field) => field.name === name);
  }).map(({ name }) => quantityOf(name));
  if (!offers(facts, BY_NAME.operation)) return known;
  return [...known, ...named.flatMap(namesOf).map(quantityOf)];
}

/** Whether the small values of a quantity mark vortices. */
export function marksBySmall(name: string): boolean {
  return name === "p" || name === "boxp";
}

/** The title of a quantity in a list: that of its field, if the dataset states one. */
export function listedTitle({ fields }: DatasetFacts, { title, field }: ShownQuantity): string {
  const stated = fields.find(({ name }) => name === field)?.title;
  return stated === undefined ? title : `${title}: ${stated}`;
}

/** A quantity or an axis, on which nodes fulfil a condition, inside a sentence. */
export function conditionTitle(of: string): string {
  return AXES.some((axis) => axis === of) ? of : inSentence(quantityOf(of).title);
}

/** A title inside a sentence: its first letter small, unless it begins an abbreviation or a symbol. */
export function inSentence(title: string): string {
  return title.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

/** The unit of a component in the records of an operation; empty if the dataset states none. */
export function unitOfComponent(facts: DatasetFacts, operation: OperationName, component: string): string {
  const asked = operation === "GetVelocityAndPressure" && component !== "p" ? "GetVelocity" : operation;
  const row = QUANTITIES.find((quantity) => quantity.operation === asked);
  return row === undefined ? "" : unitOf(facts, row.measure);
}

/** The unit of a quantity; empty if the dataset states none. */
export function unitOfQuantity(facts: DatasetFacts, name: string): string {
  const { measure, field } = quantityOf(name);
  if (measure !== null) return unitOf(facts, measure);
  return facts.fields.find((one) => one.name === field)?.unit ?? "";
}

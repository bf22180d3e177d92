/** Quantities of a question, compiled for a dataset, with their columns. */
import { compileExpression, componentsIn, type Expression } from "../../../analysis/expression.js";
import { fieldOfName, type Names, namesFor } from "../../../analysis/names.js";
import { type Dataset, fieldNames } from "../../../engine/contract/dataset.js";
import { Faults, wrong } from "../faults.js";
import type { MemberValues, RequestedQuantity } from "./member-values.js";
import { readWhat } from "./read-member.js";

export interface Quantity {
  readonly name: string;
  readonly text: string;
  /** Its dimensions: none, 3, 3 x 3, or 3 x 3 x 3 of the Hessian of a vector. */
  readonly shape: readonly number[];
  readonly columns: readonly string[];
  /** Its components as expressions, each a scalar. */
  readonly components: readonly string[];
  /** Expressions that give its components in their order. */
  readonly expressions: readonly Expression[];
  readonly unit: string | null;
}

export function namesOf({ filter, units, others = {} }: MemberValues, dataset: Dataset): Names {
  const isFiltered = filter === undefined ? false : filter.kind === "box" ? ("box" as const) : true;
  const ofOthers = Object.entries(others).map(
    ([name, other]) => [name, namesOf(units ? { units } : {}, other)] as const,
  );
  const own = { ...namesFor(dataset, units !== "ignore"), isFiltered, refusesEarlier: true };
  return ofOthers.length === 0 ? own : { ...own, others: Object.fromEntries(ofOthers) };
}

/** The quantity of a question without `what`: the velocity, or the first field. */
export function defaultWhat(dataset: Dataset): readonly RequestedQuantity[] {
  return readWhat(dataset.fields.velocity === undefined ? [fieldNames(dataset)[0] as string] : ["u"]);
}

const SHAPES = { scalar: [], vector: [3], tensor: [3, 3] } as const;

function componentNames(name: string, shape: readonly number[]): readonly string[] {
  if (shape.length === 0) return [name];
  if (shape.length === 1) return ["x", "y", "z"].map((letter) => `${name}.${letter}`);
  return shape.reduce<readonly string[]>(
    (names) => names.flatMap((one) => [0, 1, 2].map((i) => `${one}[${i}]`)),
    [name],
  );
}

function compileQuantity({ name, text, isNamed }: RequestedQuantity, names: Names): Quantity {
  const [, argument = ""] = /^hess\(\s*(\w+)\s*\)$/.exec(text) ?? [];
  const field = fieldOfName(argument, names);
  const isRows = field !== undefined && names.fields[field] === 3;
  const texts = isRows ? [0, 1, 2].map((i) => `${text}[${i}]`) : [text];
  const expressions = texts.map((one) => compileExpression(one, names, "what"));
  const [first] = expressions as [Expression];
  const shape = isRows ? [3, 3, 3] : SHAPES[first.shape];
  const components = texts.flatMap((one) => componentsIn(one, first.shape));
  const whole = isNamed || shape.length === 0 ? name : components[0].replace(/(\.x|(\[0\])+)$/, "");
  return { name, text, shape, columns: componentNames(whole, shape), components, expressions, unit: first.unit };
}

/** Compiles quantities. Throws RequestError with every one that is wrong. */
export function compileWhat(what: readonly RequestedQuantity[], names: Names): readonly Quantity[] {
  const faults = new Faults();
  const compiled = what.map((one) => faults.try("what", () => compileQuantity(one, names)));
  faults.raise();
  return compiled as readonly Quantity[];
}

/** Texts in a question: expressions, and words. */
const textsIn = (value: unknown): string[] =>
  typeof value === "string" ? [value.replace(/^cross:/, "")] : Object.values(value ?? {}).flatMap(textsIn);

/** Refuses a filter that no expression of a question uses. Throws RequestError. */
export function checkFilterUsed(question: MemberValues, dataset: Dataset): void {
  const { filter, points: _, others: __, ...members } = question;
  if (filter === undefined) return;
  const names = namesOf(question, dataset);
  const isUsedIn = (text: string): boolean => {
    try {
      return compileExpression(text, names).reads.some((key) => key.startsWith("filtered"));
    } catch {
      return text.includes("filter"); // What is wrong with it is said where it is computed.
    }
  };
  if (!textsIn(members).some(isUsedIn)) throw wrong("filter", "nothing uses it: write filter(u), tau, Pi, …");
}

/** Names in files: letters, digits and `_`. Throws RequestError for names that become equal. */
export function fileNames(names: readonly string[]): readonly string[] {
  const plain = names.map((name) => {
    const text = name.replaceAll(/[^A-Za-z0-9_]/g, "_");
    return /^[A-Za-z_]/.test(text) ? text : `_${text}`;
  });
  checkDistinct(names, plain);
  return plain;
}

export const checkFileNames = (names: readonly string[]): void => void fileNames(names);

/** @param plain the names as a format spells them @throws RequestError for names that are equal */
export function checkDistinct(names: readonly string[], plain = names): void {
  const clash = plain.findIndex((name, i) => plain.indexOf(name) < i);
  if (clash < 0) return;
  const other = names[plain.indexOf(plain[clash])];
  const both =
    other === names[clash] ? `two columns are named ${other}` : `${other} and ${names[clash]} are both ${plain[clash]}`;
  throw wrong("what", `${both} in this format: name one, as in q = ${names[clash]}`);
}

/** A quantity as text that reads back as the same quantity. */
export function whatText({ name, text, isNamed }: RequestedQuantity): string {
  return isNamed ? `${name} = ${text}` : name;
}

/** Quantities of a question, compiled for a dataset, with their columns. */
import { compileExpression, componentsIn, type Expression } from "../../../analysis/expression.js";
import { type Names, namesFor } from "../../../analysis/names.js";
import { type Dataset, fieldNames } from "../../../engine/contract/dataset.js";
import { Faults, wrong } from "../faults.js";
import type { PointOptions } from "../points/point-columns.js";
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

/** Names that expressions of a question may use. */
export function namesOf({ filter, units, others = {} }: MemberValues, dataset: Dataset): Names {
  const isFiltered = filter === undefined ? false : filter.kind === "box" ? ("box" as const) : true;
  const ofOthers = Object.entries(others).map(
    ([name, other]) => [name, namesOf(units ? { units } : {}, other)] as const,
  );
  const own = { ...namesFor(dataset, units !== "ignore"), isFiltered, refusesEarlier: true };
  return ofOthers.length === 0 ? own : { ...own, others: Object.fromEntries(ofOthers) };
}

/** The quantity of a question without `what`: the velocity, or the first field. */
export function usualWhat(dataset: Dataset): readonly RequestedQuantity[] {
  return readWhat(dataset.fields.velocity === undefined ? [fieldNames(dataset)[0] as string] : ["u"]);
}

const SHAPES = { scalar: [], vector: [3], tensor: [3, 3] } as const;

function nested(name: string, shape: readonly number[]): readonly string[] {
  if (shape.length === 0) return [name];
  if (shape.length === 1) return ["x", "y", "z"].map((letter) => `${name}.${letter}`);
  return shape.reduce<readonly string[]>(
    (names) => names.flatMap((one) => [0, 1, 2].map((i) => `${one}[${i}]`)),
    [name],
  );
}

function compileOne({ name, text, isNamed }: RequestedQuantity, names: Names): Quantity {
  const [, of] = /^hess\(\s*(\w+)\s*\)$/.exec(text) ?? [];
  const isRows = of !== undefined && names.fields[of === "u" ? "velocity" : of] === 3;
  const texts = isRows ? [0, 1, 2].map((i) => `${text}[${i}]`) : [text];
  const expressions = texts.map((one) => compileExpression(one, names, "what"));
  const [first] = expressions as [Expression];
  const shape = isRows ? [3, 3, 3] : SHAPES[first.shape];
  const components = texts.flatMap((one) => componentsIn(one, first.shape));
  const whole = isNamed || shape.length === 0 ? name : components[0].replace(/(\.x|(\[0\])+)$/, "");
  return { name, text, shape, columns: nested(whole, shape), components, expressions, unit: first.unit };
}

/** Compiles quantities. Throws RequestError with every one that is wrong. */
export function compileWhat(what: readonly RequestedQuantity[], names: Names): readonly Quantity[] {
  const faults = new Faults();
  const compiled = what.map((one) => faults.try("what", () => compileOne(one, names)));
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

/** Names of files: letters, digits and `_`. Throws RequestError for names that become equal. */
export function fileNames(names: readonly string[]): readonly string[] {
  const plain = names.map((name) => {
    const text = name.replaceAll(/[^A-Za-z0-9_]/g, "_");
    return /^[A-Za-z_]/.test(text) ? text : `_${text}`;
  });
  checkApart(names, plain);
  return plain;
}

/** @param plain the names as a form spells them @throws RequestError for names that are equal */
export function checkApart(names: readonly string[], plain = names): void {
  const clash = plain.findIndex((name, i) => plain.indexOf(name) < i);
  if (clash < 0) return;
  const other = names[plain.indexOf(plain[clash])];
  const both =
    other === names[clash] ? `two columns are named ${other}` : `${other} and ${names[clash]} are both ${plain[clash]}`;
  throw wrong("what", `${both} in this form: name one, as in q = ${names[clash]}`);
}

/** The engine's name of a spatial option. */
export function spatialName(name: string): string {
  if (name === "nearest") return "None";
  return /^Fd[468]$/.test(name) ? `None_${name}` : name;
}

/** The engine's name of the derivatives at nodes. Throws RequestError. */
export function nodeDerivatives({ derivatives = "Fd4", filter }: MemberValues): string {
  if (filter?.kind === "box")
    throw wrong("filter", "box is the mean about points; at nodes take gaussian, sharp or tophat");
  if (/Lag|^M/.test(derivatives)) throw wrong("derivatives", "at nodes: expected one of Fd4, Fd6, Fd8, spectral");
  return spatialName(derivatives);
}

/** The scheme for derivatives between nodes: the spline, if the method is one, else Fd4Lag4. */
export function pointDerivatives({ derivatives, method = "Lag8" }: MemberValues): string {
  return derivatives ?? (method.startsWith("M") ? method : "Fd4Lag4");
}

/** The interpolation at points, in the names of the engine; analyses use stored times only. */
export function pointOptions(question: MemberValues): Omit<PointOptions, "time"> {
  const { method = "Lag8", time_method = "PCHIP", filter } = question;
  return {
    ...{ method: spatialName(method), derivatives: spatialName(pointDerivatives(question)), filter },
    temporalInterpolation: time_method === "nearest" ? "None" : "PCHIP",
  };
}

/** A quantity as text that reads back as the same quantity. */
export function whatText({ name, text, isNamed }: RequestedQuantity): string {
  return isNamed ? `${name} = ${text}` : name;
}

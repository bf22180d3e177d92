/** Lists what names mean in expressions: inputs of a dataset, and quantities by their formulas. */
import { FIELDS, type FieldName } from "../operations.js";
import { QUANTITIES } from "../quantities.js";
import type { Shape } from "./array-functions.js";

/** What is read at a node: a stored field, a derivative of it, or a coordinate. */
export type InputKind = "value" | "gradient" | "laplacian" | "hessian";
export type InputKey = `${InputKind}:${FieldName}` | "x" | "y" | "z" | "t";

export interface Input {
  readonly key: InputKey;
  readonly shape: Shape;
}

/** What expressions know of a dataset. */
export interface Names {
  /** Kinematic viscosity, if the dataset states one. */
  readonly viscosity?: number | undefined;
  /** Units that the dataset states, by what they measure. */
  readonly units?: Readonly<Record<string, string>>;
  readonly fields: Readonly<Partial<Record<FieldName, unknown>>>;
}

/** What expressions know of a dataset, as plain data. */
export function namesFor({ fields, viscosity, units = {} }: Names): Names {
  const known = Object.keys(fields).map((name) => [name, FIELDS[name as FieldName]] as const);
  return { viscosity, units, fields: Object.fromEntries(known) };
}

const of = (kind: InputKind, field: FieldName, shape: Shape): readonly [string, Input] => {
  const names: Readonly<Record<InputKind, string>> = { value: "", gradient: "grad_", laplacian: "lap_", hessian: "H_" };
  return [names[kind] + field, { key: `${kind}:${field}`, shape }];
};
const INPUT_ROWS = (Object.keys(FIELDS) as FieldName[]).flatMap((field) =>
  FIELDS[field] === 3
    ? [of("value", field, "vector"), of("gradient", field, "tensor"), of("laplacian", field, "vector")]
    : [of("value", field, "scalar"), of("gradient", field, "vector"), of("hessian", field, "tensor")],
);

/** Inputs by name. */
export const INPUTS: ReadonlyMap<string, Input> = new Map<string, Input>([
  ...INPUT_ROWS,
  ...(["x", "y", "z", "t"] as const).map((name) => [name, { key: name, shape: "scalar" }] as const),
]);

/** Names that are expressions of inputs and of each other; they come before the quantities of pictures. */
const FORMULAS: Readonly<Record<string, string>> = {
  u: "velocity",
  ux: "u.x",
  uy: "u.y",
  uz: "u.z",
  p: "pressure",
  A: "grad_velocity",
  S: "(A + transpose(A)) / 2",
  W: "(A - transpose(A)) / 2",
  w: "[A[2][1] - A[1][2], A[0][2] - A[2][0], A[1][0] - A[0][1]]",
  gradp: "grad_pressure",
  H_p: "H_pressure",
  lapu: "lap_velocity",
  q: "(tr(A)^2 - tr(A * A)) / 2",
  r: "-det(A)",
  lambda2: "eig2(S * S + W * W)",
  helicity: "dot(u, w)",
};

/** The formula of a name as an expression; undefined for inputs and for unknown names. */
export function formulaOf(name: string): string | undefined {
  if (Object.hasOwn(FORMULAS, name)) return FORMULAS[name];
  const component = /^(\w+)_([xyz])$/.exec(name);
  if (component !== null && INPUTS.get(component[1])?.shape === "vector") return `${component[1]}.${component[2]}`;
  return QUANTITIES.find((row) => row.name === name)?.expression ?? undefined;
}

/** All names, for messages. */
export function nameList({ fields, viscosity }: Names): readonly string[] {
  const has = ({ key }: Input): boolean => !key.includes(":") || fields[key.split(":")[1] as FieldName] !== undefined;
  const inputs = [...INPUTS].filter(([, input]) => has(input)).map(([name]) => name);
  return [...Object.keys(FORMULAS), ...inputs, ...(viscosity === undefined ? [] : ["nu"]), "pi"];
}

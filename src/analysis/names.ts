/** Lists what names mean in expressions: inputs of a dataset, and quantities by their formulas. */
import { FIELDS, type FieldName } from "../operations.js";
import { QUANTITIES } from "../quantities.js";
import type { Shape } from "./array-functions.js";

/** What is read at a node: a stored field, a derivative of it, what a filter makes of it, or a coordinate. */
export type InputKind = PlainKind | "filtered" | "filteredGradient" | "filteredProducts";
/** Inputs that no filter makes. */
export type PlainKind = "value" | "gradient" | "laplacian" | "hessian";
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
  /** Whether a filter is stated, which gives what `bar_` names mean. */
  readonly isFiltered?: boolean;
}

/** What expressions know of a dataset, as plain data. */
export function namesFor({ fields, viscosity, units = {} }: Names): Names {
  const known = Object.keys(fields).map((name) => [name, FIELDS[name as FieldName]] as const);
  return { viscosity, units, fields: Object.fromEntries(known) };
}

const PREFIXES: Readonly<Record<InputKind, string>> = {
  ...{ value: "", gradient: "grad_", laplacian: "lap_", hessian: "H_" },
  ...{ filtered: "bar_", filteredGradient: "bar_grad_", filteredProducts: "bar_products_" },
};
const of = (kind: InputKind, field: FieldName, shape: Shape): readonly [string, Input] => {
  return [PREFIXES[kind] + field, { key: `${kind}:${field}`, shape }];
};
const INPUT_ROWS = (Object.keys(FIELDS) as FieldName[]).flatMap((field) => {
  const [value, gradient] = FIELDS[field] === 3 ? (["vector", "tensor"] as const) : (["scalar", "vector"] as const);
  return [
    ...[of("value", field, value), of("gradient", field, gradient)],
    FIELDS[field] === 3 ? of("laplacian", field, "vector") : of("hessian", field, "tensor"),
    ...[of("filtered", field, value), of("filteredGradient", field, gradient)],
    ...(FIELDS[field] === 3 ? [of("filteredProducts", field, "tensor")] : []),
  ];
});

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
  bar_u: "bar_velocity",
  bar_p: "bar_pressure",
  bar_A: "bar_grad_velocity",
  bar_S: "(bar_A + transpose(bar_A)) / 2",
  bar_w: "[bar_A[2][1] - bar_A[1][2], bar_A[0][2] - bar_A[2][0], bar_A[1][0] - bar_A[0][1]]",
  tau: "bar_products_velocity - [bar_u.x * bar_u, bar_u.y * bar_u, bar_u.z * bar_u]",
  Pi: "-ddot(tau, bar_S)",
};

const FILTERED_NAMES = ["bar_u", "bar_p", "bar_A", "bar_S", "bar_w", "tau", "Pi"];

/** The formula of a name as an expression; undefined for inputs and for unknown names. */
export function formulaOf(name: string): string | undefined {
  if (Object.hasOwn(FORMULAS, name)) return FORMULAS[name];
  const component = /^(\w+)_([xyz])$/.exec(name);
  if (component !== null && INPUTS.get(component[1])?.shape === "vector") return `${component[1]}.${component[2]}`;
  return QUANTITIES.find((row) => row.name === name)?.expression ?? undefined;
}

/** All names, for messages. */
export function nameList({ fields, viscosity, isFiltered = false }: Names): readonly string[] {
  const has = ({ key }: Input): boolean =>
    (isFiltered || !key.startsWith("filtered")) &&
    (!key.includes(":") || fields[key.split(":")[1] as FieldName] !== undefined);
  const inputs = [...INPUTS].filter(([, input]) => has(input)).map(([name]) => name);
  const formulas = Object.keys(FORMULAS).filter((name) => isFiltered || !FILTERED_NAMES.includes(name));
  return [...formulas, ...inputs, ...(viscosity === undefined ? [] : ["nu"]), "pi"];
}

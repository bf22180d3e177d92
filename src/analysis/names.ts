/** Names in expressions: the inputs of a dataset, and quantities by their formulas. */
import { FIELDS, type FieldName } from "../shared/operations.js";
import { QUANTITIES } from "../shared/quantities.js";

/** Values read at a node: a stored field, one of its derivatives, a filtered field, or a coordinate. */
export type InputKind = PlainKind | NodeKind | "filtered" | "filteredGradient" | "filteredProducts" | "filteredStress";
export type PlainKind = "value" | "gradient" | "laplacian" | "hessian" | "laplacianOfGradient";
/** Inputs of expressions at nodes: second derivatives along x, y, z, slopes in time, values of a frame or of other nodes, means. */
export type NodeKind = "secondDerivative" | "rate" | "frame" | "shift" | "mean";
/** An input of a field, or of an expression: `gradient:=u.x*p`, `filtered:gaussian,0.8,xz=u.x*p`, `frame:2,run2=p`. */
export type InputKey = `${InputKind}:${FieldName}` | "x" | "y" | "z" | "t";

/** The parts of an input; of an expression, its text and the options before `=`. */
export interface InputParts {
  readonly kind: InputKind;
  readonly field: FieldName;
  readonly option: string;
  /** Null if the input is of a field. */
  readonly expression: string | null;
}

export function partsOfInput(key: InputKey): InputParts | null {
  const colon = key.indexOf(":");
  if (colon < 0) return null;
  const [kind, field] = [key.slice(0, colon) as InputKind, key.slice(colon + 1)];
  const equals = kind === "value" ? -1 : field.indexOf("=");
  if (equals < 0) return { kind, field, option: "", expression: null };
  return { kind, field, option: field.slice(0, equals), expression: field.slice(equals + 1) };
}

/** Maps entry `c` of 3x3 tensors, row by row, to its index in symmetric storage: xx, xy, xz, yy, yz, zz. */
export function packedIndex(c: number): number {
  return 6 * Math.floor(c / 9) + [0, 1, 2, 1, 3, 4, 2, 4, 5][c % 9];
}

/** The other dataset that an input is of; undefined for inputs of the own one. */
export function otherDataset({ kind, option }: InputParts): string | undefined {
  return kind === "frame" && option.includes(",") ? option.slice(option.indexOf(",") + 1) : undefined;
}

/** Whether an input is of an expression: such inputs are known at nodes only. */
export function isOfExpression(key: InputKey): boolean {
  return (partsOfInput(key)?.expression ?? null) !== null;
}

/** The mean of an expression: a number for each component and each position along the axes that are kept. */
export interface MeanTable {
  /** Nodes along x, y and z and frames; 1 along those averaged over. */
  readonly extent: readonly [number, number, number, number];
  readonly frames: readonly number[];
  /** Whether it is the mean of these frames only, each with a mean of its own. */
  readonly isOfFrames: boolean;
  /** A list for each component, x fastest. */
  readonly values: readonly Float64Array[];
}

/** The names that a dataset defines for expressions. */
export interface Names {
  readonly viscosity?: number | undefined;
  /** Units by what they measure; null if units are ignored. */
  readonly units?: Readonly<Record<string, string>> | null;
  readonly fields: Readonly<Record<FieldName, number>>;
  /** The velocity of the nodes. */
  readonly frameVelocity?: readonly number[] | undefined;
  /** Whether a filter is stated, which `filter(e)` then uses; `box` if it is a mean over a cube at points. */
  readonly isFiltered?: boolean | "box";
  /** Whether names of version 1 (`w`, `gradp`, `bar_u`) are refused, with what to write instead; absent: known. */
  readonly refusesEarlier?: boolean;
  /** Expressions of which a level has the means: fields of these names, each of which stands for its expression. */
  readonly averaged?: readonly string[];
  /** The names that other datasets define, by these datasets. */
  readonly others?: Readonly<Record<string, Names>>;
  /** Means by the texts of their expressions, as far as they have been computed. */
  readonly means?: Readonly<Record<string, MeanTable>>;
}

export function namesFor({ fields, viscosity, units = {}, forcing, frameVelocity }: Known, checksUnits = true): Names {
  const known = Object.entries(fields).flatMap(([name, { components, isOfExpression }]) =>
    isOfExpression ? [] : [[name, components] as const],
  );
  const averaged = Object.keys(fields).filter((name) => fields[name].isOfExpression);
  const force = forcing.kind === "none" ? {} : { force: 3 };
  const named = { ...Object.fromEntries(known), ...force };
  return { viscosity, units: checksUnits ? units : null, frameVelocity, fields: named, averaged };
}

interface Known extends Pick<Names, "viscosity" | "units" | "frameVelocity"> {
  readonly fields: Readonly<Record<FieldName, { readonly components: number; readonly isOfExpression?: true }>>;
  readonly forcing: { readonly kind: string };
}

export const COORDINATES = ["x", "y", "z", "t"] as const;

/** Names that stand for expressions of inputs and of each other; they precede the quantities of pictures. */
const FORMULAS: Readonly<Record<string, string>> = {
  u: "velocity",
  p: "pressure",
  A: "grad(u)",
  S: "(A + transpose(A)) / 2",
  W: "(A - transpose(A)) / 2",
  omega: "[A[2][1] - A[1][2], A[0][2] - A[2][0], A[1][0] - A[0][1]]",
  lambda2: "eig2(S * S + W * W)",
  helicity: "dot(u, omega)",
  tau: `[${["x", "y", "z"].map((c) => `filter(u.${c} * u) - filter(u).${c} * filter(u)`).join(", ")}]`,
  Pi: "-ddot(tau, filter(S))",
};

/** Names of earlier versions with two meanings, and the names to write instead. */
export const REPLACED: ReadonlyMap<string, string> = new Map([
  ["dissipation", "epsilon is 2*nu*ddot(S,S); the earlier dissipation was 2*ddot(S,S), without nu"],
  ["q", "Q is -tr(A*A)/2; the earlier q was (tr(A)^2-tr(A*A))/2, which is Q if tr(A) is 0"],
  ["r", "R is -det(A)"],
]);

/** Names of version 1 by the names that replace them. */
const EARLIER: Readonly<Record<string, string>> = {
  w: "omega for the vorticity, or u.z for the third velocity",
  ...{ v: "u.y", wx: "omega.x", wy: "omega.y", wz: "omega.z", fx: "force.x", fy: "force.y", fz: "force.z" },
  ...{ bx: "magnetic.x", by: "magnetic.y", bz: "magnetic.z" },
  ...{ ax: "potential.x", ay: "potential.y", az: "potential.z", b: "norm(magnetic)" },
  ...{ gradp: "grad(p)", lapu: "lap(u)", lapux: "lap(u).x", lapuy: "lap(u).y", lapuz: "lap(u).z", lapp: "lap(p)" },
  ...{ gradpressure: "norm(grad(p))", graddensity: "norm(grad(density))", gradtemperature: "norm(grad(temperature))" },
  ...{ bar_A: "filter(A)", bar_S: "filter(S)", bar_w: "filter(omega)" },
};

/** The name to write instead of one of version 1; undefined for names that are known. */
export function presentName(name: string): string | undefined {
  if (Object.hasOwn(EARLIER, name)) return EARLIER[name];
  const [, vector, component = ""] = /^(u|omega)_?([xyz])$/.exec(name) ?? [];
  if (vector !== undefined) return `${vector}.${component}`;
  const [, moved = "", along = ""] = /^du?([p-z])d([xyz])$/.exec(name) ?? [];
  if (moved === "p") return `grad(p).${along}`;
  const row = "uvwxyz".indexOf(moved) % 3;
  if (along !== "" && row >= 0) return `A[${row}][${"xyz".indexOf(along)}]`;
  const [, prefix = "", of = ""] = /^(bar_grad_|bar_|grad_|lap_|H_)(\w+)$/.exec(name) ?? [];
  const call = { bar_grad_: "filter(grad(", bar_: "filter(", grad_: "grad(", lap_: "lap(", H_: "hess(" }[prefix];
  if (call === undefined) return undefined;
  return `${call}${of})${prefix === "bar_grad_" ? ")" : ""}`;
}

export function fieldOfName(name: string, { fields }: Pick<Names, "fields">): FieldName | undefined {
  const field = name === "u" ? "velocity" : name === "p" ? "pressure" : name;
  return Object.hasOwn(fields, field) ? field : undefined;
}

/** The formula of a name; undefined for inputs and for unknown names. */
export function formulaOf(name: string): string | undefined {
  if (Object.hasOwn(FORMULAS, name)) return FORMULAS[name];
  return QUANTITIES.find((row) => row.name === name && row.method !== null)?.expression;
}

export function nameList({ fields, viscosity, averaged = [] }: Names): readonly string[] {
  const lacks = Object.keys(FIELDS).filter((field) => !Object.hasOwn(fields, field));
  const isOf = (text: string) => !lacks.some((field) => text.includes(field));
  const named = QUANTITIES.filter((row) => row.method !== null && isOf(row.expression) && !presentName(row.name));
  const all = [...Object.keys(FORMULAS), ...Object.keys(fields), ...named.map(({ name }) => name), ...COORDINATES];
  return [...new Set([...all, ...averaged, ...(viscosity === undefined ? [] : ["nu"]), "pi"])];
}

/** The edit distance of two words: insertions, deletions, changes and swaps of neighbours. */
function distance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => i + j));
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const [row, above] = [rows[i], rows[i - 1]] as [number[], number[]];
      row[j] = Math.min(above[j] + 1, row[j - 1] + 1, above[j - 1] + cost);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j], (rows[i - 2] as number[])[j - 2] + 1);
    }
  return (rows[a.length] as number[])[b.length];
}

/** The name that a misspelt one is nearest to; undefined if none is near. */
export function nearestName(wrong: string, names: readonly string[]): string | undefined {
  const cut = wrong.slice(0, 64);
  const [best] = names
    .map((name) => [name, distance(cut.toLowerCase(), name.toLowerCase())] as const)
    .toSorted((a, b) => a[1] - b[1]);
  // One letter of two is no likeness, but words are cut short.
  if (best !== undefined && best[1] <= (cut.length < 3 ? 0 : Math.floor(cut.length / 3))) return best[0];
  return names.find((name) => name.toLowerCase().startsWith(cut.toLowerCase()));
}

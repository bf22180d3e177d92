/** Functions of expressions by name, with the shapes of their arguments. */
import {
  BINARY,
  type Components,
  contraction,
  cross,
  determinant,
  eigenvalues,
  eigenvectors,
  type ScratchArray,
  type Shape,
  SIZES,
  trace,
  transposed,
  UNARY,
} from "./array-functions.js";

/** An overload of a function: the shapes of its arguments and result, and its computation. */
export interface Overload {
  readonly takes: readonly Shape[];
  readonly gives: Shape;
  readonly run: (scratch: ScratchArray, ...values: Components[]) => Components;
}

const define = (takes: readonly Shape[], gives: Shape, run: Overload["run"]): Overload => ({ takes, gives, run });
const SHAPES = Object.keys(SIZES) as Shape[];
const eigenvector = (i: number) => define(["tensor"], "vector", (scratch, a) => eigenvectors(a, i, scratch));
const eigenvalue = (i: number) => define(["tensor"], "scalar", (scratch, a) => [eigenvalues(a, scratch)[i]]);
const ofScalar = (run: (typeof UNARY)[string]) => define(["scalar"], "scalar", (scratch, [a]) => [run(a, scratch())]);
const ofScalars = (run: (typeof BINARY)[string]) =>
  define(["scalar", "scalar"], "scalar", (scratch, [a], [b]) => [run(a, b, scratch())]);
const root = (values: Float64Array) => UNARY.sqrt(values, values);
const namesIn = (table: object) => Object.keys(table).filter((name) => /^\w/.test(name));

/** Overloads of each function: some take several shapes. */
export const FUNCTIONS: ReadonlyMap<string, readonly Overload[]> = new Map<string, readonly Overload[]>([
  ["dot", [define(["vector", "vector"], "scalar", (scratch, a, b) => [contraction(a, b, scratch())])]],
  ["cross", [define(["vector", "vector"], "vector", (scratch, a, b) => cross(a, b, scratch))]],
  ["norm", SHAPES.map((shape) => define([shape], "scalar", (scratch, a) => [root(contraction(a, a, scratch()))]))],
  ["tr", [define(["tensor"], "scalar", (scratch, a) => [trace(a, scratch())])]],
  ["det", [define(["tensor"], "scalar", (scratch, a) => [determinant(a, scratch)])]],
  ["transpose", [define(["tensor"], "tensor", (_, a) => transposed(a))]],
  ["ddot", [define(["tensor", "tensor"], "scalar", (scratch, a, b) => [contraction(a, b, scratch())])]],
  ...[0, 1, 2].map((i) => [`eig${i + 1}`, [eigenvalue(i)]] as const),
  ...[0, 1, 2].map((i) => [`eigvec${i + 1}`, [eigenvector(i)]] as const),
  ...namesIn(UNARY).map((name) => [name, [ofScalar(UNARY[name])]] as const),
  ...namesIn(BINARY).map((name) => [name, [ofScalars(BINARY[name])]] as const),
]);

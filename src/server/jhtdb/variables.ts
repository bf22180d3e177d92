/**
 * Lists the variables, operators and methods of the REST interface, each with the operation or option that computes it.
 */
import { componentsOf, type Dataset, fieldNames } from "../../engine/contract/dataset.js";
import {
  FIELDS,
  type FieldName,
  findOperation,
  GRADIENTS,
  type Operation,
  type SpatialInterpolation,
  VALUES,
} from "../../shared/operations.js";

/** Spatial operators, in the order of the published metadata. */
export const OPERATORS = ["field", "gradient", "hessian", "laplacian"] as const;
export type Operator = (typeof OPERATORS)[number];

/** Temporal methods and the option of each. */
export const TEMPORAL_METHODS = { none: "None", pchip: "PCHIP" } as const;

/** One variable: its columns, and the operation behind each operator that it takes. */
export interface Variable {
  readonly code: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly operations: Partial<Record<Operator, string>>;
  /** The field of the operations, if they take any. */
  readonly field?: FieldName;
}

const vector = (code: string, name: string, symbol: string, stem: string, hessian = `${stem}Hessian`): Variable => ({
  code,
  name,
  columns: ["x", "y", "z"].map((axis) => `${symbol}${axis}`),
  operations: { field: stem, gradient: `${stem}Gradient`, hessian, laplacian: `${stem}Laplacian` },
});

const scalar = (code: string, column: string, stem: string): Variable => ({
  code,
  name: code,
  columns: [column],
  operations: { field: stem, gradient: `${stem}Gradient`, hessian: `${stem}Hessian` },
});

/** Every variable that some operation computes. */
export const VARIABLES: readonly Variable[] = [
  scalar("pressure", "p", "GetPressure"),
  vector("velocity", "velocity", "u", "GetVelocity"),
  { code: "force", name: "force", columns: ["fx", "fy", "fz"], operations: { field: "GetForce" } },
  { code: "position", name: "position", columns: ["x", "y", "z"], operations: { field: "GetPositionByEnd" } },
  vector("magneticfield", "magnetic field", "b", "GetMagneticField", "GetMagneticHessian"),
  vector("vectorpotential", "vector potential", "a", "GetVectorPotential"),
  scalar("density", "d", "GetDensity"),
  scalar("temperature", "t", "GetTemperature"),
];

/** The variables of a dataset: those that have operations, and its other fields under their own names. */
export function variablesOf(dataset: Pick<Dataset, "fields"> | undefined): readonly Variable[] {
  if (dataset === undefined) return VARIABLES;
  const others = fieldNames(dataset).filter((name) => !Object.hasOwn(FIELDS, name));
  return [
    ...VARIABLES,
    ...others.map((name) => {
      const isVector = componentsOf(dataset, name) === 3;
      return { ...(isVector ? vector(name, name, name, "GetField") : scalar(name, name, "GetField")), field: name };
    }),
  ];
}

/** The row of the operation table for a variable and an operator; null if there is none. */
export function operationFor(variable: Variable, operator: Operator): Operation | null {
  const name = variable.operations[operator];
  return name === undefined ? null : (findOperation(name) ?? null);
}

/** The interface's name of a spatial option: `None_Fd4` is `fd4noint`, others are lower case. */
function methodName(option: SpatialInterpolation): string {
  const differences = /^None_Fd(\d)$/.exec(option);
  return differences ? `fd${differences[1]}noint` : option.toLowerCase();
}

/** Spatial options by the interface's names: those of values, then those of derivatives. */
export const METHODS: ReadonlyMap<string, SpatialInterpolation> = new Map(
  [...VALUES, ...GRADIENTS].map((option) => [methodName(option), option]),
);

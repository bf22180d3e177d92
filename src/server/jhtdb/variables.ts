/** Variables, operators and methods, each with its operation or option. */
import { componentsOf, type Dataset, fieldNames } from "../../engine/contract/dataset.js";
import {
  FIELDS,
  type FieldName,
  findOperation,
  GRADIENT_METHODS,
  type Operation,
  type SpatialInterpolation,
  VALUE_METHODS,
} from "../../shared/operations.js";

/** In the order of the published metadata. */
export const OPERATORS = ["field", "gradient", "hessian", "laplacian"] as const;
export type Operator = (typeof OPERATORS)[number];

export const TEMPORAL_METHODS = { none: "None", pchip: "PCHIP" } as const;

/** Columns of a variable, and the operation that each operator stands for. */
export interface Variable {
  readonly code: string;
  readonly name: string;
  readonly columns: readonly string[];
  readonly operations: Partial<Record<Operator, string>>;
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

/** Variables with operations, and other fields under their own names. */
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

export function operationFor(variable: Variable, operator: Operator): Operation | null {
  const name = variable.operations[operator];
  return name === undefined ? null : (findOperation(name) ?? null);
}

/** Name of a method: `None_Fd4` is `fd4noint`, others are in lower case. */
function methodName(option: SpatialInterpolation): string {
  const differences = /^None_Fd(\d)$/.exec(option);
  return differences ? `fd${differences[1]}noint` : option.toLowerCase();
}

/** Spatial options of values, then of derivatives. */
export const METHODS: ReadonlyMap<string, SpatialInterpolation> = new Map(
  [...VALUE_METHODS, ...GRADIENT_METHODS].map((option) => [methodName(option), option]),
);

/**
 * The table of operations and the facts that follow from it: decoder, encoder, WSDL, `/api`, planner, workers, client, command
 * line and parameterised tests ask nowhere else what an operation takes, needs and returns.
 */

/** Records of results: name -> component names, in wire order. The record `float` is a bare number. */
export const RECORDS = {
  Point3: ["x", "y", "z"],
  Vector3: ["x", "y", "z"],
  Vector3P: ["x", "y", "z", "p"],
  VelocityGradient: ["duxdx", "duxdy", "duxdz", "duydx", "duydy", "duydz", "duzdx", "duzdy", "duzdz"],
  PressureHessian: ["d2pdxdx", "d2pdxdy", "d2pdxdz", "d2pdydy", "d2pdydz", "d2pdzdz"],
  VelocityHessian: [
    "d2uxdxdx",
    "d2uxdxdy",
    "d2uxdxdz",
    "d2uxdydy",
    "d2uxdydz",
    "d2uxdzdz",
    "d2uydxdx",
    "d2uydxdy",
    "d2uydxdz",
    "d2uydydy",
    "d2uydydz",
    "d2uydzdz",
    "d2uzdxdx",
    "d2uzdxdy",
    "d2uzdxdz",
    "d2uzdydy",
    "d2uzdydz",
    "d2uzdzdz",
  ],
  SGSStress: ["xx", "yy", "zz", "xy", "xz", "yz"],
  float: ["value"],
} as const;

export type RecordName = keyof typeof RECORDS;

/** Values of SpatialInterpolation, in schema order. */
export const SPATIAL_INTERPOLATION = [
  "None",
  "None_Fd4",
  "None_Fd6",
  "None_Fd8",
  "Fd4Lag4",
  "Lag4",
  "Lag6",
  "Lag8",
] as const;
export type SpatialInterpolation = (typeof SPATIAL_INTERPOLATION)[number];

/** Values of TemporalInterpolation, in schema order. */
export const TEMPORAL_INTERPOLATION = ["None", "PCHIP"] as const;
export type TemporalInterpolation = (typeof TEMPORAL_INTERPOLATION)[number];

export type MemberType =
  | "string"
  | "float"
  | "int"
  | "SpatialInterpolation"
  | "TemporalInterpolation"
  | "ArrayOfPoint3"
  | "ArrayOfVector3";

/** One member of a request element. */
export interface Member {
  readonly name: string;
  readonly type: MemberType;
  readonly required: boolean;
}

const TOKEN = { name: "authToken", type: "string", required: false } as const;
const DATASET = { name: "dataset", type: "string", required: false } as const;
const POINTS = { name: "points", type: "ArrayOfPoint3", required: false } as const;
const SPATIAL = { name: "spatialInterpolation", type: "SpatialInterpolation", required: true } as const;
const TEMPORAL = { name: "temporalInterpolation", type: "TemporalInterpolation", required: true } as const;
const float = <N extends string>(name: N) => ({ name, type: "float", required: true }) as const;
const int = <N extends string>(name: N) => ({ name, type: "int", required: true }) as const;

/** Request of operations that interpolate or differentiate. */
export const INTERPOLATED = [TOKEN, DATASET, float("time"), SPATIAL, TEMPORAL, POINTS] as const;
/** Request of the box filters. */
export const FILTERED = [
  TOKEN,
  DATASET,
  float("time"),
  float("filterlength"),
  int("nlayers"),
  TEMPORAL,
  POINTS,
] as const;
/** Request of tracking with drag. */
export const INERTIAL = [
  TOKEN,
  DATASET,
  float("StartTime"),
  float("EndTime"),
  float("Tp"),
  SPATIAL,
  POINTS,
  { name: "InitialV", type: "ArrayOfVector3", required: false },
] as const;
/** Request of tracking by step and number of steps. */
export const STEPPED = [TOKEN, DATASET, float("StartTime"), float("dt"), int("nt"), SPATIAL, POINTS] as const;
/** Request of tracking with a step chosen by the server. */
export const CONTROLLED = [TOKEN, DATASET, float("StartTime"), float("EndTime"), SPATIAL, POINTS] as const;
/** Request of the throughput test. */
export const ECHO = [TOKEN, POINTS] as const;

/** Spatial options of operations that return values, and of tracking. */
export const INTERPOLATIONS = ["None", "Lag4", "Lag6", "Lag8"] as const satisfies readonly SpatialInterpolation[];
/** Spatial options of operations that return derivatives. */
export const DERIVATIVES = [
  "None_Fd4",
  "None_Fd6",
  "None_Fd8",
  "Fd4Lag4",
] as const satisfies readonly SpatialInterpolation[];

/** How an operation is run: at points, over regions, along paths, as a forcing, or not at all. */
export type Family = "points" | "filter" | "track" | "force" | "echo";

/** One operation of the interface. */
export interface Operation {
  readonly name: string;
  readonly request: readonly Member[];
  readonly result: RecordName;
  readonly family: Family;
  /** A row of the kernel table (`kernels/table.ts`): for tracking the one that samples the flow. */
  readonly kernel: string;
  /** Fields that the kernel reads, in its order. A force may be known in closed form instead of being stored. */
  readonly fields: readonly ("velocity" | "pressure" | "force")[];
  /** Spatial options it answers. GetForce takes all for a force in closed form, those of GetVelocity for a stored one. */
  readonly spatial: readonly SpatialInterpolation[];
  /** Whether a trailing optional string `addr` is accepted and ignored (clients of a later public WSDL send it). */
  readonly addr: boolean;
}

const VELOCITY = ["velocity"] as const;
const PRESSURE = ["pressure"] as const;

/** What rows of a family have in common. */
const VALUES = { request: INTERPOLATED, family: "points", spatial: INTERPOLATIONS, addr: true } as const;
const DIFFERENCES = { request: INTERPOLATED, family: "points", spatial: DERIVATIVES, addr: true } as const;
const FILTER = { request: FILTERED, family: "filter", spatial: [], addr: true } as const;
const TRACKING = {
  result: "Point3",
  family: "track",
  kernel: "velocity",
  fields: VELOCITY,
  spatial: INTERPOLATIONS,
  addr: true,
} as const;

/** All operations, in WSDL order. */
export const OPERATIONS = [
  { name: "GetVelocity", ...VALUES, result: "Vector3", kernel: "velocity", fields: VELOCITY },
  {
    name: "GetForce",
    ...VALUES,
    result: "Vector3",
    family: "force",
    kernel: "velocity",
    fields: ["force"],
    spatial: SPATIAL_INTERPOLATION,
  },
  {
    name: "GetVelocityAndPressure",
    ...VALUES,
    result: "Vector3P",
    kernel: "velocityPressure",
    fields: ["velocity", "pressure"],
  },
  {
    name: "GetVelocityGradient",
    ...DIFFERENCES,
    result: "VelocityGradient",
    kernel: "velocityGradient",
    fields: VELOCITY,
  },
  { name: "GetPressureGradient", ...DIFFERENCES, result: "Vector3", kernel: "pressureGradient", fields: PRESSURE },
  {
    name: "GetPressureHessian",
    ...DIFFERENCES,
    result: "PressureHessian",
    kernel: "pressureHessian",
    fields: PRESSURE,
  },
  {
    name: "GetVelocityHessian",
    ...DIFFERENCES,
    result: "VelocityHessian",
    kernel: "velocityHessian",
    fields: VELOCITY,
  },
  { name: "GetVelocityLaplacian", ...DIFFERENCES, result: "Vector3", kernel: "velocityLaplacian", fields: VELOCITY },
  { name: "GetBoxFilterVelocity", ...FILTER, result: "Vector3", kernel: "boxVelocity", fields: VELOCITY },
  { name: "GetBoxFilterPressure", ...FILTER, result: "float", kernel: "boxPressure", fields: PRESSURE },
  {
    name: "GetBoxFilterVelocityGradient",
    ...FILTER,
    result: "VelocityGradient",
    kernel: "boxVelocityGradient",
    fields: VELOCITY,
  },
  { name: "GetBoxFilterSGSStress", ...FILTER, result: "SGSStress", kernel: "boxStress", fields: VELOCITY },
  { name: "GetPositionInertialParticle", ...TRACKING, request: INERTIAL },
  { name: "GetPosition", ...TRACKING, request: STEPPED },
  { name: "GetPositionParticleControl", ...TRACKING, request: CONTROLLED },
  {
    name: "NullOp",
    request: ECHO,
    result: "Vector3",
    family: "echo",
    kernel: "none",
    fields: [],
    spatial: [],
    addr: false,
  },
] as const satisfies readonly Operation[];

export type OperationName = (typeof OPERATIONS)[number]["name"];

/** An operation whose name is known to be one of the table. */
export type OperationRow = Operation & { readonly name: OperationName };

const ROWS: ReadonlyMap<string, OperationRow> = new Map(OPERATIONS.map((row) => [row.name, row]));

/** The operation of that name; undefined for every other name. */
export function findOperation(name: string): OperationRow | undefined {
  return ROWS.get(name);
}

/** The row of a known name. */
export function operationOf(name: OperationName): OperationRow {
  return ROWS.get(name) as OperationRow;
}

/** What a dataset has, as far as operations ask for it. */
export interface Holdings {
  readonly fields: Readonly<Partial<Record<string, unknown>>>;
  readonly forcing: { readonly kind: string };
  readonly axes: readonly { readonly coordinates: unknown }[];
  readonly time: { readonly count: number };
}

/** States what an operation needs and a dataset does not have; null when nothing is missing. */
export function lackOf({ family, fields }: Operation, dataset: Holdings): string | null {
  if (family === "force") return dataset.forcing.kind === "none" ? "nothing says what forces it" : null;
  for (const field of fields) if (dataset.fields[field] === undefined) return `it has no ${field}`;
  if (family === "track" && dataset.time.count === 1) return "it is a snapshot";
  const stretched = family === "filter" && dataset.axes.some((axis) => axis.coordinates !== null);
  return stretched ? "its grid is not uniform" : null;
}

/** Lists the spatial options that an operation answers on a dataset: a stored force is interpolated like velocity. */
export function spatialOf({ family, spatial }: Operation, dataset: Holdings): readonly SpatialInterpolation[] {
  return family === "force" && dataset.forcing.kind === "stored" ? INTERPOLATIONS : spatial;
}

/** The table of operations: every decoder, encoder, schema, planner and parameterised test reads these rows. */

/** Record name -> component names, in wire order. The record `float` is a bare number. */
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

/** Request of the eight operations that interpolate or differentiate. */
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

/** One operation of the interface; `kernel` names a row of the kernel table. */
export interface Operation {
  readonly name: string;
  readonly request: readonly Member[];
  readonly result: RecordName;
  readonly kernel: string;
  /** Spatial options it answers. GetForce takes every one for a force in closed form, those of GetVelocity for a stored one. */
  readonly spatial: readonly SpatialInterpolation[];
  /** Fields a dataset must hold; the force may be stored or known in closed form, so GetForce names none. */
  readonly fields: readonly ("velocity" | "pressure")[];
  /** Whether a trailing optional string `addr` is accepted and ignored (clients of a later public WSDL send it). */
  readonly addr: boolean;
}

/** All operations, in WSDL order. */
export const OPERATIONS = [
  {
    name: "GetVelocity",
    request: INTERPOLATED,
    result: "Vector3",
    kernel: "velocity",
    spatial: INTERPOLATIONS,
    fields: ["velocity"],
    addr: true,
  },
  {
    name: "GetForce",
    request: INTERPOLATED,
    result: "Vector3",
    kernel: "force",
    spatial: SPATIAL_INTERPOLATION,
    fields: [],
    addr: true,
  },
  {
    name: "GetVelocityAndPressure",
    request: INTERPOLATED,
    result: "Vector3P",
    kernel: "velocityPressure",
    spatial: INTERPOLATIONS,
    fields: ["velocity", "pressure"],
    addr: true,
  },
  {
    name: "GetVelocityGradient",
    request: INTERPOLATED,
    result: "VelocityGradient",
    kernel: "velocityGradient",
    spatial: DERIVATIVES,
    fields: ["velocity"],
    addr: true,
  },
  {
    name: "GetPressureGradient",
    request: INTERPOLATED,
    result: "Vector3",
    kernel: "pressureGradient",
    spatial: DERIVATIVES,
    fields: ["pressure"],
    addr: true,
  },
  {
    name: "GetPressureHessian",
    request: INTERPOLATED,
    result: "PressureHessian",
    kernel: "pressureHessian",
    spatial: DERIVATIVES,
    fields: ["pressure"],
    addr: true,
  },
  {
    name: "GetVelocityHessian",
    request: INTERPOLATED,
    result: "VelocityHessian",
    kernel: "velocityHessian",
    spatial: DERIVATIVES,
    fields: ["velocity"],
    addr: true,
  },
  {
    name: "GetVelocityLaplacian",
    request: INTERPOLATED,
    result: "Vector3",
    kernel: "velocityLaplacian",
    spatial: DERIVATIVES,
    fields: ["velocity"],
    addr: true,
  },
  {
    name: "GetBoxFilterVelocity",
    request: FILTERED,
    result: "Vector3",
    kernel: "boxVelocity",
    spatial: [],
    fields: ["velocity"],
    addr: true,
  },
  {
    name: "GetBoxFilterPressure",
    request: FILTERED,
    result: "float",
    kernel: "boxPressure",
    spatial: [],
    fields: ["pressure"],
    addr: true,
  },
  {
    name: "GetBoxFilterVelocityGradient",
    request: FILTERED,
    result: "VelocityGradient",
    kernel: "boxVelocityGradient",
    spatial: [],
    fields: ["velocity"],
    addr: true,
  },
  {
    name: "GetBoxFilterSGSStress",
    request: FILTERED,
    result: "SGSStress",
    kernel: "boxStress",
    spatial: [],
    fields: ["velocity"],
    addr: true,
  },
  {
    name: "GetPositionInertialParticle",
    request: INERTIAL,
    result: "Point3",
    kernel: "trackInertial",
    spatial: INTERPOLATIONS,
    fields: ["velocity"],
    addr: true,
  },
  {
    name: "GetPosition",
    request: STEPPED,
    result: "Point3",
    kernel: "trackStepped",
    spatial: INTERPOLATIONS,
    fields: ["velocity"],
    addr: true,
  },
  {
    name: "GetPositionParticleControl",
    request: CONTROLLED,
    result: "Point3",
    kernel: "trackControlled",
    spatial: INTERPOLATIONS,
    fields: ["velocity"],
    addr: true,
  },
  { name: "NullOp", request: ECHO, result: "Vector3", kernel: "echo", spatial: [], fields: [], addr: false },
] as const satisfies readonly Operation[];

export type OperationName = (typeof OPERATIONS)[number]["name"];
export type KernelName = (typeof OPERATIONS)[number]["kernel"];

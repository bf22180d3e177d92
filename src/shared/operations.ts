/**
 * The table of operations: members, fields, kernel and result of each. Decoder, encoder, WSDL, `/api`, planner, workers,
 * client, command line and parameterised tests are driven by it.
 */

/** Result records: name -> component names, in wire order. */
export const RECORDS = {
  Point3: ["x", "y", "z"],
  /** A position, and the time at which the particle left the domain there; plain HTTP only. */
  Exit: ["x", "y", "z", "exit"],
  /** A position, and the number of adaptive steps so far; plain HTTP only. */
  Steps: ["x", "y", "z", "steps"],
  /** Final position of a particle, gradient of the flow map, eigenvalues of its Cauchy-Green tensor, and FTLE. */
  FlowMap: [
    "x",
    "y",
    "z",
    "Fxx",
    "Fxy",
    "Fxz",
    "Fyx",
    "Fyy",
    "Fyz",
    "Fzx",
    "Fzy",
    "Fzz",
    "lambda1",
    "lambda2",
    "lambda3",
    "ftle",
  ],
  ExitSteps: ["x", "y", "z", "exit", "steps"],
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
  /** A bare number. */
  float: ["value"],
  Pressure: ["p"],
  /** SGSStress under its name in the later WSDL. */
  SGSTensor: ["xx", "yy", "zz", "xy", "xz", "yz"],
  ThresholdInfo: ["x", "y", "z", "value"],
  /** The text of a Result element: base64 of little-endian float32. */
  base64: ["value"],
} as const;

export type RecordName = keyof typeof RECORDS;

/** Fields that have dedicated operations, with their number of components. */
export const FIELDS = {
  velocity: 3,
  pressure: 1,
  force: 3,
  magnetic: 3,
  potential: 3,
  density: 1,
  temperature: 1,
} as const;
export type KnownField = keyof typeof FIELDS;

/** Name of a field of a dataset: a known one, or any other that the dataset defines. */
export type FieldName = string;

/** Names that fields may have. */
const FIELD_PATTERN = /^[a-z][a-z0-9_]{0,63}$/;
/** Names of quantities, coordinates, operators and formulas, and what every object of JavaScript has. */
const RESERVED =
  /^(?:[abdpqrtuwxyz]|u[xyz]|pi|nu|lapu|gradp|vorticity|omega|lambda2|helicity|tau|constructor|(?:grad|lap|bar|products)_.*)$/;

/** Why a field cannot have this name; null if it can. */
export function fieldNameProblem(name: string): string | null {
  if (Object.hasOwn(FIELDS, name)) return null;
  if (!FIELD_PATTERN.test(name)) return "a name has 1 to 64 of the characters a-z 0-9 _ and begins with a letter";
  return RESERVED.test(name) ? "this name means something else in expressions; give it another" : null;
}

/** Spatial options of the older interface, in schema order. */
export const OLDER_INTERPOLATION = [
  "None",
  "None_Fd4",
  "None_Fd6",
  "None_Fd8",
  "Fd4Lag4",
  "Lag4",
  "Lag6",
  "Lag8",
] as const;

/** Splines M{m}Q{q}: continuous up to derivative m, on q nodes per axis; M3Q4 and M4Q4 do not exist. */
export const SPLINES = [
  "M1Q4",
  "M2Q4",
  "M1Q6",
  "M2Q6",
  "M3Q6",
  "M4Q6",
  "M1Q8",
  "M2Q8",
  "M3Q8",
  "M4Q8",
  "M1Q10",
  "M2Q10",
  "M3Q10",
  "M4Q10",
  "M1Q12",
  "M2Q12",
  "M3Q12",
  "M4Q12",
  "M1Q14",
  "M2Q14",
  "M3Q14",
  "M4Q14",
] as const;

/**
 * Values of SpatialInterpolation, in schema order. M3Q4 and M4Q4 do not exist, but are in the schema of the public
 * service.
 */
export const SPATIAL_INTERPOLATION = [
  ...OLDER_INTERPOLATION,
  "M1Q4",
  "M2Q4",
  "M3Q4",
  "M4Q4",
  ...(SPLINES.slice(2) as readonly Exclude<(typeof SPLINES)[number], "M1Q4" | "M2Q4">[]),
] as const;
export type SpatialInterpolation = (typeof SPATIAL_INTERPOLATION)[number];

/** Values of TemporalInterpolation, in schema order. */
export const TEMPORAL_INTERPOLATION = ["None", "PCHIP"] as const;
export type TemporalInterpolation = (typeof TEMPORAL_INTERPOLATION)[number];
/** Integrators of tracers; SOAP and JHTDB's REST always use the first. */
const INTEGRATORS = ["heun", "rk4", "dopri5"] as const;
export type Integrator = (typeof INTEGRATORS)[number];

export type WireType =
  | "string"
  | "float"
  | "int"
  | "SpatialInterpolation"
  | "TemporalInterpolation"
  | "ArrayOfPoint3"
  | "ArrayOfVector3"
  | "ArrayOfArrayOfFloat";

/** A member of a request element. */
export interface WireMember {
  readonly name: string;
  readonly type: WireType;
  readonly required: boolean;
}

const TOKEN = { name: "authToken", type: "string", required: false } as const;
const DATASET = { name: "dataset", type: "string", required: false } as const;
const POINTS = { name: "points", type: "ArrayOfPoint3", required: false } as const;
const SPATIAL = { name: "spatialInterpolation", type: "SpatialInterpolation", required: true } as const;
const TEMPORAL = { name: "temporalInterpolation", type: "TemporalInterpolation", required: true } as const;
const floatMember = <N extends string>(name: N) => ({ name, type: "float", required: true }) as const;
const FIELD = { name: "field", type: "string", required: false } as const;
const FUNCTION = { name: "function_name", type: "string", required: false } as const;
const POINT_LISTS = { name: "points", type: "ArrayOfArrayOfFloat", required: false } as const;
const intMember = <N extends string>(name: N) => ({ name, type: "int", required: true }) as const;

/** Request of operations that interpolate or differentiate. */
const INTERPOLATED = [TOKEN, DATASET, floatMember("time"), SPATIAL, TEMPORAL, POINTS] as const;
/** Request of the octree filters. */
const OCTREE_FILTER = [
  TOKEN,
  DATASET,
  floatMember("time"),
  floatMember("filterlength"),
  intMember("nlayers"),
  TEMPORAL,
  POINTS,
] as const;
/** Request of tracking with drag. */
const TRACK_INERTIAL = [
  TOKEN,
  DATASET,
  floatMember("StartTime"),
  floatMember("EndTime"),
  floatMember("Tp"),
  SPATIAL,
  POINTS,
  { name: "InitialV", type: "ArrayOfVector3", required: false },
] as const;
/** Request of tracking by step and number of steps. */
const TRACK_BY_COUNT = [
  TOKEN,
  DATASET,
  floatMember("StartTime"),
  floatMember("dt"),
  intMember("nt"),
  SPATIAL,
  POINTS,
] as const;
/** Request of tracking with a fixed step that the server chooses. */
const TRACK_BY_SERVER = [TOKEN, DATASET, floatMember("StartTime"), floatMember("EndTime"), SPATIAL, POINTS] as const;
/** Request of tracking by step and end. */
const TRACK_BY_END = [
  TOKEN,
  DATASET,
  floatMember("StartTime"),
  floatMember("EndTime"),
  floatMember("dt"),
  SPATIAL,
  POINTS,
] as const;
/** Request of means over boxes of nodes. */
const NODE_BOX_FILTER = [TOKEN, DATASET, FIELD, floatMember("time"), floatMember("filterwidth"), POINTS] as const;
/** Request of the gradient of means. */
const NODE_BOX_GRADIENT = [
  TOKEN,
  DATASET,
  FIELD,
  floatMember("time"),
  floatMember("filterwidth"),
  floatMember("spacing"),
  POINTS,
] as const;
/** Request of a derivative of any field. */
const ANY_FIELD = [TOKEN, DATASET, FIELD, floatMember("time"), SPATIAL, TEMPORAL, POINTS] as const;
const CORNERS = [
  intMember("x_start"),
  intMember("y_start"),
  intMember("z_start"),
  intMember("x_end"),
  intMember("y_end"),
  intMember("z_end"),
] as const;
/** Request of the nodes whose value is above a threshold. */
const SEARCH = [TOKEN, DATASET, FIELD, floatMember("time"), floatMember("threshold"), SPATIAL, ...CORNERS] as const;
const WIDTHS = [
  intMember("X"),
  intMember("Y"),
  intMember("Z"),
  intMember("Xwidth"),
  intMember("Ywidth"),
  intMember("Zwidth"),
] as const;
/** Request of a cutout by corner and widths. */
const RAW_CUTOUT = [TOKEN, DATASET, intMember("T"), ...WIDTHS] as const;
const STRIDES = [intMember("x_step"), intMember("y_step"), intMember("z_step"), intMember("filter_width")] as const;
/** Request of a cutout of any field by its corners, with strides and a filter. */
const CUTOUT = [TOKEN, DATASET, FIELD, intMember("T"), ...CORNERS, ...STRIDES] as const;
/**
 * Older forms of three requests, which client libraries from before 2019 send under the present names, by the present
 * form: boxes by corner and widths, counted from 0, and cutouts at a time. The members of a request tell its form.
 */
const BEFORE_2019 = new Map<readonly WireMember[], readonly WireMember[]>([
  [RAW_CUTOUT, [TOKEN, DATASET, floatMember("time"), ...WIDTHS]],
  [SEARCH, [TOKEN, DATASET, FIELD, floatMember("time"), floatMember("threshold"), SPATIAL, ...WIDTHS]],
  [CUTOUT, [TOKEN, DATASET, FIELD, intMember("T"), ...WIDTHS, ...STRIDES]],
]);
/** Requests of the array forms. */
const DATA_ARRAYS = [FUNCTION, TOKEN, DATASET, floatMember("time"), SPATIAL, TEMPORAL, POINT_LISTS] as const;
const FILTER_ARRAYS = [
  FUNCTION,
  TOKEN,
  DATASET,
  FIELD,
  floatMember("time"),
  floatMember("filterwidth"),
  SPATIAL,
  POINT_LISTS,
  floatMember("spacing"),
] as const;
const POSITION_ARRAYS = [
  FUNCTION,
  TOKEN,
  DATASET,
  floatMember("StartTime"),
  floatMember("EndTime"),
  floatMember("dt"),
  SPATIAL,
  POINT_LISTS,
] as const;
const SEARCH_ARRAYS = [FUNCTION, ...SEARCH] as const;
/** Request of the throughput test. */
const NULL_OP = [TOKEN, POINTS] as const;

/** Spatial options of tracking; those of plain HTTP are `VALUE_METHODS`. */
export const TRACKING_METHODS = ["None", "Lag4", "Lag6", "Lag8"] as const satisfies readonly SpatialInterpolation[];
/** Spatial options of operations that return Laplacians. */
export const LAPLACIAN_METHODS = [
  "None_Fd4",
  "None_Fd6",
  "None_Fd8",
  "Fd4Lag4",
] as const satisfies readonly SpatialInterpolation[];
/** Finite differences at nodes, without interpolation. */
const AT_NODES = ["None_Fd4", "None_Fd6", "None_Fd8"] as const satisfies readonly SpatialInterpolation[];
/** Spatial options of operations that return values. */
export const VALUE_METHODS = [...TRACKING_METHODS, ...SPLINES] as const;
/** Spatial options of operations that return gradients. */
export const GRADIENT_METHODS = [...LAPLACIAN_METHODS, ...SPLINES] as const;
/** Spatial options of operations that return second derivatives. */
export const HESSIAN_METHODS: readonly Exclude<(typeof GRADIENT_METHODS)[number], `M1${string}`>[] =
  GRADIENT_METHODS.filter(
    (option): option is Exclude<(typeof GRADIENT_METHODS)[number], `M1${string}`> => !option.startsWith("M1"),
  );

/**
 * How an operation runs: at points, as a forcing, over the octree of a box (filter), over a box of nodes (box), along
 * paths, as a search in a box or a cutout of it, through another operation (arrays), or not at all (echo).
 */
export type Family = "points" | "force" | "filter" | "box" | "track" | "search" | "cutout" | "arrays" | "echo";

/** An operation of the interface. */
export interface Operation {
  /** Its unique name. */
  readonly name: string;
  /** Its name in SOAP messages. Two operations may share it if the members of their requests differ. */
  readonly wire: string;
  readonly request: readonly WireMember[];
  readonly result: RecordName;
  readonly family: Family;
  /** A row of the kernel table (`kernels/table.ts`); for tracking, the kernel that samples the flow. */
  readonly kernel: string;
  /**
   * Fields that the kernel reads, in its order; empty if the request has a member `field`. A force may be given in
   * closed form instead of stored.
   */
  readonly fields: readonly KnownField[];
  /**
   * Spatial options that it accepts. GetForce accepts all for a force in closed form; for a stored force, those of
   * GetVelocity.
   */
  readonly spatial: readonly SpatialInterpolation[];
  /** Whether a trailing optional string `addr` is accepted and ignored; the later interface declares it. */
  readonly addr: boolean;
  /** A step from the kernel's results to records; absent if they are the records. */
  readonly postProcess?: "invariants";
  /** Kernel and record for a scalar field, if the request may name any field; null if it takes vectors only. */
  readonly scalar?: { readonly kernel: string; readonly result: RecordName } | null;
}

const VELOCITY = ["velocity"] as const;
const PRESSURE = ["pressure"] as const;
const MAGNETIC = ["magnetic"] as const;
const POTENTIAL = ["potential"] as const;
const DENSITY = ["density"] as const;
const TEMPERATURE = ["temperature"] as const;

// Type parameters below keep the names of a row as literal types.

/** A row of the family `points`. */
const atPoints = <
  const N extends string,
  const R extends RecordName,
  const K extends string,
  const S extends readonly SpatialInterpolation[],
>(
  name: N,
  result: R,
  kernel: K,
  fields: readonly KnownField[],
  spatial: S,
) => ({
  name,
  wire: name,
  request: INTERPOLATED,
  result,
  family: "points" as const,
  kernel,
  fields,
  spatial,
  addr: true as const,
});
/** A row of the octree filters. */
const octreeFilter = <const N extends string, const R extends RecordName>(
  name: N,
  result: R,
  kernel: string,
  fields: readonly KnownField[],
) => ({
  name,
  wire: name,
  request: OCTREE_FILTER,
  result,
  family: "filter" as const,
  kernel,
  fields,
  spatial: [] as const,
  addr: true as const,
});
/** A row of tracking; its kernel samples the flow. */
const tracking = <const N extends string, const Q extends readonly WireMember[]>(
  name: N,
  request: Q,
  wire: string = name,
) => ({
  name,
  wire,
  request,
  result: "Point3" as const,
  family: "track" as const,
  kernel: "velocity",
  fields: VELOCITY,
  spatial: TRACKING_METHODS,
  addr: true as const,
});
/** A row of the filters over boxes of nodes. */
const nodeBoxFilter = <const N extends string, const R extends RecordName, const K extends string>(
  name: N,
  result: R,
  kernel: K,
) => ({
  name,
  wire: name,
  request: NODE_BOX_FILTER,
  result,
  family: "box" as const,
  kernel,
  fields: [] as const,
  spatial: [] as const,
  addr: true as const,
});
/** A row of the cutouts by corner and widths. */
const rawCutout = <const N extends string>(name: N, fields: readonly KnownField[]) => ({
  name,
  wire: name,
  request: RAW_CUTOUT,
  result: "base64" as const,
  family: "cutout" as const,
  kernel: "none",
  fields,
  spatial: [] as const,
  addr: true as const,
});
/** A row of the array forms: numbers in lists, the function by its name. */
const arrayForm = <const N extends string, const Q extends readonly WireMember[]>(name: N, request: Q) => ({
  name,
  wire: name,
  request,
  result: "float" as const,
  family: "arrays" as const,
  kernel: "none",
  fields: [] as const,
  spatial: SPATIAL_INTERPOLATION,
  addr: false as const,
});

/** Operations of the older interface, in WSDL order. */
export const OLDER_OPERATIONS = [
  atPoints("GetVelocity", "Vector3", "velocity", VELOCITY, VALUE_METHODS),
  {
    name: "GetForce",
    wire: "GetForce",
    request: INTERPOLATED,
    result: "Vector3",
    family: "force",
    kernel: "velocity",
    fields: ["force"],
    spatial: SPATIAL_INTERPOLATION,
    addr: true,
  },
  atPoints("GetVelocityAndPressure", "Vector3P", "velocityPressure", ["velocity", "pressure"], VALUE_METHODS),
  atPoints("GetVelocityGradient", "VelocityGradient", "velocityGradient", VELOCITY, GRADIENT_METHODS),
  atPoints("GetPressureGradient", "Vector3", "pressureGradient", PRESSURE, GRADIENT_METHODS),
  atPoints("GetPressureHessian", "PressureHessian", "pressureHessian", PRESSURE, HESSIAN_METHODS),
  atPoints("GetVelocityHessian", "VelocityHessian", "velocityHessian", VELOCITY, HESSIAN_METHODS),
  atPoints("GetVelocityLaplacian", "Vector3", "velocityLaplacian", VELOCITY, LAPLACIAN_METHODS),
  octreeFilter("GetBoxFilterVelocity", "Vector3", "boxVelocity", VELOCITY),
  octreeFilter("GetBoxFilterPressure", "float", "boxPressure", PRESSURE),
  octreeFilter("GetBoxFilterVelocityGradient", "VelocityGradient", "boxVelocityGradient", VELOCITY),
  octreeFilter("GetBoxFilterSGSStress", "SGSStress", "boxStress", VELOCITY),
  tracking("GetPositionInertialParticle", TRACK_INERTIAL),
  tracking("GetPosition", TRACK_BY_COUNT),
  tracking("GetPositionParticleControl", TRACK_BY_SERVER),
  {
    name: "NullOp",
    wire: "NullOp",
    request: NULL_OP,
    result: "Vector3",
    family: "echo",
    kernel: "none",
    fields: [],
    spatial: [],
    addr: false,
  },
] as const;

/** Operations of the older interface that the later one also has. */
const IN_BOTH_DIALECTS: ReadonlySet<string> = new Set([
  "GetVelocity",
  "GetForce",
  "GetVelocityAndPressure",
  "GetVelocityGradient",
  "GetPressureGradient",
  "GetPressureHessian",
  "GetVelocityHessian",
  "GetVelocityLaplacian",
  "NullOp",
]);

/** Operations of the later interface only, in WSDL order. */
export const LATER_OPERATIONS = [
  atPoints("GetMagneticField", "Vector3", "velocity", MAGNETIC, VALUE_METHODS),
  atPoints("GetVectorPotential", "Vector3", "velocity", POTENTIAL, VALUE_METHODS),
  atPoints("GetPressure", "Pressure", "pressure", PRESSURE, VALUE_METHODS),
  atPoints("GetDensity", "Pressure", "pressure", DENSITY, VALUE_METHODS),
  atPoints("GetTemperature", "Pressure", "pressure", TEMPERATURE, VALUE_METHODS),
  atPoints("GetVelocityAndTemperature", "Vector3P", "velocityPressure", ["velocity", "temperature"], VALUE_METHODS),
  atPoints("GetMagneticFieldGradient", "VelocityGradient", "velocityGradient", MAGNETIC, GRADIENT_METHODS),
  atPoints("GetVectorPotentialGradient", "VelocityGradient", "velocityGradient", POTENTIAL, GRADIENT_METHODS),
  atPoints("GetDensityGradient", "Vector3", "pressureGradient", DENSITY, GRADIENT_METHODS),
  atPoints("GetTemperatureGradient", "Vector3", "pressureGradient", TEMPERATURE, GRADIENT_METHODS),
  atPoints("GetMagneticHessian", "VelocityHessian", "velocityHessian", MAGNETIC, HESSIAN_METHODS),
  atPoints("GetVectorPotentialHessian", "VelocityHessian", "velocityHessian", POTENTIAL, HESSIAN_METHODS),
  atPoints("GetDensityHessian", "PressureHessian", "pressureHessian", DENSITY, HESSIAN_METHODS),
  atPoints("GetTemperatureHessian", "PressureHessian", "pressureHessian", TEMPERATURE, HESSIAN_METHODS),
  atPoints("GetMagneticFieldLaplacian", "Vector3", "velocityLaplacian", MAGNETIC, LAPLACIAN_METHODS),
  atPoints("GetVectorPotentialLaplacian", "Vector3", "velocityLaplacian", POTENTIAL, LAPLACIAN_METHODS),
  tracking("GetPositionByEnd", TRACK_BY_END, "GetPosition"),
  {
    name: "GetThreshold",
    wire: "GetThreshold",
    request: SEARCH,
    result: "ThresholdInfo",
    family: "search",
    kernel: "none",
    fields: [],
    spatial: ["None", ...AT_NODES],
    addr: true,
  },
  { ...atPoints("GetInvariant", "Vector3", "velocityGradient", VELOCITY, GRADIENT_METHODS), postProcess: "invariants" },
  nodeBoxFilter("GetBoxFilter", "Vector3", "mean"),
  nodeBoxFilter("GetBoxFilterSGS", "SGSTensor", "covariance"),
  nodeBoxFilter("GetBoxFilterSGSsymtensor", "SGSTensor", "covariance"),
  nodeBoxFilter("GetBoxFilterSGStensor", "VelocityGradient", "covariance"),
  nodeBoxFilter("GetBoxFilterSGSvector", "Vector3", "covariance"),
  nodeBoxFilter("GetBoxFilterSGSscalar", "float", "covariance"),
  { ...nodeBoxFilter("GetBoxFilterGradient", "VelocityGradient", "gradient"), request: NODE_BOX_GRADIENT },
  {
    name: "GetLaplacianOfGradient",
    wire: "GetLaplacianOfGradient",
    request: ANY_FIELD,
    result: "VelocityGradient",
    family: "points",
    kernel: "velocityLaplacianOfGradient",
    fields: [],
    spatial: AT_NODES,
    addr: true,
  },
  atPoints("GetVelocityBatch", "Vector3", "velocity", VELOCITY, VALUE_METHODS),
  rawCutout("GetRawVelocity", VELOCITY),
  rawCutout("GetRawMagneticField", MAGNETIC),
  rawCutout("GetRawVectorPotential", POTENTIAL),
  rawCutout("GetRawPressure", PRESSURE),
  rawCutout("GetRawDensity", DENSITY),
  rawCutout("GetRawTemperature", TEMPERATURE),
  {
    name: "GetAnyCutoutWeb",
    wire: "GetAnyCutoutWeb",
    request: CUTOUT,
    result: "base64",
    family: "cutout",
    kernel: "none",
    fields: [],
    spatial: [],
    addr: true,
  },
  arrayForm("GetData_Python", DATA_ARRAYS),
  arrayForm("GetFilter_Python", FILTER_ARRAYS),
  arrayForm("GetPosition_Python", POSITION_ARRAYS),
  arrayForm("GetThreshold_Python", SEARCH_ARRAYS),
] as const;

/** A row of a quantity of any field, with another kernel and record for scalars. */
const ofField = <
  const N extends string,
  const R extends RecordName,
  const S extends readonly SpatialInterpolation[],
  const C extends NonNullable<Operation["scalar"]> | null,
>(
  name: N,
  result: R,
  kernel: string,
  spatial: S,
  scalar: C,
) => ({
  name,
  wire: name,
  request: ANY_FIELD,
  result,
  family: "points" as const,
  kernel,
  fields: [] as const,
  spatial,
  addr: false as const,
  scalar,
});

/** Operations of plain HTTP only. */
const PLAIN_OPERATIONS = [
  ofField("GetField", "Vector3", "velocity", VALUE_METHODS, { kernel: "pressure", result: "float" }),
  ofField("GetFieldGradient", "VelocityGradient", "velocityGradient", GRADIENT_METHODS, {
    kernel: "pressureGradient",
    result: "Vector3",
  }),
  ofField("GetFieldHessian", "VelocityHessian", "velocityHessian", HESSIAN_METHODS, {
    kernel: "pressureHessian",
    result: "PressureHessian",
  }),
  ofField("GetFieldLaplacian", "Vector3", "velocityLaplacian", LAPLACIAN_METHODS, null),
] as const;

/** All operations that requests may name. */
export const ALL_OPERATIONS = [...OLDER_OPERATIONS, ...LATER_OPERATIONS, ...PLAIN_OPERATIONS] as const;

/** The two versions of the SOAP interface. */
export const DIALECTS = ["older", "later"] as const;
export type Dialect = (typeof DIALECTS)[number];

export type PlainOperationName = (typeof PLAIN_OPERATIONS)[number]["name"];

/** The interface whose WSDL describes an operation; the older one if both do, null if only plain HTTP has it. */
export function dialectOf(name: OperationName): Dialect | null {
  if (PLAIN_OPERATIONS.some((row) => row.name === name)) return null;
  return OLDER_OPERATIONS.some((row) => row.name === name) ? "older" : "later";
}

/** The operations that a WSDL describes. */
export function operationsIn(dialect: Dialect): readonly OperationRow[] {
  if (dialect === "older") return OLDER_OPERATIONS;
  return [...OLDER_OPERATIONS.filter(({ name }) => IN_BOTH_DIALECTS.has(name)), ...LATER_OPERATIONS];
}

/** Functions of GetFilter_Python. */
const FILTER_FUNCTIONS: ReadonlySet<string> = new Set([
  "GetBoxFilter",
  "GetBoxFilterSGSscalar",
  "GetBoxFilterSGSvector",
  "GetBoxFilterSGSsymtensor",
  "GetBoxFilterSGStensor",
  "GetBoxFilterGradient",
]);

/** For each array form, whether an operation is one of its functions. */
const FUNCTIONS: Readonly<Record<string, (row: OperationRow) => boolean>> = {
  GetData_Python: ({ name, request }) => request === INTERPOLATED && name !== "GetVelocityBatch",
  GetFilter_Python: ({ name }) => FILTER_FUNCTIONS.has(name),
  GetPosition_Python: ({ name }) => name === "GetPositionByEnd",
  GetThreshold_Python: ({ name }) => name === "GetThreshold",
};

/** The operations that an array form may mean. If there is only one, the name of the function does not matter. */
export function functionsOf(form: Operation): readonly OperationRow[] {
  return operationsIn("later").filter((row) => FUNCTIONS[form.name]?.(row) ?? false);
}

/** The operation that an array form means by the name of a function; null if it has no such function. */
export function functionNamed(form: Operation, name: unknown): OperationRow | null {
  const functions = functionsOf(form);
  return (functions.length === 1 ? functions[0] : functions.find((row) => row.name === name)) ?? null;
}

/** The members of an operation among those of an array form. */
export function pickMembers<T>({ request }: Operation, members: Readonly<Record<string, T>>): Record<string, T> {
  const entries = request.flatMap(({ name }) => (members[name] === undefined ? [] : [[name, members[name]] as const]));
  return Object.fromEntries(entries);
}

/** The members of a request in a WSDL. */
export function membersIn({ request, addr }: Operation, dialect: Dialect): readonly WireMember[] {
  return dialect === "later" && addr ? [...request, { name: "addr", type: "string", required: false }] : request;
}

export type OperationName = (typeof ALL_OPERATIONS)[number]["name"];

/** An operation whose name is known to be one of the table. */
export type OperationRow = Operation & { readonly name: OperationName };

const ROWS: ReadonlyMap<string, OperationRow> = new Map(ALL_OPERATIONS.map((row) => [row.name, row]));

/** Rows by their name in SOAP, with the forms from before 2019. */
const WIRE_ROWS = new Map<string, OperationRow[]>();
for (const row of [...OLDER_OPERATIONS, ...LATER_OPERATIONS] as readonly OperationRow[]) {
  const request = BEFORE_2019.get(row.request);
  const rows = request === undefined ? [row] : [row, { ...row, request }];
  WIRE_ROWS.set(row.wire, [...(WIRE_ROWS.get(row.wire) ?? []), ...rows]);
}

/** The operations that a SOAP message may name, that of the WSDL first; empty if the name is unknown. */
export function operationsOnWire(wire: string): readonly OperationRow[] {
  return WIRE_ROWS.get(wire) ?? [];
}

export function findOperation(name: string): OperationRow | undefined {
  return ROWS.get(name);
}

export function operationOf(name: OperationName): OperationRow {
  return ROWS.get(name) as OperationRow;
}

/** Titles of fields in messages, where they differ from the name. */
const FIELD_TITLES: Partial<Record<KnownField, string>> = { magnetic: "magnetic field", potential: "vector potential" };

/** Properties of a dataset that decide which operations it can answer. */
export interface DatasetTraits {
  readonly fields: Readonly<Partial<Record<string, unknown>>>;
  readonly forcing: { readonly kind: string };
  readonly axes: readonly { readonly coordinates: unknown }[];
  readonly time: { readonly count: number };
}

/** What a dataset lacks for an operation, as a clause; null if nothing is missing. */
export function missingFor({ family, fields }: Operation, dataset: DatasetTraits): string | null {
  if (family === "force") return dataset.forcing.kind === "none" ? "nothing says what forces it" : null;
  for (const field of fields)
    if (dataset.fields[field] === undefined) return `it has no ${FIELD_TITLES[field] ?? field}`;
  if (family === "track" && dataset.time.count === 1) return "it is a snapshot";
  const isFilter = family === "filter" || family === "box";
  return isFilter && dataset.axes.some((axis) => axis.coordinates !== null) ? "its grid is not uniform" : null;
}

/** The message of the public service for an operation that a dataset cannot answer, word for word. */
export function publicRefusal({ family, fields, kernel }: Operation): string {
  if (family === "box") {
    const methods = kernel === "covariance" ? "Box filter methods are" : "GetBoxFilter is";
    return `${methods} not available for the channel flow datasets!`;
  }
  const [field] = fields;
  if (field !== "magnetic" && field !== "potential") return "Invalid dataset specified!";
  const values = field === "magnetic" ? "GetMagneticField" : "GetVectorPotential";
  return `${kernel === "velocityHessian" ? "GetMagnetic" : values} is available only for MHD datasets!`;
}

/** As `spatialOf` over plain HTTP, where tracking also accepts splines. */
export function plainSpatialOf(operation: Operation, dataset: DatasetTraits): readonly SpatialInterpolation[] {
  return operation.family === "track" ? VALUE_METHODS : spatialOf(operation, dataset);
}

/** The spatial options that an operation accepts on a dataset: a stored force is interpolated like velocity. */
export function spatialOf({ family, spatial }: Operation, dataset: DatasetTraits): readonly SpatialInterpolation[] {
  return family === "force" && dataset.forcing.kind === "stored" ? VALUE_METHODS : spatial;
}

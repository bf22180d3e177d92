/**
 * The table of calls of the plain HTTP interface and of their members. Routes, the reader of questions, OpenAPI,
 * faults, the reference in docs and the types of the client follow from it.
 */
import { SPLINES } from "./operations.js";

/** Type of the value of a member. */
export type MemberType =
  | "what"
  | "points"
  /** A position, or a range of them: 1.5, 0:2. */
  | "along"
  /** A node, or a range of them: 3, 0:8:2. */
  | "nodes"
  /** Samples along each axis: 64, or 64,32,16. */
  | "counts"
  | "times"
  | "frames"
  | "choice"
  | "choices"
  | "filter"
  | "condition"
  | "texts"
  | "number"
  | "integer"
  | "integers"
  | "numbers"
  | "pair"
  /** A number, or auto. */
  | "level"
  /** linear, log or symlog:C. */
  | "scale"
  | "reductions"
  | "events"
  | "separations"
  | "region"
  | "boolean";

/** A member of questions. */
export interface CallMember {
  readonly type: MemberType;
  readonly description: string;
  /** What happens without the member, in words. */
  readonly defaultText?: string;
  /** Values of a member of type `choice`. */
  readonly choices?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** Members of an object value; in a query string they are written with a dot: points.random. */
  readonly objectMembers?: readonly string[];
  /** An example of a value, as text. */
  readonly example: string;
}

const AXES = ["x", "y", "z"] as const;
const DIRECTIONS = ["x", "y", "z", "t"] as const;

const alongMember = (axis: string) => ({
  type: "along" as const,
  description: `Along ${axis}: a position, or a range first:last, inclusive, in length units.`,
  defaultText: "the whole axis",
  example: "1.5",
});
const nodesMember = (axis: string) => ({
  type: "nodes" as const,
  description: `Nodes along ${axis}, counted from 0: a number, or first:end:stride with end excluded; on a periodic axis the range may continue for up to one period past the boundary.`,
  defaultText: "the whole axis",
  example: "0:8",
});

/** All members, in the order in which faults name them. */
export const MEMBERS = {
  what: {
    type: "what",
    description:
      "Quantities, as a list or as one text with commas: names such as u, p, omega, Q (the description of a dataset lists them), expressions such as u.x*u.y, norm(grad(p)), 2*ddot(S,S), or name = expression; in flow_map some of map, gradient, eigenvalues, ftle.",
    defaultText: "u, or the first field",
    example: "u, norm(omega)",
  },
  points: {
    type: "points",
    description:
      'Rows of x, y, z (and t with time=each): a JSON list, text such as 1,2,3;4,5,6, a body of CSV, npy or float32 octets (with the other members in the address), or in Python an array; or {"input": ID} for an uploaded input; or n random points in the box x, y, z: {"random": n, "seed": 0}, {"pairs": n, "distance": r, "seed": 0} or {"tetrads": n, "distance": r, "seed": 0}. Rows may also be grouped into pairs (two consecutive rows) or tetrads (four).',
    objectMembers: ["input", "random", "pairs", "tetrads", "distance", "seed"],
    example: "1,2,3;4,5,6",
  },
  x: alongMember("x"),
  y: alongMember("y"),
  z: alongMember("z"),
  i: nodesMember("x"),
  j: nodesMember("y"),
  k: nodesMember("z"),
  samples: {
    type: "counts",
    description:
      "Number of samples: one for all axes, or one for each axis with a range, x first. Samples lie at the midpoints of equal intervals; over a whole axis they start at its first node.",
    defaultText: "the number of nodes of the axis, at most 64",
    example: "64",
  },
  time: {
    type: "times",
    description:
      "A number, a list, first:last:step (inclusive) or all: any time in values and grid, stored times elsewhere. Calls that track particles take an interval first:last, backwards if last is smaller. With each, points have a time of their own: values evaluates each point then, and paths with each:D follows it for a duration D from then.",
    defaultText: "the stored time, if there is only one",
    example: "0.5",
  },
  frame: {
    type: "frames",
    description:
      "Stored times by number, counted from 0, instead of time: a number, a list, first:end:stride with end excluded, or all.",
    example: "0:4",
  },
  method: {
    type: "choice",
    description: "Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8.",
    defaultText: "Lag8",
    example: "Lag6",
  },
  derivatives: {
    type: "choice",
    description: "Scheme for derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral.",
    defaultText: "the method, if it is a spline; else Fd4Lag4 between nodes and Fd4 at nodes",
    example: "Fd6",
  },
  time_method: {
    type: "choice",
    choices: ["PCHIP", "nearest"],
    description: "Interpolation in time.",
    defaultText: "PCHIP",
    example: "nearest",
  },
  filter: {
    type: "filter",
    description:
      "Filter for filter(e) and tau, as KIND:WIDTH: gaussian, sharp or tophat (applied to whole frames), or box (the mean over a cube around each point).",
    example: "gaussian:0.8",
  },
  level: {
    type: "level",
    description:
      "0 for the stored nodes, or k for means over cubes of 2^k nodes a side, which i, j and k then count; in grid also auto, the coarsest level that is fine enough for the samples.",
    defaultText: "0",
    example: "auto",
  },
  isovalue: {
    type: "number",
    description:
      "Returns at least the corners of every cell that the isosurface of this value crosses. Nodes far from it may be NaN (null) if the dataset has levels.",
    example: "1.5",
  },
  integrator: {
    type: "choice",
    choices: ["rk4", "heun", "dopri5"],
    description: "Time integration scheme for particles.",
    defaultText: "rk4",
    example: "dopri5",
  },
  step: {
    type: "number",
    minimum: 0,
    description: "Time step, above 0; with dopri5, the interval between records.",
    defaultText: "the time step of the simulation if the dataset states it, else a tenth of the stored interval",
    example: "0.02",
  },
  tolerance: {
    type: "number",
    minimum: 0,
    description: "Error tolerance of a path with dopri5, as a distance.",
    defaultText: "1e-6 of the smallest spacing",
    example: "1e-6",
  },
  every: {
    type: "integer",
    minimum: 1,
    description: "Number of steps between records.",
    defaultText: "1",
    example: "5",
  },
  drag: {
    type: "number",
    minimum: 0,
    description:
      "Response time of inertial particles with Stokes drag (integrator heun, forward in time). Points may have initial velocities vx, vy, vz.",
    defaultText: "fluid particles",
    example: "0.1",
  },
  diffusivity: {
    type: "number",
    minimum: 0,
    description:
      "Brownian particles: after each step of rk4 or heun, a random displacement of variance 2*diffusivity*step along each axis, also backwards.",
    defaultText: "none",
    example: "0.001",
  },
  seed: {
    type: "integer",
    minimum: 0,
    maximum: 4_294_967_295,
    description:
      "Seed of the random displacements; the number of a particle is its place in the points of the question.",
    defaultText: "0",
    example: "1",
  },
  walls: {
    type: "choice",
    choices: ["reflect", "stop"],
    description:
      "What a particle does at a wall: reflect (with diffusivity), or stop there, with the time as its exit.",
    defaultText: "reflect with diffusivity; else particles are held at walls",
    example: "stop",
  },
  frozen: {
    type: "boolean",
    description:
      "Streamlines: particles follow the velocity field frozen at the start of the interval; the interval may end at any time.",
    defaultText: "false",
    example: "true",
  },
  residence: {
    type: "region",
    objectMembers: ["x", "y", "z"],
    description:
      "Region {x, y, z} of ranges first:last in length units; each record then has the time spent in it so far. Between two recorded steps (see every) a path counts as straight, also with last.",
    defaultText: "none",
    example: '{"x":"1:2"}',
  },
  exit_from: {
    type: "region",
    objectMembers: ["x", "y", "z"],
    description:
      "Region as in residence; each record then has the time at which the path first left it (null before), and censored, which is 1 until then.",
    defaultText: "none",
    example: '{"y":"0:1"}',
  },
  last: { type: "boolean", description: "Record only the end of each path.", defaultText: "false", example: "true" },
  open_faces: {
    type: "choice",
    choices: ["stop", "fail"],
    description: "What a particle that leaves through an open face does: stop, or fail the question.",
    defaultText: "stop",
    example: "fail",
  },
  where: {
    type: "condition",
    description:
      "Condition such as norm(omega) > 2*rms(norm(omega)), with mean and rms over the region; rms is about zero, so that of fluctuations is rms(fluc(e)). Statistics leaves out, and counts, the nodes that fail it.",
    example: "norm(omega) > 2*rms(norm(omega))",
  },
  limit: {
    type: "integer",
    minimum: 1,
    maximum: 1000,
    description: "Maximum number of rows.",
    defaultText: "1000",
    example: "10",
  },
  reduce: {
    type: "reductions",
    description:
      'List of {"moments": q, "order": 4} (order up to 8), {"quantiles": q, "at": [p, …]}, {"covariance": [q, …]}, {"histogram": q, "bins": n, "range": [a, b]}, {"joint": [q1, q2], "bins": [n, m], "range": [[a, b], [c, d]]}, {"conditional": q, "on": c, "bins": n, "range": [a, b]} (or on [c1, c2], with bins and range for each), {"extremes": q, "count": n, "apart": r} (the n highest and the n lowest, at least r apart), budget:k, and budget:uv for any Reynolds stress. Without range, bins cover all values.',
    defaultText: "the moments of each quantity in what; variance is rms(fluc(q))^2",
    example: '{"histogram":"u.x","bins":20,"range":[-2,2]}',
  },
  over: {
    type: "choices",
    choices: DIRECTIONS,
    description:
      "Directions to average over, also in mean(e), rms(e) and fluc(e); the answer is resolved along the others.",
    defaultText: "all; for means in nodes, find and structures x,y,z, and t in structures of several frames",
    example: "x,z,t",
  },
  mean_time: {
    type: "times",
    description:
      "Stored times over which mean(e), rms(e) and fluc(e) are taken together: all, a number, a list or a range.",
    defaultText: "the times of the question",
    example: "all",
  },
  weights: {
    type: "choice",
    choices: ["volume", "nodes"],
    description: "Weight of a node: the volume of its cell, or 1.",
    defaultText: "volume",
    example: "nodes",
  },
  by: {
    type: "integer",
    minimum: 1,
    description:
      "Number of stored times per block. Moments, covariances and conditional means over t then also have standard errors, estimated from the series of block means.",
    defaultText: "no standard errors",
    example: "1",
  },
  fold: {
    type: "choice",
    choices: ["x:mirror", "y:mirror", "z:mirror", "x:rotation", "y:rotation", "z:rotation"],
    description:
      "Averages the two halves of an axis, by a mirror at its middle or a rotation by 180 degrees about z (for the axis z, about y); components change sign accordingly.",
    defaultText: "no folding",
    example: "y:mirror",
  },
  odd: {
    type: "texts",
    description: "Further fields that change sign under fold.",
    defaultText: "none",
    example: "temperature",
  },
  units: {
    type: "choice",
    choices: ["check", "ignore", "plus"],
    description:
      "check refuses sums, comparisons and functions of quantities whose stated units do not fit together; ignore accepts them; plus, in statistics, answers budgets in u_tau^4/nu and adds the friction velocity and wall distances.",
    defaultText: "check",
    example: "ignore",
  },
  u_tau: {
    type: "number",
    minimum: 0,
    description: "Friction velocity for wall units.",
    defaultText: "from the mean of u.x at both walls",
    example: "1",
  },
  terms: {
    type: "texts",
    description:
      "In spectra: transfer, flux, dissipation, helicity, cross:q. In structure functions: longitudinal, transverse, mixed, R_LL, R_NN, scalar, yaglom.",
    defaultText: "in spectra the energy; in structure functions all",
    example: "transfer,flux",
  },
  kind: {
    type: "choice",
    choices: ["shell", "plane", "line", "modes", "frequency", "wavenumber_frequency"],
    description:
      "Sums over shells of a cube or rings in planes, lines, modes of several axes, frequencies, or wavenumbers along one axis with frequencies.",
    defaultText: "shell if all axes are periodic, else plane, else line",
    example: "line",
  },
  axis: {
    type: "choices",
    choices: AXES,
    description:
      "Axis of lines, or normal to planes; axes of modes, of correlations (one or two) and of structure functions.",
    defaultText:
      "the first of several nodes, for spectra a periodic one; for planes the open axis; for modes all periodic axes; for structure functions all of several nodes, with separations in nodes those that are evenly spaced",
    example: "y",
  },
  orders: {
    type: "numbers",
    description: "Powers of increments, or of the separations of pairs.",
    defaultText: "2, 3; for pairs 2",
    example: "2,3,4",
  },
  absolute: {
    type: "numbers",
    minimum: 0,
    maximum: 16,
    description:
      "Powers p > 0, whole or not, of absolute increments: <|d|^p> of a scalar or of the longitudinal increment of a vector, with its local slope against <|d|^3>.",
    defaultText: "none",
    example: "1,2.5",
  },
  increments: {
    type: "numbers",
    minimum: 0,
    maximum: 16,
    description:
      "Powers p of Lagrangian increments of what, d = q(t0 + lag) - q(t0); one that is not whole takes |d|^p.",
    defaultText: "none",
    example: "2,4",
  },
  origins: {
    type: "choice",
    choices: ["start", "all"],
    description: "Start times t0 of increments: the start, or all records.",
    defaultText: "start",
    example: "all",
  },
  bins: {
    type: "integer",
    minimum: 1,
    maximum: 65_536,
    description:
      "Number of bins for histograms over range: of increments, or in dispersion without these of what at each time.",
    defaultText: "no histograms",
    example: "50",
  },
  separations: {
    type: "separations",
    description: "Separations in nodes, as a list, or {lengths, pairs, seed} for pairs of random points.",
    objectMembers: ["lengths", "pairs", "seed"],
    example: "1,2,4,8",
  },
  connectivity: {
    type: "choice",
    choices: ["6", "18", "26"],
    description: "Neighbours of a node: 6 share a face, 18 also an edge, 26 also a corner.",
    defaultText: "26",
    example: "6",
  },
  least: {
    type: "integer",
    minimum: 1,
    description: "Minimum number of nodes of a listed structure.",
    defaultText: "1",
    example: "10",
  },
  track_overlap: {
    type: "number",
    description:
      "Structures of consecutive frames overlap if the volume they share is more than this part of the smaller one, from 0 (one shared node) to below 1.",
    defaultText: "0",
    example: "0.5",
  },
  labels: {
    type: "boolean",
    description:
      "Also answer, for each node, the number of its structure in the list, or 0. Files contain only these labels.",
    defaultText: "false",
    example: "true",
  },
  remove: {
    type: "choice",
    choices: ["mean", "frame", "none"],
    description: "Subtract the mean, the mean of each frame, or nothing.",
    defaultText: "mean; none for shells, planes, and lines of periodic boxes without over and cross",
    example: "none",
  },
  events: {
    type: "events",
    description:
      'What counts as an event, each with weight 1. centres: the centres of structures with at least as many nodes as least says. {"highest": q, "count": n, "apart": r}: the n highest nodes of q ("lowest": the n lowest), at least r apart; with where, only nodes where it holds.',
    defaultText: "the nodes where the condition holds",
    example: '{"highest":"Q","count":10,"apart":0.5}',
  },
  lag: {
    type: "integers",
    description: "Nodes on each side of an event: one number, or one each for x, y and z.",
    defaultText: "4; 0 along stretched axes",
    example: "1,0,0",
  },
  orient: {
    type: "choice",
    choices: ["strain", "omega"],
    description:
      "Rotates offsets, vectors and tensors at each event to the eigenvectors of the strain rate (largest eigenvalue first), or so that z is along the vorticity; values are interpolated by method.",
    defaultText: "the axes of the grid",
    example: "strain",
  },
  cross: {
    type: "texts",
    description: "Two scalars a,b: the spectrum of conj(A) B, or the correlation of a(x) and b(x + r).",
    example: "u.x,u.y",
  },
  at: {
    type: "condition",
    description:
      "Fixed position of the first quantity of a pair along an axis that is not in over; the second runs over all positions: <conj(A(y0)) B(y)>.",
    example: "y:0.1",
  },
  normalise: {
    type: "choice",
    choices: ["density", "premultiplied", "wavelength"],
    description:
      "For lines, modes and frequencies: density E/dk, premultiplied k E/dk, or wavelength: premultiplied, with a list of the wavelengths.",
    defaultText: "sums of modes",
    example: "density",
  },
  segment: {
    type: "integer",
    minimum: 2,
    description:
      "Number of times per segment, or of nodes along an open axis of lines; spectra are averaged over segments (Welch).",
    defaultText: "all times, or all nodes",
    example: "8",
  },
  overlap: {
    type: "integer",
    minimum: 0,
    description: "Number of times, or nodes, shared by two successive segments.",
    defaultText: "half a segment",
    example: "4",
  },
  window: {
    type: "choice",
    choices: ["hann", "none"],
    description: "Window of a segment: (1 - cos(2 pi j/n))/2, or 1.",
    defaultText: "hann",
    example: "none",
  },
  detrend: {
    type: "choice",
    choices: ["constant", "linear", "none"],
    description: "Subtract from each segment its mean, its least-squares line, or nothing.",
    defaultText: "constant",
    example: "linear",
  },
  map: {
    type: "choice",
    choices: ["viridis", "inferno", "magma", "plasma", "cividis", "RdBu", "RdBu-dark", "PuOr"],
    description: "Colour map of a picture.",
    defaultText: "viridis",
    example: "magma",
  },
  range: {
    type: "pair",
    description:
      "Values of the first and the last colour; in dispersion and structure_functions, the outer edges of the bins.",
    defaultText: "the range of the values in the plane",
    example: "-1,1",
  },
  scale: {
    type: "scale",
    description: "Colour scale: linear, log, or symlog:C (linear up to C).",
    defaultText: "linear",
    example: "log",
  },
  format: {
    type: "choice",
    description: "Format of the answer; overrides Accept.",
    defaultText: "json",
    example: "csv",
  },
  job: {
    type: "boolean",
    description: "Run the question as a job (POST only), whose result has the format asked for.",
    defaultText: "false",
    example: "true",
  },
} as const satisfies Readonly<Record<string, CallMember>>;
export type MemberName = keyof typeof MEMBERS;

/** Formats of answers: media type, and whether a format holds one quantity only. */
export const FORMATS = {
  json: { type: "application/json", singleQuantity: false },
  csv: { type: "text/csv", singleQuantity: false },
  npy: { type: "application/x-npy", singleQuantity: true },
  npz: { type: "application/x-npz", singleQuantity: false },
  f32: { type: "application/octet-stream", singleQuantity: true },
  parquet: { type: "application/vnd.apache.parquet", singleQuantity: false },
  nc: { type: "application/netcdf", singleQuantity: false },
  h5: { type: "application/x-hdf5", singleQuantity: false },
  zarr: { type: "application/vnd.zarr+zip", singleQuantity: false },
  png: { type: "image/png", singleQuantity: true },
  xmf: { type: "application/xml", singleQuantity: false },
} as const satisfies Readonly<Record<string, { readonly type: string; readonly singleQuantity: boolean }>>;
export type Format = keyof typeof FORMATS;

const ROW_FORMATS = ["json", "csv", "npy", "npz", "f32", "parquet", "nc", "h5", "zarr"] as const;
const GRID_FORMATS = ["json", "csv", "npy", "npz", "f32", "nc", "h5", "zarr"] as const;
const TABLE_FORMATS = ["json", "csv", "npy", "npz", "nc", "parquet"] as const;

const REGION_MEMBERS = ["x", "y", "z", "i", "j", "k"] as const;
const TIME_MEMBERS = ["time", "frame"] as const;
const POINT_MEMBERS = ["method", "derivatives", "time_method", "filter"] as const;
const NODE_MEMBERS = ["derivatives", "filter"] as const;
const MEAN_MEMBERS = ["over", "mean_time"] as const;
const STEP_MEMBERS = ["integrator", "step", "tolerance", "every"] as const;
const TRACKING_MEMBERS = ["method", ...STEP_MEMBERS, "diffusivity", "seed", "walls", "open_faces"] as const;

export interface Call {
  readonly summary: string;
  readonly description: string;
  readonly kind: "rows" | "grid" | "table";
  readonly members: readonly MemberName[];
  /** Members that are required. */
  readonly required: readonly MemberName[];
  readonly formats: readonly Format[];
  /** Defaults that differ from those of `MEMBERS`, as text. */
  readonly defaultText?: Readonly<Partial<Record<MemberName, string>>>;
  /** An example of a question, about the shipped dataset isotropic32, as text. */
  readonly example: Readonly<Partial<Record<MemberName, string>>>;
}

/** All calls, by name, in the order of the reference. */
export const CALLS = {
  values: {
    summary: "Quantities at points",
    description:
      "One row for each point. u, p, A, grad(p), hess(p), lap(u), hess(u) and lap(A) are bit-identical to the SOAP operations.",
    kind: "rows",
    members: [
      "what",
      "points",
      ...REGION_MEMBERS,
      ...TIME_MEMBERS,
      ...POINT_MEMBERS,
      "level",
      "units",
      "format",
      "job",
    ],
    required: ["points"],
    formats: ROW_FORMATS,
    example: { what: "u, norm(omega)", points: "1,2,3;4,5,6", time: "0.5" },
  },
  grid: {
    summary: "Samples in a volume, on a plane or on a line",
    description: "A plane if one of x, y, z is a number, a line if two are, otherwise a volume.",
    kind: "grid",
    members: [
      "what",
      ...REGION_MEMBERS,
      "samples",
      ...TIME_MEMBERS,
      ...POINT_MEMBERS,
      "level",
      "units",
      "format",
      "map",
      "range",
      "scale",
      "job",
    ],
    required: [],
    formats: [...GRID_FORMATS, "png"],
    example: { what: "Q", z: "3.14", time: "0.9", samples: "4" },
  },
  nodes: {
    summary: "Stored nodes of a region",
    description:
      "Stored fields, or any quantity at nodes. An h5 of stored fields has the layout of JHTDB cutouts; an xmf, written with it, opens it in ParaView (Answers in docs/asking.md).",
    kind: "grid",
    members: [
      "what",
      ...REGION_MEMBERS,
      ...TIME_MEMBERS,
      ...NODE_MEMBERS,
      ...MEAN_MEMBERS,
      "level",
      "isovalue",
      "units",
      "format",
      "job",
    ],
    required: [],
    formats: [...GRID_FORMATS, "xmf"],
    example: { what: "u, p", frame: "0", i: "0:4", j: "0:4", k: "0:1" },
  },
  find: {
    summary: "Nodes where a condition holds",
    description:
      "Rows of i, j, k, x, y, z and the quantities in what, largest first by the first quantity; without what, in node order. Each row is a node, and the first ten usually lie in one vortex: for ten vortices ask structures. total counts the nodes where the condition holds; missing counts those where the first quantity has no value or is infinite: they are not listed.",
    kind: "rows",
    members: [
      "what",
      "where",
      "limit",
      ...REGION_MEMBERS,
      ...TIME_MEMBERS,
      ...NODE_MEMBERS,
      ...MEAN_MEMBERS,
      "level",
      "units",
      "format",
      "job",
    ],
    required: [],
    formats: ROW_FORMATS,
    defaultText: { what: "none: rows are in node order" },
    example: { where: "Q > 4*rms(Q)", what: "Q, p", time: "0.6", limit: "3" },
  },
  paths: {
    summary: "Particles and quantities along their paths",
    description:
      "Rows of particle, t, x, y, z, exit and the quantities in what along each path. Positions continue past periodic boundaries. exit is the time at which the particle left through an open face; if it did not, null in JSON and NaN elsewhere.",
    kind: "rows",
    members: [
      "what",
      "points",
      ...REGION_MEMBERS,
      "time",
      "derivatives",
      ...TRACKING_MEMBERS,
      "drag",
      "frozen",
      "residence",
      "exit_from",
      "last",
      "level",
      "units",
      "format",
      "job",
    ],
    required: ["points", "time"],
    formats: ROW_FORMATS,
    defaultText: { what: "none" },
    example: { what: "p", points: "1,2,3", time: "0.4:0.5", step: "0.05" },
  },
  flow_map: {
    summary: "Flow map, its gradient and its stretching",
    description:
      "Particles start on a plane or in a box; what lists some of map, gradient, eigenvalues, ftle. The gradient is integrated by the variational equation along each path.",
    kind: "grid",
    members: [
      "what",
      ...REGION_MEMBERS,
      "samples",
      "time",
      "method",
      "derivatives",
      "integrator",
      "step",
      "level",
      "format",
      "map",
      "range",
      "scale",
      "job",
    ],
    required: ["time"],
    formats: [...GRID_FORMATS, "png"],
    defaultText: { what: "map, gradient, ftle", integrator: "rk4" },
    example: { what: "ftle", z: "1.5", samples: "4", time: "0.4:0.6", step: "0.05" },
  },
  dispersion: {
    summary: "Statistics of paths",
    description:
      "Displacement, autocorrelation, and statistics of pairs, tetrads, increments and values of what at each recorded time; the paths themselves are not sent.",
    kind: "table",
    members: [
      "what",
      "points",
      ...REGION_MEMBERS,
      "time",
      "derivatives",
      ...TRACKING_MEMBERS,
      "orders",
      "remove",
      "increments",
      "origins",
      "bins",
      "range",
      "level",
      "units",
      "format",
      "job",
    ],
    required: ["points", "time"],
    formats: TABLE_FORMATS,
    defaultText: { what: "u", remove: "mean", range: "none" },
    example: { points: '{"pairs":10,"distance":0.2,"seed":1}', time: "0.4:0.6", step: "0.05" },
  },
  statistics: {
    summary: "Moments, histograms and other reductions",
    description: "Over the nodes of a region or over points; all reductions are computed in one pass.",
    kind: "table",
    members: [
      "what",
      "points",
      ...REGION_MEMBERS,
      ...TIME_MEMBERS,
      "method",
      ...NODE_MEMBERS,
      "where",
      "reduce",
      "over",
      "mean_time",
      "weights",
      "by",
      "fold",
      "odd",
      "level",
      "units",
      "u_tau",
      "format",
      "job",
    ],
    required: [],
    formats: TABLE_FORMATS,
    defaultText: { what: "u, or the first field; with reduce none" },
    example: { what: "2*ddot(S,S)", time: "0.6" },
  },
  spectrum: {
    summary: "Spectra of whole frames",
    description:
      "Sums of modes over shells, rings or lines, with the turbulence scales of the velocity (in JSON; CSV has the spectra alone); frequency spectra are means over segments in time.",
    kind: "table",
    members: [
      "what",
      ...TIME_MEMBERS,
      ...NODE_MEMBERS,
      ...MEAN_MEMBERS,
      "weights",
      "terms",
      "kind",
      "axis",
      "cross",
      "at",
      "remove",
      "normalise",
      "segment",
      "overlap",
      "window",
      "detrend",
      "level",
      "units",
      "format",
      "job",
    ],
    required: [],
    formats: TABLE_FORMATS,
    example: { time: "0.6", terms: "transfer,flux" },
  },
  correlation: {
    summary: "Two-point correlations",
    description:
      "R_ab(r) = <a'(x) b'(x + r)> along an axis (of an open one over the pairs that exist) or over a plane of two periodic axes, at each position along the directions that are not averaged; rho is R divided by both root mean squares.",
    kind: "table",
    members: [
      "what",
      ...TIME_MEMBERS,
      ...NODE_MEMBERS,
      ...MEAN_MEMBERS,
      "weights",
      "axis",
      "cross",
      "at",
      "remove",
      "level",
      "units",
      "format",
      "job",
    ],
    required: [],
    formats: TABLE_FORMATS,
    example: { what: "u.x", axis: "x", time: "0.6" },
  },
  around: {
    summary: "Means around events",
    description:
      "Mean and count of what at each offset, in nodes, from each event, also across periodic boundaries; beyond open boundaries values are missing. Events are the nodes where the condition holds, which weigh their cells, or events or points, which weigh 1 each. Positions along stretched axes are not averaged: the answer has one mean for each.",
    kind: "table",
    members: [
      "what",
      ...REGION_MEMBERS,
      ...TIME_MEMBERS,
      ...NODE_MEMBERS,
      "points",
      "where",
      "events",
      "least",
      "lag",
      "orient",
      "method",
      ...MEAN_MEMBERS,
      "weights",
      "level",
      "units",
      "format",
      "job",
    ],
    required: [],
    formats: TABLE_FORMATS,
    example: { where: "Q > 4*rms(Q)", what: "p", lag: "1,0,0", time: "0.6" },
  },
  structure_functions: {
    summary: "Moments of increments",
    description: "Means over all pairs of nodes along the axes, or over random pairs of points.",
    kind: "table",
    members: [
      "what",
      ...REGION_MEMBERS,
      ...TIME_MEMBERS,
      "method",
      ...NODE_MEMBERS,
      "weights",
      "terms",
      "axis",
      "orders",
      "absolute",
      "bins",
      "range",
      "separations",
      "remove",
      "level",
      "units",
      "format",
      "job",
    ],
    required: [],
    formats: TABLE_FORMATS,
    defaultText: { separations: "1, 2, 4, … up to half the nodes", remove: "mean", range: "none" },
    example: { time: "0.6", orders: "2,3", separations: "1,2,4,8" },
  },
  structures: {
    summary: "Connected sets of nodes where a condition holds",
    description:
      "One row per structure, largest volume first: volume, centre, bounding box, and the integral, mean and extremes of what. For the strongest, sort the rows by the maximum of what. A low threshold joins neighbours and a high one leaves out weak structures: try two. Structures continue across periodic boundaries. Over several frames, structures that overlap from one frame to the next are linked and followed in tracks.",
    kind: "table",
    members: [
      "what",
      ...REGION_MEMBERS,
      ...TIME_MEMBERS,
      ...NODE_MEMBERS,
      "where",
      "connectivity",
      "least",
      "track_overlap",
      "labels",
      ...MEAN_MEMBERS,
      "weights",
      "level",
      "units",
      "format",
      "job",
    ],
    required: ["where"],
    formats: TABLE_FORMATS,
    defaultText: { what: "none" },
    example: { where: "norm(omega) > 2*rms(norm(omega))", what: "p", time: "0.6" },
  },
} as const satisfies Readonly<Record<string, Call>>;
export type CallName = keyof typeof CALLS;

export const CALL_NAMES = Object.keys(CALLS) as readonly CallName[];

export function callOf(name: CallName): Call {
  return CALLS[name];
}

export function memberOf(name: MemberName): CallMember {
  return MEMBERS[name];
}

/** The choices of a member in a call; empty if it is not a choice. */
export function choicesOf(name: MemberName, call: CallName): readonly string[] {
  if (name === "format") return callOf(call).formats;
  if (name === "method") return ["nearest", "Lag4", "Lag6", "Lag8", ...SPLINES];
  if (name === "derivatives") {
    const atNodes = !callOf(call).members.includes("method");
    return ["Fd4", "Fd6", "Fd8", "spectral", ...(atNodes ? [] : ["Fd4Lag4", ...SPLINES])];
  }
  if (name === "integrator" && call === "flow_map") return ["rk4", "heun"];
  if (name === "units" && call !== "statistics") return ["check", "ignore"];
  // Each time has a mean of its own where pairs of particles are followed; increments are without that of all frames.
  if (name === "remove" && (call === "dispersion" || call === "structure_functions")) return ["mean", "none"];
  return memberOf(name).choices ?? [];
}

/** Description of a member of a call, with its default. */
export function describeMember(
  name: MemberName,
  call: CallName,
  defaultText = callOf(call).defaultText?.[name] ?? memberOf(name).defaultText,
  suffix = "",
): string {
  const description = `${memberOf(name).description}${suffix}`;
  if (callOf(call).required.includes(name)) return `${description} Required.`;
  return description + (defaultText === undefined ? "" : ` Default: ${defaultText}.`);
}

/** Description of a member with its default and, unless the text names them, its choices. */
export function describeWithChoices(name: MemberName, call: CallName, defaultText?: string): string {
  const { description, type } = memberOf(name);
  const choices = name === "method" || name === "derivatives" ? [] : choicesOf(name, call);
  // The description may name them already.
  const words = description.split(/\W+/);
  if (choices.every((choice) => words.includes(choice))) return describeMember(name, call, defaultText);
  const count = type === "choices" ? "One or more" : "One";
  return describeMember(name, call, defaultText, ` ${count} of ${choices.join(", ")}.`);
}

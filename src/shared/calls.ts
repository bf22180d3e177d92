/**
 * The table of calls of the plain HTTP interface and of their members. Routes, the reader of questions, OpenAPI,
 * faults, the reference in docs and the types of the client follow from it.
 */
import { SPLINES } from "./operations.js";

/** Type of the value of a member. */
export type MemberType =
  | "what"
  | "points"
  | "along"
  | "nodes"
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
  | "level"
  | "scale"
  | "reductions"
  | "separations"
  | "boolean";

/** A member of questions. */
export interface CallMember {
  readonly type: MemberType;
  readonly about: string;
  /** Its default, in words. */
  readonly usual?: string;
  /** Values of a member of type `choice`. */
  readonly choices?: readonly string[];
  readonly least?: number;
  readonly most?: number;
  /** Members of an object; in a query string they are written with dots: points.random. */
  readonly leaves?: readonly string[];
  /** An example of a value, as text. */
  readonly example: string;
}

const AXES = ["x", "y", "z"] as const;
const DIRECTIONS = ["x", "y", "z", "t"] as const;

const along = (axis: string) => ({
  type: "along" as const,
  about: `Along ${axis}: a number, or first:last in lengths, both ends in it.`,
  usual: "the whole axis",
  example: "1.5",
});
const nodes = (axis: string) => ({
  type: "nodes" as const,
  about: `Nodes along ${axis}, counted from 0: a number, or first:end:stride, the end not in it; on a periodic axis up to one period past the seam.`,
  usual: "the whole axis",
  example: "0:8",
});

/** All members, in the order in which faults name them. */
export const MEMBERS = {
  what: {
    type: "what",
    about:
      "Quantities: names such as u, p, omega, Q (a dataset's description lists them), expressions such as u.x*u.y, norm(grad(p)), 2*ddot(S,S), or name = expression; a list, or one text with commas.",
    usual: "u, or the first field",
    example: "u, norm(omega)",
  },
  points: {
    type: "points",
    about:
      "Rows of x, y, z (with time=each also t); text 1,2,3;4,5,6; a body of CSV, npy or octets; or one of {input: ID}, {random, seed}, {pairs, distance, seed}, {tetrads, distance, seed} in the box x, y, z. Rows may be pairs or tetrads too, two or four in succession.",
    leaves: ["input", "random", "pairs", "tetrads", "distance", "seed"],
    example: "1,2,3;4,5,6",
  },
  x: along("x"),
  y: along("y"),
  z: along("z"),
  i: nodes("x"),
  j: nodes("y"),
  k: nodes("z"),
  samples: {
    type: "counts",
    about:
      "How many, a number or one for each axis that is a range, x first: the middles of equal intervals, or over a whole axis from its first node on.",
    usual: "the smaller of 64 and the nodes of the axis",
    example: "64",
  },
  time: {
    type: "times",
    about:
      "A number, a list, first:last:step with both ends in it, all, or in values each (a time for each point); of paths the interval first:last, backwards if last is smaller, or each:D.",
    usual: "the only one that is stored",
    example: "0.5",
  },
  frame: {
    type: "frames",
    about: "Stored times by number from 0, instead of time: a number, a list, first:end:stride, or all.",
    example: "0:4",
  },
  method: {
    type: "choice",
    about: "Interpolation in space: nearest, Lag4, Lag6, Lag8, or a spline such as M2Q8.",
    usual: "Lag8",
    example: "Lag6",
  },
  derivatives: {
    type: "choice",
    about: "Scheme of derivatives: Fd4, Fd6, Fd8, Fd4Lag4, a spline, or spectral.",
    usual: "that of a spline; else Fd4Lag4 between nodes and Fd4 at nodes",
    example: "Fd6",
  },
  time_method: {
    type: "choice",
    choices: ["PCHIP", "nearest"],
    about: "Interpolation in time.",
    usual: "PCHIP",
    example: "nearest",
  },
  filter: {
    type: "filter",
    about:
      "The filter of filter(e) and tau, KIND:WIDTH: gaussian, sharp or tophat of whole frames, or box, the mean over a cube about a point.",
    example: "gaussian:0.8",
  },
  level: {
    type: "level",
    about:
      "0, the stored nodes; k, means over cubes of 2^k nodes, which i, j and k then count; in grid also auto, the coarsest level that is fine enough.",
    usual: "0",
    example: "auto",
  },
  integrator: {
    type: "choice",
    choices: ["rk4", "heun", "dopri5"],
    about: "Scheme that moves particles.",
    usual: "rk4",
    example: "dopri5",
  },
  step: {
    type: "number",
    least: 0,
    about: "Time step, above 0; with dopri5, the interval between records.",
    usual: "the step of the simulation, else a tenth of the stored interval",
    example: "0.02",
  },
  tolerance: {
    type: "number",
    least: 0,
    about: "Error of a path with dopri5, as a distance.",
    usual: "1e-6 of the smallest spacing",
    example: "1e-6",
  },
  every: {
    type: "integer",
    least: 1,
    about: "Steps from one record to the next.",
    usual: "1",
    example: "5",
  },
  drag: {
    type: "number",
    least: 0,
    about:
      "Response time of inertial particles with Stokes drag, with heun, forward in time; points may have vx, vy, vz.",
    usual: "particles of the flow",
    example: "0.1",
  },
  frozen: {
    type: "boolean",
    about: "Streamlines: particles follow the velocity at the start of the interval, which may end at any time.",
    usual: "false",
    example: "true",
  },
  last: { type: "boolean", about: "Record only the end.", usual: "false", example: "true" },
  open_faces: {
    type: "choice",
    choices: ["stop", "fail"],
    about: "Particles that leave through open faces stop, or fail the question.",
    usual: "stop",
    example: "fail",
  },
  where: {
    type: "condition",
    about:
      "A condition, such as norm(omega) > 2*rms(norm(omega)), with mean and rms over the region; in statistics, what does not hold is left out and counted.",
    example: "norm(omega) > 2*rms(norm(omega))",
  },
  limit: { type: "integer", least: 1, most: 1000, about: "Largest number of rows.", usual: "1000", example: "10" },
  reduce: {
    type: "reductions",
    about:
      'Reductions: {"moments": q, "order": 4} (to 8), {"quantiles": q, "at": [p, …]}, {"covariance": [q, …]}, {"histogram": q, "bins": n, "range": [a, b]}, {"joint": [q1, q2], "bins": [n, m], "range": [[a, b], [c, d]]}, {"conditional": q, "on": c, "bins": n, "range": [a, b]} (on one quantity or [c1, c2], with bins and range for each), where without range it is that of the values; {"extremes": q, "count": n, "apart": r} (at least r from each other), budget:k and budget:uv (any Reynolds stress).',
    usual: "the moments of each of what",
    example: '{"histogram":"u.x","bins":20,"range":[-2,2]}',
  },
  over: {
    type: "choices",
    choices: DIRECTIONS,
    about: "Directions to average over, also in mean(e), rms(e) and fluc(e); the answer has places along the others.",
    usual: "all; of means in nodes, find and structures x,y,z",
    example: "x,z,t",
  },
  mean_time: {
    type: "times",
    about: "Stored times of mean(e), rms(e) and fluc(e), one mean for all of them: all, a number, a list or a range.",
    usual: "the times of the question",
    example: "all",
  },
  weights: {
    type: "choice",
    choices: ["volume", "nodes"],
    about: "Weight of a node: the volume of its cell, or 1.",
    usual: "volume",
    example: "nodes",
  },
  by: {
    type: "integer",
    least: 1,
    about:
      "Stored times of a block: moments, covariances and conditional means over t get standard errors, of the series of blocks.",
    usual: "no standard errors",
    example: "1",
  },
  fold: {
    type: "choice",
    choices: ["x:mirror", "y:mirror", "z:mirror", "x:rotation", "y:rotation", "z:rotation"],
    about:
      "Average the two halves of an axis, by a mirror in its middle or a rotation by 180 degrees about z (for z, about y), with the signs of the components.",
    usual: "no folding",
    example: "y:mirror",
  },
  odd: {
    type: "texts",
    about: "Further fields that change their sign in fold.",
    usual: "none",
    example: "temperature",
  },
  units: {
    type: "choice",
    choices: ["check", "ignore", "plus"],
    about:
      "Whether sums, comparisons and functions must fit together in the units that the dataset states; plus: budgets in u_tau^4/nu, and the friction velocity and wall distances beside (statistics).",
    usual: "check",
    example: "ignore",
  },
  u_tau: {
    type: "number",
    least: 0,
    about: "Friction velocity of wall units.",
    usual: "of the mean of u.x at both walls",
    example: "1",
  },
  terms: {
    type: "texts",
    about:
      "Of spectra: transfer, flux, dissipation, helicity, cross:q; of structure functions: longitudinal, transverse, mixed, R_LL, R_NN, scalar, yaglom.",
    usual: "the energy; all of structure functions",
    example: "transfer,flux",
  },
  kind: {
    type: "choice",
    choices: ["shell", "plane", "line", "modes", "frequency", "wavenumber_frequency"],
    about:
      "Shells of a cube, rings of planes, lines, modes of several axes, frequencies, or wavenumbers along an axis and frequencies.",
    usual: "shell if all axes are periodic, else plane, else line",
    example: "line",
  },
  axis: {
    type: "choices",
    choices: AXES,
    about:
      "The axis of lines or across planes; the axes of modes, of correlations (one or two) and of structure functions.",
    usual: "x; of planes the open axis; of modes all periodic ones; of structure functions all",
    example: "y",
  },
  orders: {
    type: "numbers",
    about: "Powers of increments or separations.",
    usual: "2, 3; of pairs 2",
    example: "2,3,4",
  },
  absolute: {
    type: "numbers",
    about:
      "Powers p above 0, whole or not, of absolute increments: <|d|^p>, longitudinal of a vector, with its local slope against <|d|^3>.",
    usual: "none",
    example: "1,2.5",
  },
  increments: {
    type: "numbers",
    about: "Powers of Lagrangian increments u_i(t0 + lag) - u_i(t0); powers that are not whole are of absolute values.",
    usual: "none",
    example: "2,4",
  },
  origins: {
    type: "choice",
    choices: ["start", "all"],
    about: "Start times t0 of increments: the start, or every record.",
    usual: "start",
    example: "all",
  },
  bins: {
    type: "integer",
    least: 1,
    most: 65_536,
    about: "Bins of histograms of increments over range.",
    usual: "no histograms",
    example: "50",
  },
  separations: {
    type: "separations",
    about: "Separations as a list of nodes, or {lengths, pairs, seed} between random points.",
    leaves: ["lengths", "pairs", "seed"],
    example: "1,2,4,8",
  },
  connectivity: {
    type: "choice",
    choices: ["6", "18", "26"],
    about: "Neighbours of a node: 6 share a face, 18 also an edge, 26 also a corner.",
    usual: "26",
    example: "6",
  },
  least: {
    type: "integer",
    least: 1,
    about: "Smallest number of nodes of a listed structure.",
    usual: "1",
    example: "10",
  },
  labels: {
    type: "boolean",
    about: "Also answer for each node the number of its structure in the list, or 0; files have only these labels.",
    usual: "false",
    example: "true",
  },
  remove: {
    type: "choice",
    choices: ["mean", "frame", "none"],
    about: "Subtract the mean, the mean of each frame, or nothing.",
    usual: "mean; of shells, planes and lines of periodic boxes none",
    example: "none",
  },
  lag: {
    type: "integers",
    about: "Nodes on each side of an event: one number, or those along x, y and z.",
    usual: "4; along stretched axes 0",
    example: "1,0,0",
  },
  orient: {
    type: "choice",
    choices: ["strain", "omega"],
    about:
      "Turns offsets, vectors and tensors into the axes of the strain (of falling eigenvalues) or of the vorticity (z) at each event; values are interpolated by method.",
    usual: "the axes of the grid",
    example: "strain",
  },
  cross: {
    type: "texts",
    about: "A pair of scalars a,b: the spectrum of conj(A) B, or the correlation of a(x) and b(x + r).",
    example: "u.x,u.y",
  },
  at: {
    type: "condition",
    about:
      "The place of the first quantity of a pair along an axis that is not in over; the second takes all places: <conj(A(y0)) B(y)>.",
    example: "y:0.1",
  },
  normalise: {
    type: "choice",
    choices: ["density", "premultiplied", "wavelength"],
    about: "Of lines, modes and frequencies: density E/dk, premultiplied k E/dk, or also wavelengths.",
    usual: "sums of modes",
    example: "density",
  },
  segment: {
    type: "integer",
    least: 2,
    about: "Times of a segment of frequency spectra, which are averaged over segments (Welch).",
    usual: "all times",
    example: "8",
  },
  overlap: {
    type: "integer",
    least: 0,
    about: "Times that two successive segments share.",
    usual: "half of a segment",
    example: "4",
  },
  window: {
    type: "choice",
    choices: ["hann", "none"],
    about: "Window of a segment: (1 - cos(2 pi j/n))/2, or 1.",
    usual: "hann",
    example: "none",
  },
  detrend: {
    type: "choice",
    choices: ["constant", "linear", "none"],
    about: "Subtract from each segment its mean, its least-squares line, or nothing.",
    usual: "constant",
    example: "linear",
  },
  map: {
    type: "choice",
    choices: ["viridis", "inferno", "magma", "plasma", "cividis", "RdBu", "RdBu-dark", "PuOr"],
    about: "Colours of a picture.",
    usual: "viridis",
    example: "magma",
  },
  range: {
    type: "pair",
    about: "Values of the first and the last colour; in dispersion, the first and the last edge of bins.",
    usual: "those of the plane",
    example: "-1,1",
  },
  scale: {
    type: "scale",
    about: "Scale of colours: linear, log, or symlog:C, linear up to C.",
    usual: "linear",
    example: "log",
  },
  format: { type: "choice", about: "Form of the answer, before Accept.", usual: "json", example: "csv" },
  job: { type: "boolean", about: "Run the question as a job; POST only.", usual: "false", example: "true" },
} as const satisfies Readonly<Record<string, CallMember>>;
export type MemberName = keyof typeof MEMBERS;

/** Forms of answers: media type, file ending, and whether a form holds one quantity only. */
export const FORMS = {
  json: { type: "application/json", alone: false },
  csv: { type: "text/csv", alone: false },
  npy: { type: "application/x-npy", alone: true },
  npz: { type: "application/x-npz", alone: false },
  f32: { type: "application/octet-stream", alone: true },
  parquet: { type: "application/vnd.apache.parquet", alone: false },
  nc: { type: "application/netcdf", alone: false },
  h5: { type: "application/x-hdf5", alone: false },
  zarr: { type: "application/vnd.zarr+zip", alone: false },
  png: { type: "image/png", alone: true },
  xmf: { type: "application/xml", alone: false },
} as const satisfies Readonly<Record<string, { readonly type: string; readonly alone: boolean }>>;
export type FormName = keyof typeof FORMS;

const ROWS = ["json", "csv", "npy", "npz", "f32", "parquet", "nc", "h5", "zarr"] as const;
const GRID = ["json", "csv", "npy", "npz", "f32", "nc", "h5", "zarr"] as const;
const TABLE = ["json", "csv", "npy", "npz", "nc", "parquet"] as const;

const BOX = ["x", "y", "z", "i", "j", "k"] as const;
const STORED = ["time", "frame"] as const;
const AT_POINTS = ["method", "derivatives", "time_method", "filter"] as const;
const AT_NODES = ["derivatives", "filter"] as const;
const OF_MEANS = ["over", "mean_time"] as const;
const TRACKING = ["method", "integrator", "step", "tolerance", "every", "open_faces"] as const;

/** A call. */
export interface Call {
  readonly summary: string;
  readonly about: string;
  readonly kind: "rows" | "grid" | "table";
  readonly members: readonly MemberName[];
  /** Members that are required. */
  readonly needs: readonly MemberName[];
  readonly forms: readonly FormName[];
  /** Defaults in words, where they differ from those of the member. */
  readonly usual?: Readonly<Partial<Record<MemberName, string>>>;
  /** An example of a question, about the shipped dataset isotropic32, as text. */
  readonly example: Readonly<Partial<Record<MemberName, string>>>;
}

/** All calls, by name, in the order of the reference. */
export const CALLS = {
  values: {
    summary: "Quantities at points",
    about:
      "One row for each point. u, p, A, grad(p), hess(p), lap(u), hess(u) and lap(A) have the bits of the SOAP operations.",
    kind: "rows",
    members: ["what", "points", ...BOX, ...STORED, ...AT_POINTS, "level", "units", "format", "job"],
    needs: ["points"],
    forms: ROWS,
    example: { what: "u, norm(omega)", points: "1,2,3;4,5,6", time: "0.5" },
  },
  grid: {
    summary: "Samples in a volume, on a plane or on a line",
    about: "A plane if one of x, y, z is a number, a line if two are, else a volume.",
    kind: "grid",
    members: [
      "what",
      ...BOX,
      "samples",
      ...STORED,
      ...AT_POINTS,
      "level",
      "units",
      "format",
      "map",
      "range",
      "scale",
      "job",
    ],
    needs: [],
    forms: [...GRID, "png"],
    example: { what: "Q", z: "3.14", time: "0.9", samples: "4" },
  },
  nodes: {
    summary: "Stored nodes of a region",
    about:
      "Stored fields, or any quantity at nodes. h5 of fields has the layout of JHTDB cutouts. xmf is what ParaView opens, and holds no numbers: it names nodes.h5, the answer to the same question as h5, which must lie beside it under that name (the command line writes both, with two --out).",
    kind: "grid",
    members: ["what", ...BOX, ...STORED, ...AT_NODES, ...OF_MEANS, "level", "units", "format", "job"],
    needs: [],
    forms: [...GRID, "xmf"],
    example: { what: "u, p", frame: "0", i: "0:4", j: "0:4", k: "0:1" },
  },
  find: {
    summary: "Nodes where a condition holds",
    about:
      'Rows of i, j, k, x, y, z and what, sorted by its first quantity, largest first; without what, in the order of nodes. Rows are nodes: the first ten usually lie in one vortex. For ten vortices ask structures, which has a row for each, or statistics with reduce {"extremes": q, "count": 10, "apart": r}. total is the number of all nodes where the condition holds, missing of those without a value of the first quantity, which are not listed.',
    kind: "rows",
    members: ["what", "where", "limit", ...BOX, ...STORED, ...AT_NODES, ...OF_MEANS, "level", "units", "format", "job"],
    needs: [],
    forms: ROWS,
    usual: { what: "none: in the order of nodes" },
    example: { where: "Q > 4*rms(Q)", what: "Q, p", time: "0.6", limit: "3" },
  },
  paths: {
    summary: "Particles and quantities along their paths",
    about:
      "Rows of particle, t, x, y, z, exit and what along the path. exit is the time at which the particle left through an open face; null in JSON and NaN elsewhere if it did not.",
    kind: "rows",
    members: [
      "what",
      "points",
      ...BOX,
      "time",
      "derivatives",
      ...TRACKING,
      "drag",
      "frozen",
      "last",
      "level",
      "units",
      "format",
      "job",
    ],
    needs: ["points", "time"],
    forms: ROWS,
    usual: { what: "none" },
    example: { what: "p", points: "1,2,3", time: "0.4:0.5", step: "0.05" },
  },
  flow_map: {
    summary: "Flow map, its gradient and its stretching",
    about:
      "Particles start on a plane or in a box; what is some of map, gradient, eigenvalues, ftle. The gradient follows the variational equation along each path.",
    kind: "grid",
    members: [
      "what",
      ...BOX,
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
    needs: ["time"],
    forms: [...GRID, "png"],
    usual: { what: "map, gradient, ftle", integrator: "rk4" },
    example: { what: "ftle", z: "1.5", samples: "4", time: "0.4:0.6", step: "0.05" },
  },
  dispersion: {
    summary: "Statistics of paths",
    about:
      "Displacement, autocorrelation, pairs, tetrads and increments at each recorded time; the paths are not sent.",
    kind: "table",
    members: [
      "points",
      ...BOX,
      "time",
      ...TRACKING,
      "orders",
      "remove",
      "increments",
      "origins",
      "bins",
      "range",
      "level",
      "format",
      "job",
    ],
    needs: ["points", "time"],
    forms: TABLE,
    example: { points: '{"pairs":10,"distance":0.2,"seed":1}', time: "0.4:0.6", step: "0.05" },
  },
  statistics: {
    summary: "Moments, histograms and other reductions",
    about: "Over the nodes of a region, or over points, all reductions in one pass.",
    kind: "table",
    members: [
      "what",
      "points",
      ...BOX,
      ...STORED,
      "method",
      ...AT_NODES,
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
    needs: [],
    forms: TABLE,
    usual: { what: "u, or the first field; with reduce none" },
    example: { what: "2*ddot(S,S)", time: "0.6" },
  },
  spectrum: {
    summary: "Spectra of whole frames",
    about:
      "Sums of modes over shells, rings or lines, with the scales of the velocity; for frequencies, means over segments in time.",
    kind: "table",
    members: [
      "what",
      ...STORED,
      ...AT_NODES,
      ...OF_MEANS,
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
    needs: [],
    forms: TABLE,
    example: { time: "0.6", terms: "transfer,flux" },
  },
  correlation: {
    summary: "Two-point correlations",
    about:
      "R_ab(r) = <a'(x) b'(x + r)> along a periodic axis or over a plane of two, at each place of the directions that are not averaged; rho is R over both root mean squares.",
    kind: "table",
    members: [
      "what",
      ...STORED,
      ...AT_NODES,
      ...OF_MEANS,
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
    needs: [],
    forms: TABLE,
    example: { what: "u.x", axis: "x", time: "0.6" },
  },
  around: {
    summary: "Means around events",
    about:
      "Mean and count of what at each offset in nodes from the nodes where the condition holds, across seams too; beyond open ends values are missing. Along stretched axes, places stay.",
    kind: "table",
    members: [
      "what",
      ...BOX,
      ...STORED,
      ...AT_NODES,
      "where",
      "lag",
      "orient",
      "method",
      ...OF_MEANS,
      "weights",
      "level",
      "units",
      "format",
      "job",
    ],
    needs: ["where"],
    forms: TABLE,
    example: { where: "Q > 4*rms(Q)", what: "p", lag: "1,0,0", time: "0.6" },
  },
  structure_functions: {
    summary: "Moments of increments",
    about: "Exact means over all pairs of nodes along axes, or over pairs at random points.",
    kind: "table",
    members: [
      "what",
      ...BOX,
      ...STORED,
      "method",
      ...AT_NODES,
      "weights",
      "terms",
      "axis",
      "orders",
      "absolute",
      "separations",
      "remove",
      "level",
      "units",
      "format",
      "job",
    ],
    needs: [],
    forms: TABLE,
    usual: { separations: "1, 2, 4, … up to half the nodes" },
    example: { time: "0.6", orders: "2,3", separations: "1,2,4,8" },
  },
  structures: {
    summary: "Connected sets of nodes where a condition holds",
    about:
      "A row for each structure, the largest volume first: volume, centre, box, and integral, mean and extremes of what; sort by the maximum of what for the strongest. Structures continue across periodic seams.",
    kind: "table",
    members: [
      "what",
      ...BOX,
      ...STORED,
      ...AT_NODES,
      "where",
      "connectivity",
      "least",
      "labels",
      ...OF_MEANS,
      "weights",
      "level",
      "units",
      "format",
      "job",
    ],
    needs: ["where"],
    forms: TABLE,
    usual: { what: "none" },
    example: { where: "norm(omega) > 2*rms(norm(omega))", what: "p", time: "0.6" },
  },
} as const satisfies Readonly<Record<string, Call>>;
export type CallName = keyof typeof CALLS;

/** The names of all calls. */
export const CALL_NAMES = Object.keys(CALLS) as readonly CallName[];

/** The call with a name. */
export function callOf(name: CallName): Call {
  return CALLS[name];
}

/** The member with a name. */
export function memberOf(name: MemberName): CallMember {
  return MEMBERS[name];
}

/** The choices of a member in a call; none of a member that is no choice. */
export function choicesOf(name: MemberName, call: CallName): readonly string[] {
  if (name === "format") return callOf(call).forms;
  if (name === "method") return ["nearest", "Lag4", "Lag6", "Lag8", ...SPLINES];
  if (name === "derivatives") {
    const atNodes = ["nodes", "find", "spectrum", "structures"].includes(call);
    return ["Fd4", "Fd6", "Fd8", "spectral", ...(atNodes ? [] : ["Fd4Lag4", ...SPLINES])];
  }
  if (name === "integrator" && call === "flow_map") return ["rk4", "heun"];
  return memberOf(name).choices ?? [];
}

/** What a member of a call means and, unless it is left out, what it is then. */
export function wordsOf(name: MemberName, call: CallName, usual = callOf(call).usual?.[name] ?? memberOf(name).usual) {
  if (callOf(call).needs.includes(name)) return `${memberOf(name).about} Needed.`;
  return memberOf(name).about + (usual === undefined ? "" : ` Default: ${usual}.`);
}

/** The words of a member with its choices, unless they name them. */
export function helpOf(name: MemberName, call: CallName, usual?: string): string {
  const { about, type } = memberOf(name);
  const choices = name === "method" || name === "derivatives" ? [] : choicesOf(name, call);
  const isNamed = choices.every((one) => new RegExp(`\\b${one}\\b`).test(about));
  const many = type === "choices" ? "One or more" : "One";
  return wordsOf(name, call, usual).replace(about, isNamed ? about : `${about} ${many} of ${choices.join(", ")}.`);
}

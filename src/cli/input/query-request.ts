/** Matches the flags of `fieldprobe query` with request members, and makes the request. */
import {
  type ALL_OPERATIONS,
  INTEGRATORS,
  type Member,
  type Operation,
  type OperationName,
  operationOf,
  SPATIAL_INTERPOLATION,
  TEMPORAL_INTERPOLATION,
  VALUES,
} from "../../shared/operations.js";
import { AXIS_NAMES, type AxisName, OPEN_FACES } from "../../storage/file/dataset.js";
import { MisuseError, NUMBER } from "./arguments.js";

type MemberName = (typeof ALL_OPERATIONS)[number]["request"][number]["name"];
/** Flags by their camel-case names, as the parser hands them over. */
export type GivenFlags = Readonly<Record<string, string | boolean | undefined>>;

/** The flag of a request member. */
export interface Flag {
  readonly name: string;
  readonly value: string;
  readonly about: string;
  readonly choices?: readonly string[];
  /** Value of the member when the flag is missing. */
  readonly fallback?: string;
}

/** One flag for the members of each axis. */
const alongAxes = <N extends string>(name: (axis: AxisName) => N, flag: (axis: AxisName) => Flag) =>
  Object.fromEntries(AXIS_NAMES.map((axis) => [name(axis), flag(axis)])) as Readonly<Record<N, Flag>>;
const upper = (axis: AxisName) => axis.toUpperCase() as Uppercase<AxisName>;

/** A flag for every request member of the table. */
export const FLAGS: Readonly<Record<MemberName, Flag>> = {
  authToken: { name: "token", value: "TOKEN", about: "token of the service, if it asks for one" },
  dataset: { name: "dataset", value: "NAME", about: "dataset to query" },
  time: { name: "time", value: "T", about: "time of the values" },
  field: {
    name: "field",
    value: "FIELD",
    about:
      "field by letter or name: u, b, a, p, d, t, velocity ...; two letters if two are filtered; searches: vorticity, q",
  },
  filterlength: { name: "filter-length", value: "L", about: "side of the box that is averaged over" },
  nlayers: { name: "layers", value: "K", about: "layers of the octree to return", fallback: "1" },
  filterwidth: { name: "filter-width", value: "W", about: "side of the cube of nodes that is averaged over" },
  spacing: { name: "spacing", value: "S", about: "distance from the point to the two cubes of a difference" },
  threshold: { name: "threshold", value: "VALUE", about: "return only nodes with values above this" },
  ...alongAxes(
    (axis) => `${axis}_start`,
    (axis) => ({ name: `${axis}-start`, value: "N", about: `first node along ${axis}, counted from 1` }),
  ),
  ...alongAxes(
    (axis) => `${axis}_end`,
    (axis) => ({ name: `${axis}-end`, value: "N", about: `last node along ${axis}` }),
  ),
  ...alongAxes(
    (axis) => `${axis}_step`,
    (axis) => ({ name: `${axis}-step`, value: "N", about: `stride in nodes along ${axis}`, fallback: "1" }),
  ),
  filter_width: {
    name: "filter-nodes",
    value: "N",
    about: "nodes per axis over which each value is averaged",
    fallback: "1",
  },
  T: { name: "frame", value: "N", about: "stored frame: GetAnyCutoutWeb counts from 1, GetRaw* from 0" },
  ...alongAxes(
    (axis) => upper(axis),
    (axis) => ({ name: axis, value: "N", about: `first node along ${axis}, counted from 0` }),
  ),
  ...alongAxes(
    (axis) => `${upper(axis)}width` as const,
    (axis) => ({ name: `${axis}-width`, value: "N", about: `number of nodes along ${axis}` }),
  ),
  function_name: { name: "function", value: "NAME", about: "operation that an array form calls" },
  StartTime: { name: "start-time", value: "T", about: "time at which the particles are at the points" },
  EndTime: { name: "end-time", value: "T", about: "time of the returned positions" },
  dt: { name: "dt", value: "DT", about: "time step; negative steps track backwards" },
  nt: { name: "nt", value: "N", about: "number of time steps" },
  Tp: { name: "tp", value: "TP", about: "response time of the particles; 0 follows the flow" },
  spatialInterpolation: {
    name: "method",
    value: "METHOD",
    about: "spatial interpolation or difference scheme",
    choices: SPATIAL_INTERPOLATION,
  },
  temporalInterpolation: {
    name: "temporal",
    value: "METHOD",
    about: "temporal interpolation",
    choices: TEMPORAL_INTERPOLATION,
    fallback: "PCHIP",
  },
  points: {
    name: "points",
    value: "FILE",
    about: "points: lines of x,y,z (x,y,z,t with a time for each), or a .npy file; - reads standard input",
  },
  InitialV: {
    name: "initial-velocity",
    value: "FILE",
    about: "velocity of every particle at the start, like --points",
  },
};

/** Flags of tracking that are not members of SOAP requests. */
const TRACKING_FLAGS: Readonly<Record<"openFaces" | "integrator" | "tolerance", Flag>> = {
  openFaces: {
    name: "open-faces",
    value: "WHAT",
    about: "particles that leave through an open face fail the query, or stop there with the time in exit",
    choices: OPEN_FACES,
  },
  integrator: {
    name: "integrator",
    value: "SCHEME",
    about:
      "heun (the default) is of second order in the step, rk4 of fourth, dopri5 keeps a tolerance; drag needs heun",
    choices: INTEGRATORS,
  },
  tolerance: {
    name: "tolerance",
    value: "DISTANCE",
    about: "with dopri5: the error of a path, as a distance, at which its steps aim",
  },
};

export const FLAG_ENTRIES = Object.entries(FLAGS) as readonly (readonly [MemberName, Flag])[];
/** All flags of members and of tracking. */
export const QUERY_FLAGS: readonly Flag[] = [...Object.values(FLAGS), ...Object.values(TRACKING_FLAGS)];
const camel = (name: string) => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

function readNumber(flag: Flag, text: string, whole: boolean): number {
  const value = NUMBER.test(text.trim()) ? Number(text) : Number.NaN;
  if (Number.isFinite(value) && (!whole || Number.isInteger(value))) return value;
  throw new MisuseError(`--${flag.name}: ${text} is not ${whole ? "a whole number" : "a number"}`);
}

/** A call that works with the included data. */
export const EXAMPLE =
  "echo 1,2,3 | fieldprobe query GetVelocity --dataset isotropic32 --time 0.5 --method Lag8 --points -";

/** Spatial options in one text, with the many splines as a pattern. */
function methodsOf(spatial: readonly string[]): string {
  const plain = spatial.filter((name) => !/^M\dQ\d/.test(name));
  return [...plain, ...(plain.length < spatial.length ? ["M<m>Q<q>"] : [])].join("|");
}

/** Whether a member is a list of points or velocities, which have their own files. */
function isList({ type }: Member): boolean {
  return type.startsWith("ArrayOf");
}

/** Whether the command refuses to go on without this member, if neither flag nor fallback gives it. */
function isNeeded({ name, required }: Member): boolean {
  return required || name === "dataset" || name === "field";
}

/** Whether an operation takes points. */
export function takesPoints({ request }: Operation): boolean {
  return request.some(({ name }) => name === "points");
}

/** The flags that an operation takes besides --points and --token, those that may be left out in brackets. */
export function flagsOf({ request, spatial, family }: Operation): string {
  const words = request.flatMap((member) => {
    const { name, fallback } = FLAGS[member.name as MemberName];
    if (name === "points" || name === "token") return [];
    const optional = fallback !== undefined || !isNeeded(member);
    const methods = family === "track" ? VALUES : spatial;
    const flag = name === "method" ? `--method ${methodsOf(methods)}` : `--${name}`;
    return [optional ? `[--${name}]` : flag];
  });
  return [...words, ...(family === "track" ? Object.values(TRACKING_FLAGS).map(({ name }) => `[--${name}]`) : [])].join(
    " ",
  );
}

/**
 * The request of an operation without its points, from the flags given.
 *
 * @throws MisuseError for a flag that is missing, that the operation does not take, or whose value is not a number
 */
export function readRequest(operation: OperationName, given: GivenFlags): Record<string, string | number> {
  const row: Operation = operationOf(operation);
  const taken = new Map(row.request.map((member) => [member.name as MemberName, member]));
  const request: Record<string, string | number> = {};
  for (const [name, flag] of FLAG_ENTRIES) {
    const text = given[camel(flag.name)];
    const member = taken.get(name);
    if (!member) {
      if (text !== undefined && name !== "authToken") {
        throw new MisuseError(`--${flag.name}: ${operation} does not take it, but ${flagsOf(row)}`);
      }
      continue;
    }
    if (isList(member)) {
      if (name === "points" && text === undefined) throw new MisuseError(`--points is missing: ${operation} needs it`);
      continue;
    }
    const value = typeof text === "string" ? text : flag.fallback;
    if (value !== undefined) {
      const numeric = member.type === "float" || member.type === "int";
      request[name] = numeric ? readNumber(flag, value, member.type === "int") : value;
    } else if (isNeeded(member)) {
      const choices = name === "spatialInterpolation" ? row.spatial : flag.choices;
      const which = choices === undefined ? "" : `, one of ${choices.join(", ")}`;
      throw new MisuseError(`--${flag.name} is missing: ${operation} needs it${which}`);
    }
  }
  for (const [member, { name }] of Object.entries(TRACKING_FLAGS)) {
    const value = given[camel(name)];
    if (value === undefined) continue;
    if (row.family !== "track") throw new MisuseError(`--${name}: ${operation} does not take it`);
    request[member] =
      member === "tolerance" ? readNumber(TRACKING_FLAGS.tolerance, String(value), false) : String(value);
  }
  return request;
}

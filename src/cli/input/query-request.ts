/** The flags of `fieldprobe query` are matched with request members and make the request. */
import {
  OPERATIONS,
  type Operation,
  type OperationName,
  SPATIAL_INTERPOLATION,
  TEMPORAL_INTERPOLATION,
} from "../../operations.js";
import { MisuseError } from "./arguments.js";

type MemberName = (typeof OPERATIONS)[number]["request"][number]["name"];
/** Flags by their camel-case names, as the parser hands them over. */
export type Given = Readonly<Record<string, string | boolean | undefined>>;

/** The flag of a request member. */
export interface Flag {
  readonly name: string;
  readonly value: string;
  readonly about: string;
  readonly choices?: readonly string[];
  /** Value of the member when the flag is missing. */
  readonly fallback?: string;
}

/** A flag for every request member of the table. */
export const FLAGS: Readonly<Record<MemberName, Flag>> = {
  authToken: { name: "token", value: "TOKEN", about: "token of the service, where it asks for one" },
  dataset: { name: "dataset", value: "NAME", about: "dataset to query" },
  time: { name: "time", value: "T", about: "time of the values" },
  filterlength: { name: "filter-length", value: "L", about: "side of the box that is averaged over" },
  nlayers: { name: "layers", value: "K", about: "layers of the octree that are answered", fallback: "1" },
  StartTime: { name: "start-time", value: "T", about: "time at which the particles are at the points" },
  EndTime: { name: "end-time", value: "T", about: "time of the answered positions" },
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
  points: { name: "points", value: "FILE", about: "points: x,y,z or x y z on each line, or .npy; - is standard input" },
  InitialV: {
    name: "initial-velocity",
    value: "FILE",
    about: "velocity of every particle at the start, like --points",
  },
};

export const FLAG_ENTRIES = Object.entries(FLAGS) as readonly (readonly [MemberName, Flag])[];
const camel = (name: string) => name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());

function readNumber(flag: Flag, text: string, whole: boolean): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (Number.isFinite(value) && (!whole || Number.isInteger(value))) return value;
  throw new MisuseError(`--${flag.name}: ${text} is not ${whole ? "a whole number" : "a number"}`);
}

/** A call that works with the included data. */
export const EXAMPLE =
  "echo 1,2,3 | fieldprobe query GetVelocity --dataset isotropic32 --time 0.5 --method Lag8 --points -";

/** Spatial options in one word; the splines, of which there are many, by their pattern. */
function methodsOf(spatial: readonly string[]): string {
  const plain = spatial.filter((name) => !/^M\dQ\d/.test(name));
  return [...plain, ...(plain.length < spatial.length ? ["M<m>Q<q>"] : [])].join("|");
}

/** The flags that an operation takes beside --points and --token, those that may be left out in brackets. */
export function flagsOf({ request, spatial }: Operation): string {
  const words = request.flatMap((member) => {
    const { name, fallback } = FLAGS[member.name as MemberName];
    if (name === "points" || name === "token") return [];
    const optional = fallback !== undefined || (!member.required && name !== "dataset");
    const flag = name === "method" ? `--method ${methodsOf(spatial)}` : `--${name}`;
    return [optional ? `[--${name}]` : flag];
  });
  return words.join(" ");
}

/**
 * The request of an operation without its points, from the flags given.
 *
 * @throws MisuseError for a flag that is missing, that the operation does not take, or whose value is no number
 */
export function readRequest(operation: OperationName, given: Given): Record<string, string | number> {
  const row: Operation | undefined = OPERATIONS.find(({ name }) => name === operation);
  const members = row?.request ?? [];
  const taken = new Map(members.map((member) => [member.name as MemberName, member]));
  const request: Record<string, string | number> = {};
  for (const [name, flag] of FLAG_ENTRIES) {
    const text = given[camel(flag.name)];
    const member = taken.get(name);
    if (!member) {
      if (text !== undefined && name !== "authToken") {
        throw new MisuseError(`--${flag.name}: ${operation} does not take it`);
      }
      continue;
    }
    if (member.type === "ArrayOfPoint3" || member.type === "ArrayOfVector3") continue;
    const value = typeof text === "string" ? text : flag.fallback;
    if (value !== undefined) {
      const numeric = member.type === "float" || member.type === "int";
      request[name] = numeric ? readNumber(flag, value, member.type === "int") : value;
    } else if (member.required || name === "dataset") {
      const choices = name === "spatialInterpolation" ? row?.spatial : flag.choices;
      const which = choices === undefined ? "" : `, one of ${choices.join(", ")}`;
      throw new MisuseError(`--${flag.name} is missing: ${operation} needs it${which}`);
    }
  }
  return request;
}
